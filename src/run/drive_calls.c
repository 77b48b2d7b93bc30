/* The calls of spate/drive.h that act: each becomes a command (commands.h), which is noted where
 * the simulation is recorded. */
#include "core/cookie.h"
#include "core/vec.h"
#include "measure/order.h"
#include "run/commands.h"
#include "scene/event_tables.h"
#include "scene/rotation.h"
#include "solver/impulses.h"
#include <stdio.h>

static spate_status command(spate_simulation *sim, scene_event *e) {
    TRY(simulation_enter(sim, true));
    spate_status status = command_give(sim, e);
    simulation_leave(sim);
    return status;
}

/* ---- Colliders ------------------------------------------------------------------------------- */

spate_pose spate_default_pose(void) {
    return (spate_pose){.cookie = COOKIE_POSE, .rotation = {0, 0, 0, 1}};
}

spate_status spate_simulation_set_pose(spate_simulation *sim, const char *name,
                                       const spate_pose *given) {
    scene_event e = {.kind = EVENT_POSE, .name = name};
    vec_copy(e.position, given->position), vec_copy(e.velocity, given->velocity);
    vec_copy(e.spin, given->spin);
    memcpy(e.rotation, given->rotation, sizeof e.rotation);
    TRY(simulation_enter(sim, true));
    spate_status status = cookie_check(sim->ctx, given->cookie, COOKIE_POSE, "pose");
    if (!status) status = command_give(sim, &e);
    simulation_leave(sim);
    return status;
}

spate_status spate_simulation_pose(spate_simulation *sim, const char *name, spate_pose *out) {
    int c = 0;
    TRY(simulation_enter(sim, false));
    spate_status status = collider_find(sim, name, &c);
    if (!status) {
        const collider *solid = &sim->scene->colliders[c];
        const pose p = solid->driven ? driven_pose_at(&sim->boundary.driven[c], sim->time)
                                     : motion_pose(&solid->motion, sim->time);
        *out = spate_default_pose();
        vec_add(out->position, p.pivot, p.move);
        quaternion_of_rotation((const double(*)[3])p.turn, out->rotation);
        vec_copy(out->velocity, p.velocity), vec_copy(out->spin, p.spin);
    }
    simulation_leave(sim);
    return status;
}

spate_status spate_simulation_force(spate_simulation *sim, const char *name, double force[3],
                                    double torque[3]) {
    int c = 0;
    TRY(simulation_enter(sim, false));
    spate_status status = collider_find(sim, name, &c);
    if (!status) impulses_of_step(sim, c, force, torque);
    simulation_leave(sim);
    return status;
}

/* ---- Particles ------------------------------------------------------------------------------- */

spate_writing spate_default_writing(void) { return (spate_writing){.cookie = COOKIE_WRITING}; }

/* The ids of all living particles, ascending, in scratch memory. */
static spate_status all_ids(spate_simulation *sim, const uint64_t **out, int64_t *count) {
    const uint32_t *place;
    TRY(order_places(sim, SPATE_BY_ID, &place, count));
    uint64_t *ids = scratch_take(&sim->scratch, "written ids", (size_t)*count + 1, sizeof *ids);
    if (!ids) return SPATE_OUT_OF_MEMORY;
    const particles *p = &sim->particles;
    for (int64_t i = 0; i < p->count; i++)
        if (!particle_is_removed(sim, i)) ids[place ? place[i] : p->id[i]] = p->id[i];
    *out = ids;
    return SPATE_OK;
}

static spate_status write_all(spate_simulation *sim, const spate_writing *w, scene_event *e) {
    int64_t count;
    TRY(all_ids(sim, &e->ids, &count));
    spate_status status = SPATE_OK;
    if (count != w->particles)
        status = fail(sim->ctx, SPATE_BAD_INPUT,
                      "there are %lld particles, not %lld; give a value for each, or name ids",
                      (long long)count, (long long)w->particles);
    if (!status) status = command_give(sim, e);
    scratch_give(&sim->scratch, "written ids");
    return status;
}

