/* Rays against triangles by Embree. */
#include "output/facets.h"
#include <string.h>

#ifndef HAVE_EMBREE
#define HAVE_EMBREE 0
#endif

#if !HAVE_EMBREE

struct facets {
    int none;
};

spate_status facets_create(spate_context *ctx, const facet_mesh *mesh, v3 size, facets **out) {
    (void)ctx, (void)mesh, (void)size;
    *out = NULL;
    return SPATE_OK;
}

void facets_free(facets *f) { (void)f; }

hit facets_cross(const facets *f, const ray *r, float near, float far, bool inside) {
    (void)f, (void)r, (void)near, (void)far, (void)inside;
    return (hit){0};
}

bool facets_hold(const facets *f, v3 x) {
    (void)f, (void)x;
    return false;
}

#else

#if HAVE_EMBREE == 4
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

struct facets {
    spate_context *ctx;
    facet_mesh mesh;
    v3 *normals; /* of the vertices */
    bool *flat;  /* triangles in a side of the box */
    float tiny;  /* a step past a triangle */
    RTCDevice device;
    RTCScene scene;
};

static v3 area_vector(const facet_mesh *m, int64_t triangle) {
    const int32_t *t = m->triangles[triangle];
    return v3_cross(m->vertices[t[1]] - m->vertices[t[0]], m->vertices[t[2]] - m->vertices[t[0]]);
}

static bool lies_in_side(const facet_mesh *m, int64_t triangle, v3 size) {
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
static void find_normals(facets *f, v3 size) {
    const facet_mesh *m = &f->mesh;
    for (int64_t t = 0; t < m->triangle_count; t++) {
        f->flat[t] = lies_in_side(m, t, size);
        v3 area = area_vector(m, t);
        for (int c = 0; c < 3 && !f->flat[t]; c++) f->normals[m->triangles[t][c]] += area;
    }
    for (int64_t v = 0; v < m->vertex_count; v++) f->normals[v] = v3_unit(f->normals[v]);
}

static spate_status embree_failed(facets *f, const char *what) {
    enum RTCError error = rtcGetDeviceError(f->device);
    return fail(f->ctx, error == RTC_ERROR_OUT_OF_MEMORY ? SPATE_OUT_OF_MEMORY : SPATE_BAD_INPUT,
                "Embree cannot %s (its error %d)", what, (int)error);
}

static spate_status embree_build(facets *f) {
    const facet_mesh *m = &f->mesh;
    f->device = rtcNewDevice("threads=1");
    if (!f->device) return embree_failed(f, "be started");
    f->scene = rtcNewScene(f->device);
    RTCGeometry geometry = rtcNewGeometry(f->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    if (!f->scene || !geometry) return embree_failed(f, "make a scene");
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, m->vertices,
                               0, sizeof(v3), (size_t)m->vertex_count);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, m->triangles,
                               0, sizeof m->triangles[0], (size_t)m->triangle_count);
    /* No ray slips through between two triangles. */
    rtcSetSceneFlags(f->scene, RTC_SCENE_FLAG_ROBUST);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(f->scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(f->scene);
    if (rtcGetDeviceError(f->device) != RTC_ERROR_NONE) return embree_failed(f, "take the surface");
    return SPATE_OK;
}

static spate_status copy_mesh(facets *f, const facet_mesh *mesh) {
    spate_context *ctx = f->ctx;
    size_t vertices = (size_t)mesh->vertex_count + 1, triangles = (size_t)mesh->triangle_count + 1;
    f->mesh = *mesh;
    f->mesh.vertices = take(ctx, vertices, sizeof *f->mesh.vertices);
    f->mesh.triangles = take(ctx, triangles, sizeof *f->mesh.triangles);
    f->normals = take(ctx, vertices, sizeof *f->normals);
    f->flat = take(ctx, triangles, sizeof *f->flat);
    if (!f->mesh.vertices || !f->mesh.triangles || !f->normals || !f->flat)
        return SPATE_OUT_OF_MEMORY;
    memcpy(f->mesh.vertices, mesh->vertices, (vertices - 1) * sizeof *mesh->vertices);
    memcpy(f->mesh.triangles, mesh->triangles, (triangles - 1) * sizeof *mesh->triangles);
    return SPATE_OK;
}

spate_status facets_create(spate_context *ctx, const facet_mesh *mesh, v3 size, facets **out) {
    *out = NULL;
    if (!mesh->triangle_count) return SPATE_OK;
    facets *f = take(ctx, 1, sizeof *f);
    if (!f) return SPATE_OUT_OF_MEMORY;
    f->ctx = ctx, f->tiny = 1e-6f * v3_length(size);
    spate_status status = copy_mesh(f, mesh);
    if (status == SPATE_OK) {
        find_normals(f, size);
        status = embree_build(f);
    }
    if (status == SPATE_OK)
        *out = f;
    else
        facets_free(f);
    return status;
}

void facets_free(facets *f) {
    if (!f) return;
    if (f->scene) rtcReleaseScene(f->scene);
    if (f->device) rtcReleaseDevice(f->device);
    give(f->ctx, f->mesh.vertices);
    give(f->ctx, f->mesh.triangles);
    give(f->ctx, f->normals);
    give(f->ctx, f->flat);
    give(f->ctx, f);
}

static bool first_triangle(const facets *f, const ray *r, float near, float far,
                           struct RTCRayHit *out) {
    *out = (struct RTCRayHit){.ray = {.org_x = r->from[0],
                                      .org_y = r->from[1],
                                      .org_z = r->from[2],
                                      .dir_x = r->along[0],
                                      .dir_y = r->along[1],
                                      .dir_z = r->along[2],
                                      .tnear = near,
                                      .tfar = far,
                                      .mask = 0xffffffffu}};
    out->hit.geomID = RTC_INVALID_GEOMETRY_ID;
#if HAVE_EMBREE == 4
    rtcIntersect1(f->scene, out, NULL);
#else
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(f->scene, &context, out);
#endif
    return out->hit.geomID != RTC_INVALID_GEOMETRY_ID;
}

static v3 normal_at(const facets *f, const struct RTCHit *h, v3 area) {
    if (f->flat[h->primID]) return v3_unit(area);
    const int32_t *t = f->mesh.triangles[h->primID];
    return v3_unit(f->normals[t[0]] * v3_splat(1 - h->u - h->v) +
                   f->normals[t[1]] * v3_splat(h->u) + f->normals[t[2]] * v3_splat(h->v));
}

hit facets_cross(const facets *f, const ray *r, float near, float far, bool inside) {
    struct RTCRayHit found;
    /* What is crossed the wrong way round is the surface that the ray starts on. */
    for (int k = 0; k < 8 && near < far && first_triangle(f, r, near, far, &found); k++) {
        v3 area = area_vector(&f->mesh, found.hit.primID);
        if ((v3_dot(area, r->along) > 0) == inside)
            return (hit){true, found.ray.tfar, normal_at(f, &found.hit, area), 0};
        near = found.ray.tfar + f->tiny;
    }
    return (hit){0};
}

bool facets_hold(const facets *f, v3 x) {
    struct RTCRayHit found;
    ray up = {x, {0, 1, 0, 0}};
    return first_triangle(f, &up, 0, INFINITY, &found) &&
           v3_dot(area_vector(&f->mesh, found.hit.primID), up.along) > 0;
}

#endif
