/*
 * The folder of a run as the subject of viewers: frames are read when one asks for them, the last
 * few stay in memory, and new ones are looked for while a run may still write them. Only files
 * whose names are those of frames are read, and they only by their numbers.
 */
#include "core/hash.h"
#include "frames/axes.h"
#include "frames/frame_list.h"
#include "frames/mesh_links.h"
#include "frames/stats_table.h"
#include "frames/surface_read.h"
#include "port/clock.h"
#include "scene/rotation.h"
#include "server/solids.h"
#include "server/subject.h"
#include <math.h>
#include <stdio.h>

enum { LOOK_AGAIN = 500000000, KEPT_MOST = 4, POSE_SIZE = 7, DIMENSIONS = 3 };

/* A frame that was read. */
typedef struct kept_frame {
    int64_t number; /* -1: none */
    uint64_t used;  /* when last */
    snapshot frame;
    read_surface surface;
    bool has_surface;
} kept_frame;

typedef struct folder {
    spate_context *ctx;
    char path[PATH_SIZE];
    spate_scene *scene;
    uint64_t scene_stamp; /* of its file */
    uint64_t parts;       /* how often it has been read */
    frame_list list;
    int64_t looked_at; /* clock */
    bool grown;        /* viewers are to be told */
    kept_frame kept[KEPT_MOST];
    uint64_t uses;
    mesh_links meshes;
    uint64_t *first_ids; /* by body, of meshes: of their first vertices; NULL: not known yet */
    uint64_t *ids;
    int64_t id_room;
    float *floats;
    int64_t float_room;
} folder;

/* ---- Frames in memory ------------------------------------------------------------------------ */

static void forget(kept_frame *k) {
    if (k->number < 0) return;
    snapshot_free(&k->frame);
    if (k->has_surface) surface_read_free(&k->surface);
    *k = (kept_frame){.number = -1};
}

static spate_status load(folder *f, int64_t index, kept_frame *k) {
    char file[PATH_SIZE], surface[PATH_SIZE];
    TRY(frame_list_load(&f->list, f->path, index, file, &k->frame));
    k->number = f->list.numbers[index];
    if (f->scene->dim == 2 || !surface_find(f->ctx, f->path, k->number, surface)) return SPATE_OK;
    const spate_status status = surface_read(f->scene, surface, &k->surface);
    k->has_surface = status == SPATE_OK;
    if (status) forget(k);
    return status;
}

static spate_status frame_at(folder *f, int64_t index, kept_frame **out) {
    kept_frame *oldest = &f->kept[0];
    for (int i = 0; i < KEPT_MOST; i++) {
        kept_frame *k = &f->kept[i];
        if (k->number == f->list.numbers[index]) {
            k->used = ++f->uses;
            *out = k;
            return SPATE_OK;
        }
        if (k->used < oldest->used) oldest = k;
    }
    forget(oldest);
    TRY(load(f, index, oldest));
    oldest->used = ++f->uses;
    *out = oldest;
    return SPATE_OK;
}

/* Where a viewer is on the time line. */
static int64_t index_of(const folder *f, const viewer *v) {
    const int64_t last = f->list.count - 1;
    return v->seek < 0 ? 0 : v->seek > last ? last : v->seek;
}

/* ---- The scene ------------------------------------------------------------------------------- */

/* Tells one scene from another by the bytes of their files. */
static spate_status scene_stamp(const folder *f, const char *path, uint64_t *out) {
    enum { SCENE_MOST = 1 << 28 };
    char *bytes;
    size_t length;
    TRY(file_read(f->ctx, path, SCENE_MOST, &bytes, &length));
    *out = hash_bytes(bytes, length, 0);
    give(f->ctx, bytes);
    return SPATE_OK;
}

/* Reads the scene where it is another than the one that is there. A run that is made anew may be of
 * another: nothing that was read before holds then. */
