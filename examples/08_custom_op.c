/* SPDX-License-Identifier: Apache-2.0
 *
 * 8: an op of your own. An op is a descriptor: a signature, a function that checks shapes, a rule that states which
 * placements are correct, and a kernel that computes on the local tensors of one rank. The library does the rest: it
 * selects placements, moves inputs where it must, counts and traces. A rule can be wrong, so it is verified by brute
 * force. The first op here is elementwise, so that its loop is all there is to write; the second one is not: where the
 * rows that it normalizes are sharded, the ranks meet, which means that they exchange sums instead of rows.
 *
 *     $ dtrun -n 4 ./08_custom_op          # any number of ranks computes the same
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
static dt_status row_norm_shape(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0], *weight = &call->inputs[1];
    if (x->dtype != DT_F32 || weight->dtype != DT_F32)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected f32, got %s and %s", dt_dtype_name(x->dtype),
                            dt_dtype_name(weight->dtype));
    if (x->n_dims != 2 || weight->n_dims != 1 || x->shape[1] != weight->shape[0])
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a matrix and a weight for each of its columns");
    return dt_op_add_output(call, DT_F32, 2, x->shape);
}

/* y[i,j] = x[i,j] weight[j] / sqrt(mean of x[i,:]^2 + eps). Local tensors may be strided, and have some of the columns:
 * the sum of squares of a row is an argument, and the number of columns is the global one. */
static double squares_of(const dt_op_value *x, int64_t i) {
    const float *in = x->data;
    double squares = 0;
    for (int64_t j = 0; j < x->shape[1]; j++)
        squares += pow((double)in[i * x->strides[0] + j * x->strides[1]], 2);
    return squares;
}

static void scale_row(const dt_op_call *call, int64_t i, double squares) {
    const dt_op_value *x = &call->inputs[0], *weight = &call->inputs[1], *y = &call->outputs[0];
    const float *in = x->data, *w = weight->data;
    float *out = y->data;
    double scale = 1 / sqrt(squares / (double)x->global_shape[1] + dt_op_arg_at(call, 0)->as.f);
    for (int64_t j = 0; j < x->shape[1]; j++)
        out[i * y->strides[0] + j * y->strides[1]] =
            (float)(in[i * x->strides[0] + j * x->strides[1]] * scale * w[j * weight->strides[0]]);
}

static dt_status row_norm_f32(dt_op_call *call) {
    for (int64_t i = 0; i < call->inputs[0].shape[0]; i++)
        scale_row(call, i, squares_of(&call->inputs[0], i));
    return DT_OK;
}

/* Where columns are sharded: each rank begins with the squares of its shard, the sums of all ranks are merged, and each
 * rank finishes its shard of the result. A rank without columns has the identity, 0. */
static void describe_squares(const dt_op_call *call, dt_state *state) {
    state->n_fields = 1;
    state->fields[0] = (dt_state_field){.dtype = DT_F64, .n = call->inputs[0].shape[0], .identity = 0};
}

static dt_status begin_squares(dt_op_call *call, const dt_state *state) {
    double *squares = state->fields[0].data;
    for (int64_t i = 0; i < state->fields[0].n; i++)
        squares[i] = squares_of(&call->inputs[0], i);
    return DT_OK;
}

static void merge_squares(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    double *squares = into->fields[0].data;
    const double *more = next->fields[0].data;
    (void)call;
    for (int64_t i = 0; i < into->fields[0].n; i++)
        squares[i] += more[i];
}

static dt_status finish_rows(dt_op_call *call, const dt_state *merged) {
    const double *squares = merged->fields[0].data;
    for (int64_t i = 0; i < merged->fields[0].n; i++)
        scale_row(call, i, squares[i]);
    return DT_OK;
}

static const dt_meet norm_meet = {describe_squares, begin_squares, merge_squares, finish_rows};

/* Rows may be sharded, and so may columns, over which the ranks meet: "~". */
static const dt_op row_norm = {
    .schema = "row_norm(Tensor x, Tensor weight, float eps=1e-06) -> Tensor",
    .varying = "eps", /* decisions do not depend on it */
    .rule = "mn~,n->mn",
    .shape = row_norm_shape,
    .kernel = row_norm_f32,
    .meet = &norm_meet,
    .arguments = "eps", /* which the kernel reads by position */
    .samples = "row_norm(f32[5,3]; f32[3])",
};

/* row_norm with a rule that claims too much. */
static const dt_op careless = {
    .schema = "careless(Tensor x, Tensor weight, float eps=1e-06) -> Tensor",
    .rule = "mn,n->mn",
    .shape = row_norm_shape,
    .kernel = row_norm_f32,
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
    dt_op_register(ctx, &row_norm);
    dt_op_register(ctx, &careless);

    /* The verifier runs each row of a rule on simulated ranks and compares with one rank. */
    if (dt_op_verify(ctx, "careless") != DT_OK && first)
        printf("%.*s\n", (int)strcspn(dt_error_text(ctx), "\n"), dt_error_text(ctx));
    dt_error_clear(ctx);
    bool holds = dt_op_verify(ctx, "row_norm") == DT_OK && dt_op_verify(ctx, "swiglu") == DT_OK;
    if (holds && first)
        printf("row_norm and swiglu: every row of their rules holds\n");

    /* Sharded by rows, it runs where the rows are. Sharded by columns, the ranks meet. */
    dt_tensor *rows = dt_randn(ctx, DT_SHAPE(64, 512), .mesh = mesh, .place = "S(0)");
    dt_tensor *columns = dt_redistribute(rows, "S(1)"), *weight = dt_ones(ctx, DT_SHAPE(512), .mesh = mesh);
    dt_comm_stats_begin(ctx);
    dt_tensor *y = dt_call(ctx, "row_norm", rows, weight);
    int64_t for_rows = dt_comm_stats(ctx, &(dt_comm_filter){0}).n;
    dt_tensor *z = dt_call(ctx, "row_norm", columns, weight);
    dt_comm_statistics all = dt_comm_stats(ctx, &(dt_comm_filter){0});
    dt_comm_stats_end(ctx);
    dt_tensor *gated = dt_call(ctx, "swiglu", y, rows);

    dt_tensor *full = dt_full_tensor(y);
    double sum = dt_item(dt_sum(gated));
    double difference = dt_item(dt_sum(dt_mul(dt_sub(y, z), dt_sub(y, z))));
    const float *values = dt_data(full);
    if (first && values) {
        printf("first row: %.4f %.4f %.4f %.4f\n", (double)values[0], (double)values[1], (double)values[2],
               (double)values[3]);
        printf("gated: %.1f in all\n", sum);
        printf("by rows and by columns: %s\n", difference < 1e-6 ? "the same" : "different");
        printf("moved: %d exchanges for rows, %d of %d bytes for columns; the matrix has %d\n", (int)for_rows,
               (int)(all.n - for_rows), (int)all.bytes, 4 * 64 * 512);
    }
    dt_mesh_release(mesh);
    return dt_close(ctx);
}
