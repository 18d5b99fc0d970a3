/* SPDX-License-Identifier: Apache-2.0
 *
 * What records keep, and for how long: values that the op names and no others, their versions, outputs that only
 * gradients use, draws; memory of chains and of scopes.
 */
#include "autograd/records.h"

#include "autograd/record.h"
#include "base/dtype.h"

#include <math.h>

static dt_ctx *open_alone(void) {
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    assert_non_null(ctx);
    return ctx;
}

/* An elementwise op that states what it saves: y = 2 x. */
static dt_status shape_twice(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}
static dt_status twice_f32(dt_op_call *call) {
    const dt_op_value *in = &call->inputs[0], *out = &call->outputs[0];
    for (int64_t i = 0; i < in->shape[0]; i++)
        ((float *)out->data)[i] = 2 * ((const float *)in->data)[i * in->strides[0]];
    return DT_OK;
}
#define TWICE(text, ...)                                                                                             \
    {                                                                                                                \
        .schema = text "(Tensor self) -> Tensor", .rule = "...->...", .shape = shape_twice, .kernel = twice_f32,     \
        __VA_ARGS__                                                                                                  \
    }
static const dt_op saves_nothing = TWICE("saves_nothing", .saves = ""),
                   saves_result = TWICE("saves_result", .saves = "result"),
                   saves_self = TWICE("saves_self", .saves = "self"),
                   saves_both = TWICE("saves_both", .saves = "self,result0"),
                   saves_wrong = TWICE("saves_wrong", .saves = "self,other");

/* In place: of the value that it needs and overwrites, the record keeps a copy. */
static dt_status twice_in_place(dt_op_call *call) {
    float *data = call->outputs[0].data;
    for (int64_t i = 0; i < call->outputs[0].shape[0]; i++)
        data[i * call->outputs[0].strides[0]] *= 2;
    return DT_OK;
}
static const dt_op twice_ = {.schema = "twice_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                             .rule = "...,...->...",
                             .shape = shape_twice,
                             .kernel = twice_in_place,
                             .saves = "self,other,result"};

static void in_place__saves_the_version_before(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4), .requires_grad = true), *y = dt_exp(x),
              *other = dt_ones(ctx, DT_SHAPE(4));
    assert_int_equal(dt_op_register(ctx, &twice_), DT_OK);
    const dt__recorded_call *record = dt__recorded_call_of(dt_call(ctx, "twice_", y, other));
    for (int i = 0; i < 3; i++)
        assert_false(dt__saved_is_changed(record, i));
    assert_true(tensors_equal(dt__saved_tensor(record, 0), dt_exp(x)));
    assert_true(tensors_equal(dt__saved_tensor(record, 2), y));
    dt_tensor *half = dt_slice(y, 0, 0, 4, 1); /* another handle on the same storage */
    record = dt__recorded_call_of(dt_call(ctx, "twice_", y, half));
    assert_true(dt__saved_is_changed(record, 1) && !dt__saved_is_changed(record, 2));
    assert_int_equal(dt_close(ctx), 0);
}

/* Writes two tensors and returns none. */
static dt_status shape_of_nothing(dt_op_call *call) {
    (void)call;
    return DT_OK;
}
static dt_status change_both(dt_op_call *call) {
    for (int i = 0; i < 2; i++)
        ((float *)call->inputs[i].data)[0] = 7;
    return DT_OK;
}
static const dt_op touch_ = {.schema = "touch_(Tensor(a!) self, Tensor(b!) other) -> ()",
                             .shape = shape_of_nothing,
                             .kernel = change_both,
                             .saves = "self"};

