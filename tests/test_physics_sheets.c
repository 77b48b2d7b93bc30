/*
 * Thin sheets of flip against flows whose sheets are known: Enright's deformation, a curtain that falls,
 * Savart's sheet; each without insertion too.
 */
#include "holes.h"

#include "frames/surface_frame.h"
#include "solver/flip/sheets.h"

static bool is_full(void) { return getenv("SPATE_FULL") != NULL; }

static const sheets *sheets_of(const play *p) { return ((flip *)p->sim->solver)->sheets; }

static double mass_of(const play *p) {
    double mass = 0;
    EACH_PARTICLE(p->sim, block, i) mass += (double)p->sim->particles.mass[i];
    return mass;
}

/* ---- Enright's deformation ------------------------------------------------------------------- */

/* A ball of radius 0.15 is drawn out to a rolled sheet until 1.5 s and is a ball again at 3 s (Enright
 * et al. 2002). */
static play open_enright(int cells, const char *options) {
    return play_open(2,
                     "spate: 1\ndimension: 3\nduration: 3\ngravity: [0, 0, 0]\n"
                     "domain: {size: [1, 1, 1], dx: %.17g}\n"
                     "solver: {type: flip, flow: {field: enright}%s}\n"
                     "materials: {water: {model: liquid}}\n"
                     "bodies: [{material: water, shape: {sphere: {center: [0.35, 0.35, 0.35], "
                     "radius: 0.15}}}]\n",
                     1.0 / cells, options);
}

/* The volume that the surface's mesh encloses. */
static double enclosed_volume(const play *p) {
    surface_mesh m = {0};
    double six = 0;
    assert_int_equal(surface_of_simulation(p->sim, &m), SPATE_OK);
    for (int64_t t = 0; t < m.triangle_count; t++) {
        double x[3][3];
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++) x[k][a] = (double)m.position[m.triangle[t][k]][a];
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            six += x[0][a] * (x[1][b] * x[2][c] - x[1][c] * x[2][b]);
        }
    }
    surface_free(&m);
    return six / 6;
}

static void test_a_ball_is_drawn_out_and_comes_back(void **state) {
    (void)state;
    const int cells = is_full() ? 100 : 32;
    const double ball = 4.0 / 3 * M_PI * pow(0.15, 3);
    int64_t pieces;
    play p = open_enright(cells, ", sheets: {}, spacing: {}");
    const int64_t count = p.sim->particles.count;
    const double mass = mass_of(&p), one = mass / (double)count;
    play_until(&p, 1.5);
    const int64_t holes = count_tunnels(&p, 0.5 / cells, &pieces);
    print_message("Enright %d^3: %lld holes, %lld inserted", cells, (long long)holes,
                  (long long)sheets_of(&p)->memory.alive);
    assert_int_equal(holes, 0);
    assert_int_equal(pieces, 1);
    play_until(&p, 3);
    double worst = 0;
    EACH_PARTICLE(p.sim, block, i)
    worst = fmax(worst, fabs((double)p.sim->particles.mass[i] / one - 1));
    print_message(", volume %.5f, mass off by %.2g\n", enclosed_volume(&p) / ball, worst);
    CHECK_BELOW(fabs(enclosed_volume(&p) / ball - 1), 0.025);
    CHECK_BELOW(fabs(mass_of(&p) / mass - 1), IN_DOUBLE ? 1e-12 : 1e-6);
    CHECK_BELOW((double)(p.sim->particles.count - count), 0.01 * (double)count);
    play_close(&p);
    p = open_enright(cells, "");
    play_until(&p, 1.5);
    CHECK_ABOVE((double)count_tunnels(&p, 0.5 / cells, &pieces), 20);
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_ball_is_drawn_out_and_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