static spate_status read_scene(folder *f) {
    char path[PATH_SIZE];
    uint64_t stamp;
    spate_scene *scene;
    TRY(path_join(f->ctx, f->path, "run.scene.yaml", path));
    if (!file_exists(f->ctx, path))
        return fail(f->ctx, SPATE_BAD_INPUT,
                    "%s: not the folder of a run: there is no run.scene.yaml in it", f->path);
    TRY(scene_stamp(f, path, &stamp));
    if (f->scene && f->scene_stamp == stamp) return SPATE_OK;
    TRY(spate_scene_load(f->ctx, path, NULL, 0, &scene));
    for (int i = 0; i < KEPT_MOST; i++) forget(&f->kept[i]);
    give(f->ctx, f->first_ids);
    spate_scene_free(f->scene);
    f->first_ids = NULL;
    f->list.scene = f->scene = scene, f->scene_stamp = stamp;
    f->parts++;
    return SPATE_OK;
}

/* ---- The list of frames ---------------------------------------------------------------------- */

/* `there`: whether it holds any. */
static spate_status look_for_frames(folder *f, bool *there) {
    frame_list now = {.ctx = f->ctx, .scene = f->scene};
    const spate_status status = frame_list_read(f->path, &now);
    *there = now.count > 0;
    if (status || (!now.count && f->list.count)) {
        give(f->ctx, now.numbers);
        return status;
    }
    f->grown = now.count != f->list.count;
    for (int i = 0; i < KEPT_MOST && now.count < f->list.count; i++)
        forget(&f->kept[i]); /* a run that was made anew has other frames of the same numbers */
    give(f->ctx, f->list.numbers);
    f->list = now;
    return SPATE_OK;
}

/* A run that is made anew empties its folder for a while: the old scene and list stay until there
 * are frames. */
static spate_status look_again(folder *f) {
    bool there;
    TRY(look_for_frames(f, &there));
    return there ? read_scene(f) : SPATE_OK;
}

static int64_t advance(void *self) {
    folder *f = self;
    const int64_t now = clock_nanoseconds();
    if (now - f->looked_at < LOOK_AGAIN) return LOOK_AGAIN - (now - f->looked_at);
    f->looked_at = now;
    (void)look_again(f);
    return LOOK_AGAIN;
}

/* ---- A frame as sections --------------------------------------------------------------------- */

static void set_axes(const folder *f, double origin[3], double spacing[3]) {
    const domain *d = &f->scene->domain;
    for (int a = 0; a < DIMENSIONS; a++) origin[a] = d->origin[a], spacing[a] = d->size[a] / 65535;
}

static spate_status add_positions(const folder *f, const snapshot *s, packing *out) {
    const int axes = f->scene->dim;
    packed_particles *head = packing_section(
        out, PACKED_PARTICLES, sizeof *head + (size_t)s->count * (size_t)axes * sizeof(uint16_t));
    if (!head) return SPATE_OUT_OF_MEMORY;
    head->count = (uint32_t)s->count, head->axes = (uint32_t)axes;
    set_axes(f, head->origin, head->spacing);
    uint16_t *to = (uint16_t *)(head + 1);
    for (int64_t i = 0; i < s->count; i++)
        for (int a = 0; a < axes; a++)
            *to++ = packing_quantise(snapshot_value(&s->arrays[0], i, a), head->origin[a],
                                     1 / head->spacing[a]);
    return SPATE_OK;
}

/* A group has one material; where the frame does not tell groups, the first of the material. */
static uint16_t group_of_material(const spate_scene *s, int index) {
    for (int g = 0; g < scene_group_slots(s); g++)
        if (scene_group_material(s, g) == index) return (uint16_t)g;
    return 0;
}

static spate_status add_groups(const folder *f, const snapshot *s, packing *out) {
    const snapshot_array *groups = snapshot_find(s, "group"),
                         *materials = snapshot_find(s, "material");
    if (scene_group_slots(f->scene) < 2 || (!groups && !materials)) return SPATE_OK;
    packed_group *head =
        packing_section(out, PACKED_GROUP, sizeof *head + (size_t)s->count * sizeof(uint16_t));
    if (!head) return SPATE_OUT_OF_MEMORY;
    head->count = (uint32_t)s->count;
    uint16_t *to = (uint16_t *)(head + 1);
    for (int64_t i = 0; i < s->count; i++) {
        const double value = snapshot_value(groups ? groups : materials, i, 0);
        const int whole = value >= 0 && value < 65535 ? (int)value : 0;
        to[i] = groups ? (uint16_t)whole : group_of_material(f->scene, whole);
    }
    return SPATE_OK;
}

