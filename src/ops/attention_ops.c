/* SPDX-License-Identifier: Apache-2.0
 *
 * Scaled dot product attention. Queries attend independently, so batches, heads and queries may be sharded; so may the
 * keys, with their values: then the ranks meet with the largest score, the sum of exponentials and the sum of values of
 * each query.
 *
 * With dropout, what a weight is multiplied by depends on its index among those of all ranks, which is
 * why shards must be contiguous then.
 *
 * Where heads are grouped (enable_gqa), several query heads use one head of the keys. Query heads may be sharded in
 * any contiguous way if every rank has all keys; otherwise heads are sharded by whole groups.
 */
#include "ops/attention_call.h"

#include <math.h>
#include <string.h>

static dt_status shape_attention(dt_op_call *call) {
    const dt_op_value *query = dt__attention_query(call);
    dt__shape leading;
    DT__TRY(dt__attention_check(call, &leading));
    const int64_t sizes[] = {dt__size_from_end(query, 2), dt__size_from_end(query + 2, 1)};
    DT__TRY(dt__attention_add_output(call, query->dtype, &leading, 2, sizes));
    /* For the gradient logsumexp, and where the result is rounded to half precision, what it was before. */
    const dt_dtype dtype = dt__attention_dtype(query->dtype);
    const int64_t unrounded[] = {sizes[0], dtype == query->dtype ? 0 : sizes[1]};
    DT__TRY(dt__attention_add_output(call, dtype, &leading, 1, sizes));
    return dt__attention_add_output(call, dtype, &leading, 2, unrounded);
}

/* Indexed by is_causal: then the kernel needs the offsets of queries and keys. */
static const char *const rules[2] = {
    "...le!, ...s~e, ...s~d!, %s -> ...ld, ...l, ...ld",
    "...l@e!, ...s@~e, ...s~d!, %s -> ...ld, ...l, ...ld",
};
static const char *const grouped_rules[2] = {
    "...h@le!, ...g!s~e, ...gs~d!, %s -> ...hld, ...hl, ...hld",
    "...h@l@e!, ...g!s@~e, ...gs~d!, %s -> ...hld, ...hl, ...hld",
};

/* The values may be sharded along their last dim, and be partial sums: the weights of all ranks are the same. */
static void rows_attention(const dt_op_call *call, dt_rows *rows) {
    dt_row_entry entries[8] = {0};
    dt__attention_add_factors(call, dt__attention_is_grouped(call) ? grouped_rules : rules, rows);
    dt__attention_add_grouped(call, rows);
    static const dt_reduce reduces[] = {DT_SUM, DT_AVG};
    const int out = call->n_inputs, unrounded = out + 2; /* empty where nothing is rounded */
    entries[2] = DT_ROW_S(call->inputs[2].n_dims - 1);
    entries[out] = DT_ROW_S(call->outputs[0].n_dims - 1);
    entries[unrounded] = dt__attention_is_rounded(call) ? entries[out] : DT_ROW_R;
    dt_rows_add(rows, 0, entries);
    for (int i = 0; i < 2; i++) {
        entries[2] = entries[out] = DT_ROW_P(reduces[i]);
        entries[unrounded] = dt__attention_is_rounded(call) ? entries[out] : DT_ROW_R;
        dt_rows_add(rows, 0, entries);
    }
}

static dt_status run_attention(const dt_op_call *call, const dt__attention_arrays *of,
                               const dt__attention_result *result) {
    dt__products *products = dt__products_of(call->ctx);
    if (!products)
        return dt_error_status(call->ctx);
    return dt__attention_run(products, &of->args, result) ? DT_OK : dt__fail_memory(call->ctx, 0, call->name);
}

/* A rank outside the mesh has no shards; it draws, so that its generator stays in step. */
static dt_status draw_only(const dt_op_call *call) {
    dt__draw draw;
    return dt__attention_dropout_p(call) == 0
               ? DT_OK
               : dt__attention_take_draw(call, dt__attention_dtype(dt__attention_query(call)->dtype), &draw);
}

