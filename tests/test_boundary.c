/* Colliders: what a contact does to a velocity, where a moving collider is, what runs into it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/vec.h"
#include "state/boundary.h"

static const double PI = 3.14159265358979323846;

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static void assert_vector(const double v[3], double x, double y, double z) {
    assert_near(v[0], x, 1e-12);
    assert_near(v[1], y, 1e-12);
    assert_near(v[2], z, 1e-12);
}

/* ---- Contact ---- */

static const double up[3] = {0, 1, 0}, at_rest[3] = {0, 0, 0};

static void test_sticky(void **state) {
    (void)state;
    double v[3] = {3, -2, 1};
    contact_apply(CONTACT_STICKY, 0.5, up, (const double[3]){0.1, 0.2, 0.3}, v);
    assert_vector(v, 0.1, 0.2, 0.3);
}

static void test_slip_loses_the_normal_part_both_ways(void **state) {
    (void)state;
    double into[3] = {3, -2, 1}, away[3] = {3, 2, 1};
    contact_apply(CONTACT_SLIP, 0, up, at_rest, into);
    assert_vector(into, 3, 0, 1);
    contact_apply(CONTACT_SLIP, 0, up, at_rest, away);
    assert_vector(away, 3, 0, 1);
}

static void test_separate_lets_go(void **state) {
    (void)state;
    double into[3] = {3, -2, 1}, away[3] = {3, 2, 1}, along[3] = {3, 0, 1};
    contact_apply(CONTACT_SEPARATE, 0, up, at_rest, into);
    assert_vector(into, 3, 0, 1);
    contact_apply(CONTACT_SEPARATE, 0.7, up, at_rest, away);
    assert_vector(away, 3, 2, 1);
    contact_apply(CONTACT_SEPARATE, 0.7, up, at_rest, along);
    assert_vector(along, 3, 0, 1);
    /* a wall that follows faster than the material leaves is being run into */
    double chased[3] = {3, 2, 1};
    contact_apply(CONTACT_SEPARATE, 0, up, (const double[3]){0, 5, 0}, chased);
    assert_vector(chased, 3, 5, 1);
}

/* Coulomb: the tangential part is shortened by friction times the approach that was stopped. */
static void test_friction(void **state) {
    (void)state;
    double slides[3] = {3, -2, 4}; /* tangential 5, lost 2 */
    contact_apply(CONTACT_SEPARATE, 0.5, up, at_rest, slides);
    assert_vector(slides, 3 * 0.8, 0, 4 * 0.8);
    double stops[3] = {3, -2, 4}; /* 2.5 * 2 = 5 */
    contact_apply(CONTACT_SEPARATE, 2.5, up, at_rest, stops);
    assert_vector(stops, 0, 0, 0);
    double never_back[3] = {3, -2, 4};
    contact_apply(CONTACT_SLIP, 100, up, at_rest, never_back);
    assert_vector(never_back, 0, 0, 0);
    double pulled[3] = {3, 2, 4};
    contact_apply(CONTACT_SLIP, 0.5, up, at_rest, pulled);
    assert_vector(pulled, 3, 2, 4); /* a contact with friction lets go */
    /* straight into the wall: no direction to slide in, and no NaN */
    double straight[3] = {0, -2, 0};
    contact_apply(CONTACT_SEPARATE, 0.5, up, at_rest, straight);
    assert_vector(straight, 0, 0, 0);
}

/* By hand: v - w = (0.9, -2.2, 0.8), along n = (0.6, 0.8, 0) it is -1.22, the rest is
 * (1.632, -1.224, 0.8) of length sqrt(4.8016), and friction 0.3 takes 0.366 off it. */
static void test_oblique_contact_with_a_moving_wall(void **state) {
    (void)state;
    const double n[3] = {0.6, 0.8, 0}, carried[3] = {0.1, 0.2, -0.3};
    double v[3] = {1, -2, 0.5}, left = 1 - 0.366 / sqrt(4.8016), relative[3];
    contact_apply(CONTACT_SEPARATE, 0.3, n, carried, v);
    assert_vector(v, 0.1 + 1.632 * left, 0.2 - 1.224 * left, -0.3 + 0.8 * left);
    vec_sub(relative, v, carried);
    assert_near(vec_dot(relative, n), 0, 1e-12);
}

