/*
 * What a file is, in a few lines. Files are told apart by their content, never by their name:
 * frames, checkpoints and pictures by how they begin, meshes by what their readers accept, scenes
 * by their first field. What is told in words is told as facts too, for machines: one JSON object.
 */
#include "core/file.h"
#include "core/text.h"
#include "frames/vtp_read.h"
#include "run/checkpoint.h"
#include "run/media.h"
#include "run/run_folder.h"
#include "scene/mesh.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct file_content {
    spate_context *ctx;
    const char *path;
    const char *bytes; /* a zero follows */
    size_t length;
    text *out;
    text *facts; /* of a JSON object, each behind a comma */
} file_content;

/* ---- Facts ---- */

static void fact_words(const file_content *f, const char *name, const char *words, size_t length) {
    text_add(f->facts, ", \"%s\": ", name);
    text_add_json(f->facts, words, length);
}

static void fact_text(const file_content *f, const char *name, const char *value) {
    fact_words(f, name, value, strlen(value));
}

static void fact_number(const file_content *f, const char *name, double value) {
    text_add(f->facts, isfinite(value) ? ", \"%s\": %.15g" : ", \"%s\": null", name, value);
}

static void fact_hash(const file_content *f, const char *name, uint64_t hash) {
    text_add(f->facts, ", \"%s\": \"%016llx\"", name, (unsigned long long)hash);
}

static void fact_numbers(const file_content *f, const char *name, const double *values, int count) {
    text_add(f->facts, ", \"%s\": [", name);
    for (int i = 0; i < count; i++)
        text_add(f->facts, isfinite(values[i]) ? "%s%.15g" : "%snull", i ? ", " : "", values[i]);
    text_add(f->facts, "]");
}

static void fact_counts(const file_content *f, const char *name, const int *counts, int count) {
    double values[3];
    for (int i = 0; i < count; i++) values[i] = counts[i];
    fact_numbers(f, name, values, count);
}

/* An entry of a list of attributes, whose bracket is open. */
static void fact_attribute(const file_content *f, bool first, const char *name, size_t length,
                           int components) {
    text_add(f->facts, "%s{\"name\": ", first ? "" : ", ");
    text_add_json(f->facts, name, length);
    text_add(f->facts, ", \"components\": %d", components);
}

static bool begins_with(const file_content *f, const char *words) {
    const size_t length = strlen(words);
    return f->length >= length && !memcmp(f->bytes, words, length);
}

static spate_status fail_broken(const file_content *f, const char *kind) {
    return fail(f->ctx, SPATE_BAD_INPUT, "%s: begins like %s but is damaged or cut short", f->path,
                kind);
}

/* ---- Checkpoint ---- */

static spate_status describe_checkpoint(const file_content *f) {
    checkpoint_head head;
    TRY(checkpoint_check(f->ctx, f->path, f->bytes, f->length, &head));
    text_add(f->out, "%s: checkpoint, format %u, whole\n", f->path, head.version);
    text_add(f->out, "  %uD, %s precision, %llu particles\n", head.dim,
             head.real_bytes == 8 ? "double" : "float", (unsigned long long)head.particles);
    text_add(f->out, "  step %llu, t = %.6g s\n", (unsigned long long)head.step, head.time);
    text_add(f->out, "  scene hash %016llx\n", (unsigned long long)head.scene_hash);
    fact_text(f, "kind", "checkpoint");
    fact_number(f, "format", head.version);
    fact_number(f, "dimension", head.dim);
    fact_text(f, "precision", head.real_bytes == 8 ? "double" : "float");
    fact_number(f, "particles", (double)head.particles);
    fact_number(f, "step", (double)head.step);
    fact_number(f, "time", head.time);
    fact_hash(f, "scene_hash", head.scene_hash);
    return SPATE_OK;
}

/* ---- Frames ---- */

