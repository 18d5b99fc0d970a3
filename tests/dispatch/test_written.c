/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors that an op writes, as its schema line states: any argument, in lists too, returned or not. They keep their
 * placements and count a version; other inputs that overlap them are copied first.
 */
#include "dispatch/calls.h"
#include "support/ranks.h"

/* track_(x, mean!, counts![]): mean += x; each of counts += 1; returns -x and mean. */
static dt_status track_shape(dt_op_call *call) {
    for (int i = 0; i < 2; i++)
        if (call->inputs[i].n_dims != 1 || call->inputs[i].dtype != DT_F32 ||
            call->inputs[i].shape[0] != call->inputs[0].shape[0])
            return dt_op_refuse(call, DT_ERR_SHAPE, "expected f32 vectors of one size");
    DT__TRY(dt_op_add_output(call, DT_F32, 1, call->inputs[0].shape));
    return dt_op_add_output(call, DT_F32, 1, call->inputs[0].shape);
}

static dt_status track_kernel(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0], *mean = &call->inputs[1];
    for (int64_t i = 0; i < x->shape[0]; i++) {
        ((float *)call->outputs[0].data)[i] = -((float *)x->data)[i * x->strides[0]];
        ((float *)call->outputs[1].data)[i] += ((float *)x->data)[i * x->strides[0]];
    }
    for (int c = 2; c < call->n_inputs; c++)
        ((float *)call->inputs[c].data)[0] += 1;
    return mean->data == call->outputs[1].data ? DT_OK : DT_ERR_INTERNAL;
}

static void track_rows(const dt_op_call *call, dt_rows *rows) {
    dt_row_entry entries[16] = {DT_ROW_S(0), DT_ROW_S(0)};
    entries[call->n_inputs] = entries[call->n_inputs + 1] = DT_ROW_S(0);
    dt_rows_add(rows, 0, entries);
}

static const dt_op track = {
    .schema = "track(Tensor self, Tensor(a!) mean, Tensor(b!)[] counts) -> (Tensor, Tensor(a!) mean)",
    .shape = track_shape,
    .kernel = track_kernel,
    .rows = track_rows,
};

static dt_status run_track(dt_ctx *ctx, dt_tensor *x, dt_tensor *mean, int n, dt_tensor *const *counts,
                           dt_tensor **outputs) {
    int n_outputs;
    dt_op_argument arguments[] = {{.tensor = x}, {.tensor = mean}, {.n_tensors = n, .tensors = counts}};
    return dt_op_run(ctx, "track", 3, arguments, NULL, outputs, 2, &n_outputs);
}

static int on_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    dt_tensor *outputs[2];
    CHECK_OK(ctx, dt_op_register(ctx, &track));
    for (int again = 0; again < 2; again++) {
        dt_tensor *x = dt_ones(ctx, DT_SHAPE(7), .mesh = mesh, .place = "R");
        dt_tensor *mean = dt_full(ctx, DT_SHAPE(7), 3.0, .mesh = mesh, .place = "S(0)");
        dt_tensor *counts[] = {dt_zeros(ctx, DT_SHAPE(1), .mesh = mesh, .place = "R"),
                               dt_ones(ctx, DT_SHAPE(1), .mesh = mesh, .place = "R")};
        dt_spec *spec = dt_tensor_spec(mean);
        uint64_t version = mean->storage->version, count_version = counts[1]->storage->version;
        CHECK_OK(ctx, run_track(ctx, x, mean, 2, counts, outputs));
        CHECK(outputs[1] == mean && dt_tensor_spec(mean) == spec, "mean is not returned as it is");
        CHECK(mean->storage->version == version + 1, "the version of mean");
        CHECK(counts[1]->storage->version == count_version + 1, "the version of a count");
        dt_tensor *full = dt_full_tensor(mean), *negative = dt_full_tensor(outputs[0]);
        for (int i = 0; i < 7; i++)
            CHECK(((float *)dt_data(full))[i] == 4 && ((float *)dt_data(negative))[i] == -1, "element %d", i);
        CHECK(((float *)dt_data(counts[0]))[0] == 1 && ((float *)dt_data(counts[1]))[0] == 2, "the counts");
    }
    if (dt_world(ctx) > 1) { /* where no row keeps it, nothing is written */
        dt_tensor *x = dt_ones(ctx, DT_SHAPE(7), .mesh = mesh, .place = "R");
        dt_tensor *mean = dt_ones(ctx, DT_SHAPE(7), .mesh = mesh, .place = "P(sum)");
        CHECK(run_track(ctx, x, mean, 0, &mean, outputs) == DT_ERR_PLACEMENT, "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

static void written__keep_their_placements(void **state) {
    (void)state;
    for (int n = 1; n <= 5; n += 2)
        run_ranks(n, on_ranks, NULL);
}

/* A rank without elements writes nothing twice, whatever its strides are. */
static int write_to_empty_shards(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *base = dt_full(ctx, DT_SHAPE(5, 4, 6), 1.5, .mesh = mesh, .place = "S(1)");
    dt_tensor *view = dt_slice(base, 2, 1, 5, 2); /* [5,4,2]: of 3 ranks, the last one holds nothing of dim 1 */
    CHECK(dt_floor_(view), "%s", dt_error_text(ctx));
    CHECK(dt_item(dt_sum(base)) == 1.5 * 5 * 4 * 6 - 0.5 * 5 * 4 * 2, "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void written__views_may_be_empty_on_some_ranks(void **state) {
    (void)state;
    for (int n = 1; n <= 5; n++)
        run_ranks(n, write_to_empty_shards, NULL);
}

static void written__inputs_that_overlap_are_copied(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *outputs[2];
    assert_int_equal(dt_op_register(ctx, &track), DT_OK);
    dt_tensor *all = dt_arange(ctx, 0, 5, 1);
    dt_tensor *x = dt_narrow(all, 0, 0, 4), *mean = dt_narrow(all, 0, 1, 4);
    assert_int_equal(run_track(ctx, x, mean, 0, &all, outputs), DT_OK);
    static const float expected[] = {0, 1, 3, 5, 7}; /* read before they were written */
    for (int i = 0; i < 5; i++)
        assert_true(((float *)dt_data(all))[i] == expected[i]);
    dt_tensor *repeated = dt_expand(dt_ones(ctx, DT_SHAPE(1)), DT_SHAPE(4));
    assert_int_equal(run_track(ctx, x, repeated, 0, &all, outputs), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "two indices may share an element");
    dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written__keep_their_placements),
        cmocka_unit_test(written__views_may_be_empty_on_some_ranks),
        cmocka_unit_test(written__inputs_that_overlap_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
