/* A small scanner for the XML part; sizes and offsets are checked before anything is used. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "frames/vtp_read.h"
#include "core/file.h"
#include "core/text.h"
#include <math.h>
#include <string.h>

enum { COMPONENTS_MAX = 64 };
/* 64 GiB; half of the memory where addresses have 32 bits. */
static const size_t file_limit = SIZE_MAX >> (sizeof(size_t) > 4 ? 28 : 1);

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [SNAPSHOT_FLOAT32] = {"Float32", 4}, [SNAPSHOT_FLOAT64] = {"Float64", 8},
    [SNAPSHOT_INT32] = {"Int32", 4},     [SNAPSHOT_UINT32] = {"UInt32", 4},
    [SNAPSHOT_INT64] = {"Int64", 8},     [SNAPSHOT_UINT64] = {"UInt64", 8},
    [SNAPSHOT_UINT8] = {"UInt8", 1},
};

/* The file being read: its text part and the raw part behind it. */
typedef struct reader {
    snapshot *s;
    const char *name;
    const char *text, *text_end;
    const unsigned char *raw, *raw_end;
} reader;

static spate_status bad(const reader *r, const char *what) {
    return fail(r->s->ctx, SPATE_BAD_INPUT,
                "%s: not a whole frame: %s; run the scene again or leave this frame out", r->name,
                what);
}

static const char *find(const char *from, const char *end, const char *word) {
    return from && from < end ? memmem(from, (size_t)(end - from), word, strlen(word)) : NULL;
}

/* The value of name="value" in the element that begins at `element`; its length in *length. */
static const char *xml_value(const reader *r, const char *element, const char *name,
                             size_t *length) {
    const char *end = memchr(element, '>', (size_t)(r->text_end - element));
    size_t size = strlen(name);
    for (const char *c = element; end && (c = find(c, end, name)); c++) {
        if (c[-1] != ' ' || c + size + 2 > end || c[size] != '=' || c[size + 1] != '"') continue;
        const char *value = c + size + 2, *close = memchr(value, '"', (size_t)(end - value));
        if (!close) return NULL;
        *length = (size_t)(close - value);
        return value;
    }
    return NULL;
}

static bool xml_int64(const reader *r, const char *element, const char *name, int64_t *value) {
    size_t length;
    const char *v = xml_value(r, element, name, &length);
    return v && text_to_int64(v, length, value);
}

static bool xml_is(const reader *r, const char *element, const char *name, const char *wanted) {
    size_t length;
    const char *v = xml_value(r, element, name, &length);
    return v && length == strlen(wanted) && !memcmp(v, wanted, length);
}

/* The name of an array as it was before it became XML. */
static bool read_name(const reader *r, const char *element, char out[SNAPSHOT_NAME]) {
    static const struct {
        const char *word;
        char letter;
    } entities[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}};
    size_t length, used = 0;
    const char *c = xml_value(r, element, "Name", &length);
    if (!c) return false;
    for (const char *end = c + length; c < end;) {
        char letter = *c;
        size_t skip = 1;
        for (int i = 0; i < COUNT_OF(entities); i++) {
            size_t size = strlen(entities[i].word);
            if ((size_t)(end - c) >= size && !memcmp(c, entities[i].word, size))
                letter = entities[i].letter, skip = size;
        }
        if (used == SNAPSHOT_NAME - 1) return false;
        out[used++] = letter;
        c += skip;
    }
    out[used] = 0;
    return true;
}

static bool read_type(const reader *r, const char *element, snapshot_type *type) {
    for (int t = 0; t < COUNT_OF(types); t++)
        if (xml_is(r, element, "type", types[t].name)) {
            *type = (snapshot_type)t;
            return true;
        }
    return false;
}

/* The data of a <DataArray .../>: it must lie in the raw part and be `count` entries long. */
static spate_status find_data(const reader *r, const char *element, int64_t count, uint64_t width,
                              const unsigned char **out) {
    int64_t offset;
    if (!xml_is(r, element, "format", "appended") || !xml_int64(r, element, "offset", &offset) ||
        offset < 0)
        return bad(r, "an array that is not in the appended part");
    uint64_t room = (uint64_t)(r->raw_end - r->raw), stated;
    if (room < sizeof stated || (uint64_t)offset > room - sizeof stated)
        return bad(r, "it ends too early");
    memcpy(&stated, r->raw + offset, sizeof stated);
    if ((uint64_t)count > UINT64_MAX / width || stated != (uint64_t)count * width)
        return bad(r, "an array of the wrong length");
    if (stated > room - sizeof stated - (uint64_t)offset) return bad(r, "it ends too early");
    *out = r->raw + offset + sizeof stated;
    return SPATE_OK;
}

