/* Where phases meet: linear kernel. */
#define SUPPORT 2
#define KERNEL  linear
#include "solver/mpm/phase_passes.h"
