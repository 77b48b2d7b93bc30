/* Sampling: counts, volumes, where points may be, and that randomness depends on place alone. */
#include "core/vec.h"
#include "scene/sample.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

typedef struct fixture {
    spate_context *ctx;
    int64_t blocks; /* taken when all begins, and when all is done */
    arena arena;
    spate_scene scene;
    body bodies[3];
    collider colliders[1];
} fixture;

/* A domain of 10 cells a side with cells of 0.1 that does not begin at the origin. */
static int open_fixture(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    if (spate_open(NULL, &f.ctx)) return -1;
    f.blocks = f.ctx->blocks_now;
    f.arena = arena_create(f.ctx);
    f.scene = (spate_scene){
        .ctx = f.ctx, .dim = 3, .seed = 11, .bodies = f.bodies, .colliders = f.colliders};
    f.scene.domain =
        (domain){.origin = {0.3, -1.1, 7}, .size = {1, 1, 1}, .dx = 0.1, .cells = {10, 10, 10}};
    *state = &f;
    return 0;
}

static int close_fixture(void **state) {
    fixture *f = *state;
    arena_free(&f->arena);
    bool clean = f->ctx->blocks_now == f->blocks;
    spate_close(f->ctx);
    return clean ? 0 : -1;
}

/* A box in cells of the domain. */
static shape *box(fixture *f, double x0, double y0, double z0, double x1, double y1, double z1) {
    shape *s = shape_create(&f->arena, SHAPE_BOX);
    vec_set(s->a, 0.3 + 0.1 * x0, -1.1 + 0.1 * y0, 7 + 0.1 * z0);
    vec_set(s->b, 0.3 + 0.1 * x1, -1.1 + 0.1 * y1, 7 + 0.1 * z1);
    return s;
}

static shape *ball(fixture *f, double x, double y, double z, double r) {
    shape *s = box(f, x, y, z, x, y, z);
    s->kind = SHAPE_SPHERE;
    s->radius = 0.1 * r;
    return s;
}

static void add_body(fixture *f, shape *s, double per_cell, sampling kind) {
    f->bodies[f->scene.body_count++] =
        (body){.shape = s, .particles_per_cell = per_cell, .sampling = kind, .jitter = 1};
}

static samples sample(fixture *f, int index) {
    samples s;
    assert_int_equal(sample_body(&f->scene, index, &s), SPATE_OK);
    return s;
}

/* What only counts must agree with what makes points. */
static void expect_counted(fixture *f, int index) {
    samples made, counted;
    assert_int_equal(sample_body(&f->scene, index, &made), SPATE_OK);
    assert_int_equal(sample_count_body(&f->scene, index, &counted), SPATE_OK);
    assert_true(made.count > 0 && counted.count == made.count);
    assert_true(counted.left_out == made.left_out && counted.clipped == made.clipped);
    assert_near(counted.volume, made.volume, 0);
    samples_free(f->ctx, &made), samples_free(f->ctx, &counted);
}

static int64_t count_of(fixture *f, int index) {
    samples s = sample(f, index);
    int64_t count = s.count;
    samples_free(f->ctx, &s);
    return count;
}

/* ---- Lattices
 * ------------------------------------------------------------------------------------- */

static void test_aligned_boxes_have_exact_counts(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++)
        for (int n = 1; n <= 3; n++) {
            f->scene.dim = dim, f->scene.body_count = 0;
            double per_cell = dim == 2 ? n * n : n * n * n;
            add_body(f, box(f, 1, 2, 3, 7, 5, 8), per_cell, SAMPLE_REGULAR);
            samples s = sample(f, 0);
            double cells = dim == 2 ? 18 : 90;
            assert_int_equal(s.count, cells * per_cell);
            assert_near(s.volume, pow(0.1 / n, dim), 1e-15);
            for (int i = 0; i < dim; i++) { /* at (k + 1/2) / n of a cell */
                double share = (s.points[0][i] - f->scene.domain.origin[i]) / 0.1 * n;
                assert_near(share - floor(share), 0.5, 1e-9);
            }
            samples_free(f->ctx, &s);
        }
}

