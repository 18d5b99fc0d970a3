/* SPDX-License-Identifier: Apache-2.0
 *
 * All ops at sizes of real models on meshes of 16,384 ranks: samples whose dims are scaled up, with random
 * placements. A call that is accepted at a small size is accepted at a large one; where it sends nothing at the small
 * size, it sends nothing at the large one; and its price grows no more than the tensor that grows most. The choice of
 * the small size has such a price, because latencies stay and bytes grow no more, so what is selected costs no more,
 * unless that choice repeats more of the work than what is selected. The items of list ops are calls of the ops that
 * these map; ops without a kernel are in tests/dispatch/test_large_decompositions.c.
 */
#include "rules/scaled_calls.h"

#include <limits.h>

enum { N_DRAWS = 12 };

/* What is selected, without start-up costs of later reductions; false: the call is refused. */
typedef struct choice {
    double us;
    bool sends;
} choice;

static bool is_accepted(test_calls *calls, const scaled *self, choice *out, dt__candidate *selected) {
    dt__placed_inputs on = calls_inputs(calls, &self->placed);
    dt_status status = dt__select_placements(&calls->arena, &self->placed.call, &on, selected);
    if (status == DT_ERR_PLACEMENT) {
        dt_error_clear(calls->ctx);
        return false;
    }
    if (status != DT_OK)
        fail_msg("%s", dt_error_text(calls->ctx));
    *out = (choice){selected->cost_us + selected->finish_us, selected->way.bytes > 0};
    for (int i = 0; i < self->placed.call.n_inputs; i++) {
        dt__sharding to;
        dt__sharding_desc desc = {calls->n_mesh_dims,    calls->mesh,        self->inputs[i].n_dims,
                                  self->inputs[i].shape, calls->n_mesh_dims, selected->moved[i]};
        assert_int_equal(dt__sharding_new(&calls->arena, &desc, &to), DT_OK);
        dt__move move = {
            .from = self->placed.inputs[i], .to = &to, .item_bytes = (int64_t)dt_dtype_size(self->inputs[i].dtype)};
        dt__step_counts counts = dt__route_count(&move, on.machine, &selected->routes[i]);
        out->sends |= dt__step_counts_communicate(&counts);
    }
    return true;
}

static void describe(const test_calls *calls, const scaled *self, const dt__candidate *selected, char *out) {
    char one[256];
    *out = 0;
    for (int i = 0; i < self->placed.call.n_inputs; i++) {
        sprintf(out + strlen(out), "%s[", i ? "; " : "");
        for (int d = 0; d < self->inputs[i].n_dims; d++)
            sprintf(out + strlen(out), "%s%" PRId64, d ? "," : "", self->shapes[i][d]);
        sprintf(out + strlen(out), "] %s",
                calls_placements(calls->n_mesh_dims, self->placed.inputs[i]->placements, one, sizeof one));
        if (selected)
            sprintf(out + strlen(out), " -> %s",
                    calls_placements(calls->n_mesh_dims, selected->inputs[i], one, sizeof one));
    }
}

/* Whether the op accepts the call at both sizes, and was compared. */
static bool compare_sizes(const char *mesh, const char *sample, uint64_t seed) {
    test_calls calls = calls_open(mesh);
    scaled small, large;
    dt__candidate a, b;
    choice before, after;
    char text[2][2048];
    bool compares = scaled_pair(&calls, sample, &small, &large);
    if (compares) {
        scaled_place(&calls, seed, &small);
        scaled_place(&calls, seed, &large);
        compares = is_accepted(&calls, &small, &before, &a);
    }
    if (compares) {
        describe(&calls, &small, &a, text[0]);
        describe(&calls, &large, NULL, text[1]);
        if (!is_accepted(&calls, &large, &after, &b))
            fail_msg("%s on %s: refused with %s, accepted with %s", sample, mesh, text[1], text[0]);
        describe(&calls, &large, &b, text[1]);
        double limit = before.us * scaled_growth(&small, &large) * (1 + 1e-6) + 1e-6;
        bool is_limited = a.repeated_work > b.repeated_work; /* it may not be selected at the large size */
        if ((after.sends && !before.sends) || (after.us > limit && !is_limited))
            fail_msg("%s on %s: %s takes %g us, expected at most %g, because %s takes %g", sample, mesh, text[1],
                     after.us, limit, text[0], before.us);
    }
    calls_close(&calls);
    return compares;
}

static void sizes__large_ones_move_no_more(void **state) {
    (void)state;
    static const char *const meshes[] = {"128,128", "8,64,32", "2,8,16,64", "16384"};
    dt_ctx *ctx = dt__ctx_new(NULL);
    uint64_t seed = test_seed(1);
    int n = 0; /* calls that were compared */
    assert_int_equal(dt__ops_open(ctx), DT_OK);
    for (int o = 0; o < dt__op_count(ctx); o++) {
        const dt__op_info *info = dt__op_at(ctx, o);
        char sample[1024];
        assert_non_null(info);
        if (!info->op->samples || !info->op->kernel || info->list)
            continue;
        for (int draw = 0; draw < N_DRAWS; draw++) {
            scaled_draw_line(&seed, info->op->samples, sizeof sample, sample);
            n += compare_sizes(meshes[draw % 4], sample, test_random(&seed));
        }
    }
    assert_in_range(n, 1000, INT_MAX);
    dt__ctx_free(ctx);
}

/* Sums, moments and counts of all ranks are merged where the tensor is, however many ranks there are: no call moves an
 * input, though a state from each rank may take longer than some moves of few bytes. */
static void sizes__of_many_ranks_merge_states_only(void **state) {
    (void)state;
    static const char *const calls[] = {
        "linalg_vector_norm(f32[16777216,4096] S(0),S(0),S(1))",
        "linalg_vector_norm(f32[16384,4096] S(0),S(0),S(1))",
        "linalg_vector_norm(f32[16384] S(0),S(0),S(0))",
        "std(f32[16777216,4096] S(0),S(0),S(1))",
        "var(f32[1024,64] S(0),S(0),R)",
        "var_mean(f32[65536,64,56,56] S(0),S(0),R; [0,2,3])",
        "var_mean(f32[1024,64,7,7] S(0),S(0),S(1); [0,2,3])",
        "logsumexp(f32[1048576,4096] S(0),S(0),S(1); [0,1])",
        "argmax(f32[1048576,4096] S(0),S(0),S(1))",
        "class_total(i64[1024] S(0),S(0),R; null; 32000)",
        "class_total(i64[16777216] S(0),S(0),R; null; 32000)",
        "class_total(i64[16777216] S(0),S(0),R; f32[32000] R,R,R; 32000)",
    };
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        test_calls test = calls_open("16,64,16");
        dt__placed_call placed = calls_parse(&test, calls[c]);
        dt__placed_inputs on = calls_inputs(&test, &placed);
        dt__candidate selected;
        if (dt__select_placements(&test.arena, &placed.call, &on, &selected) != DT_OK)
            fail_msg("%s: %s", calls[c], dt_error_text(test.ctx));
        for (int i = 0; i < placed.call.n_inputs; i++)
            for (int m = 0; m < test.n_mesh_dims; m++) {
                dt_placement before = placed.inputs[i]->placements[m], after = selected.moved[i][m];
                if (before.kind != DT_PLACEMENT_REPLICATE && !dt_placement_equal(&before, &after))
                    fail_msg("%s: input %d moves on mesh dim %d", calls[c], i + 1, m);
            }
        calls_close(&test);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes__of_many_ranks_merge_states_only),
        cmocka_unit_test(sizes__large_ones_move_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
