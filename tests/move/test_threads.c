/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks of several threads: how blocks are divided among them, without ranks; random redistributions that are large
 * enough for several threads, against the definition; and reductions, whose bits do not depend on the number of
 * threads. Ranks 1 to 4 of 1, 2, 3 and 5 threads.
 *
 * ctest: processors=2
 */
#include "move/chunks.h"
#include "move/moves.h"

#include "dtensor/ops.h"
#include "dtensor/redistribute.h"

#include <dirent.h>

static const int threads[] = {1, 2, 3, 5};
enum { N_THREADS = sizeof threads / sizeof *threads };

/* Every range of positions of a piece is divided into pieces that have its indices in order. */
static void pieces__are_sliced_anywhere(void **state) {
    (void)state;
    for (int64_t size = 1; size <= 5; size++)
        for (int64_t n = 1; n <= 4; n++) {
            const dt__piece piece = {size, n, 7, 3, size + 2, size + 1};
            for (int64_t from = 0; from < size * n; from++)
                for (int64_t to = from + 1; to <= size * n; to++) {
                    int64_t at = from, n_parts = 0;
                    while (at < to) {
                        dt__piece part = dt__piece_slice(&piece, at, to);
                        for (int64_t i = 0; i < part.n * part.size; i++, at++) {
                            int64_t run = i / part.size, in = i % part.size;
                            assert_int_equal(part.src + run * part.src_step + in,
                                             7 + at / size * (size + 2) + at % size);
                            assert_int_equal(part.dst + run * part.dst_step + in,
                                             3 + at / size * (size + 1) + at % size);
                        }
                        n_parts++;
                    }
                    assert_int_equal(at, to);
                    assert_true(n_parts <= 3);
                }
        }
}

/* A block of one piece per dim of a dense target. */
typedef struct plain_block {
    dt__piece list[2];
    const dt__piece *pieces[2];
    int64_t n_pieces[2];
    dt__block block;
} plain_block;

static void make_block(plain_block *self, int64_t rows, int64_t columns) {
    self->list[0] = (dt__piece){.size = rows, .n = 1};
    self->list[1] = (dt__piece){.size = 1, .n = columns, .src_step = 2, .dst_step = 1};
    for (int d = 0; d < 2; d++) {
        self->pieces[d] = &self->list[d];
        self->n_pieces[d] = 1;
    }
    self->block = (dt__block){.elements = rows * columns, .pieces = self->pieces, .n_pieces = self->n_pieces};
}

/* The chunks of each block have the positions of one dim, in order. */
static void check_chunks(const dt__chunks *chunks, const plain_block *blocks, int64_t n_blocks) {
    int64_t i = 0;
    for (int64_t b = 0; b < n_blocks; b++) {
        int64_t at = 0, dim = chunks->list[i].dim, size = blocks[b].list[dim].size * blocks[b].list[dim].n;
        for (; i < chunks->n && chunks->list[i].block == b; i++) {
            assert_int_equal(chunks->list[i].dim, dim);
            assert_int_equal(chunks->list[i].begin, at);
            assert_true(chunks->list[i].end > at);
            at = chunks->list[i].end;
        }
        assert_int_equal(at, size);
    }
    assert_int_equal(i, chunks->n);
}

static void chunks__cover_the_blocks(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){0});
    static const int64_t shapes[][2] = {{1000, 1000}, {3, 1000000}, {1000000, 3}, {1, 1}, {1, 999999}, {7, 40000}};
    static const int64_t strides[][2] = {{1000000, 1}, {1, 1000000}};
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++)
            for (int order = 0; order < 2; order++)
                for (int n_threads = 1; n_threads <= 5; n_threads++) {
                    plain_block plain[2];
                    make_block(&plain[0], shapes[a][0], shapes[a][1]);
                    make_block(&plain[1], shapes[b][0], shapes[b][1]);
                    const dt__block blocks[] = {plain[0].block, plain[1].block};
                    dt__chunks chunks;
                    dt__arena arena = dt__arena_new(ctx);
                    dt__chunk_request test = {.n_dims = 2,
                                              .n_blocks = 2,
                                              .blocks = blocks,
                                              .n_threads = n_threads,
                                              .bytes_read = 4,
                                              .dst_strides = strides[order]};
                    assert_int_equal(dt__chunks_new(&arena, &test, &chunks), DT_OK);
                    bool large = blocks[0].elements + blocks[1].elements >= 1 << 18;
                    assert_int_equal(chunks.n > 0, large && n_threads > 1);
                    if (chunks.n)
                        check_chunks(&chunks, plain, 2);
                    dt__arena_free(&arena);
                }
    dt__ctx_free(ctx);
}

