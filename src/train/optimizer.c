/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimisers. Each parameter has a row: the tensors of its state and its number of steps. Parameters usually come in
 * the order of the rows, so that each is found behind the one before it. A step calls the list op of its method once
 * for all parameters with the same number of steps.
 */
#include "train/train.h"

#include "base/dtype.h"
#include "base/lifetime.h"
#include "base/options.h"

#include <math.h>
#include <string.h>

enum { MAX_STATES = 3 };

typedef struct row {
    dt_tensor *parameter; /* holds a reference, as to its state */
    dt_tensor *states[MAX_STATES];
    int64_t n_steps;
    int64_t call; /* of the optimiser that it was in last */
} row;

/* The tensors of one call: parameters, gradients, states. */
enum { PARAMETERS, GRADIENTS, STATES, N_LISTS = STATES + MAX_STATES };
typedef struct step_lists {
    int n;
    dt_tensor **lists[N_LISTS];
} step_lists;

typedef struct method method;
struct dt_optimizer {
    dt__lifetime life;
    dt_ctx *ctx;
    const method *method;
    int n_states;
    double lr, weight_decay, beta1, beta2, eps; /* SGD: beta1 is the momentum and beta2 the dampening */
    bool amsgrad, nesterov, maximize;
    row *rows;
    int n_rows, capacity;
    int64_t n_calls;
    int next; /* the row behind the one that was found last */
};

struct method {
    const char *name;
    const char *states[MAX_STATES];
    dt_status (*run)(const dt_optimizer *self, const step_lists *lists, int64_t step);
};

static dt_tensors list_at(const step_lists *lists, int i) { return (dt_tensors){lists->n, lists->lists[i]}; }
static dt_opt_real real(double value) { return (dt_opt_real){.given = true, .value = value}; }

#define ADAM_METHOD(NAME)                                                                                            \
    static dt_status run_##NAME(const dt_optimizer *self, const step_lists *lists, int64_t step) {                   \
        const dt_fused_##NAME##_in_place_options options = {.beta1 = real(self->beta1),                              \
                                                            .beta2 = real(self->beta2),                              \
                                                            .weight_decay = real(self->weight_decay),                \
                                                            .eps = real(self->eps),                                  \
                                                            .maximize = self->maximize};                             \
        const dt_fused_##NAME##_amsgrad_in_place_options amsgrad = {.beta1 = options.beta1,                          \
                                                                    .beta2 = options.beta2,                          \
                                                                    .weight_decay = options.weight_decay,            \
                                                                    .eps = options.eps,                              \
                                                                    .maximize = options.maximize};                   \
        const dt_tensors p = list_at(lists, PARAMETERS), g = list_at(lists, GRADIENTS), m = list_at(lists, STATES),  \
                         v = list_at(lists, STATES + 1);                                                             \
        return self->amsgrad                                                                                         \
                   ? dt_fused_##NAME##_amsgrad_in_place_sized(p, g, m, v, list_at(lists, STATES + 2), self->lr,      \
                                                              step, &amsgrad, sizeof amsgrad)                        \
                   : dt_fused_##NAME##_in_place_sized(p, g, m, v, self->lr, step, &options, sizeof options);         \
    }
ADAM_METHOD(adam)
ADAM_METHOD(adamw)

static dt_status run_sgd(const dt_optimizer *self, const step_lists *lists, int64_t step) {
    const dt_fused_sgd_in_place_options options = {.weight_decay = real(self->weight_decay),
                                                   .momentum = real(self->beta1),
                                                   .dampening = real(self->beta2),
                                                   .nesterov = self->nesterov,
                                                   .maximize = self->maximize};
    const dt_fused_sgd_momentum_in_place_options momentum = {.weight_decay = options.weight_decay,
                                                             .momentum = options.momentum,
                                                             .dampening = options.dampening,
                                                             .nesterov = options.nesterov,
                                                             .maximize = options.maximize,
                                                             .is_first = step == 1};
    const dt_tensors p = list_at(lists, PARAMETERS), g = list_at(lists, GRADIENTS);
    return self->n_states == 0 ? dt_fused_sgd_in_place_sized(p, g, self->lr, &options, sizeof options)
                               : dt_fused_sgd_momentum_in_place_sized(p, g, list_at(lists, STATES), self->lr,
                                                                      &momentum, sizeof momentum);
}

