/* SPDX-License-Identifier: Apache-2.0
 *
 * Decisions and their cache. A decision is everything about a call that does not depend on data: the redistribution of
 * each input, the outputs, and which of this rank's inputs are replaced by the identity of a reduction. Making one has
 * no side effects: groups are made and moves prepared when the call runs. Its key consists of the op, the values of the
 * arguments that do not vary, and for each input the id of its spec, or the dtype and shape of a plain tensor.
 */
#ifndef DT_DISPATCH_DECISION_H
#define DT_DISPATCH_DECISION_H

#include "comm/comm.h"
#include "dispatch/dispatch.h"
#include "move/move.h"

/* A tensor is written without a check: it may exceed the space for keys by the slack. */
enum { DT__KEY_WORDS = 96, DT__KEY_SLACK = 1 + DT_SPEC_MAX_DIMS };

typedef struct dt__decision_key {
    uint64_t hash;
    int n_words;
    const uint64_t *words; /* in `space`, or in the dispatch state, valid until its next key */
    uint64_t space[DT__KEY_WORDS + DT__KEY_SLACK]; /* of most keys */
} dt__decision_key;

/* The decision for one input. */
typedef struct dt__input_decision {
    dt_spec *from;                 /* a reference, so that its id in the key is not reused; NULL: plain */
    bool is_used;                  /* `from` is the use placement of the tensor, which is brought there first */
    dt_spec *to;                   /* a reference; NULL: it does not move */
    const dt__step_counts *counts; /* the steps of the plan that moves it */
    dt_spec *kernel;               /* a reference: the spec that the kernel gets; NULL: plain */
    bool written;                  /* the kernel writes it: it does not move */
    bool identity; /* this rank's local tensor is replaced by the identity of identity_of: it contributes nothing */
    dt_reduce identity_of;
} dt__input_decision;

typedef struct dt__output_decision {
    dt_spec *spec; /* a reference; NULL: plain */
    dt_dtype dtype;
    int n_dims;
    const int64_t *shape; /* global */
    int local_n_dims;
    const int64_t *local_shape;
    int64_t bytes; /* of the local tensor, dense */
    int input;     /* the input that it is, because that is written; -1: a new tensor */
} dt__output_decision;

/* The exchange in the middle of a call whose rows communicate (rules/ways.h). */
typedef struct dt__meeting {
    dt__way way;
    int n;                /* ranks that meet: this one and those along the mesh dims of the way */
    const int64_t *ranks; /* in mesh order */
    const int *order;     /* of merging their states: indices into ranks */
    int n_before;         /* of a scan: how many of these come before this rank */
    int own;              /* index of this rank */
    dt_group *group;      /* made on first use; NULL */
} dt__meeting;

/* The exchange before the kernel of a call whose rows use windows (run_windows.c). */
typedef struct dt__windowed dt__windowed;

/* What all calls with one decision have in common in a history. */
typedef struct dt__call_entry {
    uint64_t fingerprint; /* of the call, without arguments that vary; the same on every rank */
    uint64_t text;        /* the label, with how the first number is shown */
    uint32_t label;
    bool is_simple;  /* at most one argument varies, which is a number, and calls are not checked */
    bool has_number; /* one does: */
    int number;      /* its index */
} dt__call_entry;

typedef struct dt__decision {
    uint64_t hash;
    int n_words;
    const uint64_t *words;
    int64_t last_use;  /* tick */
    int n_users;       /* calls that are running it */
    bool cached;       /* otherwise it is freed by its last user */
    bool runs;         /* this rank is in the mesh */
    bool communicates; /* the plans of the inputs have collectives, or its rows communicate */
    bool writes;       /* some input is written */
    bool is_view;      /* outputs are views of the first input, or of what it is moved to */
    bool decomposes;   /* its decomposition, whose ops are decided on their own, costs less than any row */
    bool is_of_part;   /* made for a part of another call: `history` and `entry` are not set */
    bool is_direct;    /* no input moves or is written: the kernel gets them as they are */
    bool is_in_place;  /* inputs are written, none moves, and nothing is exchanged */
    int n_inputs, n_outputs;
    dt__input_decision *inputs;
    dt__output_decision *outputs;
    unsigned row_flags;     /* DT_ROW_… */
    dt__meeting *meeting;   /* NULL: no row meets or scans */
    dt__windowed *windowed; /* NULL: no row uses windows */
    dt_mesh *mesh;          /* of the distributed inputs, referenced by their specs; NULL: all plain */
    double cost_us;         /* of moving the inputs, by the machine model */
    dt__history *history;   /* the mesh's history, which records each call; NULL: none, or this rank is outside */
    dt__call_entry entry;
    /* For a list op: the decisions of its items, which it uses, and the meshes with a history other than that of
     * `mesh`. Inputs and outputs are those of all items. */
    int n_items, n_more_meshes;
    struct dt__decision **items;
    dt_mesh **more_meshes;
    dt__arena arena;
} dt__decision;

