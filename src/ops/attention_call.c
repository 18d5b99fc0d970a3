/* SPDX-License-Identifier: Apache-2.0
 *
 * What attention and its gradients have in common: the checks of query, key, value and mask, the rule with the term of
 * the mask and with named leading dims where there is dropout, and the arrays on which the kernels run.
 */
#include "ops/attention_call.h"

#include "ops/dropout_draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int64_t dt__attention_class(const dt_op_call *call) { return dt__attention_dropout_p(call) > 0; }

static int max_dims(const dt_op_value *query) {
    int n = query[0].n_dims;
    for (int i = 1; i < 3; i++)
        n = query[i].n_dims > n ? query[i].n_dims : n;
    return n;
}

void dt__attention_leading(const dt_op_call *call, dt__shape *out) {
    const dt_op_value *query = dt__attention_query(call);
    out->n = max_dims(query) - 2;
    for (int d = 0; d < out->n; d++) {
        const bool is_head = d == out->n - 1 && dt__attention_is_grouped(call);
        out->sizes[d] = 1;
        for (int i = 0; i < (is_head ? 1 : 3); i++) {
            const int from = d - (out->n + 2 - query[i].n_dims);
            if (from >= 0 && query[i].shape[from] != 1)
                out->sizes[d] = query[i].shape[from];
        }
    }
}

static dt_status check_grouped(const dt_op_call *call) {
    const dt_op_value *query = dt__attention_query(call), *key = query + 1, *value = query + 2;
    for (int i = 0; i < 3; i++)
        if (query[i].n_dims < 3)
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "enable_gqa: expected tensors with a dim of heads, [..,heads,n,e]");
    if (dt__size_from_end(key, 3) != dt__size_from_end(value, 3) || dt__size_from_end(key, 3) == 0 ||
        dt__size_from_end(query, 3) % dt__size_from_end(key, 3) != 0)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "enable_gqa: expected as many heads of key as of value, which divide those of query, got "
                            "%" PRId64 " of query, %" PRId64 " of key and %" PRId64 " of value",
                            dt__size_from_end(query, 3), dt__size_from_end(key, 3), dt__size_from_end(value, 3));
    return DT_OK;
}

static dt_status check_leading(const dt_op_call *call, const dt__shape *leading) {
    static const char *const names[] = {"query", "key", "value"};
    const dt_op_value *query = dt__attention_query(call);
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < query[i].n_dims - 2; d++) {
            const int at = leading->n + 2 - query[i].n_dims + d;
            const bool is_head = at == leading->n - 1 && dt__attention_is_grouped(call);
            if (!is_head && query[i].shape[d] != 1 && query[i].shape[d] != leading->sizes[at])
                return dt_op_refuse(call, DT_ERR_SHAPE,
                                    "leading dims do not broadcast: dim %d of %s: expected 1 or %" PRId64
                                    ", got %" PRId64,
                                    d, names[i], leading->sizes[at], query[i].shape[d]);
        }
    return DT_OK;
}

static dt_status check_mask(const dt_op_call *call, const dt__shape *leading) {
    const dt_op_value *mask = dt__attention_mask(call), *query = dt__attention_query(call);
    if (!mask)
        return DT_OK;
    if (mask->dtype != DT_BOOL && mask->dtype != DT_F32 && mask->dtype != query->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "attn_mask: expected bool, f32 or %s as query, got %s",
                            dt_dtype_name(query->dtype), dt_dtype_name(mask->dtype));
    dt__shape scores = *leading;
    scores.sizes[scores.n++] = dt__size_from_end(query, 2);
    scores.sizes[scores.n++] = dt__size_from_end(query + 1, 2);
    bool fits = mask->n_dims <= scores.n;
    for (int d = 0; d < mask->n_dims && fits; d++)
        fits = mask->shape[d] == 1 || mask->shape[d] == scores.sizes[scores.n - mask->n_dims + d];
    return fits ? DT_OK
                : dt_op_refuse(call, DT_ERR_SHAPE,
                               "attn_mask does not broadcast to the scores: expected sizes [..,%" PRId64 ",%" PRId64
                               "] or 1",
                               dt__size_from_end(query, 2), dt__size_from_end(query + 1, 2));
}

