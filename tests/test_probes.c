/* Probes of counts, speeds, spread, pieces and mixing: against numbers worked out by hand or the
 * long way round, across periodic sides, after removals, for any number of threads. */
#include "physics.h"

#include "core/random.h"
#include "core/vec.h"
#include "measure/pieces.h"

#include <unistd.h>

#define WATER "materials: {water: {model: liquid, density: 1000, bulk_modulus: 1e4}}\n"

/* Moves every particle where `map` says; positions may be far from their blocks, so nothing may be
 * passed over by its block. */
static void move_all(play *p, void (*map)(double x[3])) {
    const domain *d = &p->scene->domain;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        map(x);
        for (int a = 0; a < p->scene->dim; a++) PLANE(&p->sim->particles, position, a)
        [i] = (real)((x[a] - d->origin[a]) / d->dx + 0.5 -
                     BLOCK_EDGE * (double)p->sim->blocks.coords[block][a]);
    }
    p->sim->drift = 1e9;
}

static void give_speed(play *p, uint32_t id, double x, double y) {
    for (int64_t i = 0; i < p->sim->particles.count; i++) {
        if (p->sim->particles.id[i] != id) continue;
        p->sim->particles.velocity[i][0] = (real)x;
        p->sim->particles.velocity[i][1] = (real)y;
    }
}

static void remove_particle(play *p, uint32_t id) {
    for (int64_t i = 0; i < p->sim->particles.count; i++)
        if (p->sim->particles.id[i] == id) p->sim->particles.group[i] = GROUP_REMOVED;
}

/* ---- Count and speed ---- */

static const char few[] =
    "spate: 1\ndimension: 2\ndomain: {size: [4, 4], dx: 0.25}\n" WATER "bodies:\n"
    "  - {name: a, material: water, shape: {points: [[1, 0.5], [1, 1.5], [1, 3], [3, 3]]}}\n"
    "  - {name: b, material: water, shape: {points: [[2, 3.5]]}}\n"
    "probes:\n"
    "  - {name: over, count: {shape: {plane: {point: [0, 2], normal: [0, -1]}}}}\n"
    "  - {name: over_a, count: {of: a, shape: {plane: {point: [0, 2], normal: [0, -1]}}}}\n"
    "  - {name: left, count: {shape: {box: {min: [0.5, 0], max: [1.5, 2]}}}}\n"
    "  - {name: none, count: {shape: {box: {min: [2, 0], max: [3, 1]}}}}\n"
    "  - {name: speed, mean_speed: {}}\n"
    "  - {name: speed_a, mean_speed: {of: a}}\n"
    "  - {name: speed_over, mean_speed: {shape: {plane: {point: [0, 2], normal: [0, -1]}}}}\n"
    "  - {name: speed_none, mean_speed: {shape: {box: {min: [2, 0], max: [3, 1]}}}}\n"
    "  - {name: wide, spread: {of: a, axis: horizontal}}\n"
    "  - {name: high, spread: {of: a, axis: y}}\n"
    "  - {name: far, spread: {of: a}}\n"
    "  - {name: top_b, height: {of: b, at: 1}}\n";

