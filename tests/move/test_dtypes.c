/* SPDX-License-Identifier: Apache-2.0
 *
 * Redistribution to another dtype, and gathers along dims for which a view would suffice: values against arithmetic,
 * and the number of collectives.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"
#include "move/move.h"

#include <string.h>

static int64_t n_collectives(const dt_ctx *ctx) {
    dt__redistribute_stats stats = dt__redistribute_statistics(ctx);
    int64_t n = 0;
    for (int c = DT__STEP_NONE + 1; c < DT__N_STEP_KINDS; c++)
        n += stats.collectives[c];
    return n;
}

/* The nearest bf16, ties to even. */
static float round_to_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float element(int64_t i) { return (float)i / 7 - 3; }

static int check_values(dt_ctx *ctx, dt_tensor *tensor, dt_dtype dtype) {
    dt_tensor *full = dt_full_tensor(dt_redistribute(tensor, "R", .dtype = DT_F32));
    CHECK(full, "%s", dt_error_text(ctx));
    for (int64_t i = 0; i < dt_tensor_elements(full); i++) {
        float expected = dtype == DT_BF16 ? round_to_bf16(element(i)) : element(i), got = ((float *)dt_data(full))[i];
        CHECK(expected == got, "element %d: expected %g, got %g", (int)i, (double)expected, (double)got);
    }
    return 0;
}

/* RED-007, RED-008, RED-077, RED-078: the forward pass. */
static const dt_dtype targets[] = {DT_BF16, DT_F32, DT_NO_DTYPE};

static int convert_and_redistribute(dt_ctx *ctx, void *arg) {
    static const int64_t shapes[][3] = {{10, 3, 1}, {12, 4, 1}, {1, 5, 1}, {5, 12, 2}, {6, 7, 3}, {2, 2, 9}};
    const char *place = arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t p = 0; p < sizeof targets / sizeof *targets; p++) {
            dt_scope scope = dt_scope_begin(ctx);
            int64_t n = shapes[s][0] * shapes[s][1] * shapes[s][2];
            float *data = dt_data(dt_empty(ctx, DT_SHAPE(n)));
            for (int64_t i = 0; data && i < n; i++)
                data[i] = element(i);
            dt_tensor *full = dt_from_memory(ctx, data, (dt_shape){3, shapes[s]}, DT_F32);
            dt_tensor *from = dt_distribute_tensor(full, mesh, place, .everywhere = true);
            int64_t before = n_collectives(ctx);
            dt_tensor *to = dt_redistribute(from, "R", .dtype = targets[p]);
            int64_t n_run = n_collectives(ctx) - before;
            dt_dtype dtype = targets[p] ? targets[p] : DT_F32;
            CHECK(to, "%s", dt_error_text(ctx));
            CHECK(dt_tensor_dtype(to) == dtype, "expected %s, got %s", dt_dtype_name(dtype),
                  dt_dtype_name(dt_tensor_dtype(to)));
            CHECK(n_run == (place[0] == 'R' || dt_world(ctx) == 1 ? 0 : 1), "%s: got %d collectives", place,
                  (int)n_run);
            if (check_values(ctx, to, dtype))
                return 1;
            dt_scope_end(scope);
        }
    dt_mesh_release(mesh);
    return 0;
}

static void redistribute__converts_before_it_moves(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++) {
        run_ranks(n, convert_and_redistribute, (void *)"R");
        run_ranks(n, convert_and_redistribute, (void *)"S(0)");
        run_ranks(n, convert_and_redistribute, (void *)"S(1)");
    }
}

/* A partial sum is reduced before it is converted. */
static int convert_partial(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    dt_tensor *local = dt_full(ctx, DT_SHAPE(3), 0.75);
    dt_tensor *sum = dt_from_local(ctx, local, mesh, "P(sum)");
    dt_tensor *full = dt_redistribute(sum, "R", .dtype = DT_I64);
    CHECK(full, "%s", dt_error_text(ctx));
    int64_t got = ((int64_t *)dt_data(full))[0], expected = (int64_t)(0.75 * (double)dt_world(ctx));
    CHECK(got == expected, "expected %d, got %d", (int)expected, (int)got);
    dt_mesh_release(mesh);
    return 0;
}

/* Complex numbers have no maximum, but a maximum can be converted to a complex number. */
static int convert_maximum(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    dt_tensor *maximum = dt_from_local(ctx, dt_full(ctx, DT_SHAPE(3), (double)dt_rank(ctx)), mesh, "P(max)");
    dt_tensor *full = dt_redistribute(maximum, "R", .dtype = DT_C64);
    CHECK(full, "%s", dt_error_text(ctx));
    CHECK(((float *)dt_data(full))[4] == (float)dt_world(ctx) - 1, "%g", (double)((float *)dt_data(full))[4]);
    dt_mesh_release(mesh);
    return 0;
}

