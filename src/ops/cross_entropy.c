/* SPDX-License-Identifier: Apache-2.0
 *
 * Cross entropy of logits, and the negative log-likelihood of log-probabilities. Targets are classes, or of
 * cross_entropy also probabilities of all classes. With x the logits of a row, w the weights of the C classes, t its
 * class, L = log(sum(exp(x))) and s = label_smoothing, the loss of the row is
 *
 *     (1 - s) w[t] (L - x[t]) + s / C (L sum(w) - sum(w x))       of a class
 *     (1 - s) sum(w p (L - x)) + s / C (L sum(w) - sum(w x))       of probabilities p
 *
 * and a mean is divided by the sum of all w[t], or by the number of rows. Where classes are sharded the ranks meet: the
 * state of a row is its largest logit m, the sum of exponentials relative to that, and the sums above, so that no
 * logits are sent; that of w p (L - x) is made of those of w p (x - m) and w p, as L - m does not cancel. Where rows
 * are sharded, the ranks exchange the divisor of a mean of classes, one number each (class_means.h).
 */
#include "ops/class_means.h"
#include "ops/class_rows.h"
#include "ops/cross_entropy_gradients.h"
#include "ops/ops.h"
#include "ops/states.h"

#include <math.h>

/* The loss; for the gradient L of each row (not of nll_loss), and the divisor. */
static dt_status shape_loss(dt_op_call *call) {
    const dt_op_value *input = dt__loss_value(call, DT__LOSS_INPUT);
    dt__shape rows;
    DT__TRY(dt__loss_check(call, !dt__loss_is_nll(call)));
    dt__loss_rows_shape(input, &rows);
    DT__TRY(dt_op_add_output(call, input->dtype, dt__loss_reduction(call) == 'n' ? rows.n : 0, rows.sizes));
    if (!dt__loss_is_nll(call))
        DT__TRY(dt_op_add_output(call, dt__loss_dtype(input->dtype), rows.n, rows.sizes));
    return dt_op_add_output(call, dt__loss_dtype(input->dtype), 0, rows.sizes);
}

/* The row that shards this dim of the input. Over classes, the ranks meet in cross_entropy; in nll_loss one rank has
 * the element, and the others add zero. A mean of classes is decomposed, so its other dims have no such row. */
static void add_row(const dt_op_call *call, dt_rows *rows, int d) {
    bool nll = dt__loss_is_nll(call), of_classes = !dt__loss_of_probabilities(call);
    int dim = dt__class_dim(&call->inputs[0]), n = 0;
    bool along_classes = d == dim;
    if (!along_classes && of_classes && dt__loss_reduction(call) == 'm')
        return;
    dt_row_entry entries[6], of_row = along_classes ? DT_ROW_R : DT_ROW_S(d < dim ? d : d - 1);
    dt_row_entry summed = along_classes && !nll ? DT_ROW_R : DT_ROW_P(DT_SUM);
    entries[n++] = DT_ROW_S(d);
    entries[n++] = of_classes ? of_row : DT_ROW_S(d);
    if (dt__loss_value(call, DT__LOSS_WEIGHT))
        entries[n++] = DT_ROW_R;
    entries[n++] = dt__loss_reduction(call) == 'n' && !along_classes ? of_row : summed;
    if (!nll)
        entries[n++] = of_row;
    entries[n] = DT_ROW_R;
    dt_rows_add(rows, along_classes ? DT_ROW_OFFSET | (nll ? DT_ROW_UNLISTED : DT_ROW_MEET) : 0, entries);
}

static void rows_loss(const dt_op_call *call, dt_rows *rows) {
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        add_row(call, rows, d);
    if (dt__loss_value(call, DT__LOSS_WEIGHT) &&
        !(dt__loss_reduction(call) == 'm' && !dt__loss_of_probabilities(call)))
        dt_rows_linear(rows, 1 << 2);
    if (dt__loss_of_probabilities(call)) {
        dt_rows_reduce(rows, 1 << 1, DT_AVG, DT_AVG);
        if (dt__loss_smoothing(call) == 0)
            dt_rows_linear(rows, 1 << 1);
    }
    if (!dt__loss_is_nll(call))
        return;
    dt_rows_linear(rows, 1);
    if (dt__loss_reduction(call) == 'n' && !dt__loss_value(call, DT__LOSS_WEIGHT))
        dt_rows_monotone(rows, 0, false);
}

/* Whether there is smoothing: states have one more sum per row then, and probabilities that are partial sums would add
 * it several times. */
