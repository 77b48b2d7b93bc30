/*
 * Materials: the wide code against the plain reference, stress as the derivative of energy, and the
 * moduli and wave speeds of textbooks. Plastic flow: test_plasticity.c.
 */
#include "strains.h"

static const double YOUNG = 1e5, POISSON = 0.3, DENSITY = 1200, BULK = 2e5, GAMMA = 7;

#define SOLID \
    {"density", 1200}, {"young_modulus", 1e5}, { "poisson", 0.3 }

static const sample rubber = {&material_neo_hookean, {SOLID}};
static const sample corotated = {&material_fixed_corotated, {SOLID}};
static const sample packed_snow = {&material_snow, {SOLID}};

/* Every solid, some more than once. */
static const sample solids[] = {
    {&material_neo_hookean, {SOLID}},
    {&material_neo_hookean, {{"bulk_modulus", 1e6}, {"poisson", 0.45}}},
    {&material_fixed_corotated, {SOLID}},
    {&material_fixed_corotated, {{"young_modulus", 1e5}, {"poisson", -0.2}}},
    {&material_drucker_prager, {SOLID}},
    {&material_drucker_prager, {SOLID, {"cone", COMPRESSION}}},
    {&material_drucker_prager, {SOLID, {"cone", PLANE_STRAIN}}},
    {&material_drucker_prager, {SOLID, {"friction_angle", 45}, {"cohesion", 2e3}}},
    {&material_drucker_prager, {SOLID, {"friction_angle", 20}, {"volume_correction", 1}}},
    {&material_drucker_prager, {SOLID, {"cohesion", 5e2}, {"volume_correction", 1}}},
    {&material_nacc, {SOLID}},
    {&material_nacc,
     {{"bulk_modulus", 1.09e6}, {"poisson", 0.4}, {"chi", 2}, {"alpha_h", -0.2231}}},
    {&material_nacc, {SOLID, {"friction_angle", 90}, {"chi", 0.999}, {"xi", 0.5}}},
    {&material_von_mises, {SOLID, {"yield_stress", 1e3}}},
    {&material_von_mises, {SOLID, {"yield_stress", 5e3}, {"hardening", 2e4}}},
    {&material_snow, {SOLID}},
    {&material_snow, {SOLID, {"critical_compression", 0.1}, {"hardening", 3}}},
};

static sample water(double gamma, double viscosity) {
    return (sample){
        &material_liquid,
        {{"density", DENSITY}, {"bulk_modulus", BULK}, {"gamma", gamma}, {"viscosity", viscosity}}};
}

static double lambda(void) { return YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON)); }
static double mu(void) { return YOUNG / (2 * (1 + POISSON)); }

/* ---- Wide against plain ---- */

enum { STATES = 4000 };

static double largest(const double B[6]) {
    double most = 0;
    for (int c = 0; c < 6; c++) most = fmax(most, fabs(B[c]));
    return most;
}

/* Errors relative to the modulus times the strain: small strains keep their digits too. */
static double stress_error(const sample *s, int dim, double factor) {
    bench b = bench_open();
    static const double sizes[] = {0.4, 0.05, 1e-3, 1e-6};
    void *parameters = parameters_of(s, dim);
    material_constants constants = constants_of(s, dim);
    double worst = 0;
    for (uint64_t id = 0; id < STATES; id += WIDE) {
        double size = sizes[id / WIDE % COUNT_OF(sizes)], G[3][3];
        for (int l = 0; l < WIDE; l++) {
            strain_state state = {.hardening = 0.1 * random_unit(5, id, (uint64_t)l) - 0.05};
            random_gradient(id + (uint64_t)l, dim, size, G);
            deform(dim, state.strain, G);
            put_state(&b, 8 + l, &state);
        }
        wide tau[6], C[9] = {{0}};
        wide_stress(&constants, &b.p, 8, C, tau, dim);
        for (int l = 0; l < WIDE; l++) {
            double expected[6];
            strain_state state = get_state(&b, 8 + l);
            s->model->evaluate(parameters, dim, &state, expected, NULL, NULL);
            double scale =
                DENSITY *
                pow(s->model->wave_speed(parameters, dim, &(strain_range){1, 1, 1, 1}), 2);
            scale *= fmin(1, largest(state.strain));
            for (int c = 0; c < 6; c++)
                worst = fmax(worst, fabs((double)tau[c][l] - factor * expected[c]) / scale);
        }
    }
    free(parameters);
    bench_close(&b);
    return worst;
}

static void test_stress_wide(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(solids); k++) {
            double worst = stress_error(&solids[k], dim, 1);
            assert_true(worst < 24 * (double)REAL_EPSILON);
            assert_true(worst > 0); /* something was compared */
            assert_true(stress_error(&solids[k], dim, 1.0001) > 24 * (double)FLT_EPSILON);
        }
}

/* What the plain code makes of a step; J and the critical J of the trial too. */
typedef struct outcome {
    strain_state after;
    double J, trial_J, stretch;
} outcome;

