/*
 * Sources (method: Dirichlet nozzles). A lattice of particles fills the shape and moves with the
 * source's velocity; while inside, particles keep that velocity and no strain, and grid nodes
 * inside have it too, so the nozzle is always full. Lattice points that enter the shape upstream
 * become particles; those that leave it are free. Where its points are not those of a lattice each
 * is moved by what its lattice index and the seed say, whenever it enters. Nothing depends on the
 * number of threads or on how time is cut into steps but for the rounding of the lattice's shift.
 * A shape that deforms is filled by counting instead (source_fill.h).
 */
#include "solver/sources.h"

#include "core/vec.h"
#include "scene/mesh_sequence.h"
#include "scene/sample.h"
#include "solver/source_fill.h"
#include "solver/source_shapes.h"

enum { BRICK = 8 }; /* lattice points along an edge of a brick that is skipped or searched whole */

bool source_is_running(const spate_simulation *sim, int s) {
    const source *nozzle = &sim->scene->sources[s];
    return sim->time >= nozzle->from && sim->time < nozzle->until &&
           sim->sources[s].emitted < nozzle->limit;
}

typedef struct emission {
    spate_simulation *sim;
    int index;
    double spacing, volume;
    double before[3]; /* the lattice's shift a step ago */
    double step[3];   /* and its motion since */
    bool fill;        /* every point inside, not only those that have just entered */
} emission;

/* To the part of the shape that lies in the domain: a nozzle may stick out of it, and its points
 * enter where they cross the domain's side. */
static double distance_of(const emission *e, const double x[3]) {
    const spate_scene *scene = e->sim->scene;
    const domain *d = &scene->domain;
    double distance = source_distance(e->sim, e->index, x, NULL);
    for (int a = 0; a < scene->dim; a++)
        distance = fmax(distance, fmax(d->origin[a] - x[a], x[a] - (d->origin[a] + d->size[a])));
    return distance;
}

static spate_status emit_point(emission *e, const int64_t k[3]) {
    spate_simulation *sim = e->sim;
    const source *nozzle = &sim->scene->sources[e->index];
    source_state *state = &sim->sources[e->index];
    double x[3] = {0}, before[3] = {0}, move[3];
    sample_move(sim->scene, nozzle->sampling, nozzle->jitter, k, move);
    /* both to the bit as the steps before and after see them: no point enters twice or never */
    for (int a = 0; a < sim->scene->dim; a++) {
        const double place = ((double)k[a] + 0.5 + move[a]) * e->spacing;
        x[a] = place + state->shift[a];
        before[a] = place + e->before[a];
    }
    if (!(distance_of(e, x) < 0) || (!e->fill && distance_of(e, before) < 0) ||
        state->emitted >= nozzle->limit)
        return SPATE_OK;
    state->emitted++;
    return simulation_add(sim, sim->scene->body_count + e->index, x, nozzle->velocity, e->volume);
}

/* A brick of lattice points, skipped where none of them can be entering. */
static spate_status emit_brick(emission *e, const int64_t corner[3]) {
    const spate_scene *scene = e->sim->scene;
    const source_state *state = &e->sim->sources[e->index];
    /* points of a glass may leave the brick by less than half a spacing */
    double center[3] = {0},
           reach = e->spacing * (BRICK + 1) * 0.5 * sqrt(scene->dim) + vec_length(e->step);
    for (int a = 0; a < scene->dim; a++)
        center[a] = ((double)corner[a] + BRICK * 0.5) * e->spacing + state->shift[a];
    double distance = distance_of(e, center);
    if (distance > reach || (!e->fill && distance < -reach)) return SPATE_OK;
    int64_t k[3];
    for (k[0] = corner[0]; k[0] < corner[0] + BRICK; k[0]++)
        for (k[1] = corner[1]; k[1] < corner[1] + BRICK; k[1]++)
            for (k[2] = corner[2]; k[2] < corner[2] + (scene->dim == 3 ? BRICK : 1); k[2]++)
                TRY(emit_point(e, k));
    return SPATE_OK;
}

/* Moves a source's lattice to where it is now, and takes note of its next motion. */
static void move_lattice(spate_simulation *sim, int index, double dt) {
    const source *nozzle = &sim->scene->sources[index];
    source_state *state = &sim->sources[index];
    double drift[3] = {0};
    if (nozzle->shape->sequence) mesh_sequence_drift(nozzle->shape->sequence, sim->time, drift);
    for (int a = 0; a < sim->scene->dim; a++) {
        state->shift[a] += state->motion[a];
        state->motion[a] = (nozzle->velocity[a] + drift[a]) * dt;
    }
}

