#include "run/commands.h"

#include "core/hash.h"
#include "core/vec.h"
#include "run/rebuild.h"
#include "run/record.h"
#include "scene/rotation.h"

/* ---- Checks ---------------------------------------------------------------------------------- */

static spate_status check_finite(const spate_simulation *sim, const char *what,
                                 const double *values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return fail(sim->ctx, SPATE_BAD_INPUT,
                        "%s: number %lld is not finite (%g); give one that is", what, (long long)i,
                        values[i]);
    return SPATE_OK;
}

/* ---- Names of colliders: a program may set a thousand poses in a step ------------------------ */

static uint32_t name_slot(const drive *d, const char *name) {
    return (uint32_t)hash_bytes(name, strlen(name), 0) & d->colliders.mask;
}

static spate_status index_colliders(spate_simulation *sim, drive *d) {
    const spate_scene *scene = sim->scene;
    uint32_t size = 16;
    while (size < 2 * (uint32_t)scene->collider_count) size *= 2;
    give(sim->ctx, d->colliders.slots);
    d->colliders.scene = NULL;
    d->colliders.slots = take(sim->ctx, size, sizeof *d->colliders.slots);
    if (!d->colliders.slots) return SPATE_OUT_OF_MEMORY;
    memset(d->colliders.slots, -1, size * sizeof *d->colliders.slots);
    d->colliders.mask = size - 1;
    for (int c = 0; c < scene->collider_count; c++) {
        uint32_t at = name_slot(d, scene->colliders[c].name);
        while (d->colliders.slots[at] >= 0) at = (at + 1) & d->colliders.mask;
        d->colliders.slots[at] = c;
    }
    d->colliders.scene = scene;
    return SPATE_OK;
}

static spate_status fail_no_collider(const spate_simulation *sim, const char *name) {
    enum { MOST = 64 };
    const char *names[MOST];
    const spate_scene *scene = sim->scene;
    const int shown = scene->collider_count < MOST ? scene->collider_count : MOST;
    for (int c = 0; c < shown; c++) names[c] = scene->colliders[c].name;
    return text_fail_unknown(sim->ctx, "the scene has no collider", name, names, shown);
}

spate_status collider_find(spate_simulation *sim, const char *name, int *out) {
    drive *d;
    TRY(drive_of(sim, &d));
    if (d->colliders.scene != sim->scene) TRY(index_colliders(sim, d));
    if (!name) name = "";
    for (uint32_t at = name_slot(d, name); d->colliders.slots[at] >= 0;
         at = (at + 1) & d->colliders.mask) {
        *out = d->colliders.slots[at];
        if (!strcmp(sim->scene->colliders[*out].name, name)) return SPATE_OK;
    }
    return fail_no_collider(sim, name);
}

/* ---- Colliders ------------------------------------------------------------------------------- */

static spate_status check_pose(const spate_simulation *sim, const scene_event *e) {
    TRY(check_finite(sim, "pose.position", e->position, 3));
    TRY(check_finite(sim, "pose.rotation", e->rotation, 4));
    TRY(check_finite(sim, "pose.velocity", e->velocity, 3));
    TRY(check_finite(sim, "pose.spin", e->spin, 3));
    const double *q = e->rotation;
    const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (fabs(square - 1) > 1e-3)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "pose.rotation has the length %.6g; a rotation is a unit quaternion x, y, z, w",
                    sqrt(square));
    const bool flat = e->position[2] == 0 && e->velocity[2] == 0 && e->spin[0] == 0 &&
                      e->spin[1] == 0 && q[0] == 0 && q[1] == 0;
    if (sim->scene->dim == 2 && !flat)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "the pose leaves the plane of a 2D scene; move along x and y and turn about z");
    return SPATE_OK;
}

static spate_status apply_pose(spate_simulation *sim, const scene_event *e) {
    int c;
    drive *d;
    TRY(drive_of(sim, &d));
    TRY(collider_find(sim, e->name, &c));
    const collider *solid = &sim->scene->colliders[c];
    if (!solid->driven)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "collider '%s' moves as its scene says; write `driven: true` in it to drive it",
                    solid->name);
    TRY(check_pose(sim, e));
    boundary *b = &sim->boundary;
    driven_pose new = {.time = sim->time, .pose = motion_pose(&solid->motion, 0)};
    rotation_of_quaternion(e->rotation, new.pose.turn);
    vec_sub(new.pose.move, e->position, new.pose.pivot);
    vec_copy(new.pose.velocity, e->velocity);
    vec_copy(new.pose.spin, e->spin);
    /* who keeps what he made of a pose must see that it has jumped */
    const pose before = driven_pose_at(&b->driven[c], sim->time);
    b->changes += memcmp(&before, &new.pose, sizeof before) != 0;
    b->driven[c] = new;
    b->poses[c] = new.pose;
    return SPATE_OK;
}

