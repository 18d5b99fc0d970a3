/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules that place named parameters. A line has a pattern and attributes; the first line that matches a name decides an
 * attribute. Placements that depend on the shape (col, row, free, whole multiples) become placements of the parameter's
 * spec here, so that everything after this file sees placements only. A rule without effect is refused: it is usually a
 * mistake in a name, and a parameter that is replicated by accident costs memory and time unnoticed.
 */
#include "train/param_rules.h"

#include "base/c_locale.h"
#include "base/dtype.h"
#include "base/near_miss.h"
#include "base/size.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parsing. */

static dt_status parse_dtype(dt__cursor *cursor, dt_dtype *out) {
    for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
        if (dt__cursor_take(cursor, dt_dtype_name((dt_dtype)dtype))) {
            *out = (dt_dtype)dtype;
            return DT_OK;
        }
    return dt__cursor_fail_dtype(cursor);
}

static dt_status parse_number(dt__cursor *cursor, double *out) {
    char *end;
    dt__cursor_peek(cursor);
    *out = dt__real_read(cursor->at, &end);
    if (end == cursor->at || !(*out >= 0) || isinf(*out))
        return dt__cursor_fail(cursor, "expected a finite number of at least 0");
    cursor->at = end;
    return DT_OK;
}

/* "free" or "free(1)" */
static dt_status parse_free(dt__cursor *cursor, dt__rule_attribute *out) {
    int64_t dim;
    out->style = DT__STYLE_FREE;
    out->free_dim = -1;
    if (!dt__cursor_skip(cursor, "("))
        return DT_OK;
    DT__TRY(dt__cursor_number(cursor, 0, DT_SPEC_MAX_DIMS - 1, "a tensor dim", &dim));
    out->free_dim = (int)dim;
    return dt__cursor_expect(cursor, ")", "after the tensor dim");
}

static dt_status parse_place(dt__cursor *cursor, dt__arena *arena, dt__rule_attribute *out) {
    static const struct {
        const char *word;
        dt__rule_style style;
    } styles[] = {{"col", DT__STYLE_COLUMN_WISE}, {"row", DT__STYLE_ROW_WISE}, {"vocab", DT__STYLE_COLUMN_WISE}};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (dt__cursor_take(cursor, styles[i].word)) {
            out->style = styles[i].style;
            return DT_OK;
        }
    if (dt__cursor_take(cursor, "free"))
        return parse_free(cursor, out);
    DT__TRY(dt__cursor_placement(cursor, arena, &out->placement));
    if (dt_placement_is_partial(out->placement))
        return dt__cursor_fail(cursor, "expected a placement that is not partial: a parameter holds values");
    if (dt__cursor_skip(cursor, "*")) {
        if (!dt_placement_is_shard(out->placement) || out->placement.n_extents)
            return dt__cursor_fail(cursor, "expected S(dim) before '*'");
        return dt__cursor_number(cursor, 1, INT64_MAX, "a multiple", &out->multiple);
    }
    return DT_OK;
}

static dt_status parse_freeze(dt__cursor *cursor, dt__rule_attribute *out) {
    out->number = 1;
    if (!dt__cursor_skip(cursor, "="))
        return DT_OK;
    DT__TRY(parse_number(cursor, &out->number));
    return out->number == 0 || out->number == 1 ? DT_OK : dt__cursor_fail(cursor, "expected 0 or 1 after freeze=");
}

static dt_status parse_value(dt__cursor *cursor, dt__arena *arena, dt__rule_attribute *out) {
    DT__TRY(dt__cursor_expect(cursor, "=", "after the attribute"));
    switch (out->kind) {
    case DT__RULE_USE:
    case DT__RULE_GRAD:
        return parse_dtype(cursor, &out->dtype);
    case DT__RULE_DECAY:
    case DT__RULE_LR:
        return parse_number(cursor, &out->number);
    default:
        return parse_place(cursor, arena, out);
    }
}