/* A tensor with too many elements for a list of small chunks. */
static void chunks__are_few(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){0});
    dt__arena arena = dt__arena_new(ctx);
    plain_block plain;
    make_block(&plain, (int64_t)1 << 40, 1001);
    dt__chunks chunks;
    dt__chunk_request test = {.n_dims = 2,
                              .n_blocks = 1,
                              .blocks = &plain.block,
                              .n_threads = 8,
                              .bytes_read = 16,
                              .dst_strides = (const int64_t[]){1001, 1}};
    assert_int_equal(dt__chunks_new(&arena, &test, &chunks), DT_OK);
    assert_in_range(chunks.n, 8, 1000);
    check_chunks(&chunks, &plain, 1);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

/* At least about a million bytes per rank for most dtypes. */
static int shape_worth_threads(uint64_t *random, int64_t *shape) {
    static const int long_sizes[] = {128, 129, 200, 251}, short_sizes[] = {8, 11, 13, 16};
    int at = brute_below(random, 3);
    for (int d = 0; d < 3; d++)
        shape[d] = d == at ? short_sizes[brute_below(random, 4)] : long_sizes[brute_below(random, 4)];
    return 3;
}

static int count_threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;
    for (const struct dirent *entry; tasks && (entry = readdir(tasks));)
        n += entry->d_name[0] != '.';
    closedir(tasks);
    return n;
}

static int run_random_cases(dt_ctx *ctx, void *arg) {
    static _Thread_local moves_case test;
    uint64_t random = *(const uint64_t *)arg;
    for (int i = 0; i < 5; i++) {
        int64_t shape[BRUTE_MAX_DIMS];
        int n_dims = shape_worth_threads(&random, shape);
        moves_random_of(&random, dt_world(ctx), n_dims, shape, &test);
        if (moves_run(ctx, &test))
            return 1;
    }
    return 0;
}

static void moves__have_their_values_with_any_number_of_threads(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        for (int k = 1; k < N_THREADS; k++) {
            uint64_t seed = test_seed((uint64_t)(100 * n + k));
            run_ranks_with(&(test_ranks){.n = n, .options = {.threads = threads[k]}}, run_random_cases, &seed);
        }
}

/* A redistribution that is run with several numbers of threads, and the result of the first run. */
struct sums {
    dt_dtype dtype;
    const char *from, *to;
    bool transposed;
    int n_threads;
    bool has_first;
    unsigned char *first; /* MAX_BYTES per rank */
};

enum { ROWS = 517, COLUMNS = 1031, MAX_BYTES = 16 * ROWS * COLUMNS };

/* Random numbers from -1 to 1, whose sums are rounded. */
static void fill_numbers(dt_dtype dtype, void *out, uint64_t seed) {
    size_t item = dt_dtype_size(dtype);
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS * item; i += item) {
        double f64 = (double)test_below(&seed, (int64_t)1 << 52) / (double)((int64_t)1 << 51) - 1;
        float f32[2] = {(float)f64, (float)(f64 * f64)};
        if (dtype == DT_F64)
            memcpy((char *)out + i, &f64, item);
        else
            memcpy((char *)out + i, (char *)f32 + (dtype == DT_BF16 ? 2 : 0), item);
    }
}

