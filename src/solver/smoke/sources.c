/*
 * Bodies at the start, sources and sinks while they run. A cell that a shape's surface runs through
 * is covered by a share, by the distance of its middle: smoke has soft edges, and moves smoothly. A
 * source keeps as much as its share in such cells, however often it is asked.
 */
#include "solver/sources.h"
#include "core/vec.h"
#include "scene/flow.h"
#include "scene/vortices.h"
#include "solver/smoke/smoke.h"
#include "solver/source_shapes.h"

/* ---- Places and shapes ----------------------------------------------------------------------- */

/* Visits the values of a place in and near a shape, with the covered share of their surroundings.
 * */
typedef struct visit_job visit_job;
struct visit_job {
    smoke *s;
    const shape *shape; /* NULL: that of a source */
    int source;
    int place;
    int low[3], high[3];
    void (*visit)(const visit_job *job, int64_t at, const double x[3], double share);
    const void *data;
    int component;
};

static double share_of(const visit_job *job, const double x[3]) {
    const smoke *s = job->s;
    const double distance = job->shape ? shape_distance(job->shape, s->layout.dim, x)
                                       : source_distance(s->sim, job->source, x, NULL);
    return fmin(fmax(0.5 - distance / s->dx, 0), 1);
}

static void visit_rows(void *data, chunk items) {
    const visit_job *job = data;
    int at[3];
    for (at[0] = job->low[0] + (int)items.begin; at[0] < job->low[0] + (int)items.end; at[0]++)
        for (at[1] = job->low[1]; at[1] < job->high[1]; at[1]++)
            for (at[2] = job->low[2]; at[2] < job->high[2]; at[2]++) {
                double x[3];
                smoke_world(job->s, job->place, at, x);
                const double share = share_of(job, x);
                if (share > 0)
                    job->visit(job, layout_at(&job->s->layout, at[0], at[1], at[2]), x, share);
            }
}

/* The values that a shape may cover. */
static void find_range(visit_job *job) {
    const layout *l = &job->s->layout;
    const domain *d = &job->s->scene->domain;
    const bounds box =
        job->shape ? shape_bounds(job->shape, l->dim) : source_box(job->s->sim, job->source);
    for (int a = 0; a < 3; a++) {
        const int most = a < l->dim ? layout_extent(l, job->place, a) : 1;
        job->low[a] = 0, job->high[a] = most;
        if (a >= l->dim) continue;
        const double low = (box.min[a] - d->origin[a]) / d->dx - 2;
        const double high = (box.max[a] - d->origin[a]) / d->dx + 2;
        if (low > 0) job->low[a] = low < most ? (int)low : most;
        if (high < most) job->high[a] = high > 0 ? (int)high : 0;
    }
}

static void visit(visit_job *job) {
    find_range(job);
    const int64_t planes = job->high[0] - job->low[0];
    if (planes > 0) parallel_for(job->s->threads, planes, 1, visit_rows, job);
}

/* ---- Smoke and heat -------------------------------------------------------------------------- */

static void add_smoke(const visit_job *job, int64_t at, const double x[3], double share) {
    const smoke_dye *kind = job->data;
    smoke *s = job->s;
    real *dye = &s->dyes[kind - s->kinds][at];
    (void)x;
    *dye += (real)(share * (kind->amount - (double)*dye));
    if (s->temperature)
        s->temperature[at] += (real)(share * (kind->temperature - (double)s->temperature[at]));
}

/* What of a source is in a cell: all that is in one which it fills, where it blows (it is where the
 * gas comes from), else at least this much. */
static void keep_smoke(const visit_job *job, int64_t at, const double x[3], double share) {
    smoke *s = job->s;
    const source *given = &s->scene->sources[job->source];
    const smoke_dye *kind = &s->kinds[given->material];
    double v[3];
    source_distance(s->sim, job->source, x, v);
    const bool blows = share >= 1 && vec_length(v) > 0;
    const real amount = (real)(share * kind->amount), heat = (real)(share * kind->temperature);
    real *dye = &s->dyes[given->material][at];
    for (int d = 0; d < s->dye_count && blows; d++) s->dyes[d][at] = 0;
    if (*dye < amount) *dye = amount;
    if (!s->temperature) return;
    real *warmth = &s->temperature[at];
    if (share >= 1 || (*warmth < heat && heat > 0) || (*warmth > heat && heat < 0)) *warmth = heat;
}

static void take_smoke(const visit_job *job, int64_t at, const double x[3], double share) {
    smoke *s = job->s;
    (void)x;
    for (int d = 0; d < s->dye_count; d++) s->dyes[d][at] *= (real)(1 - share);
    if (s->temperature) s->temperature[at] *= (real)(1 - share);
}

