/* A scene being played: filling it with particles, sources and sinks, the choice of the time step.
 */
#include "core/hash.h"
#include "core/vec.h"
#include "port/clock.h"
#include "port/thread.h"
#include "scene/flow.h"
#include "scene/sample.h"
#include "scene/vortices.h"
#include "solver/drive.h"
#include "solver/force_fields.h"
#include "solver/materials/material.h"
#include "solver/sinks.h"
#include "solver/solver.h"
#include "solver/source_shapes.h"
#include "solver/sources.h"

double phase_start(void) { return 1e-9 * (double)clock_nanoseconds(); }

void phase_stop(spate_simulation *sim, const char *name, double start) {
    double seconds = phase_start() - start;
    for (int i = 0; i < sim->phase_count; i++)
        if (strcmp(sim->phases[i].name, name) == 0) {
            sim->phases[i].seconds += seconds;
            return;
        }
    if (sim->phase_count < PHASES_MAX) sim->phases[sim->phase_count++] = (phase){name, seconds};
}

/* ---- Making one ------------------------------------------------------------------------------ */

spate_status simulation_open(spate_scene *scene, spate_simulation *sim) {
    spate_context *ctx = scene->ctx;
    memset(&sim->ctx, 0, sizeof *sim - offsetof(spate_simulation, ctx));
    sim->ctx = sim->scratch.ctx = ctx;
    sim->scene = scene;
    sim->dt_limit = "none";
    sim->order.order = -1;
    for (int i = 0; i < solver_type_count; i++)
        if (solver_types[i]->declaration == scene->solver) sim->type = solver_types[i];
    sim->particles.ctx = ctx;
    sim->particles.fields = PARTICLE_BASICS | sim->type->fields(scene);
    int period[3] = {0};
    for (int a = 0; a < scene->dim; a++)
        if (scene->domain.walls[a][0] == WALL_PERIODIC)
            period[a] = scene->domain.cells[a] / BLOCK_EDGE;
    spate_status status;
    TRY_OR_DONE(status, blocks_create(ctx, scene->dim, period, &sim->blocks));
    sim->blocks.exchanged |= sim->type->exchanged;
    TRY_OR_DONE(status, boundary_create(scene, &sim->boundary));
    TRY_OR_DONE(status, particles_reserve(&sim->particles, 64));
    status = SPATE_OUT_OF_MEMORY;
    for (; sim->forces.count < scene->force_count; sim->forces.count++)
        sim->forces.list[sim->forces.count] = scene->forces[sim->forces.count];
    sim->sources = take(ctx, (size_t)scene->source_count + 1, sizeof *sim->sources);
    if (sim->sources) status = source_shapes_create(sim);
done:
    if (status) simulation_close(sim);
    return status;
}

spate_status simulation_prepare(spate_scene *scene, spate_simulation **out) {
    *out = NULL;
    spate_simulation *sim = take(scene->ctx, 1, sizeof *sim);
    if (!sim) return SPATE_OUT_OF_MEMORY;
    spate_status status = simulation_open(scene, sim);
    if (status)
        give(scene->ctx, sim);
    else
        *out = sim;
    return status;
}

spate_status simulation_add(spate_simulation *sim, int group, const double x[3], const double v[3],
                            double volume) {
    const spate_scene *scene = sim->scene;
    const domain *d = &scene->domain;
    double g[3];
    for (int a = 0; a < 3; a++) g[a] = (x[a] - d->origin[a]) / d->dx + sim->type->shift;
    int64_t i;
    TRY(blocks_add(&sim->blocks, &sim->particles, g, &i));
    particles *p = &sim->particles;
    p->id[i] = sim->next_id++;
    p->group[i] = (uint16_t)group;
    p->mass[i] = (real)(volume * scene->materials[scene_group_material(scene, group)].density);
    for (int a = 0; a < scene->dim; a++) p->velocity[i][a] = (real)v[a];
    if (p->concentration && scene_group_species(scene, group) >= 0)
        p->concentration[i][scene_group_species(scene, group)] = 1;
    if (p->temperature)
        p->temperature[i] = material_temperature(scene, scene_group_material(scene, group));
    return SPATE_OK;
}

/* Rigid rotation about the samples' centre: velocity and its gradient, so that the angular momentum
 * of the first transfer is exact. */