/* An array of the frame that a viewer has named, with its component; "speed" is that of v. */
static const snapshot_array *array_of(const snapshot *s, const char *colour, int *component) {
    char name[MESSAGE_WORD];
    *component = -1;
    const snapshot_array *a = snapshot_find(s, colour);
    if (!a && !strcmp(colour, "speed")) a = snapshot_find(s, "v");
    if (!a) {
        *component = subject_component(colour, name);
        a = snapshot_find(s, name);
    }
    return a;
}

/* The numbers of an array, one for each particle or cell. */
static spate_status read_scalar(folder *f, const snapshot *s, const snapshot_array *a,
                                int component) {
    float values[16];
    const int n = a->components < COUNT_OF(values) ? a->components : COUNT_OF(values);
    TRY(ENSURE(f->ctx, f->float_room, s->count, EACH(f->floats, 1)));
    for (int64_t i = 0; i < s->count; i++) {
        for (int c = 0; c < n; c++) values[c] = (float)snapshot_value(a, i, c);
        f->floats[i] = subject_scalar(values, n, component);
    }
    return SPATE_OK;
}

static spate_status add_particles(folder *f, const viewer *v, const snapshot *s, packing *out) {
    int component;
    TRY(add_positions(f, s, out));
    TRY(add_groups(f, s, out));
    const snapshot_array *a = array_of(s, v->colour, &component);
    if (!a || !strcmp(v->colour, "material")) return SPATE_OK;
    TRY(read_scalar(f, s, a, component));
    packing_scalar(out, f->floats, s->count);
    return SPATE_OK;
}

/* The ids of a frame's particles, which are in their order; false where it does not tell them. */
static spate_status read_ids(folder *f, const snapshot *s, bool *told) {
    const snapshot_array *ids = snapshot_find(s, "id");
    *told = ids != NULL;
    if (!ids) return SPATE_OK;
    TRY(ENSURE(f->ctx, f->id_room, s->count, EACH(f->ids, 1)));
    for (int64_t i = 0; i < s->count; i++) f->ids[i] = (uint64_t)snapshot_value(ids, i, 0);
    return SPATE_OK;
}

/* In the first frame no vertex has left yet: a body's first has the lowest id of its group. */
static spate_status find_first_ids(folder *f) {
    kept_frame *k;
    bool told;
    TRY(frame_at(f, 0, &k));
    TRY(read_ids(f, &k->frame, &told));
    const snapshot_array *groups = snapshot_find(&k->frame, "group");
    if (!told || (!groups && f->scene->body_count > 1)) return SPATE_OK;
    f->first_ids = take(f->ctx, (size_t)f->scene->body_count + 1, sizeof *f->first_ids);
    if (!f->first_ids) return SPATE_OUT_OF_MEMORY;
    for (int64_t i = k->frame.count - 1; i >= 0; i--) {
        const double group = groups ? snapshot_value(groups, i, 0) : 0;
        if (group >= 0 && group < f->scene->body_count) f->first_ids[(int)group] = f->ids[i];
    }
    return SPATE_OK;
}

static spate_status add_meshes(folder *f, const snapshot *s, packing *out) {
    bool told;
    if (!mesh_cells_are_in(f->scene)) return SPATE_OK;
    if (!f->first_ids) TRY(find_first_ids(f));
    TRY(read_ids(f, s, &told));
    if (!f->first_ids || !told) return SPATE_OK;
    const mesh_vertices v = {.ids = f->ids, .count = s->count, .first = f->first_ids};
    TRY(mesh_links_update(f->scene, &v, &f->meshes));
    packing_mesh(out, &f->meshes);
    return SPATE_OK;
}

