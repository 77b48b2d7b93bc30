/* What a frame holds, made ready for the ray tracer. */
#include "pictures/frame_3d.h"
#include "core/threads.h"
#include "frames/surface_read.h"
#include "pictures/mesh_pictures.h"
#include "pictures/particle_batches.h"
#include "pictures/smoke_cells.h"
#include "pictures/trace/trace.h"
#include <math.h>
#include <string.h>

/* ---- Particles ------------------------------------------------------------------------------- */

/* The liquid's surface that the run has written with this frame; without one, that of its
 * particles. */
static spate_status load_surface(const colouring *s, const stage *st, const snapshot *frame,
                                 const char *file, triangle_mesh *out) {
    spate_context *ctx = s->scene->ctx;
    char path[PATH_SIZE];
    read_surface m;
    if (surface_beside(ctx, file, path))
        TRY(surface_read(s->scene, path, &m));
    else
        TRY(surface_from_particles(s->scene, frame, &m));
    spate_status status = SPATE_OK;
    if (!m.triangle_count) goto done;
    out->vertices = take(ctx, (size_t)m.vertex_count, sizeof *out->vertices);
    out->triangles = take(ctx, (size_t)m.triangle_count, sizeof *out->triangles);
    if (!out->vertices || !out->triangles) TRY_OR_DONE(status, SPATE_OUT_OF_MEMORY);
    out->vertex_count = m.vertex_count, out->triangle_count = m.triangle_count;
    for (int64_t v = 0; v < m.vertex_count; v++)
        out->vertices[v] = stage_from_scene(st, m.vertices[v]);
    memcpy(out->triangles, m.triangles, (size_t)m.triangle_count * sizeof *out->triangles);
done:
    surface_read_free(&m);
    return status;
}

/* A run's surface is that of its liquids: good where these, and nothing else, are clear. */
static bool surface_is_drawn(const spate_scene *scene) {
    bool drawn = true;
    for (int i = 0; i < scene->material_count; i++)
        drawn &=
            material_is_liquid(&scene->materials[i]) == (scene->materials[i].look == LOOK_SURFACE);
    return drawn;
}

spate_status frame_3d_particles(const colouring *s, const snapshot *frame, const char *file,
                                double time, int samples, picture *out) {
    spate_context *ctx = s->scene->ctx;
    batches c = {0};
    triangle_mesh surface = {0};
    snapshot drawn = {0}; /* meshes, which their particles are not drawn beside */
    mesh_parts parts = {0};
    stage st;
    spate_status status;
    TRY_OR_DONE(status, stage_create(s->scene, time, &st));
    TRY_OR_DONE(status, mesh_pictures_load(s->scene, file, &drawn));
    if (drawn.bytes) TRY_OR_DONE(status, mesh_pictures_create(s, &st, &drawn, file, &parts));
    TRY_OR_DONE(status, batches_create(s, &st, frame, file, drawn.bytes, &c));
    if (!frame->count || (batches_find(&c, LOOK_SURFACE) && surface_is_drawn(s->scene)))
        TRY_OR_DONE(status, load_surface(s, &st, frame, file, &surface));
    trace_input in = {.stage = &st,
                      .batches = &c,
                      .surface = surface.triangle_count ? &surface : NULL,
                      .meshes = drawn.bytes ? &parts : NULL,
                      .samples = samples};
    TRY_OR_DONE(status, trace_picture(ctx, &in, out));
    colouring_caption(s, time, out);
done:
    stage_free(&st);
    snapshot_free(&drawn);
    mesh_parts_free(ctx, &parts);
    batches_free(&c);
    give(ctx, surface.vertices);
    give(ctx, surface.triangles);
    return status;
}

/* ---- Smoke ----------------------------------------------------------------------------------- */

/* How much of the light is stopped on a way as long as the domain is wide, where smoke is as thick
 * as colouring.high says: optical depth. */
static const float opacity = 30;

typedef struct matter_job {
    const smoke_cells *from;
    int turn; /* as of the stage */
    float scale;
    smoke_grid *to;
} matter_job;

/* The cells along the stage's axes, with extinction for amount. */
static void turn_cells(void *data, chunk items) {
    const matter_job *job = data;
    const smoke_grid *to = job->to;
    const int *n = job->from->cells;
    const int64_t strides[3] = {1, n[0], (int64_t)n[0] * n[1]};
    for (int64_t i = items.begin; i < items.end; i++) {
        const int64_t at[3] = {i % to->cells[0], i / to->cells[0] % to->cells[1],
                               i / to->cells[0] / to->cells[1]};
        int64_t place = 0;
        for (int a = 0; a < 3; a++) place += at[a] * strides[(a + job->turn) % 3];
        v3 v = job->from->values[place];
        /* What a colour map shows is thin where it is little, so that one sees into it. */
        float k = job->scale * (job->from->mapped ? v[3] : 1);
        to->values[i] = v * (v3){k, k, k, k};
    }
}

spate_status frame_3d_smoke(const colouring *s, const snapshot *frame, const char *file,
                            double time, int samples, picture *out) {
    spate_context *ctx = s->scene->ctx;
    stage st = {0};
    smoke_cells smoke = {0};
    smoke_grid matter = {.edge = (float)frame->spacing[0]};
    spate_status status;
    TRY_OR_DONE(status, stage_create(s->scene, time, &st));
    TRY_OR_DONE(status, smoke_cells_create(s, frame, file, &smoke));
    for (int a = 0; a < 3; a++) matter.cells[a] = smoke.cells[(a + st.turn) % 3];
    matter.values = take(ctx, (size_t)frame->count, sizeof *matter.values);
    if (!matter.values) TRY_OR_DONE(status, SPATE_OUT_OF_MEMORY);
    matter_job job = {&smoke, st.turn, opacity / cbrtf(st.size[0] * st.size[1] * st.size[2]),
                      &matter};
    parallel_for(ctx->pool, frame->count, 16384, turn_cells, &job);
    trace_input in = {
        .stage = &st, .smoke = matter, .smoke_mapped = smoke.mapped, .samples = samples};
    smoke_cells_free(&smoke);
    TRY_OR_DONE(status, trace_picture(ctx, &in, out));
    colouring_caption(s, time, out);
done:
    stage_free(&st);
    smoke_cells_free(&smoke);
    give(ctx, matter.values);
    return status;
}