/* A block on a slope stays when tan(slope) <= friction, and otherwise gains g (sin - mu cos) t. */
static void test_slope(void **state) {
    (void)state;
    const double slope = 0.5, dt = 1e-3, n[3] = {-sin(slope), cos(slope), 0};
    static const double frictions[] = {0, 0.3, 0.5, 0.6};
    for (int f = 0; f < COUNT_OF(frictions); f++) {
        double v[3] = {0};
        for (int step = 0; step < 100; step++) {
            v[1] -= 9.81 * dt;
            contact_apply(CONTACT_SEPARATE, frictions[f], n, at_rest, v);
        }
        double gain = 9.81 * 0.1 * (sin(slope) - frictions[f] * cos(slope));
        assert_near(vec_length(v), frictions[f] > tan(slope) ? 0 : gain, 1e-9);
    }
}

/* ---- Colliders ---- */

typedef struct stage {
    spate_context *ctx;
    arena arena;
    spate_scene scene;
    collider colliders[20];
    motion_key keys[2];
    boundary b;
} stage;

static void stage_open(stage *s, int dim) {
    *s = (stage){0};
    spate_config config = spate_default_config();
    config.threads = 1;
    assert_int_equal(spate_open(&config, &s->ctx), SPATE_OK);
    s->arena = arena_create(s->ctx);
    s->scene = (spate_scene){.ctx = s->ctx, .dim = dim, .colliders = s->colliders};
}

static void stage_close(stage *s) {
    boundary_free(&s->b);
    arena_free(&s->arena);
    spate_close(s->ctx);
}

static collider *add_sphere(stage *s, double x, double y, double z, double radius) {
    collider *c = &s->colliders[s->scene.collider_count++];
    c->shape = shape_create(&s->arena, SHAPE_SPHERE);
    assert_non_null(c->shape);
    vec_set(c->shape->a, x, y, z);
    c->shape->radius = radius;
    return c;
}

/* In a second it moves by (2, 0, 0) and makes a quarter turn about z through (1, 1, 0). */
static void set_motion(stage *s, collider *c) {
    s->keys[0] = (motion_key){.t = 0, .axis = {0, 0, 1}};
    s->keys[1] = (motion_key){.t = 1, .translate = {2, 0, 0}, .axis = {0, 0, 1}, .angle = PI / 2};
    c->motion = (motion){.pivot = {1, 1, 0}, .keys = s->keys, .key_count = 2};
}

static void test_resting_sphere(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        stage s;
        stage_open(&s, dim);
        add_sphere(&s, 2, 1, dim == 3 ? 0.5 : 0, 0.25);
        assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
        double normal[3], velocity[3], x[3] = {2.6, 1.8, dim == 3 ? 0.5 : 0};
        assert_near(boundary_distance(&s.b, 0, x, NULL, NULL), 0.75, 1e-12);
        assert_near(boundary_distance(&s.b, 0, x, normal, velocity), 0.75, 1e-12);
        assert_near(normal[0], 0.6, 1e-6);
        assert_near(normal[1], 0.8, 1e-6);
        assert_near(normal[2], 0, 1e-6);
        assert_vector(velocity, 0, 0, 0);
        assert_true(boundary_near(&s.b, x, 0.76));
        assert_false(boundary_near(&s.b, x, 0.74));
        assert_near(boundary_depth(&s.b, x), 0, 0);
        assert_near(boundary_depth(&s.b, (const double[3]){2.1, 1, x[2]}), 0.15, 1e-12);
        stage_close(&s);
    }
}