/* The text between the quotes of name="..." after `from`, before `end`. */
static const char *xml_value(const char *from, const char *end, const char *name, int *length) {
    const size_t size = strlen(name);
    for (const char *c = from; c + size + 2 < end; c++) {
        if (memcmp(c, name, size) || c[size] != '=' || c[size + 1] != '"') continue;
        const char *value = c + size + 2, *close = memchr(value, '"', (size_t)(end - value));
        if (!close) return NULL;
        *length = (int)(close - value);
        return value;
    }
    return NULL;
}

static const char *find_bytes(const char *from, const char *end, const char *words) {
    const size_t size = strlen(words);
    for (; from + size <= end; from++)
        if (!memcmp(from, words, size)) return from;
    return NULL;
}

/* The number that begins here; NAN for none. */
static double number_at(const file_content *f, const char *from, const char *end) {
    double value;
    return from && text_scan_double(f->ctx, &from, end, &value) ? value : NAN;
}

/* How many cells of a kind a file has, in words and as a fact. */
static void describe_cells(const file_content *f, const char *end, const char *attribute,
                           const char *name) {
    int length;
    const char *count = xml_value(f->bytes, end, attribute, &length);
    if (count) text_add(f->out, ", %.*s %s", length, count, name);
    if (count) fact_number(f, name, number_at(f, count, end));
}

static spate_status describe_vtp(const file_content *f) {
    const char *last = f->bytes + f->length;
    const char *end = find_bytes(f->bytes, last, "<AppendedData");
    const char *tail = f->length > 64 ? last - 64 : f->bytes;
    if (!end || !find_bytes(tail, last, "</VTKFile>")) return fail_broken(f, "a VTK file");
    int length, components;
    const char *type = xml_value(f->bytes, end, "type", &length);
    text_add(f->out, "%s: VTK %.*s", f->path, type ? length : 0, type ? type : "");
    const char *points = xml_value(f->bytes, end, "NumberOfPoints", &length);
    const char *lines = find_bytes(f->bytes, end, "<Lines>"),
               *faces = lines ? lines : find_bytes(f->bytes, end, "<Polys>");
    const char *const meshes = find_bytes(f->bytes, end, "<CellData>");
    text_add(f->out, ", %.*s %s", points ? length : 1, points ? points : "?",
             faces ? "vertices" : "particles");
    fact_text(f, "kind", meshes ? "meshes" : faces ? "surface" : "particles");
    fact_text(f, "format", "vtp");
    fact_number(f, faces ? "vertices" : "particles", number_at(f, points, end));
    if (lines) describe_cells(f, end, "NumberOfLines", "lines");
    if (faces && (meshes || !lines)) describe_cells(f, end, "NumberOfPolys", "triangles");
    const char *time = find_bytes(f->bytes, end, "\"TimeValue\"");
    if (time) time = memchr(time, '>', (size_t)(end - time));
    const double t = number_at(f, time ? time + 1 : NULL, end);
    if (isfinite(t)) text_add(f->out, ", t = %.6g s", t);
    fact_number(f, "time", t);
    text_add(f->out, "\n  attributes:");
    text_add(f->facts, ", \"attributes\": [");
    bool first = true;
    const char *array = points ? find_bytes(points, end, "<DataArray") : NULL;
    const char *cells = meshes ? meshes : faces ? faces : find_bytes(f->bytes, end, "<Verts>");
    for (; array && array < (cells ? cells : end);
         array = find_bytes(array + 1, end, "<DataArray")) {
        const char *close = memchr(array, '>', (size_t)(end - array));
        if (!close) return fail_broken(f, "a VTK file");
        const char *name = xml_value(array, close, "Name", &length);
        const char *size = xml_value(array, close, "NumberOfComponents", &components);
        if (name) text_add(f->out, " %.*s", length, name);
        if (size && memcmp(size, "1\"", 2)) text_add(f->out, "(%.*s)", components, size);
        if (!name) continue;
        fact_attribute(f, first, name, (size_t)length, size ? (int)number_at(f, size, end) : 1);
        text_add(f->facts, "}");
        first = false;
    }
    text_add(f->facts, "]");
    text_add(f->out, "\n");
    return SPATE_OK;
}

