/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops with several outputs: rows that hold with another placement for each output are found where the rule lacks them,
 * and a row that is right for the first output only is wrong.
 */
#include "support/check.h"

#include "dtensor/dtensor.h"
#include "verify/verify.h"

#include <string.h>

/* Twice self[m,n], and the sums of its columns[n]. */
static dt_status shape_both(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    if (self->dtype != DT_F32 || self->n_dims != 2)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected an f32 matrix");
    dt_status status = dt_op_add_output(call, DT_F32, 2, self->shape);
    return status == DT_OK ? dt_op_add_output(call, DT_F32, 1, self->shape + 1) : status;
}

static dt_status both(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    const float *x = self->data;
    float *twice = call->outputs[0].data, *sums = call->outputs[1].data;
    for (int64_t j = 0; j < self->shape[1]; j++)
        sums[j] = 0;
    for (int64_t i = 0; i < self->shape[0]; i++)
        for (int64_t j = 0; j < self->shape[1]; j++) {
            twice[i * self->shape[1] + j] = 2 * x[i * self->strides[0] + j * self->strides[1]];
            sums[j] += x[i * self->strides[0] + j * self->strides[1]];
        }
    return DT_OK;
}

#define BOTH(name)                                                                                                   \
    .schema = name "(Tensor self) -> (Tensor twice, Tensor sums)", .shape = shape_both, .kernel = both,              \
    .samples = name "(f32[5,3])"

static void rows_of_first_only(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(0), DT_ROW_S(0), DT_ROW_R}); /* what the sums are not */
}

static dt__verdict verify(dt_ctx *ctx, dt__arena *arena, const dt_op *op, const char *name) {
    dt__verdict verdict;
    assert_int_equal(dt_op_register(ctx, op), DT_OK);
    assert_int_equal(dt__verify(arena, dt__op_find(ctx, name), &(dt__verify_options){0}, &verdict), DT_OK);
    assert_int_equal(verdict.state, DT__VERIFIED);
    return verdict;
}

static void outputs__may_have_different_placements(void **state) {
    (void)state;
    static const dt_op complete = {BOTH("complete"), .rule = "mn -> mn, n", .partial = DT_PARTIAL_LINEAR};
    static const dt_op lacking = {BOTH("lacking"), .rule = "m!n -> mn, n", .partial = DT_PARTIAL_LINEAR};
    static const dt_op wrong = {BOTH("wrong"), .rule = "m!n -> mn, n", .rows = rows_of_first_only};
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .threads = 1});
    dt__arena arena = dt__arena_new(ctx);
    dt__verdict all = verify(ctx, &arena, &complete, "complete");
    assert_int_equal(all.n_wrong, 0);
    assert_int_equal(all.n_missing, 0);
    dt__verdict some = verify(ctx, &arena, &lacking, "lacking");
    assert_int_equal(some.n_wrong, 0);
    assert_int_equal(some.n_missing, 1);
    assert_string_equal(some.missing[0].row, "S(0) -> S(0); P(sum)");
    dt__verdict not_right = verify(ctx, &arena, &wrong, "wrong");
    assert_int_equal(not_right.n_wrong, 1);
    assert_string_equal(not_right.wrong[0].row, "S(0) -> S(0); R");
    assert_non_null(strstr(not_right.wrong[0].failure, "of output 2"));
    dt__arena_free(&arena);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(outputs__may_have_different_placements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
