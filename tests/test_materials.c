/*
 * Materials: the wide code against the plain reference, stress as the derivative of energy, and the
 * moduli and wave speeds of textbooks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "solver/materials/liquid_wide.h"
#include "solver/materials/material.h"
#include "solver/materials/neo_hookean_wide.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static const double YOUNG = 1e5, POISSON = 0.3, DENSITY = 1200, BULK = 2e5, GAMMA = 7;
static const int place[3][3] = {{XX, XY, XZ}, {XY, YY, YZ}, {XZ, YZ, ZZ}};

/* ---- Parameters as a scene would set them ---- */

typedef struct setting {
    const char *name;
    double value;
} setting;

static bool try_parameters(const material_model *m, int dim, const setting *settings, int count,
                           void *parameters, field_report *report) {
    const field_table *table = &m->type.table;
    for (int f = 0; f < table->count; f++) {
        const field *entry = &table->fields[f];
        double *value = (double *)((char *)parameters + entry->offset);
        *value = entry->fallback;
        for (int s = 0; s < count; s++)
            if (strcmp(settings[s].name, entry->name) == 0) *value = settings[s].value;
    }
    return !m->type.prepare || m->type.prepare(parameters, dim, report);
}

static void *parameters_of(const material_model *m, int dim, const setting *settings, int count) {
    void *parameters = calloc(1, m->type.table.size);
    field_report report = {0};
    assert_true(try_parameters(m, dim, settings, count, parameters, &report));
    return parameters;
}

static void *elastic(int dim) {
    const setting s[] = {{"density", DENSITY}, {"young_modulus", YOUNG}, {"poisson", POISSON}};
    return parameters_of(&material_neo_hookean, dim, s, COUNT_OF(s));
}

static void *water(double gamma, double viscosity) {
    const setting s[] = {
        {"density", DENSITY}, {"bulk_modulus", BULK}, {"gamma", gamma}, {"viscosity", viscosity}};
    return parameters_of(&material_liquid, 3, s, COUNT_OF(s));
}

static double lambda(void) { return YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON)); }
static double mu(void) { return YOUNG / (2 * (1 + POISSON)); }

/* ---- Strain states ---- */

/* B <- (I + G)(I + B)(I + G)^T - I, in double and without more ado. */
static void deform(int dim, double B[6], const double G[3][3]) {
    double b[3][3], T[3][3], next[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) b[r][c] = B[place[r][c]] + (r == c);
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            T[r][c] = b[r][c];
            for (int k = 0; k < dim; k++) T[r][c] += G[r][k] * b[k][c];
        }
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            next[r][c] = T[r][c];
            for (int k = 0; k < dim; k++) next[r][c] += T[r][k] * G[c][k];
        }
    for (int r = 0; r < dim; r++)
        for (int c = r; c < dim; c++) B[place[r][c]] = next[r][c] - (r == c);
}

static void random_gradient(uint64_t id, int dim, double size, double G[3][3]) {
    memset(G, 0, 9 * sizeof(double));
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++)
            G[r][c] = size * (2 * random_unit(21, id, (uint64_t)(3 * r + c)) - 1);
}

/* Kirchhoff stress and energy of the solid at B. */
static double elastic_stress(const void *parameters, int dim, const double B[6], double tau[6]) {
    strain_state s = {0};
    double energy;
    memcpy(s.strain, B, sizeof s.strain);
    material_neo_hookean.evaluate(parameters, dim, &s, tau, &energy, NULL);
    return energy;
}

typedef struct bench {
    spate_context *ctx;
    particles p;
} bench;

static bench bench_open(void) {
    bench b;
    spate_config config = spate_default_config();
    config.threads = 1;
    assert_int_equal(spate_open(&config, &b.ctx), SPATE_OK);
    b.p = (particles){.ctx = b.ctx,
                      .fields = PARTICLE_BASICS | PARTICLE_BIT(dilation) | PARTICLE_BIT(strain)};
    assert_int_equal(particles_reserve(&b.p, 64), SPATE_OK);
    b.p.count = 64;
    return b;
}