/* run_meet.c: the ranks that meet in a call whose rows communicate; and the run of its kernels. */
dt_status dt__meeting_new(dt__decision *decision, const dt__candidate *selected);
dt_status dt__meeting_run(dt_ctx *ctx, dt__call *call, const dt__decision *decision);

/* run_windows.c: what is fetched for a call whose rows use windows, once its outputs are placed; the run of such a
 * call, whose inputs are replaced by their windows unless these are the result. */
dt_status dt__windowed_new(dt__decision *decision, const dt_op_call *call, const dt__way *way);
void dt__windowed_end(dt__windowed *windowed);
bool dt__windowed_is_result(const dt__windowed *windowed); /* what is fetched is the output: no kernel runs */
const dt__way *dt__windowed_way(const dt__windowed *windowed);
bool dt__windowed_is_empty(const dt__windowed *windowed); /* this rank has no part of the outputs: no kernel runs */
dt_status dt__windowed_fetch(dt_ctx *ctx, dt__call *call, const dt__decision *decision);
dt_status dt__windowed_run(dt_ctx *ctx, dt__call *call, const dt__decision *decision);

/* run_tiles.c: prepares a call whose kernel computes any part of the outputs (DT_OP_TILES). NULL if shards are not
 * ranges: then whole windows are fetched. The shardings are used only while it is prepared. */
typedef struct dt__tiled dt__tiled;
dt_status dt__tiled_new(dt__decision *decision, const dt_op_call *call, const dt__sharding *const *inputs,
                        const dt__sharding *const *outputs, const dt__way *way, uint64_t tag, dt__tiled **out);
void dt__tiled_end(dt__tiled *tiled);
/* Fetches the halos and runs the kernel tile by tile; between nodes the inside is computed while halos arrive. */
dt_status dt__tiled_run(dt__tiled *self, const dt_op_call *call, struct dt__history *history, dt__fetch_cost *cost);

/* output_order.c: the stride order of the spec of output i, written to `order`; NULL: row-major. And sets that of the
 * tensors that were made for the outputs, by the strides of this rank's inputs. */
const int *dt__spec_order_of_output(const dt__call *call, const dt__decision *decision, int i, int *order);
void dt__order_outputs(const dt__call *call, const dt__decision *decision);

/* noted_ops.c: adds the call to the histories of the decision's meshes, if it is the program's own. */
dt_status dt__note_call(dt_ctx *ctx, const dt__call *call, dt__decision *decision);
/* What a decision needs to note its calls. */
void dt__describe_entry(dt_ctx *ctx, const dt__call *call, dt__call_entry *out);
/* Adds a call that is about to be decided to the histories of all meshes of its inputs. */
dt_status dt__note_new_call(const dt_ctx *ctx, const dt__call *call, const dt__call_entry *entry);

/* Adds a call that has no decision of its own, because it runs its decomposition. */
dt_status dt__note_undecided_call(dt_ctx *ctx, const dt__call *call);

/* list_call.c: decides the items of a list op, all of them or none. */
dt_status dt__decide_items(dt_ctx *ctx, dt__call *call, dt__decision *to);

/* Sets the mesh that all distributed inputs share, NULL: all are plain. Refuses different meshes (mesh), and plain
 * tensors among distributed ones that do not count as replicated (placement). */
dt_status dt__call_find_mesh(dt_ctx *ctx, const dt__call *call, dt_mesh **out);

/* Describes the call's inputs as global tensors. */
void dt__call_set_global_inputs(dt__call *call);

dt_status dt__decision_key_of(dt_ctx *ctx, const dt__call *call, dt__decision_key *out);

/* The decision of a call, from the cache or computed and cached. NULL with the error recorded. Valid until it is
 * released, even if the cache evicts it before. */
dt__decision *dt__decide(dt_ctx *ctx, dt__call *call);
/* The decision of a part of another call, which is not added to histories; values that vary are not checked. */
dt__decision *dt__decide_part(dt_ctx *ctx, dt__call *call);
void dt__decision_free(dt_ctx *ctx, dt__decision *decision);
static inline void dt__decision_release(dt_ctx *ctx, dt__decision *decision) {
    if (--decision->n_users == 0 && !decision->cached)
        dt__decision_free(ctx, decision);
}

#endif