static outcome plain_update(const sample *s, const void *parameters, int dim,
                            const strain_state *before, double G[3][3]) {
    outcome o = {.after = *before};
    deform(dim, o.after.strain, G);
    s->model->evaluate(parameters, dim, &o.after, NULL, NULL, &o.trial_J);
    if (s->model->project) s->model->project(parameters, dim, &o.after);
    s->model->evaluate(parameters, dim, &o.after, NULL, NULL, &o.J);
    for (int a = 0; a < dim; a++) o.stretch += (1 + o.after.strain[a]) / dim;
    return o;
}

/* Lanes whose fate hangs on rounding are few; hardening of clay jumps there. */
static int compare_update(const sample *s, int dim, double size, uint64_t seed) {
    bench b = bench_open();
    void *parameters = parameters_of(s, dim);
    material_constants constants = constants_of(s, dim);
    int changed = 0, astray = 0;
    for (uint64_t id = 0; id < STATES / 4; id += WIDE) {
        strain_state before[WIDE];
        unsigned bits = (unsigned)random_bits(4, id, 0) & 255;
        double G[WIDE][3][3];
        wide turn[9];
        for (int l = 0; l < WIDE; l++) {
            uint64_t key = seed + id + (uint64_t)l;
            before[l] = (strain_state){.hardening = 0.05 * random_unit(5, key, 0)};
            random_gradient(key, dim, size, G[l]);
            deform(dim, before[l].strain, G[l]);
            random_gradient(key + STATES, dim, size / 2, G[l]);
            put_state(&b, 16 + l, &before[l]);
            before[l] = get_state(&b, 16 + l);
            for (int k = 0; k < 9; k++) {
                turn[k][l] = (real)G[l][k / 3][k % 3];
                G[l][k / 3][k % 3] = (double)turn[k][l];
            }
        }
        strain_report report;
        wide_update(&constants, &b.p, 16, turn, bits, &report, dim);
        for (int l = 0; l < WIDE; l++) {
            outcome o = plain_update(s, parameters, dim, &before[l], G[l]);
            strain_state after = get_state(&b, 16 + l);
            const strain_state *expected = bits >> l & 1 ? &o.after : &before[l];
            double tolerance = 64 * (double)REAL_EPSILON;
            for (int c = 0; c < 6; c++)
                assert_near(after.strain[c], expected->strain[c], tolerance);
            astray += !(fabs(after.hardening - expected->hardening) <= 4 * tolerance);
            if (!(bits >> l & 1)) { /* not written, and the report means nothing */
                assert_memory_equal(&after, &before[l], sizeof after);
                continue;
            }
            assert_near((double)report.J_less_one[l], o.J - 1, tolerance);
            assert_near((double)report.stretch[l], o.stretch, tolerance);
            double factor = s->model == &material_snow
                                ? exp((double)-constants.snow.hardening * o.after.hardening)
                                : 1;
            assert_near((double)report.stiffening[l], factor, 20 * tolerance * factor);
            changed += report.yielded[l] != 0;
            if (report.yielded[l]) assert_non_null(s->model->project);
        }
    }
    assert_true(astray <= 1);
    free(parameters);
    bench_close(&b);
    return changed;
}

static void test_update_wide(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(solids); k++) {
            int changed = compare_update(&solids[k], dim, 0.2, 0) +
                          compare_update(&solids[k], dim, 0.004, 99);
            /* plasticity is met, and so is what lies inside the yield surface */
            if (solids[k].model->project)
                assert_in_range(changed, 100, 2 * STATES / 4 - 20);
            else
                assert_int_equal(changed, 0);
        }
}

static void test_liquid_stress_wide(void **state) {
    (void)state;
    bench b = bench_open();
    static const double gammas[] = {1, 2, 7}, sizes[] = {0.4, 0.01, 1e-5};
    for (int dim = 2; dim <= 3; dim++)
        for (int g = 0; g < COUNT_OF(gammas); g++)
            for (int viscous = 0; viscous < 2; viscous++) {
                double viscosity = viscous ? 3.5 : 0;
                sample s = water(gammas[g], viscosity);
                void *parameters = parameters_of(&s, dim);
                material_constants constants = constants_of(&s, dim);
                for (uint64_t id = 0; id < STATES / 4; id += WIDE) {
                    wide C[9], tau[6];
                    double size = sizes[id / WIDE % COUNT_OF(sizes)];
                    for (int l = 0; l < WIDE; l++) {
                        b.p.dilation[24 + l] = (real)(-size * random_unit(6, id, (uint64_t)l));
                        for (int k = 0; k < 9; k++)
                            C[k][l] =
                                (real)(200 * random_unit(7, id + (uint64_t)l, (uint64_t)k) - 100);
                    }
                    wide_stress(&constants, &b.p, 24, C, tau, dim);
                    for (int l = 0; l < WIDE; l++) {
                        strain_state at = {.dilation = (double)b.p.dilation[24 + l]};
                        double expected[6], J, scale;
                        material_liquid.evaluate(parameters, dim, &at, expected, NULL, &J);
                        scale = BULK * pow(J, -gammas[g]) * fabs(at.dilation) + 400 * viscosity;
                        for (int r = 0; r < dim; r++)
                            for (int c = r; c < dim; c++)
                                expected[symmetric_place[r][c]] +=
                                    J * viscosity * (double)(C[3 * r + c][l] + C[3 * c + r][l]);
                        for (int c = 0; c < 6; c++) {
                            if (dim == 2 && c == ZZ) continue;
                            assert_near((double)tau[c][l], expected[c],
                                        40 * (double)REAL_EPSILON * scale);
                        }
                    }
                }
                free(parameters);
            }
    bench_close(&b);
}

