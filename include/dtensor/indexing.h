/* SPDX-License-Identifier: Apache-2.0
 *
 * Indexing as programs write it in Python. The text has an item per dim, separated by commas; `?` stands for the next
 * of the tensors that follow:
 *
 *     dt_tensor *a = dt_ones(ctx, DT_SHAPE(6, 4), .mesh = mesh, .place = "S(0),R");
 *     dt_tensor *rows = dt_zeros(ctx, DT_SHAPE(3), .dtype = DT_I64, .mesh = mesh);
 *     dt_at(a, "0");                                        // a[0]
 *     dt_at(a, "1:-1, ::2");                                // a[1:-1, ::2]
 *     dt_at(a, "..., None, ::-1");                          // a[..., None, ::-1]
 *     dt_at(a, "?, 2", rows);                               // a[rows, 2]
 *     dt_at(a, "?(24)", dt_gt_scalar(a, 0));                // a[a > 0], which has 24 elements
 *     dt_set_at(a, dt_zeros(ctx, DT_SHAPE(2, 3), .mesh = mesh), "2:4, ?", rows); // a[2:4, rows] = 0
 *
 * Integers and slices follow Python's rules, tensors of integers NumPy's: they are broadcast to one shape, whose dims
 * replace theirs if they are adjacent, and come first otherwise; integers next to tensors count as tensors. A mask has
 * the sizes of the dims that it stands for.
 */
#ifndef DTENSOR_INDEXING_H
#define DTENSOR_INDEXING_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The elements that the text selects: a view where there are only integers, slices with positive steps, and None along
 * dims that are not sharded; else a copy. Along sharded dims each rank fetches what it needs of a slice. How many
 * elements of a mask are true, `?(n)`, is the program's promise: shapes depend on no values. Refuses (value, shape)
 * malformed texts and indices out of range. Collective where elements move, else Local. */
DT_API dt_tensor *dt_at_site(dt_tensor *tensor, const char *index, int n_tensors, dt_tensor *const *tensors,
                             DT_CALLER);
/* Writes a value, which is broadcast, to the elements that the text selects, and returns the tensor. Where indices
 * repeat, the last value is kept, on every mesh. A mask needs no number of elements if the value has none per
 * element. Collective where elements move, else Local. */
DT_API dt_tensor *dt_set_at_site(dt_tensor *tensor, dt_tensor *value, const char *index, int n_tensors,
                                 dt_tensor *const *tensors, DT_CALLER);

#ifndef __cplusplus
/* The tensors of the macros, which end with a NULL. */
#define DT_INDEX_TENSORS(...)                                                                                        \
    (int)(sizeof((dt_tensor *const[]){__VA_ARGS__}) / sizeof(dt_tensor *)) - 1, (dt_tensor *const[]) { __VA_ARGS__ }
/* clang-format off */
#define dt_at(...) DT_AT_(__VA_ARGS__, NULL)
#define DT_AT_(tensor, index, ...) dt_at_site(tensor, index, DT_INDEX_TENSORS(__VA_ARGS__), DT_SITE)
#define dt_set_at(...) DT_SET_AT_(__VA_ARGS__, NULL)
#define DT_SET_AT_(tensor, value, index, ...) \
    dt_set_at_site(tensor, value, index, DT_INDEX_TENSORS(__VA_ARGS__), DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
