/* SPDX-License-Identifier: Apache-2.0
 *
 * DLPack: exported tensors, imported memory, and when deleters are called. test_numpy_dlpack.py does the same with
 * NumPy.
 */
#include "tensor/tensors.h"

#include <stdlib.h>

static int64_t n_blocks(dt_ctx *ctx) { return dt_heap_stats(ctx).n_live; }

static void exported__lives_until_its_deleter_is_called(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *t = dt_arange(ctx, 0, 12, 1);
    dt_tensor *view = dt_transpose(dt_narrow(dt_view(t, DT_SHAPE(3, 4)), 1, 1, 2), 0, 1);
    dt_dlpack_managed *m = dt_to_dlpack(view);
    assert_int_equal(m->tensor.n_dims, 2);
    assert_true(m->tensor.shape[0] == 2 && m->tensor.shape[1] == 3);
    assert_true(m->tensor.strides[0] == 1 && m->tensor.strides[1] == 4);
    assert_true(m->tensor.device.type == 1 && m->tensor.device.number == 0 && m->tensor.byte_offset == 0);
    assert_true(m->tensor.dtype.code == 2 && m->tensor.dtype.bits == 32 && m->tensor.dtype.lanes == 1);
    dt_dlpack_versioned *v = dt_to_dlpack_versioned(t);
    assert_true(v->major == 1 && v->flags == 0 && v->tensor.n_dims == 1);
    dt_drop(view);
    dt_scope_end(dt_scope_begin(ctx));
    dt_drop(t);
    assert_true(n_blocks(ctx) == 1 && ((float *)m->tensor.data)[4] == 5);
    m->deleter(m);
    assert_int_equal(n_blocks(ctx), 1);
    v->deleter(v);
    assert_int_equal(n_blocks(ctx), 1); /* the intermediate views are still in the scope of the context */
    assert_null(dt_to_dlpack(NULL));
    assert_null(dt_to_dlpack_versioned(NULL));
    assert_int_equal(dt_close(ctx), 0);
}

static void all_dtypes__round_trip(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    for (dt_dtype dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++) {
        dt_tensor *t = dt_arange(ctx, 0, 6, 1, .dtype = dtype);
        dt_dlpack_managed *m = dt_to_dlpack(t);
        assert_int_equal(m->tensor.dtype.bits, 8 * dt_dtype_size(dtype));
        dt_tensor *again = dt_from_dlpack(ctx, m);
        assert_true(tensors_equal(again, t) && dt_data(again) == dt_data(t));
        dt_drop(t);
        assert_int_equal(n_blocks(ctx), 1);
        dt_drop(again); /* calls the deleter, which drops the storage */
        assert_int_equal(n_blocks(ctx), 0);
        t = dt_scalar(ctx, 1, .dtype = dtype);
        again = dt_from_dlpack_versioned(ctx, dt_to_dlpack_versioned(t));
        assert_true(tensors_equal(again, t));
        dt_drop(t);
        dt_drop(again);
        assert_int_equal(n_blocks(ctx), 0);
    }
    assert_int_equal(dt_close(ctx), 0);
}

static int n_deleted;
static void count_plain(dt_dlpack_managed *self) {
    (void)self;
    n_deleted++;
}
static void count_versioned(dt_dlpack_versioned *self) {
    (void)self;
    n_deleted++;
}

static void borrowed__is_read_with_its_strides(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    float memory[12];
    int64_t shape[2] = {2, 3}, strides[2] = {-6, 2};
    for (int i = 0; i < 12; i++)
        memory[i] = (float)i;
    dt_dlpack_managed m = {.tensor = {.data = memory,
                                      .device = {1, 0},
                                      .n_dims = 2,
                                      .dtype = {2, 32, 1},
                                      .shape = shape,
                                      .strides = strides,
                                      .byte_offset = 7 * sizeof(float)},
                           .deleter = count_plain};
    n_deleted = 0;
    dt_tensor *t = dt_from_dlpack(ctx, &m);
    for (int64_t i = 0; i < 2; i++)
        for (int64_t k = 0; k < 3; k++)
            assert_true(*(const float *)(const void *)tensors_at(t, (int64_t[]){i, k}) == (float)(7 - 6 * i + 2 * k));
    dt_tensor *row = dt_select(t, 0, 1);
    dt_drop(t);
    assert_int_equal(n_deleted, 0);
    dt_drop(row);
    assert_int_equal(n_deleted, 1);
    m.tensor.strides = NULL;
    t = dt_from_dlpack(ctx, &m);
    assert_true(dt_item(dt_select(dt_select(t, 0, 1), 0, 1)) == 11);
    shape[0] = 0;
    m.tensor.data = NULL;
    assert_int_equal(dt_tensor_elements(dt_from_dlpack(ctx, &m)), 0);
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(n_deleted, 3); /* two with the context */
}

/* A stride of a dim with one element, or of a tensor with none, may be anything; views multiply strides. */
static void unused_strides__are_not_followed(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    float memory[6] = {1, 2, 3, 4, 5, 6};
    int64_t shape[2] = {1, 3}, strides[2] = {INT64_MAX, 2};
    dt_dlpack_managed m = {.tensor = {memory, {1, 0}, 2, {2, 32, 1}, shape, strides, 0}};
    dt_tensor *t = dt_from_dlpack(ctx, &m);
    assert_true(dt_item(dt_sum(t)) == 9);
    assert_int_equal(dt_tensor_elements(dt_narrow(t, 0, 1, 0)), 0); /* begins a stride after the last element */
    assert_true(llabs(dt_tensor_strides(t)[0]) <= 6);
    shape[1] = 0;
    strides[1] = INT64_MIN;
    t = dt_from_dlpack(ctx, &m);
    assert_int_equal(dt_tensor_elements(dt_narrow(t, 0, 1, 0)), 0);
    assert_int_equal(dt_close(ctx), 0);
}