/* The smallest and the largest value of a field, of its length where it is a vector. */
static void field_range(const snapshot *s, const snapshot_array *a, double *low, double *high) {
    *low = HUGE_VAL, *high = -HUGE_VAL;
    for (int64_t i = 0; i < s->count; i++) {
        double value = snapshot_value(a, i, 0), sum = value * value;
        for (int c = 1; c < a->components; c++)
            sum += snapshot_value(a, i, c) * snapshot_value(a, i, c);
        if (a->components > 1) value = sqrt(sum);
        if (value < *low) *low = value;
        if (value > *high) *high = value;
    }
}

static spate_status describe_vti(const file_content *f) {
    snapshot s;
    char *copy = take(f->ctx, f->length, 1); /* which the reader takes over */
    if (!copy) return SPATE_OUT_OF_MEMORY;
    memcpy(copy, f->bytes, f->length);
    TRY(snapshot_read(f->ctx, f->path, copy, f->length, &s));
    text_add(f->out, "%s: VTK ImageData, %d x %d x %d cells of %.6g", f->path, s.cells[0],
             s.cells[1], s.cells[2], s.spacing[0]);
    if (!isnan(s.time)) text_add(f->out, ", t = %.6g s", s.time);
    text_add(f->out, "\n  from (%.6g, %.6g, %.6g)\n", s.origin[0], s.origin[1], s.origin[2]);
    fact_text(f, "kind", "volume");
    fact_text(f, "format", "vti");
    fact_number(f, "time", s.time);
    fact_counts(f, "cells", s.cells, 3);
    fact_numbers(f, "spacing", s.spacing, 3);
    fact_numbers(f, "origin", s.origin, 3);
    text_add(f->facts, ", \"fields\": [");
    for (int i = 0; i < s.array_count; i++) {
        double low, high;
        const snapshot_array *a = &s.arrays[i];
        field_range(&s, a, &low, &high);
        fact_attribute(f, i == 0, a->name, strlen(a->name), a->components);
        fact_number(f, "min", low);
        fact_number(f, "max", high);
        text_add(f->facts, "}");
        text_add(f->out, "  %s", s.arrays[i].name);
        if (s.arrays[i].components > 1) text_add(f->out, "(%d)", s.arrays[i].components);
        text_add(f->out, ": %.6g to %.6g\n", low, high);
    }
    text_add(f->facts, "]");
    snapshot_free(&s);
    return SPATE_OK;
}

static spate_status describe_bgeo(const file_content *f) {
    enum { HEADER = 5 + 9 * 4 };
    if (f->length < HEADER) return fail_broken(f, "a .bgeo file");
    const int64_t points = (int64_t)big_endian(f->bytes + 9, 4);
    const int64_t count = (int64_t)big_endian(f->bytes + 25, 4);
    size_t at = HEADER;
    uint64_t row = 4;
    text_add(f->out, "%s: Houdini .bgeo, version %lld, %lld particles\n  attributes: P(3)", f->path,
             (long long)big_endian(f->bytes + 5, 4), (long long)points);
    fact_text(f, "kind", "particles");
    fact_text(f, "format", "bgeo");
    fact_number(f, "particles", (double)points);
    text_add(f->facts, ", \"attributes\": [{\"name\": \"P\", \"components\": 3}");
    for (int64_t i = 0; i < count; i++) {
        if (f->length - at < 2) return fail_broken(f, "a .bgeo file");
        const size_t name = (size_t)big_endian(f->bytes + at, 2);
        if (f->length - at < 2 + name + 6) return fail_broken(f, "a .bgeo file");
        const size_t size = (size_t)big_endian(f->bytes + at + 2 + name, 2);
        text_add(f->out, " %.*s", (int)name, f->bytes + at + 2);
        if (size > 1) text_add(f->out, "(%zu)", size);
        fact_attribute(f, false, f->bytes + at + 2, name, (int)size);
        text_add(f->facts, "}");
        at += 2 + name + 6;
        if ((f->length - at) / 4 < size) return fail_broken(f, "a .bgeo file");
        at += 4 * size;
        row += size;
    }
    text_add(f->facts, "]");
    text_add(f->out, "\n");
    return (uint64_t)points * row * 4 <= f->length - at ? SPATE_OK : fail_broken(f, "a .bgeo file");
}

