/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of optimisers: one op that reads a gradient and writes a parameter and its state, and the list op over many
 * parameters. All are elementwise, so each rank updates its shards.
 */
#include "kernels/kernels.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <math.h>

/* In the order of .arguments below. */
enum { LR, WEIGHT_DECAY, GRAD_SCALE, MAXIMIZE, BETA1, BETA2, EPS, STEP };
enum { MOMENTUM = BETA1, DAMPENING, NESTEROV, IS_FIRST };

static double number_at(const dt_op_call *call, int n) { return dt__arg_at(call, n)->as.f; }

static dt_status check_same_shape(dt_op_call *call) {
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_op_value *first = &call->inputs[0], *value = &call->inputs[i];
        bool same = value->n_dims == first->n_dims;
        for (int d = 0; d < first->n_dims && same; d++)
            same = value->shape[d] == first->shape[d];
        if (!same)
            return dt_op_refuse(call, DT_ERR_SHAPE, "tensor %d: expected the shape of the parameter", i + 1);
        if (!dt__is_float(value->dtype))
            return dt_op_refuse(call, DT_ERR_DTYPE, "tensor %d: expected floating point, got %s", i + 1,
                                dt_dtype_name(value->dtype));
    }
    return DT_OK;
}

/* The outputs are the tensors that are written: all but the gradient. */
static dt_status shape_step(dt_op_call *call) {
    DT__TRY(check_same_shape(call));
    for (int i = 0; i < call->n_inputs; i++)
        if (i != 1)
            DT__TRY(dt_op_add_output(call, call->inputs[i].dtype, call->inputs[i].n_dims, call->inputs[i].shape));
    return DT_OK;
}

static dt_status check_range(const dt_op_call *call, const char *name, double value, double below) {
    if (value >= 0 && value < below)
        return DT_OK;
    return below < INFINITY
               ? dt_op_refuse(call, DT_ERR_VALUE, "%s: expected 0 <= %s < %g, got %g", name, name, below, value)
               : dt_op_refuse(call, DT_ERR_VALUE, "%s: expected a number >= 0, got %g", name, value);
}

static dt_status check_adam(const dt_op_call *call) {
    DT__TRY(check_range(call, "lr", number_at(call, LR), INFINITY));
    DT__TRY(check_range(call, "weight_decay", number_at(call, WEIGHT_DECAY), INFINITY));
    DT__TRY(check_range(call, "beta1", number_at(call, BETA1), 1));
    DT__TRY(check_range(call, "beta2", number_at(call, BETA2), 1));
    DT__TRY(check_range(call, "eps", number_at(call, EPS), INFINITY));
    int64_t step = dt__arg_at(call, STEP)->as.i;
    return step >= 1 ? DT_OK : dt_op_refuse(call, DT_ERR_VALUE, "step: expected 1 or more, got %" PRId64, step);
}

static dt_status check_sgd(const dt_op_call *call) {
    double momentum = number_at(call, MOMENTUM);
    bool nesterov = dt__arg_at(call, NESTEROV)->as.b;
    DT__TRY(check_range(call, "lr", number_at(call, LR), INFINITY));
    DT__TRY(check_range(call, "weight_decay", number_at(call, WEIGHT_DECAY), INFINITY));
    DT__TRY(check_range(call, "momentum", momentum, INFINITY));
    if (momentum != 0 && call->n_inputs == 2)
        return dt_op_refuse(call, DT_ERR_VALUE, "momentum %g: expected a momentum_buffer, got none", momentum);
    if (nesterov && (momentum == 0 || number_at(call, DAMPENING) != 0))
        return dt_op_refuse(call, DT_ERR_VALUE, "nesterov: expected a momentum and no dampening, got %g and %g",
                            momentum, number_at(call, DAMPENING));
    return DT_OK;
}

struct bound_step {
    dt__optimizer_loop *loop;
    const dt__optimizer_step *step;
};

static void run_loop(int64_t n, const void *const *ins, void *const *outs, const void *arg) {
    const struct bound_step *self = arg;
    self->loop(n, ins, outs, self->step);
}

