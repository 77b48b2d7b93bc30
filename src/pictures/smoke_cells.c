/* From the fields of a frame and the materials' colours to the amounts of the cells. */
#include "pictures/smoke_cells.h"
#include "core/threads.h"
#include <math.h>
#include <string.h>

enum { DYES_MAX = SNAPSHOT_ARRAYS };

typedef struct dye {
    const snapshot_array *array;
    v3 colour;
} dye;

typedef struct dye_job {
    const colouring *colouring;
    smoke_cells *out;
    dye dyes[DYES_MAX];
    int dye_count;
    colour_source by; /* the field of the colour map */
} dye_job;

/* Where there are several materials, the dyes are the fields that bear their names; else all smoke
 * is alike. */
static void find_dyes(const colouring *s, const snapshot *frame, dye_job *job) {
    const int named = s->scene->material_count > 1 ? s->scene->material_count : 0;
    for (int i = 0; i < named && job->dye_count < DYES_MAX; i++) {
        const snapshot_array *a = snapshot_find(frame, s->scene->materials[i].name);
        if (!a || a->components != 1) continue;
        rgb c = colouring_smoke(s, i);
        job->dyes[job->dye_count++] = (dye){a, v3_set(c.r, c.g, c.b)};
    }
    const snapshot_array *all = snapshot_find(frame, "density");
    if (job->dye_count || !all || all->components != 1) return;
    rgb c = colouring_smoke(s, 0);
    job->dyes[job->dye_count++] = (dye){all, v3_set(c.r, c.g, c.b)};
}

static v3 mix_dyes(const dye_job *job, int64_t i) {
    const colouring *s = job->colouring;
    v3 sum = {0};
    for (int k = 0; k < job->dye_count; k++) {
        double amount = (snapshot_value(job->dyes[k].array, i, 0) - s->low) / (s->high - s->low);
        if (!(amount > 0)) continue; /* and what is not a number */
        v3 part = job->dyes[k].colour;
        part[3] = 1;
        float a = (float)fmin(amount, 1e6);
        sum += part * (v3){a, a, a, a};
    }
    return sum;
}

static v3 map_value(const dye_job *job, int64_t i) {
    const colouring *s = job->colouring;
    double amount = (colouring_value(&job->by, i) - s->low) / (s->high - s->low);
    float a = (float)(amount > 0 ? fmin(amount, 1) : 0);
    /* In depth one is to see through what is nothing, and that is in the middle of both signs. */
    if (s->both && s->scene->dim == 3) a = fabsf(2 * a - 1);
    rgb c = colouring_map(s)(amount);
    return (v3){c.r * a, c.g * a, c.b * a, a};
}

static void fill_cells(void *data, chunk items) {
    const dye_job *job = data;
    for (int64_t i = items.begin; i < items.end; i++)
        job->out->values[i] = job->out->mapped ? map_value(job, i) : mix_dyes(job, i);
}

spate_status smoke_cells_create(const colouring *s, const snapshot *frame, const char *file,
                                smoke_cells *out) {
    spate_context *ctx = s->scene->ctx;
    dye_job job = {.colouring = s, .out = out};
    *out = (smoke_cells){.ctx = ctx, .mapped = !colouring_by_material(s)};
    memcpy(out->cells, frame->cells, sizeof out->cells);
    TRY(colouring_source(s, frame, file, &job.by));
    if (!out->mapped) find_dyes(s, frame, &job);
    if (!out->mapped && !job.dye_count)
        return fail(ctx, SPATE_BAD_INPUT,
                    "%s: no smoke to draw: there is no field 'density' and none with the name of a "
                    "material; name a field to colour by (--colour)",
                    file);
    out->values = take(ctx, (size_t)frame->count, sizeof *out->values);
    if (!out->values) return SPATE_OUT_OF_MEMORY;
    parallel_for(ctx->pool, frame->count, 16384, fill_cells, &job);
    return SPATE_OK;
}

void smoke_cells_free(smoke_cells *d) {
    if (d->ctx) give(d->ctx, d->values);
    *d = (smoke_cells){0};
}
