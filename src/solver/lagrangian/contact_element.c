#include "solver/lagrangian/contact_element.h"

#include "core/vec.h"
#include <string.h>

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Q by columns, tangents first, and the edges in it: T, upper triangular. */
typedef struct contact_frame {
    double q[3][3];
    double T[2][2];
} contact_frame;

static bool frame_of_triangle(const double x[3][3], contact_frame *f) {
    double a[3], b[3];
    vec_sub(a, x[1], x[0]);
    vec_sub(b, x[2], x[0]);
    vec_cross(f->q[2], a, b);
    vec_copy(f->q[0], a);
    if (!vec_normalise(f->q[0]) || !vec_normalise(f->q[2])) return false;
    vec_cross(f->q[1], f->q[2], f->q[0]);
    f->T[0][0] = vec_length(a), f->T[0][1] = vec_dot(f->q[0], b);
    f->T[1][0] = 0, f->T[1][1] = vec_dot(f->q[1], b);
    return true;
}

/* In 2D: the tangent, and what is to its left. */
static bool frame_of_edge(const double x[3][3], contact_frame *f) {
    vec_sub(f->q[0], x[1], x[0]);
    f->T[0][0] = vec_length(f->q[0]);
    if (!vec_normalise(f->q[0])) return false;
    vec_set(f->q[1], -f->q[0][1], f->q[0][0], 0);
    vec_set(f->q[2], 0, 0, 0);
    return true;
}

static void across(const double t[3], double u[3]) {
    double axis[3] = {0};
    int least = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(t[a]) < fabs(t[least])) least = a;
    axis[least] = 1;
    vec_cross(u, t, axis);
    vec_normalise(u);
}

/* Of a strand the second direction is that of its first normal, as far as it is across. */
static bool frame_of_segment(const double x[3][3], const double first[3], contact_frame *f) {
    vec_sub(f->q[0], x[1], x[0]);
    f->T[0][0] = vec_length(f->q[0]);
    if (!vec_normalise(f->q[0])) return false;
    vec_add_scaled(f->q[1], first, -vec_dot(first, f->q[0]), f->q[0]);
    if (!vec_normalise(f->q[1])) across(f->q[0], f->q[1]);
    vec_cross(f->q[2], f->q[0], f->q[1]);
    return true;
}

bool contact_normals(contact_kind kind, const double x[3][3], double d[2][3]) {
    contact_frame f;
    const double none[3] = {0};
    const bool fine = kind.normals == 2    ? frame_of_segment(x, none, &f)
                      : kind.tangents == 2 ? frame_of_triangle(x, &f)
                                           : frame_of_edge(x, &f);
    if (!fine) return false;
    for (int n = 0; n < kind.normals; n++) vec_copy(d[n], f.q[kind.tangents + n]);
    return true;
}

static void add_outer(double out[3][3], const double a[3], const double b[3]) {
    for (int r = 0; r < 3; r++) vec_add_scaled(out[r], out[r], a[r], b);
}

/* A force on corner k of the tangents' columns; the first corner has the opposite. */
static void add_force(contact_response *r, int k, double by, const double along[3]) {
    vec_add_scaled(r->force[k], r->force[k], by, along);
    vec_add_scaled(r->force[0], r->force[0], -by, along);
}

static void clear_load(contact_response *r) {
    memset(r->force, 0, sizeof r->force);
    memset(r->moment, 0, sizeof r->moment);
}

/* ---- One normal ------------------------------------------------------------------------------ */

/* The return to the cone; false where there is no stress. */
static bool limit_shear(const contact_material *m, double s[2], double *r, contact_response *out) {
    out->reset = !(*r > 0);
    if (out->reset || *r >= 1) {
        s[0] = s[1] = 0, *r = 1;
        return false;
    }
    const double pressure = m->normal * (1 - *r) * (1 - *r);
    const double shear = m->shear * sqrt(s[0] * s[0] + s[1] * s[1]), most = m->tangent * pressure;
    for (int k = 0; k < 2 && shear > most; k++) s[k] *= most / shear;
    return true;
}

static void respond_by_one(const contact_material *m, int tangents, const contact_frame *f,
                           double d[3], contact_response *out) {
    const double *normal = f->q[tangents];
    double s[2] = {0}, r = vec_dot(normal, d), P[3] = {0};
    for (int k = 0; k < tangents; k++) s[k] = vec_dot(f->q[k], d);
    out->loaded = limit_shear(m, s, &r, out);
    vec_scale(d, r, normal);
    for (int k = 0; k < tangents; k++) vec_add_scaled(d, d, s[k], f->q[k]);
    if (!out->loaded) return;
    clear_load(out);
    const double pressure = m->normal * (1 - r) * (1 - r);
    for (int k = 0; k < tangents; k++) vec_add_scaled(P, P, m->shear * s[k], f->q[k]);
    vec_add_scaled(P, P, -pressure, normal);
    add_outer(out->moment, P, d);
    /* Tangents' columns: (g r + k (1 - r)^2) q_n (T^-1 s)^T. */
    const double by = m->shear * r + pressure;
    double y[2] = {s[0] / f->T[0][0], 0};
    if (tangents == 2) {
        y[1] = s[1] / f->T[1][1];
        y[0] = (s[0] - f->T[0][1] * y[1]) / f->T[0][0];
    }
    for (int k = 0; k < tangents; k++) add_force(out, k + 1, -by * y[k], normal);
    out->compression = 1 - r;
    out->energy = m->shear / 2 * (s[0] * s[0] + s[1] * s[1]) + pressure * (1 - r) / 3;
}

