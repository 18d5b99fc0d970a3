/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of rows of random arrays against the formulas in long double: all floats, strides and dims, long and
 * short rows, with threads; merged with those of the rest of the rows; NaN, infinities and rows without elements.
 */
#include "kernels/arrays.h"

#include "base/ctx.h"
#include "kernels/kernels.h"

enum { MAX_RESULTS = 1 << 18 };
static const dt_dtype floats[] = {DT_F32, DT_F64, DT_F16, DT_BF16};
static const char *const names[] = {"exponentials", "moments", "squares"};

typedef struct expected {
    long double count, first, second;
} expected;

static void add_element(dt__statistic kind, int pass, long double x, expected *out) {
    if (pass == 0) {
        out->count++;
        if (kind == DT__EXPONENTIALS)
            out->first = isnan(x) || isnan(out->first) ? NAN : fmaxl(out->first, x);
        else if (kind == DT__MOMENTS)
            out->first += x;
        else
            out->second += x * x;
        return;
    }
    if (kind == DT__EXPONENTIALS)
        out->second += expl(x - (out->first == -INFINITY ? 0 : out->first));
    else if (kind == DT__MOMENTS)
        out->second += (x - out->first) * (x - out->first);
}

/* The statistics of each row, in the order of the kept dims. */
static int64_t by_definition(dt__statistic kind, const test_array *in, uint64_t dims, expected *out) {
    const int n_dims = in->a.n_dims;
    int64_t n = 1;
    for (int d = 0; d < n_dims; d++)
        n *= dims >> d & 1 ? 1 : in->shape[d];
    for (int64_t r = 0; r < n; r++)
        out[r] = (expected){0, kind == DT__EXPONENTIALS ? -INFINITY : 0, 0};
    for (int pass = 0; pass < 2 && !is_empty(&in->a); pass++) {
        int64_t index[MAX_DIMS] = {0};
        do {
            int64_t r = 0;
            for (int d = 0; d < n_dims; d++)
                r = dims >> d & 1 ? r : r * in->shape[d] + index[d];
            add_element(kind, pass, get(in->a.dtype, element_at(&in->a, n_dims, index)).re, &out[r]);
        } while (next_index(n_dims, in->shape, index));
        for (int64_t r = 0; r < n && pass == 0 && kind == DT__MOMENTS; r++)
            out[r].first /= out[r].count;
    }
    return n;
}

static bool is_near(long double got, long double by, long double tolerance) {
    if (isnan(by) || isnan(got))
        return isnan(by) && isnan(got);
    return got == by || fabsl(got - by) <= tolerance * (1 + fabsl(by));
}

static void check(dt__statistic kind, const test_array *in, int64_t n, const expected *by, const double *first,
                  const double *second) {
    /* exponentials are computed in f32, unless the array is f64; everything else in f64 */
    const bool rounds = kind == DT__EXPONENTIALS && in->a.dtype != DT_F64;
    for (int64_t r = 0; r < n; r++) {
        const bool undefined = kind == DT__EXPONENTIALS && !isfinite((double)by[r].first) && by[r].first > 0;
        const bool has_first = kind != DT__SQUARES && by[r].count > 0;
        if ((has_first && !is_near(first[r], by[r].first, 0x1p-40L)) ||
            (undefined ? !isnan(second[r]) : !is_near(second[r], by[r].second, rounds ? 0x1p-18L : 0x1p-36L)))
            fail_msg("%s of %s, row %lld: expected %Lg and %Lg, got %g and %g", names[kind],
                     dt_dtype_name(in->a.dtype), (long long)r, by[r].first, by[r].second, first[r], second[r]);
    }
}

static void special_numbers(test_array *a, uint64_t *random) {
    static const long double special[] = {INFINITY, -INFINITY, -INFINITY, NAN};
    const size_t size = dt_dtype_size(a->a.dtype);
    const int64_t kind = test_below(random, 3);
    for (size_t i = 0; i * size < a->memory.bytes; i++) {
        long double x = (long double)(test_below(random, 4001) - 2000) / 256;
        if (kind == 1 && test_below(random, 20) == 0)
            x = special[test_below(random, 4)];
        if (kind == 2)
            x = -INFINITY;
        put(a->a.dtype, (wide){x, 0}, a->memory.data + i * size);
    }
}

static dt__array dense(double *data, int n, const int64_t *shape, int64_t *strides) {
    int64_t step = 1;
    for (int d = n - 1; d >= 0; d--) {
        strides[d] = step;
        step *= shape[d];
    }
    return (dt__array){data, DT_F64, n, shape, strides};
}

