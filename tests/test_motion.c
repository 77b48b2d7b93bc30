/* Keyframed motion: poses at keys, velocity against differences of the pose, whole turns, slerp. */
#include "core/vec.h"
#include "scene/motion.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static const double PI = 3.14159265358979323846;

static double distance(const double a[3], const double b[3]) {
    double d[3];
    vec_sub(d, a, b);
    return vec_length(d);
}

/* Where a point of the body that rests at r is at time t. */
static void point_at(const motion *m, double t, const double r[3], double x[3]) {
    pose p = motion_pose(m, t);
    pose_to_world(&p, r, x);
}

/* Largest difference between pose_velocity and central differences of the path, over (from, to). */
static double velocity_error(const motion *m, double from, double to) {
    double worst = 0, h = 1e-5, r[3] = {0.7, -0.4, 0.9};
    for (int i = 0; i < 50; i++) {
        double t = from + (i + 0.37) / 50 * (to - from), a[3], b[3], x[3], v[3];
        point_at(m, t - h, r, a);
        point_at(m, t + h, r, b);
        pose p = motion_pose(m, t);
        pose_to_world(&p, r, x);
        pose_velocity(&p, x, v);
        vec_sub(b, b, a);
        vec_scale(b, 1 / (2 * h), b);
        worst = fmax(worst, distance(b, v));
    }
    return worst;
}

static motion_key ABOUT_ONE_AXIS[4] = {
    {0, {0, 0, 0}, {0, 0, 1}, 0},
    {1, {1, 0, 0.5}, {0, 0.6, 0.8}, 4 * 3.14159265358979},
    {1.5, {1, 2, 0}, {0, -0.6, -0.8}, -1},
    {3, {0, 1, 0}, {0, 0.6, 0.8}, 2},
};

static motion_key ABOUT_MANY_AXES[3] = {
    {0, {0, 0, 0}, {1, 0, 0}, 0.5},
    {1, {1, 0, 0}, {0, 1, 0}, 2},
    {2.5, {1, 1, 0}, {0.6, 0, 0.8}, -1.2},
};

/* From one to the next is more than half a turn by way of the quaternions themselves. */
static motion_key THE_SHORT_WAY_ROUND[2] = {
    {0, {0, 0, 0}, {1, 0, 0}, 5},
    {2, {0, 0, 1}, {0, 1, 0}, 1},
};

static motion with(motion_key *keys, int count, motion_interpolation kind) {
    return (motion){
        .pivot = {0.2, 0.1, -0.3}, .keys = keys, .key_count = count, .interpolation = kind};
}

static void test_at_rest(void **state) {
    (void)state;
    motion m = {.key_count = 0};
    pose p = motion_pose(&m, 3);
    double x[3] = {1, 2, 3}, y[3], v[3];
    pose_to_rest(&p, x, y);
    pose_velocity(&p, x, v);
    assert_near(distance(x, y), 0, 0);
    assert_near(vec_length(v), 0, 0);
    assert_near(motion_max_speed(&m, 5), 0, 0);
}

static void test_velocity_is_the_derivative(void **state) {
    (void)state;
    for (int kind = MOTION_LINEAR; kind <= MOTION_SMOOTH; kind++) {
        motion m = with(ABOUT_ONE_AXIS, 4, kind);
        assert_true(velocity_error(&m, 0, 1) < 1e-6);
        assert_true(velocity_error(&m, 1, 1.5) < 1e-6);
        assert_true(velocity_error(&m, 1.5, 3) < 1e-6);
        m = with(ABOUT_MANY_AXES, 3, kind);
        assert_true(velocity_error(&m, 0, 1) < 1e-6);
        assert_true(velocity_error(&m, 1, 2.5) < 1e-6);
    }
    /* negative control: the linear velocity is wrong for the smooth path */
    motion smooth = with(ABOUT_ONE_AXIS, 4, MOTION_SMOOTH);
    motion linear = with(ABOUT_ONE_AXIS, 4, MOTION_LINEAR);
    pose p = motion_pose(&smooth, 0.3), q = motion_pose(&linear, 0.3);
    assert_true(distance(p.velocity, q.velocity) > 0.05);
}

