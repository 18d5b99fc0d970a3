/* SPDX-License-Identifier: Apache-2.0
 *
 * The descriptor of an op, the same for the ops of the library and for those that a program registers.
 *
 *     static void swiglu_f32(int64_t n, const void *const *in, void *const *out, const dt_op_call *call) {
 *         const float *gate = in[0], *up = in[1];
 *         float *y = out[0];
 *         (void)call;
 *         for (int64_t i = 0; i < n; i++)
 *             y[i] = gate[i] / (1 + expf(-gate[i])) * up[i];
 *     }
 *
 *     static const dt_op swiglu = {
 *         .schema = "swiglu(Tensor gate, Tensor up) -> Tensor",
 *         .rule = "..., ... -> ...",     // each dim may be sharded, of both tensors in the same way
 *         .shape = dt_op_broadcast,      // global shapes: every rank decides alike
 *         .kernel = dt_op_elementwise,   // local tensors: runs the loop on blocks of them
 *         .family = &(const dt_loops){.f32 = swiglu_f32},
 *         .samples = "swiglu(f32[5,3]; f32[3])",
 *     };
 *
 *     dt_op_register(ctx, &swiglu);
 *     dt_tensor *h = dt_call(ctx, "swiglu", b, b);
 *
 * The schema line is the op's signature. It has the names of the arguments, which a call passes by position or by
 * name, and their types. Overloads are joined by " | "; a call uses the first whose types fit its arguments.
 *
 * A *row* states what is correct on one mesh dim: a placement for each input, then for each output. A row must hold
 * for every number of ranks and for uneven and empty shards. The row with everything Replicate is implied.
 * Rows come from three sources together:
 *
 *     rule     factors, see below
 *     partial  what partial inputs become, as a class (DT_PARTIAL_…); where the rule has addends, they are partial
 *              together with each other input (EACH), and order (UP, DOWN) applies to the addends only
 *     rows     a function, for what the other two cannot express
 *
 * Replicate also serves as P(avg), P(max) and P(min) wherever a row has one of these.
 *
 * A *rule* has a term for each tensor of the schema line (but not for one that dt_read names), an arrow, and a term for
 * each output (the last one serves for all that follow; a list of tensors has one term for all its members):
 * "mk,kn->mn". A term lists the dims of its tensor. A factor, which the terms have in common, is sharded in all of them
 * at once. One that an output lacks makes that output partial: P(sum), or as the output states, "P(max)". A dim of size
 * 1 that is broadcast stays Replicate; where sizes differ otherwise (a dim of size k in the result), the factor is not
 * sharded.
 *
 *     m             a letter: one dim
 *     ...           any number of dims, aligned at the right and broadcast
 *     1             a dim of size 1
 *     [dim]         the dims that the argument `dim` names, an int or a list, wherever they are in this tensor; all
 *                   dims if it is None, empty or not in the signature. The rest of the term is about the other dims.
 *     [dim:k]       the dim at that position is the factor k; [dim:1]: it has size 1
 *     [#shape]      as many dims as the list `shape` has members, in this place
 *     m! [dim!]     must not be sharded: the kernel needs all of it
 *     m@ [dim@]     may be sharded, in contiguous runs: the kernel reads its offset (DT_ROW_OFFSET)
 *     m~ [dim~]     may be sharded: the ranks meet (DT_ROW_MEET, see dt_meet). An output that lacks it is Replicate.
 *     m> [dim>]     may be sharded, in contiguous runs: a scan (DT_ROW_SCAN, see dt_meet)
 *     m^ [dim^]     may be sharded: each rank fetches the window that it needs (DT_ROW_WINDOW, see dt_window). Sizes
 *                   may differ between tensors. An output that lacks it is partial, as with any other factor; some
 *                   input then has it without being fetched.
 *     m?            of an input: absent if it has no dim left, so that a term may have one such factor; of an output:
 *                   absent if all inputs lack it
 *     [dim:1?]      of an output: removed, or kept with size 1 (keepdim); one in a term
 *     +...          an addend of the result, broadcast to it: it becomes a partial sum where the result does. "+k" is
 *                   an addend with that factor only, such as one number per channel
 *     =...          its elements are only moved: any partial of it becomes that of the result
 *     ... P(max)    of an output: what a factor that it lacks makes of it
 *
 *     sum           "...[dim] -> ...[dim:1?]"              amax       "...[dim] -> ...[dim:1?] P(max)"
 *     softmax       "...[dim~] -> ...[dim]"                transpose  "...[dim0:a][dim1:b] -> ...[dim0:b][dim1:a]"
 *     matmul        "...m?k, ...kn? -> ...m?n?"            linear     "...k, nk, +n -> ...n"
 *     layer_norm    "...[#normalized_shape~], [#normalized_shape], [#normalized_shape] -> ...[#normalized_shape]"
 *     index_select  "=...[dim:s@], i? -> ...[dim:i]"       permute    "[dims] -> [#dims]"
 *     flip          "...[dims^] -> ...[dims]"              conv1d     "nch^, kct! -> nkh"
 *     gradients of conv1d: of the image "nkh^, kct! -> nch", of the weight "nch^, nkh -> kct!"
 *
 * A *gradient* has a formula for each tensor argument: what its gradient is, written with ops, so that it is
 * distributed by the same rules, and has a gradient itself:
 *
 *     sin    "self: grad * cos(self)"
 *     exp    "self: grad * result"
 *     mul    "self: grad * other; other: grad * self"
 *     gelu   "self: gelu_backward(grad, self, approximate=approximate)"
 *     sum    "self: expand(view(grad, kept(self.shape, dim)), self.shape)"
 *
 *     grad            the gradient of the output; of several outputs grad0, grad1, … or grad_NAME of a named one. One
 *                     that the program did not use counts as zeros
 *     self, dim, …    arguments of the call; a record keeps the tensors that formulas use
 *     result          the output; result0, result1, … or its name, also of outputs that only gradients use (n_saved)
 *     self.shape      the sizes of a tensor or of the result, and the dtype (self.dtype): it need not be kept
 *     1, 0.5, true, none, "tanh", [0,1]    values
 *     + - * / ( )     on tensors the ops add, sub, neg, mul and div
 *     f(a, b, c=d)    any op, by name; also kept(shape, dim), sizes with 1 for the dims that were reduced;
 *                     count(shape, dim), the number of elements of those dims, at least 1; size(shape, dim);
 *                     inverse(dims), of a permutation; negative(list); either(a, b), the number a or b where a is
 *                     none; is_zero(a), 1 where the number a is 0, else 0; unless(a, x), zeros where a is not none;
 *                     conjugate(x); again(x), the recorded call itself with x for its first tensor and the same random
 *                     numbers
 *
 * A formula of several arguments, "a, b, _: f(grad)", takes the outputs of a call in order; "self.Tensor_mode: …" is
 * for one overload only; "index: none" is an argument without a gradient. A gradient that is larger than its argument,
 * which was broadcast, is summed to it, and is converted to its dtype, by the library. An op without tensors of
 * floating point, or whose result depends on no values of them, is DT_OP_NOT_DIFFERENTIABLE.
 */
