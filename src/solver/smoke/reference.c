#include "solver/smoke/reference.h"

#include "core/vec.h"

static int extent(const smoke_reference *r, int place, int axis) {
    return r->n[axis] + (place == axis);
}

static int clamp_int(int i, int most) { return i < 0 ? 0 : i > most ? most : i; }

/* Linear in each axis between the values of a place around x, in cells from the domain's corner. */
static double sample(const smoke_reference *r, int place, const double *values, const double x[3]) {
    int below[3] = {0}, above[3] = {0};
    double share[3] = {0}, sum = 0;
    for (int a = 0; a < r->dim; a++) {
        const double inside = fmin(fmax(x[a], 0), r->n[a]);
        const double t = inside - (place == a ? 0 : 0.5);
        const int most = extent(r, place, a) - 1;
        below[a] = clamp_int((int)floor(t), most);
        above[a] = clamp_int((int)floor(t) + 1, most);
        share[a] = t - floor(t);
    }
    for (int corner = 0; corner < 1 << r->dim; corner++) {
        double weight = 1;
        int at = 0;
        for (int a = 0; a < 3; a++) {
            const bool up = corner >> a & 1;
            weight *= up ? share[a] : 1 - share[a];
            at = at * extent(r, place, a) + (up ? above[a] : below[a]);
        }
        sum += weight * values[at];
    }
    return sum;
}

static void velocity(const smoke_reference *r, const double x[3], double u[3]) {
    vec_set(u, 0, 0, 0);
    for (int a = 0; a < r->dim; a++) u[a] = sample(r, a, r->velocity[a], x);
}

/* Where the gas at x comes from. */
static void trace_back(const smoke_reference *r, const double x[3], double from[3]) {
    double u[3], second[3], third[3], y[3];
    velocity(r, x, u);
    if (r->order > 1) {
        vec_add_scaled(y, x, -r->dt / 2, u);
        velocity(r, y, second);
    }
    if (r->order == 2) vec_copy(u, second);
    if (r->order == 3) {
        vec_add_scaled(y, x, -r->dt * 3 / 4, second);
        velocity(r, y, third);
        for (int a = 0; a < 3; a++) u[a] = (2 * u[a] + 3 * second[a] + 4 * third[a]) / 9;
    }
    vec_add_scaled(from, x, -r->dt, u);
}

void smoke_reference_advect(const smoke_reference *r, int place, const double *from, double *to) {
    int at[3];
    for (at[0] = 0; at[0] < extent(r, place, 0); at[0]++)
        for (at[1] = 0; at[1] < extent(r, place, 1); at[1]++)
            for (at[2] = 0; at[2] < extent(r, place, 2); at[2]++) {
                double x[3], origin[3];
                for (int a = 0; a < 3; a++) x[a] = at[a] + (place == a ? 0 : 0.5);
                trace_back(r, x, origin);
                *to++ = sample(r, place, from, origin);
            }
}