dt_status dt__attention_check(const dt_op_call *call, dt__shape *leading) {
    const dt_op_value *query = dt__attention_query(call), *key = query + 1, *value = query + 2;
    DT__TRY(dt__refuse_complex(call));
    for (int i = 0; i < 3; i++) {
        DT__TRY(dt__expect_floating(call, (int)(query - call->inputs) + i));
        if (query[i].dtype != query->dtype)
            return dt_op_refuse(call, DT_ERR_DTYPE, "the dtypes differ: %s and %s; convert one with dt_to",
                                dt_dtype_name(query->dtype), dt_dtype_name(query[i].dtype));
        if (query[i].n_dims < 2)
            return dt_op_refuse(call, DT_ERR_SHAPE, "expected tensors with at least two dims, [..,n,e], got %d",
                                query[i].n_dims);
    }
    if (dt__size_from_end(query, 1) != dt__size_from_end(key, 1))
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "query and key have rows of different sizes: %" PRId64 " and %" PRId64,
                            dt__size_from_end(query, 1), dt__size_from_end(key, 1));
    if (dt__size_from_end(key, 2) != dt__size_from_end(value, 2))
        return dt_op_refuse(call, DT_ERR_SHAPE, "there are %" PRId64 " keys, but %" PRId64 " values",
                            dt__size_from_end(key, 2), dt__size_from_end(value, 2));
    if (dt__attention_is_grouped(call))
        DT__TRY(check_grouped(call));
    dt__attention_leading(call, leading);
    DT__TRY(check_leading(call, leading));
    return check_mask(call, leading);
}

dt_status dt__attention_add_output(dt_op_call *call, dt_dtype dtype, const dt__shape *leading, int n,
                                   const int64_t *sizes) {
    dt__shape shape = *leading;
    for (int i = 0; i < n; i++)
        shape.sizes[shape.n++] = sizes[i];
    return dt__add_shape(call, dtype, &shape);
}

dt_status dt__attention_check_dropout(const dt_op_call *call) {
    const double p = dt__attention_dropout_p(call);
    return p >= 0 && p <= 1
               ? DT_OK
               : dt_op_refuse(call, DT_ERR_VALUE, "dropout_p: expected a probability from 0 to 1, got %g", p);
}

/* The tensor of a term; NULL: it is not given. */
static const dt_op_value *value_of_term(const dt_op_call *call, int term) {
    const int mask_at = dt__attention_is_gradient(call) ? DT__ATTENTION_LOGSUMEXP + 1 : 3;
    if (term < mask_at)
        return &call->inputs[term];
    return term == mask_at ? dt__attention_mask(call) : &call->outputs[term - mask_at - 1];
}

/* Writes the rule with a letter for each leading dim, which is sharded in contiguous runs only: the weights that
 * dropout sets to zero depend on where a rank's begin. */
static void name_leading(const dt_op_call *call, const char *rule, size_t capacity, char *out) {
    static const char letters[] = "zyxwvutrqponmkjicba";
    size_t n = 0;
    bool is_input = true;
    for (int term = 0; *rule && n + 4 * sizeof letters < capacity; rule++) {
        if (strncmp(rule, "...", 3) != 0) {
            term += *rule == ',' || *rule == '>';
            is_input = is_input && *rule != '>';
            out[n++] = *rule;
            continue;
        }
        const dt_op_value *value = value_of_term(call, term);
        int n_leading = value ? value->n_dims : 0;
        for (const char *at = rule += 3; *at && *at != ',' && *at != '>'; at++)
            n_leading -= *at >= 'a' && *at <= 'z';
        for (int d = n_leading - 1; d >= 0; d--) {
            out[n++] = letters[d];
            if (is_input)
                out[n++] = '@';
        }
        rule--;
    }
    out[n] = 0;
}

/* The rule with the term of the mask, which may lack leading dims. Keys and values without numbers count as empty
 * shards, which do not meet: then keys are not sharded. */
