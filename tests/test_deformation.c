/* The deformation gradient and the strains made of it: against formulas, against the strain that
 * the materials keep, through checkpoints, and for any number of threads. */
#include "physics.h"

#include "core/file.h"
#include "core/vec.h"
#include "run/checkpoint.h"
#include "solver/mpm/mpm.h"

#include <unistd.h>

#define ALL_FIELDS "output: {fields: [F, green_strain, linear_strain, energy]}\n"
#define JELLY \
    "materials: {jelly: {model: neo_hookean, density: 1000, young_modulus: %g, poisson: 0.3}}\n"

/* An attribute of all particles, in id order; to be freed. */
static double *values_of(play *p, const char *name, int components, int64_t *count) {
    int found;
    assert_int_equal(spate_simulation_attribute(p->sim, name, NULL, &found, count), SPATE_OK);
    assert_int_equal(found, components);
    double *values = malloc(((size_t)*count * (size_t)components + 1) * sizeof *values);
    assert_int_equal(spate_simulation_attribute(p->sim, name, values, NULL, NULL), SPATE_OK);
    return values;
}

/* ---- Formulas, for a gradient that is set by hand ---- */

static play open_point(void) {
    return play_open(1,
                     "spate: 1\ndimension: 3\ndomain: {size: [1, 1, 1], dx: 0.125}\n" JELLY
                     "bodies: [{material: jelly, shape: {points: [[0.5, 0.5, 0.5]]}}]\n" ALL_FIELDS,
                     1e4);
}

static void set_gradient(play *p, const double F[3][3]) {
    for (int k = 0; k < 9; k++)
        PLANE(&p->sim->particles, gradient, k)[0] = (real)(F[k / 3][k % 3] - (k / 3 == k % 3));
}

static void expect_values(play *p, const char *name, int components, const double *expected) {
    int64_t count;
    double *values = values_of(p, name, components, &count);
    for (int c = 0; c < components; c++)
        if (fabs(values[c] - expected[c]) > 1e-6)
            fail_msg("%s, component %d: %g, expected %g", name, c, values[c], expected[c]);
    free(values);
}

static void test_nothing_at_rest(void **state) {
    (void)state;
    play p = open_point();
    expect_values(&p, "F", 9, (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1});
    expect_values(&p, "green_strain", 6, (double[6]){0});
    expect_values(&p, "linear_strain", 6, (double[6]){0});
    expect_values(&p, "energy", 1, (double[1]){0});
    play_close(&p);
}

/* x = X + g Y. Its E_yy is g^2 / 2; (F F^T - I) / 2 would have that in xx. */
static void test_simple_shear(void **state) {
    (void)state;
    const double g = 0.75, F[3][3] = {{1, g, 0}, {0, 1, 0}, {0, 0, 1}};
    play p = open_point();
    set_gradient(&p, F);
    expect_values(&p, "F", 9, F[0]);
    expect_values(&p, "green_strain", 6, (double[]){0, g * g / 2, 0, g / 2, 0, 0});
    expect_values(&p, "linear_strain", 6, (double[]){0, 0, 0, g / 2, 0, 0});
    play_close(&p);
}

static void test_stretch(void **state) {
    (void)state;
    const double F[3][3] = {{1.5, 0, 0}, {0, 0.75, 0}, {0, 0, 1}};
    play p = open_point();
    set_gradient(&p, F);
    expect_values(&p, "green_strain", 6, (double[]){0.625, (0.5625 - 1) / 2, 0, 0, 0, 0});
    expect_values(&p, "linear_strain", 6, (double[]){0.5, -0.25, 0, 0, 0, 0});
    play_close(&p);
}

/* A rotation strains nothing; the linear measure takes it for shrinking. */
static void test_rotation(void **state) {
    (void)state;
    const double axis[3] = {0, 0, 1}, angle = 0.5, flat = cos(angle) - 1;
    double F[3][3];
    mat_rotation(F, axis, angle);
    play p = open_point();
    set_gradient(&p, F);
    expect_values(&p, "green_strain", 6, (double[6]){0});
    expect_values(&p, "linear_strain", 6, (double[]){flat, flat, 0, 0, 0, 0});
    CHECK_ABOVE(fabs(flat), 0.1);
    play_close(&p);
}

