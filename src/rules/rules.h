/* SPDX-License-Identifier: Apache-2.0
 *
 * From a call and the placements of its inputs to a decision: the shapes of its outputs, the rows that are correct,
 * and the cheapest way to use them on all mesh dims. Pure: sizes, dtypes and placements only.
 */
#ifndef DT_RULES_RULES_H
#define DT_RULES_RULES_H

#include "base/json_writer.h"
#include "base/text.h"
#include "kernels/kernels.h"
#include "plan/plan.h"
#include "rules/gradient_text.h"
#include "rules/schema.h"
#include "spec/spec.h"

/* An op of a context. */
typedef struct dt__op_info {
    const dt_op *op;
    int index;      /* from 0: those of the installed table in its order, then registered ones */
    bool is_simple; /* has a kernel, and nothing to do before a decision is looked up */
    dt__schema schema;
    dt__gradient *gradient;           /* per signature; NULL: the op has no formulas */
    const dt__saved_values *saves;    /* per signature, of an op without formulas */
    int n_arguments;                  /* of dt_op.arguments */
    const signed char *positions;     /* of these, per signature; -1: the signature has none */
    const struct dt__list_form *list; /* of a list op; NULL: it is none */
    const signed char *read;          /* per signature, the position of the argument of dt_op.read, or -1; or NULL */
} dt__op_info;

/* How a list op becomes calls of the op that it maps (list_op.c). */
typedef struct dt__list_form {
    dt__op_info each;     /* that op, under the name of the list op */
    const int *overloads; /* of it, per signature of the list op */
} dt__list_form;

/* The items of a call of a list op: the members of its lists at each index. */
typedef struct dt__list_items {
    int overload; /* of the op that is mapped */
    int n;        /* items, as far as all lists have members */
    bool same_lengths;
    int n_members;                               /* tensors of each item */
    int first[DT__MAX_ARGS], step[DT__MAX_ARGS]; /* where they are among the inputs of the list call */
    dt_arg args[DT__MAX_ARGS];                   /* of the call on an item */
} dt__list_items;

void dt__list_items_begin(const dt__op_info *info, int overload, const dt_arg *args, dt__list_items *out);
/* Refuses lists of different lengths, and empty ones. */
dt_status dt__list_items_check(dt_ctx *ctx, const char *name, const dt__list_items *items);
static inline int dt__list_item_input(const dt__list_items *items, int item, int member) {
    return items->first[member] + item * items->step[member];
}

/* dt_op_arg_at, inline for the library's own ops. */
static inline const dt_arg *dt__arg_at(const dt_op_call *call, int n) {
    const dt__op_info *info = call->info;
    int position = n < info->n_arguments ? info->positions[call->overload * info->n_arguments + n] : -1;
    return position >= 0 ? &call->args[position] : NULL;
}

/* The position of the argument that has to be read from values (dt_op.read); -1: none. */
static inline int dt__unread_argument(const dt__op_info *info, int overload, const dt_arg *args) {
    int position = info->read ? info->read[overload] : -1;
    if (position < 0 || args[position].type == DT_ARG_TENSOR)
        return position;
    bool (*is_read)(const dt_arg *argument) = info->op->read->is_read;
    return is_read && is_read(&args[position]) ? position : -1;
}
/* Refuses a call whose argument cannot be read, because there are no values. */
dt_status dt__refuse_unread(const dt_op_call *call);

/* factors.c: multiplications and additions of a call on local tensors by its rule: 2 times the product of the sizes of
 * all factors where one of two inputs or more vanishes, else 0; 0 too where outputs have a factor that no input has,
 * because indices say where the terms go. */
double dt__factors_flops(const dt_op_call *call, const char *rule);
/* Whether the program has registered the op. */
bool dt__op_is_registered(const dt_ctx *ctx, const dt__op_info *info);

