/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise loops with any number of operands, such as those of a program's own ops. Dims are joined where all
 * operands allow it, so that dense arrays are one row. Rows are cut into blocks; an operand of a block that is
 * contiguous and has the loop's dtype is used in place, the others go through buffers on the stack, whose length
 * follows from the number of operands. Pieces of whole blocks are distributed over the threads.
 */
#include "kernels/kernels.h"

#include "base/size.h"
#include "kernels/gather.h"

#include <string.h>

enum {
    BUFFER_BYTES = 1 << 16, /* of one thread, for all operands */
    MAX_BLOCK = 1024,       /* elements, where some operand is buffered */
    MAX_DIRECT = 1 << 14,   /* where none is */
    MAX_DIMS = 64,
};

/* The state that all threads share; read-only while they run. */
typedef struct job {
    const dt__kernels *kernels;
    const dt__loop_operands *args;
    int n_dims;
    int64_t sizes[MAX_DIMS];                          /* joined; the last is the row */
    int64_t strides[DT__MAX_LOOP_OPERANDS][MAX_DIMS]; /* in bytes */
    int64_t block, n_per_row, n_blocks, n_per_piece;
} job;

/* The stride of an operand along a dim of the outputs, in bytes; 0 where it is broadcast. */
static int64_t stride_of(const dt__array *a, int n_dims, int d) {
    int own = d - (n_dims - a->n_dims);
    return own < 0 || a->shape[own] == 1 ? 0 : a->strides[own] * (int64_t)dt_dtype_size(a->dtype);
}

/* Whether all operands go through dim d and the last joined dim as through one. */
static bool can_join(const job *j, const dt__array *out, int d) {
    for (int k = 0; k < j->args->n_all; k++)
        if (j->strides[k][j->n_dims - 1] != stride_of(&j->args->arrays[k], out->n_dims, d) * out->shape[d])
            return false;
    return true;
}

static void join_dims(job *j, const dt__array *out) {
    for (int d = 0; d < out->n_dims; d++) {
        if (out->shape[d] == 1)
            continue;
        if (j->n_dims > 0 && can_join(j, out, d))
            j->sizes[j->n_dims - 1] *= out->shape[d];
        else
            j->sizes[j->n_dims++] = out->shape[d];
        for (int k = 0; k < j->args->n_all; k++)
            j->strides[k][j->n_dims - 1] = stride_of(&j->args->arrays[k], out->n_dims, d);
    }
    if (j->n_dims == 0) {
        j->sizes[j->n_dims++] = 1;
        for (int k = 0; k < j->args->n_all; k++)
            j->strides[k][0] = 0;
    }
}

/* Element `column` of row `row` of an operand. */
static char *element_at(const job *j, int k, int64_t row, int64_t column) {
    char *at = (char *)j->args->arrays[k].data + column * j->strides[k][j->n_dims - 1];
    for (int d = j->n_dims - 2; d >= 0; d--) {
        at += row % j->sizes[d] * j->strides[k][d];
        row /= j->sizes[d];
    }
    return at;
}

/* Elements of a block for which there is memory. */
static int64_t buffered_block(int n_all) { return dt__min_i64(BUFFER_BYTES / (n_all * 2 * 16), MAX_BLOCK); }