static dt_status parse_attribute(dt__cursor *cursor, dt__arena *arena, dt__rule_attribute *out) {
    static const struct {
        const char *word;
        dt__rule_kind kind;
    } words[] = {{"use", DT__RULE_USE},
                 {"grad", DT__RULE_GRAD},
                 {"decay", DT__RULE_DECAY},
                 {"lr", DT__RULE_LR},
                 {"freeze", DT__RULE_FREEZE}};
    dt__cursor_peek(cursor);
    const size_t n = strcspn(cursor->at, " \t,=:()[]");
    const char *word = dt__arena_copy_chars(arena, cursor->at, n);
    *out = (dt__rule_attribute){.kind = DT__RULE_PLACE, .mesh_dim = word};
    if (!word)
        return DT_ERR_MEMORY;
    if (n == 0)
        return dt__cursor_fail(cursor, "expected an attribute such as tp=S(0), use=bf16 or decay=0");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(word, words[i].word))
            *out = (dt__rule_attribute){.kind = words[i].kind};
    cursor->at += n;
    return out->kind == DT__RULE_FREEZE ? parse_freeze(cursor, out) : parse_value(cursor, arena, out);
}

static bool is_same_attribute(const dt__rule_attribute *a, const dt__rule_attribute *b) {
    return a->kind == b->kind && (a->kind != DT__RULE_PLACE || !strcmp(a->mesh_dim, b->mesh_dim));
}

static dt_status parse_attributes(dt__cursor *cursor, dt__arena *arena, dt__param_rule *out) {
    int capacity = 1;
    for (const char *at = cursor->at; *at; at++)
        capacity += *at == ' ' || *at == '\t' || *at == ',';
    out->attributes = DT__NEW_ARRAY(arena, dt__rule_attribute, capacity);
    if (!out->attributes)
        return DT_ERR_MEMORY;
    while (dt__cursor_peek(cursor)) {
        if (out->n_attributes == capacity)
            return dt__cursor_fail(cursor, "expected a blank or ',' between attributes");
        dt__rule_attribute *next = &out->attributes[out->n_attributes];
        const char *begin = cursor->at;
        DT__TRY(parse_attribute(cursor, arena, next));
        for (int i = 0; i < out->n_attributes; i++)
            if (is_same_attribute(&out->attributes[i], next)) {
                cursor->at = begin;
                return dt__cursor_fail(cursor, "expected an attribute that the line does not have yet");
            }
        out->n_attributes++;
        bool separated = strchr(" \t", cursor->at[0]) || strchr(" \t", cursor->at[-1]); /* the value may end there */
        separated = dt__cursor_take(cursor, ",") || separated;
        if (!separated && dt__cursor_peek(cursor))
            return dt__cursor_fail(cursor, "expected a blank or ',' between attributes");
    }
    return out->n_attributes ? DT_OK : dt__cursor_fail(cursor, "expected attributes after the pattern");
}

static dt_status parse_line(dt__arena *arena, const char *line, int number, dt__param_rule *out) {
    char *what = DT__NEW_ARRAY(arena, char, 32);
    size_t n = strcspn(line, " \t");
    char *pattern = dt__arena_copy_chars(arena, line, n);
    if (!what || !pattern)
        return DT_ERR_MEMORY;
    (void)snprintf(what, 32, "rules: line %d", number);
    dt__cursor cursor = dt__cursor_new(arena->ctx, DT_ERR_VALUE, what, line);
    *out = (dt__param_rule){.pattern = pattern, .line = number, .lost_to = -1};
    if (n > 1 && pattern[n - 1] == '?') {
        out->is_optional = true;
        pattern[n - 1] = 0;
    }
    if (dt__pattern_problem(pattern))
        return dt__cursor_fail(&cursor, "%s", dt__pattern_problem(pattern));
    out->n_tail = n - out->is_optional;
    for (size_t i = 0; pattern[i]; i++)
        if (strchr("*?]", pattern[i]))
            out->n_tail = n - out->is_optional - i - 1;
    out->tail = pattern + (n - out->is_optional) - out->n_tail;
    cursor.at += n;
    return parse_attributes(&cursor, arena, out);
}

