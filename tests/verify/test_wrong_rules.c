/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules of a user's ops: deliberately wrong ones are caught, each by the row that is wrong, and right ones pass. The
 * wrong rules are those that are easily written: most of them were in a well-known library.
 */
#include "support/check.h"

#include "dtensor/dtensor.h"
#include "dtensor/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Kernels for dense f32 tensors. */
static int64_t n_elements(const dt_op_value *value) {
    int64_t n = 1;
    for (int d = 0; d < value->n_dims; d++)
        n *= value->shape[d];
    return n;
}

static dt_status only_f32(dt_op_call *call) {
    if (call->inputs[0].dtype != DT_F32)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected f32");
    return DT_OK;
}

static dt_status shape_same(dt_op_call *call) {
    const dt_op_value *in = &call->inputs[0];
    return only_f32(call) == DT_OK ? dt_op_add_output(call, in->dtype, in->n_dims, in->shape) : DT_ERR_DTYPE;
}

static dt_status shape_number(dt_op_call *call) {
    return only_f32(call) == DT_OK ? dt_op_add_output(call, DT_F32, 0, NULL) : DT_ERR_DTYPE;
}

static void map_elements(const dt_op_call *call, float (*fn)(float x)) {
    const float *in = call->inputs[0].data;
    float *out = call->outputs[0].data;
    for (int64_t i = 0, n = n_elements(&call->outputs[0]); i < n; i++)
        out[i] = fn(in[i]);
}

static float square_of(float x) { return x * x; }
static float softsign_of(float x) { return x / (1 + fabsf(x)); }
static float copy_of(float x) { return x; }
static dt_status square(dt_op_call *call) { return map_elements(call, square_of), DT_OK; }
static dt_status softsign(dt_op_call *call) { return map_elements(call, softsign_of), DT_OK; }
static dt_status copy(dt_op_call *call) { return map_elements(call, copy_of), DT_OK; }

/* Running sum along dim 0 of a vector. */
static dt_status running_sum(dt_op_call *call) {
    const float *in = call->inputs[0].data;
    float *out = call->outputs[0].data, sum = 0;
    for (int64_t i = 0, n = n_elements(&call->inputs[0]); i < n; i++)
        out[i] = sum += in[i];
    return DT_OK;
}

static dt_status local_mean(dt_op_call *call) {
    const float *in = call->inputs[0].data;
    float sum = 0;
    int64_t n = n_elements(&call->inputs[0]);
    for (int64_t i = 0; i < n; i++)
        sum += in[i];
    *(float *)call->outputs[0].data = n ? sum / (float)n : 0;
    return DT_OK;
}

static dt_status global_mean(dt_op_call *call) {
    const float *in = call->inputs[0].data;
    float sum = 0, n = 1;
    for (int64_t i = 0; i < n_elements(&call->inputs[0]); i++)
        sum += in[i];
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        n *= (float)call->inputs[0].global_shape[d];
    *(float *)call->outputs[0].data = n > 0 ? sum / n : 0;
    return DT_OK;
}

static dt_status max_magnitude(dt_op_call *call) {
    const float *in = call->inputs[0].data;
    float max = 0;
    for (int64_t i = 0; i < n_elements(&call->inputs[0]); i++)
        max = isnan(in[i]) || fabsf(in[i]) > max ? fabsf(in[i]) : max;
    *(float *)call->outputs[0].data = max;
    return DT_OK;
}

static dt_status sum_of_numbers(dt_op_call *call) {
    const float *in = call->inputs[0].data;
    float sum = 0;
    for (int64_t i = 0; i < n_elements(&call->inputs[0]); i++)
        sum += isnan(in[i]) ? 0 : in[i];
    *(float *)call->outputs[0].data = sum;
    return DT_OK;
}

/* x > t ? x : v */
static dt_status threshold(dt_op_call *call) {
    const float *in = call->inputs[0].data;
    float *out = call->outputs[0].data, t = (float)call->args[1].as.f, v = (float)call->args[2].as.f;
    for (int64_t i = 0; i < n_elements(&call->outputs[0]); i++)
        out[i] = in[i] <= t ? v : in[i];
    return DT_OK;
}

static unsigned threshold_class(const dt_op_call *call) {
    return call->args[2].as.f <= call->args[1].as.f ? DT_PARTIAL_UP : DT_PARTIAL_NONE;
}
static int64_t threshold_key(const dt_op_call *call) { return call->args[2].as.f <= call->args[1].as.f; }