/* Whether the op has a gradient of its own: a decomposition is then recorded as one call. */
static inline bool dt__has_gradient(const dt_op *op) { return op->gradient || op->backward || op->saves; }

/* saved_values.c: reads dt_op.saves. Refuses (value) a name that no signature has, and names next to formulas. */
dt_status dt__saved_values_parse(dt__arena *arena, const dt_op *op, const dt__schema *schema,
                                 const dt__saved_values **out);
/* What a record keeps if the parameters whose bits are set require gradients. */
dt__saved_values dt__values_to_save(const dt__op_info *info, int overload, uint32_t params);

/* Installs a table of ops in a context that has none yet; otherwise does nothing. The table must outlive the
 * context. */
dt_status dt__op_table_install(dt_ctx *ctx, int n_ops, const dt_op *const *table);
/* Installs the library's ops, before any op is used. Defined in src/ops; the only function there that the folders above
 * it call. */
dt_status dt__library_ops_open(dt_ctx *ctx);
/* Adds an op after those that the context has. */
dt_status dt__op_table_add(dt_ctx *ctx, const dt_op *op, size_t op_size);
/* The number of ops; their indices run from 0 to this - 1. */
int dt__op_count(dt_ctx *ctx);
/* By index and by name. NULL with the error recorded: memory, a malformed schema line, or (op) no such op. Schema
 * lines are parsed on first use. */
typedef struct dt__known_ops {
    int n;
    dt__op_info **infos; /* by index; NULL until the schema line is parsed */
} dt__known_ops;
const dt__op_info *dt__op_enter(dt_ctx *ctx, int index);
static inline const dt__op_info *dt__op_at(dt_ctx *ctx, int index) {
    const dt__known_ops *known = ctx->slots[DT__SLOT_OPS].state;
    bool is_known = known && index >= 0 && index < known->n && known->infos[index];
    return is_known ? known->infos[index] : dt__op_enter(ctx, index);
}
const dt__op_info *dt__op_find(dt_ctx *ctx, const char *name);

/* Writes the op as a JSON object: name, summary, and signatures as they are parsed. */
void dt__op_info_json(dt_ctx *ctx, const dt__op_info *info, dt__json_writer *json);

/* The call as an op's functions see it, without outputs. Nothing is copied. Written field by field: a struct returned
 * by value would be built in a temporary and copied with wider loads, which wait for the stores. */
static inline void dt__op_call_init(dt_op_call *call, dt_ctx *ctx, const dt__op_info *info, int overload,
                                    const dt_arg *args, int n_inputs, const dt_op_value *inputs) {
    call->ctx = ctx;
    call->op = info->op;
    call->name = info->schema.name;
    call->overload = overload;
    call->n_args = info->schema.signatures[overload].n_params;
    call->args = args;
    call->n_inputs = n_inputs;
    call->inputs = inputs;
    call->n_outputs = 0;
    call->outputs = NULL;
    call->row_flags = 0;
    call->info = info;
    call->output_list = NULL;
    call->needs_copy = false;
    call->records = false;
    call->draw = NULL;
}

/* What the call writes, by its schema line: whether it writes any tensor; whether it writes this input; and the input
 * that an output is, because it is written and returned (-1: a new tensor). */
static inline bool dt__call_writes(const dt_op_call *call) {
    const dt__op_info *info = call->info;
    return info->schema.signatures[call->overload].written != 0;
}
bool dt__writes_input(const dt_op_call *call, int input);
int dt__output_input(const dt_op_call *call, int output);

/* The draw of a random op: set by the first dt_op_draw, or earlier by the repetition of a call (dt_op_call.draw). */
typedef struct dt__op_draw {
    bool taken;
    dt_generator_state state;
} dt__op_draw;

/* Runs the op's shape function, which adds the outputs, in the arena, and its check of the values that vary. Outputs
 * that only gradients use are removed unless the call is recorded. */
dt_status dt__op_call_infer(dt__arena *arena, dt_op_call *call);