/* A sphere one unit from its pivot: half way it is at 45 degrees and the pivot has moved by 1. */
static void test_moving_and_rotating(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 3);
    set_motion(&s, add_sphere(&s, 2, 1, 0, 0.25));
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    double normal[3], velocity[3], h = sqrt(0.5);
    assert_near(boundary_depth(&s.b, (const double[3]){2, 1, 0}), 0.25, 1e-12);
    boundary_move(&s.b, 0.5);
    const double center[3] = {2 + h, 1 + h, 0}, above[3] = {2 + h, 1 + h, 1};
    assert_near(boundary_depth(&s.b, center), 0.25, 1e-12);
    assert_near(boundary_depth(&s.b, (const double[3]){2, 1, 0}), 0, 0);
    assert_near(boundary_distance(&s.b, 0, above, normal, velocity), 0.75, 1e-12);
    assert_near(normal[2], 1, 1e-6);
    /* v = (2, 0, 0) + (pi / 2) z x (h, h, 0) */
    assert_near(velocity[0], 2 - PI / 2 * h, 1e-6);
    assert_near(velocity[1], PI / 2 * h, 1e-6);
    assert_near(velocity[2], 0, 1e-9);

    /* the velocity is that of the collider's own points */
    double rest[3], before[3], after[3];
    pose_to_rest(&s.b.poses[0], center, rest);
    boundary_distance(&s.b, 0, center, NULL, velocity);
    boundary_move(&s.b, 0.5 - 1e-5);
    pose_to_world(&s.b.poses[0], rest, before);
    boundary_move(&s.b, 0.5 + 1e-5);
    pose_to_world(&s.b.poses[0], rest, after);
    for (int a = 0; a < 3; a++) assert_near((after[a] - before[a]) / 2e-5, velocity[a], 1e-5);

    /* held after the last key */
    boundary_move(&s.b, 7);
    assert_near(boundary_depth(&s.b, (const double[3]){3, 2, 0}), 0.25, 1e-12);
    boundary_distance(&s.b, 0, center, NULL, velocity);
    assert_vector(velocity, 0, 0, 0);
    stage_close(&s);
}

/* The normal of a box turns with it. */
static void test_normals_turn(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 2);
    collider *c = &s.colliders[s.scene.collider_count++];
    c->shape = shape_create(&s.arena, SHAPE_BOX);
    vec_set(c->shape->a, 0.5, 0.8, 0);
    vec_set(c->shape->b, 1.5, 1.2, 0);
    set_motion(&s, c);
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    boundary_move(&s.b, 1.0 / 3); /* 30 degrees, pivot at (5/3, 1) */
    double normal[3], x[3] = {5.0 / 3 - 0.5 * 0.7, 1 + sqrt(0.75) * 0.7, 0};
    assert_near(boundary_distance(&s.b, 0, x, normal, NULL), 0.5, 1e-9);
    assert_near(normal[0], -0.5, 1e-6);
    assert_near(normal[1], sqrt(0.75), 1e-6);
    assert_near(vec_length(normal), 1, 1e-9);
    stage_close(&s);
}

static void test_apply(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 3);
    collider *first = add_sphere(&s, 2, 1, 0, 0.5), *second = add_sphere(&s, 10, 0, 0, 1);
    first->contact = CONTACT_STICKY;
    second->contact = CONTACT_SEPARATE, second->friction = 0.5;
    set_motion(&s, first);
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);

    double v[3] = {7, 8, 9}; /* outside both */
    boundary_apply(&s.b, (const double[3]){2, 1, 0.51}, v);
    assert_vector(v, 7, 8, 9);
    double grazed[3] = {7, -8, 9}; /* just on the second is outside, too */
    boundary_apply(&s.b, (const double[3]){10, 1, 0}, grazed);
    assert_vector(grazed, 7, -8, 9);

    boundary_apply(&s.b, (const double[3]){2, 1, 0.1}, v); /* in the first, at rest pose */
    assert_near(v[0], 2, 1e-6);
    assert_near(v[1], PI / 2, 1e-6);
    assert_near(v[2], 0, 1e-9);

    double rubbed[3] = {1, -1, 0}; /* just under the top of the second: normal is up */
    boundary_apply(&s.b, (const double[3]){10, 0.9, 0}, rubbed);
    assert_near(rubbed[0], 0.5, 1e-6);
    assert_near(rubbed[1], 0, 1e-6);
    double leaves[3] = {1, 1, 0};
    boundary_apply(&s.b, (const double[3]){10, 0.9, 0}, leaves);
    assert_vector(leaves, 1, 1, 0);
    stage_close(&s);
}

