/* SPDX-License-Identifier: Apache-2.0
 *
 * Scaled dot product attention. Queries attend independently, so batches, heads and queries may be sharded; so may the
 * keys, with their values: then the ranks meet with the largest score, the sum of exponentials and the sum of values of
 * each query. Gradients need no meeting: they follow from the logarithm of that sum, which is saved.
 *
 * Where heads are grouped (enable_gqa), several query heads use one head of the keys. Query heads may be sharded in
 * any way; those of the keys are not, as shards of the two would not correspond.
 */
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MASK, IS_CAUSAL, SCALE, ENABLE_GQA };
#define ARGUMENTS "attn_mask,is_causal,scale,enable_gqa"

/* Query, key and value follow each other; of a gradient op, the gradient of the result precedes them. */
static const dt_op_value *query_of(const dt_op_call *call) { return &call->inputs[call->op->family ? 1 : 0]; }
static bool is_grouped(const dt_op_call *call) { return dt__arg_at(call, ENABLE_GQA)->as.b; }
static bool is_causal(const dt_op_call *call) { return dt__arg_at(call, IS_CAUSAL)->as.b; }
static const dt_op_value *mask_of(const dt_op_call *call) {
    const dt_arg *mask = dt__arg_at(call, MASK);
    return mask->type == DT_ARG_TENSOR ? &call->inputs[mask->as.first] : NULL;
}

static int max_dims(const dt_op_value *query) {
    int n = query[0].n_dims;
    for (int i = 1; i < 3; i++)
        n = query[i].n_dims > n ? query[i].n_dims : n;
    return n;
}

/* The leading dims to which query, key and value are broadcast: the size that is not 1. */
static void leading_sizes(const dt_op_call *call, dt__shape *out) {
    const dt_op_value *query = query_of(call);
    out->n = max_dims(query) - 2;
    for (int d = 0; d < out->n; d++) {
        const bool is_head = d == out->n - 1 && is_grouped(call);
        out->sizes[d] = 1;
        for (int i = 0; i < (is_head ? 1 : 3); i++) {
            const int from = d - (out->n + 2 - query[i].n_dims);
            if (from >= 0 && query[i].shape[from] != 1)
                out->sizes[d] = query[i].shape[from];
        }
    }
}

static int64_t size_at(const dt_op_value *value, int from_end) { return value->shape[value->n_dims - from_end]; }

static dt_status check_grouped(const dt_op_call *call) {
    const dt_op_value *query = query_of(call), *key = query + 1, *value = query + 2;
    for (int i = 0; i < 3; i++)
        if (query[i].n_dims < 3)
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "enable_gqa: expected tensors with a dim of heads, [..,heads,n,e]");
    if (size_at(key, 3) != size_at(value, 3) || size_at(key, 3) == 0 || size_at(query, 3) % size_at(key, 3) != 0)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "enable_gqa: expected as many heads of key as of value, which divide those of query, got "
                            "%" PRId64 " of query, %" PRId64 " of key and %" PRId64 " of value",
                            size_at(query, 3), size_at(key, 3), size_at(value, 3));
    return DT_OK;
}

static dt_status check_leading(const dt_op_call *call, const dt__shape *leading) {
    static const char *const names[] = {"query", "key", "value"};
    const dt_op_value *query = query_of(call);
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < query[i].n_dims - 2; d++) {
            const int at = leading->n + 2 - query[i].n_dims + d;
            const bool is_head = at == leading->n - 1 && is_grouped(call);
            if (!is_head && query[i].shape[d] != 1 && query[i].shape[d] != leading->sizes[at])
                return dt_op_refuse(call, DT_ERR_SHAPE,
                                    "leading dims do not broadcast: dim %d of %s: expected 1 or %" PRId64
                                    ", got %" PRId64,
                                    d, names[i], leading->sizes[at], query[i].shape[d]);
        }
    return DT_OK;
}

