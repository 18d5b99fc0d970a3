/* SPDX-License-Identifier: Apache-2.0
 *
 * The gradients of norms over any dims, with weights that vary along any. Elements whose numbers are all equal are a
 * cell: a channel of an image, of one instance or of all. Sums of cells come first; their rows add these up, and the
 * elements follow. Cells of whole rows that are close in memory are a unit, whose elements are read again while they
 * are in the cache. A few large units are divided into segments, so that several threads have work.
 */
#include "base/size.h"
#include "kernels/gather.h"
#include "kernels/loops.h"
#include "kernels/walk.h"

#include <stddef.h>
#include <string.h>

enum { BLOCK = 512, DIRECT = 4096, PIECE = 1 << 14, SEGMENT = 1 << 16, MAX_SEGMENTS = 16 };
enum { N_NUMBERS = 4 }; /* of each cell, in the job */

/* CELL: the index of the cell, as an array of f64 would be addressed. */
enum { IN, GRAD, OUT, CELL, N_OPERANDS };

typedef struct job {
    const dt__kernels *kernels;
    const dt__gradient_loops *loops;
    const dt__moment_grads *args;
    dt_dtype dtype; /* computed in */
    dt__array operands[N_OPERANDS];
    int64_t cell_strides[DT__WALK_DIMS];
    dt__walk units, elements; /* elements: of one unit */
    int64_t n_units, n_unit_cells;
    int64_t block; /* elements: BLOCK, or DIRECT where all operands are used in place */
    int64_t n_across, n_blocks;
    int64_t n_segments, n_per_piece;        /* units per piece, if each is one segment */
    double *weight, *scale, *sum, *product; /* of each cell: out = scale (weight grad - sum - y product) */
} job;

typedef struct block {
    int64_t position[DT__WALK_DIMS], across, n, cell;
    char *start[N_OPERANDS], *at[N_OPERANDS];
} block;

typedef struct buffers {
    _Alignas(64) char gathered[N_OPERANDS][BLOCK * 8], converted[N_OPERANDS][BLOCK * 8];
} buffers;

static void unit_at(const job *j, int64_t unit, char **at) {
    int64_t position[DT__WALK_DIMS];
    for (int k = 0; k < N_OPERANDS; k++)
        at[k] = j->units.at[k];
    dt__walk_seek(&j->units, 0, unit, position, at);
}

/* Before block number `first` of a unit. */
static void block_start(const job *j, int64_t unit, int64_t first, block *b) {
    unit_at(j, unit, b->start);
    for (int k = 0; k < N_OPERANDS; k++)
        b->start[k] += j->elements.at[k] - (char *)j->operands[k].data;
    dt__walk_seek(&j->elements, 1, first / j->n_across, b->position, b->start);
    b->across = first % j->n_across;
}

static void block_next(const job *j, block *b) {
    const dt__walk_dim *inner = &j->elements.dims[0];
    const int64_t skip = b->across * j->block;
    for (int k = 0; k < N_OPERANDS; k++)
        b->at[k] = b->start[k] + skip * inner->strides[k];
    b->cell = (b->at[CELL] - (char *)j->operands[CELL].data) / (int64_t)sizeof(double);
    b->n = dt__min_i64(j->block, inner->size - skip);
    if (++b->across == j->n_across) {
        b->across = 0;
        dt__walk_next(&j->elements, 1, b->position, b->start);
    }
}

static dt__patch patch(const job *j, const block *b, int k) {
    return (dt__patch){b->at[k], dt__dtype_bytes(j->operands[k].dtype), b->n, 1, j->elements.dims[0].strides[k], 0};
}

static const void *load(const job *j, const block *b, buffers *m, int k) {
    const dt__patch p = patch(j, b, k);
    return dt__load_patch(j->kernels, &p, j->operands[k].dtype, j->dtype, m->gathered[k], m->converted[k]);
}

/* Whether neighbors are in different cells. */
static bool has_lanes(const job *j) { return j->elements.dims[0].strides[CELL] != 0; }

/* Adds blocks first to end - 1 of a unit to the sums of its cells; arrays of all cells. */
static void add_up(const job *j, buffers *m, int64_t unit, int64_t first, int64_t end, double *sums,
                   double *products) {
    const dt__moment_grads *args = j->args;
    block b;
    block_start(j, unit, first, &b);
    for (int64_t i = first; i < end; i++) {
        block_next(j, &b);
        const int64_t c = b.cell;
        const void *grad = load(j, &b, m, GRAD), *in = load(j, &b, m, IN);
        (has_lanes(j) ? j->loops->lane_sums : j->loops->cell_sums)(b.n, grad, in, args->mean + c, args->rstd + c,
                                                                   sums + c, products + c);
    }
}

