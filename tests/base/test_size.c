/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "base/size.h"

typedef __int128 wide;

/* Values near which sums and products begin to overflow. */
static const int64_t edges[] = {
    INT64_MIN,
    INT64_MIN + 1,
    INT64_MIN / 2,
    -4294967297,
    -4294967296,
    -65536,
    -3,
    -2,
    -1,
    0,
    1,
    2,
    3,
    46341,
    65535,
    65536,
    2147483647,
    2147483648,
    3037000499,
    3037000500,
    4294967295,
    4294967296,
    INT64_MAX / 3,
    INT64_MAX / 2,
    INT64_MAX - 1,
    INT64_MAX,
};
enum { N_EDGES = sizeof edges / sizeof *edges };
static const int64_t untouched = 0x5a5a5a5a5a5a5a5a;

static void assert_result(const char *operation, int64_t a, int64_t b, bool fits, wide expected, bool returned,
                          wide got) {
    if (returned != fits || (fits ? got != expected : got != untouched))
        fail_msg("%s of %lld and %lld: returned %s, got %lld", operation, (long long)a, (long long)b,
                 returned ? "true" : "false", (long long)got);
}

static void size__signed_agrees_with_wide_arithmetic(void **state) {
    (void)state;
    for (int i = 0; i < N_EDGES; i++)
        for (int j = 0; j < N_EDGES; j++) {
            wide sum = (wide)edges[i] + edges[j], product = (wide)edges[i] * edges[j];
            int64_t out = untouched;
            bool returned = dt__add_i64(edges[i], edges[j], &out);
            assert_result("sum", edges[i], edges[j], sum >= INT64_MIN && sum <= INT64_MAX, sum, returned, out);
            out = untouched;
            returned = dt__mul_i64(edges[i], edges[j], &out);
            assert_result("product", edges[i], edges[j], product >= INT64_MIN && product <= INT64_MAX, product,
                          returned, out);
        }
}

static void size__unsigned_agrees_with_wide_arithmetic(void **state) {
    (void)state;
    for (int i = 0; i < N_EDGES; i++)
        for (int j = 0; j < N_EDGES; j++) {
            size_t a = (size_t)edges[i], b = (size_t)edges[j], out = (size_t)untouched;
            unsigned __int128 sum = (unsigned __int128)a + b, product = (unsigned __int128)a * b;
            bool returned = dt__add_size(a, b, &out);
            assert_result("size sum", edges[i], edges[j], sum <= SIZE_MAX, (wide)sum, returned, (wide)out);
            out = (size_t)untouched;
            returned = dt__mul_size(a, b, &out);
            assert_result("size product", edges[i], edges[j], product <= SIZE_MAX, (wide)product, returned,
                          (wide)out);
        }
}

static void size__result_may_be_an_operand(void **state) {
    (void)state;
    size_t n = 7;
    assert_true(dt__mul_size(n, 6, &n));
    assert_int_equal(n, 42);
    assert_false(dt__mul_size(n, SIZE_MAX, &n));
    assert_int_equal(n, 42);
}

static void size__ceil_div_rounds_up(void **state) {
    (void)state;
    for (int64_t n = 0; n < 200; n++)
        for (int64_t step = 1; step < 200; step++) {
            int64_t q = 0;
            while (q * step < n)
                q++;
            assert_int_equal(dt__ceil_div(n, step), q);
        }
    assert_int_equal(dt__ceil_div(INT64_MAX, 2), INT64_MAX / 2 + 1);
    assert_int_equal(dt__ceil_div(INT64_MAX, INT64_MAX), 1);
}

static void size__min_and_max(void **state) {
    (void)state;
    assert_int_equal(dt__min_i64(-1, INT64_MAX), -1);
    assert_int_equal(dt__max_i64(-1, INT64_MAX), INT64_MAX);
    assert_int_equal(dt__min_i64(2, 2), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size__signed_agrees_with_wide_arithmetic),
        cmocka_unit_test(size__unsigned_agrees_with_wide_arithmetic),
        cmocka_unit_test(size__result_may_be_an_operand),
        cmocka_unit_test(size__ceil_div_rounds_up),
        cmocka_unit_test(size__min_and_max),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
