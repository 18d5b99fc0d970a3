/* SPDX-License-Identifier: Apache-2.0
 *
 * Rotary position embedding: pairs of elements along the last dim are rotated by the position times a frequency,
 *
 *     [x_a]   [cos -sin] [x_a]
 *     [x_b] = [sin  cos] [x_b],   angle = (offset + t) * frequencies[i]
 *
 * where pair i is (i, i + F), or with interleaved (2i, 2i + 1). Elements after the F pairs stay. The op is linear in
 * self; its gradient rotates back, by the negative frequencies. Positions along a sharded dim follow from the offset of
 * the shard.
 */
#include "base/dtype.h"
#include "base/size.h"
#include "dtensor/dispatch.h"
#include "dtensor/ops.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { OFFSET, INTERLEAVED };
enum { BLOCK = 256, ROWS_PER_PIECE = 64 };

static dt_status shape_rotary(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *frequencies = &call->inputs[1];
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__expect_floating(call, 0));
    DT__TRY(dt__expect_floating(call, 1));
    if (self->n_dims < 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "self: expected at least two dims, positions and elements, got %d",
                            self->n_dims);
    if (frequencies->n_dims != 1 || 2 * frequencies->shape[0] > self->shape[self->n_dims - 1])
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "frequencies: expected one dim, of at most half of the %" PRId64
                            " elements of a position",
                            self->shape[self->n_dims - 1]);
    return dt__add_like(call, 0, self->dtype);
}

/* Linear in self. */
static void rows_rotary(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_linear(rows, 1);
}

typedef struct rotation {
    const dt_op_call *call;
    const dt__kernels *kernels;
    dt__array in, out;
    dt_dtype dtype;    /* of the computation: f32 or f64 */
    dt__array cosines; /* [T,F] of that dtype */
    dt__array sines;
    int64_t first;   /* position of index 0 */
    int64_t n_pairs; /* F */
    bool is_interleaved;
} rotation;

static void write_real(const dt__array *to, int64_t i, double value) {
    if (to->dtype == DT_F64)
        ((double *)to->data)[i] = value;
    else
        ((float *)to->data)[i] = (float)value;
}

/* The angles of one position. They are computed in the dtype of the frequencies, in which models were trained. */
static void fill_angles(void *arg, int64_t t) {
    const rotation *self = arg;
    const dt_op_value *frequencies = &self->call->inputs[1];
    const char *from = frequencies->data;
    const int64_t stride = frequencies->strides[0] * (int64_t)dt_dtype_size(frequencies->dtype);
    for (int64_t i = 0; i < self->n_pairs; i++) {
        const double frequency = dt__read_f64(frequencies->dtype, from + i * stride),
                     position = (double)(self->first + t);
        const double angle =
            frequencies->dtype == DT_F64 ? position * frequency : (double)((float)position * (float)frequency);
        write_real(&self->cosines, t * self->n_pairs + i, cos(angle));
        write_real(&self->sines, t * self->n_pairs + i, sin(angle));
    }
}

/* n elements of a row, from the one of pair `pair`; the second of each with b. */
static dt__array elements_of(const rotation *self, const dt__array *of, int64_t row_at, int64_t pair, bool b,
                             const int64_t *n, int64_t *stride) {
    const int64_t step = of->strides[of->n_dims - 1];
    const int64_t index = self->is_interleaved ? 2 * pair + b : pair + (b ? self->n_pairs : 0);
    *stride = self->is_interleaved ? 2 * step : step;
    char *data = (char *)of->data + (row_at + index * step) * (int64_t)dt_dtype_size(of->dtype);
    return (dt__array){data, of->dtype, 1, n, stride};
}

#define ROTATE(type)                                                                                                 \
    static void rotate_##type(int64_t n, type *a, type *b, const type *c, const type *s) {                           \
        for (int64_t i = 0; i < n; i++) {                                                                            \
            const type x = a[i], y = b[i];                                                                           \
            a[i] = x * c[i] - y * s[i];                                                                              \
            b[i] = y * c[i] + x * s[i];                                                                              \
        }                                                                                                            \
    }
ROTATE(float)
ROTATE(double)

