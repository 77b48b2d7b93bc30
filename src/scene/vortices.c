#include "scene/vortices.h"

#include "core/vec.h"

void vortices_velocity(const spate_scene *scene, const body *b, const double x[3], double v[3],
                       double slopes[3][3]) {
    const double two_pi = 6.28318530717958647692;
    const double U = b->vortices[0], k = two_pi / b->vortices[1];
    const double *origin = scene->domain.origin;
    const double sx = sin(k * (x[0] - origin[0])), cx = cos(k * (x[0] - origin[0]));
    const double sy = sin(k * (x[1] - origin[1])), cy = cos(k * (x[1] - origin[1]));
    vec_set(v, U * sx * cy, -U * cx * sy, 0);
    if (!slopes) return;
    vec_set(slopes[0], U * k * cx * cy, U * k * sx * sy, 0);
    vec_set(slopes[1], -U * k * sx * sy, -U * k * cx * cy, 0);
    vec_set(slopes[2], 0, 0, 0);
}
