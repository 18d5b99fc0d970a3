/* SPDX-License-Identifier: Apache-2.0
 *
 * The dispatch state of a context: the cache of decisions, communication policies, and the monitor.
 */
#ifndef DT_DISPATCH_DISPATCH_STATE_H
#define DT_DISPATCH_DISPATCH_STATE_H

#include "base/hash.h"
#include "dispatch/decision.h"

/* A set-associative cache with DT__WAYS ways; the least recently used decision of a set is evicted. */
enum { DT__N_SETS = 1024, DT__WAYS = 4 };

typedef struct dt__dispatch_state {
    dt__decision *cache[DT__N_SETS][DT__WAYS];
    int64_t tick;
    uint64_t *key_words; /* of the last long key (decision_key.c) */
    size_t key_capacity;
    uint64_t *class_words; /* of the items of a list call, for its key (list_call.c) */
    size_t n_class_words, class_capacity;
    bool class_of_values; /* one of them is DT_CLASS_OF_VALUES */
    dt_cache_statistics stats;
    int implicit_replication; /* depth */
    struct dt__policy *policies;
    int n_policies, policy_capacity;
    int n_allowed;  /* depth of gradients whose calls were allowed to communicate */
    dt__map logged; /* hashes of what was logged once (op_log.c) */
    int n_warnings;
    struct dt__monitor *monitor;  /* counts and traces; NULL until first use */
    struct dt__dry_context *dry;  /* plans decompositions (dry_run.c); NULL until first use */
    struct dt__stencil *stencils; /* prepared mappings with halos, the last one that was used first (stencil.c) */
    const int64_t *tile_offset;   /* of the part that the function of such a mapping fills; NULL outside */
} dt__dispatch_state;

/* Created on first use; NULL with the error recorded. */
dt__dispatch_state *dt__dispatch_state_of(dt_ctx *ctx);

static inline bool dt__decision_has_key(const dt__decision *decision, const dt__decision_key *key) {
    if (decision->hash != key->hash || decision->n_words != key->n_words)
        return false;
    uint64_t difference = 0; /* usually there is none */
    const uint64_t *a = decision->words, *b = key->words, *end = b + key->n_words;
    if (key->n_words % 2)
        difference = *a++ ^ *b++;
    for (; b != end; a += 2, b += 2)
        difference |= (a[0] ^ b[0]) | (a[1] ^ b[1]);
    return !difference;
}
/* NULL if the key is not cached. */
static inline dt__decision *dt__decision_cache_find(const dt__dispatch_state *state, const dt__decision_key *key) {
    dt__decision *const *set = state->cache[key->hash % DT__N_SETS];
    for (int w = 0; w < DT__WAYS; w++)
        if (set[w] && dt__decision_has_key(set[w], key))
            return set[w];
    return NULL;
}
/* decision_cache.c: puts a decision in the cache, which owns it from then on. */
void dt__decision_cache_add(dt_ctx *ctx, dt__dispatch_state *state, dt__decision *decision);

/* align_inputs.c: whether all inputs are on the mesh of the first, or all are plain; */
bool dt__call_is_aligned(const dt__call *call);
/* and brings those that are elsewhere. made[i] is the tensor made for input i, which the caller drops, also after an
 * error; *outside: this rank is not in the mesh of an input that should become full. Collective over the meshes of all
 * inputs. */
dt_status dt__call_align(dt_ctx *ctx, dt__call *call, dt_tensor **made, bool *outside);

/* read_argument.c: reads the argument at this position from values (dt_op.read), and dispatches the call that passes
 * its value. Collective over the mesh of the inputs. */
dt_status dt__dispatch_read(dt_ctx *ctx, dt__call *call, int position);

typedef struct dt__dry_context dt__dry_context;
/* dry_run.c, in a dry run: adds what the rows of an op exchange. */
void dt__dry_add_way(dt__dispatch_state *state, const dt__decision *decision);
/* dry_run.c: the text that describes what this dry run moves; NULL: none was requested. */
dt__text *dt__dry_moves(const dt__dispatch_state *state);
void dt__dry_context_free(dt_ctx *ctx, dt__dry_context *self);