static const method adam = {"Adam", {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}, run_adam};
static const method adamw = {"AdamW", {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}, run_adamw};
static const method sgd = {"SGD", {"momentum_buffer"}, run_sgd};

/* Making and freeing. */

typedef struct train_state {
    dt__freed_queue freed;
} train_state;

static train_state *state_of(dt_ctx *ctx) {
    void **state = &ctx->slots[DT__SLOT_TRAIN].state;
    if (!*state)
        *state = dt__owned_new(ctx, sizeof(train_state), "the context's optimisers");
    return *state;
}

static dt_status check_number(dt_ctx *ctx, const char *name, double value, double below) {
    return value >= 0 && value < below ? DT_OK
           : below < INFINITY
               ? dt__fail(ctx, DT_ERR_VALUE, "%s: expected 0 <= %s < %g, got %g", name, name, below, value)
               : dt__fail(ctx, DT_ERR_VALUE, "%s: expected a finite number >= 0, got %g", name, value);
}

static dt_optimizer *optimizer_new(dt_ctx *ctx, const dt_optimizer *from) {
    if (check_number(ctx, "lr", from->lr, INFINITY) != DT_OK ||
        check_number(ctx, "weight_decay", from->weight_decay, INFINITY) != DT_OK)
        return NULL;
    dt_optimizer *self = state_of(ctx) ? dt__owned_new(ctx, sizeof *self, "an optimiser") : NULL;
    if (!self)
        return NULL;
    *self = *from;
    self->ctx = ctx;
    dt__life_begin(&self->life, ctx);
    return self;
}

static double value_or(dt_opt_real option, double absent) { return option.given ? option.value : absent; }

static dt_optimizer *adam_new(dt_ctx *ctx, const method *of, double lr, double decay,
                              const dt_adam_new_options *options) {
    dt_optimizer from = {.method = of,
                         .n_states = options->amsgrad ? 3 : 2,
                         .lr = lr,
                         .weight_decay = value_or(options->weight_decay, decay),
                         .beta1 = value_or(options->beta1, 0.9),
                         .beta2 = value_or(options->beta2, 0.999),
                         .eps = value_or(options->eps, 1e-8),
                         .amsgrad = options->amsgrad,
                         .maximize = options->maximize};
    bool fits = check_number(ctx, "beta1", from.beta1, 1) == DT_OK &&
                check_number(ctx, "beta2", from.beta2, 1) == DT_OK &&
                check_number(ctx, "eps", from.eps, INFINITY) == DT_OK;
    return fits ? optimizer_new(ctx, &from) : NULL;
}

dt_optimizer *dt_adam_new_sized(dt_ctx *ctx, double lr, const dt_adam_new_options *options, size_t options_size) {
    dt_adam_new_options full;
    DT__ENTER_OPTIONS(ctx, "adam_new", options, options_size, &full);
    return ctx && options ? adam_new(ctx, &adam, lr, 0, options) : NULL;
}

dt_optimizer *dt_adamw_new_sized(dt_ctx *ctx, double lr, const dt_adam_new_options *options, size_t options_size) {
    dt_adam_new_options full;
    DT__ENTER_OPTIONS(ctx, "adamw_new", options, options_size, &full);
    return ctx && options ? adam_new(ctx, &adamw, lr, 0.01, options) : NULL;
}