#ifndef DTENSOR_OP_H
#define DTENSOR_OP_H

#include <dtensor/random.h>
#include <dtensor/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_tensor dt_tensor;
typedef struct dt_op dt_op;
typedef struct dt_op_call dt_op_call;
typedef struct dt_rows dt_rows;
typedef struct dt_op_backward dt_op_backward;

/* The type of an argument. A Scalar parameter takes an int, a float, a bool or a complex number. */
typedef enum dt_arg_type {
    DT_ARG_NONE, /* left out, and the schema line has no default other than None */
    DT_ARG_TENSOR,
    DT_ARG_TENSORS,
    DT_ARG_INT,
    DT_ARG_FLOAT,
    DT_ARG_BOOL,
    DT_ARG_COMPLEX,
    DT_ARG_INTS,
    DT_ARG_FLOATS,
    DT_ARG_DTYPE,
    DT_ARG_TEXT,
    DT_ARG_GENERATOR,
    DT_N_ARG_TYPES
} dt_arg_type;

/* An absent member of a list of integers, if the schema line allows it (int?[2]): DT_INTS(5, DT_NONE). */
#define DT_NONE INT64_MIN

/* One argument of a call. Lists are owned by the caller. A tensor is an index into the inputs of the call, a list of
 * tensors the index of its first, which the others follow; where some members are none, `members` has the index of
 * each, -1 for none (dt_arg_member). */
