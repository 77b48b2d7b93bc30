/*
 * Smoothing kernels of radius (support) h in d dimensions, with their derivatives. With q = r / h <
 * 1:
 *
 *     W(r) = a w(q) / h^d,   W'(r) = a w'(q) / h^(d+1),   lap W = W'' + (d - 1) W' / r.
 *
 *   mueller     Mueller et al. 2003: three polynomials for three uses
 *               poly6 (1 - q^2)^3 for sums, spiky (1 - q)^3 for gradients, and for the Laplacian
 *               that of their viscosity kernel, proportional to 1 - q
 *   cubic       the cubic spline of Monaghan 1992
 *   wendland    Wendland C2: (1 - q)^4 (1 + 4 q)
 *
 * A Laplacian is positive wherever it is used only for mueller's; for the others Morris' form is
 * there, 2 sum V (A_i - A_j) W'(r) / r.
 */
#ifndef SPATE_SOLVER_SPH_KERNEL_H
#define SPATE_SOLVER_SPH_KERNEL_H

#include "core/simd.h"

typedef enum sph_kernel { SPH_MUELLER, SPH_CUBIC, SPH_WENDLAND, SPH_KERNELS } sph_kernel;

/* Reference: the value, the slope W'(r) of the gradient's kernel and the Laplacian, in double.
 * `dim` may be 1 for the value and the slope. */
double kernel_value(sph_kernel kernel, int dim, double r, double h);
double kernel_derivative(sph_kernel kernel, int dim, double r, double h);
double kernel_laplacian(sph_kernel kernel, int dim, double r, double h);
/* The constants a of w, of the gradient's w and of the Laplacian's, for h = 1. */
typedef struct kernel_constants {
    double value, derivative, laplacian;
} kernel_constants;
kernel_constants kernel_constants_of(sph_kernel kernel, int dim);

/* Of eight pairs, without the constants, for q in [0, 1): w, of q^2 or of q as the kernel likes; w'
 * / q of the gradient's kernel, finite at 0; and the Laplacian. */
INLINE wide kernel_wide(sph_kernel kernel, wide q, wide q2) {
    const wide one = wide_splat(1), rest = one - q;
    if (kernel == SPH_MUELLER) {
        const wide rest2 = one - q2;
        return rest2 * rest2 * rest2;
    }
    if (kernel == SPH_WENDLAND)
        return rest * rest * (rest * rest) * wide_fma(wide_splat(4), q, one);
    const wide near = wide_fma(wide_splat(6) * q2, q - one, one);
    const wide far = wide_splat(2) * rest * rest * rest;
    return wide_select(q < wide_splat((real)0.5), near, far);
}
INLINE wide kernel_wide_derivative(sph_kernel kernel, wide q) {
    const wide least = wide_splat((real)1e-4);
    const wide rest = wide_splat(1) - q;
    if (kernel == SPH_MUELLER) return wide_splat(-3) * rest * rest / wide_max(q, least);
    if (kernel == SPH_WENDLAND) return wide_splat(-20) * rest * rest * rest;
    const wide near = wide_fma(wide_splat(18), q, wide_splat(-12));
    const wide far = wide_splat(-6) * rest * rest / wide_max(q, least);
    return wide_select(q < wide_splat((real)0.5), near, far);
}
/* Mueller's alone is positive throughout, and the one in use. */
INLINE wide kernel_wide_laplacian(wide q) { return wide_splat(1) - q; }

#endif
