/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions and running sums of random arrays along random dims against sums in long double, element by element;
 * integers exactly; all tables and all numbers of threads compute the same bits.
 */
#include "kernels/arrays.h"

#include "base/ctx.h"
#include "kernels/kernels.h"

#include <float.h>

static const char *const fold_names[DT__N_FOLDS] = {"sum", "prod", "max", "min", "any", "all"};

/* One result: as a complex number and as an integer with wrap-around; the sum of magnitudes, and the sums of the
 * binary logarithms of factors above and below 1, from which its error is bounded. */
typedef struct total {
    wide value;
    uint64_t wrapped;
    long double size, up, down;
    int64_t n, where;
} total;

static void total_add(total *t, dt__fold fold, dt_dtype dtype, const void *x) {
    const wide w = get(dtype, x);
    const uint64_t wrapped = is_integer(dtype) ? (uint64_t)get_integer(dtype, x) : 0;
    const wide before = t->value;
    const bool is_first = t->n++ == 0;
    switch (fold) {
    case DT__FOLD_SUM:
        t->value = (wide){before.re + w.re, before.im + w.im};
        t->wrapped += wrapped;
        t->size += (isfinite(w.re) ? fabsl(w.re) : 0) + (isfinite(w.im) ? fabsl(w.im) : 0);
        break;
    case DT__FOLD_PROD: {
        const long double size = fabsl(w.re) + fabsl(w.im);
        if (isfinite(size) && size != 0)
            *(size > 1 ? &t->up : &t->down) += log2l(size);
        if (is_first)
            t->value = w, t->wrapped = wrapped;
        else {
            t->value = (wide){before.re * w.re - before.im * w.im, before.re * w.im + before.im * w.re};
            if (!is_complex(dtype))
                t->value = (wide){before.re * w.re, 0};
            t->wrapped *= wrapped;
        }
        break;
    }
    case DT__FOLD_MAX:
    case DT__FOLD_MIN:
        if (is_first ||
            (!isnan(before.re) && (isnan(w.re) || (fold == DT__FOLD_MAX ? w.re > before.re : w.re < before.re))))
            t->value = w, t->where = t->n - 1;
        t->wrapped = (uint64_t)(is_integer(dtype) ? (int64_t)t->value.re : 0);
        break;
    case DT__FOLD_ANY:
        t->value.re = before.re != 0 || w.re != 0 || w.im != 0;
        t->wrapped = (uint64_t)t->value.re;
        break;
    default:
        t->value.re = (is_first || before.re != 0) && (w.re != 0 || w.im != 0);
        t->wrapped = (uint64_t)t->value.re;
        break;
    }
}

static void total_of(const test_array *in, uint64_t dims, dt__fold fold, const int64_t *kept_index, total *t) {
    int64_t index[MAX_DIMS] = {0}, shape[MAX_DIMS], reduced_index[MAX_DIMS] = {0};
    int n_reduced = 0, reduced_dims[MAX_DIMS];
    *t = (total){.n = 0};
    for (int d = 0, kept = 0; d < in->a.n_dims; d++)
        if (dims >> d & 1) {
            reduced_dims[n_reduced] = d;
            shape[n_reduced++] = in->shape[d];
        } else {
            index[d] = kept_index[kept++];
        }
    for (int g = 0; g < n_reduced; g++)
        if (shape[g] == 0) {
            t->value.re = fold == DT__FOLD_PROD || fold == DT__FOLD_ALL;
            t->wrapped = t->value.re != 0;
            return;
        }
    do {
        for (int g = 0; g < n_reduced; g++)
            index[reduced_dims[g]] = reduced_index[g];
        total_add(t, fold, in->a.dtype, element_at(&in->a, in->a.n_dims, index));
    } while (next_index(n_reduced, shape, reduced_index));
}

static long double largest(dt_dtype dtype) {
    return dtype == DT_F16                      ? 65504
           : dtype == DT_BF16                   ? 0x1.fep127L
           : dtype == DT_F32 || dtype == DT_C64 ? (long double)FLT_MAX
                                                : (long double)DBL_MAX;
}