/* Flags of the library's own ops, next to DT_OP_…. ALIGN, of ops in place: other inputs may be on other meshes than the
 * first, or plain next to a distributed one, and are brought to it (dispatch/align_inputs.c). ALL_OR_NONE, of a list
 * op: the ranks of its meshes meet before it changes anything, so that it is done by all of them or, where one has
 * failed, by none (dispatch/list_call.c). STATE_OF_FIRST, of an op that meets: states are made of the first input
 * alone. LOOP, of an elementwise op that writes its outputs in place, and whose tensors have one shape: `family` begins
 * with a dt__loop_op, whose loop is all that the kernel does where they are dense (dispatch/list_loop.c). */
enum {
    DT__OP_ALIGN = 1 << 16,
    DT__OP_ALL_OR_NONE = 1 << 17,
    DT__OP_STATE_OF_FIRST = 1 << 18,
    DT__OP_LOOP = 1 << 19,
};

/* Binds the loop for tensors of this dtype, f32 or f64, to the arguments of a call. */
typedef struct dt__loop_op {
    void (*bind)(const dt_op_call *call, dt_dtype dtype, dt__bound_loop *out);
} dt__loop_op;

/* Rows for one mesh dim: entries of inputs, then of outputs. */
typedef struct dt__row {
    unsigned flags;
    const dt_row_entry *entries;
    uint64_t owns; /* of windows: the inputs that are sharded and not fetched, as bits */
} dt__row;

static inline bool dt__row_owns(const dt__row *row, int input) { return input < 64 && row->owns >> input & 1; }

typedef struct dt__row_list {
    int n_rows, n_entries; /* entries per row */
    const dt__row *rows;   /* without the row that is all Replicate */
} dt__row_list;

/* The input or output of an entry. */
static inline const dt_op_value *dt__row_value(const dt_op_call *call, int entry) {
    return entry < call->n_inputs ? &call->inputs[entry] : &call->outputs[entry - call->n_inputs];
}

/* Each row once, those that an input's dtype forbids left out. The outputs must be known. */
dt_status dt__op_call_rows(dt__arena *arena, const dt_op_call *call, dt__row_list *out);
/* For display: adds the rows that follow because Replicate serves as P(avg), P(max) and P(min), unless a row has more
 * than DT__MAX_VARIANTS such entries, and removes rows with one of these flags (DT_ROW_UNLISTED). */
enum { DT__MAX_VARIANTS = 4 };
dt_status dt__rows_expand(dt__arena *arena, const dt_op_call *call, unsigned hidden, dt__row_list *list);
/* Appends "S(0); R -> S(0)". */
void dt__row_text(const dt_op_call *call, const dt__row *row, dt__text *out);
/* Appends a row in the form of the query protocol: "S(0),R->S(0)". */
void dt__row_query_text(const dt_op_call *call, const dt__row *row, dt__text *out);

/* The flags of rows that communicate. */
enum { DT__ROW_STATES = DT_ROW_MEET | DT_ROW_SCAN, DT__ROW_WAYS = DT__ROW_STATES | DT_ROW_WINDOW };

/* The bytes of a state, fields one after the other, each aligned. */
size_t dt__meet_state_bytes(const dt_state *state);
/* Sets the fields' data to parts of this memory. */
void dt__meet_state_place(dt_state *state, void *memory);
void dt__meet_state_set_identity(const dt_state *state);
/* Runs dt_meet.describe and checks what it sets. */
dt_status dt__meet_state_describe(const dt_op_call *call, dt_state *out);
/* Whether the shard of this rank is empty: some input (or the first one, if the state is made of that alone) has no
 * elements. */
bool dt__meet_state_is_empty(const dt_op_call *call);

/* For rows functions of the library's ops: adds the row in which this dim of all tensors, which have as many dims as
 * the first output, is sharded and fetched in windows, unless it is listed as another kind of row. */
