/* SPDX-License-Identifier: Apache-2.0
 *
 * The hook of gradients. Every public function that makes a tensor from a tensor reports what it made to the recorder
 * of its context (dt_ctx.recorder), if there is one: a program that requires no gradients pays a load and a branch. The
 * recorder is src/autograd; the folders above it in the list of folders know only this file. A record lives as long as
 * a tensor or a later record refers to it.
 */
#ifndef DT_BASE_RECORDER_H
#define DT_BASE_RECORDER_H

#include "base/ctx.h"

struct dt_tensor;

/* How a tensor was made: the call that made it or, for a leaf, only that it requires a gradient. Only src/autograd
 * knows the rest of the struct. A tensor has a record if and only if it requires a gradient. */
typedef struct dt__record {
    int64_t n_refs;
    /* Of a leaf: the number, on its mesh, of the call that made it one, which tells parameters with equal specs apart;
     * 0: unknown. */
    uint64_t made_by;
    bool is_leaf;
    void (*free_record)(struct dt__record *record);
} dt__record;

static inline void dt__record_release(dt__record *record) {
    if (record && --record->n_refs == 0)
        record->free_record(record);
}

/* What a public function made. */
typedef struct dt__made {
    const char *name;          /* of the function or the op */
    const struct dt__call *op; /* dispatch/dispatch.h: the call of an op; NULL: another function */
    int n_inputs, n_outputs;
    struct dt_tensor *const *inputs;    /* as the caller passed them, before any was moved */
    struct dt_tensor *const *originals; /* copies of inputs that were written; NULL: none, for each and for all */
    struct dt_tensor *const *outputs;
    struct dt_spec *grad_spec; /* of the gradient, where the caller stated its placements; or NULL */
    int n_numbers;             /* arguments of a function that is not an op */
    const int64_t *numbers;
} dt__made;

typedef struct dt__recorder {
    /* Records a call with an input that requires a gradient; its outputs of floating-point or complex dtype then
     * require one. Memory. */
    dt_status (*record)(dt_ctx *ctx, const dt__made *made);
    /* An agreed error of `op` if the tensor, which requires a gradient, must not be written to: a leaf, or a view of
     * one. */
    dt_status (*check_write)(const struct dt_tensor *tensor, const char *op);
} dt__recorder;

/* Makes a leaf of a tensor that has no record, and a recorder for its context. Defined in src/autograd; the only
 * function there that the folders above it call. Memory. */
dt_status dt__require_grad(struct dt_tensor *tensor);

#endif
