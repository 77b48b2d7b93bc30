/*
 * Plastic materials: after a return the stress is on or inside the yield surface, a second return
 * changes nothing, sand keeps its volume under pressure (case 32 of the validation table); where
 * they yield, how they harden, and when they come apart.
 */
#include "strains.h"

static const double KAPPA = 1e6, GATE = sizeof(real) == 4 ? 1e-5 : 1e-10;

#define SOLID \
    {"bulk_modulus", 1e6}, { "poisson", 0.3 }

static const sample plastics[] = {
    {&material_drucker_prager, {SOLID}},
    {&material_drucker_prager, {SOLID, {"cone", COMPRESSION}}},
    {&material_drucker_prager, {SOLID, {"cone", PLANE_STRAIN}}},
    {&material_drucker_prager, {SOLID, {"friction_angle", 80}}},
    {&material_drucker_prager, {{"bulk_modulus", 1e6}, {"poisson", 0.4}, {"friction_angle", 20}}},
    {&material_drucker_prager, {SOLID, {"friction_angle", 45}, {"cohesion", 2e4}}},
    {&material_nacc, {SOLID}},
    {&material_nacc, {{"bulk_modulus", 1e6}, {"poisson", 0.4}, {"chi", 2}, {"alpha_h", -0.2231}}},
    {&material_nacc, {SOLID, {"friction_angle", 90}, {"chi", 0.999}, {"alpha_h", -0.1165}}},
    {&material_von_mises, {SOLID, {"yield_stress", 2e4}}},
    {&material_von_mises, {SOLID, {"yield_stress", 2e3}, {"hardening", 3e5}}},
    {&material_snow, {SOLID}},
};

static bool is_sand(const sample *s) { return s->model == &material_drucker_prager; }
static bool is_clay(const sample *s) { return s->model == &material_nacc; }

/* A deformation gradient at random, of a volume ratio between 0.1 and 4; G = F - I. */
static void random_deformation(uint64_t id, int dim, double G[3][3]) {
    static const double sizes[] = {0.6, 0.2, 0.02};
    for (uint64_t again = 0;; again++) {
        random_gradient(id + (again << 32), dim, sizes[id % 3], G);
        double J = determinant(dim, G);
        if (J > 0.1 && J < 4) return;
    }
}

/* ---- On the surface, once and for all ---- */

typedef struct failings {
    double outside; /* yield function over the modulus */
    double moved;   /* change of strain by a second return */
    double volume;  /* change of J by the first, where it must be kept */
    double trial;   /* yield function of the trial states: the negative control */
    int64_t yielded;
} failings;

static void look_at(const sample *s, const void *parameters, int dim, bench *b, failings *f,
                    const material_constants *constants, double J[WIDE],
                    const strain_report *report) {
    strain_state after[WIDE];
    for (int l = 0; l < WIDE; l++) {
        after[l] = get_state(b, l);
        /* clay's surface is the one before this step's hardening */
        if (is_clay(s)) after[l].hardening = 0, b->p.hardening[l] = 0;
        f->outside = fmax(f->outside, s->model->yield(parameters, dim, &after[l]));
        bool keeps = s->model == &material_von_mises || (is_sand(s) && J[l] <= 1);
        double kept = fabs((double)report->J_less_one[l] + 1 - J[l]), again;
        s->model->evaluate(parameters, dim, &after[l], NULL, NULL, &again);
        if (keeps) f->volume = fmax(f->volume, fmax(kept, fabs(again - J[l])));
        f->yielded += report->yielded[l] != 0;
    }
    wide still[9] = {{0}};
    strain_report second;
    wide_update(constants, &b->p, 0, still, 255, &second, dim);
    for (int l = 0; l < WIDE; l++) {
        strain_state twice = get_state(b, l);
        for (int c = 0; c < 6; c++)
            f->moved = fmax(f->moved, fabs(twice.strain[c] - after[l].strain[c]));
    }
}