void dt__attention_add_factors(const dt_op_call *call, const char *const *by_causal, dt_rows *rows) {
    static const char *const terms[] = {"...", "s", "ls"};
    const dt_op_value *mask = dt__attention_mask(call), *query = dt__attention_query(call);
    const char *term = mask && mask->n_dims < 3         ? terms[mask->n_dims]
                       : dt__attention_is_grouped(call) ? "...hls"
                                                        : "...ls";
    const bool drops = dt__attention_dropout_p(call) > 0;
    char rule[128], named[512];
    (void)snprintf(rule, sizeof rule, by_causal[dt__attention_is_causal(call) || drops], term);
    if (dt__size_from_end(&query[1], 1) == 0 || dt__size_from_end(&query[2], 1) == 0)
        for (char *mark = strchr(rule, '~'); mark; mark = strchr(mark, '~'))
            *mark = '!';
    if (drops)
        name_leading(call, rule, sizeof named, named);
    dt_rows_factors(rows, drops ? named : rule, DT_PARTIAL_NONE);
}

/* The dim of heads of an input, the third from the end, but the last but one of logsumexp; R where the mask has one for
 * all heads. */
static dt_row_entry head_entry(const dt_op_call *call, const dt_op_value *value, int from_end) {
    const bool is_mask = value == dt__attention_mask(call);
    if (is_mask && (value->n_dims < from_end || dt__size_from_end(value, from_end) == 1))
        return DT_ROW_R;
    return DT_ROW_S(value->n_dims - from_end);
}

void dt__attention_add_grouped(const dt_op_call *call, dt_rows *rows) {
    dt_row_entry entries[16] = {0};
    const bool is_gradient = dt__attention_is_gradient(call);
    if (!dt__attention_is_grouped(call))
        return;
    for (int i = 0; i < call->n_inputs; i++)
        entries[i] = head_entry(call, &call->inputs[i], is_gradient && i == DT__ATTENTION_LOGSUMEXP ? 2 : 3);
    for (int o = 0; o < call->n_outputs; o++)
        entries[call->n_inputs + o] = head_entry(call, &call->outputs[o], !is_gradient && o == 1 ? 2 : 3);
    dt_rows_add(rows, DT_ROW_GROUPED | (dt__attention_dropout_p(call) > 0 ? DT_ROW_OFFSET : 0), entries);
}

static const dt__array *broadcast(const dt_op_call *call, const dt_op_value *value, const dt__shape *leading,
                                  bool has_kv_heads, int64_t rows, int64_t columns, dt__attention_operand *out) {
    const int n = leading->n + 2, missing = n - value->n_dims;
    for (int d = 0; d < n; d++) {
        const int64_t size = d < leading->n ? leading->sizes[d] : d == leading->n ? rows : columns;
        const bool exists = d >= missing && (value->shape[d - missing] != 1 || size == 1);
        const bool is_own = has_kv_heads && dt__attention_is_grouped(call) && d == leading->n - 1;
        out->shape[d] = is_own ? value->shape[d - missing] : size;
        out->strides[d] = exists || is_own ? value->strides[d - missing] : 0;
    }
    out->array = (dt__array){value->data, value->dtype, n, out->shape, out->strides};
    return &out->array;
}

static int64_t offset_of(const dt_op_call *call, const dt_op_value *value, int from_end) {
    return call->row_flags & DT_ROW_OFFSET && value->offset ? value->offset[value->n_dims - from_end] : 0;
}

double dt__attention_scale(const dt_op_call *call) {
    const dt_arg *scale = dt__arg_at(call, DT__ATTENTION_SCALE);
    const int64_t width = dt__size_from_end(dt__attention_query(call), 1);
    return scale->type == DT_ARG_FLOAT ? scale->as.f : width ? 1 / sqrt((double)width) : 1;
}

static void draw_factors(const void *from, int64_t first, int64_t n, void *out) {
    dt__draw_range(from, first, n, out);
}

