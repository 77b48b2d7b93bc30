/*
 * The velocity that a body starts with beside `velocity`, `spin` and `vortices`: a list of parts
 * that add up, each about its own centre c (the body's centre of mass by default),
 *
 *    v = translate + rotate x (x - c) + strain (x - c) + shear (x_across - c_across) e_along + vortices,
 *
 * with strain a rate for each axis, and vortices as in vortices.h.
 */
#ifndef SPATE_SCENE_FLOW_H
#define SPATE_SCENE_FLOW_H

#include "scene/scene.h"

/* All parts at x, and slopes[a] = dv/dx_a; `middle` is the body's centre, `slopes` may be NULL. */
void flow_velocity(const spate_scene *scene, const body *b, const double middle[3],
                   const double x[3], double v[3], double slopes[3][3]);

#endif