static void set_spin(spate_simulation *sim, const double spin[3], int64_t i, const double arm[3]) {
    particles *p = &sim->particles;
    double v[3];
    vec_cross(v, spin, arm);
    for (int a = 0; a < sim->scene->dim; a++) {
        double axis[3] = {0}, change[3];
        axis[a] = sim->scene->domain.dx;
        vec_cross(change, spin, axis);
        p->velocity[i][a] += (real)v[a];
        for (int k = 0; k < sim->scene->dim && p->affine; k++) p->affine[i][a][k] = (real)change[k];
    }
}

/* A velocity, and its gradient where the solver carries it. */
static void add_motion(spate_simulation *sim, int64_t i, const double v[3], double slopes[3][3]) {
    const int dim = sim->scene->dim;
    particles *p = &sim->particles;
    for (int a = 0; a < dim; a++) p->velocity[i][a] += (real)v[a];
    if (!p->affine) return;
    for (int a = 0; a < dim; a++)
        for (int k = 0; k < dim; k++)
            p->affine[i][a][k] += (real)(sim->scene->domain.dx * slopes[a][k]);
}

static void add_flows(spate_simulation *sim, const body *b, const double middle[3], int64_t i,
                      const double x[3]) {
    double v[3], slopes[3][3];
    if (body_has_vortices(b)) {
        vortices_velocity(sim->scene, b, x, v, slopes);
        add_motion(sim, i, v, slopes);
    }
    if (b->flow_count) {
        flow_velocity(sim->scene, b, middle, x, v, slopes);
        add_motion(sim, i, v, slopes);
    }
}

spate_status simulation_fill_body(spate_simulation *sim, int index) {
    const spate_scene *scene = sim->scene;
    const body *filled = &scene->bodies[index];
    samples s = {0};
    TRY(sample_filled_body(scene, index, &s));
    double center[3] = {0};
    for (int64_t k = 0; k < s.count; k++) vec_add(center, center, s.points[k]);
    vec_scale(center, 1.0 / (double)s.count, center);
    spate_status status = particles_reserve(&sim->particles, sim->particles.count + s.count);
    for (int64_t k = 0; k < s.count && !status; k++) {
        status = simulation_add(sim, index, s.points[k], filled->velocity, s.volume);
        const int64_t i = sim->particles.count - 1;
        double arm[3];
        vec_sub(arm, s.points[k], center);
        if (!status && vec_length(filled->spin) > 0) set_spin(sim, filled->spin, i, arm);
        if (!status) add_flows(sim, filled, center, i, s.points[k]);
    }
    samples_free(sim->ctx, &s);
    return status;
}

/* The particles of bodies and sources; a solver with its matter on a grid fills that itself. */
static spate_status fill(spate_simulation *sim) {
    if (scene_on_grid(sim->scene)) return SPATE_OK;
    for (int b = 0; b < sim->scene->body_count; b++) TRY(simulation_fill_body(sim, b));
    return sources_emit(sim, 0);
}

spate_status simulation_create(spate_scene *scene, spate_simulation **simulation) {
    *simulation = NULL;
    spate_simulation *sim;
    TRY(simulation_prepare(scene, &sim));
    spate_status status = fill(sim);
    int64_t lost;
    if (!status)
        status = blocks_sort(&sim->blocks, &sim->particles, &sim->scratch, scene->ctx->pool, &lost);
    if (!status) status = sim->type->create(sim);
    if (!status && sim->type->start) status = sim->type->start(sim);
    if (!status) {
        *simulation = sim;
        return SPATE_OK;
    }
    simulation_close(sim);
    give(scene->ctx, sim);
    return status;
}

void simulation_close(spate_simulation *sim) {
    if (sim->solver) sim->type->free(sim);
    particles_free(&sim->particles);
    blocks_free(&sim->blocks);
    boundary_free(&sim->boundary);
    scratch_free(&sim->scratch);
    source_shapes_free(sim);
    give(sim->ctx, sim->sources);
    give(sim->ctx, sim->order.place), give(sim->ctx, sim->order.bits);
    give(sim->ctx, sim->order.before);
    sim->order = (read_order){.order = -1};
    sim->sources = NULL;
}

/* ---- One call at a time ---------------------------------------------------------------------- */

static const void *stager_of(const spate_simulation *sim) {
    return __atomic_load_n(&sim->stager, __ATOMIC_ACQUIRE);
}

spate_status simulation_enter(spate_simulation *sim, bool changes) {
    if (!__atomic_exchange_n(&sim->busy, 1, __ATOMIC_ACQUIRE)) return SPATE_OK;
    const bool own = stager_of(sim) == thread_self();
    if (own && !changes) return SPATE_OK;
    return fail_aside(sim->ctx,
                      own ? "a simulation cannot be changed while it makes a step; wait until "
                            "spate_simulation_step has returned"
                          : "two threads use one simulation at once; let one wait for the other");
}

