/*
 * What the solids share, in plain double: moduli as a scene gives them and as the formulas need
 * them, and how uneven a strain within a range can be. The parameters of every solid begin with an
 * `elastic`.
 */
#ifndef SPATE_SOLVER_ELASTIC_H
#define SPATE_SOLVER_ELASTIC_H

#include "solver/materials/material.h"

typedef struct elastic {
    double density, young_modulus, poisson;
    double bulk_modulus;        /* instead of young_modulus */
    double critical_J;          /* NAN: the model's own */
    double bulk, shear, lambda; /* derived: kappa_d = lambda + 2 mu / d, mu, lambda */
} elastic;

#define ELASTIC_FIELDS(own_critical)                                                              \
    NUMBER_FIELD(elastic, density, "kg/m^3", 1000, SMALLEST, 1e12,                                \
                 "Density at rest; the default is water's. Dry sand has about 1600, snow 100 to " \
                 "500, steel 7850."),                                                             \
        NUMBER_FIELD(elastic, young_modulus, "Pa", 0, 0, 1e15,                                    \
                     "Young's modulus E; this or bulk_modulus must be given."),                   \
        NUMBER_FIELD(elastic, bulk_modulus, "Pa", 0, 0, 1e15,                                     \
                     "Bulk modulus kappa instead of E: E = 3 kappa (1 - 2 poisson)."),            \
        NUMBER_FIELD(elastic, poisson, "", 0.3, -0.99, 0.5,                                       \
                     "Poisson's ratio, at most 0.499: nearly incompressible."),                   \
        CRITICAL_FIELD(elastic, own_critical)

/* Refuses moduli that are missing or given twice, and derives the others: material_type.prepare. */
bool elastic_prepare(void *parameters, int dim, field_report *report);

/* Everything of `out` that comes before the union. */
void elastic_begin(const elastic *e, material_kind kind, double own_critical_J,
                   material_constants *out);
elastic_constants elastic_constants_of(const elastic *e);

double elastic_viscous_step(const void *parameters, int dim, double dx);

/* det b - 1 from B = b - I, without losing small strains. */
double determinant_less_one(int dim, const double B[6]);
/* Whether a component of a symmetric tensor exists in the dimension. */
static inline bool has_component(int dim, int c) {
    return dim == 3 || c == XX || c == YY || c == XY;
}

/* How uneven b can be within a range: the largest mean of the eigenvalues of bbar = J^(-2/d) b, and
 * how far one of them can be from that mean. */
typedef struct unevenness {
    double mean, deviation;
} unevenness;

unevenness largest_unevenness(int dim, const strain_range *range);

#endif