/* A PLY file without faces: particles. */
static spate_status describe_points(const file_content *f, const char *end) {
    int64_t count = 0;
    const char *vertex = find_bytes(f->bytes, end, "element vertex ");
    if (vertex) {
        const char *cursor = vertex + strlen("element vertex ");
        text_scan_int64(&cursor, end, &count);
    }
    text_add(f->out, "%s: PLY points, %lld particles\n  properties:", f->path, (long long)count);
    fact_text(f, "kind", "particles");
    fact_text(f, "format", "ply");
    fact_number(f, "particles", (double)count);
    text_add(f->facts, ", \"attributes\": [");
    bool first = true;
    for (const char *p = find_bytes(f->bytes, end, "\nproperty "); p;
         p = find_bytes(p + 1, end, "\nproperty ")) {
        const char *name = p + strlen("\nproperty ");
        name += strcspn(name, " \n");
        text_add(f->out, "%.*s", (int)strcspn(name, "\r\n"), name);
        name += strspn(name, " ");
        fact_attribute(f, first, name, strcspn(name, "\r\n"), 1);
        text_add(f->facts, "}");
        first = false;
    }
    text_add(f->facts, "]");
    text_add(f->out, "\n");
    return SPATE_OK;
}

/* ---- Mesh and scene ---- */

static spate_status describe_mesh(const file_content *f) {
    static const char *const states[] = {
        [MESH_CLOSED] = "closed", [MESH_INVERTED] = "closed, facing inwards", [MESH_OPEN] = "open"};
    arena a = arena_create(f->ctx);
    mesh *m;
    spate_status status = mesh_read(&a, f->path, f->bytes, f->length, &m);
    if (status == SPATE_OK) {
        text_add(f->out, "%s: mesh, %lld vertices, %lld triangles, %s\n", f->path,
                 (long long)m->vertex_count, (long long)m->triangle_count, states[m->state]);
        text_add(f->out, "  from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g), volume %.6g\n",
                 m->min[0], m->min[1], m->min[2], m->max[0], m->max[1], m->max[2], m->volume);
        fact_text(f, "kind", "mesh");
        fact_number(f, "vertices", (double)m->vertex_count);
        fact_number(f, "triangles", (double)m->triangle_count);
        text_add(f->facts, ", \"closed\": %s", m->state == MESH_OPEN ? "false" : "true");
        fact_numbers(f, "min", m->min, 3);
        fact_numbers(f, "max", m->max, 3);
        fact_number(f, "volume", m->volume);
        fact_number(f, "open_edges", (double)m->open_edges);
        if (m->state == MESH_OPEN)
            text_add(f->out, "  %lld open edges, the largest hole at (%.4g, %.4g, %.4g)\n",
                     (long long)m->open_edges, m->hole[0], m->hole[1], m->hole[2]);
    }
    arena_free(&a);
    return status;
}

static void scene_facts(const file_content *f, const spate_scene_summary *s) {
    fact_text(f, "kind", "scene");
    fact_text(f, "name", s->name);
    fact_text(f, "solver", s->solver);
    fact_number(f, "dimension", s->dimension);
    fact_counts(f, "cells", s->cells, s->dimension);
    fact_number(f, "dx", s->dx);
    fact_number(f, "particles", (double)s->particles);
    fact_number(f, "filled_cells", (double)s->filled_cells);
    fact_number(f, "duration", s->duration);
    fact_number(f, "fps", s->fps);
    fact_number(f, "frames", s->frames);
    fact_number(f, "materials", s->materials);
    fact_number(f, "bodies", s->bodies);
    fact_number(f, "colliders", s->colliders);
    fact_number(f, "sources", s->sources);
    fact_number(f, "probes", s->probes);
    fact_hash(f, "hash", s->hash);
}