static int compare_bits(dt_ctx *ctx, void *arg) {
    const struct sums *test = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *x = test->transposed ? dt_transpose(dt_empty(ctx, DT_SHAPE(COLUMNS, ROWS), .dtype = test->dtype), 0, 1)
                                    : dt_empty(ctx, DT_SHAPE(ROWS, COLUMNS), .dtype = test->dtype);
    fill_numbers(test->dtype, dt_data(x), test_seed((uint64_t)dt_rank(ctx)));
    dt_tensor *y = dt_redistribute(dt_from_local(ctx, x, mesh, test->from), test->to);
    CHECK(y, "%s", dt_error_text(ctx));
    size_t bytes = (size_t)dt_tensor_local_elements(y) * dt_dtype_size(test->dtype);
    unsigned char *first = test->first + (size_t)dt_rank(ctx) * MAX_BYTES;
    CHECK(bytes <= MAX_BYTES, "%zu", bytes);
    CHECK(test->n_threads == 1 || test_with_tsan || dt__has_nodes(ctx) || count_threads() == test->n_threads,
          "expected %d threads, got %d", test->n_threads, count_threads());
    if (!test->has_first)
        memcpy(first, dt_data(y), bytes);
    CHECK(!memcmp(first, dt_data(y), bytes), "%s to %s, %s: the bits differ with %d threads", test->from, test->to,
          dt_dtype_name(test->dtype), test->n_threads);
    dt_mesh_release(mesh);
    return 0;
}

static void sums__have_the_same_bits_with_any_number_of_threads(void **state) {
    (void)state;
    static const dt_dtype dtypes[] = {DT_F32, DT_BF16, DT_F64, DT_C64};
    static const char *const kinds[] = {"P(sum)", "P(avg)", "P(product)", "P(max)"};
    static const char *const targets[] = {"R", "S(0)", "S(1)", "_S(1,3)"};
    struct sums test = {.first = test_shared_memory((size_t)3 * MAX_BYTES)};
    for (int i = 0; i < 4; i++)
        for (int t = 0; t < 4; t++) {
            test.dtype = dtypes[(i + t) % 4];
            test.from = test.dtype == DT_C64 && i == 3 ? "P(sum)" : kinds[i];
            test.to = targets[t];
            test.transposed = t % 2;
            for (int k = 0; k < N_THREADS; k++) {
                test.has_first = k > 0;
                test.n_threads = threads[k];
                run_ranks_with(&(test_ranks){.n = 3, .options = {.threads = threads[k]}}, compare_bits, &test);
            }
        }
}

/* The n-th allocation of a redistribution fails. Without a thread pool one thread runs it, which is not an error. */
static void moves__succeed_or_report_exhausted_memory(void **state) {
    (void)state;
    bool has_failed = true;
    long n_refused = 0;
    for (long n = 1; has_failed; n++) {
        test_memory memory = {0};
        dt_ctx *ctx = dt_init(
            &(dt_init_options){.transport = "self", .threads = 3, .allocator = test_memory_allocator(&memory)});
        dt_mesh *mesh = dt_mesh_new(ctx, "1");
        dt_tensor *x = dt_empty(ctx, DT_SHAPE(ROWS, COLUMNS), .mesh = mesh, .place = "S(0)");
        dt_spec *to = dt_spec_new(
            mesh,
            &(dt_spec_desc){.dtype = DT_F32, .n_dims = 2, .shape = (const int64_t[]){ROWS, COLUMNS}, .text = "S(1)"});
        size_t bytes = (size_t)ROWS * COLUMNS * sizeof(float);
        float *dst = calloc(1, bytes);
        fill_numbers(DT_F32, dt_data(x), test_seed(1));
        memory.fail_at = memory.n_calls + n;
        dt_status status = dt__redistribute_run(&(dt__redistribution){
            .from = dt_tensor_spec(x), .to = to, .src = dt_data(x), .dst = dst, .planner = DT__PLANNER_DIRECT});
        has_failed = memory.n_calls >= memory.fail_at;
        memory.fail_at = 0;
        assert_true(status == DT_OK || (has_failed && status == DT_ERR_MEMORY));
        n_refused += status != DT_OK;
        if (status == DT_OK)
            assert_memory_equal(dst, dt_data(x), bytes);
        free(dst);
        dt_spec_release(to);
        dt_mesh_release(mesh);
        dt_close(ctx);
        assert_int_equal(memory.n_live, 0);
        assert_false(memory.wrong_size);
    }
    assert_true(n_refused > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces__are_sliced_anywhere),
        cmocka_unit_test(chunks__cover_the_blocks),
        cmocka_unit_test(chunks__are_few),
        cmocka_unit_test(moves__have_their_values_with_any_number_of_threads),
        cmocka_unit_test(sums__have_the_same_bits_with_any_number_of_threads),
        cmocka_unit_test(moves__succeed_or_report_exhausted_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
