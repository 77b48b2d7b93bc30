/* For the tests of smoke: values of its arrays in 2D, and what it does to colliders. */
#ifndef SPATE_TESTS_GAS_H
#define SPATE_TESTS_GAS_H

#include "physics.h"

#include "solver/smoke/smoke.h"

typedef struct vec2 {
    double x, y;
} vec2;

static inline double value(const real *values, const smoke *s, int i, int j) {
    return (double)values[layout_at(&s->layout, i, j, 0)];
}
static inline vec2 force_of(const play *p, int c, double *torque) {
    double force[3], turn[3];
    p->sim->type->force(p->sim, c, force, turn);
    if (torque) *torque = turn[2];
    return (vec2){force[0], force[1]};
}

#endif
