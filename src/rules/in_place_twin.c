/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema line of a twin has an underscore after its name, and `Tensor(a!)` for the first parameter and the result.
 */
#include "rules/in_place_twin.h"

#include "base/dtype.h"

#include <string.h>

static bool is_new_tensor(const dt__schema_type *type) {
    return type->kind == DT__PARAM_TENSOR && !type->optional && !type->alias;
}

/* The signature of the twin; false where the op has another form. */
static bool write_first(dt__arena *arena, dt__signature *signature) {
    if (!signature->n_params || !is_new_tensor(&signature->params[0].type) || signature->n_returns != 1 ||
        !is_new_tensor(&signature->returns[0].type))
        return false;
    dt__param *params = dt__arena_copy(arena, signature->params, (size_t)signature->n_params, sizeof *params);
    dt__return *result = dt__arena_copy(arena, signature->returns, 1, sizeof *result);
    if (!params || !result)
        return false;
    params[0].type.alias = result->type.alias = 'a';
    params[0].type.written = result->type.written = true;
    signature->params = params;
    signature->returns = result;
    return true;
}

/* The text in the arena; NULL with the error recorded. Frees the builder. */
static const char *keep_text(dt__arena *arena, dt__text *text) {
    const char *copy = dt__text_status(text) == DT_OK ? dt__arena_copy_text(arena, dt__text_chars(text)) : NULL;
    dt__text_free(text);
    return copy;
}

static const char *twin_name(dt__arena *arena, const char *of) {
    dt__text text = dt__text_new(arena->ctx);
    dt__text_add(&text, "%s_", of);
    return keep_text(arena, &text);
}

/* The signatures without the last ones whose first operand is a number, which nothing can be written to. */
static int n_writable(const dt__schema *of) {
    int n = of->n_signatures;
    while (n > 1 && of->signatures[n - 1].n_params && of->signatures[n - 1].params[0].type.kind == DT__PARAM_SCALAR)
        n--;
    return n;
}

/* A list of names without the first, if that is this name: the written operand is never a number. */
static const char *without_first(const char *names, const char *first) {
    size_t n = strlen(first);
    bool is_first = !strncmp(names, first, n) && (names[n] == ',' || !names[n]);
    return !is_first ? names : names[n] ? names + n + 1 : NULL;
}

static const char *twin_schema(dt__arena *arena, const dt__schema *of) {
    dt__schema twin = {.name = twin_name(arena, of->name), .n_signatures = n_writable(of)};
    dt__signature *signatures = dt__arena_copy(arena, of->signatures, (size_t)of->n_signatures, sizeof *signatures);
    if (!twin.name || !signatures)
        return NULL;
    for (int s = 0; s < twin.n_signatures; s++)
        if (!write_first(arena, &signatures[s])) {
            if (!dt_failed(arena->ctx))
                dt__fail(arena->ctx, DT_ERR_VALUE,
                         "%s: in_place_of: expected an op that returns one new tensor, got %s", twin.name, of->name);
            return NULL;
        }
    dt__text line = dt__text_new(arena->ctx);
    twin.signatures = signatures;
    dt__schema_text(&twin, &line);
    return keep_text(arena, &line);
}

/* "Adds a tensor." becomes "Adds a tensor, in place." */
static const char *twin_summary(dt__arena *arena, const char *summary) {
    dt__text text = dt__text_new(arena->ctx);
    size_t n = strlen(summary);
    dt__text_add(&text, "%.*s, in place.", (int)(n && summary[n - 1] == '.' ? n - 1 : n), summary);
    return keep_text(arena, &text);
}

/* Each line begins with the name of the op. */
static const char *twin_samples(dt__arena *arena, const char *samples, const char *name) {
    dt__text text = dt__text_new(arena->ctx);
    size_t n = strlen(name);
    for (const char *line = samples; *line; line += strcspn(line, "\n")) {
        line += *line == '\n';
        dt__text_add(&text, "%s%s_%.*s", line == samples ? "" : "\n", name, (int)(strcspn(line, "\n") - n), line + n);
    }
    return keep_text(arena, &text);
}

const dt_op *dt__in_place_twin(dt__arena *arena, const dt_op *twin, const dt__op_info *of) {
    const dt_op *from = of->op;
    dt_op *out = dt__arena_copy(arena, from, 1, sizeof *out);
    if (!out || !(out->schema = twin_schema(arena, &of->schema)))
        return NULL;
    out->in_place_of = from;
    if (twin->gradient) { /* instead of any other that the op has */
        out->gradient = twin->gradient;
        out->backward = NULL;
        out->saves = NULL;
        out->flags &= ~(unsigned)DT_OP_NOT_DIFFERENTIABLE;
    }
    if (from->varying && n_writable(&of->schema) < of->schema.n_signatures)
        out->varying = without_first(from->varying, of->schema.signatures[0].params[0].name);
    if (twin->summary || from->summary)
        out->summary = twin->summary ? twin->summary : twin_summary(arena, from->summary);
    if (twin->samples || from->samples)
        out->samples = twin->samples ? twin->samples : twin_samples(arena, from->samples, of->schema.name);
    bool failed = (from->summary && !out->summary) || (from->samples && !out->samples);
    return failed ? NULL : out;
}

/* A result is written to a dtype of its own kind or of a later one. */
static int kind_of(dt_dtype dtype) {
    return dt__is_complex(dtype) ? 3 : dt__is_inexact(dtype) ? 2 : dtype != DT_BOOL;
}

dt_status dt__in_place_check(dt_op_call *call) {
    static const char *const kinds[] = {"bool", "integer", "floating point", "complex"};
    const dt_op_value *self = &call->inputs[0];
    dt_op_value *result = &call->outputs[0];
    bool same = result->n_dims == self->n_dims;
    for (int d = 0; d < self->n_dims && same; d++)
        same = result->shape[d] == self->shape[d];
    if (!same)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "the shape of the result differs from that of the first tensor, which it is written to");
    if (kind_of(result->dtype) > kind_of(self->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE,
                            "the result cannot be written to the first tensor: expected %s, got %s (%s)",
                            kinds[kind_of(self->dtype)], kinds[kind_of(result->dtype)], dt_dtype_name(result->dtype));
    result->dtype = self->dtype;
    return DT_OK;
}