void simulation_leave(spate_simulation *sim) {
    if (!stager_of(sim)) __atomic_store_n(&sim->busy, 0, __ATOMIC_RELEASE);
}

/* ---- Stepping -------------------------------------------------------------------------------- */

/* The step from the solver's limit or the scene, made to land exactly on `until`, which is named.
 * */
static void choose_step(spate_simulation *sim, double until, const char *landing) {
    const spate_scene *scene = sim->scene;
    const char *limit = "fixed";
    double dt = scene->dt > 0 ? scene->dt : sim->type->step_limit(sim, &limit);
    const double forced = scene->dt > 0 ? HUGE_VAL : forces_limit(sim);
    if (forced < dt) dt = forced, limit = "force";
    sim->whole_dt = dt;
    double left = until - sim->time;
    if (dt >= left * (1 - 1e-9)) {
        if (dt > left * (1 + 1e-9)) limit = landing;
        dt = left;
    } else if (scene->dt <= 0 && dt * 2 > left) {
        dt = left / 2; /* two even steps instead of a long and a tiny one */
    }
    sim->dt = dt;
    sim->dt_limit = limit;
}

void simulation_must_sort(spate_simulation *sim) { sim->drift = fmax(sim->drift, BLOCK_EDGE); }

/* What is drained must be gone before the next transfer. */
static void drain(spate_simulation *sim) {
    if (!sim->scene->sink_count) return;
    double start = phase_start();
    if (sinks_drain(sim) > 0) simulation_must_sort(sim);
    phase_stop(sim, "sinks", start);
}

/* Physics that went wrong is told with the file it came from. */
static spate_status name_scene(spate_simulation *sim, spate_status status) {
    if (status == SPATE_UNSTABLE || status == SPATE_NOT_CONVERGED)
        fail_prefix(sim->ctx, "%s: ", sim->scene->path ? sim->scene->path : sim->scene->name);
    return status;
}

spate_status simulation_not_finite(spate_simulation *sim, const char *what, const char *name) {
    return name_scene(sim, fail(sim->ctx, SPATE_UNSTABLE,
                                "step %lld, t = %.6g s: %s '%s' is not a finite number and is not "
                                "written; check velocities, densities and moduli of the scene",
                                (long long)sim->step, sim->time, what, name));
}

/* Colliders and force fields come and go between steps: where the next one may end. */
static double next_landing(spate_simulation *sim, double until, const char **landing) {
    const double now = sim->time * (1 + TIME_ROUNDING);
    const double change = boundary_next_change(&sim->boundary, now);
    const double forced = forces_next_change(sim);
    boundary_appear(&sim->boundary, now);
    if (forced < change && forced < until * (1 - TIME_ROUNDING)) {
        *landing = "force";
        return forced;
    }
    if (!(change < until * (1 - TIME_ROUNDING))) return until;
    *landing = "collider";
    return change;
}

spate_status simulation_step(spate_simulation *sim, double until) {
    if (sim->broken)
        return fail(sim->ctx, sim->broken,
                    "the simulation cannot go on after an earlier failure; "
                    "restore it from a checkpoint");
    if (!(until > sim->time)) return SPATE_OK;
    sim->generation++;
    double start = phase_start();
    const char *landing = "frame";
    until = next_landing(sim, until, &landing);
    choose_step(sim, until, landing);
    phase_stop(sim, "limit", start);
    if (!(sim->time + sim->dt > sim->time))
        return name_scene(sim, simulation_unstable(sim, -1,
                                                   "the time step became too short to move time "
                                                   "on"));
    spate_status status = SPATE_OK;
    if (!scene_on_grid(sim->scene) && forces_act(sim)) {
        start = phase_start();
        forces_apply(sim);
        phase_stop(sim, "force fields", start);
    }
    if (!scene_on_grid(sim->scene)) {
        start = phase_start();
        status = sources_emit(sim, sim->dt);
        phase_stop(sim, "sources", start);
    }
    if (!status) status = sim->type->step(sim);
    sim->broken = status;
    if (status) return name_scene(sim, status);
    /* Landing on `until` must be exact, whatever rounding says. */
    double next = sim->time + sim->dt;
    sim->time = fabs(next - until) <= 1e-9 * sim->dt ? until : next;
    sim->step++;
    drain(sim);
    return SPATE_OK;
}

