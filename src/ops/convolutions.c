/* SPDX-License-Identifier: Apache-2.0
 *
 * conv1d to conv3d, their transposed forms, and the three ops that are their gradients and each other's: conv_forward,
 * conv_input_backward and conv_weight_backward. conv_call.c has their sizes, rows and windows.
 */
#include "dtensor/dispatch.h"
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/conv_call.h"
#include "ops/image_operand.h"
#include "ops/ops.h"

enum { IMAGE, WEIGHT, MAP, BIAS, N_OPERANDS };

/* Opens the tensors of a call; those that were opened are freed by the caller. */
static dt_status open_operands(const dt_op_call *call, const dt__conv *conv, dt__image *out) {
    const dt_op_value *values[] = {conv->image, conv->weight, conv->map, conv->bias};
    for (int i = 0; i < N_OPERANDS; i++)
        if (values[i])
            DT__TRY(dt__image_open(call, values[i],
                                   (dt__image_form){.adds_batch = conv->n_leading == 1 && (i == IMAGE || i == MAP),
                                                    .is_dense = i == WEIGHT,
                                                    .is_output = values[i] == &call->outputs[0]},
                                   &out[i]));
    return DT_OK;
}

/* Where the arrays begin in the tensors of all ranks. */
static void find_offsets(const dt__conv *conv, dt__convolution *out) {
    const int c = conv->n_leading - 1;
    for (int d = 0; d < conv->n_space; d++)
        out->begin[d] =
            conv->map->offset[c + 1 + d] * conv->stride[d] - conv->padding[d] - conv->image->offset[c + 1 + d];
    out->image_group = dt__max_i64(conv->image->global_shape[c] / conv->groups, 1);
    out->map_group = dt__max_i64(conv->map->global_shape[c] / conv->groups, 1);
    if (conv->groups == 1) { /* channels of the image may be any part of all */
        out->image_group = dt__max_i64(conv->image->shape[c], 1);
        out->map_group = dt__max_i64(conv->map->shape[c], 1);
        return;
    }
    out->image_first = conv->image->offset[c];
    out->map_first = conv->map->offset[c];
}

static dt_status run_opened(const dt_op_call *call, const dt__conv *conv, const dt__image *operands) {
    dt__products *products = dt__products_of(call->ctx);
    dt__convolution args = {.out = conv->out,
                            .n_dims = conv->n_space,
                            .image = &operands[IMAGE].array,
                            .weight = &operands[WEIGHT].array,
                            .map = &operands[MAP].array,
                            .bias = conv->bias ? &operands[BIAS].array : NULL};
    if (!products)
        return dt_error_status(call->ctx);
    for (int d = 0; d < conv->n_space; d++) {
        args.stride[d] = conv->stride[d];
        args.dilation[d] = conv->dilation[d];
    }
    find_offsets(conv, &args);
    return dt__convolution_run(products, &args) ? DT_OK : dt__fail_memory(call->ctx, 0, call->name);
}

static bool is_empty(int n_dims, const int64_t *shape) { return dt__elements(n_dims, shape) == 0; }

/* Whether no element of the output is a sum of products. Where only the window of this rank is empty, padding is
 * multiplied by weights, which may be NaN, as it is everywhere else. */
static bool has_no_products(const dt_op_call *call, const dt__conv *conv) {
    for (int i = 0; i < 2; i++)
        if (is_empty(call->inputs[i].n_dims, call->inputs[i].global_shape))
            return true;
    return conv->out == DT__CONV_WEIGHT && is_empty(conv->map->n_dims, conv->map->shape);
}

/* The output without any products: its bias, or zeros. */
static void fill(const dt_op_call *call, const dt__conv *conv) {
    int64_t strides[DT__SPACE_DIMS + 2] = {0};
    dt__constant zero;
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__array from = dt__array_of_number(&(dt_arg){.type = DT_ARG_INT}, out.dtype, &zero);
    if (conv->bias) {
        strides[conv->n_leading - 1] = conv->bias->strides[0];
        from = (dt__array){conv->bias->data, conv->bias->dtype, out.n_dims, out.shape, strides};
    }
    dt__run_convert(call, &out, &from);
}

