/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of elements brought together, and spread again: the step between strided memory and loops over n elements in a
 * row.
 */
#ifndef DT_KERNELS_GATHER_H
#define DT_KERNELS_GATHER_H

#include <stddef.h>
#include <stdint.h>

/* A part of an array: `rows` times `columns` elements, with strides in bytes. */
typedef struct dt__patch {
    char *at;
    size_t bytes; /* of an element: 1, 2, 4, 8 or 16 */
    int64_t columns, rows, column_stride, row_stride;
} dt__patch;

static inline int dt__patch_is_dense(const dt__patch *p) {
    return (p->columns == 1 || p->column_stride == (int64_t)p->bytes) &&
           (p->rows == 1 || p->row_stride == p->columns * (int64_t)p->bytes);
}

/* All elements of the patch, row by row, to or from memory without gaps. */
void dt__gather(const dt__patch *from, void *to);
void dt__scatter(const void *from, const dt__patch *to);

#endif
