/* SPDX-License-Identifier: Apache-2.0
 *
 * Compute kernels on memory: the interface of this folder. Kernels are independent of tensors and ranks. Callers pass
 * valid arguments: only the values of indexes are checked. Running a kernel allocates nothing, except that matrix
 * products, attention and convolutions take scratch memory from the source that dt__products_new gets.
 *
 * The lowest level is one function table per instruction set (kernel_table.h): copy, fill, reduce, the innermost loops,
 * random numbers. It has a header of its own because the files for instruction sets take long to compile. Above it are
 * kernels on strided arrays, which split the work into blocks for the threads of a pool. Large matrix products use the
 * BLAS that is found at run time. No result depends on the number of threads.
 */
#ifndef DT_KERNELS_KERNELS_H
#define DT_KERNELS_KERNELS_H

#include "kernels/element_ops.h"
#include "kernels/kernel_table.h"
#include "kernels/lapack.h"

/* thread_pool.c: a pool that runs one job at a time, owned by its creator. Its workers start at the first run that can
 * use them, so that a process that has only created a pool can still fork; between runs they sleep. */
typedef struct dt__pool dt__pool;

/* n_threads includes the calling thread, so 1 (or less) means no workers. NULL when out of memory; no error is
 * recorded. If the system starts fewer threads than requested, the pool works with those. */
dt__pool *dt__pool_new(dt_ctx *ctx, int n_threads);
/* NULL is fine. Not during a run. */
void dt__pool_free(dt__pool *pool);
/* At least 1; 1 for NULL. */
int dt__pool_threads(const dt__pool *pool);

/* While a pool is idle, its runs return at once and call nothing: the kernel around them allocates its scratch memory
 * and touches no data. */
void dt__pool_set_idle(dt__pool *pool, bool idle);

typedef void dt__pool_fn(void *arg, int64_t piece);

/* Calls fn(arg, i) for each i from 0 to n_pieces - 1, in any order and on any threads, the calling one included, and
 * returns when all are done. The result of a piece must not depend on the thread or on other pieces. A NULL pool runs
 * them on the calling thread, in order. Not from inside a piece, and from one thread at a time. */
void dt__pool_run(dt__pool *pool, int64_t n_pieces, dt__pool_fn *fn, void *arg);

enum { DT__SPREAD_BYTES = 1 << 19 }; /* enough for one more thread */

/* The number of pieces to split so many bytes into: 1 if they are few, or if there is one thread. */
static inline int64_t dt__spread_pieces(int n_threads, int64_t bytes) {
    return bytes < 2 * DT__SPREAD_BYTES || n_threads == 1 ? 1 : bytes / DT__SPREAD_BYTES;
}

/* spread.c: the dim to split into so many pieces: of those that are long enough, the one with the largest stride of
 * dst, so that threads write far apart; if none is, the longest. There is at least one dim. */
int dt__spread_dim(int n_dims, const int64_t *sizes, const int64_t *dst_strides, int64_t n_pieces);
/* Copies, in parallel on the threads of the pool if it is large. */
void dt__spread_copy(const dt__kernels *kernels, dt__pool *pool, const dt__strided *args, dt__store store);
/* Writes n copies of the value, in parallel if they are large. */
void dt__spread_fill(const dt__kernels *kernels, dt__pool *pool, void *dst, const void *value, size_t value_bytes,
                     int64_t n);

/* The operand of the kernels on arrays: raw memory with a shape, which is not owned. data is element 0,0,… and may be
 * unaligned; strides count elements, have any sign, and are 0 along a dim that repeats one element. n_dims is at most
 * 64; 0 is one element. Unless stated otherwise, the elements of an output are distinct, and an output either is an
 * input exactly (same memory, same strides, same dtype) or does not overlap it. */
typedef struct dt__array {
    void *data;
    dt_dtype dtype;
    int n_dims;
    const int64_t *shape, *strides;
} dt__array;

/* dt_dtype_size without a call or a check. */
static inline size_t dt__dtype_bytes(dt_dtype dtype) {
    static const unsigned char sizes[DT_N_DTYPES] = {
#define DT__DTYPE_BYTES(name, size, word) [DT_##name] = size,
        DT_DTYPE_LIST(DT__DTYPE_BYTES)
#undef DT__DTYPE_BYTES
    };
    return sizes[dtype];
}