/* A collider that is not there yet, or no longer, is infinitely far away, holds nothing and is near
 * nothing. */
static void test_comes_and_goes(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 3);
    collider *c = add_sphere(&s, 0, 0, 0, 1);
    c->from = 1, c->until = 2;
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    static const double times[] = {0.5, 1, 1.5, 2}, inside[3] = {0.75, 0, 0};
    for (int k = 0; k < COUNT_OF(times); k++) {
        const bool there = times[k] >= 1 && times[k] < 2;
        int nearest;
        double v[3] = {-1, 0, 0};
        boundary_part all = boundary_all(&s.b);
        boundary_appear(&s.b, times[k]);
        assert_true(boundary_distance(&s.b, 0, inside, NULL, NULL) == (there ? -0.25 : HUGE_VAL));
        boundary_part_nearest(&all, inside, &nearest);
        assert_int_equal(nearest, there ? 0 : -1);
        assert_true(boundary_near(&s.b, inside, 1) == there);
        assert_near(boundary_depth(&s.b, inside), there ? 0.25 : 0, 1e-12);
        boundary_apply(&s.b, inside, v);
        assert_near(v[0], there ? 0 : -1, 1e-6);
    }
    stage_close(&s);
}

static void test_depth_of_the_deepest(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 3);
    add_sphere(&s, 0, 0, 0, 1);
    add_sphere(&s, 1, 0, 0, 1);
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    assert_near(boundary_depth(&s.b, (const double[3]){0.9, 0, 0}), 0.9, 1e-12);
    assert_near(boundary_depth(&s.b, (const double[3]){0.2, 0, 0}), 0.8, 1e-12);
    assert_near(boundary_depth(&s.b, (const double[3]){2.1, 0, 0}), 0, 0);
    assert_true(boundary_near(&s.b, (const double[3]){2.1, 0, 0}, 0.2));
    assert_true(boundary_near(&s.b, (const double[3]){-1.1, 0, 0}, 0.2));
    assert_false(boundary_near(&s.b, (const double[3]){-1.1, 0, 0}, 0.05));
    stage_close(&s);
}

static void test_no_colliders(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 2);
    int64_t blocks = s.ctx->blocks_now;
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    boundary_move(&s.b, 1);
    double v[3] = {1, 2, 0};
    boundary_apply(&s.b, at_rest, v);
    assert_vector(v, 1, 2, 0);
    assert_false(boundary_near(&s.b, at_rest, 1e9));
    assert_near(boundary_depth(&s.b, at_rest), 0, 0);
    boundary_free(&s.b);
    assert_int_equal(s.ctx->blocks_now, blocks);
    stage_close(&s);
}

/* ---- Meshes ---- */

static mesh *cube_mesh(arena *a, const double low[3], const double high[3]) {
    static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    mesh *m = arena_take(a, 1, sizeof *m);
    m->vertices = arena_take(a, 8, sizeof *m->vertices);
    m->triangles = arena_take(a, 12, sizeof *m->triangles);
    m->vertex_count = 8, m->triangle_count = 12;
    for (int v = 0; v < 8; v++)
        for (int i = 0; i < 3; i++) m->vertices[v][i] = v >> i & 1 ? high[i] : low[i];
    for (int t = 0; t < 12; t++)
        for (int k = 0; k < 3; k++) m->triangles[t][k] = faces[t / 2][k ? k + t % 2 : 0];
    assert_int_equal(mesh_prepare(a, "cube", m), SPATE_OK);
    return m;
}

