/* SPDX-License-Identifier: Apache-2.0
 *
 * 7: an op of your own. An op is a descriptor: a signature, a function that checks shapes, a rule that states which
 * placements are correct, and a kernel that computes on the local tensors of one rank. The library does the rest: it
 * selects placements, moves inputs where it must, counts and traces. A rule can be wrong, so it is verified by brute
 * force. The first op here is elementwise, so that its loop is all there is to write; the second one is not.
 *
 *     $ dtrun -n 4 ./07_own_op          # any number of ranks computes the same
 */
#include <dtensor/dtensor.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Elementwise: n elements of each tensor, contiguous. Strides, broadcasting and threads are the library's. */
static void swiglu_f32(int64_t n, const void *const *in, void *const *out, const dt_op_call *call) {
    const float *gate = in[0], *up = in[1];
    float *y = out[0];
    (void)call;
    for (int64_t i = 0; i < n; i++)
        y[i] = gate[i] / (1 + expf(-gate[i])) * up[i];
}

static const dt_op swiglu = {
    .schema = "swiglu(Tensor gate, Tensor up) -> Tensor",
    .rule = "..., ... -> ...",
    .shape = dt_op_broadcast,
    .kernel = dt_op_elementwise,
    .family = &(const dt_loops){.f32 = swiglu_f32},
    .samples = "swiglu(f32[5,3]; f32[3])",
};

/* Global shapes: x[m,n] and weight[n], f32. Every rank sees the same, so all of them refuse alike. */
static dt_status rms_norm_shape(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0], *weight = &call->inputs[1];
    if (x->dtype != DT_F32 || weight->dtype != DT_F32)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected f32, got %s and %s", dt_dtype_name(x->dtype),
                            dt_dtype_name(weight->dtype));
    if (x->n_dims != 2 || weight->n_dims != 1 || x->shape[1] != weight->shape[0])
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a matrix and a weight for each of its columns");
    return dt_op_add_output(call, DT_F32, 2, x->shape);
}

/* Local tensors of one rank, which may be strided: y[i,j] = x[i,j] weight[j] / sqrt(mean of x[i,:]^2 + eps). */
static dt_status rms_norm_f32(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0], *weight = &call->inputs[1], *y = &call->outputs[0];
    const float *in = x->data, *w = weight->data;
    float *out = y->data;
    double eps = dt_op_arg_at(call, 0)->as.f;
    for (int64_t i = 0; i < x->shape[0]; i++) {
        double squares = 0;
        for (int64_t j = 0; j < x->shape[1]; j++)
            squares += pow((double)in[i * x->strides[0] + j * x->strides[1]], 2);
        double scale = 1 / sqrt(squares / (double)x->shape[1] + eps);
        for (int64_t j = 0; j < x->shape[1]; j++)
            out[i * y->strides[0] + j * y->strides[1]] =
                (float)(in[i * x->strides[0] + j * x->strides[1]] * scale * w[j * weight->strides[0]]);
    }
    return DT_OK;
}

/* Rows may be sharded; columns must not, because a row's mean needs all of them: "!" forbids it. */
static const dt_op rms_norm = {
    .schema = "rms_norm(Tensor x, Tensor weight, float eps=1e-06) -> Tensor",
    .varying = "eps", /* decisions do not depend on it */
    .rule = "mn!,n!->mn!",
    .shape = rms_norm_shape,
    .kernel = rms_norm_f32,
    .arguments = "eps", /* which the kernel reads by position */
    .samples = "rms_norm(f32[5,3]; f32[3])",
};

/* The same with a rule that claims too much. */
static const dt_op careless = {
    .schema = "careless(Tensor x, Tensor weight, float eps=1e-06) -> Tensor",
    .rule = "mn,n->mn",
    .shape = rms_norm_shape,
    .kernel = rms_norm_f32,
    .arguments = "eps",
    .samples = "careless(f32[5,3]; f32[3])",
};

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    bool first = dt_rank(ctx) == 0;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_op_register(ctx, &swiglu);
    dt_op_register(ctx, &rms_norm);
    dt_op_register(ctx, &careless);

    /* The verifier runs each row of a rule on simulated ranks and compares with one rank. */
    if (dt_op_verify(ctx, "careless") != DT_OK && first)
        printf("%.*s\n", (int)strcspn(dt_error_text(ctx), "\n"), dt_error_text(ctx));
    dt_error_clear(ctx);
    bool holds = dt_op_verify(ctx, "rms_norm") == DT_OK && dt_op_verify(ctx, "swiglu") == DT_OK;
    if (holds && first)
        printf("rms_norm and swiglu: every row of their rules holds\n");

    /* Sharded by rows, it runs where the rows are. Sharded by columns, x is moved first. */
    dt_tensor *rows = dt_randn(ctx, DT_SHAPE(7, 4), .mesh = mesh, .place = "S(0)");
    dt_tensor *columns = dt_redistribute(rows, "S(1)"), *weight = dt_ones(ctx, DT_SHAPE(4), .mesh = mesh);
    dt_comm_stats_begin(ctx);
    dt_tensor *y = dt_call(ctx, "rms_norm", rows, weight);
    int64_t for_rows = dt_comm_stats(ctx, &(dt_comm_filter){0}).n;
    dt_tensor *z = dt_call(ctx, "rms_norm", columns, weight);
    int64_t for_columns = dt_comm_stats(ctx, &(dt_comm_filter){0}).n - for_rows;
    dt_comm_stats_end(ctx);
    dt_tensor *gated = dt_call(ctx, "swiglu", y, rows);

    dt_tensor *full = dt_full_tensor(y);
    double sum = dt_item(dt_sum(gated));
    double difference = dt_item(dt_sum(dt_mul(dt_sub(y, z), dt_sub(y, z))));
    const float *values = dt_data(full);
    if (first && values) {
        printf("first row: %.4f %.4f %.4f %.4f\n", (double)values[0], (double)values[1], (double)values[2],
               (double)values[3]);
        printf("gated: %.4f in all\n", sum);
        printf("by rows and by columns: %s\n", difference == 0 ? "the same" : "different");
        printf("moved: %d collectives for rows, %d for columns\n", (int)for_rows, (int)for_columns);
    }
    dt_mesh_release(mesh);
    return dt_close(ctx);
}
