/* Quadratic kernel: three faces along an axis. */
#define SUPPORT 3
#define KERNEL  flip_quadratic
#include "solver/flip/transfer_kernels.h"
