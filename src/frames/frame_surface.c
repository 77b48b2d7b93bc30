/* Particles of a frame to a surface; see frame_surface.h. */
#include "frames/frame_surface.h"
#include "frames/surface_read.h"
#include <math.h>
#include <string.h>

typedef struct snapshot_job {
    const spate_scene *scene;
    const snapshot *frame;
    const snapshot_array *velocity, *size, *material;
    double spacing;
    surface_particle *list;
} snapshot_job;

static bool is_liquid(const snapshot_job *job, int64_t i) {
    const spate_scene *scene = job->scene;
    const double kind = job->material ? snapshot_value(job->material, i, 0) : 0;
    return kind >= 0 && kind < scene->material_count &&
           material_is_liquid(&scene->materials[(int)kind]);
}

static void read_particles(void *data, chunk items) {
    const snapshot_job *job = data;
    const domain *d = &job->scene->domain;
    for (int64_t i = items.begin; i < items.end; i++) {
        surface_particle *p = &job->list[i];
        const bool liquid = is_liquid(job, i);
        for (int a = 0; a < job->scene->dim; a++) {
            const double x = snapshot_value(&job->frame->arrays[0], i, a) - d->origin[a];
            p->x[a] = liquid ? (real)(x / job->spacing) : (real)NAN;
            p->v[a] = job->velocity ? (real)snapshot_value(job->velocity, i, a) : 0;
        }
        const double size = job->size ? 2 * snapshot_value(job->size, i, 0) : 0.5 * d->dx;
        p->size = (real)(size / job->spacing);
    }
}

spate_status surface_of_snapshot(const spate_scene *scene, const snapshot *frame,
                                 surface_settings settings, surface_mesh *out) {
    spate_context *ctx = scene->ctx;
    const snapshot_array *velocity = snapshot_find(frame, "v");
    snapshot_job job = {.scene = scene,
                        .frame = frame,
                        .velocity = velocity && velocity->components == 3 ? velocity : NULL,
                        .size = snapshot_find(frame, "pscale"),
                        .material = snapshot_find(frame, "material"),
                        .spacing = settings.spacing};
    *out = (surface_mesh){.ctx = ctx};
    job.list = take(ctx, (size_t)frame->count + 1, sizeof *job.list);
    if (!job.list) return SPATE_OUT_OF_MEMORY;
    parallel_for(ctx->pool, frame->count, 16384, read_particles, &job);
    spate_status status = surface_set_spacing(ctx, &settings, job.list, frame->count);
    if (status == SPATE_OK) status = surface_create(ctx, &settings, job.list, frame->count, out);
    give(ctx, job.list);
    return status;
}

spate_status surface_from_particles(const spate_scene *scene, const snapshot *frame,
                                    read_surface *out) {
    surface_mesh m;
    *out = (read_surface){.arena = arena_create(scene->ctx)};
    TRY(surface_of_snapshot(scene, frame, surface_settings_of(scene), &m));
    out->vertices = arena_take(&out->arena, (size_t)m.vertex_count + 1, sizeof *out->vertices);
    out->triangles = arena_take(&out->arena, (size_t)m.triangle_count + 1, sizeof *out->triangles);
    const bool taken = out->vertices && out->triangles;
    if (taken) {
        out->vertex_count = m.vertex_count, out->triangle_count = m.triangle_count;
        for (int64_t v = 0; v < m.vertex_count; v++)
            for (int a = 0; a < 3; a++) out->vertices[v][a] = (double)m.position[v][a];
        memcpy(out->triangles, m.triangle, (size_t)m.triangle_count * sizeof *out->triangles);
    }
    surface_free(&m);
    if (!taken) surface_read_free(out);
    return taken ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}
