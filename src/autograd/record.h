/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of calls. A record copies what it needs: the op with its arguments by value, the site of the call, the draw
 * of a random op, and of each input and output its dtype, shape and spec. It keeps the values that the op's gradient
 * uses (dt_op.gradient, dt_op.saves), each with a reference to the storage and the version that it had. An input also
 * refers to the record that made it, so the records of a result form an acyclic graph in which each record is younger
 * than those that it refers to.
 */
#ifndef DT_AUTOGRAD_RECORD_H
#define DT_AUTOGRAD_RECORD_H

#include "autograd/autograd.h"

/* An input or an output of a recorded call. */
typedef struct dt__recorded_tensor {
    struct dt__recorded_call *made_by; /* inputs: holds a reference; NULL: requires no gradient */
    dt_spec *spec;                     /* holds a reference; NULL: plain */
    dt_spec *use;                      /* holds a reference: its use placement, which gradients read it in; or NULL */
    const int64_t *sizes;              /* of a plain tensor */
    uint64_t version;                  /* of the storage when the call was recorded */
    dt_tensor *grad;                   /* of an output, while gradients are computed: the sum so far; in a scope */
    /* For a saved value: */
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
    dt_user_end *end; /* frees user; NULL: the program does */
    int64_t id;       /* of a hook */
} dt__gradient_slot;

typedef struct dt__checkpoint dt__checkpoint;

typedef struct dt__recorded_call {
    dt__record head;
    struct dt__recorded_call *next; /* while it is freed */
    dt_ctx *ctx;
    uint64_t number;         /* counts the records of the context */
    uint64_t oldest_use;     /* of a leaf: the number of the oldest record of the walk that reads it; 0: none does */
    int64_t scope;           /* the number of the scope in which the call was made */
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
    bool is_in_place;             /* inputs are changed; those that are not returned are after the other outputs */
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

/* The dtype in which the call saw it. */
static inline dt_dtype dt__recorded_dtype(const dt__recorded_tensor *tensor) {
    return tensor->use ? tensor->use->dtype : tensor->dtype;
}

static inline dt__recorded_call *dt__recorded_call_of(const dt_tensor *tensor) {
    return (dt__recorded_call *)tensor->record;
}

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
    dt__freed_queue freed_rests;
    dt__checkpoint *checkpoint; /* whose function runs; NULL: none */
    dt__checkpoint_mode checkpoint_mode;
    const dt__op_info *ops[DT__N_GRADIENT_OPS]; /* NULL until first use */
} dt__autograd_state;

/* record.c: implements base/recorder.h; dt__require_grad installs it. */
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
 * tensor i of the inputs, then outputs. NULL with an agreed error if the record did not save it, or if it was changed
 * since: the error names the call that saved it and the one that changed it. */
dt_tensor *dt__saved_tensor(const dt__recorded_call *record, int i);
/* Whether the saved value was changed since; false where there is none. */
bool dt__saved_is_changed(const dt__recorded_call *record, int i);
/* Drops the reference to the saved value of a tensor. */
void dt__saved_release(dt__recorded_tensor *tensor);
/* Frees the saved values of a record; it cannot be walked again. */
void dt__release_saved(dt__recorded_call *record);

/* gradient_slots.c: adds a slot after the others of the record; NULL after an error. */
dt__gradient_slot *dt__gradient_slot_new(dt__recorded_call *record, int output);
/* The stored gradient of a tensor's output; NULL: none. */
dt__gradient_slot *dt__gradient_slot_find(const dt__recorded_call *record, int output, bool is_target);
void dt__gradient_slot_remove(dt__recorded_call *record, dt__gradient_slot *slot);

/* checkpoint.c: takes a new record, with its saved values, while a function runs; forgets one that is freed. */
dt_status dt__checkpoint_record(dt__recorded_call *record);
void dt__checkpoint_forget(const dt__recorded_call *record);
void dt__checkpoint_release(dt__checkpoint *self);
/* Runs the function again, unless that was done already, so that its records have their saved values. Collective where
 * the function is. */
dt_status dt__checkpoint_fill(dt__checkpoint *self);

#endif
