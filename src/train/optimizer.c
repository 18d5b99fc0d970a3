/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimizers. Each parameter has a row: the tensors of its state, its number of steps, and the factors that rules have
 * for it. Parameters usually come in the order of the rows, so that each is found after the one before it. A step calls
 * the list op of its method once for all parameters with the same number of steps and the same factors.
 */
#include "train/checkpoint_view.h"

#include "base/dtype.h"
#include "base/lifetime.h"
#include "base/options.h"

#include <math.h>
#include <string.h>

typedef struct row {
    dt_tensor *parameter; /* holds a reference, as to its state */
    dt_tensor *states[DT__MAX_STATES];
    int64_t n_steps;
    int64_t call;     /* of the optimizer that it was in last */
    int position;     /* from 1, in the last list in which it had a gradient; 0: none, or it had none last time */
    double lr, decay; /* factors */
} row;

struct dt_optimizer {
    dt__lifetime life;
    dt_ctx *ctx;
    const dt__method *method;
    dt__method_numbers numbers;
    int n_states, states[DT__MAX_STATES]; /* of the method's that the numbers need */
    dt_params *params;                    /* NULL: each step has a list */
    const dt__param_group *listed;        /* those of params that are stepped, as of n_params names */
    dt_tensor **tensors;
    int n_listed, n_params;
    row *rows;
    int n_rows, capacity;
    int64_t n_calls;
    int next;             /* the row after the one that was found last */
    int64_t product_step; /* NAdam: the step of the product, which the next step continues */
    double product;
};

/* Making and freeing. */

static dt_status check_numbers(dt_ctx *ctx, const dt__method *method, const dt__method_numbers *numbers) {
    for (const dt__method_number *at = method->numbers; at->name; at++) {
        const double value = at->is_flag ? 0 : *(const double *)((const char *)numbers + at->at);
        if (at->is_flag || (value >= 0 && value < at->below))
            continue;
        return at->below < INFINITY
                   ? dt__fail(ctx, DT_ERR_VALUE, "%s: expected 0 <= %s < %g, got %g", at->name, at->name, at->below,
                              value)
                   : dt__fail(ctx, DT_ERR_VALUE, "%s: expected a finite number >= 0, got %g", at->name, value);
    }
    return DT_OK;
}

static dt_optimizer *optimizer_new(dt_ctx *ctx, const dt__method *method, const dt__method_numbers *numbers,
                                   dt_params *params) {
    if (check_numbers(ctx, method, numbers) != DT_OK)
        return NULL;
    if (params && (!DT__LIVE(DT__KIND_PARAMS, params) ||
                   !dt__check_context(ctx, "optimizer", "params", dt__params_ctx(params))))
        return NULL;
    if (params && dt_params_n(params) > 0 && dt__params_check(params) != DT_OK)
        return NULL;
    dt_optimizer *self = dt__train_state_of(ctx) ? dt__owned_new(ctx, sizeof *self, "an optimizer") : NULL;
    if (!self)
        return NULL;
    self->ctx = ctx;
    self->method = method;
    self->numbers = *numbers;
    self->n_states = method->select_states(numbers, self->states);
    self->params = params;
    self->product = 1;
    dt__life_begin(&self->life, ctx);
    return self;
}

static double value_or(dt_opt_real option, double absent) { return option.given ? option.value : absent; }

/* A maker of optimizers: the numbers of its options, with their defaults. */
#define MAKER(NAME, OPTIONS, ...)                                                                                    \
    dt_optimizer *dt_##NAME##_new_sized(dt_ctx *ctx, double lr, const OPTIONS *options, size_t options_size) {       \
        OPTIONS full;                                                                                                \
        DT__ENTER_OPTIONS(ctx, #NAME "_new", options, options_size, &full);                                          \
        if (DT__REFUSAL() != DT_OK || !ctx || !options)                                                              \
            return NULL;                                                                                             \
        const OPTIONS *o = options;                                                                                  \
        return optimizer_new(ctx, &dt__method_##NAME,                                                                \
                             &(dt__method_numbers){.lr = lr, .maximize = o->maximize, __VA_ARGS__}, o->params);      \
    }
MAKER(adam, dt_adam_new_options, .beta1 = value_or(o->beta1, 0.9), .beta2 = value_or(o->beta2, 0.999),
      .eps = value_or(o->eps, 1e-8), .weight_decay = value_or(o->weight_decay, 0), .amsgrad = o->amsgrad)
