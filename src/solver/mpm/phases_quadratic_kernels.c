/* Where phases meet: quadratic B-spline. */
#define SUPPORT 3
#define KERNEL  quadratic
#include "solver/mpm/phase_passes.h"