dt_status dt__param_rules_parse(dt__arena *arena, const char *text, dt__param_rules *out) {
    int capacity = 1, number = 1;
    *out = (dt__param_rules){.n = 0};
    for (const char *at = text ? text : ""; *at; at++)
        capacity += *at == '\n';
    out->rules = DT__NEW_ARRAY(arena, dt__param_rule, capacity);
    if (!out->rules)
        return DT_ERR_MEMORY;
    for (const char *at = text; at; number++) {
        const char *end = strchr(at, '\n');
        size_t n = end ? (size_t)(end - at) : strlen(at), comment;
        char *line = dt__arena_copy_chars(arena, at, n);
        if (!line)
            return DT_ERR_MEMORY;
        comment = strcspn(line, "#\r");
        line[comment] = 0;
        line += strspn(line, " \t");
        if (*line)
            DT__TRY(parse_line(arena, line, number, &out->rules[out->n++]));
        at = end ? end + 1 : NULL;
    }
    return DT_OK;
}

/* Meshes. */

/* Names of two letters, such as dp and tp, are all near each other: here only a difference in case counts as near. */
static bool is_near(const char *word, const char *name) {
    dt__near_miss near = dt__near_miss_new(word);
    dt__near_miss_add(&near, name, strlen(name));
    if (!*dt__near_miss_hint(&near))
        return false;
    return strlen(word) > 2 || near.distance == 0;
}

dt_status dt__param_rules_check_mesh(const dt__param_rules *self, dt_mesh *mesh) {
    for (int r = 0; r < self->n && mesh; r++)
        for (int a = 0; a < self->rules[r].n_attributes; a++) {
            const char *word = self->rules[r].attributes[a].mesh_dim;
            if (!word || dt_mesh_dim(mesh, word) >= 0)
                continue;
            for (int m = 0; m < dt_mesh_n_dims(mesh); m++) {
                const char *name = dt_mesh_dim_name(mesh, m);
                if (!name)
                    return dt__fail(dt_mesh_ctx(mesh), DT_ERR_MESH,
                                    "rules: line %d: '%s=': expected a mesh whose dims have names, got mesh(%s)",
                                    self->rules[r].line, word, dt_mesh_text(mesh));
                if (is_near(word, name))
                    return dt__fail(dt_mesh_ctx(mesh), DT_ERR_VALUE,
                                    "rules: line %d: there is no mesh dim '%s' in mesh(%s); did you mean %s?",
                                    self->rules[r].line, word, dt_mesh_text(mesh), name);
            }
        }
    return DT_OK;
}

/* Applying. */

/* The line that decides each attribute of a parameter. */
typedef struct decided {
    const dt__rule_attribute *placed[DT_SPEC_MAX_DIMS]; /* by mesh dim */
    const dt__rule_attribute *others[DT__RULE_FREEZE + 1];
} decided;

/* Whether an earlier line decides the attribute. */
static int decided_before(const dt__param_rules *self, int rule, const dt__rule_attribute *attribute,
                          const bool *matches) {
    for (int r = 0; r < rule; r++)
        for (int a = 0; a < self->rules[r].n_attributes && matches[r]; a++)
            if (is_same_attribute(&self->rules[r].attributes[a], attribute))
                return r;
    return -1;
}

/* Most patterns end in characters that few names have. */
static bool rule_matches(const dt__param_rule *rule, const char *name, size_t n) {
    return n >= rule->n_tail && !memcmp(name + n - rule->n_tail, rule->tail, rule->n_tail) &&
           dt__pattern_matches(rule->pattern, name);
}

static void decide(dt__param_rules *self, const char *name, dt_mesh *mesh, bool *matches, decided *out) {
    const size_t n = strlen(name);
    *out = (decided){.others = {NULL}};
    for (int r = 0; r < self->n; r++) {
        dt__param_rule *rule = &self->rules[r];
        matches[r] = rule_matches(rule, name, n);
        rule->has_matched = rule->has_matched || matches[r];
        for (int a = 0; a < rule->n_attributes && matches[r]; a++) {
            const dt__rule_attribute *attribute = &rule->attributes[a];
            int before = decided_before(self, r, attribute, matches);
            if (before >= 0) {
                rule->lost_to = before;
                continue;
            }
            rule->has_won = true;
            int m = attribute->mesh_dim && mesh ? dt_mesh_dim(mesh, attribute->mesh_dim) : -1;
            if (attribute->kind != DT__RULE_PLACE)
                out->others[attribute->kind] = attribute;
            else if (m >= 0 && m < DT_SPEC_MAX_DIMS)
                out->placed[m] = attribute;
        }
    }
}

