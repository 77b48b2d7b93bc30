/* Points, directions and rays of the picture maker, in single precision: four lanes, the last
 * unused. */
#ifndef SPATE_PICTURES_TRACE_RAY_H
#define SPATE_PICTURES_TRACE_RAY_H

#include <math.h>
#include <stdbool.h>

typedef float v3 __attribute__((vector_size(16)));

static inline v3 v3_set(float x, float y, float z) { return (v3){x, y, z, 0}; }
static inline v3 v3_splat(float s) { return (v3){s, s, s, 0}; }
static inline float v3_dot(v3 a, v3 b) {
    v3 p = a * b;
    return p[0] + p[1] + p[2];
}
static inline v3 v3_cross(v3 a, v3 b) {
    return v3_set(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
}
static inline float v3_length(v3 a) { return sqrtf(v3_dot(a, a)); }
/* Unit length; a vector of none stays as it is. */
static inline v3 v3_unit(v3 a) {
    float l = v3_length(a);
    return l > 0 ? a * v3_splat(1 / l) : a;
}
static inline v3 v3_mix(v3 a, v3 b, float share_of_b) { return a + (b - a) * v3_splat(share_of_b); }

/* Without the library's care for nan, which costs a call. */
static inline float min_of(float a, float b) { return a < b ? a : b; }
static inline float max_of(float a, float b) { return a > b ? a : b; }
static inline float unit_clamp(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
/* 0 below `low`, 1 above `high`, without a kink between. */
static inline float smooth_step(float low, float high, float x) {
    float t = unit_clamp((x - low) / (high - low));
    return t * t * (3 - 2 * t);
}

typedef struct ray {
    v3 from, along; /* along: unit */
} ray;

static inline v3 ray_at(const ray *r, float t) { return r->from + r->along * v3_splat(t); }

/* Cuts [*near, *far] to the part of the ray in a box; false when nothing is left. The axis whose
 * wall the near or far end is on goes to axes[0] and axes[1] (-1: not cut). */
static inline bool ray_box(const ray *r, v3 min, v3 max, float *near, float *far, int axes[2]) {
    axes[0] = axes[1] = -1;
    for (int a = 0; a < 3; a++) {
        if (fabsf(r->along[a]) < 1e-12f) {
            if (r->from[a] < min[a] || r->from[a] > max[a]) return false;
            continue;
        }
        float t0 = (min[a] - r->from[a]) / r->along[a], t1 = (max[a] - r->from[a]) / r->along[a];
        if (t0 > t1) {
            float t = t0;
            t0 = t1, t1 = t;
        }
        if (t0 > *near) *near = t0, axes[0] = a;
        if (t1 < *far) *far = t1, axes[1] = a;
    }
    return *near <= *far;
}

/* Where a ray met something. */
typedef struct hit {
    bool met;
    float t;
    v3 normal;  /* unit, outward */
    int which;  /* number of the sphere, collider, triangle or piece of a strand */
    float u, v; /* the place in a triangle; along a piece */
} hit;

#endif
