/* The rate form of elasticity, plainly: what hypoelastic_wide.h must give. */
#ifndef SPATE_SOLVER_HYPOELASTIC_H
#define SPATE_SOLVER_HYPOELASTIC_H

#include "solver/materials/elastic.h"

/* A step of the strain e with G = dt grad v. */
void hypoelastic_advance(int dim, double e[6], double G[3][3]);

#endif
