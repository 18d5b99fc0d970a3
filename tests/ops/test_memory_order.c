/* SPDX-License-Identifier: Apache-2.0
 *
 * Results keep the order of dims in memory as PyTorch's do (memory_orders.h): strides of plain tensors, local strides
 * of shards, and those after a redistribution. Values are those of row-major inputs.
 */
#include "dispatch/calls.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <math.h>
#include <stdlib.h>

typedef struct recorded_tensor {
    char name;
    const char *shape, *strides;
} recorded_tensor;

typedef struct recorded_call {
    const char *call, *tensors, *shape, *strides;
} recorded_call;

#include "ops/memory_orders.h"

enum { N_CALLS = sizeof recorded_calls / sizeof *recorded_calls };

static int read_numbers(const char *text, int64_t *out) {
    int n = 0;
    for (char *end; *text; text = *end ? end + 1 : end)
        out[n++] = strtoll(text, &end, 10);
    return n;
}

/* A recorded tensor, as a view of elements that are numbers from 0.1 to 1.6. */
static dt_tensor *new_tensor(dt_ctx *ctx, char name) {
    int64_t shape[8], strides[8], reach = 1, i = 0;
    const recorded_tensor *of = recorded_tensors;
    while (of->name != name)
        of++;
    const int n = read_numbers(of->shape, shape);
    (void)read_numbers(of->strides, strides);
    for (int d = 0; d < n; d++)
        reach += (shape[d] - 1) * strides[d];
    dt_tensor *base = dt_empty(ctx, DT_SHAPE(reach));
    for (float *at = base ? dt_data(base) : NULL; at && i < reach; i++)
        at[i] = 0.1F + (float)(i * 7 % 16) / 10;
    dt_tensor *view = dt_as_strided(base, ((dt_shape){n, shape}), ((dt_ints){.n = n, .list = strides}), 0);
    return name == 'g' ? dt_gt_scalar(view, 0.8) : view;
}

/* Strides of a dense local tensor in the order of these; dims of size 1 do not count. */
static bool has_order(const dt_tensor *tensor, const int64_t *strides) {
    const int n = tensor->local_n_dims;
    int order[8];
    int64_t expected[8];
    dt__stride_order_of(n, tensor->shape, strides, order);
    dt__dense_strides(n, tensor->local_shape, order, expected);
    for (int d = 0; d < n; d++)
        if (tensor->local_shape[d] == 0)
            return true;
    for (int d = 0; d < n; d++)
        if (tensor->local_shape[d] > 1 && tensor->strides[d] != expected[d])
            return false;
    return true;
}

static bool same_values(dt_tensor *a, dt_tensor *b) {
    const dt_tensor *x = dt_contiguous(dt_full_tensor(a)), *y = dt_contiguous(b);
    for (int64_t i = 0; x && y && i < dt_tensor_elements(x); i++)
        if (fabs(calls_element(x, i) - calls_element(y, i)) > 1e-5 * (1 + fabs(calls_element(y, i))))
            return false;
    return x && y;
}

static const char *strides_text(const dt_tensor *tensor) {
    static _Thread_local char text[160];
    return dt__shape_text(tensor->local_n_dims, tensor->strides, sizeof text, text);
}

static dt_tensor *run_row_major(dt_ctx *ctx, const recorded_call *call) {
    dt_tensor *of[4] = {NULL};
    for (int i = 0; call->tensors[i]; i++)
        of[i] = dt_contiguous(new_tensor(ctx, call->tensors[i]));
    return calls_output(ctx, call->call, of);
}

static int compare_plain(dt_ctx *ctx, void *arg) {
    (void)arg;
    for (int c = 0; c < N_CALLS; c++) {
        const recorded_call *call = &recorded_calls[c];
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *of[4] = {NULL};
        for (int i = 0; call->tensors[i]; i++)
            of[i] = new_tensor(ctx, call->tensors[i]);
        dt_tensor *out = calls_output(ctx, call->call, of);
        CHECK(out, "%s: %s", call->call, dt_error_text(ctx));
        CHECK(!strcmp(strides_text(out), call->strides), "%s of %s: expected strides %s, got %s", call->call,
              call->tensors, call->strides, strides_text(out));
        CHECK(strstr(call->call, "dropout") || same_values(out, run_row_major(ctx, call)),
              "%s of %s: other values than of row-major inputs", call->call, call->tensors);
        dt_scope_end(scope);
    }
    return 0;
}

