/* SPDX-License-Identifier: Apache-2.0
 *
 * The printer of calls, in the form that call_text.c reads: tensors, then other arguments unless they have their
 * default; generators have no text. Tensors, and numbers in their place, are printed by position; other arguments by
 * name.
 */
#include "rules/literal.h"
#include "rules/rules.h"

#include <string.h>

static bool same_list(const dt_arg *a, const dt_arg *b, size_t size) {
    return a->n == b->n && (a->n == 0 || !memcmp(a->as.ints, b->as.ints, (size_t)a->n * size));
}

static bool same_value(const dt_arg *a, const dt_arg *b) {
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case DT_ARG_NONE:
        return true;
    case DT_ARG_INT:
        return a->as.i == b->as.i;
    case DT_ARG_FLOAT:
        return !memcmp(&a->as.f, &b->as.f, sizeof a->as.f);
    case DT_ARG_BOOL:
        return a->as.b == b->as.b;
    case DT_ARG_COMPLEX:
        return !memcmp(a->as.c, b->as.c, sizeof a->as.c);
    case DT_ARG_INTS:
        return same_list(a, b, sizeof *a->as.ints);
    case DT_ARG_FLOATS:
        return same_list(a, b, sizeof *a->as.floats);
    case DT_ARG_DTYPE:
        return a->as.dtype == b->as.dtype;
    case DT_ARG_TEXT:
        return !strcmp(a->as.text, b->as.text);
    default:
        return false;
    }
}

static void add_tensor(const dt_op_value *inputs, const dt_spec *const *uses, int i, dt__text *out) {
    dt__op_value_text(&inputs[i], out);
    dt__use_form_text(inputs[i].dtype, uses ? uses[i] : NULL, out);
}

static void add_tensors(const dt_arg *arg, const dt_op_value *inputs, const dt_spec *const *uses, dt__text *out) {
    if (arg->type == DT_ARG_TENSOR) {
        add_tensor(inputs, uses, arg->as.first, out);
        return;
    }
    dt__text_add(out, "{");
    for (int i = 0; i < arg->n; i++) {
        int input = dt_arg_member(arg, i);
        dt__text_add(out, "%s%s", i ? "; " : "", input < 0 ? "none" : "");
        if (input >= 0)
            add_tensor(inputs, uses, input, out);
    }
    dt__text_add(out, "}");
}

void dt__call_form_text(const dt__op_info *info, int overload, const dt_arg *args, const dt_op_value *inputs,
                        const dt_spec *const *uses, uint32_t hidden, dt__text *out) {
    const dt__signature *signature = &info->schema.signatures[overload];
    const char *before = "";
    bool by_position = true;
    dt__text_add(out, "%s(", info->schema.name);
    for (int p = 0; p < signature->n_params; p++) {
        const dt__param *param = &signature->params[p];
        bool is_default = hidden >> p & 1 || args[p].type == DT_ARG_GENERATOR ||
                          (!param->required && same_value(&args[p], &param->absent));
        bool is_operand = param->type.kind == DT__PARAM_TENSOR || param->type.kind == DT__PARAM_TENSORS ||
                          (param->type.kind == DT__PARAM_SCALAR && param->required);
        by_position = by_position && is_operand && !is_default && !param->keyword_only;
        if (is_default)
            continue;
        dt__text_add(out, "%s", before);
        before = "; ";
        if (!by_position)
            dt__text_add(out, "%s=", param->name);
        if (args[p].type == DT_ARG_TENSOR || args[p].type == DT_ARG_TENSORS)
            add_tensors(&args[p], inputs, uses, out);
        else
            dt__literal_text(&args[p], out);
    }
    dt__text_add(out, ")");
}
