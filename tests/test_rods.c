/*
 * Strands: forces against energy, rigid motion, and rods whose answers are known: the heavy
 * cantilever (elastica), the twisted ring (Michell 1889), the twisted straight rod (Greenhill), and
 * the helical spring (Love).
 */
#include "solver/lagrangian/rods.h"

#include "core/random.h"
#include "core/vec.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 512 };
#define PI 3.14159265358979323846

/* A rod with its arrays, and where its vertices are. */
typedef struct held_rod {
    rod r;
    rod_material m;
    rod_clamps clamps;
    double x[MOST][3], length[MOST], reference[MOST], work[4 * MOST];
    rod_bend bend[MOST];
    rod_edge edge[MOST];
    double across[3];
} held_rod;

static const double any_across[3] = {0.2, 0.3, 0.9};

static void rod_open(held_rod *h, int vertices, bool closed, rod_material m) {
    h->r = (rod){vertices, closed, h->length, h->bend, h->edge, h->reference};
    h->m = m;
    assert_true(rod_begin(&h->r, h->x, any_across));
    rod_set_rest(&h->r, h->x);
}

/* A copy whose arrays are its own. */
static void rod_copy(held_rod *to, const held_rod *from) {
    *to = *from;
    to->r.length = to->length, to->r.bend = to->bend, to->r.edge = to->edge;
    to->r.reference = to->reference;
}

/* Energy and forces where the vertices are, with the directors carried there and twist at rest. */
static double rod_evaluate(held_rod *h, bool relax, double f[MOST][3], double *torque) {
    memset(f, 0, (size_t)h->r.vertices * sizeof *f);
    assert_true(rod_transport(&h->r, h->x));
    if (relax) rod_relax(&h->r, &h->m, h->clamps, h->work);
    const strain_energy e = rod_forces(&h->r, &h->m, h->x, f, torque);
    return strain_energy_sum(&e);
}

static void scramble(held_rod *h, double far, uint64_t key) {
    for (int i = 0; i < h->r.vertices; i++)
        for (int a = 0; a < 3; a++)
            h->x[i][a] += far * (random_unit(5, key, (uint64_t)(3 * i + a)) - 0.5);
}

static void helix(double (*x)[3], int vertices, double radius, double rise, double step) {
    for (int i = 0; i < vertices; i++)
        vec_set(x[i], radius * cos(step * i), radius * sin(step * i), rise * i);
}

/* ---- Forces ---------------------------------------------------------------------------------- */

static double force_error(bool closed, bool relax, double *most) {
    static held_rod h, moved;
    static double f[MOST][3], g[MOST][3], torque[MOST];
    double worst = 0;
    *most = 0;
    helix(h.x, 12, 1, closed ? 0 : 0.1, 2 * PI / 12);
    rod_open(&h, 12, closed, (rod_material){30, 1, 0.77});
    scramble(&h, 0.2, 3);
    rod_evaluate(&h, false, f, torque);
    for (int j = 0; j < rod_edges(&h.r); j++) h.edge[j].angle += 0.3 * sin(j);
    rod_evaluate(&h, relax, f, torque);
    for (int i = 0; i < 12; i++)
        for (int a = 0; a < 3; a++) {
            const double step = 1e-5;
            double energy[2];
            for (int s = 0; s < 2; s++) {
                rod_copy(&moved, &h);
                moved.x[i][a] += s ? step : -step;
                energy[s] = rod_evaluate(&moved, relax, g, NULL);
            }
            worst = fmax(worst, fabs((energy[1] - energy[0]) / (2 * step) + f[i][a]));
            *most = fmax(*most, fabs(f[i][a]));
        }
    for (int j = 0; j < rod_edges(&h.r) && !relax; j++) {
        const double step = 1e-5, angle = h.edge[j].angle;
        h.edge[j].angle = angle + step;
        const strain_energy up = rod_forces(&h.r, &h.m, h.x, g, NULL);
        h.edge[j].angle = angle - step;
        const strain_energy down = rod_forces(&h.r, &h.m, h.x, g, NULL);
        const double slope = (strain_energy_sum(&up) - strain_energy_sum(&down)) / (2 * step);
        h.edge[j].angle = angle;
        worst = fmax(worst, fabs(slope - torque[j]));
    }
    return worst;
}