static spate_status add_channel(folder *f, const snapshot *s, const snapshot_array *a,
                                int component, int channel, packed_grid *head) {
    float low = 0, high = 0;
    TRY(read_scalar(f, s, a, component));
    for (int64_t i = 0; i < s->count; i++) {
        low = f->floats[i] < low ? f->floats[i] : low;
        high = f->floats[i] > high ? f->floats[i] : high;
    }
    head->low[channel] = low, head->high[channel] = high;
    const float by = high > low ? 255 / (high - low) : 0;
    uint8_t *to = (uint8_t *)(head + 1) + channel;
    for (int64_t i = 0; i < s->count; i++, to += head->channels)
        *to = (uint8_t)((f->floats[i] - low) * by + 0.5f);
    return SPATE_OK;
}

/* The array that colours, or the dyes, or the density. */
static int choose_arrays(const folder *f, const viewer *v, const snapshot *s,
                         const snapshot_array *out[PACKED_CHANNELS], int *component) {
    int count = 0;
    out[0] = array_of(s, v->colour, component);
    if (out[0]) return 1;
    for (int m = 0; m < f->scene->material_count && count < PACKED_CHANNELS; m++) {
        out[count] = snapshot_find(s, f->scene->materials[m].name);
        count += out[count] != NULL;
    }
    if (!count && (out[0] = snapshot_find(s, "density"))) count = 1;
    return count;
}

static spate_status add_grid(folder *f, const viewer *v, const snapshot *s, packing *out) {
    const snapshot_array *arrays[PACKED_CHANNELS];
    int component;
    const int count = choose_arrays(f, v, s, arrays, &component);
    if (!count) return SPATE_OK;
    packed_grid *head =
        packing_section(out, PACKED_GRID, sizeof *head + (size_t)s->count * (size_t)count);
    if (!head) return SPATE_OUT_OF_MEMORY;
    head->channels = (uint32_t)count;
    head->spacing = s->spacing[0];
    for (int a = 0; a < DIMENSIONS; a++) {
        head->size[a] = (uint32_t)s->cells[a];
        head->first[a] = s->origin[a] + 0.5 * s->spacing[a];
    }
    for (int c = 0; c < count; c++) TRY(add_channel(f, s, arrays[c], component, c, head));
    return SPATE_OK;
}

/* ---- Surfaces -------------------------------------------------------------------------------- */

/* Normals of vertices, as the sum of those of their triangles: larger ones count more. */
static void sum_normals(const read_surface *s, float *normals) {
    memset(normals, 0, (size_t)s->vertex_count * sizeof(float[3]));
    for (int64_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles[t];
        const double *x = s->vertices[v[0]], *y = s->vertices[v[1]], *z = s->vertices[v[2]];
        for (int a = 0; a < DIMENSIONS; a++) {
            const int b = (a + 1) % DIMENSIONS, c = (a + 2) % DIMENSIONS;
            const float n = (float)((y[b] - x[b]) * (z[c] - x[c]) - (y[c] - x[c]) * (z[b] - x[b]));
            for (int k = 0; k < DIMENSIONS; k++) normals[DIMENSIONS * v[k] + a] += n;
        }
    }
}

static void put_normal(const float *n, int8_t out[4]) {
    const float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int a = 0; a < DIMENSIONS; a++)
        out[a] = (int8_t)(length > 0 ? lrintf(127 * n[a] / length) : 0);
}