static spate_status read_array(reader *r, const char *element) {
    snapshot *s = r->s;
    snapshot_array a = {.components = 1};
    int64_t components = 1;
    size_t length;
    if (!read_name(r, element, a.name)) return bad(r, "an array without a name");
    if (!read_type(r, element, &a.type)) return bad(r, "an array of a type that is not known");
    if (xml_value(r, element, "NumberOfComponents", &length) &&
        (!xml_int64(r, element, "NumberOfComponents", &components) || components < 1 ||
         components > COMPONENTS_MAX))
        return bad(r, "an array with a wrong number of components");
    TRY(find_data(r, element, s->count, (uint64_t)components * types[a.type].size, &a.data));
    a.components = (int)components;
    if (s->array_count == SNAPSHOT_ARRAYS) return bad(r, "more arrays than a frame can have");
    s->arrays[s->array_count++] = a;
    return SPATE_OK;
}

static spate_status read_arrays(reader *r, const char *open, const char *close) {
    const char *from = find(r->text, r->text_end, open), *to = find(from, r->text_end, close);
    if (!from || !to) return bad(r, "its points or cells, or their attributes, are missing");
    for (const char *c = from; (c = find(c, to, "<DataArray ")); c++) TRY(read_array(r, c));
    return SPATE_OK;
}

static void read_time(reader *r) {
    const char *c = find(r->text, r->text_end, "Name=\"TimeValue\"");
    const char *value = c ? memchr(c, '>', (size_t)(r->text_end - c)) : NULL;
    double time;
    r->s->time = NAN;
    if (value && value++ && text_scan_double(r->s->ctx, &value, r->text_end, &time) &&
        isfinite(time))
        r->s->time = time;
}

static void read_collider_count(reader *r) {
    const char *c = find(r->text, r->text_end, "Name=\"colliders\"");
    const char *value = c ? memchr(c, '>', (size_t)(r->text_end - c)) : NULL;
    int64_t count;
    r->s->collider_count = -1;
    if (value && value++ && text_scan_int64(&value, r->text_end, &count) && count >= 0 &&
        count <= INT32_MAX)
        r->s->collider_count = (int)count;
}

/* Poses of driven colliders, where there are any. */
static spate_status read_poses(reader *r) {
    enum { POSES_MOST = 65535, NUMBERS = 7 };
    snapshot *s = r->s;
    int64_t count = 0;
    const char *at = find(r->text, r->text_end, "<DataArray type=\"Float64\" Name=\"driven\"");
    if (!at) return SPATE_OK;
    if (!xml_int64(r, at, "NumberOfTuples", &count) || count < 1 || count > POSES_MOST)
        return bad(r, "a wrong number of driven colliders");
    s->poses = take(s->ctx, (size_t)count * NUMBERS, sizeof *s->poses);
    if (!s->poses) return SPATE_OUT_OF_MEMORY;
    at = memchr(at, '>', (size_t)(r->text_end - at));
    if (at) at++;
    for (int64_t i = 0; i < count * NUMBERS; i++)
        if (!at || !text_scan_double(s->ctx, &at, r->text_end, &s->poses[i]) ||
            !isfinite(s->poses[i]))
            return bad(r, "a pose of a driven collider is damaged");
    s->pose_count = (int)count;
    return SPATE_OK;
}

static int32_t whole_at(const unsigned char *list, int64_t i) {
    int32_t value;
    memcpy(&value, list + (size_t)i * sizeof value, sizeof value);
    return value;
}

/* Corners that are there. */
static spate_status check_corners(const reader *r, const unsigned char *list, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const int32_t corner = whole_at(list, i);
        if (corner < 0 || corner >= r->s->count) return bad(r, "a cell without a corner");
    }
    return SPATE_OK;
}