typedef struct dt_arg {
    dt_arg_type type;
    int n; /* lists: length */
    union {
        int first; /* tensor and tensors */
        struct {
            int first;
            const int *members; /* NULL: none is missing */
        } tensors;
        int64_t i;
        double f;
        bool b;
        double c[2];
        const int64_t *ints;
        const double *floats;
        dt_dtype dtype;
        const char *text;
        struct dt_generator *generator;
    } as;
} dt_arg;

/* The index among the inputs of member i of a list of tensors; -1: it is absent. */
static inline int dt_arg_member(const dt_arg *arg, int i) {
    return arg->as.tensors.members ? arg->as.tensors.members[i] : arg->as.tensors.first + i;
}

/* A tensor of a call: the global tensor in shape functions and rows, the local tensor in kernels. */
typedef struct dt_op_value {
    dt_dtype dtype;
    int n_dims;
    const int64_t *shape;
    /* Kernels only: */
    const int64_t *strides;      /* in elements */
    void *data;                  /* first element; of outputs, memory to be filled */
    const int64_t *global_shape; /* of the full tensor */
    const int64_t *offset;       /* of the local tensor in it; the global size where it is empty */
    const dt_spec *spec;         /* NULL: a plain tensor */
} dt_op_value;

/* A call of an op: the argument of its shape function, its rows function and its kernel. */
struct dt_op_call {
    dt_ctx *ctx;
    const dt_op *op;
    const char *name; /* of the op, for errors */
    int overload;     /* which of the schema's signatures, from 0 */
    int n_args;       /* parameters of that signature; defaults are filled in */
    const dt_arg *args;
    int n_inputs;
    const dt_op_value *inputs; /* the tensors among the arguments, in the order of the arguments */
    int n_outputs;
    dt_op_value *outputs;         /* empty in a shape function, which adds them */
    unsigned row_flags;           /* kernels: DT_ROW_… of the rows that are used */
    const void *info;             /* internal */
    void *output_list;            /* internal */
    bool needs_copy;              /* kernels of views: see dt_op.kernel */
    bool records;                 /* the call is recorded: outputs that only gradients use are made (dt_op.n_saved) */
    void *draw;                   /* internal */
    const struct dt_state *begun; /* in dt_meet.finish: the state that begin filled, before it was merged */
};

/* How the op maps partial inputs to partial outputs; classes are joined by |. "Alone" means that all other tensors are
 * Replicate. P(sum) and P(avg) rows of linear classes exist only if their tensors are all floating point, or for P(sum)
 * all of one integer dtype: terms of a sum must not be rounded to integers, and integers that wrapped around must not
 * be widened. */
