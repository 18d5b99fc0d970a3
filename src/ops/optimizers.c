/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of optimizers: one op that reads a gradient and writes a parameter and its state, and the list op over many
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
enum { LR_DECAY = BETA1, ADAGRAD_EPS, ADAGRAD_STEP };
enum { RMSPROP_MOMENTUM = BETA1, ALPHA, RMSPROP_EPS, CENTERED };
enum { MOMENTUM_DECAY = STEP + 1, MU_PRODUCT, NADAM_DECOUPLED };
enum { RADAM_DECOUPLED = STEP + 1 };

static double number_at(const dt_op_call *call, int n) { return dt__arg_at(call, n)->as.f; }

/* pow, kept from the last call: all parameters of a list have the same powers, and a power costs as much as a step of a
 * few elements. */
static double power_of(double base, double exponent) {
    enum { N_KNOWN = 4 };
    static _Thread_local struct {
        double base, exponent, value;
    } known[N_KNOWN] = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
    static _Thread_local unsigned oldest;
    for (int i = 0; i < N_KNOWN; i++)
        if (known[i].base == base && known[i].exponent == exponent)
            return known[i].value;
    unsigned at = oldest++ % N_KNOWN;
    known[at].base = base;
    known[at].exponent = exponent;
    known[at].value = pow(base, exponent);
    return known[at].value;
}

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

/* A method: its numbers in a call, and the loop that takes them. */
typedef struct method {
    dt__loop_op op;
    dt__optimizer (*step)(const dt_op_call *call, dt__optimizer_step *out);
} method;

static void bind_step(const dt_op_call *call, dt_dtype dtype, dt__bound_loop *out) {
    const method *self = call->op->family;
    dt__optimizer kind = self->step(call, &out->argument.optimizer);
    out->loop = dt__kernels_of(call->ctx)->loops->optimizers[kind][dtype == DT_F64];
}

/* Computes in f64 if a tensor is f64, in f32 otherwise. */
static dt_status run_step(dt_op_call *call) {
    enum { MAX_OPERANDS = 9 };
    dt__array arrays[MAX_OPERANDS];
    dt_dtype dtype = DT_F32;
    dt__bound_loop bound;
    int n = call->n_inputs + call->n_outputs;
    for (int e = 0; e < n; e++) {
        arrays[e] = dt__array_of(dt__row_value(call, e));
        dtype = arrays[e].dtype == DT_F64 ? DT_F64 : dtype;
    }
    bind_step(call, dtype, &bound);
    dt__loop_operands_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                          &(dt__loop_operands){dtype, call->n_inputs, n, arrays, bound.loop, &bound.argument});
    return DT_OK;
}
#define METHOD(STEP)                                                                                                 \
    .kernel = run_step, .family = &(const method){{bind_step}, STEP}, .flags = DT_OP_NOT_DIFFERENTIABLE | DT__OP_LOOP

static double sign_of(const dt_op_call *call) { return dt__arg_at(call, MAXIMIZE)->as.b ? -1 : 1; }

static dt__optimizer any_adam_step(const dt_op_call *call, bool is_decoupled, dt__optimizer_step *out) {
    double lr = number_at(call, LR), decay = number_at(call, WEIGHT_DECAY), beta1 = number_at(call, BETA1);
    double beta2 = number_at(call, BETA2), t = (double)dt__arg_at(call, STEP)->as.i;
    *out = (dt__optimizer_step){.grad_scale = sign_of(call) * number_at(call, GRAD_SCALE),
                                .l2 = is_decoupled ? 0 : decay,
                                .keep = is_decoupled ? 1 - lr * decay : 1,
                                .beta1 = beta1,
                                .beta2 = beta2,
                                .rate = lr / (1 - power_of(beta1, t)),
                                .root = 1 / sqrt(1 - power_of(beta2, t)),
                                .eps = number_at(call, EPS)};
    return call->n_inputs == 5 ? DT__AMSGRAD : DT__ADAM;
}
static dt__optimizer adam_step(const dt_op_call *call, dt__optimizer_step *out) {
    return any_adam_step(call, false, out);
}
static dt__optimizer adamw_step(const dt_op_call *call, dt__optimizer_step *out) {
    return any_adam_step(call, true, out);
}