/* A whole number along each edge of a cell, whatever the root of 27 is to rounding. */
static void test_spacing_divides_the_cell(void **state) {
    fixture *f = *state;
    for (int n = 1; n <= 20; n++) {
        assert_true(sample_spacing(&f->scene.domain, 2, n * n) == 0.1 / n);
        assert_true(sample_spacing(&f->scene.domain, 3, n * n * n) == 0.1 / n);
    }
    assert_near(sample_spacing(&f->scene.domain, 3, 10), 0.1 / cbrt(10), 1e-15);
}

/* Faces that run through lattice points: they belong to one side only, so counts still add up. */
static void test_faces_on_lattice_points(void **state) {
    fixture *f = *state;
    f->scene.dim = 3, f->scene.body_count = 0;
    add_body(f, box(f, 1.25, 1.25, 1.25, 4.25, 3.25, 5.75), 8, SAMPLE_REGULAR);
    assert_int_equal(count_of(f, 0), 6 * 4 * 9);
}

static void test_shared_faces_lose_nothing(void **state) {
    fixture *f = *state;
    for (double cut = 4; cut < 4.6; cut += 0.25) {
        f->scene.dim = 3, f->scene.body_count = 0;
        add_body(f, box(f, 1, 1, 1, cut, 5, 5), 8, SAMPLE_REGULAR);
        add_body(f, box(f, cut, 1, 1, 8, 5, 5), 8, SAMPLE_REGULAR);
        assert_int_equal(count_of(f, 0) + count_of(f, 1), 7 * 4 * 4 * 8);
        f->colliders[0] = (collider){.shape = f->bodies[0].shape};
        f->scene.collider_count = 1;
        int64_t beside = count_of(f, 1);
        f->scene.collider_count = 0;
        assert_int_equal(beside, count_of(f, 1));
    }
}

static void test_curved_volume_is_met(void **state) {
    fixture *f = *state;
    f->scene.dim = 3, f->scene.body_count = 0;
    add_body(f, ball(f, 5, 5, 5, 3), 8, SAMPLE_REGULAR);
    samples s = sample(f, 0);
    assert_near(s.volume * (double)s.count, shape_volume(f->bodies[0].shape, 3), 1e-12);
    assert_near(s.volume, 0.05 * 0.05 * 0.05, 0.05 * s.volume);
    /* no point is missing that is inside, none is there that is not */
    int64_t inside = 0;
    for (int i = 0; i < 20 * 20 * 20; i++) {
        double x[3] = {0.325 + 0.05 * (i % 20), -1.075 + 0.05 * (i / 20 % 20),
                       7.025 + 0.05 * (i / 400)};
        inside += shape_distance(f->bodies[0].shape, 3, x) < 0;
    }
    assert_int_equal(s.count, inside);
    samples_free(f->ctx, &s);
}

/* ---- What is in the way
 * ------------------------------------------------------------------------------ */

static void test_colliders_and_earlier_bodies_stay_free(void **state) {
    fixture *f = *state;
    assert_int_equal(glass_create(&f->arena, 3, 11, &f->scene.glass), SPATE_OK);
    for (int kind = SAMPLE_REGULAR; kind <= SAMPLE_POISSON; kind++) {
        f->scene.dim = 3, f->scene.body_count = 0;
        motion_key key = {0, {0.2, 0, 0}, {0, 0, 1}, 0};
        add_body(f, ball(f, 3, 5, 5, 2), 8, SAMPLE_REGULAR);
        add_body(f, box(f, 2, 2, 2, 9, 8, 8), 8, kind);
        f->colliders[0] =
            (collider){.shape = ball(f, 5, 5, 5, 1.5), .motion = {.keys = &key, .key_count = 1}};
        f->scene.collider_count = 1;
        samples s = sample(f, 1);
        shape *where = ball(f, 7, 5, 5, 1.5); /* moved by two cells */
        for (int64_t i = 0; i < s.count; i++) {
            assert_true(shape_distance(f->bodies[0].shape, 3, s.points[i]) >= 0);
            assert_true(shape_distance(where, 3, s.points[i]) >= 0);
            assert_true(shape_distance(f->bodies[1].shape, 3, s.points[i]) <= 0);
        }
        /* the volume of what is left, not of the whole box */
        double held = 0.001 * 4.18879 * (8 + 1.5 * 1.5 * 1.5);
        assert_true(s.left_out > 300);
        assert_near(s.volume * (double)s.count, 0.252 - held + 0.001 * 4.18879 * 8 * 0.156, 0.01);
        /* negative control: without them the same places are filled */
        f->scene.collider_count = 0;
        f->scene.bodies = f->bodies + 1, f->scene.body_count = 1;
        samples all = sample(f, 0);
        f->scene.bodies = f->bodies;
        int held_points = 0;
        for (int64_t i = 0; i < all.count; i++)
            held_points += shape_distance(where, 3, all.points[i]) < 0;
        assert_true(held_points > 80 && all.left_out == 0);
        if (kind != SAMPLE_POISSON) assert_int_equal(all.count, s.count + s.left_out);
        samples_free(f->ctx, &s);
        samples_free(f->ctx, &all);
    }
}