static void written__tensors_that_are_not_returned_are_recorded(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4), .requires_grad = true), *y = dt_exp(x), *z = dt_ones(ctx, DT_SHAPE(4));
    dt_op_argument args[2] = {{.tensor = y}, {.tensor = z}};
    dt_tensor *outputs[1];
    int n = 1;
    assert_int_equal(dt_op_register(ctx, &touch_), DT_OK);
    assert_int_equal(dt_op_run(ctx, "touch_", 2, args, DT_SITE, outputs, 1, &n), DT_OK);
    assert_int_equal(n, 0);
    const dt__recorded_call *record = dt__recorded_call_of(y);
    assert_string_equal(record->name, "touch_");
    assert_true(record == dt__recorded_call_of(z) && y->output == 0 && z->output == 1 && record->n_outputs == 2);
    assert_true(!dt__saved_is_changed(record, 0) && tensors_equal(dt__saved_tensor(record, 0), dt_exp(x)));
    assert_true(calls_element(y, 0) == 7 && calls_element(z, 0) == 7);
    args[1].tensor = x;
    assert_int_equal(dt_op_run(ctx, "touch_", 2, args, DT_SITE, outputs, 1, &n), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "cannot write to a leaf that requires a gradient");
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

static void saves__names_what_is_kept(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    static const struct {
        const dt_op *op;
        const char *name, *record;
    } ops[] = {
        {&saves_nothing, "saves_nothing", "saves_nothing(f32[4]) -> f32[4]; from 1"},
        {&saves_result, "saves_result", "saves_result(f32[4]) -> f32[4]; from 1; saves output 1"},
        {&saves_self, "saves_self", "saves_self(f32[4]) -> f32[4]; from 1; saves input 1"},
        {&saves_both, "saves_both", "saves_both(f32[4]) -> f32[4]; from 1; saves input 1, output 1"},
    };
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4), .requires_grad = true);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        assert_int_equal(dt_op_register(ctx, ops[i].op), DT_OK);
        assert_string_equal(records_last(dt_call(ctx, ops[i].name, x)), ops[i].record);
    }
    assert_int_equal(dt_op_register(ctx, &saves_wrong), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE,
                          "saves_wrong: saves: expected the name of a tensor argument or result, got \"other\"");
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

/* A decomposition is recorded as its ops, or with `saves` as one call. */
static dt_status decompose_cube(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    (void)call;
    outputs[0] = dt_mul(dt_mul(inputs[0], inputs[0]), inputs[0]);
    return outputs[0] ? DT_OK : DT_ERR_VALUE;
}
static const dt_op cube_of_ops = {
    .schema = "cube_of_ops(Tensor self) -> Tensor", .shape = shape_twice, .decompose = decompose_cube};
static const dt_op cube = {
    .schema = "cube(Tensor self) -> Tensor", .shape = shape_twice, .decompose = decompose_cube, .saves = "self"};

static void decomposition__is_recorded_as_its_ops_unless_it_saves(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4), .requires_grad = true);
    assert_int_equal(dt_op_register(ctx, &cube_of_ops), DT_OK);
    assert_int_equal(dt_op_register(ctx, &cube), DT_OK);
    const dt__recorded_call *record = dt__recorded_call_of(dt_call(ctx, "cube_of_ops", x));
    assert_string_equal(record->name, "mul");
    assert_string_equal(record->tensors[0].made_by->name, "mul");
    assert_string_equal(records_text(dt_call(ctx, "cube", x), 0),
                        "1 leaf f32[4]\n2 cube(f32[4]) -> f32[4]; from 1; saves input 1\n");
    assert_int_equal(dt_close(ctx), 0);
}