enum {
    DT_PARTIAL_NONE = 0,
    DT_PARTIAL_ANY =
        1 << 0, /* the op only moves elements: all inputs with any one reduction: outputs with that reduction */
    DT_PARTIAL_LINEAR = 1 << 1,   /* linear in all inputs together: all P(sum) to P(sum), all P(avg) to P(avg) */
    DT_PARTIAL_EACH = 1 << 2,     /* linear in each input alone (products): P(sum) or P(avg) is kept */
    DT_PARTIAL_FIRST = 1 << 3,    /* linear in the first input alone (quotients) */
    DT_PARTIAL_UP = 1 << 4,       /* non-decreasing in each input alone: P(max) and P(min) are kept */
    DT_PARTIAL_DOWN = 1 << 5,     /* non-increasing in each input alone: P(max) and P(min) are swapped */
    DT_PARTIAL_UP_MIN = 1 << 6,   /* non-decreasing, undefined below some value: P(min) is kept */
    DT_PARTIAL_DOWN_MIN = 1 << 7, /* non-increasing, undefined below some value: P(min) becomes P(max) */
    DT_PARTIAL_PRODUCT = 1 << 8,  /* a product of all inputs: all P(product) to P(product) */
    DT_PARTIAL_MAX = 1 << 10,     /* a maximum of all inputs: all P(max) to P(max) */
    DT_PARTIAL_MIN = 1 << 11,     /* a minimum of all inputs: all P(min) to P(min) */
};

enum {
    DT_OP_VIEW = 1 << 1,   /* outputs share the first tensor's memory */
    DT_OP_MAKER = 1 << 2,  /* has no tensor among its arguments; its result is Replicate */
    DT_OP_RANDOM = 1 << 3, /* draws from a generator, by global index */
    /* the C function takes by position also the arguments that have a default, unless they follow the * */
    DT_OP_POSITIONAL = 1 << 4,
    DT_OP_LIST = 1 << 5,               /* takes lists of tensors and is another op, `each`, on every item of them */
    DT_OP_NOT_DIFFERENTIABLE = 1 << 7, /* its results depend on no value of its tensors: they require no gradient */
    DT_OP_MOVES = 1 << 8, /* windows of inputs of the output's dtype are its elements, in their places (dt_window) */
    DT_OP_AS_STORED = 1 << 9,      /* sees its tensors as they are stored, whatever their use placement is */
    DT_OP_RECORDS_PARTS = 1 << 10, /* has a decomposition for gradients only: a recorded call runs that, and its ops
                                      are recorded; any other call runs the kernel */
    DT_OP_TILES = 1 << 11, /* where windows are fetched, the kernel runs on parts of the outputs (dt_window) */
};

/* A placement in a row, in one byte. */
typedef signed char dt_row_entry;
enum { DT_ROW_R = 0 };
#define DT_ROW_S(dim)    ((dt_row_entry)(1 + (dim)))
#define DT_ROW_P(reduce) ((dt_row_entry)(-1 - (int)(reduce)))

/* Conditions of a row.
 *
 * OFFSET    the kernel needs its offset: sharded inputs hold one contiguous run of the dim, none is strided
 * RESHAPE   the outputs are reshapes of the first input in row-major order: the library maps the shards where it can,
 *           and the entries of the outputs are for documentation
 * UNLISTED  holds only with strided shards, or for a kernel that uses a part of a whole tensor, which a row cannot
 *           express: not shown in lists
 * MEET      the ranks along the mesh dim meet: dt_op.meet is run instead of the kernel
 * SCAN      the same with the states of the shards before; sharded inputs hold one contiguous run of the dim
 * WINDOW    the ranks exchange elements before the kernel runs, which gets the windows that dt_op.window states;
 *           sharded outputs are plain shards
 * GROUPED   the sizes of the sharded dims are multiples of the smallest one, and each rank holds whole groups, the same
 *           ones of every tensor: of 8 query heads and 4 key heads on 2 ranks, heads 0 to 3 with keys 0 and 1
 */
enum {
    DT_ROW_OFFSET = 1 << 0,
    DT_ROW_RESHAPE = 1 << 1,
    DT_ROW_UNLISTED = 1 << 2,
    DT_ROW_MEET = 1 << 3,
    DT_ROW_SCAN = 1 << 4,
    DT_ROW_WINDOW = 1 << 5,
    DT_ROW_GROUPED = 1 << 6,
};

