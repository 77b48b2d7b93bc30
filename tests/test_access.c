/* Who may speak to the viewer's server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/access.h"
#include <string.h>

static void test_tokens(void **state) {
    char a[TOKEN_LENGTH + 1], b[TOKEN_LENGTH + 1];
    (void)state;
    assert_true(access_token(a) && access_token(b));
    assert_int_equal(strlen(a), TOKEN_LENGTH);
    assert_int_equal(strspn(a, "0123456789abcdef"), TOKEN_LENGTH);
    assert_string_not_equal(a, b);
}

static void test_paths(void **state) {
    static const char token[] = "0123456789abcdef0123456789abcdef";
    (void)state;
    assert_string_equal(access_path("/0123456789abcdef0123456789abcdef/", token), "");
    assert_string_equal(access_path("/0123456789abcdef0123456789abcdef/live", token), "live");
    assert_null(access_path("/0123456789abcdef0123456789abcdef", token));
    assert_null(access_path("/0123456789abcdef0123456789abcdee/live", token));
    assert_null(access_path("/1123456789abcdef0123456789abcdef/live", token));
    assert_null(access_path("/", token));
    assert_null(access_path("", token));
    assert_null(access_path(NULL, token));
}

/* A name may be made to lead here by whoever owns it; a number may not. */
static void test_hosts(void **state) {
    (void)state;
    assert_true(access_host("127.0.0.1:8080", 8080));
    assert_true(access_host("localhost:8080", 8080));
    assert_true(access_host("localhost", 80)); /* browsers leave this port out */
    assert_true(access_host("127.0.0.1:80", 80));
    assert_false(access_host("localhost", 8080));
    assert_false(access_host("example.org", 80));
    assert_true(access_host("[::1]:8080", 8080));
    assert_true(access_host("192.168.1.20:8080", 8080));
    assert_false(access_host("127.0.0.1:8081", 8080));
    assert_false(access_host("127.0.0.1", 8080));
    assert_false(access_host("evil.example:8080", 8080));
    assert_false(access_host("127.0.0.1.evil.example:8080", 8080));
    assert_false(access_host("localhost.evil.example:8080", 8080));
    assert_false(access_host("127.1:8080", 8080));
    assert_false(access_host(":8080", 8080));
    assert_false(access_host("", 8080));
    assert_false(access_host(NULL, 8080));
}

static void test_origins(void **state) {
    (void)state;
    assert_true(access_origin(NULL, "127.0.0.1:8080"));
    assert_true(access_origin("http://127.0.0.1:8080", "127.0.0.1:8080"));
    assert_false(access_origin("http://localhost:8080", "127.0.0.1:8080"));
    assert_false(access_origin("https://127.0.0.1:8080", "127.0.0.1:8080"));
    assert_false(access_origin("http://evil.example", "127.0.0.1:8080"));
    assert_false(access_origin("null", "127.0.0.1:8080"));
    assert_false(access_origin("http://127.0.0.1:8080.evil.example", "127.0.0.1:8080"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_origins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