static void test_outside_the_domain(void **state) {
    fixture *f = *state;
    f->scene.dim = 3, f->scene.body_count = 0;
    add_body(f, box(f, -3, 0, 0, 2, 2, 2), 8, SAMPLE_REGULAR);
    add_body(f, box(f, 20, 0, 0, 22, 2, 2), 8, SAMPLE_REGULAR);
    shape *sea = shape_create(&f->arena, SHAPE_PLANE);
    vec_set(sea->a, 0, -0.8, 0);
    vec_set(sea->b, 0, 1, 0);
    add_body(f, sea, 8, SAMPLE_REGULAR);
    samples s = sample(f, 0);
    assert_int_equal(s.count, 64);
    assert_true(s.clipped);
    assert_near(s.volume, 0.000125, 1e-15);
    samples_free(f->ctx, &s);
    assert_int_equal(count_of(f, 1), 0);
    assert_int_equal(count_of(f, 2), 10 * 3 * 10 * 8 - 64);
}

static void test_given_points(void **state) {
    fixture *f = *state;
    double points[4][3] = {{0.4, -1, 7.1}, {0.9, -0.5, 7.5}, {5, 5, 5}, {0.35, -1.05, 7}};
    shape *s = shape_create(&f->arena, SHAPE_POINTS);
    s->points = points, s->point_count = 4;
    f->scene.dim = 3, f->scene.body_count = 0;
    add_body(f, s, 8, SAMPLE_REGULAR);
    samples out = sample(f, 0);
    assert_int_equal(out.count, 3);
    assert_true(out.clipped);
    assert_memory_equal(out.points[0], points[0], sizeof points[0]);
    assert_memory_equal(out.points[1], points[1], sizeof points[0]);
    assert_memory_equal(out.points[2], points[3], sizeof points[0]);
    assert_near(out.volume, 0.000125, 1e-15);
    samples_free(f->ctx, &out);
}

/* ---- Randomness
 * ---------------------------------------------------------------------------------------- */

static bool contains(const samples *s, const double x[3]) {
    for (int64_t i = 0; i < s->count; i++)
        if (!memcmp(s->points[i], x, 3 * sizeof *x)) return true;
    return false;
}

/* A jittered point depends on its place and the seed, not on the shape, the body's number, or what
 * was sampled before. */
static void test_jitter_depends_on_place_alone(void **state) {
    fixture *f = *state;
    f->scene.dim = 3, f->scene.body_count = 0;
    add_body(f, box(f, 8, 8, 8, 9, 9, 9), 8, SAMPLE_REGULAR);
    add_body(f, box(f, 2, 2, 2, 5, 5, 5), 8, SAMPLE_JITTERED);
    add_body(f, box(f, 0, 1, 1, 7, 7, 7), 8, SAMPLE_JITTERED);
    samples small = sample(f, 1);
    f->bodies[0] = f->bodies[2], f->scene.body_count = 1;
    samples large = sample(f, 0), again = sample(f, 0);
    assert_int_equal(small.count, 216);
    assert_int_equal(large.count, 7 * 6 * 6 * 8);
    assert_memory_equal(large.points, again.points, (size_t)large.count * sizeof *large.points);
    int same = 0;
    for (int64_t i = 0; i < small.count; i++) same += contains(&large, small.points[i]);
    assert_int_equal(same, 216);
    f->scene.seed = 12;
    samples other = sample(f, 0);
    f->scene.seed = 11;
    assert_false(contains(&other, small.points[0]));
    samples_free(f->ctx, &small);
    samples_free(f->ctx, &large);
    samples_free(f->ctx, &again);
    samples_free(f->ctx, &other);
}