/* Ops that meet. Where a dim is sharded along which the op reduces, each rank makes a small *state* of its shard
 * (begin), the states are exchanged once over all mesh dims that shard such a dim and merged in mesh order, the same
 * bits on every rank, and each rank completes its part of the result from the merged state (finish). Of softmax the
 * state is the largest element and the sum of exponentials of each row. In a scan, finish gets the merged states of the
 * shards before its own along the dim: of cumsum the sum of all that precedes.
 *
 * A state is a few fields, each an array of numbers: of softmax two with a number per row. An empty shard, and the
 * first shard of a scan, has the identity. */
enum { DT_STATE_MAX_FIELDS = 4 };
typedef struct dt_state_field {
    dt_dtype dtype;
    int64_t n;       /* numbers */
    double identity; /* each of them, in a state that has no effect when it is merged */
    void *data;      /* dense */
} dt_state_field;
typedef struct dt_state {
    int n_fields;
    dt_state_field fields[DT_STATE_MAX_FIELDS];
} dt_state;

typedef struct dt_meet {
    /* Sets dtype, n and identity of each field, and n_fields, by shapes and arguments: those of the largest shards when
     * the call is priced, of the local tensors when it runs. The numbers must not depend on the dims that are met over:
     * all ranks that meet have states of one size. */
    void (*describe)(const dt_op_call *call, dt_state *state);
    /* Fills the state from the inputs of this rank. */
    dt_status (*begin)(dt_op_call *call, const dt_state *state);
    /* Merges the state of the next rank (meet) or shard (scan) into that of those before. */
    void (*merge)(const dt_op_call *call, const dt_state *into, const dt_state *next);
    /* Fills the outputs of this rank from its inputs and the merged state. */
    dt_status (*finish)(dt_op_call *call, const dt_state *merged);
} dt_meet;

/* Ops that use windows. Where a dim is sharded along which elements move or neighbors are read (slice, flip, cat,
 * convolution), each rank fetches the indices that it needs from the ranks that hold them, in one exchange, and runs
 * the kernel on what it has fetched: `shape` of an input is then that of its window, and `offset` the first index of
 * it. A window is a list of runs per dim: of roll two, of flip one with step -1. What a rank needs follows from its
 * part of the outputs, and from its part of the inputs that are not fetched: the gradient of a convolution's weight
 * has no dim of the image, so each rank adds what belongs to its part of the output's gradient, and fetches that of
 * the image.
 *
 * Where the kernel would only copy its inputs to its output (DT_OP_MOVES), they are fetched to their place in it, and
 * no kernel runs.
 *
 * With DT_OP_TILES only the halo is fetched and copied, and the kernel runs several times: on the largest part whose
 * windows this rank holds, with inputs in place, and on the slabs around it, whose windows are copied together. Each
 * window is then one run in steps of 1. The kernel reads `shape` and `offset` of inputs and outputs, and the strides
 * of both: they are parts of larger tensors. Outputs that lack the sharded dim are summed over these runs by the
 * library. A part without elements has empty windows; the kernel writes zeros then. */
typedef struct dt_window dt_window;

/* Ops with an argument that may be read from values. Where shapes depend on the elements of a tensor, a number of the
 * call is read before the call is decided: the number of classes of one_hot, if it is -1, is one more than the largest
 * index; the indices of tensor_split may be a tensor. From then on the call is the one that passes the number, with the
 * first overload whose types fit: it is decided, cached and recorded as that.
 *
 * Reading is collective over the mesh of the inputs. What it sends is counted under the op and is subject to the
 * communication policy. Ranks outside the mesh cannot read, and get an error (mesh). Where there are no values, because
 * the call is only planned (dt_explain, `dtensor query`, the fake transport, the dry run of a decomposition), it is
 * refused (unsupported): there the number must be passed. The op's own functions therefore never see such a call. */