/* used_inputs.c: finds the inputs of a call that are seen in their use placements (dt__call.used), */
dt_status dt__call_find_uses(dt_ctx *ctx, dt__call *call);
/* brings one there, which the caller drops, or takes what an earlier op of an open scope has moved; */
dt_tensor *dt__use_input(dt_tensor *tensor, dt_spec *use);
/* and sets the use placements of views, after the call. They have no outputs after an error. */
dt_status dt__call_inherit_uses(dt_ctx *ctx, dt__call *call);

/* stencil.c: dt_local_map with halos; inputs have the placements that the mapping requests. */
typedef struct dt__stencil dt__stencil;
dt_status dt__stencil_run(dt_ctx *ctx, const dt_local_mapping *mapping, dt_mesh *mesh, dt_tensor *const *inputs,
                          dt_tensor **outputs);
void dt__stencils_free(dt_ctx *ctx, dt__dispatch_state *state);
/* Calls the function of a mapping. */
dt_status dt__local_map_call(dt_ctx *ctx, const dt_local_mapping *mapping, dt_tensor *const *locals,
                             dt_tensor **outputs);

/* list_call.c: a checked call of a list op. */
dt_status dt__dispatch_list(dt_ctx *ctx, dt__call *call);
/* list_loop.c: runs items of a list of an op with DT__OP_LOOP, from one of them on, without a call of the kernel for
 * each; `one` has the arguments of an item. Returns how many have run; 0: the kernel has to run the first. */
int dt__list_loop_run(const dt__call *list, const dt__list_items *items, const dt_op_call *one,
                      const dt__decision *decision, int from);

/* dispatch.c: whether an input requires a gradient; records such a call, which has run, and drops its outputs where it
 * cannot. */
bool dt__call_requires_grad(const dt__call *call);
/* Updates the records of inputs that were written to through other handles. */
dt_status dt__call_apply_writes(const dt__call *call);
dt_status dt__call_add_record(dt_ctx *ctx, dt__call *call);

/* Steps 3 to 5 of a decided call; and a function that runs these steps under a monitor that counts or traces. */
dt_status dt__run_decision(dt_ctx *ctx, dt__call *call, const dt__decision *decision);
typedef dt_status dt__run_fn(dt_ctx *ctx, dt__call *call, const dt__decision *decision);
/* run_estimate.c: the run of a decision in an estimate, and of a kernel without data. */
dt_status dt__run_estimated(dt_ctx *ctx, dt__call *call, const dt__decision *decision, dt__run_fn *run);
dt_status dt__kernel_run_idle(dt_op_call *call);
/* op_time.c: the time of a kernel by the machine model. */
double dt__op_time_us(const dt_op_call *call);
double dt__copy_time_us(const dt_tensor *copy); /* of a copy that a view needed, as a reshape may */
static inline dt_status dt__kernel_run(dt_op_call *call) {
    bool idle = __builtin_expect(call->ctx->estimate != NULL, 0) && call->ctx->estimate->n_idle;
    return idle ? dt__kernel_run_idle(call) : call->op->kernel(call);
}
dt_status dt__run_observed(dt_ctx *ctx, dt__call *call, const dt__decision *decision, dt__run_fn *run);

/* op_log.c: logs a new decision; a warning about the call in progress, with the decision or NULL; counts at the end.
 * Then frees its state. */
void dt__log_decision(dt_ctx *ctx, const dt__call *call, const dt__decision *decision);
void dt__log_warning(dt_ctx *ctx, const dt__decision *decision, const char *text);
void dt__log_calls(dt_ctx *ctx, dt__dispatch_state *state);

/* comm_policy.c: refuses, logs or permits the communication of a call. */
dt_status dt__policy_check(dt_ctx *ctx, const dt__call *call, const dt__decision *decision);
/* Refuses, logs or permits moving a tensor that an argument is read from. */
dt_status dt__policy_check_read(dt_ctx *ctx, const dt__call *call, dt_spec *from, dt_spec *to);
void dt__policies_free(dt_ctx *ctx, dt__dispatch_state *state);

/* Makers (maker_place.c). Sets the mesh where the call names placements only, and checks it. */
dt_status dt__maker_place_check(dt_ctx *ctx, dt__call *call);
/* Whether this rank computes the values; otherwise its terms of partial outputs are filled with the identity. */
bool dt__maker_holds_values(const dt__call *call, int n_outputs);
/* Sets the use placements of the outputs, and that they require a gradient. After an error there are none. */
dt_status dt__maker_finish(dt__call *call);

#endif
