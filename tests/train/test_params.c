/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of named parameters on ranks: made in their placements with the numbers of one rank, names, prefixes, lists,
 * tied ones, copies and averages, the table, slices of a parent mesh, errors. Ranks 1, 2, 3, 4, 5 and 6 on shm.
 */
#include "support/ranks.h"

#include "base/ctx.h"
#include "dtensor/dtensor.h"

#include <math.h>
#include <string.h>

static const char rules[] = "*.attn.w[qkv].*  tp=S(0)*4\n"
                            "*.attn.wo.weight tp=S(1)*4\n"
                            "tok.weight       tp=vocab\n"
                            "*.bias           decay=0\n"
                            "pos.*            freeze\n"
                            "*                fsdp=free\n";

static dt_mesh *mesh_of(dt_ctx *ctx) {
    const int64_t world = dt_world(ctx), tp = world % 2 ? world : 2;
    return dt_mesh_from_shape(ctx, (int64_t[]){world / tp, tp}, 2, &(dt_mesh_options){.names = "fsdp,tp"});
}

/* A model of two layers; the numbers are those of a seed. */
static dt_params *model_new(dt_ctx *ctx, dt_mesh *mesh, const char *text) {
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = text);
    dt_generator_seed(dt_generator_default(ctx), 5);
    dt_param(p, "tok.weight", DT_SHAPE(11, 12), .std = DT_REAL(0.5));
    dt_param(p, "pos.weight", DT_SHAPE(3, 12), .std = DT_REAL(0.5), .value = DT_REAL(7));
    for (int i = 0; i < 2; i++) {
        dt_params_begin(p, "h.%d.", i);
        dt_params_begin(p, "attn.");
        dt_param(p, "wq.weight", DT_SHAPE(12, 12), .std = DT_REAL(0.5));
        dt_param(p, "wq.bias", DT_SHAPE(12));
        dt_param(p, "wo.weight", DT_SHAPE(12, 12), .std = DT_REAL(0.5));
        dt_params_end(p);
        dt_param(p, "norm", DT_SHAPE(12), .value = DT_REAL(1));
        dt_params_end(p);
    }
    dt_param(p, "scale", DT_SHAPE(), .value = DT_REAL(3));
    dt_param(p, "none", DT_SHAPE(0, 4));
    dt_param(p, "head.weight", DT_SHAPE(11, 12), .tied = "tok.weight");
    return p;
}

static int check_equal(dt_ctx *ctx, const dt_params *got, const dt_params *expected, double tolerance) {
    CHECK(dt_params_n(got) == dt_params_n(expected), "%d and %d", dt_params_n(got), dt_params_n(expected));
    for (int i = 0; i < dt_params_n(got); i++) {
        dt_scope scope = dt_scope_begin(ctx);
        const dt_tensor *a = dt_params_tensor(expected, i);
        dt_tensor *t = dt_params_tensor(got, i);
        const float *x = dt_data(dt_tensor_spec(t) ? dt_full_tensor(t) : t), *y = dt_data(a);
        CHECK(!strcmp(dt_params_name(got, i), dt_params_name(expected, i)), "%s", dt_params_name(got, i));
        CHECK(dt_tensor_elements(t) == dt_tensor_elements(a), "%s: %s", dt_params_name(got, i), dt_error_text(ctx));
        for (int64_t k = 0; k < dt_tensor_elements(a); k++)
            CHECK(fabsf(x[k] - y[k]) <= (float)tolerance, "%s[%lld]: expected %g, got %g", dt_params_name(got, i),
                  (long long)k, (double)y[k], (double)x[k]);
        dt_scope_end(scope);
    }
    return 0;
}

