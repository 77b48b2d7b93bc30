/* Meshes of a frame for the ray tracer; see mesh_pictures.h. */
#include "pictures/mesh_pictures.h"
#include "frames/surface_read.h"

spate_status mesh_pictures_load(const spate_scene *scene, const char *file, snapshot *out) {
    char path[PATH_SIZE];
    *out = (snapshot){.ctx = scene->ctx};
    if (!mesh_beside(scene->ctx, file, path)) return SPATE_OK;
    return mesh_frame_read(scene, path, out);
}

mesh_kind mesh_pictures_kind(const spate_scene *scene, const snapshot_array *groups,
                             int64_t vertex) {
    const double group = groups ? snapshot_value(groups, vertex, 0) : -1;
    return group >= 0 && group < scene->body_count ? scene->bodies[(int)group].mesh.kind
                                                   : MESH_NONE;
}

typedef struct mesh_job {
    const colouring *colouring;
    const stage *stage;
    const snapshot *frame;
    const snapshot_array *radii, *materials, *groups;
    colour_source by;
    mesh_parts *out;
} mesh_job;

static void add_vertices(const mesh_job *j) {
    for (int64_t v = 0; v < j->frame->count; v++) {
        double x[3];
        for (int a = 0; a < 3; a++) x[a] = snapshot_value(&j->frame->arrays[0], v, a);
        v3 at = stage_from_scene(j->stage, x);
        at[3] = j->radii ? (float)snapshot_value(j->radii, v, 0) : 0;
        const rgb c = colouring_colour(j->colouring, j->materials, &j->by, v);
        j->out->vertices[v] = at;
        j->out->colours[v] = v3_set(c.r, c.g, c.b);
    }
    j->out->vertex_count = j->frame->count;
}

static void add_triangles(const mesh_job *j) {
    mesh_parts *p = j->out;
    for (int64_t t = 0; t < j->frame->triangle_count; t++) {
        for (int k = 0; k < 3; k++) p->triangles[t][k] = snapshot_triangle(j->frame, t, k);
        p->cloth[t] =
            mesh_pictures_kind(j->colouring->scene, j->groups, p->triangles[t][0]) != MESH_FE;
    }
    p->triangle_count = j->frame->triangle_count;
}

static void add_lines(const mesh_job *j) {
    mesh_parts *p = j->out;
    int32_t at = 0, used = 0;
    for (int64_t k = 0; k < j->frame->line_count; k++) {
        const int32_t end = snapshot_line_end(j->frame, k);
        const bool strand = mesh_pictures_kind(j->colouring->scene, j->groups,
                                               snapshot_line_corner(j->frame, at)) != MESH_FE;
        for (; at < end; at++)
            if (strand) p->line_corners[used++] = snapshot_line_corner(j->frame, at);
        if (strand) p->line_ends[p->line_count++] = used;
    }
}

spate_status mesh_pictures_create(const colouring *s, const stage *st, const snapshot *frame,
                                  const char *file, mesh_parts *out) {
    spate_context *ctx = s->scene->ctx;
    const size_t vertices = (size_t)frame->count + 1, triangles = (size_t)frame->triangle_count + 1,
                 lines = (size_t)frame->line_count + 1;
    const size_t corners =
        frame->line_count ? (size_t)snapshot_line_end(frame, frame->line_count - 1) + 1 : 1;
    mesh_job job = {.colouring = s,
                    .stage = st,
                    .frame = frame,
                    .radii = snapshot_find(frame, "pscale"),
                    .materials = snapshot_find(frame, "material"),
                    .groups = snapshot_find(frame, "group"),
                    .out = out};
    *out = (mesh_parts){.mapped = !colouring_by_material(s)};
    TRY(colouring_source(s, frame, file, &job.by));
    bool have = (out->vertices = take(ctx, vertices, sizeof *out->vertices));
    have = have && (out->colours = take(ctx, vertices, sizeof *out->colours));
    have = have && (out->triangles = take(ctx, triangles, sizeof *out->triangles));
    have = have && (out->cloth = take(ctx, triangles, sizeof *out->cloth));
    have = have && (out->line_corners = take(ctx, corners, sizeof *out->line_corners));
    have = have && (out->line_ends = take(ctx, lines, sizeof *out->line_ends));
    if (!have) return SPATE_OUT_OF_MEMORY;
    add_vertices(&job);
    add_triangles(&job);
    add_lines(&job);
    return SPATE_OK;
}
