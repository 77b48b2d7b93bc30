/*
 * Materials. One model is a pair of files: NAME.c has what a user may set, the wave speed and a
 * plain reference of stress and energy in double; NAME_wide.h has stress and update for eight
 * particles at a time, which the kernels include. A test holds the two against each other.
 *
 * Stress is Kirchhoff stress tau; symmetric tensors are xx yy zz yz xz xy.
 */
#ifndef SPATE_SOLVER_MATERIAL_H
#define SPATE_SOLVER_MATERIAL_H

#include "core/fields.h"
#include "core/real.h"
#include "state/particles.h"

typedef enum material_kind { MATERIAL_LIQUID, MATERIAL_NEO_HOOKEAN, MATERIAL_KINDS } material_kind;

enum { XX, YY, ZZ, YZ, XZ, XY };

/* The strain of one particle, as the particle fields keep it. */
typedef struct strain_state {
    double dilation;  /* J - 1 */
    double strain[6]; /* b - I */
} strain_state;

/* How far the particles of a material are from rest: decides its wave speed. */
typedef struct strain_range {
    double J_min, J_max;
    double stretch; /* largest trace of b over the dimension */
} strain_range;

typedef struct liquid_constants {
    real stiffness; /* bulk modulus / gamma */
    real gamma;
    real viscosity;
} liquid_constants;

typedef struct neo_hookean_constants {
    real bulk;  /* of the dimension: lambda + 2 mu / d */
    real shear; /* mu */
} neo_hookean_constants;

/* What a kernel needs to know of one of the scene's materials. */
typedef struct material_constants {
    material_kind kind;
    real density;
    union {
        liquid_constants liquid;
        neo_hookean_constants neo_hookean;
    };
} material_constants;

typedef struct material_model {
    material_type type;
    unsigned fields; /* particle fields it needs */
    void (*constants)(const void *parameters, int dim, material_constants *out);
    /* The fastest wave for strains within the range, m/s. */
    double (*wave_speed)(const void *parameters, int dim, const strain_range *range);
    /* Longest step that explicit viscosity allows on cells of dx, HUGE_VAL without viscosity. */
    double (*viscous_step)(const void *parameters, int dim, double dx);
    /* Stress, strain energy a rest volume, and J; viscosity left out. Pointers may be NULL. */
    void (*evaluate)(const void *parameters, int dim, const strain_state *state, double stress[6],
                     double *energy, double *J);
} material_model;

extern const material_model material_liquid, material_neo_hookean;
/* By material_kind. */
extern const material_model *const material_models[MATERIAL_KINDS];

material_kind material_kind_of(const material_type *type);

#endif
