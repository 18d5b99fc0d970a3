/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that find elements by index, against loops over the definition: random shapes, strides and dtypes, ranks
 * that hold only some of the rows, indexes out of range, sums in half precision; and triangles with offsets.
 */
#include "kernels/arrays.h"

#include "base/ctx.h"
#include "kernels/kernels.h"

/* Small integers, whose sums are exact. */
static void small_integers(test_array *a, uint64_t *random) {
    const size_t size = dt_dtype_size(a->a.dtype);
    for (size_t i = 0; i * size < a->memory.bytes; i++)
        put(a->a.dtype, (wide){test_below(random, 3), 0}, a->memory.data + i * size);
}

static void random_indexes(test_array *a, int64_t limit, uint64_t *random) {
    const size_t size = dt_dtype_size(a->a.dtype);
    for (size_t i = 0; i * size < a->memory.bytes; i++)
        put_wrapped(a->a.dtype, test_below(random, limit), a->memory.data + i * size);
}

/* A copy that the reference writes to. */
typedef struct array_copy {
    dt__array a;
    unsigned char *memory;
} array_copy;

static array_copy array_copy_of(const test_array *t) {
    array_copy w = {t->a, malloc(t->memory.bytes)};
    memcpy(w.memory, t->memory.data, t->memory.bytes);
    w.a.data = w.memory + ((unsigned char *)t->a.data - t->memory.data);
    return w;
}

static void assert_equal(const char *op, const array_copy *expected, const test_array *got) {
    const int64_t at = first_difference(got->a.dtype, expected->memory, got->memory.data,
                                        got->memory.bytes / dt_dtype_size(got->a.dtype));
    if (at >= 0)
        fail_msg("%s of %s: number %ld: expected %lx, got %lx", op, dt_dtype_name(got->a.dtype), (long)at,
                 (long)real_bits(got->a.dtype, expected->memory, at),
                 (long)real_bits(got->a.dtype, got->memory.data, at));
    free(expected->memory);
}

static void add_element(dt_dtype dtype, void *to, const void *from) {
    if (is_integer(dtype))
        put_wrapped(dtype, (int64_t)((uint64_t)get_integer(dtype, to) + (uint64_t)get_integer(dtype, from)), to);
    else
        put(dtype, (wide){get(dtype, to).re + get(dtype, from).re, get(dtype, to).im + get(dtype, from).im}, to);
}

/* What sums need; of exactly the size that they state, so that a sanitizer finds more. */
static void *memory_new(dt__pool *pool, const dt__indexed *args, bool along) {
    return malloc((size_t)(along ? dt__scatter_bytes(pool, args) : dt__index_add_bytes(pool, args)) + 1);
}