static void test_keys_are_met(void **state) {
    (void)state;
    motion_key *sets[3] = {ABOUT_ONE_AXIS, ABOUT_MANY_AXES, THE_SHORT_WAY_ROUND};
    int counts[3] = {4, 3, 2};
    for (int set = 0; set < 3; set++)
        for (int kind = MOTION_LINEAR; kind <= MOTION_SMOOTH; kind++) {
            motion m = with(sets[set], counts[set], kind);
            for (int i = 0; i < counts[set]; i++)
                for (double side = -1e-12; side < 2e-12; side += 1e-12) { /* before, on, after */
                    const motion_key *k = &m.keys[i];
                    pose p = motion_pose(&m, k->t + side);
                    double turn[3][3];
                    mat_rotation(turn, k->axis, k->angle);
                    assert_true(distance(p.move, k->translate) < 1e-9);
                    for (int r = 0; r < 3; r++) assert_true(distance(p.turn[r], turn[r]) < 1e-9);
                }
        }
}

/* At the very moment of a key a motion that has a kink there goes on as after it. */
static void test_velocity_at_a_kink(void **state) {
    (void)state;
    motion_key keys[4] = {{.t = 0},
                          {.t = 1, .translate = {3, 0, 0}},
                          {.t = 3, .translate = {1, 0, 0}},
                          {.t = 4, .translate = {8, 0, 0}}};
    motion m = with(keys, 4, MOTION_LINEAR);
    assert_near(motion_pose(&m, 0).velocity[0], 3, 1e-12);
    assert_near(motion_pose(&m, 1).velocity[0], -1, 1e-12);
    assert_near(motion_pose(&m, 3).velocity[0], 7, 1e-12);
}

static void test_whole_turns_count(void **state) {
    (void)state;
    motion_key keys[2] = {{0, {0, 0, 0}, {0, 0, 1}, 0}, {2, {0, 0, 0}, {0, 1, 0}, 4 * PI}};
    motion m = with(keys, 2, MOTION_LINEAR);
    pose p = motion_pose(&m, 0.25); /* a quarter of a turn: 720 degrees in 2 s */
    assert_near(p.spin[1], 2 * PI, 1e-12);
    assert_near(p.turn[0][2], 1, 1e-12);
    assert_near(motion_max_speed(&m, 3), 6 * PI, 1e-9);
}

/* Between different axes the shortest way at a constant rate. */
static void test_slerp(void **state) {
    (void)state;
    motion m = with(ABOUT_MANY_AXES, 3, MOTION_LINEAR);
    pose a = motion_pose(&m, 0.1), b = motion_pose(&m, 0.9);
    assert_near(distance(a.spin, b.spin), 0, 1e-12);
    assert_true(vec_length(a.spin) <= PI && vec_length(a.spin) > 0.5);
    double trace = 0, relative[3][3], from[3][3], to[3][3];
    mat_rotation(from, m.keys[0].axis, -m.keys[0].angle);
    mat_rotation(to, m.keys[1].axis, m.keys[1].angle);
    mat_multiply(relative, (const double(*)[3])to, (const double(*)[3])from);
    for (int i = 0; i < 3; i++) trace += relative[i][i];
    assert_near(acos((trace - 1) / 2), vec_length(a.spin), 1e-9);
    m = with(THE_SHORT_WAY_ROUND, 2, MOTION_LINEAR);
    assert_true(2 * vec_length(motion_pose(&m, 1).spin) < PI);
}

