/*
 * Taylor-Green vortices: the array of counter-rotating vortices that a body may start with. With
 * k = 2 pi / L, and x and y from the domain's origin,
 *
 *    u = U sin(k x) cos(k y),   v = -U cos(k x) sin(k y),   w = 0,
 *
 * which has no divergence and decays in a liquid of kinematic viscosity nu as exp(-2 nu k^2 t)
 * without changing its form (Taylor and Green 1937; in 2D an exact solution of Navier-Stokes).
 */
#ifndef SPATE_SCENE_VORTICES_H
#define SPATE_SCENE_VORTICES_H

#include "scene/scene.h"

static inline bool body_has_vortices(const body *b) { return b->vortices[0] != 0; }

/* Velocity at x, and slopes[a] = dv/dx_a, how it changes along axis a; `slopes` may be NULL. */
void vortices_velocity(const spate_scene *scene, const body *b, const double x[3], double v[3],
                       double slopes[3][3]);

#endif