/* Both directions of row indexing. */
static void check_rows(uint64_t *random, dt__pool *pool, const dt__kernels *kernels, dt_dtype dtype) {
    int64_t shape[MAX_DIMS], index_shape[MAX_DIMS] = {0}, other_shape[MAX_DIMS], bad = -77;
    const int n_dims = 1 + (int)test_below(random, 3), n_index = (int)test_below(random, 3);
    for (int d = 0; d < n_dims; d++)
        shape[d] = test_below(random, 30) ? 1 + test_below(random, d == n_dims - 1 ? 60 : 7) : 0;
    for (int d = 0; d < n_index; d++)
        index_shape[d] = test_below(random, 30) ? 1 + test_below(random, 9) : 0;
    const int dim = (int)test_below(random, n_dims);
    int n_other = 0;
    for (int d = 0; d < dim; d++)
        other_shape[n_other++] = shape[d];
    for (int d = 0; d < n_index; d++)
        other_shape[n_other++] = index_shape[d];
    for (int d = dim + 1; d < n_dims; d++)
        other_shape[n_other++] = shape[d];
    const bool is_part = test_below(random, 2) || shape[dim] == 0;
    const int64_t offset = is_part ? test_below(random, 5) : 0,
                  limit = offset + shape[dim] + (is_part ? 1 + test_below(random, 5) : 0);
    test_array indexed, index, other;
    const bool adds = test_below(random, 2);
    test_array_make(&indexed, dtype, n_dims, shape, (test_layout)test_below(random, adds ? 2 : 3), random);
    test_array_make(&index, test_below(random, 2) ? DT_I64 : DT_I32, n_index, index_shape,
                    (test_layout)test_below(random, 3), random);
    test_array_make(&other, dtype, n_other, other_shape, (test_layout)test_below(random, adds ? 3 : 2), random);
    if (adds) {
        small_integers(&indexed, random);
        small_integers(&other, random);
    }
    random_indexes(&index, limit, random);
    dt__indexed request = {&indexed.a, dim, &index.a, offset, limit, &other.a, test_below(random, 2), NULL};
    request.memory = adds ? memory_new(pool, &request, false) : NULL;
    array_copy expected = array_copy_of(adds ? &indexed : &other);
    int64_t at[MAX_DIMS] = {0};
    if (!is_empty(&other.a))
        do {
            int64_t at_indexed[MAX_DIMS];
            const int64_t row = get_integer(index.a.dtype, element_at(&index.a, n_index, at + dim)) - offset;
            const bool is_local = row >= 0 && row < shape[dim];
            for (int d = 0; d < n_dims; d++)
                at_indexed[d] = d < dim ? at[d] : d == dim ? row : at[d - 1 + n_index];
            if (adds && is_local)
                add_element(dtype, element_at(&expected.a, n_dims, at_indexed), element_at(&other.a, n_other, at));
            else if (!adds && is_local)
                memcpy(element_at(&expected.a, n_other, at), element_at(&indexed.a, n_dims, at_indexed),
                       dt_dtype_size(dtype));
            else if (!adds)
                memset(element_at(&expected.a, n_other, at), 0, dt_dtype_size(dtype));
        } while (next_index(n_other, other_shape, at));
    if (adds)
        assert_true(dt__index_add(kernels, pool, &request, &bad));
    else
        assert_true(dt__index_select(kernels, pool, &request, &bad));
    assert_int_equal(bad, -77);
    assert_equal(adds ? "index_add" : "index_select", &expected, adds ? &indexed : &other);
    free(request.memory);
    test_array_free(&indexed);
    test_array_free(&index);
    test_array_free(&other);
}

