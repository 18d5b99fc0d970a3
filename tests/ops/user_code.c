/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls as users write them: every form of argument that ops have, in C and in C++. Compiled with all warnings by
 * test_user_code.sh.
 */
#ifndef __cplusplus
#include <dtensor/dtensor.h>

dt_tensor *every_form(dt_tensor *x, dt_tensor *w, dt_tensor *b, dt_tensor **parts);
dt_tensor *every_form(dt_tensor *x, dt_tensor *w, dt_tensor *b, dt_tensor **parts) {
    dt_tensor *h = dt_gelu(dt_linear(x, w, b));
    h = dt_gelu(dt_linear(h, w), .approximate = "tanh");
    h = dt_softmax(h, -1);
    h = dt_softmax(h, -1, .dtype = DT_F32);
    h = dt_sum(h, .dim = DT_DIMS(-1), .keepdim = true);
    h = dt_sum(h);
    h = dt_sum(h, DT_DIMS(0, 1), true);
    h = dt_argmax(h, .dim = DT_INT(0));
    h = dt_add(h, h, .alpha = DT_NUMBER(2));
    h = dt_add(h, h, .alpha = DT_NUMBER(0.5));
    h = dt_add_scalar(h, 2);
    h = dt_add_scalar(h, 2.5f);
    h = dt_mul_scalar(h, true);
    h = dt_add_(h, h);
    h = dt_div(h, h, .rounding_mode = "floor");
    h = dt_clamp(h, .min = DT_NUMBER(-1), .max = DT_NUMBER(1));
    h = dt_clamp_tensor(h, .max = h);
    h = dt_where_scalar_other(dt_eq_scalar(h, 0), h, 1);
    h = dt_cat(DT_TENSORS(h, h, h), .dim = DT_INT(1));
    h = dt_layer_norm(h, DT_SHAPE(4), w, b, .eps = DT_REAL(1e-6));
    h = dt_dropout(h, .p = DT_REAL(0.1), .training = DT_FALSE);
    h = dt_to(h, DT_F64);
    h = dt_view(h, DT_SHAPE(4, -1));
    h = dt_transpose(h, 0, 1);
    h = dt_slice(h, 0, 1, 3, 1);
    h = dt_addmm(b, x, w, .beta = DT_NUMBER(0.5));
    h = dt_gather(h, 0, h);
    int n = dt_split(h, 2, parts, 4, .dim = DT_INT(1)) + dt_split_sizes(h, DT_INTS(1, 3), parts, 4);
    return n > 0 ? parts[0] : h;
}
#else
#include <dtensor/dtensor.hpp>

dt_tensor *every_form(dt_tensor *x, dt_tensor *w, dt_tensor *b, dt_tensor **parts);
dt_tensor *every_form(dt_tensor *x, dt_tensor *w, dt_tensor *b, dt_tensor **parts) {
    dt_tensor *h = dt_gelu(dt_linear(x, w, b));
    h = dt_gelu(dt_linear(h, w), dt::approximate = "tanh");
    h = dt_softmax(h, -1);
    h = dt_softmax(h, -1, dt::dtype = DT_F32);
    h = dt_sum(h, dt::dim = -1, dt::keepdim = true);
    h = dt_sum(h, dt::dim = DT_DIMS(0, 1));
    h = dt_sum(h);
    h = dt_sum(h, DT_DIMS(0, 1), true);
    h = dt_argmax(h, dt::dim = 0);
    h = dt_add(h, h, dt::alpha = 2);
    h = dt_add(h, h, dt::alpha = 0.5);
    h = dt_add(h, h, dt::alpha = DT_NUMBER(2));
    h = dt_add_scalar(h, 2);
    h = dt_add_scalar(h, 2.5f);
    h = dt_mul_scalar(h, true);
    h = dt_add_(h, h);
    h = dt_div(h, h, dt::rounding_mode = "floor");
    h = dt_clamp(h, dt::min = -1, dt::max = 1.5);
    h = dt_clamp_tensor(h, dt::max = h);
    h = dt_where_scalar_other(dt_eq_scalar(h, 0), h, 1);
    h = dt_cat(DT_TENSORS(h, h, h), dt::dim = 1);
    h = dt_layer_norm(h, DT_SHAPE(4), w, b, dt::eps = 1e-6);
    h = dt_dropout(h, dt::p = 0.1, dt::training = false);
    h = dt_to(h, DT_F64);
    h = dt_view(h, DT_SHAPE(4, -1));
    h = dt_transpose(h, 0, 1);
    h = dt_slice(h, 0, 1, 3, 1);
    h = dt_addmm(b, x, w, dt::beta = 0.5);
    h = dt_gather(h, 0, h);
    dt_linear_options with_bias = {};
    with_bias.bias = b;
    h = dt_linear(x, w, with_bias);
    int n = dt_split(h, 2, parts, 4, dt::dim = 1) + dt_split_sizes(h, DT_INTS(1, 3), parts, 4);
    return n > 0 ? parts[0] : h;
}
#endif
