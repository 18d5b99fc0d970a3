/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of calls, and gradients, which are computed from them. A record copies what it needs: the op with its
 * arguments by value, the site of the call, the draw of a random op, and of each input and output its dtype, shape and
 * spec. Of the values it keeps those that the op's gradient uses (dt_op.gradient, dt_op.saves), each with a reference
 * to the storage and the version that it had. An input also has the record that made it; so the records of a result
 * are a graph without cycles, in which each record is younger than those that it refers to.
 */
#ifndef DT_AUTOGRAD_AUTOGRAD_H
#define DT_AUTOGRAD_AUTOGRAD_H

#include "dispatch/dispatch.h"
#include "dtensor/autograd.h"

/* An input or an output of a recorded call. */
typedef struct dt__recorded_tensor {
    struct dt__recorded_call *made_by; /* inputs: holds a reference; NULL: requires no gradient */
    dt_spec *spec;                     /* holds a reference; NULL: plain */
    dt_spec *use;                      /* holds a reference: its use placement, which gradients read it in; or NULL */
    const int64_t *sizes;              /* of a plain tensor */
    uint64_t version;                  /* of the storage when the call was recorded */
    dt_tensor *grad;                   /* of an output, while gradients are computed: the sum so far; in a scope */
    /* Of a value that is saved: */
    dt__storage *storage;   /* holds a reference; NULL: it is not saved */
    unsigned char *data;    /* first element */
    const int64_t *strides; /* of the local tensor */
    uint16_t output;        /* of made_by */
    int16_t n_dims;
    dt_dtype dtype;
} dt__recorded_tensor;

/* What happens to the gradient of an output of a record. */
typedef struct dt__gradient_slot {
    struct dt__gradient_slot *next;
    int output;
    dt_tensor *grad;    /* stored, with a reference; NULL: none yet, or it is not kept */
    bool is_target;     /* it is stored for dt_gradients, otherwise for dt_grad */
    dt_grad_hook *hook; /* NULL: the gradient is stored */
    void *user;
    int64_t id; /* of a hook */
} dt__gradient_slot;

typedef struct dt__checkpoint dt__checkpoint;

typedef struct dt__recorded_call {
    dt__record head;
    struct dt__recorded_call *next; /* while it is freed */
    dt_ctx *ctx;
    uint64_t number;         /* counts the records of the context */
    uint64_t found_by;       /* the last search that found it */
    const char *name;        /* of the function or the op; NULL: a leaf */
    dt_site site;            /* file NULL: unknown */
    const dt__op_info *info; /* NULL: no op */
    int overload, n_args, n_numbers, n_inputs, n_outputs;
    bool is_pending;              /* it is among those whose gradients are to be computed */
    bool is_released;             /* its saved values were freed by a walk */
    bool is_needed;               /* while the gradients of some tensors only are computed: it leads to one */
    bool is_view;                 /* the first output shares the storage of the first input */
    bool may_move;                /* it was made under a policy that allows communication: so may its gradient */
    bool is_in_place;             /* inputs are changed; those that are not returned are behind the other outputs */
    uint32_t bytes;               /* of the record */
    dt__op_draw draw;             /* of a random op */
    const dt_arg *args;           /* of an op; lists and texts are copied */
    const int64_t *numbers;       /* arguments of another function */
    dt__recorded_tensor *tensors; /* inputs, then outputs */
    dt_spec *grad_spec;           /* holds a reference: of the gradient where the program stated its placements */
    dt__gradient_slot *slots;     /* NULL: none */
    dt__checkpoint *checkpoint;   /* holds a reference: runs a function again for the saved values; NULL: none */
    int checkpoint_index;         /* among its records */
} dt__recorded_call;

static inline const int64_t *dt__recorded_shape(const dt__recorded_tensor *tensor) {
    return tensor->spec ? tensor->spec->sharding.shape : tensor->sizes;
}