/* Extents of whole multiples: ceil(units / n) units per coordinate, as shards have indices. */
static dt_status cut_multiples(dt__arena *arena, const dt__param_shape *of, const dt__rule_attribute *attribute,
                               int64_t n, dt_placement *out) {
    const int dim = out->dim < 0 ? out->dim + of->n_dims : out->dim;
    if (dim < 0 || dim >= of->n_dims)
        return DT_OK; /* the spec refuses it */
    const int64_t size = of->shape[dim], units = size / attribute->multiple, chunk = (units + n - 1) / n;
    if (size % attribute->multiple)
        return dt__fail(arena->ctx, DT_ERR_SHAPE,
                        "%s: %s=S(%d)*%" PRId64 ": expected a size that is a multiple of %" PRId64 ", got %" PRId64,
                        of->name, attribute->mesh_dim, dim, attribute->multiple, attribute->multiple, size);
    int64_t *extents = DT__NEW_ARRAY(arena, int64_t, n);
    if (!extents)
        return DT_ERR_MEMORY;
    for (int64_t r = 0; r < n; r++) {
        const int64_t rest = units - (r * chunk < units ? r * chunk : units);
        extents[r] = (rest < chunk ? rest : chunk) * attribute->multiple;
    }
    out->extents = extents;
    out->n_extents = n;
    return DT_OK;
}

static bool is_sharded(const dt__param_traits *traits, int n_dims, int dim) {
    for (int m = 0; m < traits->n_mesh_dims; m++) {
        const dt_placement *p = &traits->placements[m];
        bool cuts = p->kind == DT_PLACEMENT_SHARD || p->kind == DT_PLACEMENT_STRIDED;
        if (cuts && (p->dim < 0 ? p->dim + n_dims : p->dim) == dim)
            return true;
    }
    return false;
}

static dt_status place_one(dt__arena *arena, const dt__param_shape *of, const dt__rule_attribute *attribute,
                           int64_t n, dt_placement *out) {
    if (attribute->style == DT__STYLE_COLUMN_WISE && of->n_dims > 0)
        *out = dt_placement_shard(0);
    else if (attribute->style == DT__STYLE_ROW_WISE && of->n_dims > 1)
        *out = dt_placement_shard(1);
    else if (attribute->style == DT__STYLE_GIVEN)
        *out = attribute->placement;
    return attribute->multiple ? cut_multiples(arena, of, attribute, n, out) : DT_OK;
}

static void place_free(const dt__param_shape *of, const dt__rule_attribute *attribute, int m, dt__param_traits *out) {
    int dim = attribute->free_dim < 0 ? 0 : attribute->free_dim;
    while (attribute->free_dim < 0 && dim < of->n_dims && is_sharded(out, of->n_dims, dim))
        dim++;
    if (attribute->free_dim < 0 && dim == of->n_dims)
        return;
    out->placements[m] = dt_placement_shard(dim);
    out->has_use = true;
}

static dt_status check_stage(dt__arena *arena, const dt__param_shape *of, dt_mesh *mesh, const decided *by) {
    int stage = mesh ? dt__stage_dim(mesh) : -1;
    if (stage < 0 || by->placed[stage])
        return DT_OK;
    return dt__fail(arena->ctx, DT_ERR_PLACEMENT,
                    "%s: expected .on, the slice of one stage, or a rule for '%s' on mesh(%s), got neither", of->name,
                    dt_mesh_dim_name(mesh, stage), dt_mesh_text(mesh));
}

