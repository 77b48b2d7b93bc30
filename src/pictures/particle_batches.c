/* Particles sorted by how they are drawn. */
#include "pictures/particle_batches.h"
#include "pictures/mesh_pictures.h"

/* Places in the list; skins follow, one for each material. */
enum { CLEAR, GRAINS, SKINS };

typedef struct sorting {
    const colouring *colouring;
    const stage *stage;
    const snapshot *frame;
    const snapshot_array *sizes, *materials, *roles;
    colour_source by;
    double far, swell;
    batches *out;
} sorting;

static batch *batch_of(const sorting *s, int64_t i) {
    const material *m = colouring_material(s->colouring, s->materials, i);
    if (!m || m->look == LOOK_GRAINS) return &s->out->list[GRAINS];
    if (m->look == LOOK_SURFACE && colouring_by_material(s->colouring)) return &s->out->list[CLEAR];
    const spate_scene *scene = s->colouring->scene;
    return &s->out->list[SKINS + (m - scene->materials)];
}

/* Where a particle is, with its radius; false for what is not a number, or far out of the picture,
 * and would only spoil the rest. */
static bool place(const sorting *s, int64_t i, v3 *at) {
    double world[3];
    if (mesh_pictures_has(s->roles, i) || s->frame->triangles || s->frame->line_ends) return false;
    for (int a = 0; a < 3; a++) world[a] = snapshot_value(&s->frame->arrays[0], i, a);
    const double radius =
        s->sizes ? snapshot_value(s->sizes, i, 0) : 0.25 * s->colouring->scene->domain.dx;
    *at = stage_from_scene(s->stage, world);
    (*at)[3] = (float)radius;
    return (double)v3_length(*at) < s->far && radius > 0 && radius < s->far;
}

static spate_status take_room(const sorting *s) {
    batches *c = s->out;
    v3 at;
    for (int64_t i = 0; i < s->frame->count; i++)
        if (place(s, i, &at)) batch_of(s, i)->count++;
    for (int k = 0; k < c->count; k++) {
        batch *one = &c->list[k];
        one->centers = take(c->ctx, (size_t)one->count + 1, sizeof *one->centers);
        one->colours = take(c->ctx, (size_t)one->count + 1, sizeof *one->colours);
        if (!one->centers || !one->colours) return SPATE_OUT_OF_MEMORY;
        one->count = 0;
    }
    return SPATE_OK;
}

/* A liquid whose colour is given is no water: its threads and sheets show it too. */
static float strength(bool given) { return given ? 6 : 1; }

static void enter(const sorting *s, int64_t i) {
    v3 at;
    if (!place(s, i, &at)) return;
    batch *c = batch_of(s, i);
    c->radius += at[3];
    at[3] *= (float)(s->swell * colouring_size(s->colouring, s->materials, &s->by, i));
    const rgb colour = colouring_colour(s->colouring, s->materials, &s->by, i);
    const float fourth = c->look == LOOK_GRAINS
                             ? colouring_own(&s->by, i)
                             : strength(colouring_is_given(s->colouring, s->materials, &s->by, i));
    c->colours[c->count] = (v3){colour.r, colour.g, colour.b, fourth};
    c->centers[c->count++] = at;
}

static spate_status take_list(const colouring *s, batches *out) {
    const spate_scene *scene = s->scene;
    *out = (batches){.ctx = scene->ctx, .count = SKINS + scene->material_count};
    out->list = take(scene->ctx, (size_t)out->count, sizeof *out->list);
    if (!out->list) return SPATE_OUT_OF_MEMORY;
    out->list[CLEAR].look = LOOK_SURFACE;
    out->list[GRAINS].look = LOOK_GRAINS;
    out->list[GRAINS].rough = colouring_by_material(s);
    for (int m = scene->material_count; m-- > 0;) {
        const material_type *type = scene->materials[m].type;
        const rgb colour = colouring_of_material(scene, m);
        if (scene->materials[m].look == LOOK_SURFACE)
            out->clear =
                (v3){colour.r, colour.g, colour.b, strength(scene->materials[m].color.given)};
        out->list[SKINS + m] = (batch){.look = LOOK_SKIN,
                                       .finish = !colouring_by_material(s) ? FINISH_GLOSS
                                                 : type                    ? type->finish
                                                                           : FINISH_MATT,
                                       .flows = scene->materials[m].look == LOOK_SURFACE};
    }
    return SPATE_OK;
}

spate_status batches_create(const colouring *s, const stage *st, const snapshot *frame,
                            const char *file, bool without, batches *out) {
    sorting sort = {.colouring = s,
                    .stage = st,
                    .frame = frame,
                    .sizes = snapshot_find(frame, "pscale"),
                    .materials = snapshot_find(frame, "material"),
                    .roles = without ? snapshot_find(frame, "role") : NULL,
                    .far = 100 * (double)v3_length(st->size),
                    /* Heaps read as one piece, single values as particles. */
                    .swell = colouring_by_material(s) ? 1.3 : 1.1,
                    .out = out};
    spate_status status;
    TRY_OR_DONE(status, take_list(s, out));
    TRY_OR_DONE(status, colouring_source(s, frame, file, &sort.by));
    TRY_OR_DONE(status, take_room(&sort));
    for (int64_t i = 0; i < frame->count; i++) enter(&sort, i);
    for (int k = 0; k < out->count; k++)
        if (out->list[k].count) out->list[k].radius /= (float)out->list[k].count;
    return SPATE_OK;
done:
    batches_free(out);
    return status;
}
