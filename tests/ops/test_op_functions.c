/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of dtensor/ops.h: each kind of argument reaches the op, defaults are those of the schema line, NULL
 * propagates, and errors have their texts. Values are those of one rank; ops on several ranks are tested
 * elsewhere.
 */
#include "support/check.h"

#include "dtensor/dtensor.h"

#include <math.h>
#include <string.h>

static dt_tensor *counting(dt_ctx *ctx, dt_shape shape) {
    int64_t n = 1;
    float values[64];
    for (int d = 0; d < shape.n; d++)
        n *= shape.sizes[d];
    for (int64_t i = 0; i < n; i++)
        values[i] = (float)(i + 1);
    return dt_from_memory(ctx, values, shape, DT_F32);
}

static double element_at(dt_tensor *tensor, int64_t i) {
    assert_non_null(tensor);
    tensor = dt_contiguous(tensor);
    switch (dt_tensor_dtype(tensor)) {
    case DT_F32:
        return (double)((float *)dt_data(tensor))[i];
    case DT_F64:
        return ((double *)dt_data(tensor))[i];
    case DT_I64:
        return (double)((int64_t *)dt_data(tensor))[i];
    default:
        return ((bool *)dt_data(tensor))[i];
    }
}

static void assert_values(dt_tensor *tensor, int64_t n, const double *expected) {
    assert_int_equal(dt_tensor_elements(tensor), n);
    for (int64_t i = 0; i < n; i++)
        if (fabs(element_at(tensor, i) - expected[i]) > 1e-6)
            fail_msg("element %d: expected %g, got %g", (int)i, expected[i], element_at(tensor, i));
}