static void test_count_and_speed(void **state) {
    (void)state;
    play p = play_open(1, few);
    give_speed(&p, 0, 3, 4);
    give_speed(&p, 2, 0, -2);
    give_speed(&p, 4, 1, 0);
    for (int64_t i = 0; i < 5; i++) /* mass: 3 for id 0, else 1 */
        p.sim->particles.mass[i] = p.sim->particles.id[i] == 0 ? 3 : 1;
    assert_float_equal(play_quantity(&p, "over"), 3, 0);
    assert_float_equal(play_quantity(&p, "over_a"), 2, 0);
    assert_float_equal(play_quantity(&p, "left"), 2, 0);
    assert_float_equal(play_quantity(&p, "none"), 0, 0);
    /* by mass: by number it would be 8 / 5, from momentum sqrt(10^2 + 10^2) / 7 */
    assert_float_equal(play_quantity(&p, "speed"), (3 * 5 + 2 + 1) / 7.0, 1e-6);
    assert_float_equal(play_quantity(&p, "speed_a"), (3 * 5 + 2) / 6.0, 1e-6);
    assert_float_equal(play_quantity(&p, "speed_over"), (2 + 1) / 3.0, 1e-6);
    assert_true(isnan(play_quantity(&p, "speed_none")));
    assert_float_equal(play_quantity(&p, "top_b"), 0, 0); /* what is at x = 1 is of body a */
    remove_particle(&p, 2);
    assert_float_equal(play_quantity(&p, "over"), 2, 0);
    assert_float_equal(play_quantity(&p, "over_a"), 1, 0);
    assert_float_equal(play_quantity(&p, "speed"), (3 * 5 + 1) / 6.0, 1e-6);
    assert_float_equal(play_quantity(&p, "speed_over"), 1 / 2.0, 1e-6);
    /* particles that wait for the next sort count too */
    const double v[3] = {0, 5, 0};
    assert_int_equal(simulation_add(p.sim, 1, (double[3]){2.5, 2.5, 0}, v, 1e-3), SPATE_OK);
    assert_float_equal(play_quantity(&p, "over"), 3, 0);
    play_close(&p);
}

/* Half a column over water that ends at x = 1 and a drop above: its volume over the area, where
 * `height` takes the drop. Beside closed and periodic sides nothing is lost. */
static void test_depth(void **state) {
    (void)state;
    static const char *const solvers[] = {"mpm", "flip", "sph"};
    for (int k = 0; k < 6; k++) {
        const bool deep = k & 1;
        const char *extra = deep ? ", 1" : "", *low = deep ? ", 0" : "";
        play p = play_open(
            1,
            "spate: 1\ndimension: %d\ndomain: {size: [2, 2%s], dx: 0.125, walls: {%s}}\n"
            "solver: {type: %s}\n" WATER "bodies:\n"
            "  - {name: pool, material: water, sampling: regular, shape: {box: {min: [0, 0%s], "
            "max: [1, 0.75%s]}}}\n"
            "  - {name: drop, material: water, sampling: regular, shape: {box: {min: [0.25, "
            "1.5%s], max: [0.375, "
            "1.625%s]}}}\n"
            "probes:\n"
            "  - {name: inside, depth: {of: pool, at: %s, width: 0.3}}\n"
            "  - {name: corner, depth: {at: %s, width: 0.2}}\n"
            "  - {name: edge, depth: {at: %s, width: 0.2}}\n"
            "  - {name: both, depth: {at: %s, width: 0.5}}\n"
            "  - {name: top, height: {at: %s}}\n",
            deep ? 3 : 2, extra, deep ? "z_min: periodic, z_max: periodic" : "", solvers[k / 2],
            low, extra, low, extra, deep ? "[0.43, 0.5]" : "0.43", deep ? "[0.03, 0.02]" : "0.03",
            deep ? "[1, 0.4]" : "1", deep ? "[0.3, 0.5]" : "0.3", deep ? "[0.3, 0.5]" : "0.3");
        assert_float_equal(play_quantity(&p, "inside"), 0.75, 1e-5);
        assert_float_equal(play_quantity(&p, "corner"), 0.75, 1e-5);
        assert_float_equal(play_quantity(&p, "edge"), 0.375, 1e-5);
        assert_float_equal(play_quantity(&p, "both"), 0.75 + 0.125 * 0.125 / 0.5, 1e-5);
        assert_float_equal(play_quantity(&p, "top"), 1.625, 1e-5); /* not what lies there */
        play_close(&p);
    }
}