/* What the names of the components say: each entry of F - I on its own. */
static void test_components(void **state) {
    (void)state;
    static const int place[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}}; /* in xx yy zz xy yz xz */
    play p = open_point();
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double F[3][3], linear[6] = {0};
            mat_identity(F);
            F[r][c] += 0.25;
            set_gradient(&p, F);
            linear[place[r][c]] = r == c ? 0.25 : 0.125;
            expect_values(&p, "F", 9, F[0]);
            expect_values(&p, "linear_strain", 6, linear);
        }
    play_close(&p);
}

/* ---- As the solver follows it ---- */

/* Nothing holds the particles together and each flies on with v = L X: F = I + t L. The error of
 * the mean over particles away from the body's surface, with steps of dt. */
static double error_in_flight(int dim, const double L[3][3], double dt) {
    play p = play_open(
        2,
        "spate: 1\ndimension: %d\ngravity: [0, 0%s]\nduration: 1\nsolver: {dt: %g}\n"
        "domain: {origin: [-2, -2%s], size: [4, 4%s], dx: 0.25}\n" JELLY
        "bodies: [{material: jelly, shape: {box: {min: [-1, -1%s], max: [1, 1%s]}}}]\n" ALL_FIELDS,
        dim, dim == 3 ? ", 0" : "", dt, dim == 3 ? ", -2" : "", dim == 3 ? ", 4" : "", 1e-6,
        dim == 3 ? ", -1" : "", dim == 3 ? ", 1" : "");
    EACH_PARTICLE(p.sim, block, i) {
        double x[3], v[3];
        real *record = p.sim->particles.velocity[i];
        real4 *affine_part = p.sim->particles.affine[i];
        simulation_position(p.sim, block, i, x);
        mat_apply(v, L, x);
        for (int a = 0; a < dim; a++) record[a] = (real)v[a];
        for (int a = 0; a < dim; a++)
            for (int k = 0; k < dim; k++) affine_part[a][k] = (real)(0.25 * L[k][a]);
    }
    const double t = 0.2;
    play_until(&p, t);
    int64_t count;
    double *F = values_of(&p, "F", 9, &count), *x = values_of(&p, "P", 3, &count);
    double mean[9] = {0}, worst = 0, moved = 0;
    int64_t inside = 0;
    for (int64_t i = 0; i < count; i++) {
        if (fmax(fmax(fabs(x[3 * i]), fabs(x[3 * i + 1])), fabs(x[3 * i + 2])) > 0.5) continue;
        inside++;
        for (int k = 0; k < 9; k++) mean[k] += F[9 * i + k];
    }
    for (int k = 0; k < 9; k++) {
        double now = mean[k] / (double)inside - (k / 3 == k % 3), expected = t * L[k / 3][k % 3];
        worst = fmax(worst, fabs(now - expected));
        moved = fmax(moved, fabs(now));
    }
    CHECK_ABOVE(moved, 0.05);
    free(F), free(x);
    play_close(&p);
    return worst;
}

static void test_shear_in_flight(void **state) {
    (void)state;
    /* L^2 = 0: the velocity of a place never changes, and steps make no error */
    static const double L[3][3] = {{0, 0.75, 0}, {0, 0, 0}, {0, 0, 0}};
    CHECK_BELOW(error_in_flight(2, L, 0.01), IN_DOUBLE ? 1e-12 : 2e-5);
}

/* Were C to stay as it was at the start, F would be exp(t L), which differs in (t L)^2 / 2. */
static void check_flight(int dim, const double L[3][3]) {
    const double t = 0.2, error = error_in_flight(dim, L, 0.01);
    double square[3][3], apart = 0;
    mat_multiply(square, L, L);
    for (int k = 0; k < 9; k++) apart = fmax(apart, fabs(square[k / 3][k % 3]) * t * t / 2);
    CHECK_BELOW(error, 5e-4);
    CHECK_ABOVE(apart, 4e-3);
}

static void test_free_flight(void **state) {
    (void)state;
    check_flight(2, (const double[3][3]){{0.5, 0, 0}, {0, 0, 0}, {0, 0, 0}});
    check_flight(2, (const double[3][3]){{0.5, -1, 0}, {0.25, 0.125, 0}, {0, 0, 0}});
    if (!WATCHED)
        check_flight(3,
                     (const double[3][3]){{0.3, -0.4, 0.2}, {0.1, -0.3, 0.5}, {-0.5, 0.25, 0.1}});
}