void dt__rows_window(dt_rows *rows, int dim);
/* For class_of: a number that encodes a start along a dim, if windows may depend on it: the dim is sharded. */
static inline int64_t dt__class_of_start(const dt_op_value *input, int dim, int64_t start) {
    const dt_spec *spec = input->spec;
    bool is_cut = spec && spec->sharding.first_cut[dim] < spec->sharding.first_cut[dim + 1];
    return is_cut ? start + 1 : 0;
}

/* windows.c: the inputs of a row that are sharded but not fetched, as bits: no window is added for them. */
dt_status dt__window_owns(dt__arena *arena, const dt_op_call *call, const dt_row_entry *entries, uint64_t *out);
/* The dims of each input that are fetched, as bits. */
dt_status dt__windows_fetched(dt__arena *arena, const dt_op_call *call, uint32_t *out);
/* The call with shape and offset of each tensor as the rank at this coordinate has it; *needs_none: its part of every
 * output is empty. */
dt_status dt__boxes_at(dt__arena *arena, const dt_op_call *call, const dt__sharding *const *inputs,
                       const dt__sharding *const *outputs, const int64_t *coordinate, dt_op_call *out,
                       bool *needs_none);
/* The windows for such parts, or for parts of them; empty where a part that is not fetched is. Windows out of range are
 * refused. */
dt_status dt__windows_of_boxes(dt__arena *arena, const dt_op_call *boxes, dt__dim_window **out);
/* Both together. */
dt_status dt__windows_at(dt__arena *arena, const dt_op_call *call, const dt__sharding *const *inputs,
                         const dt__sharding *const *outputs, const int64_t *coordinate, dt__dim_window **out,
                         bool *needs_none);
/* The mesh dims whose ranks may hold what another needs: bits. */
uint32_t dt__windows_mesh_dims(const dt_op_call *call, const dt__sharding *const *inputs,
                               dt__dim_window *const *windows);

/* Whether the windows are the output, and no kernel runs (DT_OP_MOVES). */
bool dt__windows_are_result(const dt_op_call *call);

/* What a combination of rows exchanges in the middle of a call, if some of them communicate (ways.h). */
typedef struct dt__way {
    unsigned flags;     /* DT_ROW_MEET, DT_ROW_SCAN or DT_ROW_WINDOW; 0: nothing */
    uint32_t mesh_dims; /* over which: bit m */
    bool spans_hosts;
    int64_t group;      /* ranks that take part */
    dt__step_kind kind; /* what it counts as */
    int64_t bytes;      /* received by the rank that receives most */
    bool is_fixed;      /* states have one number in each field, however large the tensors are */
    double us;          /* its price */
} dt__way;
/* "meet" or "scan". */
static inline const char *dt__way_name(const dt__way *way) {
    return way->flags & DT_ROW_WINDOW ? "window" : way->flags & DT_ROW_MEET ? "meet" : "scan";
}

/* A way to run a call: a combination of rows. Lists have an entry per input or output, of n_mesh_dims placements. */
typedef struct dt__candidate {
    int n_mesh_dims;
    const dt_placement *const *inputs;  /* that the kernel gets */
    const dt_placement *const *moved;   /* targets of the inputs: R where each rank makes its partial from that */
    const dt_placement *const *outputs; /* that the kernel makes */
    const dt__row *const *rows;         /* per mesh dim; NULL: all Replicate */
    const double *input_us;             /* cost of moving each input */
    const dt__route *routes;            /* that moves each input; empty where it does not move */
    dt__way way;                        /* what its rows exchange */
    double cost_us;                     /* of moving all inputs, and of this exchange */
    double finish_us;                   /* what reducing the partial outputs will cost at least, without start-up */
    double repeated_work;               /* ranks that do the same work, though an input was distributed over them */
    unsigned flags;                     /* DT_ROW_… of all its rows */
} dt__candidate;

