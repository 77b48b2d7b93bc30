/* What a scene will do: counts, and the warnings that need its bodies sampled. */
#include "core/vec.h"
#include "scene/sample.h"
#include "scene/scene.h"

enum { PROBES_ACROSS = 24 };

/* The share of a body that may be in colliders or earlier bodies without a word: a rounding of
 * shapes that touch, a pole that stands in a pool. */
static const double lost_share = 0.25;

/* The share of a shape that is outside the domain, from points spread over its bounds. */
static double share_outside(const spate_scene *s, const shape *of) {
    const domain *d = &s->domain;
    bounds b = shape_bounds(of, s->dim);
    int64_t inside = 0, outside = 0;
    for (int i = 0; i < s->dim; i++)
        if (!isfinite(b.min[i]) || !isfinite(b.max[i])) return 0;
    int64_t count =
        s->dim == 3 ? PROBES_ACROSS * PROBES_ACROSS * PROBES_ACROSS : PROBES_ACROSS * PROBES_ACROSS;
    for (int64_t k = 0; k < count; k++) {
        double x[3] = {0, 0, 0};
        bool within = true;
        int64_t rest = k;
        for (int i = 0; i < s->dim; i++, rest /= PROBES_ACROSS) {
            double t = ((double)(rest % PROBES_ACROSS) + 0.5) / PROBES_ACROSS;
            x[i] = b.min[i] + t * (b.max[i] - b.min[i]);
            within &= x[i] >= d->origin[i] && x[i] <= d->origin[i] + d->size[i];
        }
        if (!(shape_distance(of, s->dim, x) < 0)) continue;
        if (within)
            inside++;
        else
            outside++;
    }
    return inside + outside > 0 ? (double)outside / (double)(inside + outside) : 0;
}

/* Particles that are not there because something else is. */
static void warn_lost(const spate_scene *s, const body *b, const char *kind, const char *holder,
                      const char *remedy, int64_t lost, int64_t all) {
    if ((double)lost < lost_share * (double)all) return;
    warn(s->ctx, kind, "%s: body '%s': %lld of its %lld %s lie in %s and are left out; %s", s->path,
         b->name, (long long)lost, (long long)all, scene_on_grid(s) ? "cells" : "particles", holder,
         remedy);
}

static void warn_covered(const spate_scene *s, const body *b, const samples *counted) {
    const int64_t all = counted->count + counted->left_out;
    warn_lost(s, b, "body in collider", "colliders",
              "move it out of them, or cut them out by a difference",
              counted->left_out - counted->left_to_bodies, all);
    warn_lost(s, b, "bodies overlap", "earlier bodies",
              "move them apart, or cut it out by a difference", counted->left_to_bodies, all);
}

/* Particles, or cells on a grid. */
static spate_status count_body(spate_scene *s, int index, int64_t *filled) {
    const body *b = &s->bodies[index];
    samples points;
    TRY(sample_count_body(s, index, &points));
    const int64_t count = points.count;
    const bool clipped = points.clipped;
    warn_covered(s, b, &points);
    s->left_out += points.left_out;
    s->body_volume += points.volume * (double)count;
    samples_free(s->ctx, &points);
    double share = clipped && b->shape->kind != SHAPE_POINTS ? share_outside(s, b->shape) : 0;
    if (clipped && b->shape->kind == SHAPE_POINTS)
        share = 1 - (double)count / (double)b->shape->point_count;
    if (share > 1e-3)
        warn(s->ctx, "body outside domain",
             "%s: body '%s' reaches out of the domain; %.3g %% of it is left out", s->path, b->name,
             100 * share);
    *filled += count;
    return SPATE_OK;
}

static void warn_thin_colliders(const spate_scene *s) {
    for (int i = 0; i < s->collider_count; i++) {
        const collider *c = &s->colliders[i];
        double thickness = shape_thickness(c->shape, s->dim);
        if (thickness < s->domain.dx)
            warn(s->ctx, "thin collider",
                 "%s: collider '%s' is %.3g thick, less than a cell (dx %.3g): material may leak "
                 "through it; make it thicker or dx smaller",
                 s->path, c->name, thickness, s->domain.dx);
    }
}

/* Counts particles or cells and gives warnings, the first time. */
static spate_status examine(spate_scene *s) {
    int64_t before = warnings_total(s->ctx), filled = 0;
    for (int i = 0; i < s->body_count; i++) TRY(count_body(s, i, &filled));
    warn_thin_colliders(s);
    s->warnings += warnings_total(s->ctx) - before;
    s->particle_count = scene_on_grid(s) ? 0 : filled;
    s->cell_count = scene_on_grid(s) ? filled : 0;
    return SPATE_OK;
}

spate_status spate_scene_summarise(spate_scene *s, spate_scene_summary *summary) {
    if (s->particle_count < 0) TRY(examine(s));
    *summary = (spate_scene_summary){
        .name = s->name,
        .solver = s->solver->name,
        .dimension = s->dim,
        .cells = {s->domain.cells[0], s->domain.cells[1], s->domain.cells[2]},
        .dx = s->domain.dx,
        .duration = s->duration,
        .fps = s->fps,
        .frames = (int)floor(s->duration * s->fps + 1e-9),
        .particles = s->particle_count,
        .on_grid = scene_on_grid(s),
        .filled_cells = s->cell_count,
        .left_out = s->left_out,
        .materials = s->material_count,
        .bodies = s->body_count,
        .colliders = s->collider_count,
        .sources = s->source_count,
        .probes = s->probe_count,
        .warnings = (int)s->warnings,
        .hash = s->hash,
    };
    return SPATE_OK;
}