/* A stiff disc turns: F is its rotation. */
static void test_spinning_disc(void **state) {
    (void)state;
    const double spin = 4, t = WATCHED ? 0.1 : 0.25;
    play p = play_open(2,
                       "spate: 1\ndimension: 2\ngravity: [0, 0]\n"
                       "domain: {size: [2, 2], dx: 0.0625}\n" JELLY
                       "bodies: [{material: jelly, spin: %g, shape: {sphere: {center: [1, 1], "
                       "radius: 0.5}}}]\n" ALL_FIELDS,
                       1e6, spin);
    play_until(&p, t);
    int64_t count;
    double *F = values_of(&p, "F", 9, &count), *E = values_of(&p, "green_strain", 6, &count);
    double *e = values_of(&p, "linear_strain", 6, &count), mean[4] = {0}, green = 0, linear = 0;
    for (int64_t i = 0; i < count; i++) {
        static const int plane[4] = {0, 1, 3, 4};
        for (int k = 0; k < 4; k++) mean[k] += F[9 * i + plane[k]] / (double)count;
        green = fmax(green, fabs(E[6 * i]));
        linear += e[6 * i] / (double)count;
        assert_float_equal(F[9 * i + 8], 1, 0);
    }
    const double c = cos(spin * t), s = sin(spin * t);
    const double turned[4] = {c, -s, s, c};
    for (int k = 0; k < 4; k++) CHECK_BELOW(fabs(mean[k] - turned[k]), 0.02);
    CHECK_BELOW(green, 0.02); /* rho (w r)^2 / E is 0.004 */
    CHECK_BELOW(fabs(linear - (c - 1)), 0.02);
    free(F), free(E), free(e);
    play_close(&p);
}

static const char bounce_2d[] =
    "spate: 1\ndimension: 2\ngravity: [0, -10]\n"
    "domain: {size: [2, 1], dx: 0.0625, walls: [slip, slip, sticky, slip]}\n" JELLY
    "bodies: [{name: a, material: jelly, velocity: [2, -2], spin: 5, shape: {sphere: {center: "
    "[0.6, "
    "0.4], radius: 0.3}}}]\n" ALL_FIELDS;
static const char bounce_3d[] =
    "spate: 1\ndimension: 3\ngravity: [0, -10, 0]\n"
    "domain: {size: [1.5, 1, 1], dx: 0.125, walls: sticky}\n" JELLY
    "bodies: [{name: a, material: jelly, velocity: [1, -2, 0], spin: [1, 2, 3], shape: {sphere: "
    "{center: [0.6, 0.4, 0.5], radius: 0.3}}}]\n" ALL_FIELDS;

/* (F F^T)_rc or, transposed, (F^T F)_rc. */
static double product(const double *F, int r, int c, bool transposed) {
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += transposed ? F[3 * k + r] * F[3 * k + c] : F[3 * r + k] * F[3 * c + k];
    return sum;
}

/* The largest difference of F F^T (or F^T F) from b, which the material has kept by itself. */
static double difference_from_b(play *p, bool transposed) {
    int64_t count;
    double *F = values_of(p, "F", 9, &count), worst = 0;
    for (int64_t i = 0; i < count; i++)
        for (int r = 0; r < p->scene->dim; r++)
            for (int c = 0; c < p->scene->dim; c++) {
                const double *own = F + 9 * p->sim->particles.id[i];
                double b =
                    (double)PLANE(&p->sim->particles, strain, symmetric_place[r][c])[i] + (r == c);
                worst = fmax(worst, fabs(product(own, r, c, transposed) - b));
            }
    free(F);
    return worst;
}

static void test_product_is_b(void **state) {
    (void)state;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++) {
        play p = play_open(2, dim == 2 ? bounce_2d : bounce_3d, 2e4);
        play_until(&p, dim == 2 ? 0.3 : 0.15);
        CHECK_BELOW(difference_from_b(&p, false), IN_DOUBLE ? 1e-12 : 1e-4);
        CHECK_ABOVE(difference_from_b(&p, true), 0.05); /* the wrong order would be seen */
        play_close(&p);
    }
}

/* ---- Energy ---- */

