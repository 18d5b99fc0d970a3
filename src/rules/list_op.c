/* SPDX-License-Identifier: Apache-2.0
 *
 * List ops (DT_OP_LIST): an op over lists of tensors that is another op (dt_op.each) on each item of their members. It
 * has no shape function, rule or kernel of its own. The arguments correspond by position: a list is a tensor of the
 * other op, everything else is passed on to each call.
 */
#include "rules/list_op.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static bool takes_members_of(const dt__param *list, const dt__param *one) {
    dt__param_type kind = list->type.kind == DT__PARAM_TENSORS ? DT__PARAM_TENSOR : list->type.kind;
    return kind == one->type.kind && !list->type.optional && !list->type.optional_members;
}

static bool is_mapped_to(const dt__signature *list, const dt__signature *one) {
    if (one->n_params < list->n_params)
        return false;
    for (int p = 0; p < one->n_params; p++)
        if (p < list->n_params ? !takes_members_of(&list->params[p], &one->params[p]) : one->params[p].required)
            return false;
    return list->params[0].type.kind == DT__PARAM_TENSORS && list->written == one->written;
}

/* The first signature of the other op that fits. */
static int find_overload(const dt__signature *list, const dt__schema *each) {
    for (int s = 0; s < each->n_signatures; s++)
        if (list->n_params > 0 && is_mapped_to(list, &each->signatures[s]))
            return s;
    return -1;
}

static dt_status check_each(dt_ctx *ctx, const char *name, const dt_op *each) {
    if (each->kernel && !each->read && !(each->flags & (DT_OP_VIEW | DT_OP_MAKER | DT_OP_RANDOM | DT_OP_LIST)))
        return DT_OK;
    return dt__fail(ctx, DT_ERR_VALUE,
                    "%s: each: expected an op with a kernel that makes no views, draws nothing and reads no argument",
                    name);
}

dt_status dt__list_op_resolve(dt__arena *arena, dt__op_info *info) {
    const char *name = info->schema.name;
    if (!info->op->each)
        return dt__fail(arena->ctx, DT_ERR_VALUE, "%s: a list op names the op that it maps in `each`", name);
    const dt__op_info *each = dt__op_find(arena->ctx, info->op->each);
    if (!each)
        return dt_error_status(arena->ctx);
    DT__TRY(check_each(arena->ctx, name, each->op));
    int n = info->schema.n_signatures;
    dt__list_form *form = DT__NEW(arena, dt__list_form);
    int *overloads = DT__NEW_ARRAY(arena, int, n);
    dt__signature *signatures = dt__arena_copy(arena, info->schema.signatures, (size_t)n, sizeof *signatures);
    if (!form || !overloads || !signatures)
        return DT_ERR_MEMORY;
    for (int s = 0; s < n; s++) {
        overloads[s] = find_overload(&signatures[s], &each->schema);
        if (overloads[s] < 0)
            return dt__fail(arena->ctx, DT_ERR_VALUE, "%s: each: no signature of '%s' takes the members of %s.%s",
                            name, info->op->each, name, signatures[s].overload);
        uint32_t varying = each->schema.signatures[overloads[s]].varying;
        dt__signature_set_varying(&signatures[s], varying & (uint32_t)(((uint64_t)1 << signatures[s].n_params) - 1));
    }
    form->each = *each;
    form->each.schema.name = name; /* which errors should show */
    form->overloads = overloads;
    info->schema.signatures = signatures;
    info->list = form;
    return DT_OK;
}

void dt__list_items_begin(const dt__op_info *info, int overload, const dt_arg *args, dt__list_items *out) {
    const dt__list_form *form = info->list;
    const dt__signature *list = &info->schema.signatures[overload];
    out->overload = form->overloads[overload];
    const dt__signature *one = &form->each.schema.signatures[out->overload];
    out->n_members = 0;
    out->n = INT_MAX;
    out->same_lengths = true;
    for (int p = 0; p < one->n_params; p++) {
        out->args[p] = p < list->n_params ? args[p] : one->params[p].absent;
        bool is_list = p < list->n_params && list->params[p].type.kind == DT__PARAM_TENSORS;
        if (one->params[p].type.kind != DT__PARAM_TENSOR || out->args[p].type == DT_ARG_NONE)
            continue;
        out->first[out->n_members] = is_list ? args[p].as.tensors.first : args[p].as.first;
        out->step[out->n_members] = is_list;
        out->args[p] = (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = out->n_members++};
        if (!is_list)
            continue;
        out->same_lengths &= out->n == INT_MAX || out->n == args[p].n;
        out->n = args[p].n < out->n ? args[p].n : out->n;
    }
}

dt_status dt__list_items_check(dt_ctx *ctx, const char *name, const dt__list_items *items) {
    if (!items->same_lengths)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: the lists differ in length", name);
    if (items->n == 0)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: expected at least one tensor, got empty lists", name);
    return DT_OK;
}

/* Infers the outputs of each item. */
dt_status dt__list_op_infer(dt__arena *arena, dt_op_call *call) {
    const dt__op_info *info = call->info;
    dt__list_items items;
    dt__list_items_begin(info, call->overload, call->args, &items);
    DT__TRY(dt__list_items_check(call->ctx, call->name, &items));
    bool returns = info->schema.signatures[call->overload].n_returns > 0;
    for (int t = 0; t < items.n; t++) {
        dt_op_value members[DT__MAX_ARGS];
        char name[256];
        dt_op_call one;
        for (int m = 0; m < items.n_members; m++)
            members[m] = call->inputs[dt__list_item_input(&items, t, m)];
        dt__op_call_init(&one, call->ctx, &info->list->each, items.overload, items.args, items.n_members, members);
        snprintf(name, sizeof name, "%s: item %d", call->name, t + 1);
        one.name = name;
        DT__TRY(dt__op_call_infer(arena, &one));
        for (int o = 0; o < one.n_outputs && returns; o++)
            DT__TRY(dt_op_add_output(call, one.outputs[o].dtype, one.outputs[o].n_dims, one.outputs[o].shape));
    }
    return DT_OK;
}
