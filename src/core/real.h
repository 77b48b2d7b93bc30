/* The working precision: float, or double where the build says so. Sums are always double. */
#ifndef SPATE_CORE_REAL_H
#define SPATE_CORE_REAL_H

#include <float.h>

#ifdef SPATE_DOUBLE
typedef double real;
#define REAL_EPSILON DBL_EPSILON
#define REAL_MAX     DBL_MAX
#define REAL_NAME    "double"
#else
typedef float real;
#define REAL_EPSILON FLT_EPSILON
#define REAL_MAX     FLT_MAX
#define REAL_NAME    "float"
#endif

#define INLINE static inline __attribute__((always_inline))

#endif
