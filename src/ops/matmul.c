/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices: matmul, mm, bmm, addmm, linear. Linear in each factor; a sharded inner dim gives a partial sum,
 * which a bias has to join as one.
 */
#include "ops/infer.h"
#include "ops/table.h"

#include <inttypes.h>

/* Factors of a product have one dtype. */
static dt_status check_dtypes(const dt_op_call *call) {
    for (int i = 1; i < call->n_inputs; i++)
        if (call->inputs[i].dtype != call->inputs[0].dtype)
            return dt_op_refuse(call, DT_ERR_DTYPE, "the dtypes differ: %s and %s; convert one with to",
                                dt_dtype_word(call->inputs[0].dtype), dt_dtype_word(call->inputs[i].dtype));
    if (call->inputs[0].dtype == DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE, "truth values have no products of matrices; wanted numbers");
    return DT_OK;
}

static dt_status check_inner(const dt_op_call *call, int64_t a, int64_t b) {
    return a == b ? DT_OK : dt_op_refuse(call, DT_ERR_SHAPE, "inner sizes %" PRId64 " and %" PRId64 " differ", a, b);
}

/* Batch dims broadcast; `keep` says how many of the last dims are not batch dims. */
static dt_status broadcast_batch(const dt_op_call *call, dt__shape *out) {
    dt_op_value batch[2] = {call->inputs[0], call->inputs[1]};
    dt_op_call as_batch = *call;
    for (int i = 0; i < 2; i++)
        batch[i].n_dims = batch[i].n_dims > 2 ? batch[i].n_dims - 2 : 0;
    as_batch.inputs = batch;
    if (dt__broadcast(&as_batch, 3, out) == DT_OK)
        return DT_OK;
    return dt_error_status(call->ctx);
}

static dt_status shape_matmul(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    dt__shape shape;
    DT__TRY(check_dtypes(call));
    if (a->n_dims == 0 || b->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "both tensors need at least one dim; multiply numbers with mul");
    DT__TRY(check_inner(call, a->shape[a->n_dims - 1], b->shape[b->n_dims > 1 ? b->n_dims - 2 : 0]));
    DT__TRY(broadcast_batch(call, &shape));
    if (a->n_dims > 1)
        shape.sizes[shape.n++] = a->shape[a->n_dims - 2];
    if (b->n_dims > 1)
        shape.sizes[shape.n++] = b->shape[b->n_dims - 1];
    return dt__add_shape(call, a->dtype, &shape);
}

/* A vector is a matrix without the one dim. */
static void rows_matmul(const dt_op_call *call, dt_rows *rows) {
    static const char *const rules[2][2] = {{"k,k->", "k,...kn->...n"}, {"...mk,k->...m", "...mk,...kn->...mn"}};
    dt_rows_factors(rows, rules[call->inputs[0].n_dims > 1][call->inputs[1].n_dims > 1], DT_PARTIAL_EACH);
}

static dt_status shape_mm(dt_op_call *call) {
    DT__TRY(dt__want_dims(call, 0, 2));
    DT__TRY(dt__want_dims(call, 1, 2));
    return shape_matmul(call);
}

static dt_status shape_bmm(dt_op_call *call) {
    DT__TRY(dt__want_dims(call, 0, 3));
    DT__TRY(dt__want_dims(call, 1, 3));
    if (call->inputs[0].shape[0] != call->inputs[1].shape[0])
        return dt_op_refuse(call, DT_ERR_SHAPE, "batch sizes %" PRId64 " and %" PRId64 " differ",
                            call->inputs[0].shape[0], call->inputs[1].shape[0]);
    return shape_matmul(call);
}

static dt_status check_addend(const dt_op_call *call, const dt_op_value *addend, const dt__shape *shape) {
    bool fits = addend->n_dims <= shape->n;
    for (int d = 0; d < addend->n_dims && fits; d++) {
        int64_t size = addend->shape[d];
        fits = size == 1 || size == shape->sizes[shape->n - addend->n_dims + d];
    }
    return fits ? DT_OK
                : dt_op_refuse(call, DT_ERR_SHAPE, "the tensor that is added does not broadcast to the product");
}

