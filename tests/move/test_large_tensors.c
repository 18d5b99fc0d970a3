/* SPDX-License-Identifier: Apache-2.0
 *
 * Redistributions of tensors of more than 2^31 elements: on shared memory here, between nodes by
 * tests/mpi/test_large_counts.py. Skipped where there is not enough memory.
 *
 * mpi: no: mpi.large_counts runs it
 */
/* ctest: labels=soak processors=2 */
#include "support/launch.h"

#include "move/move.h"

#define ROWS    ((int64_t)4)
#define COLUMNS ((int64_t)0x20000000 + 1027)

static signed char element(int64_t i) { return (signed char)(i % 251 - 125); }

/* The elements of this rank's shard, written, or compared with what they must be. */
static int64_t visit(const dt_spec *spec, signed char *data, bool writes) {
    const dt_local *local = dt_spec_local(spec);
    int64_t n_wrong = 0;
    for (int64_t row = 0; row < local->shape[0]; row++)
        for (int64_t column = 0; column < local->shape[1]; column++) {
            signed char *at = data + row * local->shape[1] + column;
            signed char expected = element((local->offset[0] + row) * COLUMNS + local->offset[1] + column);
            if (writes)
                *at = expected;
            else
                n_wrong += *at != expected;
        }
    return n_wrong;
}

static int move_large(dt_ctx *ctx, dt_mesh *mesh, const char *from_text, const char *to_text) {
    const int64_t shape[] = {ROWS, COLUMNS};
    dt_spec *from =
        dt_spec_new(mesh, &(dt_spec_desc){.dtype = DT_I8, .n_dims = 2, .shape = shape, .text = from_text});
    dt_spec *to = dt_spec_new(mesh, &(dt_spec_desc){.dtype = DT_I8, .n_dims = 2, .shape = shape, .text = to_text});
    CHECK(from && to, "%s", dt_error_text(ctx));
    signed char *src = dt_heap_alloc(ctx, (size_t)dt_spec_local(from)->bytes);
    signed char *dst = dt_heap_alloc(ctx, (size_t)dt_spec_local(to)->bytes);
    CHECK(src && dst, "%s", dt_error_text(ctx));
    (void)visit(from, src, true);
    CHECK_OK(ctx, dt__redistribute_run(&(dt__redistribution){
                      .from = from, .to = to, .src = src, .dst = dst, .planner = DT__PLANNER_DIRECT}));
    int64_t n_wrong = visit(to, dst, false);
    CHECK(n_wrong == 0, "%s to %s: %lld elements are wrong", from_text, to_text, (long long)n_wrong);
    CHECK_OK(ctx, dt_heap_free(ctx, src));
    CHECK_OK(ctx, dt_heap_free(ctx, dst));
    dt_spec_release(from);
    dt_spec_release(to);
    return 0;
}

static int run_large_moves(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    if (move_large(ctx, mesh, "S(0)", "R") || move_large(ctx, mesh, "S(0)", "S(1)"))
        return 1;
    dt_mesh_release(mesh);
    return 0;
}

static bool has_memory(double bytes) {
    char line[128];
    long long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file) && !sscanf(line, "MemAvailable: %lld", &kilobytes))
        ;
    if (file)
        fclose(file);
    return (double)kilobytes * 1024 > bytes;
}

static void redistribute__moves_more_than_31_bits_count(void **state) {
    (void)state;
    if (!has_memory(6.0 * (double)(ROWS * COLUMNS)))
        test_skip("too little memory is available for 2^31 elements");
    run_ranks(2, run_large_moves, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(redistribute__moves_more_than_31_bits_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
