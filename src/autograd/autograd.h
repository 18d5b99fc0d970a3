/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of calls, from which gradients are computed. A record copies what it needs: the op with its arguments by
 * value, the site of the call, the draw of a random op, and of each input and output its dtype, shape and spec. Of the
 * values it keeps those that the op's descriptor lists (dt_op.saves), each with a reference to the storage and the
 * version that it had. An input also has the record that made it; so the records of a result are a graph without
 * cycles, in which each record is younger than those that it refers to.
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
    /* Of a value that is saved: */
    dt__storage *storage;   /* holds a reference; NULL: it is not saved */
    unsigned char *data;    /* first element */
    const int64_t *strides; /* of the local tensor */
    uint16_t output;        /* of made_by */
    int16_t n_dims;
    dt_dtype dtype;
} dt__recorded_tensor;

typedef struct dt__recorded_call {
    dt__record head;
    struct dt__recorded_call *next; /* while it is freed */
    dt_ctx *ctx;
    uint64_t number;         /* counts the records of the context */
    const char *name;        /* of the function or the op; NULL: a leaf */
    dt_site site;            /* file NULL: unknown */
    const dt__op_info *info; /* NULL: no op */
    int overload, n_args, n_numbers, n_inputs, n_outputs;
    bool is_view;                 /* the first output shares the storage of the first input */
    bool is_in_place;             /* inputs are changed; those that are not returned are behind the other outputs */
    uint32_t bytes;               /* of the record */
    dt__op_draw draw;             /* of a random op */
    const dt_arg *args;           /* of an op; lists and texts are copied */
    const int64_t *numbers;       /* arguments of another function */
    dt__recorded_tensor *tensors; /* inputs, then outputs */
} dt__recorded_call;

static inline dt__recorded_call *dt__recorded_call_of(const dt_tensor *tensor) {
    return (dt__recorded_call *)tensor->record;
}

/* record.c: the recorder of base/recorder.h, which dt__require_grad installs. */
extern const dt__recorder dt__autograd_recorder;

/* saved_tensors.c: a plain or distributed handle, in the current scope and without a record, on the saved value of
 * tensor i of the inputs, then outputs. NULL with an agreed error where the record has not saved it, or where it was
 * changed since: the error names the call that saved it and the one that changed it. */
dt_tensor *dt__saved_tensor(const dt__recorded_call *record, int i);
/* Whether the saved value was changed since; false where there is none. */
bool dt__saved_is_changed(const dt__recorded_call *record, int i);

/* replay.c: runs the op of a record again on its saved inputs, with the same draw: the same bits. Not recorded. Refuses
 * (state) what is no op, and a record that has not saved all inputs, or of which one was changed. The outputs, as many
 * as the program got of the call, belong to the current scope. Collective where inputs move. */
dt_status dt__record_replay(const dt__recorded_call *record, dt_tensor **outputs);

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