static dt_status shape_addmm(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[1], *b = &call->inputs[2];
    DT__TRY(dt__want_dims(call, 1, 2));
    DT__TRY(dt__want_dims(call, 2, 2));
    DT__TRY(check_dtypes(call));
    DT__TRY(check_inner(call, a->shape[1], b->shape[0]));
    dt__shape shape = {2, {a->shape[0], b->shape[1]}};
    DT__TRY(check_addend(call, &call->inputs[0], &shape));
    return dt__add_shape(call, a->dtype, &shape);
}

static int class_addmm(const dt_op_call *call) { return dt__arg_sign(dt__arg(call, "beta")); }
static unsigned partial_addmm(const dt_op_call *call) {
    int sign = class_addmm(call);
    return DT_PARTIAL_EACH | (sign > 0 ? DT_PARTIAL_UP : sign < 0 ? DT_PARTIAL_DOWN : DT_PARTIAL_NONE);
}

static dt_status shape_linear(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0], *weight = &call->inputs[1];
    dt__shape shape = {.n = input->n_dims};
    DT__TRY(check_dtypes(call));
    if (input->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the input has no dims; wanted at least one");
    DT__TRY(dt__want_dims(call, 1, 2));
    DT__TRY(check_inner(call, input->shape[input->n_dims - 1], weight->shape[1]));
    for (int d = 0; d + 1 < input->n_dims; d++)
        shape.sizes[d] = input->shape[d];
    shape.sizes[shape.n - 1] = weight->shape[0];
    if (call->n_inputs == 3)
        DT__TRY(check_addend(call, &call->inputs[2], &shape));
    return dt__add_shape(call, input->dtype, &shape);
}

static void rows_linear(const dt_op_call *call, dt_rows *rows) {
    dt_rows_factors(rows, "...k,nk,+n->...n", DT_PARTIAL_EACH | (call->n_inputs == 3 ? DT_PARTIAL_UP : 0));
}

const dt_op dt__op_matmul = {
    .schema = "matmul(Tensor self, Tensor other) -> Tensor",
    .rows = rows_matmul,
    .shape = shape_matmul,
    .samples = "matmul(f32[5,3]; f32[3,4])\nmatmul(f32[2,5,3]; f32[3,4])\nmatmul(f32[2,1,5,3]; f32[4,3,2])\n"
               "matmul(f32[3]; f32[3])\nmatmul(f32[5,3]; f32[3])\nmatmul(f32[3]; f32[3,4])",
};
const dt_op dt__op_mm = {
    .schema = "mm(Tensor self, Tensor mat2) -> Tensor",
    .rule = "mk,kn->mn",
    .partial = DT_PARTIAL_EACH,
    .shape = shape_mm,
    .samples = "mm(f32[5,3]; f32[3,4])\nmm(f32[5,0]; f32[0,4])",
};
const dt_op dt__op_bmm = {
    .schema = "bmm(Tensor self, Tensor mat2) -> Tensor",
    .rule = "bmk,bkn->bmn",
    .partial = DT_PARTIAL_EACH,
    .shape = shape_bmm,
    .samples = "bmm(f32[2,5,3]; f32[2,3,4])",
};
const dt_op dt__op_addmm = {
    .schema = "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    .rule = "+...,mk,kn->mn",
    .partial_of = partial_addmm,
    .class_of = class_addmm,
    .shape = shape_addmm,
    .samples = "addmm(f32[5,4]; f32[5,3]; f32[3,4])\naddmm(f32[4]; f32[5,3]; f32[3,4]; beta=-0.5; alpha=2)",
};
const dt_op dt__op_linear = {
    .schema = "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    .rows = rows_linear,
    .shape = shape_linear,
    .samples = "linear(f32[5,3]; f32[4,3]; f32[4])\nlinear(f32[2,5,3]; f32[4,3])\nlinear(f32[3]; f32[4,3]; f32[4])",
};
