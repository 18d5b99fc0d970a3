/* SPDX-License-Identifier: Apache-2.0
 *
 * How ops are run: the cache of decisions, implicit communication, and plain tensors among distributed ones.
 */
#ifndef DTENSOR_DISPATCH_H
#define DTENSOR_DISPATCH_H

#include <dtensor/op.h>
#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The policy for an op that must redistribute inputs because no row of its rule matches their placements, or whose
 * ranks meet. A meet that exchanges one number per rank, however large the tensors are, is always allowed: the mean of
 * a loss over sharded rows needs the number of all targets. */
typedef enum dt_policy {
    DT_COMM_ALLOW, /* the default */
    DT_COMM_WARN,  /* a line in the log, with file and line of the call: once per call site and decision */
    DT_COMM_ERROR, /* the op is refused, with file and line of the call, before anything moves: an agreed error */
    DT_N_POLICIES
} dt_policy;

/* Sets the policy of the current scope (dt_scope_begin) and those inside it, until it ends. dt_redistribute and
 * reading values are always allowed, and so is bringing gradients to their placements (dt_backward). A call under
 * DT_COMM_ALLOW, if that was set and not the default, has it for its gradient too. Local; every rank sets the same. */
DT_API dt_status dt_comm_policy_site(dt_ctx *ctx, dt_policy policy, DT_CALLER);

/* Between begin and end, which nest, a plain tensor among distributed ones counts as replicated; otherwise only a
 * tensor of one element does, and others are refused. Every rank must hold the same value. Local. */
DT_API void dt_implicit_replication_begin_site(dt_ctx *ctx, DT_CALLER);
DT_API void dt_implicit_replication_end(dt_ctx *ctx);

/* The cache of decisions: one for each op, static arguments, and specs (or shapes) of inputs. Local. */
typedef struct dt_cache_statistics {
    int64_t n_entries, n_hits, n_misses, n_evicted;
    int64_t max_entries; /* capacity */
    int64_t n_capped;    /* searches that reached a limit: what they found is correct, but may not be the cheapest */
} dt_cache_statistics;
/* Statistics of the cache since the context was created. Local. */
DT_API void dt_cache_stats_sized(const dt_ctx *ctx, dt_cache_statistics *out, size_t out_size);
static inline dt_cache_statistics dt_cache_stats(const dt_ctx *ctx) {
    dt_cache_statistics out;
    dt_cache_stats_sized(ctx, &out, sizeof out);
    return out;
}
/* Removes all decisions. Local. */
DT_API void dt_cache_clear(dt_ctx *ctx);

/* A function on this rank's local tensors, which are plain. It sets n_outputs tensors; other tensors that it creates
 * are dropped when it returns. user is the pointer of the mapping. */
typedef dt_status dt_local_fn(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user);

typedef struct dt_local_mapping {
    dt_local_fn *run;
    void *user;
    int n_inputs;
    dt_tensor *const *inputs;
    const char *const *in; /* placements that each distributed input must have; NULL: as they are */
    bool redistributes;    /* inputs with other placements are redistributed; otherwise they are refused */
    int n_outputs;
    const char *const *out;  /* placements of each output; NULL: it stays plain */
    dt_mesh *mesh;           /* of the outputs; default: that of the first distributed input */
    bool checks;             /* ranks compare their outputs, whose shards may then be uneven: Collective */
    const dt_shape *shapes;  /* of each full output; default: shards are even; with halos, that of the first input */
    const char *const *halo; /* what the function reads of each input around its part of the outputs; see below */
    const char
        *border; /* what it reads beyond the borders: "constant" (zeros, the default), "circular", "replicate" */
    const dt_dtype *dtypes; /* with halos: of each output; default: that of the first input */
} dt_local_mapping;

/* Runs a function on local tensors and makes distributed tensors of its outputs, as dt_from_local does. Plain inputs
 * are passed unchanged; if all inputs are plain and .mesh is not set, so are the outputs. Agreed errors: no placements
 * for a distributed input (placement), placements that differ from those of the mapping (value). Collective over the
 * meshes if inputs move or the function communicates.
 *
 * With halos the function is a stencil, and the outputs are made by the library. A halo has a number for each dim,
 * "1,2", or two, "2:1,0" for 2 before and 1 after: index i of an output reads i - 2 to i + 1 of the input along dim
 * 0, and i along dim 1. Such an input has as many dims as the outputs, and shards in one piece; its sizes and
 * placements may differ, and what it lacks is fetched. An input without a halo (NULL) is passed as its local tensor.
 *
 * The function is then called for one part of this rank's outputs after the other: the largest part that reads nothing
 * of other ranks, whose inputs are this rank's memory and not copied, then the strips around it, whose inputs are
 * small copies; between nodes the first part runs while the halos arrive. It gets each output as a tensor to be
 * filled, of any strides, and each input with a halo as what that part reads: element 0 of the input is `before`
 * indices before element 0 of the output. It may set an output to a tensor of the same shape, which is copied.
 * dt_local_map_offset has the index of the part. Where the gradient of an input is recorded, the whole input is
 * gathered and the function is called once, so that the ops that it uses are recorded. Agreed errors: a halo that
 * cannot be read, an unknown border (value), other numbers of dims, outputs that differ in shape (shape), plain
 * inputs, strided shards (placement). Collective over the mesh of the outputs. */
DT_API dt_status dt_local_map_sized(dt_ctx *ctx, const dt_local_mapping *mapping, dt_tensor **outputs,
                                    size_t mapping_size, DT_CALLER);

/* In the function of a mapping with halos: the index, in the full outputs, of the first element of the part that it
 * fills; NULL elsewhere. Local. */
DT_API const int64_t *dt_local_map_offset(const dt_ctx *ctx);

/* Ops by name: registered ones (dt_op_register), and those of the library for languages without macros. */

/* An argument, by position if the name is NULL: a tensor, a list of tensors, or another value. */
typedef struct dt_op_argument {
    const char *name;
    dt_tensor *tensor;
    int n_tensors;
    dt_tensor *const *tensors;
    dt_arg value;
} dt_op_argument;

/* Runs the op of this name; arguments that are left out have the default of the schema line. Writes up to capacity
 * outputs, which belong to the current scope, and their number. site may be NULL. Collective where inputs move, else
 * Local. */
DT_API dt_status dt_op_run(dt_ctx *ctx, const char *name, int n_arguments, const dt_op_argument *arguments,
                           const dt_site *site, dt_tensor **outputs, int capacity, int *n_outputs);
/* Runs an op that takes tensors only, by name; returns the first output, or NULL. Collective where inputs move, else
 * Local. */
DT_API dt_tensor *dt_op_run_tensors(dt_ctx *ctx, const char *name, int n, dt_tensor *const *tensors,
                                    const dt_site *site);
#ifndef __cplusplus
/* dt_call(ctx, "swiglu", gate, up) */
#define dt_call(ctx, name, ...)                                                                                      \
    dt_op_run_tensors(ctx, name, (int)(sizeof((dt_tensor *const[]){__VA_ARGS__}) / sizeof(dt_tensor *)),             \
                      (dt_tensor *const[]){__VA_ARGS__}, DT_SITE)
#endif

#ifndef __cplusplus
/* clang-format off */
#define dt_comm_policy(...) dt_comm_policy_site(__VA_ARGS__, DT_SITE)
#define dt_implicit_replication_begin(...) dt_implicit_replication_begin_site(__VA_ARGS__, DT_SITE)
#define dt_local_map(...) dt_local_map_sized(__VA_ARGS__, sizeof(dt_local_mapping), DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