static dt_status run_step(dt_op_call *call, dt__optimizer kind, const dt__optimizer_step *step) {
    enum { MAX_OPERANDS = 9 };
    const dt__kernels *kernels = dt__kernels_of(call->ctx);
    dt__array arrays[MAX_OPERANDS];
    int n = call->n_inputs + call->n_outputs;
    dt_dtype dtype = DT_F32;
    for (int e = 0; e < n; e++) {
        arrays[e] = dt__array_of(dt__row_value(call, e));
        dtype = arrays[e].dtype == DT_F64 ? DT_F64 : dtype;
    }
    struct bound_step bound = {kernels->loops->optimizers[kind][dtype == DT_F64], step};
    dt__loop_operands_run(kernels, dt__pool_of(call->ctx),
                          &(dt__loop_operands){dtype, call->n_inputs, n, arrays, run_loop, &bound});
    return DT_OK;
}

static double sign_of(const dt_op_call *call) { return dt__arg_at(call, MAXIMIZE)->as.b ? -1 : 1; }

static dt_status run_adam(dt_op_call *call, bool is_decoupled) {
    double lr = number_at(call, LR), decay = number_at(call, WEIGHT_DECAY), beta1 = number_at(call, BETA1);
    double beta2 = number_at(call, BETA2), t = (double)dt__arg_at(call, STEP)->as.i;
    return run_step(call, call->n_inputs == 5 ? DT__AMSGRAD : DT__ADAM,
                    &(dt__optimizer_step){.grad_scale = sign_of(call) * number_at(call, GRAD_SCALE),
                                          .l2 = is_decoupled ? 0 : decay,
                                          .keep = is_decoupled ? 1 - lr * decay : 1,
                                          .beta1 = beta1,
                                          .beta2 = beta2,
                                          .rate = lr / (1 - pow(beta1, t)),
                                          .root = 1 / sqrt(1 - pow(beta2, t)),
                                          .eps = number_at(call, EPS)});
}
static dt_status adam_step(dt_op_call *call) { return run_adam(call, false); }
static dt_status adamw_step(dt_op_call *call) { return run_adam(call, true); }

static dt_status sgd_step(dt_op_call *call) {
    bool is_first = dt__arg_at(call, IS_FIRST)->as.b, nesterov = dt__arg_at(call, NESTEROV)->as.b;
    double momentum = number_at(call, MOMENTUM);
    return run_step(call, call->n_inputs == 2 ? DT__SGD : DT__MOMENTUM,
                    &(dt__optimizer_step){.grad_scale = sign_of(call) * number_at(call, GRAD_SCALE),
                                          .l2 = number_at(call, WEIGHT_DECAY),
                                          .rate = number_at(call, LR),
                                          .beta1 = is_first ? 0 : momentum,
                                          .fresh = is_first ? 1 : 1 - number_at(call, DAMPENING),
                                          .of_grad = nesterov ? 1 : 0,
                                          .of_mean = nesterov ? momentum : 1});
}

#define ADAM_NUMBERS                                                                                                 \
    "*, float lr, float beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, bool "        \
    "maximize=False, float grad_scale=1"
#define ADAM_STATE "Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq, "
#define ADAM_LISTS "(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, "
#define SGD_NUMBERS                                                                                                  \
    "*, float lr, float weight_decay=0, float momentum=0, float dampening=0, bool nesterov=False, bool "             \
    "maximize=False, bool is_first=False, float grad_scale=1"