/* Jitter fills the lattice's cells evenly and never leaves the shape. */
static void test_jittered_points_stay_inside(void **state) {
    fixture *f = *state;
    f->scene.dim = 3, f->scene.body_count = 0;
    add_body(f, ball(f, 5, 5, 5, 4), 8, SAMPLE_REGULAR);
    samples regular = sample(f, 0);
    f->bodies[0].sampling = SAMPLE_JITTERED;
    samples s = sample(f, 0);
    assert_int_equal(s.count, regular.count);
    double moved = 0;
    for (int64_t i = 0; i < s.count; i++) {
        assert_true(shape_distance(f->bodies[0].shape, 3, s.points[i]) < 0);
        for (int c = 0; c < 3; c++) {
            double d = s.points[i][c] - regular.points[i][c];
            assert_true(fabs(d) <= 0.025 + 1e-12);
            moved += d * d / 3 / (double)s.count;
        }
    }
    assert_near(moved, 0.05 * 0.05 / 12, 0.1 * 0.05 * 0.05 / 12); /* of an even spread */
    samples_free(f->ctx, &s);
    samples_free(f->ctx, &regular);
}

static double smallest_gap(const samples *s) {
    double best = HUGE_VAL;
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t j = 0; j < i; j++) {
            double d[3];
            vec_sub(d, s->points[i], s->points[j]);
            best = fmin(best, vec_dot(d, d));
        }
    return sqrt(best);
}

static void test_poisson_discs(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++) {
        f->scene.dim = dim, f->scene.body_count = 0;
        /* two parts with a gap between them: both are filled */
        shape *parts[2] = {ball(f, 2, 5, 5, 1.8), box(f, 5, 2, 4, 9, 7, 6)};
        shape *both = shape_create(&f->arena, SHAPE_UNION);
        both->children = parts, both->child_count = 2;
        add_body(f, both, dim == 2 ? 16 : 8, SAMPLE_REGULAR);
        samples regular = sample(f, 0);
        f->bodies[0].sampling = SAMPLE_POISSON;
        samples s = sample(f, 0), again = sample(f, 0);
        assert_int_equal(s.count, regular.count);
        assert_int_equal(s.count, again.count);
        assert_memory_equal(s.points, again.points, (size_t)s.count * sizeof *s.points);
        assert_true(smallest_gap(&s) >= 0.77 * s.spacing);
        int left = 0;
        for (int64_t i = 0; i < s.count; i++) {
            assert_true(shape_distance(both, dim, s.points[i]) < 0);
            left += s.points[i][0] < 0.3 + 0.4;
        }
        double share = shape_volume(parts[0], dim) /
                       (shape_volume(parts[0], dim) + shape_volume(parts[1], dim));
        assert_near((double)left / (double)s.count, share, 0.05);
        assert_near(s.volume * (double)s.count, regular.volume * (double)regular.count, 1e-12);
        /* negative control: jitter comes nearer */
        f->bodies[0].sampling = SAMPLE_JITTERED;
        samples jittered = sample(f, 0);
        assert_true(smallest_gap(&jittered) < 0.5 * s.spacing);
        samples_free(f->ctx, &jittered);
        samples_free(f->ctx, &regular);
        samples_free(f->ctx, &s);
        samples_free(f->ctx, &again);
    }
}

/* A glass has as many points as the lattice and the same volume, all of them inside; each is
 * decided by its place and the seed. */
static void test_glass_points_stay_inside(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++) {
        f->scene.dim = dim, f->scene.body_count = 0;
        assert_int_equal(glass_create(&f->arena, dim, 11, &f->scene.glass), SPATE_OK);
        add_body(f, ball(f, 5, 5, dim == 2 ? -70 : 5, 4), dim == 2 ? 4 : 8, SAMPLE_REGULAR);
        samples regular = sample(f, 0);
        f->bodies[0].sampling = SAMPLE_GLASS;
        samples s = sample(f, 0);
        assert_int_equal(s.count, regular.count);
        assert_near(s.volume, regular.volume, 0);
        int64_t off_lattice = 0;
        for (int64_t i = 0; i < s.count; i++) {
            assert_true(shape_distance(f->bodies[0].shape, dim, s.points[i]) < 0);
            const double place = (s.points[i][0] - 0.3) / s.spacing;
            off_lattice += fabs(place - floor(place) - 0.5) > 0.05;
        }
        assert_true(off_lattice > s.count / 2);
        samples_free(f->ctx, &s);
        samples_free(f->ctx, &regular);
    }
    f->scene.dim = 3;
}