/* A jet that drifts out of its blocks and round a periodic side, counted one by one. */
static void test_count_passes_nothing_over(void **state) {
    (void)state;
    play p =
        play_open(2, "spate: 1\ndimension: 2\n"
                     "domain: {size: [2, 1], dx: 0.0625, walls: {x_min: periodic, "
                     "x_max: periodic}}\ngravity: [0, 0]\n" WATER "bodies:\n"
                     "  - {name: a, material: water, velocity: [3, 0.5],\n"
                     "     shape: {box: {min: [1.5, 0.2], max: [1.95, 0.6]}}}\n"
                     "probes:\n"
                     "  - {name: begin, count: {shape: {box: {min: [0, 0], max: [0.1, 1]}}}}\n"
                     "  - {name: end, count: {shape: {box: {min: [1.9, 0], max: [2, 1]}}}}\n"
                     "  - {name: gate, count: {shape: {box: {min: [0.4, 0], max: [0.5, 1]}}}}\n");
    double most[3] = {0};
    for (int k = 0; k < 60; k++) {
        double counted[3] = {play_quantity(&p, "begin"), play_quantity(&p, "end"),
                             play_quantity(&p, "gate")};
        double there[3] = {0}, x[3];
        EACH_PARTICLE(p.sim, block, i) {
            simulation_position(p.sim, block, i, x);
            for (int q = 0; q < 3; q++)
                there[q] += shape_distance(p.scene->probes[q].shape, 2, x) < 0;
        }
        for (int q = 0; q < 3; q++) {
            assert_float_equal(counted[q], there[q], 0);
            most[q] = fmax(most[q], there[q]);
        }
        play_steps(&p, 1);
    }
    for (int q = 0; q < 3; q++) CHECK_ABOVE(most[q], 20);
    play_close(&p);
}

/* From the edge of its block 1.2 cells out of it between two sorts: farther than its block reaches.
 */
static void test_count_follows_the_drift(void **state) {
    (void)state;
    play p = play_open(1, "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.0625}\n"
                          "gravity: [0, 0]\nsolver: {type: mpm, dt: 0.00625}\n" WATER
                          "bodies: [{material: water, velocity: [3, 0], shape: {points: [[0.4685, "
                          "0.4]]}}]\n"
                          "probes: [{name: c, count: {shape: {box: {min: [0.53, 0], max: [0.6, "
                          "1]}}}}]\n");
    for (int k = 0; k <= 4; k++) {
        assert_float_equal(play_quantity(&p, "c"), k == 4, 0);
        if (k < 4) play_steps(&p, 1);
    }
    CHECK_ABOVE(p.sim->drift, 1.1);
    play_close(&p);
}

/* ---- Velocity ---- */

static const char blowing[] =
    "spate: 1\ndimension: %d\ndomain: {size: [4, 4%s], dx: 0.25}\n" WATER
    "bodies: [{material: water, shape: {points: [[1, 1%s], [1.125, 1%s], [1, 1.3%s]]}}]\n"
    "probes:\n"
    "  - {name: u, velocity: {at: [1, 1%s]}}\n"
    "  - {name: none, velocity: {at: [3, 3%s]}}\n";

static play open_blowing(int dim) {
    const char *z = dim == 3 ? ", 1" : "";
    return play_open(1, blowing, dim, dim == 3 ? ", 4" : "", z, z, z, z, z);
}

/* The mean of the first, at the point, and the second, half a cell away; the third is too far. */
static void test_velocity_of_particles(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        play p = open_blowing(dim);
        for (int64_t i = 0; i < 3; i++) p.sim->particles.mass[i] = p.sim->particles.id[i] ? 4 : 1;
        give_speed(&p, 0, 1, -1);
        give_speed(&p, 1, 4, 2);
        give_speed(&p, 2, 1000, 1000);
        assert_float_equal(play_quantity(&p, "u_x"), (1 * 1 + 4 * 0.5 * 4) / 3, 1e-6);
        assert_float_equal(play_quantity(&p, "u_y"), (1 * -1 + 4 * 0.5 * 2) / 3, 1e-6);
        if (dim == 3) assert_float_equal(play_quantity(&p, "u_z"), 0, 0);
        assert_true(isnan(play_quantity(&p, "none_y")));
        double value;
        assert_int_equal(spate_simulation_quantity(p.sim, "u", &value), SPATE_BAD_INPUT);
        assert_int_equal(spate_simulation_quantity(p.sim, "u_z", &value) == SPATE_OK, dim == 3);
        play_close(&p);
    }
}

