/* SPDX-License-Identifier: Apache-2.0
 *
 * Dropout. The mask is a function of the global index, so that it does not depend on the sharding, and the terms of a
 * partial sum have the mask of the full tensor.
 */
#include "base/hash.h"
#include "mesh/mesh.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"
#include "random/random.h"

enum { P, TRAINING };

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

/* The local tensor of the mask, dense. */
static dt_status draw_mask(const dt_op_call *call, const dt__draw *draw, const dt__scratch *mask) {
    const dt_op_value *value = &call->outputs[0];
    dt__pool *pool = dt__pool_of(call->ctx);
    if (value->spec) {
        int64_t coordinate[DT_SPEC_MAX_DIMS];
        (void)dt_mesh_coordinate(value->spec->mesh, coordinate); /* a member: it holds elements */
        return dt__draw_spec(draw, pool, value->spec, coordinate, mask->strides, mask->array.data);
    }
    dt__draw_range(draw, 0, dt__array_count(&mask->array), mask->array.data);
    return DT_OK;
}

/* Every rank of the mesh draws, with or without elements. */
static dt_status take_draw(const dt_op_call *call, dt_dtype dtype, dt__draw *out) {
    dt_generator_state drawn_from;
    const dt_spec *spec = call->outputs[0].spec;
    dt__random request = {
        .distribution = DT__DROPOUT, .dtype = dtype, .p = dt__arg_at(call, P)->as.f, .op = call->name};
    DT__TRY(dt__draw_prepare(call->ctx, dt__kernels_of(call->ctx), &request, out));
    DT__TRY(dt_op_draw(call, &drawn_from));
    out->key = (dt__philox_key){drawn_from.seed, drawn_from.draw};
    if (!spec)
        return DT_OK;
    uint64_t drawn = dt__hash_u64(out->key.draw, out->key.seed);
    return dt__mesh_history_add(spec->mesh, dt__hash_u64(spec->fingerprint, drawn));
}

static dt_status dropout(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    if (!dt__arg_at(call, TRAINING)->as.b) {
        dt__run_convert(call, &out, &in);
        return DT_OK;
    }
    dt_dtype dtype = dt__is_double_precision(out.dtype) ? DT_F64 : DT_F32;
    dt__draw draw;
    dt__scratch mask;
    DT__TRY(take_draw(call, dtype, &draw));
    if (dt__array_count(&out) == 0)
        return DT_OK;
    DT__TRY(dt__scratch_new(call, dtype, out.n_dims, out.shape, &mask));
    dt_status status = draw_mask(call, &draw, &mask);
    if (status == DT_OK)
        status = dt__run_elements(call, DT__EL_MUL, dt__promote(out.dtype, dtype), &out, &in, &mask.array, NULL);
    dt__scratch_free(call, &mask);
    return status;
}

const dt_op dt__op_dropout = {
    .schema = "dropout(Tensor input, float p=0.5, bool training=True) -> Tensor",
    .summary = "Sets elements to zero with probability p and scales the others by 1 / (1 - p).",
    .rule = "...->...",
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