static void rotate_block(const rotation *self, int64_t in_at, int64_t out_at, int64_t t, int64_t pair) {
    _Alignas(64) double memory[2][BLOCK];
    const int64_t n = dt__min_i64(BLOCK, self->n_pairs - pair), one = 1, angle = t * self->n_pairs + pair;
    int64_t stride;
    for (int b = 0; b < 2; b++) {
        const dt__array to = {memory[b], self->dtype, 1, &n, &one};
        const dt__array from = elements_of(self, &self->in, in_at, pair, b, &n, &stride);
        dt__convert(self->kernels, NULL, &to, &from);
    }
    if (self->dtype == DT_F64)
        rotate_double(n, memory[0], memory[1], (double *)self->cosines.data + angle,
                      (double *)self->sines.data + angle);
    else
        rotate_float(n, (float *)memory[0], (float *)memory[1], (float *)self->cosines.data + angle,
                     (float *)self->sines.data + angle);
    for (int b = 0; b < 2; b++) {
        const dt__array from = {memory[b], self->dtype, 1, &n, &one};
        const dt__array to = elements_of(self, &self->out, out_at, pair, b, &n, &stride);
        dt__convert(self->kernels, NULL, &to, &from);
    }
}

static void rotate_rows(void *arg, int64_t piece) {
    const rotation *self = arg;
    const int last = self->in.n_dims - 2;
    const int64_t n_rows = dt__elements(last + 1, self->in.shape);
    for (int64_t row = piece * ROWS_PER_PIECE; row < dt__min_i64((piece + 1) * ROWS_PER_PIECE, n_rows); row++) {
        int64_t in_at = 0, out_at = 0, rest = row;
        for (int d = last; d >= 0; d--) {
            const int64_t index = rest % self->in.shape[d];
            in_at += index * self->in.strides[d];
            out_at += index * self->out.strides[d];
            rest /= self->in.shape[d];
        }
        for (int64_t pair = 0; pair < self->n_pairs; pair += BLOCK)
            rotate_block(self, in_at, out_at, row % self->in.shape[last], pair);
    }
}

/* What follows the pairs. */
static void copy_rest(const rotation *self) {
    const int last = self->in.n_dims - 1;
    int64_t shape[DT_SPEC_MAX_DIMS];
    dt__array in = self->in, out = self->out;
    memcpy(shape, in.shape, (size_t)in.n_dims * sizeof *shape);
    shape[last] -= 2 * self->n_pairs;
    if (shape[last] == 0)
        return;
    in.data = (char *)in.data + 2 * self->n_pairs * in.strides[last] * (int64_t)dt_dtype_size(in.dtype);
    out.data = (char *)out.data + 2 * self->n_pairs * out.strides[last] * (int64_t)dt_dtype_size(out.dtype);
    in.shape = out.shape = shape;
    dt__run_convert(self->call, &out, &in);
}

static dt_status rotary(dt_op_call *call) {
    const dt_op_value *value = &call->inputs[0];
    rotation self = {.call = call,
                     .kernels = dt__kernels_of(call->ctx),
                     .in = dt__array_of(value),
                     .out = dt__array_of(&call->outputs[0]),
                     .dtype = value->dtype == DT_F64 ? DT_F64 : DT_F32,
                     .first = dt__arg_at(call, OFFSET)->as.i,
                     .n_pairs = call->inputs[1].n_dims ? call->inputs[1].shape[0] : 0,
                     .is_interleaved = dt__arg_at(call, INTERLEAVED)->as.b};
    if (dt__array_count(&self.out) == 0)
        return DT_OK;
    const int64_t n_positions = value->shape[value->n_dims - 2], shape[] = {2, n_positions, self.n_pairs};
    dt__scratch table;
    if (call->row_flags & DT_ROW_OFFSET)
        self.first += value->offset[value->n_dims - 2];
    DT__TRY(dt__scratch_new(call, self.dtype, 3, shape, &table));
    self.cosines = self.sines = table.array;
    self.sines.data = (char *)table.array.data + n_positions * self.n_pairs * (int64_t)dt_dtype_size(self.dtype);
    dt__pool_run(dt__pool_of(call->ctx), n_positions, fill_angles, &self);
    const int64_t n_rows = dt__elements(self.in.n_dims - 1, self.in.shape);
    dt__pool_run(dt__pool_of(call->ctx), dt__ceil_div(n_rows, ROWS_PER_PIECE), rotate_rows, &self);
    copy_rest(&self);
    dt__scratch_free(call, &table);
    return DT_OK;
}