/* A mesh in the form of a box in a domain of 32 cells a side; the box itself is second. */
static void add_mesh_and_box(stage *s, const double low[3], const double high[3]) {
    s->scene.domain = (domain){.size = {4, 4, 4}, .dx = 0.125};
    for (int k = 0; k < 2; k++) {
        collider *c = &s->colliders[s->scene.collider_count++];
        c->name = "cube", c->contact = CONTACT_SEPARATE;
        c->shape = shape_create(&s->arena, k ? SHAPE_BOX : SHAPE_MESH);
        if (!k) c->shape->mesh = cube_mesh(&s->arena, low, high);
        vec_copy(c->shape->a, low);
        vec_copy(c->shape->b, high);
    }
}

static void random_place(uint64_t n, double x[3], int dim) {
    for (int a = 0; a < 3; a++) {
        uint64_t bits = random_mix(random_mix(3 * n + (uint64_t)a + 99));
        x[a] = a < dim ? -0.4 + 4.8 * (double)(bits >> 11) * 0x1p-53 : 0;
    }
}

/* The mesh follows the box wherever both go; left at rest it would not, which is the control. */
static void test_mesh_moves_like_its_shape(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        stage s;
        stage_open(&s, dim);
        add_mesh_and_box(&s, (const double[3]){0.6, 0.7, -1}, (const double[3]){1.7, 1.6, 1.5});
        set_motion(&s, &s.colliders[0]);
        s.colliders[1].motion = s.colliders[0].motion;
        assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
        assert_true(s.b.baked[0] && !s.b.baked[1]);
        double dx = s.scene.domain.dx, worst = 0, left_behind = 0;
        boundary_move(&s.b, 0.7);
        for (uint64_t n = 0; n < 20000; n++) {
            double x[3], velocity[2][3], normal[2][3];
            random_place(n, x, dim);
            double d = boundary_distance(&s.b, 0, x, normal[0], velocity[0]);
            double truth = boundary_distance(&s.b, 1, x, normal[1], velocity[1]);
            for (int a = 0; a < 3; a++) assert_true(velocity[0][a] == velocity[1][a]);
            assert_near(vec_length(normal[0]), 1, 1e-6);
            if (fabs(truth) > 0.25 * dx) assert_true((d < 0) == (truth < 0));
            if (fabs(truth) > 2 * dx) continue;
            worst = fmax(worst, fabs(d - truth));
            left_behind = fmax(left_behind, fabs(d - baked_distance(s.b.baked[0], x, NULL)));
        }
        assert_true(worst < 0.5 * dx);
        assert_true(left_behind > 2 * dx);
        stage_close(&s);
    }
}

/* No place inside is lost to culling, near or moved, and what is far is passed over. */
static void test_near_a_mesh(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 3);
    add_mesh_and_box(&s, (const double[3]){0.6, 0.7, 0.3}, (const double[3]){1.7, 1.6, 1.5});
    set_motion(&s, &s.colliders[0]);
    s.colliders[1].motion = s.colliders[0].motion;
    s.scene.collider_count = 1; /* the box is asked by its number alone */
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    boundary_move(&s.b, 0.6);
    int near = 0, far = 0;
    for (uint64_t n = 0; n < 20000; n++) {
        double x[3], rest[3], reach = 0.4;
        random_place(n, x, 3);
        pose_to_rest(&s.b.poses[0], x, rest);
        double truth = shape_distance(s.colliders[1].shape, 3, rest);
        bool found = boundary_near(&s.b, x, reach);
        if (truth < reach) assert_true(found);
        if (truth > reach + 0.125) assert_false(found);
        found ? near++ : far++;
    }
    assert_true(near > 1000 && far > 1000);
    stage_close(&s);
}

/* ---- Meeting ---- */

