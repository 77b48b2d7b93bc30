#include "scene/forces.h"

#include "core/random.h"
#include "core/vec.h"

force_field force_default(void) {
    return (force_field){.axis = {0, 0, 1},
                         .until = HUGE_VAL,
                         .min = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL},
                         .max = {HUGE_VAL, HUGE_VAL, HUGE_VAL},
                         .region = -1};
}

static void attractor(const force_field *f, const double x[3], double a[3]) {
    double r[3];
    vec_sub(r, x, f->center);
    const double square = vec_dot(r, r) + f->softening * f->softening;
    vec_scale(a, square > 0 ? -f->strength / (square * sqrt(square)) : 0, r);
}

static void vortex(const force_field *f, const double x[3], double a[3]) {
    double r[3], around[3];
    vec_sub(r, x, f->center);
    vec_cross(around, f->axis, r);
    const double distance = vec_length(around), R = f->radius;
    const double profile = distance < R ? 1 / R : R / (distance * distance);
    vec_scale(a, distance > 0 ? f->strength * profile : 0, around);
}

/* ---- Turbulence ------------------------------------------------------------------------------ */

/* Random values at the points of a lattice in space and time, and between them the products of s =
 * 6 u^5 - 15 u^4 + 10 u^3 (Perlin 2002), whose first and second derivative are 0 at its ends: the
 * slope of the sum is continuous. */
typedef struct fade {
    double value[2], slope[2]; /* shares of the two lattice points, and their derivatives */
    int64_t low;
} fade;

static fade fade_of(double x) {
    const double floor_x = floor(x), u = x - floor_x;
    const double s = u * u * u * (u * (6 * u - 15) + 10), d = 30 * u * u * (u * (u - 2) + 1);
    return (fade){{1 - s, s}, {-d, d}, (int64_t)floor_x};
}

static double lattice_value(const force_field *f, const int64_t at[4], int potential) {
    uint64_t key = f->seed;
    for (int i = 0; i < 4; i++) key = random_mix(key ^ (uint64_t)at[i]);
    return 2 * random_unit(key, (uint64_t)potential, 0) - 1;
}

/* The gradient of one random potential, over the lattice's spacing. */
static void noise_gradient(const force_field *f, const fade g[4], int dim, int potential,
                           double slope[3]) {
    vec_set(slope, 0, 0, 0);
    for (int corner = 0; corner < 16; corner++) {
        int64_t at[4];
        int bit[4];
        for (int i = 0; i < 4; i++) bit[i] = corner >> i & 1, at[i] = g[i].low + bit[i];
        if (dim == 2 && bit[2]) continue;
        const double value = lattice_value(f, at, potential) * g[3].value[bit[3]];
        for (int a = 0; a < dim; a++) {
            double part = value;
            for (int b = 0; b < dim; b++) part *= b == a ? g[b].slope[bit[b]] : g[b].value[bit[b]];
            slope[a] += part;
        }
    }
}

/* Mean squares of one component of the curl over space and time with values of variance 1/3: of the
 * share s its mean square 181/231 and of its slope 20/7, of both lattice points together. In 2D a
 * component is one slope, in 3D the difference of two. */
static double noise_size(int dim, bool changes) {
    const double value = 181.0 / 231, slope = 20.0 / 7;
    const double one = slope * (dim == 3 ? value * value : value) * (changes ? value : 1) / 3;
    return sqrt(dim == 3 ? 3 * 2 * one : 2 * one);
}

static void turbulence(const force_field *f, int dim, const double x[3], double t, double a[3]) {
    fade g[4] = {
        {{1, 0}, {0, 0}, 0}, {{1, 0}, {0, 0}, 0}, {{1, 0}, {0, 0}, 0}, {{1, 0}, {0, 0}, 0}};
    for (int i = 0; i < dim; i++) g[i] = fade_of(x[i] / f->length);
    if (f->period > 0) g[3] = fade_of(t / f->period);
    const double scale = f->strength / noise_size(dim, f->period > 0);
    double s[3][3] = {{0}};
    for (int p = dim == 3 ? 0 : 2; p < 3; p++) noise_gradient(f, g, dim, p, s[p]);
    a[0] = scale * (s[2][1] - s[1][2]);
    a[1] = scale * (s[0][2] - s[2][0]);
    a[2] = dim == 3 ? scale * (s[1][0] - s[0][1]) : 0;
}

/* ---- All kinds ------------------------------------------------------------------------------- */

void force_acceleration(const force_field *f, int dim, const double x[3], double t, double a[3]) {
    vec_set(a, 0, 0, 0);
    switch ((force_kind)f->kind) {
    case FORCE_WIND: vec_copy(a, f->acceleration); break;
    case FORCE_ATTRACTOR: attractor(f, x, a); break;
    case FORCE_VORTEX: vortex(f, x, a); break;
    case FORCE_TURBULENCE: turbulence(f, dim, x, t, a); break;
    default: break;
    }
}

double force_rate(const force_field *f, const double x[3]) {
    if (f->kind == FORCE_DRAG) return f->rate;
    double r[3];
    vec_sub(r, x, f->center);
    const double share = 1 - vec_dot(r, r) / (f->radius * f->radius);
    return share > 0 ? f->rate * share * share : 0;
}

double force_most(const force_field *f) {
    switch ((force_kind)f->kind) {
    case FORCE_WIND: return vec_length(f->acceleration);
    /* at r = s / sqrt(2) */
    case FORCE_ATTRACTOR: return fabs(f->strength) * 0.3849002 / (f->softening * f->softening);
    case FORCE_VORTEX: return fabs(f->strength);
    case FORCE_TURBULENCE: return 5 * fabs(f->strength);
    default: return 0;
    }
}
