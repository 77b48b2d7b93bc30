#include "solver/rest.h"

#include "core/vec.h"

/* ---- Directions ------------------------------------------------------------------------------ */

static void find_directions(rest_state *r) {
    const spate_scene *scene = r->sim->scene;
    vec_scale(r->up, -1 / r->g, scene->gravity);
    r->axis = -1;
    for (int a = 0; a < scene->dim; a++)
        if (fabs(r->up[a]) > 1 - 1e-9) r->axis = a;
    /* Any direction across: from the axis that gravity is least along. */
    int least = 0;
    for (int a = 1; a < scene->dim; a++)
        if (fabs(r->up[a]) < fabs(r->up[least])) least = a;
    if (scene->dim == 2) {
        vec_set(r->across[0], -r->up[1], r->up[0], 0);
        return;
    }
    double axis[3] = {0};
    axis[least] = 1;
    vec_cross(r->across[0], r->up, axis);
    vec_scale(r->across[0], 1 / vec_length(r->across[0]), r->across[0]);
    vec_cross(r->across[1], r->up, r->across[0]);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static void widen(double *low, double *high, double value, double radius) {
    *low = fmin(*low, value - radius);
    *high = fmax(*high, value + radius);
}

static void measure_bodies(rest_state *r) {
    const spate_simulation *sim = r->sim;
    const spate_scene *scene = sim->scene;
    for (int b = 0; b < scene->body_count; b++) {
        rest_body *out = &r->bodies[b];
        *out = (rest_body){.bottom = HUGE_VAL, .top = -HUGE_VAL};
        for (int k = 0; k < 2; k++) out->low[k] = HUGE_VAL, out->high[k] = -HUGE_VAL;
        for (int a = 0; a < 3; a++) out->box[0][a] = HUGE_VAL, out->box[1][a] = -HUGE_VAL;
    }
    for (int32_t block = 0; block < sim->blocks.count; block++)
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
            const int group = sim->particles.group[i];
            double x[3];
            if (group >= scene->body_count) continue;
            simulation_position(sim, block, i, x);
            const material *m = &scene->materials[scene->bodies[group].material];
            const double volume = (double)sim->particles.mass[i] / m->density;
            const double radius = 0.5 * pow(volume, 1.0 / scene->dim);
            rest_body *out = &r->bodies[group];
            widen(&out->bottom, &out->top, vec_dot(x, r->up), radius);
            for (int k = 0; k < scene->dim - 1; k++)
                widen(&out->low[k], &out->high[k], vec_dot(x, r->across[k]), radius);
            for (int a = 0; a < scene->dim; a++)
                widen(&out->box[0][a], &out->box[1][a], x[a], radius);
        }
}

/* Whether a body ends at a closed or periodic side along an axis, or a collider is beside its
 * middle. */
static bool is_held(const rest_state *r, const rest_body *b, int axis, int end) {
    const domain *d = &r->sim->scene->domain;
    const double side = d->origin[axis] + (end ? d->size[axis] : 0);
    if (d->walls[axis][end] != WALL_OPEN && fabs(b->box[end][axis] - side) < 0.6 * d->dx)
        return true;
    double x[3] = {0};
    for (int a = 0; a < r->sim->scene->dim; a++) x[a] = 0.5 * (b->box[0][a] + b->box[1][a]);
    x[axis] = b->box[end][axis] + (end ? 0.5 : -0.5) * d->dx;
    return boundary_depth(&r->sim->boundary, x) > 0;
}

/* Whether a body's box holds another's, to a tenth of a cell. */
static bool encloses(const rest_state *r, const rest_body *outer, const rest_body *inner) {
    const double slack = 0.1 * r->sim->scene->domain.dx;
    for (int a = 0; a < r->sim->scene->dim; a++)
        if (inner->box[0][a] < outer->box[0][a] - slack ||
            inner->box[1][a] > outer->box[1][a] + slack)
            return false;
    return true;
}

static double box_volume(const rest_state *r, const rest_body *b) {
    double volume = 1;
    for (int a = 0; a < r->sim->scene->dim; a++) volume *= b->box[1][a] - b->box[0][a];
    return volume;
}

