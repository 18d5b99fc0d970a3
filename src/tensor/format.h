/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of tensors as text, formatted as by NumPy: columns of one width, rows in brackets, wrapped lines, and of a
 * large tensor only the corners. Which elements are shown is decided first, so that the others are not collected.
 */
#ifndef DT_TENSOR_FORMAT_H
#define DT_TENSOR_FORMAT_H

#include "base/text.h"
#include "dtensor/tensor.h"

/* Shows the first and the last `edge` indices of each dim that is longer than twice the edge. */
typedef struct dt__shown {
    int n_dims;
    int64_t edge;
    bool summary;
    int64_t shape[DT_SPEC_MAX_DIMS]; /* of the tensor */
    int64_t sizes[DT_SPEC_MAX_DIMS]; /* of the shown elements */
    int64_t elements;
} dt__shown;

/* Options with every default filled in; NULL: all defaults. */
dt_print_options dt__print_defaults(const dt_print_options *options);

/* Selects the elements to show; false on overflow. */
bool dt__shown_of(int n_dims, const int64_t *shape, const dt_print_options *options, dt__shown *out);
/* The index in the tensor of shown index i of a dim. */
int64_t dt__shown_index(const dt__shown *shown, int dim, int64_t i);
/* Copies the shown elements of a strided array, row-major. */
void dt__shown_copy(const dt__shown *shown, size_t item_bytes, const void *data, const int64_t *strides, void *out);

/* Writes the shown elements, which are dense and row-major. */
void dt__format(dt__text *text, const dt__shown *shown, dt_dtype dtype, const void *elements,
                const dt_print_options *options);

#endif
