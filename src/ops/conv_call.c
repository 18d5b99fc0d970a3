/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes, rows and windows of convolutions (conv_call.h).
 *
 * Batch, channels of the map and space may be sharded; sharded channels of the image make a partial sum. Along a
 * sharded dim of space each rank fetches the elements that its part needs. With several groups, channels are sharded
 * like space: a rank fetches the missing elements of the groups that its channels belong to, and nothing if it holds
 * whole groups.
 */
#include "ops/conv_call.h"

#include <inttypes.h>
#include <string.h>

/* An argument that only some ops have, or that is none. */
static const dt_arg *optional(const dt_op_call *call, const char *name) {
    const dt_arg *arg = dt_op_arg(call, name);
    return arg && arg->type != DT_ARG_NONE ? arg : NULL;
}

static bool computes_image(const dt_op_call *call) {
    const dt_arg *transposed = optional(call, "transposed");
    const dt__conv_family *family = call->op->family;
    return transposed ? transposed->as.b : family->out == DT__CONV_IMAGE;
}

static dt__convolution_part part_of(const dt_op_call *call) {
    const dt__conv_family *family = call->op->family;
    return computes_image(call) ? DT__CONV_IMAGE : family->out;
}

/* The dims of space: those of the op, or of the weight. */
static int space_of(const dt_op_call *call) {
    const dt__conv_family *family = call->op->family;
    if (family->n_space)
        return family->n_space;
    return (family->out == DT__CONV_WEIGHT ? optional(call, "sizes")->n : call->inputs[1].n_dims) - 2;
}

/* Number d of a list that has one number for each dim of space, or one for all; 0 where there is none, or a text. */
static int64_t number_at(const dt_arg *list, int d) {
    return list && list->type == DT_ARG_INTS ? list->as.ints[list->n == 1 ? 0 : d] : 0;
}

/* The number of taps along a dim of space. The weight is never sharded along it. */
static int64_t taps_of(const dt_op_call *call, const dt__conv *conv, int d) {
    if (conv->weight)
        return conv->weight->shape[2 + d];
    return optional(call, "sizes")->as.ints[2 + d];
}

static bool is_same(const dt_op_call *call) {
    const dt_arg *padding = dt__arg_at(call, DT__CONV_PADDING);
    return padding->type == DT_ARG_TEXT && !strcmp(padding->as.text, "same");
}

/* Half of what the taps span. Spans beyond 2^63 are refused with the sizes of the output. */
static int64_t same_padding(int64_t dilation, int64_t taps) {
    int64_t reach = 0;
    return dt__mul_i64(taps - 1, dilation, &reach) ? reach / 2 : 0;
}

void dt__conv_read(const dt_op_call *call, dt__conv *out) {
    const dt_arg *bias = optional(call, "bias");
    const dt_op_value *output = call->n_outputs ? &call->outputs[0] : NULL;
    *out = (dt__conv){
        .out = part_of(call), .n_space = space_of(call), .groups = dt__arg_at(call, DT__CONV_GROUPS)->as.i};
    out->n_leading = call->inputs[0].n_dims - out->n_space;
    out->image = out->out == DT__CONV_IMAGE ? output : &call->inputs[0];
    out->weight = out->out == DT__CONV_WEIGHT ? output : &call->inputs[1];
    out->map = out->out == DT__CONV_MAP ? output : &call->inputs[out->out == DT__CONV_WEIGHT ? 1 : 0];
    out->bias = bias ? &call->inputs[bias->as.first] : NULL;
    for (int d = 0; d < out->n_space; d++) {
        out->stride[d] = number_at(dt__arg_at(call, DT__CONV_STRIDE), d);
        out->dilation[d] = number_at(dt__arg_at(call, DT__CONV_DILATION), d);
        out->padding[d] = is_same(call) ? same_padding(out->dilation[d], taps_of(call, out, d))
                                        : number_at(dt__arg_at(call, DT__CONV_PADDING), d);
    }
}

/* Refuses lists of another length, and numbers out of range. */
static dt_status check_list(const dt_op_call *call, const char *name, int n, int64_t least) {
    const dt_arg *list = optional(call, name);
    if (!list || list->type != DT_ARG_INTS)
        return DT_OK;
    if (list->n != n && list->n != 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "%s: expected %d numbers, or one, got %d", name, n, list->n);
    for (int i = 0; i < list->n; i++)
        if (list->as.ints[i] < least || list->as.ints[i] > INT32_MAX)
            return dt_op_refuse(call, DT_ERR_VALUE, "%s: expected numbers from %" PRId64 " to %d, got %" PRId64, name,
                                least, INT32_MAX, list->as.ints[i]);
    return DT_OK;
}