/* Within half a unit of the result's dtype, plus the error of sums in f64: in any order, a sum of n numbers is off by
 * up to n - 1 roundings of the sum of their magnitudes. Of numbers that f32 holds, four at a time may be added in f32,
 * with two roundings (fold_loops.h). Products are rounded after each step. */
static bool is_near(const total *t, dt__fold fold, dt_dtype from, dt_dtype dtype, long double got,
                    long double expected) {
    if (fold == DT__FOLD_PROD && (t->up > 1020 || t->down < -1000))
        return true; /* factors are multiplied in f64, where a product of some of them may overflow or underflow */
    if (isnan(expected) && isnan(got))
        return true;
    if (fold == DT__FOLD_SUM && !isfinite((double)t->size))
        return true; /* partial sums may overflow in f64 */
    if (isinf(got))
        return signbit(got) == signbit(expected) && fabsl(expected) >= largest(dtype);
    if (isnan(got) || !isfinite(expected))
        return false;
    const long double unit = dtype == DT_F16                      ? 0x1p-11L
                             : dtype == DT_BF16                   ? 0x1p-8L
                             : dtype == DT_F32 || dtype == DT_C64 ? 0x1p-24L
                                                                  : 0x1p-53L;
    const long double min_unit = dtype == DT_BF16                      ? 0x1p-134L
                                 : dtype == DT_F16                     ? 0x1p-25L
                                 : dtype == DT_F64 || dtype == DT_C128 ? 0x1p-1000L
                                                                       : 0x1p-150L;
    long double allowed = fabsl(expected) * unit * 1.01L + min_unit;
    if (fold == DT__FOLD_SUM)
        allowed += t->size * ((long double)t->n * 0x1p-53L + 0x1p-52L);
    if (fold == DT__FOLD_SUM && (from == DT_F32 || from == DT_F16 || from == DT_BF16))
        allowed += t->size * 0x1p-23L;
    if (fold == DT__FOLD_PROD)
        allowed += (fabsl(t->value.re) + fabsl(t->value.im)) * (long double)t->n * 0x1p-51L;
    return fabsl(got - expected) <= allowed;
}

static void check_result(const dt__kernels *kernels, const dt__reduction *reduction, const total *t, const void *y,
                         const dt__array *in) {
    const dt_dtype to = reduction->out->dtype;
    if (is_integer(to)) {
        uint64_t expected = 0, got = 0;
        if (is_integer(in->dtype))
            put_wrapped(to, (int64_t)t->wrapped, &expected);
        else
            put(to, t->value, &expected);
        memcpy(&got, y, dt_dtype_size(to));
        if (expected != got)
            fail_msg("%s: %s of %s to %s of %ld elements: expected bits %lx, got %lx", kernels->name,
                     fold_names[reduction->fold], dt_dtype_name(in->dtype), dt_dtype_name(to), (long)t->n,
                     (long)expected, (long)got);
        return;
    }
    const wide got = get(to, y);
    wide expected = is_integer(in->dtype) && reduction->fold != DT__FOLD_MAX && reduction->fold != DT__FOLD_MIN
                        ? (wide){(long double)(int64_t)t->wrapped, 0}
                        : t->value;
    if (reduction->divisor != 0)
        expected =
            (wide){expected.re / (long double)reduction->divisor, expected.im / (long double)reduction->divisor};
    /* In a complex product, the order of the factors decides between infinity and NaN. */
    const bool is_open =
        is_complex(to) && reduction->fold == DT__FOLD_PROD && !(isfinite(expected.re) && isfinite(expected.im));
    if (!is_open && (!is_near(t, reduction->fold, in->dtype, to, got.re, expected.re) ||
                     (is_complex(to) && !is_near(t, reduction->fold, in->dtype, to, got.im, expected.im))))
        fail_msg("%s: %s of %s to %s of %ld elements (divisor %g): expected %La+%Lai, got %La+%Lai", kernels->name,
                 fold_names[reduction->fold], dt_dtype_name(in->dtype), dt_dtype_name(to), (long)t->n,
                 reduction->divisor, expected.re, expected.im, got.re, got.im);
}

