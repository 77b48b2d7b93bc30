/*
 * Semi-Lagrangian advection (Stam 1999; Bridson, chapter 3) on a dense MAC grid, plainly and in
 * double: what to read first, and what the tests hold the fast trace (trace.h) against. The
 * domain's sides are closed and slippery: values go on beyond them as they are beside them.
 */
#ifndef SPATE_SOLVER_SMOKE_REFERENCE_H
#define SPATE_SOLVER_SMOKE_REFERENCE_H

#include "solver/smoke/layout.h"

/* Values of a place (layout.h), the last axis fastest: n of them along an axis, and n + 1 of those
 * on faces along the axis that they lie across. */
typedef struct smoke_reference {
    int dim, n[3];             /* cells; 1 along z in 2D */
    const double *velocity[3]; /* of the place 0, 1, 2; cells a second */
    double dt;
    int order; /* of the Runge-Kutta scheme: 1, 2 (midpoint), 3 (Ralston) */
} smoke_reference;

/* A field of some place where the gas of now comes from `dt` ago. */
void smoke_reference_advect(const smoke_reference *r, int place, const double *from, double *to);

#endif
