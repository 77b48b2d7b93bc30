#ifndef SPATE_SOLVER_SMOKE_FORCE_FIELDS_H
#define SPATE_SOLVER_SMOKE_FORCE_FIELDS_H

#include "solver/smoke/smoke.h"

/* Force fields on the gas: each component of the velocity where it is. */
void smoke_force_fields(smoke *s);

#endif