static inline dt__recorded_call *dt__recorded_call_of(const dt_tensor *tensor) {
    return (dt__recorded_call *)tensor->record;
}

/* record.c: the recorder of base/recorder.h, which dt__require_grad installs. */
extern const dt__recorder dt__autograd_recorder;
/* A record without tensors and arguments; NULL after an error. */
dt__recorded_call *dt__record_new(dt_ctx *ctx, const char *name, size_t bytes);

/* shared_storage.c: notes that a recorded call wrote to the storage of one of its outputs, if there are other handles
 * on it (dt__storage_writes). Memory. */
typedef struct dt__previous_record {
    dt__record *record; /* that the tensor had before; NULL: none */
    uint16_t output;
} dt__previous_record;
dt_status dt__shared_write_add(dt__recorded_call *record, int output, const dt_tensor *tensor,
                               const dt__previous_record *before);

/* saved_tensors.c: a plain or distributed handle, in the current scope and without a record, on the saved value of
 * tensor i of the inputs, then outputs. NULL with an agreed error where the record has not saved it, or where it was
 * changed since: the error names the call that saved it and the one that changed it. */
dt_tensor *dt__saved_tensor(const dt__recorded_call *record, int i);
/* Whether the saved value was changed since; false where there is none. */
bool dt__saved_is_changed(const dt__recorded_call *record, int i);

/* Ops that gradients take whatever the graph. */
typedef enum dt__gradient_op {
    DT__GRADIENT_ADD,
    DT__GRADIENT_ADD_IN_PLACE,
    DT__GRADIENT_CLONE,
    DT__GRADIENT_REDUCE,
    DT__GRADIENT_CONVERT,
    DT__GRADIENT_MASK,
    DT__N_GRADIENT_OPS
} dt__gradient_op;

/* What happens to the values that records save while the function of a checkpoint runs. */
typedef enum dt__checkpoint_mode {
    DT__CHECKPOINT_NONE,  /* they are saved: no checkpoint */
    DT__CHECKPOINT_FIRST, /* they are dropped */
    DT__CHECKPOINT_AGAIN, /* they are handed to the records of the first run */
    DT__CHECKPOINT_INSIDE /* they are dropped, and so are the records: of a checkpoint inside one that runs again */
} dt__checkpoint_mode;

/* Records of the context, and the walk over them. */
enum { DT__RECORD_CLASSES = 32 };
typedef struct dt__autograd_state {
    struct dt__record_block *free[DT__RECORD_CLASSES]; /* by size in lines */
    struct dt__record_block *chunks;
    char *unused; /* the rest of the newest chunk */
    size_t n_unused;
    uint64_t n_records;
    dt__recorded_call **pending; /* a heap, the youngest first */
    int n_pending, pending_capacity;
    bool is_walking;
    uint64_t n_searches; /* marks records that were found (dt__recorded_call.found_by) */
    int64_t n_hooks;
    dt__checkpoint *checkpoint; /* whose function runs; NULL: none */
    dt__checkpoint_mode checkpoint_mode;
    const dt__op_info *ops[DT__N_GRADIENT_OPS]; /* NULL until first use */
} dt__autograd_state;

/* A gradient of a leaf that waits to be moved to its placement. */
typedef struct dt__leaf_gradient {
    dt__recorded_call *leaf; /* holds a reference */
    dt_tensor *grad;         /* in the scope of the walk */
    dt_spec *to;             /* holds a reference */
} dt__leaf_gradient;

/* A walk over records. */
typedef struct dt__gradient_walk {
    dt_ctx *ctx;
    bool creates_graph; /* what is computed is recorded itself */
    bool retains_graph; /* saved values are kept, for another walk */
    bool only_needed;   /* only records with is_needed, and for targets only */
    int n_waiting, waiting_capacity;
    dt__leaf_gradient *waiting;
    dt_rest *rest;                    /* gets what the walk leaves for later; NULL: nothing is left */
    const dt__recorded_call *done_of; /* of whose inputs those with is_done are skipped; NULL: none */
    const bool *is_done;
} dt__gradient_walk;

