/*
 * Meshes on their own vertices: cloth's forces against its energy, its bending against a plate's,
 * a heavy strip (Peirce's cantilever), where its masses are, and what is refused.
 */
#include "solver/lagrangian/mesh.h"

#include "core/random.h"
#include "core/vec.h"
#include "watched.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 4096 };

/* A cloth of triangles made by hand. */
typedef struct sheet {
    mesh_body body;
    double vertices[MOST][3];
    int32_t elements[2 * MOST][4];
    lagrangian_mesh mesh;
} sheet;

static spate_context *open_context(void) {
    spate_context *ctx;
    spate_config config = spate_default_config();
    config.threads = 2;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    return ctx;
}

/* nx x ny squares of side s, each cut along the same diagonal, turned by an angle about z. */
static void squares(sheet *h, int nx, int ny, double s, double angle) {
    h->body = (mesh_body){.kind = MESH_CLOTH,
                          .thickness = 0.01,
                          .vertices = h->vertices,
                          .elements = h->elements,
                          .vertex_count = (nx + 1) * (ny + 1),
                          .element_count = 2 * nx * ny};
    for (int j = 0; j <= ny; j++)
        for (int i = 0; i <= nx; i++) {
            const double x = s * i, y = s * j;
            vec_set(h->vertices[j * (nx + 1) + i], cos(angle) * x - sin(angle) * y,
                    sin(angle) * x + cos(angle) * y, 0);
        }
    for (int j = 0, e = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            const int a = j * (nx + 1) + i, b = a + 1, c = a + nx + 1, d = c + 1;
            const int32_t of[2][3] = {{a, b, d}, {a, d, c}};
            for (int k = 0; k < 2; k++, e++) memcpy(h->elements[e], of[k], sizeof of[k]);
        }
}

/* D = 1 and E2 = stretch. */
static mesh_material fabric(double stretch, double poisson) {
    return (mesh_material){.density = 1, .poisson = poisson, .cloth = {stretch, 1, poisson}};
}

static void sheet_open(spate_context *ctx, sheet *h, const mesh_material *m) {
    assert_int_equal(lagrangian_mesh_create(ctx, &h->body, 3, m, &h->mesh), SPATE_OK);
}

static double energy_at(sheet *h, const double (*x)[3], double (*f)[3]) {
    lagrangian_mesh_forces(&h->mesh, &(mesh_positions){.x = x}, f);
    const strain_energy e = lagrangian_mesh_energy(&h->mesh);
    return strain_energy_sum(&e);
}

static void forces_are_the_slope_of_the_energy(void **state) {
    (void)state;
    static sheet h;
    static double x[MOST][3], f[MOST][3], g[MOST][3];
    spate_context *ctx = open_context();
    for (int law = 0; law < 2; law++) {
        const mesh_material m = fabric(20, 0.3);
        squares(&h, 3, 3, 1, 0.3);
        for (int v = 0; v < 16; v++) /* curved at rest */
            h.vertices[v][2] = 0.2 * h.vertices[v][0] * h.vertices[v][1];
        h.body.bending = law ? BENDING_HINGE : BENDING_SHAPE_OPERATOR;
        sheet_open(ctx, &h, &m);
        assert_true(fabs(energy_at(&h, h.vertices, f)) < 1e-20);
        double worst = 0, most = 0, sum[3] = {0}, torque[3] = {0}, turn[3];
        for (int v = 0; v < 16; v++)
            for (int a = 0; a < 3; a++)
                x[v][a] = h.vertices[v][a] + 0.6 * (random_unit(4, (uint64_t)v, (uint64_t)a) - 0.5);
        energy_at(&h, x, f);
        for (int v = 0; v < 16; v++) {
            vec_add(sum, sum, f[v]);
            vec_cross(turn, x[v], f[v]);
            vec_add(torque, torque, turn);
            for (int a = 0; a < 3; a++) {
                const double step = 1e-5, at = x[v][a];
                x[v][a] = at + step;
                const double up = energy_at(&h, x, g);
                x[v][a] = at - step;
                const double slope = (up - energy_at(&h, x, g)) / (2 * step);
                x[v][a] = at;
                worst = fmax(worst, fabs(slope + f[v][a]));
                most = fmax(most, fabs(f[v][a]));
            }
        }
        assert_true(most > 1 && worst < 1e-6 * most);
        assert_true(vec_length(sum) < 1e-13 * most && vec_length(torque) < 1e-12 * most);
        lagrangian_mesh_free(&h.mesh);
    }
    spate_close(ctx);
}

