/* GIMP with particles half a cell wide: three nodes along an axis. */
#define SUPPORT 3
#define GIMP    1
#define KERNEL  gimp
#include "solver/mpm/instances.h"
