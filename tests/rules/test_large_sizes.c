/* SPDX-License-Identifier: Apache-2.0
 *
 * All ops at sizes of real models on meshes of 16,384 ranks: samples whose dims are scaled up, with random
 * placements. A call that is accepted at a small size is accepted at a large one; where it sends nothing at the small
 * size, it sends nothing at the large one; and its price grows no more than the tensor that grows most. The choice of
 * the small size has such a price, because latencies stay and bytes grow no more, so what is selected costs no more,
 * unless that choice repeats more of the work than what is selected.
 */
#include "rules/calls.h"
#include "support/random.h"

#include <limits.h>
#include <math.h>

enum { MAX_INPUTS = 16, MAX_DIMS = 8, N_DRAWS = 12 };
/* Factors of the sizes of samples. Both divide by all ranks, so that shards are even at both. */
enum { SMALL = 1 << 14, LARGE = 1 << 18 };

/* A sample whose sizes can be changed. */
typedef struct scaled {
    dt__placed_call placed;
    dt_op_value inputs[MAX_INPUTS];
    int64_t shapes[MAX_INPUTS][MAX_DIMS];
} scaled;

/* Multiplies the sizes that are `size` in the sample. */
static void scale_size(scaled *self, const scaled *sample, int64_t size, int64_t factor) {
    for (int i = 0; i < self->placed.call.n_inputs; i++)
        for (int d = 0; d < self->inputs[i].n_dims; d++)
            if (sample->shapes[i][d] == size)
                self->shapes[i][d] = size * factor;
}

static double n_elements(const dt_op_value *value) {
    double n = 1;
    for (int d = 0; d < value->n_dims; d++)
        n *= (double)value->shape[d];
    return n;
}

/* Whether the op accepts the sizes; no tensor has more than 2^42 elements. */
static bool infers(test_calls *calls, scaled *self) {
    const dt_op_call *call = &self->placed.call;
    bool fine = dt__op_call_infer(&calls->arena, &self->placed.call) == DT_OK;
    for (int i = 0; fine && i < call->n_inputs; i++)
        fine = n_elements(&call->inputs[i]) <= 0x1p42;
    for (int o = 0; fine && o < call->n_outputs; o++)
        fine = n_elements(&call->outputs[o]) <= 0x1p42;
    if (dt_failed(calls->ctx))
        dt_error_clear(calls->ctx);
    return fine;
}

static bool parse(test_calls *calls, const char *sample, scaled *out) {
    if (dt__placed_call_parse(&calls->arena, sample, calls->n_mesh_dims, calls->mesh, &out->placed) != DT_OK)
        fail_msg("%s: %s", sample, dt_error_text(calls->ctx));
    const dt_op_value *from = out->placed.call.inputs;
    int n = out->placed.call.n_inputs;
    if (n == 0 || n > MAX_INPUTS)
        return false;
    memcpy(out->inputs, from, (size_t)n * sizeof *from);
    for (int i = 0; i < n; i++) {
        memcpy(out->shapes[i], from[i].shape, (size_t)from[i].n_dims * sizeof(int64_t));
        out->inputs[i].shape = out->shapes[i];
    }
    out->placed.call.inputs = out->inputs;
    return true;
}

/* The sample at two sizes, with as many dims scaled as the op accepts: of a size that an argument depends on, none. */
static bool scale(test_calls *calls, const char *text, scaled *small, scaled *large) {
    scaled sample;
    bool any = false;
    if (!parse(calls, text, &sample) || !parse(calls, text, small) || !parse(calls, text, large))
        return false;
    for (int i = 0; i < sample.placed.call.n_inputs; i++)
        for (int d = 0; d < sample.inputs[i].n_dims; d++) {
            int64_t size = sample.shapes[i][d];
            if (size <= 1 || large->shapes[i][d] != size)
                continue;
            scale_size(small, &sample, size, SMALL);
            scale_size(large, &sample, size, LARGE);
            bool fine = infers(calls, small) && infers(calls, large) &&
                        large->placed.call.n_outputs == sample.placed.call.n_outputs;
            if (!fine) {
                scale_size(small, &sample, size, 1);
                scale_size(large, &sample, size, 1);
            }
            any |= fine;
        }
    return any && infers(calls, small) && infers(calls, large);
}