static dt_status check_mask(const dt_op_call *call, const dt__shape *leading) {
    const dt_op_value *mask = mask_of(call), *query = query_of(call);
    if (!mask)
        return DT_OK;
    if (mask->dtype != DT_BOOL && mask->dtype != DT_F32 && mask->dtype != query->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "attn_mask: expected bool, f32 or %s as query, got %s",
                            dt_dtype_name(query->dtype), dt_dtype_name(mask->dtype));
    dt__shape scores = *leading;
    scores.sizes[scores.n++] = size_at(query, 2);
    scores.sizes[scores.n++] = size_at(query + 1, 2);
    bool fits = mask->n_dims <= scores.n;
    for (int d = 0; d < mask->n_dims && fits; d++)
        fits = mask->shape[d] == 1 || mask->shape[d] == scores.sizes[scores.n - mask->n_dims + d];
    return fits ? DT_OK
                : dt_op_refuse(call, DT_ERR_SHAPE,
                               "attn_mask does not broadcast to the scores: expected sizes [..,%" PRId64 ",%" PRId64
                               "] or 1",
                               size_at(query, 2), size_at(query + 1, 2));
}

/* Checks query, key, value and mask, and returns the leading dims. */
static dt_status check_attention(const dt_op_call *call, dt__shape *leading) {
    const dt_op_value *query = query_of(call), *key = query + 1, *value = query + 2;
    for (int i = 0; i < 3; i++) {
        DT__TRY(dt__expect_floating(call, (int)(query - call->inputs) + i));
        if (query[i].dtype != query->dtype)
            return dt_op_refuse(call, DT_ERR_DTYPE, "the dtypes differ: %s and %s; convert one with dt_to",
                                dt_dtype_name(query->dtype), dt_dtype_name(query[i].dtype));
        if (query[i].n_dims < 2)
            return dt_op_refuse(call, DT_ERR_SHAPE, "expected tensors with at least two dims, [..,n,e], got %d",
                                query[i].n_dims);
    }
    if (size_at(query, 1) != size_at(key, 1))
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "query and key have rows of different sizes: %" PRId64 " and %" PRId64, size_at(query, 1),
                            size_at(key, 1));
    if (size_at(key, 2) != size_at(value, 2))
        return dt_op_refuse(call, DT_ERR_SHAPE, "there are %" PRId64 " keys, but %" PRId64 " values", size_at(key, 2),
                            size_at(value, 2));
    if (is_grouped(call))
        DT__TRY(check_grouped(call));
    leading_sizes(call, leading);
    DT__TRY(check_leading(call, leading));
    return check_mask(call, leading);
}

static dt_status add_output(dt_op_call *call, dt_dtype dtype, const dt__shape *leading, int n, const int64_t *sizes) {
    dt__shape shape = *leading;
    for (int i = 0; i < n; i++)
        shape.sizes[shape.n++] = sizes[i];
    return dt__add_shape(call, dtype, &shape);
}

static dt_status shape_attention(dt_op_call *call) {
    const dt_op_value *query = query_of(call);
    dt__shape leading;
    DT__TRY(check_attention(call, &leading));
    const int64_t sizes[] = {size_at(query, 2), size_at(query + 2, 1)};
    DT__TRY(add_output(call, query->dtype, &leading, 2, sizes));
    return add_output(call, dt__attention_dtype(query->dtype), &leading, 1, sizes); /* logsumexp, for the gradient */
}

static dt_status check_dropout(const dt_op_call *call) {
    const double p = dt_op_arg(call, "dropout_p")->as.f;
    return p == 0 ? DT_OK
                  : dt_op_refuse(call, DT_ERR_UNSUPPORTED,
                                 "dropout_p: expected 0, got %g; drop elements of the result "
                                 "with dt_dropout instead",
                                 p);
}

static dt_status check_like(const dt_op_call *call, int input, const char *name, const dt__shape *leading, int n,
                            const int64_t *sizes) {
    const dt_op_value *value = &call->inputs[input];
    bool same = value->n_dims == leading->n + n;
    for (int d = 0; d < value->n_dims && same; d++)
        same = value->shape[d] == (d < leading->n ? leading->sizes[d] : sizes[d - leading->n]);
    return same ? DT_OK : dt_op_refuse(call, DT_ERR_SHAPE, "%s does not have the shape of attention's result", name);
}

/* The heads of the keys among the leading dims. */
static dt__shape key_leading(const dt_op_call *call, const dt__shape *leading) {
    dt__shape out = *leading;
    if (is_grouped(call))
        out.sizes[out.n - 1] = size_at(query_of(call) + 1, 3);
    return out;
}