static void wind(const spate_simulation *sim, const double x[3], double v[3]) {
    (void)sim;
    vec_set(v, 10 * x[0], 10 * x[1] + 1, x[2]);
}

/* A solver that knows the velocity of any place is asked. */
static void test_velocity_of_a_grid(void **state) {
    (void)state;
    play p = open_blowing(3);
    const solver_type *mpm = p.sim->type;
    solver_type other = *mpm;
    other.velocity = wind;
    p.sim->type = &other;
    assert_float_equal(play_quantity(&p, "u_x"), 10, 0);
    assert_float_equal(play_quantity(&p, "u_y"), 11, 0);
    assert_float_equal(play_quantity(&p, "u_z"), 1, 0);
    assert_float_equal(play_quantity(&p, "none_x"), 30, 0);
    p.sim->type = mpm;
    play_close(&p);
}

/* ---- Spread ---- */

static void test_spread(void **state) {
    (void)state;
    play p = play_open(1, few);
    for (int64_t i = 0; i < 5; i++) p.sim->particles.mass[i] = 1;
    /* x: 1 1 1 3, variance 0.75; y: 0.5 1.5 3 3, variance 1.125 */
    assert_float_equal(play_quantity(&p, "wide"), sqrt(0.75), 1e-6);
    assert_float_equal(play_quantity(&p, "high"), sqrt(1.125), 1e-6);
    assert_float_equal(play_quantity(&p, "far"), sqrt(0.75 + 1.125), 1e-6);
    for (uint32_t id = 0; id < 4; id++) remove_particle(&p, id);
    assert_true(isnan(play_quantity(&p, "far")));
    play_close(&p);
}

/* n layers of spacing s have the variance s^2 (n^2 - 1) / 12, wherever on a periodic axis. That it
 * begins at 11 of 2 tells a mean about the origin from one about the domain's beginning. */
static double spread_at(const char *box, const char *walls) {
    play p =
        play_open(1,
                  "spate: 1\ndimension: 3\n"
                  "domain: {origin: [11, 0, 0], size: [2, 1, 1], dx: 0.125, walls: %s}\n" WATER
                  "bodies: [{material: water, sampling: regular, shape: %s}]\n"
                  "probes: [{name: s, spread: {axis: x}}, {name: h, spread: {axis: "
                  "horizontal}}, {name: y, spread: {axis: y}}, {name: z, spread: {axis: z}}]\n",
                  walls, box);
    double s = play_quantity(&p, "s"), z = play_quantity(&p, "z");
    assert_float_equal(play_quantity(&p, "h"), sqrt(s * s + z * z), 1e-12);
    assert_float_equal(play_quantity(&p, "y"), 0.0625 * sqrt((8 * 8 - 1) / 12.0), 1e-6);
    play_close(&p);
    return s;
}

static void test_spread_across_a_seam(void **state) {
    (void)state;
    static const char middle[] = "{box: {min: [11.5, 0, 0], max: [12, 0.5, 0.25]}}";
    static const char seam[] = "{union: [{box: {min: [11, 0, 0], max: [11.125, 0.5, 0.25]}}, "
                               "{box: {min: [12.625, 0, 0], max: [13, 0.5, 0.25]}}]}";
    static const char periodic[] = "[periodic, periodic, slip, slip, slip, slip]";
    const double expected = 0.0625 * sqrt((8 * 8 - 1) / 12.0);
    assert_float_equal(spread_at(middle, "slip"), expected, 1e-6);
    assert_float_equal(spread_at(middle, periodic), expected, 1e-6);
    assert_float_equal(spread_at(seam, periodic), expected, 1e-6);
    /* control: between closed walls the same two boxes lie far apart */
    CHECK_ABOVE(spread_at(seam, "slip"), 4 * expected);
}

