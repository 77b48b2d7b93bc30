/* Particle storage: the list of fields, growing, copying, and the batch on the stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "state/particles.h"
#include <stdlib.h>

static const unsigned all_fields = (1u << PARTICLE_FIELD_COUNT) - 1;

static spate_context *open_context(void) {
    spate_config config = spate_default_config();
    config.threads = 1;
    spate_context *ctx;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    return ctx;
}

/* Component c of field f of particle i, wherever it is kept. */
static unsigned char *component(const particles *p, int f, int c, int64_t i) {
    const particle_field_info *info = &particle_fields[f];
    const int in_element = (int)(info->bytes / info->scalar);
    return (unsigned char *)particles_element(p, (particle_field)f, c / in_element, i) +
           (size_t)(c % in_element) * info->scalar;
}

/* A byte pattern that tells particle, field and component apart. */
static void pattern(unsigned char *bytes, size_t size, int f, int c, int64_t key) {
    uint64_t value = (uint64_t)(key * 131 + f * 17 + c + 1) * 0x9e3779b97f4a7c15u;
    memcpy(bytes, &value, size);
}

static void write_pattern(particles *p, int64_t i, int64_t key) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++)
        for (int c = 0;
             particles_field(p, (particle_field)f) && c < field_components(&particle_fields[f]);
             c++)
            pattern(component(p, f, c, i), particle_fields[f].scalar, f, c, key);
}

static bool has_pattern(const particles *p, int64_t i, int64_t key) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++)
        for (int c = 0;
             particles_field(p, (particle_field)f) && c < field_components(&particle_fields[f]);
             c++) {
            unsigned char expected[8];
            pattern(expected, particle_fields[f].scalar, f, c, key);
            if (memcmp(component(p, f, c, i), expected, particle_fields[f].scalar)) return false;
        }
    return true;
}

static void test_field_list(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int components;
        size_t scalar;
        bool is_real;
        int planes;
    } expected[] = {
        {"id", 1, 8, false, 1},
        {"position", 3, sizeof(real), true, 3},
        {"velocity", 4, sizeof(real), true, 1},
        {"affine", 12, sizeof(real), true, 1},
        {"mass", 1, sizeof(real), true, 1},
        {"group", 1, 2, false, 1},
        {"dilation", 1, sizeof(real), true, 1},
        {"strain", 6, sizeof(real), true, 6},
        {"role", 1, 1, false, 1},
    };
    for (int e = 0; e < COUNT_OF(expected); e++) {
        int found = 0;
        for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
            const particle_field_info *info = &particle_fields[f];
            if (strcmp(info->name, expected[e].name) != 0) continue;
            found++;
            assert_int_equal(field_components(info), expected[e].components);
            assert_int_equal(info->scalar, expected[e].scalar);
            assert_true(info->is_real == expected[e].is_real);
            assert_true(info->planes == expected[e].planes);
            assert_non_null(info->unit);
        }
        assert_int_equal(found, 1);
    }
    assert_true(PARTICLE_BASICS & PARTICLE_BIT(velocity));
    assert_false(PARTICLE_BASICS & (PARTICLE_BIT(dilation) | PARTICLE_BIT(affine)));
}

static void test_fields_that_were_not_asked_for_do_not_exist(void **state) {
    (void)state;
    spate_context *ctx = open_context();
    particles p = {.ctx = ctx, .fields = PARTICLE_BASICS | PARTICLE_BIT(dilation)};
    assert_int_equal(particles_reserve(&p, 10), SPATE_OK);
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++)
        assert_true((particles_field(&p, (particle_field)f) != NULL) == (p.fields >> f & 1));
    assert_ptr_equal(particles_field(&p, PARTICLE_mass), p.mass);
    assert_ptr_equal(PLANE(&p, position, 2), p.position + 2 * p.capacity);
    particles_free(&p);
    assert_null(p.velocity);
    spate_close(ctx);
}

static void test_fields_that_come_later_are_zero(void **state) {
    (void)state;
    spate_context *ctx = open_context();
    particles p = {.ctx = ctx, .fields = PARTICLE_BASICS};
    assert_int_equal(particles_reserve(&p, 10), SPATE_OK);
    p.count = 10, p.mass[9] = 3;
    assert_int_equal(particles_add_fields(&p, PARTICLE_BIT(force) | PARTICLE_BIT(mass)), SPATE_OK);
    assert_true(p.fields == (PARTICLE_BASICS | PARTICLE_BIT(force)) && p.mass[9] == 3);
    for (int i = 0; i < 10; i++) assert_true(p.force[i][0] == 0 && p.force[i][3] == 0);
    p.force[9][1] = 2;
    assert_int_equal(particles_reserve(&p, 1000), SPATE_OK);
    assert_true(p.force[9][1] == 2);
    particles_free(&p);
    spate_close(ctx);
}