static void test_liquid_update_wide(void **state) {
    (void)state;
    bench b = bench_open();
    sample s = water(GAMMA, 0);
    int stopped = 0;
    for (int dim = 2; dim <= 3; dim++)
        for (uint64_t id = 0; id < STATES; id += WIDE) {
            material_constants constants = constants_of(&s, dim);
            wide G[9];
            strain_report report;
            unsigned bits = (unsigned)random_bits(8, id, 0) & 255;
            double before[WIDE];
            for (int l = 0; l < WIDE; l++) {
                b.p.dilation[l] = (real)(-0.3 * random_unit(9, id, (uint64_t)l));
                before[l] = (double)b.p.dilation[l];
                for (int k = 0; k < 9; k++)
                    G[k][l] = (real)(0.4 * random_unit(10, id + (uint64_t)l, (uint64_t)k) - 0.2);
            }
            wide_update(&constants, &b.p, 0, G, bits, &report, dim);
            for (int l = 0; l < WIDE; l++) {
                double trace = (double)G[0][l] + (double)G[4][l] + (dim == 3 ? (double)G[8][l] : 0);
                double grown = (1 + before[l]) * exp(trace) - 1, kept = fmin(0, grown);
                stopped += kept == 0;
                assert_near((double)report.J_less_one[l], kept, 8 * (double)REAL_EPSILON);
                assert_true((report.parted[l] != 0) == (grown >= 0) || fabs(grown) < 1e-6);
                assert_true(report.yielded[l] == 0 && report.stiffening[l] == 1);
                assert_true((double)b.p.dilation[l] <= 0);
                assert_near((double)b.p.dilation[l], bits >> l & 1 ? kept : before[l],
                            8 * (double)REAL_EPSILON);
            }
        }
    assert_true(stopped > 100);
    bench_close(&b);
}

/* ---- Stress is the derivative of energy ---- */

/* dpsi = tau : G for a change of shape G, in all directions: F <- (I + e G) F. The share of tau is
 * 1, or not for the negative control. */
static double energy_error(const sample *s, int dim, double share) {
    void *parameters = parameters_of(s, dim);
    double worst = 0;
    for (uint64_t id = 0; id < 60; id++) {
        double B[6] = {0}, G[3][3], tau[6];
        random_gradient(id, dim, 0.3, G);
        deform(dim, B, G);
        stress_at(s, parameters, dim, B, tau);
        for (int r = 0; r < dim; r++)
            for (int c = 0; c < dim; c++) {
                double energy[2], ignored[6];
                for (int side = 0; side < 2; side++) {
                    double moved[6], unit[3][3] = {{0}};
                    unit[r][c] = side ? 1e-5 : -1e-5;
                    memcpy(moved, B, sizeof moved);
                    deform(dim, moved, unit);
                    energy[side] = stress_at(s, parameters, dim, moved, ignored);
                }
                double found = (energy[1] - energy[0]) / 2e-5;
                worst = fmax(worst, fabs(found - share * tau[symmetric_place[r][c]]));
            }
    }
    free(parameters);
    return worst;
}

static void test_energy(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(solids); k++) {
            void *parameters = parameters_of(&solids[k], dim);
            double modulus =
                DENSITY *
                pow(solids[k].model->wave_speed(parameters, dim, &(strain_range){1, 1, 1, 1}), 2);
            free(parameters);
            assert_true(energy_error(&solids[k], dim, 1) < 1e-6 * modulus);
            assert_true(energy_error(&solids[k], dim, 1.001) > 1e-5 * modulus);
        }
}