/* The first tensor is sharded, unless it is a vector, the others are replicated. */
static int compare_sharded(dt_ctx *ctx, void *arg) {
    const char *place = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    for (int c = 0; c < N_CALLS; c++) {
        const recorded_call *call = &recorded_calls[c];
        if (strchr(call->tensors, 'e')) /* distributed, it is dense */
            continue;
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *of[4] = {NULL};
        int64_t strides[8];
        (void)read_numbers(call->strides, strides);
        for (int i = 0; call->tensors[i]; i++)
            of[i] =
                calls_distribute(new_tensor(ctx, call->tensors[i]), mesh, i || call->tensors[i] == 'r' ? "R" : place);
        dt_tensor *out = calls_output(ctx, call->call, of);
        CHECK(out, "%s with %s: %s", call->call, place, dt_error_text(ctx));
        CHECK(has_order(out, strides), "%s of %s with %s: expected the order of strides %s, got %s", call->call,
              call->tensors, place, call->strides, strides_text(out));
        dt_tensor *whole = dt_redistribute(out, "R");
        const bool keeps =
            strncmp(call->call, "group_norm", 10) != 0; /* is made of views, whose specs are row-major */
        CHECK(whole && (!keeps || has_order(whole, strides)),
              "%s of %s with %s, replicated: expected strides %s, got %s", call->call, call->tensors, place,
              call->strides, whole ? strides_text(whole) : dt_error_text(ctx));
        CHECK(strstr(call->call, "dropout") || same_values(whole, run_row_major(ctx, call)),
              "%s of %s with %s: other values than of row-major inputs", call->call, call->tensors, place);
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

/* The gradients of images and weights in channels-last memory are so, too, plain and sharded; a step of training in
 * place keeps a weight as it is. */
static int check_gradients(dt_ctx *ctx, void *arg) {
    static const int64_t of_image[] = {120, 1, 24, 4}, of_weight[] = {36, 1, 12, 4};
    const char *place = arg;
    dt_mesh *mesh = place ? dt_mesh_new(ctx, "*") : NULL;
    dt_tensor *image = new_tensor(ctx, 'x'), *weight = new_tensor(ctx, 'l');
    if (mesh) {
        image = calls_distribute(image, mesh, place);
        weight = calls_distribute(weight, mesh, "R");
    }
    CHECK_OK(ctx, dt_set_requires_grad(image, true));
    CHECK_OK(ctx, dt_set_requires_grad(weight, true));
    dt_tensor *map = dt_relu(dt_conv2d(image, weight, .padding = DT_INTS(1, 1)));
    dt_tensor *pooled = map ? dt_max_pool2d(dt_group_norm(map, 2), DT_INTS(2, 2)) : NULL;
    CHECK(pooled, "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_backward(dt_sum(dt_mul(pooled, pooled))));
    CHECK(has_order(dt_grad(image), of_image), "gradient of the image with %s: strides %s", place,
          strides_text(dt_grad(image)));
    CHECK(has_order(dt_grad(weight), of_weight), "gradient of the weight with %s: strides %s", place,
          strides_text(dt_grad(weight)));
    dt_mesh_release(mesh);
    return 0;
}

/* A view has other strides than its spec says: what is made of it has them, too. */
static int check_views(dt_ctx *ctx, void *arg) {
    static const int64_t channels_last[] = {120, 1, 24, 4};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2, 5, 6, 4), .mesh = mesh, .place = "S(1)");
    dt_tensor *view = dt_permute(x, DT_DIMS(0, 3, 1, 2)), *out = view ? dt_exp(view) : NULL;
    CHECK(out && has_order(out, channels_last), "strides %s", out ? strides_text(out) : dt_error_text(ctx));
    CHECK(dt_tensor_is_contiguous(dt_clone(out)) && dt_tensor_is_contiguous(dt_contiguous(out)),
          "clone and contiguous are row-major");
    dt_mesh_release(mesh);
    return 0;
}

static void memory_order__of_plain_tensors_is_pytorchs(void **state) {
    (void)state;
    run_ranks(1, compare_plain, NULL);
}

static void memory_order__of_shards_is_that_of_the_whole(void **state) {
    static char *const places[] = {"S(0)", "S(1)", "S(2)", "R"};
    (void)state;
    for (int n = 2; n <= 5; n += n == 3 ? 2 : 1)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++)
            run_ranks(n, compare_sharded, places[p]);
}

static void memory_order__of_gradients(void **state) {
    static char *const places[] = {"S(0)", "S(2)", "S(1)", "R"};
    (void)state;
    run_ranks(1, check_gradients, NULL);
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        run_ranks(3, check_gradients, places[p]);
}

static void memory_order__of_views_is_that_of_their_strides(void **state) {
    (void)state;
    run_ranks(1, check_views, NULL);
    run_ranks(3, check_views, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_order__of_plain_tensors_is_pytorchs),
        cmocka_unit_test(memory_order__of_shards_is_that_of_the_whole),
        cmocka_unit_test(memory_order__of_gradients),
        cmocka_unit_test(memory_order__of_views_is_that_of_their_strides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