static spate_status describe_scene(const file_content *f) {
    spate_scene *scene;
    spate_scene_summary s;
    TRY(spate_scene_load(f->ctx, f->path, NULL, 0, &scene));
    spate_status status = spate_scene_summarise(scene, &s);
    if (status == SPATE_OK) {
        text_add(f->out, "%s: scene '%s', solver %s, %dD\n", f->path, s.name, s.solver,
                 s.dimension);
        text_add(f->out, "  %d x %d", s.cells[0], s.cells[1]);
        if (s.dimension == 3) text_add(f->out, " x %d", s.cells[2]);
        text_add(f->out, " cells of %.6g, %lld %s\n", s.dx,
                 (long long)(s.on_grid ? s.filled_cells : s.particles),
                 s.on_grid ? "filled by bodies" : "particles");
        text_add(f->out, "  %.6g s in %d frames\n", s.duration, s.frames);
        text_add(f->out, "  materials %d, bodies %d, colliders %d, sources %d, probes %d\n",
                 s.materials, s.bodies, s.colliders, s.sources, s.probes);
        text_add(f->out, "  hash %016llx\n", (unsigned long long)s.hash);
        scene_facts(f, &s);
    }
    spate_scene_free(scene);
    return status;
}

/* Whether a line begins with these words. */
static bool has_line(const file_content *f, const char *words) {
    const char *end = f->bytes + f->length;
    const size_t length = strlen(words);
    for (const char *line = f->bytes; line && (size_t)(end - line) >= length;) {
        if (!memcmp(line, words, length)) return true;
        line = memchr(line, '\n', (size_t)(end - line));
        if (line) line++;
    }
    return false;
}

static bool has_name_ending(const char *path, const char *ending) {
    const size_t length = strlen(path), size = strlen(ending);
    return length >= size && !strcmp(path + length - size, ending);
}

/* ---- Run folder ---- */

/* run.json has one field a line; those people ask for are shown. */
static spate_status describe_folder(const file_content *f) {
    static const char *const shown[] = {
        "scene",      "solver",    "threads",      "frames",
        "steps",      "particles", "wall_seconds", "particle_steps_per_second",
        "state_hash", "warnings",  "exit_reason"};
    spate_context *ctx = f->ctx;
    const char *folder = f->path;
    char path[PATH_SIZE], *bytes, key[64];
    size_t length;
    TRY(path_join(ctx, folder, RUN_REPORT, path));
    if (!file_exists(f->ctx, path))
        return fail(ctx, SPATE_BAD_INPUT, "%s: a folder without %s; it does not hold a run", folder,
                    RUN_REPORT);
    TRY(file_read(ctx, path, 1 << 24, &bytes, &length));
    if (length < 4 || bytes[0] != '{' || memcmp(bytes + length - 3, "\n}\n", 3)) {
        give(ctx, bytes);
        return fail(ctx, SPATE_BAD_INPUT, "%s: is damaged or cut short", path);
    }
    fact_text(f, "kind", "run");
    text_add(f->facts, ", \"run\": ");
    text_add_bytes(f->facts, bytes, length - 1);
    text_add(f->out, "%s: folder of a run\n", folder);
    for (int i = 0; i < COUNT_OF(shown); i++) {
        snprintf(key, sizeof key, "\n  \"%s\": ", shown[i]);
        const char *line = find_bytes(bytes, bytes + length, key);
        if (!line) continue;
        const char *value = line + strlen(key);
        int size = (int)strcspn(value, "\n");
        if (size && value[size - 1] == ',') size--;
        text_add(f->out, "  %s: %.*s\n", shown[i], size, value);
    }
    give(ctx, bytes);
    return SPATE_OK;
}

/* ---- Pictures and films ---- */