static void forces_are_the_slope_of_the_energy(void **state) {
    (void)state;
    for (int closed = 0; closed < 2; closed++)
        for (int relax = 0; relax < 2 - closed; relax++) {
            double most, worst = force_error(closed, relax, &most);
            assert_true(most > 1 && worst < 1e-6 * most);
        }
}

/* With the twist at rest the forces alone have neither sum nor torque. */
static void forces_keep_momentum(void **state) {
    (void)state;
    static held_rod h;
    static double f[MOST][3];
    double sum[3] = {0}, torque[3] = {0}, turn[3], most = 0;
    helix(h.x, 20, 1, 0.1, 0.5);
    rod_open(&h, 20, false, (rod_material){30, 1, 0.77});
    scramble(&h, 0.3, 9);
    rod_evaluate(&h, true, f, NULL);
    for (int i = 0; i < 20; i++) {
        vec_add(sum, sum, f[i]);
        vec_cross(turn, h.x[i], f[i]);
        vec_add(torque, torque, turn);
        most = fmax(most, vec_length(f[i]));
    }
    assert_true(most > 1 && vec_length(sum) < 1e-12 * most && vec_length(torque) < 1e-9 * most);
}

/* A curled rod turned by a quarter in one step and shifted is still at rest. */
static void rigid_motion_has_no_force(void **state) {
    (void)state;
    static held_rod h;
    static double f[MOST][3];
    const double axis[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3}, move[3] = {3, 1, -2};
    double turn[3][3];
    helix(h.x, 40, 1, 0.1, 0.4);
    rod_open(&h, 40, false, (rod_material){1000, 1, 0.77});
    mat_rotation(turn, axis, PI / 2);
    for (int i = 0; i < 40; i++) {
        mat_apply(h.x[i], turn, h.x[i]);
        vec_add(h.x[i], h.x[i], move);
    }
    assert_true(rod_evaluate(&h, true, f, NULL) < 1e-20 * 1000);
    for (int i = 0; i < 40; i++) assert_true(vec_length(f[i]) < 1e-12 * 1000);
}

/* A straight rod stretched, rolled up, and twisted between clamps has one kind of energy each time,
 * as a formula says: EA/2 e^2 L, EI/2 (2 tan(turn/2)/l)^2 l at each bend, GJ/2 twist^2 / L. */
static void energies_are_of_their_kinds(void **state) {
    (void)state;
    enum { N = 21 };
    static held_rod h;
    static double f[MOST][3];
    const double l = 0.25, strain = 0.1, turn = 0.3, twist = 2;
    const rod_material m = {30, 1, 0.77};
    double wanted[3] = {30 * strain * strain / 2 * (N - 1) * l,
                        pow(2 * tan(turn / 2) / l, 2) / 2 * l * (N - 2),
                        0.77 / 2 * twist * twist / ((N - 2) * l)};
    for (int kind = 0; kind < 3; kind++) {
        h.clamps = (rod_clamps){kind == 2, kind == 2};
        for (int i = 0; i < N; i++) vec_set(h.x[i], l * i, 0, 0);
        rod_open(&h, N, false, m);
        for (int i = 1; i < N && kind < 2; i++) {
            const double length = kind == 0 ? (1 + strain) * l : l, at = kind == 0 ? 0 : turn * i;
            vec_set(h.x[i], h.x[i - 1][0] + length * cos(at), h.x[i - 1][1] + length * sin(at), 0);
        }
        if (kind == 2) h.edge[N - 2].angle = twist;
        rod_evaluate(&h, true, f, NULL);
        const strain_energy e = rod_forces(&h.r, &h.m, h.x, f, NULL);
        const double got[3] = {e.stretch, e.bend, e.twist};
        for (int k = 0; k < 3; k++)
            assert_float_equal(got[k], k == kind ? wanted[k] : 0, 1e-12 * wanted[kind]);
    }
    h.clamps = (rod_clamps){false, false};
}