static dt_status check_text(const dt_op_call *call) {
    const dt_arg *padding = dt__arg_at(call, DT__CONV_PADDING), *stride = dt__arg_at(call, DT__CONV_STRIDE);
    if (padding->type != DT_ARG_TEXT)
        return DT_OK;
    if (strcmp(padding->as.text, "same") != 0 && strcmp(padding->as.text, "valid") != 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "padding: expected numbers, \"same\" or \"valid\", got \"%s\"",
                            padding->as.text);
    for (int i = 0; i < stride->n && is_same(call); i++)
        if (stride->as.ints[i] != 1)
            return dt_op_refuse(call, DT_ERR_VALUE,
                                "padding: expected \"same\" with a stride of 1 only, got %" PRId64,
                                stride->as.ints[i]);
    return DT_OK;
}

static dt_status check_numbers(const dt_op_call *call, int n_space) {
    DT__TRY(check_list(call, "stride", n_space, 1));
    DT__TRY(check_list(call, "padding", n_space, 0));
    DT__TRY(check_list(call, "dilation", n_space, 1));
    DT__TRY(check_list(call, "output_padding", n_space, 0));
    const dt_arg *groups = dt__arg_at(call, DT__CONV_GROUPS);
    if (groups->as.i < 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "groups: expected at least 1, got %" PRId64, groups->as.i);
    return check_text(call);
}

/* Refuses tensors of other dims and dtypes. */
static dt_status check_inputs(const dt_op_call *call, int n_space) {
    static const char *const names[] = {"the first tensor", "the second tensor", "bias"};
    const bool is_gradient = part_of(call) == DT__CONV_WEIGHT;
    if (n_space < 1 || n_space > DT__SPACE_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a weight of 3 to %d dims, got %d", DT__SPACE_DIMS + 2,
                            n_space + 2);
    const int n = call->inputs[0].n_dims, expected[] = {n, is_gradient ? n : n_space + 2, 1};
    if (n != n_space + 1 && n != n_space + 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected an input of %d dims, or %d without a batch, got %d",
                            n_space + 2, n_space + 1, n);
    for (int i = 1; i < call->n_inputs; i++) {
        if (call->inputs[i].n_dims != expected[i])
            return dt_op_refuse(call, DT_ERR_SHAPE, "%s: expected %d dims, got %d", names[i], expected[i],
                                call->inputs[i].n_dims);
        if (call->inputs[i].dtype != call->inputs[0].dtype)
            return dt_op_refuse(call, DT_ERR_DTYPE, "the dtypes differ: %s and %s; convert one with dt_to",
                                dt_dtype_name(call->inputs[0].dtype), dt_dtype_name(call->inputs[i].dtype));
    }
    if (call->inputs[0].dtype == DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected numeric dtypes, got bool");
    return DT_OK;
}

static dt_status expect_equal(const dt_op_call *call, const char *what, int64_t expected, int64_t got) {
    if (expected == got)
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_SHAPE, "%s: expected %" PRId64 ", got %" PRId64, what, expected, got);
}

/* Channels of image, map and weight: the weight has those of one group of the image. */
static dt_status check_channels(const dt_op_call *call, const dt__conv *conv, int64_t image, int64_t map,
                                const int64_t *weight) {
    if (image % conv->groups || map % conv->groups)
        return dt_op_refuse(call, DT_ERR_VALUE,
                            "groups: expected a divisor of %" PRId64 " and %" PRId64 " channels, got %" PRId64, image,
                            map, conv->groups);
    DT__TRY(expect_equal(call, "the second size of the weight (input channels / groups)", image / conv->groups,
                         weight[1]));
    return expect_equal(call, "the first size of the weight (output channels)", map, weight[0]);
}

static dt_status too_large(const dt_op_call *call) {
    return dt_op_refuse(call, DT_ERR_VALUE, "expected sizes below 2^62 with padding and dilation");
}

/* What the taps span, less one. */
static dt_status find_reach(const dt_op_call *call, const dt__conv *conv, int d, int64_t taps, int64_t *out) {
    if (taps < 1)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a weight with at least one tap in each dim, got %" PRId64,
                            taps);
    return dt__mul_i64(taps - 1, conv->dilation[d], out) && *out < INT64_MAX / 4 ? DT_OK : too_large(call);
}

static dt_status find_map_size(const dt_op_call *call, const dt__conv *conv, int d, int64_t image, int64_t taps,
                               int64_t *out) {
    int64_t reach = 0;
    DT__TRY(find_reach(call, conv, d, taps, &reach));
    if (image > INT64_MAX / 4)
        return too_large(call);
    const int64_t padded = image + 2 * conv->padding[d];
    if (is_same(call))
        *out = image;
    else if (padded > reach)
        *out = (padded - reach - 1) / conv->stride[d] + 1;
    else
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "the weight is larger than the padded input: expected at most %" PRId64
                            " in dim %d of space, got %" PRId64 " with dilation",
                            padded, d, reach + 1);
    return DT_OK;
}

