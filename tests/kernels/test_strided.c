/* SPDX-License-Identifier: Apache-2.0
 *
 * Strided copies of every table against copying index by index, on random shapes, layouts and element sizes: gaps,
 * permuted and negative strides, broadcast sources, empty dims, no dims, many dims.
 */
#include "kernels/support.h"

enum { MAX_DIMS = 70, N_CASES = 3000 };

typedef struct layout {
    int64_t strides[MAX_DIMS];
    int64_t first, n_elements; /* index of element 0,0,… in a block of n_elements */
} layout;

/* Dims in random order from the fastest to the slowest, some with gaps, some with negative strides, some with stride
 * 0. */
static layout random_layout(uint64_t *random, int n_dims, const int64_t *sizes, bool may_broadcast) {
    layout l = {.n_elements = 1};
    int order[MAX_DIMS];
    for (int d = 0; d < n_dims; d++)
        order[d] = d;
    bool shuffled = test_below(random, 3) != 0;
    for (int d = n_dims - 1; d > 0 && shuffled; d--) {
        int other = (int)test_below(random, d + 1), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
    for (int i = n_dims - 1; i >= 0; i--) {
        int d = order[i];
        int64_t size = sizes[d] ? sizes[d] : 1;
        if (may_broadcast && test_below(random, 6) == 0) {
            l.strides[d] = 0;
            continue;
        }
        int64_t gap = test_below(random, 5) == 0 ? 1 + test_below(random, 3) : 0;
        l.strides[d] = l.n_elements + gap;
        l.n_elements += l.strides[d] * (size - 1);
        if (test_below(random, 5) == 0) {
            l.first += l.strides[d] * (size - 1);
            l.strides[d] = -l.strides[d];
        }
    }
    return l;
}

static int64_t offset_of(const layout *l, int n_dims, const int64_t *index) {
    int64_t at = l->first;
    for (int d = 0; d < n_dims; d++)
        at += index[d] * l->strides[d];
    return at;
}

static bool next_index(int n_dims, const int64_t *sizes, int64_t *index) {
    for (int d = n_dims - 1; d >= 0; d--) {
        if (++index[d] < sizes[d])
            return true;
        index[d] = 0;
    }
    return false;
}

/* The expected dst: bytes between its elements are not written. */
static void copy_by_index(unsigned char *dst, const layout *to, const unsigned char *src, const layout *from,
                          int n_dims, const int64_t *sizes, size_t bytes) {
    int64_t index[MAX_DIMS] = {0};
    for (int d = 0; d < n_dims; d++)
        if (sizes[d] == 0)
            return;
    do
        memcpy(dst + offset_of(to, n_dims, index) * (int64_t)bytes,
               src + offset_of(from, n_dims, index) * (int64_t)bytes, bytes);
    while (next_index(n_dims, sizes, index));
}

static void check_layouts(uint64_t *random, int n_dims, const int64_t *sizes, size_t bytes) {
    layout to = random_layout(random, n_dims, sizes, false), from = random_layout(random, n_dims, sizes, true);
    size_t dst_bytes = (size_t)to.n_elements * bytes, src_bytes = (size_t)from.n_elements * bytes;
    guarded src = guarded_new(src_bytes, (size_t)test_below(random, ALIGNMENT));
    unsigned char *expected = malloc(dst_bytes);
    uint64_t salt = test_random(random);
    for (size_t i = 0; i < src_bytes; i++)
        src.data[i] = (unsigned char)((i * 0x9e3779b97f4a7c15u + salt) >> 56);
    memset(expected, 0x5c, dst_bytes);
    copy_by_index(expected, &to, src.data, &from, n_dims, sizes, bytes);
    for (int t = 0; t < N_NAMES; t++) {
        if (!table_at(t))
            continue;
        guarded dst = guarded_new(dst_bytes, (size_t)test_below(random, ALIGNMENT));
        memset(dst.data, 0x5c, dst_bytes);
        dt__strided copy = {dst.data + to.first * (int64_t)bytes,
                            src.data + from.first * (int64_t)bytes,
                            bytes,
                            n_dims,
                            sizes,
                            to.strides,
                            from.strides};
        table_at(t)->copy_strided(&copy, test_below(random, 2) ? DT__STREAM : DT__CACHED);
        for (size_t i = 0; memcmp(dst.data, expected, dst_bytes) != 0 && i < dst_bytes; i++)
            if (dst.data[i] != expected[i])
                fail_msg(
                    "%s: %d dims, sizes %ld %ld %ld.., strides %ld %ld %ld.. from %ld %ld %ld.., %zu bytes each: "
                    "byte %zu: expected %d, got %d",
                    table_names[t], n_dims, (long)sizes[0], (long)sizes[1], (long)sizes[2], (long)to.strides[0],
                    (long)to.strides[1], (long)to.strides[2], (long)from.strides[0], (long)from.strides[1],
                    (long)from.strides[2], bytes, i, expected[i], dst.data[i]);
        if (!guarded_is_intact(&dst))
            fail_msg("%s wrote outside of dst: %d dims, %zu bytes each", table_names[t], n_dims, bytes);
        guarded_free(&dst);
    }
    guarded_free(&src);
    free(expected);
}

static size_t random_element_bytes(uint64_t *random) {
    static const size_t common[] = {1, 2, 4, 8, 16};
    return test_below(random, 8) ? common[test_below(random, 5)] : (size_t)(1 + test_below(random, 40));
}

static void strided__random_layouts_equal_copying_by_index(void **state) {
    (void)state;
    uint64_t random = test_seed(1);
    for (int i = 0; i < N_CASES; i++) {
        int64_t sizes[MAX_DIMS] = {0};
        int n_dims = (int)test_below(&random, 7);
        int64_t max_elements = 20000;
        for (int d = 0; d < n_dims; d++) {
            int64_t max_size = max_elements < 200 ? max_elements : 200;
            sizes[d] = test_below(&random, 60) == 0  ? 0
                       : test_below(&random, 3) == 0 ? 1 + test_below(&random, max_size)
                                                     : 1 + test_below(&random, max_size < 9 ? max_size : 9);
            max_elements /= sizes[d] ? sizes[d] : 1;
            max_elements = max_elements ? max_elements : 1;
        }
        check_layouts(&random, n_dims, sizes, random_element_bytes(&random));
    }
}

/* Two dims, which are copied in tiles: sizes around the sizes of registers and tiles. */
static void strided__planes_around_the_tile_size(void **state) {
    (void)state;
    static const int64_t around[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100};
    enum { N = sizeof around / sizeof *around };
    uint64_t random = test_seed(2);
    for (int x = 0; x < N; x++)
        for (int y = 0; y < N; y++)
            for (size_t bytes = 1; bytes <= 16; bytes *= 2)
                check_layouts(&random, 2, (int64_t[MAX_DIMS]){around[x], around[y]}, bytes);
}

static void strided__transposes(void **state) {
    (void)state;
    enum { ROWS = 67, COLUMNS = 93 };
    for (int t = 0; t < N_NAMES; t++) {
        static int32_t a[ROWS][COLUMNS], b[COLUMNS][ROWS];
        if (!table_at(t))
            continue;
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < COLUMNS; c++)
                a[r][c] = r * 1000 + c;
        dt__strided copy = {b, a, 4, 2, (int64_t[]){COLUMNS, ROWS}, (int64_t[]){ROWS, 1}, (int64_t[]){1, COLUMNS}};
        table_at(t)->copy_strided(&copy, DT__CACHED);
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < COLUMNS; c++)
                assert_int_equal(b[c][r], r * 1000 + c);
    }
}

static void strided__many_dims_of_size_one_and_two(void **state) {
    (void)state;
    uint64_t random = test_seed(3);
    for (int i = 0; i < 200; i++) {
        int64_t sizes[MAX_DIMS];
        for (int d = 0; d < MAX_DIMS; d++)
            sizes[d] = 1;
        for (int twos = 0; twos < 10; twos++)
            sizes[test_below(&random, MAX_DIMS)] = 2;
        check_layouts(&random, MAX_DIMS, sizes, random_element_bytes(&random));
    }
}

static void strided__rows_long_enough_to_stream(void **state) {
    (void)state;
    uint64_t random = test_seed(4);
    for (int i = 0; i < 30; i++)
        check_layouts(&random, 3, (int64_t[MAX_DIMS]){3, 2, 300 + test_below(&random, 3000)},
                      random_element_bytes(&random));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strided__random_layouts_equal_copying_by_index),
        cmocka_unit_test(strided__planes_around_the_tile_size),
        cmocka_unit_test(strided__transposes),
        cmocka_unit_test(strided__many_dims_of_size_one_and_two),
        cmocka_unit_test(strided__rows_long_enough_to_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