static int64_t class_of_loss(const dt_op_call *call) { return dt__loss_smoothing(call) != 0; }

/* a of each row, or of each class of this rank, broadcast to the logits. */
static dt__array by_row(const dt__class_rows *rows, double *a, int64_t *strides) {
    for (int d = 0; d < rows->n_dims; d++)
        strides[d < rows->dim ? d : d + 1] = rows->strides[d];
    strides[rows->dim] = 0;
    return (dt__array){a, DT_F64, rows->logits->n_dims, rows->logits->shape, strides};
}
static dt__array by_class(const dt__class_rows *rows, double *a, int64_t *strides) {
    for (int d = 0; d < rows->logits->n_dims; d++)
        strides[d] = d == rows->dim;
    return (dt__array){a + rows->first, DT_F64, rows->logits->n_dims, rows->logits->shape, strides};
}

static void sum_classes(const dt__class_rows *rows, const dt__array *from, double *out) {
    dt__array to = dt__class_rows_array(rows, out, DT_F64);
    dt__reduce(dt__kernels_of(rows->call->ctx), dt__pool_of(rows->call->ctx),
               &(dt__reduction){DT__FOLD_SUM, (uint64_t)1 << rows->dim, 0, from, &to});
}

/* sum(w a) over the classes of this rank. */
static dt_status sum_weighted(const dt__class_rows *rows, const dt_op_value *a, double *out) {
    int64_t strides[DT_SPEC_MAX_DIMS];
    dt__array first = dt__array_of(a), weights = by_class(rows, rows->weights, strides);
    dt__scratch product;
    if (!rows->is_weighted) {
        sum_classes(rows, &first, out);
        return DT_OK;
    }
    DT__TRY(dt__scratch_new(rows->call, DT_F64, a->n_dims, a->shape, &product));
    dt_status status = dt__run_elements(rows->call, DT__EL_MUL, DT_F64, &product.array, &first, &weights, NULL);
    if (status == DT_OK)
        sum_classes(rows, &product.array, out);
    dt__scratch_free(rows->call, &product);
    return status;
}

/* (x - m) p w, with m of each row. */
static dt_status multiply(const dt__class_rows *rows, double *m, const dt__array *out) {
    const dt_op_call *call = rows->call;
    int64_t rows_strides[DT_SPEC_MAX_DIMS], class_strides[DT_SPEC_MAX_DIMS];
    dt__array x = dt__array_of(rows->logits), largest = by_row(rows, m, rows_strides);
    dt__array p = dt__array_of(dt__loss_value(call, DT__LOSS_TARGET));
    dt__array weights = by_class(rows, rows->weights, class_strides);
    DT__TRY(dt__run_elements(call, DT__EL_SUB, out->dtype, out, &x, &largest, NULL));
    DT__TRY(dt__run_elements(call, DT__EL_MUL, out->dtype, out, out, &p, NULL));
    return rows->is_weighted ? dt__run_elements(call, DT__EL_MUL, out->dtype, out, out, &weights, NULL) : DT_OK;
}

/* sum(w p (x - m)) over the classes of this rank; relative to 0 where all logits of a row are -inf. */
static dt_status sum_below_largest(const dt__class_rows *rows, const double *largest, double *out) {
    const dt_op_value *x = rows->logits;
    dt__scratch finite, product;
    DT__TRY(dt__scratch_new(rows->call, DT_F64, 1, &rows->n, &finite));
    double *m = finite.array.data;
    for (int64_t i = 0; i < rows->n; i++)
        m[i] = largest[i] == -INFINITY ? 0 : largest[i];
    dt_status status = dt__scratch_new(rows->call, dt__loss_dtype(x->dtype), x->n_dims, x->shape, &product);
    if (status == DT_OK) {
        status = multiply(rows, m, &product.array);
        if (status == DT_OK)
            sum_classes(rows, &product.array, out);
        dt__scratch_free(rows->call, &product);
    }
    dt__scratch_free(rows->call, &finite);
    return status;
}

/* The third field of the state has numbers that are added, of each row: */
typedef struct row_sums {
    double *at_target; /* x[t], or sum(w p (x - m)) */
    double *weight;    /* sum(w p); NULL for classes */
    double *weighted;  /* sum(w x); NULL without smoothing */
} row_sums;

static int n_sums(const dt_op_call *call) {
    return 1 + dt__loss_of_probabilities(call) + (dt__loss_smoothing(call) != 0);
}

