/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of logits, their classes, and weights of classes.
 */
#include "ops/class_rows.h"

#include <inttypes.h>
#include <string.h>

static dt_status check_target(const dt_op_call *call, bool probabilities) {
    const dt_op_value *input = dt__loss_value(call, DT__LOSS_INPUT), *target = dt__loss_value(call, DT__LOSS_TARGET);
    dt__shape rows = {.n = input->n_dims};
    if (dt__loss_of_probabilities(call) && probabilities)
        memcpy(rows.sizes, input->shape, (size_t)rows.n * sizeof *rows.sizes);
    else {
        DT__TRY(dt__expect_index(call, dt__arg_at(call, DT__LOSS_TARGET)->as.first));
        dt__loss_rows_shape(input, &rows);
    }
    bool fits = target->n_dims == rows.n;
    for (int d = 0; d < rows.n && fits; d++)
        fits = target->shape[d] == rows.sizes[d];
    if (fits)
        return DT_OK;
    return rows.n == input->n_dims
               ? dt_op_refuse(call, DT_ERR_SHAPE, "target of probabilities: expected the shape of the input")
               : dt_op_refuse(call, DT_ERR_SHAPE, "target of classes: expected the shape of the input without dim %d",
                              dt__class_dim(input));
}

dt_status dt__loss_check(const dt_op_call *call, bool probabilities) {
    const dt_op_value *input = dt__loss_value(call, DT__LOSS_INPUT), *weight = dt__loss_value(call, DT__LOSS_WEIGHT);
    const char *reduction = dt__arg_at(call, DT__LOSS_REDUCTION)->as.text;
    if (!dt__is_float(input->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point tensor, got %s",
                            dt_dtype_name(input->dtype));
    if (input->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a tensor with a dim of classes, got one without dims");
    if (strcmp(reduction, "none") != 0 && strcmp(reduction, "mean") != 0 && strcmp(reduction, "sum") != 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "reduction: expected 'none', 'mean' or 'sum', got '%.60s'",
                            reduction);
    int64_t n_classes = input->shape[dt__class_dim(input)];
    if (weight && (weight->n_dims != 1 || weight->shape[0] != n_classes))
        return dt_op_refuse(call, DT_ERR_SHAPE, "weight: expected a vector of %" PRId64 " numbers, one per class",
                            n_classes);
    if (weight && !dt__is_float(weight->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "weight: expected floating point, got %s",
                            dt_dtype_name(weight->dtype));
    return check_target(call, probabilities);
}

dt_status dt__loss_check_smoothing(const dt_op_call *call) {
    double smoothing = dt__loss_smoothing(call);
    return smoothing >= 0 && smoothing <= 1
               ? DT_OK
               : dt_op_refuse(call, DT_ERR_VALUE, "label_smoothing: expected 0 to 1, got %g", smoothing);
}

void dt__loss_rows_shape(const dt_op_value *logits, dt__shape *out) {
    int dim = dt__class_dim(logits);
    out->n = logits->n_dims - 1;
    for (int d = 0; d < out->n; d++)
        out->sizes[d] = logits->shape[d < dim ? d : d + 1];
}

static void describe_rows(const dt_op_call *call, dt__class_rows *out) {
    const dt_op_value *logits = dt__loss_value(call, DT__LOSS_INPUT);
    int dim = dt__class_dim(logits);
    dt__shape shape;
    dt__loss_rows_shape(logits, &shape);
    *out = (dt__class_rows){.call = call,
                            .logits = logits,
                            .dim = dim,
                            .n_classes = logits->global_shape[dim],
                            .own = logits->shape[dim],
                            .n_dims = shape.n,
                            .n = dt__elements(shape.n, shape.sizes),
                            .of_classes = !dt__loss_of_probabilities(call),
                            .is_weighted = dt__loss_value(call, DT__LOSS_WEIGHT),
                            .total = 1};
    for (int d = 0; d < logits->n_dims; d++)
        out->total *= d == dim ? 1 : (double)logits->global_shape[d];
    out->first = out->own == out->n_classes ? 0 : logits->offset[dim];
    memcpy(out->sizes, shape.sizes, (size_t)shape.n * sizeof *out->sizes);
    dt__row_strides(shape.n, out->sizes, out->strides);
}

static void load_classes(dt__class_rows *rows) {
    const dt_op_value *target = dt__loss_value(rows->call, DT__LOSS_TARGET);
    const dt__array from = dt__array_of(target), to = dt__class_rows_array(rows, rows->classes, DT_I64);
    dt__run_convert(rows->call, &to, &from);
}

static dt_status refuse_class(const dt_op_call *call, int64_t class, int64_t n_classes, int64_t ignored) {
    return dt_op_verdict(call, DT_ERR_VALUE,
                         "class %" PRId64 " is out of range: expected 0 to %" PRId64 " or %" PRId64, class,
                         n_classes - 1, ignored);
}

static dt_status weigh_classes(dt__class_rows *rows) {
    int64_t ignored = dt__loss_ignored(rows->call);
    for (int64_t i = 0; i < rows->n; i++) {
        int64_t class = rows->classes[i];
        if (class != ignored && (class < 0 || class >= rows->n_classes)) {
            DT__TRY(refuse_class(rows->call, class, rows->n_classes, ignored));
            rows->classes[i] = class = ignored;
        }
        rows->weight_at[i] = class == ignored ? 0 : rows->weights[class];
    }
    return DT_OK;
}

dt_status dt__class_total(const dt_op_call *call, const dt_op_value *target, int64_t ignored, int64_t n_classes,
                          const double *weights, double *out) {
    const int64_t n = dt__elements(target->n_dims, target->shape);
    const dt__array from = dt__array_of(target);
    dt_status status = DT_OK;
    dt__scratch all;
    double total = 0;
    DT__TRY(dt__scratch_new(call, DT_I64, target->n_dims, target->shape, &all));
    dt__run_convert(call, &all.array, &from);
    const int64_t *classes = all.array.data;
    for (int64_t i = 0; i < n && status == DT_OK; i++) {
        if (classes[i] == ignored)
            continue;
        if (weights && (classes[i] < 0 || classes[i] >= n_classes))
            status = refuse_class(call, classes[i], n_classes, ignored);
        else
            total += weights ? weights[classes[i]] : 1;
    }
    dt__scratch_free(call, &all);
    *out = total;
    return status;
}

static void load_weights(dt__class_rows *rows) {
    const dt_op_value *weight = dt__loss_value(rows->call, DT__LOSS_WEIGHT);
    const int64_t one = 1;
    dt__array to = {rows->weights, DT_F64, 1, &rows->n_classes, &one};
    if (weight) {
        dt__array from = dt__array_of(weight);
        dt__run_convert(rows->call, &to, &from);
    }
    for (int64_t c = 0; c < rows->n_classes && !weight; c++)
        rows->weights[c] = 1;
}

static dt_status open_targets(dt__class_rows *rows) {
    load_weights(rows);
    if (rows->of_classes) {
        load_classes(rows);
        DT__TRY(weigh_classes(rows));
        return dt__loss_reduction(rows->call) == 'm' && !dt__loss_value(rows->call, DT__LOSS_TOTAL)
                   ? dt__class_total(rows->call, dt__loss_value(rows->call, DT__LOSS_TARGET),
                                     dt__loss_ignored(rows->call), rows->n_classes, rows->weights, &rows->total)
                   : DT_OK;
    }
    rows->classes = NULL;
    return DT_OK;
}

dt_status dt__class_rows_open(const dt_op_call *call, dt__class_rows *out) {
    describe_rows(call, out);
    int64_t n = 2 * out->n + out->n_classes;
    DT__TRY(dt__scratch_new(call, DT_F64, 1, &n, &out->memory));
    out->weights = out->memory.array.data;
    out->weight_at = out->weights + out->n_classes;
    out->classes = (int64_t *)(void *)(out->weight_at + out->n);
    dt_status status = open_targets(out);
    if (status != DT_OK)
        dt__class_rows_close(out);
    return status;
}

void dt__class_rows_close(dt__class_rows *rows) { dt__scratch_free(rows->call, &rows->memory); }

/* Copies the elements at the classes to `dense`, of the same dtype, or back. */
static void copy_at_classes(const dt__class_rows *rows, const dt_op_value *logits, bool back, char *dense) {
    int64_t position[DT_SPEC_MAX_DIMS] = {0}, size = (int64_t)dt_dtype_size(logits->dtype);
    char *row = logits->data;
    for (int64_t i = 0; i < rows->n; i++) {
        if (dt__has_class(rows, i)) {
            char *element = row + (rows->classes[i] - rows->first) * logits->strides[rows->dim] * size;
            memcpy(back ? element : dense + i * size, back ? dense + i * size : element, (size_t)size);
        }
        for (int d = rows->n_dims - 1; d >= 0; d--) {
            int64_t step = logits->strides[d < rows->dim ? d : d + 1] * size;
            row += step;
            if (++position[d] < rows->sizes[d])
                break;
            row -= rows->sizes[d] * step;
            position[d] = 0;
        }
    }
}

dt_status dt__load_at_classes(const dt__class_rows *rows, double *out) {
    dt__scratch raw;
    dt__array to = dt__class_rows_array(rows, out, DT_F64);
    DT__TRY(dt__scratch_new(rows->call, rows->logits->dtype, rows->n_dims, rows->sizes, &raw));
    memset(raw.array.data, 0, raw.bytes);
    copy_at_classes(rows, rows->logits, false, raw.array.data);
    dt__run_convert(rows->call, &to, &raw.array);
    dt__scratch_free(rows->call, &raw);
    return DT_OK;
}

dt_status dt__store_at_classes(const dt__class_rows *rows, const dt_op_value *to, double *numbers) {
    dt__scratch raw;
    dt__array from = dt__class_rows_array(rows, numbers, DT_F64);
    DT__TRY(dt__scratch_new(rows->call, to->dtype, rows->n_dims, rows->sizes, &raw));
    dt__run_convert(rows->call, &raw.array, &from);
    copy_at_classes(rows, to, true, raw.array.data);
    dt__scratch_free(rows->call, &raw);
    return DT_OK;
}
