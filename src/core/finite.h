/* Whether numbers are fit to be written: finite, also as floats. */
#ifndef SPATE_CORE_FINITE_H
#define SPATE_CORE_FINITE_H

#include "core/real.h"
#include <float.h>
#include <stdbool.h>
#include <stdint.h>

/* Without a branch for each, so that it costs next to nothing beside writing. */
static inline bool finite_floats(const float *values, int64_t count) {
    bool good = true;
    for (int64_t i = 0; i < count; i++) good &= __builtin_fabsf(values[i]) <= FLT_MAX;
    return good;
}

static inline bool finite_reals(const real *values, int64_t count) {
    bool good = true;
    for (int64_t i = 0; i < count; i++) good &= values[i] <= FLT_MAX && values[i] >= -FLT_MAX;
    return good;
}

#endif
