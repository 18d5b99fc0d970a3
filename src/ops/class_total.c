/* SPDX-License-Identifier: Apache-2.0
 *
 * The divisor of a mean over classes: how many targets are not ignored, or the sum of the weights of their classes.
 * Where targets are sharded the ranks meet, with one number each, however many targets there are. Of a call that is
 * differentiated with respect to the weights, it is made of other ops.
 */
#include "dtensor/ops.h"
#include "ops/class_rows.h"
#include "ops/ops.h"
#include "ops/states.h"

#include <inttypes.h>

enum { IGNORE_INDEX };

static const dt_op_value *weight_of(const dt_op_call *call) { return call->n_inputs > 1 ? &call->inputs[1] : NULL; }
static int64_t ignored_of(const dt_op_call *call) { return dt__arg_at(call, IGNORE_INDEX)->as.i; }

static dt_status shape_total(dt_op_call *call) {
    const dt_op_value *weight = weight_of(call);
    DT__TRY(dt__expect_index(call, 0));
    if (weight && (weight->n_dims != 1 || weight->shape[0] == 0))
        return dt_op_refuse(call, DT_ERR_SHAPE, "weight: expected a vector with a number for each class");
    if (weight && !dt__is_float(weight->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "weight: expected floating point, got %s",
                            dt_dtype_name(weight->dtype));
    return dt_op_add_output(call, DT_F64, 0, NULL);
}

static void rows_total(const dt_op_call *call, dt_rows *rows) {
    for (int d = 0; d < call->inputs[0].n_dims; d++) {
        dt_row_entry entries[3] = {DT_ROW_S(d)};
        dt_rows_add(rows, DT_ROW_MEET, entries);
    }
    if (weight_of(call))
        dt_rows_linear(rows, 1 << 1);
}

static void describe(const dt_op_call *call, dt_state *state) {
    (void)call;
    state->n_fields = 1;
    state->fields[0] = (dt_state_field){.dtype = DT_F64, .n = 1, .identity = 0};
}

static dt_status begin(dt_op_call *call, const dt_state *state) {
    const dt_op_value *weight = weight_of(call);
    double *total = state->fields[0].data;
    dt__scratch weights;
    if (!weight)
        return dt__class_total(call, &call->inputs[0], ignored_of(call), 0, NULL, total);
    DT__TRY(dt__scratch_new(call, DT_F64, 1, weight->shape, &weights));
    const dt__array from = dt__array_of(weight);
    dt__run_convert(call, &weights.array, &from);
    const dt_status status =
        dt__class_total(call, &call->inputs[0], ignored_of(call), weight->shape[0], weights.array.data, total);
    dt__scratch_free(call, &weights);
    return status;
}

static void merge(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    (void)call;
    *(double *)into->fields[0].data += *(const double *)next->fields[0].data;
}

static dt_status finish(dt_op_call *call, const dt_state *merged) {
    const dt__array to = dt__array_of(&call->outputs[0]);
    dt__run_convert(call, &to, &(dt__array){merged->fields[0].data, DT_F64, 0, NULL, NULL});
    return DT_OK;
}

static const dt_meet meet = {describe, begin, merge, finish};

static dt_status decompose(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_tensor *counts = dt_ne_scalar(inputs[0], ignored_of(call));
    if (call->n_inputs > 1) {
        dt_tensor *index = dt_flatten(dt_mul(inputs[0], counts));
        outputs[0] = dt_sum(dt_mul(dt_to(dt_index_select(inputs[1], 0, index), DT_F64), dt_flatten(counts)));
    } else
        outputs[0] = dt_to(dt_sum(counts), DT_F64);
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

const dt_op dt__op_class_total = {
    .schema = "class_total(Tensor target, Tensor? weight=None, int ignore_index=-100) -> Tensor",
    .summary = "The number of targets that are not ignored, or the sum of the weights of their classes.",
    .rows = rows_total,
    .arguments = "ignore_index",
    .varying = "ignore_index",
    .shape = shape_total,
    .kernel = dt__run_alone,
    .meet = &meet,
    .decompose = decompose,
    .flags = DT_OP_RECORDS_PARTS,
    .samples = "class_total(i64[5])\nclass_total(i64[4,3]; f32[7]; ignore_index=2)\nclass_total(i32[])",
};