static void tell_size(const file_content *f, const char *kind, const char *words, const media *m) {
    text_add(f->out, "%s: %s of %lldx%lld pixels\n", f->path, words, (long long)m->width,
             (long long)m->height);
    fact_text(f, "kind", kind);
    fact_number(f, "width", (double)m->width);
    fact_number(f, "height", (double)m->height);
}

static spate_status describe_png(const file_content *f) {
    media m;
    if (!media_read_png(f->bytes, f->length, &m)) return fail_broken(f, "a PNG picture");
    tell_size(f, "picture", "picture (PNG)", &m);
    return SPATE_OK;
}

static spate_status describe_mp4(const file_content *f) {
    media m;
    if (!media_read_mp4(f->bytes, f->length, &m)) return fail_broken(f, "an MP4 film");
    tell_size(f, "film", "film (MP4)", &m);
    text_add(f->out, "  %lld frames in %.4g s\n", (long long)m.frames, m.seconds);
    fact_number(f, "frames", (double)m.frames);
    fact_number(f, "seconds", m.seconds);
    return SPATE_OK;
}

/* ---- Which it is ---- */

static spate_status describe_content(const file_content *f) {
    if (f->length == 0) return fail(f->ctx, SPATE_BAD_INPUT, "%s: the file is empty", f->path);
    if (begins_with(f, "SPATE\r\n")) return describe_checkpoint(f);
    if (begins_with(f, "BgeoV")) return describe_bgeo(f);
    if (media_is_png(f->bytes, f->length)) return describe_png(f);
    if (media_is_mp4(f->bytes, f->length)) return describe_mp4(f);
    const size_t front = f->length < 512 ? f->length : 512;
    if (begins_with(f, "<") && find_bytes(f->bytes, f->bytes + front, "<VTKFile"))
        return find_bytes(f->bytes, f->bytes + front, "type=\"ImageData\"") ? describe_vti(f)
                                                                            : describe_vtp(f);
    if (begins_with(f, "ply")) {
        const char *end = find_bytes(f->bytes, f->bytes + f->length, "end_header");
        if (!end) return fail_broken(f, "a PLY file");
        if (!find_bytes(f->bytes, end, "element face")) return describe_points(f, end);
    }
    const bool binary = memchr(f->bytes, 0, f->length) != NULL;
    if (!binary && (has_line(f, "spate:") || has_name_ending(f->path, ".yaml") ||
                    has_name_ending(f->path, ".yml")))
        return describe_scene(f);
    spate_status status = describe_mesh(f);
    if (status != SPATE_BAD_INPUT) return status;
    fail_prefix(f->ctx, "not a scene, checkpoint or frame, and as a mesh: ");
    return status;
}

/* Reads the file, if it is one, and tells what it is. */
static spate_status describe(file_content *f) {
    if (file_is_folder(f->ctx, f->path)) return describe_folder(f);
    char *bytes;
    TRY(file_read(f->ctx, f->path, SIZE_MAX / 2, &bytes, &f->length));
    f->bytes = bytes;
    spate_status status = describe_content(f);
    give(f->ctx, bytes);
    return status;
}

static spate_status describe_as(spate_context *ctx, const char *path, bool json,
                                void (*write)(const char *text, void *user), void *user) {
    text out = {.ctx = ctx}, facts = {.ctx = ctx};
    file_content content = {.ctx = ctx, .path = path, .out = &out, .facts = &facts};
    text_add(&facts, "{\"file\": ");
    text_add_json(&facts, path, strlen(path));
    spate_status status = describe(&content);
    text_add(&facts, "}\n");
    if (status == SPATE_OK && (out.failed || facts.failed)) status = SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) write(json ? facts.data : out.data, user);
    text_free(&out);
    text_free(&facts);
    return status;
}

spate_status spate_describe_file(spate_context *ctx, const char *path,
                                 void (*write)(const char *text, void *user), void *user) {
    return describe_as(ctx, path, false, write, user);
}

spate_status spate_describe_file_json(spate_context *ctx, const char *path,
                                      void (*write)(const char *text, void *user), void *user) {
    return describe_as(ctx, path, true, write, user);
}