enum { GRAD_OUT, GRAD_QUERY_AT = 1, GRAD_OUT_AT = 4, GRAD_LOGSUMEXP };

static dt_status check_gradient(const dt_op_call *call, dt__shape *leading) {
    const dt_op_value *query = query_of(call);
    DT__TRY(check_attention(call, leading));
    const int64_t sizes[] = {size_at(query, 2), size_at(query + 2, 1)};
    DT__TRY(dt__expect_floating(call, GRAD_OUT));
    DT__TRY(dt__expect_floating(call, GRAD_OUT_AT));
    DT__TRY(dt__expect_floating(call, GRAD_LOGSUMEXP));
    DT__TRY(check_like(call, GRAD_OUT, "grad_out", leading, 2, sizes));
    DT__TRY(check_like(call, GRAD_OUT_AT, "out", leading, 2, sizes));
    return check_like(call, GRAD_LOGSUMEXP, "logsumexp", leading, 1, sizes);
}

static dt_status shape_backward(dt_op_call *call) {
    const dt_op_value *query = query_of(call);
    dt__shape leading;
    DT__TRY(check_gradient(call, &leading));
    const dt__shape of_keys = key_leading(call, &leading);
    DT__TRY(add_output(call, query->dtype, &leading, 2, query[0].shape + query[0].n_dims - 2));
    DT__TRY(add_output(call, query->dtype, &of_keys, 2, query[1].shape + query[1].n_dims - 2));
    return add_output(call, query->dtype, &of_keys, 2, query[2].shape + query[2].n_dims - 2);
}

static dt_status shape_mask_backward(dt_op_call *call) {
    const dt_op_value *query = query_of(call);
    dt__shape leading;
    DT__TRY(check_gradient(call, &leading));
    const int64_t sizes[] = {size_at(query, 2), size_at(query + 1, 2)};
    return add_output(call, query->dtype, &leading, 2, sizes);
}

/* By causal: then the kernel needs the offsets of queries and keys. */
static const char *const rules[2] = {
    "...le!, ...s~e, ...s~d!, %s -> ...ld, ...l",
    "...l@e!, ...s@~e, ...s~d!, %s -> ...ld, ...l",
};
static const char *const grouped_rules[2] = {
    "...h@le!, ...g!s~e, ...gs~d!, %s -> ...hld, ...hl",
    "...h@l@e!, ...g!s@~e, ...gs~d!, %s -> ...hld, ...hl",
};

/* The rule with the term of the mask, which may lack leading dims. Keys and values without numbers count as empty
 * shards, which do not meet: then keys are not sharded. */
static void add_factors(const dt_op_call *call, const char *const *by_causal, dt_rows *rows) {
    static const char *const terms[] = {"...", "s", "ls"};
    const dt_op_value *mask = mask_of(call), *query = query_of(call);
    const char *term = mask && mask->n_dims < 3 ? terms[mask->n_dims] : is_grouped(call) ? "...hls" : "...ls";
    char rule[128];
    (void)snprintf(rule, sizeof rule, by_causal[is_causal(call)], term);
    if (size_at(&query[1], 1) == 0 || size_at(&query[2], 1) == 0)
        for (char *mark = strchr(rule, '~'); mark; mark = strchr(mark, '~'))
            *mark = '!';
    dt_rows_factors(rows, rule, DT_PARTIAL_NONE);
}

/* The values may be sharded along their last dim, and be partial sums: the weights of all ranks are the same. */
static void rows_attention(const dt_op_call *call, dt_rows *rows) {
    dt_row_entry entries[8] = {0};
    add_factors(call, is_grouped(call) ? grouped_rules : rules, rows);
    entries[2] = DT_ROW_S(call->inputs[2].n_dims - 1);
    entries[call->n_inputs] = DT_ROW_S(call->outputs[0].n_dims - 1);
    dt_rows_add(rows, 0, entries);
    dt_rows_linear(rows, 1 << 2);
}

typedef struct gradient_rules {
    const char *plain[2], *grouped[2]; /* by causal */
} gradient_rules;