static spate_status add_surface(folder *f, const read_surface *s, packing *out) {
    const size_t vertices = (size_t)s->vertex_count, triangles = (size_t)s->triangle_count;
    TRY(ENSURE(f->ctx, f->float_room, DIMENSIONS * s->vertex_count, EACH(f->floats, 1)));
    packed_surface *head =
        packing_section(out, PACKED_SURFACE,
                        sizeof *head + vertices * (sizeof(uint16_t[4]) + sizeof(int8_t[4])) +
                            triangles * sizeof(uint32_t[3]));
    if (!head) return SPATE_OUT_OF_MEMORY;
    head->vertices = (uint32_t)vertices, head->triangles = (uint32_t)triangles;
    set_axes(f, head->origin, head->spacing);
    sum_normals(s, f->floats);
    uint16_t *positions = (uint16_t *)(head + 1);
    int8_t *normals = (int8_t *)(positions + 4 * vertices);
    for (size_t v = 0; v < vertices; v++) {
        for (int a = 0; a < DIMENSIONS; a++)
            positions[4 * v + (size_t)a] =
                packing_quantise(s->vertices[v][a], head->origin[a], 1 / head->spacing[a]);
        put_normal(f->floats + DIMENSIONS * v, normals + 4 * v);
    }
    memcpy(normals + 4 * vertices, s->triangles, triangles * sizeof(uint32_t[3]));
    return SPATE_OK;
}

/* ---- Colliders ------------------------------------------------------------------------------- */

/* Where the scene moves it, or the frame says that it was driven. */
static spate_status add_poses(const folder *f, const snapshot *s, packing *out) {
    const spate_scene *scene = f->scene;
    int driven = 0;
    if (!scene->collider_count) return SPATE_OK;
    packed_pose *to =
        packing_section(out, PACKED_POSES, (size_t)scene->collider_count * sizeof(packed_pose));
    if (!to) return SPATE_OUT_OF_MEMORY;
    for (int i = 0; i < scene->collider_count; i++) {
        const collider *c = &scene->colliders[i];
        const pose p = motion_pose(&c->motion, s->time);
        double x[POSE_SIZE];
        for (int a = 0; a < DIMENSIONS; a++) x[a] = p.pivot[a] + p.move[a];
        quaternion_of_rotation(p.turn, x + DIMENSIONS);
        if (c->driven && driven < s->pose_count)
            memcpy(x, s->poses + (size_t)POSE_SIZE * (size_t)driven++, sizeof x);
        to[i].present = collider_is_present(c, s->time);
        for (int a = 0; a < DIMENSIONS; a++) to[i].position[a] = (float)x[a];
        for (int a = 0; a < 4; a++) to[i].rotation[a] = (float)x[DIMENSIONS + a];
    }
    return SPATE_OK;
}

static spate_status frame(void *self, viewer *v, packing *out) {
    folder *f = self;
    kept_frame *k;
    TRY(frame_at(f, index_of(f, v), &k));
    if (k->frame.on_grid)
        TRY(add_grid(f, v, &k->frame, out));
    else if (k->frame.count)
        TRY(add_particles(f, v, &k->frame, out));
    if (!k->frame.on_grid && k->frame.count) TRY(add_meshes(f, &k->frame, out));
    if (k->has_surface) TRY(add_surface(f, &k->surface, out));
    return add_poses(f, &k->frame, out);
}

/* ---- What viewers get and say ---------------------------------------------------------------- */

static void add_time_line(const folder *f, text *out) {
    text_add(out, "\"frames\": %lld, \"first\": %lld, \"last\": %lld", (long long)f->list.count,
             (long long)(f->list.count ? f->list.numbers[0] : 0),
             (long long)(f->list.count ? f->list.numbers[f->list.count - 1] : 0));
}

static void news(void *self, text *out) {
    folder *f = self;
    if (!f->grown) return;
    f->grown = false;
    text_add(out, "{\"kind\": \"timeline\", ");
    add_time_line(f, out);
    text_add(out, "}");
}

/* The columns of the run's table, where there is one by now. */
static void list_columns(const folder *f, text *out) {
    char path[PATH_SIZE];
    stats_table table;
    text_add(out, ", \"quantities\": [");
    if (!path_join(f->ctx, f->path, "stats.csv", path) && !stats_table_read(f->ctx, path, &table)) {
        for (int i = 0, n = 0; i < table.column_count; i++) {
            if (!strcmp(table.names[i], "frame") || !strcmp(table.names[i], "time")) continue;
            text_add(out, "%s{\"name\": ", n++ ? ", " : "");
            text_add_json(out, table.names[i], strlen(table.names[i]));
            text_add(out, ", \"unit\": \"\"}");
        }
        stats_table_free(&table);
    }
    text_add(out, "]");
}