/* out[i,j] = self[index[i,j], j]; the index may have fewer columns. */
static dt_status shape_pick(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1];
    if (only_f32(call) != DT_OK)
        return DT_ERR_DTYPE;
    if (self->n_dims != 2 || index->n_dims != 2 || index->shape[1] > self->shape[1])
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected matrices");
    return dt_op_add_output(call, DT_F32, 2, index->shape);
}

static dt_status pick(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1];
    float *out = call->outputs[0].data;
    for (int64_t e = 0; e < n_elements(index); e++) {
        int64_t i = ((const int64_t *)index->data)[e], j = e % index->shape[1];
        if (i < 0 || i >= self->shape[0])
            return dt_op_refuse(call, DT_ERR_VALUE, "no row %lld", (long long)i);
        out[e] = ((const float *)self->data)[i * self->shape[1] + j];
    }
    return DT_OK;
}

static void rows_pick_wrong(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(1), DT_ROW_S(1), DT_ROW_S(1)});
}
static void rows_pick_right(const dt_op_call *call, dt_rows *rows) {
    if (call->inputs[0].shape[1] == call->inputs[1].shape[1])
        rows_pick_wrong(call, rows);
    dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_R, DT_ROW_S(0), DT_ROW_S(0)});
}

static void rows_local_mean(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(0), DT_ROW_P(DT_AVG)});
}
static void rows_global_mean(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(0), DT_ROW_P(DT_SUM)});
}
static void rows_shard_as_replicate(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(0), DT_ROW_R});
}
static void rows_largest(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_reduce(rows, 1, DT_MAX, DT_MAX);
}

/* Adds to each element its index in the full vector, or in the shard alone. */
static dt_status add_index(dt_op_call *call, bool adds_offset) {
    const float *in = call->inputs[0].data;
    float *out = call->outputs[0].data;
    for (int64_t i = 0; i < n_elements(&call->outputs[0]); i++)
        out[i] = in[i] + (float)(i + (adds_offset ? call->outputs[0].offset[0] : 0));
    return DT_OK;
}
static dt_status ramp(dt_op_call *call) { return add_index(call, true); }
static dt_status forgetful_ramp(dt_op_call *call) { return add_index(call, false); }
static void rows_ramp(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_add(rows, DT_ROW_OFFSET, (dt_row_entry[]){DT_ROW_S(0), DT_ROW_S(0)});
}

/* In place, with a wrong row: self += other with self partial and other replicated. */
static dt_status shape_into(dt_op_call *call) {
    if (call->inputs[1].n_dims != 1 || call->inputs[0].n_dims != 1 ||
        call->inputs[0].shape[0] != call->inputs[1].shape[0])
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected vectors of one size");
    return shape_same(call);
}
static dt_status add_into(dt_op_call *call) {
    float *self = call->outputs[0].data;
    for (int64_t i = 0; i < n_elements(&call->outputs[0]); i++)
        self[i] += ((const float *)call->inputs[1].data)[i];
    return DT_OK;
}
/* Adds its elements to the total, which is written and not returned, and returns their negatives. */
static dt_status add_total(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0];
    for (int64_t i = 0; i < x->shape[0]; i++) {
        *(float *)call->inputs[1].data += ((const float *)x->data)[i];
        ((float *)call->outputs[0].data)[i] = -((const float *)x->data)[i];
    }
    return DT_OK;
}
static void rows_total(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(0), DT_ROW_R, DT_ROW_S(0)});
}
static void rows_total_right(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(0), DT_ROW_P(DT_SUM), DT_ROW_S(0)});
}
static dt_status shape_total(dt_op_call *call) {
    if (call->inputs[0].dtype != DT_F32 || call->inputs[0].n_dims != 1 || call->inputs[1].dtype != DT_F32 ||
        call->inputs[1].n_dims != 0)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected f32 tensors");
    return dt_op_add_output(call, DT_F32, 1, call->inputs[0].shape);
}

static void rows_into(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_P(DT_SUM), DT_ROW_R, DT_ROW_P(DT_SUM)});
}
static void rows_into_right(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_P(DT_SUM), DT_ROW_P(DT_SUM), DT_ROW_P(DT_SUM)});
}

static dt_status scribble(dt_op_call *call) {
    float *out = call->outputs[0].data;
    out[n_elements(&call->outputs[0])] = 1;
    return copy(call);
}

/* An op, and the row that is wrong; NULL: none is. */
typedef struct user_op {
    dt_op op;
    const char *wrong, *error;
} user_op;

