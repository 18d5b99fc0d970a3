/* SPDX-License-Identifier: Apache-2.0
 *
 * How ops keep the order of dims in memory: the rules of PyTorch. Elementwise ops keep the strides of their inputs,
 * ops on images keep channels-last.
 */
#include "ops/kernel_support.h"

/* The stride of an input along a dim of the output; 0: it is broadcast. */
static int64_t stride_along(const dt_op_value *input, const dt_op_value *output, int dim) {
    const int d = dim - (output->n_dims - input->n_dims);
    return d < 0 || (input->shape[d] == 1 && output->shape[dim] != 1) ? 0 : input->strides[d];
}

/* Above 0: dim a, which is faster than b so far, belongs before it; 0: no input decides. */
static int compare_dims(const dt_op_call *call, const dt_op_value *output, int a, int b) {
    for (int i = 0; i < call->n_inputs; i++) {
        const int64_t of_a = stride_along(&call->inputs[i], output, a);
        const int64_t of_b = stride_along(&call->inputs[i], output, b);
        if (!of_a || !of_b)
            continue;
        if (of_a != of_b)
            return of_a > of_b ? 1 : -1;
        if (output->shape[a] > output->shape[b])
            return 1;
    }
    return 0;
}

/* The first input that is not broadcast decides. */
bool dt__order_of_elements(const dt_op_call *call, int output, int *order) {
    const dt_op_value *out = &call->outputs[output];
    const int n = out->n_dims;
    for (int d = 0; d < n; d++)
        order[d] = d;
    for (int i = n - 2; i >= 0; i--) /* the dims after i are sorted */
        for (int at = i, other = i + 1; other < n; other++) {
            const int compared = compare_dims(call, out, order[other], order[at]);
            if (compared < 0)
                break;
            if (compared == 0)
                continue;
            const int moved = order[at];
            order[at] = order[other];
            order[other] = moved;
            at = other;
        }
    return true;
}

/* Whether strides ascend from the channels, [N,C,..] with C the fastest. Of a tensor that is row-major as well, because
 * sizes are 1, strides of these dims tell what it is meant to be. */
static bool is_channels_last(const dt_op_value *of) {
    int64_t least = 0;
    if (of->strides[1] == 0)
        return false;
    for (int i = 0; i < of->n_dims; i++) {
        const int d = i == 0 ? 1 : i == of->n_dims - 1 ? 0 : of->n_dims - i;
        if (of->shape[d] == 0 || of->strides[d] < least || (d == 0 && least == of->strides[1]))
            return false;
        least = of->strides[d] * dt__max_i64(of->shape[d], 1);
    }
    return true;
}

/* How many inputs are images in channels-last memory; sets the order of such an output. */
static int count_channels_last(const dt_op_call *call, int output, int *order) {
    const int n = call->outputs[output].n_dims;
    int count = 0;
    for (int i = 0; i < call->n_inputs && (n == 4 || n == 5); i++)
        count += call->inputs[i].n_dims == n && is_channels_last(&call->inputs[i]);
    for (int d = 0; d < n; d++)
        order[d] = d == 0 ? 0 : d == n - 1 ? 1 : d + 1;
    return count;
}

/* An image decides, or the weight of a convolution. */
bool dt__order_of_images(const dt_op_call *call, int output, int *order) {
    return count_channels_last(call, output, order) > 0;
}

bool dt__order_of_all_images(const dt_op_call *call, int output, int *order) {
    return count_channels_last(call, output, order) == call->n_inputs;
}