typedef struct dt_read {
    const char *argument; /* its name; a signature in which it is a tensor has no term for it in the rule */
    /* (optional) Whether an argument that is not a tensor is read, by its value, such as -1. NULL: only tensors are
     * read. */
    bool (*is_read)(const dt_arg *argument);
    /* (optional) The tensor that is read; NULL after an error. NULL: the argument itself. A tensor of integers; without
     * dims it is an int, with one dim a list of them. It is made with dt_ ops, which are not recorded, in a scope that
     * ends once it is read. Here the call has global inputs, and no outputs. */
    dt_tensor *(*values)(const dt_op_call *call, dt_tensor *const *inputs);
    /* (optional) Makes the argument of what was read, in the same dt_arg, or refuses it. NULL: it is the argument. */
    dt_status (*convert)(const dt_op_call *call, dt_arg *value);
} dt_read;

#define DT_CLASS_OF_VALUES INT64_MIN /* of dt_op.class_of */

struct dt_op {
    const char *schema;
    const char *rule;                                    /* (optional) factors */
    unsigned partial;                                    /* (optional) DT_PARTIAL_… */
    void (*rows)(const dt_op_call *call, dt_rows *rows); /* (optional) adds rows; outputs are known */
    /* (optional) A number that encodes how shapes, rule and rows depend on the arguments that vary (see `varying`),
     * such as the sign of a factor or the length of a slice. Runs before the shape function: arguments are not
     * checked yet, and there are no outputs. DT_CLASS_OF_VALUES, where one number is too little for that: calls with
     * different values of these arguments have decisions of their own. */
    int64_t (*class_of)(const dt_op_call *call);
    /* (optional) As `partial`, by arguments; used instead of it. */
    unsigned (*partial_of)(const dt_op_call *call);
    /* Adds the outputs (dt_op_add_output), or refuses with an agreed error (dt_op_refuse). */
    dt_status (*shape)(dt_op_call *call);
    /* (optional) Fills the outputs of this rank from the inputs of this rank. The kernel of a view (DT_OP_VIEW),
     * unless its row has DT_ROW_OFFSET, writes no elements: it sets `data` and the numbers at `strides` of each
     * output to elements of the first input. If the input's strides do not allow that, it sets needs_copy; then it is
     * called again with a dense copy, and the outputs become views of the copy. */
    dt_status (*kernel)(dt_op_call *call);
    /* (optional) Computes the outputs with other dt_ ops, where there is no kernel, or where that moves less than the
     * best row. It is planned on tensors without data first, in a context of its own (call->ctx), and must read no
     * value. Where there is a kernel, too, it may refuse calls that it is not for (unsupported). Outputs that only
     * gradients use (n_saved) are in the call if it is recorded. */
    dt_status (*decompose)(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs);
    /* (optional) Sample calls for the verifier and for tests, one per line in the form of `dtensor explain`:
     * "sum(f32[5,3]; dim=[1], keepdim=true)". */
    const char *samples;
    unsigned flags;      /* DT_OP_… */
    const char *summary; /* (optional) what the op does, in one sentence, for lists of ops */
    /* (optional) Names of arguments that the op's functions read, "dim,keepdim": found once per signature, so that
     * dt_op_arg_at(call, 0) costs no search. */
    const char *arguments;
    /* (optional) The arguments that may vary without a new decision: their names, separated by commas, "alpha,value".
     * Decisions are cached by the values of all other arguments, by the types of these, and by class_of. */
    const char *varying;
    /* (optional) Refuses values of arguments that vary. Runs in every call, after the shape function if that runs,
     * which therefore leaves these checks to it; it has inputs and arguments, but no outputs. */
    dt_status (*check)(const dt_op_call *call);
    /* List ops (DT_OP_LIST) only: the name of the op that is run on each item, the members at one index. Arguments
     * correspond by position; shapes, rule, kernel and the arguments that vary are those of that op. */
    const char *each;
    /* (optional) The values that a record of the op keeps for its gradient: names of tensor arguments and of returns,
     * "result" for all outputs, "result0", "result1", … for one, separated by commas; "": none. NULL: those that its
     * formulas use; without formulas all, of a view none. With it, or with a gradient, the decomposition of an op is
     * recorded as one call; without, each of its ops is. */
    const char *saves;
    /* (optional) Names of arguments that exist for the signature's sake, "implicit,sparse_grad": they have no effect,
     * or no value but their default is supported. The C function has no options for them. */
    const char *unused;
    /* (optional) How many outputs, the last ones, are made for gradients only. The shape function adds them, and rule
     * and rows have an entry for each; they are removed again, and the kernel gets fewer outputs, unless the call is
     * recorded. The caller never gets them. */
    int n_saved;
    const void *family; /* (optional) for functions that several ops share: how this op differs */
    /* (optional) Makes this op the in-place twin of one that is registered, `name` with an underscore: it writes its
     * result to its first tensor, which keeps its placements. Summary, samples and gradient may be its own; otherwise
     * they are those of the other op. */
    const dt_op *in_place_of;
    const dt_meet *meet; /* (optional) how rows with DT_ROW_MEET or DT_ROW_SCAN are run */
    /* (optional) For rows with DT_ROW_WINDOW: the indices that a rank needs of one dim of one input, by dt_window_add;
     * none: what it holds of the dim, which is not fetched. `shape` and `offset` of inputs and outputs are this rank's
     * part, as in kernels, and `global_shape` is that of the full tensor; parts of outputs, and of inputs that are not
     * fetched, have elements. Whether any are added depends on arguments and global shapes only. */
    void (*window)(const dt_op_call *call, int input, int dim, dt_window *out);
    const char *gradient; /* (optional) formulas of the gradients of its tensors, see above */
    /* (optional) The same as a function, for what formulas cannot express: makes the gradients of the inputs with
     * dt_ ops; NULL, as they are set before, is a gradient of zeros. `saves` lists the values that it reads. */
    dt_status (*backward)(const dt_op_backward *call, dt_tensor **input_grads);
    const dt_read *read; /* (optional) an argument that may be read from values */
    /* (optional) For estimates: floating-point operations of a call on the tensors of this rank, where they do not
     * follow from the factors of its rule. */
    double (*flops)(const dt_op_call *call);
    /* (optional) Sets the dims of an output from the slowest to the fastest in memory, by sizes and strides of the
     * inputs; false: row-major, as all outputs are without it. Its kernel must write outputs of any strides. Called
     * only where an input is not row-major. */
    bool (*order)(const dt_op_call *call, int output, int *order);
};