static spate_status write_some(spate_simulation *sim, const spate_writing *w) {
    static const event_kind kinds[] = {[SPATE_VELOCITY] = EVENT_VELOCITIES,
                                       [SPATE_POSITION] = EVENT_POSITIONS,
                                       [SPATE_FORCE] = EVENT_PARTICLE_FORCES};
    TRY(cookie_check(sim->ctx, w->cookie, COOKIE_WRITING, "writing"));
    if ((int)w->target < 0 || w->target >= COUNT_OF(kinds))
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "there is no target %d; use SPATE_VELOCITY, SPATE_POSITION or SPATE_FORCE",
                    (int)w->target);
    if (w->particles < 0 || (w->particles > 0 && !w->values))
        return fail(sim->ctx, SPATE_BAD_INPUT, "%lld particles %s; give three numbers for each",
                    (long long)w->particles, w->values ? "" : "without values");
    scene_event e = {
        .kind = kinds[w->target], .ids = w->ids, .count = w->particles, .values = w->values};
    return w->ids ? command_give(sim, &e) : write_all(sim, w, &e);
}

spate_status spate_simulation_write(spate_simulation *sim, const spate_writing *w) {
    TRY(simulation_enter(sim, true));
    spate_status status = write_some(sim, w);
    simulation_leave(sim);
    return status;
}

/* ---- Force fields ---------------------------------------------------------------------------- */

spate_force spate_default_force(void) {
    const force_field f = force_default();
    spate_force out = {.cookie = COOKIE_FORCE, .axis = {0, 0, 1}, .rate = 50, .until = f.until};
    vec_copy(out.min, f.min), vec_copy(out.max, f.max);
    return out;
}

static spate_status check_number(spate_simulation *sim, const char *name, double value,
                                 double least, double most) {
    if (value >= least && value <= most) return SPATE_OK;
    return fail(sim->ctx, SPATE_BAD_INPUT, "force.%s is %g; give one from %g to %g", name, value,
                least, most);
}

static spate_status check_vector(spate_simulation *sim, const char *name, const double v[3]) {
    for (int a = 0; a < 3; a++)
        if (!isfinite(v[a]) || (a >= sim->scene->dim && v[a] != 0))
            return fail(sim->ctx, SPATE_BAD_INPUT, "force.%s has %c = %g; give a finite one%s",
                        name, "xyz"[a], v[a], a >= sim->scene->dim ? ", 0 along z in 2D" : "");
    return SPATE_OK;
}

/* What a scene's reader checks of the same fields (scene_forces.c). */
static spate_status check_force(spate_simulation *sim, const spate_force *f) {
    const double least = 1e-300, most = 1e300;
    TRY(check_vector(sim, "acceleration", f->acceleration));
    TRY(check_vector(sim, "center", f->center));
    TRY(check_vector(sim, "velocity", f->velocity));
    TRY(check_number(sim, "strength", f->strength, -1e12, 1e12));
    TRY(check_number(sim, "rate", f->rate, 0, 1e9));
    TRY(check_number(sim, "from", f->from, -most, most));
    if (!(f->until > f->from))
        return fail(sim->ctx, SPATE_BAD_INPUT, "force.until %g is not after from %g", f->until,
                    f->from);
    for (int a = 0; a < sim->scene->dim; a++)
        if (!(f->min[a] <= f->max[a]))
            return fail(sim->ctx, SPATE_BAD_INPUT, "force.min is above max along %c; swap them",
                        "xyz"[a]);
    if (f->kind == SPATE_VORTEX || f->kind == SPATE_MOUSE)
        TRY(check_number(sim, "radius", f->radius, least, most));
    if (f->kind == SPATE_ATTRACTOR) TRY(check_number(sim, "softening", f->softening, least, most));
    if (f->kind != SPATE_TURBULENCE) return SPATE_OK;
    TRY(check_number(sim, "period", f->period, 0, most));
    return check_number(sim, "length", f->length, least, most);
}