static failings try_returns(const sample *s, int dim, uint64_t count) {
    failings f = {0};
    bench b = bench_open();
    void *parameters = parameters_of(s, dim);
    material_constants constants = constants_of(s, dim);
    for (uint64_t id = 0; id < count; id += WIDE) {
        double G[3][3], J[WIDE];
        wide trial[9];
        strain_report report;
        for (int l = 0; l < WIDE; l++) {
            strain_state state = {0};
            put_state(&b, l, &state);
            random_deformation(id + (uint64_t)l, dim, G);
            J[l] = determinant(dim, G);
            for (int k = 0; k < 9; k++) trial[k][l] = (real)G[k / 3][k % 3];
            if (id % 64) continue;
            deform(dim, state.strain, G);
            f.trial = fmax(f.trial, s->model->yield(parameters, dim, &state));
        }
        wide_update(&constants, &b.p, 0, trial, 255, &report, dim);
        look_at(s, parameters, dim, &b, &f, &constants, J, &report);
    }
    free(parameters);
    bench_close(&b);
    return f;
}

static void test_returns(void **state) {
    (void)state;
    const uint64_t count = 1000000 / (2 * COUNT_OF(plastics)) / WIDE * WIDE;
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(plastics); k++) {
            failings f = try_returns(&plastics[k], dim, count);
            assert_true(f.outside < GATE);
            assert_true(f.moved < GATE);
            assert_true(f.volume < GATE);
            assert_true(f.trial > 1e-3); /* without the return the gate fails */
            assert_true((uint64_t)f.yielded > count / 20);
        }
}

/* A return that keeps the trace of bbar and not its determinant moves J: the gate sees that. One
 * strong shear takes 0.90 to 1.03. */
static void test_keeping_the_trace_moves_the_volume(void **state) {
    (void)state;
    const sample *s = &plastics[0];
    void *parameters = parameters_of(s, 3);
    strain_state good = {0};
    double G[3][3] = {{0, 1, 0}, {0, -0.1, 0}, {0, 0, 0}}, before, J;
    deform(3, good.strain, G);
    strain_state bad = good;
    s->model->evaluate(parameters, 3, &good, NULL, NULL, &before);
    assert_near(before, 0.9, 1e-12);
    s->model->project(parameters, 3, &good);
    s->model->evaluate(parameters, 3, &good, NULL, NULL, &J);
    assert_near(J, 0.9, 1e-12);

    double mean = (bad.strain[XX] + bad.strain[YY] + bad.strain[ZZ]) / 3;
    double ratio = good.strain[XY] / bad.strain[XY];
    for (int c = 0; c < 6; c++)
        bad.strain[c] = c <= ZZ ? mean + ratio * (bad.strain[c] - mean) : ratio * bad.strain[c];
    assert_near(s->model->yield(parameters, 3, &bad), 0, 1); /* a return to about the cone */
    s->model->evaluate(parameters, 3, &bad, NULL, NULL, &J);
    assert_true(fabs(J - 0.9) > 0.05);
    free(parameters);
}

/* ---- One particle, step by step ---- */

typedef struct trial_run {
    bench b;
    material_constants constants;
    void *parameters;
    const sample *s;
    int dim;
    strain_report report;
} trial_run;

static trial_run run_open(const sample *s, int dim) {
    return (trial_run){.b = bench_open(),
                       .constants = constants_of(s, dim),
                       .parameters = parameters_of(s, dim),
                       .s = s,
                       .dim = dim};
}

static void run_close(trial_run *t) {
    free(t->parameters);
    bench_close(&t->b);
}

static void run_step(trial_run *t, double G[3][3]) {
    wide gradient[9];
    splat_gradient(G, gradient);
    wide_update(&t->constants, &t->b.p, 0, gradient, 255, &t->report, t->dim);
}

