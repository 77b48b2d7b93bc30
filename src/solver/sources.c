/*
 * Sources (method: Dirichlet nozzles). A lattice of particles fills the shape and moves with the
 * source's velocity; while inside, particles keep that velocity and no strain, liquid but the
 * pressure around it, and grid nodes inside have the velocity too, so the nozzle is always full.
 * Lattice points that enter the shape upstream become particles, several steps' points at once where
 * steps are short: every emission costs a sort of all particles. Those that leave the shape are free.
 * Where its points are not those of a lattice each is moved by what its lattice index and the seed
 * say, whenever it enters. Nothing depends on the number of threads; how time is cut into steps
 * decides the rounding of the lattice's shift, and whether a point enters up to EMISSION_WAY late, at
 * its place of then.
 * A shape that deforms is filled by counting instead (source_fill.h).
 */
#include "solver/sources.h"

#include "core/vec.h"
#include "scene/mesh_sequence.h"
#include "scene/sample.h"
#include "solver/materials/material.h"
#include "solver/source_fill.h"
#include "solver/source_shapes.h"

enum { BRICK = 8 }; /* lattice points along an edge of a brick that is skipped or searched whole */
/* How far the lattice moves between two emissions where its steps are shorter, in spacings. */
#define EMISSION_WAY (1. / 8)

bool source_is_running(const spate_simulation *sim, int s) {
    const source *nozzle = &sim->scene->sources[s];
    return sim->time >= nozzle->from && sim->time < nozzle->until &&
           sim->sources[s].emitted < nozzle->limit;
}

/* ---- Pressure -------------------------------------------------------------------------------- */

/* A nozzle of liquid has the pressure of the liquid around it, its own or another of the same
 * equation of state. Without, inside a pool, it would be squeezed at every side, and its neighbours
 * pushed about by a jump of pressure that never ends. */
static bool has_pressure(const spate_simulation *sim, int s) {
    const spate_scene *scene = sim->scene;
    const int kind = scene_group_material(scene, scene->body_count + s);
    return sim->particles.dilation && material_is_liquid(&scene->materials[kind]);
}

/* Whether materials a and b are liquids with one pressure where they are equally dense. */
static bool has_one_equation(const spate_scene *scene, int a, int b) {
    const material *first = &scene->materials[a], *second = &scene->materials[b];
    material_constants own, other;
    if (a == b) return true;
    if (!material_is_liquid(first) || !material_is_liquid(second)) return false;
    material_models[material_kind_of(first->type)]->constants(first->parameters, scene->dim, &own);
    material_models[material_kind_of(second->type)]->constants(second->parameters, scene->dim,
                                                               &other);
    return own.liquid.stiffness == other.liquid.stiffness && own.liquid.gamma == other.liquid.gamma;
}

typedef struct surroundings {
    const spate_simulation *sim;
    int source, material;
} surroundings;

/* Of particles less than a cell outside of a source that have its equation: dilations, and their
 * number. */
static void add_surroundings(void *data, chunk items, double *part) {
    const surroundings *around = data;
    const spate_simulation *sim = around->sim;
    const double dx = sim->scene->domain.dx, reach = simulation_reach(sim);
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = sim->blocks.occupied[o];
        double x[3];
        simulation_middle(sim, sim->blocks.coords[block], x);
        const double distance = source_distance(sim, around->source, x, NULL);
        if (!simulation_at_seam(sim, block) && (distance > reach + dx || distance < -reach))
            continue;
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
            const int group = sim->particles.group[i];
            if (group == GROUP_REMOVED) continue;
            simulation_position(sim, block, i, x);
            const double off = source_distance(sim, around->source, x, NULL);
            if (off < 0 || off > dx) continue;
            if (!has_one_equation(sim->scene, around->material,
                                  scene_group_material(sim->scene, group)))
                continue;
            part[0] += (double)sim->particles.dilation[i], part[1]++;
        }
    }
}

static spate_status find_pressure(spate_simulation *sim, int s) {
    enum { BLOCKS_A_CHUNK = 16 };
    const spate_scene *scene = sim->scene;
    surroundings around = {sim, s, scene_group_material(scene, scene->body_count + s)};
    double sums[2];
    if (!has_pressure(sim, s)) return SPATE_OK;
    TRY(parallel_sum(sim->ctx, sim->blocks.occupied_count, BLOCKS_A_CHUNK, add_surroundings,
                     &around, 2, sums));
    /* drops of a jet may have more room than they need */
    if (sums[1] > 0) sim->sources[s].dilation = fmin(sums[0] / sums[1], 0);
    return SPATE_OK;
}