static dt_status convolve(dt_op_call *call) {
    static const int output_of[] = {[DT__CONV_MAP] = MAP, [DT__CONV_IMAGE] = IMAGE, [DT__CONV_WEIGHT] = WEIGHT};
    dt__image operands[N_OPERANDS] = {0};
    dt__conv conv;
    dt__conv_read(call, &conv);
    if (is_empty(call->outputs[0].n_dims, call->outputs[0].shape))
        return DT_OK;
    if (has_no_products(call, &conv)) {
        fill(call, &conv);
        return DT_OK;
    }
    dt_status status = open_operands(call, &conv, operands);
    if (status == DT_OK)
        status = run_opened(call, &conv, operands);
    if (status == DT_OK)
        dt__image_store(call, &operands[output_of[conv.out]]);
    for (int i = 0; i < N_OPERANDS; i++)
        dt__image_close(call, &operands[i]);
    return status;
}

/* The sum over all dims but that of channels. */
static dt_tensor *sum_of_channels(const dt__conv *conv, dt_tensor *grad) {
    int64_t dims[DT__SPACE_DIMS + 2];
    int n = 0;
    for (int d = 0; d < conv->n_leading + conv->n_space; d++)
        if (d != conv->n_leading - 1)
            dims[n++] = d;
    return dt_sum(grad, .dim = ((dt_dims){.n = n, .list = dims}));
}

static dt_op_argument ints(int n, const int64_t *list) {
    return (dt_op_argument){.value = {.type = DT_ARG_INTS, .n = n, .as.ints = list}};
}

/* The op that computes each of the three tensors from the other two. */
static const struct {
    const char *name;
    dt__convolution_part inputs[2];
} ops[] = {[DT__CONV_MAP] = {"conv_forward", {DT__CONV_IMAGE, DT__CONV_WEIGHT}},
           [DT__CONV_IMAGE] = {"conv_input_backward", {DT__CONV_MAP, DT__CONV_WEIGHT}},
           [DT__CONV_WEIGHT] = {"conv_weight_backward", {DT__CONV_IMAGE, DT__CONV_MAP}}};

/* One of the three tensors, with the sizes that it has in the call. */
static dt_tensor *run_part(const dt_op_call *call, const dt__conv *conv, dt__convolution_part part,
                           dt_tensor *const *of) {
    const dt_op_value *values[] = {
        [DT__CONV_MAP] = conv->map, [DT__CONV_IMAGE] = conv->image, [DT__CONV_WEIGHT] = conv->weight};
    const dt_op_argument arguments[] = {{.tensor = of[ops[part].inputs[0]]},
                                        {.tensor = of[ops[part].inputs[1]]},
                                        ints(values[part]->n_dims, values[part]->shape),
                                        ints(conv->n_space, conv->stride),
                                        ints(conv->n_space, conv->padding),
                                        ints(conv->n_space, conv->dilation),
                                        {.value = {.type = DT_ARG_INT, .as.i = conv->groups}}};
    dt_tensor *out = NULL;
    int n_outputs;
    (void)dt_op_run(call->ctx, ops[part].name, (int)(sizeof arguments / sizeof *arguments), arguments, NULL, &out, 1,
                    &n_outputs);
    return out;
}

/* The gradient of an input is the relation with the gradient of the output in place of the output. */
static dt_status gradients(const dt_op_backward *call, dt_tensor **input_grads) {
    dt__conv conv;
    dt_tensor *of[3] = {0};
    dt__conv_read(call->call, &conv);
    of[conv.out] = call->grads[0];
    for (int i = 0; i < 2; i++)
        if (call->needed[i]) {
            of[ops[conv.out].inputs[1 - i]] = dt__conjugate(call->inputs[1 - i]);
            input_grads[i] = run_part(call->call, &conv, ops[conv.out].inputs[i], of);
        }
    if (conv.bias && call->needed[2])
        input_grads[2] = sum_of_channels(&conv, call->grads[0]);
    return dt_failed(call->call->ctx) ? dt_error_status(call->call->ctx) : DT_OK;
}