MAKER(adamw, dt_adam_new_options, .beta1 = value_or(o->beta1, 0.9), .beta2 = value_or(o->beta2, 0.999),
      .eps = value_or(o->eps, 1e-8), .weight_decay = value_or(o->weight_decay, 0.01), .amsgrad = o->amsgrad)
MAKER(adagrad, dt_adagrad_new_options, .lr_decay = value_or(o->lr_decay, 0), .eps = value_or(o->eps, 1e-10),
      .initial_accumulator_value = value_or(o->initial_accumulator_value, 0),
      .weight_decay = value_or(o->weight_decay, 0))
MAKER(rmsprop, dt_rmsprop_new_options, .beta2 = value_or(o->alpha, 0.99), .eps = value_or(o->eps, 1e-8),
      .beta1 = value_or(o->momentum, 0), .weight_decay = value_or(o->weight_decay, 0), .centered = o->centered)
MAKER(adamax, dt_adamax_new_options, .beta1 = value_or(o->beta1, 0.9), .beta2 = value_or(o->beta2, 0.999),
      .eps = value_or(o->eps, 1e-8), .weight_decay = value_or(o->weight_decay, 0))
MAKER(nadam, dt_nadam_new_options, .beta1 = value_or(o->beta1, 0.9), .beta2 = value_or(o->beta2, 0.999),
      .eps = value_or(o->eps, 1e-8), .weight_decay = value_or(o->weight_decay, 0),
      .momentum_decay = value_or(o->momentum_decay, 0.004), .decoupled_weight_decay = o->decoupled_weight_decay)
MAKER(radam, dt_radam_new_options, .beta1 = value_or(o->beta1, 0.9), .beta2 = value_or(o->beta2, 0.999),
      .eps = value_or(o->eps, 1e-8), .weight_decay = value_or(o->weight_decay, 0),
      .decoupled_weight_decay = o->decoupled_weight_decay)
MAKER(lion, dt_lion_new_options, .beta1 = value_or(o->beta1, 0.9), .beta2 = value_or(o->beta2, 0.99),
      .weight_decay = value_or(o->weight_decay, 0))

dt_optimizer *dt_sgd_new_sized(dt_ctx *ctx, double lr, const dt_sgd_new_options *options, size_t options_size) {
    dt_sgd_new_options full;
    DT__ENTER_OPTIONS(ctx, "sgd_new", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !ctx || !options)
        return NULL;
    const dt__method_numbers numbers = {.lr = lr,
                                        .weight_decay = value_or(options->weight_decay, 0),
                                        .beta1 = value_or(options->momentum, 0),
                                        .beta2 = value_or(options->dampening, 0),
                                        .nesterov = options->nesterov,
                                        .maximize = options->maximize};
    if (options->nesterov && (numbers.beta1 == 0 || numbers.beta2 != 0)) {
        (void)dt__fail(ctx, DT_ERR_VALUE, "nesterov: expected a momentum and no dampening, got %g and %g",
                       numbers.beta1, numbers.beta2);
        return NULL;
    }
    return optimizer_new(ctx, &dt__method_sgd, &numbers, options->params);
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
    dt__freed_queue *freed = &dt__train_state_of(ctx)->freed;
    for (int i = 0; i < optimizer->n_rows; i++)
        free_row(optimizer, &optimizer->rows[i]);
    dt__owned_free(ctx, optimizer->rows);
    dt__owned_free(ctx, optimizer->tensors);
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
    row *rows = dt__owned_new(self->ctx, (size_t)capacity * sizeof *rows, "the state of an optimizer");
    if (!rows)
        return dt_error_status(self->ctx);
    if (self->n_rows)
        memcpy(rows, self->rows, (size_t)self->n_rows * sizeof *rows);
    dt__owned_free(self->ctx, self->rows);
    self->rows = rows;
    self->capacity = capacity;
    return DT_OK;
}

dt_dtype dt__optimizer_state_dtype(dt_dtype parameter) {
    return parameter == DT_F16 || parameter == DT_BF16 ? DT_F32 : parameter;
}

