/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs an op on tensors, in five steps: unwrap (describe the inputs), look up (the decision, made once per kind of call
 * and cached), redistribute (move the inputs to the placements of the selected rows), run (the op's kernel on this
 * rank's local tensors), wrap (create handles for the outputs). No code in this folder depends on a particular op.
 */
#ifndef DT_DISPATCH_DISPATCH_H
#define DT_DISPATCH_DISPATCH_H

#include "dtensor/debug.h"
#include "dtensor/dispatch.h"
#include "rules/rules.h"
#include "tensor/tensor.h"

/* Calls with up to this many tensors, and outputs, allocate nothing. */
enum { DT__FEW_TENSORS = 64 };

/* Where the result of a maker (DT_OP_MAKER) is placed. */
typedef struct dt__maker_place {
    dt_mesh *mesh;     /* NULL: plain; with place only: the current mesh */
    const char *place; /* NULL: R for all */
    bool requires_grad;
    const char *use; /* NULL: as it is placed */
} dt__maker_place;

/* A call of an op on tensors: one object from the C function, or the call by name, to the kernel. dt__call_init and the
 * caller set the fields up to `maker`; dispatch sets the others. It points into itself, so it must not be copied. */
typedef struct dt__call {
    dt_ctx *ctx; /* NULL: that of the first tensor */
    bool failed; /* its arguments could not be stored */
    const dt__op_info *info;
    int overload;
    int n_inputs;
    const dt_arg *args;     /* one per parameter; defaults are filled in */
    dt_tensor **inputs;     /* in the order of the arguments */
    dt__maker_place *maker; /* NULL: plain, and for ops with tensors */
    int n_outputs;
    dt_tensor **outputs;   /* belong to the current scope; a tensor that is written is its input */
    bool records;          /* the call is recorded */
    bool has_uses;         /* some input has a use placement */
    bool is_permuted;      /* some input has its dims in another order in memory than row-major */
    dt_spec **used;        /* the spec that the op sees, per input (NULL: its own); NULL: own specs only */
    dt__op_draw draw;      /* of a random op */
    dt_tensor **originals; /* of a recorded call: copies of inputs that it writes and its gradient needs; or NULL */
    dt_op_call op_call;    /* the argument of shape functions, rules and kernels */
    dt_op_value *values;   /* its inputs: global up to the decision, local in the kernel */
    dt_tensor **moved;     /* inputs as the kernel gets them */
    dt_op_value *output_values;

    /* Memory of the lists: in here, or allocated where there are more tensors (call_memory.c). */
    int capacity, output_capacity, n_members;
    int *members;                  /* of lists with none among their tensors */
    struct dt__call_block *memory; /* NULL: nothing is allocated */
    dt_tensor *few_inputs[DT__FEW_TENSORS + DT__MAX_ARGS], *few_outputs[DT__FEW_TENSORS],
        *few_moved[DT__FEW_TENSORS + DT__MAX_ARGS];
    int few_members[DT__FEW_TENSORS];
    dt_op_value few_values[DT__FEW_TENSORS + DT__MAX_ARGS], few_output_values[DT__FEW_TENSORS];
} dt__call;

/* comm_policy.c: whether the program has set a policy that allows communication here; and a count of reasons to allow
 * it whatever the policy, +1 and later -1. */
bool dt__policy_allows(dt_ctx *ctx);
void dt__policy_allow(dt_ctx *ctx, int change);

/* Without inputs; the caller sets info. */
static inline void dt__call_init(dt__call *call, dt_ctx *ctx, int overload, const dt_arg *values) {
    call->ctx = ctx;
    call->failed = false;
    call->overload = overload;
    call->n_inputs = 0;
    call->args = values;
    call->inputs = call->few_inputs;
    call->maker = NULL;
    call->n_outputs = 0;
    call->records = false;
    call->originals = NULL;
    call->has_uses = call->is_permuted = false;
    call->used = NULL;
    call->draw.taken = false;
    call->outputs = call->few_outputs;
    call->output_values = call->few_output_values;
    call->values = call->few_values;
    call->moved = call->few_moved;
    call->capacity = call->output_capacity = DT__FEW_TENSORS;
    call->n_members = 0;
    call->members = call->few_members;
    call->memory = NULL;
}
/* Makes space for n inputs in total, DT__MAX_ARGS more that are not in lists, and n members of lists. */
dt_status dt__call_reserve_memory(dt__call *call, int n);
static inline dt_status dt__call_reserve(dt__call *call, int n) {
    return n <= call->capacity ? DT_OK : dt__call_reserve_memory(call, n);
}
/* Makes space for n outputs. */
dt_status dt__call_reserve_outputs_memory(dt__call *call, int n);
static inline dt_status dt__call_reserve_outputs(dt__call *call, int n) {
    return n <= call->output_capacity ? DT_OK : dt__call_reserve_outputs_memory(call, n);
}
/* Memory until the end of the call; NULL with the error recorded. */
void *dt__call_alloc(dt__call *call, size_t bytes);
void dt__call_free_memory(dt__call *call);
/* Frees what was allocated for the lists; the tensors belong to the scope. */
static inline void dt__call_end(dt__call *call) {
    if (call->memory)
        dt__call_free_memory(call);
}

/* Bits of the parameters with a tensor that requires a gradient. */
static inline uint32_t dt__recorded_params(const dt__call *call) {
    uint32_t params = 0;
    for (int p = 0; p < call->info->schema.signatures[call->overload].n_params; p++) {
        const dt_arg *arg = &call->args[p];
        int n = arg->type == DT_ARG_TENSOR ? 1 : arg->type == DT_ARG_TENSORS ? arg->n : 0;
        for (int i = 0; i < n; i++) {
            int at = arg->type == DT_ARG_TENSOR ? arg->as.first : dt_arg_member(arg, i);
            if (at >= 0 && call->inputs[at]->record)
                params |= UINT32_C(1) << p;
        }
    }
    return params;
}

/* The texts of the inputs, for errors (base/ctx.h). */
void dt__call_describe(const void *call, char *out, size_t capacity);

/* Appends the text of the call (rules.h); bit i of `hidden` leaves out argument i. */
void dt__call_print(const dt__call *call, uint32_t hidden, dt__text *out);

/* Runs the call and sets its outputs. Collective over the mesh of the inputs if inputs move, otherwise Local. */
dt_status dt__dispatch(dt_ctx *ctx, dt__call *call);
/* Runs the call without recording it; the outputs that only gradients use (dt_op.n_saved) follow the others. */
dt_status dt__dispatch_with_saved(dt_ctx *ctx, dt__call *call);
/* Runs the decomposition of a call, also of one that has a kernel. */
dt_status dt__dispatch_decomposed(dt_ctx *ctx, dt__call *call);

/* What a dry run of a decomposition found. */
typedef struct dt__dry_plan {
    double us; /* of what its ops move; infinity where it was refused, because of: */
    dt_status status;
    char refusal[512];
    int n_outputs;
    const dt_placement **outputs; /* their placements; empty lists of plain ones */
} dt__dry_plan;
/* A call on a mesh, as placed calls and decisions have it. */
typedef struct dt__dry_request {
    const dt__op_info *info;
    int overload, n_inputs;
    const dt_arg *args;
    const dt_op_value *inputs;
    dt_mesh *mesh;
    const dt__sharding *const *placed; /* per input */
    bool records;                      /* outputs that only gradients use are made, too */
    dt__text *moves;                   /* (optional) a line for each op that sends something is appended */
} dt__dry_request;
/* dry_run.c: runs the decomposition of a call without data; fails only when out of memory. */
dt_status dt__dry_run(dt__arena *arena, const dt__dry_request *call, dt__dry_plan *out);
/* Whether the decomposition of a call is cheaper than its kernel on this candidate, and is run instead. */
static inline bool dt__decomposition_is_selected(const dt__dry_plan *plan, const dt__candidate *candidate) {
    return plan->us < candidate->cost_us * (1 - 1e-9);
}
/* explain.c: appends a line with what a dry run of the decomposition of a call selects and costs, and a line for each
 * of its ops that moves something. If the decomposition runs instead of the kernel on `candidate` (NULL: the op has no
 * kernel), the first line has a mark and *selected is set. A call without a decomposition appends nothing. */
dt_status dt__explain_decomposition(dt__arena *arena, dt_mesh *mesh, const dt__placed_call *placed,
                                    const dt__candidate *candidate, dt__text *out, bool *selected);

/* op_time.c: what the time of an op follows from: its multiplications and additions, where its rule contracts factors
 * or its descriptor states them, and the bytes of the local tensors that it reads and writes. */
typedef struct dt__op_work {
    double flops, bytes;
} dt__op_work;
dt__op_work dt__op_work_of(const dt_op_call *call);
/* monitor.c: from now on `ran` is called after each op that ran a kernel, with the microseconds that it took; NULL: no
 * more. For measurements. */
typedef void dt__op_ran(void *user, const dt_op_call *call, double us);
dt_status dt__observe_ops(dt_ctx *ctx, dt__op_ran *ran, void *user);
/* monitor.c: adds what a report states to the counts that dt_comm_stats_text prints. scope: "", or names joined by "/";
 * op lives as long as the context. */
dt_status dt__comm_stats_add(dt_ctx *ctx, const char *scope, const char *op,
                             const int64_t collectives[DT_N_COLLECTIVES], int64_t bytes);

/* used_inputs.c: brings tensors to their use placements, for ops of the current scope, in one exchange for each mesh.
 * Collective over their meshes. */
dt_status dt__use_together(dt_ctx *ctx, int n, dt_tensor *const *tensors);

#endif
