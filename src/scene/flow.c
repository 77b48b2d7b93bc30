#include "scene/flow.h"

#include "core/vec.h"
#include "scene/vortices.h"

/* slopes[a] = dv/dx_a of the parts of a motion that are linear in x. */
static void linear_slopes(const flow_part *p, double slopes[3][3]) {
    for (int a = 0; a < 3; a++) {
        double axis[3] = {0};
        axis[a] = 1;
        vec_cross(slopes[a], p->rotate, axis);
        slopes[a][a] += p->strain[a];
    }
    if (p->shear != 0) slopes[p->across][p->along] += p->shear;
}

static void add_part(const spate_scene *scene, const flow_part *p, const double middle[3],
                     const double x[3], double v[3], double slopes[3][3]) {
    double linear[3][3], arm[3];
    linear_slopes(p, linear);
    vec_sub(arm, x, isnan(p->center[0]) ? middle : p->center);
    vec_add(v, v, p->translate);
    for (int a = 0; a < 3; a++) {
        vec_add_scaled(v, v, arm[a], linear[a]);
        vec_add(slopes[a], slopes[a], linear[a]);
    }
    if (p->vortices[0] == 0) return;
    const body swirling = {.vortices = {p->vortices[0], p->vortices[1]}};
    double swirl[3];
    vortices_velocity(scene, &swirling, x, swirl, linear);
    vec_add(v, v, swirl);
    for (int a = 0; a < 3; a++) vec_add(slopes[a], slopes[a], linear[a]);
}

void flow_velocity(const spate_scene *scene, const body *b, const double middle[3],
                   const double x[3], double v[3], double slopes[3][3]) {
    double unused[3][3];
    if (!slopes) slopes = unused;
    vec_set(v, 0, 0, 0);
    for (int a = 0; a < 3; a++) vec_set(slopes[a], 0, 0, 0);
    for (int i = 0; i < b->flow_count; i++) add_part(scene, &b->flow[i], middle, x, v, slopes);
}
