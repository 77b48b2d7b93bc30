/*
 * Drops: a particle on its own is a ball (in 2D a disc) of its own volume, whatever the lattice, on
 * which it would be ragged or missing. The ball is an octahedron whose sides are cut in two, its
 * corners put where the volume is right.
 */
#include "surface/shapes.h"
#include <math.h>
#include <string.h>

enum { CORNERS = 18, FACES = 32, DISC = 16, DROP_GRAIN = 16384 };

/* Corners of the unit ball, and faces, anticlockwise seen from outside. */
typedef struct drop_ball {
    double corner[CORNERS][3], radius; /* radius of a ball of volume 1 */
    int32_t face[FACES][3];
    int corners, faces;
} drop_ball;

static int find_corner(drop_ball *d, const double x[3]) {
    const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int i = 0; i < d->corners; i++) {
        double away = 0;
        for (int a = 0; a < 3; a++) away += fabs(d->corner[i][a] - x[a] / length);
        if (away < 1e-6) return i;
    }
    for (int a = 0; a < 3; a++) d->corner[d->corners][a] = x[a] / length;
    return d->corners++;
}

static void add_face(drop_ball *d, const double x[3][3]) {
    for (int k = 0; k < 3; k++) d->face[d->faces][k] = find_corner(d, x[k]);
    d->faces++;
}

/* An eighth of the octahedron as four faces. */
static void add_eighth(drop_ball *d, const double pole[3][3]) {
    double middle[3][3]; /* of the side from pole k to the next */
    for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++) middle[k][a] = 0.5 * (pole[k][a] + pole[(k + 1) % 3][a]);
    add_face(d, middle);
    for (int k = 0; k < 3; k++) {
        double face[3][3];
        memcpy(face[0], pole[k], sizeof face[0]);
        memcpy(face[1], middle[k], sizeof face[1]);
        memcpy(face[2], middle[(k + 2) % 3], sizeof face[2]);
        add_face(d, (const double(*)[3])face);
    }
}

static double ball_volume(const drop_ball *d) {
    double volume = 0;
    for (int f = 0; f < d->faces; f++) {
        const double *a = d->corner[d->face[f][0]], *b = d->corner[d->face[f][1]],
                     *c = d->corner[d->face[f][2]];
        volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                   a[2] * (b[0] * c[1] - b[1] * c[0])) /
                  6;
    }
    return volume;
}

static void drop_ball_fill(drop_ball *d) {
    *d = (drop_ball){0};
    for (int sign = 0; sign < 8; sign++) {
        double pole[3][3] = {{0}};
        const bool odd = __builtin_popcount((unsigned)sign) & 1;
        for (int k = 0; k < 3; k++) {
            const int axis = odd ? 2 - k : k;
            pole[k][axis] = sign >> axis & 1 ? -1 : 1;
        }
        add_eighth(d, (const double(*)[3])pole);
    }
    d->radius = cbrt(1 / ball_volume(d));
}

static bool is_drop(const lattice *l, int64_t i) {
    if (l->particles[i].image || l->shapes[i].box[0] != LONE_BOX) return false;
    for (int a = 0; a < 3; a++)
        if (!(l->particles[i].x[a] >= 0 && l->particles[i].x[a] <= (real)l->last[a])) return false;
    return true;
}

typedef struct drop_job {
    const lattice *l;
    const surface_particle *given;
    const drop_ball *ball;
    surface_mesh *mesh;
    int64_t vertex, face; /* of the first drop */
    int64_t *begin;       /* of each part, after how many drops it has */
} drop_job;

static void count_drops(void *data, chunk items) {
    const drop_job *job = data;
    for (int64_t i = items.begin; i < items.end; i++)
        job->begin[items.begin / DROP_GRAIN] += is_drop(job->l, i);
}

/* By its volume, whatever it counts as in a sheet. */
static double own_size(const lattice_particle *p, const surface_particle *from) {
    const double size = (double)from[p->index].size;
    return size > 0 ? size : (double)p->size;
}

/* ---- In 2D ----------------------------------------------------------------------------------- */