static dt__optimizer sgd_step(const dt_op_call *call, dt__optimizer_step *out) {
    bool is_first = dt__arg_at(call, IS_FIRST)->as.b, nesterov = dt__arg_at(call, NESTEROV)->as.b;
    double momentum = number_at(call, MOMENTUM);
    *out = (dt__optimizer_step){.grad_scale = sign_of(call) * number_at(call, GRAD_SCALE),
                                .l2 = number_at(call, WEIGHT_DECAY),
                                .rate = number_at(call, LR),
                                .beta1 = is_first ? 0 : momentum,
                                .fresh = is_first ? 1 : 1 - number_at(call, DAMPENING),
                                .of_grad = nesterov ? 1 : 0,
                                .of_mean = nesterov ? momentum : 1};
    return call->n_inputs == 2 ? DT__SGD : DT__MOMENTUM;
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
        .samples = #NAME "_(f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]; lr=0.1; weight_decay=0.1; step=3)\n" #NAME       \
                         "_(bf16[4]; bf16[4]; f32[4]; f32[4]; lr=0.1; step=1; maximize=true)\n" #NAME                \
                         "_(f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]; lr=0.1; step=3)",                      \
        METHOD(NAME##_step),                                                                                         \
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
        .flags = DT_OP_LIST | DT__OP_ALL_OR_NONE,                                                                    \
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
    .samples = "sgd_(f32[5,3]; f32[5,3]; lr=0.1; weight_decay=0.1)\n"
               "sgd_(f32[5,3]; f32[5,3]; f32[5,3]; lr=0.1; momentum=0.9; nesterov=true)\n"
               "sgd_(f16[5]; f32[5]; f32[5]; lr=0.1; momentum=0.9; is_first=true)",
    METHOD(sgd_step),
};
const dt_op dt__op__fused_sgd_ = {
    .schema = "_fused_sgd_(Tensor(a!)[] self, Tensor[] grads, " SGD_NUMBERS ") -> () | "
              "_fused_sgd_.momentum(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] momentum_buffers, " SGD_NUMBERS
              ") -> ()",
    .summary = "One step of stochastic gradient descent for each parameter of a list.",
    .each = "sgd_",
    .samples = "_fused_sgd_({f32[5,3]; f64[2]}; {f32[5,3]; f64[2]}; lr=0.1)\n"
               "_fused_sgd_({f32[5,3]; f64[2]}; {f32[5,3]; f64[2]}; {f32[5,3]; f64[2]}; lr=0.1; momentum=0.5)",
    .flags = DT_OP_LIST | DT__OP_ALL_OR_NONE,
};

/* Adaptive methods. */

static dt_status check_step(const dt_op_call *call, int at) {
    int64_t step = dt__arg_at(call, at)->as.i;
    return step >= 1 ? DT_OK : dt_op_refuse(call, DT_ERR_VALUE, "step: expected 1 or more, got %" PRId64, step);
}

static dt_status check_adagrad(const dt_op_call *call) {
    DT__TRY(check_range(call, "lr", number_at(call, LR), INFINITY));
    DT__TRY(check_range(call, "weight_decay", number_at(call, WEIGHT_DECAY), INFINITY));
    DT__TRY(check_range(call, "lr_decay", number_at(call, LR_DECAY), INFINITY));
    DT__TRY(check_range(call, "eps", number_at(call, ADAGRAD_EPS), INFINITY));
    return check_step(call, ADAGRAD_STEP);
}

static dt__optimizer adagrad_step(const dt_op_call *call, dt__optimizer_step *out) {
    double before = (double)dt__arg_at(call, ADAGRAD_STEP)->as.i - 1;
    *out = (dt__optimizer_step){.grad_scale = sign_of(call) * number_at(call, GRAD_SCALE),
                                .l2 = number_at(call, WEIGHT_DECAY),
                                .rate = number_at(call, LR) / (1 + before * number_at(call, LR_DECAY)),
                                .eps = number_at(call, ADAGRAD_EPS)};
    return DT__ADAGRAD;
}

static dt_status check_rmsprop(const dt_op_call *call) {
    double momentum = number_at(call, RMSPROP_MOMENTUM);
    int expected = 3 + (momentum > 0) + dt__arg_at(call, CENTERED)->as.b;
    DT__TRY(check_range(call, "lr", number_at(call, LR), INFINITY));
    DT__TRY(check_range(call, "weight_decay", number_at(call, WEIGHT_DECAY), INFINITY));
    DT__TRY(check_range(call, "momentum", momentum, INFINITY));
    DT__TRY(check_range(call, "alpha", number_at(call, ALPHA), INFINITY));
    DT__TRY(check_range(call, "eps", number_at(call, RMSPROP_EPS), INFINITY));
    if (call->n_inputs != expected)
        return dt_op_refuse(call, DT_ERR_VALUE, "momentum %g: expected %d states, got %d", momentum, expected - 2,
                            call->n_inputs - 2);
    return DT_OK;
}

static dt__optimizer rmsprop_step(const dt_op_call *call, dt__optimizer_step *out) {
    static const dt__optimizer kinds[2][2] = {{DT__RMSPROP, DT__RMSPROP_MOMENTUM},
                                              {DT__RMSPROP_CENTERED, DT__RMSPROP_CENTERED_MOMENTUM}};
    double momentum = number_at(call, RMSPROP_MOMENTUM);
    *out = (dt__optimizer_step){.grad_scale = sign_of(call) * number_at(call, GRAD_SCALE),
                                .l2 = number_at(call, WEIGHT_DECAY),
                                .rate = number_at(call, LR),
                                .beta1 = momentum,
                                .beta2 = number_at(call, ALPHA),
                                .eps = number_at(call, RMSPROP_EPS)};
    return kinds[dt__arg_at(call, CENTERED)->as.b][momentum > 0];
}

/* What the methods with two betas share. */
static dt__optimizer_step betas_step(const dt_op_call *call, bool is_decoupled) {
    double lr = number_at(call, LR), decay = number_at(call, WEIGHT_DECAY);
    return (dt__optimizer_step){.grad_scale = sign_of(call) * number_at(call, GRAD_SCALE),
                                .l2 = is_decoupled ? 0 : decay,
                                .keep = is_decoupled ? 1 - lr * decay : 1,
                                .rate = lr,
                                .beta1 = number_at(call, BETA1),
                                .beta2 = number_at(call, BETA2),
                                .eps = number_at(call, EPS)};
}

static dt__optimizer adamax_step(const dt_op_call *call, dt__optimizer_step *out) {
    dt__optimizer_step step = betas_step(call, false);
    step.rate /= 1 - power_of(step.beta1, (double)dt__arg_at(call, STEP)->as.i);
    *out = step;
    return DT__ADAMAX;
}

/* The momentum of step t, and its product over all steps so far, which includes this one. */
static dt__optimizer nadam_step(const dt_op_call *call, dt__optimizer_step *out) {
    dt__optimizer_step step = betas_step(call, dt__arg_at(call, NADAM_DECOUPLED)->as.b);
    double t = (double)dt__arg_at(call, STEP)->as.i, decay = number_at(call, MOMENTUM_DECAY);
    double mu = step.beta1 * (1 - 0.5 * power_of(0.96, t * decay));
    double next = step.beta1 * (1 - 0.5 * power_of(0.96, (t + 1) * decay)), product = number_at(call, MU_PRODUCT);
    step.of_grad = step.rate * (1 - mu) / (1 - product);
    step.of_mean = step.rate * next / (1 - product * next);
    step.root = 1 / sqrt(1 - power_of(step.beta2, t));
    *out = step;
    return DT__NADAM;
}

static dt__optimizer radam_step(const dt_op_call *call, dt__optimizer_step *out) {
    dt__optimizer_step step = betas_step(call, dt__arg_at(call, RADAM_DECOUPLED)->as.b);
    double t = (double)dt__arg_at(call, STEP)->as.i, power = power_of(step.beta2, t), bias = 1 - power;
    double longest = 2 / (1 - step.beta2) - 1, length = longest - 2 * t * power / bias;
    step.rate /= 1 - power_of(step.beta1, t);
    step.is_adaptive = length > 5;
    if (step.is_adaptive)
        step.rate *=
            sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) * sqrt(bias);
    *out = step;
    return DT__RADAM;
}