/* Each element of the map takes the weights of one of its channels. */
static double flops_of(const dt_op_call *call) {
    const dt_op_value *of[3] = {0};
    dt__conv conv;
    dt__conv_read(call, &conv);
    of[conv.out] = &call->outputs[0];
    for (int i = 0; i < 2; i++)
        of[ops[conv.out].inputs[i]] = &call->inputs[i];
    const dt_op_value *map = of[DT__CONV_MAP], *weight = of[DT__CONV_WEIGHT];
    double n_weights = 1;
    for (int d = 1; d < weight->n_dims; d++)
        n_weights *= (double)weight->shape[d];
    return 2 * n_weights * (double)dt__elements(map->n_dims, map->shape);
}

#define CONVOLUTION(out_, n_)                                                                                        \
    .rows = dt__conv_rows, .arguments = DT__CONV_ARGUMENTS, .shape = dt__conv_shape, .kernel = convolve,             \
    .window = dt__conv_window, .order = dt__order_of_images, .flops = flops_of, .flags = DT_OP_TILES,                \
    .backward = gradients, .family = &(const dt__conv_family) {                                                      \
        out_, n_                                                                                                     \
    }

#define CONV_SCHEMA(n, ones, zeros)                                                                                  \
    "conv" n "d(Tensor input, Tensor weight, Tensor? bias=None, int[" n "] stride=" ones ", int[" n                  \
    "] padding=" zeros ", int[" n "] dilation=" ones ", int groups=1) -> Tensor | conv" n                            \
    "d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[" n "] stride=" ones                              \
    ", str padding=\"valid\", int[" n "] dilation=" ones ", int groups=1) -> Tensor"

const dt_op dt__op_conv1d = {
    .schema = CONV_SCHEMA("1", "[1]", "[0]"),
    .summary = "Convolution of sequences: weighted sums of neighbors, over all channels.",
    CONVOLUTION(DT__CONV_MAP, 1),
    .saves = "input,weight",
    .samples =
        "conv1d(f32[2,3,9]; f32[4,3,3]; f32[4])\nconv1d(f64[2,4,11]; f64[6,2,3]; stride=2; padding=2; groups=2)\n"
        "conv1d(f32[2,10]; f32[3,2,2]; f32[3]; padding=3; dilation=4)\nconv1d(f32[1,2,9]; f32[2,2,2]; stride=5)\n"
        "conv1d(f32[1,2,7]; f32[2,2,4]; padding=same)",
};
const dt_op dt__op_conv2d = {
    .schema = CONV_SCHEMA("2", "[1, 1]", "[0, 0]"),
    .summary = "Convolution of images.",
    CONVOLUTION(DT__CONV_MAP, 2),
    .saves = "input,weight",
    .samples = "conv2d(f32[2,3,5,4]; f32[2,3,3,2]; f32[2]; padding=[1,0])\n"
               "conv2d(f32[1,3,5,5]; f32[6,1,2,2]; stride=[2,1]; groups=3)\nconv2d(f32[2,3,3]; f32[2,2,1,1])",
};
const dt_op dt__op_conv3d = {
    .schema = CONV_SCHEMA("3", "[1, 1, 1]", "[0, 0, 0]"),
    .summary = "Convolution of volumes.",
    CONVOLUTION(DT__CONV_MAP, 3),
    .saves = "input,weight",
    .samples = "conv3d(f32[1,2,3,2,3]; f32[2,2,2,2,1]; f32[2]; padding=[1,0,0])",
};

#define TRANSPOSED_SCHEMA(name, n, ones, zeros)                                                                      \
    name "(Tensor input, Tensor weight, Tensor? bias=None, int[" n "] stride=" ones ", int[" n "] padding=" zeros    \
         ", int[" n "] output_padding=" zeros ", int groups=1, int[" n "] dilation=" ones ") -> Tensor"