static void statistics_case(uint64_t *random, dt__pool *pool, dt_dtype dtype, int n_dims, const int64_t *shape) {
    static double first[2][MAX_RESULTS], second[2][MAX_RESULTS];
    static expected by[MAX_RESULTS];
    test_array in;
    const uint64_t dims = (uint64_t)test_below(random, (int64_t)1 << n_dims);
    const dt__statistic kind = (dt__statistic)test_below(random, 3);
    int64_t kept[MAX_DIMS], strides[MAX_DIMS], n_kept = 0;
    test_array_make(&in, dtype, n_dims, shape, (test_layout)test_below(random, 3), random);
    special_numbers(&in, random);
    for (int d = 0; d < n_dims; d++)
        if (!(dims >> d & 1))
            kept[n_kept++] = shape[d];
    const int64_t n = by_definition(kind, &in, dims, by);
    int n_tables = 0;
    for (int t = 0; t < N_NAMES; t++) {
        if (!table_at(t))
            continue;
        const int which = n_tables++ ? 1 : 0;
        const dt__array a = dense(first[which], (int)n_kept, kept, strides);
        const dt__array b = dense(second[which], (int)n_kept, kept, strides);
        dt__statistics_run(table_at(t), t % 2 ? pool : NULL,
                           &(dt__statistics){kind, dims, &in.a, kind == DT__SQUARES ? NULL : &a, &b, NULL});
        check(kind, &in, n, by, first[which], second[which]);
        for (int64_t r = 0; which && r < n; r++) /* every table and number of threads computes the same bits */
            if (memcmp(&second[0][r], &second[1][r], 8) && !isnan(second[0][r]))
                fail_msg("%s: row %lld: %a and %a", table_at(t)->name, (long long)r, second[0][r], second[1][r]);
    }
    test_array_free(&in);
}

static void statistics__random_arrays(void **state) {
    (void)state;
    uint64_t random = test_seed(1);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    for (int d = 0; d < 4; d++) {
        for (int i = 0; i < 100; i++) {
            int64_t shape[MAX_DIMS] = {0};
            const int n_dims = random_shape(&random, shape, 1200);
            statistics_case(&random, pool, floats[d], n_dims, shape);
        }
        for (int i = 0; i < 4; i++) {
            statistics_case(&random, pool, floats[d], 2, (int64_t[]){3, 5003});
            statistics_case(&random, pool, floats[d], 2, (int64_t[]){300, 70});
            statistics_case(&random, pool, floats[d], 1, (int64_t[]){200001});
        }
    }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* The statistics of two parts of a row, merged, are those of the row, wherever it is cut. */
static void statistics__merge(void **state) {
    (void)state;
    uint64_t random = test_seed(2);
    enum { ROWS = 37, COLUMNS = 41 };
    const int64_t shape[] = {ROWS, COLUMNS}, kept[] = {ROWS};
    for (int round = 0; round < 200; round++) {
        const dt__statistic kind = (dt__statistic)(round % 3);
        const dt__kernels *kernels = dt__kernels_best();
        static expected by[ROWS];
        double first[2][ROWS], second[2][ROWS], counts[2];
        test_array in;
        test_array_make(&in, DT_F64, 2, shape, (test_layout)0, &random);
        special_numbers(&in, &random);
        by_definition(kind, &in, 2, by);
        const int64_t cut = test_below(&random, COLUMNS + 1);
        for (int part = 0; part < 2; part++) {
            int64_t stride;
            const int64_t sizes[] = {ROWS, part ? COLUMNS - cut : cut};
            dt__array half = in.a;
            half.shape = sizes;
            half.data = (double *)in.a.data + (part ? cut * in.a.strides[1] : 0);
            counts[part] = (double)sizes[1];
            const dt__array a = dense(first[part], 1, kept, &stride), b = dense(second[part], 1, kept, &stride);
            dt__statistics_run(kernels, NULL,
                               &(dt__statistics){kind, 2, &half, kind == DT__SQUARES ? NULL : &a, &b, NULL});
        }
        dt__statistics_merge(kernels, kind, ROWS, &(dt__row_statistics){&counts[0], first[0], second[0]},
                             &(dt__row_statistics){&counts[1], first[1], second[1]});
        check(kind, &in, ROWS, by, first[0], second[0]);
        assert_true(kind != DT__MOMENTS || counts[0] == COLUMNS);
        test_array_free(&in);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics__random_arrays),
        cmocka_unit_test(statistics__merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