/* Partials whose conversion requires the reduced value cannot stay partial. */
static int convert_remaining_partial(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const struct {
        dt_dtype from, to;
        const char *place;
    } refused[] = {{DT_F32, DT_I32, "P(sum)"},
                   {DT_BOOL, DT_F32, "P(sum)"},
                   {DT_I8, DT_I32, "P(sum)"},
                   {DT_F32, DT_C64, "P(max)"}};
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        dt_tensor *local = dt_full(ctx, DT_SHAPE(3), 0.5, .dtype = refused[i].from);
        dt_tensor *from = dt_from_local(ctx, local, mesh, refused[i].place);
        dt_tensor *to = dt_redistribute(from, refused[i].place, .dtype = refused[i].to);
        CHECK(!to && dt_error_status(ctx) == DT_ERR_PLACEMENT, "%s to %s: %s", dt_dtype_name(refused[i].from),
              dt_dtype_name(refused[i].to), dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

static void redistribute__reduces_before_it_converts(void **state) {
    (void)state;
    run_ranks(2, convert_partial, NULL);
    run_ranks(3, convert_partial, NULL);
    run_ranks(3, convert_maximum, NULL);
    run_ranks(2, convert_remaining_partial, NULL);
}

/* Gathers along a dim after a leading dim of size 1 or 4, and along the last dim: the same shards as from
 * dt_distribute_tensor. RED-012, RED-013, RED-019 (values and shapes). */
static int compare_with_distribute(dt_ctx *ctx, void *arg) {
    static const struct {
        int64_t shape[3];
        const char *from, *to;
    } moves[] = {{{1, 64, 12}, "S(1),S(1)", "S(1),R"},
                 {{1, 64, 12}, "S(2),S(2)", "S(2),R"},
                 {{4, 63, 5}, "S(1),S(1)", "S(1),R"},
                 {{12, 4, 1}, "S(0),R", "S(1),R"},
                 {{12, 4, 1}, "S(0),S(0)", "S(1),S(0)"}};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "2x2");
    for (size_t m = 0; m < sizeof moves / sizeof *moves; m++) {
        dt_scope scope = dt_scope_begin(ctx);
        int64_t n = moves[m].shape[0] * moves[m].shape[1] * moves[m].shape[2];
        dt_tensor *line = dt_arange(ctx, 0, (double)n, 1);
        dt_tensor *full = dt_reshape(line, ((dt_shape){3, moves[m].shape}));
        dt_tensor *moved =
            dt_redistribute(dt_distribute_tensor(full, mesh, moves[m].from, .everywhere = true), moves[m].to);
        dt_tensor *direct = dt_distribute_tensor(full, mesh, moves[m].to, .everywhere = true);
        CHECK(moved && direct, "%s", dt_error_text(ctx));
        CHECK(dt_tensor_spec(moved) == dt_tensor_spec(direct), "the specs differ");
        int64_t bytes = dt_tensor_local_elements(direct) * 4;
        CHECK(dt_tensor_local_elements(moved) * 4 == bytes, "the local sizes differ");
        CHECK(!memcmp(dt_data(moved), dt_data(direct), (size_t)bytes), "%s to %s: the values differ", moves[m].from,
              moves[m].to);
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void redistribute__yields_the_shards_of_distribute_tensor(void **state) {
    (void)state;
    run_ranks(4, compare_with_distribute, NULL);
}

/* Users cannot redistribute to a new partial; an op that needs one of a replicated input makes it locally. RED-010,
 * RED-022. */
static int refuse_partial(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    dt_tensor *ones = dt_ones(ctx, DT_SHAPE(3), .mesh = mesh, .place = "R");
    CHECK(!dt_redistribute(ones, "P(sum)"), "expected an error, got a tensor");
    CHECK(dt_error_status(ctx) == DT_ERR_PLACEMENT, "%s", dt_error_text(ctx));
    CHECK(dt_error_clear(ctx) == DT_OK, "%s", dt_error_text(ctx));
    dt_tensor *sum = dt_from_local(ctx, dt_full(ctx, DT_SHAPE(3), 2), mesh, "P(sum)");
    int64_t before = n_collectives(ctx);
    dt_tensor *both = dt_add(sum, ones); /* still P(sum): the ones are added once */
    CHECK(both && n_collectives(ctx) == before, "%s", dt_error_text(ctx));
    char text[64];
    dt_tensor *full = dt_full_tensor(both);
    (void)dt_tensor_text(both, sizeof text, text);
    CHECK(((float *)dt_data(full))[2] == 2 * (float)dt_world(ctx) + 1, "%s: %g", text,
          (double)((float *)dt_data(full))[2]);
    dt_mesh_release(mesh);
    return 0;
}

static void redistribute__to_a_new_partial_is_refused(void **state) {
    (void)state;
    run_ranks(3, refuse_partial, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redistribute__converts_before_it_moves),
        cmocka_unit_test(redistribute__reduces_before_it_converts),
        cmocka_unit_test(redistribute__yields_the_shards_of_distribute_tensor),
        cmocka_unit_test(redistribute__to_a_new_partial_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
