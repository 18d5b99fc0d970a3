/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion between dtypes, and elementwise ops. Chooses the loop and its dtypes for an op; blocks.c does the rest.
 * Small contiguous operands of the loop's dtype are passed to the loop directly.
 */
#include "kernels/kernels.h"

#include "kernels/blocks.h"
#include "kernels/walk.h"

#include <string.h>

enum { MAX_DIRECT = 1 << 15, MAX_SMALL_BYTES = 1024 };

/* Copies a few contiguous elements, repeated as rows of dst if src has fewer dims. False if this does not apply. */
static bool copy_small(const dt__array *dst, const dt__array *src, int64_t bytes) {
    const int64_t n = dt__array_count(dst) * bytes, row = dt__array_count(src) * bytes;
    const int skip = dst->n_dims - src->n_dims;
    bool small = n > 0 && n <= MAX_SMALL_BYTES && skip >= 0 && dt__array_is_dense(dst) && dt__array_is_dense(src);
    for (int d = 0; small && d < src->n_dims; d++)
        small = src->shape[d] == dst->shape[skip + d];
    for (int64_t at = 0; small && at < n; at += row)
        memmove((char *)dst->data + at, src->data, (size_t)row);
    return small;
}

static void copy(const dt__kernels *kernels, dt__pool *pool, const dt__array *dst, const dt__array *src) {
    const dt__array *const arrays[] = {dst, src};
    const int64_t bytes = (int64_t)dt__dtype_bytes(dst->dtype);
    int64_t sizes[DT__WALK_DIMS], to[DT__WALK_DIMS], from[DT__WALK_DIMS], n_bytes = bytes;
    dt__walk walk;
    if (copy_small(dst, src, bytes) || !dt__walk_make(2, arrays, &walk))
        return;
    for (int d = 0; d < walk.n_dims; d++) {
        sizes[d] = walk.dims[d].size;
        n_bytes *= sizes[d];
        to[d] = walk.dims[d].strides[0] / bytes;
        from[d] = walk.dims[d].strides[1] / bytes;
    }
    dt__spread_copy(kernels, pool,
                    &(dt__strided){walk.at[0], walk.at[1], (size_t)bytes, walk.n_dims, sizes, to, from},
                    n_bytes >= DT__STREAM_BYTES ? DT__STREAM : DT__CACHED);
}

void dt__convert(const dt__kernels *kernels, dt__pool *pool, const dt__array *dst, const dt__array *src) {
    if (dt__is_idle_memory(kernels, dst->data) || dt__is_idle_memory(kernels, src->data))
        return;
    if (dst->dtype == src->dtype) {
        copy(kernels, pool, dst, src);
        return;
    }
    dt__blocks_run(&(dt__blocks){.kernels = kernels,
                                 .pool = pool,
                                 .n_arrays = 2,
                                 .arrays = {dst, src},
                                 .loop_dtypes = {src->dtype, src->dtype}});
}

static const struct {
    int n_ins, bool_ins;
    bool is_bool;
} ops[DT__N_ELEMENT_OPS] = {
#define ROW(name, n_ins, bool_ins, is_bool) {n_ins, bool_ins, is_bool},
    DT__ELEMENT_LIST(ROW)
#undef ROW
};

/* The dtype to compute in where an op has no loop for a dtype. */
static const dt_dtype wider[DT_N_DTYPES] = {
    [DT_F16] = DT_F32, [DT_BF16] = DT_F32, [DT_I8] = DT_I32,  [DT_I16] = DT_I32,
    [DT_U8] = DT_I32,  [DT_BOOL] = DT_I32, [DT_F32] = DT_F32, [DT_F64] = DT_F64,
    [DT_I32] = DT_I32, [DT_I64] = DT_I64,  [DT_C64] = DT_C64, [DT_C128] = DT_C128,
};

/* The dtype of the loop; logic ops have one loop for all dtypes. */
static dt_dtype loop_dtype(dt__element_op op, dt_dtype dtype) {
    const bool is_logic = ops[op].bool_ins == (1 << ops[op].n_ins) - 1;
    return is_logic ? DT_BOOL : wider[dtype];
}

/* Whether an op has a loop of a 16-bit dtype, and all operands have this dtype; others are not rounded to it first. */
static bool is_half(const dt__kernels *kernels, const dt__elementwise *args) {
    bool all = args->dtype != wider[args->dtype] && args->out->dtype == args->dtype &&
               kernels->loops->ops[args->op][args->dtype] != NULL;
    for (int k = 0; all && k < ops[args->op].n_ins; k++)
        all = args->ins[k]->dtype == args->dtype;
    return all;
}

bool dt__op_computes(dt__element_op op, dt_dtype dtype) {
    return dt__loops_baseline.ops[op][loop_dtype(op, dtype)] != NULL;
}

