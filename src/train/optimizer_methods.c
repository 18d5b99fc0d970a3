/* SPDX-License-Identifier: Apache-2.0
 *
 * The methods of optimizers, each a row: names of its states and numbers, and the call of its list op.
 */
#include "train/optimizer_methods.h"

#include <math.h>
#include <stddef.h>

static dt_tensors list_at(const dt__method_step *of, int i) { return (dt_tensors){of->n, of->lists[i]}; }
static dt_opt_real real(double value) { return (dt_opt_real){.given = true, .value = value}; }

#define LISTS                                                                                                        \
    const dt_tensors p = list_at(of, DT__STEP_PARAMETERS), g = list_at(of, DT__STEP_GRADIENTS),                      \
                     s0 = list_at(of, DT__STEP_STATES), s1 = list_at(of, DT__STEP_STATES + 1),                       \
                     s2 = list_at(of, DT__STEP_STATES + 2);                                                          \
    (void)s0, (void)s1, (void)s2
#define BETAS                                                                                                        \
    .beta1 = real(with->beta1), .beta2 = real(with->beta2), .weight_decay = real(of->weight_decay),                  \
    .eps = real(with->eps), .maximize = with->maximize, .grad_scale = real(of->grad_scale)

#define ADAM_METHOD(NAME)                                                                                            \
    static dt_status run_##NAME(const dt__method_numbers *with, const dt__method_step *of) {                         \
        LISTS;                                                                                                       \
        const dt_fused_##NAME##_in_place_options options = {BETAS};                                                  \
        const dt_fused_##NAME##_amsgrad_in_place_options amsgrad = {BETAS};                                          \
        return with->amsgrad                                                                                         \
                   ? dt_fused_##NAME##_amsgrad_in_place_sized(p, g, s0, s1, s2, of->lr, of->step, &amsgrad,          \
                                                              sizeof amsgrad)                                        \
                   : dt_fused_##NAME##_in_place_sized(p, g, s0, s1, of->lr, of->step, &options, sizeof options);     \
    }
ADAM_METHOD(adam)
ADAM_METHOD(adamw)

static dt_status run_sgd(const dt__method_numbers *with, const dt__method_step *of) {
    LISTS;
    const dt_fused_sgd_in_place_options options = {.weight_decay = real(of->weight_decay),
                                                   .momentum = real(with->beta1),
                                                   .dampening = real(with->beta2),
                                                   .nesterov = with->nesterov,
                                                   .maximize = with->maximize,
                                                   .grad_scale = real(of->grad_scale)};
    const dt_fused_sgd_momentum_in_place_options momentum = {.weight_decay = options.weight_decay,
                                                             .momentum = options.momentum,
                                                             .dampening = options.dampening,
                                                             .nesterov = options.nesterov,
                                                             .maximize = options.maximize,
                                                             .grad_scale = options.grad_scale,
                                                             .is_first = of->step == 1};
    return with->beta1 == 0 ? dt_fused_sgd_in_place_sized(p, g, of->lr, &options, sizeof options)
                            : dt_fused_sgd_momentum_in_place_sized(p, g, s0, of->lr, &momentum, sizeof momentum);
}

static dt_status run_adagrad(const dt__method_numbers *with, const dt__method_step *of) {
    LISTS;
    const dt_fused_adagrad_in_place_options options = {.lr_decay = real(with->lr_decay),
                                                       .weight_decay = real(of->weight_decay),
                                                       .eps = real(with->eps),
                                                       .maximize = with->maximize,
                                                       .grad_scale = real(of->grad_scale)};
    return dt_fused_adagrad_in_place_sized(p, g, s0, of->lr, of->step, &options, sizeof options);
}

#define RMSPROP_NUMBERS                                                                                              \
    .alpha = real(with->beta2), .weight_decay = real(of->weight_decay), .eps = real(with->eps),                      \
    .momentum = real(with->beta1), .centered = with->centered, .maximize = with->maximize,                           \
    .grad_scale = real(of->grad_scale)

static dt_status run_rmsprop(const dt__method_numbers *with, const dt__method_step *of) {
    LISTS;
    const dt_fused_rmsprop_in_place_options plain = {RMSPROP_NUMBERS};
    const dt_fused_rmsprop_state_in_place_options one = {RMSPROP_NUMBERS};
    const dt_fused_rmsprop_centered_momentum_in_place_options both = {RMSPROP_NUMBERS};
    const int n = (with->beta1 > 0) + with->centered;
    return n == 0   ? dt_fused_rmsprop_in_place_sized(p, g, s0, of->lr, &plain, sizeof plain)
           : n == 1 ? dt_fused_rmsprop_state_in_place_sized(p, g, s0, s1, of->lr, &one, sizeof one)
                    : dt_fused_rmsprop_centered_momentum_in_place_sized(p, g, s0, s1, s2, of->lr, &both, sizeof both);
}

static dt_status run_adamax(const dt__method_numbers *with, const dt__method_step *of) {
    LISTS;
    const dt_fused_adamax_in_place_options options = {BETAS};
    return dt_fused_adamax_in_place_sized(p, g, s0, s1, of->lr, of->step, &options, sizeof options);
}

double dt__nadam_momentum(const dt__method_numbers *numbers, int64_t step) {
    return numbers->beta1 * (1 - 0.5 * pow(0.96, (double)step * numbers->momentum_decay));
}