/* The same through the wide update, as a step does it. */
static void test_energy_through_the_update(void **state) {
    (void)state;
    const sample *elastics[] = {&rubber, &corotated};
    const double e = sizeof(real) == 4 ? 4e-3 : 1e-4;
    bench b = bench_open();
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(elastics); k++) {
            const sample *s = elastics[k];
            void *parameters = parameters_of(s, dim);
            material_constants constants = constants_of(s, dim);
            for (int direction = 0; direction < dim * dim; direction++) {
                double energy[2], tau[6], ignored[6], G[3][3];
                strain_state at = {0};
                random_gradient(7, dim, 0.2, G);
                deform(dim, at.strain, G);
                stress_at(s, parameters, dim, at.strain, tau);
                for (int side = 0; side < 2; side++) {
                    wide turn[9] = {{0}};
                    strain_report report;
                    int r = direction / dim, c = direction % dim;
                    turn[3 * r + c] = wide_splat((real)(side ? e : -e));
                    put_state(&b, 0, &at);
                    wide_update(&constants, &b.p, 0, turn, 255, &report, dim);
                    strain_state moved = get_state(&b, 0);
                    energy[side] = stress_at(s, parameters, dim, moved.strain, ignored);
                }
                double expected = tau[symmetric_place[direction / dim][direction % dim]];
                assert_near((energy[1] - energy[0]) / (2 * e), expected, 5e-4 * YOUNG);
            }
            free(parameters);
        }
    bench_close(&b);
}

/* tau = J dpsi/dJ; no energy at rest and more of it the further from rest. */
static void test_liquid_energy(void **state) {
    (void)state;
    static const double gammas[] = {1, 1.00005, 1.5, 7, 20};
    for (int g = 0; g < COUNT_OF(gammas); g++) {
        sample s = water(gammas[g], 0);
        void *parameters = parameters_of(&s, 3);
        for (double J = 0.7; J < 1.01; J += 0.05) {
            double energy[3], tau[6];
            for (int k = -1; k <= 1; k++) {
                strain_state at = {.dilation = J - 1 + 1e-5 * k};
                material_liquid.evaluate(parameters, 3, &at, k ? NULL : tau, &energy[k + 1], NULL);
            }
            double scale = BULK * pow(J, -gammas[g]);
            assert_near(J * (energy[2] - energy[0]) / 2e-5, tau[XX], 1e-4 * scale);
            assert_true(energy[1] >= 0);
            if (J < 0.99) assert_true(energy[0] > energy[1] && energy[1] > energy[2]);
        }
        strain_state rest = {0};
        double energy, tau[6];
        material_liquid.evaluate(parameters, 3, &rest, tau, &energy, NULL);
        assert_true(energy == 0 && tau[XX] == 0);
        free(parameters);
    }
}

/* ---- Moduli and wave speeds ---- */

static const strain_range at_rest = {1, 1, 1, 1};

/* tau_xx / e of a small stretch along x with the sides held. */
static double uniaxial_modulus(const sample *s, const void *parameters, int dim) {
    double tau[2][6];
    for (int side = 0; side < 2; side++) {
        double B[6] = {0}, G[3][3] = {{side ? 1e-6 : -1e-6}};
        deform(dim, B, G);
        stress_at(s, parameters, dim, B, tau[side]);
    }
    return (tau[1][XX] - tau[0][XX]) / 2e-6;
}

/* Plane strain and 3D have the same uniaxial modulus, M = lambda + 2 mu = E (1 - nu) / ((1 + nu)
 * (1 - 2 nu)), and M = kappa_d + 2 mu (d - 1) / d. */
static void test_moduli(void **state) {
    (void)state;
    const sample alike[] = {rubber,
                            corotated,
                            packed_snow,
                            {&material_drucker_prager, {SOLID}},
                            {&material_nacc, {SOLID}},
                            {&material_von_mises, {SOLID, {"yield_stress", 1e3}}}};
    const double M = YOUNG * (1 - POISSON) / ((1 + POISSON) * (1 - 2 * POISSON));
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(alike); k++) {
            const material_model *model = alike[k].model;
            void *parameters = parameters_of(&alike[k], dim);
            assert_near(uniaxial_modulus(&alike[k], parameters, dim), M, 1e-5 * M);
            double speed = model->wave_speed(parameters, dim, &at_rest);
            assert_near(speed, sqrt(M / DENSITY), 1e-9 * speed);
            double B[6] = {0}, tau[6], shear[3][3] = {{0, 1e-6, 0}}; /* tau_xy = mu g */
            deform(dim, B, shear);
            stress_at(&alike[k], parameters, dim, B, tau);
            assert_near(tau[XY] / 1e-6, mu(), 1e-5 * mu());
            free(parameters);
        }
    for (int dim = 2; dim <= 3; dim++) {
        material_constants constants = constants_of(&rubber, dim);
        double kappa = lambda() + 2 * mu() / dim;
        assert_near((double)constants.neo_hookean.bulk, kappa, 1e-6 * kappa);
        assert_near((double)constants.neo_hookean.shear, mu(), 1e-6 * mu());
        assert_near((double)constants.neo_hookean.lambda, lambda(), 1e-6 * lambda());
        assert_near(kappa + 2 * mu() * (dim - 1) / dim, M, 1e-9 * M);
    }
    /* the bulk modulus of 3D in 2D is too soft by mu / 3, and the checks above would say so */
    void *wrong = parameters_of(&rubber, 3);
    assert_true(fabs(uniaxial_modulus(&rubber, wrong, 2) - M) > 0.05 * M);
    double speed = material_neo_hookean.wave_speed(wrong, 2, &at_rest);
    assert_true(fabs(speed - sqrt(M / DENSITY)) > 0.02 * speed);
    free(wrong);
}

