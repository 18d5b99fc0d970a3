/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise ops of a program: loops over contiguous elements, which the library runs on local tensors of any strides,
 * broadcast and converted; with several outputs, many inputs, and in-place twins.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <math.h>
#include <string.h>

static void polar_f32(int64_t n, const void *const *in, void *const *out, const dt_op_call *call) {
    const float *x = in[0], *y = in[1];
    float *length = out[0], *angle = out[1];
    (void)call;
    for (int64_t i = 0; i < n; i++) {
        length[i] = sqrtf(x[i] * x[i] + y[i] * y[i]);
        angle[i] = atan2f(y[i], x[i]);
    }
}

static void polar_f64(int64_t n, const void *const *in, void *const *out, const dt_op_call *call) {
    const double *x = in[0], *y = in[1];
    double *length = out[0], *angle = out[1];
    (void)call;
    for (int64_t i = 0; i < n; i++) {
        length[i] = sqrt(x[i] * x[i] + y[i] * y[i]);
        angle[i] = atan2(y[i], x[i]);
    }
}

static const dt_op polar = {
    .schema = "polar(Tensor x, Tensor y) -> (Tensor length, Tensor angle)",
    .rule = "..., ... -> ..., ...",
    .shape = dt_op_broadcast,
    .kernel = dt_op_elementwise,
    .family = &(const dt_loops){.f32 = polar_f32, .f64 = polar_f64},
    .samples = "polar(f32[5,3]; f32[3])\npolar(f64[5,1]; f64[3])\npolar(f32[]; f32[0,2])",
};

/* a * b + c * d - e, times a number. */
static void mixed_i64(int64_t n, const void *const *in, void *const *out, const dt_op_call *call) {
    const int64_t *a = in[0], *b = in[1], *c = in[2], *d = in[3], *e = in[4];
    int64_t *y = out[0], factor = dt_op_arg_at(call, 0)->as.i;
    for (int64_t i = 0; i < n; i++)
        y[i] = factor * (a[i] * b[i] + c[i] * d[i] - e[i]);
}

static const dt_op mixed = {
    .schema = "mixed(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, int factor=1) -> Tensor",
    .rule = "..., ..., ..., ..., ... -> ...",
    .shape = dt_op_broadcast,
    .kernel = dt_op_elementwise,
    .family = &(const dt_loops){.i64 = mixed_i64},
    .arguments = "factor",
    .samples = "mixed(i64[5,3]; i64[3]; i64[1]; i64[5,1]; i64[]; 3)",
};
static const dt_op mixed_ = {.in_place_of = &mixed,
                             .samples = "mixed_(i64[5,3]; i64[3]; i64[1]; i64[5,1]; i64[]; 3)"};

static void sigmoid_f32(int64_t n, const void *const *in, void *const *out, const dt_op_call *call) {
    const float *x = in[0];
    float *y = out[0];
    (void)call;
    for (int64_t i = 0; i < n; i++)
        y[i] = 1 / (1 + expf(-x[i]));
}

static const dt_op own_sigmoid = {
    .schema = "own_sigmoid(Tensor x) -> Tensor",
    .rule = "... -> ...",
    .partial = DT_PARTIAL_UP,
    .shape = dt_op_broadcast,
    .kernel = dt_op_elementwise,
    .family = &(const dt_loops){.f32 = sigmoid_f32},
    .samples = "own_sigmoid(f32[5,3])\nown_sigmoid(i32[4])\nown_sigmoid(f16[4])",
};
static const dt_op own_sigmoid_ = {.in_place_of = &own_sigmoid, .samples = "own_sigmoid_(f32[5,3])"};

static int register_all(dt_ctx *ctx) {
    const dt_op *ops[] = {&polar, &mixed, &mixed_, &own_sigmoid, &own_sigmoid_};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        CHECK_OK(ctx, dt_op_register(ctx, ops[i]));
    return 0;
}

static int run_polar(dt_ctx *ctx, dt_tensor *x, dt_tensor *y, dt_tensor **outputs) {
    int n = 0;
    dt_op_argument arguments[] = {{.tensor = x}, {.tensor = y}};
    CHECK_OK(ctx, dt_op_run(ctx, "polar", 2, arguments, NULL, outputs, 2, &n));
    CHECK(n == 2, "%d outputs", n);
    return 0;
}

/* x[i,j] and y[j] on a mesh, x transposed in memory; every element against the C library. */
static int polar_on_ranks(dt_ctx *ctx, void *arg) {
    static const char *const places[] = {"R", "S(0)", "S(1)"};
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    if (register_all(ctx))
        return 1;
    for (int p = 0; p < 3; p++)
        for (int again = 0; again < 2; again++) {
            dt_tensor *x = dt_transpose(dt_randn(ctx, DT_SHAPE(5, 7), .mesh = mesh, .place = places[p]), 0, 1);
            dt_tensor *y = dt_randn(ctx, DT_SHAPE(5), .mesh = mesh), *made[2];
            if (run_polar(ctx, x, y, made))
                return 1;
            const float *a = dt_data(dt_contiguous(dt_full_tensor(x))), *b = dt_data(dt_full_tensor(y));
            const float *length = dt_data(dt_full_tensor(made[0])), *angle = dt_data(dt_full_tensor(made[1]));
            for (int i = 0; i < 35; i++) {
                float re = a[i], im = b[i % 5];
                CHECK(length[i] == sqrtf(re * re + im * im) && angle[i] == atan2f(im, re), "%s: element %d",
                      places[p], i);
            }
        }
    dt_mesh_release(mesh);
    return 0;
}

