/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of list ops (rules/list_op.c). The lists cost one lookup: their key has all tensors and, where the op that is
 * mapped has classes, those of its items. The decision holds the decision of each item, which is that of the single
 * call; items may be on different meshes. A list is refused as a whole, before anything is written; the error names
 * the item. Histories, counts and traces see one call.
 */
#include "dispatch/dispatch_state.h"
#include "mesh/mesh.h"

#include <stdio.h>

/* A list call, and the call on one of its items. */
typedef struct list_call {
    dt_ctx *ctx;
    dt__call *list;
    dt__list_items items;
    int item; /* that `one` is on */
    dt_spec *used[DT__MAX_ARGS];
    dt__call one;
} list_call;

static void begin(dt_ctx *ctx, dt__call *list, list_call *out) {
    const dt__op_info *each = &list->info->list->each;
    out->ctx = ctx;
    out->list = list;
    dt__list_items_begin(list->info, list->overload, list->args, &out->items);
    dt__call_init(&out->one, ctx, out->items.overload, out->items.args);
    out->one.info = each;
    out->one.n_inputs = out->items.n_members;
    dt__op_call_init(&out->one.op_call, ctx, each, out->items.overload, out->items.args, out->items.n_members,
                     out->one.values);
}

static void set_uses(list_call *self, int item) {
    self->one.used = NULL;
    for (int m = 0; m < self->items.n_members; m++) {
        self->used[m] = self->list->used[dt__list_item_input(&self->items, item, m)];
        if (self->used[m])
            self->one.used = self->used;
    }
}

static inline void set_item(list_call *self, int item) {
    self->item = item;
    for (int m = 0; m < self->items.n_members; m++)
        self->one.inputs[m] = self->list->inputs[dt__list_item_input(&self->items, item, m)];
    if (__builtin_expect(self->list->used != NULL, 0))
        set_uses(self, item);
}

/* "item 17: f32[8,4] S(0) on mesh(2); f32[8,4] R on mesh(2)" */
static void describe_item(const void *call, char *out, size_t capacity) {
    const list_call *self = call;
    int n = snprintf(out, capacity, "item %d: ", self->item + 1);
    dt__call_describe(&self->one, out + n, capacity - (size_t)n);
}

/* What is called for an item; errors show the item in place of the list. */
typedef dt_status item_fn(list_call *self, void *to);

static dt_status for_each_item(list_call *self, item_fn *call, void *to) {
    dt__public_call *outermost = &self->ctx->call;
    const dt__public_call before = *outermost;
    dt_status status = DT_OK;
    outermost->subject = self;
    outermost->describe = describe_item;
    for (int t = 0; t < self->items.n && status == DT_OK; t++) {
        set_item(self, t);
        status = call(self, to);
    }
    outermost->subject = before.subject;
    outermost->describe = before.describe;
    return status;
}

static dt_status add_word(dt_ctx *ctx, dt__dispatch_state *state, uint64_t word) {
    if (state->n_class_words == state->class_capacity) {
        size_t n = state->class_capacity * 2 + 64;
        uint64_t *words =
            dt__resize(ctx, state->class_words, state->class_capacity * sizeof *words, n * sizeof *words);
        if (!words)
            return dt__fail_memory(ctx, n * sizeof *words, "the key of a call");
        state->class_words = words;
        state->class_capacity = n;
    }
    state->class_words[state->n_class_words++] = word;
    return DT_OK;
}

/* The classes of all items: each class with the number of items in a row that have it. */
static dt_status set_classes(list_call *self) {
    dt__dispatch_state *state = self->ctx->slots[DT__SLOT_DISPATCH].state;
    int64_t (*class_of)(const dt_op_call *call) = self->one.info->op->class_of;
    state->n_class_words = 0;
    state->class_of_values = false;
    for (int t = 0; class_of && t < self->items.n; t++) {
        set_item(self, t);
        dt__call_set_global_inputs(&self->one);
        uint64_t class = (uint64_t)class_of(&self->one.op_call);
        state->class_of_values |= class == (uint64_t)DT_CLASS_OF_VALUES;
        if (t > 0 && state->class_words[state->n_class_words - 2] == class) {
            state->class_words[state->n_class_words - 1]++;
            continue;
        }
        DT__TRY(add_word(self->ctx, state, class));
        DT__TRY(add_word(self->ctx, state, 1));
    }
    return DT_OK;
}

