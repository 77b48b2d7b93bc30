/* Quadratic kernel: three faces along an axis. */
#define SUPPORT 3
#define KERNEL  quadratic
#include "solver/flip/passes.h"
