/*
 * Ghost cells: the border of one cell around an array, from the values next to it:
 *     ghost = sign value + add.
 * At closed sides densities are copied; a velocity along the side is copied where it may slip, and
 * reflected about the side's own where it sticks (2 u_side - u: in between, on the side, it is
 * u_side); one across it, in the middle of a cell, is reflected. At open sides velocities are
 * copied, and fresh gas waits outside. Faces on the sides themselves are values like others, not
 * ghosts.
 */
#include "solver/smoke/smoke.h"

typedef struct ghost_rule {
    real sign, add;
} ghost_rule;

typedef struct ghost_job {
    const layout *layout;
    real *values;
    int place, axis;
    ghost_rule rules[3][2];
} ghost_job;

/* Both ends of the lines along the job's axis at an index of the first of the other axes. */
static void fill_lines(void *data, chunk items) {
    const ghost_job *job = data;
    const layout *l = job->layout;
    const int a = job->axis, n = l->n[a];
    const int outer = a == 0 ? 1 : 0, inner = l->dim == 2 ? 2 : 3 - a - outer;
    const int64_t step = l->stride[a];
    const ghost_rule *low = &job->rules[a][0], *high = &job->rules[a][1];
    for (int64_t o = items.begin - 1; o < items.end - 1; o++)
        for (int i = l->dim == 2 ? 0 : -1; i <= (l->dim == 2 ? 0 : l->n[inner]); i++) {
            real *v = job->values + l->first + o * l->stride[outer] + i * l->stride[inner];
            if (l->periodic[a]) {
                v[-step] = v[(n - 1) * step];
                v[n * step] = v[0];
            } else if (job->place != a) {
                v[-step] = low->sign * v[0] + low->add;
                v[n * step] = high->sign * v[(n - 1) * step] + high->add;
            }
        }
}

static void fill_ghosts(const smoke *s, ghost_job *job) {
    job->layout = &s->layout;
    for (job->axis = 0; job->axis < s->layout.dim; job->axis++)
        parallel_for(s->threads, s->layout.n[job->axis == 0 ? 1 : 0] + 2, 8, fill_lines, job);
}

/* ---- Corners of the course's grid ------------------------------------------------------------ */

static bool is_outside(const layout *l, int axis, int index) {
    return !l->periodic[axis] && (index < 0 || index >= l->n[axis]);
}

/* The mean of the values next to it that are less far out. */
static void average_corner(const ghost_job *job, const int at[3]) {
    const layout *l = job->layout;
    const int64_t here = layout_at(l, at[0], at[1], at[2]);
    real sum = 0;
    int count = 0;
    for (int a = 0; a < l->dim; a++)
        if (is_outside(l, a, at[a])) {
            sum += job->values[here + (at[a] < 0 ? l->stride[a] : -l->stride[a])];
            count++;
        }
    job->values[here] = sum / (real)count;
}

/* Edges, where two sides meet, and then the corners of three. */
static void average_corners(const ghost_job *job) {
    const layout *l = job->layout;
    const int last = l->dim == 3 ? l->n[2] : 0;
    int at[3];
    for (int level = 2; level <= l->dim; level++)
        for (at[0] = -1; at[0] <= l->n[0]; at[0]++)
            for (at[1] = -1; at[1] <= l->n[1]; at[1]++) {
                const int beyond = is_outside(l, 0, at[0]) + is_outside(l, 1, at[1]);
                if (beyond + (l->dim == 3) < level) continue;
                for (at[2] = l->dim == 3 ? -1 : 0; at[2] <= last; at[2]++) {
                    const int out = beyond + (l->dim == 3 && is_outside(l, 2, at[2]));
                    if (out == level) average_corner(job, at);
                }
            }
}

/* ---- The rules ------------------------------------------------------------------------------- */

void smoke_ghost_velocity(const smoke *s, int a, real *values) {
    const domain *d = &s->scene->domain;
    ghost_job job = {.values = values, .place = smoke_place(s, a)};
    for (int b = 0; b < s->layout.dim; b++)
        for (int end = 0; end < 2; end++) {
            const wall side = d->walls[b][end];
            const bool copied = side == WALL_OPEN || (side != WALL_STICKY && b != a);
            job.rules[b][end].sign = copied ? 1 : -1;
            if (!copied) job.rules[b][end].add = (real)(2 * d->wall_velocity[b][end][a]);
        }
    fill_ghosts(s, &job);
    if (s->options->grid == SMOKE_COLLOCATED) average_corners(&job);
}

static void ghost_middles(const smoke *s, real *values, real closed, real open) {
    ghost_job job = {.values = values, .place = PLACE_MIDDLE};
    for (int b = 0; b < s->layout.dim; b++)
        for (int end = 0; end < 2; end++)
            job.rules[b][end].sign = s->layout.open[b][end] ? open : closed;
    fill_ghosts(s, &job);
    if (s->options->grid == SMOKE_COLLOCATED) average_corners(&job);
}

void smoke_ghost_scalar(const smoke *s, real *values) { ghost_middles(s, values, 1, 0); }
void smoke_ghost_pressure(const smoke *s, real *values) { ghost_middles(s, values, 1, -1); }