static void random_unit_vector(uint64_t id, uint64_t which, int dim, double v[3]) {
    double square = 0;
    for (int a = 0; a < dim; a++) {
        v[a] = 2 * random_unit(41, id, 3 * which + (uint64_t)a) - 1;
        square += v[a] * v[a];
    }
    for (int a = 0; a < dim; a++) v[a] /= sqrt(square);
}

/* rho0 c^2 of a plane wave along n that moves along a: the second derivative of the energy along
 * F + e (a n^T) F. */
static double wave_stiffness(const sample *s, const void *parameters, int dim, const double B[6],
                             const double a[3], const double n[3], double hardening) {
    double energy[3], h = 1e-4;
    for (int k = -1; k <= 1; k++) {
        double G[3][3] = {{0}};
        strain_state moved = {.hardening = hardening};
        for (int r = 0; r < dim; r++)
            for (int c = 0; c < dim; c++) G[r][c] = k * h * a[r] * n[c];
        memcpy(moved.strain, B, sizeof moved.strain);
        deform(dim, moved.strain, G);
        s->model->evaluate(parameters, dim, &moved, NULL, &energy[k + 1], NULL);
    }
    return (energy[2] - 2 * energy[1] + energy[0]) / (h * h);
}

/* No wave in any strain within the range is faster than the wave speed; at rest the fastest has it.
 */
static void test_wave_speed_is_a_bound(void **state) {
    (void)state;
    static const double sizes[] = {0.5, 0.2, 0.03};
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(solids); k++) {
            const sample *s = &solids[k];
            void *parameters = parameters_of(s, dim);
            double density = *(double *)((char *)parameters + s->model->type.density_offset);
            double closest = 0, beyond_rest = 0;
            double rest = density * pow(s->model->wave_speed(parameters, dim, &at_rest), 2);
            for (uint64_t id = 0; id < 4000; id++) {
                double B[6] = {0}, G[3][3], a[3] = {0}, n[3] = {0}, J;
                random_gradient(id, dim, sizes[id % 3], G);
                if (determinant(dim, G) < 0.1) continue;
                deform(dim, B, G);
                random_unit_vector(id, 0, dim, a);
                random_unit_vector(id, 1, dim, n);
                if (id % 2) memcpy(a, n, sizeof a);
                J = determinant(dim, G);
                double stretch = 1;
                for (int c = 0; c < dim; c++) stretch += B[c] / dim;
                double packed = s->model == &material_snow ? -0.05 : 0;
                double factor = s->model == &material_snow ? exp(0.05 * 10) : 1;
                strain_range range = {fmin(J, 1), fmax(J, 1), fmax(stretch, 1), factor};
                double bound = density * pow(s->model->wave_speed(parameters, dim, &range), 2);
                double found = wave_stiffness(s, parameters, dim, B, a, n, packed);
                assert_true(found <= bound * (1 + 1e-6));
                closest = fmax(closest, found / bound);
                beyond_rest = fmax(beyond_rest, found / rest);
            }
            assert_true(closest > 0.7);     /* and not by much */
            assert_true(beyond_rest > 1.2); /* the speed at rest would not do */
            free(parameters);
        }
}

/* Along a uniaxial stretch the spatial wave speed is known: c^2 = J^2 P'(J) / rho0, P = tau_xx / J.
 */
static void test_wave_speed_along_a_stretch(void **state) {
    (void)state;
    const sample *elastics[] = {&rubber, &corotated};
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(elastics); k++) {
            void *parameters = parameters_of(elastics[k], dim);
            for (double J = 0.6; J < 1.5; J += 0.1) {
                double P[2], h = 1e-6;
                for (int side = 0; side < 2; side++) {
                    double j = J + (side ? h : -h), B[6] = {j * j - 1}, tau[6];
                    stress_at(elastics[k], parameters, dim, B, tau);
                    P[side] = tau[XX] / j;
                }
                double expected = sqrt(J * J * (P[1] - P[0]) / (2 * h) / DENSITY);
                const strain_range range = {J, J, 1 + (J * J - 1) / dim, 1};
                double speed = elastics[k]->model->wave_speed(parameters, dim, &range);
                assert_true(speed >= expected * (1 - 1e-6) && speed < 1.6 * expected);
            }
            free(parameters);
        }
}

