/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion between all pairs of dtypes against long double, which holds every value exactly, on random shapes and
 * strides; with and without threads.
 */
#include "kernels/arrays.h"

#include "base/ctx.h"
#include "kernels/kernels.h"

/* The expected result for one element. Integers are converted to bf16 and f16 through f32. */
static void convert_element(dt_dtype from, const void *x, dt_dtype to, void *y) {
    const wide w = get(from, x);
    if (is_integer(from) && is_integer(to))
        put_wrapped(to, get_integer(from, x), y);
    else if (is_integer(from) && (to == DT_BF16 || to == DT_F16))
        put(to, (wide){(float)w.re, 0}, y);
    else
        put(to, is_complex(to) || to == DT_BOOL ? w : (wide){w.re, 0}, y);
}

static void check_conversion(const dt__kernels *kernels, dt__pool *pool, test_array *dst, test_array *src) {
    int64_t index[MAX_DIMS] = {0};
    dt__convert(kernels, pool, &dst->a, &src->a);
    if (is_empty(&dst->a))
        return;
    do {
        char expected[16];
        const void *x = element_at(&src->a, dst->a.n_dims, index), *y = element_at(&dst->a, dst->a.n_dims, index);
        convert_element(src->a.dtype, x, dst->a.dtype, expected);
        if (dst->a.dtype == src->a.dtype)
            memcpy(expected, x, dt_dtype_size(src->a.dtype)); /* bits are copied, also those of a bool that is 2 */
        if (first_difference(dst->a.dtype, expected, y, 1) >= 0)
            fail_msg("%s: %s %Lg+%Lgi to %s: expected %Lg+%Lgi, got %Lg+%Lgi", kernels->name,
                     dt_dtype_name(src->a.dtype), get(src->a.dtype, x).re, get(src->a.dtype, x).im,
                     dt_dtype_name(dst->a.dtype), get(dst->a.dtype, expected).re, get(dst->a.dtype, expected).im,
                     get(dst->a.dtype, y).re, get(dst->a.dtype, y).im);
    } while (next_index(dst->a.n_dims, dst->shape, index));
}

static void check_shape(dt__pool *pool, uint64_t *random, dt_dtype from, dt_dtype to, int n_dims,
                        const int64_t *shape) {
    for (int t = 0; t < N_NAMES; t++) {
        test_array src, dst;
        if (!table_at(t))
            continue;
        test_array_make(&src, from, n_dims, shape, (test_layout)test_below(random, 3), random);
        test_array_make(&dst, to, n_dims, shape, (test_layout)test_below(random, 2), random);
        check_conversion(table_at(t), pool, &dst, &src);
        test_array_free(&src);
        test_array_free(&dst);
    }
}

static void convert__all_pairs_of_dtypes(void **state) {
    (void)state;
    uint64_t random = test_seed(1);
    for (int from = DT_F32; from < DT_N_DTYPES; from++)
        for (int to = DT_F32; to < DT_N_DTYPES; to++)
            for (int i = 0; i < 4; i++) {
                int64_t shape[MAX_DIMS] = {0};
                int n_dims = random_shape(&random, shape, 1500);
                check_shape(NULL, &random, (dt_dtype)from, (dt_dtype)to, n_dims, shape);
            }
}