static void write_block(const job *j, buffers *m, const block *b) {
    const int64_t c = b->cell;
    const dt__patch to = patch(j, b, OUT);
    const bool direct = j->operands[OUT].dtype == j->dtype && dt__patch_is_dense(&to);
    const void *grad = load(j, b, m, GRAD), *in = load(j, b, m, IN);
    void *computed = direct ? (void *)to.at : m->converted[OUT];
    const dt__norm_cells of = {j->args->mean + c, j->args->rstd + c, j->weight + c,
                               j->scale + c,      j->sum + c,        j->product + c};
    (has_lanes(j) ? j->loops->lane_input : j->loops->cell_input)(b->n, grad, in, &of, computed);
    if (!direct)
        dt__store_patch(j->kernels, computed, j->dtype, &to, j->operands[OUT].dtype, m->gathered[OUT]);
}

static void write_blocks(const job *j, buffers *m, int64_t unit, int64_t first, int64_t end) {
    block b;
    block_start(j, unit, first, &b);
    for (int64_t i = first; i < end; i++) {
        block_next(j, &b);
        write_block(j, m, &b);
    }
}

static int64_t first_cell(const job *j, int64_t unit) {
    char *at[N_OPERANDS];
    unit_at(j, unit, at);
    return (at[CELL] - (char *)j->operands[CELL].data) / (int64_t)sizeof(double);
}

/* A weight that all elements of a row share is a factor of the result: gradients cancel before they are scaled. */
static void prepare_cells(const job *j, int64_t unit) {
    const dt__moment_grads *args = j->args;
    const int64_t first = first_cell(j, unit), end = first + j->n_unit_cells;
    for (int64_t c = first; c < end && !args->has_rows; c++) {
        const double weight = args->is_weighted ? args->weight[c] : 1;
        args->row_sums[args->row[c]] += weight * args->sums[c];
        args->row_products[args->row[c]] += weight * args->products[c];
    }
    for (int64_t c = first; c < end && args->out; c++) {
        j->weight[c] = args->is_weighted ? args->weight[c] : 1;
        j->scale[c] = args->is_weighted ? args->rstd[c] : args->rstd[c] * args->weight[c];
        j->sum[c] = args->row_sums[args->row[c]] / args->count;
        j->product[c] = args->row_products[args->row[c]] / args->count;
    }
}

/* Units of one segment each: sums, then the elements. */
static void run_units(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t begin = piece * j->n_per_piece, end = dt__min_i64(begin + j->n_per_piece, j->n_units);
    buffers m;
    for (int64_t unit = begin; unit < end; unit++) {
        if (!j->args->has_rows)
            add_up(j, &m, unit, 0, j->n_blocks, j->args->sums, j->args->products);
        prepare_cells(j, unit);
        if (j->args->out)
            write_blocks(j, &m, unit, 0, j->n_blocks);
    }
}

/* The sums of segment s of all units; those of segment 0 are the result. */
static double *sums_of_segment(const job *j, int64_t s, int which) {
    const dt__moment_grads *args = j->args;
    if (s == 0)
        return which ? args->products : args->sums;
    return args->memory + (N_NUMBERS + 2 * (s - 1) + which) * args->n_cells;
}

static int64_t segment_begin(const job *j, int64_t s) { return s * j->n_blocks / j->n_segments; }

static void sum_segment(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t unit = piece / j->n_segments, s = piece % j->n_segments;
    buffers m;
    add_up(j, &m, unit, segment_begin(j, s), segment_begin(j, s + 1), sums_of_segment(j, s, 0),
           sums_of_segment(j, s, 1));
}

static void write_segment(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t unit = piece / j->n_segments, s = piece % j->n_segments;
    buffers m;
    write_blocks(j, &m, unit, segment_begin(j, s), segment_begin(j, s + 1));
}

static void run_segments(job *j, dt__pool *pool) {
    const dt__moment_grads *args = j->args;
    if (!args->has_rows) {
        memset(args->memory + N_NUMBERS * args->n_cells, 0,
               (size_t)(2 * (j->n_segments - 1) * args->n_cells) * sizeof *args->memory);
        dt__pool_run(pool, j->n_units * j->n_segments, sum_segment, j);
        for (int64_t s = 1; s < j->n_segments; s++)
            for (int which = 0; which < 2; which++) {
                double *to = sums_of_segment(j, 0, which);
                j->kernels->loops->ops[DT__EL_ADD][DT_F64](args->n_cells, to,
                                                           (const void *[]){to, sums_of_segment(j, s, which)}, NULL);
            }
    }
    for (int64_t unit = 0; unit < j->n_units; unit++)
        prepare_cells(j, unit);
    if (args->out)
        dt__pool_run(pool, j->n_units * j->n_segments, write_segment, j);
}

/* Dims of units: the first ones whose indices are those of rows. Where neighbors in memory are in different cells, only
 * those beyond all elements of a row. */