/* psi = kappa/2 ((J^2 - 1)/2 - ln J) + mu/2 (tr bbar - d), bbar = J^(-2/d) b, for b = F F^T. */
static double neo_hookean(const double *F, int dim, double young, double poisson) {
    const double mu = young / (2 * (1 + poisson));
    const double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    const double kappa = lambda + 2 * mu / dim;
    double J = F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
               F[2] * (F[3] * F[7] - F[4] * F[6]);
    double trace = 0;
    for (int a = 0; a < dim; a++) trace += product(F, a, a, false);
    return kappa / 2 * ((J * J - 1) / 2 - log(J)) + mu / 2 * (pow(J, -2.0 / dim) * trace - dim);
}

static void test_energy(void **state) {
    (void)state;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++) {
        play p = play_open(2, dim == 2 ? bounce_2d : bounce_3d, 2e4);
        play_until(&p, dim == 2 ? 0.15 : 0.1);
        int64_t count;
        double *F = values_of(&p, "F", 9, &count), *energy = values_of(&p, "energy", 1, &count);
        double most = 0, worst = 0, wrong = 0, sum = 0;
        for (int64_t i = 0; i < count; i++) {
            most = fmax(most, energy[i]);
            worst = fmax(worst, fabs(energy[i] - neo_hookean(F + 9 * i, dim, 2e4, 0.3)));
            wrong = fmax(wrong, fabs(energy[i] - neo_hookean(F + 9 * i, dim, 2e4, 0.2)));
            sum += energy[i] * (double)p.sim->particles.mass[0] / 1000;
        }
        CHECK_ABOVE(most, 100);
        CHECK_BELOW(worst, 1e-3 * most);
        CHECK_ABOVE(wrong, 0.02 * most);
        double total = play_quantity(&p, "elastic_energy");
        CHECK_BELOW(fabs(sum - total), 1e-5 * total);
        free(F), free(energy);
        play_close(&p);
    }
}

/* ---- Threads, checkpoints, and where it is not ---- */

static void test_threads_do_not_matter(void **state) {
    (void)state;
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        play p = play_open(threads, bounce_2d, 2e4);
        play_until(&p, WATCHED ? 0.03 : 0.1);
        int64_t count;
        double *F = values_of(&p, "F", 9, &count);
        if (first)
            assert_memory_equal(F, first, (size_t)count * 9 * sizeof *F);
        else
            first = F;
        if (F != first) free(F);
        play_close(&p);
    }
    free(first);
}

/* A scene of bounce_2d with other output fields. */
static spate_scene *with_fields(play *p, const char *set) {
    char yaml[2048];
    spate_scene *scene;
    snprintf(yaml, sizeof yaml, bounce_2d, 2e4);
    assert_int_equal(spate_scene_parse(p->ctx, yaml, strlen(yaml), "test", ".", &set, 1, &scene),
                     SPATE_OK);
    return scene;
}

static void make_path(char path[]) {
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
}

static void test_resume(void **state) {
    (void)state;
    char path[] = "/tmp/spate_deformation_XXXXXX";
    make_path(path);
    play p = play_open(2, bounce_2d, 2e4);
    play_until(&p, 0.05);
    assert_int_equal(spate_simulation_save(p.sim, path), SPATE_OK);
    play again = {.ctx = p.ctx, .scene = p.scene};
    assert_int_equal(spate_simulation_restore(p.scene, path, &again.sim), SPATE_OK);
    play_until(&p, 0.1);
    play_until(&again, 0.1);
    int64_t count;
    double *F = values_of(&p, "F", 9, &count), *other = values_of(&again, "F", 9, &count);
    assert_memory_equal(F, other, (size_t)count * 9 * sizeof *F);
    free(F), free(other);
    spate_simulation_free(again.sim);
    /* what has been followed may be left out from now on */
    spate_scene *fewer = with_fields(&p, "output.fields=[J]");
    assert_int_equal(spate_simulation_save(p.sim, path), SPATE_OK);
    assert_int_equal(spate_simulation_restore(fewer, path, &again.sim), SPATE_OK);
    assert_null(again.sim->particles.gradient);
    assert_true(spate_simulation_hash(again.sim) == spate_simulation_hash(p.sim));
    spate_simulation_free(again.sim);
    spate_scene_free(fewer);
    unlink(path);
    play_close(&p);
}