static void test_held_outside_and_smooth_at_ends(void **state) {
    (void)state;
    motion m = with(ABOUT_ONE_AXIS, 4, MOTION_SMOOTH);
    pose before = motion_pose(&m, -1), after = motion_pose(&m, 9);
    assert_near(vec_length(before.velocity) + vec_length(after.velocity), 0, 0);
    assert_near(vec_length(before.spin) + vec_length(after.spin), 0, 0);
    assert_near(after.move[1], 1, 1e-12);
    assert_true(vec_length(motion_pose(&m, 1e-9).velocity) < 1e-6);
    /* at an inner key it is the mean over both sides: from 0 to 1 in 1 s, then at rest for 0.5 s */
    assert_near(motion_pose(&m, 1).velocity[0], 1 / 1.5, 1e-9);
    /* the velocity has no jumps at inner keys either */
    pose left = motion_pose(&m, 1 - 1e-9), right = motion_pose(&m, 1 + 1e-9);
    assert_true(distance(left.velocity, right.velocity) < 1e-6);
    assert_true(distance(left.spin, right.spin) < 1e-6);
}

static void test_repeat(void **state) {
    (void)state;
    motion_key keys[3] = {{0.5, {0, 0, 0}, {0, 0, 1}, 0},
                          {1, {1, 0, 0}, {0, 0, 1}, PI},
                          {2.5, {0, 0, 0}, {0, 0, 1}, 2 * PI}};
    motion m = with(keys, 3, MOTION_SMOOTH);
    m.repeat = true;
    double r[3] = {1, 0, 0}, x[3], y[3];
    assert_near(motion_pose(&m, 1).move[0], 1, 1e-9);
    assert_near(motion_pose(&m, 1 + 4).move[0], 1, 1e-9);
    point_at(&m, 0.9, r, x);
    point_at(&m, 0.9 + 6, r, y);
    assert_true(distance(x, y) < 1e-9);
    pose left = motion_pose(&m, 2.5 - 1e-9), right = motion_pose(&m, 2.5 + 1e-9);
    assert_true(distance(left.velocity, right.velocity) < 1e-6);
    assert_true(fabs(left.spin[2] - right.spin[2]) < 1e-6 && right.spin[2] > 1);
    assert_near(vec_length(motion_pose(&m, 0.2).velocity), 0, 0);
}

static void test_max_speed_bounds_every_speed(void **state) {
    (void)state;
    motion_key *sets[2] = {ABOUT_ONE_AXIS, ABOUT_MANY_AXES};
    for (int set = 0; set < 2; set++)
        for (int kind = MOTION_LINEAR; kind <= MOTION_SMOOTH; kind++) {
            motion m = with(sets[set], set ? 3 : 4, kind);
            double bound = motion_max_speed(&m, 2), seen = 0;
            for (double t = 0; t < 3; t += 0.003) {
                pose p = motion_pose(&m, t);
                seen = fmax(seen, vec_length(p.velocity) + 2 * vec_length(p.spin));
            }
            assert_true(seen <= bound * (1 + 1e-12) && bound < 1.1 * seen);
        }
}

static void test_there_and_back(void **state) {
    (void)state;
    motion m = with(ABOUT_MANY_AXES, 3, MOTION_SMOOTH);
    pose p = motion_pose(&m, 1.7);
    double x[3] = {1, 2, 3}, rest[3], y[3], u[3] = {0, 1, 0}, v[3];
    pose_to_rest(&p, x, rest);
    pose_to_world(&p, rest, y);
    assert_true(distance(x, y) < 1e-12 && distance(x, rest) > 0.1);
    pose_turn(&p, u, v);
    assert_near(vec_length(v), 1, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_rest),
        cmocka_unit_test(test_velocity_is_the_derivative),
        cmocka_unit_test(test_keys_are_met),
        cmocka_unit_test(test_velocity_at_a_kink),
        cmocka_unit_test(test_whole_turns_count),
        cmocka_unit_test(test_slerp),
        cmocka_unit_test(test_held_outside_and_smooth_at_ends),
        cmocka_unit_test(test_repeat),
        cmocka_unit_test(test_max_speed_bounds_every_speed),
        cmocka_unit_test(test_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