static uint64_t unit_dims(const dt__moment_grads *args) {
    const dt__array *in = args->in;
    int64_t nearest = INT64_MAX, widest = 0;
    bool lanes = false;
    uint64_t dims = 0;
    for (int d = 0; d < in->n_dims; d++) {
        const int64_t stride = in->strides[d] < 0 ? -in->strides[d] : in->strides[d];
        if (in->shape[d] == 1)
            continue;
        if (stride < nearest || (stride == nearest && !(args->cells >> d & 1)))
            lanes = args->cells >> d & 1;
        nearest = dt__min_i64(nearest, stride);
        if (args->reduced >> d & 1)
            widest = dt__max_i64(widest, stride);
    }
    for (int d = 0; d < in->n_dims; d++) {
        const int64_t stride = in->strides[d] < 0 ? -in->strides[d] : in->strides[d];
        if (!(args->cells >> d & 1) || in->shape[d] == 1)
            continue;
        if (args->reduced >> d & 1 || (lanes && stride <= widest))
            break;
        dims |= (uint64_t)1 << d;
    }
    return dims;
}

/* Whether no operand needs a buffer. */
static bool is_direct(const job *j) {
    for (int k = 0; k < CELL; k++)
        if (j->operands[k].dtype != j->dtype || j->elements.dims[0].strides[k] != (int64_t)dt__dtype_bytes(j->dtype))
            return false;
    return true;
}

static int64_t n_segments_of(int64_t n_units, int64_t n_elements, int64_t n_unit_cells) {
    if (n_units >= MAX_SEGMENTS)
        return 1;
    const int64_t most = n_elements / dt__max_i64(SEGMENT, 4 * n_unit_cells);
    return dt__max_i64(dt__min_i64(MAX_SEGMENTS, most), 1);
}

/* False if there are no elements. */
static bool open_job(const dt__kernels *kernels, const dt__moment_grads *args, job *j) {
    const uint64_t dims = unit_dims(args);
    dt__split splits[N_OPERANDS];
    j->kernels = kernels;
    j->args = args;
    j->dtype = args->grad->dtype == DT_F64 || args->in->dtype == DT_F64 ? DT_F64 : DT_F32;
    j->loops = &kernels->loops->gradients[j->dtype];
    j->operands[IN] = *args->in;
    j->operands[GRAD] = *args->grad;
    j->operands[OUT] = args->out ? *args->out : *args->in;
    j->operands[CELL] = (dt__array){args->sums, DT_F64, args->in->n_dims, args->in->shape, j->cell_strides};
    j->n_unit_cells = 1;
    for (int64_t d = args->in->n_dims - 1, n = 1; d >= 0; d--) {
        const bool is_cell = args->cells >> d & 1;
        j->cell_strides[d] = is_cell ? n : 0;
        n *= is_cell ? args->in->shape[d] : 1;
        j->n_unit_cells *= is_cell && !(dims >> d & 1) ? args->in->shape[d] : 1;
    }
    for (int k = 0; k < N_OPERANDS; k++)
        dt__split_dims(&j->operands[k], ~dims, &splits[k]);
    if (!dt__walk_make(N_OPERANDS,
                       (const dt__array *const[]){&splits[0].kept, &splits[1].kept, &splits[2].kept, &splits[3].kept},
                       &j->units) ||
        !dt__walk_make(N_OPERANDS,
                       (const dt__array *const[]){&splits[0].reduced, &splits[1].reduced, &splits[2].reduced,
                                                  &splits[3].reduced},
                       &j->elements))
        return false;
    return true;
}

int64_t dt__moment_grads_numbers(const dt__moment_grads *args) {
    return (N_NUMBERS + 2 * (n_segments_of(1, dt__array_count(args->in), args->n_cells) - 1)) * args->n_cells;
}

void dt__moment_grads_run(const dt__kernels *kernels, dt__pool *pool, const dt__moment_grads *args) {
    job j;
    memset(args->sums, 0, (size_t)args->n_cells * sizeof *args->sums);
    memset(args->products, 0, (size_t)args->n_cells * sizeof *args->products);
    if (!args->has_rows) {
        memset(args->row_sums, 0, (size_t)args->n_rows * sizeof *args->row_sums);
        memset(args->row_products, 0, (size_t)args->n_rows * sizeof *args->row_products);
    }
    if (!open_job(kernels, args, &j))
        return;
    const int64_t stride = j.elements.dims[0].strides[CELL];
    j.block = stride && stride != (int64_t)sizeof(double) ? 1 : is_direct(&j) ? DIRECT : BLOCK;
    j.n_across = dt__ceil_div(j.elements.dims[0].size, j.block);
    j.n_blocks = j.n_across * dt__walk_positions(&j.elements, 1);
    j.n_units = dt__walk_positions(&j.units, 0);
    const int64_t n_elements = dt__walk_positions(&j.elements, 0);
    j.n_segments = n_segments_of(j.n_units, n_elements, j.n_unit_cells);
    j.n_per_piece = dt__ceil_div(PIECE, n_elements);
    j.weight = args->memory;
    j.scale = args->memory + args->n_cells;
    j.sum = args->memory + 2 * args->n_cells;
    j.product = args->memory + 3 * args->n_cells;
    if (j.n_segments > 1)
        run_segments(&j, pool);
    else
        dt__pool_run(pool, dt__ceil_div(j.n_units, j.n_per_piece), run_units, &j);
}