static dt_status check_lion(const dt_op_call *call) {
    DT__TRY(check_range(call, "lr", number_at(call, LR), INFINITY));
    DT__TRY(check_range(call, "weight_decay", number_at(call, WEIGHT_DECAY), INFINITY));
    DT__TRY(check_range(call, "beta1", number_at(call, BETA1), 1));
    return check_range(call, "beta2", number_at(call, BETA2), 1);
}

static dt__optimizer lion_step(const dt_op_call *call, dt__optimizer_step *out) {
    double lr = number_at(call, LR);
    *out = (dt__optimizer_step){.grad_scale = sign_of(call) * number_at(call, GRAD_SCALE),
                                .keep = 1 - lr * number_at(call, WEIGHT_DECAY),
                                .rate = lr,
                                .beta1 = number_at(call, BETA1),
                                .beta2 = number_at(call, BETA2)};
    return DT__LION;
}

/* An op of a parameter, its gradient and states, and its list op. STATES and RESULTS are those of the schema line, and
 * TENSORS and LISTS the samples' tensors. */
#define STEP_OP(NAME, TEXT, STATES, RESULTS, LIST_STATES, NUMBERS, RULE, ARGUMENTS, VARYING, CHECK, TENSORS, HALVES, \
                LISTS, SAMPLE)                                                                                       \
    const dt_op dt__op_##NAME##_ = {                                                                                 \
        .schema =                                                                                                    \
            #NAME "_(Tensor(a!) self, Tensor grad, " STATES ", " NUMBERS ") -> (Tensor(a!) self, " RESULTS ")",      \
        .summary = "One step of " TEXT ": writes a parameter and its state.",                                        \
        .rule = RULE,                                                                                                \
        .arguments = "lr,weight_decay,grad_scale,maximize," ARGUMENTS,                                               \
        .varying = VARYING,                                                                                          \
        .shape = shape_step,                                                                                         \
        .check = CHECK,                                                                                              \
        .samples = #NAME "_(" TENSORS "; lr=0.1; weight_decay=0.1" SAMPLE ")\n" #NAME "_(" HALVES                    \
                         "; lr=0.1; maximize=true" SAMPLE ")",                                                       \
        METHOD(NAME##_step),                                                                                         \
    };                                                                                                               \
    const dt_op dt__op__fused_##NAME##_ = {                                                                          \
        .schema = "_fused_" #NAME "_(Tensor(a!)[] self, Tensor[] grads, " LIST_STATES ", " NUMBERS ") -> ()",        \
        .summary = "One step of " TEXT " for each parameter of a list.",                                             \
        .each = #NAME "_",                                                                                           \
        .samples = "_fused_" #NAME "_(" LISTS "; lr=0.1" SAMPLE ")",                                                 \
        .flags = DT_OP_LIST | DT__OP_ALL_OR_NONE,                                                                    \
    };