#define GRADIENT_RULES(outputs, grouped_outputs)                                                                     \
    &(const gradient_rules) {                                                                                        \
        {"...ld!, ...le!, ...se, ...sd, ...ld, ...l, %s -> " outputs,                                                \
         "...ld!, ...l@e!, ...s@e, ...sd, ...ld, ...l, %s -> " outputs},                                             \
        {                                                                                                            \
            "...hld!, ...h@le!, ...g!se, ...gsd, ...hld, ...hl, %s -> " grouped_outputs,                             \
                "...hld!, ...h@l@e!, ...g!s@e, ...gsd, ...hld, ...hl, %s -> " grouped_outputs                        \
        }                                                                                                            \
    }

/* Linear in the gradient of the result. */
static void rows_gradient(const dt_op_call *call, dt_rows *rows) {
    const gradient_rules *of = call->op->family;
    add_factors(call, is_grouped(call) ? of->grouped : of->plain, rows);
    dt_rows_linear(rows, 1 << GRAD_OUT);
}

/* An array with all leading dims; those that it lacks have stride 0. */
typedef struct operand {
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    dt__array array;
} operand;

static const dt__array *broadcast(const dt_op_call *call, const dt_op_value *value, const dt__shape *leading,
                                  bool has_kv_heads, int64_t rows, int64_t columns, operand *out) {
    const int n = leading->n + 2, missing = n - value->n_dims;
    for (int d = 0; d < n; d++) {
        const int64_t size = d < leading->n ? leading->sizes[d] : d == leading->n ? rows : columns;
        const bool exists = d >= missing && (value->shape[d - missing] != 1 || size == 1);
        const bool is_own = has_kv_heads && is_grouped(call) && d == leading->n - 1;
        out->shape[d] = is_own ? value->shape[d - missing] : size;
        out->strides[d] = exists || is_own ? value->strides[d - missing] : 0;
    }
    out->array = (dt__array){value->data, value->dtype, n, out->shape, out->strides};
    return &out->array;
}

/* The arrays of a call. */
typedef struct prepared {
    dt__shape leading;
    operand query, key, value, mask;
    dt__attention args;
} prepared;

static int64_t offset_of(const dt_op_call *call, const dt_op_value *value, int from_end) {
    return call->row_flags & DT_ROW_OFFSET && value->offset ? value->offset[value->n_dims - from_end] : 0;
}

static void prepare(const dt_op_call *call, prepared *out) {
    const dt_op_value *query = query_of(call), *key = query + 1, *value = query + 2, *mask = mask_of(call);
    const int64_t n_queries = size_at(query, 2), n_keys = size_at(key, 2), width = size_at(query, 1);
    const dt_arg *scale = dt__arg_at(call, SCALE);
    leading_sizes(call, &out->leading);
    out->args = (dt__attention){
        .query = broadcast(call, query, &out->leading, false, n_queries, width, &out->query),
        .key = broadcast(call, key, &out->leading, true, n_keys, width, &out->key),
        .value = broadcast(call, value, &out->leading, true, n_keys, size_at(value, 1), &out->value),
        .mask = mask ? broadcast(call, mask, &out->leading, false, n_queries, n_keys, &out->mask) : NULL,
        .scale = scale->type == DT_ARG_FLOAT ? scale->as.f
                 : width                     ? 1 / sqrt((double)width)
                                             : 1,
        .is_causal = is_causal(call),
        .group = 1,
    };
    if (is_causal(call)) {
        out->args.query_offset = offset_of(call, query, 2);
        out->args.key_offset = offset_of(call, key, 2);
    }
    if (is_grouped(call)) {
        const int64_t *global = query->global_shape ? query->global_shape : query->shape;
        out->args.group = global[query->n_dims - 3] / size_at(key, 3);
        out->args.head_offset = offset_of(call, query, 3);
    }
}

static dt_status run_attention(const dt_op_call *call, const prepared *of, const dt__attention_result *result) {
    dt__products *products = dt__products_of(call->ctx);
    if (!products)
        return dt_error_status(call->ctx);
    return dt__attention_run(products, &of->args, result) ? DT_OK : dt__fail_memory(call->ctx, 0, call->name);
}

