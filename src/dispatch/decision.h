/* SPDX-License-Identifier: Apache-2.0
 *
 * Decisions, and the cache of them. A decision says all that can be said of a call before its data is looked at: which
 * inputs move where, what the outputs are, and which of this rank's inputs stand for partials that it has no part in.
 * It is found by a key of words: the op, its static arguments, and per input the id of its spec, or dtype and shape of
 * a plain tensor.
 */
#ifndef DT_DISPATCH_DECISION_H
#define DT_DISPATCH_DECISION_H

#include "dispatch/dispatch.h"

enum { DT__KEY_WORDS = 96 };

typedef struct dt__key {
    uint64_t hash;
    int n_words;
    bool too_long; /* such a call is decided each time */
    uint64_t words[DT__KEY_WORDS];
} dt__key;

/* What happens to one input. */
typedef struct dt__input_decision {
    dt_spec *from; /* held, so that its id in the key stays its own; NULL: plain */
    dt_spec *to;   /* held; NULL: stays where it is */
    dt_spec *seen; /* held: what the kernel is told; NULL: plain */
    bool wrap;     /* a plain tensor that counts as replicated on the mesh */
    bool blank;    /* this rank contributes what changes nothing to a partial */
    dt_reduce blank_as;
} dt__input_decision;

typedef struct dt__output_decision {
    dt_spec *spec; /* held; NULL: plain */
    dt_dtype dtype;
    int n_dims;
    const int64_t *shape; /* of the whole */
    int local_n_dims;
    const int64_t *local_shape; /* of this rank's part */
    int64_t bytes;              /* of this rank's part, dense */
} dt__output_decision;

typedef struct dt__decision {
    uint64_t hash;
    int n_words;
    const uint64_t *words;
    int64_t used;      /* tick of the last use */
    int n_users;       /* calls that are running it */
    bool kept;         /* in the cache; otherwise it goes with its last user */
    bool runs;         /* this rank has a part in it */
    bool communicates; /* moving the inputs takes messages */
    int n_inputs, n_outputs;
    dt__input_decision *inputs;
    dt__output_decision *outputs;
    unsigned flags; /* DT_ROW_… */
    dt_mesh *mesh;  /* of the distributed inputs, held by their specs; NULL: all plain */
    double cost_us; /* what moving the inputs is priced at */
    dt__arena arena;
} dt__decision;

/* asked is the same call as an op's functions see it; replicates: plain tensors count as replicated. */
void dt__key_of(const dt__invocation *call, const dt_op_call *asked, bool replicates, dt__key *out);

/* The decision of a call: from the cache, or made and kept. NULL with the error recorded. Valid until it is released;
 * until then nothing evicts it. */
dt__decision *dt__decide(dt_ctx *ctx, const dt__invocation *call, const dt_op_call *asked);
void dt__decision_release(dt_ctx *ctx, dt__decision *decision);

/* Makes a decision without the cache; to be freed. */
dt__decision *dt__decision_new(dt_ctx *ctx, const dt__invocation *call);
void dt__decision_free(dt_ctx *ctx, dt__decision *decision);

#endif
