/*
 * Polylines of Houdini's classic binary geometry, version 5, big endian (GPD.txt of Houdini): counts,
 * the dictionary and rows of points, those of attributes of vertices and primitives, then the
 * primitives one by one or in runs of one kind. A polygon is a count of vertices, '<' for closed or
 * ':' for open, and for each vertex the number of its point, of 16 bits where there are no more than
 * 65535 points. Open polygons are the lines; closed ones do not matter.
 */
#include "scene/mesh_build.h"

#include <string.h>

enum { PRIMITIVE_RUN = -1, PRIMITIVE_POLYGON = 1, KIND_INDEX = 4, KIND_VECTOR = 5, VERSION = 5 };

typedef struct bgeo_reader {
    mesh_builder b;
    const unsigned char *at, *end;
    int64_t points, primitives, point_attributes, vertex_attributes, primitive_attributes;
    size_t vertex_row, primitive_row; /* bytes of attributes */
    bool wide;                        /* numbers of points have 32 bits */
} bgeo_reader;

/* ---- Numbers --------------------------------------------------------------------------------- */

static spate_status fail_cut(const bgeo_reader *r) {
    return mesh_fail(&r->b, 0, "the .bgeo file is cut short; write it again");
}

static spate_status skip(bgeo_reader *r, uint64_t bytes) {
    if (bytes > (uint64_t)(r->end - r->at)) return fail_cut(r);
    r->at += bytes;
    return SPATE_OK;
}

static spate_status read_number(bgeo_reader *r, int bytes, uint32_t *out) {
    if (r->end - r->at < bytes) return fail_cut(r);
    *out = 0;
    for (int k = 0; k < bytes; k++) *out = *out << 8 | *r->at++;
    return SPATE_OK;
}

/* A count of things that take a byte each at least. */
static spate_status read_count(bgeo_reader *r, int64_t *out) {
    uint32_t bits;
    TRY(read_number(r, 4, &bits));
    *out = (int32_t)bits;
    if (*out >= 0 && *out <= r->end - r->at) return SPATE_OK;
    return mesh_fail(&r->b, 0, "a count of %lld; the .bgeo file is damaged or cut short",
                     (long long)*out);
}

static spate_status skip_string(bgeo_reader *r) {
    uint32_t length;
    TRY(read_number(r, 2, &length));
    if (length == UINT16_MAX) TRY(read_number(r, 4, &length));
    return skip(r, length);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* Name, size, kind and default of each; `row` becomes the bytes of all. */
static spate_status read_dictionary(bgeo_reader *r, int64_t count, size_t *row) {
    *row = 0;
    for (int64_t k = 0; k < count; k++) {
        uint32_t size, kind;
        int64_t names;
        TRY(skip_string(r));
        TRY(read_number(r, 2, &size));
        TRY(read_number(r, 4, &kind));
        if (kind > KIND_VECTOR || kind == 2 || kind == 3)
            return mesh_fail(&r->b, 0,
                             "attribute %lld is of a kind that is not read; remove the attributes, "
                             "or export the curves as OBJ or PLY",
                             (long long)k + 1);
        if (kind == KIND_INDEX) {
            TRY(read_count(r, &names));
            for (int64_t n = 0; n < names; n++) TRY(skip_string(r));
        } else {
            TRY(skip(r, 4 * (uint64_t)size));
        }
        *row += 4 * (size_t)size;
    }
    return SPATE_OK;
}

/* ---- Points and lines ------------------------------------------------------------------------ */

static spate_status read_points(bgeo_reader *r) {
    size_t row;
    TRY(read_dictionary(r, r->point_attributes, &row));
    for (int64_t k = 0; k < r->points; k++) {
        double x[3];
        for (int a = 0; a < 3; a++) {
            uint32_t bits;
            float value;
            TRY(read_number(r, 4, &bits));
            memcpy(&value, &bits, sizeof value);
            x[a] = (double)value;
        }
        TRY(skip(r, 4 + (uint64_t)row));
        TRY(mesh_add_vertex(&r->b, 0, x));
    }
    return SPATE_OK;
}

static spate_status read_polygon(bgeo_reader *r) {
    int64_t count;
    uint32_t closed, before = 0, point;
    TRY(read_count(r, &count));
    TRY(read_number(r, 1, &closed));
    if (closed != '<' && closed != ':')
        return mesh_fail(&r->b, 0,
                         "a polygon is neither closed nor open; the .bgeo file is damaged");
    for (int64_t k = 0; k < count; k++, before = point) {
        TRY(read_number(r, r->wide ? 4 : 2, &point));
        TRY(skip(r, r->vertex_row));
        if (k && closed == ':') TRY(mesh_add_edge(&r->b, 0, before, point, r->points));
    }
    return skip(r, r->primitive_row);
}

static spate_status read_primitives(bgeo_reader *r) {
    TRY(read_dictionary(r, r->vertex_attributes, &r->vertex_row));
    TRY(read_dictionary(r, r->primitive_attributes, &r->primitive_row));
    for (int64_t done = 0; done < r->primitives;) {
        uint32_t key, run = 1;
        TRY(read_number(r, 4, &key));
        if ((int32_t)key == PRIMITIVE_RUN) {
            TRY(read_number(r, 2, &run));
            TRY(read_number(r, 4, &key));
        }
        if (key != PRIMITIVE_POLYGON)
            return mesh_fail(&r->b, 0,
                             "primitive %lld is no polygon; convert curves to polygons before they "
                             "are written",
                             (long long)done + 1);
        if (run == 0 || run > r->primitives - done)
            return mesh_fail(&r->b, 0, "a run of %u primitives of %lld; the .bgeo file is damaged",
                             run, (long long)(r->primitives - done));
        for (; run > 0; run--, done++) TRY(read_polygon(r));
    }
    return SPATE_OK;
}

static spate_status read_all(bgeo_reader *r) {
    uint32_t version;
    int64_t unused; /* groups, attributes of the whole: behind all that is read */
    TRY(skip(r, strlen("BgeoV")));
    TRY(read_number(r, 4, &version));
    if (version != VERSION)
        return mesh_fail(&r->b, 0, "version %u of .bgeo, of which 5 is read; export OBJ or PLY",
                         version);
    int64_t *const counts[] = {&r->points,
                               &r->primitives,
                               &unused,
                               &unused,
                               &r->point_attributes,
                               &r->vertex_attributes,
                               &r->primitive_attributes,
                               &unused};
    for (int k = 0; k < COUNT_OF(counts); k++) TRY(read_count(r, counts[k]));
    r->wide = r->points > UINT16_MAX;
    TRY(read_points(r));
    return read_primitives(r);
}

bool mesh_is_bgeo(const char *bytes, size_t length) {
    return length >= 5 && memcmp(bytes, "BgeoV", 5) == 0;
}

spate_status mesh_read_bgeo_lines(arena *a, const char *name, const char *bytes, size_t length,
                                  mesh *m) {
    bgeo_reader r = {.b = {.ctx = a->ctx, .name = name, .lines = true},
                     .at = (const unsigned char *)bytes,
                     .end = (const unsigned char *)bytes + length};
    return mesh_builder_finish(&r.b, read_all(&r), a, m);
}
