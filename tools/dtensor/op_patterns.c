/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands against the names of all ops.
 */
#include "op_patterns.h"

#include "rules/rules.h"

#include <fnmatch.h>
#include <string.h>

bool fits_pattern(const char *operand, const char *name) { return fnmatch(operand, name, 0) == 0; }

bool fits_word(const char *operand, const char *name) {
    if (fits_pattern(operand, name))
        return true;
    size_t n = strlen(operand);
    for (const char *at = name; *at; at++)
        if ((at == name || at[-1] == '_' || *at == '_') && !strncmp(at, operand, n))
            return true;
    return false;
}

static bool is_name(const char *operand, const char *name) { return !strcmp(operand, name); }

/* Marks what one operand selects; *any: whether that is anything. */
static dt_status match_one(session *self, const char *operand, op_fits_fn *fits, bool *marked, bool *any) {
    *any = false;
    for (int i = 0; i < dt__op_count(self->ctx); i++) {
        const dt__op_info *info = dt__op_at(self->ctx, i);
        if (!info)
            return dt_error_status(self->ctx);
        bool selected = fits(operand, info->schema.name);
        marked[i] |= selected;
        *any |= selected;
    }
    return DT_OK;
}

dt_status match_ops(session *self, op_fits_fn *fits, bool *marked) {
    const arguments *args = self->args;
    for (int w = 0; w < args->n_words; w++) {
        bool any;
        DT__TRY(match_one(self, args->words[w], is_name, marked, &any));
        if (!any)
            DT__TRY(match_one(self, args->words[w], fits, marked, &any));
        if (!any && !dt__op_find(self->ctx, args->words[w]))
            return dt_error_status(self->ctx);
    }
    if (args->n_words == 0)
        memset(marked, 1, (size_t)dt__op_count(self->ctx) * sizeof *marked);
    return DT_OK;
}
