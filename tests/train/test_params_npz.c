/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of parameters in .npz files: from every mesh to every other with the state of an optimizer, stages of a
 * pipeline, other dtypes, and files that do not fit, which change nothing. Ranks 1 to 5 on shm.
 * mpi: no: a world of another size reads what this one has written
 */
#include "train/checkpoints.h"

static const dt_ints config = {.n = 2, .list = (const int64_t[]){3, 7}};

typedef struct trip {
    int64_t ranks;
    const char *mesh, *rules;
    bool has_stages, writes;
} trip;

/* Numbers that do not depend on the placement; a tied name, an integer, no elements, and no dims. */
static dt_params *list_new(dt_ctx *ctx, const trip *of, dt_mesh *mesh, double std, dt_dtype dtype) {
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = of->rules, .dtype = dtype);
    dt_mesh *first = of->has_stages ? dt_mesh_slice_at(mesh, "dp", 0) : NULL;
    dt_mesh *last = of->has_stages ? dt_mesh_slice_at(mesh, "dp", 1) : NULL;
    dt_generator_seed(dt_generator_default(ctx), 3);
    dt_param(p, "a.weight", DT_SHAPE(7, 5), .std = DT_REAL(std), .on = first);
    dt_param(p, "none", DT_SHAPE(0, 3), .on = first);
    dt_param(p, "one", DT_SHAPE(), .std = DT_REAL(std), .on = last);
    dt_param(p, "ids", DT_SHAPE(4), .value = DT_REAL(std), .dtype = DT_I64, .on = last);
    dt_param(p, "head", DT_SHAPE(7, 5), .tied = "a.weight", .on = last);
    dt_mesh_release(first);
    dt_mesh_release(last);
    return p;
}

static int go(dt_ctx *ctx, void *arg) {
    const trip *of = arg;
    dt_mesh *mesh = of->mesh ? dt_mesh_new(ctx, of->mesh) : NULL;
    dt_params *p = list_new(ctx, of, mesh, of->writes ? 1 : 9, DT_F32);
    dt_optimizer *opt = dt_adamw_new(ctx, 0.1, .params = p);
    dt_tensor *weight = dt_params_get(p, "a.weight");
    CHECK_OK(ctx, dt_error_status(ctx));
    if (of->writes) {
        CHECK_OK(ctx, dt_optimizer_set_n_steps(opt, weight, 4));
        dt_fill_(dt_optimizer_state(opt, weight, "exp_avg_sq"), DT_NUMBER(0.25));
        CHECK_OK(ctx, dt_params_save_npz(p, in_folder("all.npz"), .optimizer = opt, .config = config));
    } else {
        CHECK_OK(ctx, dt_params_load_npz(p, in_folder("all.npz"), .optimizer = opt, .config = config));
        CHECK_OK(ctx, dt_params_save_npz(p, in_folder("all.npz"), .optimizer = opt, .config = config));
    }
    dt_mesh_release(mesh);
    return 0;
}

static double difference(dt_params *a, dt_params *b, const char *name) {
    dt_tensor *got = dt_params_get(a, name);
    return dt_item(dt_max(dt_abs(dt_sub(got, dt_to(dt_params_get(b, name), dt_tensor_dtype(got))))));
}

/* In a world of one, and other dtypes. */
static int compare(dt_ctx *ctx, void *arg) {
    static const trip plain = {1, NULL, NULL, false, false};
    static const dt_dtype dtypes[] = {DT_F32, DT_F64, DT_BF16};
    dt_params *expected = list_new(ctx, &plain, NULL, 1, DT_F32);
    (void)arg;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        dt_params *p = list_new(ctx, &plain, NULL, 9, dtypes[i]);
        dt_optimizer *opt = dt_adamw_new(ctx, 0.1, .params = p);
        CHECK_OK(ctx, dt_params_load_npz(p, in_folder("all.npz"), .optimizer = opt));
        CHECK(difference(p, expected, "a.weight") == 0 && difference(p, expected, "one") == 0 &&
                  difference(p, expected, "ids") == 0,
              "values");
        dt_tensor *weight = dt_params_get(p, "a.weight"), *one = dt_params_get(p, "one");
        dt_tensor *state = dt_optimizer_state(opt, weight, "exp_avg_sq");
        CHECK(dt_optimizer_n_steps(opt, weight) == 4 && dt_optimizer_n_steps(opt, one) == 0, "steps");
        CHECK(dt_item(dt_min(state)) == 0.25 && dt_item(dt_max(state)) == 0.25, "exp_avg_sq");
    }
    return 0;
}

static void npz__moves_between_meshes(void **state) {
    (void)state;
    static const trip trips[] = {
        {1, NULL, NULL, false, true},
        {2, "dp=2", "* dp=free", false, true},
        {3, "tp=3", "a.weight tp=S(1)\nids tp=S(0)*2", false, true},
        {4, "pp=2,dp=2", "* dp=free", true, true},
        {5, "dp=5", "* dp=free", false, true},
    };
    for (size_t i = 0; i < sizeof trips / sizeof *trips; i++) {
        trip back = trips[(i + 1) % (sizeof trips / sizeof *trips)], from = trips[i];
        back.writes = false;
        run_ranks(from.ranks, go, &from);
        run_ranks(1, compare, NULL);
        run_ranks(back.ranks, go, &back);
    }
}

/* Calls that do not fit; what they leave is what was there. */
static int refuse(dt_ctx *ctx, void *arg) {
    static const char *const texts[] = {"another model: its config is [3,7], expected [3,8]",
                                        "expected 1 integers",
                                        "no entry step.w",
                                        "cannot be opened",
                                        "cannot be created",
                                        "w has another shape: expected [8], got [7]"};
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "w dp=S(0)");
    dt_params *other = dt_params_new(ctx, .mesh = mesh);
    dt_tensor *w = dt_param(p, "w", DT_SHAPE(7), .value = DT_REAL(1));
    dt_optimizer *opt = dt_sgd_new(ctx, 0.1, .params = p);
    const char *path = in_folder("one.npz");
    (void)arg;
    dt_param(other, "w", DT_SHAPE(8));
    CHECK_OK(ctx, dt_params_save_npz(p, path, .config = config));
    dt_no_grad_begin(ctx);
    dt_fill_(w, DT_NUMBER(2));
    dt_no_grad_end(ctx);
    for (int i = 0; i < 6; i++) {
        const dt_status status = i == 0   ? dt_params_load_npz(p, path, .config = DT_INTS(3, 8))
                                 : i == 1 ? dt_params_load_npz(p, path, .config = DT_INTS(3))
                                 : i == 2 ? dt_params_load_npz(p, path, .optimizer = opt)
                                 : i == 3 ? dt_params_load_npz(p, "none.npz")
                                 : i == 4 ? dt_params_save_npz(p, "no/such.npz")
                                          : dt_params_load_npz(other, path);
        CHECK(status != DT_OK && strstr(dt_error_text(ctx), texts[i]), "%d: expected '%s', got '%s'", i, texts[i],
              dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK(dt_item(dt_min(w)) == 2, "%d changed something", i);
    }
    CHECK_OK(ctx, dt_params_load_npz(p, path));
    CHECK(dt_item(dt_max(w)) == 1, "loaded");
    dt_mesh_release(mesh);
    return 0;
}

static void npz__that_does_not_fit_changes_nothing(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n += 2)
        run_ranks(n, refuse, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npz__moves_between_meshes),
        cmocka_unit_test(npz__that_does_not_fit_changes_nothing),
    };
    return cmocka_run_group_tests(tests, folder_begin, folder_end);
}
