/* SPDX-License-Identifier: Apache-2.0
 *
 * Single matrix products as parts of other kernels, such as attention, with the BLAS and the temporary memory of
 * dt__products.
 */
#ifndef DT_KERNELS_MATRIX_PRODUCT_H
#define DT_KERNELS_MATRIX_PRODUCT_H

#include "kernels/kernels.h"

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

/* A product of matrices that are stored in any dtype, as c is: c = alpha a b + beta c, or with a bias, n elements in
 * place of every row of beta c. */
typedef struct dt__stored_product {
    dt_dtype stored;
    dt__matrix_product p;
    const char *bias; /* NULL: none */
} dt__stored_product;

/* The transposed product: c's columns from b's. */
dt__matrix_product dt__matrix_product_flip(const dt__matrix_product *product);
/* thin_products.c: few rows of a, or few columns of b. False if it does not apply: *done is then unchanged, otherwise
 * false when out of memory. */
bool dt__thin_product_run(dt__products *products, const dt__stored_product *product, bool *done);
/* bf16_products.c: products of bf16, likewise. */
bool dt__bf16_product_run(dt__products *products, const dt__stored_product *product, bool *done);
/* Columns i to i + n of row r of c, from sums of products, f32 (f64): n of them, which are changed. `old` has memory
 * for as many. */
void dt__stored_product_finish(const dt__products *products, const dt__stored_product *product, int64_t row,
                               int64_t column, int64_t n, void *sums, void *old);

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
dt_ctx *dt__products_ctx(const dt__products *products);
/* What library_convolution.c keeps; NULL at first. */
struct dt__prepared_convolutions **dt__products_convolutions(dt__products *products);

#endif