/* Every f16 and bf16 to f32 and back, and every tie between two of them from f32 and f64. */
static void convert__sixteen_bit_floats_exhaustively(void **state) {
    (void)state;
    enum { N = 1 << 16 };
    static uint16_t bits[N];
    static double doubles[3 * N];
    static const dt_dtype halves[] = {DT_F16, DT_BF16}, reals[] = {DT_F32, DT_F64};
    for (int i = 0; i < N; i++)
        bits[i] = (uint16_t)i;
    for (int h = 0; h < 2; h++)
        for (int r = 0; r < 2; r++)
            for (int t = 0; t < N_NAMES; t++) {
                static char wide_values[8 * N], back[2 * 3 * N], near[8 * 3 * N];
                const int64_t n = N, n_near = 3 * N, one = 1;
                const dt__array narrow = {bits, halves[h], 1, &n, &one},
                                widened = {wide_values, reals[r], 1, &n, &one};
                const dt__array near_ties = {near, reals[r], 1, &n_near, &one},
                                rounded = {back, halves[h], 1, &n_near, &one};
                if (!table_at(t))
                    continue;
                dt__convert(table_at(t), NULL, &widened, &narrow);
                for (int i = 0; i < N; i++) {
                    char expected[8];
                    const size_t size = dt_dtype_size(reals[r]);
                    convert_element(halves[h], &bits[i], reals[r], expected);
                    if (first_difference(reals[r], expected, wide_values + (size_t)i * size, 1) >= 0)
                        fail_msg("%s: %s %#x: expected %Lg, got %Lg", table_names[t], dt_dtype_name(halves[h]), i,
                                 get(reals[r], expected).re, get(reals[r], wide_values + (size_t)i * size).re);
                    const double value = (double)get(halves[h], &bits[i]).re;
                    const uint16_t next_bits = (uint16_t)(i + 1);
                    const double next = (double)get(halves[h], &next_bits).re, tie = (value + next) / 2;
                    doubles[3 * i] = tie;
                    doubles[3 * i + 1] =
                        reals[r] == DT_F64 ? nextafter(tie, value) : (double)nextafterf((float)tie, (float)value);
                    doubles[3 * i + 2] =
                        reals[r] == DT_F64 ? nextafter(tie, next) : (double)nextafterf((float)tie, (float)next);
                }
                for (int i = 0; i < 3 * N; i++)
                    put(reals[r], (wide){doubles[i], 0}, near + (size_t)i * dt_dtype_size(reals[r]));
                dt__convert(table_at(t), NULL, &rounded, &near_ties);
                for (int i = 0; i < 3 * N; i++) {
                    char expected[8];
                    convert_element(reals[r], near + (size_t)i * dt_dtype_size(reals[r]), halves[h], expected);
                    if (first_difference(halves[h], expected, back + 2 * i, 1) >= 0)
                        fail_msg("%s: %s %a to %s: expected %Lg, got %Lg", table_names[t], dt_dtype_name(reals[r]),
                                 doubles[i], dt_dtype_name(halves[h]), get(halves[h], expected).re,
                                 get(halves[h], back + 2 * i).re);
                }
            }
}

static void convert__broadcasts_the_source(void **state) {
    (void)state;
    float x[3] = {1, 2, 3};
    int32_t y[2][3] = {{0}};
    const int64_t three = 3, one = 1, shape[] = {2, 3}, strides[] = {3, 1};
    for (int t = 0; t < N_NAMES; t++)
        if (table_at(t)) {
            memset(y, 0, sizeof y);
            dt__convert(table_at(t), NULL, &(dt__array){y, DT_I32, 2, shape, strides},
                        &(dt__array){x, DT_F32, 1, &three, &one});
            assert_memory_equal(y, ((int32_t[2][3]){{1, 2, 3}, {1, 2, 3}}), sizeof y);
        }
}

static void convert__threads_give_the_same_bits(void **state) {
    (void)state;
    uint64_t random = test_seed(5);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    static const int64_t shapes[][MAX_DIMS] = {{700, 901}, {5, 200000}, {300000, 3}, {1, 500001}};
    for (int s = 0; s < 4; s++) {
        check_shape(pool, &random, DT_F32, DT_BF16, 2, shapes[s]);
        check_shape(pool, &random, DT_F32, DT_F32, 2, shapes[s]);
        check_shape(pool, &random, DT_U8, DT_F64, 2, shapes[s]);
    }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convert__all_pairs_of_dtypes),
        cmocka_unit_test(convert__sixteen_bit_floats_exhaustively),
        cmocka_unit_test(convert__broadcasts_the_source),
        cmocka_unit_test(convert__threads_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