static void saved__is_the_value_of_the_call(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_arange(ctx, 0, 12, 1, .dtype = DT_F32), *m = dt_view(x, DT_SHAPE(3, 4));
    assert_int_equal(dt_set_requires_grad(m, true), DT_OK);
    dt_tensor *t = dt_transpose(dt_slice(m, 0, 1, 3, 1), 0, 1), *y = dt_mul(t, t);
    const dt__recorded_call *record = dt__recorded_call_of(y);
    dt_tensor *saved = dt__saved_tensor(record, 0);
    assert_true(saved && tensors_equal(saved, t) && dt_tensor_shares(saved, x) && !dt_requires_grad(saved));
    assert_null(record->tensors[2].storage); /* which the gradient does not use */
    /* The values stay when all handles have gone. */
    dt_tensor *sum = dt_sum(y);
    const dt__recorded_call *last = dt__recorded_call_of(sum);
    dt_drop(x), dt_drop(t), dt_drop(y);
    assert_true(last->tensors[0].made_by == record);
    saved = dt__saved_tensor(record, 1);
    assert_true(saved && calls_element(dt_clone(saved), 0) == 4 && calls_element(dt_clone(saved), 1) == 8);
    assert_int_equal(dt_close(ctx), 0);
}

static void change__of_a_saved_value_is_an_error_with_both_sites(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    char both[256];
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4), .requires_grad = true), *e = dt_exp(x);
    dt_tensor *y = dt_mul(e, x);
    int made = __LINE__ - 1;
    const dt__recorded_call *record = dt__recorded_call_of(y);
    assert_false(dt__saved_is_changed(record, 0) || dt__saved_is_changed(record, 1));
    dt_no_grad_begin(ctx);
    assert_non_null(dt_add_scalar_(dt_slice(e, 0, 1, 3, 1), 1)); /* through a view */
    int changed = __LINE__ - 1;
    assert_int_equal(dt_no_grad_end(ctx), DT_OK);
    assert_true(dt__saved_is_changed(record, 0) && !dt__saved_is_changed(record, 1));
    assert_null(dt__saved_tensor(record, 0));
    snprintf(
        both, sizeof both,
        "input 1 of mul (at %s:%d), which its gradient needs, has been changed by add_ (at %s:%d) since: expected "
        "version 0, got 1; clone it before it is changed",
        __FILE__, made, __FILE__, changed);
    assert_error_contains(ctx, DT_ERR_STATE, both);
    (void)dt_error_clear(ctx);
    dt_tensor *sum = dt_sum(x);
    assert_null(dt__saved_tensor(dt__recorded_call_of(dt_transpose(dt_view(sum, DT_SHAPE(1, 1)), 0, 1)), 0));
    assert_error_contains(ctx, DT_ERR_STATE, "input 1 of transpose");
    assert_error_contains(ctx, DT_ERR_STATE, "is not saved");
    (void)dt_error_clear(ctx);
    /* A random fill is a change, too. */
    dt_tensor *z = dt_mul(e, e);
    dt_no_grad_begin(ctx);
    assert_int_equal(dt_uniform_(e), DT_OK);
    assert_int_equal(dt_no_grad_end(ctx), DT_OK);
    assert_true(dt__saved_is_changed(dt__recorded_call_of(z), 0));
    assert_int_equal(dt_close(ctx), 0);
}

/* Ends of scopes free what neither a record nor the program holds; of ops that save nothing only the ends of a chain
 * remain. */
static void chain__frees_what_is_not_saved(void **state) {
    (void)state;
    enum { N = 64, BYTES = 1 << 20, ELEMENTS = BYTES / 4 };
    dt_ctx *ctx = open_alone();
    assert_int_equal(dt_op_register(ctx, &saves_nothing), DT_OK);
    assert_int_equal(dt_op_register(ctx, &saves_result), DT_OK);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(ELEMENTS), .requires_grad = true);
    for (int saves = 0; saves < 2; saves++) {
        const char *op = saves ? "saves_result" : "saves_nothing";
        size_t before = dt_heap_stats(ctx).live_bytes;
        dt_tensor *y = x;
        for (int i = 0; i < N; i++) { /* each in a scope of its own, as a layer would be */
            dt_scope scope = dt_scope_begin(ctx);
            dt_tensor *next = dt_keep(dt_call(ctx, op, y));
            dt_scope_end(scope);
            if (y != x)
                dt_drop(y);
            y = next;
        }
        assert_int_equal(dt_heap_stats(ctx).live_bytes - before, saves ? N * BYTES : BYTES);
        dt_drop(y); /* the last reference to all records */
        assert_int_equal(dt_heap_stats(ctx).live_bytes, before);
    }
    /* Never more than three at once where nothing is saved: x, an input and an output. */
    dt_ctx *other = open_alone();
    assert_int_equal(dt_op_register(other, &saves_nothing), DT_OK);
    dt_tensor *z = dt_ones(other, DT_SHAPE(ELEMENTS), .requires_grad = true);
    for (int i = 0; i < N; i++) {
        dt_tensor *next = dt_call(other, "saves_nothing", z);
        if (i)
            dt_drop(z);
        z = next;
    }
    assert_int_equal(dt_heap_stats(other).peak_bytes, 3 * BYTES);
    assert_int_equal(dt_close(other), 0);
    assert_int_equal(dt_close(ctx), 0);
}

