/* Linear kernel: two nodes along an axis. */
#define SUPPORT 2
#define KERNEL  linear
#include "solver/mpm/instances.h"