static void rigid_motion_has_no_force(void **state) {
    (void)state;
    static sheet h;
    static double x[MOST][3], f[MOST][3];
    spate_context *ctx = open_context();
    const mesh_material m = fabric(1000, 0.3);
    const double axis[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3}, move[3] = {3, 1, -2};
    double turn[3][3];
    squares(&h, 5, 5, 0.2, 0.3);
    for (int v = 0; v < 36; v++) h.vertices[v][2] = 0.2 * h.vertices[v][0] * h.vertices[v][1];
    sheet_open(ctx, &h, &m);
    mat_rotation(turn, axis, 1.5707963267948966);
    for (int v = 0; v < 36; v++) {
        mat_apply(x[v], turn, h.vertices[v]);
        vec_add(x[v], x[v], move);
    }
    assert_true(energy_at(&h, x, f) < 1e-15);
    for (int v = 0; v < 36; v++) assert_true(vec_length(f[v]) < 1e-12 * 1000);
    lagrangian_mesh_free(&h.mesh);
    spate_close(ctx);
}

/* Energy over kappa^2 / 2 and area of a sheet z = (p u^2 + q v^2) / 2, u along `angle`, away from
 * its rim: that of a plate is D (p^2 + q^2 + 2 nu p q). */
static double plate(double angle, double p, double q, mesh_bending law, double poisson) {
    enum { N = 12 };
    static sheet h;
    static double x[MOST][3], f[MOST][3];
    spate_context *ctx = open_context();
    const mesh_material m = fabric(1, poisson);
    const double small = 1e-3;
    squares(&h, N, N, 1, 0);
    h.body.bending = law;
    sheet_open(ctx, &h, &m);
    for (int v = 0; v < h.body.vertex_count; v++) {
        const double *X = h.vertices[v], c = cos(angle), s = sin(angle);
        const double u = c * (X[0] - N / 2) + s * (X[1] - N / 2),
                     w = -s * (X[0] - N / 2) + c * (X[1] - N / 2);
        vec_set(x[v], X[0], X[1], small * (p * u * u + q * w * w) / 2);
    }
    energy_at(&h, x, f);
    double sum = 0, area = 0;
    for (int t = 0; t < h.body.element_count; t++) {
        const int i = t / 2 % N, j = t / 2 / N;
        if (i < 2 || j < 2 || i >= N - 2 || j >= N - 2) continue;
        area += 0.5;
        /* a third of what its hinges have, each being shared by two */
        for (int k = 0; k < 3; k++)
            sum += h.mesh.energies[h.body.element_count + h.mesh.sides[t][k]].bend / 2;
    }
    lagrangian_mesh_free(&h.mesh);
    spate_close(ctx);
    return sum / area / (small * small / 2);
}

static void bending_is_a_plates_in_every_direction(void **state) {
    (void)state;
    for (int k = 0; k < 5; k++) {
        const double angle = 0.7853981633974483 * k / 2;
        assert_float_equal(plate(angle, 1, 0, BENDING_SHAPE_OPERATOR, 0.3), 1, 0.002);
        assert_float_equal(plate(angle, 1, 1, BENDING_SHAPE_OPERATOR, 0.3), 2.6, 0.005);
        assert_float_equal(plate(angle, 1, -1, BENDING_SHAPE_OPERATOR, 0.3), 1.4, 0.003);
    }
    /* Control: hinges with one diagonal are three times stiffer across it than along the
     * squares. */
    assert_float_equal(plate(0, 1, 0, BENDING_HINGE, 0), 1, 0.01);
    assert_float_equal(plate(0.7853981633974483, 1, 0, BENDING_HINGE, 0), 3, 0.03);
}

/* ---- A heavy strip --------------------------------------------------------------------------- */