/* The op itself; NULL after an error. */
static dt_tensor *rotate(dt_tensor *x, dt_tensor *frequencies, int64_t offset, bool interleaved) {
    const dt_op_argument arguments[] = {
        {.tensor = x},
        {.tensor = frequencies},
        {.name = "offset", .value = {.type = DT_ARG_INT, .as.i = offset}},
        {.name = "interleaved", .value = {.type = DT_ARG_BOOL, .as.b = interleaved}},
    };
    dt_tensor *result = NULL;
    int n;
    if (x && frequencies)
        (void)dt_op_run(dt_tensor_ctx(x), "rotary_embedding", 4, arguments, NULL, &result, 1, &n);
    return result;
}

/* The derivative of a rotated pair by its angle is the pair, rotated by another quarter turn; that of the angle by the
 * frequency is the position. */
static dt_tensor *frequency_grads(const dt_op_backward *call, int64_t offset, bool interleaved) {
    dt_tensor *grad = call->grads[0], *frequencies = call->inputs[1];
    const int64_t n = dt_tensor_size(frequencies, 0);
    if (n == 0)
        return dt_zeros_like(frequencies);
    dt_tensor *quarter = dt_full_like(frequencies, 0.5 * 3.14159265358979323846);
    dt_tensor *turned = rotate(dt_unsqueeze(call->outputs[0], -2), quarter, 1, interleaved);
    dt_tensor *product = dt_mul(grad, dt_squeeze_dim(turned, -2));
    dt_tensor *first = interleaved ? dt_slice(product, -1, 0, 2 * n, 2) : dt_narrow(product, -1, 0, n);
    dt_tensor *second = interleaved ? dt_slice(product, -1, 1, 2 * n, 2) : dt_narrow(product, -1, n, n);
    dt_tensor *positions = dt_cumsum(dt_ones_like(dt_narrow(product, -1, 0, 1)), -2);
    dt_tensor *by_angle = dt_mul(dt_add(first, second), dt_add_scalar(positions, offset - 1));
    int64_t dims[DT_SPEC_MAX_DIMS];
    const int n_dims = dt_tensor_n_dims(by_angle);
    for (int d = 0; d < n_dims; d++)
        dims[d] = d;
    const dt_dims all_but_last = {.n = n_dims - 1, .list = dims};
    return dt_to(dt_sum(by_angle, .dim = all_but_last), dt_tensor_dtype(frequencies));
}

static dt_status rotary_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const int64_t offset = dt__arg_at(call->call, OFFSET)->as.i;
    const bool interleaved = dt__arg_at(call->call, INTERLEAVED)->as.b;
    if (call->needed[0])
        input_grads[0] = rotate(call->grads[0], dt_neg(call->inputs[1]), offset, interleaved);
    if (call->needed[1])
        input_grads[1] = frequency_grads(call, offset, interleaved);
    return dt_failed(call->call->ctx) ? dt_error_status(call->call->ctx) : DT_OK;
}

const dt_op dt__op_rotary_embedding = {
    .schema = "rotary_embedding(Tensor self, Tensor frequencies, *, int offset=0, bool interleaved=False) -> Tensor",
    .summary = "Rotates pairs of the last dim by the position, the index in the dim before, times their frequency.",
    .rule = "...t@d!, f! -> ...td",
    .rows = rows_rotary,
    .arguments = "offset,interleaved",
    .varying = "offset",
    .shape = shape_rotary,
    .kernel = rotary,
    .backward = rotary_backward,
    .saves = "frequencies,result",
    .samples = "rotary_embedding(f32[5,6]; f32[3])\nrotary_embedding(f32[2,3,5,4]; f32[2]; offset=7)\n"
               "rotary_embedding(f64[3,5,7]; f32[2]; offset=1; interleaved=true)\n"
               "rotary_embedding(bf16[2,5,4]; f32[2])",
};