#define PAIR "{f32[5,3]; f64[2]}"

STEP_OP(adagrad, "Adagrad", "Tensor(b!) state_sum", "Tensor(b!) state_sum", "Tensor(b!)[] state_sums",
        "*, float lr, float lr_decay=0, float weight_decay=0, float eps=1e-10, int step, bool maximize=False, float "
        "grad_scale=1",
        "..., ..., ... -> ..., ...", "lr_decay,eps,step", "lr,lr_decay,weight_decay,eps,step,maximize,grad_scale",
        check_adagrad, "f32[5,3]; f32[5,3]; f32[5,3]", "bf16[4]; bf16[4]; f32[4]", PAIR "; " PAIR "; " PAIR,
        "; lr_decay=0.5; step=3")
#define BETAS  "*, float lr, float beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, "
#define ENDING "bool maximize=False, float grad_scale=1"
STEP_OP(adamax, "Adamax", "Tensor(b!) exp_avg, Tensor(c!) exp_inf", "Tensor(b!) exp_avg, Tensor(c!) exp_inf",
        "Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_infs", BETAS ENDING, "..., ..., ..., ... -> ..., ..., ...",
        "beta1,beta2,eps,step", "lr,beta1,beta2,weight_decay,eps,step,maximize,grad_scale", check_adam,
        "f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]", "bf16[4]; bf16[4]; f32[4]; f32[4]",
        PAIR "; " PAIR "; " PAIR "; " PAIR, "; step=3")
#define MOMENTS      "Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq"
#define MOMENT_LISTS "Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs"
STEP_OP(nadam, "NAdam", MOMENTS, MOMENTS, MOMENT_LISTS,
        BETAS "float momentum_decay=0.004, float mu_product, bool decoupled_weight_decay=False, " ENDING,
        "..., ..., ..., ... -> ..., ..., ...",
        "beta1,beta2,eps,step,momentum_decay,mu_product,decoupled_weight_decay",
        "lr,beta1,beta2,weight_decay,eps,step,momentum_decay,mu_product,decoupled_weight_decay,maximize,grad_scale",
        check_adam, "f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]", "bf16[4]; bf16[4]; f32[4]; f32[4]",
        PAIR "; " PAIR "; " PAIR "; " PAIR, "; step=3; mu_product=0.1")
