/* Reading meshes that deform: numbered files with the same triangles. */
#include "core/file.h"
#include "core/vec.h"
#include "scene/mesh_sequence.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

#include <stdio.h>
#include <string.h>

typedef struct frames_fields {
    int64_t first, last;
    double fps, start;
    bool repeat;
} frames_fields;

static const field frames_table_fields[] = {
    {.name = "fps",
     .type = FIELD_NUMBER,
     .offset = offsetof(frames_fields, fps),
     .unit = "1/s",
     .required = true,
     .min = 1e-6,
     .max = 1e6,
     .help = "files a second"},
    INTEGER_FIELD(frames_fields, first, 1, 0, 1e9, "number of the first file"),
    INTEGER_FIELD(frames_fields, last, -1, -1, 1e9,
                  "number of the last file; -1: as long as files are there"),
    NUMBER_FIELD(frames_fields, start, "s", 0, ANY_MIN, ANY_MAX, "time of the first file"),
    FLAG_FIELD(frames_fields, repeat, false,
               "the last file is followed by the second one again: they should be of one shape"),
};
const field_table scene_frames_table = FIELD_TABLE(
    "mesh.frames",
    "The mesh deforms: `file` names a sequence such as hand_####.obj, where the signs # stand for "
    "the number, filled up with zeros. All files have the same triangles. In between, vertices "
    "move evenly; before the first and after the last they rest. Matter feels their velocity. For "
    "colliders (solvers mpm, flip and smoke), which may have a motion as well, and for sources of "
    "the same solvers: "
    "what comes out has the velocity of the surface besides the source's own.",
    frames_table_fields, frames_fields);

/* ---- Names ----------------------------------------------------------------------------------- */

/* "hand_####.obj" and 7 -> "hand_0007.obj". */
static void name_frame(const char *pattern, int64_t number, char out[PATH_SIZE]) {
    const char *from = strchr(pattern, '#');
    const int width = (int)strspn(from, "#");
    snprintf(out, PATH_SIZE, "%.*s%0*lld%s", (int)(from - pattern), pattern, width,
             (long long)number, from + width);
}

static spate_status check_pattern(reader *r, const yaml_value *v, const char *pattern) {
    const char *from = strchr(pattern, '#');
    if (!from)
        return reader_fail(r, v, "names one file; write # for the number, as in hand_####.obj");
    if (strchr(from + strspn(from, "#"), '#'))
        return reader_fail(r, v, "has # at two places; keep those of the number");
    if (strlen(pattern) > PATH_SIZE / 2) return reader_fail(r, v, "the name is too long");
    return SPATE_OK;
}

