/* SPDX-License-Identifier: Apache-2.0
 *
 * A block is a patch of the two innermost dims of the walk: part of a row, or several whole rows where rows are
 * short. Operands that are contiguous within it and have the loop's dtype are used in place; the others go through
 * buffers that fit the L1 cache. An operand that is one number along a row, or all of them, is loaded once for that.
 */
#include "kernels/blocks.h"

#include "base/assume.h"
#include "base/size.h"
#include "kernels/gather.h"
#include "kernels/walk.h"

enum {
    BUFFERED = 1024,   /* elements of a block when some operand is buffered */
    TILE_COLUMNS = 64, /* of a block when some operand is transposed, so that whole cache lines */
    TILE_ROWS = 16,    /* of all operands are used */
    DIRECT = 1 << 15,  /* elements of a block when no operand is buffered */
    PIECE = 1 << 16,   /* elements that are worth a thread, about */
    BUFFER_BYTES = BUFFERED * 16,
};

/* The state that all threads share; read-only while they run. */
typedef struct job {
    const dt__blocks *args;
    dt__walk walk;
    int64_t columns, rows;    /* of a block, at most */
    int64_t n_across, n_down; /* blocks in a plane of the two innermost dims */
    bool walks_down;          /* whether the next block is below, not to the side */
    int64_t n_blocks, n_per_piece;
} job;

/* Memory of one thread. */
typedef struct buffers {
    struct {
        const char *source; /* the one element that was loaded, or NULL */
        const void *loaded; /* its elements */
        char *gathered, *converted;
    } operands[DT__LOOP_ARRAYS];
    _Alignas(64) char memory[2 * DT__LOOP_ARRAYS * BUFFER_BYTES];
} buffers;

static void assign_buffers(buffers *b, const dt__blocks *args) {
    char *at = b->memory;
    DT__ASSUME(args->n_arrays > 0);
    for (int k = 0; k < args->n_arrays; k++) {
        b->operands[k].source = NULL;
        b->operands[k].gathered = at;
        at += BUFFERED * dt__dtype_bytes(args->arrays[k]->dtype);
        b->operands[k].converted = at;
        at += BUFFERED * dt__dtype_bytes(args->loop_dtypes[k]);
    }
}

static dt__patch patch_of(const job *j, int k, char *at, int64_t columns, int64_t rows) {
    const dt__walk_dim *dims = j->walk.dims;
    return (dt__patch){
        at, dt__dtype_bytes(j->args->arrays[k]->dtype), columns, rows, dims[0].strides[k], dims[1].strides[k]};
}

/* Operand k of a block, contiguous and in the dtype of the loop. */
static const void *load_operand(const job *j, buffers *b, int k, const dt__patch *p) {
    const dt_dtype stored = j->args->arrays[k]->dtype, loop_dtype = j->args->loop_dtypes[k];
    const bool is_fixed = p->column_stride == 0 && (p->row_stride == 0 || p->rows == 1);
    if (is_fixed && b->operands[k].source == p->at)
        return b->operands[k].loaded;
    b->operands[k].source = is_fixed ? p->at : NULL;
    const dt__patch whole = {p->at, p->bytes, j->columns * j->rows, 1, 0, 0}; /* enough for a block of any size */
    b->operands[k].loaded = dt__load_patch(j->args->kernels, is_fixed ? &whole : p, stored, loop_dtype,
                                           b->operands[k].gathered, b->operands[k].converted);
    return b->operands[k].loaded;
}

/* Whether operand k is one element along rows; if so, gets it. */
static bool get_number(const job *j, int k, const char *at, double *out) {
    const dt_dtype stored = j->args->arrays[k]->dtype, dtype = j->args->loop_dtypes[k];
    double wide;
    float narrow;
    if (j->walk.dims[0].strides[k] != 0)
        return false;
    j->args->kernels->loops->convert[stored][dtype](1, dtype == DT_F64 ? (void *)&wide : &narrow, at);
    *out = dtype == DT_F64 ? wide : (double)narrow;
    return true;
}

/* One row of a b or a + b c where all but one operand are numbers. -0 is neutral in sums, whatever their sign. */
static bool run_affine_row(const job *j, buffers *b, char *const *at, int64_t columns) {
    const dt__blocks *args = j->args;
    const bool is_sum = args->n_arrays == 4;
    const int first = is_sum ? 2 : 1, row = j->walk.dims[0].strides[first] == 0 ? first + 1 : first,
              number = 2 * first + 1 - row;
    const dt__patch out = patch_of(j, 0, at[0], columns, 1), p = patch_of(j, row, at[row], columns, 1);
    dt__number numbers[2] = {{.f = {0, 0}}, {.f = {-0.0, 0}}};
    if (args->arrays[0]->dtype != args->loop_dtypes[0] || !dt__patch_is_dense(&out) ||
        !get_number(j, number, at[number], &numbers[0].f.re) ||
        (is_sum && !get_number(j, 1, at[1], &numbers[1].f.re)))
        return false;
    args->affine(columns, out.at, (const void *[]){load_operand(j, b, row, &p)}, numbers);
    return true;
}