/* ---- Pieces ---- */

/* Two chains, a pair and a single one; the pair lies across the periodic side. */
static const char chains[] =
    "spate: 1\ndimension: 2\n"
    "domain: {size: [4, 4], dx: 0.25, walls: {x_min: %s, x_max: %s}}\n" WATER "bodies:\n"
    "  - {name: a, material: water, shape: {points: [[1, 1], [1.2, 1], [1.4, 1], [1.4, 1.2]]}}\n"
    "  - {name: b, material: water, shape: {points: [[2, 2], [2.2, 2.1], [2.4, 2]]}}\n"
    "  - {name: c, material: water, shape: {points: [[0.05, 3], [3.9, 3], [3, 3.5]]}}\n"
    "probes:\n"
    "  - {name: all, pieces: {}}\n"
    "  - {name: of_a, pieces: {of: a}}\n"
    "  - {name: large, pieces: {at_least: 3}}\n"
    "  - {name: fine, pieces: {gap: 0.21}}\n"
    "  - {name: coarse, pieces: {gap: 1.1}}\n"
    "  - {name: whole, pieces: {gap: 1e6}}\n"
    "  - {name: share, largest_piece: {}}\n"
    "  - {name: share_b, largest_piece: {of: b, gap: 0.21}}\n";

static void test_pieces(void **state) {
    (void)state;
    play p = play_open(1, chains, "slip", "slip");
    assert_float_equal(play_quantity(&p, "all"), 5, 0); /* a, b, and the three of c */
    assert_float_equal(play_quantity(&p, "of_a"), 1, 0);
    assert_float_equal(play_quantity(&p, "large"), 2, 0);
    assert_float_equal(play_quantity(&p, "fine"), 1 + 3 + 3, 0); /* b's links are 0.224 long */
    assert_float_equal(play_quantity(&p, "coarse"), 3, 0); /* a-b; [3, 3.5]-[3.9, 3]; [0.05, 3] */
    assert_float_equal(play_quantity(&p, "whole"), 1, 0);
    assert_float_equal(play_quantity(&p, "share"), 0.4, 1e-12);
    assert_float_equal(play_quantity(&p, "share_b"), 1 / 3.0, 1e-12);
    remove_particle(&p, 1); /* the second of chain a */
    assert_float_equal(play_quantity(&p, "of_a"), 2, 0);
    assert_float_equal(play_quantity(&p, "share"), 3 / 9.0, 1e-12);
    for (uint32_t id = 4; id < 7; id++) remove_particle(&p, id);
    assert_true(isnan(play_quantity(&p, "share_b")));
    play_close(&p);
    p = play_open(1, chains, "periodic", "periodic");
    assert_float_equal(play_quantity(&p, "all"), 4, 0); /* 0.15 across the side */
    assert_float_equal(play_quantity(&p, "coarse"), 2, 0);
    assert_float_equal(play_quantity(&p, "whole"), 1, 0);
    play_close(&p);
}

/* The same by comparing every pair. */
static void compare_all(const point_grid *c, double gap, int64_t at_least, int64_t *count,
                        int64_t *largest) {
    int64_t *piece = malloc((size_t)c->count * sizeof *piece);
    int64_t *size = calloc((size_t)c->count, sizeof *size);
    for (int64_t i = 0; i < c->count; i++) piece[i] = i;
    for (int64_t i = 0; i < c->count; i++)
        for (int64_t j = 0; j < i; j++) {
            double u[3];
            point_grid_difference(c, c->x[i], c->x[j], u);
            int64_t from = piece[i], to = piece[j];
            if (from == to || !(vec_length(u) < gap)) continue;
            for (int64_t k = 0; k < c->count; k++)
                if (piece[k] == from) piece[k] = to;
        }
    *count = *largest = 0;
    for (int64_t i = 0; i < c->count; i++) size[piece[i]]++;
    for (int64_t i = 0; i < c->count; i++) {
        *count += size[i] > 0 && size[i] >= at_least;
        if (size[i] > *largest) *largest = size[i];
    }
    free(piece);
    free(size);
}

