/* SPDX-License-Identifier: Apache-2.0
 *
 * Every tuned table that this CPU runs computes the bits of the plain one: all dtypes, reductions, numbers of sources,
 * lengths around the sizes of registers and blocks, unaligned buffers, in place on each source, both kinds of stores.
 */
#include "kernels/support.h"

static const int source_counts[] = {1, 2, 3, 4, 5, 8, 17};
static const size_t lengths[] = {0,  1,  2,  3,   7,   8,   15,  16,  17,  31,   32,  33,
                                 63, 64, 65, 127, 129, 255, 256, 257, 511, 1000, 4099};
enum { MAX_SRCS = 17, MAX_LENGTH = 4099, PLAIN_LENGTH = 65 };

typedef struct sources {
    guarded at[MAX_SRCS];
    const void *pointers[MAX_SRCS];
} sources;

static sources sources_new(dt_dtype dtype, uint64_t *random) {
    sources s;
    for (int k = 0; k < MAX_SRCS; k++) {
        s.at[k] = guarded_new(MAX_LENGTH * dt_dtype_size(dtype), (size_t)test_below(random, ALIGNMENT));
        random_elements(dtype, random, s.at[k].data, MAX_LENGTH);
        s.pointers[k] = s.at[k].data;
    }
    return s;
}

static void sources_free(sources *s) {
    for (int k = 0; k < MAX_SRCS; k++)
        guarded_free(&s->at[k]);
}

typedef struct reduce_case {
    const dt__kernels *table;
    dt_dtype dtype;
    dt_reduce op;
    int n_srcs;
    size_t n;
    int64_t divisor;
    dt__store store;
} reduce_case;

static void check_bits(const reduce_case *c, const sources *s, const guarded *dst, const void *expected,
                       int in_place) {
    int64_t at = first_difference(c->dtype, dst->data, expected, c->n);
    if (at >= 0)
        fail_msg("%s %s %s of %d, n %zu, store %d, in place on %d: number %ld: plain has %lx, got %lx (sources %lx "
                 "%lx...)",
                 c->table->name, dt_dtype_name(c->dtype), dt_reduce_name(c->op), c->n_srcs, c->n, c->store, in_place,
                 (long)at, (unsigned long)real_bits(c->dtype, expected, at),
                 (unsigned long)real_bits(c->dtype, dst->data, at),
                 (unsigned long)real_bits(c->dtype, s->pointers[0], at),
                 (unsigned long)real_bits(c->dtype, s->pointers[c->n_srcs > 1], at));
    if (!guarded_is_intact(dst))
        fail_msg("%s %s %s of %d, n %zu: wrote outside of dst", c->table->name, dt_dtype_name(c->dtype),
                 dt_reduce_name(c->op), c->n_srcs, c->n);
}

static void check_out_of_place(const reduce_case *c, const sources *s, const void *expected, uint64_t *random) {
    const size_t size = dt_dtype_size(c->dtype);
    const size_t offsets[] = {0, size, 1, (size_t)test_below(random, ALIGNMENT)};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        guarded dst = guarded_new(c->n * size, offsets[i]);
        c->table->reduce(c->dtype, c->op, dst.data, s->pointers, c->n_srcs, c->n, c->divisor, c->store);
        check_bits(c, s, &dst, expected, -1);
        guarded_free(&dst);
    }
}

/* dst is source k. */
static void check_in_place(const reduce_case *c, const sources *s, const void *expected, uint64_t *random) {
    const size_t bytes = c->n * dt_dtype_size(c->dtype);
    for (int k = 0; k < c->n_srcs; k++) {
        sources with_dst = *s;
        guarded dst = guarded_new(bytes, (size_t)test_below(random, ALIGNMENT));
        memcpy(dst.data, s->pointers[k], bytes);
        with_dst.pointers[k] = dst.data;
        c->table->reduce(c->dtype, c->op, dst.data, with_dst.pointers, c->n_srcs, c->n, c->divisor, c->store);
        check_bits(c, s, &dst, expected, k);
        guarded_free(&dst);
    }
}

static void check_tables(reduce_case c, const sources *s, const void *expected, uint64_t *random) {
    for (int t = 0; t < N_NAMES; t++)
        for (int store = DT__CACHED; store <= DT__STREAM; store++) {
            c.table = table_at(t);
            c.store = (dt__store)store;
            if (!c.table || (c.table == &dt__kernels_plain && (c.store == DT__STREAM || c.n > PLAIN_LENGTH)))
                continue;
            check_out_of_place(&c, s, expected, random);
            check_in_place(&c, s, expected, random);
        }
}