/* ---- Particles ------------------------------------------------------------------------------- */

/* The place of an id in the list, or -1. */
static int64_t find_id(const scene_event *e, uint64_t id) {
    int64_t low = 0, high = e->count;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (e->ids[middle] <= id)
            low = middle;
        else
            high = middle;
    }
    return e->count && e->ids[low] == id ? low : -1;
}

static spate_status write_position(spate_simulation *sim, int32_t block, int64_t i,
                                   const double x[3]) {
    const domain *d = &sim->scene->domain;
    particles *p = &sim->particles;
    bool far = false;
    for (int a = 0; a < sim->scene->dim; a++) {
        const double g = (x[a] - d->origin[a]) / d->dx + sim->type->shift;
        const double local = g - (double)sim->blocks.coords[block][a] * BLOCK_EDGE;
        PLANE(p, position, a)[i] = (real)local;
        far |= local < -BLOCK_EDGE || local >= 2 * BLOCK_EDGE;
    }
    return far ? blocks_carry(&sim->blocks, p, block, i) : SPATE_OK;
}

static spate_status write_particle(spate_simulation *sim, event_kind kind, int32_t block, int64_t i,
                                   const double value[3]) {
    particles *p = &sim->particles;
    if (kind == EVENT_POSITIONS) return write_position(sim, block, i, value);
    for (int a = 0; a < sim->scene->dim; a++) {
        if (kind == EVENT_VELOCITIES)
            p->velocity[i][a] = (real)value[a];
        else
            p->force[i][a] += (real)value[a];
    }
    if (kind == EVENT_VELOCITIES) sim->max_speed = fmax(sim->max_speed, vec_length(value));
    return SPATE_OK;
}

/* Particles that were added since the last sort come into blocks by one. */
static spate_status sort_pending(spate_simulation *sim) {
    int64_t lost;
    if (!sim->blocks.pending_count) return SPATE_OK;
    TRY(blocks_sort(&sim->blocks, &sim->particles, &sim->scratch, sim->ctx->pool, &lost));
    if (lost >= 0) return simulation_unstable(sim, lost, "a particle moved more than a block");
    simulation_must_sort(sim); /* lists of neighbours are of another order */
    return SPATE_OK;
}

static spate_status write_particles(spate_simulation *sim, const scene_event *e) {
    const blocks *b = &sim->blocks;
    for (int32_t o = 0; o < b->occupied_count; o++) {
        const int32_t block = b->occupied[o];
        const int64_t last = b->first[block + 1];
        for (int64_t i = b->first[block]; i < last; i++) {
            if (sim->particles.group[i] == GROUP_REMOVED) continue;
            const int64_t at = find_id(e, sim->particles.id[i]);
            if (at >= 0) TRY(write_particle(sim, e->kind, block, i, e->values + 3 * at));
        }
    }
    return SPATE_OK;
}

static spate_status check_ids(const spate_simulation *sim, const scene_event *e) {
    int64_t found = 0;
    for (int64_t k = 0; k + 1 < e->count; k++)
        if (e->ids[k] >= e->ids[k + 1])
            return fail(sim->ctx, SPATE_BAD_INPUT,
                        "ids are not ascending: %llu comes before %llu; sort them, each once",
                        (unsigned long long)e->ids[k], (unsigned long long)e->ids[k + 1]);
    for (int64_t i = 0; i < sim->particles.count; i++)
        if (sim->particles.group[i] != GROUP_REMOVED)
            found += find_id(e, sim->particles.id[i]) >= 0;
    if (found == e->count) return SPATE_OK;
    return fail(
        sim->ctx, SPATE_BAD_INPUT,
        "%lld of %lld ids are of no particle, or of one that is gone; read \"id\" to see which "
        "there are",
        (long long)(e->count - found), (long long)e->count);
}

/* Places must be inside, where the domain is not periodic: at an open side particles would be
 * gone. */
