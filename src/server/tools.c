/*
 * What viewers do to a simulation. Everything goes through spate/drive.h, so that it is recorded as
 * events and a play can be run again, bit for bit.
 *
 * How strong a tool is comes from the scene: g is its gravity, or without any what crosses the
 * domain in a second.
 */
#include "scene/rotation.h"
#include "server/live.h"
#include <math.h>
#include <stdio.h>

static const double pull_strength = 6;    /* times g at its radius */
static const double blast_seconds = 0.05; /* that a blast lasts */
static const double blast_height = 0.5;   /* of the domain, that it throws things up to */
static const double pour_height = 0.1;    /* of the domain, from which what is poured has fallen */
static const double ball_density = 2.5;   /* times that of the densest material */
static const double bounce = 0.3;         /* speed of a ball after it has hit a wall */
static const double radius_least = 1.5;   /* cells, of what is poured or dropped */

/* ---- Scales ---------------------------------------------------------------------------------- */

static double height(const live *l) { return l->scene->domain.size[scene_up_axis(l->scene)]; }

static double gravity_scale(const live *l) {
    const double *g = l->scene->gravity;
    const double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    return length > 0 ? length : height(l);
}

static void set_name(char out[NAME_SIZE], const char *tool, int number) {
    snprintf(out, NAME_SIZE, "viewer %s %d", tool, number);
}

/* A place at least `gap` inside the domain; z is 0 in 2D. */
static void place_inside(const live *l, const double *given, double gap, double out[3]) {
    const domain *d = &l->scene->domain;
    for (int a = 0; a < 3; a++) {
        const double room = fmin(gap, 0.5 * d->size[a]);
        const double low = d->origin[a] + room, high = d->origin[a] + d->size[a] - room;
        out[a] = a < l->scene->dim ? fmin(fmax(given[a], low), high) : 0;
    }
}

static double radius_of(const live *l, double given) {
    const double least = radius_least * l->scene->domain.dx, most = 0.25 * height(l);
    return fmax(fmin(given, most), least);
}

/* ---- Force fields ---------------------------------------------------------------------------- */

static spate_status stir(live *l, const subject_call *call) {
    const double *n = call->message->numbers;
    spate_force f = spate_default_force();
    char name[NAME_SIZE];
    f.kind = SPATE_MOUSE;
    f.radius = radius_of(l, n[6]);
    place_inside(l, n, 0, f.center);
    for (int a = 0; a < l->scene->dim; a++) f.velocity[a] = n[3 + a];
    set_name(name, "stir", call->index);
    TRY(spate_simulation_set_force(l->sim, name, &f));
    l->stirs[call->index] = true;
    return SPATE_OK;
}

/* An attractor with this acceleration at its radius; it is softened within half of that. */
static spate_status attract(live *l, const subject_call *call, const char *tool, double strength,
                            double seconds) {
    const double *n = call->message->numbers, r = radius_of(l, n[3]);
    spate_force f = spate_default_force();
    char name[NAME_SIZE];
    f.kind = SPATE_ATTRACTOR;
    f.softening = 0.5 * r;
    f.strength = strength * pow(r * r + f.softening * f.softening, 1.5) / r;
    place_inside(l, n, 0, f.center);
    for (int a = 0; a < 3; a++) f.min[a] = f.center[a] - 3 * r, f.max[a] = f.center[a] + 3 * r;
    if (l->scene->dim == 2) f.min[2] = f.max[2] = 0;
    if (seconds > 0) f.from = l->sim->time, f.until = l->sim->time + seconds;
    set_name(name, tool, call->index);
    return spate_simulation_set_force(l->sim, name, &f);
}

static spate_status pull(live *l, const subject_call *call) {
    TRY(attract(l, call, "stir", pull_strength * gravity_scale(l), 0));
    l->stirs[call->index] = true;
    return SPATE_OK;
}

static spate_status blast(live *l, const subject_call *call) {
    const double speed = sqrt(2 * gravity_scale(l) * blast_height * height(l));
    return attract(l, call, "blast", -speed / blast_seconds, blast_seconds);
}