static row_sums sums_of(const dt_op_call *call, const dt_state *state) {
    double *data = state->fields[2].data;
    int64_t n = state->fields[0].n;
    return (row_sums){.at_target = data,
                      .weight = dt__loss_of_probabilities(call) ? data + n : NULL,
                      .weighted = dt__loss_smoothing(call) != 0 ? data + (n_sums(call) - 1) * n : NULL};
}

static void describe(const dt_op_call *call, dt_state *state) {
    dt__statistics_describe(call, DT__EXPONENTIALS, (uint32_t)1 << dt__class_dim(&call->inputs[0]), state);
    state->n_fields = 3;
    state->fields[2] = (dt_state_field){.dtype = DT_F64, .n = n_sums(call) * state->fields[0].n, .identity = 0};
}

static dt_status begin_sums(const dt__class_rows *rows, const double *largest, const row_sums *to) {
    if (rows->of_classes)
        DT__TRY(dt__load_at_classes(rows, to->at_target));
    else {
        DT__TRY(sum_below_largest(rows, largest, to->at_target));
        DT__TRY(sum_weighted(rows, dt__loss_value(rows->call, DT__LOSS_TARGET), to->weight));
        for (int64_t i = 0; i < rows->n; i++) /* 0 times infinity at some rank's largest logit */
            to->at_target[i] = isinf(to->weight[i]) ? (double)NAN : to->at_target[i];
    }
    return to->weighted ? sum_weighted(rows, rows->logits, to->weighted) : DT_OK;
}

static dt_status begin(dt_op_call *call, const dt_state *state) {
    dt__array in = dt__array_of(&call->inputs[0]);
    dt__class_rows rows;
    row_sums to = sums_of(call, state);
    DT__TRY(dt__class_rows_open(call, &rows));
    dt__statistics_begin(call, DT__EXPONENTIALS, (uint32_t)1 << rows.dim, &in, NULL, state);
    dt_status status = begin_sums(&rows, state->fields[0].data, &to);
    dt__class_rows_close(&rows);
    return status;
}

/* sum(w p (x - m)) relative to another m; where m is -inf it is relative to 0. */
static double moved(double sum, double weight, double from, double to) {
    return from == to || from == -INFINITY ? sum : sum + weight * (from - to);
}

static void merge(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    row_sums to = sums_of(call, into), from = sums_of(call, next);
    double *sum = into->fields[2].data;
    const double *more = next->fields[2].data, *a = into->fields[0].data, *b = next->fields[0].data;
    int64_t n = to.weight ? into->fields[0].n : 0;
    for (int64_t i = 0; i < n; i++) {
        double largest = a[i] > b[i] || isnan(a[i]) ? a[i] : b[i];
        to.at_target[i] = moved(to.at_target[i], to.weight[i], a[i], largest) +
                          moved(from.at_target[i], from.weight[i], b[i], largest);
    }
    for (int64_t i = n; i < into->fields[2].n; i++)
        sum[i] += more[i];
    dt__statistics_meet(call, DT__EXPONENTIALS, into, next);
}

/* Writes the losses of the rows, or their sum, and the divisor. */
static void write_losses(const dt__class_rows *rows, double *losses) {
    const dt_op_call *call = rows->call;
    dt__array out = dt__array_of(&call->outputs[0]), from = dt__class_rows_array(rows, losses, DT_F64);
    double sum = 0, total = rows->total;
    if (dt__loss_reduction(call) != 'n') {
        for (int64_t i = 0; i < rows->n; i++)
            sum += losses[i];
        if (dt__loss_reduction(call) == 'm')
            sum = total == 0 ? NAN : sum / total; /* also where weights cancel out: parts may be infinite */
        from = (dt__array){&sum, DT_F64, 0, NULL, NULL};
    }
    dt__run_convert(call, &out, &from);
    if (call->n_outputs > 1) {
        dt__array to = dt__array_of(&call->outputs[call->n_outputs - 1]);
        dt__run_convert(call, &to, &(dt__array){&total, DT_F64, 0, NULL, NULL});
    }
}

