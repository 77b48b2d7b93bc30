/*
 * Materials. One model is a pair of files: NAME.c has what a user may set, the wave speed and a
 * plain reference in double of stress, energy and plastic return; NAME_wide.h has stress and update
 * for eight particles at a time. The kernels include wide.h, which chooses between the models.
 * Tests hold the two forms against each other.
 *
 * Stress is Kirchhoff stress tau; symmetric tensors are xx yy zz yz xz xy.
 */
#ifndef SPATE_SOLVER_MATERIAL_H
#define SPATE_SOLVER_MATERIAL_H

#include "core/isa.h"
#include "core/real.h"
#include "scene/registry.h"
#include "state/particles.h"

/* Every model, by its kind and the name of its files. The kinds, the union of constants, the models
 * and the choice among the wide forms come from these lists. */
#define PARTICLE_MATERIALS(X)                     \
    X(LIQUID, liquid)                             \
    X(NEO_HOOKEAN, neo_hookean)                   \
    X(FIXED_COROTATED, fixed_corotated)           \
    X(LINEAR, linear)                             \
    X(HYPOELASTIC, hypoelastic)                   \
    X(DRUCKER_PRAGER, drucker_prager) /* sand */  \
    X(NACC, nacc)                     /* clay */  \
    X(VON_MISES, von_mises)           /* metal */ \
    X(SNOW, snow)
#define MATERIALS(X)      \
    PARTICLE_MATERIALS(X) \
    X(GAS, gas) /* on a grid: has no wide form */

#define MATERIAL_KIND(kind, name) MATERIAL_##kind,
typedef enum material_kind {
    MATERIALS(MATERIAL_KIND) MATERIAL_KINDS,
    MATERIAL_VERTEX = MATERIAL_KINDS /* of a mesh: no stress of its own (vertex_wide.h) */
} material_kind;
#undef MATERIAL_KIND

enum { XX, YY, ZZ, YZ, XZ, XY };
/* Where row r and column c of a symmetric tensor stand: symmetric_place[r][c]. */
static const int symmetric_place[3][3] = {{XX, XY, XZ}, {XY, YY, YZ}, {XZ, YZ, ZZ}};

/* The strain of one particle, as the particle fields keep it. */
typedef struct strain_state {
    double dilation;  /* J - 1 */
    double strain[6]; /* b - I; of the linear and hypoelastic solids, e */
    double hardening; /* of the material's own kind */
} strain_state;

/* How far the particles of a material are from rest: decides its wave speed. */
typedef struct strain_range {
    double J_min, J_max;
    double stretch;    /* largest trace of b over the dimension */
    double stiffening; /* largest factor by which hardening has raised the moduli, 1 without */
} strain_range;

typedef struct liquid_constants {
    real stiffness; /* bulk modulus / gamma */
    real gamma;
    real viscosity;
    real tension;
    bool correct;                /* volumes are held to the density in space */
    bool pulls;                  /* negative pressure too */
    real temperature, expansion; /* K above the surroundings, 1/K */
} liquid_constants;

typedef struct elastic_constants {
    real bulk;   /* of the dimension: lambda + 2 mu / d */
    real shear;  /* mu */
    real lambda; /* may be negative, with poisson */
} elastic_constants;

typedef elastic_constants neo_hookean_constants, fixed_corotated_constants, linear_constants,
    hypoelastic_constants;

/* The most volume that sand keeps account of, over its own: grains that fly further apart than
 * this, some two cells, no longer meet on the grid, and the velocity gradient of a single one says
 * nothing of its surroundings. */
#define LOOSEST 20

typedef struct drucker_prager_constants {
    elastic_constants elastic;
    real slope;      /* of the cone, c_F kappa / mu: |dev bbar| <= slope (P / kappa + tip) */
    real lode;       /* the slope is that over cos(theta) - lode sin(theta), theta the Lode angle */
    real weakest;    /* the largest of these: sqrt(1 + lode^2) */
    real tip;        /* how far the cone's tip lies below no pressure, over kappa */
    real tip_strain; /* b - I at the tip, on the diagonal */
    bool correct;    /* keeps account of the volume that is cut off at the tip */
} drucker_prager_constants;

