/*
 * Simo's neo-Hookean form, on which sand, clay and metal are built, in plain double. `parameters`
 * begin with an `elastic`.
 */
#ifndef SPATE_SOLVER_NEO_HOOKEAN_H
#define SPATE_SOLVER_NEO_HOOKEAN_H

#include "solver/materials/elastic.h"

void neo_hookean_evaluate(const void *parameters, int dim, const strain_state *state,
                          double stress[6], double *energy, double *J);
double neo_hookean_wave_speed(const void *parameters, int dim, const strain_range *range);

/* b taken apart for a plastic return. */
typedef struct strain_split {
    double x;    /* J^2 - 1 */
    double mean; /* of the eigenvalues of bbar = J^(-2/d) b */
    double D[6]; /* deviator of bbar */
    double size; /* |D| */
} strain_split;

strain_split split_strain(int dim, const double B[6]);
/* B = b - I with J^2 - 1 = x and ratio D as the deviator of bbar: bbar = ratio D + t I with
 * det bbar = 1. */
void rebuild_strain(int dim, const strain_split *s, double x, double ratio, double B[6]);

#endif
