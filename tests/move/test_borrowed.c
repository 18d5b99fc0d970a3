/* SPDX-License-Identifier: Apache-2.0
 *
 * Redistributions of memory outside the heap pass through a staging buffer in rounds: random moves against brute force,
 * with buffers of a few elements and with such memory on some ranks only; lists; and the peak of the heap.
 *
 * mpi: no: between nodes messages carry such moves, and the executor of one node is tested here
 */
/* ctest: processors=2 */
#include "move/moves.h"

#include "dtensor/dtensor.h"
#include "dtensor/redistribute.h"
#include "move/prepared_move.h"

static int run_random_moves(dt_ctx *ctx, void *arg) {
    static const int64_t sizes[] = {16, 48, 256, 5000};
    static _Thread_local moves_case test;
    int n = *(const int *)arg;
    uint64_t random = test_seed(77 + (uint64_t)dt_world(ctx));
    dt__executor *executor = dt__executor_of(ctx);
    for (int i = 0; i < n; i++) {
        moves_random(&random, dt_world(ctx), i % 10 == 0, &test);
        test.src = i % 3 == 0 || dt_rank(ctx) % 2 == i % 2 ? MOVES_FOREIGN : MOVES_HEAP;
        test.strided = i % 4 ? test_seed((uint64_t)i) | 1 : 0; /* dense ones of up to 8 KiB are copied */
        executor->staged_bytes = sizes[test_below(&random, 4)];
        moves_name(&test);
        if (moves_run(ctx, &test))
            return 1;
    }
    return 0;
}

static void borrowed__moves_have_the_values_of_others(void **state) {
    (void)state;
    static const int64_t worlds[] = {2, 3, 4, 5, 7};
    int n = test_with_tsan ? 40 : 250;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks_with(&(test_ranks){.n = worlds[i]}, run_random_moves, &n);
}

enum { N_LISTED = 6 };

/* Tensor i of the list, with its local memory outside the heap on some ranks. */
static dt_tensor *make_listed(dt_ctx *ctx, dt_mesh *mesh, const char *place, int i, bool borrows, void **memory) {
    int64_t n = dt_world(ctx), rows = n * (3 + i), columns = n * (2 + i % 3);
    dt_tensor *full = dt_view(dt_arange(ctx, i, i + rows * columns, 1, .dtype = DT_F32), DT_SHAPE(rows, columns));
    dt_tensor *x = dt_redistribute(dt_distribute_tensor(full, mesh, "R", .everywhere = true), place);
    dt_tensor *local = dt_contiguous(dt_to_local(x));
    *memory = NULL;
    if (local && borrows) {
        size_t bytes = (size_t)dt_tensor_elements(local) * sizeof(float);
        *memory = malloc(bytes);
        memcpy(*memory, dt_data(local), bytes);
        dt_shape shape = {2, (int64_t[]){dt_tensor_size(local, 0), dt_tensor_size(local, 1)}};
        local = dt_borrow(ctx, *memory, shape, DT_F32);
    }
    return dt_from_local(ctx, local, mesh, place);
}

static int move_lists(dt_ctx *ctx, void *arg) {
    static const char *const from[] = {"S(0)", "S(1)", "R", "S(0)", "S(1)", "S(0)"}, *const to[] = {"S(1)", "R",
                                                                                                    "S(0)", "R",
                                                                                                    "S(0)", "S(1)"};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt__executor_of(ctx)->staged_bytes = 40;
    for (int kind = 0; kind < 3; kind++) { /* all, some ranks, some tensors */
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *in[N_LISTED], *out[N_LISTED];
        void *memory[N_LISTED];
        for (int i = 0; i < N_LISTED; i++) {
            bool borrows = kind == 0 || (kind == 1 ? dt_rank(ctx) == 1 : i % 2);
            CHECK(in[i] = make_listed(ctx, mesh, from[i], i, borrows, &memory[i]), "%s", dt_error_text(ctx));
        }
        dt_tensors list = {N_LISTED, in};
        CHECK_OK(ctx, dt_redistribute_list(list, to, out));
        for (int i = 0; i < N_LISTED; i++) {
            dt_tensor *full = dt_full_tensor(out[i]);
            CHECK(full, "%s", dt_error_text(ctx));
            const float *values = dt_data(full);
            for (int64_t k = 0; k < dt_tensor_elements(full); k++)
                CHECK(values[k] == (float)(i + k), "kind %d, tensor %d, element %lld: %g", kind, i, (long long)k,
                      (double)values[k]);
        }
        dt_scope_end(scope);
        for (int i = 0; i < N_LISTED; i++)
            free(memory[i]);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void borrowed__lists_have_their_values(void **state) {
    (void)state;
    run_ranks(2, move_lists, NULL);
    run_ranks(3, move_lists, NULL);
    run_ranks(5, move_lists, NULL);
}

enum { SIDE = 2310 }; /* a multiple of 2, 3 and 5 */

static dt_tensor *borrow_rows(dt_ctx *ctx, dt_mesh *mesh, float *memory, const char *place) {
    int64_t rows = place[0] == 'S' ? SIDE / dt_world(ctx) : SIDE;
    for (int64_t i = 0; i < rows * SIDE; i++)
        memory[i] = (float)((i + 7 * dt_rank(ctx)) % 1000);
    return dt_from_local(ctx, dt_borrow(ctx, memory, DT_SHAPE(rows, SIDE), DT_F32), mesh, place);
}

/* The peak of the heap is that of the result, and 1 MiB for staging: not the source, which is not there. */
static int check_peak(dt_ctx *ctx, void *arg) {
    static const char *const moves[][2] = {{"S(0)", "S(1)"}, {"P(sum)", "S(1)"}, {"S(0)", "R"}, {"P(sum)", "R"}};
    float *memory = malloc((size_t)SIDE * SIDE * sizeof *memory);
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    (void)arg;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) { /* from the smallest result to the largest */
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *x = borrow_rows(ctx, mesh, memory, moves[i][0]), *y = dt_redistribute(x, moves[i][1]);
        CHECK(y, "%s", dt_error_text(ctx));
        size_t result = (size_t)dt_tensor_local_elements(y) * sizeof(float), peak = dt_heap_stats(ctx).peak_bytes;
        CHECK(peak >= result && peak < result + ((size_t)3 << 20),
              "%s to %s: a peak of %zu bytes for a result of %zu", moves[i][0], moves[i][1], peak, result);
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    free(memory);
    return 0;
}

static void borrowed__moves_take_bounded_memory(void **state) {
    (void)state;
    run_ranks(2, check_peak, NULL);
    run_ranks(3, check_peak, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borrowed__moves_have_the_values_of_others),
        cmocka_unit_test(borrowed__lists_have_their_values),
        cmocka_unit_test(borrowed__moves_take_bounded_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
