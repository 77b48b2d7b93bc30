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

spate_status mesh_drawing_of(const colouring *s, const snapshot *frame, const char *file,
                             mesh_drawing *out) {
    *out = (mesh_drawing){.colouring = s,
                          .frame = frame,
                          .radii = snapshot_find(frame, "pscale"),
                          .materials = snapshot_find(frame, "material"),
                          .groups = snapshot_find(frame, "group")};
    return colouring_source(s, frame, file, &out->by);
}

typedef struct mesh_job {
    mesh_drawing of;
    const stage *stage;
    mesh_parts *out;
} mesh_job;

static void add_vertices(const mesh_job *j) {
    for (int64_t v = 0; v < j->of.frame->count; v++) {
        double x[3];
        for (int a = 0; a < 3; a++) x[a] = snapshot_value(&j->of.frame->arrays[0], v, a);
        v3 at = stage_from_scene(j->stage, x);
        at[3] = j->of.radii ? (float)snapshot_value(j->of.radii, v, 0) : 0;
        const rgb c = mesh_drawing_colour(&j->of, v);
        j->out->vertices[v] = at;
        j->out->colours[v] = v3_set(c.r, c.g, c.b);
    }
    j->out->vertex_count = j->of.frame->count;
}

static void add_triangles(const mesh_job *j) {
    mesh_parts *p = j->out;
    for (int64_t t = 0; t < j->of.frame->triangle_count; t++) {
        for (int k = 0; k < 3; k++) p->triangles[t][k] = snapshot_triangle(j->of.frame, t, k);
        p->cloth[t] =
            mesh_pictures_kind(j->of.colouring->scene, j->of.groups, p->triangles[t][0]) != MESH_FE;
    }
    p->triangle_count = j->of.frame->triangle_count;
}

static void add_lines(const mesh_job *j) {
    mesh_parts *p = j->out;
    int32_t at = 0, used = 0;
    for (int64_t k = 0; k < j->of.frame->line_count; k++) {
        const int32_t end = snapshot_line_end(j->of.frame, k);
        const bool strand = mesh_pictures_kind(j->of.colouring->scene, j->of.groups,
                                               snapshot_line_corner(j->of.frame, at)) != MESH_FE;
        for (; at < end; at++)
            if (strand) p->line_corners[used++] = snapshot_line_corner(j->of.frame, at);
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
    mesh_job job = {.stage = st, .out = out};
    *out = (mesh_parts){.mapped = !colouring_by_material(s)};
    TRY(mesh_drawing_of(s, frame, file, &job.of));
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
