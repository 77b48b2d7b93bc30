/*
 * The transfers between particles and grid, plainly. w = prod_a N(x_i - x_p), r = x_i - x_p in cells.
 *
 *   P2G   m_i     = sum_p w m_p
 *         (mv)_i  = sum_p w m_p u_p(r),  u_p(r) = v_p + C_p r + sum_e c_e g_e(r)    APIC, PolyPIC
 *         dt f_i  = -sum_p w dt m_p / (rho0 D dx) tau_p r                           MLS-MPM
 *   grid  v^n = (mv)_i / m_i,   v* = v^n + dt f_i / m_i + dt g
 *   G2P   vpic = sum_i w v*,  vbar = sum_i w v^n,  C_p = 1/D sum_i w v* r^T
 *         c_e  = sum_i w g_e v* / sum_i w g_e^2                                     PolyPIC
 *         adj  = alpha (v_p - vbar),  v_p = vpic [+ adj],  x_p += dt (vpic + beta adj)
 *
 * D = sum_i w r_a^2 is 1/4 and 1/3 for the quadratic and cubic kernels. For the linear one it is
 * f (1 - f): C_p D_p, with the D_p of its gather, is what a particle hands on (Jiang et al. 2015).
 */
#include "solver/mpm/reference.h"

#include <math.h>

/* B-splines of order 1, 2, 3. */
static double kernel(int order, double r) {
    r = fabs(r);
    if (order == 1) return r < 1 ? 1 - r : 0;
    if (order == 2) return r < 0.5 ? 0.75 - r * r : r < 1.5 ? 0.5 * (1.5 - r) * (1.5 - r) : 0;
    return r < 1 ? r * r * r / 2 - r * r + 2.0 / 3 : r < 2 ? pow(2 - r, 3) / 6 : 0;
}

/* Along each axis: the first node, weights and distances of order + 1 nodes, and moments. */
typedef struct stencil {
    int first[3];
    double w[3][4], r[3][4], D[3], skew[3], square[3]; /* sums of w r^2, w r^3, w g_2^2 */
} stencil;

/* Orthogonal polynomials under w (Fu et al. 2017): 1, r, r^2 - (sum w r^3 / D) r - D. */
static double polynomial(const stencil *t, int a, int e, double r) {
    return e == 0 ? 1 : e == 1 ? r : r * r - t->skew[a] / t->D[a] * r - t->D[a];
}

static stencil stencil_of(const reference_step *s, const double x[3]) {
    stencil t = {0};
    for (int a = 0; a < s->dim; a++) {
        t.first[a] = (int)ceil(x[a] - 0.5 * (s->order + 1));
        for (int k = 0; k <= s->order; k++) {
            const double r = t.r[a][k] = t.first[a] + k - x[a];
            t.w[a][k] = kernel(s->order, r);
            t.D[a] += t.w[a][k] * r * r, t.skew[a] += t.w[a][k] * r * r * r;
        }
        for (int k = 0; k <= s->order; k++)
            t.square[a] += t.w[a][k] * pow(polynomial(&t, a, 2, t.r[a][k]), 2);
    }
    return t;
}

/* A node of a stencil: its weight and distance. */
typedef struct neighbour {
    reference_node *node;
    double w, r[3];
} neighbour;

/* The n-th of (order + 1)^dim, the last axis fastest. */
static bool next_node(const reference_step *s, const stencil *t, int n, neighbour *out) {
    const int edge = s->order + 1;
    int64_t at = 0;
    *out = (neighbour){.w = 1};
    for (int a = 0, stride = s->dim == 3 ? edge * edge : edge; a < s->dim; a++, stride /= edge) {
        const int k = n / stride % edge;
        if (a == 0 && n >= stride * edge) return false;
        out->w *= t->w[a][k], out->r[a] = t->r[a][k];
        at = at * s->nodes[a] + t->first[a] + k;
    }
    out->node = &s->grid[at];
    return true;
}

/* g_e at r, and sum w g_e^2, of a mode of PolyPIC. */
static double mode_at(const reference_step *s, const stencil *t, int mode, const double r[3],
                      double *norm) {
    double g = 1;
    *norm = 1;
    for (int a = s->dim - 1; a >= 0; a--, mode /= 3) {
        g *= polynomial(t, a, mode % 3, r[a]);
        *norm *= mode % 3 == 0 ? 1 : mode % 3 == 1 ? t->D[a] : t->square[a];
    }
    return g;
}

void reference_p2g(const reference_step *s, const reference_particle *p) {
    const stencil t = stencil_of(s, p->x);
    neighbour i;
    for (int n = 0; next_node(s, &t, n, &i); n++) {
        i.node->mass += i.w * p->mass;
        for (int c = 0; c < s->dim; c++) {
            double u = p->v[c], force = 0, norm;
            for (int a = 0; a < s->dim; a++) {
                const double D = s->order == 1 ? p->D[a] : t.D[a];
                if (s->affine) u += p->C[c][a] * D / t.D[a] * i.r[a];
                force -= p->mass / (p->density * t.D[a] * s->dx) * p->tau[c][a] * i.r[a];
            }
            for (int e = 0; e < s->mode_count; e++)
                u += (double)s->mode_scale[e] * p->modes[e][c] *
                     mode_at(s, &t, s->mode[e], i.r, &norm);
            i.node->momentum[c] += i.w * p->mass * u;
            i.node->impulse[c] += i.w * s->dt * force;
        }
    }
}

void reference_grid(const reference_step *s) {
    for (int64_t n = 0; n < (int64_t)s->nodes[0] * s->nodes[1] * s->nodes[2]; n++) {
        reference_node *i = &s->grid[n];
        for (int c = 0; c < s->dim && i->mass > 0; c++) {
            i->v_old[c] = i->momentum[c] / i->mass;
            i->v[c] = i->v_old[c] + i->impulse[c] / i->mass + s->dt * s->gravity[c];
        }
    }
}

void reference_g2p(const reference_step *s, reference_particle *p) {
    const stencil t = stencil_of(s, p->x);
    reference_particle q = {.mass = p->mass, .density = p->density};
    double v_bar[3] = {0}, norm;
    neighbour i;
    for (int n = 0; next_node(s, &t, n, &i); n++)
        for (int c = 0; c < s->dim; c++) {
            q.v[c] += i.w * i.node->v[c];
            v_bar[c] += i.w * i.node->v_old[c];
            for (int a = 0; a < s->dim; a++) q.C[c][a] += i.w * i.node->v[c] * i.r[a] / t.D[a];
            for (int e = 0; e < s->mode_count; e++) {
                const double g = mode_at(s, &t, s->mode[e], i.r, &norm);
                q.modes[e][c] += i.w * g * i.node->v[c] / norm;
            }
        }
    for (int c = 0; c < s->dim; c++) {
        const double adjustment = s->alpha * (p->v[c] - v_bar[c]);
        q.x[c] = p->x[c] + s->dt / s->dx * (q.v[c] + s->beta * adjustment);
        if (s->flip) q.v[c] += adjustment;
        q.D[c] = t.D[c];
    }
    *p = q;
}
