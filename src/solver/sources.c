/*
 * Sources (method: Dirichlet nozzles). A lattice of particles fills the shape and moves with the
 * source's velocity; while inside, particles keep that velocity and no strain, and grid nodes inside
 * have it too, so the nozzle is always full. Lattice points that enter the shape upstream become
 * particles; those that leave it are free. Nothing depends on the number of threads or on how time is
 * cut into steps but for the rounding of the lattice's shift.
 */
#include "solver/sources.h"

#include "core/vec.h"
#include "scene/sample.h"

enum { BRICK = 8 }; /* lattice points along an edge of a brick that is skipped or searched whole */

static bool is_running(const spate_simulation *sim, int s) {
    const source *source = &sim->scene->sources[s];
    return sim->time >= source->from && sim->time < source->until &&
           sim->sources[s].emitted < source->limit;
}

typedef struct emission {
    spate_simulation *sim;
    int index;
    double spacing, volume;
    double step[3]; /* the lattice's motion in this step */
    bool fill;      /* every point inside, not only those that have just entered */
} emission;

static bool is_inside(const emission *e, const double x[3]) {
    return shape_distance(e->sim->scene->sources[e->index].shape, e->sim->scene->dim, x) < 0;
}

static spate_status emit_point(emission *e, const int64_t k[3]) {
    spate_simulation *sim = e->sim;
    const source *source = &sim->scene->sources[e->index];
    source_state *state = &sim->sources[e->index];
    double x[3] = {0}, before[3];
    for (int a = 0; a < sim->scene->dim; a++)
        x[a] = ((double)k[a] + 0.5) * e->spacing + state->shift[a];
    vec_sub(before, x, e->step);
    if (!is_inside(e, x) || (!e->fill && is_inside(e, before)) || state->emitted >= source->limit)
        return SPATE_OK;
    const domain *d = &sim->scene->domain;
    for (int a = 0; a < sim->scene->dim; a++)
        if (!(x[a] > d->origin[a] && x[a] < d->origin[a] + d->size[a])) return SPATE_OK;
    state->emitted++;
    return simulation_add(sim, sim->scene->body_count + e->index, x, source->velocity, e->volume);
}

/* A brick of lattice points, skipped where none of them can be entering. */
static spate_status emit_brick(emission *e, const int64_t corner[3]) {
    const spate_scene *scene = e->sim->scene;
    const source_state *state = &e->sim->sources[e->index];
    double center[3] = {0}, reach = e->spacing * BRICK * 0.5 * sqrt(scene->dim) + vec_length(e->step);
    for (int a = 0; a < scene->dim; a++)
        center[a] = ((double)corner[a] + BRICK * 0.5) * e->spacing + state->shift[a];
    double distance = shape_distance(scene->sources[e->index].shape, scene->dim, center);
    if (distance > reach || (!e->fill && distance < -reach)) return SPATE_OK;
    int64_t k[3];
    for (k[0] = corner[0]; k[0] < corner[0] + BRICK; k[0]++)
        for (k[1] = corner[1]; k[1] < corner[1] + BRICK; k[1]++)
            for (k[2] = corner[2]; k[2] < corner[2] + (scene->dim == 3 ? BRICK : 1); k[2]++)
                TRY(emit_point(e, k));
    return SPATE_OK;
}

static spate_status emit(spate_simulation *sim, int index, double dt) {
    const spate_scene *scene = sim->scene;
    const source *source = &scene->sources[index];
    source_state *state = &sim->sources[index];
    emission e = {.sim = sim, .index = index, .fill = !state->filled};
    e.spacing = sample_spacing(&scene->domain, scene->dim, source->particles_per_cell);
    e.volume = pow(e.spacing, scene->dim);
    for (int a = 0; a < scene->dim; a++) {
        e.step[a] = state->filled ? source->velocity[a] * dt : 0;
        state->shift[a] += e.step[a];
    }
    state->filled = 1;
    bounds box = shape_bounds(source->shape, scene->dim);
    int64_t low[3] = {0}, high[3] = {1, 1, 1}, corner[3];
    for (int a = 0; a < scene->dim; a++) {
        low[a] = (int64_t)floor((box.min[a] - state->shift[a]) / e.spacing) - 1;
        high[a] = (int64_t)ceil((box.max[a] - state->shift[a]) / e.spacing) + 1;
    }
    for (corner[0] = low[0]; corner[0] < high[0]; corner[0] += BRICK)
        for (corner[1] = low[1]; corner[1] < high[1]; corner[1] += BRICK)
            for (corner[2] = low[2]; corner[2] < high[2]; corner[2] += BRICK)
                TRY(emit_brick(&e, corner));
    return SPATE_OK;
}

spate_status sources_emit(spate_simulation *sim, double dt) {
    for (int s = 0; s < sim->scene->source_count; s++)
        if (is_running(sim, s)) TRY(emit(sim, s, dt));
    return SPATE_OK;
}

static void hold_particle(spate_simulation *sim, int64_t i, const double v[3]) {
    particles *p = &sim->particles;
    real *motion = p->motion + i * 16;
    memset(motion, 0, 16 * sizeof *motion);
    for (int a = 0; a < sim->scene->dim; a++) motion[a] = (real)v[a];
    motion[3] = 1;
    if (p->dilation) p->dilation[i] = 0;
    for (int c = 0; c < 6 && p->strain; c++) PLANE(p, strain, c)[i] = 0;
}

void sources_hold(spate_simulation *sim) {
    const spate_scene *scene = sim->scene;
    const blocks *b = &sim->blocks;
    double block_reach = scene->domain.dx * (BLOCK_EDGE * 0.5 + 1.5) * sqrt(scene->dim);
    for (int s = 0; s < scene->source_count; s++) {
        if (!is_running(sim, s)) continue;
        const source *source = &scene->sources[s];
        for (int32_t o = 0; o < b->occupied_count; o++) {
            int32_t block = b->occupied[o];
            double x[3] = {0};
            for (int a = 0; a < scene->dim; a++)
                x[a] = scene->domain.origin[a] +
                       (((double)b->coords[block][a] + 0.5) * BLOCK_EDGE - 0.5) * scene->domain.dx;
            if (shape_distance(source->shape, scene->dim, x) > block_reach) continue;
            for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
                if (sim->particles.group[i] != scene->body_count + s) continue;
                simulation_position(sim, block, i, x);
                if (shape_distance(source->shape, scene->dim, x) < 0)
                    hold_particle(sim, i, source->velocity);
            }
        }
    }
}

bool sources_velocity(const spate_simulation *sim, const double x[3], double v[3]) {
    for (int s = 0; s < sim->scene->source_count; s++) {
        const source *source = &sim->scene->sources[s];
        if (!is_running(sim, s) || shape_distance(source->shape, sim->scene->dim, x) >= 0) continue;
        vec_copy(v, source->velocity);
        return true;
    }
    return false;
}

bool sources_near(const spate_simulation *sim, const double x[3], double reach) {
    for (int s = 0; s < sim->scene->source_count; s++)
        if (is_running(sim, s) &&
            shape_distance(sim->scene->sources[s].shape, sim->scene->dim, x) < reach)
            return true;
    return false;
}

double sources_speed(const spate_simulation *sim) {
    double fastest = 0;
    for (int s = 0; s < sim->scene->source_count; s++)
        if (is_running(sim, s)) fastest = fmax(fastest, vec_length(sim->scene->sources[s].velocity));
    return fastest;
}