spate_status simulation_unstable(spate_simulation *sim, int64_t i, const char *what) {
    const spate_scene *scene = sim->scene;
    const char *remedy = scene->dt > 0 ? "use a smaller solver.dt, or leave it out"
                                       : "use a smaller solver.cfl, or a softer material";
    if (i < 0)
        return fail(sim->ctx, SPATE_UNSTABLE,
                    "step %lld, t = %.6g s: %s (dt %.3g s, limit: %s); %s",
                    (long long)sim->step + 1, sim->time, what, sim->dt, sim->dt_limit, remedy);
    const particles *p = &sim->particles;
    int32_t block = 0;
    while (block + 1 < sim->blocks.count && sim->blocks.first[block + 1] <= i) block++;
    double x[3] = {0}, J = NAN;
    if (sim->blocks.count) simulation_position(sim, block, i, x);
    if (sim->type->stress) sim->type->stress(sim, i, NULL, NULL, &J);
    const real *v = p->velocity[i];
    const char *name = p->group[i] == GROUP_REMOVED
                           ? "none"
                           : scene->materials[scene_group_material(scene, p->group[i])].name;
    return fail(
        sim->ctx, SPATE_UNSTABLE,
        "step %lld, t = %.6g s: %s: particle %llu of material '%s' at (%.4g, %.4g, %.4g) with "
        "v = (%.4g, %.4g, %.4g), J = %.4g, dt %.3g s (limit: %s); %s",
        (long long)sim->step + 1, sim->time, what, (unsigned long long)p->id[i], name, x[0], x[1],
        x[2], (double)v[0], (double)v[1], (double)v[2], J, sim->dt, sim->dt_limit, remedy);
}

spate_status simulation_judge(spate_simulation *sim, const solve_result *r, int64_t *failures,
                              int64_t *missed) {
    enum { FAILURES_MOST = 10 };
    const long long step = (long long)sim->step + 1, iterations = (long long)r->iterations;
    if (r->converged) {
        *failures = 0;
        return SPATE_OK;
    }
    ++*missed;
    warn_once(sim->ctx, r->kind,
              "step %lld, t = %.6g s: the %s has a residual of %.3g after %lld iterations, above "
              "solver.tolerance %.3g; raise solver.max_iterations or the tolerance",
              step, sim->time, r->what, r->residual, iterations, r->tolerance);
    if (++*failures < FAILURES_MOST) return SPATE_OK;
    return fail(
        sim->ctx, SPATE_NOT_CONVERGED,
        "step %lld, t = %.6g s: the %s has missed its tolerance %d times in a row "
        "(residual %.3g after %lld iterations, solver.tolerance %.3g); raise solver.max_iterations "
        "or the tolerance",
        step, sim->time, r->what, FAILURES_MOST, r->residual, iterations, r->tolerance);
}

double simulation_fastest(const spate_simulation *sim) {
    double fastest = 0;
    for (int64_t i = 0; i < sim->particles.count; i++) {
        const real *v = sim->particles.velocity[i];
        double w[3] = {(double)v[0], (double)v[1], (double)v[2]};
        fastest = fmax(fastest, vec_length(w));
    }
    return fastest;
}

int64_t simulation_remove_outside(spate_simulation *sim, int32_t block) {
    const domain *d = &sim->scene->domain;
    const double low = sim->type->shift;
    int64_t removed = 0;
    for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
        double g[3];
        if (sim->particles.group[i] == GROUP_REMOVED) continue;
        blocks_position(&sim->blocks, &sim->particles, block, i, g);
        for (int a = 0; a < sim->scene->dim; a++)
            if ((g[a] < low && d->walls[a][0] == WALL_OPEN) ||
                (g[a] > d->cells[a] + low && d->walls[a][1] == WALL_OPEN)) {
                sim->particles.group[i] = GROUP_REMOVED;
                removed++;
                break;
            }
    }
    return removed;
}

void simulation_add_force(const spate_simulation *sim, int c, const double x[3],
                          const double part[3], double force[3], double torque[3]) {
    double arm[3], turn[3];
    vec_sub(arm, x, sim->boundary.poses[c].pivot);
    vec_sub(arm, arm, sim->boundary.poses[c].move);
    vec_cross(turn, arm, part);
    vec_add(force, force, part);
    vec_add(torque, torque, turn);
}

/* ---- Questions ------------------------------------------------------------------------------- */