static void test_pieces_of_random_points(void **state) {
    (void)state;
    static const char *const walls[] = {"slip", "periodic"};
    int broken_up = 0;
    for (int k = 0; k < 4; k++) {
        int dim = 2 + k / 2;
        play p = play_open(1,
                           "spate: 1\ndimension: %d\n"
                           "domain: {size: [1, 1%s], dx: 0.125, walls: %s}\n" WATER
                           "bodies: [{material: water, shape: {points: [[0.5, 0.5%s]]}}]\n",
                           dim, dim == 3 ? ", 1" : "", walls[k % 2], dim == 3 ? ", 0.5" : "");
        for (uint64_t i = 0; i < 300; i++) {
            double x[3] = {0};
            for (int a = 0; a < dim; a++) x[a] = random_unit((uint64_t)k, i, (uint64_t)a);
            assert_int_equal(simulation_add(p.sim, 0, x, (double[3]){0}, 1e-3), SPATE_OK);
        }
        for (double gap = 0.01; gap < 3; gap *= 1.13) {
            int64_t count[2], largest[2];
            point_grid c;
            assert_int_equal(point_grid_create(p.sim, 0, 1, &c), SPATE_OK);
            assert_int_equal(c.count, 301);
            assert_int_equal(pieces_count(&c, gap, 2, &count[0], &largest[0]), SPATE_OK);
            compare_all(&c, gap, 2, &count[1], &largest[1]);
            assert_int_equal(count[0], count[1]);
            assert_int_equal(largest[0], largest[1]);
            broken_up += count[0] > 5;
            point_grid_free(&c);
        }
        play_close(&p);
    }
    CHECK_ABOVE(broken_up, 30);
}

/* ---- Mixing ---- */

#define MIXED                                                                               \
    "spate: 1\ndimension: %d\ndomain: {size: [2, 2%s], dx: 0.125, walls: %s}\n"             \
    "materials: {water: {model: liquid, bulk_modulus: 1e4}}\n"                              \
    "bodies:\n"                                                                             \
    "  - {name: first, material: water, shape: {box: {min: [0, 0%s], max: [0.25, 2%s]}}}\n" \
    "  - {name: column, material: water, sampling: %s,\n"                                   \
    "     shape: {box: {min: [0.5, 0.25%s], max: [1.5, 1.25%s]}}}\n"                        \
    "sources: [{name: tap, material: water, limit: 9, velocity: [0, -1%s],\n"               \
    "           shape: {box: {min: [1.75, 1.5%s], max: [1.9, 1.75%s]}}}]\n"                 \
    "probes:\n"                                                                             \
    "  - {name: x, mixing: {of: column, axis: x}}\n"                                        \
    "  - {name: y, mixing: {of: column, axis: y}}\n"                                        \
    "  - {name: all, mixing: {axis: y}}\n"

static play open_mixed(int dim, const char *sampled, const char *walls, int threads) {
    const bool deep = dim == 3;
    return play_open(threads, MIXED, dim, deep ? ", 1" : "", walls, deep ? ", 0" : "",
                     deep ? ", 1" : "", sampled, deep ? ", 0.25" : "", deep ? ", 0.75" : "",
                     deep ? ", 0" : "", deep ? ", 0.25" : "", deep ? ", 0.5" : "");
}

static void shear(double x[3]) { x[0] += 1.7 * x[1]; }
static void flatten(double x[3]) { x[0] *= 3, x[1] /= 3; }
static void turn(double x[3]) {
    double c = cos(0.7), s = sin(0.7), old = x[0];
    x[0] = c * old - s * x[1], x[1] = s * old + c * x[1];
}
static void everything(double x[3]) {
    turn(x), flatten(x), shear(x);
    x[2] += 0.3 * x[0] - 0.2 * x[1];
}