static void assert_refused(dt_ctx *ctx, const dt_tensor *result, dt_status status, const char *local) {
    assert_null(result);
    assert_error_contains(ctx, status, local);
    dt_error_clear(ctx);
}

static void unsupported__is_refused_and_still_owned_by_the_caller(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    float memory[6] = {1, 2, 3, 4, 5, 6};
    int64_t shape[2] = {2, 3};
    dt_dlpack_managed m = {.tensor = {memory, {2, 0}, 2, {2, 32, 1}, shape, NULL, 0}, .deleter = count_plain};
    n_deleted = 0;
    assert_refused(ctx, dt_from_dlpack(ctx, &m), DT_ERR_UNSUPPORTED, "wrong device type: expected 1 (host), got 2");
    m.tensor.device.type = 1;
    m.tensor.dtype.lanes = 4;
    assert_refused(ctx, dt_from_dlpack(ctx, &m), DT_ERR_DTYPE, "code 2, 32 bits, 4 lanes");
    m.tensor.dtype = (dt_dlpack_dtype){1, 16, 1};
    assert_refused(ctx, dt_from_dlpack(ctx, &m), DT_ERR_DTYPE, "code 1, 16 bits, 1 lanes");
    m.tensor.dtype = (dt_dlpack_dtype){2, 32, 1};
    shape[1] = -1;
    assert_refused(ctx, dt_from_dlpack(ctx, &m), DT_ERR_SHAPE, "negative size");
    shape[1] = 3;
    m.tensor.n_dims = 40;
    assert_refused(ctx, dt_from_dlpack(ctx, &m), DT_ERR_SHAPE, "got 40");
    m.tensor.n_dims = 2;
    m.tensor.strides = (int64_t[]){INT64_MAX, INT64_MAX};
    assert_refused(ctx, dt_from_dlpack(ctx, &m), DT_ERR_SHAPE, "span more than 2^63 - 1 bytes");
    m.tensor.strides = (int64_t[]){INT64_MAX, -(INT64_MAX / 2)}; /* from -(2^63 - 2) to 2^63 - 1 */
    assert_refused(ctx, dt_from_dlpack(ctx, &m), DT_ERR_SHAPE, "span more than 2^63 - 1 bytes");
    m.tensor.strides = NULL;
    static const uint64_t offsets[] = {UINT64_MAX, UINT64_MAX - 3, (uint64_t)INT64_MAX * 2 - 40};
    for (int i = 0; i < 3; i++) {
        m.tensor.byte_offset = offsets[i];
        assert_refused(ctx, dt_from_dlpack(ctx, &m), DT_ERR_SHAPE, "outside the address space");
    }
    m.tensor.byte_offset = 0;
    m.tensor.strides = (int64_t[]){-((int64_t)1 << 60), 1}; /* from below the first address */
    assert_refused(ctx, dt_from_dlpack(ctx, &m), DT_ERR_SHAPE, "outside the address space");
    m.tensor.strides = NULL;
    m.tensor.data = NULL;
    assert_refused(ctx, dt_from_dlpack(ctx, &m), DT_ERR_VALUE, "the memory of 6 elements is NULL");
    assert_refused(ctx, dt_from_dlpack(ctx, NULL), DT_ERR_VALUE, "argument 2 of from_dlpack is NULL");
    assert_null(dt_from_dlpack(NULL, &m));
    dt_dlpack_versioned v = {2, 0, NULL, count_versioned, 0, {memory, {1, 0}, 2, {2, 32, 1}, shape, NULL, 0}};
    assert_refused(ctx, dt_from_dlpack_versioned(ctx, &v), DT_ERR_UNSUPPORTED, "wrong version: expected 1, got 2.0");
    assert_refused(ctx, dt_from_dlpack_versioned(ctx, NULL), DT_ERR_VALUE, "argument 2");
    assert_int_equal(n_deleted, 0);
    /* Read-only memory is copied, and released at once. */
    v.major = 1;
    v.flags = 1;
    dt_tensor *t = dt_from_dlpack_versioned(ctx, &v);
    assert_int_equal(n_deleted, 1);
    assert_true(dt_data(t) != memory && ((float *)dt_data(t))[5] == 6);
    /* A distributed tensor exports its local tensor. */
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    dt_dlpack_managed *local = dt_to_dlpack(dt_ones(ctx, DT_SHAPE(4), .mesh = mesh, .place = "S(0)"));
    assert_true(local->tensor.shape[0] == 4 && ((float *)local->tensor.data)[3] == 1);
    local->deleter(local);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exported__lives_until_its_deleter_is_called),
        cmocka_unit_test(all_dtypes__round_trip),
        cmocka_unit_test(borrowed__is_read_with_its_strides),
        cmocka_unit_test(unused_strides__are_not_followed),
        cmocka_unit_test(unsupported__is_refused_and_still_owned_by_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
