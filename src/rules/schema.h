/* SPDX-License-Identifier: Apache-2.0
 *
 * Schema lines, parsed, and calls that are bound to them. The form is the well-known one:
 *
 *     add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor | add.Scalar(Tensor self, Scalar other, …
 *     add_(Tensor(a!) self, Tensor other) -> Tensor(a!)                        self is written, and is the result
 *     split(Tensor(a -> *) self, int split_size) -> Tensor(a)[]                the results are views of self
 *     max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)
 *     index(Tensor self, Tensor?[] indices) -> Tensor                          members of the list may be none
 *
 * Everything in a signature is stored in the arena that it was parsed into.
 */
#ifndef DT_RULES_SCHEMA_H
#define DT_RULES_SCHEMA_H

#include "base/arena.h"
#include "base/text.h"
#include "dtensor/op.h"

enum { DT__MAX_ARGS = 32, DT__MAX_RETURNS = 8 };

typedef enum dt__param_type {
    DT__PARAM_TENSOR,
    DT__PARAM_TENSORS,
    DT__PARAM_INT,
    DT__PARAM_FLOAT,
    DT__PARAM_BOOL,
    DT__PARAM_SCALAR,
    DT__PARAM_INTS,
    DT__PARAM_FLOATS,
    DT__PARAM_SCALARS,
    DT__PARAM_DTYPE,
    DT__PARAM_TEXT,
    DT__PARAM_GENERATOR,
    DT__N_PARAM_TYPES
} dt__param_type;

/* A type as it is written: "Tensor(a!)[]", "int[2]?", "Tensor?[]". */
typedef struct dt__schema_type {
    dt__param_type kind;
    int n;                 /* int[n]: a bare number means n copies; 0: int[] */
    bool optional;         /* None is allowed */
    bool optional_members; /* None is allowed in the list */
    char alias;            /* the letter of "(a)"; 0: none */
    bool written;          /* "(a!)" */
    bool spreads;          /* "(a -> *)": the members of the list that is returned are views */
} dt__schema_type;

typedef struct dt__param {
    const char *name;
    dt__schema_type type;
    bool keyword_only;        /* follows the * */
    bool required;            /* has no default */
    dt_arg absent;            /* the default */
    const char *default_text; /* as it is written; NULL where there is none */
} dt__param;

typedef struct dt__return {
    const char *name; /* "" where it has none */
    dt__schema_type type;
    int param; /* whose alias it has: it is that tensor (written) or a view of it; -1: new memory */
} dt__return;

/* How the returns are written. */
typedef enum dt__return_form {
    DT__RETURNS_ONE,     /* Tensor */
    DT__RETURNS_SEVERAL, /* (Tensor values, Tensor indices), () */
    DT__RETURNS_MORE,    /* (Tensor, ...): the arguments decide how many follow */
    DT__RETURNS_EITHER   /* Tensor or (Tensor, Tensor): the arguments decide; `returns` has the several */
} dt__return_form;

typedef struct dt__signature {
    const char *overload; /* "Tensor" of add.Tensor; "" without one */
    int n_params;
    const dt__param *params;
    int n_returns;
    const dt__return *returns;
    dt__return_form return_form;
    uint32_t written; /* bit i: parameter i is written */
    /* Bits of parameters, set by dt__schema_set_varying: */
    uint32_t varying;    /* decisions do not depend on the value */
    uint32_t keyed;      /* decisions depend on the value: all others but single tensors */
    uint32_t open_types; /* the type of the argument does not follow from the schema: optional ones and Scalars */
} dt__signature;

typedef struct dt__schema {
    const char *name;
    int n_signatures;
    const dt__signature *signatures;
} dt__schema;

/* Refuses (value) a malformed line. */
dt_status dt__schema_parse(dt__arena *arena, const char *line, dt__schema *out);
/* Appends a signature, or the line of all of them, as dt__schema_parse reads it. */
void dt__signature_text(const dt__schema *schema, int overload, dt__text *out);
void dt__schema_text(const dt__schema *schema, dt__text *out);
/* The word of a type, "Tensor" of Tensor(a!)[], and whether it is a list. */
const char *dt__schema_type_word(const dt__schema_type *type);
bool dt__schema_type_is_list(const dt__schema_type *type);
/* Whether a name is in a list such as "dim,keepdim"; no list has none. */
bool dt__name_list_has(const char *list, const char *name);

/* Sets in all signatures what decisions depend on, from the names of dt_op.varying; NULL: none. Refuses (value) names
 * that no signature has, those of tensors, and names that occur twice. */
dt_status dt__schema_set_varying(dt__arena *arena, dt__schema *schema, const char *names);
/* Sets what decisions depend on in one signature, from bits. */
void dt__signature_set_varying(dt__signature *signature, uint32_t varying);

/* An argument before it is bound: by name, or by position where name is NULL. The caller numbers its tensors in any
 * order: value.as.first is the number of a tensor, and `tensors` has the value.n numbers of a list of tensors (-1: an
 * absent one). Binding replaces both by places among the inputs of the call, which absent ones do not have. */
typedef struct dt__argument {
    const char *name;
    dt_arg value;
    const int64_t *tensors;
} dt__argument;

/* The arguments of a call by parameter, with the tensors in the order of the parameters. */
typedef struct dt__bound_args {
    int overload, n_args;
    dt_arg args[DT__MAX_ARGS];
    int n_inputs;
    int *inputs; /* the caller's numbers, in the arena */
} dt__bound_args;

/* Finds the signature that the arguments fit and fills in defaults. Refuses (value) with a text that names the op and
 * the argument. */
dt_status dt__schema_bind(dt__arena *arena, const dt__schema *schema, int n, const dt__argument *arguments,
                          dt__bound_args *out);

#endif
