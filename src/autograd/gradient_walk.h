/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients: a walk over the records of a result, from the youngest to the oldest. Each record turns the gradients of
 * its outputs into those of its inputs, by the formula of its op or by a function; the gradient of a leaf is brought to
 * the placement of the leaf and stored.
 */
#ifndef DT_AUTOGRAD_GRADIENT_WALK_H
#define DT_AUTOGRAD_GRADIENT_WALK_H

#include "autograd/record.h"

/* record_search.c: a set of records and all records that they were made from. Holds references to them. */
typedef struct dt__record_search {
    dt__arena arena;
    uint64_t number, oldest; /* records older than that are not searched for */
    int n, capacity;
    dt__recorded_call **list; /* the oldest first, once the search is done */
} dt__record_search;
void dt__record_search_begin(dt_ctx *ctx, dt__record_search *self);
/* Adds a record to begin at; NULL: none. Memory. */
dt_status dt__record_search_add(dt__record_search *self, dt__recorded_call *record);
/* Finds the others, and notes in each leaf its oldest use. Memory. */
dt_status dt__record_search_run(dt__record_search *self);
void dt__record_search_end(dt__record_search *self);

/* A gradient of a leaf that waits to be moved to its placement. */
typedef struct dt__leaf_gradient {
    dt__recorded_call *leaf; /* holds a reference */
    dt_tensor *grad;         /* in the scope of the walk */
    dt_spec *to;             /* holds a reference */
    bool joins;              /* it is then added to the gradient that is held */
} dt__leaf_gradient;

/* A walk over records. */
typedef struct dt__gradient_walk {
    dt_ctx *ctx;
    bool creates_graph;        /* what is computed is recorded itself */
    bool retains_graph;        /* saved values are kept, for another walk */
    bool only_needed;          /* only records with is_needed, and for targets only */
    int64_t scope;             /* of the last record: copies of used tensors are freed before one of another scope */
    const char *hold;          /* names of mesh dims along which gradients of leaves stay partial; NULL: none */
    bool is_rest;              /* a walk for what another one has left */
    bool has_gathered;         /* what the records of the scope read was brought to its use placements */
    dt__record_search records; /* the records that it may reach; freed at its end */
    int n_waiting, waiting_capacity;
    dt__leaf_gradient *waiting;
    dt_rest *rest;                    /* gets what the walk leaves for later; NULL: nothing is left */
    const dt__recorded_call *done_of; /* of whose inputs those with is_done are skipped; NULL: none */
    const bool *is_done;
} dt__gradient_walk;

/* backward.c: adds to the gradient of an output, which is then pending; takes `grad`, of the current scope. */
dt_status dt__gradient_add(dt__gradient_walk *walk, dt__recorded_call *made_by, int output, dt_tensor *grad);
/* Computes the pending gradients of records younger than this number, and all that follow. Collective where gradients
 * move. */
dt_status dt__gradient_walk_advance(dt__gradient_walk *walk, uint64_t number);
/* Computes the pending gradients and all that follow; given an error, only clears them. Collective where gradients
 * move. */
dt_status dt__gradient_walk_run(dt__gradient_walk *walk, dt_status status);
/* Computes the gradients of the inputs of one record from those of its outputs, which belong to the caller, and adds
 * them; releases the saved values of the record unless the graph is retained. Collective where gradients move. */
dt_status dt__gradients_of_record(dt__gradient_walk *walk, dt__recorded_call *record, dt_tensor **grads);

/* block_gathers.c: brings the tensors that the gradients of a record and of earlier records of its scope read to their
 * use placements, in one exchange, before the first of these gradients is computed. Collective where they move. */
dt_status dt__gather_block(dt__gradient_walk *walk, const dt__recorded_call *record);
/* backward.c: whether the walk computes the gradient of an input. */
bool dt__gradient_is_needed(const dt__gradient_walk *walk, const dt__recorded_tensor *input);

/* remaining_gradients.c: what a walk leaves for later: whether a record leads to leaves that the walk is not for; takes
 * its gradients; finds the records of a walk over the rest; walks to each record and adds the gradients of the inputs
 * that are left. */