static void folds_are_refused(void **state) {
    (void)state;
    static held_rod h;
    const double fold[3][3] = {{0}, {1, 0, 0}, {0, 0, 0}};
    helix(h.x, 3, 1, 0.1, 0.5);
    rod_open(&h, 3, false, (rod_material){1, 1, 1});
    memcpy(h.x, fold, sizeof fold);
    assert_false(rod_transport(&h.r, h.x));
    memcpy(h.x[1], h.x[0], sizeof h.x[0]);
    assert_false(rod_transport(&h.r, h.x));
}

/* ---- Balance and stability, by the matrix of second derivatives ------------------------------ */

/* dF/dx of the free coordinates, symmetric. `of` lists them: 3 * vertex + axis. */
static void stiffness_of(const held_rod *h, const int *of, int n, double *K) {
    static held_rod moved;
    static double f[2][MOST][3];
    const double step = 1e-5;
    for (int c = 0; c < n; c++) {
        for (int s = 0; s < 2; s++) {
            rod_copy(&moved, h);
            moved.x[of[c] / 3][of[c] % 3] += s ? step : -step;
            rod_evaluate(&moved, true, f[s], NULL);
        }
        for (int r = 0; r < n; r++)
            K[r * n + c] = -(f[1][of[r] / 3][of[r] % 3] - f[0][of[r] / 3][of[r] % 3]) / (2 * step);
    }
    for (int r = 0; r < n; r++)
        for (int c = 0; c < r; c++) K[r * n + c] = K[c * n + r] = (K[r * n + c] + K[c * n + r]) / 2;
}

/* K = L D L^T in place; how many of D are negative. */
static int factorise(double *K, int n) {
    int negative = 0;
    for (int k = 0; k < n; k++) {
        const double pivot = K[k * n + k];
        negative += pivot < 0;
        for (int r = k + 1; r < n; r++) {
            const double share = K[r * n + k] / pivot;
            for (int c = k + 1; c <= r; c++) K[r * n + c] -= share * K[c * n + k];
        }
        for (int r = k + 1; r < n; r++) K[r * n + k] /= pivot;
    }
    return negative;
}

static void solve(const double *K, int n, double *b) {
    for (int r = 0; r < n; r++)
        for (int c = 0; c < r; c++) b[r] -= K[r * n + c] * b[c];
    for (int r = n - 1; r >= 0; r--) {
        b[r] /= K[r * n + r];
        for (int c = r + 1; c < n; c++) b[r] -= K[c * n + r] * b[c];
    }
}

/* Where the weight w a length bends a clamped rod to, in its plane: Newton's method, the weight
 * added little by little. The second vertex lies half an edge behind the clamp. */
static void cantilever(int n, double gamma, bool from_vertex, double out[2]) {
    static held_rod h;
    static double f[MOST][3], K[4 * MOST * MOST / 16], b[2 * MOST];
    int of[2 * MOST], count = 0;
    /* free length 1 from the middle of the clamped edge, or, wrongly, from its end */
    const double l = from_vertex ? 1.0 / n : 1.0 / (n + 0.5);
    for (int i = 0; i < n + 2; i++) vec_set(h.x[i], l * (i - (from_vertex ? 1 : 0.5)), 0, 0);
    rod_open(&h, n + 2, false, (rod_material){1e6, 1, 0.77});
    h.clamps.first = true;
    for (int i = 2; i < n + 2; i++)
        for (int a = 0; a < 2; a++) of[count++] = 3 * i + a;
    const int loads = gamma > 5 ? 20 : 8;
    for (int k = 1; k <= loads; k++)
        for (int round = 0; round < 12; round++) {
            const double weight = gamma * k / loads * l;
            double most = 0;
            rod_evaluate(&h, true, f, NULL);
            stiffness_of(&h, of, count, K);
            factorise(K, count);
            for (int c = 0; c < count; c++) {
                const int v = of[c] / 3;
                b[c] = f[v][of[c] % 3];
                if (of[c] % 3 == 1) b[c] -= weight * (v == n + 1 ? 0.5 : 1);
            }
            solve(K, count, b);
            for (int c = 0; c < count; c++) {
                h.x[of[c] / 3][of[c] % 3] += b[c];
                most = fmax(most, fabs(b[c]));
            }
            if (most < 1e-8) break;
        }
    out[0] = -h.x[n + 1][1], out[1] = h.x[n + 1][0];
}

