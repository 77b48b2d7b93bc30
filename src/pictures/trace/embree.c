/* Embree, found at run time. */
#include "pictures/trace/embree.h"

#ifndef HAVE_EMBREE
#define HAVE_EMBREE 0
#endif

#if !HAVE_EMBREE

spate_status embree_of_spheres(spate_context *ctx, const v3 *centers, int64_t count, embree **out) {
    (void)ctx, (void)centers, (void)count;
    *out = NULL;
    return SPATE_OK;
}

spate_status embree_of_triangles(spate_context *ctx, const v3 *vertices, int64_t vertex_count,
                                 const int32_t (*triangles)[3], int64_t triangle_count,
                                 embree **out) {
    (void)ctx, (void)vertices, (void)vertex_count, (void)triangles, (void)triangle_count;
    *out = NULL;
    return SPATE_OK;
}

spate_status embree_of_curves(spate_context *ctx, const v3 *points, int64_t point_count,
                              const uint32_t *pieces, int64_t piece_count, embree **out) {
    (void)ctx, (void)points, (void)point_count, (void)pieces, (void)piece_count;
    *out = NULL;
    return SPATE_OK;
}

void embree_free(embree *e) { (void)e; }

bool embree_first(const embree *e, const ray *r, float near, float far, embree_hit *out) {
    (void)e, (void)r, (void)near, (void)far, (void)out;
    return false;
}

bool embree_any(const embree *e, const ray *r, float near, float far) {
    (void)e, (void)r, (void)near, (void)far;
    return false;
}

#else

#if HAVE_EMBREE == 4
#include <embree4/rtcore.h>
#define EMBREE_LIBRARY "libembree4.so.4"
#else
#include <embree3/rtcore.h>
#define EMBREE_LIBRARY "libembree3.so.3"
#endif
#include <dlfcn.h>
#include <string.h>

/* The functions of Embree that are called. */
#define EMBREE_FUNCTIONS(X)    \
    X(NewDevice)               \
    X(ReleaseDevice)           \
    X(GetDeviceError)          \
    X(NewScene)                \
    X(ReleaseScene)            \
    X(SetSceneFlags)           \
    X(SetSceneBuildQuality)    \
    X(CommitScene)             \
    X(NewGeometry)             \
    X(SetSharedGeometryBuffer) \
    X(SetGeometryBuildQuality) \
    X(CommitGeometry)          \
    X(AttachGeometry)          \
    X(ReleaseGeometry)         \
    X(Intersect1)              \
    X(Occluded1)

struct embree {
    spate_context *ctx;
    RTCDevice device;
    RTCScene scene;
#define X(name) __typeof__(&rtc##name) name;
    EMBREE_FUNCTIONS(X)
#undef X
};

/* Finds every function; false where there is no Embree. It stays loaded: it and what it is built on
 * have threads and clean-up of their own. */