static inline int64_t dt__array_count(const dt__array *a) {
    int64_t n = 1;
    for (int d = 0; d < a->n_dims; d++)
        n *= a->shape[d];
    return n;
}

/* Whether the elements are contiguous, the last dim fastest. */
static inline bool dt__array_is_dense(const dt__array *a) {
    int64_t expected = 1;
    for (int d = a->n_dims - 1; d >= 0; d--) {
        if (a->shape[d] != 1 && a->strides[d] != expected)
            return a->shape[d] == 0;
        expected *= a->shape[d];
    }
    return true;
}

/* elementwise.c: dst = src, converted: nonzero becomes true; complex to real drops the imaginary part; floats to
 * integers truncate toward zero and saturate, and NaN becomes 0; integers wrap; to a shorter float rounds to nearest,
 * ties to even, and NaN stays NaN. src is broadcast to dst. */
void dt__convert(const dt__kernels *kernels, dt__pool *pool, const dt__array *dst, const dt__array *src);

/* out = op(ins…), computed in dtype. Inputs are broadcast to out, and converted as they are read; the result is
 * converted as it is written, so that type promotion needs no extra pass. f16 and bf16 are computed in f32, 8- and
 * 16-bit integers in i32 (which wraps to the same results). Inputs and results that element_ops.h declares as bool are
 * bool whatever dtype is. */
typedef struct dt__elementwise {
    dt__element_op op;
    dt_dtype dtype;
    dt__number numbers[3]; /* parameters: see element_ops.h */
    const dt__array *out, *ins[DT__LOOP_ARRAYS - 1];
} dt__elementwise;

/* Whether the op computes in the dtype. */
bool dt__op_computes(dt__element_op op, dt_dtype dtype);
/* Requires dt__op_computes. */
void dt__elementwise_run(const dt__kernels *kernels, dt__pool *pool, const dt__elementwise *args);

enum { DT__MAX_LOOP_OPERANDS = 128, DT__LOOP_PIECE = 1 << 14 /* elements that are worth a thread, about */ };

/* loop_driver.c: an elementwise loop with any number of inputs and outputs that is not in the tables of the
 * instruction sets, such as that of a program's own op. Arrays may have any strides and dtypes; the loop gets
 * contiguous elements of one dtype. */
typedef struct dt__loop_operands {
    dt_dtype dtype;          /* what the loop reads and writes */
    int n_ins, n_all;        /* at most DT__MAX_LOOP_OPERANDS */
    const dt__array *arrays; /* inputs, which are broadcast, then outputs, at least one and all of one shape */
    dt__operand_loop *loop;
    const void *arg;
} dt__loop_operands;

void dt__loop_operands_run(const dt__kernels *kernels, dt__pool *pool, const dt__loop_operands *args);

/* reductions.c: out = in, reduced along the dims whose bits are set. out has the other dims, in order; the result is
 * divided by `divisor`, unless that is 0, and converted to out's dtype. Over no elements, sum is 0, product 1, any
 * false and all true; max and min need at least one element, and are not defined for complex numbers. Sums and products
 * of floats accumulate in f64 (complex: c128) and are rounded once at the end; those of integers and bool in i64, which
 * wraps. The order of operations depends on shape and strides only, not on threads or instruction sets. */
typedef struct dt__reduction {
    dt__fold fold;
    uint64_t dims;
    double divisor;
    const dt__array *in, *out;
} dt__reduction;

void dt__reduce(const dt__kernels *kernels, dt__pool *pool, const dt__reduction *args);

/* out (i64, of the shape that dt__reduce has) = the position along the dims of the largest element (the smallest, for
 * DT__FOLD_MIN): the first if several are equal; the first NaN if there is one. Over several dims the position is the
 * row-major index. Needs at least one element. `values`, if not NULL, gets the elements: f64, or i64 of integers and
 * bool. */
void dt__reduce_arg(const dt__kernels *kernels, dt__pool *pool, const dt__reduction *args, const dt__array *values);