static void run_block(const job *j, buffers *b, char *const *at, int64_t columns, int64_t rows) {
    const dt__blocks *args = j->args;
    const dt_dtype stored = args->arrays[0]->dtype, computed = args->loop_dtypes[0];
    const dt__patch out = patch_of(j, 0, at[0], columns, rows);
    void *dense = dt__patch_is_dense(&out) ? out.at : b->operands[0].gathered;
    const void *result = b->operands[0].converted;
    const void *ins[DT__LOOP_ARRAYS] = {NULL};
    if (args->affine && rows == 1 && run_affine_row(j, b, at, columns))
        return;
    for (int k = 1; k < args->n_arrays; k++) {
        const dt__patch p = patch_of(j, k, at[k], columns, rows);
        ins[k - 1] = load_operand(j, b, k, &p);
    }
    if (!args->loop)
        result = ins[0];
    else
        args->loop(columns * rows, computed == stored ? dense : b->operands[0].converted, ins, args->numbers);
    if (computed != stored)
        args->kernels->loops->convert[computed][stored](columns * rows, dense, result);
    if (dense != out.at)
        dt__scatter(dense, &out);
}

static void run_piece(void *arg, int64_t piece) {
    const job *j = arg;
    const dt__walk *walk = &j->walk;
    const int64_t in_plane = j->n_across * j->n_down;
    const int64_t first = piece * j->n_per_piece, end = dt__min_i64(first + j->n_per_piece, j->n_blocks);
    int64_t position[DT__WALK_DIMS];
    char *plane[DT__WALK_ARRAYS] = {NULL}, *at[DT__WALK_ARRAYS] = {NULL};
    buffers b;
    assign_buffers(&b, j->args);
    for (int k = 0; k < walk->n_arrays; k++)
        plane[k] = walk->at[k];
    dt__walk_seek(walk, 2, first / in_plane, position, plane);
    for (int64_t n = first, in = first % in_plane; n < end; n++) {
        const int64_t across = j->walks_down ? in / j->n_down : in % j->n_across;
        const int64_t down = j->walks_down ? in % j->n_down : in / j->n_across;
        const int64_t column = across * j->columns, row = down * j->rows;
        for (int k = 0; k < walk->n_arrays; k++)
            at[k] = plane[k] + column * walk->dims[0].strides[k] + row * walk->dims[1].strides[k];
        run_block(j, &b, at, dt__min_i64(j->columns, walk->dims[0].size - column),
                  dt__min_i64(j->rows, walk->dims[1].size - row));
        if (++in == in_plane) {
            in = 0;
            dt__walk_next(walk, 2, position, plane);
        }
    }
}

/* Whether no operand needs a buffer, however long the rows are. A conversion alone writes its result in place. */
static bool is_direct(const job *j) {
    for (int k = 0; k < j->args->n_arrays; k++)
        if ((j->args->arrays[k]->dtype != j->args->loop_dtypes[k] && j->args->loop) ||
            j->walk.dims[0].strides[k] != (int64_t)dt__dtype_bytes(j->args->arrays[k]->dtype))
            return false;
    return true;
}

/* Whether some operand is contiguous along the second dim. */
static bool has_transposed(const job *j) {
    const dt__walk_dim *dims = j->walk.dims;
    for (int k = 0; k < j->args->n_arrays; k++) {
        const int64_t size = (int64_t)dt__dtype_bytes(j->args->arrays[k]->dtype);
        if (dims[1].size > 1 && dims[1].strides[k] == size && dims[0].strides[k] > size)
            return true;
    }
    return false;
}

static void choose_blocks(job *j) {
    const dt__walk_dim *dims = j->walk.dims;
    j->walks_down = has_transposed(j); /* along the contiguous direction, while its pages are in the TLB */
    if (is_direct(j) && dims[0].size >= BUFFERED) {
        j->columns = dt__min_i64(dims[0].size, DIRECT);
        j->rows = 1;
    } else if (j->walks_down) {
        j->columns = dt__min_i64(dims[0].size, TILE_COLUMNS);
        j->rows = dt__min_i64(dims[1].size, TILE_ROWS);
    } else {
        j->columns = dt__min_i64(dims[0].size, BUFFERED);
        j->rows = dt__min_i64(dims[1].size, dt__max_i64(BUFFERED / dims[0].size, 1));
    }
    j->n_across = dt__ceil_div(dims[0].size, j->columns);
    j->n_down = dt__ceil_div(dims[1].size, j->rows);
    j->n_blocks = j->n_across * j->n_down * dt__walk_positions(&j->walk, 2);
    j->n_per_piece = dt__ceil_div(PIECE, j->columns * j->rows);
}

void dt__blocks_run(const dt__blocks *args) {
    job j;
    j.args = args;
    if (!dt__walk_make(args->n_arrays, args->arrays, &j.walk))
        return;
    choose_blocks(&j);
    dt__pool_run(args->pool, dt__ceil_div(j.n_blocks, j.n_per_piece), run_piece, &j);
}