/* In the state the largest logits become L, and the sums of exponentials the losses. */
static void compute_losses(const dt__class_rows *rows, const dt_state *merged) {
    row_sums sums = sums_of(rows->call, merged);
    double *logsumexp = merged->fields[0].data, *losses = merged->fields[1].data, all = 0;
    double smoothing = dt__loss_smoothing(rows->call), smooth = smoothing / (double)rows->n_classes;
    for (int64_t c = 0; c < rows->n_classes; c++)
        all += rows->weights[c];
    for (int64_t i = 0; i < rows->n; i++) {
        double logarithm = log(losses[i]); /* L - m */
        double loss = rows->of_classes ? rows->weight_at[i] * (logarithm + (logsumexp[i] - sums.at_target[i]))
                                       : logarithm * sums.weight[i] - sums.at_target[i];
        if (smoothing != 0)
            loss = (1 - smoothing) * loss + smooth * (logarithm * all + (logsumexp[i] * all - sums.weighted[i]));
        logsumexp[i] += logarithm;
        losses[i] = rows->of_classes && rows->classes[i] == dt__loss_ignored(rows->call) ? 0 : loss;
    }
}

static dt_status finish(dt_op_call *call, const dt_state *merged) {
    dt__class_rows rows;
    DT__TRY(dt__class_rows_open(call, &rows));
    compute_losses(&rows, merged);
    if (call->n_outputs > 1) {
        dt__array to = dt__array_of(&call->outputs[1]);
        dt__array from = dt__class_rows_array(&rows, merged->fields[0].data, DT_F64);
        dt__run_convert(call, &to, &from);
    }
    write_losses(&rows, merged->fields[1].data);
    dt__class_rows_close(&rows);
    return DT_OK;
}

static const dt_meet cross_entropy_meet = {describe, begin, merge, finish};

static dt_status nll_loss(dt_op_call *call) {
    dt__class_rows rows;
    dt__scratch memory;
    DT__TRY(dt__class_rows_open(call, &rows));
    dt_status status = dt__scratch_new(call, DT_F64, 1, &rows.n, &memory);
    if (status == DT_OK) {
        double *losses = memory.array.data;
        status = dt__load_at_classes(&rows, losses);
        for (int64_t i = 0; i < rows.n; i++)
            losses[i] = dt__has_class(&rows, i) ? -losses[i] * rows.weight_at[i] : 0;
        if (status == DT_OK)
            write_losses(&rows, losses);
        dt__scratch_free(call, &memory);
    }
    dt__class_rows_close(&rows);
    return status;
}

const dt_op dt__op_cross_entropy = {
    .schema = "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, "
              "str reduction=\"mean\", float label_smoothing=0.0) -> Tensor",
    .summary = "Cross entropy of logits and classes, or probabilities of classes.",
    .rows = rows_loss,
    .arguments = DT__LOSS_ARGUMENTS ",label_smoothing",
    .varying = "ignore_index,label_smoothing",
    .class_of = class_of_loss,
    .check = dt__loss_check_smoothing,
    .shape = shape_loss,
    .kernel = dt__run_alone,
    .decompose = dt__class_mean,
    .meet = &cross_entropy_meet,
    .backward = dt__cross_entropy_gradients,
    .saves = "input,target,weight,result,result1,result2",
    .n_saved = 2,
    .samples = "cross_entropy(f32[5,3]; i64[5])\ncross_entropy(f32[5,3]; i64[5]; f32[3]; 1; reduction=sum)\n"
               "cross_entropy(f32[2,3,5]; i64[2,5]; ignore_index=1; label_smoothing=0.1)\n"
               "cross_entropy(f32[5,3]; i64[5]; f32[3]; label_smoothing=0.2)\n"
               "cross_entropy(f32[5,3]; f32[5,3]; f32[3]; label_smoothing=0.1)\n"
               "cross_entropy(f32[2,5,3]; f32[2,5,3]; reduction=\"none\")\n"
               "cross_entropy(f32[5]; i64[]; reduction=\"none\")",
};
const dt_op dt__op_nll_loss = {
    .schema = "nll_loss(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, "
              "str reduction=\"mean\") -> Tensor",
    .summary = "Negative log-likelihood of log-probabilities and classes.",
    .rows = rows_loss,
    .arguments = DT__LOSS_ARGUMENTS,
    .varying = "ignore_index",
    .shape = shape_loss,
    .kernel = nll_loss,
    .decompose = dt__class_mean,
    .backward = dt__cross_entropy_gradients,
    .saves = "input,target,weight,result,result1",
    .n_saved = 1,
    .samples =
        "nll_loss(f32[5,3]; i64[5])\nnll_loss(f32[5,3]; i64[5]; f32[3]; 1; reduction=sum)\n"
        "nll_loss(f32[2,3,5]; i64[2,5]; ignore_index=1)\nnll_loss(f32[5,3]; i64[5]; f32[3])\n"
        "nll_loss(f32[2,3,5]; i64[2,5]; f32[3]; reduction=\"none\")\nnll_loss(f32[5]; i64[]; reduction=\"none\")",
};
