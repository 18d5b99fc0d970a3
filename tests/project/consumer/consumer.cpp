/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of somebody else in C++17, compiled against the installed tree: alone it is a world of one, under dtrun
 * it has four ranks.
 */
#include <dtensor/dtensor.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

static dt_status same_as_first(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}

static dt_status twice_f32(dt_op_call *call) {
    int64_t n = 1;
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        n *= call->inputs[0].shape[d];
    for (int64_t i = 0; i < n; i++)
        static_cast<float *>(call->outputs[0].data)[i] = 2 * static_cast<const float *>(call->inputs[0].data)[i];
    return DT_OK;
}

/* The site of the call is this file and the line of the call. */
static bool names_its_line(dt_ctx *ctx, dt_mesh *mesh) {
    dt::scope scope(ctx);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 8), dt::mesh = mesh, dt::place = "S(0)");
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(8, 8), dt::mesh = mesh, dt::place = "S(1)");
    if (dt_comm_policy(ctx, DT_COMM_ERROR) != DT_OK)
        return false;
    std::string here = "consumer.cpp:" + std::to_string(__LINE__ + 1);
    if (dt_cumsum(dt_add(x, w), 0) || !std::strstr(dt_error_text(ctx), here.c_str()))
        return false;
    return dt_error_clear(ctx) == DT_OK;
}

/* A function of its own, because references end before their context is closed. */
static int run(dt_ctx *ctx) {
    dt::ref<dt_mesh> mesh(dt_mesh_new(ctx, dt_world(ctx) == 4 ? "dp=2,tp=2" : "dp=1,tp=1"));
    dt::ref<dt_mesh> line(dt_mesh_flatten(mesh, nullptr));
    dt_tensor *s = nullptr;
    {
        dt::scope step(ctx);
        dt_tensor *x = dt_randn(ctx, DT_SHAPE(8, 4), dt::mesh = mesh, dt::place = "S(0),R");
        dt_tensor *w = dt_randn(ctx, DT_SHAPE(4, 6), dt::mesh = mesh, dt::place = "R,S(1)", dt::std = 0.5);
        dt_tensor *y = dt_gelu(dt_matmul(x, w));
        s = dt_keep(dt_sum(y, dt::dim = -1, dt::keepdim = true));
    }
    if (dt_failed(ctx) || dt_tensor_size(s, 0) != 8 || dt_tensor_size(s, 1) != 1)
        return 2;
    char *text = dt_format(s, dt::precision = 3);
    if (!text)
        return 3;
    std::free(text);

    dt_op twice{};
    twice.schema = "twice(Tensor x) -> Tensor";
    twice.rule = "... -> ...";
    twice.shape = same_as_first;
    twice.kernel = twice_f32;
    if (dt_op_register(ctx, &twice) != DT_OK)
        return 4;
    dt_make_options make{};
    make.mesh = mesh;
    make.place = "S(0),S(1)";
    dt_tensor *ones = dt_full(ctx, DT_SHAPE(4, 4), 1.5, make);
    dt_tensor *sum = dt_sum(dt_call(ctx, "twice", dt_contiguous(ones)), DT_DIMS(0, 1));
    if (dt_item(sum) != 48 || dt_item(dt_scalar(ctx, 3, dt::dtype = DT_I32)) != 3)
        return 5;
    if (!dt_explain(ctx, "add", ones, ones) || !dt_explain(ctx, "sum($1; dim=[1])", ones))
        return 5;
    dt_tensor *joined = dt_cat(DT_TENSORS(ones, ones), dt::dim = 1);
    dt_tensor *whole = dt_full_tensor(dt_redistribute(joined, "R,S(0)", dt::planner = "direct"));
    if (dt_tensor_elements(whole) != 32 || dt_item(dt_mul_scalar(dt_scalar(ctx, 2), 0.5)) != 1)
        return 6;
    dt::ref<dt_tensor> held = dt::ref<dt_tensor>::share(whole);
    dt::ref<dt_tensor> also = held;
    if (dt_world(ctx) == 4 && !names_its_line(ctx, line))
        return 7;
    if (dt_rank(ctx) == 0)
        std::printf("dtensor %s\n", dt_version_text());
    return 0;
}

int main() {
    dt::context ctx;
    if (dt_version() != DT_VERSION || !ctx)
        return 1;
    int code = run(ctx);
    return code ? code : ctx.close();
}