static void run_block(const job *j, int64_t index, char *memory) {
    const dt__loop_operands *args = j->args;
    const int64_t row = index / j->n_per_row, column = index % j->n_per_row * j->block;
    const int64_t n = dt__min_i64(j->block, j->sizes[j->n_dims - 1] - column);
    const size_t bytes = (size_t)buffered_block(args->n_all) * 16;
    const void *ins[DT__MAX_LOOP_OPERANDS];
    void *outs[DT__MAX_LOOP_OPERANDS];
    for (int k = 0; k < args->n_all; k++) {
        const dt_dtype stored = args->arrays[k].dtype;
        char *gathered = memory + (size_t)k * 2 * bytes, *converted = gathered + bytes;
        const dt__patch patch = {
            element_at(j, k, row, column), dt_dtype_size(stored), n, 1, j->strides[k][j->n_dims - 1], 0};
        if (k < args->n_ins)
            ins[k] = dt__load_patch(j->kernels, &patch, stored, args->dtype, gathered, converted);
        else
            outs[k - args->n_ins] = stored == args->dtype && dt__patch_is_dense(&patch) ? patch.at : gathered;
    }
    args->loop(n, ins, outs, args->arg);
    for (int k = args->n_ins; k < args->n_all; k++) {
        const dt_dtype stored = args->arrays[k].dtype;
        char *gathered = memory + (size_t)k * 2 * bytes;
        const dt__patch patch = {
            element_at(j, k, row, column), dt_dtype_size(stored), n, 1, j->strides[k][j->n_dims - 1], 0};
        if (outs[k - args->n_ins] == gathered)
            dt__store_patch(j->kernels, gathered, args->dtype, &patch, stored, gathered + bytes);
    }
}

static void run_piece(void *arg, int64_t piece) {
    const job *j = arg;
    _Alignas(64) char memory[BUFFER_BYTES];
    const int64_t end = dt__min_i64((piece + 1) * j->n_per_piece, j->n_blocks);
    for (int64_t i = piece * j->n_per_piece; i < end; i++)
        run_block(j, i, memory);
}

/* Whether all operands are used in place. */
static bool is_direct(const job *j) {
    for (int k = 0; k < j->args->n_all; k++)
        if (j->args->arrays[k].dtype != j->args->dtype ||
            j->strides[k][j->n_dims - 1] != (int64_t)dt_dtype_size(j->args->dtype))
            return false;
    return true;
}

/* Whether all operands are dense and have the loop's dtype, as most parameters and gradients do. */
static bool is_one_row(const dt__loop_operands *args, const dt__array *out) {
    for (int k = 0; k < args->n_all; k++) {
        const dt__array *a = &args->arrays[k];
        int64_t stride = 1;
        if (a->dtype != args->dtype || a->n_dims != out->n_dims)
            return false;
        for (int d = a->n_dims - 1; d >= 0; stride *= a->shape[d--])
            if (a->shape[d] != out->shape[d] || (a->shape[d] != 1 && a->strides[d] != stride))
                return false;
    }
    return true;
}

static void run_row(void *arg, int64_t piece) {
    const dt__loop_operands *args = arg;
    const void *ins[DT__MAX_LOOP_OPERANDS];
    void *outs[DT__MAX_LOOP_OPERANDS];
    (void)piece; /* the only one */
    for (int k = 0; k < args->n_ins; k++)
        ins[k] = args->arrays[k].data;
    for (int k = args->n_ins; k < args->n_all; k++)
        outs[k - args->n_ins] = args->arrays[k].data;
    args->loop(dt__array_count(&args->arrays[args->n_ins]), ins, outs, args->arg);
}

void dt__loop_operands_run(const dt__kernels *kernels, dt__pool *pool, const dt__loop_operands *args) {
    const dt__array *out = &args->arrays[args->n_ins];
    const int64_t n = dt__array_count(out);
    job j;
    j.kernels = kernels;
    j.args = args;
    j.n_dims = 0;
    if (n == 0)
        return;
    if (n <= DT__LOOP_PIECE && is_one_row(args, out)) {
        dt__loop_operands only = *args;
        dt__pool_run(pool, 1, run_row, &only);
        return;
    }
    join_dims(&j, out);
    j.block = is_direct(&j) ? MAX_DIRECT : buffered_block(args->n_all);
    j.n_per_row = dt__ceil_div(j.sizes[j.n_dims - 1], j.block);
    j.n_blocks = j.n_per_row;
    for (int d = 0; d + 1 < j.n_dims; d++)
        j.n_blocks *= j.sizes[d];
    j.n_per_piece = dt__ceil_div(DT__LOOP_PIECE, dt__min_i64(j.block, j.sizes[j.n_dims - 1]));
    dt__pool_run(pool, dt__ceil_div(j.n_blocks, j.n_per_piece), run_piece, &j);
}