static void put_disc(const lattice_particle *p, const surface_particle *from, surface_mesh *m,
                     int64_t vertex, int64_t line) {
    const double step = 2 * 3.14159265358979324 / DISC,
                 radius = own_size(p, from) / sqrt(0.5 * DISC * sin(step));
    for (int c = 0; c < DISC; c++) {
        const double out[2] = {cos(c * step), sin(c * step)};
        for (int a = 0; a < 2; a++) {
            m->position[vertex + c][a] = (real)((double)p->x[a] + radius * out[a]);
            m->normal[vertex + c][a] = (real)out[a];
            m->velocity[vertex + c][a] = from[p->index].v[a];
        }
        m->line[line + c][0] = (int32_t)(vertex + c);
        m->line[line + c][1] = (int32_t)(vertex + (c + 1) % DISC);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

/* The mesh with room for more. */
static spate_status make_room(const surface_mesh *m, int64_t drops, surface_mesh *out) {
    const size_t vertices = (size_t)m->vertex_count;
    *out = (surface_mesh){.ctx = m->ctx};
    TRY(surface_take_vertices(out, m->vertex_count + (m->line ? DISC : CORNERS) * drops));
    if (m->line) {
        TRY(surface_take_lines(out, m->line_count + DISC * drops));
        memcpy(out->line, m->line, (size_t)m->line_count * sizeof *m->line);
    } else {
        TRY(surface_take_triangles(out, m->triangle_count + FACES * drops));
        memcpy(out->triangle, m->triangle, (size_t)m->triangle_count * sizeof *m->triangle);
    }
    memcpy(out->position, m->position, vertices * sizeof *m->position);
    memcpy(out->normal, m->normal, vertices * sizeof *m->normal);
    memcpy(out->velocity, m->velocity, vertices * sizeof *m->velocity);
    memcpy(out->bond, m->bond, vertices * sizeof *m->bond);
    return SPATE_OK;
}

static void put_drop(const drop_ball *ball, const lattice_particle *p, const surface_particle *from,
                     surface_mesh *m, int64_t vertex, int64_t triangle) {
    for (int c = 0; c < CORNERS; c++)
        for (int a = 0; a < 3; a++) {
            const double out = ball->corner[c][a];
            m->position[vertex + c][a] =
                (real)((double)p->x[a] + ball->radius * own_size(p, from) * out);
            m->normal[vertex + c][a] = (real)out;
            m->velocity[vertex + c][a] = from[p->index].v[a];
        }
    for (int f = 0; f < FACES; f++)
        for (int k = 0; k < 3; k++)
            m->triangle[triangle + f][k] = (int32_t)(vertex + ball->face[f][k]);
}

static void put_drops(void *data, chunk items) {
    const drop_job *job = data;
    surface_mesh *m = job->mesh;
    int64_t at = job->begin[items.begin / DROP_GRAIN];
    for (int64_t i = items.begin; i < items.end; i++) {
        const lattice_particle *p = &job->l->particles[i];
        if (!is_drop(job->l, i)) continue;
        if (m->line)
            put_disc(p, job->given, m, job->vertex + DISC * at, job->face + DISC * at);
        else
            put_drop(job->ball, p, job->given, m, job->vertex + CORNERS * at,
                     job->face + FACES * at);
        at++;
    }
}

static spate_status add_drops(drop_job *job, surface_mesh *m, int64_t all) {
    spate_context *ctx = job->l->ctx;
    int64_t count = 0;
    parallel_for(ctx->pool, all, DROP_GRAIN, count_drops, job);
    for (int64_t k = 0; k * DROP_GRAIN < all; k++) {
        const int64_t own = job->begin[k];
        job->begin[k] = count, count += own;
    }
    if (!count) return SPATE_OK;
    if (m->vertex_count + CORNERS * count > INT32_MAX / 8)
        return fail(ctx, SPATE_BAD_INPUT,
                    "the liquid's surface has %lld drops; set output.surface_method: isotropic",
                    (long long)count);
    drop_ball ball;
    surface_mesh more;
    drop_ball_fill(&ball);
    const spate_status status = make_room(m, count, &more);
    if (status != SPATE_OK) {
        surface_free(&more);
        return status;
    }
    job->ball = &ball, job->mesh = &more;
    job->vertex = m->vertex_count, job->face = m->line ? m->line_count : m->triangle_count;
    parallel_for(ctx->pool, all, DROP_GRAIN, put_drops, job);
    surface_free(m);
    *m = more;
    return SPATE_OK;
}

spate_status surface_add_drops(const lattice *l, const surface_particle *particles,
                               surface_mesh *m) {
    const int64_t all = l->shapes ? l->first[(int64_t)l->bricks.count * BRICK_CELLS] : 0;
    drop_job job = {.l = l, .given = particles};
    job.begin = take(l->ctx, (size_t)(all / DROP_GRAIN) + 1, sizeof *job.begin);
    const spate_status status = job.begin ? add_drops(&job, m, all) : SPATE_OUT_OF_MEMORY;
    give(l->ctx, job.begin);
    return status;
}