static void small_numbers(test_array *a, uint64_t *random) {
    const size_t size = dt_dtype_size(a->a.dtype);
    for (size_t i = 0; i * size < a->memory.bytes; i++)
        put(a->a.dtype,
            (wide){(long double)(test_below(random, 2000) - 1000) / 512 + 0.001L,
                   (long double)test_below(random, 8) / 16},
            a->memory.data + i * size);
}

static bool is_defined(dt__fold fold, dt_dtype dtype) {
    return !is_complex(dtype) || (fold != DT__FOLD_MAX && fold != DT__FOLD_MIN);
}

static void check_reduction(uint64_t *random, dt__pool *pool, dt__fold fold, dt_dtype from, dt_dtype to, int n_dims,
                            const int64_t *shape, uint64_t dims, bool small) {
    static char first_bits[1 << 24];
    bool have_first = false;
    const uint64_t seed = test_random(random);
    int64_t out_shape[MAX_DIMS] = {0}, n_reduced = 1;
    int n_kept = 0;
    for (int d = 0; d < n_dims; d++)
        if (dims >> d & 1)
            n_reduced *= shape[d];
        else
            out_shape[n_kept++] = shape[d];
    if ((fold == DT__FOLD_MAX || fold == DT__FOLD_MIN) && n_reduced == 0)
        return;
    for (int t = 0; t < N_NAMES; t++) {
        uint64_t local_random = seed;
        test_array in, out, where;
        int64_t index[MAX_DIMS] = {0};
        if (!table_at(t))
            continue;
        test_array_make(&in, from, n_dims, shape, (test_layout)test_below(&local_random, 3), &local_random);
        test_array_make(&out, to, n_kept, out_shape, (test_layout)test_below(&local_random, 2), &local_random);
        test_array_make(&where, DT_I64, n_kept, out_shape, (test_layout)test_below(&local_random, 2), &local_random);
        if (small)
            small_numbers(&in, &local_random);
        const bool is_mean = fold == DT__FOLD_SUM && !is_integer(to) && test_below(&local_random, 2) == 0;
        dt__reduction reduction = {fold, dims, is_mean ? 7 : 0, &in.a, &out.a};
        dt__reduce(table_at(t), t % 2 ? pool : NULL, &reduction);
        const bool has_index = fold == DT__FOLD_MAX || fold == DT__FOLD_MIN;
        if (has_index) {
            reduction.out = &where.a;
            dt__reduce_arg(table_at(t), t % 2 ? pool : NULL, &reduction, NULL);
            reduction.out = &out.a;
        }
        if (!is_empty(&out.a))
            do {
                total expected;
                total_of(&in, dims, fold, index, &expected);
                check_result(table_at(t), &reduction, &expected, element_at(&out.a, n_kept, index), &in.a);
                if (has_index)
                    assert_int_equal(get_integer(DT_I64, element_at(&where.a, n_kept, index)), expected.where);
            } while (next_index(n_kept, out_shape, index));
        assert_true(out.memory.bytes <= sizeof first_bits);
        if (have_first &&
            first_difference(to, first_bits, out.memory.data, out.memory.bytes / dt_dtype_size(to)) >= 0)
            fail_msg("%s: %s of %s to %s differs from that of other tables", table_names[t], fold_names[fold],
                     dt_dtype_name(from), dt_dtype_name(to));
        memcpy(first_bits, out.memory.data, out.memory.bytes);
        have_first = true;
        test_array_free(&in);
        test_array_free(&out);
        test_array_free(&where);
    }
}

static dt_dtype random_result_dtype(dt__fold fold, dt_dtype from, uint64_t *random) {
    if (fold == DT__FOLD_ANY || fold == DT__FOLD_ALL)
        return DT_BOOL;
    if (is_integer(from) && fold != DT__FOLD_MAX && fold != DT__FOLD_MIN)
        return test_below(random, 2) ? DT_I64 : from == DT_BOOL ? DT_I64 : from;
    return from;
}