/* Drop and reach of the elastica under its own weight, by shooting. */
static void a_heavy_cantilever_is_the_elastica(void **state) {
    (void)state;
    const double known[3][3] = {
        {1, 0.12347, 0.99125}, {5, 0.49591, 0.84666}, {10, 0.7002, 0.65635}};
    double tip[2], error[2];
    for (int k = 0; k < 3; k++) {
        cantilever(16, known[k][0], false, tip);
        assert_true(fabs(tip[0] / known[k][1] - 1) < 0.01);
        assert_true(fabs(tip[1] / known[k][2] - 1) < 0.01);
    }
    for (int k = 0; k < 2; k++) {
        cantilever(k ? 16 : 8, 5, false, tip);
        error[k] = fabs(tip[0] / known[1][1] - 1);
    }
    assert_true(log2(error[0] / error[1]) > 1.6);
    /* Controls: the length counted from the clamped vertex, and linear theory. */
    cantilever(16, 5, true, tip);
    assert_true(fabs(tip[0] / known[1][1] - 1) > 0.05);
    assert_true(fabs(5.0 / 8 / known[1][1] - 1) > 0.2);
}

/* Negative second derivatives of a naturally straight rod closed to a ring with whole turns of
 * twist. */
static int ring_instabilities(int n, int turns, double modulus) {
    static held_rod h;
    static double f[MOST][3], K[9 * 48 * 48];
    int of[3 * MOST];
    helix(h.x, n, 1, 0, 2 * PI / n);
    rod_open(&h, n, true, (rod_material){1e3, 1, modulus});
    for (int i = 0; i < n; i++) h.bend[i].curvature[0] = h.bend[i].curvature[1] = 0;
    h.reference[0] += 2 * PI * turns;
    h.clamps.first = true; /* turning all of it changes nothing */
    for (int round = 0; round < 40; round++) {
        rod_evaluate(&h, true, f, NULL);
        /* radial balance: the ring's own size */
        const double radius = vec_length(h.x[0]), pull = vec_dot(f[0], h.x[0]) / radius;
        const double grow = pull / (1e3 * 2 * PI / n) / radius;
        for (int i = 0; i < n; i++) vec_scale(h.x[i], 1 + 0.9 * grow, h.x[i]);
    }
    for (int c = 0; c < 3 * n; c++) of[c] = c;
    stiffness_of(&h, of, 3 * n, K);
    for (int c = 0; c < 3 * n; c++) K[c * 3 * n + c] += 1e-4; /* rigid motions are neutral */
    return factorise(K, 3 * n);
}

static void a_twisted_ring_buckles_as_michell_says(void **state) {
    (void)state;
    /* twist = 2 pi sqrt(3) EI / GJ; the error of 40 edges grows with the twist from one to the
     * next */
    for (int turns = 2; turns <= 3; turns++) {
        const double critical = sqrt(3) / turns, gate = turns == 2 ? 0.025 : 0.04;
        assert_int_equal(ring_instabilities(40, turns, (1 - gate) * critical), 0);
        assert_true(ring_instabilities(40, turns, (1 + gate) * critical) > 0);
        /* Control: with too little resistance to twist it never does. */
        assert_int_equal(ring_instabilities(40, turns, 0.1 * critical), 0);
    }
}

/* The same of a straight rod of length 1 between clamps, twisted by a moment M. */
static int rod_instabilities(int edges, double moment, double modulus) {
    static held_rod h;
    static double K[9 * 48 * 48];
    int of[3 * MOST], count = 0;
    const double l = 1.0 / (edges - 1); /* from the middle of one clamped edge to the other's */
    for (int i = 0; i <= edges; i++) vec_set(h.x[i], l * i, 0, 0);
    rod_open(&h, edges + 1, false, (rod_material){1e5, 1, modulus});
    h.clamps = (rod_clamps){true, true};
    for (int j = 0; j < edges; j++) h.edge[j].angle = moment / modulus * l * j;
    for (int i = 2; i < edges - 1; i++)
        for (int a = 0; a < 3; a++) of[count++] = 3 * i + a;
    stiffness_of(&h, of, count, K);
    return factorise(K, count);
}

