/* SPDX-License-Identifier: Apache-2.0
 *
 * Running ops in tests by the text of a call, in which $1, $2, … are tensors: "add($1; $2; alpha=2)".
 */
#ifndef DT_TESTS_DISPATCH_CALLS_H
#define DT_TESTS_DISPATCH_CALLS_H

#include "base/dtype.h"
#include "tensor/tensors.h"

#include "dispatch/dispatch.h"
#include "dtensor/dispatch.h"
#include "move/move.h"
#include "ops/ops.h"

#include <inttypes.h>

typedef struct test_call {
    dt__arena arena;
    dt__placed_call parsed;
    dt__call call;
} test_call;

/* "f32[4,3]" of the full tensor. */
static inline void calls_shape_text(const dt_tensor *tensor, char *out, size_t capacity) {
    int n = snprintf(out, capacity, "%s[", dt_dtype_name(tensor->dtype));
    for (int d = 0; d < tensor->n_dims; d++)
        n += snprintf(out + n, capacity - (size_t)n, "%s%" PRId64, d ? "," : "", tensor->shape[d]);
    snprintf(out + n, capacity - (size_t)n, "]");
}

/* The call without its tensors. */
static inline void calls_prepare(test_call *self) {
    dt__call_init(&self->call, self->arena.ctx, self->parsed.bound.overload, self->parsed.bound.args);
    self->call.info = self->parsed.info;
    self->call.n_inputs = self->parsed.call.n_inputs;
}

/* Parses the text and binds the tensors; the error is that of the context. */
static inline bool calls_open(dt_ctx *ctx, const char *text, dt_tensor *const *tensors, test_call *out) {
    static const int64_t one[] = {1};
    char full[2048];
    size_t n = 0;
    for (const char *at = text; *at && n + 64 < sizeof full; at++)
        if (*at == '$') {
            if (at[1] < '1')
                return dt__fail(ctx, DT_ERR_VALUE, "%s: inputs are counted from 1", text) == DT_OK;
            calls_shape_text(tensors[*++at - '1'], full + n, sizeof full - n);
            n += strlen(full + n);
        } else
            full[n++] = *at;
    full[n] = '\0';
    *out = (test_call){.arena = dt__arena_new(ctx)};
    if (dt__ops_open(ctx) != DT_OK || dt__placed_call_parse(&out->arena, full, 1, one, &out->parsed) != DT_OK)
        return false;
    calls_prepare(out);
    int order[DT__FEW_TENSORS], n_tensors = 0;
    for (const char *at = text; *at; at++)
        if (*at == '$')
            order[n_tensors++] = at[1] - '1';
    for (int i = 0; i < out->parsed.call.n_inputs; i++)
        out->call.inputs[i] = tensors[order[out->parsed.bound.inputs[i]]];
    return true;
}

static inline void calls_close(test_call *self) {
    dt__call_end(&self->call);
    dt__arena_free(&self->arena);
}

static inline dt_status calls_run(dt_ctx *ctx, test_call *self) { return dt__dispatch(ctx, &self->call); }

/* The first output; NULL with the error in the context. */
static inline dt_tensor *calls_output(dt_ctx *ctx, const char *text, dt_tensor *const *tensors) {
    test_call self;
    bool ok = calls_open(ctx, text, tensors, &self) && calls_run(ctx, &self) == DT_OK;
    calls_close(&self);
    return ok ? self.call.outputs[0] : NULL;
}
/* CALL(ctx, "mm($1; $2)", a, b) */
#define CALL(ctx, text, ...) calls_output(ctx, text, (dt_tensor *const[]){__VA_ARGS__})

static inline const char *calls_placements(const dt_tensor *tensor) {
    static _Thread_local char text[8][256];
    static _Thread_local int at;
    char *out = text[at++ % 8];
    out[0] = '\0';
    if (tensor && tensor->spec)
        (void)dt_placements_text(tensor->spec->sharding.n_mesh_dims, tensor->spec->sharding.placements, 256, out);
    return out;
}

/* Elements of a contiguous plain tensor as numbers. */
static inline double calls_element(const dt_tensor *tensor, int64_t i) {
    return dt__read_f64(tensor->dtype,
                        (const unsigned char *)tensor->data + (size_t)i * dt_dtype_size(tensor->dtype));
}
static inline void calls_set_element(dt_tensor *tensor, int64_t i, double value) {
    dt__write_f64(tensor->dtype, value, tensor->data + (size_t)i * dt_dtype_size(tensor->dtype));
}

/* A plain tensor whose elements are start, start + step, … */
static inline dt_tensor *calls_counting(dt_ctx *ctx, dt_dtype dtype, dt_shape shape, double start, double step) {
    dt_tensor *tensor = dt_empty(ctx, shape, .dtype = dtype);
    for (int64_t i = 0; tensor && tensor->data && i < dt_tensor_elements(tensor); i++)
        calls_set_element(tensor, i, start + step * (double)i);
    return tensor;
}

/* A tensor for each input of a parsed call: numbers that are valid indices of every dim. False with an error. */
static inline bool calls_make_inputs(test_call *self) {
    const dt_op_value *values = self->parsed.call.inputs;
    const int n = self->parsed.call.n_inputs;
    int64_t min_size = 1000;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < values[i].n_dims; d++)
            if (values[i].shape[d] > 0 && values[i].shape[d] < min_size)
                min_size = values[i].shape[d];
    for (int i = 0; i < n; i++) {
        dt_tensor *made =
            dt_empty(self->arena.ctx, TENSORS_SHAPE(values[i].n_dims, values[i].shape), .dtype = values[i].dtype);
        self->call.inputs[i] = made;
        for (int64_t e = 0; made && e < dt_tensor_elements(made); e++)
            calls_set_element(made, e,
                              dt__is_float(values[i].dtype) ? (double)(e * 37 % 251) / 64 + 0.0625
                                                            : (double)(e % min_size));
        if (!made)
            return false;
    }
    return true;
}

/* The full tensor with a placement; every rank has it, so nothing moves. */
static inline dt_tensor *calls_distribute(dt_tensor *full, dt_mesh *mesh, const char *place) {
    return dt_distribute_tensor(full, mesh, place, .everywhere = true);
}

/* The collectives of redistributions since `before`: "all_gather 1, all_to_all 2", or "" for nothing. */
static inline const char *calls_collectives(const dt_ctx *ctx, const dt__redistribute_stats *before) {
    static _Thread_local char text[256];
    dt__redistribute_stats after = dt__redistribute_statistics(ctx);
    size_t n = 0;
    text[0] = '\0';
    for (int c = DT__STEP_NONE + 1; c < DT__N_STEP_KINDS; c++)
        if (after.collectives[c] > before->collectives[c])
            n +=
                (size_t)snprintf(text + n, sizeof text - n, "%s%s %" PRId64, n ? ", " : "",
                                 dt__step_kind_name((dt__step_kind)c), after.collectives[c] - before->collectives[c]);
    return text;
}

#endif