#define SAMPLES(name) name "(f32[5])\n" name "(f32[7])"
#define UNARY(n)      .schema = n "(Tensor self) -> Tensor", .shape = shape_same, .samples = SAMPLES(n)

static const user_op ops[] = {
    /* a shard of the dim along which values depend on each other */
    {{UNARY("cut_scan"), .rule = "...->...", .kernel = running_sum},
     "S(0) -> S(0)",
     "cut_scan(f32[4]) on 2 ranks: element [2]"},
    /* partial classes (VAL-016: contributions have mixed signs) */
    {{UNARY("linear_square"), .kernel = square, .partial = DT_PARTIAL_LINEAR}, "P(sum) -> P(sum)", "element ["},
    {{UNARY("up_square"), .kernel = square, .partial = DT_PARTIAL_UP}, "P(max) -> P(max)", "element ["},
    {{UNARY("ordered_copy"), .kernel = copy, .partial = DT_PARTIAL_DOWN}, "P(max) -> P(min)", "element ["},
    {{UNARY("product_square"), .kernel = square, .partial = DT_PARTIAL_PRODUCT}, NULL, NULL},
    /* monotone for all numbers, but not at -inf, which is the identity of max */
    {{UNARY("own_softsign"), .kernel = softsign, .partial = DT_PARTIAL_UP}, "P(max) -> P(max)", "nan"},
    /* the mean of local means is the mean only if the shards are even */
    {{.schema = "even_mean(Tensor self) -> Tensor",
      .shape = shape_number,
      .kernel = local_mean,
      .rows = rows_local_mean,
      .samples = "even_mean(f32[5])"},
     "S(0) -> P(avg)",
     "element []"},
    {{.schema = "any_mean(Tensor self) -> Tensor",
      .shape = shape_number,
      .kernel = global_mean,
      .rows = rows_global_mean,
      .samples = "any_mean(f32[5])"},
     NULL,
     NULL},
    /* classes that depend on arguments */
    {{.schema = "loose_threshold(Tensor self, float t, float v) -> Tensor",
      .shape = shape_same,
      .kernel = threshold,
      .partial = DT_PARTIAL_UP,
      .samples = "loose_threshold(f32[5]; 0.0; -1.0)\nloose_threshold(f32[5]; 0.0; 3.0)"},
     "P(max) -> P(max)",
     "0.0; 3.0)"},
    {{.schema = "own_threshold(Tensor self, float t, float v) -> Tensor",
      .shape = shape_same,
      .kernel = threshold,
      .partial_of = threshold_class,
      .varying = "t,v",
      .class_of = threshold_key,
      .samples = "own_threshold(f32[5]; 0.0; -1.0)\nown_threshold(f32[5]; 0.0; 3.0)"},
     NULL,
     NULL},
    /* an index smaller than the tensor: the shards differ */
    {{.schema = "careless_pick(Tensor self, Tensor index) -> Tensor",
      .shape = shape_pick,
      .kernel = pick,
      .rows = rows_pick_wrong,
      .samples = "careless_pick(f32[4,5]; i64[2,3])"},
     "S(1); S(1) -> S(1)",
     "careless_pick"},
    {{.schema = "pick(Tensor self, Tensor index) -> Tensor",
      .shape = shape_pick,
      .kernel = pick,
      .rows = rows_pick_right,
      .samples = "pick(f32[4,5]; i64[2,3])\npick(f32[4,5]; i64[6,5])"},
     NULL,
     NULL},
    /* the maximum of magnitudes */
    {{.schema = "largest(Tensor self) -> Tensor",
      .shape = shape_number,
      .kernel = max_magnitude,
      .rows = rows_largest,
      .samples = "largest(f32[5])"},
     "P(max) -> P(max)",
     "element []"},
    /* linear without NaN */
    {{.schema = "own_nansum(Tensor self) -> Tensor",
      .shape = shape_number,
      .kernel = sum_of_numbers,
      .partial = DT_PARTIAL_LINEAR,
      .samples = "own_nansum(f32[5])"},
     "P(sum) -> P(sum)",
     "element []"},
    /* a shard as Replicate, with a kernel that then reads beyond its shard */
    {{UNARY("claim"), .kernel = copy, .rows = rows_shard_as_replicate}, "S(0) -> R", "expected"},
    /* a kernel that needs its offset */
    {{UNARY("ramp"), .kernel = ramp, .rows = rows_ramp}, NULL, NULL},
    {{UNARY("forgetful"), .kernel = forgetful_ramp, .rows = rows_ramp}, "S(0) -> S(0)", "on 2 ranks"},
    {{.schema = "into_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
      .shape = shape_into,
      .kernel = add_into,
      .rows = rows_into,
      .samples = "into_(f32[5]; f32[5])"},
     "P(sum); R -> P(sum)",
     "on 2 ranks"},
    {{.schema = "right_into_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
      .shape = shape_into,
      .kernel = add_into,
      .rows = rows_into_right,
      .samples = "right_into_(f32[5]; f32[5])"},
     NULL,
     NULL},
    {{.schema = "total(Tensor self, Tensor(a!) total) -> Tensor",
      .shape = shape_total,
      .kernel = add_total,
      .rows = rows_total,
      .samples = "total(f32[5]; f32[])"},
     "S(0); R -> S(0)",
     "element [] of input 2"},
    {{.schema = "right_total(Tensor self, Tensor(a!) total) -> Tensor",
      .shape = shape_total,
      .kernel = add_total,
      .rows = rows_total_right,
      .samples = "right_total(f32[5]; f32[])"},
     NULL,
     NULL},
    {{UNARY("scribble"), .kernel = scribble, .rule = "...->..."}, "S(0) -> S(0)", "writes outside its local output"},
};
enum { N_OPS = sizeof ops / sizeof *ops };

