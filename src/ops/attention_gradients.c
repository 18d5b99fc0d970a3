/* SPDX-License-Identifier: Apache-2.0
 *
 * The gradients of scaled dot product attention, with respect to queries, keys, values and the mask. They need no
 * meeting of ranks that hold different keys: they follow from the logarithm of the sum of exponentials, which the call
 * saves. In a call that is differentiated again they are made of other ops.
 */
#include "dtensor/autograd.h"
#include "dtensor/ops.h"
#include "ops/attention_by_ops.h"
#include "ops/attention_call.h"

static dt_status check_like(const dt_op_call *call, int input, const char *name, const dt__shape *leading, int n,
                            const int64_t *sizes) {
    const dt_op_value *value = &call->inputs[input];
    bool same = value->n_dims == leading->n + n;
    for (int d = 0; d < value->n_dims && same; d++)
        same = value->shape[d] == (d < leading->n ? leading->sizes[d] : sizes[d - leading->n]);
    return same ? DT_OK : dt_op_refuse(call, DT_ERR_SHAPE, "%s does not have the shape of attention's result", name);
}

/* The heads of the keys among the leading dims. */
static dt__shape key_leading(const dt_op_call *call, const dt__shape *leading) {
    dt__shape out = *leading;
    if (dt__attention_is_grouped(call))
        out.sizes[out.n - 1] = dt__size_from_end(dt__attention_query(call) + 1, 3);
    return out;
}

static dt_status check_gradient(const dt_op_call *call, dt__shape *leading) {
    const dt_op_value *query = dt__attention_query(call);
    DT__TRY(dt__attention_check(call, leading));
    const int64_t sizes[] = {dt__size_from_end(query, 2), dt__size_from_end(query + 2, 1)};
    DT__TRY(dt__expect_floating(call, DT__ATTENTION_GRAD));
    DT__TRY(dt__expect_floating(call, DT__ATTENTION_OUT));
    DT__TRY(dt__expect_floating(call, DT__ATTENTION_LOGSUMEXP));
    DT__TRY(check_like(call, DT__ATTENTION_GRAD, "grad_out", leading, 2, sizes));
    DT__TRY(check_like(call, DT__ATTENTION_OUT, "out", leading, 2, sizes));
    return check_like(call, DT__ATTENTION_LOGSUMEXP, "logsumexp", leading, 1, sizes);
}

static dt_status shape_backward(dt_op_call *call) {
    const dt_op_value *query = dt__attention_query(call);
    dt__shape leading;
    DT__TRY(check_gradient(call, &leading));
    const dt__shape of_keys = key_leading(call, &leading);
    DT__TRY(dt__attention_add_output(call, query->dtype, &leading, 2, query[0].shape + query[0].n_dims - 2));
    DT__TRY(dt__attention_add_output(call, query->dtype, &of_keys, 2, query[1].shape + query[1].n_dims - 2));
    return dt__attention_add_output(call, query->dtype, &of_keys, 2, query[2].shape + query[2].n_dims - 2);
}

static dt_status shape_mask_backward(dt_op_call *call) {
    const dt_op_value *query = dt__attention_query(call);
    dt__shape leading;
    DT__TRY(check_gradient(call, &leading));
    const int64_t sizes[] = {dt__size_from_end(query, 2), dt__size_from_end(query + 1, 2)};
    return dt__attention_add_output(call, query->dtype, &leading, 2, sizes);
}

typedef struct gradient_rules {
    const char *plain[2], *grouped[2]; /* by causal */
} gradient_rules;

#define GRADIENT_RULES(outputs, grouped_outputs)                                                                     \
    &(const gradient_rules) {                                                                                        \
        {"...ld!, ...le!, ...se, ...sd, ...ld, ...l, %s -> " outputs,                                                \
         "...ld!, ...l@e!, ...s@e, ...sd, ...ld, ...l, %s -> " outputs},                                             \
        {                                                                                                            \
            "...hld!, ...h@le!, ...g!se, ...gsd, ...hld, ...hl, %s -> " grouped_outputs,                             \
                "...hld!, ...h@l@e!, ...g!s@e, ...gsd, ...hld, ...hl, %s -> " grouped_outputs                        \
        }                                                                                                            \
    }

/* Linear in the gradient of the result. */
static void rows_gradient(const dt_op_call *call, dt_rows *rows) {
    const gradient_rules *of = call->op->family;
    dt__attention_add_factors(call, dt__attention_is_grouped(call) ? of->grouped : of->plain, rows);
    dt__attention_add_grouped(call, rows);
    dt_rows_linear(rows, 1 << DT__ATTENTION_GRAD);
}