static void bench_close(bench *b) {
    particles_free(&b->p);
    spate_close(b->ctx);
}

static wide_int lanes_of(unsigned bits) {
    wide_int mask;
    for (int l = 0; l < WIDE; l++) mask[l] = bits >> l & 1 ? -1 : 0;
    return mask;
}

/* The kernels call these with a literal dim. */
static void wide_elastic_stress(const neo_hookean_constants *n, const particles *p, int64_t i,
                                wide tau[6], int dim) {
    if (dim == 2)
        neo_hookean_stress(n, p, i, tau, 2);
    else
        neo_hookean_stress(n, p, i, tau, 3);
}
static void wide_elastic_update(particles *p, int64_t i, const wide G[9], unsigned bits, wide *J,
                                wide *stretch, int dim) {
    if (dim == 2)
        neo_hookean_update(p, i, G, lanes_of(bits), J, stretch, 2);
    else
        neo_hookean_update(p, i, G, lanes_of(bits), J, stretch, 3);
}
static void wide_liquid_stress(const liquid_constants *l, const particles *p, int64_t i,
                               const wide C[9], wide tau[6], int dim) {
    if (dim == 2)
        liquid_stress(l, p, i, C, tau, 2);
    else
        liquid_stress(l, p, i, C, tau, 3);
}
static void wide_liquid_update(particles *p, int64_t i, const wide G[9], unsigned bits, wide *J,
                               wide *stretch, int dim) {
    if (dim == 2)
        liquid_update(p, i, G, lanes_of(bits), J, stretch, 2);
    else
        liquid_update(p, i, G, lanes_of(bits), J, stretch, 3);
}

/* ---- Wide against plain ---- */

enum { STATES = 4000 };

/* Errors relative to the modulus times the strain: small strains keep their digits too. */
static void test_elastic_stress_wide(void **state) {
    (void)state;
    bench b = bench_open();
    static const double sizes[] = {0.4, 0.05, 1e-3, 1e-6};
    for (int dim = 2; dim <= 3; dim++) {
        void *parameters = elastic(dim);
        material_constants constants;
        material_neo_hookean.constants(parameters, dim, &constants);
        assert_int_equal(constants.kind, MATERIAL_NEO_HOOKEAN);
        double worst = 0;
        for (uint64_t id = 0; id < STATES; id += WIDE) {
            double size = sizes[id / WIDE % COUNT_OF(sizes)], B[WIDE][6] = {{0}}, G[3][3];
            for (int l = 0; l < WIDE; l++) {
                random_gradient(id + (uint64_t)l, dim, size, G);
                deform(dim, B[l], G);
                for (int c = 0; c < 6; c++) {
                    PLANE(&b.p, strain, c)[8 + l] = (real)B[l][c];
                    B[l][c] = (double)PLANE(&b.p, strain, c)[8 + l];
                }
            }
            wide tau[6];
            wide_elastic_stress(&constants.neo_hookean, &b.p, 8, tau, dim);
            for (int l = 0; l < WIDE; l++) {
                double expected[6], strain = 0;
                elastic_stress(parameters, dim, B[l], expected);
                for (int c = 0; c < 6; c++) strain = fmax(strain, fabs(B[l][c]));
                for (int c = 0; c < 6; c++) {
                    double scale = (lambda() + 2 * mu()) * fmin(1, strain);
                    worst = fmax(worst, fabs((double)tau[c][l] - expected[c]) / scale);
                }
            }
        }
        free(parameters);
        assert_true(worst < 8 * (double)REAL_EPSILON); /* 2.1 were seen */
        assert_true(worst > 0);                        /* something was compared */
    }
    bench_close(&b);
}