#define assert_elements(tensor, ...)                                                                                 \
    assert_values(tensor, (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

static dt_ctx *ctx;

static int open_ctx(void **state) {
    (void)state;
    ctx = dt_init(NULL);
    return ctx ? 0 : -1;
}

static int close_ctx(void **state) {
    (void)state;
    return dt_close(ctx);
}

static void calls__positions_and_options(void **state) {
    (void)state;
    dt_tensor *x = counting(ctx, DT_SHAPE(2, 2));
    assert_elements(dt_sum(x), 10);
    assert_elements(dt_sum(x, .dim = DT_DIMS(0)), 4, 6);
    assert_elements(dt_sum(x, DT_DIMS(-1), true), 3, 7);
    assert_int_equal(dt_tensor_n_dims(dt_sum(x, DT_DIMS(-1), true)), 2);
    assert_int_equal(dt_tensor_dtype(dt_sum(x, .dtype = DT_F64)), DT_F64);
    assert_elements(dt_argmax(x), 3);
    assert_elements(dt_argmax(x, .dim = DT_INT(0)), 1, 1);
    assert_elements(dt_amax(x, .dim = DT_DIMS(1)), 2, 4);
    assert_elements(dt_cumsum(x, 0), 1, 2, 4, 6);
    assert_elements(dt_mean(x, .dim = DT_DIMS(1)), 1.5, 3.5);
}

static void calls__numbers_keep_their_kind(void **state) {
    (void)state;
    dt_tensor *x = counting(ctx, DT_SHAPE(2)), *n = dt_to(x, DT_I64);
    assert_elements(dt_add_scalar(x, 2), 3, 4);
    assert_elements(dt_add_scalar(x, 0.5), 1.5, 2.5);
    assert_int_equal(dt_tensor_dtype(dt_mul_scalar(n, 3)), DT_I64);
    assert_int_equal(dt_tensor_dtype(dt_mul_scalar(n, 3.0f)), DT_F32);
    assert_int_equal(dt_tensor_dtype(dt_mul_scalar(n, true)), DT_I64);
    assert_elements(dt_add(x, x, .alpha = DT_NUMBER(-1)), 0, 0);
    assert_elements(dt_add(x, x), 2, 4);
    assert_elements(dt_clamp(x, .max = DT_NUMBER(1)), 1, 1);
    assert_elements(dt_clamp_tensor(x, .min = dt_add_scalar(x, 1)), 2, 3);
    assert_elements(dt_div(x, x, .rounding_mode = "floor"), 1, 1);
    assert_elements(dt_eq_scalar(x, 2), 0, 1);
    assert_elements(dt_where_scalar_other(dt_eq_scalar(x, 2), x, 9), 9, 2);
}

static void calls__optional_tensors(void **state) {
    (void)state;
    dt_tensor *x = counting(ctx, DT_SHAPE(1, 2)), *w = counting(ctx, DT_SHAPE(2, 2)), *b = counting(ctx, DT_SHAPE(2));
    assert_elements(dt_linear(x, w), 5, 11);
    assert_elements(dt_linear(x, w, b), 6, 13);
    assert_elements(dt_linear(x, w, .bias = b), 6, 13);
    assert_elements(dt_matmul(x, w), 7, 10);
    assert_elements(dt_addmm(b, x, w, .beta = DT_NUMBER(0)), 7, 10);
}

static void calls__lists(void **state) {
    (void)state;
    dt_tensor *x = counting(ctx, DT_SHAPE(2, 2)), *parts[4];
    assert_elements(dt_cat(DT_TENSORS(x, x)), 1, 2, 3, 4, 1, 2, 3, 4);
    assert_elements(dt_cat(DT_TENSORS(x, x), .dim = DT_INT(1)), 1, 2, 1, 2, 3, 4, 3, 4);
    assert_int_equal(dt_split(x, 1, parts, 4), 2);
    assert_elements(parts[1], 3, 4);
    assert_int_equal(dt_split_sizes(x, DT_INTS(0, 2), parts, 4, .dim = DT_INT(1)), 2);
    assert_elements(parts[1], 1, 2, 3, 4);
    assert_int_equal(dt_split(x, 1, parts, 1), 2); /* capacity for one of them */
}

static void calls__views(void **state) {
    (void)state;
    dt_tensor *x = counting(ctx, DT_SHAPE(2, 2)), *t = dt_transpose(x, 0, 1);
    assert_elements(t, 1, 3, 2, 4);
    assert_true(dt_tensor_shares(t, x));
    assert_elements(dt_view(x, DT_SHAPE(-1)), 1, 2, 3, 4);
    assert_elements(dt_slice(x, 1, 1, 2, 1), 2, 4);
    assert_elements(dt_select(x, 0, -1), 3, 4);
    assert_elements(dt_expand(dt_select(x, 0, 0), DT_SHAPE(2, -1)), 1, 2, 1, 2);
}

static void calls__in_place(void **state) {
    (void)state;
    dt_tensor *x = counting(ctx, DT_SHAPE(2));
    assert_ptr_equal(dt_add_(x, x), x);
    assert_elements(x, 2, 4);
    assert_ptr_equal(dt_mul_scalar_(x, 2), x);
    assert_elements(x, 4, 8);
    assert_elements(dt_fill_(x, 1.5), 1.5, 1.5);
    assert_elements(dt_copy_(x, counting(ctx, DT_SHAPE(2))), 1, 2);
}

/* Integer arithmetic wraps around; comparing and clamping do not; a number that the dtype cannot represent is an
 * error, also when the decision for the call is cached. Values are PyTorch's, except for eq, which compares numbers.
 * */
static void calls__numbers_beyond_the_dtype(void **state) {
    (void)state;
    dt_ctx *other = dt_init(NULL);
    dt_tensor *bytes = dt_to(dt_from_memory(other, (float[]){2, 254, 6}, DT_SHAPE(3), DT_F32), DT_U8);
    dt_tensor *small = dt_to(dt_from_memory(other, (float[]){127, 44, -1}, DT_SHAPE(3), DT_F32), DT_I8);
    assert_elements(dt_to(dt_add_scalar(bytes, -3), DT_I64), 255, 251, 3);
    assert_elements(dt_to(dt_mul_scalar(bytes, -2), DT_I64), 252, 4, 244);
    assert_elements(dt_to(dt_add_scalar(small, 300), DT_I64), -85, 88, 43);
    assert_elements(dt_to(dt_div_scalar(small, 200, .rounding_mode = "floor"), DT_I64), -3, -1, 0);
    assert_elements(dt_eq_scalar(small, 300), false, false, false);
    assert_elements(dt_eq_scalar(small, 127), true, false, false);
    assert_elements(dt_eq_scalar(bytes, -2), false, false, false);
    assert_elements(dt_to(dt_clamp(small, .min = DT_NUMBER(-300), .max = DT_NUMBER(300)), DT_I64), 127, 44, -1);
    assert_elements(dt_to(dt_fill_(bytes, -2), DT_I64), 254, 254, 254);
    for (int i = 0; i < 2; i++) {
        assert_non_null(dt_fill_(small, 5));
        assert_null(dt_fill_(small, 300));
        assert_error_contains(other, DT_ERR_VALUE,
                              "fill_: i8[3]: 300 does not fit i8: expected a number from -128 to 127");
        dt_error_clear(other);
        assert_null(dt_fill_(small, (double)NAN));
        assert_error_contains(other, DT_ERR_VALUE, "does not fit i8");
        dt_error_clear(other);
        assert_non_null(dt_where_scalar_other(dt_eq_scalar(small, 5), small, 5));
        assert_null(dt_where_scalar_other(dt_eq_scalar(small, 5), small, 128));
        assert_error_contains(other, DT_ERR_VALUE, "128 does not fit i8");
        dt_error_clear(other);
    }
    assert_elements(dt_to(small, DT_I64), 5, 5, 5);
    dt_tensor *square = dt_to(dt_ones(other, DT_SHAPE(2, 2)), DT_I64);
    assert_null(dt_addmm(square, square, square, .alpha = DT_NUMBER(0.5)));
    assert_error_contains(other, DT_ERR_DTYPE, "alpha: expected an integer, as the tensors are");
    dt_error_clear(other);
    dt_close(other);
}

static void calls__on_a_mesh_of_one(void **state) {
    (void)state;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=1");
    dt_tensor *x = dt_distribute_tensor(counting(ctx, DT_SHAPE(2, 2)), mesh, "S(0)");
    dt_tensor *y = dt_sum(dt_matmul(x, x), .dim = DT_DIMS(0));
    assert_non_null(dt_tensor_spec(y));
    assert_elements(dt_full_tensor(y), 22, 32);
    dt_mesh_release(mesh);
}

/* A context of its own, because the first error is kept. */
static void calls__null_propagates(void **state) {
    (void)state;
    dt_ctx *other = dt_init(NULL);
    dt_tensor *x = counting(other, DT_SHAPE(2, 3));
    assert_null(dt_gelu(dt_matmul(x, x)));
    assert_error_contains(other, DT_ERR_SHAPE, "matmul: f32[2,3]; f32[2,3]: inner dimensions differ: 3 and 2");
    dt_error_clear(other);
    assert_null(dt_matmul(x, NULL));
    assert_error_contains(other, DT_ERR_VALUE, "argument 2 of matmul is NULL");
    dt_error_clear(other);
    assert_null(dt_gelu(NULL));
    assert_false(dt_failed(other));
    assert_null(dt_add(x, counting(ctx, DT_SHAPE(2, 3))));
    assert_error_contains(other, DT_ERR_STATE, "tensor 2 belongs to another context");
    dt_error_clear(other);
    dt_tensor *overlapping = dt_as_strided(counting(other, DT_SHAPE(4)), DT_SHAPE(3, 2), DT_INTS(1, 1), 0);
    assert_null(dt_add_scalar_(overlapping, 1));
    assert_error_contains(other, DT_ERR_STATE, "cannot write to f32[3,2]: two indices may share an element");
    dt_error_clear(other);
    dt_tensor *parts[1];
    assert_null(dt_cat(DT_TENSORS(x, NULL)));
    assert_error_contains(other, DT_ERR_VALUE, "argument 2 of cat is NULL");
    dt_error_clear(other);
    assert_int_equal(dt_split(x, -1, parts, 1), -1);
    dt_error_clear(other);
    assert_int_equal(dt_close(other), 0);
}

static void calls__several_outputs(void **state) {
    (void)state;
    dt_ctx *own = dt_init(NULL);
    dt_tensor *x = dt_reshape(dt_arange(own, 0, 6, 1), DT_SHAPE(2, 3));
    dt_max_dim_result most = dt_max_dim(x, 1, .keepdim = true);
    assert_int_equal(dt_tensor_n_dims(most.values), 2);
    assert_true(((float *)dt_data(most.values))[1] == 5 && ((int64_t *)dt_data(most.indices))[1] == 2);
    dt_topk_result best = dt_topk(x, 2, .largest = DT_FALSE);
    assert_true(((float *)dt_data(best.values))[3] == 4 && ((int64_t *)dt_data(best.indices))[3] == 1);
    dt_var_mean_result moments = dt_var_mean(x, .dim = DT_DIMS(0), .unbiased = DT_FALSE);
    assert_true(((float *)dt_data(moments.var))[0] == 2.25f && ((float *)dt_data(moments.mean))[0] == 1.5f);
    moments.var = dt_var_mean_correction(x, .correction = DT_NUMBER(0)).var;
    assert_true(((float *)dt_data(moments.var))[0] == 35.0f / 12);
    best = dt_topk(x, 4);
    assert_true(!best.values && !best.indices);
    assert_error_contains(own, DT_ERR_VALUE, "k: expected 0 to 3, the size of dim 1, got 4");
    dt_error_clear(own);
    most = dt_max_dim(NULL, 0);
    assert_true(!most.values && !most.indices && !dt_failed(own));
    assert_int_equal(dt_close(own), 0);
}

static void calls__lists_with_none(void **state) {
    (void)state;
    dt_ctx *own = dt_init(NULL);
    dt_tensor *x = dt_reshape(dt_arange(own, 0, 24, 1), DT_SHAPE(2, 3, 4));
    dt_tensor *i = dt_from_memory(own, (int64_t[]){1, 0}, DT_SHAPE(2), DT_I64);
    dt_tensor *j = dt_from_memory(own, (int64_t[]){-1, 2}, DT_SHAPE(2), DT_I64);
    dt_tensor *apart = dt_index(x, DT_TENSORS(i, NULL, j)), *beside = dt_index(x, DT_TENSORS(NULL, i, j));
    assert_int_equal(dt_tensor_size(apart, 0), 2); /* [2,3]: x[i[k],:,j[k]] */
    assert_int_equal(dt_tensor_size(apart, 1), 3);
    assert_true(((float *)dt_data(apart))[1] == 12 + 4 + 3 && ((float *)dt_data(apart))[5] == 8 + 2);
    assert_true(((float *)dt_data(beside))[0] == 4 + 3 && ((float *)dt_data(beside))[3] == 12 + 2); /* [2,2] */
    assert_null(dt_index(x, DT_TENSORS(NULL, NULL)));
    assert_error_contains(own, DT_ERR_VALUE, "expected at least one index, got none");
    dt_error_clear(own);
    assert_null(dt_index(x, DT_TENSORS(dt_to(i, DT_BOOL))));
    assert_error_contains(own, DT_ERR_UNSUPPORTED, "indices of dtype bool");
    dt_error_clear(own);
    assert_null(dt_index(x, DT_TENSORS(NULL, NULL, dt_add_scalar(j, 5))));
    assert_error_contains(own, DT_ERR_VALUE, "index 4 is out of range for dim 2: expected -4 to 3");
    dt_error_clear(own);
    assert_int_equal(dt_close(own), 0);
}

enum { MANY = 500 };

/* More tensors than a call has space for. */
static bool join_and_split(dt_ctx *own) {
    dt_tensor *many[MANY], *parts[MANY];
    for (int i = 0; i < MANY; i++)
        if (!(many[i] = dt_full(own, DT_SHAPE(2), (double)i)))
            return false;
    dt_tensor *all = dt_cat(((dt_tensors){MANY, many}));
    if (!all || dt_split(all, 2, parts, MANY) != MANY)
        return false;
    for (int i = 0; i < MANY; i++) {
        assert_true(((float *)dt_data(parts[i]))[1] == (float)i);
        assert_true(dt_tensor_shares(parts[i], all));
    }
    return true;
}

static void calls__any_number_of_tensors(void **state) {
    (void)state;
    dt_ctx *own = dt_init(NULL);
    dt_tensor *parts[3] = {NULL};
    assert_true(join_and_split(own));
    assert_int_equal(dt_split(dt_zeros(own, DT_SHAPE(100)), 1, parts, 3), 100);
    assert_non_null(parts[2]);
    assert_int_equal(dt_close(own), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls__positions_and_options),
        cmocka_unit_test(calls__numbers_keep_their_kind),
        cmocka_unit_test(calls__optional_tensors),
        cmocka_unit_test(calls__lists),
        cmocka_unit_test(calls__any_number_of_tensors),
        cmocka_unit_test(calls__several_outputs),
        cmocka_unit_test(calls__lists_with_none),
        cmocka_unit_test(calls__views),
        cmocka_unit_test(calls__in_place),
        cmocka_unit_test(calls__numbers_beyond_the_dtype),
        cmocka_unit_test(calls__on_a_mesh_of_one),
        cmocka_unit_test(calls__null_propagates),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
