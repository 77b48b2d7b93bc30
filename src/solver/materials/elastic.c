#include "solver/materials/elastic.h"

#include <stdio.h>

static const double POISSON_MOST = 0.499;

bool elastic_prepare(void *parameters, int dim, field_report *report) {
    elastic *e = parameters;
    bool young = e->young_modulus > 0, bulk = e->bulk_modulus > 0;
    if (young == bulk) {
        report->at = "young_modulus";
        snprintf(report->message, sizeof report->message, "%s; give young_modulus or bulk_modulus",
                 young ? "is given together with bulk_modulus" : "is missing or zero");
        return false;
    }
    if (e->poisson > POISSON_MOST)
        return field_complain(
            report, "poisson",
            "is %g, where the bulk modulus is infinite or nearly so; give -0.99 to "
            "%g, such as 0.49",
            e->poisson, POISSON_MOST);
    double E = young ? e->young_modulus : 3 * e->bulk_modulus * (1 - 2 * e->poisson);
    e->lambda = E * e->poisson / ((1 + e->poisson) * (1 - 2 * e->poisson));
    e->shear = E / (2 * (1 + e->poisson));
    e->bulk = e->lambda + 2 * e->shear / dim;
    return true;
}

void elastic_begin(const elastic *e, material_kind kind, double own_critical_J,
                   material_constants *out) {
    out->kind = kind;
    out->density = (real)e->density;
    out->critical = (real)((isnan(e->critical_J) ? own_critical_J : e->critical_J) - 1);
}

elastic_constants elastic_constants_of(const elastic *e) {
    return (elastic_constants){(real)e->bulk, (real)e->shear, (real)e->lambda};
}

double elastic_viscous_step(const void *parameters, int dim, double dx) {
    (void)parameters, (void)dim, (void)dx;
    return HUGE_VAL;
}

double determinant_less_one(int dim, const double B[6]) {
    if (dim == 2) return B[XX] + B[YY] + B[XX] * B[YY] - B[XY] * B[XY];
    double minors = B[XX] * B[YY] - B[XY] * B[XY] + B[XX] * B[ZZ] - B[XZ] * B[XZ] + B[YY] * B[ZZ] -
                    B[YZ] * B[YZ];
    double determinant = B[XX] * (B[YY] * B[ZZ] - B[YZ] * B[YZ]) -
                         B[XY] * (B[XY] * B[ZZ] - B[YZ] * B[XZ]) +
                         B[XZ] * (B[XY] * B[YZ] - B[YY] * B[XZ]);
    return B[XX] + B[YY] + B[ZZ] + minors + determinant;
}

/* det bbar = 1 and the mean m leave most to one eigenvalue when the others are alike: m + (d - 1) a
 * and m - a, with (m + (d - 1) a) (m - a)^(d - 1) = 1. */
unevenness largest_unevenness(int dim, const strain_range *range) {
    double stretch = fmax(range->stretch, pow(range->J_max, 2.0 / dim));
    double mean = fmax(1, stretch * pow(range->J_min, -2.0 / dim));
    double low = 0, high = mean;
    for (int step = 0; step < 60; step++) {
        double a = (low + high) / 2;
        if ((mean + (dim - 1) * a) * pow(mean - a, dim - 1) > 1)
            low = a;
        else
            high = a;
    }
    return (unevenness){mean, mean > 1 ? (dim - 1) * high : 0};
}