static void test_liquid_modulus_and_wave_speed(void **state) {
    (void)state;
    sample s = water(GAMMA, 0);
    void *parameters = parameters_of(&s, 3);
    double tau[2][6];
    for (int side = 0; side < 2; side++) {
        strain_state at = {.dilation = side ? 0 : -1e-7};
        material_liquid.evaluate(parameters, 2, &at, tau[side], NULL, NULL);
    }
    assert_near((tau[1][YY] - tau[0][YY]) / 1e-7, BULK, 1e-5 * BULK);
    const strain_range pressed = {0.8, 1, 1, 1};
    double speed = material_liquid.wave_speed(parameters, 3, &at_rest);
    assert_near(speed, sqrt(BULK / DENSITY), 1e-9 * speed);
    /* c^2 = J^2 P'(J) / rho0 with P = -p */
    double P[2];
    for (int side = 0; side < 2; side++) {
        strain_state at = {.dilation = -0.2 + (side ? 1e-6 : -1e-6)};
        double stress[6];
        material_liquid.evaluate(parameters, 3, &at, stress, NULL, NULL);
        P[side] = stress[XX] / (1 + at.dilation);
    }
    double expected = sqrt(0.64 * (P[1] - P[0]) / 2e-6 / DENSITY);
    speed = material_liquid.wave_speed(parameters, 3, &pressed);
    assert_near(speed, expected, 1e-6 * expected);
    free(parameters);
}

static void test_viscous_step(void **state) {
    (void)state;
    sample thin = water(GAMMA, 0), thick = water(GAMMA, 50);
    void *parameters = parameters_of(&thin, 3);
    assert_true(material_liquid.viscous_step(parameters, 3, 0.1) == HUGE_VAL);
    free(parameters);
    parameters = parameters_of(&thick, 3);
    double dt = material_liquid.viscous_step(parameters, 3, 0.1);
    assert_near(dt, DENSITY * 0.01 / (12 * 50), 1e-12);
    free(parameters);
    for (int k = 0; k < COUNT_OF(solids); k++) {
        parameters = parameters_of(&solids[k], 3);
        assert_true(solids[k].model->viscous_step(parameters, 3, 0.1) == HUGE_VAL);
        free(parameters);
    }
}

/* ---- Rotation, limits, NaN ---- */

/* A turn by R carries the stress along, tau <- R tau R^T, and makes none: in every lane, one of
 * which is at rest. */
static void turn_and_compare(bench *b, const material_constants *constants, int dim) {
    double angle = 0.7, c = cos(angle), s = sin(angle), tolerance = 64 * (double)REAL_EPSILON;
    const double R[3][3] = {{c, -s, 0}, {s, c, 0}, {0, 0, 1}};
    wide turn[9], C[9] = {{0}}, before[6], after[6];
    strain_report report;
    for (int k = 0; k < 9; k++) turn[k] = wide_splat((real)(R[k / 3][k % 3] - (k % 4 == 0)));
    wide_stress(constants, &b->p, 0, C, before, dim);
    wide_update(constants, &b->p, 0, turn, 255, &report, dim);
    wide_stress(constants, &b->p, 0, C, after, dim);
    for (int l = 0; l < WIDE; l++)
        for (int r = 0; r < dim; r++)
            for (int q = r; q < dim; q++) {
                double expected = 0;
                for (int i = 0; i < dim; i++)
                    for (int j = 0; j < dim; j++)
                        expected += R[r][i] * (double)before[symmetric_place[i][j]][l] * R[q][j];
                assert_near((double)after[symmetric_place[r][q]][l], expected, tolerance * YOUNG);
                if (l == 0)
                    assert_near((double)after[symmetric_place[r][q]][l], 0, tolerance * YOUNG);
            }
}

static void test_rotation_turns_the_stress(void **state) {
    (void)state;
    bench b = bench_open();
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(solids); k++) {
            if (solids[k].settings[0].value != DENSITY) continue; /* the tolerance is for YOUNG */
            void *parameters = parameters_of(&solids[k], dim);
            material_constants constants = constants_of(&solids[k], dim);
            for (int l = 0; l < WIDE; l++) {
                strain_state at = {0};
                double G[3][3];
                random_gradient((uint64_t)l, dim, l == 0 ? 0 : 0.1, G);
                deform(dim, at.strain, G);
                /* inside the yield surface, or a turn is a chance to flow */
                for (int again = 0; again < 200 && solids[k].model->project; again++)
                    solids[k].model->project(parameters, dim, &at);
                put_state(&b, l, &at);
            }
            turn_and_compare(&b, &constants, dim);
            free(parameters);
        }
    bench_close(&b);
}

/* Even expansion gives even stress, without shear. */
static void test_expansion_is_isotropic(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        double B[6] = {0}, tau[6], J = pow(1.1, dim), kappa = lambda() + 2 * mu() / dim;
        for (int a = 0; a < dim; a++) B[a] = 1.1 * 1.1 - 1;
        void *parameters = parameters_of(&rubber, dim);
        stress_at(&rubber, parameters, dim, B, tau);
        for (int a = 0; a < dim; a++) assert_near(tau[a], kappa / 2 * (J * J - 1), 1e-9 * kappa);
        for (int k = YZ; k <= XY; k++) assert_true(tau[k] == 0);
        stress_at(&corotated, parameters, dim, B, tau);
        double expected = 2 * mu() * 0.1 * 1.1 + lambda() * J * (J - 1);
        for (int a = 0; a < dim; a++) assert_near(tau[a], expected, 1e-9 * kappa);
        for (int k = YZ; k <= XY; k++) assert_near(tau[k], 0, 1e-9 * kappa);
        free(parameters);
    }
}

