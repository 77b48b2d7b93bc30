/* Rays against triangles by Embree. */
#include "pictures/trace/triangles.h"
#include "pictures/trace/embree.h"
#include <string.h>

struct triangles {
    spate_context *ctx;
    triangle_mesh mesh;
    v3 *normals; /* of the vertices */
    bool *flat;  /* triangles in a side of the box */
    float tiny;  /* a step past a triangle */
    embree *embree;
};

static v3 area_vector(const triangle_mesh *m, int64_t triangle) {
    const int32_t *t = m->triangles[triangle];
    return v3_cross(m->vertices[t[1]] - m->vertices[t[0]], m->vertices[t[2]] - m->vertices[t[0]]);
}

static bool lies_in_side(const triangle_mesh *m, int64_t triangle, v3 size) {
    for (int side = 0; side < 6; side++) {
        int a = side / 2;
        float at = side % 2 ? size[a] : 0, close = 1e-5f * size[a];
        bool all = true;
        for (int c = 0; c < 3; c++)
            all &= fabsf(m->vertices[m->triangles[triangle][c]][a] - at) <= close;
        if (all) return true;
    }
    return false;
}

/* A vertex's normal is the mean of its triangles', by area; flat ones have their own. */
static void find_normals(triangles *f, v3 size) {
    const triangle_mesh *m = &f->mesh;
    for (int64_t t = 0; t < m->triangle_count; t++) {
        f->flat[t] = lies_in_side(m, t, size);
        v3 area = area_vector(m, t);
        for (int c = 0; c < 3 && !f->flat[t]; c++) f->normals[m->triangles[t][c]] += area;
    }
    for (int64_t v = 0; v < m->vertex_count; v++) f->normals[v] = v3_unit(f->normals[v]);
}

static spate_status copy_mesh(triangles *f, const triangle_mesh *mesh) {
    spate_context *ctx = f->ctx;
    const size_t vertices = (size_t)mesh->vertex_count + 1,
                 faces = (size_t)mesh->triangle_count + 1;
    f->mesh = *mesh;
    f->mesh.vertices = take(ctx, vertices, sizeof *f->mesh.vertices);
    f->mesh.triangles = take(ctx, faces, sizeof *f->mesh.triangles);
    f->normals = take(ctx, vertices, sizeof *f->normals);
    f->flat = take(ctx, faces, sizeof *f->flat);
    if (!f->mesh.vertices || !f->mesh.triangles || !f->normals || !f->flat)
        return SPATE_OUT_OF_MEMORY;
    memcpy(f->mesh.vertices, mesh->vertices, (vertices - 1) * sizeof *mesh->vertices);
    memcpy(f->mesh.triangles, mesh->triangles, (faces - 1) * sizeof *mesh->triangles);
    return SPATE_OK;
}

spate_status triangles_create(spate_context *ctx, const triangle_mesh *mesh, v3 size,
                              triangles **out) {
    *out = NULL;
    if (!mesh->triangle_count) return SPATE_OK;
    triangles *f = take(ctx, 1, sizeof *f);
    if (!f) return SPATE_OUT_OF_MEMORY;
    f->ctx = ctx, f->tiny = 1e-6f * v3_length(size);
    spate_status status = copy_mesh(f, mesh);
    if (status == SPATE_OK) {
        find_normals(f, size);
        const triangle_mesh *m = &f->mesh;
        status =
            embree_of_triangles(ctx, m->vertices, m->vertex_count,
                                (const int32_t(*)[3])m->triangles, m->triangle_count, &f->embree);
    }
    if (status == SPATE_OK && f->embree)
        *out = f;
    else
        triangles_free(f);
    return status;
}

void triangles_free(triangles *f) {
    if (!f) return;
    embree_free(f->embree);
    give(f->ctx, f->mesh.vertices);
    give(f->ctx, f->mesh.triangles);
    give(f->ctx, f->normals);
    give(f->ctx, f->flat);
    give(f->ctx, f);
}

static v3 normal_at(const triangles *f, const embree_hit *h, v3 area) {
    if (f->flat[h->which]) return v3_unit(area);
    const int32_t *t = f->mesh.triangles[h->which];
    return v3_unit(f->normals[t[0]] * v3_splat(1 - h->u - h->v) +
                   f->normals[t[1]] * v3_splat(h->u) + f->normals[t[2]] * v3_splat(h->v));
}

hit triangles_cross(const triangles *f, const ray *r, float near, float far, bool inside) {
    embree_hit found;
    /* What is crossed the wrong way round is the surface that the ray starts on. */
    for (int k = 0; k < 8 && near < far && embree_first(f->embree, r, near, far, &found); k++) {
        v3 area = area_vector(&f->mesh, found.which);
        if ((v3_dot(area, r->along) > 0) == inside)
            return (hit){.met = true, .t = found.t, .normal = normal_at(f, &found, area)};
        near = found.t + f->tiny;
    }
    return (hit){0};
}

bool triangles_hold(const triangles *f, v3 x) {
    embree_hit found;
    ray up = {x, {0, 1, 0, 0}};
    return embree_first(f->embree, &up, 0, INFINITY, &found) &&
           v3_dot(area_vector(&f->mesh, found.which), up.along) > 0;
}