/* Deciding. */

static dt_status add_input(dt__input_decision *to, const dt__input_decision *from) {
    *to = *from;
    to->from = from->from ? dt_spec_retain(from->from) : NULL;
    to->to = from->to ? dt_spec_retain(from->to) : NULL;
    to->kernel = from->kernel ? dt_spec_retain(from->kernel) : NULL;
    return DT_OK;
}

/* Adds the mesh of an item, if it has another history than those before. */
static void add_mesh(dt__decision *to, dt_mesh *mesh) {
    const dt__history *history = mesh ? dt__mesh_history(mesh) : NULL;
    if (!to->mesh)
        to->mesh = mesh;
    if (!history || history == dt__mesh_history(to->mesh))
        return;
    for (int m = 0; m < to->n_more_meshes; m++)
        if (dt__mesh_history(to->more_meshes[m]) == history)
            return;
    to->more_meshes[to->n_more_meshes++] = mesh;
}

static dt_status decide_item(list_call *self, void *decision) {
    dt__decision *to = decision;
    dt__call_set_global_inputs(&self->one);
    dt__decision *item = dt__decide_part(self->ctx, &self->one);
    if (!item)
        return dt_error_status(self->ctx);
    to->items[to->n_items++] = item;
    if (self->one.info->op->check) /* so that the first item with an invalid value is refused, cached or not */
        DT__TRY(self->one.info->op->check(&self->one.op_call));
    to->communicates |= item->communicates;
    to->cost_us += item->cost_us;
    add_mesh(to, item->mesh);
    for (int m = 0; m < self->items.n_members; m++) {
        dt__input_decision *input = &to->inputs[dt__list_item_input(&self->items, self->item, m)];
        if (!input->from && !input->kernel)
            DT__TRY(add_input(input, &item->inputs[m]));
    }
    for (int o = 0; to->outputs && o < item->n_outputs; o++) {
        dt__output_decision *output = &to->outputs[to->n_outputs++];
        *output = item->outputs[o];
        output->spec = output->spec ? dt_spec_retain(output->spec) : NULL;
    }
    return DT_OK;
}

dt_status dt__decide_items(dt_ctx *ctx, dt__call *call, dt__decision *to) {
    list_call self;
    begin(ctx, call, &self);
    DT__TRY(dt__list_items_check(ctx, call->info->schema.name, &self.items));
    int n = self.items.n;
    bool returns = call->info->schema.signatures[call->overload].n_returns > 0;
    to->items = DT__NEW_ARRAY(&to->arena, dt__decision *, n);
    to->more_meshes = DT__NEW_ARRAY(&to->arena, dt_mesh *, n);
    to->outputs = returns ? DT__NEW_ARRAY(&to->arena, dt__output_decision, n) : NULL;
    if (!to->items || !to->more_meshes || (returns && !to->outputs))
        return DT_ERR_MEMORY;
    return for_each_item(&self, decide_item, to);
}

/* Checks of every call, whether its decision is new or not. The op's own check depends on arguments, dtypes and shapes,
 * which an item has in common with the one before it if their decision is the same. */