static void loops__run_on_shards_and_strides(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, polar_on_ranks, NULL);
}

static void loops__rows_are_verified(void **state) {
    (void)state;
    static const char *const names[] = {"polar", "mixed", "mixed_", "own_sigmoid", "own_sigmoid_"};
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(register_all(ctx), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dt_op_verify(ctx, names[i]) != DT_OK)
            fail_msg("%s", dt_error_text(ctx));
    assert_int_equal(dt_close(ctx), 0);
}

/* More elements than a block, in rows that blocks do not divide, on several threads; five inputs. */
static void loops__large_and_broadcast(void **state) {
    (void)state;
    enum { ROWS = 37, COLUMNS = 1501 };
    dt_ctx *ctx = dt_init(&(dt_init_options){.threads = 3});
    assert_int_equal(register_all(ctx), 0);
    dt_tensor *a = dt_randint(ctx, -9, 9, DT_SHAPE(ROWS, COLUMNS)), *b = dt_randint(ctx, -9, 9, DT_SHAPE(COLUMNS));
    dt_tensor *c = dt_transpose(dt_randint(ctx, -9, 9, DT_SHAPE(COLUMNS, ROWS)), 0, 1);
    dt_tensor *d = dt_randint(ctx, -9, 9, DT_SHAPE(ROWS, 1)), *e = dt_randint(ctx, -9, 9, DT_SHAPE(1));
    dt_tensor *y = dt_call(ctx, "mixed", a, b, c, d, e);
    const int64_t *at[] = {dt_data(a), dt_data(b), dt_data(c), dt_data(d), dt_data(e), dt_data(y)};
    assert_non_null(y);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            assert_int_equal(at[5][i * COLUMNS + j],
                             at[0][i * COLUMNS + j] * at[1][j] + at[2][j * ROWS + i] * at[3][i] - at[4][0]);
    assert_ptr_equal(dt_data(dt_call(ctx, "mixed_", a, b, c, d, e)), at[0]); /* in place */
    assert_memory_equal(at[0], at[5], ROWS * COLUMNS * sizeof **at);
    assert_int_equal(dt_close(ctx), 0);
}

static void loops__convert_dtypes(void **state) {
    (void)state;
    static const dt_dtype dtypes[] = {DT_F16, DT_BF16, DT_I8, DT_U8, DT_I64, DT_BOOL};
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(register_all(ctx), 0);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        dt_tensor *x = dt_to(dt_ones(ctx, DT_SHAPE(3)), dtypes[i]), *y = dt_call(ctx, "own_sigmoid", x);
        bool is_integral = dtypes[i] != DT_F16 && dtypes[i] != DT_BF16;
        assert_int_equal(dt_tensor_dtype(y), is_integral ? DT_F32 : dtypes[i]);
        assert_true(fabs(dt_item(dt_sum(dt_to(y, DT_F64))) / 3 - 0.7310585786300049) < (is_integral ? 1e-7 : 2e-3));
    }
    assert_null(dt_call(ctx, "own_sigmoid", dt_to(dt_ones(ctx, DT_SHAPE(3)), DT_F64)));
    assert_error_contains(ctx, DT_ERR_DTYPE, "the op has no loop for f64");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_null(dt_call(ctx, "own_sigmoid_", dt_to(dt_ones(ctx, DT_SHAPE(3)), DT_I32)));
    assert_error_contains(ctx, DT_ERR_DTYPE,
                          "cannot be written to the first tensor: expected integer, got floating point");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

static dt_status no_shape(dt_op_call *call) { return dt_op_add_output(call, DT_F32, 0, NULL); }

static void twins__need_an_op_that_returns_a_tensor(void **state) {
    (void)state;
    static const dt_op list = {.schema = "listed(Tensor[] a) -> Tensor", .shape = no_shape};
    static const dt_op list_ = {.in_place_of = &list}, of_nothing = {.in_place_of = &polar};
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(dt_op_register(ctx, &list), DT_OK);
    assert_int_equal(dt_op_register(ctx, &list_), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "listed_: in_place_of: expected an op that returns one new tensor");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_op_register(ctx, &of_nothing), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "polar_: in_place_of: expected an op that is registered, got polar");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops__run_on_shards_and_strides),
        cmocka_unit_test(loops__rows_are_verified),
        cmocka_unit_test(loops__large_and_broadcast),
        cmocka_unit_test(loops__convert_dtypes),
        cmocka_unit_test(twins__need_an_op_that_returns_a_tensor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
