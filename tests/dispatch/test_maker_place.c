/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops without tensors: the context comes from the call, and the result is plain or placed by the caller.
 */
#include "dispatch/calls.h"
#include "dtensor/random.h"
#include "support/ranks.h"

#include <string.h>

/* count_up(n): 0, 1, …, n - 1. */
static dt_status count_shape(dt_op_call *call) {
    if (call->args[0].as.i < 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "expected a size, got %lld", (long long)call->args[0].as.i);
    return dt_op_add_output(call, DT_F32, 1, &call->args[0].as.i);
}

static dt_status count_kernel(dt_op_call *call) {
    const dt_op_value *out = &call->outputs[0];
    for (int64_t i = 0; i < out->shape[0]; i++)
        ((float *)out->data)[i] = (float)(out->offset[0] + i);
    return DT_OK;
}

static const dt_op count_up = {
    .schema = "count_up(int n) -> Tensor",
    .shape = count_shape,
    .kernel = count_kernel,
    .flags = DT_OP_MAKER,
};

static dt_tensor *make(dt_ctx *ctx, int64_t n, dt_mesh *mesh, const char *place) {
    dt__call call;
    dt_arg args[1] = {{.type = DT_ARG_INT, .as.i = n}};
    dt__maker_place maker = {.mesh = mesh, .place = place};
    dt__call_init(&call, ctx, 0, args);
    call.info = dt__op_find(ctx, "count_up");
    call.maker = &maker;
    dt_status status = dt__dispatch(ctx, &call);
    return status == DT_OK ? call.outputs[0] : NULL;
}

static int on_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const char *const places[] = {NULL, "R", "S(0)", "P(sum)", "P(max)"};
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    CHECK_OK(ctx, dt_op_register(ctx, &count_up));
    for (int again = 0; again < 2; again++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++)
            for (int64_t n = 0; n < 8; n++) {
                int64_t before = dt_cache_stats(ctx).n_misses;
                dt_tensor *made = make(ctx, n, mesh, places[p]), *full = dt_full_tensor(made);
                CHECK(full, "%s", dt_error_text(ctx));
                CHECK(!strcmp(calls_placements(made), places[p] ? places[p] : "R"), "%s", calls_placements(made));
                CHECK(dt_cache_stats(ctx).n_misses == before + !again, "%s of %d", places[p], (int)n);
                for (int64_t i = 0; i < n; i++)
                    CHECK(((float *)dt_data(full))[i] == (float)i, "element %d of %d", (int)i, (int)n);
            }
    CHECK_OK(ctx, dt_mesh_scope_begin(mesh));
    dt_tensor *current = make(ctx, 5, NULL, "S(0)"), *plain = make(ctx, 5, NULL, NULL);
    CHECK(current && dt_tensor_mesh(current) == mesh && plain && !dt_tensor_spec(plain), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_mesh_scope_end(ctx));
    CHECK(!make(ctx, 5, NULL, "S(0)"), "it was accepted");
    CHECK(strstr(dt_error_text(ctx), "placements S(0) without a mesh"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(!make(ctx, 5, mesh, "S(1)"), "it was accepted");
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(!make(ctx, -5, mesh, "S(0)"), "it was accepted");
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void maker__is_placed_by_its_caller(void **state) {
    (void)state;
    for (int n = 1; n <= 5; n++)
        run_ranks(n, on_ranks, NULL);
}

static void maker__by_name_is_plain(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *made[1];
    int n = 0;
    assert_int_equal(dt_op_register(ctx, &count_up), DT_OK);
    dt_op_argument size = {.value = {.type = DT_ARG_INT, .as.i = 4}};
    assert_int_equal(dt_op_run(ctx, "count_up", 1, &size, NULL, made, 1, &n), DT_OK);
    assert_true(n == 1 && ((float *)dt_data(made[0]))[3] == 3);
    assert_int_equal(dt_close(ctx), 0);
}

/* draw_seed(n): the seed of the generator that the call passes, n times. */
static dt_status seed_kernel(dt_op_call *call) {
    const dt_arg *generator = &call->args[1];
    for (int64_t i = 0; i < call->outputs[0].shape[0]; i++)
        ((float *)call->outputs[0].data)[i] =
            generator->type == DT_ARG_GENERATOR ? (float)dt_generator_save(generator->as.generator).seed : -1;
    return DT_OK;
}

static const dt_op draw_seed = {
    .schema = "draw_seed(int n, *, Generator? generator=None) -> Tensor",
    .shape = count_shape,
    .kernel = seed_kernel,
    .flags = DT_OP_MAKER,
};

static float seed_of(dt_ctx *ctx, dt_arg generator) {
    dt_tensor *made[1];
    int n = 0;
    dt_op_argument arguments[] = {{.value = {.type = DT_ARG_INT, .as.i = 2}},
                                  {.name = "generator", .value = generator}};
    assert_int_equal(dt_op_run(ctx, "draw_seed", 2, arguments, NULL, made, 1, &n), DT_OK);
    return ((float *)dt_data(made[0]))[1];
}

static void generators__reach_the_kernel_and_are_in_no_key(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_generator *a = dt_generator_new(ctx, 7), *b = dt_generator_new(ctx, 8);
    assert_int_equal(dt_op_register(ctx, &draw_seed), DT_OK);
    assert_true(seed_of(ctx, (dt_arg){.type = DT_ARG_GENERATOR, .as.generator = a}) == 7);
    int64_t n_misses = dt_cache_stats(ctx).n_misses;
    assert_true(seed_of(ctx, (dt_arg){.type = DT_ARG_GENERATOR, .as.generator = b}) == 8);
    assert_int_equal(dt_cache_stats(ctx).n_misses, n_misses);
    assert_true(seed_of(ctx, (dt_arg){.type = DT_ARG_NONE}) == -1);
    dt_op_argument wrong[] = {{.value = {.type = DT_ARG_INT, .as.i = 2}},
                              {.name = "generator", .value = {.type = DT_ARG_INT}}};
    dt_tensor *made[1];
    int n;
    assert_int_equal(dt_op_run(ctx, "draw_seed", 2, wrong, NULL, made, 1, &n), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "argument 'generator': expected a generator, got an integer");
    dt_error_clear(ctx);
    dt_generator_release(a);
    dt_generator_release(b);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maker__is_placed_by_its_caller),
        cmocka_unit_test(maker__by_name_is_plain),
        cmocka_unit_test(generators__reach_the_kernel_and_are_in_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
