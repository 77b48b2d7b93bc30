/*
 * Stage: the place a 3D picture is taken in. Coordinates start at the domain's corner and have y
 * upward (against the scene's gravity), so the floor is y = 0 and the domain the box (0, size).
 * It holds the colliders as they stand at one time and the camera.
 */
#ifndef SPATE_PICTURES_TRACE_STAGE_H
#define SPATE_PICTURES_TRACE_STAGE_H

#include "pictures/draw/colour.h"
#include "pictures/trace/ray.h"
#include "scene/scene.h"

typedef struct stage_collider {
    const shape *shape;
    pose pose;
    v3 min, max; /* a box around it, within the domain */
    rgb colour;
} stage_collider;

typedef struct stage {
    spate_context *ctx;
    const spate_scene *scene;
    int turn; /* stage axis a is the scene's axis (a + turn) % 3 */
    camera_pose camera;
    v3 size;
    arena arena; /* shapes that deform, as they are now */
    stage_collider *colliders;
    int collider_count; /* those that are drawn: not the ones the whole domain stands in */
} stage;

spate_status stage_create(const spate_scene *scene, double time, stage *out);
void stage_free(stage *s);

v3 stage_from_scene(const stage *s, const double x[3]);
void stage_to_scene(const stage *s, v3 x, double out[3]);

/* The first collider between near and far. */
hit stage_hit(const stage *s, const ray *r, float near, float far);

/* A camera: perspective, upright. */
typedef struct view {
    v3 from, right, up, forward;
    float pixel; /* size of a pixel at distance 1 */
    int width, height;
} view;

/* The scene's camera, or a three-quarter view that holds the whole domain, all the way round where
 * it circles. */
view stage_view(const stage *s, int width, int height);
ray view_ray(const view *v, float x, float y);
/* Pixel position of a point, and its depth; false when it is behind the camera. */
bool view_project(const view *v, v3 point, float out[3]);

#endif