/* scan.c: cumulative sum (or product, for DT__FOLD_PROD) along one dim: out[…, i, …] combines in[…, 0, …] to
 * in[…, i, …]. out has the shape of in, and may be in. `before`, if not NULL, has the other dims: what precedes
 * in[…, 0, …], in the dtype that is accumulated in (dt__scan_dtype). */
void dt__scan(const dt__kernels *kernels, dt__pool *pool, dt__fold fold, int dim, const dt__array *in,
              const dt__array *before, const dt__array *out);
dt_dtype dt__scan_dtype(dt_dtype dtype);

/* Two numbers per row that summarize it, computed in one pass, and merged with those of the rest of the row. Rows are
 * the elements along some dims of an array of floating point; all numbers are f64. */
typedef enum dt__statistic {
    DT__EXPONENTIALS, /* the largest element, NaN if one is; the sum of exp(element - largest), 0 if all are -inf */
    DT__MOMENTS,      /* the mean; the sum of the squares of differences from it */
    DT__SQUARES,      /* nothing; the sum of squares */
} dt__statistic;

/* statistics.c: first and second have the dims of `in` whose bits are not set in `dims`, in order. Rows of no elements
 * are -inf and 0, or 0 and 0. The order of operations depends on shape and strides only. */
typedef struct dt__statistics {
    dt__statistic kind;
    uint64_t dims;
    const dt__array *in;
    const dt__array *first; /* NULL for squares */
    const dt__array *second;
    /* (optional) Gets exp(element - largest) of each row, relative to 0 where all are -inf. Exponentials along the last
     * dim only, whose elements are contiguous in both arrays, which have one dtype, f32 or f64. */
    const dt__array *powers;
} dt__statistics;

void dt__statistics_run(const dt__kernels *kernels, dt__pool *pool, const dt__statistics *args);

/* Multiplies each row by its factor. The rows are along the last dim, f32 or f64 and contiguous; the factors, f64, have
 * the other dims. */
void dt__rows_scale(const dt__kernels *kernels, dt__pool *pool, const dt__array *factors, const dt__array *rows);

/* The statistics of n rows of `count` elements each. */
typedef struct dt__row_statistics {
    double *count; /* moments only */
    double *first, *second;
} dt__row_statistics;

/* Merges those of the rest of the same rows. */
void dt__statistics_merge(const dt__kernels *kernels, dt__statistic kind, int64_t n, const dt__row_statistics *into,
                          const dt__row_statistics *rest);

/* softmax.c: out = exp(in) / sum of exp(in) along the dim, or its logarithm, without overflow; out has the shape of in,
 * and may be in. The dim of a 0-d array is 0. A row whose largest element is infinite is NaN. Softmax, norms and their
 * gradients compute rows in f32 (f64 for f64) and accumulate sums in f64; they do not accept integers or complex
 * numbers. */
void dt__softmax(const dt__kernels *kernels, dt__pool *pool, const dt__array *in, int dim, bool is_log,
                 const dt__array *out);
/* dt__softmax with the largest element and the sum of exponentials of each row as given: f64, of the other dims. */
void dt__softmax_finish(const dt__kernels *kernels, dt__pool *pool, const dt__array *in, int dim, bool is_log,
                        const dt__array *largest, const dt__array *sums, const dt__array *out);

/* softmax_grads.c: the gradient of softmax from its result y, y (grad - sum of grad y), or that of its logarithm,
 * grad - exp(y) sum of grad, with sums along the dim. out has the shape of grad and result, and may be one of them.
 * With both out and sums, the sums are read; with one of them, that is computed. */
typedef struct dt__softmax_grads {
    const dt__array *grad, *result;
    int dim; /* of a 0-d array 0 */
    bool is_log;
    const dt__array *out;  /* (optional) */
    const dt__array *sums; /* (optional) f64, of the other dims */
} dt__softmax_grads;

void dt__softmax_grads_run(const dt__kernels *kernels, dt__pool *pool, const dt__softmax_grads *args);

/* layer_norm.c: out = (in - mean) * rstd * weight + bias over the last n_dims dims, with rstd = 1 / sqrt(variance +
 * eps). Optional operands are NULL. */