/* The inputs of a call on a mesh. The outputs of a call without inputs are Replicate. */
typedef struct dt__placed_inputs {
    int n_mesh_dims;
    const int64_t *mesh;
    const dt__sharding *const *inputs;
    const dt__machine *machine;
} dt__placed_inputs;

/* The cheapest combination of rows over the mesh dims that sends nothing; otherwise the one with the least sum of
 * cost_us and finish_us, among those that repeat no more of the work than the one with the least cost_us. Ties go to
 * the first. The outputs must be known. An in-place op keeps the placements of its first input, or is refused
 * (placement). Where a row has a partial and the input is Replicate, each rank makes the partial: P(avg), P(max) and
 * P(min) as they are, P(sum) by zeros and P(product) by ones on all coordinates of that mesh dim but the first. */
dt_status dt__select_placements(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on,
                                dt__candidate *out);
/* Up to max combinations: first the one that is selected, then those that send nothing, then the others, the cheapest
 * (cost_us and finish_us together) first; *n is set to their number. */
dt_status dt__list_candidates(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on, int max,
                              dt__candidate *out, int *n);

/* The text form of a call: tensors with their placements, other arguments as values or name=value, separated by
 * semicolons; a list of tensors in braces, with `none` for a member that is none. The mesh may follow the call, or
 * any of its tensors, as it follows a spec.
 *
 *     matmul(f32[1024,512] S(0),R; f32[512,256] R,S(1)) on mesh(dp=2,tp=4)
 *     linear(f32[2,128,256] S(0); f32[1024,256] S(0) use R) on mesh(fsdp=2)
 *     cat({f32[4,3] S(1); f32[5,3] R}; dim=0)
 */

/* A call on a mesh, with its outputs inferred. Everything is in the arena that it was made in. */
typedef struct dt__placed_call {
    const dt__op_info *info;
    dt__bound_args bound;
    dt_op_call call;
    int n_mesh_dims;
    const int64_t *mesh;
    const dt__sharding *const *inputs; /* in the order of the call's inputs, as the op sees them */
    /* Of inputs that are seen in their use placements, how they are stored, NULL: as they are seen. NULL: no input is
     * seen so. */
    const dt__sharding *const *stored;
    const dt_dtype *stored_dtypes; /* where stored is not NULL */
} dt__placed_call;

/* The mesh that a text names; where it does so several times, they are equal. A new reference; NULL after an error
 * (mesh), also where the text names none. */
dt_mesh *dt__call_text_mesh(dt__arena *arena, const char *text);
/* Reads the text; tensors without placements are Replicate. A mesh in the text must have these sizes. Refuses (value)
 * what is not of the form, and what binding and inference refuse. */
dt_status dt__placed_call_parse(dt__arena *arena, const char *text, int n_mesh_dims, const int64_t *mesh,
                                dt__placed_call *out);
/* Puts the tensors of a bound call (info and bound are set), which its caller numbered, into the order of the call.
 * placed may be NULL. The outputs are not inferred. */
dt_status dt__placed_call_build(dt__arena *arena, const dt_op_value *values, const dt__sharding *const *placed,
                                dt__placed_call *out);

/* Appends the text of a call: args are those of the overload, inputs its tensors (dtype, shape and spec are used), uses
 * their use placements, NULL: none has one. Bit i of `hidden` leaves out argument i. */
void dt__call_form_text(const dt__op_info *info, int overload, const dt_arg *args, const dt_op_value *inputs,
                        const dt_spec *const *uses, uint32_t hidden, dt__text *out);