/* Bounds of clay's hardening: P0 / kappa is at least NACC_LEAST, and at most sinh(NACC_LARGEST);
 * J_x^2 is taken as NACC_FLATTEST where the yield surface is met beyond all compression. */
#define NACC_LEAST    1e-5
#define NACC_LARGEST  20
#define NACC_FLATTEST 1e-3

typedef struct nacc_constants {
    elastic_constants elastic;
    real chi, xi, alpha_h; /* alpha_h at the start */
    real slope;            /* M */
    real size;             /* q / kappa over |dev bbar|: sqrt((6 - d) / 2) mu / kappa */
    bool own_critical;     /* J_c follows the hardening; else it is the scene's */
} nacc_constants;

typedef struct von_mises_constants {
    elastic_constants elastic;
    real yield;     /* |dev bbar| at first yield: sqrt(2/3) yield_stress / mu */
    real hardening; /* H / mu */
} von_mises_constants;

typedef struct snow_constants {
    elastic_constants elastic;
    real compression, stretch; /* limits of the elastic stretches: 1 - compression, 1 + stretch */
    real hardening;
} snow_constants;

typedef struct gas_constants {
    double viscosity, expansion;
    double smoke, temperature, weight, diffusion; /* of what bodies and sources bring */
} gas_constants;

/* J_c of a material that never comes apart of itself. */
#define NEVER_APART (1 + 1e6)
/* The field `critical_J`, which every model has: NAN stands for the model's own. */
#define CRITICAL_FIELD(type_, own)                                                              \
    NUMBER_FIELD(type_, critical_J, "", NAN, 1e-3, 1e6,                                         \
                 "J from which a particle has come apart from its neighbours, for integrators " \
                 "that let it go; default: " own ".")

/* What a kernel needs to know of one of the scene's materials. */
typedef struct material_constants {
    material_kind kind;
    real density;
    real critical; /* J_c - 1; 1e6 where a material never comes apart of itself; clay works out its
                      own unless the scene sets it */
#define MATERIAL_CONSTANTS(kind, name) name##_constants name;
    union {
        MATERIALS(MATERIAL_CONSTANTS)
    };
#undef MATERIAL_CONSTANTS
} material_constants;

typedef struct material_model {
    material_type type;
    unsigned fields; /* particle fields it needs */
    void (*constants)(const void *parameters, int dim, material_constants *out);
    /* The fastest wave for strains within the range, m/s: never less than it is. */
    double (*wave_speed)(const void *parameters, int dim, const strain_range *range);
    /* Longest step that explicit viscosity allows on cells of dx, HUGE_VAL without viscosity. */
    double (*viscous_step)(const void *parameters, int dim, double dx);
    /* Stress, strain energy a rest volume, and J; viscosity left out. Pointers may be NULL. */
    void (*evaluate)(const void *parameters, int dim, const strain_state *state, double stress[6],
                     double *energy, double *J);
    /* Plain reference of the plastic return, NULL where there is none. */
    void (*project)(const void *parameters, int dim, strain_state *s);
    /* Yield function over the modulus kappa: <= 0 inside; NULL without plasticity. */
    double (*yield)(const void *parameters, int dim, const strain_state *s);
} material_model;

typedef struct strain_report strain_report; /* strain_wide.h */

/* Stress and update of particles i .. i + 7 of one material (wide.h), [dim - 2]; one table for each
 * instruction set. */
typedef struct material_passes {
    void (*stress[2])(const material_constants *c, const particles *p, int64_t i, const wide C[9],
                      wide tau[6]);
    void (*update[2])(const material_constants *c, particles *p, int64_t i, const wide G[9],
                      const wide_int *mask, strain_report *report);
} material_passes;

ISA_TABLES(material_passes, material_passes);

#define MATERIAL_MODEL(kind, name) extern const material_model material_##name;
MATERIALS(MATERIAL_MODEL)
#undef MATERIAL_MODEL
/* By material_kind. */
extern const material_model *const material_models[MATERIAL_KINDS];
extern const material_type *const material_types[MATERIAL_KINDS];

material_kind material_kind_of(const material_type *type);
/* Of material `index` of a scene. */
material_constants material_constants_of(const spate_scene *scene, int index);
/* What bodies and sources of a material bring, K above the surroundings; 0 of what is no liquid. */
real material_temperature(const spate_scene *scene, int index);

#endif
