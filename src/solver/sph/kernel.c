#include "solver/sph/kernel.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

kernel_constants kernel_constants_of(sph_kernel kernel, int dim) {
    if (kernel == SPH_CUBIC) {
        const double a[] = {4.0 / 3, 40 / (7 * pi), 8 / pi};
        return (kernel_constants){a[dim - 1], a[dim - 1], a[dim - 1]};
    }
    if (kernel == SPH_WENDLAND) {
        const double a[] = {1.5, 7 / pi, 21 / (2 * pi)};
        return (kernel_constants){a[dim - 1], a[dim - 1], a[dim - 1]};
    }
    const double poly6[] = {35.0 / 32, 4 / pi, 315 / (64 * pi)};
    const double spiky[] = {2, 10 / pi, 15 / pi};
    const double viscosity[] = {12, 40 / pi, 45 / pi};
    return (kernel_constants){poly6[dim - 1], spiky[dim - 1], viscosity[dim - 1]};
}

double kernel_value(sph_kernel kernel, int dim, double r, double h) {
    const double q = r / h, a = kernel_constants_of(kernel, dim).value / pow(h, dim);
    if (q >= 1) return 0;
    if (kernel == SPH_MUELLER) return a * pow(1 - q * q, 3);
    if (kernel == SPH_WENDLAND) return a * pow(1 - q, 4) * (1 + 4 * q);
    return a * (q < 0.5 ? 6 * q * q * (q - 1) + 1 : 2 * pow(1 - q, 3));
}

double kernel_derivative(sph_kernel kernel, int dim, double r, double h) {
    const double q = r / h, a = kernel_constants_of(kernel, dim).derivative / pow(h, dim + 1);
    if (q >= 1) return 0;
    if (kernel == SPH_MUELLER) return -3 * a * pow(1 - q, 2);
    if (kernel == SPH_WENDLAND) return -20 * a * q * pow(1 - q, 3);
    return a * (q < 0.5 ? 18 * q * q - 12 * q : -6 * pow(1 - q, 2));
}

double kernel_laplacian(sph_kernel kernel, int dim, double r, double h) {
    const double q = r / h, a = kernel_constants_of(kernel, dim).laplacian / pow(h, dim + 2);
    if (q >= 1) return 0;
    if (kernel == SPH_MUELLER) return a * (1 - q);
    if (kernel == SPH_WENDLAND) return -20 * a * (dim * pow(1 - q, 3) - 3 * q * pow(1 - q, 2));
    return a * (q < 0.5 ? 36 * q - 12 + (dim - 1) * (18 * q - 12)
                        : 12 * (1 - q) - (dim - 1) * 6 * pow(1 - q, 2) / q);
}