static dt_status attention(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), logsumexp;
    prepared of;
    prepare(call, &of);
    dt__attention_result result = {.out = &out};
    if (call->n_outputs > 1) {
        logsumexp = dt__array_of(&call->outputs[1]);
        result.logsumexp = &logsumexp;
    }
    return run_attention(call, &of, &result);
}

/* The state of a meeting: per query the largest score, the sum of exponentials and the sum of values. */
enum { LARGEST, SUM, VALUES, N_FIELDS };

static void describe_state(const dt_op_call *call, dt_state *state) {
    const dt_op_value *query = query_of(call);
    const dt_dtype dtype = dt__attention_dtype(query->dtype);
    dt__shape leading;
    leading_sizes(call, &leading);
    const int64_t n = dt__elements(leading.n, leading.sizes) * size_at(query, 2);
    state->n_fields = N_FIELDS;
    state->fields[LARGEST] = (dt_state_field){.dtype = dtype, .n = n, .identity = -(double)INFINITY};
    state->fields[SUM] = (dt_state_field){.dtype = dtype, .n = n, .identity = 0};
    state->fields[VALUES] = (dt_state_field){.dtype = dtype, .n = n * size_at(query + 2, 1), .identity = 0};
}

/* A field as a dense array of the leading dims, queries and, of values, their numbers. */
static dt__array field_array(const dt_op_call *call, const prepared *of, const dt_state *state, int field,
                             operand *out) {
    dt__shape shape = of->leading;
    shape.sizes[shape.n++] = size_at(query_of(call), 2);
    if (field == VALUES)
        shape.sizes[shape.n++] = size_at(query_of(call) + 2, 1);
    memcpy(out->shape, shape.sizes, sizeof out->shape);
    dt__row_strides(shape.n, out->shape, out->strides);
    return (dt__array){state->fields[field].data, state->fields[field].dtype, shape.n, out->shape, out->strides};
}

static dt_status begin_state(dt_op_call *call, const dt_state *state) {
    prepared of;
    operand operands[N_FIELDS];
    dt__array arrays[N_FIELDS];
    prepare(call, &of);
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
    const int64_t n = into->fields[LARGEST].n, width = size_at(query_of(call) + 2, 1);
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
    const int64_t n = merged->fields[LARGEST].n, width = size_at(query_of(call) + 2, 1);
    prepared of;
    operand operands[N_FIELDS];
    prepare(call, &of);
    (merged->fields[LARGEST].dtype == DT_F64 ? finish_double : finish_float)(n, width, merged);
    for (int o = 0; o < call->n_outputs; o++) {
        const int field = o == 0 ? VALUES : LARGEST;
        const dt__array to = dt__array_of(&call->outputs[o]), from = field_array(call, &of, merged, field, operands);
        dt__run_convert(call, &to, &from);
    }
    return DT_OK;
}

static const dt_meet meet = {describe_state, begin_state, merge_state, finish_state};

static dt_status run_gradients(const dt_op_call *call, const dt__array *const grads[4]) {
    prepared of;
    prepare(call, &of);
    const dt__array grad = dt__array_of(&call->inputs[GRAD_OUT]), out = dt__array_of(&call->inputs[GRAD_OUT_AT]);
    const dt__array logsumexp = dt__array_of(&call->inputs[GRAD_LOGSUMEXP]);
    dt__products *products = dt__products_of(call->ctx);
    if (!products)
        return dt_error_status(call->ctx);
    const dt__attention_grads request = {.grad = &grad,
                                         .out = &out,
                                         .logsumexp = &logsumexp,
                                         .query = grads[0],
                                         .key = grads[1],
                                         .value = grads[2],
                                         .mask = grads[3]};
    return dt__attention_grads_run(products, &of.args, &request) ? DT_OK : dt__fail_memory(call->ctx, 0, call->name);
}

static dt_status backward(dt_op_call *call) {
    const dt__array grads[3] = {dt__array_of(&call->outputs[0]), dt__array_of(&call->outputs[1]),
                                dt__array_of(&call->outputs[2])};
    return run_gradients(call, (const dt__array *const[]){&grads[0], &grads[1], &grads[2], NULL});
}

