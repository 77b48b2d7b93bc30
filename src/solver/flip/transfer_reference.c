/*
 * The transfers of PIC, FLIP and APIC as plainly as they can be written: what scatter.h and
 * gather.h do eight particles at a time on sparse bricks. Tests hold them against this.
 * Component c of the velocity lives on faces, at x_f = (i, j, k) + 1/2 along all axes but c. With
 * d = x_f - x_p and a kernel N, the weight of a face is w = N(d_x) N(d_y) N(d_z):
 *     linear      N(d) = 1 - |d|
 *     quadratic   N(d) = 3/4 - d^2 up to 1/2, (3/2 - |d|)^2 / 2 up to 3/2
 *
 * Particles to grid (Jiang et al. 2015, eq. 8), with the moment B in place of C = B D^-1:
 *     m_f = sum_p w m_p,     (m u)_f = sum_p w m_p [v_p + B_p D^-1 d],     D = sum_f w d^2 by axis
 * where N(d) d / D is 4 N(d) d for the quadratic kernel and 1 or -1, the side that the face is on,
 * for the linear one. Grid to particles (eq. 10; FLIP: Zhu and Bridson 2005):
 *     u = sum_f w u_f,   change = sum_f w (u_f - u_f_old),   B = sum_f w u_f d,
 *     v = alpha (v + change) + (1 - alpha) u
 */
#include "solver/flip/transfer_reference.h"

static double weight(flip_kernel kernel, double d) {
    const double r = fabs(d);
    if (kernel == FLIP_LINEAR) return fmax(1 - r, 0);
    return r < 0.5 ? 0.75 - r * r : r < 1.5 ? 0.5 * (1.5 - r) * (1.5 - r) : 0;
}

/* N(d) d / D */
static double slope(flip_kernel kernel, double d) {
    if (kernel == FLIP_QUADRATIC) return 4 * weight(kernel, d) * d;
    return fabs(d) < 1 ? copysign(1, d) : 0;
}

/* A face that a particle reaches: its weight, w d and w D^-1 d by axis. */
typedef struct reached {
    int64_t face;
    double w, arm[3], slope[3];
} reached;

/* The n-th of the faces of component c around a particle. */
enum { AROUND = 5 };
static int around_count(int dim) { return AROUND * AROUND * (dim == 3 ? AROUND : 1); }
static reached reach(const reference_grid *g, const reference_particle *p, int c, int n) {
    int at[3];
    double d[3] = {0};
    reached r = {.w = 1, .slope = {1, 1, 1}};
    box_place(AROUND, n, g->dim, at);
    for (int a = 0; a < g->dim; a++) {
        at[a] += (int)floor(p->x[a]) - AROUND / 2;
        d[a] = at[a] + (a == c ? 0 : 0.5) - p->x[a];
        r.w *= weight(g->kernel, d[a]);
        for (int e = 0; e < g->dim; e++)
            r.slope[e] *= e == a ? slope(g->kernel, d[a]) : weight(g->kernel, d[a]);
    }
    for (int a = 0; a < g->dim; a++) r.arm[a] = r.w * d[a];
    r.face = ((int64_t)at[0] * g->cells[1] + at[1]) * g->cells[2] + at[2];
    return r;
}

void reference_scatter(const reference_grid *g, const reference_particle *p) {
    for (int c = 0; c < g->dim; c++)
        for (int n = 0; n < around_count(g->dim); n++) {
            const reached r = reach(g, p, c, n);
            double u = r.w * p->v[c];
            for (int a = 0; a < g->dim && g->affine; a++) u += r.slope[a] * p->B[a][c];
            g->mass[c][r.face] += r.w * p->mass;
            g->momentum[c][r.face] += u * p->mass;
        }
}

void reference_gather(const reference_grid *g, double alpha, reference_particle *p) {
    for (int c = 0; c < g->dim; c++) {
        double u = 0, change = 0, B[3] = {0};
        for (int n = 0; n < around_count(g->dim); n++) {
            const reached r = reach(g, p, c, n);
            const double velocity = g->velocity[c][r.face];
            u += r.w * velocity;
            change += r.w * (velocity - g->velocity_old[c][r.face]);
            for (int a = 0; a < g->dim && g->affine; a++) B[a] += r.arm[a] * velocity;
        }
        p->v[c] = alpha * (p->v[c] + change) + (1 - alpha) * u;
        for (int a = 0; a < g->dim; a++) p->B[a][c] = B[a];
    }
}