/* What was not followed from the start cannot be asked for later: an error of the scene, and the
 * file is not to blame. */
static void test_too_late(void **state) {
    (void)state;
    static const char *const sets[] = {"output.fields=[F]", "output.fields=[J, green_strain]",
                                       "output.fields=[linear_strain]"};
    char path[] = "/tmp/spate_deformation_XXXXXX";
    make_path(path);
    play p = play_open(1, bounce_2d, 2e4);
    spate_scene *without = with_fields(&p, "output.fields=[energy, C]");
    spate_simulation *sim, *refused;
    assert_int_equal(spate_simulation_create(without, &sim), SPATE_OK);
    assert_null(sim->particles.gradient);
    assert_int_equal(spate_simulation_step(sim, 1), SPATE_OK);
    assert_int_equal(spate_simulation_save(sim, path), SPATE_OK);
    for (int i = 0; i < COUNT_OF(sets); i++) {
        spate_scene *with = with_fields(&p, sets[i]);
        bool damaged = true;
        assert_int_equal(checkpoint_read(with, path, &refused, NULL, &damaged), SPATE_BAD_INPUT);
        assert_false(damaged);
        assert_non_null(strstr(spate_message(p.ctx), "did not follow the deformation gradient"));
        assert_non_null(strstr(spate_message(p.ctx), "; leave F"));
        spate_scene_free(with);
    }
    assert_int_equal(spate_simulation_attribute(sim, "F", NULL, NULL, NULL), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(p.ctx), "; name it in output.fields"));
    assert_int_equal(spate_simulation_attribute(sim, "energy", NULL, NULL, NULL), SPATE_OK);
    spate_simulation_free(sim);
    spate_scene_free(without);
    unlink(path);
    play_close(&p);
}

/* It decides nothing: a run is the same by its hash with it and without. */
static void test_state_is_the_same(void **state) {
    (void)state;
    play p = play_open(1, bounce_2d, 2e4);
    spate_scene *without = with_fields(&p, "output.fields=[J]");
    spate_simulation *sim;
    assert_int_equal(spate_simulation_create(without, &sim), SPATE_OK);
    play q = {.ctx = p.ctx, .scene = without, .sim = sim};
    play_until(&p, 0.05);
    play_until(&q, 0.05);
    assert_non_null(p.sim->particles.gradient);
    assert_null(sim->particles.gradient);
    assert_true(spate_simulation_hash(p.sim) == spate_simulation_hash(sim));
    p.sim->particles.mass[0] += 1; /* control: what does decide something is in it */
    assert_true(spate_simulation_hash(p.sim) != spate_simulation_hash(sim));
    spate_simulation_free(sim);
    spate_scene_free(without);
    play_close(&p);
}

/* Particles leave their source as they were made. */
static void test_sources_begin_anew(void **state) {
    (void)state;
    play p = play_open(1,
                       "spate: 1\ndimension: 2\ngravity: [0, -10]\ndomain: {size: [1, 1], dx: "
                       "0.0625}\n" JELLY "sources: [{material: jelly, velocity: [0, -1], shape: "
                       "{box: {min: [0.25, 0.75], max: [0.75, 1]}}}]\n" ALL_FIELDS,
                       1e4);
    play_until(&p, 0.2);
    int64_t count;
    double *F = values_of(&p, "F", 9, &count), *x = values_of(&p, "P", 3, &count);
    int held = 0, strained = 0;
    for (int64_t i = 0; i < count; i++) {
        const double off = fabs(F[9 * i] - 1) + fabs(F[9 * i + 1]) + fabs(F[9 * i + 4] - 1);
        if (x[3 * i + 1] > 0.751) {
            assert_float_equal(off, 0, 0);
            held++;
        } else {
            strained += off > 1e-3;
        }
    }
    assert_true(held > 50 && strained > 50);
    free(F), free(x);
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_at_rest),
        cmocka_unit_test(test_simple_shear),
        cmocka_unit_test(test_stretch),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_components),
        cmocka_unit_test(test_shear_in_flight),
        cmocka_unit_test(test_free_flight),
        cmocka_unit_test(test_spinning_disc),
        cmocka_unit_test(test_product_is_b),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_too_late),
        cmocka_unit_test(test_state_is_the_same),
        cmocka_unit_test(test_sources_begin_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
