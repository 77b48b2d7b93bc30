/* Rays against triangles with two sides; see meshes.h. */
#include "pictures/trace/meshes.h"
#include "pictures/trace/bvh.h"
#include "pictures/trace/embree.h"

/* Facets of a skin that meet at less than this (cosine) make a crease. */
static const float crease = 0.76f;

struct meshes {
    spate_context *ctx;
    const mesh_parts *parts;
    v3 (*normals)[3]; /* of the corners of triangles */
    float reach;
    embree *embree; /* NULL: */
    bvh *tree;
};

void mesh_parts_free(spate_context *ctx, mesh_parts *p) {
    void *lists[] = {p->vertices, p->colours,      p->triangles,
                     p->cloth,    p->line_corners, p->line_ends};
    for (int i = 0; i < COUNT_OF(lists); i++) give(ctx, lists[i]);
    *p = (mesh_parts){0};
}

/* ---- Normals ---------------------------------------------------------------------------------- */

static v3 area_vector(const mesh_parts *p, int64_t t) {
    const int32_t *c = p->triangles[t];
    const v3 a = p->vertices[c[0]], b = p->vertices[c[1]], d = p->vertices[c[2]];
    return v3_cross(b - a, d - a);
}

/* The mean around a corner, by area: of all triangles of a cloth, of a skin's that are nearly
 * level. */
static v3 corner_normal(const mesh_parts *p, int64_t t, const int64_t *around, int64_t count) {
    const v3 own = area_vector(p, t), unit = v3_unit(own);
    v3 sum = {0};
    for (int64_t i = 0; i < count; i++) {
        const v3 other = area_vector(p, around[i]);
        if (p->cloth[t] || v3_dot(v3_unit(other), unit) > crease) sum += other;
    }
    const v3 n = v3_unit(sum);
    return v3_dot(n, n) > 0.5f ? n : unit;
}

static spate_status find_normals(meshes *m) {
    const mesh_parts *p = m->parts;
    const size_t corners = 3 * (size_t)p->triangle_count;
    int64_t *first = take(m->ctx, (size_t)p->vertex_count + 2, sizeof *first);
    int64_t *around = take(m->ctx, corners + 1, sizeof *around);
    m->normals = take(m->ctx, (size_t)p->triangle_count + 1, sizeof *m->normals);
    const bool have = first && around && m->normals;
    for (size_t i = 0; i < corners && have; i++) first[p->triangles[i / 3][i % 3] + 2]++;
    for (int64_t v = 2; v < p->vertex_count + 2 && have; v++) first[v] += first[v - 1];
    for (size_t i = 0; i < corners && have; i++)
        around[first[p->triangles[i / 3][i % 3] + 1]++] = (int64_t)(i / 3);
    for (size_t i = 0; i < corners && have; i++) {
        const int32_t v = p->triangles[i / 3][i % 3];
        m->normals[i / 3][i % 3] =
            corner_normal(p, (int64_t)(i / 3), around + first[v], first[v + 1] - first[v]);
    }
    give(m->ctx, first);
    give(m->ctx, around);
    return have ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

/* ---- Without Embree --------------------------------------------------------------------------- */

static void box_of(const void *of, int64_t t, v3 out[2]) {
    const mesh_parts *p = of;
    out[0] = v3_splat(INFINITY), out[1] = v3_splat(-INFINITY);
    for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++) {
            const float x = p->vertices[p->triangles[t][k]][a];
            out[0][a] = min_of(out[0][a], x), out[1][a] = max_of(out[1][a], x);
        }
}

