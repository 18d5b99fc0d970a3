/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions at sizes of real models on meshes of 16,384 ranks, in dry runs: samples whose dims are scaled up, with
 * random placements, as in tests/rules/test_large_sizes.c. What is accepted at a small size is accepted at a large one;
 * what costs nothing at the small size costs nothing at the large one; and the price of all moves grows about as the
 * largest tensor that a decomposition may make, which has every dim.
 */
#include "rules/scaled_calls.h"

#include "dispatch/dispatch.h"
#include "dtensor/dtensor.h"

#include <limits.h>

enum { N_DRAWS = 4, N_RANKS = 16384 };

/* Whether the decomposition of the call is accepted. */
static bool is_accepted(test_calls *calls, dt_mesh *mesh, const scaled *self, dt__dry_plan *out) {
    const dt__placed_call *placed = &self->placed;
    const dt__dry_request request = {placed->info,
                                     placed->bound.overload,
                                     placed->call.n_inputs,
                                     placed->call.args,
                                     placed->call.inputs,
                                     mesh,
                                     placed->inputs,
                                     false,
                                     NULL};
    if (dt__dry_run(&calls->arena, &request, out) != DT_OK)
        fail_msg("%s", dt_error_text(calls->ctx));
    return out->status == DT_OK;
}

static void describe(const test_calls *calls, const scaled *self, char *out) {
    char one[256];
    *out = 0;
    for (int i = 0; i < self->placed.call.n_inputs; i++) {
        sprintf(out + strlen(out), "%s[", i ? "; " : "");
        for (int d = 0; d < self->inputs[i].n_dims; d++)
            sprintf(out + strlen(out), "%s%" PRId64, d ? "," : "", self->shapes[i][d]);
        sprintf(out + strlen(out), "] %s",
                calls_placements(calls->n_mesh_dims, self->placed.inputs[i]->placements, one, sizeof one));
    }
}

/* How much a tensor grows that has a dim of each size of the inputs. */
static double growth_of_all_dims(const scaled *large) {
    int64_t sizes[SCALED_MAX_INPUTS * SCALED_MAX_DIMS];
    int n = 0;
    double all = 1;
    for (int i = 0; i < large->placed.call.n_inputs; i++)
        for (int d = 0; d < large->inputs[i].n_dims; d++) {
            const int64_t size = large->shapes[i][d];
            bool again = size % SCALED_LARGE != 0;
            for (int k = 0; k < n && !again; k++)
                again = sizes[k] == size;
            if (again)
                continue;
            sizes[n++] = size;
            all *= (double)SCALED_LARGE / SCALED_SMALL;
        }
    return all;
}

/* Whether the decomposition is accepted at both sizes, and was compared. */
static bool compare_sizes(dt_ctx *ctx, dt_mesh *mesh, const char *sample, uint64_t seed) {
    test_calls calls = {.ctx = ctx, .arena = dt__arena_new(ctx), .n_mesh_dims = dt_mesh_n_dims(mesh)};
    scaled small, large;
    dt__dry_plan before, after;
    char text[2048];
    for (int m = 0; m < calls.n_mesh_dims; m++)
        calls.mesh[m] = dt_mesh_dim_size(mesh, m);
    bool compares = scaled_pair(&calls, sample, &small, &large);
    if (compares) {
        scaled_place(&calls, seed, &small);
        scaled_place(&calls, seed, &large);
        compares = is_accepted(&calls, mesh, &small, &before);
    }
    if (compares) {
        describe(&calls, &large, text);
        if (!is_accepted(&calls, mesh, &large, &after))
            fail_msg("%s on %s: refused with %s: %s", sample, dt_mesh_text(mesh), text, after.refusal);
        const double growth = fmax(scaled_growth(&small, &large), growth_of_all_dims(&large));
        const double limit = before.us * growth;
        if (after.us > limit)
            fail_msg("%s on %s: %s moves for %g us, expected at most %g, because a small one moves for %g", sample,
                     dt_mesh_text(mesh), text, after.us, limit, before.us);
    }
    dt__arena_free(&calls.arena);
    return compares;
}

static void decompositions__of_large_tensors_move_no_more(void **state) {
    (void)state;
    static const char *const meshes[] = {"128,128", "8,64,32", "2,8,16,64", "16384"};
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = N_RANKS, .rank = N_RANKS - 3});
    dt_mesh *mesh[4];
    uint64_t seed = test_seed(1);
    int n_ops = 0;
    for (int i = 0; i < 4; i++)
        mesh[i] = dt_mesh_new(ctx, meshes[i]);
    assert_int_equal(dt__ops_open(ctx), DT_OK);
    for (int o = 0; o < dt__op_count(ctx); o++) {
        const dt__op_info *info = dt__op_at(ctx, o);
        char sample[1024];
        bool compares = false;
        assert_non_null(info);
        if (!info->op->samples || !info->op->decompose || info->op->flags & DT_OP_RECORDS_PARTS)
            continue;
        for (int draw = 0; draw < N_DRAWS; draw++) {
            scaled_draw_line(&seed, info->op->samples, sizeof sample, sample);
            compares |= compare_sizes(ctx, mesh[draw % 4], sample, test_random(&seed));
        }
        n_ops += compares;
    }
    assert_in_range(n_ops, 60, INT_MAX);
    for (int i = 0; i < 4; i++)
        dt_mesh_release(mesh[i]);
    assert_int_equal(dt_close(ctx), DT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decompositions__of_large_tensors_move_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
