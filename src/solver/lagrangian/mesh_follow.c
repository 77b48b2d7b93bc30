#include "solver/lagrangian/mesh_follow.h"

#include "core/vec.h"

enum { OBJECT_GRAIN = 64, FETCH_AHEAD = 16 };
/* Steps over which a force becomes steady. */
#define STEADY 50
/* Of what is lacking, with damping 1. From 1/2 on, what the grid sees as a whole would go too far and
 * back again. */
#define SHARE 0.25
/* The longest way, in cells. */
#define LONGEST 0.25
/* What is left between a vertex and a closed side, in cells. */
#define SIDE_GAP 1e-4

static bool is_free(const mesh_follow *m, int64_t v) { return m->there[v] && m->held[v] < 0; }

/* Particles of vertices lie anywhere. */
static void fetch_position(const mesh_follow *m, int64_t v) {
    const particles *p = &m->sim->particles;
    if (v >= m->mesh->of->vertex_count || !m->there[v]) return;
    for (int a = 0; a < m->sim->scene->dim; a++)
        __builtin_prefetch(&PLANE(p, position, a)[m->particle[v]], 1);
}

/* What the step counted on, dt^2 f/m; beside other matter of what is not steady. */
static void way_of(const mesh_follow *m, int64_t v, double way[3]) {
    vec_copy(way, m->f[v]);
    if (m->around[m->block[v]] != m->part) vec_sub(way, way, m->steady[v]);
    vec_scale(way, m->time * m->sim->dt / m->mesh->mass[v], way);
}

/* The share of their ways that vertices first .. end - 1 are to go. */
static double share_of(const mesh_follow *m, int64_t first, int64_t end) {
    const spate_scene *scene = m->sim->scene;
    const double dt = m->sim->dt;
    double asked = 0, gone = 0, longest = 0;
    for (int64_t v = first; v < end; v++) {
        double way[3], x[3], moved[3];
        fetch_position(m, v + FETCH_AHEAD);
        if (!is_free(m, v)) continue;
        way_of(m, v, way);
        simulation_position(m->sim, m->block[v], m->particle[v], x);
        for (int a = 0; a < 3; a++)
            moved[a] = x[a] - m->x[v][a] - dt * (m->v[v][a] + dt * scene->gravity[a]);
        asked += m->mesh->mass[v] * vec_dot(way, way);
        gone += m->mesh->mass[v] * vec_dot(way, moved);
        longest = fmax(longest, vec_dot(way, way));
    }
    if (!(asked > 0)) return 0;
    const double lacking = clamp(1 - gone / asked, 0, 1);
    return fmin(SHARE * m->mesh->of->stepping.damping * lacking,
                LONGEST * scene->domain.dx / sqrt(longest));
}

/* Not further into a collider, and not beyond a closed side. */
static void shorten(const mesh_follow *m, int64_t v, double way[3]) {
    const domain *d = &m->sim->scene->domain;
    double x[3];
    if (m->walls && m->walls[v].collider >= 0) {
        const double into = -vec_dot(way, m->walls[v].normal);
        vec_add_scaled(way, way, fmax(into, 0), m->walls[v].normal);
    }
    simulation_position(m->sim, m->block[v], m->particle[v], x);
    for (int a = 0; a < m->sim->scene->dim; a++) {
        const double low = d->origin[a] + SIDE_GAP * d->dx - x[a];
        const double high = d->origin[a] + (d->cells[a] - SIDE_GAP) * d->dx - x[a];
        if (d->walls[a][0] != WALL_OPEN) way[a] = fmax(way[a], fmin(low, 0));
        if (d->walls[a][1] != WALL_OPEN) way[a] = fmin(way[a], fmax(high, 0));
    }
}

/* Returns the longest way. */
static double go(const mesh_follow *m, int64_t first, int64_t end, double share) {
    const particles *p = &m->sim->particles;
    double farthest = 0;
    for (int64_t v = first; v < end; v++) {
        double way[3];
        if (!is_free(m, v)) continue;
        way_of(m, v, way);
        vec_scale(way, share, way);
        shorten(m, v, way);
        farthest = fmax(farthest, vec_length(way));
        for (int a = 0; a < m->sim->scene->dim; a++)
            PLANE(p, position, a)[m->particle[v]] += (real)(way[a] / m->sim->scene->domain.dx);
        vec_add(m->before[v], m->before[v], way);
    }
    return farthest;
}

static void settle(const mesh_follow *m, int64_t first, int64_t end) {
    for (int64_t v = first; v < end; v++)
        for (int a = 0; a < 3; a++) m->steady[v][a] += (m->f[v][a] - m->steady[v][a]) / STEADY;
}

static void follow(void *data, chunk objects) {
    const mesh_follow *m = data;
    const mesh_body *of = m->mesh->of;
    double *farthest = &m->farthest[objects.worker];
    for (int64_t k = objects.begin; k < objects.end; k++) {
        const bool strand = of->kind == MESH_STRANDS;
        const int64_t first = strand ? of->strand_first[k] : 0;
        const int64_t end = strand ? of->strand_first[k + 1] : of->vertex_count;
        const double share = share_of(m, first, end);
        if (share > 0) *farthest = fmax(*farthest, go(m, first, end, share));
        settle(m, first, end);
    }
}

void mesh_follow_step(const mesh_follow *m) {
    const int64_t objects = m->mesh->of->kind == MESH_STRANDS ? m->mesh->of->strand_count : 1;
    parallel_for(m->sim->ctx->pool, objects, OBJECT_GRAIN, follow, (void *)m);
}