static bool load(embree *e) {
    void *library = dlopen(EMBREE_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return false;
    bool found = true;
#define X(name)                                      \
    {                                                \
        void *address = dlsym(library, "rtc" #name); \
        memcpy(&e->name, &address, sizeof address);  \
        found &= address != NULL;                    \
    }
    EMBREE_FUNCTIONS(X)
#undef X
    dlclose(library);
    return found;
}

static spate_status failed(embree *e, const char *what) {
    enum RTCError error = e->GetDeviceError(e->device);
    return fail(e->ctx, error == RTC_ERROR_OUT_OF_MEMORY ? SPATE_OUT_OF_MEMORY : SPATE_BAD_INPUT,
                "Embree cannot %s (its error %d)", what, (int)error);
}

/* An empty scene; *out is NULL without Embree. */
static spate_status start(spate_context *ctx, embree **out) {
    *out = NULL;
    embree *e = take(ctx, 1, sizeof *e);
    if (!e) return SPATE_OUT_OF_MEMORY;
    e->ctx = ctx;
    if (!load(e)) {
        give(ctx, e);
        return SPATE_OK;
    }
    *out = e;
    /* On our own thread: its build is quick, and a library should not start threads of others. */
    e->device = e->NewDevice("threads=1");
    if (!e->device) return failed(e, "be started");
    e->scene = e->NewScene(e->device);
    return e->scene ? SPATE_OK : failed(e, "make a scene");
}

static spate_status finish(embree *e, RTCGeometry geometry, const char *what) {
    e->CommitGeometry(geometry);
    e->AttachGeometry(e->scene, geometry);
    e->ReleaseGeometry(geometry);
    e->CommitScene(e->scene);
    return e->GetDeviceError(e->device) == RTC_ERROR_NONE ? SPATE_OK : failed(e, what);
}

/* Gives a half-made scene back. */
static spate_status keep_if(spate_status status, embree **e) {
    if (!status) return SPATE_OK;
    embree_free(*e);
    *e = NULL;
    return status;
}

static spate_status add_balls(embree *e, const v3 *centers, int64_t count) {
    RTCGeometry geometry = e->NewGeometry(e->device, RTC_GEOMETRY_TYPE_SPHERE_POINT);
    if (!geometry) return failed(e, "make a scene");
    e->SetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, centers, 0,
                               sizeof *centers, (size_t)count);
    e->SetGeometryBuildQuality(geometry, RTC_BUILD_QUALITY_LOW);
    e->SetSceneBuildQuality(e->scene, RTC_BUILD_QUALITY_LOW);
    return finish(e, geometry, "take the particles");
}

spate_status embree_of_spheres(spate_context *ctx, const v3 *centers, int64_t count, embree **out) {
    spate_status status = start(ctx, out);
    if (!status && *out) status = add_balls(*out, centers, count);
    return keep_if(status, out);
}

static spate_status add_triangles(embree *e, const v3 *vertices, int64_t vertex_count,
                                  const int32_t (*triangles)[3], int64_t triangle_count) {
    RTCGeometry geometry = e->NewGeometry(e->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    if (!geometry) return failed(e, "make a scene");
    e->SetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, vertices, 0,
                               sizeof *vertices, (size_t)vertex_count);
    e->SetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, triangles, 0,
                               sizeof *triangles, (size_t)triangle_count);
    /* No ray slips through between two triangles. */
    e->SetSceneFlags(e->scene, RTC_SCENE_FLAG_ROBUST);
    return finish(e, geometry, "take the surface");
}

spate_status embree_of_triangles(spate_context *ctx, const v3 *vertices, int64_t vertex_count,
                                 const int32_t (*triangles)[3], int64_t triangle_count,
                                 embree **out) {
    spate_status status = start(ctx, out);
    if (!status && *out)
        status = add_triangles(*out, vertices, vertex_count, triangles, triangle_count);
    return keep_if(status, out);
}

static spate_status add_curves(embree *e, const v3 *points, int64_t point_count,
                               const uint32_t *pieces, int64_t piece_count) {
    RTCGeometry geometry = e->NewGeometry(e->device, RTC_GEOMETRY_TYPE_FLAT_CATMULL_ROM_CURVE);
    if (!geometry) return failed(e, "make a scene");
    e->SetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, points, 0,
                               sizeof *points, (size_t)point_count);
    e->SetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT, pieces, 0,
                               sizeof *pieces, (size_t)piece_count);
    return finish(e, geometry, "take the strands");
}

spate_status embree_of_curves(spate_context *ctx, const v3 *points, int64_t point_count,
                              const uint32_t *pieces, int64_t piece_count, embree **out) {
    spate_status status = start(ctx, out);
    if (!status && *out) status = add_curves(*out, points, point_count, pieces, piece_count);
    return keep_if(status, out);
}

void embree_free(embree *e) {
    if (!e) return;
    if (e->scene) e->ReleaseScene(e->scene);
    if (e->device) e->ReleaseDevice(e->device);
    give(e->ctx, e);
}

static struct RTCRay make_ray(const ray *r, float near, float far) {
    return (struct RTCRay){.org_x = r->from[0],
                           .org_y = r->from[1],
                           .org_z = r->from[2],
                           .dir_x = r->along[0],
                           .dir_y = r->along[1],
                           .dir_z = r->along[2],
                           .tnear = near,
                           .tfar = far,
                           .mask = 0xffffffffu};
}

bool embree_first(const embree *e, const ray *r, float near, float far, embree_hit *out) {
    struct RTCRayHit query = {.ray = make_ray(r, near, far)};
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
#if HAVE_EMBREE == 4
    e->Intersect1(e->scene, &query, NULL);
#else
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    e->Intersect1(e->scene, &context, &query);
#endif
    *out = (embree_hit){query.ray.tfar, query.hit.u, query.hit.v, query.hit.primID};
    return query.hit.geomID != RTC_INVALID_GEOMETRY_ID;
}

bool embree_any(const embree *e, const ray *r, float near, float far) {
    struct RTCRay query = make_ray(r, near, far);
#if HAVE_EMBREE == 4
    e->Occluded1(e->scene, &query, NULL);
#else
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    e->Occluded1(e->scene, &context, &query);
#endif
    return query.tfar < 0;
}

#endif
