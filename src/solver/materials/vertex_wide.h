/* Vertices of meshes, eight at a time: forces come from elements (solver/lagrangian), so they have
 * no stress; J tells whether they have come apart (Fei et al. 2021, section 5). */
#ifndef SPATE_SOLVER_VERTEX_WIDE_H
#define SPATE_SOLVER_VERTEX_WIDE_H

#include "solver/materials/strain_wide.h"

INLINE void vertex_stress(const material_constants *c, const particles *p, int64_t i,
                          const wide C[9], wide tau[6], int dim) {
    (void)c, (void)p, (void)i, (void)C, (void)dim;
    for (int k = 0; k < 6; k++) tau[k] = wide_splat(0);
}

/* J of a vertex is kept within these: it is no strain that anything follows. */
#define VERTEX_J_LOWEST  0.01
#define VERTEX_J_HIGHEST 100

/* J <- J exp(dt tr C) (eq. 6). G = dt C. */
INLINE void vertex_update(const material_constants *constants, particles *p, int64_t i,
                          const wide G[9], wide_int mask, strain_report *report, int dim) {
    wide e = wide_load(p->dilation + i);
    wide trace = dim == 2 ? G[0] + G[4] : G[0] + G[4] + G[8];
    wide grown = wide_fma(e + wide_splat(1), wide_expm1(trace), e);
    report->parted = grown >= wide_splat(constants->critical);
    grown = wide_min(wide_splat(VERTEX_J_HIGHEST - 1), grown); /* this order keeps a NaN */
    grown = wide_max(wide_splat((real)VERTEX_J_LOWEST - 1), grown);
    wide_store(p->dilation + i, wide_select(mask, grown, e));
    report->J_less_one = grown - grown; /* 0, or NaN: no strain of a material */
    report->stretch = report->stiffening = wide_splat(1);
    report->yielded = wide_splat_int(0);
}

#endif