static void indexing__rows(void **state) {
    (void)state;
    uint64_t random = test_seed(1);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    for (int d = DT_F32; d < DT_N_DTYPES; d++)
        for (int i = 0; i < 80; i++)
            check_rows(&random, i % 2 ? pool : NULL, i % 3 ? dt__kernels_best() : &dt__kernels_plain, (dt_dtype)d);
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* Large: enough elements for threads and for copies of destinations. */
static void check_elements(uint64_t *random, dt__pool *pool, const dt__kernels *kernels, dt_dtype dtype,
                           bool is_large) {
    int64_t shape[MAX_DIMS] = {0}, index_shape[MAX_DIMS] = {0}, bad = -77;
    const int n_dims = is_large ? 2 : (int)test_below(random, 4), dim = n_dims ? (int)test_below(random, n_dims) : 0;
    for (int d = 0; d < n_dims; d++) {
        shape[d] = 1 + test_below(random, 9);
        index_shape[d] = d == dim ? test_below(random, 12) : 1 + test_below(random, shape[d]);
    }
    if (is_large) {
        const int64_t short_size = 1 + test_below(random, 70), size = 20000 / short_size + 1 + test_below(random, 9);
        const int other = 1 - dim, long_dim = test_below(random, 2) ? dim : other;
        for (int d = 0; d < 2; d++)
            index_shape[d] = d == long_dim ? size : short_size;
        shape[other] = index_shape[other] + test_below(random, 3);
        shape[dim] = 1 + index_shape[dim] / 2 + test_below(random, 2) * 7 * index_shape[dim];
    }
    const int64_t local_size = n_dims ? shape[dim] : 1, offset = test_below(random, 3),
                  limit = offset + local_size + test_below(random, 3);
    const int kind = (int)test_below(random, 3); /* gather, scatter, scatter_add */
    test_array indexed, index, other;
    test_array_make(&indexed, dtype, n_dims, shape, (test_layout)test_below(random, kind ? 2 : 3), random);
    test_array_make(&index, test_below(random, 2) ? DT_I64 : DT_I32, n_dims, index_shape,
                    (test_layout)test_below(random, 3), random);
    test_array_make(&other, dtype, n_dims, index_shape, (test_layout)test_below(random, kind ? 3 : 2), random);
    if (kind == 2) {
        small_integers(&indexed, random);
        small_integers(&other, random);
    }
    random_indexes(&index, limit, random);
    dt__indexed request = {&indexed.a, dim, &index.a, offset, limit, &other.a, test_below(random, 2), NULL};
    request.memory = kind == 2 ? memory_new(pool, &request, true) : NULL;
    array_copy expected = array_copy_of(kind ? &indexed : &other);
    int64_t at[MAX_DIMS] = {0}, at_indexed[MAX_DIMS];
    if (!is_empty(&index.a))
        do {
            memcpy(at_indexed, at, sizeof at_indexed);
            at_indexed[dim] = get_integer(index.a.dtype, element_at(&index.a, n_dims, at)) - offset;
            const bool is_local = at_indexed[dim] >= 0 && at_indexed[dim] < local_size;
            if (kind == 0 && is_local)
                memcpy(element_at(&expected.a, n_dims, at), element_at(&indexed.a, n_dims, at_indexed),
                       dt_dtype_size(dtype));
            else if (kind == 0)
                memset(element_at(&expected.a, n_dims, at), 0, dt_dtype_size(dtype));
            else if (kind == 1 && is_local)
                memcpy(element_at(&expected.a, n_dims, at_indexed), element_at(&other.a, n_dims, at),
                       dt_dtype_size(dtype));
            else if (is_local)
                add_element(dtype, element_at(&expected.a, n_dims, at_indexed), element_at(&other.a, n_dims, at));
        } while (next_index(n_dims, index_shape, at));
    if (kind == 0)
        assert_true(dt__gather_along(kernels, pool, &request, &bad));
    else
        assert_true(dt__scatter_along(kernels, pool, &request, kind == 2, &bad));
    assert_int_equal(bad, -77);
    assert_equal(kind == 0 ? "gather" : kind == 1 ? "scatter" : "scatter_add", &expected, kind ? &indexed : &other);
    free(request.memory);
    test_array_free(&indexed);
    test_array_free(&index);
    test_array_free(&other);
}

static void indexing__elements(void **state) {
    (void)state;
    uint64_t random = test_seed(2);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    for (int d = DT_F32; d < DT_N_DTYPES; d++)
        for (int i = 0; i < 120; i++)
            check_elements(&random, i % 2 ? pool : NULL, i % 3 ? dt__kernels_best() : &dt__kernels_plain, (dt_dtype)d,
                           i % 30 == 0 || i % 30 == 17);
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* Large enough for threads: every row is added to many times. */
static void indexing__threads_add_everything_once(void **state) {
    (void)state;
    enum { ROWS = 37, COLUMNS = 64, N = 5000 };
    static float sums[ROWS][COLUMNS], parts[N][COLUMNS], selected[N][COLUMNS];
    static int64_t index[N];
    const int64_t shape[] = {ROWS, COLUMNS}, other_shape[] = {N, COLUMNS}, strides[] = {COLUMNS, 1}, n = N, one = 1;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    int64_t counts[ROWS] = {0}, bad;
    for (int i = 0; i < N; i++) {
        index[i] = i * 7919 % ROWS;
        counts[index[i]]++;
        for (int c = 0; c < COLUMNS; c++)
            parts[i][c] = (float)(c + 1);
    }
    const dt__array s = {sums, DT_F32, 2, shape, strides}, i = {index, DT_I64, 1, &n, &one};
    const dt__array p = {parts, DT_F32, 2, other_shape, strides}, o = {selected, DT_F32, 2, other_shape, strides};
    assert_true(dt__index_add(dt__kernels_best(), pool, &(dt__indexed){&s, 0, &i, 0, ROWS, &p, false, NULL}, &bad));
    assert_true(
        dt__index_select(dt__kernels_best(), pool, &(dt__indexed){&s, 0, &i, 0, ROWS, &o, false, NULL}, &bad));
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            assert_true(sums[r][c] == (float)(counts[r] * (c + 1)));
    for (int r = 0; r < N; r++)
        assert_memory_equal(selected[r], sums[index[r]], sizeof selected[r]);
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* Enough elements for several pieces, of another dim or of destinations: each is added once, in order. */
static void scatter__adds_in_order_on_threads(void **state) {
    (void)state;
    enum { N = 20000 };
    static float sums[2][N], terms[N];
    static int64_t indexes[N];
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    const int64_t shapes[][2] = {{40, 500}, {40, 500}, {1, N}}, dims[] = {0, 1, 1};
    for (int c = 0; c < 3; c++) {
        const int64_t *shape = shapes[c], strides[2] = {shape[1], 1}, size = shape[dims[c]];
        int64_t bad = -77;
        memset(sums, 0, sizeof sums);
        for (int64_t i = 0; i < N; i++) {
            terms[i] = 1.0F / (float)(i + 1);
            indexes[i] = i * 7919 % size * (i % 3 != 0);
            sums[1][dims[c] ? i / shape[1] * shape[1] + indexes[i] : indexes[i] * shape[1] + i % shape[1]] +=
                terms[i];
        }
        const dt__array to = {sums[0], DT_F32, 2, shape, strides}, at = {indexes, DT_I64, 2, shape, strides},
                        from = {terms, DT_F32, 2, shape, strides};
        dt__indexed request = {&to, (int)dims[c], &at, 0, size, &from, false, NULL};
        request.memory = memory_new(pool, &request, true);
        assert_true(dt__scatter_along(dt__kernels_best(), pool, &request, true, &bad));
        free(request.memory);
        assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* Sums that f64 holds exactly, of more terms than a rounded sum could follow: rows, and the same rows as elements. */
static void check_half_sums(uint64_t *random, dt__pool *pool, const dt__kernels *kernels, dt_dtype dtype) {
    enum { MAX_PLACES = 40, MAX_COLUMNS = 600 };
    static long double sums[MAX_PLACES][MAX_COLUMNS];
    const bool is_wide = test_below(random, 4) == 0, along = test_below(random, 2), in_f32 = test_below(random, 2);
    const int64_t n = is_wide ? 40 : 1 + test_below(random, 3000), offset = test_below(random, 3), one = 1, zero = 0;
    const int64_t places = 1 + test_below(random, is_wide ? 3 : MAX_PLACES),
                  columns = 1 + test_below(random, is_wide ? MAX_COLUMNS : 9), shape[] = {places, columns},
                  other_shape[] = {n, columns};
    test_array indexed, other, index;
    int64_t bad = -77, at[2] = {0};
    test_array_make(&indexed, dtype, 2, shape, (test_layout)test_below(random, 2), random);
    test_array_make(&other, in_f32 && !along ? DT_F32 : dtype, 2, other_shape, (test_layout)test_below(random, 3),
                    random);
    test_array_make(&index, DT_I64, 1, &n, DENSE, random);
    random_indexes(&index, offset + places + test_below(random, 2), random);
    do
        put(dtype, (wide){(long double)(test_below(random, 2001) - 1000) / 64, 0}, element_at(&indexed.a, 2, at));
    while (next_index(2, shape, at));
    do
        put(other.a.dtype, (wide){(long double)test_below(random, 1000) / 64, 0}, element_at(&other.a, 2, at));
    while (next_index(2, other_shape, at));
    do
        sums[at[0]][at[1]] = get(dtype, element_at(&indexed.a, 2, at)).re;
    while (next_index(2, shape, at));
    do {
        const int64_t place = get_integer(DT_I64, element_at(&index.a, 1, at)) - offset;
        if (place >= 0 && place < places)
            sums[place][at[1]] += get(other.a.dtype, element_at(&other.a, 2, at)).re;
    } while (next_index(2, other_shape, at));
    const dt__array elements = {index.a.data, DT_I64, 2, other_shape, (int64_t[]){one, zero}};
    dt__indexed request = {&indexed.a, 0,   along ? &elements : &index.a, offset, offset + places + 1, &other.a,
                           false,      NULL};
    request.memory = memory_new(pool, &request, along);
    assert_true(along ? dt__scatter_along(kernels, pool, &request, true, &bad)
                      : dt__index_add(kernels, pool, &request, &bad));
    do {
        uint16_t expected;
        put(dtype, (wide){sums[at[0]][at[1]], 0}, &expected);
        if (memcmp(&expected, element_at(&indexed.a, 2, at), 2) != 0)
            fail_msg("%s of %s, %ld terms: [%ld,%ld]: expected %Lg, got %Lg", along ? "scatter_add" : "index_add",
                     dt_dtype_name(dtype), (long)n, (long)at[0], (long)at[1], sums[at[0]][at[1]],
                     get(dtype, element_at(&indexed.a, 2, at)).re);
    } while (next_index(2, shape, at));
    free(request.memory);
    test_array_free(&indexed);
    test_array_free(&other);
    test_array_free(&index);
}

static void indexing__half_sums_are_rounded_once(void **state) {
    (void)state;
    uint64_t random = test_seed(4);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 2);
    for (int i = 0; i < 200; i++)
        check_half_sums(&random, i % 2 ? pool : NULL, i % 3 ? dt__kernels_best() : &dt__kernels_plain,
                        i / 2 % 2 ? DT_F16 : DT_BF16);
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* Sums that depend on the order of their terms: the same on any number of threads. */
static void indexing__half_sums_do_not_depend_on_threads(void **state) {
    (void)state;
    enum { N = 20000, PLACES = 13 };
    static uint16_t terms[N], sums[2][PLACES];
    static int64_t indexes[N];
    uint64_t random = test_seed(5);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 2);
    const int64_t n = N, places = PLACES, one = 1;
    int64_t bad;
    for (int i = 0; i < N; i++) {
        indexes[i] = test_below(&random, PLACES);
        put(DT_BF16, (wide){ldexpl(test_below(&random, 2) ? 1 : -1, (int)test_below(&random, 200) - 100), 0},
            &terms[i]);
    }
    const dt__array from = {terms, DT_BF16, 1, &n, &one}, at = {indexes, DT_I64, 1, &n, &one};
    for (int t = 0; t < 4; t++) {
        const dt__array to = {sums[t > 0], DT_BF16, 1, &places, &one};
        dt__indexed request = {&to, 0, &at, 0, PLACES, &from, false, NULL};
        request.memory = memory_new(t % 2 ? pool : NULL, &request, t >= 2);
        memset(sums[t > 0], 0, sizeof sums[0]);
        assert_true(t < 2 ? dt__index_add(dt__kernels_best(), t ? pool : NULL, &request, &bad)
                          : dt__scatter_along(dt__kernels_best(), t == 3 ? pool : NULL, &request, true, &bad));
        assert_memory_equal(sums[0], sums[t > 0], sizeof sums[0]);
        free(request.memory);
    }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

static void indexing__bad_indexes_are_reported_and_not_used(void **state) {
    (void)state;
    float x[4] = {1, 2, 3, 4}, y[3] = {7, 7, 7};
    const int64_t four = 4, three = 3, one = 1;
    const int64_t bad_indexes[][3] = {{0, -1, 9}, {3, 2, 4}, {INT64_MIN, 0, 0}, {0, 0, INT64_MAX}};
    const int64_t firsts[] = {-1, 4, INT64_MIN, INT64_MAX};
    for (int i = 0; i < 4; i++) {
        int64_t index[3], bad = 0;
        memcpy(index, bad_indexes[i], sizeof index);
        const dt__array a = {x, DT_F32, 1, &four, &one}, at = {index, DT_I64, 1, &three, &one},
                        b = {y, DT_F32, 1, &three, &one};
        const dt__indexed request = {&a, 0, &at, 0, 4, &b, false, NULL};
        const dt__kernels *k = dt__kernels_best();
        assert_false(dt__index_select(k, NULL, &request, &bad));
        assert_true(bad == firsts[i]);
        assert_false(dt__index_add(k, NULL, &request, &bad));
        assert_false(dt__gather_along(k, NULL, &request, &bad));
        assert_false(dt__scatter_along(k, NULL, &request, true, &bad));
        assert_true(bad == firsts[i]);
        assert_memory_equal(x, ((float[]){1, 2, 3, 4}), sizeof x);
        assert_memory_equal(y, ((float[]){7, 7, 7}), sizeof y);
    }
}

static void triangle__random_matrices(void **state) {
    (void)state;
    uint64_t random = test_seed(3);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 2);
    for (int i = 0; i < 600; i++) {
        const dt_dtype dtype = all_dtypes[(size_t)i % (sizeof all_dtypes / sizeof *all_dtypes)];
        int64_t shape[MAX_DIMS], index[MAX_DIMS] = {0};
        const int n_dims = 2 + (int)test_below(&random, 3);
        for (int d = 0; d < n_dims; d++)
            shape[d] = test_below(&random, 30) ? 1 + test_below(&random, d < n_dims - 2 ? 3 : 20) : 0;
        test_array in, out;
        const bool in_place = test_below(&random, 3) == 0;
        test_array_make(&in, dtype, n_dims, shape, (test_layout)test_below(&random, in_place ? 2 : 3), &random);
        test_array_make(&out, dtype, n_dims, shape, (test_layout)test_below(&random, 2), &random);
        test_array *to = in_place ? &in : &out;
        const dt__triangle triangle = {&in.a,
                                       &to->a,
                                       test_below(&random, 2),
                                       test_below(&random, 9) - 4,
                                       test_below(&random, 30),
                                       test_below(&random, 30)};
        const array_copy before = array_copy_of(&in);
        dt__triangle_run(i % 2 ? dt__kernels_best() : &dt__kernels_plain, i % 3 ? NULL : pool, &triangle);
        if (!is_empty(&in.a))
            do {
                const int64_t off = index[n_dims - 1] + triangle.column - index[n_dims - 2] - triangle.row;
                const bool is_kept = triangle.upper ? off >= triangle.diagonal : off <= triangle.diagonal;
                const char zero[16] = {0};
                assert_memory_equal(element_at(&to->a, n_dims, index),
                                    is_kept ? element_at(&before.a, n_dims, index) : zero, dt_dtype_size(dtype));
            } while (next_index(n_dims, shape, index));
        free(before.memory);
        test_array_free(&in);
        test_array_free(&out);
    }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexing__rows),
        cmocka_unit_test(indexing__elements),
        cmocka_unit_test(indexing__threads_add_everything_once),
        cmocka_unit_test(scatter__adds_in_order_on_threads),
        cmocka_unit_test(indexing__half_sums_are_rounded_once),
        cmocka_unit_test(indexing__half_sums_do_not_depend_on_threads),
        cmocka_unit_test(indexing__bad_indexes_are_reported_and_not_used),
        cmocka_unit_test(triangle__random_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
