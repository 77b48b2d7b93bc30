#include "solver/lagrangian/rods.h"

#include "core/vec.h"

#define PI 3.14159265358979323846

rod_material rod_material_of(double young_modulus, double poisson, double radius) {
    const double shear = young_modulus / (2 * (1 + poisson)), square = radius * radius;
    return (rod_material){.stretch = young_modulus * PI * square,
                          .bend = young_modulus * PI * square * square / 4,
                          .twist = shear * PI * square * square / 2};
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static int64_t next(const rod *r, int64_t i) { return i + 1 == r->vertices ? 0 : i + 1; }
static int64_t edge_before(const rod *r, int64_t i) { return i == 0 ? r->vertices - 1 : i - 1; }
static int64_t first_bend(const rod *r) { return r->closed ? 0 : 1; }

static double edge_of(const rod *r, const double (*x)[3], int64_t j, double tangent[3]) {
    vec_sub(tangent, x[next(r, j)], x[j]);
    const double length = vec_length(tangent);
    vec_scale(tangent, 1 / length, tangent);
    return length;
}

/* Turns u by the smallest rotation that takes one unit vector to another. */
static void carry(const double from[3], const double to[3], double u[3]) {
    double axis[3], turned[3], twice[3];
    vec_cross(axis, from, to);
    vec_cross(turned, axis, u);
    vec_cross(twice, axis, turned);
    const double share = 1 / (1 + vec_dot(from, to));
    for (int a = 0; a < 3; a++) u[a] += turned[a] + share * twice[a];
}

static void turn_about(const double tangent[3], double angle, double u[3]) {
    double turn[3][3];
    mat_rotation(turn, tangent, angle);
    mat_apply(u, turn, u);
}

/* The turn about t from a to b, both across it. */
static double turn_between(const double a[3], const double b[3], const double t[3]) {
    double across[3];
    vec_cross(across, a, b);
    return atan2(vec_dot(across, t), vec_dot(a, b));
}

static void straighten(rod_edge *e) {
    vec_add_scaled(e->director, e->director, -vec_dot(e->director, e->tangent), e->tangent);
    vec_normalise(e->director);
}

/* By how much the director of a bend's second edge is turned from that of its first: the one that
 * is nearest to the value it had. */
static void update_reference(rod *r, int64_t i) {
    const rod_edge *before = &r->edge[edge_before(r, i)], *after = &r->edge[i];
    double u[3];
    vec_copy(u, before->director);
    carry(before->tangent, after->tangent, u);
    turn_about(after->tangent, r->reference[i], u);
    r->reference[i] += turn_between(u, after->director, after->tangent);
}

/* Two edges that fold back on each other have no curvature. */
#define FOLDED 1e-6
static bool is_folded(const rod_edge *a, const rod_edge *b) {
    return !(1 + vec_dot(a->tangent, b->tangent) > FOLDED);
}

bool rod_begin(rod *r, const double (*x)[3], const double across[3]) {
    for (int64_t j = 0; j < rod_edges(r); j++) {
        rod_edge *e = &r->edge[j];
        if (!(edge_of(r, x, j, e->tangent) > 0)) return false;
        if (j > 0 && is_folded(&r->edge[j - 1], e)) return false;
        e->angle = r->reference[j] = 0;
        if (j > 0) {
            vec_copy(e->director, r->edge[j - 1].director);
            carry(r->edge[j - 1].tangent, e->tangent, e->director);
        } else {
            vec_copy(e->director, across);
        }
        straighten(e);
    }
    if (r->closed) update_reference(r, 0);
    return true;
}

bool rod_transport(rod *r, const double (*x)[3]) {
    for (int64_t j = 0; j < rod_edges(r); j++) {
        rod_edge *e = &r->edge[j];
        double tangent[3];
        if (!(edge_of(r, x, j, tangent) > 0)) return false;
        if (!(1 + vec_dot(e->tangent, tangent) > FOLDED)) return false;
        carry(e->tangent, tangent, e->director);
        vec_copy(e->tangent, tangent);
        straighten(e);
    }
    for (int64_t i = first_bend(r); i < rod_edges(r); i++)
        if (is_folded(&r->edge[edge_before(r, i)], &r->edge[i])) return false;
    rod_references(r);
    return true;
}

void rod_references(rod *r) {
    for (int64_t i = first_bend(r); i < rod_edges(r); i++) update_reference(r, i);
}

/* ---- Curvature and twist --------------------------------------------------------------------- */

/* What is known of a bend: names as at the head of rods.h, [0] of the edge before it. */
typedef struct bend_state {
    int64_t edge[2];
    double t[2][3], m1[2][3], m2[2][3];
    double kb[3], chi;
    double k[2], twist;
    double slope[2][2]; /* dk_c / dtheta of an edge: [c][edge] */
} bend_state;

static bend_state bend_of(const rod *r, int64_t i) {
    bend_state s = {.edge = {edge_before(r, i), i}};
    for (int e = 0; e < 2; e++) {
        const rod_edge *edge = &r->edge[s.edge[e]];
        double v[3];
        const double c = cos(edge->angle), n = sin(edge->angle);
        vec_copy(s.t[e], edge->tangent);
        vec_cross(v, edge->tangent, edge->director);
        for (int a = 0; a < 3; a++) {
            s.m1[e][a] = c * edge->director[a] + n * v[a];
            s.m2[e][a] = -n * edge->director[a] + c * v[a];
        }
    }
    s.chi = 1 + vec_dot(s.t[0], s.t[1]);
    vec_cross(s.kb, s.t[0], s.t[1]);
    vec_scale(s.kb, 2 / s.chi, s.kb);
    for (int e = 0; e < 2; e++) {
        s.slope[0][e] = -vec_dot(s.m1[e], s.kb) / 2;
        s.slope[1][e] = -vec_dot(s.m2[e], s.kb) / 2;
    }
    s.k[0] = -s.slope[1][0] - s.slope[1][1];
    s.k[1] = s.slope[0][0] + s.slope[0][1];
    s.twist = r->edge[i].angle - r->edge[s.edge[0]].angle + r->reference[i];
    return s;
}

void rod_set_rest(rod *r, const double (*x)[3]) {
    double unused[3];
    for (int64_t j = 0; j < rod_edges(r); j++) r->length[j] = edge_of(r, x, j, unused);
    for (int64_t i = first_bend(r); i < rod_edges(r); i++) {
        const bend_state s = bend_of(r, i);
        r->bend[i] = (rod_bend){.length = (r->length[s.edge[0]] + r->length[i]) / 2,
                                .curvature = {s.k[0], s.k[1]},
                                .twist = s.twist};
    }
}

/* How far a bend is from rest, over its length: moments EI (k - k0) / l and GJ (m - m0) / l. */
typedef struct bend_moments {
    double bend[2], twist;
    strain_energy energy;
} bend_moments;

static bend_moments moments_of(const rod_bend *rest, const rod_material *m, const bend_state *s) {
    bend_moments out = {.twist = m->twist * (s->twist - rest->twist) / rest->length};
    out.energy.twist = out.twist * (s->twist - rest->twist) / 2;
    for (int c = 0; c < 2; c++) {
        out.bend[c] = m->bend * (s->k[c] - rest->curvature[c]) / rest->length;
        out.energy.bend += out.bend[c] * (s->k[c] - rest->curvature[c]) / 2;
    }
    return out;
}

/* ---- Forces ---------------------------------------------------------------------------------- */

/* dE/de of the edge before a bend (0) and after it (1). */
static void bend_gradient(const bend_state *s, const bend_moments *q, int e, double length,
                          double out[3]) {
    const double *other = s->t[1 - e], sign = e == 0 ? 1 : -1;
    for (int a = 0; a < 3; a++) {
        const double both = (s->t[0][a] + s->t[1][a]) / s->chi;
        out[a] = -(q->bend[0] * s->k[0] + q->bend[1] * s->k[1]) * both + q->twist * s->kb[a] / 2;
    }
    double sum[3], part[3];
    for (int a = 0; a < 3; a++)
        sum[a] =
            (q->bend[0] * (s->m2[0][a] + s->m2[1][a]) - q->bend[1] * (s->m1[0][a] + s->m1[1][a])) /
            s->chi;
    vec_cross(part, other, sum);
    vec_add_scaled(out, out, sign, part);
    vec_scale(out, 1 / length, out);
}

static double stretch_forces(const rod *r, const rod_material *m, const double (*x)[3],
                             double (*f)[3]) {
    double energy = 0;
    for (int64_t j = 0; j < rod_edges(r); j++) {
        double t[3];
        const double strain = edge_of(r, x, j, t) / r->length[j] - 1, pull = m->stretch * strain;
        energy += pull * strain * r->length[j] / 2;
        vec_add_scaled(f[j], f[j], pull, t);
        vec_add_scaled(f[next(r, j)], f[next(r, j)], -pull, t);
    }
    return energy;
}

strain_energy rod_forces(const rod *r, const rod_material *m, const double (*x)[3], double (*f)[3],
                         double *torque) {
    strain_energy energy = {.stretch = stretch_forces(r, m, x, f)};
    for (int64_t j = 0; j < rod_edges(r) && torque; j++) torque[j] = 0;
    for (int64_t i = first_bend(r); i < rod_edges(r); i++) {
        const bend_state s = bend_of(r, i);
        const bend_moments q = moments_of(&r->bend[i], m, &s);
        energy.bend += q.energy.bend, energy.twist += q.energy.twist;
        for (int e = 0; e < 2; e++) {
            double t[3], g[3];
            const int64_t j = s.edge[e];
            bend_gradient(&s, &q, e, edge_of(r, x, j, t), g);
            vec_add(f[j], f[j], g);
            vec_sub(f[next(r, j)], f[next(r, j)], g);
            if (torque)
                torque[j] += q.bend[0] * s.slope[0][e] + q.bend[1] * s.slope[1][e] +
                             (e == 0 ? -q.twist : q.twist);
        }
    }
    return energy;
}

/* ---- Twist ----------------------------------------------------------------------------------- */

/* dE/dtheta and its derivative by edge, or a positive matrix near it: the diagonal, and the entry
 * that couples an edge with the next; a closed strand's last edge is not coupled with its first. */
typedef struct twist_system {
    double *gradient, *diagonal, *coupling, *change;
} twist_system;

static double twist_assemble(const rod *r, const rod_material *m, bool positive,
                             const twist_system *t) {
    double energy = 0;
    for (int64_t j = 0; j < rod_edges(r); j++) t->gradient[j] = t->diagonal[j] = t->coupling[j] = 0;
    for (int64_t i = first_bend(r); i < rod_edges(r); i++) {
        const bend_state s = bend_of(r, i);
        const rod_bend *rest = &r->bend[i];
        const bend_moments q = moments_of(rest, m, &s);
        energy += strain_energy_sum(&q.energy);
        for (int e = 0; e < 2; e++) {
            const int64_t j = s.edge[e];
            double square = 0, more = 0; /* more: of the second derivatives of k */
            for (int c = 0; c < 2; c++) {
                t->gradient[j] += q.bend[c] * s.slope[c][e];
                square += s.slope[c][e] * s.slope[c][e];
                more += q.bend[c] * (c == 0 ? s.slope[1][e] : -s.slope[0][e]);
            }
            t->gradient[j] += e == 0 ? -q.twist : q.twist;
            t->diagonal[j] +=
                (m->twist + m->bend * square) / rest->length + (positive ? fmax(more, 0) : more);
        }
        if (s.edge[1] == s.edge[0] + 1)
            t->coupling[s.edge[0]] +=
                (m->bend * (s.slope[0][0] * s.slope[0][1] + s.slope[1][0] * s.slope[1][1]) -
                 m->twist) /
                rest->length;
    }
    return energy;
}

static void hold_twist(const rod *r, rod_clamps clamps, const twist_system *t) {
    const int64_t last = rod_edges(r) - 1;
    if (clamps.first) t->gradient[0] = t->coupling[0] = 0;
    if (clamps.last) {
        t->gradient[last] = 0;
        if (last > 0) t->coupling[last - 1] = 0;
    }
}

/* change = -matrix^-1 gradient; false where the matrix is not positive. A free strand may turn as a
 * whole, so the matrix is made a little larger. */
static bool twist_solve(int64_t edges, const twist_system *t) {
    enum { WHOLE_TURN = 1000000 };
    double pivot = 0;
    for (int64_t j = 0; j < edges; j++) {
        double diagonal = t->diagonal[j] * (1 + 1.0 / WHOLE_TURN), right = -t->gradient[j];
        if (j > 0) {
            const double share = t->coupling[j - 1] / pivot;
            diagonal -= share * t->coupling[j - 1];
            right -= share * t->change[j - 1];
        }
        if (!(diagonal > 1e-9 * t->diagonal[j])) return false;
        pivot = t->diagonal[j] = diagonal;
        t->change[j] = right;
    }
    for (int64_t j = edges - 1; j >= 0; j--) {
        if (j + 1 < edges) t->change[j] -= t->coupling[j] * t->change[j + 1];
        t->change[j] /= t->diagonal[j];
    }
    return true;
}

static void turn_angles(rod *r, const double *change, double share) {
    for (int64_t j = 0; j < rod_edges(r); j++) r->edge[j].angle += share * change[j];
}

/* Turns to where the energy is least along the change; it is halved until the energy falls. */
static double turn_downhill(rod *r, const rod_material *m, const twist_system *t, double energy) {
    enum { HALVINGS = 8 };
    double share = 1, now = energy;
    turn_angles(r, t->change, share);
    for (int half = 0; half < HALVINGS; half++) {
        now = twist_assemble(r, m, false, t);
        if (now <= energy) break;
        share /= 2;
        turn_angles(r, t->change, -share);
    }
    return now;
}

void rod_relax(rod *r, const rod_material *m, rod_clamps clamps, double *work) {
    enum { ROUNDS = 20 };
    const int64_t edges = rod_edges(r);
    const twist_system t = {work, work + edges, work + 2 * edges, work + 3 * edges};
    double energy = twist_assemble(r, m, false, &t);
    for (int round = 0; round < ROUNDS; round++) {
        double most = 0, stiffness = 0;
        hold_twist(r, clamps, &t);
        for (int64_t j = 0; j < edges; j++) {
            most = fmax(most, fabs(t.gradient[j]));
            stiffness = fmax(stiffness, fabs(t.diagonal[j]));
        }
        if (!(most > 1e-12 * stiffness)) return;
        if (!twist_solve(edges, &t)) {
            twist_assemble(r, m, true, &t);
            hold_twist(r, clamps, &t);
            if (!twist_solve(edges, &t)) return;
        }
        energy = turn_downhill(r, m, &t, energy);
    }
}
