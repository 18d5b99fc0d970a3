/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of matrices: checks, shapes, and the loop over the matrices of this rank.
 */
#include "ops/matrix_batches.h"

#include "comm/comm.h"
#include "dtensor/ops.h"
#include "ops/complex_ops.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

dt_tensor *dt__adjoint(dt_tensor *x) { return dt__conjugate(dt_transpose(x, -2, -1)); }
dt_tensor *dt__hermitian_part(dt_tensor *x) { return dt_mul_scalar(dt_add(x, dt__adjoint(x)), 0.5); }

dt_status dt__made_or_error(const dt_op_call *call, const dt_tensor *result) {
    return result ? DT_OK : dt_error_status(call->ctx);
}

dt_status dt__expect_matrices(const dt_op_call *call, int input) {
    const dt_op_value *a = &call->inputs[input];
    if (dt__is_half(a->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected f32, f64, c64 or c128, got %s; convert to f32 first",
                            dt_dtype_name(a->dtype));
    if (!dt__is_inexact(a->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected f32, f64, c64 or c128, got %s", dt_dtype_name(a->dtype));
    if (a->n_dims < 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a tensor of at least 2 dims, got %d", a->n_dims);
    return dt__matrix_rows(a) < INT32_MAX && dt__matrix_columns(a) < INT32_MAX
               ? DT_OK
               : dt_op_refuse(call, DT_ERR_SHAPE, "expected matrices of less than 2^31 rows and columns");
}

dt_status dt__expect_square(const dt_op_call *call, int input) {
    const dt_op_value *a = &call->inputs[input];
    DT__TRY(dt__expect_matrices(call, input));
    return dt__matrix_rows(a) == dt__matrix_columns(a)
               ? DT_OK
               : dt_op_refuse(call, DT_ERR_SHAPE, "expected square matrices, got [%" PRId64 ",%" PRId64 "]",
                              dt__matrix_rows(a), dt__matrix_columns(a));
}

void dt__batch_of(const dt_op_value *value, int item_dims, dt__shape *out) {
    out->n = value->n_dims - item_dims;
    memcpy(out->sizes, value->shape, (size_t)out->n * sizeof *out->sizes);
}

dt_status dt__broadcast_batches(const dt_op_call *call, const dt__shape *a, const dt__shape *b, dt__shape *out) {
    out->n = a->n > b->n ? a->n : b->n;
    for (int d = 1; d <= out->n; d++) {
        int64_t x = d <= a->n ? a->sizes[a->n - d] : 1, y = d <= b->n ? b->sizes[b->n - d] : 1;
        if (x != y && x != 1 && y != 1)
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "batches of matrices: sizes %" PRId64 " and %" PRId64 " do not broadcast", x, y);
        out->sizes[out->n - d] = x == 1 ? y : x;
    }
    return DT_OK;
}

dt_status dt__add_batch(dt_op_call *call, dt_dtype dtype, const dt__shape *batch, int n, const int64_t *sizes) {
    dt__shape shape = *batch;
    if (batch->n + n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than %d dims", DT_SPEC_MAX_DIMS);
    for (int i = 0; i < n; i++)
        shape.sizes[shape.n++] = sizes[i];
    return dt__add_shape(call, dtype, &shape);
}

bool dt__is_small(const dt_op_call *call, dt__lapack_routine routine) {
    const dt_op_value *a = &call->inputs[0];
    const int64_t size = dt__max_i64(dt__matrix_rows(a), dt__matrix_columns(a));
    return size <= DT__SMALL_MATRIX || (!dt__is_complex(a->dtype) && !dt__lapack_has(routine, a->dtype));
}

static bool is_zero(dt_dtype dtype, const void *numbers, int64_t i) {
    const double re = dtype == DT_F32   ? ((const float *)numbers)[i]
                      : dtype == DT_F64 ? ((const double *)numbers)[i]
                      : dtype == DT_C64 ? ((const float *)numbers)[2 * i]
                                        : ((const double *)numbers)[2 * i];
    const double im = dtype == DT_C64    ? ((const float *)numbers)[2 * i + 1]
                      : dtype == DT_C128 ? ((const double *)numbers)[2 * i + 1]
                                         : 0;
    return re == 0 && im == 0;
}

/* Sums of 0 x are 0 unless an x is not finite. */
bool dt__is_finite(const dt__matrix_operand *operand, const void *item) {
    const bool is_single = operand->dtype == DT_F32 || operand->dtype == DT_C64;
    const int64_t n = operand->rows * operand->columns * (dt__is_complex(operand->dtype) ? 2 : 1);
    float single = 0;
    double sum = 0;
    for (int64_t i = 0; is_single && i < n; i++)
        single += 0 * ((const float *)item)[i];
    for (int64_t i = 0; !is_single && i < n; i++)
        sum += 0 * ((const double *)item)[i];
    return single == 0 && sum == 0;
}

void dt__fill_with_nan(const dt__matrix_operand *operand, void *item) {
    const bool is_single = operand->dtype == DT_F32 || operand->dtype == DT_C64;
    const int64_t n = operand->rows * operand->columns * (dt__is_complex(operand->dtype) ? 2 : 1);
    for (int64_t i = 0; i < n; i++)
        if (is_single)
            ((float *)item)[i] = NAN;
        else
            ((double *)item)[i] = NAN;
}

bool dt__is_regular(const dt__matrix_operand *a, const void *a_item, const dt__matrix_operand *b,
                    const void *b_item) {
    bool regular = dt__is_finite(a, a_item) && dt__is_finite(b, b_item);
    for (int64_t i = 0; i < a->rows && regular; i++)
        regular = !is_zero(a->dtype, a_item, i * a->rows + i);
    return regular;
}

static int64_t aligned(int64_t bytes) { return (bytes + 15) / 16 * 16; }

static int64_t item_bytes(const dt__matrix_operand *operand) {
    return operand->rows * operand->columns * (int64_t)dt_dtype_size(operand->dtype);
}

/* The batch in temporary memory as an array: items by columns, one after the other. */
typedef struct stored {
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    dt__array array;
} stored;

static void describe_stored(const dt__matrix_batch *self, const dt__matrix_operand *operand, char *memory,
                            stored *out) {
    int n = self->batch.n;
    int64_t step = operand->rows * operand->columns;
    for (int d = n - 1; d >= 0; d--) {
        out->shape[d] = self->batch.sizes[d];
        out->strides[d] = step;
        step *= self->batch.sizes[d];
    }
    if (operand->item_dims >= 1) {
        out->shape[n] = operand->rows;
        out->strides[n] = operand->by_rows ? operand->columns : 1;
    }
    if (operand->item_dims == 2) {
        out->shape[n + 1] = operand->columns;
        out->strides[n + 1] = operand->by_rows ? 1 : operand->rows;
    }
    out->array = (dt__array){memory, operand->dtype, n + operand->item_dims, out->shape, out->strides};
}

/* The batch while threads run it. */
typedef struct running {
    dt__matrix_batch *batch;
    char *memory[DT__MAX_MATRIX_OPERANDS], *work;
    bool in_place[DT__MAX_MATRIX_OPERANDS]; /* the memory is that of the tensor */
    int32_t *infos;
    int64_t n, per_piece, work_bytes;
} running;

static void find_items(const running *self, int64_t i, void **items) {
    for (int k = 0; k < self->batch->n_operands; k++)
        items[k] = self->memory[k] + i * item_bytes(&self->batch->operands[k]);
}

static void run_piece(void *arg, int64_t piece) {
    running *self = arg;
    dt__matrix_batch *batch = self->batch;
    dt__lapack_work work = batch->work;
    work.memory = self->work + piece * self->work_bytes;
    int64_t end = dt__min_i64((piece + 1) * self->per_piece, self->n);
    for (int64_t i = piece * self->per_piece; i < end; i++) {
        void *items[DT__MAX_MATRIX_OPERANDS];
        find_items(self, i, items);
        self->infos[i] = batch->run(batch, items, &work);
    }
}

static void finish_piece(void *arg, int64_t piece) {
    const running *self = arg;
    const int64_t end = dt__min_i64((piece + 1) * self->per_piece, self->n);
    for (int64_t i = piece * self->per_piece; i < end; i++) {
        void *items[DT__MAX_MATRIX_OPERANDS];
        find_items(self, i, items);
        self->batch->finish(self->batch, items);
    }
}

int64_t dt__global_matrix(const dt__matrix_batch *self, int64_t i) {
    const dt_op_value *out = &self->call->outputs[0];
    int64_t index = 0, step = 1;
    for (int d = self->batch.n - 1; d >= 0; d--) {
        int64_t at = i % self->batch.sizes[d];
        i /= self->batch.sizes[d];
        index += (at + (out->shape[d] == out->global_shape[d] ? 0 : out->offset[d])) * step;
        step *= out->global_shape[d];
    }
    return index;
}

static void run_small(running *self, dt__pool *pool) {
    dt__matrix_batch *batch = self->batch;
    dt__small_matrices args = *batch->small;
    const bool has_values = args.kind == DT__SMALL_EIGH || args.kind == DT__SMALL_LU || args.kind == DT__SMALL_QR ||
                            args.kind == DT__SMALL_GEQRF;
    args.a = self->memory[0];
    args.out = batch->operands[1].out || batch->finish ? self->memory[1] : NULL;
    args.b = batch->operands[2].in && !has_values ? self->memory[2] : NULL;
    args.values = has_values ? self->memory[2] : args.kind == DT__SMALL_LU_SOLVE ? self->memory[3] : NULL;
    args.infos = self->infos;
    dt__small_matrices_run(dt__kernels_of(batch->call->ctx), pool, batch->operands[0].dtype, &args, self->n,
                           self->work);
    if (batch->finish)
        dt__pool_run(pool, dt__ceil_div(self->n, self->per_piece), finish_piece, self);
}

static void run_matrices(running *self) {
    dt__matrix_batch *batch = self->batch;
    dt__pool *pool = dt__pool_of(batch->call->ctx);
    if (batch->small)
        run_small(self, pool);
    else
        dt__pool_run(pool, dt__ceil_div(self->n, self->per_piece), run_piece, self);
    for (int64_t i = self->n - 1; i >= 0; i--)
        if (self->infos[i]) {
            batch->first_bad = dt__global_matrix(batch, i);
            batch->first_info = self->infos[i];
        }
}

static void copy_operands(running *self, bool back) {
    const dt__matrix_batch *batch = self->batch;
    for (int k = 0; k < batch->n_operands; k++) {
        const dt_op_value *value = back ? batch->operands[k].out : batch->operands[k].in;
        if (!value || self->in_place[k])
            continue;
        stored inside;
        const dt__array array = dt__array_of(value);
        describe_stored(batch, &batch->operands[k], self->memory[k], &inside);
        dt__run_convert(batch->call, back ? &array : &inside.array, back ? &inside.array : &array);
    }
}

static void write_infos(running *self, const dt_op_value *info) {
    dt__matrix_operand numbers = {.dtype = DT_I32, .rows = 1, .columns = 1};
    stored inside;
    const dt__array array = dt__array_of(info);
    describe_stored(self->batch, &numbers, (char *)self->infos, &inside);
    dt__run_convert(self->batch->call, &array, &inside.array);
}

/* Whether the items of an operand follow one another in the memory of its tensor as small matrices need them. */
static bool is_dense(const dt__matrix_batch *self, const dt__matrix_operand *operand) {
    const dt_op_value *value = operand->in ? operand->in : operand->out;
    int64_t step = 1;
    if (!self->small || !value || value->dtype != operand->dtype ||
        value->n_dims != self->batch.n + operand->item_dims)
        return false;
    for (int d = value->n_dims - 1; d >= 0; d--) {
        if (d < self->batch.n && value->shape[d] != self->batch.sizes[d])
            return false;
        if (value->shape[d] > 1 && value->strides[d] != step)
            return false;
        step *= value->shape[d];
    }
    return true;
}

/* Aligned to 16 bytes; the threads' parts, or that of small matrices. */
static int64_t all_work_bytes(const running *self, dt__pool *pool) {
    const dt__matrix_batch *batch = self->batch;
    return batch->small ? (int64_t)dt__small_matrices_bytes(pool, batch->operands[0].dtype, batch->small, self->n)
                        : dt__ceil_div(self->n, self->per_piece) * self->work_bytes;
}

dt_status dt__matrix_batch_run(dt__matrix_batch *self, const dt_op_value *info) {
    running run = {.batch = self, .n = dt__elements(self->batch.n, self->batch.sizes)};
    dt__pool *pool = dt__pool_of(self->call->ctx);
    dt__scratch scratch;
    int64_t offsets[DT__MAX_MATRIX_OPERANDS + 1] = {0};
    self->first_bad = -1;
    self->first_info = 0;
    if (!run.n)
        return DT_OK;
    run.per_piece = dt__max_i64(dt__ceil_div(run.n, dt__pool_threads(pool)), 1);
    run.work_bytes = aligned((int64_t)self->work.bytes);
    for (int k = 0; k < self->n_operands; k++) {
        run.in_place[k] = is_dense(self, &self->operands[k]);
        self->operands[k].by_rows |= self->small != NULL;
        offsets[k + 1] = offsets[k] + (run.in_place[k] ? 0 : aligned(run.n * item_bytes(&self->operands[k])));
    }
    const int64_t infos = aligned(run.n * (int64_t)sizeof *run.infos);
    const int64_t bytes = offsets[self->n_operands] + infos + all_work_bytes(&run, pool);
    DT__TRY(dt__scratch_new(self->call, DT_U8, 1, &bytes, &scratch));
    char *first = scratch.array.data;
    for (int k = 0; k < self->n_operands; k++) {
        const dt__matrix_operand *operand = &self->operands[k];
        run.memory[k] = run.in_place[k] ? (operand->in ? operand->in : operand->out)->data : first + offsets[k];
    }
    run.infos = (int32_t *)(void *)(first + offsets[self->n_operands]);
    run.work = (char *)run.infos + infos;
    copy_operands(&run, false);
    run_matrices(&run);
    copy_operands(&run, true);
    if (info)
        write_infos(&run, info);
    dt__scratch_free(self->call, &scratch);
    return DT_OK;
}

dt_status dt__report_not_found(const dt__matrix_batch *self, const char *values) {
    if (self->first_bad < 0)
        return DT_OK;
    if (self->first_info == DT__NOT_FINITE)
        return dt_op_verdict(self->call, DT_ERR_VALUE, "matrix %" PRId64 " has elements that are not finite",
                             self->first_bad);
    return dt_op_verdict(self->call, DT_ERR_VALUE, "matrix %" PRId64 ": the %s did not converge", self->first_bad,
                         values);
}