/* The smallest liquid at rest whose box is larger than that of body b, and holds it. */
static int liquid_around(const rest_state *r, int b) {
    const spate_scene *scene = r->sim->scene;
    const double own = box_volume(r, &r->bodies[b]);
    double smallest = HUGE_VAL;
    int around = -1;
    for (int c = 0; c < scene->body_count; c++) {
        const bool liquid = material_is_liquid(&scene->materials[scene->bodies[c].material]);
        const double volume = box_volume(r, &r->bodies[c]);
        if (!liquid || !scene->bodies[c].at_rest || !(volume > own) || !(volume < smallest))
            continue;
        if (encloses(r, &r->bodies[c], &r->bodies[b])) around = c, smallest = volume;
    }
    return around;
}

spate_status rest_create(const spate_simulation *sim, rest_state *r) {
    const spate_scene *scene = sim->scene;
    *r = (rest_state){.sim = sim, .g = vec_length(scene->gravity)};
    bool any = false;
    for (int b = 0; b < scene->body_count; b++) any |= scene->bodies[b].at_rest;
    if (!any || !(r->g > 0)) return SPATE_OK;
    r->bodies = take(sim->ctx, (size_t)scene->body_count + 1, sizeof *r->bodies);
    if (!r->bodies) return SPATE_OUT_OF_MEMORY;
    find_directions(r);
    measure_bodies(r);
    for (int b = 0; b < scene->body_count; b++)
        r->bodies[b].around = scene->coupled ? liquid_around(r, b) : -1;
    for (int b = 0; b < scene->body_count; b++)
        for (int a = 0; a < scene->dim; a++)
            r->bodies[b].confined[a] =
                is_held(r, &r->bodies[b], a, 0) && is_held(r, &r->bodies[b], a, 1);
    return SPATE_OK;
}

void rest_free(rest_state *r) {
    if (r->bodies) give(r->sim->ctx, r->bodies);
    r->bodies = NULL;
}

bool rest_holds(const rest_state *r, int group) {
    const spate_scene *scene = r->sim->scene;
    return r->bodies && group < scene->body_count && scene->bodies[group].at_rest;
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* How far it is from x upwards to the surface of the body's shape, but not farther than its top. */
static double way_up(const rest_state *r, int b, const double x[3]) {
    const spate_scene *scene = r->sim->scene;
    const shape *s = scene->bodies[b].shape;
    const double most = r->bodies[b].top - vec_dot(x, r->up), least = 1e-3 * scene->domain.dx;
    double way = 0, y[3];
    if (s->kind == SHAPE_POINTS) return most;
    while (way < most) {
        vec_add_scaled(y, x, way, r->up);
        const double inside = -shape_distance(s, scene->dim, y);
        if (inside <= 0) break;
        way += fmax(inside, least);
    }
    return fmin(way, most);
}

static bool is_over(const rest_state *r, const rest_body *b, const double x[3]) {
    for (int k = 0; k < r->sim->scene->dim - 1; k++) {
        const double at = vec_dot(x, r->across[k]);
        if (at < b->low[k] || at > b->high[k]) return false;
    }
    return true;
}

static bool is_above(const rest_state *r, const rest_body *one, const rest_body *other) {
    return one->bottom >= other->top - 0.5 * r->sim->scene->domain.dx;
}

bool rest_is_below(const rest_state *r, int under, int b, const double x[3]) {
    return r->sim->scene->bodies[under].at_rest && is_above(r, &r->bodies[b], &r->bodies[under]) &&
           is_over(r, &r->bodies[under], x);
}

double rest_load(const rest_state *r, int b, const double x[3]) {
    const spate_scene *scene = r->sim->scene;
    if (r->bodies[b].around >= 0) return rest_load(r, r->bodies[b].around, x);
    const rest_body *own = &r->bodies[b];
    const material *m = &scene->materials[scene->bodies[b].material];
    const double depth = material_is_liquid(m) ? own->top - vec_dot(x, r->up) : way_up(r, b, x);
    double load = m->density * depth;
    for (int c = 0; c < scene->body_count; c++) {
        const rest_body *other = &r->bodies[c];
        if (c == b || !scene->bodies[c].at_rest || !is_above(r, other, own) ||
            !is_over(r, other, x))
            continue;
        load += scene->materials[scene->bodies[c].material].density * (other->top - other->bottom);
    }
    return r->g * load;
}