/* The array of that name, of `count` numbers, in <Polys> or <Lines>; NULL where there is none. */
static spate_status find_cells(const reader *r, const char *const ends[2], const char *name,
                               int64_t count, const unsigned char **out) {
    const char *from = find(r->text, r->text_end, ends[0]), *to = find(from, r->text_end, ends[1]);
    *out = NULL;
    for (const char *c = from; to && (c = find(c, to, "<DataArray ")); c++) {
        if (!xml_is(r, c, "Name", name)) continue;
        if (!xml_is(r, c, "type", types[SNAPSHOT_INT32].name))
            return bad(r, "its corners are no Int32");
        return find_data(r, c, count, sizeof(int32_t), out);
    }
    return bad(r, "its triangles or lines are missing");
}

/* The triangles of a surface. That they are triangles is seen by the number of their corners. */
static spate_status read_triangles(reader *r, const char *piece) {
    static const char *const ends[2] = {"<Polys>", "</Polys>"};
    int64_t count = 0;
    if (!xml_int64(r, piece, "NumberOfPolys", &count) || count <= 0) return SPATE_OK;
    if (count > INT32_MAX) return bad(r, "more triangles than there can be");
    TRY(find_cells(r, ends, "connectivity", 3 * count, &r->s->triangles));
    r->s->triangle_count = count;
    return check_corners(r, r->s->triangles, 3 * count);
}

/* Lines of two corners or more. */
static spate_status read_lines(reader *r, const char *piece) {
    static const char *const ends[2] = {"<Lines>", "</Lines>"};
    snapshot *s = r->s;
    int64_t count = 0;
    if (!xml_int64(r, piece, "NumberOfLines", &count) || count <= 0) return SPATE_OK;
    if (count > INT32_MAX) return bad(r, "more lines than there can be");
    TRY(find_cells(r, ends, "offsets", count, &s->line_ends));
    int32_t last = 0;
    for (int64_t k = 0; k < count; k++) {
        const int32_t end = whole_at(s->line_ends, k);
        if (end < last || end - last < 2) return bad(r, "a line without two corners");
        last = end;
    }
    TRY(find_cells(r, ends, "connectivity", last, &s->line_corners));
    s->line_count = count;
    return check_corners(r, s->line_corners, last);
}

int32_t snapshot_triangle(const snapshot *s, int64_t t, int k) {
    return whole_at(s->triangles, 3 * t + k);
}
int32_t snapshot_line_corner(const snapshot *s, int64_t at) {
    return whole_at(s->line_corners, at);
}
int32_t snapshot_line_end(const snapshot *s, int64_t k) { return whole_at(s->line_ends, k); }

static spate_status read_particles(reader *r) {
    const char *piece = find(r->text, r->text_end, "<Piece ");
    if (!piece || !xml_int64(r, piece, "NumberOfPoints", &r->s->count) || r->s->count < 0)
        return bad(r, "the number of points is missing");
    TRY(read_arrays(r, "<Points>", "</Points>"));
    const snapshot_array *points = r->s->arrays;
    if (r->s->array_count != 1 || points->components != 3 || points->type > SNAPSHOT_FLOAT64)
        return bad(r, "its points are not one array of three numbers each");
    TRY(read_triangles(r, piece));
    TRY(read_lines(r, piece));
    return read_arrays(r, "<PointData", "</PointData>");
}

/* `count` numbers and nothing else in name="1 2 3". */
static bool xml_numbers(const reader *r, const char *element, const char *name, double *out,
                        int count) {
    size_t length;
    const char *v = xml_value(r, element, name, &length);
    if (!v) return false;
    const char *end = v + length;
    for (int i = 0; i < count; i++)
        if (!text_scan_double(r->s->ctx, &v, end, &out[i]) || !isfinite(out[i])) return false;
    return v == end;
}

/* The whole grid in one piece, counted from 0. */
static bool read_extent(reader *r, const char *piece) {
    double e[6];
    r->s->count = 1;
    if (!xml_numbers(r, piece, "Extent", e, 6)) return false;
    for (int a = 0; a < 3; a++) {
        if (e[2 * a] != 0 || !(e[2 * a + 1] >= 1 && e[2 * a + 1] <= INT32_MAX)) return false;
        r->s->cells[a] = (int)e[2 * a + 1];
        if (r->s->count > INT64_MAX / r->s->cells[a]) return false;
        r->s->count *= r->s->cells[a];
    }
    return true;
}