/* Equation 5 of Fei et al. 2021: inside, and not leaving as seen from the collider. */
static void test_meets(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 3);
    add_sphere(&s, 2, 1, 0, 0.5);
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    const double in[3] = {2.4, 1, 0}, out[3] = {2.6, 1, 0};
    assert_true(boundary_meets(&s.b, in, (const double[3]){-1, 5, 0}));
    assert_true(boundary_meets(&s.b, in, (const double[3]){0, 5, 0})); /* along it: <= 0 */
    assert_false(boundary_meets(&s.b, in, (const double[3]){1, -5, 0}));
    assert_false(boundary_meets(&s.b, out, (const double[3]){-1, 0, 0}));
    boundary_free(&s.b);

    set_motion(&s, &s.colliders[0]); /* at first (2, pi/2 per unit of distance from the pivot, 0) */
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    assert_true(boundary_meets(&s.b, in, (const double[3]){1.9, 0, 0})); /* it is caught up with */
    assert_false(boundary_meets(&s.b, in, (const double[3]){2.1, 0, 0}));
    const double top[3] = {2, 1.4, 0}; /* the point there moves by (2 - 0.4 pi/2, pi/2, 0) */
    assert_true(boundary_meets(&s.b, top, (const double[3]){0, PI / 2 - 0.01, 0}));
    assert_false(boundary_meets(&s.b, top, (const double[3]){0, PI / 2 + 0.01, 0}));
    boundary_move(&s.b, 1); /* now about (3, 2) and held */
    assert_false(boundary_meets(&s.b, in, (const double[3]){-1, 0, 0}));
    assert_true(boundary_meets(&s.b, (const double[3]){3, 2.4, 0}, (const double[3]){9, -1, 0}));
    stage_close(&s);
}

static void test_meets_a_mesh(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 3);
    add_mesh_and_box(&s, (const double[3]){0.6, 0.7, 0.3}, (const double[3]){1.7, 1.6, 1.5});
    s.scene.collider_count = 1;
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    const double under_top[3] = {1.1, 1.55, 0.9};
    assert_true(boundary_meets(&s.b, under_top, (const double[3]){3, -0.1, 2}));
    assert_false(boundary_meets(&s.b, under_top, (const double[3]){3, 0.1, 2}));
    assert_false(
        boundary_meets(&s.b, (const double[3]){1.1, 1.65, 0.9}, (const double[3]){0, -1, 0}));
    stage_close(&s);
}

/* ---- Parts ---- */

/* Colliders in a row: a part knows those around it and answers as all of them do, bit by bit; one
 * that is too full for its list stands for all. */
static void test_parts(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 3);
    for (int k = 0; k < 20; k++) {
        collider *c = add_sphere(&s, 0.2 * k, 0.1 * (k % 3), 0, 0.25);
        c->contact = k % 2 ? CONTACT_SLIP : CONTACT_SEPARATE, c->friction = 0.1 * (k % 4);
    }
    set_motion(&s, &s.colliders[7]);
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    boundary_move(&s.b, 0.3);
    const double middle[3] = {1, 0, 0};
    boundary_part few = boundary_around(&s.b, middle, 0.3), full = boundary_around(&s.b, middle, 9);
    boundary_part none = boundary_around(&s.b, (const double[3]){1, 3, 0}, 0.3);
    assert_true(few.count > 2 && few.count < 10 && !few.all);
    assert_true(full.all && full.count == 20);
    assert_int_equal(none.count, 0);
    bool any = false;
    for (uint64_t n = 0; n < 2000; n++) {
        double x[3], v[2][3] = {{1, -2, 3}, {1, -2, 3}};
        random_place(n, x, 3);
        for (int a = 0; a < 3; a++) x[a] = middle[a] + (x[a] - 2) * 0.07; /* within 0.3 */
        boundary_apply(&s.b, x, v[0]);
        boundary_part_apply(&few, x, v[1]);
        assert_memory_equal(v[0], v[1], sizeof v[0]);
        any |= v[0][0] != 1;
        assert_true(boundary_meets(&s.b, x, v[0]) == boundary_part_meets(&few, x, v[0]));
        assert_true(boundary_depth(&s.b, x) == boundary_part_depth(&few, x));
        double untouched[3] = {1, -2, 3};
        boundary_part_apply(&none, x, untouched);
        assert_vector(untouched, 1, -2, 3);
    }
    assert_true(any);
    stage_close(&s);
}