/* Gravity as wanted: a wind of the difference. */
static spate_status tilt(live *l, const double *wanted) {
    spate_force f = spate_default_force();
    for (int a = 0; a < l->scene->dim; a++) f.acceleration[a] = wanted[a] - l->scene->gravity[a];
    TRY(spate_simulation_set_force(l->sim, "viewer tilt", &f));
    memcpy(l->tilt, f.acceleration, sizeof l->tilt);
    return SPATE_OK;
}

/* ---- Pouring --------------------------------------------------------------------------------- */

static spate_status stop_pouring(live *l, int hand) {
    char name[NAME_SIZE];
    if (!l->pours[hand]) return SPATE_OK;
    l->pours[hand] = false;
    set_name(name, "pour", hand);
    return spate_simulation_remove(l->sim, name);
}

static spate_status pour(live *l, const subject_call *call) {
    const double *n = call->message->numbers, g = gravity_scale(l);
    const spate_scene *s = l->scene;
    spate_source tap = spate_default_source();
    char name[NAME_SIZE];
    if (!(n[4] >= 0 && n[4] < s->material_count))
        return fail(l->ctx, SPATE_BAD_INPUT, "pour: the scene has no material %g", n[4]);
    TRY(stop_pouring(l, call->index));
    set_name(name, "pour", call->index);
    tap.name = name;
    tap.material = s->materials[(int)n[4]].name;
    tap.shape.kind = SPATE_SPHERE;
    tap.shape.radius = radius_of(l, n[3]);
    place_inside(l, n, tap.shape.radius + s->domain.dx, tap.shape.center);
    /* What is on the grid fills the domain and rises; all else falls. */
    const double speed = sqrt(2 * g * pour_height * height(l)) * (scene_on_grid(s) ? -1 : 1);
    const int up = scene_up_axis(s);
    for (int a = 0; a < s->dim; a++)
        tap.velocity[a] = a == up ? speed * (s->gravity[up] > 0 ? 1 : -1) : 0;
    TRY(spate_simulation_add_source(l->sim, &tap));
    l->pours[call->index] = true;
    l->parts++;
    return SPATE_OK;
}

spate_status tools_release(live *l, int hand) {
    char name[NAME_SIZE];
    if (l->stirs[hand]) {
        l->stirs[hand] = false;
        set_name(name, "stir", hand);
        TRY(spate_simulation_remove(l->sim, name));
    }
    return stop_pouring(l, hand);
}

/* ---- Balls ----------------------------------------------------------------------------------- */

static double volume_of_ball(int dim, double r) {
    const double pi = acos(-1);
    return dim == 3 ? 4 * pi / 3 * r * r * r : pi * r * r;
}

static double densest(const spate_scene *s) {
    double most = 0;
    for (int m = 0; m < s->material_count; m++) most = fmax(most, s->materials[m].density);
    return most > 0 ? most : 1000;
}

static spate_status drop_ball(live *l, const subject_call *call) {
    const double *n = call->message->numbers;
    const int dim = l->scene->dim;
    spate_collider c = spate_default_collider();
    live_ball b = {.radius = radius_of(l, n[3])};
    if (l->ball_count == BALLS_MOST) {
        TRY(spate_simulation_remove(l->sim, l->balls[0].name));
        memmove(l->balls, l->balls + 1, sizeof *l->balls * (size_t)--l->ball_count);
        l->parts++;
    }
    set_name(b.name, "ball", ++l->balls_ever);
    place_inside(l, n, b.radius, b.x);
    const double displaced = densest(l->scene) * volume_of_ball(dim, b.radius);
    b.mass = ball_density * displaced;
    b.added = (dim == 3 ? 0.5 : 1) * displaced; /* of a sphere, and of a cylinder */
    c.name = b.name;
    c.shape.kind = SPATE_SPHERE;
    c.shape.radius = b.radius;
    memcpy(c.shape.center, b.x, sizeof b.x);
    TRY(spate_simulation_add_collider(l->sim, &c));
    l->balls[l->ball_count++] = b;
    l->parts++;
    return SPATE_OK;
}