/* Whether b has the shape of a, which is dense, and is dense, too. */
static inline bool is_dense_like(const dt__array *a, const dt__array *b) {
    bool same_shape = a->n_dims == b->n_dims, same_strides = true;
    for (int d = 0; same_shape && d < a->n_dims; d++) {
        same_shape = a->shape[d] == b->shape[d];
        same_strides = same_strides && a->strides[d] == b->strides[d];
    }
    return same_shape && (same_strides || dt__array_is_dense(b));
}

/* Fills the buffer with n copies of one element, by doubling. */
static const void *repeat(const dt__array *a, int64_t n, unsigned char *buffer) {
    const size_t bytes = dt__dtype_bytes(a->dtype), all = (size_t)n * bytes;
    memcpy(buffer, a->data, bytes);
    for (size_t done = bytes; done < all; done *= 2)
        memcpy(buffer + done, buffer, done < all - done ? done : all - done);
    return buffer;
}

/* Whether the loop can run over all elements at once; if so, sets its input pointers. A scalar operand is expanded
 * into the buffer. */
static bool can_run_directly(const dt__blocks *b, int64_t n, unsigned char (*buffer)[MAX_SMALL_BYTES],
                             const void **ins) {
    bool direct = n <= MAX_DIRECT && b->arrays[0]->dtype == b->loop_dtypes[0] && dt__array_is_dense(b->arrays[0]);
    for (int k = 1; direct && k < b->n_arrays; k++) {
        const dt__array *a = b->arrays[k];
        direct = a->dtype == b->loop_dtypes[k];
        ins[k - 1] = a->data;
        if (direct && a->n_dims == 0 && b->arrays[0]->n_dims > 0) {
            direct = n * (int64_t)dt__dtype_bytes(a->dtype) <= MAX_SMALL_BYTES;
            if (direct)
                ins[k - 1] = repeat(a, n, buffer[k - 1]);
        } else
            direct = direct && is_dense_like(b->arrays[0], a);
    }
    return direct;
}

static __attribute__((noinline)) void run_any(const dt__kernels *kernels, dt__pool *pool,
                                              const dt__elementwise *args) {
    const dt_dtype dtype = is_half(kernels, args) ? args->dtype : loop_dtype(args->op, args->dtype);
    dt__blocks b = {.kernels = kernels,
                    .pool = pool,
                    .loop = kernels->loops->ops[args->op][dtype],
                    .numbers = args->numbers,
                    .n_arrays = 1 + ops[args->op].n_ins,
                    .arrays = {args->out, args->ins[0], args->ins[1], args->ins[2]}};
    b.loop_dtypes[0] = ops[args->op].is_bool ? DT_BOOL : dtype;
    for (int k = 1; k < b.n_arrays; k++)
        b.loop_dtypes[k] = ops[args->op].bool_ins >> (k - 1) & 1 ? DT_BOOL : dtype;
    const bool is_product = args->op == DT__EL_MUL || (args->op == DT__EL_ADDCMUL && args->numbers[0].f.re == 1);
    if (is_product && (dtype == DT_F32 || dtype == DT_F64))
        b.affine = kernels->loops->ops[DT__EL_AFFINE][dtype];
    const int64_t n = dt__array_count(args->out);
    unsigned char buffer[DT__LOOP_ARRAYS - 1][MAX_SMALL_BYTES];
    const void *ins[DT__LOOP_ARRAYS - 1] = {NULL};
    if (can_run_directly(&b, n, buffer, ins))
        b.loop(n, args->out->data, ins, args->numbers);
    else
        dt__blocks_run(&b);
}

/* Runs the loop where the output is dense and all operands are like it, in dtype, shape and strides: most small calls.
 * False otherwise. */
static inline bool run_alike(const dt__kernels *kernels, const dt__elementwise *args) {
    const dt__array *out = args->out;
    const dt_dtype dtype = args->dtype;
    const int n_ins = ops[args->op].n_ins;
    const void *ins[DT__LOOP_ARRAYS - 1];
    int64_t n = 1;
    if (ops[args->op].bool_ins || ops[args->op].is_bool || out->dtype != dtype || wider[dtype] != dtype)
        return false;
    for (int k = 0; k < n_ins; k++)
        if (args->ins[k]->dtype != dtype || args->ins[k]->n_dims != out->n_dims)
            return false;
    for (int d = out->n_dims - 1; d >= 0; d--) {
        if (out->strides[d] != n)
            return false;
        n *= out->shape[d];
    }
    for (int k = 0; k < n_ins; k++) {
        const dt__array *in = args->ins[k];
        for (int d = 0; d < out->n_dims; d++)
            if (in->shape[d] != out->shape[d] || in->strides[d] != out->strides[d])
                return false;
        ins[k] = in->data;
    }
    if (n > MAX_DIRECT)
        return false;
    kernels->loops->ops[args->op][dtype](n, out->data, ins, args->numbers);
    return true;
}

void dt__elementwise_run(const dt__kernels *kernels, dt__pool *pool, const dt__elementwise *args) {
    if (!run_alike(kernels, args))
        run_any(kernels, pool, args);
}