typedef struct dt__layer_norm {
    const dt__array *in, *out; /* of the same shape; out may be in */
    int n_dims;                /* at least 1 */
    double eps;
    bool is_rms;                    /* RMS norm: the mean is taken as 0 */
    const dt__array *weight, *bias; /* (optional) broadcast to the last n_dims dims */
    const dt__array *mean,
        *rstd;           /* (optional outputs) of the leading dims, or of all dims with size 1 in the last ones */
    bool has_statistics; /* mean and rstd are inputs instead, both f64 */
} dt__layer_norm;

void dt__layer_norm_run(const dt__kernels *kernels, dt__pool *pool, const dt__layer_norm *args);

/* norm_grads.c: the gradients of a layer norm. With y = (in - mean) rstd and h = grad weight, of `count` elements in a
 * row:
 *
 *     out     rstd (h - sum of h / count - y (sum of h y) / count); of the RMS norm without the second term
 *     weight  the sum of grad y over all rows
 *     bias    the sum of grad over all rows
 *
 * Rows are numbered in row-major order of the leading dims; numbers of rows are dense. The order of sums depends on
 * shapes only. */
typedef struct dt__norm_grads {
    const dt__array *grad, *in; /* of the same shape */
    int n_dims;                 /* at least 1 */
    bool is_rms;                /* the mean is taken as 0 */
    double count;
    const double *mean, *rstd;   /* of each row; mean is NULL for the RMS norm */
    const dt__array *weight;     /* (optional) of the last n_dims dims */
    double *sums, *products;     /* of h and h y of each row */
    bool has_sums;               /* they are inputs, else they are computed */
    const dt__array *out;        /* (optional output) dense, of the shape of grad */
    double *of_weight, *of_bias; /* (optional outputs) of the elements of a row: dt__norm_grads_pieces of them */
} dt__norm_grads;

/* The sums over rows are computed in that many pieces; the first is then the result. */
int64_t dt__norm_grads_pieces(int64_t n_rows, int64_t n);
void dt__norm_grads_run(const dt__kernels *kernels, dt__pool *pool, const dt__norm_grads *args);

/* moment_grads.c: the gradients of a norm over some dims, whose weight varies along any. With y = (in - mean) rstd and
 * h = grad weight, of `count` elements in a row, which has one mean:
 *
 *     out     rstd (h - sum of h / count - y (sum of h y) / count)
 *
 * Cells are elements with one mean and one weight: the arrays of cells and of rows are dense, in row-major order of the
 * dims along which they differ. The order of sums depends on shapes and strides only. */
typedef struct dt__moment_grads {
    const dt__array *grad, *in; /* of the same shape */
    uint64_t reduced, cells; /* the dims of a row; the dims along which cells differ, with all that rows differ in */
    int64_t n_cells, n_rows;
    double count;
    const double *mean, *rstd, *weight; /* of each cell */
    const int64_t *row;                 /* of each cell */
    double *sums, *products;            /* (outputs) of each cell: of grad and grad y */
    bool is_weighted;                   /* the weight differs in a row: the next are of h and h y, else as above */
    double *row_sums, *row_products;    /* of each row */
    bool has_rows;                      /* these are inputs, and the sums of cells are 0 */
    const dt__array *out;               /* (optional output) of the shape of grad */
    double *memory;                     /* dt__moment_grads_numbers of them */
} dt__moment_grads;

int64_t dt__moment_grads_numbers(const dt__moment_grads *args);
void dt__moment_grads_run(const dt__kernels *kernels, dt__pool *pool, const dt__moment_grads *args);

/* products.c: the state of matrix products. f32, f64, c64 and c128 are multiplied by a BLAS, or by our own loops if
 * there is none or the matrices are tiny; f16 and bf16 in f32; integers (and bool) in i64, which wraps. */
typedef struct dt__products dt__products;

/* The source of temporary memory for products, and for kernels that consist of products, while they run. */
typedef struct dt__scratch_source {
    void *(*take)(dt_ctx *ctx, size_t bytes); /* NULL when out of memory */
    void (*give_back)(dt_ctx *ctx, void *memory, size_t bytes);
} dt__scratch_source;