static dt_status attention(dt_op_call *call) {
    if (dt__attention_query(call)->n_dims < 2)
        return draw_only(call);
    dt__array out = dt__array_of(&call->outputs[0]), logsumexp, unrounded;
    dt__attention_arrays of;
    DT__TRY(dt__attention_call_prepare(call, &of));
    dt__attention_result result = {.out = &out};
    if (call->n_outputs > 1) {
        logsumexp = dt__array_of(&call->outputs[1]);
        unrounded = dt__array_of(&call->outputs[2]);
        result.logsumexp = &logsumexp;
        if (dt__attention_is_rounded(call))
            result.out = &unrounded;
    }
    DT__TRY(run_attention(call, &of, &result));
    if (result.out == &unrounded)
        dt__run_convert(call, &out, &unrounded);
    return DT_OK;
}

/* The state of a meeting: per query the largest score, the sum of exponentials and the sum of values. */
enum { LARGEST, SUM, VALUES, N_FIELDS };

static void describe_state(const dt_op_call *call, dt_state *state) {
    const dt_op_value *query = dt__attention_query(call);
    const dt_dtype dtype = dt__attention_dtype(query->dtype);
    dt__shape leading;
    dt__attention_leading(call, &leading);
    const int64_t n = dt__elements(leading.n, leading.sizes) * dt__size_from_end(query, 2);
    state->n_fields = N_FIELDS;
    state->fields[LARGEST] = (dt_state_field){.dtype = dtype, .n = n, .identity = -(double)INFINITY};
    state->fields[SUM] = (dt_state_field){.dtype = dtype, .n = n, .identity = 0};
    state->fields[VALUES] = (dt_state_field){.dtype = dtype, .n = n * dt__size_from_end(query + 2, 1), .identity = 0};
}

/* A field as a dense array of the leading dims, queries and, of values, their numbers. */
static dt__array field_array(const dt_op_call *call, const dt__attention_arrays *of, const dt_state *state, int field,
                             dt__attention_operand *out) {
    dt__shape shape = of->leading;
    shape.sizes[shape.n++] = dt__size_from_end(dt__attention_query(call), 2);
    if (field == VALUES)
        shape.sizes[shape.n++] = dt__size_from_end(dt__attention_query(call) + 2, 1);
    memcpy(out->shape, shape.sizes, sizeof out->shape);
    dt__row_strides(shape.n, out->shape, out->strides);
    return (dt__array){state->fields[field].data, state->fields[field].dtype, shape.n, out->shape, out->strides};
}

static dt_status begin_state(dt_op_call *call, const dt_state *state) {
    dt__attention_arrays of;
    dt__attention_operand operands[N_FIELDS];
    dt__array arrays[N_FIELDS];
    DT__TRY(dt__attention_call_prepare(call, &of));
    for (int i = 0; i < N_FIELDS; i++)
        arrays[i] = field_array(call, &of, state, i, &operands[i]);
    return run_attention(
        call, &of,
        &(dt__attention_result){.out = &arrays[VALUES], .largest = &arrays[LARGEST], .sums = &arrays[SUM]});
}

/* The factors that bring two states to one scale, the one with the larger scores. */
typedef struct weights {
    double larger, one, other;
} weights;

static weights weigh(double one, double other) {
    const double larger = isnan(other) || other > one ? other : one, shift = larger == -(double)INFINITY ? 0 : larger;
    return (weights){larger, one == larger ? 1 : exp(one - shift), other == larger ? 1 : exp(other - shift)};
}

#define MERGE(type)                                                                                                  \
    static void merge_##type(int64_t n, int64_t width, const dt_state *into, const dt_state *next) {                 \
        type *largest = into->fields[LARGEST].data, *sum = into->fields[SUM].data;                                   \
        type *values = into->fields[VALUES].data;                                                                    \
        const type *next_largest = next->fields[LARGEST].data, *next_sum = next->fields[SUM].data;                   \
        const type *next_values = next->fields[VALUES].data;                                                         \
        for (int64_t i = 0; i < n; i++) {                                                                            \
            const weights by = weigh((double)largest[i], (double)next_largest[i]);                                   \
            const type a = (type)by.one, b = (type)by.other;                                                         \
            largest[i] = (type)by.larger;                                                                            \
            sum[i] = sum[i] * a + next_sum[i] * b;                                                                   \
            for (int64_t d = i * width; d < (i + 1) * width; d++)                                                    \
                values[d] = values[d] * a + next_values[d] * b;                                                      \
        }                                                                                                            \
    }