dt_optimizer *dt_sgd_new_sized(dt_ctx *ctx, double lr, const dt_sgd_new_options *options, size_t options_size) {
    dt_sgd_new_options full;
    DT__ENTER_OPTIONS(ctx, "sgd_new", options, options_size, &full);
    if (!ctx || !options)
        return NULL;
    double momentum = value_or(options->momentum, 0), dampening = value_or(options->dampening, 0);
    if (check_number(ctx, "momentum", momentum, INFINITY) != DT_OK)
        return NULL;
    if (options->nesterov && (momentum == 0 || dampening != 0)) {
        (void)dt__fail(ctx, DT_ERR_VALUE, "nesterov: expected a momentum and no dampening, got %g and %g", momentum,
                       dampening);
        return NULL;
    }
    return optimizer_new(ctx, &(dt_optimizer){.method = &sgd,
                                              .n_states = momentum != 0,
                                              .lr = lr,
                                              .weight_decay = value_or(options->weight_decay, 0),
                                              .beta1 = momentum,
                                              .beta2 = dampening,
                                              .nesterov = options->nesterov,
                                              .maximize = options->maximize});
}

static void free_row(const dt_optimizer *self, row *of) {
    for (int s = 0; s < self->n_states; s++)
        if (of->states[s])
            dt_tensor_release(of->states[s]);
    dt_tensor_release(of->parameter);
}

void dt_optimizer_free_site(dt_optimizer *optimizer, const dt_site *site) {
    DT__ENTER(optimizer ? optimizer->ctx : NULL, "optimizer_free", site);
    optimizer = DT__LIVE(DT__KIND_OPTIMIZER, optimizer);
    if (!optimizer)
        return;
    dt_ctx *ctx = optimizer->ctx;
    dt__freed_queue *freed = &state_of(ctx)->freed;
    for (int i = 0; i < optimizer->n_rows; i++)
        free_row(optimizer, &optimizer->rows[i]);
    dt__owned_free(ctx, optimizer->rows);
    DT__LIFE_END(freed, optimizer);
    dt__owned_free(ctx, dt__freed_pop(freed, ctx, sizeof *optimizer));
}

/* Rows. */

static row *find_row(const dt_optimizer *self, const dt_tensor *parameter, int from) {
    for (int i = 0, at = from; i < self->n_rows; i++, at++) {
        at = at >= self->n_rows ? 0 : at;
        if (self->rows[at].parameter == parameter)
            return &self->rows[at];
    }
    return NULL;
}

static dt_status reserve_row(dt_optimizer *self) {
    if (self->n_rows < self->capacity)
        return DT_OK;
    int capacity = 2 * self->capacity + 16;
    row *rows = dt__owned_new(self->ctx, (size_t)capacity * sizeof *rows, "the state of an optimiser");
    if (!rows)
        return dt_error_status(self->ctx);
    if (self->n_rows)
        memcpy(rows, self->rows, (size_t)self->n_rows * sizeof *rows);
    dt__owned_free(self->ctx, self->rows);
    self->rows = rows;
    self->capacity = capacity;
    return DT_OK;
}

static dt_status add_row(dt_optimizer *self, dt_tensor *parameter) {
    DT__TRY(reserve_row(self));
    row new = {.parameter = dt_tensor_retain(parameter)};
    bool is_half = parameter->dtype == DT_F16 || parameter->dtype == DT_BF16;
    for (int s = 0; s < self->n_states; s++) {
        dt_tensor *state = dt_zeros_like(parameter, .dtype = is_half ? DT_F32 : parameter->dtype);
        if (!state) {
            free_row(self, &new);
            return dt_error_status(self->ctx);
        }
        new.states[s] = dt_tensor_retain(state);
        dt__storage_set_kind(state->storage, DT_MEMORY_OPTIMIZER);
        dt_drop(state);
    }
    self->rows[self->n_rows++] = new;
    return DT_OK;
}

/* Steps. */