/* backward.c: adds to the gradient of an output, which is then pending; takes `grad`, of the current scope. */
dt_status dt__gradient_add(dt__gradient_walk *walk, dt__recorded_call *made_by, int output, dt_tensor *grad);
/* Computes the pending gradients and all that follow, unless the status of what went before is an error, after which it
 * only clears them. Collective where gradients move. */
dt_status dt__gradient_walk_run(dt__gradient_walk *walk, dt_status status);

/* The same for one record, from the gradients of its outputs, which belong to the caller: adds those of its inputs, and
 * releases what it has saved, unless the graph is retained. */
dt_status dt__gradients_of_record(dt__gradient_walk *walk, dt__recorded_call *record, dt_tensor **grads);

/* remaining_gradients.c: what a walk leaves for later: whether a record leads to leaves that the walk is not for; takes
 * its gradients; adds those of the inputs that are left, of all records. */
dt_rest *dt__rest_new(dt_ctx *ctx, bool retains_graph);
bool dt__rest_needs(const dt__gradient_walk *walk, const dt__recorded_call *record);
dt_status dt__rest_add(dt__gradient_walk *walk, dt__recorded_call *record, dt_tensor *const *grads);
dt_status dt__rest_compute(dt__gradient_walk *walk, dt_rest *rest);
bool dt__rest_retains_graph(const dt_rest *rest);
dt_ctx *dt__rest_ctx(const dt_rest *rest);

/* leaf_gradients.c: takes the gradient of a leaf that is to be moved, with others; moves those that wait, of one mesh
 * or of all, and delivers them; forgets those that wait after an error. */
dt_status dt__leaf_gradient_add(dt__gradient_walk *walk, dt__recorded_call *leaf, dt_tensor *grad);
dt_status dt__leaf_gradients_move(dt__gradient_walk *walk, const dt_mesh *mesh);
void dt__leaf_gradients_end(dt__gradient_walk *walk);

/* gradient_slots.c: runs the hooks of an output on its gradient, which they may replace, and stores it where that was
 * requested, and for a leaf. */
dt_status dt__gradient_deliver(dt__gradient_walk *walk, dt__recorded_call *record, int output, dt_tensor **grad);
/* Adds a slot behind the others; NULL after an error. */
dt__gradient_slot *dt__gradient_slot_new(dt__recorded_call *record, int output);
/* The stored gradient of a tensor's output; NULL: none. */
dt__gradient_slot *dt__gradient_slot_find(const dt__recorded_call *record, int output, bool is_target);
void dt__gradient_slot_remove(dt__recorded_call *record, dt__gradient_slot *slot);

/* A recorded call while the gradients of its inputs are computed. */
typedef struct dt__backward_call {
    dt_ctx *ctx;
    dt__recorded_call *record;
    dt_tensor *const *grads; /* per output; NULL: zeros */
    bool creates_graph;      /* what is computed is recorded itself */
} dt__backward_call;

/* checkpoint.c: takes a new record, with its saved values, while a function runs; forgets one that is freed. */
dt_status dt__checkpoint_record(dt__recorded_call *record);
void dt__checkpoint_forget(const dt__recorded_call *record);
void dt__checkpoint_release(dt__checkpoint *self);
/* Runs the function again, if that was not done yet, so that its records have their saved values. Collective where the
 * function is. */
dt_status dt__checkpoint_fill(dt__checkpoint *self);

/* The reference to one of them. */
void dt__saved_release(dt__recorded_tensor *tensor);
/* saved_tensors.c: dt__saved_tensor, with its record where the graph of the gradients is recorded. */
dt_tensor *dt__saved_value(const dt__backward_call *call, int i);
/* Frees the saved values of a record, which cannot be walked again. */
void dt__release_saved(dt__recorded_call *record);