static void test_liquid_never_stretches(void **state) {
    (void)state;
    bench b = bench_open();
    sample s = water(GAMMA, 0);
    material_constants constants = constants_of(&s, 3);
    strain_report report;
    for (uint64_t step = 0; step < 2000; step++) {
        wide G[9] = {{0}};
        for (int l = 0; l < WIDE; l++)
            G[0][l] = (real)(0.2 * random_unit(31, step, (uint64_t)l) - 0.09);
        wide_update(&constants, &b.p, 0, G, 255, &report, 3);
        for (int l = 0; l < WIDE; l++)
            assert_true(b.p.dilation[l] <= 0 && b.p.dilation[l] > -1 && report.J_less_one[l] <= 0);
    }
    bench_close(&b);
}

/* A liquid that was found sparse, dilation > 0, holds neither pressure nor energy, does not grow
 * further, and is pushed together again as far as it was apart. */
static void test_sparse_liquid(void **state) {
    (void)state;
    bench b = bench_open();
    sample s = water(GAMMA, 0);
    void *parameters = parameters_of(&s, 3);
    material_constants constants = constants_of(&s, 3);
    strain_state at = {.dilation = 0.5};
    double tau[6], energy, J;
    material_liquid.evaluate(parameters, 3, &at, tau, &energy, &J);
    assert_true(energy == 0 && J == 1);
    for (int c = 0; c < 6; c++) assert_true(tau[c] == 0);
    strain_report report;
    wide G[9] = {{0}}, wide_tau[6], C[9] = {{0}};
    for (int l = 0; l < WIDE; l++)
        b.p.dilation[l] = (real)0.5, G[0][l] = (real)(l < 4 ? 0.2 : -0.2);
    wide_update(&constants, &b.p, 0, G, 255, &report, 3);
    for (int l = 0; l < WIDE; l++)
        assert_near((double)b.p.dilation[l], l < 4 ? 0.5 : 1.5 * exp(-0.2) - 1, 1e-6);
    wide_stress(&constants, &b.p, 0, C, wide_tau, 3);
    for (int l = 0; l < WIDE; l++)
        assert_true(wide_tau[XX][l] == 0 && report.parted[l] && report.J_less_one[l] == 0);
    free(parameters);
    bench_close(&b);
}

/* What is not a number must reach the solver's check and not be made into a liquid at rest, or into
 * sand that has come apart. */
static void test_nan_is_kept(void **state) {
    (void)state;
    bench b = bench_open();
    sample liquid_sample = water(GAMMA, 0);
    for (int dim = 2; dim <= 3; dim++)
        for (int k = -1; k < COUNT_OF(solids); k++) {
            material_constants constants = constants_of(k < 0 ? &liquid_sample : &solids[k], dim);
            strain_report report;
            wide G[9] = {{0}};
            memset(b.p.strain, 0, 6 * (size_t)b.p.capacity * sizeof(real));
            for (int l = 0; l < WIDE; l++) b.p.dilation[l] = b.p.hardening[l] = 0;
            b.p.dilation[3] = PLANE(&b.p, strain, XY)[3] = (real)NAN;
            G[4][5] = (real)NAN;
            wide_update(&constants, &b.p, 0, G, 255, &report, dim);
            for (int l = 0; l < WIDE; l++) {
                bool lost = report.J_less_one[l] != report.J_less_one[l];
                assert_true(lost == (l == 3 || l == 5));
                if (k < 0) assert_true((b.p.dilation[l] != b.p.dilation[l]) == lost);
            }
        }
    bench_close(&b);
}

/* ---- Coming apart ---- */

/* J_c is what the scene sets, else the model's own; the trial J decides. */
static void test_critical(void **state) {
    (void)state;
    bench b = bench_open();
    sample samples[COUNT_OF(solids) + 1] = {water(GAMMA, 0)};
    memcpy(samples + 1, solids, sizeof solids);
    for (int k = 0; k < COUNT_OF(samples); k++)
        for (int set = 0; set < 2; set++) {
            sample *s = &samples[k];
            if (set) {
                int at = 0;
                while (s->settings[at].name) at++;
                s->settings[at] = (setting){"critical_J", 1.05};
            }
            material_constants constants = constants_of(s, 2);
            bool liquid_like = s->model == &material_liquid;
            bool plastic = s->model == &material_drucker_prager || s->model == &material_nacc;
            if (set)
                assert_near((double)constants.critical, 0.05, 1e-6);
            else if (liquid_like || plastic)
                assert_in_range((int64_t)(1e6 * (double)constants.critical), 0, 200000000);
            else
                assert_true(constants.critical == (real)1e6);
            for (int side = 0; side < 2; side++) {
                strain_state rest = {0};
                strain_report report;
                wide G[9] = {{0}};
                double J = 1 + (double)constants.critical + (side ? 1e-3 : -1e-3);
                G[0] = wide_splat((real)(liquid_like ? log(J) : J - 1));
                for (int l = 0; l < WIDE; l++) put_state(&b, l, &rest);
                wide_update(&constants, &b.p, 0, G, 255, &report, 2);
                if (J > 1e3) continue; /* far out of reach */
                for (int l = 0; l < WIDE; l++) assert_int_equal(report.parted[l] != 0, side);
            }
        }
    bench_close(&b);
}

