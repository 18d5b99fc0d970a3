/* SPDX-License-Identifier: Apache-2.0
 *
 * Contiguous copy and fill of every table: sizes around the sizes of registers and blocks, all alignments, both kinds
 * of stores.
 */
#include "kernels/support.h"

static const size_t sizes[] = {0,   1,   2,    3,    7,    8,    15,    16,     17,      31,          32,
                               33,  63,  64,   65,   127,  128,  129,   191,    192,     255,         256,
                               257, 511, 1000, 1023, 4099, 8192, 65537, 300000, 1048577, 8388608 + 77};

static void random_bytes(uint64_t *random, void *out, size_t n) {
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)out)[i] = (unsigned char)test_random(random);
}

static void check_copy(const dt__kernels *table, size_t bytes, dt__store store, uint64_t *random) {
    size_t dst_offset = (size_t)test_below(random, ALIGNMENT), src_offset = (size_t)test_below(random, ALIGNMENT);
    guarded dst = guarded_new(bytes, dst_offset), src = guarded_new(bytes, src_offset);
    random_bytes(random, src.data, bytes);
    table->copy(dst.data, src.data, bytes, store);
    if (memcmp(dst.data, src.data, bytes) != 0 || !guarded_is_intact(&dst))
        fail_msg("%s copy of %zu bytes from +%zu to +%zu, store %d is wrong", table->name, bytes, src_offset,
                 dst_offset, store);
    guarded_free(&dst);
    guarded_free(&src);
}

static void copy__copies_and_stays_inside(void **state) {
    (void)state;
    uint64_t random = test_seed(1);
    for (int t = 0; t < N_NAMES; t++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int round = 0; table_at(t) && round < (sizes[s] < 10000 ? 100 : 3); round++)
                check_copy(table_at(t), sizes[s], round % 2 ? DT__STREAM : DT__CACHED, &random);
}

static void check_rows(const dt__kernels *table, size_t bytes, dt__store store, uint64_t *random) {
    enum { N = 5 };
    guarded dsts[N], srcs[N];
    void *to[N];
    const void *from[N];
    for (int i = 0; i < N; i++) {
        dsts[i] = guarded_new(bytes, (size_t)test_below(random, ALIGNMENT));
        srcs[i] = guarded_new(bytes, (size_t)test_below(random, ALIGNMENT));
        random_bytes(random, srcs[i].data, bytes);
        random_bytes(random, dsts[i].data, bytes);
        to[i] = dsts[i].data;
        from[i] = test_below(random, 4) ? srcs[i].data : NULL;
    }
    table->copy_rows(N, to, from, bytes, store);
    for (int i = 0; i < N; i++) {
        for (size_t at = 0; at < bytes; at++)
            if (dsts[i].data[at] != (from[i] ? srcs[i].data[at] : 0))
                fail_msg("%s copy of rows of %zu bytes, store %d: row %d, byte %zu: expected %d, got %d", table->name,
                         bytes, store, i, at, from[i] ? srcs[i].data[at] : 0, dsts[i].data[at]);
        if (!guarded_is_intact(&dsts[i]))
            fail_msg("%s copy of rows of %zu bytes, store %d wrote outside", table->name, bytes, store);
        guarded_free(&dsts[i]);
        guarded_free(&srcs[i]);
    }
}

static void rows__are_copied_or_set_to_zero(void **state) {
    (void)state;
    uint64_t random = test_seed(3);
    for (int t = 0; t < N_NAMES; t++)
        for (size_t s = 0; sizes[s] < 10000; s++)
            for (int round = 0; table_at(t) && round < 20; round++)
                check_rows(table_at(t), sizes[s], round % 2 ? DT__STREAM : DT__CACHED, &random);
}

static void check_fill(const dt__kernels *table, size_t value_bytes, size_t n, dt__store store, uint64_t *random) {
    unsigned char value[3000];
    size_t offset = (size_t)test_below(random, ALIGNMENT);
    guarded dst = guarded_new(value_bytes * n, offset);
    random_bytes(random, value, value_bytes);
    table->fill(dst.data, value, value_bytes, n, store);
    for (size_t i = 0; i < value_bytes * n; i++)
        if (dst.data[i] != value[i % value_bytes])
            fail_msg("%s fill with %zu values of %zu bytes at +%zu, store %d: byte %zu: expected %d, got %d",
                     table->name, n, value_bytes, offset, store, i, value[i % value_bytes], dst.data[i]);
    if (!guarded_is_intact(&dst))
        fail_msg("%s fill with %zu values of %zu bytes at +%zu wrote outside", table->name, n, value_bytes, offset);
    guarded_free(&dst);
}

static void fill__repeats_the_value_and_stays_inside(void **state) {
    (void)state;
    static const size_t value_sizes[] = {1, 2, 3, 4, 5, 8, 12, 16, 24, 32, 64, 100, 3000};
    static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 31, 33, 64, 65, 129, 1000};
    uint64_t random = test_seed(2);
    for (int t = 0; t < N_NAMES; t++)
        for (size_t v = 0; v < sizeof value_sizes / sizeof *value_sizes; v++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                for (int round = 0; table_at(t) && round < 20; round++)
                    check_fill(table_at(t), value_sizes[v], counts[c], round % 2 ? DT__STREAM : DT__CACHED, &random);
}

/* Empty shards have no memory. */
static void empty_buffers__may_be_null(void **state) {
    (void)state;
    for (int t = 0; t < N_NAMES; t++)
        for (int store = DT__CACHED; table_at(t) && store <= DT__STREAM; store++) {
            const dt__kernels *table = table_at(t);
            table->copy(NULL, NULL, 0, (dt__store)store);
            table->copy_rows(0, NULL, NULL, 8, (dt__store)store);
            table->fill(NULL, NULL, 4, 0, (dt__store)store);
            table->reduce(DT_F32, DT_AVG, NULL, (const void *[]){NULL, NULL}, 2, 0, 2, (dt__store)store);
            table->reduce(DT_I32, DT_AVG, NULL, (const void *[]){NULL, NULL}, 2, 0, 2, (dt__store)store);
            table->accumulate(DT_F16, DT_SUM, NULL, NULL, 0);
            table->copy_strided(&(dt__strided){NULL, NULL, 4, 1, (int64_t[]){0}, (int64_t[]){1}, (int64_t[]){1}},
                                (dt__store)store);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy__copies_and_stays_inside),
        cmocka_unit_test(rows__are_copied_or_set_to_zero),
        cmocka_unit_test(empty_buffers__may_be_null),
        cmocka_unit_test(fill__repeats_the_value_and_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
