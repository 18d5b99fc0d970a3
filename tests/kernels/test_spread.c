/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills by several threads against those by one: sizes around the smallest that use threads, any strides,
 * several numbers of threads.
 */
#include "kernels/support.h"

#include "base/ctx.h"
#include "kernels/kernels.h"

static const int threads[] = {1, 2, 3, 5};
enum { N_THREADS = sizeof threads / sizeof *threads, N_CASES = 60 };

static void with_pools(void (*check)(const dt__kernels *kernels, dt__pool *pool)) {
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){0});
    check(dt__kernels_best(), NULL);
    for (int k = 0; k < N_THREADS; k++) {
        dt__pool *pool = dt__pool_new(ctx, threads[k]);
        check(dt__kernels_best(), pool);
        dt__pool_free(pool);
    }
    dt__ctx_free(ctx);
}

static void check_fills(const dt__kernels *kernels, dt__pool *pool) {
    static const int64_t bytes[] = {0, 1, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 17, 5000001};
    const unsigned char value[16] = "sixteen bytes!!";
    unsigned char *dst = malloc(5000064);
    for (int b = 0; b < 7; b++)
        for (size_t size = 1; size <= 16; size++) {
            int64_t n = bytes[b] / (int64_t)size;
            size_t end = (size_t)n * size;
            memset(dst, 0, end + 32);
            dt__spread_fill(kernels, pool, dst + 1, value, size, n);
            for (size_t i = 0; i < end; i++)
                if (dst[1 + i] != value[i % size])
                    fail_msg("values of %zu bytes: byte %zu of %zu: expected %d, got %d", size, i, end,
                             value[i % size], dst[1 + i]);
            assert_int_equal(dst[0], 0);
            assert_int_equal(dst[1 + end], 0);
        }
    free(dst);
}

static void fills__write_all_and_nothing_else(void **state) {
    (void)state;
    with_pools(check_fills);
}

/* A copy of a shape, with dst and src in any order of dims, forwards or backwards. */
typedef struct strided_copy {
    int n_dims;
    int64_t sizes[4], dst[4], src[4], dst_first, src_first, n;
} strided_copy;

static void random_strides(uint64_t *random, const strided_copy *c, int64_t *strides, int64_t *first) {
    int order[4] = {0, 1, 2, 3};
    int64_t step = 1;
    *first = 0;
    for (int d = c->n_dims - 1; d >= 0; d--) {
        int other = (int)test_below(random, d + 1), dim = order[other];
        order[other] = order[d];
        strides[dim] = step;
        if (test_below(random, 4) == 0) {
            *first += step * (c->sizes[dim] - 1);
            strides[dim] = -step;
        }
        step *= c->sizes[dim];
    }
}

static strided_copy random_copy(uint64_t *random) {
    strided_copy c = {.n_dims = (int)test_below(random, 5), .n = 1};
    for (int d = 0; d < c.n_dims; d++) {
        int64_t max_size = (1 << 20) / c.n;
        c.sizes[d] = 1 + test_below(random, max_size < 2000 || d + 1 == c.n_dims ? max_size : 2000);
        c.n *= c.sizes[d];
    }
    random_strides(random, &c, c.dst, &c.dst_first);
    random_strides(random, &c, c.src, &c.src_first);
    return c;
}

static void check_copies(const dt__kernels *kernels, dt__pool *pool) {
    static const size_t element_sizes[] = {1, 2, 4, 8};
    uint64_t random = test_seed(5);
    size_t capacity = 8u << 20;
    unsigned char *src = malloc(capacity), *dst = malloc(capacity), *expected = malloc(capacity);
    for (size_t i = 0; i < capacity; i++)
        src[i] = (unsigned char)test_random(&random);
    for (int i = 0; i < N_CASES; i++) {
        strided_copy c = random_copy(&random);
        size_t element_bytes = element_sizes[test_below(&random, 4)], bytes = (size_t)c.n * element_bytes;
        dt__strided request = {.src = src + c.src_first * (int64_t)element_bytes,
                               .element_bytes = element_bytes,
                               .n_dims = c.n_dims,
                               .sizes = c.sizes,
                               .dst_strides = c.dst,
                               .src_strides = c.src};
        request.dst = expected + c.dst_first * (int64_t)element_bytes;
        kernels->copy_strided(&request, DT__CACHED);
        memset(dst, 0, bytes);
        request.dst = dst + c.dst_first * (int64_t)element_bytes;
        dt__spread_copy(kernels, pool, &request, i % 2 ? DT__STREAM : DT__CACHED);
        if (memcmp(dst, expected, bytes) != 0)
            fail_msg("copy %d of %d dims, %zu bytes each: bytes differ from those of one thread", i, c.n_dims,
                     element_bytes);
    }
    free(src);
    free(dst);
    free(expected);
}

static void copies__are_those_of_one_thread(void **state) {
    (void)state;
    with_pools(check_copies);
}

static void dims__are_split_where_the_stride_of_dst_is_largest(void **state) {
    (void)state;
    assert_int_equal(dt__spread_dim(3, (int64_t[]){20, 30, 40}, (int64_t[]){1200, 40, 1}, 10), 0);
    assert_int_equal(dt__spread_dim(3, (int64_t[]){20, 30, 40}, (int64_t[]){1, 20, -600}, 10), 2);
    assert_int_equal(dt__spread_dim(3, (int64_t[]){3, 30, 40}, (int64_t[]){1200, 40, 1}, 10), 1);
    assert_int_equal(dt__spread_dim(3, (int64_t[]){3, 4, 5}, (int64_t[]){20, 5, 1}, 10), 2);
    assert_int_equal(dt__spread_dim(1, (int64_t[]){3}, (int64_t[]){1}, 10), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills__write_all_and_nothing_else),
        cmocka_unit_test(copies__are_those_of_one_thread),
        cmocka_unit_test(dims__are_split_where_the_stride_of_dst_is_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
