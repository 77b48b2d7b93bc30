/* Linear kernel: two faces along an axis. */
#define SUPPORT 2
#define KERNEL  flip_linear
#include "solver/flip/transfer_kernels.h"