static dt_status mask_backward(dt_op_call *call) {
    const dt__array grad = dt__array_of(&call->outputs[0]);
    return run_gradients(call, (const dt__array *const[]){NULL, NULL, NULL, &grad});
}

const dt_op dt__op_scaled_dot_product_attention = {
    .schema = "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
              "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    .summary = "Attention: values weighted by the softmax of the scaled products of queries and keys.",
    .rows = rows_attention,
    .arguments = ARGUMENTS,
    .varying = "scale,dropout_p",
    .check = check_dropout,
    .shape = shape_attention,
    .kernel = attention,
    .meet = &meet,
    .samples = "scaled_dot_product_attention(f32[2,3,5,4]; f32[2,3,7,4]; f32[2,3,7,3])\n"
               "scaled_dot_product_attention(f32[2,5,3]; f32[2,5,3]; f32[2,5,3]; is_causal=true)\n"
               "scaled_dot_product_attention(f32[2,3,5,2]; f32[2,3,4,2]; f32[2,3,4,2]; f32[3,1,4]; scale=0.3)\n"
               "scaled_dot_product_attention(f32[5,3]; f32[4,3]; f32[4,2]; bool[5,4])\n"
               "scaled_dot_product_attention(f32[5,3]; f32[4,3]; f32[4,2]; bool[4])\n"
               "scaled_dot_product_attention(f32[6,4,2]; f32[3,5,2]; f32[3,5,2]; bool[4,5]; enable_gqa=true)\n"
               "scaled_dot_product_attention(f32[2,6,3,2]; f32[2,3,5,2]; f32[2,3,5,2]; enable_gqa=true)",
    .n_saved = 1,
    .gradient = "query, key, value: attention_backward(grad, query, key, value, result, result1, "
                "attn_mask, is_causal, scale=scale, enable_gqa=enable_gqa); "
                "attn_mask: attention_mask_backward(grad, query, key, value, result, result1, "
                "attn_mask, is_causal, scale=scale, enable_gqa=enable_gqa)",
};

#define GRADIENT_ARGUMENTS                                                                                           \
    "(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp, "                       \
    "Tensor? attn_mask=None, bool is_causal=False, *, float? scale=None, bool enable_gqa=False)"

/* The scale keeps weights in the range of f16: the verifier's logarithms of sums are not those of its scores. */
#define GRADIENT_SAMPLES(name)                                                                                       \
    name "(f32[2,3,5,2]; f32[2,3,5,4]; f32[2,3,3,4]; f32[2,3,3,2]; f32[2,3,5,2]; f32[2,3,5]; scale=0.02)\n" name     \
         "(f32[2,5,2]; f32[2,5,3]; f32[2,5,3]; f32[2,5,2]; f32[2,5,2]; f32[2,5]; is_causal=true; scale=0.02)\n" name \
         "(f32[5,2]; f32[5,3]; f32[4,3]; f32[4,2]; f32[5,2]; f32[5]; bool[5,4]; scale=0.02)\n" name                  \
         "(f32[6,3,2]; f32[6,3,2]; f32[3,5,2]; f32[3,5,2]; f32[6,3,2]; f32[6,3]; scale=0.02; enable_gqa=true)"

const dt_op dt__op_attention_backward = {
    .schema = "attention_backward" GRADIENT_ARGUMENTS " -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)",
    .summary = "The gradients of attention with respect to queries, keys and values.",
    .rows = rows_gradient,
    .arguments = ARGUMENTS,
    .varying = "scale",
    .shape = shape_backward,
    .kernel = backward,
    .family = GRADIENT_RULES("...le, ...se, ...sd", "...hle, ...gse, ...gsd"),
    .samples = GRADIENT_SAMPLES("attention_backward"),
};

const dt_op dt__op_attention_mask_backward = {
    .schema = "attention_mask_backward" GRADIENT_ARGUMENTS " -> Tensor",
    .summary = "The gradient of attention with respect to its scores, which is that of a mask.",
    .rows = rows_gradient,
    .arguments = ARGUMENTS,
    .varying = "scale",
    .shape = shape_mask_backward,
    .kernel = mask_backward,
    .family = GRADIENT_RULES("...ls", "...hls"),
    .samples = GRADIENT_SAMPLES("attention_mask_backward"),
};