/* Lines stay lines: no order is lost, however regular or not the particles lie. */
static void test_affine_motion_mixes_nothing(void **state) {
    (void)state;
    static void (*const maps[])(double[3]) = {shear, flatten, turn, everything};
    static const char *const samplings[] = {"regular", "jittered", "poisson"};
    for (int dim = 2; dim <= 3; dim++)
        for (int s = 0; s < 3; s++)
            for (int m = -1; m < COUNT_OF(maps); m++) {
                play p = open_mixed(dim, samplings[s], "slip", 2);
                if (m >= 0) move_all(&p, maps[m]);
                /* what float positions far from their blocks leave; double: nothing */
                CHECK_BELOW(play_quantity(&p, "x"), IN_DOUBLE ? 1e-12 : 1e-10);
                CHECK_BELOW(play_quantity(&p, "y"), IN_DOUBLE ? 1e-12 : 1e-10);
                if (m <= 0) CHECK_BELOW(play_quantity(&p, "all"), IN_DOUBLE ? 1e-12 : 1e-10);
                play_close(&p);
            }
}

/* Lets random pairs of the column change places: a share of all particles, at most `reach`
 * apart. */
static void exchange(play *p, double share, double reach) {
    spate_simulation *sim = p->sim;
    int64_t count = sim->particles.count;
    int64_t *column = malloc((size_t)count * sizeof *column), n = 0;
    double(*x)[3] = malloc((size_t)count * sizeof *x);
    EACH_PARTICLE(sim, block, i) {
        if (sim->particles.group[i] != 1) continue;
        simulation_position(sim, block, i, x[n]);
        column[n++] = i;
    }
    for (int64_t k = 0; k < n; k++) {
        if (random_unit(1, (uint64_t)k, 0) >= share) continue;
        for (uint64_t attempt = 0; attempt < 1000; attempt++) {
            int64_t other = (int64_t)(random_unit(2, (uint64_t)k, attempt) * (double)n);
            double u[3];
            vec_sub(u, x[k], x[other]);
            if (vec_length(u) > reach) continue;
            /* two that change places are two that change names */
            uint32_t id = sim->particles.id[column[k]];
            sim->particles.id[column[k]] = sim->particles.id[column[other]];
            sim->particles.id[column[other]] = id;
            break;
        }
    }
    free(x);
    free(column);
}

static void test_exchange_mixes(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        static const double shares[] = {0, 0.02, 0.1, 0.3, 1};
        double before = -1, mixed = 0;
        for (int s = 0; s < COUNT_OF(shares); s++) {
            play p = open_mixed(dim, "jittered", "slip", 1);
            exchange(&p, shares[s], 10);
            mixed = play_quantity(&p, "y");
            CHECK_ABOVE(mixed, before);
            before = mixed + 0.02;
            play_close(&p);
        }
        CHECK_ABOVE(mixed, 0.95); /* from anywhere: 1 in the mean */
        CHECK_BELOW(mixed, 1.05);
        /* neighbouring lines through each other, and nothing further */
        play p = open_mixed(dim, "regular", "slip", 1);
        exchange(&p, 1, 0.08);
        CHECK_ABOVE(play_quantity(&p, "y"), 0.2);
        CHECK_BELOW(play_quantity(&p, "y"), 0.8);
        /* the other body has kept its order */
        CHECK_BELOW(play_quantity(&p, "all"), play_quantity(&p, "y"));
        play_close(&p);
    }
}

static void round_and_round(double x[3]) { x[0] = fmod(x[0] + 1.2, 2), x[1] = fmod(x[1] + 0.9, 2); }

/* Round periodic sides nothing is mixed: neither where the body now lies across one, nor where
 * neighbours began at the two ends of the axis. */