/* A recorded call whose gradients are computed: the argument of dt_op.backward. */
struct dt_op_backward {
    const dt_op_call *call;    /* arguments; dtypes, shapes and specs of inputs and outputs, without data */
    dt_tensor *const *inputs;  /* that were saved, NULL for others */
    dt_tensor *const *outputs; /* that were saved, NULL for others */
    dt_tensor *const *grads;   /* of the outputs; NULL: zeros */
    const bool *needed;        /* per input: whether its gradient is used */
};

/* For shape functions: adds an output; the shape is copied. Local. */
DT_API dt_status dt_op_add_output(dt_op_call *call, dt_dtype dtype, int n_dims, const int64_t *shape);
/* Records "NAME: TEXT" as an agreed error and returns status. Local. */
DT_API dt_status dt_op_refuse(const dt_op_call *call, dt_status status, const char *format, ...) DT_PRINTF(3);

/* For kernels that find bad data in the shards of this rank, such as an index out of range, which other ranks may not
 * have: "NAME: TEXT". This returns DT_OK, and the kernel continues with values of its choice: it must still write all
 * of its outputs, and reads nothing outside its inputs. All ranks of the mesh get the same agreed error, which names
 * this call, its line and the rank, in the next transfer on the mesh that all of them take part in, or in this call if
 * it meets after this; with DTENSOR_CHECK_CALLS at the end of this call. If there are several verdicts, that of the
 * earliest call is reported, then that of the lowest rank. Where no other rank shares the data (plain tensors, a mesh
 * of one rank, between dt_apart_begin and dt_apart_end), and where all have the same (every input is Replicate), it is
 * an error at once, which is returned. Local. */
DT_API dt_status dt_op_verdict(const dt_op_call *call, dt_status status, const char *format, ...) DT_PRINTF(3);