static void reduce__random_dims_of_random_arrays(void **state) {
    (void)state;
    uint64_t random = test_seed(1);
    for (int fold = 0; fold < DT__N_FOLDS; fold++)
        for (int d = DT_F32; d < DT_N_DTYPES; d++)
            for (int i = 0; i < 9 && is_defined((dt__fold)fold, (dt_dtype)d); i++) {
                int64_t shape[MAX_DIMS] = {0};
                const int n_dims = random_shape(&random, shape, 1500);
                const uint64_t dims = test_random(&random) & ((UINT64_C(1) << n_dims) - 1);
                check_reduction(&random, NULL, (dt__fold)fold, (dt_dtype)d,
                                random_result_dtype((dt__fold)fold, (dt_dtype)d, &random), n_dims, shape,
                                i % 5 == 0 ? (UINT64_C(1) << n_dims) - 1 : dims, i % 2);
            }
}

static void reduce__large_with_threads(void **state) {
    (void)state;
    uint64_t random = test_seed(2);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    static const int64_t shapes[][MAX_DIMS] = {{3, 20001}, {20001, 3}, {150, 400}, {1, 200000}, {30, 40, 50}};
    static const dt_dtype dtypes[] = {DT_F32, DT_F64, DT_BF16, DT_I32, DT_C64};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t d = 0; d < (s == 3 ? 2 : sizeof dtypes / sizeof *dtypes); d++) {
            const int n_dims = s < 4 ? 2 : 3;
            for (uint64_t dims = 1; dims < UINT64_C(1) << n_dims; dims++) {
                check_reduction(&random, pool, DT__FOLD_SUM, dtypes[d], dtypes[d], n_dims, shapes[s], dims, true);
                if (!is_complex(dtypes[d]) && (s + d) % 2)
                    check_reduction(&random, pool, DT__FOLD_MAX, dtypes[d], dtypes[d], n_dims, shapes[s], dims, true);
            }
        }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

static void check_scan(uint64_t *random, dt__pool *pool, dt__fold fold, dt_dtype dtype, int n_dims,
                       const int64_t *shape) {
    for (int t = 0; t < N_NAMES; t++) {
        test_array in, out;
        const int dim = n_dims ? (int)test_below(random, n_dims) : 0;
        if (!table_at(t))
            continue;
        test_array_make(&in, dtype, n_dims, shape, (test_layout)test_below(random, 3), random);
        test_array_make(&out, dtype == DT_BOOL ? DT_I64 : dtype, n_dims, shape, (test_layout)test_below(random, 2),
                        random);
        small_numbers(&in, random);
        dt__scan(table_at(t), pool, fold, dim, &in.a, NULL, &out.a);
        int64_t index[MAX_DIMS] = {0};
        const dt__reduction reduction = {fold, 0, 0, &in.a, &out.a};
        if (!is_empty(&out.a))
            do {
                total expected = {.n = 0};
                if (n_dims == 0 || index[dim] % 7 == 0 || index[dim] == shape[dim] - 1) {
                    int64_t before[MAX_DIMS];
                    memcpy(before, index, sizeof before);
                    for (int64_t i = 0; i <= (n_dims ? index[dim] : 0); i++) {
                        before[dim] = i;
                        total_add(&expected, fold, dtype, element_at(&in.a, n_dims, before));
                    }
                    check_result(table_at(t), &reduction, &expected, element_at(&out.a, n_dims, index), &in.a);
                }
            } while (next_index(n_dims, shape, index));
        test_array_free(&in);
        test_array_free(&out);
    }
}

static void scan__sums_and_products(void **state) {
    (void)state;
    uint64_t random = test_seed(3);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 2);
    for (int d = DT_F32; d < DT_N_DTYPES; d++)
        for (int i = 0; i < 12; i++) {
            int64_t shape[MAX_DIMS] = {0};
            const int n_dims = random_shape(&random, shape, 1000);
            check_scan(&random, i % 2 ? pool : NULL, i % 3 ? DT__FOLD_SUM : DT__FOLD_PROD, (dt_dtype)d, n_dims,
                       shape);
        }
    check_scan(&random, pool, DT__FOLD_SUM, DT_F32, 2, (int64_t[]){300, 130});
    check_scan(&random, pool, DT__FOLD_SUM, DT_F32, 2, (int64_t[]){3, 1300});
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduce__random_dims_of_random_arrays),
        cmocka_unit_test(reduce__large_with_threads),
        cmocka_unit_test(scan__sums_and_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