/* The BLAS is loaded on first use. NULL when out of memory; no error is recorded. The pool may be NULL; it is not
 * owned, and neither is the source. */
dt__products *dt__products_new(dt_ctx *ctx, const dt__kernels *kernels, dt__pool *pool,
                               const dt__scratch_source *source);
/* NULL is fine. */
void dt__products_free(dt__products *products);

/* out[…,m,n] = alpha a[…,m,k] b[…,k,n] + beta out, all of one dtype and with at least two dims. Leading dims of a and b
 * are broadcast to out's. out is not read if beta is 0. alpha and beta are integers for integer dtypes. */
typedef struct dt__matmul {
    const dt__array *a, *b, *out;
    dt__number alpha, beta;
    const void *bias; /* (optional) n elements in place of every row of beta out */
} dt__matmul;

/* False when out of memory; only the source may have recorded an error, and the contents of out are undefined. */
bool dt__matmul_run(dt__products *products, const dt__matmul *args);

/* convolution.c: a convolution of a batch of images, or one of its gradients. A position p of the map reads index
 * p stride + tap dilation + begin of the image, in each dim of space:
 *
 *     map[n,k,p] = bias[k] + the sum over channels c of its group and taps t of image[n,c,at(p,t)] weight[k,c,t]
 *
 * Elements outside the image count as zero. The arrays may be parts of larger ones: `begin` and the numbers of the
 * first channels say which. */
typedef enum dt__convolution_part { DT__CONV_MAP, DT__CONV_IMAGE, DT__CONV_WEIGHT } dt__convolution_part;

typedef struct dt__convolution {
    dt__convolution_part out; /* the array that is computed from the other two */
    int n_dims;               /* of space: 1 to 3 */
    /* [N,C,..], [K,C / groups,taps..] and [N,K,..], of one dtype that products are computed in: f32, f64, i64, c64,
     * c128. The weight is dense. */
    const dt__array *image, *weight, *map;
    const dt__array *bias; /* (optional) of the channels of the map, or of the image if that is computed */
    int64_t stride[3], dilation[3], begin[3];
    int64_t image_group, map_group; /* channels of a group, at least 1 */
    int64_t image_first, map_first; /* of the arrays' first channels, among those of all groups */
} dt__convolution;

/* False when out of memory; no error is recorded. */
bool dt__convolution_run(dt__products *products, const dt__convolution *args);

/* resample.c: a separable linear map of images. Index o of a dim of the result is the sum of count[o] elements of the
 * image from begin[o] on, with the weights from first[o] on. */
typedef struct dt__band {
    int64_t *begin, *count, *first;
    double *weights;
} dt__band;

typedef struct dt__resample {
    const dt__array *in, *out; /* [N,C,..], three dims of space, f32 or f64 */
    dt__band bands[3];
    void *memory; /* of dt__resample_bytes, aligned to 8 bytes */
} dt__resample;

size_t dt__resample_bytes(const dt__pool *pool, const dt__resample *args);
void dt__resample_run(dt__pool *pool, const dt__resample *args);

/* max_pool.c: the largest elements of windows, NaN if there is one, and their indices in all of space; the first of
 * equal ones. Index o of a dim has the window of count[o] elements, from begin[o] on, `step` apart. Indices that are
 * not in their window count as none: nothing is added, and 0 is read. */
typedef struct dt__pool_window {
    int64_t *begin, *count;
    int64_t step;
} dt__pool_window;

typedef enum dt__max_pool_part {
    DT__POOL_FIND, /* values and indices from the image */
    DT__POOL_ADD,  /* the image: sums of the values that have its indices */
    DT__POOL_READ, /* values: the elements of the image that have the indices */
} dt__max_pool_part;

typedef struct dt__max_pool {
    dt__max_pool_part part;
    const dt__array *image, *values, *indices; /* [N,C,..], three dims of space; f32, f64 or i64; indices i64 */
    dt__pool_window windows[3];
    int64_t sizes[3], offset[3]; /* of all of space, and of the image in it */
    int64_t n_taps;              /* of dt__max_pool_taps, with memory for as many numbers */
    int32_t *taps;
} dt__max_pool;