/* Only what its kind has, as a scene's reader fills it: a recording leads to the same bits. */
static spate_status copy_kind(spate_simulation *sim, const spate_force *given, force_field *f) {
    const bool turns = f->kind == FORCE_VORTEX, eddies = f->kind == FORCE_TURBULENCE;
    const bool pulls = f->kind == FORCE_ATTRACTOR, mouse = f->kind == FORCE_MOUSE;
    if (f->kind == FORCE_WIND) vec_copy(f->acceleration, given->acceleration);
    if (turns || pulls || mouse) vec_copy(f->center, given->center);
    if (turns || pulls || eddies) f->strength = given->strength;
    if (turns || mouse) f->radius = given->radius;
    if (pulls) f->softening = given->softening;
    if (eddies) f->length = given->length, f->period = given->period, f->seed = given->seed;
    if (force_is_drag(f)) vec_copy(f->velocity, given->velocity), f->rate = given->rate;
    if (turns && sim->scene->dim == 3) vec_copy(f->axis, given->axis);
    if (force_unit_axis(f->axis)) return SPATE_OK;
    return fail(sim->ctx, SPATE_BAD_INPUT, "force.axis has no direction; give one such as 0, 0, 1");
}

/* A side without an end is far away, where another has one: so it can be written down. */
static void copy_box(const spate_force *given, int dim, force_field *f) {
    const double far = 1e30;
    bool ends = false;
    for (int a = 0; a < dim; a++) ends |= isfinite(given->min[a]) || isfinite(given->max[a]);
    for (int a = 0; a < 3; a++) {
        f->min[a] = a < dim ? ends ? fmax(given->min[a], -far) : -HUGE_VAL : 0;
        f->max[a] = a < dim ? ends ? fmin(given->max[a], far) : HUGE_VAL : 0;
    }
}

static spate_status fill_force(spate_simulation *sim, const char *name, const spate_force *given,
                               force_field *f) {
    *f = force_default();
    if (!name || !*name || strlen(name) >= FORCE_NAME)
        return fail(sim->ctx, SPATE_BAD_INPUT, "a force field needs a name of 1 to %d letters",
                    FORCE_NAME - 1);
    if ((int)given->kind < 0 || (int)given->kind >= FORCE_KINDS)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "there is no force of kind %d; use SPATE_WIND or another", (int)given->kind);
    TRY(check_force(sim, given));
    memcpy(f->name, name, strlen(name));
    f->kind = (int64_t)given->kind;
    f->from = given->from, f->until = given->until;
    copy_box(given, sim->scene->dim, f);
    return copy_kind(sim, given, f);
}

spate_status spate_simulation_set_force(spate_simulation *sim, const char *name,
                                        const spate_force *force) {
    scene_event e = {.kind = EVENT_FORCE};
    TRY(simulation_enter(sim, true));
    spate_status status = cookie_check(sim->ctx, force->cookie, COOKIE_FORCE, "force");
    if (!status) status = fill_force(sim, name, force, &e.force);
    if (!status) status = command_give(sim, &e);
    simulation_leave(sim);
    return status;
}

spate_status spate_simulation_add(spate_simulation *sim, const char *yaml) {
    scene_event e = {.kind = EVENT_ADD, .text = yaml ? yaml : ""};
    return command(sim, &e);
}

spate_status spate_simulation_set(spate_simulation *sim, const char *set) {
    scene_event e = {.kind = EVENT_SET, .text = set ? set : ""};
    return command(sim, &e);
}

spate_status spate_simulation_remove(spate_simulation *sim, const char *name) {
    scene_event e = {.kind = EVENT_REMOVE, .name = name ? name : ""};
    return command(sim, &e);
}