static spate_status check_places(const spate_simulation *sim, const scene_event *e) {
    const domain *d = &sim->scene->domain;
    for (int64_t k = 0; k < e->count; k++)
        for (int a = 0; a < sim->scene->dim; a++) {
            const double x = e->values[3 * k + a];
            if (x >= d->origin[a] && x < d->origin[a] + d->size[a]) continue;
            return fail(
                sim->ctx, SPATE_BAD_INPUT,
                "position of particle %llu: %c = %.10g is outside the domain; give one from "
                "%.10g to %.10g",
                (unsigned long long)e->ids[k], "xyz"[a], x, d -> origin[a],
                d -> origin[a] + d -> size[a]);
        }
    return SPATE_OK;
}

static spate_status apply_particles(spate_simulation *sim, const scene_event *e) {
    drive *d;
    if (scene_on_grid(sim->scene))
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "solver %s has no particles to write to; use a force field",
                    sim->type->declaration->name);
    TRY(check_finite(sim, event_words[e->kind], e->values, 3 * e->count));
    TRY(check_ids(sim, e));
    if (e->kind == EVENT_POSITIONS) TRY(check_places(sim, e));
    if (e->kind == EVENT_PARTICLE_FORCES) {
        TRY(drive_of(sim, &d));
        TRY(particles_add_fields(&sim->particles, PARTICLE_BIT(force)));
        d->forces_given = 1;
    }
    TRY(sort_pending(sim));
    TRY(write_particles(sim, e));
    if (e->kind == EVENT_POSITIONS) simulation_must_sort(sim);
    return SPATE_OK;
}

/* ---- Force fields ---------------------------------------------------------------------------- */

static int64_t force_find(const spate_simulation *sim, const char *name) {
    for (int64_t i = 0; i < sim->forces.count; i++)
        if (!strcmp(sim->forces.list[i].name, name)) return i;
    return -1;
}

static spate_status apply_force(spate_simulation *sim, const scene_event *e) {
    force_list *l = &sim->forces;
    int64_t at = force_find(sim, e->force.name);
    if (at < 0 && l->count == FORCES_MAX)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "there are %d force fields already; remove one first", FORCES_MAX);
    if (at < 0) at = l->count++;
    l->list[at] = e->force;
    return SPATE_OK;
}

static spate_status apply_remove(spate_simulation *sim, const scene_event *e) {
    force_list *l = &sim->forces;
    const int64_t at = force_find(sim, e->name);
    bool found = false;
    if (at < 0) TRY(rebuild_without(sim, e->name, &found));
    if (found) return SPATE_OK;
    if (at < 0)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "there is no force field, collider, source, sink or body '%s' to remove",
                    e->name);
    for (int64_t i = at; i + 1 < l->count; i++) l->list[i] = l->list[i + 1];
    memset(&l->list[--l->count], 0, sizeof l->list[0]);
    return SPATE_OK;
}

static spate_status apply_add(spate_simulation *sim, const scene_event *e) {
    return rebuild_with(sim, e->text);
}

static spate_status apply_set(spate_simulation *sim, const scene_event *e) {
    return rebuild_set(sim, e->text);
}

/* ---- All ------------------------------------------------------------------------------------- */

static spate_status apply_until(spate_simulation *sim, const scene_event *e) {
    drive *d;
    TRY(drive_of(sim, &d));
    d->until = e->until;
    return SPATE_OK;
}

spate_status command_apply(spate_simulation *sim, const scene_event *e) {
    static spate_status (*const apply[EVENT_KINDS])(spate_simulation *, const scene_event *) = {
        [EVENT_POSE] = apply_pose,
        [EVENT_VELOCITIES] = apply_particles,
        [EVENT_POSITIONS] = apply_particles,
        [EVENT_PARTICLE_FORCES] = apply_particles,
        [EVENT_FORCE] = apply_force,
        [EVENT_REMOVE] = apply_remove,
        [EVENT_ADD] = apply_add,
        [EVENT_SET] = apply_set,
        [EVENT_UNTIL] = apply_until,
    };
    if (sim->broken)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "the simulation has failed and cannot be driven on; restore a checkpoint");
    if (!apply[e->kind])
        return fail(sim->ctx, SPATE_BAD_INPUT, "event '%s' is not known here",
                    event_words[e->kind]);
    TRY(apply[e->kind](sim, e));
    if (e->kind != EVENT_UNTIL) sim->generation++;
    return SPATE_OK;
}

spate_status command_give(spate_simulation *sim, scene_event *e) {
    e->step = sim->step;
    spate_status status = command_apply(sim, e);
    return status ? status : record_event(sim, e);
}
