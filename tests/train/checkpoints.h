/* SPDX-License-Identifier: Apache-2.0
 *
 * A model for tests of checkpoints: parameters of many dtypes and shapes with numbers that the test can make again, on
 * any mesh, by their position in the list.
 */
#ifndef DT_TESTS_CHECKPOINTS_H
#define DT_TESTS_CHECKPOINTS_H

#include "move/folder.h"

#include "dtensor/dtensor.h"
#include "train/checkpoint_view.h"

#include <inttypes.h>
#include <sys/stat.h>

typedef struct model_param {
    const char *name;
    dt_dtype dtype;
    int n_dims;
    int64_t shape[4];
} model_param;

static const model_param model[] = {
    {"tok.weight", DT_F32, 2, {37, 6}}, {"h.0.w", DT_F32, 3, {5, 3, 4}},  {"h.0.b", DT_F64, 1, {7}},
    {"h.1.w", DT_BF16, 2, {3, 9}},      {"h.1.b", DT_F16, 1, {2}},        {"scale", DT_F32, 0, {0}},
    {"empty", DT_F32, 2, {0, 4}},       {"big.w", DT_F32, 2, {515, 260}}, {"tall.w", DT_F32, 2, {70001, 3}},
    {"counts.long", DT_I64, 2, {4, 3}}, {"counts.int", DT_I32, 1, {11}},  {"counts.short", DT_I16, 1, {5}},
    {"counts.byte", DT_I8, 1, {13}},    {"counts.u8", DT_U8, 2, {3, 3}},  {"counts.mask", DT_BOOL, 1, {9}},
    {"waves", DT_C64, 1, {6}},
};
enum { N_MODEL = sizeof model / sizeof *model, N_FLOATS = 9 };

static inline bool is_float(dt_dtype dtype) {
    return dtype == DT_F32 || dtype == DT_F64 || dtype == DT_F16 || dtype == DT_BF16;
}

static inline dt_shape model_shape(const model_param *of) { return (dt_shape){of->n_dims, of->shape}; }

/* The values of a tensor of the model, by a number. */
static inline dt_tensor *model_values(dt_ctx *ctx, const model_param *of, dt_dtype dtype, uint64_t number) {
    dt_generator *generator = dt_generator_new(ctx, number);
    dt_tensor *values = is_float(dtype)
                            ? dt_randn(ctx, model_shape(of), .dtype = dtype, .generator = generator)
                            : dt_randint(ctx, 0, dtype == DT_BOOL ? 2 : 100, model_shape(of),
                                         .dtype = dtype == DT_C64 ? DT_I64 : dtype, .generator = generator);
    dt_generator_release(generator);
    return dtype == DT_C64 ? dt_to(values, DT_C64) : values;
}

/* What a parameter is loaded as where floats become another dtype: integers do so, too. */
static inline dt_dtype model_dtype(dt_dtype saved, dt_dtype as_dtype) {
    if (!as_dtype || saved == DT_BOOL || saved == DT_C64)
        return saved;
    return is_float(saved) ? as_dtype : as_dtype == DT_F64 ? DT_I64 : as_dtype == DT_BF16 ? DT_U8 : DT_I16;
}

/* The list, with the placements of the rules; as_dtype replaces the dtypes, unless it is not set. */
static inline dt_params *model_new(dt_ctx *ctx, dt_mesh *mesh, const char *rules, dt_dtype as_dtype) {
    char text[512];
    (void)snprintf(text, sizeof text, "counts.* freeze\nwaves freeze\n%s", rules);
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = text);
    for (int i = 0; i < N_MODEL; i++)
        dt_param(p, model[i].name, model_shape(&model[i]), .dtype = model_dtype(model[i].dtype, as_dtype));
    dt_param(p, "head.weight", DT_SHAPE(37, 6), .tied = "tok.weight");
    return p;
}

static inline dt_tensor *model_replicated(dt_tensor *values, dt_mesh *mesh) {
    return mesh ? dt_distribute_tensor(values, mesh, dt_mesh_n_dims(mesh) == 2 ? "R,R" : "R") : values;
}

/* Writes the values with these numbers, from `first` on, to parameters and, for floats, the state of the optimizer. */
static inline void model_fill(dt_params *p, dt_optimizer *opt, uint64_t first) {
    static const char *const states[] = {"exp_avg", "exp_avg_sq"};
    dt_ctx *ctx = dt_tensor_ctx(dt_params_tensor(p, 0));
    dt_no_grad_begin(ctx);
    for (int i = 0; i < N_MODEL; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *to = dt_params_tensor(p, i);
        dt_mesh *mesh = dt_tensor_mesh(to);
        dt_tensor *values = model_values(ctx, &model[i], dt_tensor_dtype(to), first + (uint64_t)i);
        dt_copy_(to, model_replicated(values, mesh));
        if (opt && i < N_FLOATS && i != 1) { /* which was not stepped */
            dt_optimizer_set_n_steps(opt, to, 10 + i);
            for (int s = 0; s < 2; s++) {
                dt_tensor *state = dt_optimizer_state(opt, to, states[s]);
                values = model_values(ctx, &model[i], dt_tensor_dtype(state),
                                      first + 1000 * (uint64_t)(s + 1) + (uint64_t)i);
                dt_copy_(state, model_replicated(values, mesh));
            }
        }
        dt_scope_end(scope);
    }
    dt_no_grad_end(ctx);
}

/* Whether a tensor has the values of a number, in the dtype in which they were saved. */
static inline int check_values(dt_ctx *ctx, dt_tensor *got, const model_param *of, dt_dtype saved, uint64_t number,
                               const char *what) {
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *expected = dt_to(model_values(ctx, of, saved, number), dt_tensor_dtype(got));
    dt_tensor *full = dt_tensor_mesh(got) ? dt_full_tensor(got) : got;
    CHECK(full && expected, "%s %s: %s", what, of->name, dt_error_text(ctx));
    const size_t bytes = (size_t)dt_tensor_elements(full) * dt_dtype_size(dt_tensor_dtype(full));
    CHECK(!bytes || memcmp(dt_data(full), dt_data(expected), bytes) == 0, "%s %s: values differ", what, of->name);
    dt_scope_end(scope);
    return 0;
}

static inline int check_model(dt_params *p, dt_optimizer *opt, uint64_t first) {
    static const char *const states[] = {"exp_avg", "exp_avg_sq"};
    dt_ctx *ctx = dt_tensor_ctx(dt_params_tensor(p, 0));
    int wrong = 0;
    dt_no_grad_begin(ctx);
    for (int i = 0; i < N_MODEL; i++) {
        dt_tensor *of = dt_params_tensor(p, i);
        wrong += check_values(ctx, of, &model[i], model[i].dtype, first + (uint64_t)i, "parameter");
        if (!opt || i >= N_FLOATS)
            continue;
        const int64_t n_steps = dt_optimizer_n_steps(opt, of);
        CHECK(n_steps == (i == 1 ? 0 : 10 + i), "%s: %" PRId64 " steps", model[i].name, n_steps);
        for (int s = 0; s < 2 && i != 1; s++)
            wrong += check_values(ctx, dt_optimizer_state(opt, of, states[s]), &model[i],
                                  dt__optimizer_state_dtype(model[i].dtype),
                                  first + 1000 * (uint64_t)(s + 1) + (uint64_t)i, states[s]);
    }
    dt_no_grad_end(ctx);
    return wrong;
}

#endif
