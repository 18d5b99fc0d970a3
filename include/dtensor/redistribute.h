/* SPDX-License-Identifier: Apache-2.0
 *
 * From plain tensors to distributed ones and back, and from one placement to another. Each rank reads what it lacks
 * straight from the memory of its peers; partial values are reduced on the way. Reading a value (dt_full_tensor,
 * dt_item, dt_print) always reduces.
 */
#ifndef DTENSOR_REDISTRIBUTE_H
#define DTENSOR_REDISTRIBUTE_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_distribute_tensor_options {
    DT_OPTION(dt_opt_int, source); /* world rank whose value is distributed; default: the mesh's first rank */
    DT_OPTION(bool, everywhere);   /* every rank holds the same value, in the same strides: nothing is communicated */
    DT_OPTION(const char *, use);  /* as dt_set_use; default: as it is placed */
    const dt_site *site;
} dt_distribute_tensor_options;

/* Distributes a plain value. Every rank passes a tensor of the same shape and dtype; only that of the source is
 * read, and each rank gets its shard. With P(sum) the first coordinate keeps the value and the others hold zeros;
 * with P(avg) all hold the value; no other partial can be made (agreed error). mesh NULL: the current one.
 * requires_grad is kept. A distributed tensor is returned as it is if it has this mesh and these placements.
 * Collective over the mesh, or Local with everywhere. */
DT_API dt_tensor *dt_distribute_tensor_sized(dt_tensor *value, dt_mesh *mesh, const char *place,
                                             DT_OPTIONS(dt_distribute_tensor_options));

typedef struct dt_from_local_options {
    DT_OPTION(dt_shape, shape); /* global; default: local tensors have the same shape on every rank */
    DT_OPTION(dt_ints, stride); /* global, in elements; default: in the order of the local strides */
    /* sizes along the one tensor dim that is sharded, one per coordinate of its mesh dim */
    DT_OPTION(const int64_t *, extents);
    DT_OPTION(bool, check);       /* compare with all ranks: sizes may then differ without shape or extents */
    DT_OPTION(const char *, use); /* as dt_set_use; default: as it is placed */
    /* the placements of the gradient, whose local tensor is that of the local tensor: the shards of place, and R,
     * P(sum) or P(avg) elsewhere; default: place, with R for partials */
    DT_OPTION(const char *, grad_place);
    const dt_site *site;
} dt_from_local_options;

/* Makes a distributed tensor of local tensors, whose storage is shared, not copied. Refused if the local tensor does
 * not have the shape of this rank's shard. A rank outside the mesh may pass any tensor, or NULL (f32) with the shape,
 * and holds an empty shard; its options and dtype should be those of the others. mesh NULL: the current one; place
 * NULL: R along every mesh dim. Local; every rank of the mesh makes the same call; with check Collective over it: where
 * dtype, number of dims, stride order or requires_grad differ, sizes do not fit, or replicas have other values, every
 * rank gets the same error. */
DT_API dt_tensor *dt_from_local_sized(dt_ctx *ctx, dt_tensor *local, dt_mesh *mesh, const char *place,
                                      DT_OPTIONS(dt_from_local_options));

typedef struct dt_to_local_options {
    const char *grad_place; /* as which gradients of the local tensors are those of the tensor: P(sum) where each rank
                             * contributes; as in dt_from_local_options; default: its placements, with R for partials */
    const dt_site *site;
} dt_to_local_options;

/* This rank's local tensor as a plain tensor that shares the storage; a plain tensor is returned as it is. Partial
 * values are not reduced. Local: ranks may call it or not, each for itself. */
DT_API dt_tensor *dt_to_local_sized(dt_tensor *tensor, DT_OPTIONS(dt_to_local_options));

typedef struct dt_full_tensor_options {
    const char *grad_place; /* as in dt_to_local_options, for a replicated tensor; default: R */
    const dt_site *site;
} dt_full_tensor_options;

/* The full tensor as a plain tensor, on every rank of the mesh; a plain tensor is returned as it is. A rank outside
 * the mesh gets an empty tensor of shape [0]. Shares storage where the tensor is replicated. Collective over the
 * mesh. */