/* How many files there are from the first on. */
static spate_status count_frames(reader *r, const yaml_value *v, const char *pattern,
                                 const frames_fields *f, int *out) {
    char name[PATH_SIZE], path[PATH_SIZE];
    int64_t count = f->last - f->first + 1;
    if (f->last < 0)
        for (count = 0; count <= SEQUENCE_MOST; count++) {
            name_frame(pattern, f->first + count, name);
            TRY(path_join(r->ctx, r->scene->folder, name, path));
            if (!file_exists(r->ctx, path)) break;
        }
    name_frame(pattern, f->first, name);
    if (count < 2)
        return reader_fail(r, v,
                           "%lld files from %s on; two are needed at least, so check `first`, "
                           "or leave out `frames`",
                           (long long)(count < 0 ? 0 : count), name);
    if (count > SEQUENCE_MOST)
        return reader_fail(r, v, "more than %d files; use fewer, with a smaller fps",
                           SEQUENCE_MOST);
    *out = (int)count;
    return SPATE_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct frame_job {
    int count, index;
    mesh first; /* as in the file */
    int32_t *kept;
    mesh_sequence *sequence;
} frame_job;

/* The first file also becomes the mesh that tells distances at the start. */
static spate_status parse_first(arena *a, const char *name, const char *bytes, size_t length,
                                frame_job *j) {
    mesh *prepared = arena_take(a, 1, sizeof *prepared);
    if (!prepared) return SPATE_OUT_OF_MEMORY;
    TRY(mesh_read_raw(a, name, bytes, length, &j->first));
    TRY(mesh_read_raw(a, name, bytes, length, prepared));
    TRY(mesh_prepare(a, name, prepared));
    TRY(mesh_sequence_begin(a, j->count, &j->first, prepared, &j->kept, &j->sequence));
    return mesh_sequence_add(a, j->sequence, 0, j->kept, &j->first, &j->first);
}

static spate_status parse_frame(arena *a, const char *name, const char *bytes, size_t length,
                                void **out) {
    frame_job *j = *out;
    if (j->index == 0) return parse_first(a, name, bytes, length, j);
    arena own = arena_create(a->ctx); /* the triangles are not kept */
    mesh raw = {.vertex_count = 0};
    spate_status status = mesh_read_raw(&own, name, bytes, length, &raw);
    if (!status) {
        status = mesh_sequence_add(a, j->sequence, j->index, j->kept, &j->first, &raw);
        if (status == SPATE_BAD_INPUT) fail_prefix(a->ctx, "%s: ", name);
    }
    arena_free(&own);
    return status;
}

static spate_status read_frames(reader *r, const yaml_value *v, const char *pattern,
                                const frames_fields *f, mesh_sequence **out) {
    frame_job *j = arena_take(r->arena, 1, sizeof *j);
    if (!j) return SPATE_OUT_OF_MEMORY;
    TRY(count_frames(r, v, pattern, f, &j->count));
    for (; j->index < j->count; j->index++) {
        char name[PATH_SIZE];
        name_frame(pattern, f->first + j->index, name);
        TRY(scene_read_numbered_file(r, v, name, parse_frame, j));
    }
    *out = j->sequence;
    return SPATE_OK;
}

spate_status scene_read_sequence(reader *r, const yaml_value *mapping, shape *s) {
    const yaml_value *v = yaml_find(mapping, "file");
    frames_fields f;
    mesh_sequence *frames;
    const char *pattern;
    int back = reader_enter(r, "frames");
    TRY(reader_table(r, yaml_find(mapping, "frames"), &scene_frames_table, &f));
    reader_leave(r, back);
    back = reader_enter(r, "file");
    TRY(reader_text(r, v, &pattern));
    TRY(check_pattern(r, v, pattern));
    TRY(scene_check_file_name(r, v, pattern));
    TRY(read_frames(r, v, pattern, &f, &frames));
    reader_leave(r, back);
    frames->start = f.start, frames->fps = f.fps, frames->repeat = f.repeat;
    mesh_sequence_finish(frames);
    s->sequence = frames;
    s->mesh = frames->mesh;
    return SPATE_OK;
}

spate_status scene_refuse_sequence(reader *r, const yaml_value *at, const shape *s,
                                   const char *noun) {
    if (!s->sequence) return SPATE_OK;
    return reader_fail(r, at,
                       "the mesh deforms, which a %s cannot; leave out `frames`, or make it "
                       "a collider or a source",
                       noun);
}

/* The mesh itself is mapped too, as it is at the time 0. */
spate_status scene_place_sequence(reader *r, shape *s) {
    if (!s->sequence) return SPATE_OK;
    mesh_sequence *frames = arena_take(r->arena, 1, sizeof *frames);
    if (!frames) return SPATE_OUT_OF_MEMORY;
    *frames = *s->sequence;
    double by[3][3];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) by[a][b] = s->scale * s->turn[a][b];
    for (int k = 0; k < frames->count; k++)
        for (int64_t v = 0; v < frames->mesh->vertex_count; v++) {
            double *x = frames->vertices[k][v], y[3];
            mat_apply(y, (const double(*)[3])by, x);
            vec_add(x, y, s->move);
        }
    mesh_sequence_finish(frames);
    /* A mesh of its own, so that others that name its file have theirs. */
    mat_identity(by);
    TRY(mesh_map(r->arena, frames->mesh, (const double(*)[3])by, &frames->mesh));
    const sequence_place at = mesh_sequence_at(frames, 0);
    mesh_sequence_blend(frames, at.from, at.share, frames->mesh->vertices);
    TRY(mesh_map(r->arena, frames->mesh, (const double(*)[3])by, &s->mesh));
    frames->mesh = s->mesh;
    s->sequence = frames;
    mat_identity(s->turn);
    vec_set(s->move, 0, 0, 0);
    s->scale = 1;
    return SPATE_OK;
}