int64_t dt__max_pool_taps(const dt__max_pool *args);
void dt__max_pool_run(dt__pool *pool, const dt__max_pool *args);

/* singular_values.c: the singular value decompositions A = U diag(S) Vh of matrices that are dense and follow one
 * another, by LAPACK, or by our own code if they are small or there is none. With k = min(m, n), S descends. U is [m,k]
 * and Vh [k,n], or [m,m] and [n,n]. Results are NaN for a matrix that is not finite. A matrix is one thread's work. */
typedef struct dt__svd {
    dt_dtype dtype; /* f32, f64, or with LAPACK c64, c128 */
    int64_t n_matrices, m, n;
    bool has_vectors, is_full;
    void *a;          /* is overwritten */
    void *s, *u, *vh; /* s is real; u and vh only with has_vectors */
} dt__svd;

/* The memory that it needs, aligned to 16 bytes; reads no pointer. Loads the library. */
size_t dt__svd_bytes(dt__pool *pool, const dt__svd *args);
void dt__svd_run(const dt__kernels *kernels, dt__pool *pool, const dt__svd *args, void *memory);

/* small_matrices.c: batches of matrices of f32, f64, c64 or c128 that are too small for LAPACK to be fast (loops.h),
 * and any of real numbers where there is none. Bits depend neither on the number of threads nor on the other
 * matrices. */
enum { DT__SMALL_MATRIX = 32 };
size_t dt__small_matrices_bytes(dt__pool *pool, dt_dtype dtype, const dt__small_matrices *args, int64_t n_matrices);
void dt__small_matrices_run(const dt__kernels *kernels, dt__pool *pool, dt_dtype dtype,
                            const dt__small_matrices *args, int64_t n_matrices, void *memory);

/* Replaces a matrix of f64, or c128, by its exponential; NaN where an element is not finite. The memory is as large as
 * the other function states. */
size_t dt__matrix_exp_bytes(int64_t n, bool is_complex);
void dt__matrix_exp(int64_t n, bool is_complex, double *a, void *memory);

/* Dropout in attention: each weight is multiplied by a factor, which is a function of its index among those of all
 * ranks. */
typedef struct dt__attention_dropout {
    /* Writes n factors of the dtype of the computation, from that of the weight with the index `first` on. */
    void (*draw)(const void *from, int64_t first, int64_t n, void *out);
    const void *from;
    /* Of the leading dims and the queries: all, and where the arrays begin; of the keys likewise. */
    const int64_t *sizes, *offsets;
    int64_t n_keys, key_offset;
} dt__attention_dropout;

/* attention.c: out = softmax(scale query keyᵀ + mask) value, for L queries and S keys of E numbers and values of D
 * numbers. f16 and bf16 are computed in f32. A query whose scores are all -infinity, or that has no keys, has zeros as
 * its result. All arrays have the same number of leading dims, and the last of these are the heads; along a dim that is
 * broadcast the stride is 0. */
typedef struct dt__attention {
    const dt__array *query, *key, *value; /* [..,L,E], [..,S,E], [..,S,D] */
    const dt__array *mask;                /* (optional) [..,L,S]: where it is false, or what is added to the scores */
    double scale;
    bool is_causal; /* query i has the keys up to i */
    /* Where the arrays begin in those of all ranks; read if is_causal. */
    int64_t query_offset, key_offset;
    /* Query heads per head of key and value, all of which are local; 0: local heads correspond. head_offset: of the
     * first query head among all. */
    int64_t group, head_offset;
    const dt__attention_dropout *dropout; /* (optional) */
} dt__attention;

typedef struct dt__attention_result {
    const dt__array *out;       /* [..,L,D] */
    const dt__array *logsumexp; /* (optional) [..,L]: logarithms of the sums of the exponentials of scores */
    /* (optional, both or none) [..,L], of the dtype of the computation: the largest score and the sum of exponentials
     * of the differences from it. Then out is not divided by the sum. */
    const dt__array *largest, *sums;
} dt__attention_result;

/* False when out of memory; no error is recorded. */
bool dt__attention_run(dt__products *products, const dt__attention *args, const dt__attention_result *result);

