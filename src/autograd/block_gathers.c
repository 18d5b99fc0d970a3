/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients read saved weights in their use placements. When a walk reaches the first such record of a scope, it
 * gathers the weights of all records that it will visit before it leaves the scope, in one exchange per block. The
 * records determine which weights these are. If one walk computes the gradients of inputs and another one the rest,
 * each call gathers the weights that it reads.
 */
#include "autograd/gradient_walk.h"

typedef struct gathered {
    int n, capacity;
    dt_tensor **list;
} gathered;

/* The parameters whose saved values the gradients of a record read. */
static uint32_t params_to_read(const dt__gradient_walk *walk, const dt__recorded_call *record) {
    uint32_t params = 0;
    if (!record->info || (!record->info->gradient && !record->info->op->backward))
        return 0;
    if (!record->info->gradient) { /* a function, which may read all of them */
        bool any = false;
        for (int i = 0; i < record->n_inputs && !any; i++)
            any = dt__gradient_is_needed(walk, &record->tensors[i]);
        return any ? ~0u : 0;
    }
    const dt__gradient *gradient = &record->info->gradient[record->overload];
    for (int p = 0; p < record->n_args; p++) {
        const dt_arg *arg = &record->args[p];
        if (gradient->of_param[p] >= 0 && arg->type == DT_ARG_TENSOR && arg->as.first >= 0 &&
            dt__gradient_is_needed(walk, &record->tensors[arg->as.first]))
            params |= gradient->formulas[gradient->of_param[p]].uses.params;
    }
    return params;
}

static bool is_used(const dt__recorded_call *record, int input) {
    return input >= 0 && record->tensors[input].use && record->tensors[input].storage &&
           !dt__saved_is_changed(record, input);
}

/* Visits the inputs that the gradients of a record read in use placements; list NULL: counts them. */
static dt_status add_used(const dt__gradient_walk *walk, const dt__recorded_call *record, gathered *to) {
    uint32_t params = params_to_read(walk, record);
    for (int p = 0; params && p < record->n_args; p++) {
        const dt_arg *arg = &record->args[p];
        int n = arg->type == DT_ARG_TENSOR ? 1 : arg->type == DT_ARG_TENSORS ? arg->n : 0;
        for (int i = 0; i < n && params >> p & 1; i++) {
            int input = arg->type == DT_ARG_TENSOR ? arg->as.first : dt_arg_member(arg, i);
            if (!is_used(record, input))
                continue;
            if (to->list && !(to->list[to->n] = dt__saved_tensor(record, input)))
                return dt_error_status(walk->ctx);
            to->n++;
        }
    }
    return DT_OK;
}

/* The position of a record in the walk. */
static int position_of(const dt__record_search *records, const dt__recorded_call *record) {
    int low = 0, high = records->n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (records->list[middle]->number < record->number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Visits the records from this one to the oldest before one of another scope. */
static dt_status add_block(const dt__gradient_walk *walk, const dt__recorded_call *record, gathered *to) {
    to->n = 0;
    for (int i = position_of(&walk->records, record); i >= 0 && i < walk->records.n; i--) {
        const dt__recorded_call *at = walk->records.list[i];
        if (at->head.is_leaf)
            continue;
        if (at->scope != record->scope)
            break;
        if (!walk->only_needed || at->is_needed)
            DT__TRY(add_used(walk, at, to));
    }
    return DT_OK;
}

static bool reads_used(const dt__recorded_call *record) {
    for (int i = 0; i < record->n_inputs; i++)
        if (is_used(record, i))
            return true;
    return false;
}

dt_status dt__gather_block(dt__gradient_walk *walk, const dt__recorded_call *record) {
    if (walk->is_rest || walk->has_gathered || !reads_used(record))
        return DT_OK;
    walk->has_gathered = true;
    dt__arena arena = dt__arena_new(walk->ctx);
    gathered all = {0};
    dt_status status = add_block(walk, record, &all);
    all.list = DT__NEW_ARRAY(&arena, dt_tensor *, all.n + 1);
    if (status == DT_OK)
        status = all.list ? add_block(walk, record, &all) : DT_ERR_MEMORY;
    if (status == DT_OK)
        status = dt__use_together(walk->ctx, all.n, all.list);
    for (int i = 0; i < all.n && all.list; i++)
        dt_drop(all.list[i]);
    dt__arena_free(&arena);
    return status;
}