static dt_ctx *open_ctx(void) {
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .threads = 1});
    assert_non_null(ctx);
    return ctx;
}

static void clear_and_close(dt_ctx *ctx) {
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

static void verify__catches_wrong_rules_and_passes_right_ones(void **state) {
    (void)state;
    for (int i = 0; i < N_OPS; i++) {
        dt_ctx *ctx = open_ctx();
        char name[64], row[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(ops[i].op.schema, "("), ops[i].op.schema);
        assert_int_equal(dt_op_register(ctx, &ops[i].op), DT_OK);
        dt_status status = dt_op_verify(ctx, name);
        if (!ops[i].wrong && status != DT_OK)
            fail_msg("%s", dt_error_text(ctx));
        if (ops[i].wrong) {
            snprintf(row, sizeof row, "%s: row %s is wrong", name, ops[i].wrong);
            assert_int_equal(status, DT_ERR_VALUE);
            assert_error_contains(ctx, DT_ERR_VALUE, row);
            assert_error_contains(ctx, DT_ERR_VALUE, ops[i].error);
        }
        clear_and_close(ctx);
    }
}

static void assert_refused(const char *name, const dt_op *op, dt_status status, const char *error) {
    dt_ctx *ctx = open_ctx();
    if (op)
        assert_int_equal(dt_op_register(ctx, op), DT_OK);
    assert_int_equal(dt_op_verify(ctx, name), status);
    assert_error_contains(ctx, status, error);
    clear_and_close(ctx);
}

static void verify__reports_what_it_cannot_verify(void **state) {
    (void)state;
    const dt_op no_kernel = {UNARY("no_kernel")};
    const dt_op no_samples = {.schema = "no_samples(Tensor self) -> Tensor", .shape = shape_same, .kernel = copy};
    const dt_op bad_sample = {.schema = "bad_sample(Tensor self) -> Tensor",
                              .shape = shape_same,
                              .kernel = copy,
                              .samples = "bad_sample(f32[5])\nbad_sample(i32[5])"};
    assert_refused("no_such_op", NULL, DT_ERR_OP, "there is no op 'no_such_op'");
    assert_refused("no_kernel", &no_kernel, DT_ERR_UNSUPPORTED, "no kernel");
    assert_refused("no_samples", &no_samples, DT_ERR_VALUE, "no samples");
    assert_refused("bad_sample", &bad_sample, DT_ERR_VALUE, "expected f32");
}

static void verify__leaves_the_context_alone(void **state) {
    (void)state;
    dt_ctx *ctx = open_ctx();
    dt_generator_state before = dt_generator_save(dt_generator_default(ctx));
    assert_int_equal(dt_op_verify(ctx, "dropout"), DT_OK);
    dt_generator_state after = dt_generator_save(dt_generator_default(ctx));
    assert_int_equal(dt_error_status(ctx), DT_OK);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verify__catches_wrong_rules_and_passes_right_ones),
        cmocka_unit_test(verify__reports_what_it_cannot_verify),
        cmocka_unit_test(verify__leaves_the_context_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
