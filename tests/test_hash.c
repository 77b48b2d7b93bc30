/* Hashes: published values of XXH3, and streams that do not depend on how the bytes are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/hash.h"
#include <string.h>

/* Of the empty text, seed 0, from the test vectors of the reference implementation. */
static void test_published_value(void **state) {
    (void)state;
    assert_true(hash_bytes(NULL, 0, 0) == 0x2d06800538d394c2u);
    assert_true(hash_bytes("", 0, 0) == 0x2d06800538d394c2u);
}

static void test_stream_is_the_same_as_whole(void **state) {
    (void)state;
    unsigned char bytes[5000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * i >> 3);
    static const size_t lengths[] = {0, 1, 16, 17, 240, 241, 256, 1024, 1025, sizeof bytes};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t piece = 1; piece < 700; piece = piece * 3 + 1)
            for (uint64_t seed = 0; seed < 2; seed++) {
                hash_state h;
                hash_begin(&h, seed);
                for (size_t at = 0; at < lengths[l]; at += piece)
                    hash_add(&h, bytes + at, at + piece < lengths[l] ? piece : lengths[l] - at);
                hash_add(&h, NULL, 0);
                assert_true(hash_end(&h) == hash_bytes(bytes, lengths[l], seed));
                assert_true(hash_end(&h) == hash_bytes(bytes, lengths[l], seed));
            }
}

static void test_every_bit_and_the_seed_count(void **state) {
    (void)state;
    unsigned char bytes[300] = {0};
    const uint64_t before = hash_bytes(bytes, sizeof bytes, 5);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(hash_bytes(bytes, sizeof bytes, 5) != before);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    assert_true(hash_bytes(bytes, sizeof bytes, 5) == before);
    assert_true(hash_bytes(bytes, sizeof bytes, 6) != before);
    assert_true(hash_bytes(bytes, sizeof bytes - 1, 5) != before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_value),
        cmocka_unit_test(test_stream_is_the_same_as_whole),
        cmocka_unit_test(test_every_bit_and_the_seed_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