static dt_status find_image_size(const dt_op_call *call, const dt__conv *conv, int d, int64_t map, int64_t taps,
                                 int64_t *out) {
    const int64_t more = number_at(optional(call, "output_padding"), d);
    int64_t reach = 0, span = 0;
    DT__TRY(find_reach(call, conv, d, taps, &reach));
    if (more >= conv->stride[d] && more >= conv->dilation[d])
        return dt_op_refuse(call, DT_ERR_VALUE,
                            "output_padding: expected less than the stride or the dilation, got %" PRId64, more);
    if (!dt__mul_i64(map - 1, conv->stride[d], &span) || span > INT64_MAX / 4)
        return too_large(call);
    *out = span - 2 * conv->padding[d] + reach + more + 1;
    if (*out >= 0)
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_SHAPE, "the output would have the size %" PRId64 " in dim %d of space", *out, d);
}

/* The sizes of the output in an argument: of a gradient. Those of space are free: elements outside count as zero. */
static dt_status add_given(dt_op_call *call, const dt__conv *conv, const dt_arg *size) {
    const int n = conv->out == DT__CONV_WEIGHT ? conv->n_space + 2 : call->inputs[0].n_dims;
    const int c = conv->n_leading - 1;
    const int64_t *out = size->as.ints, *first = call->inputs[0].shape, *second = call->inputs[1].shape;
    if (size->n != n)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the size: expected %d numbers, got %d", n, size->n);
    for (int d = 0; d < n; d++)
        if (out[d] < 0 || (d >= 2 && out[d] > INT64_MAX / 4))
            return dt_op_refuse(call, DT_ERR_SHAPE, "the size: expected numbers from 0 on, got %" PRId64, out[d]);
    for (int d = 0; d < conv->n_space; d++) {
        int64_t reach;
        DT__TRY(find_reach(call, conv, d, conv->out == DT__CONV_WEIGHT ? out[2 + d] : second[2 + d], &reach));
    }
    if (conv->out == DT__CONV_WEIGHT)
        DT__TRY(check_channels(call, conv, first[c], second[c], out));
    else
        DT__TRY(check_channels(call, conv, conv->out == DT__CONV_IMAGE ? out[c] : first[c],
                               conv->out == DT__CONV_IMAGE ? first[c] : out[c], second));
    if (c == 1)
        DT__TRY(expect_equal(call, "the batch", first[0], conv->out == DT__CONV_WEIGHT ? second[0] : out[0]));
    return dt_op_add_output(call, call->inputs[0].dtype, n, out);
}

dt_status dt__conv_shape(dt_op_call *call) {
    dt__conv conv;
    const dt_arg *size = optional(call, "sizes");
    const int n_space = space_of(call);
    DT__TRY(check_inputs(call, n_space));
    DT__TRY(check_numbers(call, n_space));
    dt__conv_read(call, &conv);
    if (size)
        return add_given(call, &conv, size);
    const dt_op_value *input = &call->inputs[0];
    const int64_t *weight = call->inputs[1].shape;
    const int c = conv.n_leading - 1;
    const bool is_image = conv.out == DT__CONV_IMAGE;
    int64_t channels = weight[0];
    dt__shape shape = {.n = input->n_dims};
    if (is_image && !dt__mul_i64(weight[1], conv.groups, &channels))
        return too_large(call);
    DT__TRY(check_channels(call, &conv, is_image ? channels : input->shape[c], is_image ? input->shape[c] : channels,
                           weight));
    if (conv.bias)
        DT__TRY(expect_equal(call, "bias", channels, conv.bias->shape[0]));
    shape.sizes[0] = input->shape[0];
    shape.sizes[c] = channels;
    for (int d = 0; d < n_space; d++)
        DT__TRY((is_image ? find_image_size : find_map_size)(call, &conv, d, input->shape[c + 1 + d], weight[2 + d],
                                                             &shape.sizes[c + 1 + d]));
    return dt__add_shape(call, input->dtype, &shape);
}

/* The terms of the family: n is the batch, c and k are channels of image and map. Of groups, k is the channels of both:
 * a rank's part of them needs those of the same groups. */