/* M L / EI = 8.987 between clamps. */
static void a_twisted_rod_buckles_as_greenhill_says(void **state) {
    (void)state;
    assert_int_equal(rod_instabilities(40, 0.97 * 8.987, 0.77), 0);
    assert_true(rod_instabilities(40, 1.03 * 8.987, 0.77) > 0);
}

/* ---- The helical spring ---------------------------------------------------------------------- */

/* The angle from the helix' inward normal at an edge to the rod's m1. */
static double frame_angle(const held_rod *h, int j) {
    const rod_edge *e = &h->edge[j];
    double inward[3], across[3], m1[3], v[3];
    for (int a = 0; a < 3; a++) inward[a] = a < 2 ? -(h->x[j][a] + h->x[j + 1][a]) : 0;
    vec_normalise(inward);
    vec_cross(v, e->tangent, e->director);
    for (int a = 0; a < 3; a++) m1[a] = cos(e->angle) * e->director[a] + sin(e->angle) * v[a];
    vec_cross(across, inward, m1);
    return atan2(vec_dot(across, e->tangent), vec_dot(inward, m1));
}

/* Energy of a spring of 5 turns drawn out to pitch angle a, the wire's length and the ends' turns
 * kept; its height in *height. */
static double spring_energy(double a, bool curled, double *height) {
    enum { STEPS = 400, STAGES = 20 };
    static held_rod h;
    static double f[MOST][3];
    const double a0 = 0.1, turn = 10 * PI / STEPS;
    helix(h.x, STEPS + 1, 1, tan(a0) * turn, turn);
    rod_open(&h, STEPS + 1, false, (rod_material){1e6, 1, 1 / 1.3});
    for (int i = 0; i <= STEPS && !curled; i++) h.bend[i].curvature[0] = h.bend[i].curvature[1] = 0;
    const double ends[2] = {frame_angle(&h, 0), frame_angle(&h, STEPS - 1)};
    h.clamps = (rod_clamps){true, true};
    double energy = 0;
    for (int k = 1; k <= STAGES; k++) {
        const double at = a0 + (a - a0) * k / STAGES, radius = cos(at) / cos(a0);
        /* chords, not arcs, keep their length: sqrt((2 r sin(turn/2))^2 + rise^2) */
        const double chord = h.length[0], flat = 2 * radius * sin(turn / 2);
        const double rise = sqrt(chord * chord - flat * flat);
        helix(h.x, STEPS + 1, radius, rise, turn);
        assert_true(rod_transport(&h.r, h.x));
        h.edge[0].angle += remainder(ends[0] - frame_angle(&h, 0), 2 * PI);
        h.edge[STEPS - 1].angle += remainder(ends[1] - frame_angle(&h, STEPS - 1), 2 * PI);
        energy = rod_evaluate(&h, true, f, NULL);
        *height = rise * STEPS;
    }
    return energy;
}

/* F = (GJ (t - t0) cos a - EI (k - k0) sin a) / r, k = cos^2 a / r, t = sin a cos a / r. */
static void a_spring_pulls_as_love_says(void **state) {
    (void)state;
    double low, high;
    double energy = spring_energy(0.305, true, &high) - spring_energy(0.295, true, &low);
    assert_true(fabs(energy / (high - low) / 0.16118 - 1) < 0.03);
    energy = spring_energy(0.305, false, &high) - spring_energy(0.295, false, &low);
    assert_true(fabs(energy / (high - low) / 0.16118 - 1) > 0.3); /* control: no curl at rest */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_the_slope_of_the_energy),
        cmocka_unit_test(forces_keep_momentum),
        cmocka_unit_test(rigid_motion_has_no_force),
        cmocka_unit_test(energies_are_of_their_kinds),
        cmocka_unit_test(folds_are_refused),
        cmocka_unit_test(a_heavy_cantilever_is_the_elastica),
        cmocka_unit_test(a_twisted_ring_buckles_as_michell_says),
        cmocka_unit_test(a_twisted_rod_buckles_as_greenhill_says),
        cmocka_unit_test(a_spring_pulls_as_love_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