/* The rows of the parameters that have a gradient, with it; and the lists of a call. */
typedef struct stepped {
    int n, *rows;
    dt_tensor **grads;
    int *called; /* rows in the lists */
    step_lists lists;
} stepped;

static dt_status allocate(dt__arena *arena, int n, stepped *out) {
    int *rows = DT__NEW_ARRAY(arena, int, 2 * (int64_t)n);
    dt_tensor **tensors = DT__NEW_ARRAY(arena, dt_tensor *, (1 + N_LISTS) * (int64_t)n);
    if (!rows || !tensors)
        return DT_ERR_MEMORY;
    *out = (stepped){.rows = rows, .called = rows + n, .grads = tensors};
    for (int i = 0; i < N_LISTS; i++)
        out->lists.lists[i] = tensors + (1 + i) * (int64_t)n;
    return DT_OK;
}

static dt_status find_rows(dt_optimizer *self, dt_tensors parameters, stepped *out) {
    self->n_calls++;
    for (int i = 0; i < parameters.n; i++) {
        dt_tensor *grad = dt_grad(parameters.list[i]);
        if (!grad)
            continue;
        row *found = find_row(self, parameters.list[i], self->next);
        if (!found) {
            DT__TRY(add_row(self, parameters.list[i]));
            found = &self->rows[self->n_rows - 1];
        }
        if (found->call == self->n_calls)
            return dt__fail(self->ctx, DT_ERR_VALUE, "parameter %d is in the list twice", i + 1);
        found->call = self->n_calls;
        self->next = (int)(found - self->rows) + 1;
        out->rows[out->n] = (int)(found - self->rows);
        out->grads[out->n++] = grad;
    }
    return DT_OK;
}

/* Steps the rows that have made as many steps as the first one, and leaves the others. */
static dt_status step_alike(dt_optimizer *self, stepped *of) {
    step_lists *lists = &of->lists;
    const int64_t n_steps = self->rows[of->rows[0]].n_steps;
    int n_left = 0;
    lists->n = 0;
    for (int i = 0; i < of->n; i++) {
        const row *from = &self->rows[of->rows[i]];
        if (from->n_steps != n_steps) {
            of->rows[n_left] = of->rows[i];
            of->grads[n_left++] = of->grads[i];
            continue;
        }
        lists->lists[PARAMETERS][lists->n] = from->parameter;
        lists->lists[GRADIENTS][lists->n] = of->grads[i];
        for (int s = 0; s < self->n_states; s++)
            lists->lists[STATES + s][lists->n] = from->states[s];
        of->called[lists->n++] = of->rows[i];
    }
    of->n = n_left;
    DT__TRY(self->method->run(self, lists, n_steps + 1));
    for (int i = 0; i < lists->n; i++)
        self->rows[of->called[i]].n_steps++;
    return DT_OK;
}

static dt_status step_all(dt_optimizer *self, dt_tensors parameters, dt__arena *arena) {
    stepped of;
    DT__TRY(allocate(arena, parameters.n, &of));
    DT__TRY(find_rows(self, parameters, &of));
    while (of.n > 0)
        DT__TRY(step_alike(self, &of));
    return DT_OK;
}

static dt_status run_step(dt_optimizer *self, const method *of, dt_tensors parameters) {
    self = DT__LIVE(DT__KIND_OPTIMIZER, self);
    if (!self)
        return DT_ERR_STATE;
    dt_ctx *ctx = self->ctx;
    if (self->method != of)
        return dt__fail(ctx, DT_ERR_VALUE, "wrong optimiser: expected one of %s, got one of %s", of->name,
                        self->method->name);
    DT__TRY(dt__parameters_check(ctx, parameters, self->lr));
    dt__arena arena = dt__arena_new(ctx);
    dt__training_setting setting = dt__training_begin(ctx);
    dt_status status = step_all(self, parameters, &arena);
    dt__training_end(&setting);
    dt__arena_free(&arena);
    return status;
}