/* For rows functions: adds a row of n_inputs + n_outputs entries; flags are DT_ROW_…. A duplicate, or a row
 * with a reduction that the dtype of its tensor does not allow, is left out. Local. */
DT_API void dt_rows_add(dt_rows *rows, unsigned flags, const dt_row_entry *entries);
/* Adds the rows of a rule of factors, with the classes of its partial inputs. Local. */
DT_API void dt_rows_factors(dt_rows *rows, const char *rule, unsigned partial);
/* Adds the rows of classes of partials. Local. */
DT_API void dt_rows_partial(dt_rows *rows, unsigned partial);
/* Adds the row in which the inputs whose bits are set are P(from), all other inputs Replicate, and all outputs P(to),
 * but Replicate where only gradients use them (n_saved). UINT64_MAX are all inputs, however many. Local. */
DT_API void dt_rows_reduce(dt_rows *rows, uint64_t inputs, dt_reduce from, dt_reduce to);
/* Adds the rows of dt_rows_reduce for P(sum) and P(avg), under the conditions of linear classes. Local. */
DT_API void dt_rows_linear(dt_rows *rows, uint64_t inputs);
/* Adds P(max) and P(min) of this input alone: kept (up), or swapped. Local. */
DT_API void dt_rows_monotone(dt_rows *rows, int input, bool up);

/* For window functions: adds `size` indices from `start` on, `step` apart, after those that were added. Local. */
DT_API void dt_window_add(dt_window *window, int64_t start, int64_t size, int64_t step);
/* With DT_OP_MOVES: the local index of the output's dim at which the window begins, 0 without this call. Local. */
DT_API void dt_window_place(dt_window *window, int64_t at);

/* The argument of this name, or NULL if the signature of the call has none. Local. */
DT_API const dt_arg *dt_op_arg(const dt_op_call *call, const char *name);
/* The n-th of the names in dt_op.arguments, from 0; NULL if the signature of the call has none, or there is no n-th
 * name. Local. */
DT_API const dt_arg *dt_op_arg_at(const dt_op_call *call, int n);

/* For kernels with DT_OP_RANDOM: the draw of this call. Taken from the generator among the arguments, or from that of
 * the context; the same one again if the call is repeated from its record. Local. */
DT_API dt_status dt_op_draw(const dt_op_call *call, dt_generator_state *out);

/* Elementwise ops. A loop computes n elements of each output: in[i] and out[o] are contiguous arrays of its dtype,
 * inputs in the order of the call, already broadcast and converted. The loops of an op are its `family`:
 *
 *     .shape = dt_op_broadcast, .kernel = dt_op_elementwise, .family = &(const dt_loops){.f32 = swiglu_f32},
 *
 * f16 and bf16 are computed in f32, small integers and bool in i32 or i64, and integers in f32 where there is no loop
 * for them. Loops run on blocks of the local tensors, on several threads at once. */
typedef void dt_loop(int64_t n, const void *const *in, void *const *out, const dt_op_call *call);
typedef struct dt_loops {
    dt_loop *f32, *f64, *i32, *i64; /* (each optional) */
} dt_loops;

/* A shape function: as many outputs as the schema line has, of the shape to which all tensors broadcast and of their
 * promoted dtype; f32 where integers are computed in f32. Local. */
DT_API dt_status dt_op_broadcast(dt_op_call *call);
/* A kernel: runs the loop for the dtype of the first output over all elements, of any strides. Local. */
DT_API dt_status dt_op_elementwise(dt_op_call *call);

/* Registers the op in the context under the name in its schema line; the descriptor must outlive the context. Refuses
 * (value) a malformed schema line or rule and a name that exists already. Local: every rank registers the same ops. */
DT_API dt_status dt_op_register_sized(dt_ctx *ctx, const dt_op *op, size_t op_size, DT_CALLER);

#ifndef __cplusplus
/* clang-format off */
#define dt_op_register(...) dt_op_register_sized(__VA_ARGS__, sizeof(dt_op), DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