/* attention_grads.c: gradients, each of them optional. Those of key and value have the heads of key and value. */
typedef struct dt__attention_grads {
    const dt__array *grad, *out, *logsumexp; /* inputs: the gradient of out, and the results */
    const dt__array *query, *key, *value;
    const dt__array *mask; /* [..,L,S] */
} dt__attention_grads;

/* False when out of memory; no error is recorded. */
bool dt__attention_grads_run(dt__products *products, const dt__attention *args, const dt__attention_grads *grads);

/* The dtype of the computation, which logsumexp should have. */
static inline dt_dtype dt__attention_dtype(dt_dtype stored) { return stored == DT_F64 ? DT_F64 : DT_F32; }

/* Access to elements by index, i64 or i32. A rank may hold only a shard of the indexed dim: the rows from `offset` on,
 * out of `limit`. Indexes below the limit that are outside the shard belong to other ranks: they read as zero, and
 * writes to them are dropped. Without sharding, offset is 0 and limit is the size of the dim. All indexes are checked
 * before anything is read or written, except where a result is dropped otherwise. */
typedef struct dt__indexed {
    const dt__array *indexed; /* the array that the indexes refer to, along dim */
    int dim;
    const dt__array *index;
    int64_t offset, limit;
    const dt__array *other; /* the elements read from or written to it; of the same dtype, or f32 in sums of halves */
    bool is_new;            /* of scatter_along: indexed is dropped if an index is out of range */
    void *memory;           /* for sums: of dt__index_add_bytes or dt__scatter_bytes */
} dt__indexed;

/* indexing.c: other = rows of indexed, selected by index: other has indexed's dims, with dim replaced by the dims of
 * index. With dim 0 this is an embedding, with a 1-d index an index_select. Like all four functions on dt__indexed, it
 * returns true, or false with the first index that is out of range (in the order of the index array) in *bad and,
 * unless indexed is new, nothing written. */
bool dt__index_select(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad);
/* Adds other's rows to the rows of indexed, in order where indexes are equal. Sums of f16 and bf16 are rounded once
 * (dt__index_sums), here and in dt__scatter_along. */
bool dt__index_add(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad);
/* other[i,j,…] = indexed[index[i,j,…],j,…] (for dim 0). index and other have the same shape, in the other dims no
 * larger than that of indexed. */
bool dt__gather_along(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad);
/* scatter.c: indexed[index[i,j,…],j,…] += other[i,j,…] (for dim 0), or = if `adds` is false; in the order of index,
 * whatever the number of threads. */
bool dt__scatter_along(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, bool adds, int64_t *bad);

/* The memory that sums need, with as many threads as the pool has; 0: none. */
int64_t dt__index_add_bytes(dt__pool *pool, const dt__indexed *args);
int64_t dt__scatter_bytes(dt__pool *pool, const dt__indexed *args);

/* Where a row is added to another: offsets in elements from the rows that dt__index_sums has. */
typedef struct dt__index_term {
    int64_t place, from;
} dt__index_term;

typedef struct dt__index_sums {
    const dt__array *sums;  /* the row at place 0; f16 or bf16 */
    const dt__array *terms; /* the row of offset 0, of the same shape; of the dtype of sums, or f32 */
    dt__index_term *list;   /* n terms, in the order that those of a place are added, and memory for n more */
    int64_t n;
} dt__index_sums;

/* index_sums.c: adds all terms of a place, and what is stored there, in f64, and rounds once. Changes the list.
 * Rows at different places share no element. */
void dt__index_sums_run(const dt__kernels *kernels, dt__pool *pool, const dt__index_sums *args);

/* triangle.c: out = in on and below (upper: above) a diagonal of the last two dims, 0 elsewhere. Element i,j of the
 * array is at i + row, j + column of the full matrix; `diagonal` is column minus row there. out may be in. */
typedef struct dt__triangle {
    const dt__array *in, *out; /* of one shape and dtype, with at least two dims */
    bool upper;
    int64_t diagonal, row, column;
} dt__triangle;

void dt__triangle_run(const dt__kernels *kernels, dt__pool *pool, const dt__triangle *args);

#endif