/* Integers are used as they are, and have no gradients. */
static dt_status check_dtypes(dt__arena *arena, const dt__param_shape *of, dt_mesh *mesh, const decided *by) {
    const dt__rule_attribute *use = by->others[DT__RULE_USE], *grad = by->others[DT__RULE_GRAD];
    if (dt__is_integral(of->dtype))
        return DT_OK;
    if (use && use->dtype != of->dtype && !mesh)
        return dt__fail(arena->ctx, DT_ERR_VALUE, "%s: use=%s: expected a mesh, got none", of->name,
                        dt_dtype_name(use->dtype));
    if (grad && grad->dtype != of->dtype)
        return dt__fail(arena->ctx, DT_ERR_UNSUPPORTED,
                        "%s: grad=%s: expected the dtype of the parameter, %s, in which gradients are summed",
                        of->name, dt_dtype_name(grad->dtype), dt_dtype_name(of->dtype));
    return DT_OK;
}

static dt_status place_all(dt__arena *arena, const dt__param_shape *of, dt_mesh *mesh, const decided *by,
                           dt__param_traits *out) {
    out->n_mesh_dims = mesh ? dt_mesh_n_dims(mesh) : 0;
    if (out->n_mesh_dims > DT_SPEC_MAX_DIMS)
        return dt__fail(arena->ctx, DT_ERR_MESH, "%s: expected a mesh of at most %d dims, got %d", of->name,
                        DT_SPEC_MAX_DIMS, out->n_mesh_dims);
    for (int m = 0; m < out->n_mesh_dims; m++) {
        out->placements[m] = dt_placement_replicate();
        if (by->placed[m])
            DT__TRY(place_one(arena, of, by->placed[m], dt_mesh_dim_size(mesh, m), &out->placements[m]));
    }
    memcpy(out->used, out->placements, sizeof out->used); /* where it is free, Replicate */
    for (int m = 0; m < out->n_mesh_dims; m++)
        if (by->placed[m] && by->placed[m]->style == DT__STYLE_FREE)
            place_free(of, by->placed[m], m, out);
    return DT_OK;
}

static double number_or(const dt__rule_attribute *attribute, double absent) {
    return attribute ? attribute->number : absent;
}

dt_status dt__param_rules_apply(dt__param_rules *self, dt__arena *arena, const dt__param_shape *of, dt_mesh *mesh,
                                dt__param_traits *out) {
    decided by;
    bool *matches = DT__NEW_ARRAY(arena, bool, self->n);
    *out = (dt__param_traits){.n_mesh_dims = 0};
    if (!matches)
        return DT_ERR_MEMORY;
    decide(self, of->name, mesh, matches, &by);
    DT__TRY(check_stage(arena, of, mesh, &by));
    DT__TRY(check_dtypes(arena, of, mesh, &by));
    DT__TRY(place_all(arena, of, mesh, &by, out));
    const dt__rule_attribute *use = by.others[DT__RULE_USE];
    out->use_dtype = use && use->dtype != of->dtype && !dt__is_integral(of->dtype) ? use->dtype : DT_NO_DTYPE;
    out->has_use = out->has_use || out->use_dtype;
    out->decay = number_or(by.others[DT__RULE_DECAY], 1);
    out->lr = number_or(by.others[DT__RULE_LR], 1);
    out->is_frozen = number_or(by.others[DT__RULE_FREEZE], 0) != 0;
    return DT_OK;
}

dt_status dt__param_rules_check(const dt__param_rules *self, dt_ctx *ctx, int n, const char *const *names) {
    for (int r = 0; r < self->n; r++) {
        const dt__param_rule *rule = &self->rules[r];
        if (!rule->has_matched && !rule->is_optional) {
            dt__pattern_miss near = dt__pattern_miss_new(rule->pattern);
            for (int i = 0; i < n; i++)
                dt__pattern_miss_add(&near, names[i]);
            return dt__fail(ctx, DT_ERR_VALUE, "rules: line %d: '%s' matches none of the %d parameters%s", rule->line,
                            rule->pattern, n, near.hint);
        }
        if (rule->has_matched && !rule->has_won)
            return dt__fail(
                ctx, DT_ERR_VALUE, "rules: line %d: '%s' has no effect: line %d, '%s', decides its attributes first",
                rule->line, rule->pattern, self->rules[rule->lost_to].line, self->rules[rule->lost_to].pattern);
    }
    return DT_OK;
}