static dt_status run_nadam(const dt__method_numbers *with, const dt__method_step *of) {
    LISTS;
    const dt_fused_nadam_in_place_options options = {BETAS, .momentum_decay = real(with->momentum_decay),
                                                     .decoupled_weight_decay = with->decoupled_weight_decay};
    return dt_fused_nadam_in_place_sized(p, g, s0, s1, of->lr, of->step, of->mu_product, &options, sizeof options);
}

static dt_status run_radam(const dt__method_numbers *with, const dt__method_step *of) {
    LISTS;
    const dt_fused_radam_in_place_options options = {BETAS, .decoupled_weight_decay = with->decoupled_weight_decay};
    return dt_fused_radam_in_place_sized(p, g, s0, s1, of->lr, of->step, &options, sizeof options);
}

static dt_status run_lion(const dt__method_numbers *with, const dt__method_step *of) {
    LISTS;
    const dt_fused_lion_in_place_options options = {.beta1 = real(with->beta1),
                                                    .beta2 = real(with->beta2),
                                                    .weight_decay = real(of->weight_decay),
                                                    .maximize = with->maximize,
                                                    .grad_scale = real(of->grad_scale)};
    return dt_fused_lion_in_place_sized(p, g, s0, of->lr, &options, sizeof options);
}

/* States: all of the row, or those that the numbers need. */

static int one_state(const dt__method_numbers *numbers, int *states) {
    (void)numbers;
    states[0] = 0;
    return 1;
}
static int two_states(const dt__method_numbers *numbers, int *states) {
    states[1] = 1;
    return 1 + one_state(numbers, states);
}
static int adam_states(const dt__method_numbers *numbers, int *states) {
    states[2] = 2;
    return two_states(numbers, states) + numbers->amsgrad;
}
static int sgd_states(const dt__method_numbers *numbers, int *states) {
    states[0] = 0;
    return numbers->beta1 != 0;
}
static int rmsprop_states(const dt__method_numbers *numbers, int *states) {
    int n = one_state(numbers, states);
    if (numbers->centered)
        states[n++] = 1;
    if (numbers->beta1 > 0)
        states[n++] = 2;
    return n;
}

#define NUMBER(name, member, below)                                                                                  \
    { name, offsetof(dt__method_numbers, member), false, below }
#define FLAG(name)                                                                                                   \
    { #name, offsetof(dt__method_numbers, name), true, 0 }
#define COMMON    NUMBER("lr", lr, INFINITY), NUMBER("weight_decay", weight_decay, INFINITY), FLAG(maximize)
#define TWO_BETAS COMMON, NUMBER("beta1", beta1, 1), NUMBER("beta2", beta2, 1)

static const dt__method_number adam_numbers[] = {
    TWO_BETAS, NUMBER("eps", eps, INFINITY), FLAG(amsgrad), {.name = NULL}};
static const dt__method_number sgd_numbers[] = {COMMON,
                                                NUMBER("momentum", beta1, INFINITY),
                                                NUMBER("dampening", beta2, INFINITY),
                                                FLAG(nesterov),
                                                {.name = NULL}};
static const dt__method_number adagrad_numbers[] = {
    COMMON,
    NUMBER("lr_decay", lr_decay, INFINITY),
    NUMBER("eps", eps, INFINITY),
    NUMBER("initial_accumulator_value", initial_accumulator_value, INFINITY),
    {.name = NULL}};
static const dt__method_number rmsprop_numbers[] = {COMMON,
                                                    NUMBER("momentum", beta1, INFINITY),
                                                    NUMBER("alpha", beta2, INFINITY),
                                                    NUMBER("eps", eps, INFINITY),
                                                    FLAG(centered),
                                                    {.name = NULL}};
static const dt__method_number adamax_numbers[] = {TWO_BETAS, NUMBER("eps", eps, INFINITY), {.name = NULL}};
static const dt__method_number nadam_numbers[] = {TWO_BETAS,
                                                  NUMBER("eps", eps, INFINITY),
                                                  NUMBER("momentum_decay", momentum_decay, INFINITY),
                                                  FLAG(decoupled_weight_decay),
                                                  {.name = NULL}};
static const dt__method_number radam_numbers[] = {
    TWO_BETAS, NUMBER("eps", eps, INFINITY), FLAG(decoupled_weight_decay), {.name = NULL}};
static const dt__method_number lion_numbers[] = {TWO_BETAS, {.name = NULL}};

#define ADAM_STATES                                                                                                  \
    { "exp_avg", "exp_avg_sq", "max_exp_avg_sq" }
const dt__method dt__method_adam = {"Adam", ADAM_STATES, adam_numbers, adam_states, run_adam};
const dt__method dt__method_adamw = {"AdamW", ADAM_STATES, adam_numbers, adam_states, run_adamw};
const dt__method dt__method_sgd = {"SGD", {"momentum_buffer"}, sgd_numbers, sgd_states, run_sgd};
const dt__method dt__method_adagrad = {"Adagrad", {"sum"}, adagrad_numbers, one_state, run_adagrad};
const dt__method dt__method_rmsprop = {
    "RMSprop", {"square_avg", "grad_avg", "momentum_buffer"}, rmsprop_numbers, rmsprop_states, run_rmsprop};
const dt__method dt__method_adamax = {"Adamax", {"exp_avg", "exp_inf"}, adamax_numbers, two_states, run_adamax};
const dt__method dt__method_nadam = {"NAdam", {"exp_avg", "exp_avg_sq"}, nadam_numbers, two_states, run_nadam};
const dt__method dt__method_radam = {"RAdam", {"exp_avg", "exp_avg_sq"}, radam_numbers, two_states, run_radam};
const dt__method dt__method_lion = {"Lion", {"exp_avg"}, lion_numbers, one_state, run_lion};
