/* The fixed corotated solid, on which snow is built, in plain double. */
#ifndef SPATE_SOLVER_FIXED_COROTATED_H
#define SPATE_SOLVER_FIXED_COROTATED_H

#include "solver/materials/elastic.h"

/* The principal stretches of b less 1, w, and b's axes as the columns of Q. */
typedef struct principal_stretches {
    double w[3];
    double Q[3][3];
} principal_stretches;

principal_stretches stretches_of(int dim, const double B[6]);
/* T = Q diag(v) Q^T */
void tensor_of(int dim, const double Q[3][3], const double v[3], double T[6]);

/* Stress and energy with the moduli times a factor. */
void corotated_evaluate(const elastic *e, int dim, double factor, const strain_state *state,
                        double stress[6], double *energy, double *J);
double corotated_wave_speed(const elastic *e, int dim, const strain_range *range);

#endif