static spate_status read_grid(reader *r) {
    snapshot *s = r->s;
    const char *image = find(r->text, r->text_end, "<ImageData "),
               *piece = find(image, r->text_end, "<Piece ");
    if (!image || !piece || !read_extent(r, piece))
        return bad(r, "the extent of its grid is missing");
    if (!xml_numbers(r, image, "Origin", s->origin, 3) ||
        !xml_numbers(r, image, "Spacing", s->spacing, 3))
        return bad(r, "the origin or the spacing of its grid is missing");
    for (int a = 0; a < 3; a++)
        if (!(s->spacing[a] > 0)) return bad(r, "the spacing of its grid is not above 0");
    TRY(read_arrays(r, "<CellData", "</CellData>"));
    /* Without one the number of cells would be bound by nothing. */
    return s->array_count ? SPATE_OK : bad(r, "it has no fields");
}

static spate_status read_all(reader *r, size_t length) {
    static const char mark[] = "<AppendedData encoding=\"raw\">";
    const char *bytes = r->s->bytes, *end = bytes + length, *appended = find(bytes, end, mark);
    const char *raw = appended ? memchr(appended, '_', (size_t)(end - appended)) : NULL;
    r->text = bytes, r->text_end = appended ? appended : end;
    const char *head = find(bytes, r->text_end, "<VTKFile ");
    r->s->on_grid = head && xml_is(r, head, "type", "ImageData");
    if (!head || !(r->s->on_grid || xml_is(r, head, "type", "PolyData")))
        return bad(r, "it is no VTK PolyData or ImageData file");
    if (!raw) return bad(r, "it ends too early");
    r->raw = (const unsigned char *)raw + 1, r->raw_end = (const unsigned char *)end;
    if (!xml_is(r, head, "byte_order", "LittleEndian") || !xml_is(r, head, "header_type", "UInt64"))
        return bad(r, "its arrays are not little endian with UInt64 lengths");
    read_time(r);
    read_collider_count(r);
    TRY(read_poses(r));
    return r->s->on_grid ? read_grid(r) : read_particles(r);
}

spate_status snapshot_read(spate_context *ctx, const char *name, char *bytes, size_t length,
                           snapshot *out) {
    *out = (snapshot){.ctx = ctx, .bytes = bytes};
    reader r = {.s = out, .name = name};
    spate_status status = read_all(&r, length);
    if (status != SPATE_OK) snapshot_free(out);
    return status;
}

spate_status snapshot_load(spate_context *ctx, const char *path, snapshot *out) {
    char *bytes;
    size_t length;
    *out = (snapshot){0};
    TRY(file_read(ctx, path, file_limit, &bytes, &length));
    return snapshot_read(ctx, path, bytes, length, out);
}

void snapshot_free(snapshot *s) {
    if (s->ctx) give(s->ctx, s->bytes), give(s->ctx, s->poses);
    *s = (snapshot){0};
}

const snapshot_array *snapshot_find(const snapshot *s, const char *name) {
    for (int i = 0; i < s->array_count; i++)
        if (!strcmp(s->arrays[i].name, name)) return &s->arrays[i];
    return NULL;
}

size_t snapshot_type_size(snapshot_type type) { return types[type].size; }

#define READ_AS(type)                                             \
    do {                                                          \
        type v;                                                   \
        memcpy(&v, a->data + (size_t)index * sizeof v, sizeof v); \
        return (double)v;                                         \
    } while (0)

double snapshot_value(const snapshot_array *a, int64_t particle, int component) {
    int64_t index = particle * a->components + component;
    switch (a->type) {
    case SNAPSHOT_FLOAT32: READ_AS(float);
    case SNAPSHOT_FLOAT64: READ_AS(double);
    case SNAPSHOT_INT32: READ_AS(int32_t);
    case SNAPSHOT_UINT32: READ_AS(uint32_t);
    case SNAPSHOT_INT64: READ_AS(int64_t);
    case SNAPSHOT_UINT64: READ_AS(uint64_t);
    case SNAPSHOT_UINT8: READ_AS(uint8_t);
    }
    return NAN;
}