/* The nearest of several, and which it is; the lowest number where two are as near. */
static void test_nearest(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 3);
    int which;
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    boundary_part none = boundary_all(&s.b);
    assert_true(boundary_part_nearest(&none, at_rest, &which) == HUGE_VAL);
    assert_int_equal(which, -1);
    boundary_free(&s.b);
    for (int k = 0; k < 5; k++) add_sphere(&s, k, 0, 0, 0.25);
    add_sphere(&s, 2, 0, 0, 0.25);
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    boundary_part all = boundary_all(&s.b);
    for (int k = 0; k < 5; k++) {
        assert_near(boundary_part_nearest(&all, (const double[3]){k + 0.1, 0.6, 0}, &which),
                    sqrt(0.37) - 0.25, 1e-12);
        assert_int_equal(which, k);
        assert_near(boundary_part_nearest(&all, (const double[3]){k, 0.1, 0}, &which), -0.15,
                    1e-12);
        assert_int_equal(which, k);
    }
    /* a part knows its own only */
    boundary_part few = boundary_around(&s.b, (const double[3]){4, 0, 0}, 0.5);
    assert_int_equal(few.count, 1);
    assert_near(boundary_part_nearest(&few, at_rest, &which), 3.75, 1e-12);
    assert_int_equal(which, 4);
    stage_close(&s);
}

/* It moves 2 m in a second while its far side, 1.25 m from the pivot, turns by a quarter: no point
 * is faster than 2 + 1.25 pi / 2 (the box around it may say a little more), and one is as fast as
 * 2. */
static void test_fastest_point(void **state) {
    (void)state;
    stage s;
    stage_open(&s, 3);
    vec_set(s.scene.domain.size, 4, 4, 4);
    add_sphere(&s, 3, 1, 0, 0.25);
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    assert_true(boundary_speed(&s.b) == 0); /* at rest */
    boundary_free(&s.b);
    set_motion(&s, add_sphere(&s, 2, 1, 0, 0.25));
    assert_int_equal(boundary_create(&s.scene, &s.b), SPATE_OK);
    const double told = boundary_speed(&s.b);
    double fastest = 0;
    for (int n = 0; n < 50; n++) {
        boundary_move(&s.b, 0.02 * n);
        for (int k = 0; k < 36; k++) {
            double out[3], v[3], turn = 2 * PI * k / 36;
            const double rest[3] = {2 + 0.25 * cos(turn), 1 + 0.25 * sin(turn), 0};
            pose_to_world(&s.b.poses[1], rest, out);
            boundary_distance(&s.b, 1, out, NULL, v);
            fastest = fmax(fastest, vec_length(v));
        }
    }
    assert_true(told >= fastest);
    assert_true(fastest > 2 && told < 1.2 * (2 + 1.25 * PI / 2));
    stage_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sticky),
        cmocka_unit_test(test_slip_loses_the_normal_part_both_ways),
        cmocka_unit_test(test_separate_lets_go),
        cmocka_unit_test(test_friction),
        cmocka_unit_test(test_oblique_contact_with_a_moving_wall),
        cmocka_unit_test(test_slope),
        cmocka_unit_test(test_resting_sphere),
        cmocka_unit_test(test_moving_and_rotating),
        cmocka_unit_test(test_normals_turn),
        cmocka_unit_test(test_apply),
        cmocka_unit_test(test_comes_and_goes),
        cmocka_unit_test(test_depth_of_the_deepest),
        cmocka_unit_test(test_no_colliders),
        cmocka_unit_test(test_mesh_moves_like_its_shape),
        cmocka_unit_test(test_near_a_mesh),
        cmocka_unit_test(test_meets),
        cmocka_unit_test(test_meets_a_mesh),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_fastest_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