/* Appends a tensor as calls have it: "f32[4,3] S(0),R", or "f32[4,3]" where spec is NULL. */
void dt__tensor_form_text(dt_dtype dtype, int n_dims, const int64_t *shape, const dt_spec *spec, dt__text *out);
/* Appends " use R" to it; nothing where use is NULL. */
void dt__use_form_text(dt_dtype stored, const dt_spec *use, dt__text *out);
static inline void dt__op_value_text(const dt_op_value *value, dt__text *out) {
    dt__tensor_form_text(value->dtype, value->n_dims, value->shape, value->spec, out);
}
/* Appends n lists of placements: "S(0),R; R,S(1)". */
void dt__placement_lists_text(int n_mesh_dims, int n, const dt_placement *const *lists, dt__text *out);

/* What the communication of a candidate takes: the plan of each input, and the sums of these and of its way. */
typedef struct dt__input_moves {
    int n; /* inputs */
    dt__plan *plans;
    dt__step_counts counts;
    int64_t n_collectives;
    int64_t bytes;      /* received by the rank that receives most, input by input */
    const dt__way *way; /* of the candidate */
} dt__input_moves;

dt_status dt__input_moves_plan(dt__arena *arena, const dt__placed_call *placed, const dt__candidate *candidate,
                               dt__input_moves *out);
/* Appends "all_gather 2, all_reduce 1", and how the rows communicate: " (meets)"; false where nothing is sent and
 * nothing is appended. */
bool dt__input_moves_text(const dt__input_moves *moves, dt__text *out);

/* The cheapest candidates of a call, from the cheapest on, which is the one that is selected. */
typedef struct dt__explanation {
    int n_candidates;
    dt__candidate *candidates;
    dt__input_moves *moves; /* per candidate */
    const dt__plan *uses;   /* per input that is seen in its use placement: what brings it there; NULL: none is */
} dt__explanation;

dt_status dt__explanation_new(dt__arena *arena, const dt__placed_call *placed, int max_candidates,
                              dt__explanation *out);
/* Appends "used as R, as requested: S(0)->R; " if input i is seen in its use placement. */
void dt__explain_use(const dt__placed_call *placed, const dt__explanation *explanation, int i, dt__text *out);

/* Grouped rows (DT_ROW_GROUPED), by how many whole groups each rank holds:
 *
 *     8 query heads, 4 key heads, 3 ranks:   groups 2 1 1   keys S(1:2,1,1)   queries S(1:4,2,2)
 */

/* The number of groups, at least 2 of a row that is listed: the smallest size among its sharded dims. */
int64_t dt__row_groups(const dt_op_call *call, const dt__row *row);
/* The groups of each of n ranks by the ceil rule. */
void dt__chunk_groups(int64_t n_groups, int64_t n, int64_t *out);
/* The groups of each of n ranks, where an input is sharded so by one mesh dim. False if some rank holds part of a
 * group, or the shards are strided. */
bool dt__groups_of_shard(int64_t n_groups, int64_t size, const dt_placement *shard, int64_t n, int64_t *out);
/* Writes the placement of each sharded entry of the row, plain where that is the same; others are left alone. */
dt_status dt__grouped_shards(dt__arena *arena, const dt_op_call *call, const dt__row *row, int64_t n,
                             const int64_t *groups, dt_placement *out);

/* Reshaping. Dims first[0] … first[0] + n[0] - 1 of the one shape hold the elements of first[1] … of the other; no
 * smaller groups do. A dim of size 1 next to them is a group with one of the other shape, or belongs to none. */
typedef struct dt__dim_group {
    int first[2], n[2];
} dt__dim_group;

/* The groups of two shapes with equally many elements, at most DT_SPEC_MAX_DIMS. Of empty tensors
 * those before the first dim that differs. */
int dt__dim_groups_find(int n_from, const int64_t *from, int n_to, const int64_t *to, dt__dim_group *out);
/* Writes the placements of the reshaped tensor for those of `from`: shards are mapped, the rest stays. *fits is false
 * if some rank would hold other elements. Extents are made in the arena. */
dt_status dt__reshape_placements(dt__arena *arena, const dt__sharding *from, int n_to, const int64_t *to,
                                 dt_placement *out, bool *fits);

#endif