/* Stretches all axes by a factor. */
static void run_stretch(trial_run *t, double factor) {
    double G[3][3] = {{0}};
    for (int a = 0; a < t->dim; a++) G[a][a] = factor - 1;
    run_step(t, G);
}

static void run_stress(trial_run *t, double tau[6], double *J) {
    strain_state state = get_state(&t->b, 0);
    t->s->model->evaluate(t->parameters, t->dim, &state, tau, NULL, J);
}

/* |dev tau| */
static double deviator_of(const double tau[6], int dim) {
    double mean = (tau[XX] + tau[YY] + (dim == 3 ? tau[ZZ] : 0)) / dim, sum = 0;
    for (int a = 0; a < dim; a++) sum += (tau[a] - mean) * (tau[a] - mean);
    return sqrt(sum + 2 * (tau[XY] * tau[XY] + tau[XZ] * tau[XZ] + tau[YZ] * tau[YZ]));
}

/* ---- Sand ---- */

/* How a particle is strained for long under pressure: in the plane of x and y alone, or along one
 * axis against the other two, which are alike. */
typedef enum loading { SIMPLE_SHEAR, TRIAXIAL_COMPRESSION, TRIAXIAL_EXTENSION } loading;

/* (s1 - s3) / (s1 + s3) for the largest and smallest principal pressure that sand then holds: Mohr
 * and Coulomb's sin(phi). */
static double obliquity(int cone, double phi, int dim, loading how) {
    sample sand = {&material_drucker_prager, {SOLID, {"friction_angle", phi}, {"cone", cone}}};
    trial_run t = run_open(&sand, dim);
    double G[3][3] = {{0}}, tau[6], J, e = how == TRIAXIAL_COMPRESSION ? 0.005 : -0.005;
    if (how == SIMPLE_SHEAR)
        G[0][1] = 0.01;
    else
        G[0][0] = G[2][2] = e, G[1][1] = 1 / ((1 + e) * (1 + e)) - 1; /* y is the axis */
    run_stretch(&t, 0.99);
    for (int step = 0; step < 200; step++) run_step(&t, G);
    run_stress(&t, tau, &J);
    run_close(&t);
    assert_near(J, pow(0.99, dim), 1e-4);
    double middle = -(tau[XX] + tau[YY]) / 2;
    return hypot((tau[XX] - tau[YY]) / 2, tau[XY]) / middle;
}

/* The sine that a round cone with |s| <= c_F P has for Mohr and Coulomb at the Lode angle theta. */
static double round_cone_sine(double slope, double theta) {
    return slope * cos(theta) / (sqrt(2) + slope * sin(theta) / sqrt(3));
}

/* In the plane every cone is Mohr and Coulomb's law, and their own is in 3D however it is strained;
 * the round ones are right where they touch it and far off elsewhere. */
static void test_sand_friction(void **state) {
    (void)state;
    for (double phi = 20; phi <= 40; phi += 10) {
        double sine = sin(phi * acos(-1) / 180), edge = acos(-1) / 6;
        double theta[] = {0, edge, -edge};
        double slopes[] = {sqrt(2.0 / 3) * 6 * sine / (3 - sine), sqrt(2) * sine};
        for (int cone = COMPRESSION; cone <= MOHR_COULOMB; cone++) {
            assert_near(obliquity(cone, phi, 2, SIMPLE_SHEAR), sine, 2e-3 * sine);
            for (loading how = SIMPLE_SHEAR; how <= TRIAXIAL_EXTENSION; how++) {
                double expected =
                    cone == MOHR_COULOMB ? sine : round_cone_sine(slopes[cone], theta[how]);
                /* the elastic part of simple shear turns and stretches: of second order */
                double within = cone < MOHR_COULOMB && how == SIMPLE_SHEAR ? 0.025 : 2e-4;
                assert_near(obliquity(cone, phi, 3, how), expected, within * expected);
            }
        }
        assert_near(round_cone_sine(slopes[COMPRESSION], edge), sine, 1e-12);
        assert_true(obliquity(COMPRESSION, phi, 3, SIMPLE_SHEAR) > 1.2 * sine);
        assert_true(obliquity(PLANE_STRAIN, phi, 3, TRIAXIAL_COMPRESSION) < 0.85 * sine);
        /* what a scene gets that does not choose */
        sample sand = {&material_drucker_prager, {SOLID, {"friction_angle", phi}}};
        material_constants constants = constants_of(&sand, 3);
        assert_near((double)constants.drucker_prager.lode, sine / sqrt(3), 1e-6);
    }
}