/* A million records are freed without a million frames; their memory is used again. */
static void chain__of_a_million_ops_is_freed(void **state) {
    (void)state;
    enum { N = 1000000 };
    test_memory memory = {0};
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .allocator = test_memory_allocator(&memory)});
    assert_non_null(ctx);
    assert_int_equal(dt_op_register(ctx, &saves_nothing), DT_OK);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(1), .requires_grad = true), *y = x;
    size_t bytes[2];
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < (pass ? 1000 : N); i++) {
            dt_tensor *next = dt_call(ctx, "saves_nothing", y);
            if (y != x)
                dt_drop(y);
            y = next;
        }
        assert_int_equal(dt__recorded_call_of(y)->n_inputs, 1);
        dt_drop(y);
        y = x;
        bytes[pass] = memory.live_bytes;
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(memory.n_live, 0);
    assert_false(memory.wrong_size);
}

static bool record_something(dt_ctx *ctx, void *user) {
    (void)user;
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4, 3), .requires_grad = true);
    dt_tensor *y = dt_sum(dt_transpose(dt_mul(x, x), 0, 1), .dim = DT_DIMS(0)), *z = dt_clone(y);
    bool fine = z && dt_add_(z, y);
    dt_scope_end(scope);
    return fine && !dt_failed(ctx);
}

static void records__survive_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_survives_failing_allocations(record_something, NULL) > 10);
}

/* Mean and 1 / standard deviation of layer_norm: made if the call is recorded, never returned, and right. */
static int check_layer_norm(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *full = calls_counting(ctx, DT_F32, DT_SHAPE(5, 4), -3, 1.5);
    dt_tensor *x = dt_distribute_tensor(full, mesh, "S(0)", .everywhere = true);
    dt_tensor *plain = dt_layer_norm(x, DT_SHAPE(4));
    int64_t misses;
    CHECK_OK(ctx, dt_set_requires_grad(x, true));
    for (int again = 0; again < 2; again++) {
        misses = dt_cache_stats(ctx).n_misses;
        dt_tensor *y = dt_layer_norm(x, DT_SHAPE(4));
        CHECK(dt_cache_stats(ctx).n_misses == misses + !again, "a recorded call has a decision of its own");
        CHECK_RECORD(y, "layer_norm(f32[5,4] S(0); normalized_shape=[4]) -> f32[5,4] S(0); f32[5] S(0); f32[5] S(0); "
                        "from 1; saves input 1, output 2, output 3");
        const dt__recorded_call *record = dt__recorded_call_of(y);
        dt_tensor *mean = dt_full_tensor(dt__saved_tensor(record, 2)),
                  *rstd = dt_full_tensor(dt__saved_tensor(record, 3));
        dt_tensor *expected = dt_mean(full, .dim = DT_DIMS(1));
        for (int64_t i = 0; i < 5; i++) {
            CHECK(fabs(calls_element(mean, i) - calls_element(expected, i)) < 1e-6, "mean %g",
                  calls_element(mean, i));
            /* of four numbers 1.5 apart the variance is 1.5^2 * 5 / 4 */
            CHECK(fabs(calls_element(rstd, i) - 1 / sqrt(2.8125 + 1e-5)) < 1e-6, "rstd %g", calls_element(rstd, i));
        }
        CHECK(tensors_equal(dt_full_tensor(dt_detach(y)), dt_full_tensor(plain)), "the values differ");
    }
    dt_no_grad_begin(ctx);
    misses = dt_cache_stats(ctx).n_misses;
    size_t before = dt_heap_stats(ctx).live_bytes;
    dt_tensor *y = dt_layer_norm(x, DT_SHAPE(4));
    CHECK(dt_cache_stats(ctx).n_misses == misses, "a call that is not recorded makes no mean");
    CHECK(dt_heap_stats(ctx).live_bytes - before == (size_t)dt_tensor_local_elements(y) * 4,
          "only the result is made");
    CHECK_OK(ctx, dt_no_grad_end(ctx));
    /* Through a list of outputs: one. */
    dt_op_argument args[2] = {{.tensor = x}, {.value = {.type = DT_ARG_INTS, .n = 1, .as.ints = (int64_t[]){4}}}};
    dt_tensor *outputs[8] = {NULL};
    int n_outputs = 0;
    CHECK_OK(ctx, dt_op_run(ctx, "layer_norm", 2, args, DT_SITE, outputs, 8, &n_outputs));
    CHECK(n_outputs == 1 && dt_requires_grad(outputs[0]), "%d outputs", n_outputs);
    dt_mesh_release(mesh);
    return 0;
}

