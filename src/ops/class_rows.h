/* SPDX-License-Identifier: Apache-2.0
 *
 * The inputs of losses over classes: logits with a dim of classes, their rows along it, the class of each row
 * (ignore_index does not count), and weights of classes. The names are the first in their `.arguments`.
 */
#ifndef DT_OPS_CLASS_ROWS_H
#define DT_OPS_CLASS_ROWS_H

#include "ops/kernel_support.h"

/* Positions in .arguments; nll_loss has no smoothing, and only gradients have the last two. */
enum {
    DT__LOSS_INPUT,
    DT__LOSS_TARGET,
    DT__LOSS_WEIGHT,
    DT__LOSS_IGNORE_INDEX,
    DT__LOSS_REDUCTION,
    DT__LOSS_SMOOTHING,
    DT__LOSS_LOGSUMEXP,
    DT__LOSS_TOTAL,
};
#define DT__LOSS_ARGUMENTS "input,target,weight,ignore_index,reduction"

/* An argument that is a tensor; NULL: there is none. */
static inline const dt_op_value *dt__loss_value(const dt_op_call *call, int name) {
    const dt_arg *arg = dt__arg_at(call, name);
    return arg && arg->type == DT_ARG_TENSOR ? &call->inputs[arg->as.first] : NULL;
}
static inline bool dt__loss_is_nll(const dt_op_call *call) { return !dt__arg_at(call, DT__LOSS_SMOOTHING); }
static inline double dt__loss_smoothing(const dt_op_call *call) {
    const dt_arg *arg = dt__arg_at(call, DT__LOSS_SMOOTHING);
    return arg ? arg->as.f : 0;
}
static inline int64_t dt__loss_ignored(const dt_op_call *call) {
    return dt__arg_at(call, DT__LOSS_IGNORE_INDEX)->as.i;
}
/* 'n', 'm' or 's': none, mean or sum. */
static inline char dt__loss_reduction(const dt_op_call *call) {
    return *dt__arg_at(call, DT__LOSS_REDUCTION)->as.text;
}
/* Targets are probabilities of classes. */
static inline bool dt__loss_of_probabilities(const dt_op_call *call) {
    return dt__is_float(dt__loss_value(call, DT__LOSS_TARGET)->dtype);
}
static inline int dt__class_dim(const dt_op_value *logits) { return logits->n_dims > 1 ? 1 : 0; }
static inline dt_dtype dt__loss_dtype(dt_dtype dtype) { return dtype == DT_F64 ? DT_F64 : DT_F32; }

/* Checks dtypes, shapes and the reduction; `probabilities`: whether targets may be such. */
dt_status dt__loss_check(const dt_op_call *call, bool probabilities);
dt_status dt__loss_check_smoothing(const dt_op_call *call);
/* The sizes of logits without that of classes. */
void dt__loss_rows_shape(const dt_op_value *logits, dt__shape *out);

/* The rows of this rank. Kernels only. */
typedef struct dt__class_rows {
    const dt_op_call *call;
    const dt_op_value *logits;
    int dim;                       /* of classes */
    int64_t n_classes, own, first; /* on all ranks; on this one, and the first of its own */
    int n_dims;
    int64_t n, sizes[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS]; /* rows; as a dense array */
    bool of_classes, is_weighted;
    dt__scratch memory;
    int64_t *classes;  /* of the rows; NULL where targets are probabilities */
    double *weights;   /* of all classes: 1 without weights */
    double *weight_at; /* of the class of each row, 0 where it is ignored */
    double total;      /* what a mean is divided by: the sum of weight_at, or the number of rows of all ranks */
} dt__class_rows;

/* Reads targets and weights, and refuses classes that do not exist. */
dt_status dt__class_rows_open(const dt_op_call *call, dt__class_rows *out);
void dt__class_rows_close(dt__class_rows *rows);

/* What a mean over these targets is divided by: the sum of the weights of their classes, or without weights their
 * number; those that are ignored do not count. */
dt_status dt__class_total(const dt_op_call *call, const dt_op_value *target, int64_t ignored, int64_t n_classes,
                          const double *weights, double *out);

/* A number per row, as an array. */
static inline dt__array dt__class_rows_array(const dt__class_rows *rows, void *data, dt_dtype dtype) {
    return (dt__array){data, dtype, rows->n_dims, rows->sizes, rows->strides};
}
/* Whether this rank has the logit of the class of row i, which is not ignored. */
static inline bool dt__has_class(const dt__class_rows *rows, int64_t i) {
    int64_t class = rows->classes[i];
    return class != dt__loss_ignored(rows->call) && class >= rows->first && class < rows->first + rows->own;
}
/* The logits at the classes of the rows; 0 where another rank has them, or a row is ignored. */
dt_status dt__load_at_classes(const dt__class_rows *rows, double *out);
/* Writes numbers to those places of an output with the shape of the logits. */
dt_status dt__store_at_classes(const dt__class_rows *rows, const dt_op_value *to, double *numbers);

#endif
