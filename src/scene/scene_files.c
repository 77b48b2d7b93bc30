/* Files that a scene names: meshes of shapes, bodies and strands. */
#include "core/file.h"
#include "core/hash.h"
#include "scene/scene_parts.h"

#include <stdio.h>
#include <string.h>

#define OR_OUTSIDE "or allow it with outside: true"

static bool is_absolute(const char *file) { return file[0] == '/' || file[0] == '\\'; }

static bool climbs(const char *file) {
    for (const char *s = file; s; s = strchr(s, '/')) {
        s += *s == '/';
        if (strncmp(s, "..", 2) == 0 && (s[2] == 0 || s[2] == '/')) return true;
    }
    return false;
}

static spate_status check_file_name(reader *r, const yaml_value *v, const char *file,
                                    const char *other_remedy) {
    if (is_absolute(file))
        return reader_fail(r, v,
                           "an absolute path; put the mesh beside the scene and name it "
                           "from there%s",
                           other_remedy);
    if (climbs(file))
        return reader_fail(r, v, "'..' leaves the scene's folder; put the mesh below it%s",
                           other_remedy);
    return SPATE_OK;
}

spate_status scene_check_file_name(reader *r, const yaml_value *v, const char *file) {
    return check_file_name(r, v, file, "");
}

/* The name under which a run keeps a mesh from outside. Its bytes are in it, so that it is no other
 * mesh's, and the same wherever the mesh lies. */
static spate_status name_copy(reader *r, loaded_file *m) {
    char name[PATH_SIZE];
    const char *slash = strrchr(m->given, '/'), *base = slash ? slash + 1 : m->given;
    const char *dot = strrchr(base, '.'), *ending = dot && dot != base ? dot : "";
    int stem = (int)(*ending ? (size_t)(ending - base) : strlen(base));
    snprintf(name, sizeof name, "meshes/%.*s_%016llx%s", stem, base, (unsigned long long)m->hash,
             ending);
    m->file = arena_text(r->arena, name, strlen(name));
    return m->file ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

/* Reads a mesh; what lies outside the scene's folder is told, and refused unless it is
 * `allowed`. */
static spate_status load(reader *r, const char *file, bool allowed, file_parser parse,
                         void *content, loaded_file **out) {
    char path[PATH_SIZE], *bytes;
    size_t length;
    loaded_file *m = arena_take(r->arena, 1, sizeof *m);
    if (!m) return SPATE_OUT_OF_MEMORY;
    TRY(path_join(r->ctx, r->scene->folder, file, path));
    const bool below = file_is_below(r->scene->ctx, path, r->scene->folder);
    if (!below && !allowed)
        return fail(
            r->ctx, SPATE_BAD_INPUT,
            "'%s' is a link that leaves the scene's folder; put the mesh below it, " OR_OUTSIDE,
            file);
    TRY(file_read(r->ctx, path, MESH_BYTES, &bytes, &length));
    if (!below) inform(r->ctx, "the mesh %s is from outside the scene's folder", path);
    *m = (loaded_file){
        .given = file, .file = file, .outside = !below, .parse = parse, .content = content};
    m->hash = hash_bytes(bytes, length, 0);
    m->path = arena_text(r->arena, path, strlen(path));
    spate_status status = m->path ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) status = parse(r->arena, path, bytes, length, &m->content);
    give(r->ctx, bytes);
    *out = m;
    return status == SPATE_OK && (is_absolute(file) || climbs(file)) ? name_copy(r, m) : status;
}

static bool is_loaded(const loaded_file *m, const char *file, bool allowed, file_parser parse) {
    if ((m->outside && !allowed) || m->parse != parse) return false;
    return strcmp(m->given, file) == 0 || strcmp(m->file, file) == 0;
}

static spate_status fail_file(reader *r, const yaml_value *v, spate_status status) {
    char place[YAML_PLACE_SIZE];
    yaml_place(r->tree, v, place);
    if (status != SPATE_OUT_OF_MEMORY) fail_prefix(r->ctx, "%s: %s: ", place, r->path);
    return status;
}

static spate_status load_new(reader *r, const yaml_value *v, const char *file, bool allowed,
                             file_parser parse, void *content, loaded_file **out) {
    const spate_status status = load(r, file, allowed, parse, content, out);
    if (status) return fail_file(r, v, status);
    (*out)->next = r->files;
    r->files = *out;
    return SPATE_OK;
}

spate_status scene_read_numbered_file(reader *r, const yaml_value *v, const char *file,
                                      file_parser parse, void *content) {
    loaded_file *m;
    const char *kept = arena_text(r->arena, file, strlen(file));
    if (!kept) return SPATE_OUT_OF_MEMORY;
    TRY(scene_check_file_name(r, v, file));
    return load_new(r, v, kept, false, parse, content, &m);
}

/* A file that the scene does not name itself, but whoever sets the field, may lie anywhere. */
spate_status scene_read_file(reader *r, const yaml_value *mapping, bool outside, file_parser parse,
                             void **out) {
    yaml_value *v = yaml_find(mapping, "file");
    const char *file;
    int back = reader_enter(r, "file");
    TRY(reader_text(r, v, &file));
    const bool allowed = outside || v->set >= 0;
    if (!allowed) TRY(check_file_name(r, v, file, ", " OR_OUTSIDE));
    loaded_file *m = r->files;
    while (m && !is_loaded(m, file, allowed, parse)) m = m->next;
    if (!m) TRY(load_new(r, v, file, allowed, parse, NULL, &m));
    /* Hash and copy of the scene speak of the file as a run keeps it. */
    v->text = m->file;
    v->length = strlen(m->file);
    *out = m->content;
    reader_leave(r, back);
    return SPATE_OK;
}