/* NULL follows from an error before. */
static dt_ctx *ctx_of(const dt_optimizer *self) { return self ? self->ctx : NULL; }

dt_status dt_adam_step_site(dt_optimizer *optimizer, dt_tensors parameters, const dt_site *site) {
    DT__ENTER(ctx_of(optimizer), "adam_step", site);
    return run_step(optimizer, &adam, parameters);
}

dt_status dt_adamw_step_site(dt_optimizer *optimizer, dt_tensors parameters, const dt_site *site) {
    DT__ENTER(ctx_of(optimizer), "adamw_step", site);
    return run_step(optimizer, &adamw, parameters);
}

dt_status dt_sgd_step_site(dt_optimizer *optimizer, dt_tensors parameters, const dt_site *site) {
    DT__ENTER(ctx_of(optimizer), "sgd_step", site);
    return run_step(optimizer, &sgd, parameters);
}

/* Properties. */

dt_status dt_optimizer_set_lr_site(dt_optimizer *optimizer, double lr, const dt_site *site) {
    DT__ENTER(ctx_of(optimizer), "optimizer_set_lr", site);
    optimizer = DT__LIVE(DT__KIND_OPTIMIZER, optimizer);
    if (!optimizer)
        return DT_ERR_STATE;
    DT__TRY(check_number(optimizer->ctx, "lr", lr, INFINITY));
    optimizer->lr = lr;
    return DT_OK;
}

double dt_optimizer_lr(const dt_optimizer *optimizer) {
    optimizer = DT__LIVE(DT__KIND_OPTIMIZER, optimizer);
    return optimizer ? optimizer->lr : 0;
}

dt_tensor *dt_optimizer_state_site(const dt_optimizer *optimizer, const dt_tensor *parameter, const char *name,
                                   const dt_site *site) {
    DT__ENTER(ctx_of(optimizer), "optimizer_state", site);
    optimizer = DT__LIVE(DT__KIND_OPTIMIZER, optimizer);
    parameter = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, parameter, 2);
    const row *found = optimizer && parameter ? find_row(optimizer, parameter, 0) : NULL;
    for (int s = 0; found && name && s < optimizer->n_states; s++)
        if (strcmp(optimizer->method->states[s], name) == 0)
            return found->states[s];
    return NULL;
}

int64_t dt_optimizer_n_steps(const dt_optimizer *optimizer, const dt_tensor *parameter) {
    optimizer = DT__LIVE(DT__KIND_OPTIMIZER, optimizer);
    parameter = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, parameter, 2);
    const row *found = optimizer && parameter ? find_row(optimizer, parameter, 0) : NULL;
    return found ? found->n_steps : 0;
}

static dt_status set_n_steps(dt_optimizer *self, dt_tensor *parameter, int64_t n_steps) {
    dt_ctx *ctx = self->ctx;
    if (n_steps < 0)
        return dt__fail(ctx, DT_ERR_VALUE, "n_steps: expected at least 0, got %lld", (long long)n_steps);
    DT__TRY(dt__parameters_check(ctx, (dt_tensors){1, &parameter}, (double)n_steps));
    if (!find_row(self, parameter, 0)) {
        dt__training_setting setting = dt__training_begin(ctx);
        dt_status status = add_row(self, parameter);
        dt__training_end(&setting);
        DT__TRY(status);
    }
    find_row(self, parameter, 0)->n_steps = n_steps;
    return DT_OK;
}

dt_status dt_optimizer_set_n_steps_site(dt_optimizer *optimizer, dt_tensor *parameter, int64_t n_steps,
                                        const dt_site *site) {
    DT__ENTER(ctx_of(optimizer), "optimizer_set_n_steps", site);
    optimizer = DT__LIVE(DT__KIND_OPTIMIZER, optimizer);
    parameter = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, parameter, 2);
    return optimizer && parameter ? set_n_steps(optimizer, parameter, n_steps) : DT_ERR_STATE;
}
