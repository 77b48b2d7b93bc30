/* Where phases meet: GIMP with particles half a cell wide. */
#define SUPPORT 3
#define GIMP    1
#define KERNEL  gimp
#include "solver/mpm/phase_passes.h"
