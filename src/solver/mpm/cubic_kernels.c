/* Cubic B-spline: four nodes along an axis. */
#define SUPPORT 4
#define KERNEL  cubic
#include "solver/mpm/instances.h"
