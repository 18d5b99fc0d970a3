/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules that place named parameters: parsed once, then applied to the name, shape and mesh of each parameter. Pure
 * arithmetic; dt_params and `dtensor params` share it. dtensor/params.h has the text form.
 */
#ifndef DT_TRAIN_PARAM_RULES_H
#define DT_TRAIN_PARAM_RULES_H

#include "base/text.h"
#include "spec/spec.h"

/* How a placement follows from the shape of a parameter. */
typedef enum dt__rule_style {
    DT__STYLE_GIVEN,       /* the placement as written, perhaps in shards of multiples */
    DT__STYLE_COLUMN_WISE, /* S(0) */
    DT__STYLE_ROW_WISE,    /* S(1) for two dims or more */
    DT__STYLE_FREE,        /* the first dim that nothing else shards, used as Replicate */
} dt__rule_style;

typedef enum dt__rule_kind {
    DT__RULE_PLACE,
    DT__RULE_USE,
    DT__RULE_GRAD,
    DT__RULE_DECAY,
    DT__RULE_LR,
    DT__RULE_FREEZE,
} dt__rule_kind;

typedef struct dt__rule_attribute {
    dt__rule_kind kind;
    const char *mesh_dim; /* PLACE */
    dt__rule_style style;
    dt_placement placement; /* GIVEN */
    int64_t multiple;       /* of the sizes of shards; 0: any */
    int free_dim;           /* FREE: the tensor dim; -1: the first one that is left */
    dt_dtype dtype;         /* USE, GRAD */
    double number;          /* DECAY, LR, FREEZE */
} dt__rule_attribute;

typedef struct dt__param_rule {
    const char *pattern, *tail; /* the characters after its last star, ? or set */
    size_t n_tail;
    int line;         /* from 1 */
    bool is_optional; /* may match nothing */
    int n_attributes;
    dt__rule_attribute *attributes;
    bool has_matched, has_won; /* by the parameters so far */
    int lost_to;               /* the rule that decided one of its attributes first; -1: none */
} dt__param_rule;

typedef struct dt__param_rules {
    int n;
    dt__param_rule *rules;
} dt__param_rules;

/* What the rules decide about one parameter. */
typedef struct dt__param_traits {
    int n_mesh_dims; /* 0: plain */
    dt_placement placements[DT_SPEC_MAX_DIMS], used[DT_SPEC_MAX_DIMS];
    dt_dtype use_dtype; /* DT_NO_DTYPE: that of the parameter */
    bool has_use;       /* it is used in another placement or dtype than it is stored in */
    double decay, lr;   /* factors */
    bool is_frozen;
} dt__param_traits;

/* A parameter as rules see it. */
typedef struct dt__param_shape {
    const char *name;
    dt_dtype dtype;
    int n_dims;
    const int64_t *shape;
} dt__param_shape;

/* Parses the text; NULL: no rules. An error names line and column. The rules belong to the arena. */
dt_status dt__param_rules_parse(dt__arena *arena, const char *text, dt__param_rules *out);
/* Refuses rules whose mesh dims are nearly those of the mesh. */
dt_status dt__param_rules_check_mesh(const dt__param_rules *self, dt_mesh *mesh);
/* Decides about a parameter on a mesh, NULL: plain, and notes which rules matched and won. Extents belong to the
 * arena. */
dt_status dt__param_rules_apply(dt__param_rules *self, dt__arena *arena, const dt__param_shape *of, dt_mesh *mesh,
                                dt__param_traits *out);
/* Refuses rules that had no effect on the n parameters to which they were applied. */
dt_status dt__param_rules_check(const dt__param_rules *self, dt_ctx *ctx, int n, const char *const *names);

/* param_pattern.c: whether a name matches a pattern; whether a text is a pattern, or why not. */
bool dt__pattern_matches(const char *pattern, const char *name);
const char *dt__pattern_problem(const char *pattern);
/* The name with * for each part between dots that is a number, "h.*.attn.wq.weight", cut to the capacity. */
enum { DT__PATTERN_BYTES = 512 };
void dt__pattern_of_name(const char *name, size_t capacity, char *out);
/* The nearest name, in this form, for a pattern that matches none: "; did you mean h.*.attn.wq.weight?", or "". */
enum { DT__PATTERN_MISS_CHARS = 128 }; /* longer names are not compared */
typedef struct dt__pattern_miss {
    const char *pattern; /* must stay valid */
    int64_t distance;    /* of the nearest name so far, or the first that is too large */
    char hint[DT__PATTERN_MISS_CHARS + 24];
} dt__pattern_miss;
dt__pattern_miss dt__pattern_miss_new(const char *pattern);
void dt__pattern_miss_add(dt__pattern_miss *self, const char *name);

/* params_table.c: the table of dt_params_text. */
typedef struct dt__param_row {
    dt__param_shape of;
    const dt_spec *spec, *use; /* spec NULL: plain; use NULL: as it is stored */
    double decay, lr;
    bool is_frozen;
    const char *tied; /* the name that has the tensor; NULL: this one */
} dt__param_row;
/* Rows that differ only in the numbers of their names: the index of the first one, for each row. */
void dt__param_rows_group(int n, const dt__param_row *rows, int *first);
void dt__param_table(dt__arena *arena, int n, const dt__param_row *rows, dt__text *out);
/* The placements of a spec by name, without those that are Replicate: "tp=S(0)"; "R". */
void dt__named_placements_add(const dt_spec *spec, dt__text *out);
/* Bytes of the largest shard of a row. */
int64_t dt__param_row_bytes(const dt__param_row *row);

#endif
