/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients as text (dt_op.gradient, described in dtensor/op.h), parsed once per signature into formulas: trees whose
 * leaves are the gradients of outputs, values of the recorded call and constants, and whose inner nodes are calls. That
 * every op that is called exists is checked here; which of its signatures is meant is decided when a formula is first
 * evaluated (src/autograd), because the ops of a table may refer to each other.
 */
#ifndef DT_RULES_GRADIENT_TEXT_H
#define DT_RULES_GRADIENT_TEXT_H

#include "rules/schema.h"

typedef enum dt__formula_kind {
    DT__FORMULA_CONSTANT, /* value */
    DT__FORMULA_ARGUMENT, /* of the recorded call: parameter `index` */
    DT__FORMULA_SHAPE,    /* sizes of the tensor of parameter `index`, or of output ~index; it need not be saved */
    DT__FORMULA_DTYPE,    /* its dtype */
    DT__FORMULA_RESULT,   /* output `index` of the recorded call */
    DT__FORMULA_GRAD,     /* its gradient */
    DT__FORMULA_OP,       /* a call of the op `name` */
    DT__FORMULA_FUNCTION, /* a function of values that are not tensors, or the recorded call itself */
} dt__formula_kind;

/* Functions in formulas that are not ops. */
typedef enum dt__formula_function {
    DT__FN_AGAIN,     /* again(x): the recorded call with its first tensor replaced by x, and the same draw */
    DT__FN_KEPT,      /* kept(shape, dim): the sizes with 1 for the dims that were reduced */
    DT__FN_COUNT,     /* count(shape, dim): the number of elements of these dims, or of all dims */
    DT__FN_SIZE,      /* size(shape, dim) */
    DT__FN_INVERSE,   /* inverse(dims): the permutation that undoes one */
    DT__FN_NEGATIVE,  /* negative(list): of integers */
    DT__FN_EITHER,    /* either(a, b): a, or b where a is none */
    DT__FN_IS_ZERO,   /* is_zero(a): 1 where the number a is 0, else 0 */
    DT__FN_UNLESS,    /* unless(a, x): x, or no gradient where a is not none */
    DT__FN_CONJUGATE, /* conjugate(x) of a complex tensor or number; real ones are unchanged */
    DT__N_FUNCTIONS
} dt__formula_function;

typedef struct dt__formula_arg {
    const char *name; /* NULL: by position */
    int node;
} dt__formula_arg;

typedef struct dt__formula_node {
    dt__formula_kind kind;
    int index;    /* of a parameter, an output or a function */
    dt_arg value; /* of a constant */
    const char *name;
    int n_args;
    const dt__formula_arg *args; /* nodes before this one */
    int column;                  /* in the text, for errors */
    void *binding;               /* of src/autograd, made on first use */
} dt__formula_node;

/* What a record keeps: bit p for the tensors of parameter p, bit o for output o. */
typedef struct dt__saved_values {
    uint32_t params;
    uint64_t outputs;
} dt__saved_values;

/* The gradient of one parameter, or of several from the outputs of one call. */
typedef struct dt__formula {
    int n_targets;
    int targets[DT__MAX_RETURNS]; /* parameters, -1 for an output that is not used */
    int n_nodes;                  /* the last one is the result; 0: there is no gradient */
    dt__formula_node *nodes;
    uint64_t grads; /* bits of the outputs whose gradients are used */
    dt__saved_values uses;
    bool is_bound; /* of src/autograd */
} dt__formula;

/* The formulas of one signature. */
typedef struct dt__gradient {
    int n_formulas;
    dt__formula *formulas;
    signed char of_param[DT__MAX_ARGS]; /* the formula of a parameter; -1: it has none */
} dt__gradient;

/* Whether an op of this name exists, or will. */
typedef bool dt__op_exists_fn(const void *registry, const char *name);

/* Parses the text for each signature. Refuses (value), with the place, malformed text, a name that the signature does
 * not have, a target that no signature has, two formulas for one target, and an op that does not exist. */
dt_status dt__gradient_parse(dt__arena *arena, const dt__schema *schema, const char *text, dt__op_exists_fn *exists,
                             const void *registry, dt__gradient **out);

#endif
