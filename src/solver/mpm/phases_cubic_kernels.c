/* Where phases meet: cubic B-spline. */
#define SUPPORT 4
#define KERNEL  cubic
#include "solver/mpm/phase_passes.h"