spate_status source_add(spate_simulation *sim, int s, const double x[3], const double v[3],
                        double volume) {
    TRY(simulation_add(sim, sim->scene->body_count + s, x, v, volume));
    if (has_pressure(sim, s))
        sim->particles.dilation[sim->particles.count - 1] = (real)sim->sources[s].dilation;
    return SPATE_OK;
}

/* ---- Emission -------------------------------------------------------------------------------- */

typedef struct emission {
    spate_simulation *sim;
    int index;
    double spacing, volume;
    double way; /* how far the lattice has moved since its last emission */
    bool fill;  /* every point inside, not only those that have just entered */
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

/* Looks at one point of the lattice. Returns in *alike how many points along its row are as far from
 * entering as it is: no surface is nearer than the distance. */
static spate_status emit_point(emission *e, const int64_t k[3], int64_t *alike) {
    spate_simulation *sim = e->sim;
    const int dim = sim->scene->dim;
    const source *nozzle = &sim->scene->sources[e->index];
    source_state *state = &sim->sources[e->index];
    double x[3] = {0}, before[3] = {0}, move[3];
    sample_move(sim->scene, nozzle->sampling, nozzle->jitter, k, move);
    /* both to the bit as the emissions before and after see them: no point enters twice or never */
    for (int a = 0; a < dim; a++) {
        const double place = ((double)k[a] + 0.5 + move[a]) * e->spacing;
        x[a] = place + state->shift[a];
        before[a] = place + state->emitted_at[a];
    }
    const double distance = distance_of(e, x);
    /* two points of a glass are off their places by less than half a spacing an axis each */
    const double clear = (distance < 0 ? -distance - e->way : distance) / e->spacing - sqrt(dim);
    *alike = (e->fill && distance < 0) || !(clear > 0) ? 0 : (int64_t)fmin(clear, BRICK);
    if (!(distance < 0) || *alike || (!e->fill && distance_of(e, before) < 0) ||
        state->emitted >= nozzle->limit)
        return SPATE_OK;
    state->emitted++;
    return source_add(sim, e->index, x, nozzle->velocity, e->volume);
}

/* The points of a brick, row by row. */
static spate_status emit_rows(emission *e, const int64_t corner[3]) {
    const int last = e->sim->scene->dim - 1;
    int64_t end[3] = {1, 1, 1}, k[3] = {0}, alike;
    for (int a = 0; a <= last; a++) end[a] = corner[a] + BRICK;
    for (k[0] = corner[0]; k[0] < end[0]; k[0]++)
        for (k[1] = corner[1]; k[1] < end[1]; k[1]++)
            for (k[2] = corner[2]; k[2] < end[2]; k[2]++) {
                TRY(emit_point(e, k, &alike));
                k[last] += alike;
            }
    return SPATE_OK;
}

/* A brick of lattice points, skipped where none of them can be entering. */
static spate_status emit_brick(emission *e, const int64_t corner[3]) {
    const spate_scene *scene = e->sim->scene;
    const source_state *state = &e->sim->sources[e->index];
    /* points of a glass may leave the brick by less than half a spacing */
    double center[3] = {0}, reach = e->spacing * (BRICK + 1) * 0.5 * sqrt(scene->dim) + e->way;
    for (int a = 0; a < scene->dim; a++)
        center[a] = ((double)corner[a] + BRICK * 0.5) * e->spacing + state->shift[a];
    double distance = distance_of(e, center);
    if (distance > reach || (!e->fill && distance < -reach)) return SPATE_OK;
    return emit_rows(e, corner);
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

/* All lattice points that are in the shape and were not at the last emission become particles. They
 * are where the lattice is now, and the step moves them along with the others. */
static spate_status emit_entered(emission *e) {
    spate_simulation *sim = e->sim;
    if (e->fill) TRY(find_pressure(sim, e->index));
    const spate_scene *scene = sim->scene;
    const int index = e->index;
    source_state *state = &sim->sources[index];
    const domain *d = &scene->domain;
    const bounds box = source_box(sim, index);
    int64_t low[3] = {0}, high[3] = {1, 1, 1}, corner[3];
    for (int a = 0; a < scene->dim; a++) {
        double from = fmax(box.min[a], d->origin[a]),
               to = fmin(box.max[a], d->origin[a] + d->size[a]);
        low[a] = (int64_t)floor((from - state->shift[a]) / e->spacing) - 1;
        high[a] = (int64_t)ceil((to - state->shift[a]) / e->spacing) + 1;
    }
    for (corner[0] = low[0]; corner[0] < high[0]; corner[0] += BRICK)
        for (corner[1] = low[1]; corner[1] < high[1]; corner[1] += BRICK)
            for (corner[2] = low[2]; corner[2] < high[2]; corner[2] += BRICK)
                TRY(emit_brick(e, corner));
    vec_copy(state->emitted_at, state->shift);
    state->filled = 1;
    return SPATE_OK;
}

static spate_status emit(spate_simulation *sim, int index, double dt) {
    const spate_scene *scene = sim->scene;
    const source *nozzle = &scene->sources[index];
    const source_state *state = &sim->sources[index];
    emission e = {.sim = sim, .index = index, .fill = !state->filled};
    e.spacing = sample_spacing(&scene->domain, scene->dim, nozzle->particles_per_cell);
    e.volume = pow(e.spacing, scene->dim);
    move_lattice(sim, index, dt);
    double since[3];
    vec_sub(since, state->shift, state->emitted_at);
    e.way = vec_length(since);
    const bool is_last = sim->time + dt >= nozzle->until;
    if (!e.fill && e.way < EMISSION_WAY * e.spacing && !is_last) return SPATE_OK;
    return emit_entered(&e);
}

static spate_status emit_deforming(spate_simulation *sim, int index, double dt) {
    move_lattice(sim, index, dt);
    if (!sim->sources[index].filled) TRY(find_pressure(sim, index));
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

typedef struct hold {
    spate_simulation *sim;
    int source;
    unsigned fields; /* what is forgotten of a particle */
} hold;

/* Particles are as they were when they were added. What a step has found of the present, or needs for
 * its lists, stays. */
enum { HELD_AT_ONCE = 128 };
typedef struct held {
    int64_t items[HELD_AT_ONCE];
    int count;
} held;

static void hold_particles(const hold *h, held *these) {
    const real dilation = (real)h->sim->sources[h->source].dilation;
    particles_clear(&h->sim->particles, these->items, these->count, h->fields);
    if (has_pressure(h->sim, h->source))
        for (int k = 0; k < these->count; k++)
            h->sim->particles.dilation[these->items[k]] = dilation;
    these->count = 0;
}

/* A ball about a block's middle where the shape's surface is not. */
typedef struct clear_ball {
    double middle[3], radius;
    bool inside; /* the shape */
} clear_ball;

static bool is_inside(const hold *h, const clear_ball *ball, const double x[3], double v[3]) {
    double off[3];
    vec_sub(off, x, ball->middle);
    if (vec_dot(off, off) < ball->radius * ball->radius) {
        vec_copy(v, h->sim->scene->sources[h->source].velocity);
        return ball->inside;
    }
    return source_distance(h->sim, h->source, x, v) < 0;
}

static void hold_block(const hold *h, int32_t block, const clear_ball *ball) {
    const spate_simulation *sim = h->sim;
    held these = {.count = 0};
    for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
        double x[3], v[3];
        if (sim->particles.group[i] != sim->scene->body_count + h->source) continue;
        simulation_position(sim, block, i, x);
        if (!is_inside(h, ball, x, v)) continue;
        for (int a = 0; a < 3; a++)
            sim->particles.velocity[i][a] = a < sim->scene->dim ? (real)v[a] : 0;
        these.items[these.count++] = i;
        if (these.count == HELD_AT_ONCE) hold_particles(h, &these);
    }
    hold_particles(h, &these);
}

static void hold_blocks(void *data, chunk items) {
    const double ROUNDING = 1e-6; /* of the distance */
    const hold *h = data;
    const spate_simulation *sim = h->sim;
    const double block_reach = simulation_reach(sim);
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = sim->blocks.occupied[o];
        clear_ball ball = {.radius = 0};
        simulation_middle(sim, sim->blocks.coords[block], ball.middle);
        if (!simulation_at_seam(sim, block)) {
            const double distance = source_distance(sim, h->source, ball.middle, NULL);
            if (distance > block_reach) continue;
            ball.inside = distance < 0;
            /* the distance of what deforms is interpolated */
            if (!source_deforms(sim->scene, h->source))
                ball.radius = (1 - ROUNDING) * fabs(distance);
        }
        hold_block(h, block, &ball);
    }
}

spate_status sources_hold(spate_simulation *sim) {
    enum { BLOCKS_A_CHUNK = 16 };
    TRY(source_shapes_move(sim, sim->time + sim->dt));
    for (int s = 0; s < sim->scene->source_count; s++) {
        hold h = {sim, s, particle_fields_with(FIELD_RESET) & ~PARTICLE_BIT(velocity)};
        if (!source_is_running(sim, s)) continue;
        TRY(find_pressure(sim, s));
        parallel_for(sim->ctx->pool, sim->blocks.occupied_count, BLOCKS_A_CHUNK, hold_blocks, &h);
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