static void ghosts_of_all(smoke *s) {
    for (int d = 0; d < s->dye_count; d++) smoke_ghost_scalar(s, s->dyes[d]);
    if (s->temperature) smoke_ghost_scalar(s, s->temperature);
}

/* ---- Velocity -------------------------------------------------------------------------------- */

typedef struct body_motion {
    const body *body;
    double center[3];
} body_motion;

static void set_velocity(const visit_job *job, int64_t at, const double x[3], double share) {
    const body_motion *m = job->data;
    double v[3], arm[3], turn[3];
    if (share < 0.5) return;
    vec_sub(arm, x, m->center);
    vec_cross(turn, m->body->spin, arm);
    vec_add(v, m->body->velocity, turn);
    if (body_has_vortices(m->body)) {
        double swirl[3];
        vortices_velocity(job->s->scene, m->body, x, swirl, NULL);
        vec_add(v, v, swirl);
    }
    if (m->body->flow_count) {
        double flow[3];
        flow_velocity(job->s->scene, m->body, m->center, x, flow, NULL);
        vec_add(v, v, flow);
    }
    job->s->velocity[job->component][at] = (real)v[job->component];
}

/* Of the cells that a body covers; one after the other, so that threads do not matter. */
static void find_center(smoke *s, const body *b, double center[3]) {
    visit_job job = {.s = s, .shape = b->shape, .place = PLACE_MIDDLE};
    double sum[3] = {0}, weight = 0;
    int at[3];
    find_range(&job);
    for (at[0] = job.low[0]; at[0] < job.high[0]; at[0]++)
        for (at[1] = job.low[1]; at[1] < job.high[1]; at[1]++)
            for (at[2] = job.low[2]; at[2] < job.high[2]; at[2]++) {
                double x[3];
                smoke_world(s, PLACE_MIDDLE, at, x);
                const double share = share_of(&job, x);
                vec_add_scaled(sum, sum, share, x);
                weight += share;
            }
    vec_scale(center, weight > 0 ? 1 / weight : 0, sum);
}

static void fill_body(smoke *s, const body *b) {
    visit_job job = {.s = s, .shape = b->shape, .place = PLACE_MIDDLE, .visit = add_smoke};
    job.data = &s->kinds[b->material];
    visit(&job);
    body_motion moving = {.body = b};
    if (vec_length(b->spin) > 0 || b->flow_count) find_center(s, b, moving.center);
    job.visit = set_velocity, job.data = &moving;
    for (int a = 0; a < s->layout.dim; a++) {
        job.component = a, job.place = smoke_place(s, a);
        visit(&job);
    }
}

void smoke_fill_bodies(smoke *s) {
    for (int b = 0; b < s->scene->body_count; b++) fill_body(s, &s->scene->bodies[b]);
    ghosts_of_all(s);
    smoke_settle_velocity(s);
}

/* ---- Sources and sinks ----------------------------------------------------------------------- */

static void blow(const visit_job *job, int64_t at, const double x[3], double share) {
    double v[3];
    source_distance(job->s->sim, job->source, x, v);
    if (share >= 0.5) job->s->velocity[job->component][at] = (real)v[job->component];
}

/* Faces in sources are walls to the pressure (faces.h); middles of cells are set by hand. */
static void hold_source(smoke *s, int index) {
    visit_job job = {.s = s, .source = index, .place = PLACE_MIDDLE, .visit = keep_smoke};
    visit(&job);
    if (s->options->grid == SMOKE_MAC || source_speed(s->scene, index) == 0) return;
    job.visit = blow;
    for (job.component = 0; job.component < s->layout.dim; job.component++) visit(&job);
}

spate_status smoke_hold(void *solver) {
    smoke *s = solver;
    const spate_scene *scene = s->scene;
    const double now = s->sim->time;
    for (int i = 0; i < scene->source_count; i++)
        if (source_is_running(s->sim, i)) hold_source(s, i);
    for (int i = 0; i < scene->sink_count; i++) {
        if (now < scene->sinks[i].from || now >= scene->sinks[i].until) continue;
        visit_job job = {.s = s, .shape = scene->sinks[i].shape, .place = PLACE_MIDDLE};
        job.visit = take_smoke;
        visit(&job);
    }
    if (!scene->source_count && !scene->sink_count) return SPATE_OK;
    ghosts_of_all(s);
    if (s->options->grid == SMOKE_COLLOCATED) smoke_settle_velocity(s);
    return SPATE_OK;
}
