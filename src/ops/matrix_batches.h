/* SPDX-License-Identifier: Apache-2.0
 *
 * What ops on batches of matrices share. Matrices are the last two dims of a tensor and whole on every rank; the dims
 * before them are the batch. A kernel copies its operands to temporary memory, in which LAPACK finds each matrix by
 * columns, runs one function per matrix, divided among the threads of the rank, and copies the results back. A matrix
 * is one thread's work, so results do not depend on the number of threads.
 */
#ifndef DT_OPS_MATRIX_BATCHES_H
#define DT_OPS_MATRIX_BATCHES_H

#include "ops/kernel_support.h"

/* The conjugate transpose of each matrix, of real ones as a view; NULL for NULL. */
dt_tensor *dt__adjoint(dt_tensor *x);
/* Half the sum of each matrix and its adjoint. */
dt_tensor *dt__hermitian_part(dt_tensor *x);
/* The dtype of the real part of numbers. */
static inline dt_dtype dt__real_dtype(dt_dtype dtype) {
    return dtype == DT_C64 ? DT_F32 : dtype == DT_C128 ? DT_F64 : dtype;
}
/* DT_OK if a step of a decomposition or a gradient made its tensor, else the error of the context. */
dt_status dt__made_or_error(const dt_op_call *call, const dt_tensor *result);

/* Refuses an input that is not a batch of matrices, square ones, or of a dtype that LAPACK has. */
dt_status dt__expect_matrices(const dt_op_call *call, int input);
dt_status dt__expect_square(const dt_op_call *call, int input);
static inline int64_t dt__matrix_rows(const dt_op_value *value) { return value->shape[value->n_dims - 2]; }
static inline int64_t dt__matrix_columns(const dt_op_value *value) { return value->shape[value->n_dims - 1]; }
/* The shape of the batch of an input whose items have so many dims. */
void dt__batch_of(const dt_op_value *value, int item_dims, dt__shape *out);
/* The shape to which two batches broadcast; refuses those that do not. */
dt_status dt__broadcast_batches(const dt_op_call *call, const dt__shape *a, const dt__shape *b, dt__shape *out);
/* Adds an output of this batch, of items of n sizes. */
dt_status dt__add_batch(dt_op_call *call, dt_dtype dtype, const dt__shape *batch, int n, const int64_t *sizes);

/* An operand: an input that is read, an output that is written, both in one memory, or neither. */
typedef struct dt__matrix_operand {
    const dt_op_value *in, *out;
    int item_dims; /* dims of `in` and `out` that are an item: 2 of matrices, 1 of vectors, 0 of numbers */
    bool by_rows;  /* matrices are transposed for LAPACK */
    dt_dtype dtype;
    int64_t rows, columns; /* of an item as a matrix */
} dt__matrix_operand;

enum { DT__MAX_MATRIX_OPERANDS = 6 };
typedef struct dt__matrix_batch dt__matrix_batch;
struct dt__matrix_batch {
    dt_op_call *call;
    int n_operands;
    dt__matrix_operand operands[DT__MAX_MATRIX_OPERANDS];
    dt__shape batch;       /* local */
    dt__lapack_work work;  /* that `run` needs for one matrix; its memory is set for each thread */
    const void *arguments; /* of `run` */
    /* One item of each operand; returns info as LAPACK does. */
    int (*run)(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work);
    /* (optional) Own code for small matrices instead of `run`. Its pointers are set here, to the operands: A, the
     * result, then B, eigenvalues or pivots. Operands are stored by rows, and used in place where they are dense. */
    dt__small_matrices *small;
    /* (optional) What remains for one item of each operand after the own code, whose result is then temporary. */
    void (*finish)(const dt__matrix_batch *self, void *const *items);
    int64_t first_bad; /* the first matrix whose info is not 0, in the global batch; -1: none */
    int first_info;
};
/* The info of a matrix that is not decomposed, because some of its elements are not finite. */
enum { DT__NOT_FINITE = -1 };
/* Reports the first matrix whose `values` were not found, if there is one, as a verdict. */
dt_status dt__report_not_found(const dt__matrix_batch *self, const char *values);
/* The position of a matrix of this rank in the global batch, by the offset of an output. */
int64_t dt__global_matrix(const dt__matrix_batch *self, int64_t i);
/* An operand that is neither: memory for n numbers per matrix. */
static inline dt__matrix_operand dt__matrix_scratch(dt_dtype dtype, int64_t n) {
    return (dt__matrix_operand){.item_dims = 1, .dtype = dtype, .rows = n, .columns = 1};
}
/* Runs the batch. `info`: an output for the info of each matrix, or NULL. */
dt_status dt__matrix_batch_run(dt__matrix_batch *self, const dt_op_value *info);

/* Whether own code computes the call's first input: small matrices, or any of real numbers where LAPACK lacks this. */
bool dt__is_small(const dt_op_call *call, dt__lapack_routine routine);

/* Whether all numbers of an item are finite. */
bool dt__is_finite(const dt__matrix_operand *operand, const void *item);
/* Writes the result of a matrix that has none: NaN. */
void dt__fill_with_nan(const dt__matrix_operand *operand, void *item);
/* Whether all numbers of the items are finite, and no element on the diagonal of the first is 0. Otherwise the result
 * may depend on how many columns LAPACK solves at once, so columns are solved one by one. */
bool dt__is_regular(const dt__matrix_operand *a, const void *a_item, const dt__matrix_operand *b, const void *b_item);

/* An operand of items with these dims. */
static inline dt__matrix_operand dt__matrix_in_out(const dt_op_value *in, const dt_op_value *out, int item_dims) {
    const dt_op_value *any = in ? in : out;
    return (dt__matrix_operand){.in = in,
                                .out = out,
                                .item_dims = item_dims,
                                .dtype = any->dtype,
                                .rows = item_dims == 0   ? 1
                                        : item_dims == 1 ? any->shape[any->n_dims - 1]
                                                         : dt__matrix_rows(any),
                                .columns = item_dims == 2 ? dt__matrix_columns(any) : 1};
}

#endif