static dt_status run_gradients(const dt_op_call *call, const dt__array *const grads[4]) {
    dt__attention_arrays of;
    DT__TRY(dt__attention_call_prepare(call, &of));
    const dt__array grad = dt__array_of(&call->inputs[DT__ATTENTION_GRAD]),
                    out = dt__array_of(&call->inputs[DT__ATTENTION_OUT]);
    const dt__array logsumexp = dt__array_of(&call->inputs[DT__ATTENTION_LOGSUMEXP]);
    dt__products *products = dt__products_of(call->ctx);
    if (!products)
        return dt_error_status(call->ctx);
    const dt__attention_grads request = {.grad = &grad,
                                         .out = &out,
                                         .logsumexp = &logsumexp,
                                         .query = grads[0],
                                         .key = grads[1],
                                         .value = grads[2],
                                         .mask = grads[3]};
    return dt__attention_grads_run(products, &of.args, &request) ? DT_OK : dt__fail_memory(call->ctx, 0, call->name);
}

static dt_status backward(dt_op_call *call) {
    const dt__array grads[3] = {dt__array_of(&call->outputs[0]), dt__array_of(&call->outputs[1]),
                                dt__array_of(&call->outputs[2])};
    return run_gradients(call, (const dt__array *const[]){&grads[0], &grads[1], &grads[2], NULL});
}

static dt_status mask_backward(dt_op_call *call) {
    const dt__array grad = dt__array_of(&call->outputs[0]);
    return run_gradients(call, (const dt__array *const[]){NULL, NULL, NULL, &grad});
}

/* Gradients by ops, of calls that are differentiated again. */
static dt__attention_tensors tensors_of(const dt_op_call *call, dt_tensor *const *inputs) {
    const dt_arg *mask = dt__arg_at(call, DT__ATTENTION_MASK);
    dt_tensor *const *query = inputs + (dt__attention_query(call) - call->inputs);
    return (dt__attention_tensors){.query = query[0],
                                   .key = query[1],
                                   .value = query[2],
                                   .mask = mask->type == DT_ARG_TENSOR ? inputs[mask->as.first] : NULL,
                                   .scale = dt__attention_scale(call),
                                   .is_causal = dt__attention_is_causal(call),
                                   .is_grouped = dt__attention_is_grouped(call)};
}

/* The factors of dropout as a tensor, from the draw that was taken. */
static dt_tensor *kept_of(const dt_op_call *call, const dt__attention_tensors *of, dt_generator_state drawn) {
    const dt_op_value *query = dt__attention_query(call);
    dt__shape shape;
    dt__attention_leading(call, &shape);
    shape.sizes[shape.n++] = dt__size_from_end(query, 2);
    shape.sizes[shape.n++] = dt__size_from_end(query + 1, 2);
    return dt__dropout_factors(call->ctx, (dt_shape){shape.n, shape.sizes}, dt__attention_dtype(query->dtype),
                               dt_tensor_mesh(of->query), dt__attention_dropout_p(call), drawn);
}

static dt_status decompose_gradients(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt__attention_tensors of = tensors_of(call, inputs);
    of.grad = inputs[DT__ATTENTION_GRAD];
    of.out = inputs[DT__ATTENTION_OUT];
    of.logsumexp = inputs[DT__ATTENTION_LOGSUMEXP];
    of.kept = dt__attention_dropout_p(call) > 0 ? kept_of(call, &of, dt__attention_drawn(call)) : NULL;
    const dt__attention_tensor_grads grads = dt__attention_grads_by_ops(call->ctx, &of);
    dt_tensor *made[] = {grads.query, grads.key, grads.value};
    for (int o = 0; o < call->n_outputs; o++) {
        dt_tensor *grad = call->n_outputs == 1 ? grads.scores : made[o];
        outputs[o] = grad && grad->dtype != call->outputs[o].dtype ? dt_to(grad, call->outputs[o].dtype) : grad;
    }
    return dt_failed(call->ctx) ? dt_error_status(call->ctx) : DT_OK;
}

static bool is_recorded(const dt_op_backward *call) {
    bool any = dt_requires_grad(call->grads[0]);
    for (int i = 0; i < call->call->n_inputs; i++)
        any |= dt_requires_grad(call->inputs[i]);
    return any;
}