STEP_OP(radam, "RAdam", MOMENTS, MOMENTS, MOMENT_LISTS, BETAS "bool decoupled_weight_decay=False, " ENDING,
        "..., ..., ..., ... -> ..., ..., ...", "beta1,beta2,eps,step,decoupled_weight_decay",
        "lr,beta1,beta2,weight_decay,eps,step,decoupled_weight_decay,maximize,grad_scale", check_adam,
        "f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]", "bf16[4]; bf16[4]; f32[4]; f32[4]",
        PAIR "; " PAIR "; " PAIR "; " PAIR, "; step=9")
STEP_OP(lion, "Lion", "Tensor(b!) exp_avg", "Tensor(b!) exp_avg", "Tensor(b!)[] exp_avgs",
        "*, float lr, float beta1=0.9, float beta2=0.99, float weight_decay=0, " ENDING, "..., ..., ... -> ..., ...",
        "beta1,beta2", "lr,beta1,beta2,weight_decay,maximize,grad_scale", check_lion, "f32[5,3]; f32[5,3]; f32[5,3]",
        "bf16[4]; bf16[4]; f32[4]", PAIR "; " PAIR "; " PAIR, "")

#define RMSPROP_NUMBERS                                                                                              \
    "*, float lr, float alpha=0.99, float weight_decay=0, float eps=1e-08, float momentum=0, bool centered=False, "  \
    "bool maximize=False, float grad_scale=1"
#define RMSPROP(OVERLOAD, STATES, RESULTS)                                                                           \
    "rmsprop_" OVERLOAD "(Tensor(a!) self, Tensor grad, Tensor(b!) square_avg" STATES ", " RMSPROP_NUMBERS           \
    ") -> (Tensor(a!) self, Tensor(b!) square_avg" RESULTS ")"
#define FUSED_RMSPROP(OVERLOAD, STATES)                                                                              \
    "_fused_rmsprop_" OVERLOAD "(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] square_avgs" STATES                 \
    ", " RMSPROP_NUMBERS ") -> ()"
const dt_op dt__op_rmsprop_ = {
    .schema = RMSPROP("", "", "") " | " RMSPROP(".state", ", Tensor(c!) state", ", Tensor(c!) state") " | " RMSPROP(
        ".centered_momentum", ", Tensor(c!) grad_avg, Tensor(d!) momentum_buffer",
        ", Tensor(c!) grad_avg, Tensor(d!) momentum_buffer"),
    .summary = "One step of RMSprop: writes a parameter and its state.",
    .rule = "..., ..., ..., ..., ... -> ..., ..., ..., ...",
    .arguments = "lr,weight_decay,grad_scale,maximize,momentum,alpha,eps,centered",
    .varying = "lr,weight_decay,alpha,eps,momentum,centered,maximize,grad_scale",
    .shape = shape_step,
    .check = check_rmsprop,
    .samples = "rmsprop_(f32[5,3]; f32[5,3]; f32[5,3]; lr=0.1; weight_decay=0.1)\n"
               "rmsprop_(f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]; lr=0.1; momentum=0.9)\n"
               "rmsprop_(bf16[4]; bf16[4]; f32[4]; f32[4]; lr=0.1; centered=true; maximize=true)\n"
               "rmsprop_(f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]; f32[5,3]; lr=0.1; momentum=0.9; centered=true)",
    METHOD(rmsprop_step),
};
const dt_op dt__op__fused_rmsprop_ = {
    .schema = FUSED_RMSPROP("", "") " | " FUSED_RMSPROP(".state", ", Tensor(c!)[] states") " | " FUSED_RMSPROP(
        ".centered_momentum", ", Tensor(c!)[] grad_avgs, Tensor(d!)[] momentum_buffers"),
    .summary = "One step of RMSprop for each parameter of a list.",
    .each = "rmsprop_",
    .samples =
        "_fused_rmsprop_(" PAIR "; " PAIR "; " PAIR "; lr=0.1)\n"
        "_fused_rmsprop_(" PAIR "; " PAIR "; " PAIR "; " PAIR "; lr=0.1; momentum=0.5)\n"
        "_fused_rmsprop_(" PAIR "; " PAIR "; " PAIR "; " PAIR "; " PAIR "; lr=0.1; momentum=0.5; centered=true)",
    .flags = DT_OP_LIST | DT__OP_ALL_OR_NONE,
};