static dt_status add_row(dt_optimizer *self, dt_tensor *parameter) {
    DT__TRY(reserve_row(self));
    row new = {.parameter = dt_tensor_retain(parameter), .lr = 1, .decay = 1};
    for (int s = 0; s < self->n_states; s++) {
        dt_tensor *state = dt_zeros_like(parameter, .dtype = dt__optimizer_state_dtype(parameter->dtype));
        if (!state) {
            free_row(self, &new);
            return dt_error_status(self->ctx);
        }
        new.states[s] = dt_tensor_retain(state);
        if (self->numbers.initial_accumulator_value != 0 &&
            !dt_fill_(state, DT_NUMBER(self->numbers.initial_accumulator_value))) {
            free_row(self, &new);
            return dt_error_status(self->ctx);
        }
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
    dt__method_step step;
} stepped;

static dt_status allocate(dt__arena *arena, int n, stepped *out) {
    int *rows = DT__NEW_ARRAY(arena, int, 2 * (int64_t)n);
    dt_tensor **tensors = DT__NEW_ARRAY(arena, dt_tensor *, (1 + DT__N_STEP_LISTS) * (int64_t)n);
    if (!rows || !tensors)
        return DT_ERR_MEMORY;
    *out = (stepped){.rows = rows, .called = rows + n, .grads = tensors};
    for (int i = 0; i < DT__N_STEP_LISTS; i++)
        out->step.lists[i] = tensors + (1 + i) * (int64_t)n;
    return DT_OK;
}

static void add_options(const dt_optimizer *self, double grad_scale, dt__training_call *call) {
    dt__training_call_add_text(call, "method", self->method->name);
    for (const dt__method_number *at = self->method->numbers; at->name; at++) {
        const char *value = (const char *)&self->numbers + at->at;
        dt__training_call_add(call, at->name, at->is_flag ? *(const bool *)value : *(const double *)value);
    }
    if (grad_scale != 1)
        dt__training_call_add(call, "grad_scale", grad_scale);
}

/* Adds a parameter that is new, or at another position than in the step before. */
static void add_position(dt__training_call *call, row *of, int i) {
    dt__training_call_count(call, of->parameter, i, true, of->n_steps);
    if (of->position == i + 1 || !call->is_noted)
        return;
    of->position = i + 1;
    dt__training_call_add_parameter(call, of->parameter, "parameter with a gradient", i);
}

/* Adds the parameters that the previous step had and this one lacks. */
static void add_absent(const dt_optimizer *self, dt__training_call *call) {
    for (int r = 0; r < self->n_rows && call->is_noted; r++) {
        row *of = &self->rows[r];
        if (of->call == self->n_calls || of->position == 0)
            continue;
        dt__training_call_add_parameter(call, of->parameter, "parameter without a gradient", of->position - 1);
        of->position = 0;
    }
}

static dt_status find_rows(dt_optimizer *self, dt_tensors parameters, dt__training_call *call, stepped *out) {
    self->n_calls++;
    for (int i = 0; i < parameters.n; i++) {
        dt_tensor *grad = out->grads[i];
        if (!grad) {
            dt__training_call_count(call, parameters.list[i], i, false, 0);
            continue;
        }
        row *found = find_row(self, parameters.list[i], self->next);
        if (!found) {
            DT__TRY(add_row(self, parameters.list[i]));
            found = &self->rows[self->n_rows - 1];
        }
        if (self->params) {
            found->lr = self->listed[i].lr;
            found->decay = self->listed[i].decay;
        }
        add_position(call, found, i);
        if (found->call == self->n_calls)
            return dt__fail(self->ctx, DT_ERR_VALUE, "parameter %d is in the list twice", i + 1);
        found->call = self->n_calls;
        self->next = (int)(found - self->rows) + 1;
        out->rows[out->n] = (int)(found - self->rows);
        out->grads[out->n++] = grad;
    }
    add_absent(self, call);
    dt__training_call_add_counts(call);
    return dt__training_call_meet(call, parameters);
}

/* NAdam: the product of the momentums of all steps up to this one, in the order that one rank multiplies them. */
static double momentum_product(dt_optimizer *self, int64_t step) {
    if (self->method != &dt__method_nadam)
        return 1;
    if (step < self->product_step) {
        self->product_step = 0;
        self->product = 1;
    }
    while (self->product_step < step)
        self->product *= dt__nadam_momentum(&self->numbers, ++self->product_step);
    return self->product;
}

static bool is_alike(const row *a, const row *b) {
    return a->n_steps == b->n_steps && a->lr == b->lr && a->decay == b->decay;
}

/* Steps the rows with the same number of steps and the same factors as the first one; leaves the others. */
static dt_status step_alike(dt_optimizer *self, stepped *of) {
    dt__method_step *step = &of->step;
    const row *first = &self->rows[of->rows[0]];
    int n_left = 0;
    step->n = 0;
    step->step = first->n_steps + 1;
    step->lr = self->numbers.lr * first->lr;
    step->weight_decay = self->numbers.weight_decay * first->decay;
    step->mu_product = momentum_product(self, step->step);
    for (int i = 0; i < of->n; i++) {
        const row *from = &self->rows[of->rows[i]];
        if (!is_alike(from, first)) {
            of->rows[n_left] = of->rows[i];
            of->grads[n_left++] = of->grads[i];
            continue;
        }
        step->lists[DT__STEP_PARAMETERS][step->n] = from->parameter;
        step->lists[DT__STEP_GRADIENTS][step->n] = of->grads[i];
        for (int s = 0; s < self->n_states; s++)
            step->lists[DT__STEP_STATES + s][step->n] = from->states[s];
        of->called[step->n++] = of->rows[i];
    }
    of->n = n_left;
    DT__TRY(self->method->run(&self->numbers, step));
    for (int i = 0; i < step->n; i++)
        self->rows[of->called[i]].n_steps++;
    return DT_OK;
}

static dt_status step_all(dt_optimizer *self, dt_tensors parameters, double grad_scale, dt__training_call *call,
                          dt__arena *arena) {
    stepped of;
    DT__TRY(allocate(arena, parameters.n, &of));
    of.step.grad_scale = grad_scale;
    DT__TRY(dt__gradients_find(self->ctx, parameters, self->params ? self->listed : NULL, of.grads));
    DT__TRY(find_rows(self, parameters, call, &of));
    while (of.n > 0)
        DT__TRY(step_alike(self, &of));
    return DT_OK;
}

static dt_status run_step(dt_optimizer *self, dt_tensors parameters, double grad_scale) {
    dt_ctx *ctx = self->ctx;
    DT__TRY(dt__parameters_check(ctx, parameters));
    dt__arena arena = dt__arena_new(ctx);
    dt__training_call call;
    dt__training_call_begin(&call, &arena, parameters);
    add_options(self, grad_scale, &call);
    dt__training_setting setting = dt__training_begin(ctx);
    dt_status status = step_all(self, parameters, grad_scale, &call, &arena);
    dt__training_end(&setting);
    dt__arena_free(&arena);
    return status;
}

/* The parameters of the optimizer's list that are not frozen. */
static dt_status list_params(dt_optimizer *self, dt_tensors *out) {
    if (!DT__LIVE(DT__KIND_PARAMS, self->params))
        return DT_ERR_STATE;
    if (!self->listed || self->n_params != dt_params_n(self->params)) {
        dt__param_group *listed;
        int n;
        DT__TRY(dt__params_ready(self->params, &listed, &n));
        dt_tensor **tensors = dt__owned_new(self->ctx, (size_t)(n + 1) * sizeof *tensors, "the list of an optimizer");
        if (!tensors)
            return dt_error_status(self->ctx);
        for (int i = 0; i < n; i++)
            tensors[i] = listed[i].tensor;
        dt__owned_free(self->ctx, self->tensors);
        self->tensors = tensors;
        self->listed = listed;
        self->n_listed = n;
        self->n_params = dt_params_n(self->params);
    }
    *out = (dt_tensors){self->n_listed, self->tensors};
    return DT_OK;
}

/* NULL follows from an error before. */
static dt_ctx *ctx_of(const dt_optimizer *self) { return self ? self->ctx : NULL; }

dt_status dt_optimizer_step_sized(dt_optimizer *optimizer, const dt_optimizer_step_options *options,
                                  size_t options_size) {
    dt_optimizer_step_options full;
    DT__ENTER_OPTIONS(ctx_of(optimizer), "optimizer_step", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    optimizer = DT__LIVE(DT__KIND_OPTIMIZER, optimizer);
    if (!optimizer || !options)
        return DT_ERR_STATE;
    const double grad_scale = value_or(options->grad_scale, 1);
    dt_tensors parameters = options->parameters;
    if (!isfinite(grad_scale))
        return dt__fail(optimizer->ctx, DT_ERR_VALUE, "grad_scale: expected a finite number, got %g", grad_scale);
    if (optimizer->params && parameters.list)
        return dt__fail(optimizer->ctx, DT_ERR_VALUE,
                        "expected no list of parameters: the optimizer was made with .params");
    if (!optimizer->params && !parameters.list)
        return dt__fail(optimizer->ctx, DT_ERR_VALUE,
                        "expected .parameters, or an optimizer that was made with .params");
    if (optimizer->params)
        DT__TRY(list_params(optimizer, &parameters));
    return run_step(optimizer, parameters, grad_scale);
}

/* Properties. */

dt_status dt_optimizer_set_lr_site(dt_optimizer *optimizer, double lr, const dt_site *site) {
    DT__ENTER(ctx_of(optimizer), "optimizer_set_lr", site);
    DT__TRY(DT__REFUSAL());
    optimizer = DT__LIVE(DT__KIND_OPTIMIZER, optimizer);
    if (!optimizer)
        return DT_ERR_STATE;
    dt__method_numbers numbers = optimizer->numbers;
    numbers.lr = lr;
    DT__TRY(check_numbers(optimizer->ctx, optimizer->method, &numbers));
    optimizer->numbers.lr = lr;
    return DT_OK;
}

double dt_optimizer_lr(const dt_optimizer *optimizer) {
    optimizer = DT__LIVE(DT__KIND_OPTIMIZER, optimizer);
    return optimizer ? optimizer->numbers.lr : 0;
}

dt_tensor *dt_optimizer_state_site(const dt_optimizer *optimizer, const dt_tensor *parameter, const char *name,
                                   const dt_site *site) {
    DT__ENTER(ctx_of(optimizer), "optimizer_state", site);
    optimizer = DT__LIVE(DT__KIND_OPTIMIZER, optimizer);
    parameter = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, parameter, 2);
    const row *found = optimizer && parameter ? find_row(optimizer, parameter, 0) : NULL;
    for (int s = 0; found && name && s < optimizer->n_states; s++)
        if (strcmp(optimizer->method->states[optimizer->states[s]], name) == 0)
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
    dt_tensors parameters = {1, &parameter};
    DT__TRY(dt__parameters_check(ctx, parameters));
    DT__TRY(dt__training_call_note(ctx, parameters, "n_steps", (double)n_steps));
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
    DT__TRY(DT__REFUSAL());
    optimizer = DT__LIVE(DT__KIND_OPTIMIZER, optimizer);
    parameter = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, parameter, 2);
    return optimizer && parameter ? set_n_steps(optimizer, parameter, n_steps) : DT_ERR_STATE;
}