static void test_elastic_update_wide(void **state) {
    (void)state;
    bench b = bench_open();
    for (int dim = 2; dim <= 3; dim++) {
        void *parameters = elastic(dim);
        for (uint64_t id = 0; id < STATES; id += WIDE) {
            double B[WIDE][6] = {{0}}, before[WIDE][6], G[WIDE][3][3];
            unsigned bits = (unsigned)random_bits(4, id, 0) & 255;
            wide turn[9], J, stretch;
            for (int l = 0; l < WIDE; l++) {
                random_gradient(id + (uint64_t)l, dim, 0.3, G[l]);
                deform(dim, B[l], G[l]);
                random_gradient(id + (uint64_t)l + STATES, dim, 0.1, G[l]);
                for (int c = 0; c < 6; c++) {
                    PLANE(&b.p, strain, c)[16 + l] = (real)B[l][c];
                    before[l][c] = B[l][c] = (double)PLANE(&b.p, strain, c)[16 + l];
                }
                for (int k = 0; k < 9; k++) {
                    turn[k][l] = (real)G[l][k / 3][k % 3];
                    G[l][k / 3][k % 3] = (double)turn[k][l];
                }
                deform(dim, B[l], G[l]);
            }
            wide_elastic_update(&b.p, 16, turn, bits, &J, &stretch, dim);
            for (int l = 0; l < WIDE; l++) {
                strain_state s = {0};
                double expected_J, trace = 0;
                memcpy(s.strain, B[l], sizeof s.strain);
                for (int a = 0; a < dim; a++) trace += 1 + B[l][a];
                const double *expected = bits >> l & 1 ? B[l] : before[l];
                for (int c = 0; c < 6; c++)
                    assert_near((double)PLANE(&b.p, strain, c)[16 + l], expected[c],
                                16 * (double)REAL_EPSILON);
                assert_near((double)stretch[l], trace / dim, 16 * (double)REAL_EPSILON);
                material_neo_hookean.evaluate(parameters, dim, &s, NULL, NULL, &expected_J);
                assert_near((double)J[l], expected_J - 1, 32 * (double)REAL_EPSILON);
            }
        }
        free(parameters);
    }
    bench_close(&b);
}