static void test_mixing_across_a_seam(void **state) {
    (void)state;
    play p = open_mixed(2, "jittered", "periodic", 1);
    move_all(&p, round_and_round);
    CHECK_BELOW(play_quantity(&p, "x"), 1e-8);
    CHECK_BELOW(play_quantity(&p, "y"), 1e-8);
    play_close(&p);
    p = play_open(1, "spate: 1\ndimension: 2\ndomain: {size: [2, 2], dx: 0.125, walls: periodic}\n"
                     "gravity: [0, 0]\n" WATER "bodies: [{name: a, material: water, velocity: [5, "
                     "3], shape: {box: {min: [0, 0], max: [2, 2]}}}]\n"
                     "probes: [{name: m, mixing: {axis: x}}, {name: n, pieces: {}}]\n");
    play_until(&p, 0.3);
    CHECK_BELOW(play_quantity(&p, "m"), 1e-4);
    assert_float_equal(play_quantity(&p, "n"), 1, 0);
    play_close(&p);
}

/* The start is worked out again from the scene: also after a checkpoint, and with fewer left. */
static void test_mixing_after_a_checkpoint(void **state) {
    (void)state;
    char path[] = "/tmp/spate_probes_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    play p = open_mixed(2, "poisson", "slip", 1);
    play_until(&p, 0.1);
    exchange(&p, 0.2, 10);
    remove_particle(&p, p.sim->particles.id[7]);
    double y = play_quantity(&p, "y"), restored;
    CHECK_ABOVE(y, 0.1);
    assert_int_equal(spate_simulation_save(p.sim, path), SPATE_OK);
    spate_simulation *again;
    assert_int_equal(spate_simulation_restore(p.scene, path, &again), SPATE_OK);
    assert_int_equal(spate_simulation_quantity(again, "y", &restored), SPATE_OK);
    assert_true(y == restored);
    spate_simulation_free(again);
    unlink(path);
    for (int64_t i = 0; i < p.sim->particles.count; i++)
        if (p.sim->particles.group[i] == 1) p.sim->particles.group[i] = GROUP_REMOVED;
    assert_true(isnan(play_quantity(&p, "y")));
    play_close(&p);
}

static void test_threads_do_not_matter(void **state) {
    (void)state;
    static const char *const names[] = {"x", "y", "all", "pieces", "share", "spread", "count"};
    double values[2][COUNT_OF(names)];
    for (int k = 0; k < 2; k++) {
        play p = play_open(k ? 5 : 1,
                           MIXED "  - {name: pieces, pieces: {gap: 0.05}}\n"
                                 "  - {name: share, largest_piece: {gap: 0.07}}\n"
                                 "  - {name: spread, spread: {}}\n"
                                 "  - {name: count, count: {shape: {sphere: {center: [1, 0, 0], "
                                 "radius: 0.7}}}}\n",
                           3, ", 1", "slip", ", 0", ", 1", "jittered", ", 0.25", ", 0.75", ", 0",
                           ", 0.25", ", 0.5");
        exchange(&p, 0.3, 0.3);
        play_until(&p, 0.05);
        for (int q = 0; q < COUNT_OF(names); q++) values[k][q] = play_quantity(&p, names[q]);
        play_close(&p);
    }
    for (int q = 0; q < COUNT_OF(names); q++) CHECK_ABOVE(values[0][q], 0);
    assert_memory_equal(values[0], values[1], sizeof values[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count_and_speed),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_count_passes_nothing_over),
        cmocka_unit_test(test_count_follows_the_drift),
        cmocka_unit_test(test_velocity_of_particles),
        cmocka_unit_test(test_velocity_of_a_grid),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_spread_across_a_seam),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_pieces_of_random_points),
        cmocka_unit_test(test_affine_motion_mixes_nothing),
        cmocka_unit_test(test_exchange_mixes),
        cmocka_unit_test(test_mixing_across_a_seam),
        cmocka_unit_test(test_mixing_after_a_checkpoint),
        cmocka_unit_test(test_threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