/* Strip of free length 1 and some triangles' width, clamped by its first two rows; rows of right
 * triangles whose legs (turned false) or longest sides (true) run along it. */
static double strip(sheet *h, bool turned, int n) {
    const int rows = 4;
    const double s = 1.0 / (n - 0.5), along = s;
    if (!turned) {
        squares(h, n, rows, s, 0);
        return s;
    }
    /* rows of vertices half a step apart and shifted by half a step, ends cut square by small
     * steps */
    squares(h, n, rows, s, 0);
    for (int j = 0; j <= rows; j++)
        for (int i = 0; i <= n; i++)
            vec_set(h->vertices[j * (n + 1) + i], along * i + (j % 2 ? s / 2 : 0), s / 2 * j, 0);
    for (int j = 0, e = 0; j < rows; j++)
        for (int i = 0; i < n; i++) {
            const int a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
            const int32_t even[2][3] = {{a, b, c}, {b, d, c}}, odd[2][3] = {{a, b, d}, {a, d, c}};
            for (int k = 0; k < 2; k++, e++)
                memcpy(h->elements[e], j % 2 ? odd[k] : even[k], sizeof even[k]);
        }
    return s;
}

/* Angle of the chord, in degrees, of the strip under w = gamma D / L^3 an area, at rest: motion is
 * stopped whenever the kinetic energy has passed a peak. */
static double strip_angle(bool turned, mesh_bending law, double gamma) {
    enum { N = 12, STEPS = 60000 };
    static sheet h;
    static double x[MOST][3], v[MOST][3], f[MOST][3];
    spate_context *ctx = open_context();
    const mesh_material m = fabric(3000, 0);
    const double s = strip(&h, turned, N);
    h.body.bending = law;
    h.body.thickness = 1;
    sheet_open(ctx, &h, &m);
    memcpy(x, h.vertices, sizeof x);
    memset(v, 0, sizeof v);
    const double dt = 0.25 * s / sqrt(3000);
    double before = 0;
    for (int step = 0, stops = 0; step < STEPS && stops < 40; step++) {
        double kinetic = 0;
        energy_at(&h, x, f);
        for (int k = 0; k < h.body.vertex_count; k++) {
            if (h.vertices[k][0] < 1.1 * s) continue;
            f[k][2] -= gamma * h.mesh.mass[k];
            for (int a = 0; a < 3; a++) {
                v[k][a] += dt * f[k][a] / h.mesh.mass[k];
                kinetic += h.mesh.mass[k] * v[k][a] * v[k][a];
            }
        }
        const bool stop = kinetic < before;
        if (stop) memset(v, 0, sizeof v), stops++;
        before = stop ? 0 : kinetic;
        for (int k = 0; k < h.body.vertex_count; k++) vec_add_scaled(x[k], x[k], dt, v[k]);
    }
    /* The clamp is in the middle of the last held rows, the tip in that of the last free ones. */
    const double *ends[2] = {x[2 * (N + 1) + N], x[N + 1 + N]}, clamp = (turned ? 0.75 : 0.5) * s;
    const double reach = (ends[0][0] + ends[1][0]) / 2, drop = -(ends[0][2] + ends[1][2]) / 2;
    lagrangian_mesh_free(&h.mesh);
    spate_close(ctx);
    return atan2(drop, reach - clamp) * 57.29577951308232;
}

/* A strip that is stretched along itself has the energy of its membranes alone, and one that is
 * rolled up that of its bending alone, both as a formula says. */
