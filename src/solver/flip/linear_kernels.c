/* Linear kernel: two faces along an axis. */
#define SUPPORT 2
#define KERNEL  linear
#include "solver/flip/passes.h"