static int makes_and_lists(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = mesh_of(ctx);
    dt_params *p = model_new(ctx, mesh, rules), *plain = model_new(ctx, NULL, NULL);
    CHECK(p && !dt_failed(ctx), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_params_check(p));
    CHECK(check_equal(ctx, p, plain, 0) == 0, "values");
    CHECK(dt_params_n(p) == 13, "%d", dt_params_n(p));
    CHECK(!dt_params_name(p, 13) && !dt_params_tensor(p, -1), "out of range");
    CHECK(dt_params_get(p, "h.1.attn.wq.bias") == dt_params_tensor(p, 7), "lookup");
    CHECK(dt_params_get(p, "head.weight") == dt_params_get(p, "tok.weight"), "tied");
    CHECK(dt_requires_grad(dt_params_get(p, "tok.weight")) && !dt_requires_grad(dt_params_get(p, "pos.weight")),
          "frozen");
    /* Lists: each tensor once, the same list until there are more parameters, and by the name of a tied one. */
    dt_tensors all = dt_params_list(p, NULL), again = dt_params_list(p, NULL), q = dt_params_list(p, "*.wq.*");
    CHECK(all.n == 12 && all.list == again.list, "%d", all.n);
    CHECK(q.n == 4 && q.list[1] == dt_params_get(p, "h.0.attn.wq.bias"), "%d", q.n);
    CHECK(dt_params_list(p, "head*").n == 1, "%d", dt_params_list(p, "head*").n);
    dt_param(p, "more", DT_SHAPE(2));
    CHECK(dt_params_list(p, NULL).n == 13 && all.n == 12 && all.list[11], "a list outlives others");
    /* Nothing is whole on a rank where a rule shards it. */
    const dt_tensor *wq = dt_params_get(p, "h.0.attn.wq.weight");
    CHECK(dt_tensor_local_elements(wq) <= 12 * 12 / dt_world(ctx) + 12 * 8, "%lld",
          (long long)dt_tensor_local_elements(wq));
    CHECK(dt_tensor_local_shape(wq)[0] % 4 == 0, "whole heads");
    CHECK(dt_tensor_use(wq) != NULL, "used as Replicate over fsdp");
    dt_params_free(plain);
    dt_params_free(p);
    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

/* Averages: average += 0.25 (p - average), against plain numbers. */
static int averages(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = mesh_of(ctx);
    dt_params *p = model_new(ctx, mesh, rules), *average = dt_params_clone(p);
    dt_params *plain = model_new(ctx, NULL, NULL), *plain_average = dt_params_clone(plain);
    CHECK(average && check_equal(ctx, average, plain, 0) == 0, "%s", dt_error_text(ctx));
    CHECK(dt_params_get(average, "head.weight") == dt_params_get(average, "tok.weight"), "tied");
    CHECK(!dt_requires_grad(dt_params_get(average, "tok.weight")), "a copy requires no gradient");
    dt_no_grad_begin(ctx);
    for (int i = 0; i < dt_params_n(p); i++) {
        dt_scope scope = dt_scope_begin(ctx);
        if (strcmp(dt_params_name(p, i), "head.weight") != 0) {
            dt_mul_scalar_(dt_params_tensor(p, i), 3);
            dt_mul_scalar_(dt_params_tensor(plain, i), 3);
        }
        dt_scope_end(scope);
    }
    CHECK_OK(ctx, dt_no_grad_end(ctx));
    CHECK_OK(ctx, dt_params_lerp(average, p, 0.25));
    CHECK_OK(ctx, dt_params_lerp(plain_average, plain, 0.25));
    CHECK(check_equal(ctx, average, plain_average, 0) == 0, "average");
    CHECK(check_equal(ctx, p, plain, 0) == 0, "the other is unchanged");
    const float *first = dt_data(dt_params_tensor(plain_average, 2)), *then = dt_data(dt_params_tensor(plain, 2));
    CHECK(fabsf(first[0] - then[0] / 3 * 1.5F) < 1e-6F, "%g and %g", (double)first[0], (double)then[0]);
    CHECK(dt_params_lerp(average, plain, 0.5) == DT_ERR_VALUE && strstr(dt_error_text(ctx), "tok.weight: expected"),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

/* Integers have no mean, and are not used in another dtype, whatever the rules have for the others. */
static int averages_of_dtypes(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const struct {
        const char *name;
        dt_dtype dtype, used;
        double first, then, average;
    } all[] = {{"weight", DT_F32, DT_BF16, 2, 6, 3}, {"half", DT_F16, DT_BF16, 2, 6, 3},
               {"steps", DT_I64, DT_I64, 2, 9, 9},   {"bytes", DT_U8, DT_U8, 7, 5, 5},
               {"mask", DT_BOOL, DT_BOOL, 1, 0, 0},  {"waves", DT_C64, DT_C64, 4, 8, 5}};
    enum { N = sizeof all / sizeof *all };
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "waves use=c64\nhalf grad=f16 dp=R\n* dp=free use=bf16");
    for (int i = 0; i < N; i++)
        dt_param(p, all[i].name, DT_SHAPE(5), .value = DT_REAL(all[i].first), .dtype = all[i].dtype);
    CHECK_OK(ctx, dt_params_check(p));
    dt_params *average = dt_params_clone(p);
    dt_no_grad_begin(ctx);
    for (int i = 0; i < N; i++) {
        dt_fill_(dt_params_tensor(p, i), DT_NUMBER(all[i].then));
        const dt_spec *use = dt_tensor_use(dt_params_tensor(p, i));
        CHECK(use && dt_spec_dtype(use) == all[i].used, "%s is used in another dtype", all[i].name);
    }
    CHECK_OK(ctx, dt_no_grad_end(ctx));
    CHECK_OK(ctx, dt_params_lerp(average, p, 0.25));
    for (int i = 0; i < N; i++) {
        const double *got = dt_data(dt_full_tensor(dt_to(dt_params_tensor(average, i), DT_C128)));
        for (int k = 0; k < 5; k++)
            CHECK(got && got[2 * k] == all[i].average && got[2 * k + 1] == 0, "%s: expected %g, got %g: %s",
                  all[i].name, all[i].average, got ? got[2 * k] : NAN, dt_error_text(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

/* Two stages: each rank lists all names, and holds nothing of the other stage. */
static int stages(dt_ctx *ctx, void *arg) {
    (void)arg;
    const int64_t world = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){2, world / 2}, 2, &(dt_mesh_options){.names = "pp,fsdp"});
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "* fsdp=free");
    for (int s = 0; s < 2; s++) {
        dt_mesh *stage = dt_mesh_slice_at(mesh, "fsdp", s);
        dt_params_begin(p, "stage.%d.", s);
        dt_param(p, "weight", DT_SHAPE(6, 4), .std = DT_REAL(1), .on = stage);
        dt_params_end(p);
        dt_mesh_release(stage);
    }
    CHECK(!dt_failed(ctx) && dt_params_n(p) == 2, "%s", dt_error_text(ctx));
    const int64_t mine = dt_mesh_local_rank(mesh, 0);
    for (int s = 0; s < 2; s++)
        CHECK((dt_tensor_local_elements(dt_params_tensor(p, s)) == 0) == (s != mine), "stage %d", s);
    CHECK(strstr(dt_params_text(p), "stage.*.weight x2"), "%s", dt_params_text(p));
    CHECK(!dt_param(p, "lost", DT_SHAPE(3)) && strstr(dt_error_text(ctx), "expected .on, the slice of one stage"),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(dt_params_n(p) == 2, "%d", dt_params_n(p));
    dt_mesh_release(mesh);
    return 0;
}

static void params__are_made_in_their_placements(void **state) {
    (void)state;
    static const int64_t worlds[] = {1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        run_ranks(worlds[i], makes_and_lists, NULL);
        run_ranks(worlds[i], averages, NULL);
        run_ranks(worlds[i], averages_of_dtypes, NULL);
    }
}

static void params__may_be_on_slices_of_a_mesh(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 6; n += 2)
        run_ranks(n, stages, NULL);
}

/* A rank whose names, order, rules or numbers differ gets an error that names the parameter. */
typedef struct divergence {
    const char *rules, *name;
    double std;
    const char *part;
} divergence;

static int diverge(dt_ctx *ctx, void *arg) {
    const divergence *d = arg;
    const bool differs = dt_rank(ctx) == 1;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = differs ? d->rules : "* tp=R");
    dt_param(p, differs ? d->name : "a", DT_SHAPE(4), .std = DT_REAL(differs ? d->std : 1));
    dt_item(dt_sum(dt_ones(ctx, DT_SHAPE(8), .mesh = mesh, .place = "S(0)")));
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH && strstr(dt_error_text(ctx), d->part), "expected %s, got %s",
          d->part, dt_error_text(ctx));
    CHECK(dt_error_clear(ctx) == DT_OK, "%s", dt_error_text(ctx));
    return 0;
}

static void params__that_differ_between_ranks_are_noticed(void **state) {
    (void)state;
    static const divergence all[] = {
        {"* tp=S(0)", "a", 1, "param(f32[4] S(0)"},  {"* tp=R", "b", 1, "param(f32[4] R on mesh(tp=2); b"},
        {"* tp=R", "a", 2, "param(f32[4] R"},        {"* tp=R decay=0", "a", 1, "param(f32[4] R"},
        {"* tp=R lr=0.5", "a", 1, "param(f32[4] R"}, {"* tp=R freeze", "a", 1, "param(f32[4] R"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        run_ranks(2, diverge, (void *)&all[i]);
}

static void params__errors_leave_the_list_as_it_was(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=1");
    dt_params *p = model_new(ctx, mesh, rules);
    const int n = dt_params_n(p);
#define REFUSES(call, status, part)                                                                                  \
    do {                                                                                                             \
        assert_true(!(call));                                                                                        \
        assert_error_contains(ctx, status, part);                                                                    \
        assert_int_equal(dt_error_clear(ctx), DT_OK);                                                                \
        assert_int_equal(dt_params_n(p), n);                                                                         \
    } while (0)
    REFUSES(dt_param(p, "tok.weight", DT_SHAPE(2)), DT_ERR_VALUE, "there is a parameter 'tok.weight' already");
    REFUSES(dt_param(p, "", DT_SHAPE(2)), DT_ERR_VALUE, "expected a name");
    REFUSES(dt_param(p, NULL, DT_SHAPE(2)), DT_ERR_VALUE, "expected a name");
    REFUSES(dt_param(p, "a b", DT_SHAPE(2)), DT_ERR_VALUE, "expected a name");
    REFUSES(dt_param(p, "a*", DT_SHAPE(2)), DT_ERR_VALUE, "expected a name");
    REFUSES(dt_param(p, "x.attn.wq.w", DT_SHAPE(6)), DT_ERR_SHAPE, "x.attn.wq.w: tp=S(0)*4: expected a size");
    REFUSES(dt_param(p, "x", DT_SHAPE(2), .tied = "tok.wieght"), DT_ERR_VALUE, "did you mean tok.weight?");
    REFUSES(dt_param(p, "x", DT_SHAPE(2), .tied = "tok.weight"), DT_ERR_SHAPE, "is tied to tok.weight");
    REFUSES(dt_param(p, "x", DT_SHAPE(11, 12), .tied = "tok.weight", .std = DT_REAL(1)), DT_ERR_VALUE,
            "expected no std");
    REFUSES(dt_param(p, "x", DT_SHAPE(-1)), DT_ERR_SHAPE, "");
    REFUSES(dt_params_get(p, "h.0.atn.wq.bias"), DT_ERR_VALUE, "did you mean h.0.attn.wq.bias?");
    REFUSES(dt_params_list(p, "*.wz").n, DT_ERR_VALUE, "'*.wz' matches none of the 13 parameters");
    REFUSES(dt_params_list(p, "h.*.atn.*").n, DT_ERR_VALUE, "of the 13 parameters; did you mean h.*.attn.w");
    REFUSES(dt_params_list(p, "[").n, DT_ERR_VALUE, "expected ']'");
    REFUSES(dt_params_end(p) == DT_OK, DT_ERR_STATE, "expected an open dt_params_begin, got none");
    REFUSES(dt_params_new(ctx, .mesh = mesh, .rules = "* tpp=S(0)"), DT_ERR_VALUE, "did you mean tp?");
    REFUSES(dt_params_new(ctx, .dtype = (dt_dtype)99), DT_ERR_DTYPE, "expected a dt_dtype");
    dt_params *loose = dt_params_new(ctx, .mesh = mesh, .rules = "* tp=R\n*.bais decay=0");
    dt_param(loose, "a.bias", DT_SHAPE(2));
    REFUSES(dt_params_check(loose) == DT_OK, DT_ERR_VALUE,
            "line 2: '*.bais' matches none of the 1 parameters; did you "
            "mean a.bias?");
    dt_params_free(loose);
    REFUSES(dt_params_n(loose), DT_ERR_STATE, "was freed");
    dt_params_free(NULL);
    assert_int_equal(dt_close(ctx), 0);
}

static void params__table_has_repeated_layers_on_one_line(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 8});
    dt_mesh *mesh = dt_mesh_new(ctx, "fsdp=4,tp=2");
    dt_params *p = model_new(ctx, mesh, rules);
    const char *text = dt_params_text(p);
    assert_non_null(text);
    assert_non_null(strstr(text, "h.*.attn.wq.weight x2"));
    assert_non_null(strstr(text, "fsdp=S(1),tp=S(0:8,4)"));
    assert_non_null(strstr(text, "as tok.weight"));
    assert_non_null(strstr(text, "frozen"));
    assert_non_null(strstr(text, "793 elements in 13 parameters"));
    assert_int_equal(dt_close(ctx), 0);
}

static bool make_list(dt_ctx *ctx, void *user) {
    (void)user;
    dt_params *p = dt_params_new(ctx, .rules = "* decay=0\n");
    dt_param(p, "a.weight", DT_SHAPE(3, 2), .value = DT_REAL(1));
    dt_param(p, "b.weight", DT_SHAPE(3, 2), .tied = "a.weight");
    dt_params_list(p, NULL);
    dt_params *copy = dt_params_clone(p);
    const char *text = dt_params_text(copy);
    bool ok = text && !dt_failed(ctx);
    dt_params_free(copy);
    dt_params_free(p);
    return ok;
}

/* The n-th allocation fails, for every n: the list is made or refused, and nothing leaks. Some allocations are for
 * caches, without which a call succeeds. */
static void params__survive_failing_allocations(void **state) {
    (void)state;
    int n_refused = 0;
    for (long n = 1;; n++) {
        test_memory memory = {.fail_at = n};
        dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
        bool made = ctx && make_list(ctx, NULL);
        if (ctx && !made)
            assert_int_equal(dt_error_status(ctx), DT_ERR_MEMORY);
        n_refused += !made;
        dt__ctx_free(ctx);
        assert_int_equal(memory.n_live, 0);
        assert_false(memory.wrong_size);
        if (memory.n_calls < n) {
            assert_true(made);
            break;
        }
    }
    assert_true(n_refused > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(params__are_made_in_their_placements),
        cmocka_unit_test(params__may_be_on_slices_of_a_mesh),
        cmocka_unit_test(params__that_differ_between_ranks_are_noticed),
        cmocka_unit_test(params__errors_leave_the_list_as_it_was),
        cmocka_unit_test(params__table_has_repeated_layers_on_one_line),
        cmocka_unit_test(params__survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