static spate_status emit(spate_simulation *sim, int index, double dt) {
    const spate_scene *scene = sim->scene;
    const source *nozzle = &scene->sources[index];
    source_state *state = &sim->sources[index];
    emission e = {.sim = sim, .index = index, .fill = !state->filled};
    e.spacing = sample_spacing(&scene->domain, scene->dim, nozzle->particles_per_cell);
    e.volume = pow(e.spacing, scene->dim);
    /* New particles are where the lattice is now, and the step moves them along with the others. */
    for (int a = 0; a < scene->dim; a++) {
        e.before[a] = state->shift[a];
        e.step[a] = state->motion[a];
    }
    move_lattice(sim, index, dt);
    state->filled = 1;
    const domain *d = &scene->domain;
    const bounds box = source_box(sim, index);
    int64_t low[3] = {0}, high[3] = {1, 1, 1}, corner[3];
    for (int a = 0; a < scene->dim; a++) {
        double from = fmax(box.min[a], d->origin[a]),
               to = fmin(box.max[a], d->origin[a] + d->size[a]);
        low[a] = (int64_t)floor((from - state->shift[a]) / e.spacing) - 1;
        high[a] = (int64_t)ceil((to - state->shift[a]) / e.spacing) + 1;
    }
    for (corner[0] = low[0]; corner[0] < high[0]; corner[0] += BRICK)
        for (corner[1] = low[1]; corner[1] < high[1]; corner[1] += BRICK)
            for (corner[2] = low[2]; corner[2] < high[2]; corner[2] += BRICK)
                TRY(emit_brick(&e, corner));
    return SPATE_OK;
}

static spate_status emit_deforming(spate_simulation *sim, int index, double dt) {
    move_lattice(sim, index, dt);
    TRY(source_fill(sim, index));
    sim->sources[index].filled = 1;
    return SPATE_OK;
}

spate_status sources_emit(spate_simulation *sim, double dt) {
    TRY(source_shapes_move(sim, sim->time));
    for (int s = 0; s < sim->scene->source_count; s++) {
        if (!source_is_running(sim, s)) continue;
        if (source_deforms(sim->scene, s))
            TRY(emit_deforming(sim, s, dt));
        else
            TRY(emit(sim, s, dt));
    }
    return SPATE_OK;
}

/* All that solver and material remember of a particle becomes as it was when it was added. What a
 * step has found of the present, or needs for its lists, stays. */
static void hold_particle(spate_simulation *sim, int64_t i, const double v[3]) {
    particles_clear(&sim->particles, i, particle_fields_with(FIELD_RESET));
    for (int a = 0; a < sim->scene->dim; a++) sim->particles.velocity[i][a] = (real)v[a];
}

static void hold_block(spate_simulation *sim, int s, int32_t block) {
    const blocks *b = &sim->blocks;
    for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
        double x[3], v[3];
        if (sim->particles.group[i] != sim->scene->body_count + s) continue;
        simulation_position(sim, block, i, x);
        if (source_distance(sim, s, x, v) < 0) hold_particle(sim, i, v);
    }
}

spate_status sources_hold(spate_simulation *sim) {
    const blocks *b = &sim->blocks;
    const double block_reach = simulation_reach(sim);
    TRY(source_shapes_move(sim, sim->time + sim->dt));
    for (int s = 0; s < sim->scene->source_count; s++) {
        if (!source_is_running(sim, s)) continue;
        for (int32_t o = 0; o < b->occupied_count; o++) {
            double x[3];
            simulation_middle(sim, b->coords[b->occupied[o]], x);
            if (simulation_at_seam(sim, b->occupied[o]) ||
                source_distance(sim, s, x, NULL) <= block_reach)
                hold_block(sim, s, b->occupied[o]);
        }
    }
    return SPATE_OK;
}

bool sources_velocity(const spate_simulation *sim, const double x[3], double v[3]) {
    double own[3];
    for (int s = 0; s < sim->scene->source_count; s++) {
        if (!source_is_running(sim, s) || source_distance(sim, s, x, own) >= 0) continue;
        vec_copy(v, own);
        return true;
    }
    return false;
}

bool sources_near(const spate_simulation *sim, const double x[3], double reach) {
    for (int s = 0; s < sim->scene->source_count; s++)
        if (source_is_running(sim, s) && source_distance(sim, s, x, NULL) < reach) return true;
    return false;
}

double sources_speed(const spate_simulation *sim) {
    double fastest = 0;
    for (int s = 0; s < sim->scene->source_count; s++)
        if (source_is_running(sim, s)) fastest = fmax(fastest, source_speed(sim->scene, s));
    return fastest;
}