static void list_arrays(const snapshot *s, bool on_grid, text *out) {
    text_add(out, ", \"%s\": [", on_grid ? "fields" : "attributes");
    for (int i = 0; s->on_grid == on_grid && i < s->array_count; i++) {
        text_add(out, "%s{\"name\": ", i ? ", " : "");
        text_add_json(out, s->arrays[i].name, strlen(s->arrays[i].name));
        text_add(out, ", \"components\": %d, \"unit\": \"\"}", s->arrays[i].components);
    }
    text_add(out, "]");
}

static spate_status hello(void *self, text *out) {
    folder *f = self;
    kept_frame *k;
    text_add(out, "\"mode\": \"folder\", ");
    hello_scene(f->scene, out);
    text_add(out, ", ");
    add_time_line(f, out);
    list_columns(f, out);
    TRY(frame_at(f, 0, &k));
    list_arrays(&k->frame, false, out);
    list_arrays(&k->frame, true, out);
    return SPATE_OK;
}

static spate_status parts(void *self, packing *out) {
    return solids_pack(((const folder *)self)->scene, out);
}

static uint64_t parts_stamp(void *self) { return ((const folder *)self)->parts; }

static uint64_t stamp(void *self, const viewer *v) {
    const uint64_t words[] = {(uint64_t)index_of(self, v), v->settings, parts_stamp(self)};
    return hash_bytes(words, sizeof words, 0) | 1;
}

static spate_status head(void *self, const viewer *v, packed_head *out) {
    folder *f = self;
    kept_frame *k;
    const int64_t index = index_of(f, v);
    TRY(frame_at(f, index, &k));
    out->time = k->frame.time;
    out->number = (uint64_t)f->list.numbers[index];
    out->index = (uint32_t)index;
    out->state = STATE_PAUSED;
    return SPATE_OK;
}

/* JSON has no infinity. */
static void add_number(text *out, bool further, double value) {
    text_add(out, isfinite(value) ? "%s%.7g" : "%snull", further ? ", " : "", value);
}

static void add_series(text *out, const stats_table *t, int column) {
    text_add(out, "[");
    for (int64_t r = 0; r < t->row_count; r++)
        add_number(out, r > 0, t->values[r * t->column_count + column]);
    text_add(out, "]");
}

/* Whole curves, from the run's table. */
static spate_status tell_series(const folder *f, const message *m, text *reply) {
    char path[PATH_SIZE];
    stats_table t;
    TRY(path_join(f->ctx, f->path, "stats.csv", path));
    TRY(stats_table_read(f->ctx, path, &t));
    const int time = stats_table_column(&t, "time", strlen("time"));
    text_add(reply, "{\"kind\": \"series\", \"time\": ");
    add_series(reply, &t, time < 0 ? 0 : time);
    text_add(reply, ", \"series\": {");
    for (int i = 0, n = 0; i < m->word_count; i++) {
        const int column = stats_table_column(&t, m->words[i], strlen(m->words[i]));
        if (column < 0) continue;
        text_add(reply, n++ ? ", " : "");
        text_add_json(reply, m->words[i], strlen(m->words[i]));
        text_add(reply, ": ");
        add_series(reply, &t, column);
    }
    text_add(reply, "}}");
    stats_table_free(&t);
    return SPATE_OK;
}

static spate_status set_colour(folder *f, viewer *v, const message *m) {
    kept_frame *k;
    int component;
    TRY(frame_at(f, index_of(f, v), &k));
    if (strcmp(m->words[0], "material") && !array_of(&k->frame, m->words[0], &component))
        return fail(f->ctx, SPATE_BAD_INPUT,
                    "colour: the frames hold no '%s'; output.fields of a scene adds some",
                    m->words[0]);
    memcpy(v->colour, m->words[0], sizeof v->colour);
    v->settings++;
    return SPATE_OK;
}