/* Without cohesion sand comes apart; with it the tip of the cone holds P_t = c / tan(phi). */
static void test_sand_in_tension(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int bound = 0; bound < 2; bound++) {
            double cohesion = bound ? 1e4 : 0, tip = cohesion / tan(acos(-1) / 6);
            sample sand = {&material_drucker_prager,
                           {SOLID, {"cohesion", cohesion}, {"volume_correction", 0}}};
            trial_run t = run_open(&sand, dim);
            double tau[6], J, kappa = (double)t.constants.drucker_prager.elastic.bulk;
            assert_near((double)t.constants.critical, sqrt(1 + 2 * tip / kappa) - 1, 1e-6);
            run_stretch(&t, 1.001);
            assert_int_equal(t.report.parted[0] != 0, !bound);
            run_stretch(&t, 1.05);
            assert_true(t.report.parted[0] && t.report.yielded[0]);
            run_stress(&t, tau, &J);
            assert_near(tau[XX], tip, 1e-6 * KAPPA);
            assert_near(deviator_of(tau, dim), 0, 1e-6 * KAPPA);
            run_stretch(&t, 0.999); /* presses it together: neither apart nor free */
            assert_false(t.report.parted[0]);
            run_stress(&t, tau, &J);
            assert_true(tau[XX] < tip - 1e-4 * KAPPA);
            run_close(&t);
        }
}

/* What expansion has gained must be pushed together again; without the correction pressure comes at
 * once. */
static void test_volume_correction(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int corrected = 0; corrected < 2; corrected++) {
            sample sand = {&material_drucker_prager, {SOLID, {"volume_correction", corrected}}};
            trial_run t = run_open(&sand, dim);
            double tau[6], J;
            for (int step = 0; step < 10; step++) run_stretch(&t, 1.01);
            double gained = (double)t.b.p.hardening[0];
            assert_near(gained, corrected ? pow(1.01, 10 * dim) - 1 : 0, 1e-5);
            for (int step = 0; step < 9; step++) run_stretch(&t, 1 / 1.01);
            run_stress(&t, tau, &J);
            if (!corrected) {
                assert_true(-tau[XX] > 0.05 * KAPPA);
            } else {
                assert_true(tau[XX] == 0);
                assert_true(t.report.parted[0]);
                run_stretch(&t, 1 / 1.01);
                run_stretch(&t, 1 / 1.01);
                run_stress(&t, tau, &J);
                assert_near(J, pow(1.01, -dim), 1e-5);
                assert_true(t.b.p.hardening[0] == 0 && !t.report.parted[0]);
            }
            run_close(&t);
        }
}

/* ---- Clay ---- */

static double clay_P0(const trial_run *t) {
    const nacc_constants *n = &t->constants.nacc;
    double alpha = (double)n->alpha_h + (double)t->b.p.hardening[0];
    return (double)n->elastic.bulk * (1e-5 + sinh((double)n->xi * fmax(-alpha, 0)));
}