/* ---- Strands --------------------------------------------------------------------------------- */

/* R of the directions across: (a, b; 0, c), and the shear along the strand. */
typedef struct strand_block {
    double a, b, c, s[2];
} strand_block;

static void clear_block(strand_block *k) { *k = (strand_block){.a = 1, .c = 1}; }

/* Half of what b/J has more along the first direction than along the second, and its other entry:
 * the deviator is (half, off; off, -half). */
static void deviator(const strand_block *k, double J, double *half, double *off) {
    *half = (k->a * k->a + k->b * k->b - k->c * k->c) / (2 * J);
    *off = k->b * k->c / J;
}

/* The return to the cones of the block and of the shear; false where there is no stress. */
static bool limit_block(const contact_material *m, strand_block *k, contact_response *out) {
    const double J = k->a * k->c;
    out->reset = !(k->a > 0 && k->c > 0);
    if (out->reset || J >= 1) {
        clear_block(k);
        return false;
    }
    const double pressure = m->bulk / 2 * (1 - J * J);
    double half, off;
    deviator(k, J, &half, &off);
    const double size = sqrt(2 * (half * half + off * off));
    const double most = sqrt(2) * m->sine * pressure;
    if (m->block * size > most) {
        const double share = most / (m->block * size);
        half *= share, off *= share;
        const double t = sqrt(1 + half * half + off * off);
        k->c = sqrt(J * (t - half));
        k->b = J * off / k->c;
        k->a = J / k->c;
    }
    const double along[2] = {k->a * k->s[0] + k->b * k->s[1], k->c * k->s[1]};
    const double shear = m->shear * sqrt(along[0] * along[0] + along[1] * along[1]);
    const double limit = m->tangent * pressure;
    for (int n = 0; n < 2 && shear > limit; n++) k->s[n] *= limit / shear;
    return true;
}

/* P of the block, tau R^-T, and its energy. */
static double block_stress(const contact_material *m, const strand_block *k, double P[2][2]) {
    const double J = k->a * k->c, pressure = m->bulk / 2 * (1 - J * J);
    double half, off;
    deviator(k, J, &half, &off);
    const double xx = m->block * half - pressure, yy = -m->block * half - pressure;
    const double xy = m->block * off, ratio = k->b / (k->a * k->c);
    P[0][0] = xx / k->a - xy * ratio, P[0][1] = xy / k->c;
    P[1][0] = xy / k->a - yy * ratio, P[1][1] = yy / k->c;
    const double trace = (k->a * k->a + k->b * k->b + k->c * k->c) / J;
    return m->block / 2 * (trace - 2) + m->bulk / 2 * ((J * J - 1) / 2 - log(J));
}

static void place_normals(const contact_frame *f, const strand_block *k, double d[2][3]) {
    for (int a = 0; a < 3; a++) {
        d[0][a] = k->s[0] * f->q[0][a] + k->a * f->q[1][a];
        d[1][a] = k->s[1] * f->q[0][a] + k->b * f->q[1][a] + k->c * f->q[2][a];
    }
}

static void respond_by_two(const contact_material *m, const contact_frame *f, double d[2][3],
                           contact_response *out) {
    strand_block k = {.a = vec_dot(f->q[1], d[0]),
                      .b = vec_dot(f->q[1], d[1]),
                      .c = vec_dot(f->q[2], d[1]),
                      .s = {vec_dot(f->q[0], d[0]), vec_dot(f->q[0], d[1])}};
    out->loaded = limit_block(m, &k, out);
    place_normals(f, &k, d);
    if (!out->loaded) return;
    double P[2][2];
    clear_load(out);
    out->energy = block_stress(m, &k, P) + m->shear / 2 * (k.s[0] * k.s[0] + k.s[1] * k.s[1]);
    out->compression = 1 - k.a * k.c;
    for (int n = 0; n < 2; n++) {
        double column[3];
        for (int a = 0; a < 3; a++)
            column[a] =
                m->shear * k.s[n] * f->q[0][a] + P[0][n] * f->q[1][a] + P[1][n] * f->q[2][a];
        add_outer(out->moment, column, d[n]);
    }
    /* The tangent's column: (g R - P) s over the length. */
    const double R[2][2] = {{k.a, k.b}, {0, k.c}};
    for (int n = 0; n < 2; n++) {
        const double sum =
            (m->shear * R[n][0] - P[n][0]) * k.s[0] + (m->shear * R[n][1] - P[n][1]) * k.s[1];
        add_force(out, 1, -sum / f->T[0][0], f->q[n + 1]);
    }
}

void contact_respond(const contact_material *m, contact_kind kind, const double x[3][3],
                     double d[2][3], contact_response *out) {
    contact_frame f;
    out->loaded = out->reset = false;
    out->compression = out->energy = 0;
    out->lost = !(kind.normals == 2    ? frame_of_segment(x, d[0], &f)
                  : kind.tangents == 2 ? frame_of_triangle(x, &f)
                                       : frame_of_edge(x, &f));
    if (out->lost) return;
    if (kind.normals == 2)
        respond_by_two(m, &f, d, out);
    else
        respond_by_one(m, kind.tangents, &f, d[0], out);
}