const dt_op dt__op_conv_transpose1d = {
    .schema = TRANSPOSED_SCHEMA("conv_transpose1d", "1", "[1]", "[0]"),
    .summary = "Transposed convolution of sequences: each element adds the weights, times itself, to its neighbors.",
    CONVOLUTION(DT__CONV_IMAGE, 1),
    .saves = "input,weight",
    .samples = "conv_transpose1d(f32[2,3,5]; f32[3,4,3]; f32[4])\n"
               "conv_transpose1d(f64[1,4,5]; f64[4,3,3]; f64[6]; stride=2; padding=1; output_padding=1; groups=2)\n"
               "conv_transpose1d(f32[2,4]; f32[2,3,2]; stride=3; dilation=4)",
};
const dt_op dt__op_conv_transpose2d = {
    .schema = TRANSPOSED_SCHEMA("conv_transpose2d.input", "2", "[1, 1]", "[0, 0]"),
    .summary = "Transposed convolution of images.",
    CONVOLUTION(DT__CONV_IMAGE, 2),
    .saves = "input,weight",
    .samples = "conv_transpose2d(f32[2,2,3,4]; f32[2,3,2,2]; f32[3]; stride=2)",
};
const dt_op dt__op_conv_transpose3d = {
    .schema = TRANSPOSED_SCHEMA("conv_transpose3d.input", "3", "[1, 1, 1]", "[0, 0, 0]"),
    .summary = "Transposed convolution of volumes.",
    CONVOLUTION(DT__CONV_IMAGE, 3),
    .saves = "input,weight",
    .samples = "conv_transpose3d(f32[1,2,2,3,2]; f32[2,2,2,1,2]; stride=[1,2,1])",
};
const dt_op dt__op_convolution = {
    .schema = "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
              "bool transposed, int[] output_padding, int groups) -> Tensor",
    .summary = "Convolution in one to three dims, or a transposed one.",
    CONVOLUTION(DT__CONV_MAP, 0),
    .saves = "input,weight",
    .samples = "convolution(f32[2,3,9]; f32[4,3,3]; f32[4]; [1]; [1]; [1]; false; [0]; 1)\n"
               "convolution(f32[2,3,5]; f32[3,4,3]; none; [2]; [1]; [1]; true; [1]; 1)",
};

#define SIZED "int[] sizes, int[] stride=1, int[] padding=0, int[] dilation=1, int groups=1) -> Tensor"

const dt_op dt__op_conv_forward = {
    .schema = "conv_forward(Tensor input, Tensor weight, " SIZED,
    .summary = "Convolution with an output of the given sizes: a gradient of the two that follow.",
    CONVOLUTION(DT__CONV_MAP, 0),
    .samples = "conv_forward(f32[2,3,9]; f32[4,3,3]; [2,4,6])\nconv_forward(f64[1,4,5]; f64[2,2,3]; [1,2,4]; 2; 1; "
               "groups=2)",
};
const dt_op dt__op_conv_input_backward = {
    .schema = "conv_input_backward(Tensor grad_output, Tensor weight, " SIZED,
    .summary = "The gradient of a convolution with respect to its input, of the given sizes.",
    CONVOLUTION(DT__CONV_IMAGE, 0),
    .samples = "conv_input_backward(f32[2,3,7]; f32[3,2,3]; [2,2,9])\n"
               "conv_input_backward(f64[2,4,5]; f64[4,3,3]; [2,6,11]; 2; 1; groups=2)\n"
               "conv_input_backward(f32[2,2,3]; f32[2,3,2,2]; [3,3,4])",
};
const dt_op dt__op_conv_weight_backward = {
    .schema = "conv_weight_backward(Tensor input, Tensor grad_output, " SIZED,
    .summary = "The gradient of a convolution with respect to its weight, of the given sizes.",
    CONVOLUTION(DT__CONV_WEIGHT, 0),
    .samples = "conv_weight_backward(f32[2,3,9]; f32[2,2,7]; [2,3,3])\n"
               "conv_weight_backward(f64[2,4,11]; f64[2,6,5]; [6,2,3]; 2; 1; groups=2)\n"
               "conv_weight_backward(f32[3,5,4]; f32[2,5,4]; [2,3,3,2]; padding=1)",
};