dt_generator_state dt__attention_drawn(const dt_op_call *call) {
    return (dt_generator_state){(uint64_t)dt__arg_at(call, DT__ATTENTION_SEED)->as.i,
                                (uint64_t)dt__arg_at(call, DT__ATTENTION_DRAW)->as.i};
}

/* In a call that meets, ranks without keys take their draw at its end, after the exchange, and cannot enter it in the
 * history of the mesh. */
dt_status dt__attention_take_draw(const dt_op_call *call, dt_dtype dtype, dt__draw *out) {
    dt_generator_state from;
    if (!(call->row_flags & DT_ROW_MEET))
        return dt__take_dropout_draw(call, dt__attention_dropout_p(call), dtype, out);
    DT__TRY(dt_op_draw(call, &from));
    return dt__repeat_dropout_draw(call, dt__attention_dropout_p(call), dtype, from, out);
}

/* A gradient repeats the draw of the call. The first dims of a result are the leading ones and that of queries. */
static dt_status prepare_dropout(const dt_op_call *call, dt__attention_arrays *out) {
    const dt_op_value *key = dt__attention_query(call) + 1,
                      *result = dt__attention_is_gradient(call) ? &call->inputs[DT__ATTENTION_GRAD] : call->outputs;
    const dt_dtype dtype = dt__attention_dtype(key->dtype);
    const double p = dt__attention_dropout_p(call);
    if (p == 0)
        return DT_OK;
    if (dt__attention_is_gradient(call))
        DT__TRY(dt__repeat_dropout_draw(call, p, dtype, dt__attention_drawn(call), &out->draw));
    else
        DT__TRY(dt__attention_take_draw(call, dtype, &out->draw));
    out->dropout = (dt__attention_dropout){.draw = draw_factors,
                                           .from = &out->draw,
                                           .sizes = result->global_shape,
                                           .offsets = result->offset,
                                           .n_keys = key->global_shape[key->n_dims - 2],
                                           .key_offset = key->offset[key->n_dims - 2]};
    out->args.dropout = &out->dropout;
    return DT_OK;
}

dt_status dt__attention_call_prepare(const dt_op_call *call, dt__attention_arrays *out) {
    const dt_op_value *query = dt__attention_query(call), *key = query + 1, *value = query + 2,
                      *mask = dt__attention_mask(call);
    const int64_t n_queries = dt__size_from_end(query, 2), n_keys = dt__size_from_end(key, 2),
                  width = dt__size_from_end(query, 1);
    dt__attention_leading(call, &out->leading);
    out->args = (dt__attention){
        .query = broadcast(call, query, &out->leading, false, n_queries, width, &out->query),
        .key = broadcast(call, key, &out->leading, true, n_keys, width, &out->key),
        .value = broadcast(call, value, &out->leading, true, n_keys, dt__size_from_end(value, 1), &out->value),
        .mask = mask ? broadcast(call, mask, &out->leading, false, n_queries, n_keys, &out->mask) : NULL,
        .scale = dt__attention_scale(call),
        .is_causal = dt__attention_is_causal(call),
    };
    if (dt__attention_is_causal(call)) {
        out->args.query_offset = offset_of(call, query, 2);
        out->args.key_offset = offset_of(call, key, 2);
    }
    if (dt__attention_is_grouped(call)) {
        const int64_t *queries = query->global_shape ? query->global_shape : query->shape,
                      *keys = key->global_shape ? key->global_shape : key->shape;
        out->args.group = queries[query->n_dims - 3] / keys[key->n_dims - 3];
        out->args.head_offset = offset_of(call, query, 3) - offset_of(call, key, 3) * out->args.group;
    }
    return prepare_dropout(call, out);
}

double dt__attention_flops(const dt_op_call *call) {
    const dt_op_value *query = dt__attention_query(call), *key = query + 1, *value = query + 2;
    if (query->n_dims < 2)
        return 0;
    double rows = (double)dt__elements(query->n_dims - 1, query->shape), keys = (double)dt__size_from_end(key, 2);
    double width = (double)dt__size_from_end(query, 1) + (double)dt__size_from_end(value, 1);
    return 2 * rows * keys * width * (dt__attention_is_causal(call) ? 0.5 : 1);
}