/* How full the cells around are by some points, as a share. */
enum { FILL_SIDE = 12 };
static void fill_cells(const fixture *f, const samples *s, int dim, double *fill) {
    memset(fill, 0, FILL_SIDE * FILL_SIDE * FILL_SIDE * sizeof *fill);
    for (int64_t i = 0; i < s->count; i++)
        for (int corner = 0; corner < 1 << dim; corner++) {
            double weight = pow(s->spacing / 0.1, dim);
            int cell = 0;
            for (int a = dim - 1; a >= 0; a--) {
                const double at = (s->points[i][a] - f->scene.domain.origin[a]) / 0.1 + 0.5;
                const int side = corner >> a & 1;
                weight *= side ? at - floor(at) : 1 - (at - floor(at));
                cell = cell * FILL_SIDE + (int)floor(at) + side;
            }
            fill[cell] += weight;
        }
}

/* The largest difference of what two sets of points fill, of cells within one of a shape's
 * surface. */
static double largest_difference(const fixture *f, const samples *s, const samples *like,
                                 const shape *of, int dim) {
    static double fill[2][FILL_SIDE * FILL_SIDE * FILL_SIDE];
    double worst = 0;
    fill_cells(f, s, dim, fill[0]);
    fill_cells(f, like, dim, fill[1]);
    for (int c = 0; c < FILL_SIDE * FILL_SIDE * (dim == 3 ? FILL_SIDE : 1); c++) {
        const int at[3] = {c % FILL_SIDE, c / FILL_SIDE % FILL_SIDE, c / FILL_SIDE / FILL_SIDE};
        double x[3] = {0};
        for (int a = 0; a < dim; a++) x[a] = f->scene.domain.origin[a] + 0.1 * (at[a] - 0.5);
        if (fabs(shape_distance(of, dim, x)) > 0.1) continue;
        worst = fmax(worst, fabs(fill[0][c] - fill[1][c]));
    }
    return worst;
}

/* At a face along the grid a glass fills cells as the lattice does; by its tile alone it does not.
 * A ball's points do not follow the steps of its lattice. */
static void test_a_glass_has_the_surface_of_the_lattice(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++)
        for (int round = 0; round < 2; round++) {
            f->scene.dim = dim, f->scene.body_count = f->scene.collider_count = 0;
            assert_int_equal(glass_create(&f->arena, dim, 11, &f->scene.glass), SPATE_OK);
            add_body(f,
                     round ? ball(f, 5, 5, dim == 2 ? -70 : 5, 4.2) : box(f, 0, 0, 0, 10, 6.6, 10),
                     dim == 2 ? 4 : 8, SAMPLE_REGULAR);
            samples lattice = sample(f, 0), tile = sample(f, 0);
            for (int64_t i = 0; i < tile.count; i++) {
                int64_t k[3] = {0};
                for (int a = 0; a < dim; a++)
                    k[a] =
                        (int64_t)((tile.points[i][a] - f->scene.domain.origin[a]) / tile.spacing);
                const double *move = glass_move(&f->scene.glass, k);
                for (int a = 0; a < dim; a++)
                    tile.points[i][a] = f->scene.domain.origin[a] +
                                        clamp(tile.points[i][a] - f->scene.domain.origin[a] +
                                                  tile.spacing * move[a],
                                              0, 0.9999);
            }
            f->bodies[0].sampling = SAMPLE_GLASS;
            samples s = sample(f, 0);
            const double own = largest_difference(f, &s, &lattice, f->bodies[0].shape, dim),
                         raw = largest_difference(f, &tile, &lattice, f->bodies[0].shape, dim);
            print_message("%dD %s: cells at the surface off by %.2g, by the tile alone %.2g\n", dim,
                          round ? "ball" : "pool", own, raw);
            assert_true(round ? own > 0.05 : own < 0.003);
            assert_true(raw > 0.05);
            samples_free(f->ctx, &s), samples_free(f->ctx, &tile), samples_free(f->ctx, &lattice);
        }
    f->scene.dim = 3;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static int64_t allowance;

static void *allocate(size_t bytes, void *user) {
    (void)user;
    return allowance-- > 0 ? malloc(bytes) : NULL;
}