static const struct {
    const char *one_group[3], *groups[3]; /* two inputs and the output; of space and taps later */
    const char *bias[2];
} terms[] = {
    [DT__CONV_MAP] = {{"nc", "kc", "nk"}, {"nk^", "kc!", "nk"}, {"k", "k"}},
    [DT__CONV_IMAGE] = {{"nk", "kc", "nc"}, {"nk^", "k^c!", "nk"}, {"c", "k"}},
    [DT__CONV_WEIGHT] = {{"nc", "nk", "kc"}, {"nk^", "nk", "kc!"}, {"", ""}},
};

/* Appends a term: channels, then space or taps. */
static void write_term(char *rule, const dt__conv *conv, const char *channels, bool is_weight, bool is_window) {
    static const char *const space[] = {"h", "i", "j"}, *const taps[] = {"t!", "u!", "v!"};
    strcat(rule, channels + (conv->n_leading == 1 && !is_weight)); /* no batch */
    for (int d = 0; d < conv->n_space; d++) {
        strcat(rule, is_weight ? taps[d] : space[d]);
        if (is_window)
            strcat(rule, "^");
    }
}

void dt__conv_rows(const dt_op_call *call, dt_rows *rows) {
    dt__conv conv;
    char rule[96] = "";
    dt__conv_read(call, &conv);
    const bool has_groups = conv.groups > 1, is_gradient = conv.out == DT__CONV_WEIGHT;
    const char *const *of = has_groups ? terms[conv.out].groups : terms[conv.out].one_group;
    write_term(rule, &conv, of[0], false, true);
    strcat(rule, ", ");
    write_term(rule, &conv, of[1], !is_gradient, false);
    if (dt_op_arg(call, "bias")) {
        strcat(rule, ", +");
        strcat(rule, terms[conv.out].bias[has_groups]);
    }
    strcat(rule, " -> ");
    write_term(rule, &conv, of[2], is_gradient, false);
    dt_rows_factors(rows, rule, DT_PARTIAL_EACH);
    if (conv.bias && dt__is_float(conv.bias->dtype))
        dt_rows_monotone(rows, 2, true);
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); } /* b > 0 */

static void add_range(dt_window *out, int64_t begin, int64_t end, int64_t size) {
    begin = dt__max_i64(begin, 0);
    end = dt__min_i64(end, size);
    dt_window_add(out, begin < end ? begin : 0, dt__max_i64(end - begin, 0), 1);
}

/* The indices of the image that positions of the map read, from the first to the last. */
static void add_read(const dt__conv *conv, int d, int dim, const dt_op_value *map, dt_window *out) {
    const int64_t first = map->offset[dim] * conv->stride[d] - conv->padding[d];
    const int64_t reach = (conv->weight->shape[2 + d] - 1) * conv->dilation[d];
    add_range(out, first, first + (map->shape[dim] - 1) * conv->stride[d] + reach + 1,
              conv->image->global_shape[dim]);
}

/* The positions of the map that read some of these indices of the image. */
static void add_readers(const dt__conv *conv, int d, int dim, dt_window *out) {
    const int64_t first = conv->image->offset[dim] + conv->padding[d], stride = conv->stride[d];
    const int64_t reach = (conv->weight->shape[2 + d] - 1) * conv->dilation[d];
    add_range(out, -floor_div(reach - first, stride), floor_div(first + conv->image->shape[dim] - 1, stride) + 1,
              conv->map->global_shape[dim]);
}

/* The `size` channels of `to`, in the groups of those of `from`. */
static void add_groups(const dt__conv *conv, const dt_op_value *from, int dim, int64_t size, dt_window *out) {
    const int64_t in_group = from->global_shape[dim] / conv->groups, to_group = size / conv->groups;
    const int64_t first = from->offset[dim] / in_group, last = (from->offset[dim] + from->shape[dim] - 1) / in_group;
    add_range(out, first * to_group, (last + 1) * to_group, size);
}

void dt__conv_window(const dt_op_call *call, int input, int dim, dt_window *out) {
    dt__conv conv;
    dt__conv_read(call, &conv);
    const int c = conv.n_leading - 1, d = dim - c - 1;
    const bool is_image = conv.out == DT__CONV_IMAGE, is_gradient = conv.out == DT__CONV_WEIGHT;
    const dt_op_value *from = &call->inputs[input];
    if (input == 0 && d >= 0 && is_image)
        add_readers(&conv, d, dim, out);
    else if (input == 0 && d >= 0)
        add_read(&conv, d, dim, conv.map, out);
    else if (conv.groups > 1 && input == 0 && dim == c)
        add_groups(&conv, is_gradient ? conv.weight : &call->outputs[0], is_gradient ? 0 : c, from->global_shape[c],
                   out);
    else if (conv.groups > 1 && input == 1 && dim == 0 && is_image)
        add_groups(&conv, conv.image, c, from->global_shape[0], out);
}