static void layer_norm__keeps_mean_and_deviation_if_it_is_recorded(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, check_layer_norm, NULL);
}

/* A draw is part of the record: the gradient has the same mask, whatever was drawn since. */
static int check_draw(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(7, 33), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    (void)dt_rand(ctx, DT_SHAPE(3));
    dt_tensor *y = dt_dropout(x, .p = DT_REAL(0.4)), *z = dt_dropout(x, .p = DT_REAL(0.4)), *ones = dt_ones_like(x);
    dt_generator_state drawn = dt_generator_save(dt_generator_default(ctx));
    CHECK(dt__recorded_call_of(y)->draw.taken && dt__recorded_call_of(y)->draw.state.draw == 1, "the second draw");
    CHECK_OK(ctx, dt_backward(y, .grad = ones));
    CHECK(tensors_equal(dt_grad(x), y), "the mask of the first call");
    CHECK(dt_tensor_local_elements(y) == 0 || !tensors_equal(dt_grad(x), z), "not that of the second");
    CHECK(dt_generator_save(dt_generator_default(ctx)).draw == drawn.draw, "nothing is drawn");
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(x)));
    dt_tensor *off = dt_dropout(x, .training = DT_FALSE);
    CHECK(!dt__recorded_call_of(off)->draw.taken, "without training there is no draw");
    CHECK_OK(ctx, dt_backward(off, .grad = ones));
    CHECK(tensors_equal(dt_grad(x), ones), "the gradient itself");
    dt_mesh_release(mesh);
    return 0;
}

static void draw__is_recorded_and_repeated(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, check_draw, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saves__names_what_is_kept),
        cmocka_unit_test(in_place__saves_the_version_before),
        cmocka_unit_test(written__tensors_that_are_not_returned_are_recorded),
        cmocka_unit_test(decomposition__is_recorded_as_its_ops_unless_it_saves),
        cmocka_unit_test(saved__is_the_value_of_the_call),
        cmocka_unit_test(change__of_a_saved_value_is_an_error_with_both_sites),
        cmocka_unit_test(chain__frees_what_is_not_saved),
        cmocka_unit_test(chain__of_a_million_ops_is_freed),
        cmocka_unit_test(records__survive_failing_allocations),
        cmocka_unit_test(layer_norm__keeps_mean_and_deviation_if_it_is_recorded),
        cmocka_unit_test(draw__is_recorded_and_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
