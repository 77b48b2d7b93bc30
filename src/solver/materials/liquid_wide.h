/* Weakly compressible liquid, eight particles at a time; the formulas are in liquid.c. */
#ifndef SPATE_SOLVER_LIQUID_WIDE_H
#define SPATE_SOLVER_LIQUID_WIDE_H

#include "solver/materials/strain_wide.h"

/* Stress of particles i .. i + 7, that of J = 1 where they are sparse. C is the velocity gradient,
 * read only where there is viscosity. */
INLINE void liquid_stress(const material_constants *c, const particles *p, int64_t i,
                          const wide C[9], wide tau[6], int dim) {
    const liquid_constants *l = &c->liquid;
    wide zero = wide_splat(0);
    wide e = wide_load(p->dilation + i);
    if (!l->pulls) e = wide_min(zero, e);
    wide J = e + wide_splat(1);
    wide pressure = wide_splat(l->stiffness) * wide_expm1(wide_splat(-l->gamma) * wide_log1p(e));
    tau[XX] = tau[YY] = tau[ZZ] = zero - J * pressure;
    tau[YZ] = tau[XZ] = tau[XY] = zero;
    if (l->viscosity == 0) return;
    wide mu = J * wide_splat(l->viscosity);
    tau[XX] += mu * (C[0] + C[0]);
    tau[YY] += mu * (C[4] + C[4]);
    tau[XY] = mu * (C[1] + C[3]);
    if (dim == 2) return;
    tau[ZZ] += mu * (C[8] + C[8]);
    tau[XZ] = mu * (C[2] + C[6]);
    tau[YZ] = mu * (C[5] + C[7]);
}

/* J <- min(J exp(dt tr C), max(J, 1)), where the mask is set, J above 1 being room. G = dt C. */
INLINE void liquid_update(const material_constants *constants, particles *p, int64_t i,
                          const wide G[9], wide_int mask, strain_report *report, int dim) {
    wide e = wide_load(p->dilation + i);
    wide trace = dim == 2 ? G[0] + G[4] : G[0] + G[4] + G[8];
    wide grown = wide_fma(e + wide_splat(1), wide_expm1(trace), e);
    report->parted = grown >= wide_splat(constants->critical);
    if (!constants->liquid.pulls)
        grown = wide_min(wide_max(e, wide_splat(0)), grown); /* this order keeps a NaN */
    wide_store(p->dilation + i, wide_select(mask, grown, e));
    report->J_less_one = constants->liquid.pulls ? grown : wide_min(wide_splat(0), grown);
    report->stretch = report->stiffening = wide_splat(1);
    report->yielded = wide_splat_int(0);
}

#endif