/* A liquid that is neither pressed nor pulled comes apart: J = 1 is its critical one. */
static void test_liquid_at_rest_is_parted(void **state) {
    (void)state;
    bench b = bench_open();
    sample s = water(GAMMA, 0);
    for (int dim = 2; dim <= 3; dim++) {
        material_constants constants = constants_of(&s, dim);
        strain_state rest = {0};
        strain_report report;
        wide G[9] = {{0}};
        for (int l = 0; l < WIDE; l++) put_state(&b, l, &rest);
        wide_update(&constants, &b.p, 0, G, 255, &report, dim);
        for (int l = 0; l < WIDE; l++) assert_true(report.parted[l] != 0);
    }
    bench_close(&b);
}

/* ---- What a scene may say ---- */

static void test_parameters(void **state) {
    (void)state;
    double memory[64];
    for (int k = 0; k < MATERIAL_KINDS; k++) {
        const material_model *model = material_models[k];
        if (model == &material_liquid || model == &material_gas) continue;
        assert_true(model->type.table.size <= sizeof memory);
        field_report report = {0};
        sample both = {model, {{"young_modulus", 1e5}, {"bulk_modulus", 1e5}}},
               neither = {.model = model};
        assert_false(try_parameters(&both, 3, memory, &report));
        assert_string_equal(report.at, "young_modulus");
        assert_non_null(strstr(report.message, "bulk_modulus"));
        report = (field_report){0};
        assert_false(try_parameters(&neither, 3, memory, &report));
        assert_non_null(strstr(report.message, "missing"));
        sample incompressible = {model, {{"young_modulus", 1e5}, {"poisson", 0.5}}};
        report = (field_report){0};
        assert_false(try_parameters(&incompressible, 3, memory, &report));
        assert_string_equal(report.at, "poisson");
        assert_non_null(strstr(report.message, "0.49"));
        /* what the table itself refuses */
        for (int f = 0; f < model->type.table.count; f++) {
            const field *entry = &model->type.table.fields[f];
            if (strstr(entry->name, "modulus")) assert_true(entry->min >= 0);
        }
        /* kappa in place of E: in 3D it comes out again */
        sample bulk = {model, {{"bulk_modulus", 7e4}, {"poisson", 0.2}, {"yield_stress", 1}}};
        material_constants constants = constants_of(&bulk, 3);
        const elastic_constants *e = &constants.neo_hookean; /* the first of every solid's */
        assert_near((double)e->bulk, 7e4, 0.1);
    }
    sample slippery = {&material_drucker_prager,
                       {{"bulk_modulus", 7e4}, {"friction_angle", 0}, {"cohesion", 10}}};
    field_report report = {0};
    assert_false(try_parameters(&slippery, 3, memory, &report));
    assert_string_equal(report.at, "cohesion");
}

static void test_registry(void **state) {
    (void)state;
    for (int k = 0; k < MATERIAL_KINDS; k++) {
        const material_model *model = material_models[k];
        assert_int_equal(material_kind_of(&model->type), k);
        assert_non_null(model->evaluate);
        assert_true(!model->project == !model->yield);
        const field *last = &model->type.table.fields[model->type.table.count - 1];
        assert_true(last->offset < model->type.table.size);
    }
    assert_ptr_equal(material_models[MATERIAL_LIQUID], &material_liquid);
    material_type stranger = {.name = "liquid"};
    assert_int_equal(material_kind_of(&stranger), MATERIAL_KINDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stress_wide),
        cmocka_unit_test(test_update_wide),
        cmocka_unit_test(test_liquid_stress_wide),
        cmocka_unit_test(test_liquid_update_wide),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_energy_through_the_update),
        cmocka_unit_test(test_liquid_energy),
        cmocka_unit_test(test_moduli),
        cmocka_unit_test(test_wave_speed_is_a_bound),
        cmocka_unit_test(test_wave_speed_along_a_stretch),
        cmocka_unit_test(test_liquid_modulus_and_wave_speed),
        cmocka_unit_test(test_viscous_step),
        cmocka_unit_test(test_rotation_turns_the_stress),
        cmocka_unit_test(test_expansion_is_isotropic),
        cmocka_unit_test(test_liquid_never_stretches),
        cmocka_unit_test(test_sparse_liquid),
        cmocka_unit_test(test_nan_is_kept),
        cmocka_unit_test(test_critical),
        cmocka_unit_test(test_liquid_at_rest_is_parted),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