static dt_status check_item(list_call *self, void *decision) {
    const dt_op *op = self->one.info->op;
    dt__decision *const *items = ((const dt__decision *)decision)->items;
    const dt__decision *item = items[self->item];
    if (item->communicates)
        DT__TRY(dt__policy_check(self->ctx, &self->one, item));
    for (int i = 0; item->writes && i < self->one.n_inputs; i++) {
        dt_tensor *written = self->one.inputs[i];
        if (!item->inputs[i].written)
            continue;
        if (self->ctx->recorder && written->record)
            DT__TRY(self->ctx->recorder->check_write(written, self->one.info->schema.name));
        DT__TRY(dt__check_writable(written, self->one.info->schema.name));
    }
    if (!op->check || (self->item > 0 && items[self->item - 1] == item))
        return DT_OK;
    dt__call_set_global_inputs(&self->one);
    return op->check(&self->one.op_call);
}

/* Running. The outputs of a single op that returns its input are that input, and those of the list none. */

/* An item that requires a gradient is recorded as a call of its own. */
static dt_status run_recorded(dt_ctx *ctx, dt__call *one, const dt__decision *decision) {
    const dt__recorder *recorder = ctx->recorder;
    ctx->recorder = NULL;
    dt_status status = dt__run_decision(ctx, one, decision);
    ctx->recorder = recorder;
    one->n_outputs = decision->n_outputs;
    return status == DT_OK ? dt__call_add_record(ctx, one) : status;
}

static dt_status run_item(list_call *self, const dt__decision *item) {
    dt_ctx *ctx = self->ctx;
    if (ctx->recorder)
        DT__TRY(dt__call_apply_writes(&self->one));
    bool recorded = ctx->recorder && dt__call_requires_grad(&self->one);
    return recorded ? run_recorded(ctx, &self->one, item) : dt__run_decision(ctx, &self->one, item);
}

static dt_status run_items(dt_ctx *ctx, dt__call *call, const dt__decision *decision) {
    list_call self;
    begin(ctx, call, &self);
    bool loops = self.one.info->op->flags & DT__OP_LOOP && !decision->n_outputs;
    dt_status status = DT_OK;
    int n = 0; /* outputs */
    if (ctx->estimate)
        ctx->estimate->n_items = decision->n_items;
    for (int t = 0; t < decision->n_items && status == DT_OK; t++) {
        t += loops ? dt__list_loop_run(call, &self.items, &self.one.op_call, decision, t) : 0;
        if (t == decision->n_items)
            break;
        set_item(&self, t);
        status = run_item(&self, decision->items[t]);
        if (status == DT_OK && decision->n_outputs)
            call->outputs[n++] = self.one.outputs[0];
    }
    if (ctx->estimate)
        ctx->estimate->n_items = 0;
    for (int i = 0; status != DT_OK && i < n; i++)
        dt_drop(call->outputs[i]);
    return status;
}

/* By now the call is decided and checked, but a rank may still fail alone, because it lacks memory or because of an
 * earlier call. Then it does not arrive, and the others get its error before they change anything: replicas stay
 * equal. */
static dt_status meet(const dt__decision *decision) {
    if (decision->mesh)
        DT__TRY(dt__mesh_meet(decision->mesh));
    for (int m = 0; m < decision->n_more_meshes; m++)
        DT__TRY(dt__mesh_meet(decision->more_meshes[m]));
    return DT_OK;
}

dt_status dt__dispatch_list(dt_ctx *ctx, dt__call *call) {
    list_call self;
    begin(ctx, call, &self);
    DT__TRY(set_classes(&self));
    dt__decision *decision = dt__decide(ctx, call);
    if (!decision)
        return dt_error_status(ctx);
    dt_status status = for_each_item(&self, check_item, decision);
    if (status == DT_OK)
        status = dt__call_reserve_outputs(call, decision->n_outputs);
    if (status == DT_OK && call->info->op->flags & DT__OP_ALL_OR_NONE)
        status = meet(decision);
    if (status == DT_OK)
        status = ctx->observer ? dt__run_observed(ctx, call, decision, run_items) : run_items(ctx, call, decision);
    if (status == DT_OK)
        call->n_outputs = decision->n_outputs;
    dt__decision_release(ctx, decision);
    return status;
}