/* A ball that has gone into a wall is put back and bounces. */
static void hit(live_ball *b, const double normal[3], double depth) {
    double into = 0;
    for (int a = 0; a < 3; a++) into += b->v[a] * normal[a];
    for (int a = 0; a < 3; a++) {
        b->x[a] += depth * normal[a];
        if (into < 0) b->v[a] -= (1 + bounce) * into * normal[a];
    }
}

static void hit_sides(const live *l, live_ball *b) {
    const domain *d = &l->scene->domain;
    for (int a = 0; a < l->scene->dim; a++)
        for (int side = 0; side < 2; side++) {
            double normal[3] = {0};
            normal[a] = side ? -1 : 1;
            const double gap = side ? d->origin[a] + d->size[a] - b->x[a] : b->x[a] - d->origin[a];
            if (gap < b->radius) hit(b, normal, b->radius - gap);
        }
}

/* Colliders of the scene, where they are now. */
static spate_status hit_colliders(live *l, live_ball *b) {
    for (int i = 0; i < l->scene->collider_count; i++) {
        const collider *c = &l->scene->colliders[i];
        spate_pose p = spate_default_pose();
        double turn[3][3], rest[3], local[3], normal[3] = {0};
        if (!collider_is_present(c, l->sim->time) || c->grip) continue;
        TRY(spate_simulation_pose(l->sim, c->name, &p));
        rotation_of_quaternion(p.rotation, turn);
        for (int a = 0; a < 3; a++) {
            rest[a] = c->motion.pivot[a];
            for (int e = 0; e < 3; e++) rest[a] += turn[e][a] * (b->x[e] - p.position[e]);
        }
        const double gap = shape_normal(c->shape, l->scene->dim, rest, local);
        if (!(gap < b->radius)) continue;
        for (int a = 0; a < l->scene->dim; a++)
            for (int e = 0; e < l->scene->dim; e++) normal[a] += turn[a][e] * local[e];
        hit(b, normal, b->radius - gap);
    }
    return SPATE_OK;
}

spate_status tools_before_step(live *l) {
    for (int i = 0; i < l->ball_count; i++) {
        const live_ball *b = &l->balls[i];
        spate_pose at = spate_default_pose();
        memcpy(at.position, b->x, sizeof b->x);
        memcpy(at.velocity, b->v, sizeof b->v);
        TRY(spate_simulation_set_pose(l->sim, b->name, &at));
    }
    return SPATE_OK;
}

/* The added mass is on both sides of the equation: without it the loop of force and motion would
 * swing (examples/coupled.c). */
spate_status tools_after_step(live *l) {
    const double dt = l->sim->dt;
    for (int i = 0; i < l->ball_count; i++) {
        live_ball *b = &l->balls[i];
        double force[3] = {0}, torque[3];
        TRY(spate_simulation_force(l->sim, b->name, force, torque));
        for (int a = 0; a < l->scene->dim; a++) {
            b->x[a] += b->v[a] * dt;
            const double g = l->scene->gravity[a] + l->tilt[a];
            b->a[a] = (force[a] + g * b->mass + b->added * b->a[a]) / (b->mass + b->added);
            b->v[a] += b->a[a] * dt;
        }
        TRY(hit_colliders(l, b));
        hit_sides(l, b);
    }
    return SPATE_OK;
}

/* ---- One for all ----------------------------------------------------------------------------- */

spate_status tools_act(live *l, const subject_call *call) {
    switch (call->message->kind) {
    case MESSAGE_STIR: return stir(l, call);
    case MESSAGE_PULL: return pull(l, call);
    case MESSAGE_BLAST: return blast(l, call);
    case MESSAGE_POUR: return pour(l, call);
    case MESSAGE_BALL: return drop_ball(l, call);
    case MESSAGE_TILT: return tilt(l, call->message->numbers);
    default: return tools_release(l, call->index);
    }
}