double spate_simulation_time(const spate_simulation *sim) { return sim->time; }
int64_t spate_simulation_steps(const spate_simulation *sim) { return sim->step; }
int64_t spate_simulation_particles(const spate_simulation *sim) { return sim->particles.count; }
double spate_simulation_dt(const spate_simulation *sim) { return sim->dt; }
const char *spate_simulation_dt_limit(const spate_simulation *sim) { return sim->dt_limit; }

double column_removed(const spate_simulation *sim) { return (double)sim->removed; }
double column_drained(const spate_simulation *sim) { return (double)sim->drained; }
double column_sorts(const spate_simulation *sim) { return (double)sim->blocks.sorts; }

void state_add(state_blocks *out, const char *name, void *data, size_t bytes) {
    state_add_list(out, name, data, bytes, NULL);
}

void state_add_list(state_blocks *out, const char *name, void *data, size_t bytes,
                    spate_status (*resize)(spate_simulation *sim, size_t bytes, void **data)) {
    if (out->count < STATE_BLOCKS_MAX)
        out->list[out->count] = (state_block){name, data, bytes, resize};
    out->count++;
}

spate_status simulation_state(spate_simulation *sim, state_blocks *out) {
    out->count = 0;
    if (sim->type->state) sim->type->state(sim, out);
    if (out->count <= STATE_BLOCKS_MAX) return SPATE_OK;
    return fail(sim->ctx, SPATE_BAD_INPUT,
                "solver %s has %d blocks of state for a checkpoint, which takes at most %d: raise "
                "STATE_BLOCKS_MAX",
                sim->type->declaration->name, out->count, STATE_BLOCKS_MAX);
}

/* All that decides how the simulation goes on: the deformation gradient is only followed for
 * output, so that a run is the same by its hash whether or not somebody wants to see it. */
static uint64_t hash_particle(const particles *p, int64_t i, uint64_t h) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        const particle_field_info *info = &particle_fields[f];
        if (!(info->flags & FIELD_HASHED) || !particles_field(p, (particle_field)f)) continue;
        for (int c = 0; c < info->planes; c++)
            h = hash_bytes(particles_element(p, (particle_field)f, c, i), info->bytes, h);
    }
    return h;
}

/* Each particle is hashed on its own, with its id and grid position; the sum over all particles
 * does not depend on the order they are stored in. */
static void hash_particles(void *data, chunk items) {
    spate_simulation *sim = ((void **)data)[0];
    uint64_t *sums = ((void **)data)[1];
    const particles *p = &sim->particles;
    for (int64_t o = items.begin; o < items.end; o++) {
        int32_t block = sim->blocks.occupied[o];
        uint64_t sum = 0;
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
            double g[3];
            blocks_position(&sim->blocks, p, block, i, g);
            sum += hash_particle(p, i, hash_bytes(g, sizeof g, 0));
        }
        sums[o] = sum;
    }
}

/* What was done from outside and lasts; nothing where nobody has. */
static uint64_t hash_driven(const spate_simulation *sim, uint64_t h) {
    for (int c = 0; c < sim->scene->collider_count && sim->boundary.driven_count; c++)
        if (sim->scene->colliders[c].driven)
            h = hash_bytes(&sim->boundary.driven[c], sizeof *sim->boundary.driven, h);
    for (int64_t i = 0; i < sim->forces.count; i++)
        h = hash_bytes(&sim->forces.list[i], sizeof sim->forces.list[i], h);
    if (drive_gives_forces(sim))
        for (int64_t i = 0; i < sim->particles.count; i++)
            h += hash_bytes(sim->particles.force[i], sizeof *sim->particles.force,
                            sim->particles.id[i]);
    return h;
}

uint64_t simulation_hash(spate_simulation *sim) {
    uint64_t head[2] = {(uint64_t)sim->step, (uint64_t)sim->particles.count};
    uint64_t hash = hash_bytes(head, sizeof head, 0);
    hash = hash_bytes(&sim->time, sizeof sim->time, hash);
    uint64_t *sums = take(sim->ctx, (size_t)sim->blocks.occupied_count + 1, sizeof *sums);
    if (!sums) return 0;
    void *data[2] = {sim, sums};
    parallel_for(sim->ctx->pool, sim->blocks.occupied_count, 16, hash_particles, data);
    uint64_t sum = 0;
    for (int32_t o = 0; o < sim->blocks.occupied_count; o++) sum += sums[o];
    give(sim->ctx, sums);
    hash = hash_driven(sim, hash_bytes(&sum, sizeof sum, hash));
    return sim->type->hash ? sim->type->hash(sim, hash) : hash;
}