/* Plain shards, Replicate and, on floating-point tensors, partial sums. */
static void place(test_calls *calls, uint64_t seed, scaled *self) {
    int n = self->placed.call.n_inputs;
    const dt__sharding **inputs = DT__NEW_ARRAY(&calls->arena, const dt__sharding *, n);
    for (int i = 0; i < n; i++) {
        const dt_op_value *value = &self->inputs[i];
        dt_placement placements[4];
        for (int m = 0; m < calls->n_mesh_dims; m++) {
            int64_t dice = test_below(&seed, value->n_dims + 2);
            placements[m] = dice < value->n_dims ? dt_placement_shard((int)dice) : dt_placement_replicate();
            if (dice == value->n_dims + 1 && value->dtype == DT_F32)
                placements[m] = dt_placement_partial(DT_SUM);
        }
        dt__sharding *sharding = DT__NEW(&calls->arena, dt__sharding);
        dt__sharding_desc desc = {calls->n_mesh_dims, calls->mesh,        value->n_dims,
                                  value->shape,       calls->n_mesh_dims, placements};
        if (dt__sharding_new(&calls->arena, &desc, sharding) != DT_OK)
            fail_msg("%s", dt_error_text(calls->ctx));
        inputs[i] = sharding;
    }
    self->placed.inputs = inputs;
}

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

/* How much the tensor grows that grows most. */
static double growth(const scaled *small, const scaled *large) {
    double most = 1;
    for (int i = 0; i < small->placed.call.n_inputs; i++)
        most = fmax(most, n_elements(&large->inputs[i]) / n_elements(&small->inputs[i]));
    for (int o = 0; o < small->placed.call.n_outputs; o++)
        most = fmax(most, n_elements(&large->placed.call.outputs[o]) / n_elements(&small->placed.call.outputs[o]));
    return most;
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
    bool compares = scale(&calls, sample, &small, &large);
    if (compares) {
        place(&calls, seed, &small);
        place(&calls, seed, &large);
        compares = is_accepted(&calls, &small, &before, &a);
    }
    if (compares) {
        describe(&calls, &small, &a, text[0]);
        describe(&calls, &large, NULL, text[1]);
        if (!is_accepted(&calls, &large, &after, &b))
            fail_msg("%s on %s: refused with %s, accepted with %s", sample, mesh, text[1], text[0]);
        describe(&calls, &large, &b, text[1]);
        double limit = before.us * growth(&small, &large) * (1 + 1e-6) + 1e-6;
        bool is_limited = a.repeated_work > b.repeated_work; /* it may not be selected at the large size */
        if ((after.sends && !before.sends) || (after.us > limit && !is_limited))
            fail_msg("%s on %s: %s takes %g us, expected at most %g, because %s takes %g", sample, mesh, text[1],
                     after.us, limit, text[0], before.us);
    }
    calls_close(&calls);
    return compares;
}

/* Writes a random one of the lines. */
static void draw_line(uint64_t *seed, const char *lines, size_t capacity, char *out) {
    int n = 1;
    for (const char *at = lines; (at = strchr(at, '\n')); at++)
        n++;
    for (int64_t skip = test_below(seed, n); skip > 0; skip--)
        lines = strchr(lines, '\n') + 1;
    snprintf(out, capacity, "%.*s", (int)strcspn(lines, "\n"), lines);
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
            draw_line(&seed, info->op->samples, sizeof sample, sample);
            n += compare_sizes(meshes[draw % 4], sample, test_random(&seed));
        }
    }
    assert_in_range(n, 1000, INT_MAX);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes__large_ones_move_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