/* Compression beyond P0 hardens, expansion beyond -chi P0 softens, and the stress is the tip's. */
static void test_clay_hardening(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        sample clay = {&material_nacc, {SOLID, {"chi", 0.5}, {"alpha_h", -0.05}}};
        trial_run pressed = run_open(&clay, dim), pulled = run_open(&clay, dim);
        double start = clay_P0(&pressed), tau[6], J;
        run_stretch(&pressed, 0.995);
        assert_true(!pressed.report.yielded[0] && clay_P0(&pressed) == start);
        run_stretch(&pressed, 0.95);
        run_stress(&pressed, tau, &J);
        assert_true(pressed.report.yielded[0] && !pressed.report.parted[0]);
        assert_near(-tau[XX], start, 1e-5 * KAPPA);
        double volume = pow(0.995 * 0.95, dim);
        assert_near((double)pressed.b.p.hardening[0], log(volume / J), 1e-5);
        assert_true(clay_P0(&pressed) > 1.2 * start);

        run_stretch(&pulled, 1.03);
        run_stress(&pulled, tau, &J);
        assert_true(pulled.report.yielded[0] && pulled.report.parted[0]);
        assert_near(tau[XX], 0.5 * start, 1e-5 * KAPPA);
        assert_near((double)pulled.b.p.hardening[0], log(pow(1.03, dim) / J), 1e-5);
        assert_true(clay_P0(&pulled) < 0.8 * start);
        /* pulled on, it is left with next to nothing: kappa 1e-5 */
        for (int step = 0; step < 5; step++) run_stretch(&pulled, 1.03);
        run_stress(&pulled, tau, &J);
        assert_near(tau[XX], 0.5e-5 * KAPPA, 1e-6 * KAPPA);
        run_close(&pressed), run_close(&pulled);
    }
}

/* J_c = sqrt(1 + 2 chi P0 / kappa) of the P0 before the step's own hardening; or the scene's. */
static void test_clay_comes_apart(void **state) {
    (void)state;
    for (int set = 0; set < 2; set++) {
        sample clay = {&material_nacc,
                       {SOLID, {"alpha_h", -0.05}, {"critical_J", set ? 1.1 : (double)NAN}}};
        trial_run t = run_open(&clay, 3);
        double kappa = (double)t.constants.nacc.elastic.bulk;
        double critical = sqrt(1 + 2 * clay_P0(&t) / kappa), J;
        strain_state whole = get_state(&t.b, 0);
        for (int l = 0; l < WIDE; l++) put_state(&t.b, l, &whole);
        run_stretch(&t, cbrt(critical) * 0.999);
        assert_false(t.report.parted[0]);
        run_stretch(&t, 1.002);
        assert_int_equal(t.report.parted[0] != 0, !set);
        run_stretch(&t, 1.04);
        assert_true(t.report.parted[0]);
        /* softened, it comes apart sooner */
        double tau[6];
        run_stress(&t, tau, &J);
        assert_true(sqrt(1 + 2 * clay_P0(&t) / kappa) < critical);
        run_close(&t);
    }
}

/* Shear under more than half P0 hardens, under less it softens. */
static void test_clay_sheared(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int dense = 0; dense < 2; dense++) {
            sample clay = {&material_nacc, {SOLID, {"chi", 0}, {"alpha_h", -0.1}}};
            trial_run t = run_open(&clay, dim);
            double share = dense ? 0.8 : 0.2, shear[3][3] = {{0, 0.6, 0}};
            double kappa = (double)t.constants.nacc.elastic.bulk;
            run_stretch(&t, pow(1 - 2 * share * clay_P0(&t) / kappa, 0.5 / dim));
            assert_false(t.report.yielded[0]);
            run_step(&t, shear);
            assert_true(t.report.yielded[0]);
            assert_true(dense ? t.b.p.hardening[0] < -1e-3f : t.b.p.hardening[0] > 1e-3f);
            run_close(&t);
        }
}

/* ---- Metal ---- */

/* In simple shear metal yields at |s| = sqrt(2/3) yield_stress, that is tau_xy = yield_stress /
 * sqrt(3), and then follows its hardening: |s| = sqrt(2/3) (yield_stress + H ep). */