static spate_status pick(folder *f, const viewer *v, const double x[3], text *reply) {
    kept_frame *k;
    int64_t best = -1;
    double least = HUGE_VAL;
    TRY(frame_at(f, index_of(f, v), &k));
    const snapshot *s = &k->frame;
    for (int64_t i = 0; !s->on_grid && i < s->count; i++) {
        double sum = 0;
        for (int a = 0; a < DIMENSIONS; a++) {
            const double d = snapshot_value(&s->arrays[0], i, a) - x[a];
            sum += d * d;
        }
        if (sum < least) least = sum, best = i;
    }
    if (best < 0) return fail(f->ctx, SPATE_BAD_INPUT, "pick: there are no particles");
    const snapshot_array *ids = snapshot_find(s, "id");
    text_add(reply, "{\"kind\": \"picked\", \"id\": %.0f, \"time\": %.9g, \"values\": {",
             ids ? snapshot_value(ids, best, 0) : (double)best, s->time);
    for (int i = 0; i < s->array_count; i++) {
        text_add(reply, i ? ", " : "");
        text_add_json(reply, s->arrays[i].name, strlen(s->arrays[i].name));
        text_add(reply, ": [");
        for (int c = 0; c < s->arrays[i].components; c++)
            add_number(reply, c > 0, snapshot_value(&s->arrays[i], best, c));
        text_add(reply, "]");
    }
    text_add(reply, "}}");
    return SPATE_OK;
}

static spate_status act(void *self, const subject_call *call) {
    folder *f = self;
    const message *m = call->message;
    switch (m->kind) {
    case MESSAGE_SEEK: call->viewer->seek = (int64_t)m->numbers[0]; return SPATE_OK;
    case MESSAGE_COLOUR: return set_colour(f, call->viewer, m);
    case MESSAGE_PLOT: return tell_series(f, m, call->reply);
    case MESSAGE_PICK: return pick(f, call->viewer, m->numbers, call->reply);
    case MESSAGE_LEFT:
    case MESSAGE_RELEASE: return SPATE_OK;
    default:
        return fail(f->ctx, SPATE_BAD_INPUT,
                    "%s: these are frames of a run, which stay as they "
                    "are; view its scene to take part",
                    message_verb(m->kind));
    }
}

/* ---- Begin and end --------------------------------------------------------------------------- */

static spate_status finish(void *self) {
    (void)self;
    return SPATE_OK;
}

static void free_folder(void *self) {
    folder *f = self;
    for (int i = 0; i < KEPT_MOST; i++) forget(&f->kept[i]);
    give(f->ctx, f->list.numbers);
    spate_scene_free(f->scene);
    mesh_links_free(&f->meshes);
    give(f->ctx, f->first_ids), give(f->ctx, f->ids), give(f->ctx, f->floats);
    give(f->ctx, f);
}

static spate_status open_folder(folder *f) {
    TRY(frame_list_check_folder(f->ctx, f->path));
    bool there;
    TRY(read_scene(f));
    TRY(look_for_frames(f, &there));
    f->grown = false;
    f->looked_at = clock_nanoseconds();
    if (there) return SPATE_OK;
    return fail(f->ctx, SPATE_BAD_INPUT,
                "%s: no frames that can be shown are in it (particles_NNNN.vtp, volume_NNNN.vti or "
                "surface_NNNN.*); a run that has just begun needs a moment",
                f->path);
}

spate_status folder_create(spate_context *ctx, const char *path, subject *out) {
    folder *f = take(ctx, 1, sizeof *f);
    if (!f) return SPATE_OUT_OF_MEMORY;
    f->ctx = f->meshes.ctx = ctx;
    for (int i = 0; i < KEPT_MOST; i++) f->kept[i].number = -1;
    *out = (subject){f,     hello, parts, parts_stamp, advance, news,
                     stamp, head,  frame, act,         finish,  free_folder};
    spate_status status = path_join(ctx, "", path, f->path);
    if (!status) status = open_folder(f);
    if (status) free_folder(f), out->self = NULL;
    return status;
}