/* For checkpoints. */

int dt__optimizer_states(const dt_optimizer *self, const char *names[DT__MAX_STATES]) {
    for (int s = 0; s < self->n_states; s++)
        names[s] = self->method->states[self->states[s]];
    return self->n_states;
}

const dt__method *dt__optimizer_method(const dt_optimizer *self, const dt__method_numbers **numbers) {
    *numbers = &self->numbers;
    return self->method;
}

dt_ctx *dt__optimizer_ctx(const dt_optimizer *self) { return ctx_of(self); }

dt_tensor *const *dt__optimizer_row(const dt_optimizer *self, const dt_tensor *parameter, int64_t *n_steps) {
    const row *found = find_row(self, parameter, self->next);
    *n_steps = found ? found->n_steps : 0;
    return found && found->n_steps ? found->states : NULL;
}

dt_status dt__optimizer_restore(dt_optimizer *self, dt_tensor *parameter, int64_t n_steps) {
    row *found = find_row(self, parameter, self->next);
    if (!found && n_steps == 0)
        return DT_OK;
    if (!found) {
        DT__TRY(add_row(self, parameter));
        found = &self->rows[self->n_rows - 1];
    }
    self->next = (int)(found - self->rows) + 1;
    found->n_steps = n_steps;
    for (int s = 0; s < self->n_states && n_steps == 0; s++)
        if (!dt_fill_(found->states[s], DT_NUMBER(self->numbers.initial_accumulator_value)))
            return dt_error_status(self->ctx);
    return DT_OK;
}