MERGE(float)
MERGE(double)

static void merge_state(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    const int64_t n = into->fields[LARGEST].n, width = dt__size_from_end(dt__attention_query(call) + 2, 1);
    (into->fields[LARGEST].dtype == DT_F64 ? merge_double : merge_float)(n, width, into, next);
}

#define FINISH(type)                                                                                                 \
    static void finish_##type(int64_t n, int64_t width, const dt_state *merged) {                                    \
        type *largest = merged->fields[LARGEST].data, *values = merged->fields[VALUES].data;                         \
        const type *sum = merged->fields[SUM].data;                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                            \
            const type factor = (type)(sum[i] == 0 ? 1 : 1 / (double)sum[i]);                                        \
            for (int64_t d = i * width; d < (i + 1) * width; d++)                                                    \
                values[d] *= factor;                                                                                 \
            largest[i] = (type)((double)largest[i] + log((double)sum[i]));                                           \
        }                                                                                                            \
    }
FINISH(float)
FINISH(double)

static dt_status finish_state(dt_op_call *call, const dt_state *merged) {
    const int64_t n = merged->fields[LARGEST].n, width = dt__size_from_end(dt__attention_query(call) + 2, 1);
    dt__attention_arrays of;
    dt__attention_operand operands[N_FIELDS];
    DT__TRY(dt__attention_call_prepare(call, &of));
    (merged->fields[LARGEST].dtype == DT_F64 ? finish_double : finish_float)(n, width, merged);
    for (int o = 0; o < call->n_outputs && (o < 2 || dt__attention_is_rounded(call)); o++) {
        const int field = o == 1 ? LARGEST : VALUES;
        const dt__array to = dt__array_of(&call->outputs[o]), from = field_array(call, &of, merged, field, operands);
        dt__run_convert(call, &to, &from);
    }
    return DT_OK;
}

static const dt_meet meet = {describe_state, begin_state, merge_state, finish_state};

const dt_op dt__op_scaled_dot_product_attention = {
    .schema = "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
              "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    .summary = "Attention: values weighted by the softmax of the scaled products of queries and keys.",
    .rows = rows_attention,
    .arguments = DT__ATTENTION_ARGUMENTS,
    .varying = "scale,dropout_p",
    .class_of = dt__attention_class,
    .check = dt__attention_check_dropout,
    .shape = shape_attention,
    .kernel = attention,
    .meet = &meet,
    .samples = "scaled_dot_product_attention(f32[2,3,5,4]; f32[2,3,7,4]; f32[2,3,7,3])\n"
               "scaled_dot_product_attention(f32[2,5,3]; f32[2,5,3]; f32[2,5,3]; is_causal=true)\n"
               "scaled_dot_product_attention(f32[2,3,5,2]; f32[2,3,4,2]; f32[2,3,4,2]; f32[3,1,4]; scale=0.3)\n"
               "scaled_dot_product_attention(f32[5,3]; f32[4,3]; f32[4,2]; bool[5,4])\n"
               "scaled_dot_product_attention(f32[5,3]; f32[4,3]; f32[4,2]; bool[4])\n"
               "scaled_dot_product_attention(f32[6,4,2]; f32[3,5,2]; f32[3,5,2]; bool[4,5]; enable_gqa=true)\n"
               "scaled_dot_product_attention(f32[2,6,3,2]; f32[2,3,5,2]; f32[2,3,5,2]; enable_gqa=true)\n"
               "scaled_dot_product_attention(f32[2,3,3,2]; f32[2,3,5,2]; f32[2,3,5,2]; enable_gqa=true)\n"
               "scaled_dot_product_attention(f32[2,3,5,4]; f32[2,3,7,4]; f32[2,3,7,3]; dropout_p=0.3)\n"
               "scaled_dot_product_attention(f32[2,6,3,2]; f32[1,3,5,2]; f32[3,5,2]; dropout_p=0.4; "
               "is_causal=true; enable_gqa=true)",
    .n_saved = 2,
    .flags = DT_OP_RANDOM,
    .flops = dt__attention_flops,
    .backward = dt__attention_gradients,
    .saves = "query,key,value,attn_mask,result,result1,result2",
};
