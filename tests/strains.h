/* Materials as a scene would set them, strains at random, and particles to try both on. */
#ifndef SPATE_TESTS_STRAINS_H
#define SPATE_TESTS_STRAINS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "solver/materials/wide.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* ---- Parameters ---- */

typedef struct setting {
    const char *name;
    double value;
} setting;

/* A material of a scene: up to eight settings, closed by one without a name. */
typedef struct sample {
    const material_model *model;
    setting settings[8];
} sample;

static inline bool try_parameters(const sample *s, int dim, void *parameters,
                                  field_report *report) {
    const material_type *type = &s->model->type;
    for (int f = 0; f < type->table.count; f++) {
        const field *entry = &type->table.fields[f];
        double value = entry->fallback;
        for (const setting *given = s->settings; given->name; given++)
            if (strcmp(given->name, entry->name) == 0) value = given->value;
        char *to = (char *)parameters + entry->offset;
        if (entry->type == FIELD_FLAG)
            *(bool *)to = value != 0;
        else if (entry->type == FIELD_CHOICE)
            *(int *)to = (int)value;
        else
            *(double *)to = value;
    }
    return !type->prepare || type->prepare(parameters, dim, report);
}

static inline void *parameters_of(const sample *s, int dim) {
    void *parameters = calloc(1, s->model->type.table.size);
    field_report report = {0};
    assert_non_null(parameters);
    assert_true(try_parameters(s, dim, parameters, &report));
    return parameters;
}

static inline material_constants constants_of(const sample *s, int dim) {
    material_constants c;
    void *parameters = parameters_of(s, dim);
    s->model->constants(parameters, dim, &c);
    assert_ptr_equal(material_models[c.kind], s->model);
    free(parameters);
    return c;
}

/* ---- Strains ---- */

/* B <- (I + G)(I + B)(I + G)^T - I, in double and without more ado. */
static inline void deform(int dim, double B[6], double G[3][3]) {
    double b[3][3], T[3][3], next[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) b[r][c] = B[symmetric_place[r][c]] + (r == c);
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
        for (int c = r; c < dim; c++) B[symmetric_place[r][c]] = next[r][c] - (r == c);
}

static inline double determinant(int dim, double G[3][3]) {
    double f[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) f[r][c] = (r < dim && c < dim ? G[r][c] : 0) + (r == c);
    return f[0][0] * (f[1][1] * f[2][2] - f[1][2] * f[2][1]) -
           f[0][1] * (f[1][0] * f[2][2] - f[1][2] * f[2][0]) +
           f[0][2] * (f[1][0] * f[2][1] - f[1][1] * f[2][0]);
}

static inline void random_gradient(uint64_t id, int dim, double size, double G[3][3]) {
    memset(G, 0, 9 * sizeof(double));
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++)
            G[r][c] = size * (2 * random_unit(21, id, (uint64_t)(3 * r + c)) - 1);
}

/* Kirchhoff stress and energy at B. */
static inline double stress_at(const sample *s, const void *parameters, int dim, const double B[6],
                               double tau[6]) {
    strain_state state = {0};
    double energy;
    memcpy(state.strain, B, sizeof state.strain);
    s->model->evaluate(parameters, dim, &state, tau, &energy, NULL);
    return energy;
}

/* ---- Particles ---- */

typedef struct bench {
    spate_context *ctx;
    particles p;
} bench;

static inline bench bench_open(void) {
    bench b;
    spate_config config = spate_default_config();
    config.threads = 1;
    assert_int_equal(spate_open(&config, &b.ctx), SPATE_OK);
    b.p = (particles){.ctx = b.ctx,
                      .fields = PARTICLE_BASICS | PARTICLE_BIT(dilation) | PARTICLE_BIT(strain) |
                                PARTICLE_BIT(hardening) | PARTICLE_BIT(flow)};
    assert_int_equal(particles_reserve(&b.p, 64), SPATE_OK);
    b.p.count = 64;
    for (int i = 0; i < 64; i++) b.p.dilation[i] = b.p.hardening[i] = b.p.flow[i] = 0;
    memset(b.p.strain, 0, 6 * (size_t)b.p.capacity * sizeof(real));
    return b;
}

static inline void bench_close(bench *b) {
    particles_free(&b->p);
    spate_close(b->ctx);
}

static inline void put_state(bench *b, int i, const strain_state *s) {
    for (int c = 0; c < 6; c++) PLANE(&b->p, strain, c)[i] = (real)s->strain[c];
    b->p.hardening[i] = (real)s->hardening;
    b->p.dilation[i] = (real)s->dilation;
}

static inline strain_state get_state(const bench *b, int i) {
    strain_state s = {.dilation = (double)b->p.dilation[i], .hardening = (double)b->p.hardening[i]};
    for (int c = 0; c < 6; c++) s.strain[c] = (double)PLANE(&b->p, strain, c)[i];
    return s;
}

static inline wide_int lanes_of(unsigned bits) {
    wide_int mask;
    for (int l = 0; l < WIDE; l++) mask[l] = bits >> l & 1 ? -1 : 0;
    return mask;
}

/* The kernels call these with a literal dim. */
static inline void wide_stress(const material_constants *c, const particles *p, int64_t i,
                               const wide C[9], wide tau[6], int dim) {
    if (dim == 2)
        material_stress(c, p, i, C, tau, 2);
    else
        material_stress(c, p, i, C, tau, 3);
}
static inline void wide_update(const material_constants *c, particles *p, int64_t i,
                               const wide G[9], unsigned bits, strain_report *report, int dim) {
    if (dim == 2)
        material_update(c, p, i, G, lanes_of(bits), report, 2);
    else
        material_update(c, p, i, G, lanes_of(bits), report, 3);
}

/* Words of sand's `cone`, as settings. */
enum { COMPRESSION, PLANE_STRAIN, MOHR_COULOMB };

/* The same gradient for every lane. */
static inline void splat_gradient(double G[3][3], wide out[9]) {
    for (int k = 0; k < 9; k++) out[k] = wide_splat((real)G[k / 3][k % 3]);
}

#endif
