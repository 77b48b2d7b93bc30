#include "solver/source_shapes.h"

#include "core/vec.h"
#include "state/deforming.h"

bool source_deforms(const spate_scene *scene, int s) {
    return scene->sources[s].shape->sequence != NULL;
}

static spate_status prepare_source(spate_simulation *sim, int s) {
    const spate_scene *scene = sim->scene;
    const domain *d = &scene->domain;
    bounds reach = {{0}, {0}};
    for (int a = 0; a < scene->dim; a++) {
        reach.min[a] = d->origin[a] - 4 * d->dx;
        reach.max[a] = d->origin[a] + d->size[a] + 4 * d->dx;
    }
    deforming **out = &sim->source_shapes->of[s];
    TRY(deforming_create(sim->ctx, scene->sources[s].shape->sequence, scene->dim, d->dx, &reach,
                         DEFORMING_CARRIES, out));
    if (*out) return SPATE_OK;
    return fail(sim->ctx, SPATE_BAD_INPUT,
                "%s: source '%s' deforms and spans too many cells; make it smaller or dx larger",
                scene->path, scene->sources[s].name);
}

spate_status source_shapes_create(spate_simulation *sim) {
    const spate_scene *scene = sim->scene;
    bool any = false;
    for (int s = 0; s < scene->source_count; s++) any |= source_deforms(scene, s);
    if (!any) return SPATE_OK;
    source_shapes *shapes = sim->source_shapes = take(sim->ctx, 1, sizeof *shapes);
    if (!shapes) return SPATE_OUT_OF_MEMORY;
    shapes->of = take(sim->ctx, (size_t)scene->source_count, sizeof *shapes->of);
    if (!shapes->of) return SPATE_OUT_OF_MEMORY;
    for (int s = 0; s < scene->source_count; s++)
        if (source_deforms(scene, s)) TRY(prepare_source(sim, s));
    return SPATE_OK;
}

void source_shapes_free(spate_simulation *sim) {
    source_shapes *shapes = sim->source_shapes;
    if (!shapes) return;
    for (int s = 0; shapes->of && s < sim->scene->source_count; s++) deforming_free(shapes->of[s]);
    give(sim->ctx, shapes->of), give(sim->ctx, shapes->counts), give(sim->ctx, shapes->inside);
    give(sim->ctx, shapes->sites), give(sim->ctx, shapes);
    sim->source_shapes = NULL;
}

spate_status source_shapes_move(spate_simulation *sim, double t) {
    const source_shapes *shapes = sim->source_shapes;
    for (int s = 0; shapes && s < sim->scene->source_count; s++)
        if (shapes->of[s]) TRY(deforming_move(shapes->of[s], t));
    return SPATE_OK;
}

double source_distance(const spate_simulation *sim, int s, const double x[3], double v[3]) {
    const source *nozzle = &sim->scene->sources[s];
    if (v) vec_copy(v, nozzle->velocity);
    if (!nozzle->shape->sequence) return shape_distance(nozzle->shape, sim->scene->dim, x);
    double surface[3];
    const double distance =
        deforming_distance(sim->source_shapes->of[s], x, NULL, v ? surface : NULL);
    if (v) vec_add(v, v, surface);
    return distance;
}

bounds source_box(const spate_simulation *sim, int s) {
    if (source_deforms(sim->scene, s)) return deforming_box(sim->source_shapes->of[s]);
    return shape_bounds(sim->scene->sources[s].shape, sim->scene->dim);
}

double source_speed(const spate_scene *scene, int s) {
    const source *nozzle = &scene->sources[s];
    const double own = vec_length(nozzle->velocity);
    return nozzle->shape->sequence ? own + mesh_sequence_speed(nozzle->shape->sequence) : own;
}