static void check_dtype(dt_dtype dtype, uint64_t *random) {
    static const int64_t divisors[] = {1, 2, 3, 7, 127, 128, 300, 1000003};
    const size_t size = dt_dtype_size(dtype);
    void *expected = malloc(MAX_LENGTH * size);
    sources s = sources_new(dtype, random);
    for (int op = 0; op < DT_N_REDUCES; op++)
        for (size_t c = 0; c < sizeof source_counts / sizeof *source_counts; c++) {
            if (!dt_reduce_allowed(dtype, (dt_reduce)op))
                continue;
            reduce_case reduction = {.dtype = dtype, .op = (dt_reduce)op, .n_srcs = source_counts[c]};
            reduction.divisor = divisors[test_below(random, 8)];
            dt__kernels_plain.reduce(dtype, reduction.op, expected, s.pointers, reduction.n_srcs, MAX_LENGTH,
                                     reduction.divisor, DT__CACHED);
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
                reduction.n = lengths[l];
                check_tables(reduction, &s, expected, random);
            }
        }
    sources_free(&s);
    free(expected);
}

static void reduce__every_table_gives_the_bits_of_plain(void **state) {
    (void)state;
    uint64_t random = test_seed(1);
    for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
        check_dtype((dt_dtype)dtype, &random);
}

/* Shifts the data in memory element by element, so that each element is in every lane of a register. */
static void reduce__an_element_does_not_depend_on_its_lane(void **state) {
    (void)state;
    enum { N = 200, MAX_SHIFT = 64 };
    uint64_t random = test_seed(2);
    for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
        for (int op = 0; op < DT_N_REDUCES; op++) {
            const dt__kernels *best = dt__kernels_best();
            size_t size = dt_dtype_size((dt_dtype)dtype);
            if (!dt_reduce_allowed((dt_dtype)dtype, (dt_reduce)op))
                continue;
            char a[N * 16], b[N * 16], whole[N * 16], part[N * 16];
            random_elements((dt_dtype)dtype, &random, a, N);
            random_elements((dt_dtype)dtype, &random, b, N);
            best->reduce((dt_dtype)dtype, (dt_reduce)op, whole, (const void *[]){a, b}, 2, N, 3, DT__CACHED);
            for (size_t shift = 0; shift < MAX_SHIFT; shift++) {
                size_t n = N - 2 * shift;
                best->reduce((dt_dtype)dtype, (dt_reduce)op, part,
                             (const void *[]){a + shift * size, b + shift * size}, 2, n, 3, DT__CACHED);
                int64_t at = first_difference((dt_dtype)dtype, part, whole + shift * size, n);
                if (at >= 0)
                    fail_msg("%s %s: number %ld of the part from element %zu: expected %lx as in the whole, got %lx",
                             dt_dtype_name((dt_dtype)dtype), dt_reduce_name((dt_reduce)op), (long)at, shift,
                             (unsigned long)real_bits((dt_dtype)dtype, whole + shift * size, at),
                             (unsigned long)real_bits((dt_dtype)dtype, part, at));
            }
        }
}

static void accumulate__is_a_reduction_of_dst_and_src(void **state) {
    (void)state;
    uint64_t random = test_seed(3);
    enum { N = 1003 };
    for (int t = 0; t < N_NAMES; t++)
        for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
            for (int op = 0; op < DT_N_REDUCES; op++) {
                const dt__kernels *table = table_at(t);
                if (!table || !dt_reduce_allowed((dt_dtype)dtype, (dt_reduce)op))
                    continue;
                size_t size = dt_dtype_size((dt_dtype)dtype);
                guarded dst = guarded_new(N * size, 3), src = guarded_new(N * size, 5);
                char *expected = malloc(N * size);
                random_elements((dt_dtype)dtype, &random, dst.data, N);
                random_elements((dt_dtype)dtype, &random, src.data, N);
                dt__kernels_plain.reduce((dt_dtype)dtype, op == DT_AVG ? DT_SUM : (dt_reduce)op, expected,
                                         (const void *[]){dst.data, src.data}, 2, N, 1, DT__CACHED);
                table->accumulate((dt_dtype)dtype, (dt_reduce)op, dst.data, src.data, N);
                reduce_case c = {table, (dt_dtype)dtype, (dt_reduce)op, 2, N, 1, DT__CACHED};
                check_bits(&c, &(sources){.pointers = {src.data, src.data}}, &dst, expected, 0);
                guarded_free(&dst);
                guarded_free(&src);
                free(expected);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduce__every_table_gives_the_bits_of_plain),
        cmocka_unit_test(reduce__an_element_does_not_depend_on_its_lane),
        cmocka_unit_test(accumulate__is_a_reduction_of_dst_and_src),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
