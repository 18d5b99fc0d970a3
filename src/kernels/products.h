/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products of arrays: f32, f64, c64 and c128 by a BLAS (blas.h), or by our own loops if there is none or the
 * matrices are tiny; f16 and bf16 in f32; integers (and bool) in i64, which wraps. The result depends on shapes and
 * strides, not on the number of threads.
 */
#ifndef DT_KERNELS_PRODUCTS_H
#define DT_KERNELS_PRODUCTS_H

#include "kernels/array.h"
#include "kernels/kernel_table.h"
#include "kernels/loops.h"
#include "kernels/thread_pool.h"

typedef struct dt__products dt__products;

/* Where products, and kernels that consist of products, take temporary memory from while they run. */
typedef struct dt__scratch_source {
    void *(*take)(dt_ctx *ctx, size_t bytes); /* NULL when out of memory */
    void (*give_back)(dt_ctx *ctx, void *memory, size_t bytes);
} dt__scratch_source;

/* The state of matrix products: the BLAS, loaded on first use. NULL when out of memory; no error is recorded. The pool
 * may be NULL; it is not owned, and neither is the source. */
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

/* A matrix in memory; strides in elements. */
typedef struct dt__matrix {
    char *at;
    int64_t row, column;
} dt__matrix;

/* c[m,n] = alpha a[m,k] b[k,n] + beta c, of one dtype that products are computed in: f32, f64, i64, c64, c128. */
typedef struct dt__matrix_product {
    int64_t m, n, k;
    dt__matrix a, b, c;
    dt__number alpha, beta;
} dt__matrix_product;

/* Whether the product can read a factor in place: its rows or its columns are contiguous. */
bool dt__matrix_is_readable(dt__matrix x, int64_t rows, int64_t columns);
/* One product as a part of another kernel, on the calling thread: sizes are below 2^30, a and b can be read in place,
 * and rows of c are contiguous. From any thread, after dt__products_open. */
void dt__matrix_product_run(const dt__products *products, dt_dtype dtype, const dt__matrix_product *product);
/* Loads the BLAS. */
void dt__products_open(dt__products *products);
/* Temporary memory of a kernel; NULL when out of memory. */
void *dt__products_take(const dt__products *products, size_t bytes);
void dt__products_give_back(const dt__products *products, void *memory, size_t bytes);

const dt__kernels *dt__products_kernels(const dt__products *products);
dt__pool *dt__products_pool(const dt__products *products);

#endif
