/* SPDX-License-Identifier: Apache-2.0
 *
 * The methods of optimizers: the numbers of each, its states, and the list op that steps parameters. A method is one
 * row of a table in optimizer_methods.c.
 */
#ifndef DT_TRAIN_OPTIMIZER_METHODS_H
#define DT_TRAIN_OPTIMIZER_METHODS_H

#include "train/train.h"

enum { DT__MAX_STATES = 3 };

/* Numbers of all methods; a method has those that its row names. */
typedef struct dt__method_numbers {
    double lr, weight_decay, eps;
    double beta1, beta2; /* SGD: momentum and dampening; RMSprop: momentum and alpha */
    double lr_decay, initial_accumulator_value, momentum_decay;
    bool amsgrad, nesterov, centered, decoupled_weight_decay, maximize;
} dt__method_numbers;

/* One call of a list op: parameters with the same number of steps and the same factors. */
enum {
    DT__STEP_PARAMETERS,
    DT__STEP_GRADIENTS,
    DT__STEP_STATES,
    DT__N_STEP_LISTS = DT__STEP_STATES + DT__MAX_STATES
};
typedef struct dt__method_step {
    int n;
    dt_tensor **lists[DT__N_STEP_LISTS];
    int64_t step; /* from 1 */
    double lr, weight_decay, grad_scale;
    double mu_product; /* NAdam: of the momentums up to this step */
} dt__method_step;

/* A number by name: one that differs among the ranks of a mesh is an error. */
typedef struct dt__method_number {
    const char *name;
    size_t at; /* in dt__method_numbers */
    bool is_flag;
    double below; /* allowed values: from 0 to less than this */
} dt__method_number;

typedef struct dt__method {
    const char *name;
    const char *states[DT__MAX_STATES];
    const dt__method_number *numbers; /* ends with one without a name */
    /* How many states, by the numbers; the optimizer's rows have them in this order. */
    int (*select_states)(const dt__method_numbers *numbers, int states[DT__MAX_STATES]);
    dt_status (*run)(const dt__method_numbers *numbers, const dt__method_step *step);
} dt__method;

extern const dt__method dt__method_adam, dt__method_adamw, dt__method_sgd, dt__method_adagrad, dt__method_rmsprop,
    dt__method_adamax, dt__method_nadam, dt__method_radam, dt__method_lion;

/* The momentum of NAdam in one step. */
double dt__nadam_momentum(const dt__method_numbers *numbers, int64_t step);

#endif