static void energies_are_of_their_kinds(void **state) {
    (void)state;
    enum { NX = 12, NY = 3 };
    static sheet h;
    static double x[MOST][3], f[MOST][3];
    spate_context *ctx = open_context();
    const double e = 0.1, strain = e + e * e / 2, s = 0.5, turn = 0.2;
    mesh_material m = fabric(20, 0.3);
    squares(&h, NX, NY, s, 0);
    sheet_open(ctx, &h, &m);
    for (int v = 0; v < h.body.vertex_count; v++)
        vec_set(x[v], (1 + e) * h.vertices[v][0], h.vertices[v][1], 0);
    energy_at(&h, x, f);
    strain_energy got = lagrangian_mesh_energy(&h.mesh);
    assert_float_equal(got.stretch, NX * NY * s * s * 20 * strain * strain / 2, 1e-12);
    assert_true(got.bend == 0 && got.twist == 0);
    lagrangian_mesh_free(&h.mesh);

    /* Triangles at the two straight rims have no angle; without Poisson's ratio the curved rims do
     * as the rest does. */
    m = fabric(20, 0);
    sheet_open(ctx, &h, &m);
    for (int j = 0; j <= NY; j++) {
        double at[3] = {0, j * s, 0};
        for (int i = 0; i <= NX; i++) {
            vec_copy(x[j * (NX + 1) + i], at);
            at[0] += s * cos(turn * i), at[2] += s * sin(turn * i);
        }
    }
    energy_at(&h, x, f);
    got = lagrangian_mesh_energy(&h.mesh);
    const double curvature = turn / s;
    assert_float_equal(got.bend, (NX - 1) * NY * s * s * curvature * curvature / 2, 1e-12);
    assert_true(got.stretch < 1e-25 && got.twist == 0);
    lagrangian_mesh_free(&h.mesh);
    spate_close(ctx);
}

static void a_heavy_strip_hangs_as_peirce_says(void **state) {
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        const double angle = strip_angle(turned, BENDING_SHAPE_OPERATOR, 8.004);
        assert_true(fabs(angle - 41.5) < 1);
    }
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void bad_meshes_are_refused(void **state) {
    (void)state;
    static sheet h;
    spate_context *ctx = open_context();
    const mesh_material m = fabric(1, 0.3);
    squares(&h, 2, 2, 1, 0);
    memcpy(h.elements[8], (int32_t[]){0, 1, 8}, 3 * sizeof(int32_t));
    h.body.element_count = 9; /* a third triangle at an edge */
    assert_int_equal(lagrangian_mesh_create(ctx, &h.body, 3, &m, &h.mesh), SPATE_BAD_INPUT);
    squares(&h, 2, 2, 1, 0);
    memcpy(h.elements[1], (int32_t[]){0, 3, 4}, 3 * sizeof(int32_t)); /* turned over */
    assert_int_equal(lagrangian_mesh_create(ctx, &h.body, 3, &m, &h.mesh), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "turn one over"));
    squares(&h, 2, 2, 1, 0);
    memcpy(h.elements[1], (int32_t[]){0, 4, 8}, 3 * sizeof(int32_t)); /* in a line */
    assert_int_equal(lagrangian_mesh_create(ctx, &h.body, 3, &m, &h.mesh), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "element 1"));
    spate_close(ctx);
}

/* Vertices that are gone take the forces of their elements with them, and no others. */
static void lost_vertices_take_their_elements_along(void **state) {
    (void)state;
    static sheet h;
    static double x[MOST][3], f[MOST][3];
    static bool there[MOST];
    spate_context *ctx = open_context();
    const mesh_material m = fabric(100, 0.3);
    squares(&h, 4, 1, 1, 0);
    sheet_open(ctx, &h, &m);
    double mass = 0;
    for (int v = 0; v < 10; v++) {
        vec_scale(x[v], 1.1, h.vertices[v]);
        there[v] = v != 0;
        mass += h.mesh.mass[v];
    }
    assert_float_equal(mass, 4 * 0.01, 1e-15);
    lagrangian_mesh_forces(&h.mesh, &(mesh_positions){.x = x, .there = there}, f);
    assert_true(vec_length(f[0]) == 0 && vec_length(f[5]) == 0 && vec_length(f[9]) > 1);
    lagrangian_mesh_free(&h.mesh);
    spate_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_the_slope_of_the_energy),
        cmocka_unit_test(rigid_motion_has_no_force),
        cmocka_unit_test(bending_is_a_plates_in_every_direction),
        cmocka_unit_test(energies_are_of_their_kinds),
        cmocka_unit_test(a_heavy_strip_hangs_as_peirce_says),
        cmocka_unit_test(bad_meshes_are_refused),
        cmocka_unit_test(lost_vertices_take_their_elements_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