static void test_reserve_keeps_content(void **state) {
    (void)state;
    spate_context *ctx = open_context();
    int64_t blocks = ctx->blocks_now;
    particles p = {.ctx = ctx, .fields = all_fields};
    static const int64_t sizes[] = {1, 50, 64, 300, 5000};
    for (int s = 0; s < COUNT_OF(sizes); s++) {
        assert_int_equal(particles_reserve(&p, sizes[s]), SPATE_OK);
        assert_true(p.capacity >= sizes[s] + WIDE && p.capacity % 64 == 0);
        for (int64_t i = 0; i < p.count; i++) assert_true(has_pattern(&p, i, i));
        for (; p.count < sizes[s]; p.count++) write_pattern(&p, p.count, p.count);
    }
    /* what is there is enough: nothing moves */
    const real4 *velocity = p.velocity;
    assert_int_equal(particles_reserve(&p, 5000), SPATE_OK);
    assert_ptr_equal(velocity, p.velocity);
    assert_int_equal(particles_reserve(&p, (int64_t)1 << 33), SPATE_BAD_INPUT);
    assert_int_equal(p.count, 5000);
    assert_true(has_pattern(&p, 4999, 4999));
    particles_free(&p);
    assert_int_equal(p.capacity, 0);
    assert_int_equal(ctx->blocks_now, blocks);
    spate_close(ctx);
}

static void test_copy_between_stores(void **state) {
    (void)state;
    spate_context *ctx = open_context();
    particles a = {.ctx = ctx, .fields = all_fields}, b = {.ctx = ctx, .fields = all_fields};
    assert_int_equal(particles_reserve(&a, 100), SPATE_OK);
    assert_int_equal(particles_reserve(&b, 1000), SPATE_OK);
    assert_true(a.capacity != b.capacity);
    a.count = 100, b.count = 1000;
    for (int64_t i = 0; i < a.count; i++) write_pattern(&a, i, i);
    for (int64_t i = 0; i < b.count; i++) write_pattern(&b, i, 5000 + i);
    particles_copy(&b, 700, &a, 20, 60);
    for (int64_t i = 0; i < b.count; i++)
        assert_true(has_pattern(&b, i, i >= 700 && i < 760 ? i - 680 : 5000 + i));
    for (int64_t i = 0; i < a.count; i++) assert_true(has_pattern(&a, i, i));
    assert_false(has_pattern(&b, 700, 5700)); /* the check can fail */
    particles_copy(&b, 3, &a, 7, 0);
    assert_true(has_pattern(&b, 3, 5003));
    particles_free(&a);
    particles_free(&b);
    spate_close(ctx);
}

static void test_batch(void **state) {
    (void)state;
    spate_context *ctx = open_context();
    particles p = {.ctx = ctx, .fields = PARTICLE_BASICS | PARTICLE_BIT(strain)};
    assert_int_equal(particles_reserve(&p, 40), SPATE_OK);
    p.count = 40;
    for (int64_t i = 0; i < p.count; i++) write_pattern(&p, i, i);
    particle_batch h;
    memset(&h, 0xab, sizeof h);
    batch_prepare(&h, &p);
    assert_int_equal(h.p.capacity, WIDE);
    assert_int_equal(h.p.fields, p.fields);
    assert_null(h.p.dilation);
    assert_ptr_equal(h.p.strain, h.strain);
    for (int i = 0; i < WIDE; i++) assert_true(h.p.mass[i] == 0 && h.p.velocity[i][3] == 0);

    /* the tail of a block goes in and comes back */
    particles_copy(&h.p, 0, &p, 35, 5);
    for (int64_t i = 0; i < 5; i++) assert_true(has_pattern(&h.p, i, 35 + i));
    write_pattern(&h.p, 2, 900);
    particles_copy(&p, 35, &h.p, 0, 5);
    for (int64_t i = 0; i < p.count; i++) assert_true(has_pattern(&p, i, i == 37 ? 900 : i));
    particles_free(&p);
    spate_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_field_list),
        cmocka_unit_test(test_fields_that_were_not_asked_for_do_not_exist),
        cmocka_unit_test(test_fields_that_come_later_are_zero),
        cmocka_unit_test(test_reserve_keeps_content),
        cmocka_unit_test(test_copy_between_stores),
        cmocka_unit_test(test_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
