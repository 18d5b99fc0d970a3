/* SPDX-License-Identifier: Apache-2.0
 *
 * Dropout. The mask is a function of the global index, so that it does not depend on the sharding, and the terms of a
 * partial sum have the mask of the full tensor.
 */
#include "ops/dropout_draw.h"

#include "base/hash.h"
#include "base/size.h"
#include "mesh/mesh.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"
#include "random/random.h"

enum { P, TRAINING };
enum { SCALE };

static dt_status check_dropout(const dt_op_call *call) {
    double p = dt__arg_at(call, P)->as.f;
    return p >= 0 && p <= 1 ? DT_OK
                            : dt_op_refuse(call, DT_ERR_VALUE, "p: expected a probability from 0 to 1, got %g", p);
}

static dt_status shape_dropout(dt_op_call *call) {
    DT__TRY(dt__expect_floating(call, 0));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

/* P(max) and P(min) are not kept: an infinity, which a rank without elements contributes, times 0 is NaN. */
static unsigned partial_dropout(const dt_op_call *call) {
    return dt__arg_at(call, TRAINING)->as.b ? DT_PARTIAL_LINEAR : DT_PARTIAL_ANY;
}

dt_status dt__repeat_dropout_draw(const dt_op_call *call, double p, dt_dtype dtype, dt_generator_state from,
                                  dt__draw *out) {
    dt__random request = {.distribution = DT__DROPOUT, .dtype = dtype, .p = p, .op = call->name};
    DT__TRY(dt__draw_prepare(call->ctx, dt__kernels_of(call->ctx), &request, out));
    out->key = (dt__philox_key){from.seed, from.draw};
    return DT_OK;
}

dt_status dt__take_dropout_draw(const dt_op_call *call, double p, dt_dtype dtype, dt__draw *out) {
    dt_generator_state from;
    const dt_spec *spec = call->outputs[0].spec;
    DT__TRY(dt_op_draw(call, &from));
    DT__TRY(dt__repeat_dropout_draw(call, p, dtype, from, out));
    if (!spec)
        return DT_OK;
    uint64_t drawn = dt__hash_u64(out->key.draw, out->key.seed);
    return dt__mesh_history_add(spec->mesh, dt__hash_u64(spec->fingerprint, drawn));
}

/* Blocks of a dense output, in row-major order: the mask of each, 0 or 1 / (1 - p), is drawn into a buffer in the cache
 * and multiplied at once. */
enum { BLOCK = 2048, BLOCKS_PER_PIECE = 8 };

typedef struct masked {
    const dt_op_call *call;
    const dt__draw *draw;
    int n_dims;
    dt__shard shards[DT_SPEC_MAX_DIMS]; /* the local tensor among all elements */
    dt__array out, in;
    int64_t n;
} masked;

static void set_shards(masked *self) {
    const dt_op_value *value = &self->call->outputs[0];
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (!value->spec) {
        self->n_dims = 1;
        self->shards[0] = (dt__shard){.global_size = self->n, .size = self->n};
        return;
    }
    (void)dt_mesh_coordinate(value->spec->mesh, coordinate); /* a member: it holds elements */
    self->n_dims = value->spec->sharding.n_dims;
    for (int d = 0; d < self->n_dims; d++)
        dt__shard_at(&value->spec->sharding, d, coordinate, &self->shards[d]);
}

static dt__array part_of(const dt__array *whole, int64_t begin, const int64_t *n) {
    static const int64_t one = 1;
    return (dt__array){(char *)whole->data + begin * (int64_t)dt_dtype_size(whole->dtype), whole->dtype, 1, n, &one};
}

static void mask_piece(void *arg, int64_t piece) {
    const masked *self = arg;
    _Alignas(64) char memory[BLOCK * sizeof(double)];
    const int64_t begin = piece * BLOCKS_PER_PIECE * BLOCK, end = begin + BLOCKS_PER_PIECE * BLOCK;
    const dt_dtype dtype = dt__promote(self->out.dtype, self->draw->dtype);
    for (int64_t at = begin; at < end && at < self->n; at += BLOCK) {
        const int64_t n = dt__min_i64(BLOCK, self->n - at), stride = 1;
        const dt__array out = part_of(&self->out, at, &n), in = part_of(&self->in, at, &n);
        const dt__array mask = {memory, self->draw->dtype, 1, &n, &stride};
        dt__draw_local(self->draw, self->n_dims, self->shards, at, n, memory);
        dt__elementwise_run(dt__kernels_of(self->call->ctx), NULL,
                            &(dt__elementwise){.op = DT__EL_MUL, .dtype = dtype, .out = &out, .ins = {&in, &mask}});
    }
}

/* An input that is not dense is copied to the output first; an output that is not, from a dense one. */
static dt_status apply_mask(const dt_op_call *call, const dt__draw *draw, const dt__array *out, const dt__array *in) {
    if (!dt__array_is_dense(out)) {
        dt__scratch dense;
        DT__TRY(dt__scratch_new(call, out->dtype, out->n_dims, out->shape, &dense));
        dt_status status = apply_mask(call, draw, &dense.array, in);
        dt__run_convert(call, out, &dense.array);
        dt__scratch_free(call, &dense);
        return status;
    }
    masked self; /* dims after the last one are never read */
    self.call = call;
    self.draw = draw;
    self.out = *out;
    self.in = dt__array_is_dense(in) ? *in : *out;
    self.n = dt__array_count(out);
    if (!dt__array_is_dense(in))
        dt__run_convert(call, out, in);
    set_shards(&self);
    dt__pool_run(dt__pool_of(call->ctx), dt__ceil_div(self.n, BLOCKS_PER_PIECE * BLOCK), mask_piece, &self);
    return DT_OK;
}

static dt_status dropout(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    if (!dt__arg_at(call, TRAINING)->as.b) {
        dt__run_convert(call, &out, &in);
        return DT_OK;
    }
    dt__draw draw;
    DT__TRY(dt__take_dropout_draw(call, dt__arg_at(call, P)->as.f,
                                  dt__is_double_precision(out.dtype) ? DT_F64 : DT_F32, &draw));
    return dt__array_count(&out) ? apply_mask(call, &draw, &out, &in) : DT_OK;
}

static dt_status shape_dropout_backward(dt_op_call *call) {
    const dt_dtype dtype = call->inputs[0].dtype;
    if (call->inputs[1].dtype != DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE, "mask: expected bool, got %s", dt_dtype_name(call->inputs[1].dtype));
    return dt__add_broadcast(call, dt__promote_to_inexact(dtype));
}

static void rows_dropout_backward(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_linear(rows, 1);
}

/* The gradient times the mask times the scale: where the mask is false, NaN remains NaN. */
static dt_status dropout_backward(dt_op_call *call) {
    const dt__array out = dt__array_of(&call->outputs[0]), grad = dt__array_of(&call->inputs[0]),
                    mask = dt__array_of(&call->inputs[1]);
    dt__constant constant;
    const dt__array scale = dt__array_of_number(dt__arg_at(call, SCALE), out.dtype, &constant);
    DT__TRY(dt__run_elements(call, DT__EL_MUL, out.dtype, &out, &grad, &mask, NULL));
    return dt__run_elements(call, DT__EL_MUL, out.dtype, &out, &out, &scale, NULL);
}

const dt_op dt__op_dropout = {
    .schema = "dropout(Tensor input, float p=0.5, bool training=True) -> Tensor",
    .summary = "Sets elements to zero with probability p and scales the others by 1 / (1 - p).",
    .rule = "...->...",
    .order = dt__order_of_elements,
    .partial_of = partial_dropout,
    .arguments = "p,training",
    .varying = "p",
    .check = check_dropout,
    .shape = shape_dropout,
    .kernel = dropout,
    .gradient = "input: again(grad)",
    .samples = "dropout(f32[5,3]; 0.3)\ndropout(f32[5,3]; 0.3; false)\n"
               "dropout(f32[5]; 0.0)\n"
               "dropout(f32[5]; 1.0)",
    .flags = DT_OP_RANDOM,
};
const dt_op dt__op_native_dropout_backward = {
    .schema = "native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
    .summary = "The gradient of dropout, from its mask.",
    .rule = "..., ... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_dropout_backward,
    .arguments = "scale",
    .varying = "scale",
    .shape = shape_dropout_backward,
    .kernel = dropout_backward,
    .gradient = "grad_output: native_dropout_backward(grad, mask, scale); mask: none",
    .samples = "native_dropout_backward(f32[5,3]; bool[5,3]; 2.0)\nnative_dropout_backward(f64[5,3]; bool[3]; 0.5)",
};