DT_API dt_tensor *dt_full_tensor_sized(dt_tensor *tensor, DT_OPTIONS(dt_full_tensor_options));

typedef struct dt_redistribute_options {
    dt_mesh *mesh;       /* another mesh, over the same or other ranks; default: the tensor's */
    const char *planner; /* "direct" (default), "min_cost", "graph", "greedy" */
    dt_dtype dtype;      /* convert to this dtype: before moving, or after reducing where that matters */
    dt_dtype grad_dtype; /* in which the gradient is moved back; default: that of the tensor */
    const dt_site *site;
} dt_redistribute_options;

/* Gives the value of a tensor other placements. Returns a new handle, which shares the storage where nothing changes.
 * Agreed errors: a plain tensor; a target that is partial where the source is not the same partial, or whose
 * contributions cannot be converted one by one. Collective over the ranks of both meshes; Local where no rank lacks
 * anything. */
DT_API dt_tensor *dt_redistribute_sized(dt_tensor *tensor, const char *place, DT_OPTIONS(dt_redistribute_options));

typedef struct dt_redistribute_list_options {
    const dt_site *site;
} dt_redistribute_list_options;

/* Brings several tensors, of any shapes and dtypes, to other placements, each on its own mesh: places has a text per
 * tensor, results gets a handle per tensor, as of dt_redistribute; all NULL after an error. Those on one mesh move in
 * one exchange: it takes the time of one message, not of many, and what is the same collective over the same mesh dims
 * is counted once. Every rank of a mesh passes the same tensors of it in the same order. Agreed errors as of
 * dt_redistribute, before anything moves. Collective over the meshes; Local where no rank lacks anything. */
DT_API dt_status dt_redistribute_list_sized(dt_tensors tensors, const char *const *places, dt_tensor **results,
                                            DT_OPTIONS(dt_redistribute_list_options));

typedef struct dt_reduced_options {
    const char *place; /* placements of the result; default: Replicate for each Partial, the others as they are */
    const dt_site *site;
} dt_reduced_options;

/* Finishes partial values. A model that is written once for one device and for meshes calls it where partial sums must
 * be resolved: after the second linear layer of an MLP, for instance. Does what dt_redistribute does, and counts as
 * requested; a plain tensor, and one that has these placements already, is returned as it is. Collective over the mesh;
 * Local where nothing moves. */
DT_API dt_tensor *dt_reduced_sized(dt_tensor *tensor, DT_OPTIONS(dt_reduced_options));

typedef struct dt_transfer dt_transfer;

/* dt_redistribute in two halves. The tensor must not be changed before the wait, which fails if a call of this library
 * did. A transfer holds its tensor. Ranks may wait in any order. Between two meshes of different ranks, each side may
 * start moves in opposite directions in its own order; those in one direction keep theirs. NULL with the error
 * recorded. Collective. */
DT_API dt_transfer *dt_redistribute_start_sized(dt_tensor *tensor, const char *place,
                                                DT_OPTIONS(dt_redistribute_options));
/* DT_OK when it is finished, DT_IN_PROGRESS, or the error. Local. */
DT_API dt_status dt_transfer_test_site(dt_transfer *transfer, DT_CALLER);
/* Waits until it is finished, frees the transfer and returns the tensor, which belongs to the scope of the start.
 * Collective with its start. */
DT_API dt_tensor *dt_transfer_wait_site(dt_transfer *transfer, DT_CALLER);

/* The value of a tensor of one element, as a number; the real part of a complex one. NaN with an error if there are
 * more or fewer elements, or no data. Collective over the mesh; a rank outside it gets NaN and no error. */
DT_API double dt_item_site(dt_tensor *tensor, DT_CALLER);
/* The value of an integer tensor of one element, exact beyond 2^53; 0 with an error if the dtype is not an integer.
 * Collective over the mesh. */
DT_API int64_t dt_item_i64_site(dt_tensor *tensor, DT_CALLER);