static void test_liquid_stress_wide(void **state) {
    (void)state;
    bench b = bench_open();
    static const double gammas[] = {1, 2, 7}, sizes[] = {0.4, 0.01, 1e-5};
    for (int dim = 2; dim <= 3; dim++)
        for (int g = 0; g < COUNT_OF(gammas); g++)
            for (int viscous = 0; viscous < 2; viscous++) {
                double viscosity = viscous ? 3.5 : 0;
                void *parameters = water(gammas[g], viscosity);
                material_constants constants;
                material_liquid.constants(parameters, dim, &constants);
                assert_int_equal(constants.kind, MATERIAL_LIQUID);
                for (uint64_t id = 0; id < STATES / 4; id += WIDE) {
                    wide C[9], tau[6];
                    double size = sizes[id / WIDE % COUNT_OF(sizes)];
                    for (int l = 0; l < WIDE; l++) {
                        b.p.dilation[24 + l] = (real)(-size * random_unit(6, id, (uint64_t)l));
                        for (int k = 0; k < 9; k++)
                            C[k][l] =
                                (real)(200 * random_unit(7, id + (uint64_t)l, (uint64_t)k) - 100);
                    }
                    wide_liquid_stress(&constants.liquid, &b.p, 24, C, tau, dim);
                    for (int l = 0; l < WIDE; l++) {
                        strain_state s = {.dilation = (double)b.p.dilation[24 + l]};
                        double expected[6], J, scale;
                        material_liquid.evaluate(parameters, dim, &s, expected, NULL, &J);
                        scale = BULK * pow(J, -gammas[g]) * fabs(s.dilation) + 400 * viscosity;
                        for (int r = 0; r < dim; r++)
                            for (int c = r; c < dim; c++)
                                expected[place[r][c]] +=
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
    int stopped = 0;
    for (int dim = 2; dim <= 3; dim++)
        for (uint64_t id = 0; id < STATES; id += WIDE) {
            wide G[9], J, stretch;
            unsigned bits = (unsigned)random_bits(8, id, 0) & 255;
            double before[WIDE];
            for (int l = 0; l < WIDE; l++) {
                b.p.dilation[l] = (real)(-0.3 * random_unit(9, id, (uint64_t)l));
                before[l] = (double)b.p.dilation[l];
                for (int k = 0; k < 9; k++)
                    G[k][l] = (real)(0.4 * random_unit(10, id + (uint64_t)l, (uint64_t)k) - 0.2);
            }
            wide_liquid_update(&b.p, 0, G, bits, &J, &stretch, dim);
            for (int l = 0; l < WIDE; l++) {
                double trace = (double)G[0][l] + (double)G[4][l] + (dim == 3 ? (double)G[8][l] : 0);
                double grown = fmin(0, (1 + before[l]) * exp(trace) - 1);
                stopped += grown == 0;
                assert_near((double)J[l], grown, 8 * (double)REAL_EPSILON);
                assert_true((double)b.p.dilation[l] <= 0);
                assert_near((double)b.p.dilation[l], bits >> l & 1 ? grown : before[l],
                            8 * (double)REAL_EPSILON);
            }
        }
    assert_true(stopped > 100);
    bench_close(&b);
}

/* ---- Stress is the derivative of energy ---- */

/* dpsi = tau : G for a change of shape G, in all directions: F <- (I + e G) F. */
static void test_elastic_energy(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        void *parameters = elastic(dim);
        for (uint64_t id = 0; id < 60; id++) {
            double B[6] = {0}, G[3][3], tau[6];
            random_gradient(id, dim, 0.35, G);
            deform(dim, B, G);
            elastic_stress(parameters, dim, B, tau);
            for (int r = 0; r < dim; r++)
                for (int c = 0; c < dim; c++) {
                    double energy[2], ignored[6];
                    for (int side = 0; side < 2; side++) {
                        double moved[6], unit[3][3] = {{0}};
                        unit[r][c] = side ? 1e-5 : -1e-5;
                        memcpy(moved, B, sizeof moved);
                        deform(dim, moved, unit);
                        energy[side] = elastic_stress(parameters, dim, moved, ignored);
                    }
                    assert_near((energy[1] - energy[0]) / 2e-5, tau[place[r][c]], 1e-6 * YOUNG);
                }
        }
        free(parameters);
    }
}

/* The same through the wide update, as a step does it. */
static void test_elastic_energy_through_the_update(void **state) {
    (void)state;
    const double e = sizeof(real) == 4 ? 4e-3 : 1e-4;
    bench b = bench_open();
    for (int dim = 2; dim <= 3; dim++) {
        void *parameters = elastic(dim);
        for (int direction = 0; direction < dim * dim; direction++) {
            double energy[2], tau[6], ignored[6], B[6] = {0}, G[3][3];
            random_gradient(7, dim, 0.2, G);
            deform(dim, B, G);
            elastic_stress(parameters, dim, B, tau);
            for (int side = 0; side < 2; side++) {
                wide turn[9] = {{0}}, J, stretch;
                int r = direction / dim, c = direction % dim;
                turn[3 * r + c] = wide_splat((real)(side ? e : -e));
                for (int k = 0; k < 6; k++) PLANE(&b.p, strain, k)[0] = (real)B[k];
                wide_elastic_update(&b.p, 0, turn, 255, &J, &stretch, dim);
                double moved[6];
                for (int k = 0; k < 6; k++) moved[k] = (double)PLANE(&b.p, strain, k)[0];
                energy[side] = elastic_stress(parameters, dim, moved, ignored);
            }
            double expected = tau[place[direction / dim][direction % dim]];
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
        void *parameters = water(gammas[g], 0);
        for (double J = 0.7; J < 1.01; J += 0.05) {
            double energy[3], tau[6];
            for (int k = -1; k <= 1; k++) {
                strain_state s = {.dilation = J - 1 + 1e-5 * k};
                material_liquid.evaluate(parameters, 3, &s, k ? NULL : tau, &energy[k + 1], NULL);
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

/* tau_xx / e of a small stretch along x with the sides held. */
static double uniaxial_modulus(const void *parameters, int dim) {
    double tau[2][6];
    for (int side = 0; side < 2; side++) {
        double B[6] = {0}, G[3][3] = {{side ? 1e-6 : -1e-6}};
        deform(dim, B, G);
        elastic_stress(parameters, dim, B, tau[side]);
    }
    return (tau[1][XX] - tau[0][XX]) / 2e-6;
}

/* Plane strain and 3D have the same uniaxial modulus, M = lambda + 2 mu = E (1 - nu) / ((1 + nu)
 * (1 - 2 nu)), and M = kappa_d + 2 mu (d - 1) / d. */
static void test_elastic_moduli(void **state) {
    (void)state;
    const strain_range rest = {1, 1, 1};
    const double M = YOUNG * (1 - POISSON) / ((1 + POISSON) * (1 - 2 * POISSON));
    for (int dim = 2; dim <= 3; dim++) {
        void *parameters = elastic(dim);
        material_constants constants;
        material_neo_hookean.constants(parameters, dim, &constants);
        double kappa = lambda() + 2 * mu() / dim;
        assert_near((double)constants.neo_hookean.bulk, kappa, 1e-6 * kappa);
        assert_near((double)constants.neo_hookean.shear, mu(), 1e-6 * mu());
        assert_near(kappa + 2 * mu() * (dim - 1) / dim, M, 1e-9 * M);
        assert_near(uniaxial_modulus(parameters, dim), M, 1e-5 * M);
        double speed = material_neo_hookean.wave_speed(parameters, dim, &rest);
        assert_near(speed, sqrt(M / DENSITY), 1e-9 * speed);

        double B[6] = {0}, tau[6], shear[3][3] = {{0, 1e-6, 0}}; /* simple shear: tau_xy = mu g */
        deform(dim, B, shear);
        elastic_stress(parameters, dim, B, tau);
        assert_near(tau[XY] / 1e-6, mu(), 1e-5 * mu());
        free(parameters);
    }
    /* the bulk modulus of 3D in 2D is too soft by mu / 3, and the checks above would say so */
    void *wrong = elastic(3);
    assert_true(fabs(uniaxial_modulus(wrong, 2) - M) > 0.05 * M);
    double speed = material_neo_hookean.wave_speed(wrong, 2, &rest);
    assert_true(fabs(speed - sqrt(M / DENSITY)) > 0.02 * speed);
    free(wrong);
}

/* c^2 = J^2 P'(J) / rho0 with P = tau_xx / J, by finite differences. */
static void test_elastic_wave_speed_under_strain(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        void *parameters = elastic(dim);
        for (double J = 0.6; J < 1.5; J += 0.1) {
            double P[2], h = 1e-6;
            for (int side = 0; side < 2; side++) {
                double j = J + (side ? h : -h), B[6] = {j * j - 1}, tau[6];
                elastic_stress(parameters, dim, B, tau);
                P[side] = tau[XX] / j;
            }
            double expected = sqrt(J * J * (P[1] - P[0]) / (2 * h) / DENSITY);
            const strain_range range = {J, J, 0};
            double speed = material_neo_hookean.wave_speed(parameters, dim, &range);
            assert_near(speed, expected, 1e-6 * expected);
            /* a wider range is never slower */
            const strain_range wider = {fmin(J, 1), fmax(J, 1), 1.2};
            assert_true(material_neo_hookean.wave_speed(parameters, dim, &wider) >=
                        speed * 0.999999);
        }
        free(parameters);
    }
}

static void test_liquid_modulus_and_wave_speed(void **state) {
    (void)state;
    void *parameters = water(GAMMA, 0);
    double tau[2][6];
    for (int side = 0; side < 2; side++) {
        strain_state s = {.dilation = side ? 1e-7 : -1e-7};
        material_liquid.evaluate(parameters, 2, &s, tau[side], NULL, NULL);
    }
    assert_near((tau[1][YY] - tau[0][YY]) / 2e-7, BULK, 1e-5 * BULK);
    const strain_range rest = {1, 1, 1}, pressed = {0.8, 1, 1};
    double speed = material_liquid.wave_speed(parameters, 3, &rest);
    assert_near(speed, sqrt(BULK / DENSITY), 1e-9 * speed);
    /* c^2 = J^2 P'(J) / rho0 with P = -p */
    double P[2];
    for (int side = 0; side < 2; side++) {
        strain_state s = {.dilation = -0.2 + (side ? 1e-6 : -1e-6)};
        double stress[6];
        material_liquid.evaluate(parameters, 3, &s, stress, NULL, NULL);
        P[side] = stress[XX] / (1 + s.dilation);
    }
    double expected = sqrt(0.64 * (P[1] - P[0]) / 2e-6 / DENSITY);
    speed = material_liquid.wave_speed(parameters, 3, &pressed);
    assert_near(speed, expected, 1e-6 * expected);
    free(parameters);
}

static void test_viscous_step(void **state) {
    (void)state;
    void *thin = water(GAMMA, 0), *thick = water(GAMMA, 50), *solid = elastic(3);
    assert_true(material_liquid.viscous_step(thin, 3, 0.1) == HUGE_VAL);
    assert_true(material_neo_hookean.viscous_step(solid, 3, 0.1) == HUGE_VAL);
    double dt = material_liquid.viscous_step(thick, 3, 0.1);
    assert_near(dt, DENSITY * 0.01 / (12 * 50), 1e-12);
    free(thin), free(thick), free(solid);
}

/* ---- Rotation, limits, NaN ---- */

/* A turn by R carries the stress along, tau <- R tau R^T, and makes none. */
static void test_rotation_turns_the_stress(void **state) {
    (void)state;
    bench b = bench_open();
    for (int dim = 2; dim <= 3; dim++) {
        void *parameters = elastic(dim);
        material_constants constants;
        material_neo_hookean.constants(parameters, dim, &constants);
        double angle = 0.7, c = cos(angle), s = sin(angle), tolerance = 64 * (double)REAL_EPSILON;
        const double R[3][3] = {{c, -s, 0}, {s, c, 0}, {0, 0, 1}};
        double B[WIDE][6] = {{0}}, G[3][3];
        wide turn[9], J, stretch, before[6], after[6];
        for (int l = 0; l < WIDE; l++) {
            random_gradient((uint64_t)l, dim, l == 0 ? 0 : 0.2, G);
            deform(dim, B[l], G);
            for (int k = 0; k < 6; k++) PLANE(&b.p, strain, k)[l] = (real)B[l][k];
        }
        for (int k = 0; k < 9; k++) turn[k] = wide_splat((real)(R[k / 3][k % 3] - (k % 4 == 0)));
        wide_elastic_stress(&constants.neo_hookean, &b.p, 0, before, dim);
        wide_elastic_update(&b.p, 0, turn, 255, &J, &stretch, dim);
        wide_elastic_stress(&constants.neo_hookean, &b.p, 0, after, dim);
        for (int l = 0; l < WIDE; l++)
            for (int r = 0; r < dim; r++)
                for (int q = r; q < dim; q++) {
                    double expected = 0;
                    for (int i = 0; i < dim; i++)
                        for (int j = 0; j < dim; j++)
                            expected += R[r][i] * (double)before[place[i][j]][l] * R[q][j];
                    assert_near((double)after[place[r][q]][l], expected, tolerance * YOUNG);
                    if (l == 0) assert_near((double)after[place[r][q]][l], 0, tolerance * YOUNG);
                }
        free(parameters);
    }
    bench_close(&b);
}

/* Even expansion gives even stress, without shear. */
static void test_expansion_is_isotropic(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        void *parameters = elastic(dim);
        double B[6] = {0}, tau[6], J = pow(1.1, dim), kappa = lambda() + 2 * mu() / dim;
        for (int a = 0; a < dim; a++) B[a] = 1.1 * 1.1 - 1;
        elastic_stress(parameters, dim, B, tau);
        for (int a = 0; a < dim; a++) assert_near(tau[a], kappa / 2 * (J * J - 1), 1e-9 * kappa);
        for (int k = YZ; k <= XY; k++) assert_true(tau[k] == 0);
        free(parameters);
    }
}

static void test_liquid_never_stretches(void **state) {
    (void)state;
    bench b = bench_open();
    memset(b.p.dilation, 0, WIDE * sizeof(real));
    wide J, stretch;
    for (uint64_t step = 0; step < 2000; step++) {
        wide G[9] = {{0}};
        for (int l = 0; l < WIDE; l++)
            G[0][l] = (real)(0.2 * random_unit(31, step, (uint64_t)l) - 0.09);
        wide_liquid_update(&b.p, 0, G, 255, &J, &stretch, 3);
        for (int l = 0; l < WIDE; l++)
            assert_true(b.p.dilation[l] <= 0 && b.p.dilation[l] > -1 && J[l] <= 0);
    }
    bench_close(&b);
}

/* What is not a number must reach the solver's check and not be made into a liquid at rest. */
static void test_nan_is_kept(void **state) {
    (void)state;
    bench b = bench_open();
    wide G[9] = {{0}}, J, stretch;
    memset(b.p.dilation, 0, WIDE * sizeof(real));
    b.p.dilation[3] = (real)NAN;
    G[4][5] = (real)NAN;
    wide_liquid_update(&b.p, 0, G, 255, &J, &stretch, 2);
    for (int l = 0; l < WIDE; l++) {
        assert_true((b.p.dilation[l] != b.p.dilation[l]) == (l == 3 || l == 5));
        assert_true((J[l] != J[l]) == (l == 3 || l == 5));
    }
    for (int dim = 2; dim <= 3; dim++) {
        memset(b.p.strain, 0, 6 * (size_t)b.p.capacity * sizeof(real));
        PLANE(&b.p, strain, XY)[3] = (real)NAN;
        wide_elastic_update(&b.p, 0, G, 255, &J, &stretch, dim);
        for (int l = 0; l < WIDE; l++) assert_true((J[l] != J[l]) == (l == 3 || l == 5));
    }
    bench_close(&b);
}

/* ---- What a scene may say ---- */

static void test_elastic_parameters(void **state) {
    (void)state;
    char memory[256];
    field_report report = {0};
    assert_true(material_neo_hookean.type.table.size <= sizeof memory);
    const setting both[] = {{"young_modulus", 1e5}, {"bulk_modulus", 1e5}};
    assert_false(try_parameters(&material_neo_hookean, 3, both, 2, memory, &report));
    assert_string_equal(report.at, "young_modulus");
    assert_non_null(strstr(report.message, "bulk_modulus"));
    report = (field_report){0};
    assert_false(try_parameters(&material_neo_hookean, 3, NULL, 0, memory, &report));
    assert_non_null(strstr(report.message, "missing"));

    /* kappa in place of E: in 3D it comes out again */
    const setting bulk[] = {{"bulk_modulus", 7e4}, {"poisson", 0.2}};
    void *parameters = parameters_of(&material_neo_hookean, 3, bulk, 2);
    material_constants constants;
    material_neo_hookean.constants(parameters, 3, &constants);
    assert_near((double)constants.neo_hookean.bulk, 7e4, 0.1);
    free(parameters);
}

static void test_registry(void **state) {
    (void)state;
    for (int k = 0; k < MATERIAL_KINDS; k++) {
        assert_int_equal(material_kind_of(&material_models[k]->type), k);
        assert_non_null(material_models[k]->evaluate);
    }
    assert_ptr_equal(material_models[MATERIAL_LIQUID], &material_liquid);
    material_type stranger = {.name = "liquid"};
    assert_int_equal(material_kind_of(&stranger), MATERIAL_KINDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elastic_stress_wide),
        cmocka_unit_test(test_elastic_update_wide),
        cmocka_unit_test(test_liquid_stress_wide),
        cmocka_unit_test(test_liquid_update_wide),
        cmocka_unit_test(test_elastic_energy),
        cmocka_unit_test(test_elastic_energy_through_the_update),
        cmocka_unit_test(test_liquid_energy),
        cmocka_unit_test(test_elastic_moduli),
        cmocka_unit_test(test_elastic_wave_speed_under_strain),
        cmocka_unit_test(test_liquid_modulus_and_wave_speed),
        cmocka_unit_test(test_viscous_step),
        cmocka_unit_test(test_rotation_turns_the_stress),
        cmocka_unit_test(test_expansion_is_isotropic),
        cmocka_unit_test(test_liquid_never_stretches),
        cmocka_unit_test(test_nan_is_kept),
        cmocka_unit_test(test_elastic_parameters),
        cmocka_unit_test(test_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
