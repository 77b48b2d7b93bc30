/* Linear elastic solid, eight particles at a time; the formulas are in linear.c. */
#ifndef SPATE_SOLVER_LINEAR_WIDE_H
#define SPATE_SOLVER_LINEAR_WIDE_H

#include "solver/materials/strain_wide.h"

INLINE wide linear_trace(const wide e[6], int dim) {
    return dim == 2 ? e[XX] + e[YY] : e[XX] + e[YY] + e[ZZ];
}

/* Hooke's law for the strain e of particles i .. i + 7. */
INLINE void hooke_stress(const elastic_constants *m, const particles *p, int64_t i, wide tau[6],
                         int dim) {
    wide e[6], shear = wide_splat(2 * m->shear);
    strain_load(p, i, e);
    wide volume = wide_splat(m->lambda) * linear_trace(e, dim);
    for (int c = 0; c < 6; c++) tau[c] = c <= ZZ ? wide_fma(shear, e[c], volume) : shear * e[c];
    if (dim == 2) tau[ZZ] = tau[YZ] = tau[XZ] = wide_splat(0);
}

INLINE void linear_stress(const material_constants *constants, const particles *p, int64_t i,
                          const wide C[9], wide tau[6], int dim) {
    (void)C;
    hooke_stress(&constants->linear, p, i, tau, dim);
}

/* e <- e + (G + G^T) / 2, where the mask is set. */
INLINE void linear_update(const material_constants *constants, particles *p, int64_t i,
                          const wide G[9], wide_int mask, strain_report *report, int dim) {
    wide e[6], half = wide_splat((real)0.5), one = wide_splat(1);
    strain_load(p, i, e);
    for (int r = 0; r < dim; r++)
        for (int c = r; c < dim; c++)
            e[symmetric_place[r][c]] =
                wide_fma(half, G[3 * r + c] + G[3 * c + r], e[symmetric_place[r][c]]);
    strain_store(p, i, mask, e, dim);
    report->J_less_one = linear_trace(e, dim);
    report->parted = report->J_less_one >= wide_splat(constants->critical);
    report->stretch = report->stiffening = one;
    report->yielded = wide_splat_int(0);
}

#endif