dt_status dt__attention_gradients(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    dt__attention_tensors of = tensors_of(op, call->inputs);
    dt_tensor *out = call->outputs[dt__attention_is_rounded(op) ? 2 : 0], *logsumexp = call->outputs[1];
    dt_generator_state drawn = {0};
    const double p = dt__attention_dropout_p(op);
    if (p > 0)
        DT__TRY(dt_op_draw(op, &drawn));
    of.grad = call->grads[0];
    if (is_recorded(call)) {
        of.kept = p > 0 ? kept_of(op, &of, drawn) : NULL;
        const dt__attention_tensor_grads grads = dt__attention_grads_by_ops(op->ctx, &of);
        dt_tensor *made[] = {grads.query, grads.key, grads.value, grads.scores};
        for (int i = 0; i < op->n_inputs; i++)
            input_grads[i] = call->needed[i] ? made[i] : NULL;
        return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
    }
    if (call->needed[0] || call->needed[1] || call->needed[2]) {
        const dt_attention_backward_result grads = dt_attention_backward(
            of.grad, of.query, of.key, of.value, out, logsumexp, .attn_mask = of.mask, .is_causal = of.is_causal,
            .scale = DT_REAL(of.scale), .enable_gqa = of.is_grouped, .dropout_p = DT_REAL(p),
            .seed = DT_INT((int64_t)drawn.seed), .draw = DT_INT((int64_t)drawn.draw));
        input_grads[0] = grads.grad_query;
        input_grads[1] = grads.grad_key;
        input_grads[2] = grads.grad_value;
    }
    if (op->n_inputs > 3 && call->needed[3])
        input_grads[3] = dt_attention_mask_backward(
            of.grad, of.query, of.key, of.value, out, logsumexp, .attn_mask = of.mask, .is_causal = of.is_causal,
            .scale = DT_REAL(of.scale), .enable_gqa = of.is_grouped, .dropout_p = DT_REAL(p),
            .seed = DT_INT((int64_t)drawn.seed), .draw = DT_INT((int64_t)drawn.draw));
    return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
}

/* Scores again, and a product for each of four gradients. */
static double backward_flops(const dt_op_call *call) { return 2.5 * dt__attention_flops(call); }

#define GRADIENT_ARGUMENTS                                                                                           \
    "(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp, "                       \
    "Tensor? attn_mask=None, bool is_causal=False, *, float? scale=None, bool enable_gqa=False, "                    \
    "float dropout_p=0.0, int seed=0, int draw=0)"

/* The scale keeps weights in the range of f16: the verifier's logarithms of sums are not those of its scores. */
#define GRADIENT_SAMPLES(name)                                                                                       \
    name                                                                                                             \
        "(f32[2,3,5,2]; f32[2,3,5,4]; f32[2,3,3,4]; f32[2,3,3,2]; f32[2,3,5,2]; f32[2,3,5]; scale=0.02)\n" name      \
        "(f32[2,5,2]; f32[2,5,3]; f32[2,5,3]; f32[2,5,2]; f32[2,5,2]; f32[2,5]; is_causal=true; scale=0.02)\n" name  \
        "(f32[5,2]; f32[5,3]; f32[4,3]; f32[4,2]; f32[5,2]; f32[5]; bool[5,4]; scale=0.02)\n" name                   \
        "(f32[6,3,2]; f32[6,3,2]; f32[3,5,2]; f32[3,5,2]; f32[6,3,2]; f32[6,3]; scale=0.02; enable_gqa=true)\n" name \
        "(f32[2,5,2]; f32[2,5,3]; f32[2,4,3]; f32[2,4,2]; f32[2,5,2]; f32[2,5]; scale=0.02; dropout_p=0.3; seed=7)"

const dt_op dt__op_attention_backward = {
    .schema = "attention_backward" GRADIENT_ARGUMENTS " -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)",
    .summary = "The gradients of attention with respect to queries, keys and values.",
    .rows = rows_gradient,
    .arguments = DT__ATTENTION_ARGUMENTS ",seed,draw",
    .varying = "scale,dropout_p,seed,draw",
    .class_of = dt__attention_class,
    .check = dt__attention_check_dropout,
    .shape = shape_backward,
    .kernel = backward,
    .family = GRADIENT_RULES("...le, ...se, ...sd", "...hle, ...gse, ...gsd"),
    .samples = GRADIENT_SAMPLES("attention_backward"),
    .flops = backward_flops,
    .decompose = decompose_gradients,
    .flags = DT_OP_RECORDS_PARTS,
};

const dt_op dt__op_attention_mask_backward = {
    .schema = "attention_mask_backward" GRADIENT_ARGUMENTS " -> Tensor",
    .summary = "The gradient of attention with respect to its scores, which is that of a mask.",
    .rows = rows_gradient,
    .arguments = DT__ATTENTION_ARGUMENTS ",seed,draw",
    .varying = "scale,dropout_p,seed,draw",
    .class_of = dt__attention_class,
    .check = dt__attention_check_dropout,
    .shape = shape_mask_backward,
    .kernel = mask_backward,
    .family = GRADIENT_RULES("...ls", "...hls"),
    .samples = GRADIENT_SAMPLES("attention_mask_backward"),
    .decompose = decompose_gradients,
    .flags = DT_OP_RECORDS_PARTS,
};