/* Writes a tensor on standard output, as NumPy would: columns of one width, and of a large tensor only the corners.
 * A distributed tensor is reduced and written once, by the first rank of its mesh, below a line with its spec; only
 * the elements that are shown are moved. With .local each rank of the mesh writes its local tensor below such a
 * line, in no order among ranks. Collective over the mesh, or Local with .local and for a plain tensor. */
DT_API dt_status dt_print_sized(dt_tensor *tensor, DT_OPTIONS(dt_print_options));
/* What dt_print writes as a text, without a newline at its end, to be freed with free(): "" where dt_print writes
 * nothing; NULL with the error recorded. Collective or Local as dt_print. */
DT_API char *dt_format_sized(dt_tensor *tensor, DT_OPTIONS(dt_print_options));

#ifndef __cplusplus
/* clang-format off */
#define dt_distribute_tensor(...)   DT_DISTRIBUTE_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define dt_from_local(...)          DT_FROM_LOCAL_(__VA_ARGS__, .site = DT_SITE)
#define dt_to_local(...)            DT_TO_LOCAL_(__VA_ARGS__, .site = DT_SITE)
#define dt_full_tensor(...)         DT_FULL_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define dt_redistribute(...)        DT_REDISTRIBUTE_(__VA_ARGS__, .site = DT_SITE)
#define dt_redistribute_list(...)   DT_REDISTRIBUTE_LIST_(__VA_ARGS__, .site = DT_SITE)
#define dt_reduced(...)             DT_REDUCED_(__VA_ARGS__, .site = DT_SITE)
#define dt_redistribute_start(...)  DT_REDISTRIBUTE_START_(__VA_ARGS__, .site = DT_SITE)
#define dt_print(...)               DT_PRINT_(__VA_ARGS__, .site = DT_SITE)
#define dt_format(...)              DT_FORMAT_(__VA_ARGS__, .site = DT_SITE)
#define DT_DISTRIBUTE_TENSOR_(value, mesh, place, ...)                                                               \
    dt_distribute_tensor_sized(value, mesh, place, DT_CHECKED(dt_distribute_tensor_options, __VA_ARGS__))
#define DT_FROM_LOCAL_(ctx, local, mesh, place, ...)                                                                 \
    dt_from_local_sized(ctx, local, mesh, place, DT_CHECKED(dt_from_local_options, __VA_ARGS__))
#define DT_TO_LOCAL_(tensor, ...)     dt_to_local_sized(tensor, DT_NAMED(dt_to_local_options, __VA_ARGS__))
#define DT_FULL_TENSOR_(tensor, ...)  dt_full_tensor_sized(tensor, DT_NAMED(dt_full_tensor_options, __VA_ARGS__))
#define DT_REDISTRIBUTE_(tensor, place, ...)                                                                         \
    dt_redistribute_sized(tensor, place, DT_NAMED(dt_redistribute_options, __VA_ARGS__))
#define DT_REDISTRIBUTE_LIST_(tensors, places, results, ...)                                                         \
    dt_redistribute_list_sized(tensors, places, results, DT_NAMED(dt_redistribute_list_options, __VA_ARGS__))
#define DT_REDUCED_(tensor, ...)  dt_reduced_sized(tensor, DT_NAMED(dt_reduced_options, __VA_ARGS__))
#define DT_PRINT_(tensor, ...)   dt_print_sized(tensor, DT_CHECKED(dt_print_options, __VA_ARGS__))
#define DT_FORMAT_(tensor, ...)  dt_format_sized(tensor, DT_CHECKED(dt_print_options, __VA_ARGS__))
#define DT_REDISTRIBUTE_START_(tensor, place, ...)                                                                   \
    dt_redistribute_start_sized(tensor, place, DT_NAMED(dt_redistribute_options, __VA_ARGS__))
/* clang-format on */
#endif

#ifndef __cplusplus
/* clang-format off */
#define dt_transfer_test(...) dt_transfer_test_site(__VA_ARGS__, DT_SITE)
#define dt_transfer_wait(...) dt_transfer_wait_site(__VA_ARGS__, DT_SITE)
#define dt_item(...) dt_item_site(__VA_ARGS__, DT_SITE)
#define dt_item_i64(...) dt_item_i64_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
