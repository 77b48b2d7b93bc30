/*
 * The transfers between particles and grid, plainly. w = prod_a N(x_i - x_p), r = x_i - x_p in
 * cells.
 *
 *   P2G   m_i     = sum_p w m_p
 *         (mv)_i  = sum_p w m_p u_p(r),  u_p(r) = v_p + C_p r + sum_e c_e g_e(r)    APIC, PolyPIC
 *         dt f_i  = -sum_p w dt m_p / (rho0 D dx) tau_p r                           MLS-MPM
 *   grid  v^n = (mv)_i / m_i,   v* = v^n + dt f_i / m_i + dt g
 *   G2P   vpic = sum_i w v*,  vbar = sum_i w v^n,  C_p = 1/D sum_i w v* r^T
 *         c_e  = sum_i w g_e v* / sum_i w g_e^2                                     PolyPIC
 *         adj  = alpha (v_p - vbar),  v_p = vpic [+ adj],  x_p += dt (vpic + beta adj)
 *
 * D = sum_i w r_a^2 is 1/4 and 1/3 for the quadratic and cubic kernels. For the linear one it is f
 * (1 - f), and that of GIMP depends on the place too: C_p D_p, with the D_p of its gather, is what
 * a particle hands on (Jiang et al. 2015).
 */
#include "solver/mpm/reference.h"

#include <math.h>

/* B-splines of order 1, 2, 3, and GIMP with particles half a cell wide. */
static double kernel(int order, double r) {
    r = fabs(r);
    if (order == REFERENCE_GIMP)
        return r < 0.25   ? (7 - 16 * r * r) / 8
               : r < 0.75 ? 1 - r
               : r < 1.25 ? pow(5 - 4 * r, 2) / 16
                          : 0;
    if (order == 1) return r < 1 ? 1 - r : 0;
    if (order == 2) return r < 0.5 ? 0.75 - r * r : r < 1.5 ? 0.5 * (1.5 - r) * (1.5 - r) : 0;
    return r < 1 ? r * r * r / 2 - r * r + 2.0 / 3 : r < 2 ? pow(2 - r, 3) / 6 : 0;
}

/* The nodes that a particle reaches, order + 1 along an axis and three with GIMP, their weights and
 * distances; moments by axis. */
typedef struct stencil {
    int count;
    reference_node *node[64];
    double w[64], r[64][3];
    double D[3], skew[3]; /* sums of w r^2 and w r^3 */
} stencil;

static stencil stencil_of(const reference_step *s, const double x[3]) {
    const int edge = s->order == REFERENCE_GIMP ? 3 : s->order + 1;
    stencil t = {.count = s->dim == 3 ? edge * edge * edge : edge * edge};
    for (int n = 0; n < t.count; n++) {
        int64_t at = 0;
        t.w[n] = 1;
        for (int a = 0, stride = t.count / edge; a < s->dim; a++, stride /= edge) {
            const int node = (int)ceil(x[a] - 0.5 * edge) + n / stride % edge;
            t.w[n] *= kernel(s->order, t.r[n][a] = node - x[a]);
            at = at * s->nodes[a] + node;
        }
        t.node[n] = &s->grid[at];
        for (int a = 0; a < s->dim; a++)
            t.D[a] += t.w[n] * pow(t.r[n][a], 2), t.skew[a] += t.w[n] * pow(t.r[n][a], 3);
    }
    return t;
}

/* A mode of PolyPIC at node n: products of polynomials that are orthogonal under w (Fu et al.
 * 2017), 1, r and r^2 - skew/D r - D. */
static double mode_at(const reference_step *s, const stencil *t, int mode, int n) {
    double g = 1;
    for (int a = s->dim - 1; a >= 0; a--, mode /= 3) {
        const double r = t->r[n][a], square = r * r - t->skew[a] / t->D[a] * r - t->D[a];
        g *= mode % 3 == 0 ? 1 : mode % 3 == 1 ? r : square;
    }
    return g;
}

void reference_p2g(const reference_step *s, const reference_particle *p) {
    const stencil t = stencil_of(s, p->x);
    for (int n = 0; n < t.count; n++) {
        t.node[n]->mass += t.w[n] * p->mass;
        for (int c = 0; c < s->dim; c++) {
            double u = p->v[c], force = 0;
            for (int a = 0; a < s->dim; a++) {
                const double r_D = t.r[n][a] / t.D[a]; /* D^-1 r */
                if (s->affine)
                    u += p->C[c][a] *
                         (s->order == 1 || s->order == REFERENCE_GIMP ? p->D[a] : t.D[a]) * r_D;
                force -= p->mass / (p->density * s->dx) * p->tau[c][a] * r_D;
            }
            for (int e = 0; e < s->mode_count; e++)
                u += (double)s->mode_scale[e] * p->modes[e][c] * mode_at(s, &t, s->mode[e], n);
            t.node[n]->momentum[c] += t.w[n] * p->mass * u;
            t.node[n]->impulse[c] += t.w[n] * s->dt * force;
        }
    }
}

void reference_grid(const reference_step *s) {
    for (int n = 0; n < s->nodes[0] * s->nodes[1] * s->nodes[2]; n++)
        for (int c = 0; c < s->dim && s->grid[n].mass > 0; c++) {
            reference_node *i = &s->grid[n];
            i->v_old[c] = i->momentum[c] / i->mass;
            i->v[c] = i->v_old[c] + i->impulse[c] / i->mass + s->dt * s->gravity[c];
        }
}

void reference_g2p(const reference_step *s, reference_particle *p) {
    const stencil t = stencil_of(s, p->x);
    reference_particle q = {.mass = p->mass, .density = p->density};
    for (int c = 0; c < s->dim; c++) {
        double v_bar = 0, norm[POLY_MODES_MAX] = {0};
        for (int n = 0; n < t.count; n++) {
            const double w = t.w[n], v = t.node[n]->v[c];
            q.v[c] += w * v;
            v_bar += w * t.node[n]->v_old[c];
            for (int a = 0; a < s->dim; a++) q.C[c][a] += w * v * t.r[n][a] / t.D[a];
            for (int e = 0; e < s->mode_count; e++) {
                const double g = mode_at(s, &t, s->mode[e], n);
                q.modes[e][c] += w * g * v, norm[e] += w * g * g;
            }
        }
        for (int e = 0; e < s->mode_count; e++) q.modes[e][c] /= norm[e];
        const double adjustment = s->alpha * (p->v[c] - v_bar);
        q.x[c] = p->x[c] + s->dt / s->dx * (q.v[c] + s->beta * adjustment);
        if (s->flip) q.v[c] += adjustment;
        q.D[c] = t.D[c];
    }
    *p = q;
}
