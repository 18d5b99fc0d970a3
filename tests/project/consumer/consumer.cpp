/* SPDX-License-Identifier: Apache-2.0
 *
 * A user's program in C++17, compiled against the installed library: by itself it is a world of one, with dtrun it has
 * four ranks.
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
static bool error_has_site(dt_ctx *ctx, dt_mesh *mesh) {
    dt::scope scope(ctx);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 8), dt::mesh = mesh, dt::place = "S(0)");
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(8, 8), dt::mesh = mesh, dt::place = "S(1)");
    if (dt_comm_policy(ctx, DT_COMM_ERROR) != DT_OK)
        return false;
    std::string site = "consumer.cpp:" + std::to_string(__LINE__ + 1);
    if (dt_cumsum(dt_add(x, w), 0) || !std::strstr(dt_error_text(ctx), site.c_str()))
        return false;
    return dt_error_clear(ctx) == DT_OK;
}

/* In a function, so that references end before their context is closed. */
static int run_rank(dt_ctx *ctx) {
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
    auto best = dt_topk(s, 3, dt::dim = 0, dt::largest = false); /* a struct of outputs */
    auto picked = dt_index(s, dt_tensors{1, &best.indices});
    if (!picked || dt_tensor_size(best.values, 0) != 3 || dt_tensor_dtype(best.indices) != DT_I64)
        return 1;
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
    dt_tensor *concatenated = dt_cat(DT_TENSORS(ones, ones), dt::dim = 1);
    dt_tensor *full = dt_full_tensor(dt_redistribute(concatenated, "R,S(0)", dt::planner = "direct"));
    if (dt_tensor_elements(full) != 32 || dt_item(dt_mul_scalar(dt_scalar(ctx, 2), 0.5)) != 1)
        return 6;
    dt::ref<dt_tensor> reference = dt::ref<dt_tensor>::share(full);
    dt::ref<dt_tensor> shared = reference;
    if (dt_world(ctx) == 4 && !error_has_site(ctx, line))
        return 7;
    if (dt_rank(ctx) == 0)
        std::printf("dtensor %s\n", dt_version_text());
    return 0;
}

int main() {
    dt::context ctx;
    if (dt_version() != DT_VERSION || !ctx)
        return 1;
    int code = run_rank(ctx);
    return code ? code : ctx.close();
}