/* Moeller and Trumbore 1997. */
static bool meets(const void *of, int64_t t, const ray *r, float near, float far, embree_hit *out) {
    const mesh_parts *p = of;
    const int32_t *c = p->triangles[t];
    const v3 a = p->vertices[c[0]], u = p->vertices[c[1]] - a, v = p->vertices[c[2]] - a;
    const v3 h = v3_cross(r->along, v), to = r->from - a, q = v3_cross(to, u);
    const float scale = v3_dot(u, h);
    if (scale == 0) return false;
    const float x = v3_dot(to, h) / scale, y = v3_dot(r->along, q) / scale,
                at = v3_dot(v, q) / scale;
    if (!(x >= 0 && y >= 0 && x + y <= 1 && at > near && at < far)) return false;
    *out = (embree_hit){at, x, y, t};
    return true;
}

/* From one corner of the box around all triangles to the other. */
static float extent(const mesh_parts *p) {
    v3 low = v3_splat(INFINITY), high = v3_splat(-INFINITY), box[2];
    for (int64_t t = 0; t < p->triangle_count; t++) {
        box_of(p, t, box);
        for (int a = 0; a < 3; a++)
            low[a] = min_of(low[a], box[0][a]), high[a] = max_of(high[a], box[1][a]);
    }
    return v3_length(high - low);
}

float meshes_reach(const meshes *m) { return m->reach; }

/* ---- Both ------------------------------------------------------------------------------------- */

spate_status meshes_create(spate_context *ctx, const mesh_parts *parts, bool plain, meshes **out) {
    *out = NULL;
    if (!parts->triangle_count) return SPATE_OK;
    meshes *m = take(ctx, 1, sizeof *m);
    if (!m) return SPATE_OUT_OF_MEMORY;
    m->ctx = ctx, m->parts = parts;
    m->reach = 0.1f * extent(parts);
    spate_status status = find_normals(m);
    if (!status && !plain)
        status = embree_of_triangles(ctx, parts->vertices, parts->vertex_count,
                                     (const int32_t(*)[3])parts->triangles, parts->triangle_count,
                                     &m->embree);
    if (!status && !m->embree)
        status = bvh_create(ctx, parts, parts->triangle_count, box_of, &m->tree);
    if (status)
        meshes_free(m);
    else
        *out = m;
    return status;
}

void meshes_free(meshes *m) {
    if (!m) return;
    embree_free(m->embree);
    bvh_free(m->tree);
    give(m->ctx, m->normals);
    give(m->ctx, m);
}

hit meshes_hit(const meshes *m, const ray *r, float near, float far) {
    embree_hit found;
    const bool met = m->embree ? embree_first(m->embree, r, near, far, &found)
                               : bvh_first(m->tree, m->parts, meets, r, near, far, false, &found);
    if (!met) return (hit){0};
    return (hit){.met = true, .t = found.t, .which = (int)found.which, .u = found.u, .v = found.v};
}

bool meshes_block(const meshes *m, const ray *r, float near, float far) {
    embree_hit found;
    return m->embree ? embree_any(m->embree, r, near, far)
                     : bvh_first(m->tree, m->parts, meets, r, near, far, true, &found);
}

mesh_point meshes_point(const meshes *m, const ray *r, const hit *h) {
    const mesh_parts *p = m->parts;
    const int32_t *c = p->triangles[h->which];
    const v3 *n = m->normals[h->which];
    const float share[3] = {1 - h->u - h->v, h->u, h->v};
    mesh_point out = {.flat = v3_unit(area_vector(p, h->which)),
                      .cloth = p->cloth[h->which],
                      .mapped = p->mapped};
    for (int k = 0; k < 3; k++) {
        out.normal += n[k] * v3_splat(share[k]);
        out.colour += p->colours[c[k]] * v3_splat(share[k]);
    }
    out.back = v3_dot(out.flat, r->along) > 0;
    if (out.back) out.flat = -out.flat, out.normal = -out.normal;
    out.normal = v3_unit(out.normal);
    /* A smooth normal must not look away from the eye. */
    const float away = v3_dot(out.normal, r->along);
    if (away > -0.02f) out.normal = v3_unit(out.normal - r->along * v3_splat(away + 0.02f));
    return out;
}