/* shared_storage.c: gradients of an input of overlay, overlap and as_strided, from that of the output. */
dt_tensor *dt__gradient_of_overlay(const dt__backward_call *call, int input, dt_tensor *grad);
dt_tensor *dt__gradient_of_overlap(const dt__backward_call *call, int input, dt_tensor *grad);
dt_tensor *dt__gradient_of_as_strided(const dt__backward_call *call, int input, dt_tensor *grad);

/* gradient_formula.c: finds the ops and signatures of a formula's calls. Done before its first use; tests do it for all
 * ops. Refuses (value) arguments that no signature fits. */
dt_status dt__formula_bind(dt_ctx *ctx, const dt__op_info *info, int overload, dt__formula *formula);
/* Evaluates a formula: sets the gradients of its targets, in the current scope; NULL for zeros. */
dt_status dt__formula_run(const dt__backward_call *call, dt__formula *formula, dt_tensor **out);

/* gradient_calls.c: the ops that gradients take, whatever the graph: each returns a tensor in the current scope, NULL
 * after an error. a + b; a += b; a copy; a sum over dims; another dtype; zeros where the mask is set. */
dt_tensor *dt__gradient_sum(dt_tensor *a, dt_tensor *b);
dt_tensor *dt__gradient_add_in_place(dt_tensor *a, dt_tensor *b);
dt_tensor *dt__gradient_copy(dt_tensor *tensor);
dt_tensor *dt__gradient_reduce(dt_tensor *tensor, int n, const int64_t *dims, bool keepdim);
dt_tensor *dt__gradient_convert(dt_tensor *tensor, dt_dtype dtype);
dt_tensor *dt__gradient_mask(dt_tensor *tensor, dt_tensor *mask);

/* gradient_placement.c: the placement of a gradient is a function of that of its tensor: Shard stays, Replicate and
 * Partial become Replicate. A new reference; NULL after an error. */
dt_spec *dt__gradient_spec(dt_spec *spec);
/* Another handle on the same elements, with the same record. */
dt_tensor *dt__share_handle(dt_tensor *tensor);
/* A tensor of zeros or ones as the gradient of a recorded tensor; NULL after an error. */
dt_tensor *dt__constant_gradient(dt_ctx *ctx, const dt__recorded_tensor *of, double value);
/* What a formula made becomes a gradient of the tensor: summed where the tensor was broadcast, of its dtype, plain if
 * it is plain and distributed if it is. Takes the gradient, which it returns or drops; NULL after an error. */
dt_tensor *dt__gradient_fit(dt_tensor *grad, const dt__recorded_tensor *to);
/* Whether it already has the placements of dt__gradient_spec; and brings it there. Takes the gradient. Collective where
 * it moves. */
bool dt__gradient_is_placed(const dt_tensor *grad, const dt_spec *to);
dt_tensor *dt__gradient_place(dt_tensor *grad, dt_spec *to);

/* function_gradients.c: the gradient of an input of a recorded function that is no op: dt_redistribute, dt_from_local,
 * dt_to_local, dt_full_tensor, dt_as_strided, and those that overwrite a tensor. NULL in *out: zeros. */
dt_status dt__function_gradient(const dt__backward_call *call, int input, dt_tensor **out);
/* Whether the function brings its gradient elsewhere itself, so that it is not brought to its placement before. */
bool dt__function_places_gradient(const dt__recorded_call *record);

/* record_text.c: appends the records that the tensor was made by, oldest first, a line each:
 *
 *     1 leaf f32[4,3]
 *     2 mul(f32[4,3]; f32[4,3]) -> f32[4,3]; from 1, 1; saves input 1, input 2
 *     3 sum(f32[4,3]; dim=[0]) -> f32[3]; from 2
 *     4 transpose(f32[4,3]; dim0=0; dim1=1) -> f32[3,4]; view of 2
 *
 * Records are numbered within the text. Nothing for a tensor that requires no gradient. */
dt_status dt__record_text(const dt_tensor *tensor, dt__text *out);

#endif
