/* SPDX-License-Identifier: Apache-2.0
 *
 * Gathers strided elements into contiguous buffers, and scatters them back: the step between strided arrays and loops
 * over contiguous elements.
 */
#ifndef DT_KERNELS_GATHER_H
#define DT_KERNELS_GATHER_H

#include "kernels/kernel_table.h"
#include "kernels/loops.h"

/* A two-dimensional block of an array, with strides in bytes. */
typedef struct dt__patch {
    char *at;
    size_t bytes; /* of an element: 1, 2, 4, 8 or 16 */
    int64_t columns, rows, column_stride, row_stride;
} dt__patch;

static inline int dt__patch_is_dense(const dt__patch *p) {
    return (p->columns == 1 || p->column_stride == (int64_t)p->bytes) &&
           (p->rows == 1 || p->row_stride == p->columns * (int64_t)p->bytes);
}

/* Copies all elements of the patch, row by row, to or from contiguous memory. */
void dt__gather(const dt__patch *from, void *to);
void dt__scatter(const void *from, const dt__patch *to);

/* Writes the first row of contiguous memory to the rows after it. */
void dt__repeat_row(void *rows, size_t row_bytes, int64_t n_rows);

/* The elements of a patch, contiguous and in loop_dtype: the patch itself if it is so already, else one of the two
 * buffers; each has capacity for all of them. */
const void *dt__load_patch(const dt__kernels *kernels, const dt__patch *from, dt_dtype stored, dt_dtype loop_dtype,
                           void *gathered, void *converted);
/* The reverse: converts contiguous elements of `dtype` to `stored` and scatters them to the patch. */
void dt__store_patch(const dt__kernels *kernels, const void *from, dt_dtype dtype, const dt__patch *to,
                     dt_dtype stored, void *converted);

#endif
