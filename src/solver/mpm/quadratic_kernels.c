/* Quadratic B-spline: three nodes along an axis. */
#define SUPPORT 3
#define KERNEL  quadratic
#include "solver/mpm/instances.h"
