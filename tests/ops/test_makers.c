/* SPDX-License-Identifier: Apache-2.0
 *
 * Makers as ops: dtypes by the types of numbers, exact integers, numbers that vary without a new decision, and calls by
 * name. Their values and shards are in tests/tensor/test_make.c.
 */
#include "dtensor/debug.h"
#include "dtensor/dtensor.h"
#include "support/check.h"
#include "tensor/tensors.h"

#include <math.h>

static int64_t integer(const dt_tensor *tensor, int64_t i) { return ((const int64_t *)dt_data(tensor))[i]; }

/* No integer is rounded to a double on its way. */
static void integers__are_exact(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    int64_t big = INT64_C(1) << 60;
    dt_tensor *up = dt_arange(ctx, big + 1, big + 8, 3, .dtype = DT_I64);
    assert_int_equal(dt_tensor_elements(up), 3);
    for (int64_t i = 0; i < 3; i++)
        assert_int_equal(integer(up, i), big + 1 + 3 * i);
    dt_tensor *down = dt_arange(ctx, INT64_MAX, INT64_MAX - 5, -2, .dtype = DT_I64);
    assert_int_equal(dt_tensor_elements(down), 3);
    for (int64_t i = 0; i < 3; i++)
        assert_int_equal(integer(down, i), INT64_MAX - 2 * i);
    dt_tensor *all = dt_arange(ctx, INT64_MIN, INT64_MAX, INT64_MAX, .dtype = DT_I64);
    assert_int_equal(dt_tensor_elements(all), 3);
    assert_true(integer(all, 0) == INT64_MIN && integer(all, 1) == -1 && integer(all, 2) == INT64_MAX - 1);
    assert_null(dt_arange(ctx, INT64_MIN, INT64_MAX, 1, .dtype = DT_I64));
    assert_error_contains(ctx, DT_ERR_SHAPE, "more than 2^63 - 1 bytes");
    dt_error_clear(ctx);
    assert_int_equal(dt_item_i64(dt_full(ctx, DT_SHAPE(), INT64_MAX, .dtype = DT_I64)), INT64_MAX);
    assert_int_equal(dt_item_i64(dt_full_like(dt_zeros(ctx, DT_SHAPE(1), .dtype = DT_I64), INT64_MIN)), INT64_MIN);
    assert_int_equal(dt_close(ctx), 0);
}

/* A length is one decision, whatever the numbers; what no integer holds is refused on hits as on misses. */
static void numbers__vary_without_a_new_decision(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    assert_non_null(dt_arange(ctx, 0, 5, 1));
    assert_non_null(dt_full(ctx, DT_SHAPE(2), 1, .dtype = DT_U8));
    int64_t n_misses = dt_cache_stats(ctx).n_misses;
    for (int64_t i = 0; i < 1000; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *x = dt_arange(ctx, i, i + 10, 2);
        assert_int_equal(dt_tensor_elements(x), 5);
        assert_true(((const float *)dt_data(x))[4] == (float)(i + 8));
        dt_tensor *y = dt_full(ctx, DT_SHAPE(2), i, .dtype = DT_U8);
        if (i < 256)
            assert_int_equal(((const uint8_t *)dt_data(y))[1], i);
        else {
            assert_null(y);
            assert_error_contains(ctx, DT_ERR_VALUE, "does not fit u8: expected a number from 0 to 255");
            dt_error_clear(ctx);
        }
        dt_scope_end(scope);
    }
    assert_int_equal(dt_cache_stats(ctx).n_misses, n_misses);
    assert_int_equal(dt_tensor_elements(dt_arange(ctx, 0, 7, 1)), 7);
    assert_int_equal(dt_cache_stats(ctx).n_misses, n_misses + 1);
    assert_int_equal(dt_close(ctx), 0);
}

static dt_tensor *run(dt_ctx *ctx, const char *name, int n, const dt_op_argument *arguments) {
    dt_tensor *outputs[4];
    int n_outputs = 0;
    dt_status status = dt_op_run(ctx, name, n, arguments, NULL, outputs, 4, &n_outputs);
    return status == DT_OK && n_outputs == 1 ? outputs[0] : NULL;
}

/* The functions of C make f32 unless the options state a dtype; a call by name infers it. */
static void dtypes__follow_the_numbers_by_name(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    const dt_op_argument seven = {.value = {.type = DT_ARG_INT, .as.i = 7}};
    const dt_op_argument half = {.value = {.type = DT_ARG_FLOAT, .as.f = 0.5}};
    const dt_op_argument yes = {.value = {.type = DT_ARG_BOOL, .as.b = true}};
    const dt_op_argument pair = {.value = {.type = DT_ARG_INTS, .n = 2, .as.ints = (const int64_t[]){2, 3}}};
    assert_int_equal(dt_tensor_dtype(run(ctx, "arange", 1, &seven)), DT_I64);
    assert_int_equal(dt_tensor_dtype(run(ctx, "arange", 2, (dt_op_argument[]){half, seven})), DT_F32);
    assert_int_equal(dt_tensor_dtype(run(ctx, "full", 2, (dt_op_argument[]){pair, yes})), DT_BOOL);
    assert_int_equal(dt_tensor_dtype(run(ctx, "full", 2, (dt_op_argument[]){pair, seven})), DT_I64);
    assert_int_equal(dt_tensor_dtype(run(ctx, "zeros", 1, &pair)), DT_F32);
    assert_int_equal(dt_tensor_dtype(dt_arange(ctx, 0, 7, 1)), DT_F32);
    assert_int_equal(dt_tensor_dtype(dt_full(ctx, DT_SHAPE(2), 7)), DT_F32);
    dt_tensor *item = run(ctx, "item", 1, &(dt_op_argument){.tensor = dt_full(ctx, DT_SHAPE(1, 1), 2.5)});
    assert_true(item && dt_tensor_n_dims(item) == 0 && dt_item(item) == 2.5);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers__are_exact),
        cmocka_unit_test(numbers__vary_without_a_new_decision),
        cmocka_unit_test(dtypes__follow_the_numbers_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