dt_rest *dt__rest_new(dt_ctx *ctx, bool retains_graph);
bool dt__rest_needs(const dt__gradient_walk *walk, const dt__recorded_call *record);
dt_status dt__rest_add(dt__gradient_walk *walk, dt__recorded_call *record, dt_tensor *const *grads);
dt_status dt__rest_find(dt__gradient_walk *walk, const dt_rest *rest);
dt_status dt__rest_compute(dt__gradient_walk *walk, dt_rest *rest);
bool dt__rest_retains_graph(const dt_rest *rest);
dt_ctx *dt__rest_ctx(const dt_rest *rest);

/* leaf_gradients.c: takes the gradient of a leaf that is to be moved, with others; moves those that wait, of one mesh
 * or of all, and delivers them; forgets those that wait after an error. */
dt_status dt__leaf_gradient_add(dt__gradient_walk *walk, dt__recorded_call *leaf, dt_tensor *grad);
/* Brings a gradient to any spec, whose reference it takes. */
dt_status dt__leaf_gradient_wait(dt__gradient_walk *walk, const dt__leaf_gradient *waiting);
dt_status dt__leaf_gradients_move(dt__gradient_walk *walk, const dt_mesh *mesh);
void dt__leaf_gradients_end(dt__gradient_walk *walk);

/* held_gradients.c: takes the gradient of a leaf where it is held, or added to one that is; else *taken is false.
 * Collective where it moves. */
dt_status dt__leaf_gradient_hold(dt__gradient_walk *walk, dt__recorded_call *leaf, dt_tensor *grad, bool *taken);
/* Adds a gradient that was moved to the held one, which moves to its placement unless the walk holds it. */
dt_status dt__leaf_gradient_join(dt__gradient_walk *walk, dt__recorded_call *leaf, dt_tensor *grad);
/* Refuses names that no mesh of a leaf of the walk has. */
dt_status dt__hold_check(const dt__gradient_walk *walk);

/* gradient_slots.c: runs the hooks of an output on its gradient, which they may replace, and stores it where that was
 * requested, and for a leaf. */
dt_status dt__gradient_deliver(dt__gradient_walk *walk, dt__recorded_call *record, int output, dt_tensor **grad);
/* Adds a gradient to the one of a slot, or stores it there. */
dt_status dt__gradient_store(dt__gradient_walk *walk, dt__gradient_slot *slot, dt_tensor *grad);
/* Whether each element of a gradient has memory that nothing else refers to. */
bool dt__gradient_owns_memory(const dt_tensor *grad);

/* A recorded call while the gradients of its inputs are computed. */
typedef struct dt__backward_call {
    dt_ctx *ctx;
    dt__recorded_call *record;
    dt_tensor *const *grads; /* per output; NULL: zeros */
    bool creates_graph;      /* what is computed is recorded itself */
} dt__backward_call;

/* saved_tensors.c: dt__saved_tensor, with its record if the graph of the gradients is recorded. */
dt_tensor *dt__saved_value(const dt__backward_call *call, int i);

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
/* Turns the result of a formula into a gradient of the tensor: summed over broadcast dims, of its dtype, and plain or
 * distributed as the tensor is. Takes the gradient, which it returns or drops; NULL after an error. */
dt_tensor *dt__gradient_fit(dt_tensor *grad, const dt__recorded_tensor *to);
/* Whether it already has the placements of dt__gradient_spec; and brings it there. Takes the gradient. Collective where
 * it moves. */
bool dt__gradient_is_placed(const dt_tensor *grad, const dt_spec *to);
dt_tensor *dt__gradient_place(dt_tensor *grad, dt_spec *to);

/* function_gradients.c: the gradient of an input of a recorded function that is not an op: dt_redistribute,
 * dt_from_local, dt_to_local, dt_full_tensor, dt_as_strided, and those that overwrite a tensor. NULL in *out: zeros. */
dt_status dt__function_gradient(const dt__backward_call *call, int input, dt_tensor **out);
/* Whether the function brings its gradient elsewhere itself, so that it is not brought to its placement before. */
bool dt__function_places_gradient(const dt__recorded_call *record);

#endif