static void release(void *block, void *user) {
    (void)user;
    free(block);
}

/* Each allocation fails in turn; nothing is left behind, and the last round has enough. */
static void fail_every_allocation(fixture *f, sampling kind) {
    f->scene.dim = 3, f->scene.body_count = 0;
    add_body(f, ball(f, 3, 5, 5, 2), 8, SAMPLE_REGULAR);
    add_body(f, box(f, 2, 2, 2, 9, 8, 8), 8, kind);
    spate_config config = spate_default_config();
    config.allocate = allocate, config.release = release, config.threads = 1;
    allowance = INT64_MAX;
    spate_context *ctx;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    int64_t blocks = ctx->blocks_now, rounds = 0;
    f->scene.ctx = ctx;
    spate_status status = SPATE_OUT_OF_MEMORY;
    for (; status != SPATE_OK && rounds < 200; rounds++) {
        samples s;
        allowance = rounds;
        status = sample_body(&f->scene, 1, &s);
        if (status != SPATE_OK) assert_int_equal(status, SPATE_OUT_OF_MEMORY);
        samples_free(ctx, &s);
        assert_int_equal(ctx->blocks_now, blocks);
    }
    assert_in_range(rounds, 8, 199);
    f->scene.ctx = f->ctx;
    spate_close(ctx);
}

static void test_every_allocation_failing(void **state) {
    fixture *f = *state;
    assert_int_equal(glass_create(&f->arena, 3, 11, &f->scene.glass), SPATE_OK);
    fail_every_allocation(f, SAMPLE_POISSON);
    fail_every_allocation(f, SAMPLE_GLASS);
}

static void test_counting_agrees(void **state) {
    fixture *f = *state;
    f->colliders[0] = (collider){.contact = CONTACT_SLIP};
    f->scene.collider_count = 1;
    for (int dim = 2; dim <= 3; dim++)
        for (int kind = SAMPLE_REGULAR; kind <= SAMPLE_POISSON; kind++) {
            f->scene.dim = dim, f->scene.body_count = 0;
            assert_int_equal(glass_create(&f->arena, dim, 11, &f->scene.glass), SPATE_OK);
            f->colliders[0].shape = ball(f, 5, 5, dim == 2 ? -70 : 5, 2.3);
            add_body(f, box(f, 0, 0, 0, 7.3, 8, 9), 8, (sampling)kind);
            add_body(f, ball(f, 6, 5, dim == 2 ? -70 : 5, 4.7), 3, (sampling)kind);
            for (int b = 0; b < 2; b++) expect_counted(f, b);
        }
    f->scene.dim = 3;
}

/* 64 million points: only those beside the surface are looked at, and none is made. */
static void test_counting_makes_nothing(void **state) {
    fixture *f = *state;
    samples s;
    f->scene.body_count = f->scene.collider_count = 0;
    add_body(f, box(f, 1, 1, 1, 9, 9, 9), 1e6, SAMPLE_REGULAR);
    const int64_t most = f->ctx->blocks_now;
    f->scene.dim = 2;
    assert_int_equal(sample_count_body(&f->scene, 0, &s), SPATE_OK);
    assert_int_equal(s.count, 64000000);
    assert_null(s.points);
    assert_true(f->ctx->blocks_now == most);
    samples_free(f->ctx, &s);
    f->scene.dim = 3;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aligned_boxes_have_exact_counts),
        cmocka_unit_test(test_spacing_divides_the_cell),
        cmocka_unit_test(test_faces_on_lattice_points),
        cmocka_unit_test(test_shared_faces_lose_nothing),
        cmocka_unit_test(test_curved_volume_is_met),
        cmocka_unit_test(test_colliders_and_earlier_bodies_stay_free),
        cmocka_unit_test(test_outside_the_domain),
        cmocka_unit_test(test_counting_agrees),
        cmocka_unit_test(test_counting_makes_nothing),
        cmocka_unit_test(test_given_points),
        cmocka_unit_test(test_jitter_depends_on_place_alone),
        cmocka_unit_test(test_jittered_points_stay_inside),
        cmocka_unit_test(test_poisson_discs),
        cmocka_unit_test(test_glass_points_stay_inside),
        cmocka_unit_test(test_a_glass_has_the_surface_of_the_lattice),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
