#include "solver/sph/reference.h"

#include "core/vec.h"

static double distance(const double x[3], const double y[3]) {
    double d[3];
    vec_sub(d, x, y);
    return vec_length(d);
}

/* W_ij */
static double value(const sph_reference *r, const double x[3], const double y[3]) {
    return kernel_value(r->kernel, r->dim, distance(x, y), r->support) / r->lattice_density;
}

/* W'(r) / r: grad_i W_ij is that times x_i - x_j. */
static double gradient(const sph_reference *r, const double x[3], const double y[3]) {
    const double d = distance(x, y);
    if (d == 0) return 0;
    return kernel_derivative(r->kernel, r->dim, d, r->support) / d / r->lattice_gradient;
}

/* delta_i = sum_j V W_ij + sum_b V_b W_ib */
void sph_reference_density(const sph_reference *r, double *delta) {
    for (int64_t i = 0; i < r->count; i++) {
        delta[i] = 0;
        for (int64_t j = 0; j < r->count; j++) delta[i] += r->volume * value(r, r->x[i], r->x[j]);
        for (int64_t b = 0; b < r->boundary_count; b++)
            delta[i] += r->boundary_volume[b] * value(r, r->x[i], r->boundary_x[b]);
    }
}

/* a_i = -1 / (rho0 delta_i) (sum_j V (p_i + p_j) / delta_j grad W_ij + sum_b V_b 2 p_i grad W_ib)
 * */
void sph_reference_pressure(const sph_reference *r, const double *delta, double (*a)[3]) {
    for (int64_t i = 0; i < r->count; i++) {
        const double *x = r->x[i], *p = r->pressure;
        double sum[3] = {0}, d[3];
        for (int64_t j = 0; j < r->count; j++) {
            vec_sub(d, x, r->x[j]);
            vec_add_scaled(sum, sum, r->volume * (p[i] + p[j]) / delta[j] * gradient(r, x, r->x[j]),
                           d);
        }
        for (int64_t b = 0; b < r->boundary_count; b++) {
            vec_sub(d, x, r->boundary_x[b]);
            vec_add_scaled(sum, sum,
                           r->boundary_volume[b] * 2 * p[i] * gradient(r, x, r->boundary_x[b]), d);
        }
        vec_scale(a[i], -1 / (r->rest_density * delta[i]), sum);
    }
}

/* lap W_ij, or Morris' -2 W'(r) / r */
static double laplacian(const sph_reference *r, const double x[3], const double y[3]) {
    if (r->morris) return -2 * gradient(r, x, y);
    return kernel_laplacian(SPH_MUELLER, r->dim, distance(x, y), r->support);
}

/* a_i = nu / delta_i sum_j V lap W_ij (v_j - v_i) / delta_j */
void sph_reference_viscosity(const sph_reference *r, const double *delta, double (*a)[3]) {
    for (int64_t i = 0; i < r->count; i++) {
        double sum[3] = {0}, dv[3];
        for (int64_t j = 0; j < r->count; j++) {
            vec_sub(dv, r->v[j], r->v[i]);
            vec_add_scaled(sum, sum, r->volume * laplacian(r, r->x[i], r->x[j]) / delta[j], dv);
        }
        vec_scale(a[i], r->viscosity / delta[i], sum);
    }
}