#define ADAM(NAME, TEXT)                                                                                             \
    const dt_op dt__op_##NAME##_ = {                                                                                 \
        .schema =                                                                                                    \
            #NAME "_(Tensor(a!) self, Tensor grad, " ADAM_STATE ADAM_NUMBERS                                         \
                  ") -> (Tensor(a!) self, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq) | " #NAME                       \
                  "_.amsgrad(Tensor(a!) self, Tensor grad, " ADAM_STATE "Tensor(d!) max_exp_avg_sq, " ADAM_NUMBERS   \
                  ") -> (Tensor(a!) self, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq, Tensor(d!) max_exp_avg_sq)",    \
        .summary = "One step of " TEXT ": writes a parameter and its state.",                                        \
        .rule = "..., ..., ..., ..., ... -> ..., ..., ..., ...",                                                     \
        .arguments = "lr,weight_decay,grad_scale,maximize,beta1,beta2,eps,step",                                     \
        .varying = "lr,beta1,beta2,weight_decay,eps,step,grad_scale,maximize",                                       \
        .shape = shape_step,                                                                                         \
        .check = check_adam,                                                                                         \
        .kernel = NAME##_step,                                                                                       \
        .samples = #NAME "_(f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]; lr=0.1; weight_decay=0.1; step=3)\n" #NAME       \
                         "_(bf16[4]; bf16[4]; f32[4]; f32[4]; lr=0.1; step=1; maximize=true)\n" #NAME                \
                         "_(f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]; lr=0.1; step=3)",                      \
        .flags = DT_OP_NOT_DIFFERENTIABLE,                                                                           \
    };                                                                                                               \
    const dt_op dt__op__fused_##NAME##_ = {                                                                          \
        .schema = "_fused_" #NAME "_" ADAM_LISTS ADAM_NUMBERS ") -> () | _fused_" #NAME "_.amsgrad" ADAM_LISTS       \
                  "Tensor(d!)[] max_exp_avg_sqs, " ADAM_NUMBERS ") -> ()",                                           \
        .summary = "One step of " TEXT " for each parameter of a list.",                                             \
        .each = #NAME "_",                                                                                           \
        .samples = "_fused_" #NAME "_({f32[5,3]; f64[2]}; {f32[5,3]; f64[2]}; {f32[5,3]; f64[2]}; "                  \
                   "{f32[5,3]; f64[2]}; lr=0.1; step=2)\n_fused_" #NAME                                              \
                   "_({f32[5,3]; f64[2]}; {f32[5,3]; f64[2]}; {f32[5,3]; f64[2]}; {f32[5,3]; f64[2]}; "              \
                   "{f32[5,3]; f64[2]}; lr=0.1; step=2)",                                                            \
        .flags = DT_OP_LIST,                                                                                         \
    };
ADAM(adam, "Adam")
ADAM(adamw, "AdamW, Adam with decoupled weight decay")

const dt_op dt__op_sgd_ = {
    .schema = "sgd_(Tensor(a!) self, Tensor grad, " SGD_NUMBERS ") -> Tensor(a!) | "
              "sgd_.momentum(Tensor(a!) self, Tensor grad, Tensor(b!) momentum_buffer, " SGD_NUMBERS
              ") -> (Tensor(a!) self, Tensor(b!) momentum_buffer)",
    .summary = "One step of stochastic gradient descent, with or without momentum: writes a parameter and its state.",
    .rule = "..., ..., ... -> ..., ...",
    .partial = DT_PARTIAL_LINEAR,
    .arguments = "lr,weight_decay,grad_scale,maximize,momentum,dampening,nesterov,is_first",
    .varying = "lr,weight_decay,momentum,dampening,nesterov,maximize,is_first,grad_scale",
    .shape = shape_step,
    .check = check_sgd,
    .kernel = sgd_step,
    .samples = "sgd_(f32[5,3]; f32[5,3]; lr=0.1; weight_decay=0.1)\n"
               "sgd_(f32[5,3]; f32[5,3]; f32[5,3]; lr=0.1; momentum=0.9; nesterov=true)\n"
               "sgd_(f16[5]; f32[5]; f32[5]; lr=0.1; momentum=0.9; is_first=true)",
    .flags = DT_OP_NOT_DIFFERENTIABLE,
};
const dt_op dt__op__fused_sgd_ = {
    .schema = "_fused_sgd_(Tensor(a!)[] self, Tensor[] grads, " SGD_NUMBERS ") -> () | "
              "_fused_sgd_.momentum(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] momentum_buffers, " SGD_NUMBERS
              ") -> ()",
    .summary = "One step of stochastic gradient descent for each parameter of a list.",
    .each = "sgd_",
    .samples = "_fused_sgd_({f32[5,3]; f64[2]}; {f32[5,3]; f64[2]}; lr=0.1)\n"
               "_fused_sgd_({f32[5,3]; f64[2]}; {f32[5,3]; f64[2]}; {f32[5,3]; f64[2]}; lr=0.1; momentum=0.5)",
    .flags = DT_OP_LIST,
};
