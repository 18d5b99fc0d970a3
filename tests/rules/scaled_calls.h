/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples of ops at sizes of real models: their dims are scaled up, and their inputs placed at random.
 */
#ifndef DT_TESTS_RULES_SCALED_CALLS_H
#define DT_TESTS_RULES_SCALED_CALLS_H

#include "rules/calls.h"
#include "support/random.h"

#include <math.h>

enum { SCALED_MAX_INPUTS = 16, SCALED_MAX_DIMS = 8 };
/* Factors of the sizes of samples. Both divide by all ranks, so that shards are even at both. */
enum { SCALED_SMALL = 1 << 14, SCALED_LARGE = 1 << 18 };

/* A sample whose sizes can be changed. */
typedef struct scaled {
    dt__placed_call placed;
    dt_op_value inputs[SCALED_MAX_INPUTS];
    int64_t shapes[SCALED_MAX_INPUTS][SCALED_MAX_DIMS];
} scaled;

/* Multiplies the sizes that are `size` in the sample. */
static inline void scaled_resize(scaled *self, const scaled *sample, int64_t size, int64_t factor) {
    for (int i = 0; i < self->placed.call.n_inputs; i++)
        for (int d = 0; d < self->inputs[i].n_dims; d++)
            if (sample->shapes[i][d] == size)
                self->shapes[i][d] = size * factor;
}

static inline double scaled_elements(const dt_op_value *value) {
    double n = 1;
    for (int d = 0; d < value->n_dims; d++)
        n *= (double)value->shape[d];
    return n;
}

/* Whether the op accepts the sizes; no tensor has more than 2^42 elements. */
static inline bool scaled_infers(test_calls *calls, scaled *self) {
    const dt_op_call *call = &self->placed.call;
    bool fine = dt__op_call_infer(&calls->arena, &self->placed.call) == DT_OK;
    for (int i = 0; fine && i < call->n_inputs; i++)
        fine = scaled_elements(&call->inputs[i]) <= 0x1p42;
    for (int o = 0; fine && o < call->n_outputs; o++)
        fine = scaled_elements(&call->outputs[o]) <= 0x1p42;
    if (dt_failed(calls->ctx))
        dt_error_clear(calls->ctx);
    return fine;
}

static inline bool scaled_parse(test_calls *calls, const char *sample, scaled *out) {
    if (dt__placed_call_parse(&calls->arena, sample, calls->n_mesh_dims, calls->mesh, &out->placed) != DT_OK)
        fail_msg("%s: %s", sample, dt_error_text(calls->ctx));
    const dt_op_value *from = out->placed.call.inputs;
    int n = out->placed.call.n_inputs;
    if (n == 0 || n > SCALED_MAX_INPUTS)
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
static inline bool scaled_pair(test_calls *calls, const char *text, scaled *small, scaled *large) {
    scaled sample;
    bool any = false;
    if (!scaled_parse(calls, text, &sample) || !scaled_parse(calls, text, small) || !scaled_parse(calls, text, large))
        return false;
    for (int i = 0; i < sample.placed.call.n_inputs; i++)
        for (int d = 0; d < sample.inputs[i].n_dims; d++) {
            int64_t size = sample.shapes[i][d];
            if (size <= 1 || large->shapes[i][d] != size)
                continue;
            scaled_resize(small, &sample, size, SCALED_SMALL);
            scaled_resize(large, &sample, size, SCALED_LARGE);
            bool fine = scaled_infers(calls, small) && scaled_infers(calls, large) &&
                        large->placed.call.n_outputs == sample.placed.call.n_outputs;
            if (!fine) {
                scaled_resize(small, &sample, size, 1);
                scaled_resize(large, &sample, size, 1);
            }
            any |= fine;
        }
    return any && scaled_infers(calls, small) && scaled_infers(calls, large);
}

/* Plain shards, Replicate and, on floating-point tensors, partial sums. */
static inline void scaled_place(test_calls *calls, uint64_t seed, scaled *self) {
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

/* How much the tensor grows that grows most. */
static inline double scaled_growth(const scaled *small, const scaled *large) {
    double most = 1;
    for (int i = 0; i < small->placed.call.n_inputs; i++)
        most = fmax(most, scaled_elements(&large->inputs[i]) / scaled_elements(&small->inputs[i]));
    for (int o = 0; o < small->placed.call.n_outputs; o++)
        most = fmax(most, scaled_elements(&large->placed.call.outputs[o]) /
                              scaled_elements(&small->placed.call.outputs[o]));
    return most;
}

/* Writes a random one of the lines. */
static inline void scaled_draw_line(uint64_t *seed, const char *lines, size_t capacity, char *out) {
    int n = 1;
    for (const char *at = lines; (at = strchr(at, '\n')); at++)
        n++;
    for (int64_t skip = test_below(seed, n); skip > 0; skip--)
        lines = strchr(lines, '\n') + 1;
    snprintf(out, capacity, "%.*s", (int)strcspn(lines, "\n"), lines);
}

#endif