static void test_metal_in_shear(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int hard = 0; hard < 2; hard++) {
            double H = hard ? 2e5 : 0, tau[6], J, shear[3][3] = {{0, 2e-4, 0}};
            sample metal = {&material_von_mises, {SOLID, {"yield_stress", 3e3}, {"hardening", H}}};
            trial_run t = run_open(&metal, dim);
            int first = -1;
            for (int step = 0; step < 500; step++) {
                run_step(&t, shear);
                run_stress(&t, tau, &J);
                double limit = sqrt(2.0 / 3) * (3e3 + H * (double)t.b.p.hardening[0]);
                assert_true(deviator_of(tau, dim) < limit * (1 + 2e-3));
                if (!t.report.yielded[0]) continue;
                if (first < 0) first = step;
                assert_near(deviator_of(tau, dim), limit, 2e-3 * limit);
            }
            double mu = (double)t.constants.von_mises.elastic.shear;
            assert_near(first * 2e-4, 3e3 / sqrt(3) / mu, 4e-4);
            assert_near(J, 1, 1e-4);
            /* ep = (g - g_elastic) / sqrt(3) */
            double strain = 500 * 2e-4 - tau[XY] / mu;
            assert_near((double)t.b.p.hardening[0], strain / sqrt(3), 2e-3);
            if (!hard) assert_near(tau[XY], 3e3 / sqrt(3), 10);
            if (hard) assert_true(tau[XY] > 1.5 * 3e3 / sqrt(3));
            run_close(&t);
        }
}

/* Pressure alone never makes metal flow. */
static void test_metal_under_pressure(void **state) {
    (void)state;
    sample metal = {&material_von_mises, {SOLID, {"yield_stress", 1e2}}};
    for (int dim = 2; dim <= 3; dim++) {
        trial_run t = run_open(&metal, dim);
        run_stretch(&t, 0.8);
        assert_false(t.report.yielded[0]);
        double thin[3][3] = {{-0.01}};
        run_step(&t, thin);
        assert_true(t.report.yielded[0]);
        run_close(&t);
    }
}

/* ---- Snow ---- */

static void test_snow(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        sample snow_sample = {&material_snow, {SOLID}};
        trial_run t = run_open(&snow_sample, dim);
        double tau[2][6], J, thin[3][3] = {{-0.02}};
        run_step(&t, thin);
        assert_true(!t.report.yielded[0] && t.report.stiffening[0] == 1);
        for (int step = 0; step < 3; step++) run_step(&t, thin);
        /* the axis is at its limit, the rest has gone into J_P */
        double plastic = pow(0.98, 4) / 0.975;
        assert_true(t.report.yielded[0]);
        assert_near((double)t.report.J_less_one[0], -0.025, 1e-6);
        assert_near((double)t.b.p.hardening[0], plastic - 1, 1e-6);
        assert_near((double)t.report.stiffening[0], exp(10 * (1 - plastic)), 1e-4);
        /* packed, it is stiffer at the same strain */
        run_stress(&t, tau[1], &J);
        t.b.p.hardening[0] = 0;
        run_stress(&t, tau[0], &J);
        assert_near(tau[1][XX] / tau[0][XX], exp(10 * (1 - plastic)), 1e-4);
        run_close(&t);

        t = run_open(&snow_sample, dim);
        run_stretch(&t, 1.02);
        assert_near((double)t.report.J_less_one[0], pow(1.0075, dim) - 1, 1e-6);
        assert_true(t.report.stiffening[0] < (real)0.9);
        run_close(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_keeping_the_trace_moves_the_volume),
        cmocka_unit_test(test_sand_friction),
        cmocka_unit_test(test_sand_in_tension),
        cmocka_unit_test(test_volume_correction),
        cmocka_unit_test(test_clay_hardening),
        cmocka_unit_test(test_clay_comes_apart),
        cmocka_unit_test(test_clay_sheared),
        cmocka_unit_test(test_metal_in_shear),
        cmocka_unit_test(test_metal_under_pressure),
        cmocka_unit_test(test_snow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
