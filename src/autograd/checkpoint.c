/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_checkpoint: the calls of a function are recorded as usual, but their records save no values. When a walk reaches
 * the first of these records, the function runs again, and each call hands the values that it would save to the record
 * of the same call in the first run. Random draws are logged in the first run and repeated in the second, so that
 * values have the same bits. Copies that the last scope of the second run gathered are kept for the gradients, which
 * begin there.
 *
 * Checkpoints nest: the inputs of an inner one are values inside the outer one, so they are not kept either. The second
 * run of the outer one hands them to the inner one, whose own second run happens when the walk reaches its records.
 */
#include "autograd/gradient_walk.h"

#include "random/random.h"

#include <string.h>

struct dt__checkpoint {
    dt_ctx *ctx;
    int64_t n_refs; /* of its records and of checkpoints inside it */
    dt_checkpoint_fn *run;
    void *user;
    dt_user_end *end; /* frees user; NULL: the program does */
    dt_site site;
    struct dt__checkpoint *parent; /* holds a reference; NULL: it is the outermost */
    int child;                     /* its number in the parent */
    int n_inputs;
    dt_tensor **inputs; /* hold references; NULL each: not known yet, or used */
    uint64_t *versions; /* of their storages */
    int n_records, record_capacity;
    dt__recorded_call **records; /* in the order of the calls; NULL: freed */
    int n_children, child_capacity;
    struct dt__checkpoint **children; /* the same */
    dt__draw_log draws;
    bool is_filled;          /* its records have their values */
    int at_record, at_child; /* the next ones, in a second run */
};

static dt__autograd_state *state_of(const dt_ctx *ctx) { return ctx->slots[DT__SLOT_AUTOGRAD].state; }

static void drop_inputs(dt__checkpoint *self) {
    for (int i = 0; i < self->n_inputs; i++) {
        if (self->inputs[i])
            dt_tensor_release(self->inputs[i]);
        self->inputs[i] = NULL;
    }
}

void dt__checkpoint_release(dt__checkpoint *self) {
    if (!self || --self->n_refs > 0)
        return;
    dt_ctx *ctx = self->ctx;
    drop_inputs(self);
    if (self->parent)
        self->parent->children[self->child] = NULL;
    dt__checkpoint *parent = self->parent;
    dt__owned_free(ctx, self->inputs);
    dt__owned_free(ctx, self->versions);
    dt__owned_free(ctx, self->records);
    dt__owned_free(ctx, self->children);
    dt__draw_log_free(ctx, &self->draws);
    if (self->end)
        self->end(self->user);
    dt__owned_free(ctx, self);
    dt__checkpoint_release(parent);
}

void dt__checkpoint_forget(const dt__recorded_call *record) {
    record->checkpoint->records[record->checkpoint_index] = NULL;
    dt__checkpoint_release(record->checkpoint);
}

/* Space for one more pointer; false after an error. */
static bool grow(dt_ctx *ctx, void ***list, int n, int *capacity) {
    if (n < *capacity)
        return true;
    int more = 2 * *capacity + 16;
    void **larger = dt__owned_new(ctx, (size_t)more * sizeof *larger, "a checkpoint");
    if (!larger)
        return false;
    if (n)
        memcpy(larger, *list, (size_t)n * sizeof *larger);
    dt__owned_free(ctx, *list);
    *list = larger;
    *capacity = more;
    return true;
}

static void keep_inputs(dt__checkpoint *self, dt_tensors inputs) {
    for (int i = 0; i < self->n_inputs; i++) {
        self->inputs[i] = dt_tensor_retain(inputs.list[i]);
        self->versions[i] = inputs.list[i]->storage->version;
    }
}

static dt__checkpoint *new_checkpoint(dt_ctx *ctx, dt_checkpoint_fn *run, void *user, dt_tensors inputs) {
    dt__checkpoint *parent = state_of(ctx)->checkpoint, *self = dt__owned_new(ctx, sizeof *self, "a checkpoint");
    if (!self)
        return NULL;
    *self = (dt__checkpoint){.ctx = ctx, .n_refs = 1, .run = run, .user = user, .n_inputs = inputs.n};
    if (ctx->call.site)
        self->site = *ctx->call.site;
    self->inputs = dt__owned_new(ctx, (size_t)inputs.n * sizeof *self->inputs, "a checkpoint");
    self->versions =
        self->inputs ? dt__owned_new(ctx, (size_t)inputs.n * sizeof *self->versions, "a checkpoint") : NULL;
    bool ok = self->versions &&
              (!parent || grow(ctx, (void ***)&parent->children, parent->n_children, &parent->child_capacity));
    if (!ok) {
        self->n_inputs = self->inputs ? self->n_inputs : 0;
        dt__checkpoint_release(self);
        return NULL;
    }
    if (parent) {
        parent->n_refs++;
        self->parent = parent;
        self->child = parent->n_children++;
        parent->children[self->child] = self;
    } else
        keep_inputs(self, inputs);
    return self;
}

/* Runs the function. Its calls are the program's own, with names and lines of their own. The result is in the current
 * scope; NULL after an error. */
static dt_tensor *run_as(dt__checkpoint *self, dt__checkpoint_mode mode, dt_checkpoint_fn *run, void *user,
                         dt_ctx *ctx, dt_tensor *const *inputs) {
    dt__autograd_state *state = state_of(ctx);
    dt__checkpoint *outer = state ? state->checkpoint : NULL;
    dt__checkpoint_mode outer_mode = state ? state->checkpoint_mode : DT__CHECKPOINT_NONE;
    dt__public_call call = ctx->call;
    dt_scope scope = dt_scope_begin(ctx);
    if (scope.number == 0)
        return NULL;
    if (state) {
        state->checkpoint = self;
        state->checkpoint_mode = mode;
    }
    ctx->call.depth = 0;
    dt_tensor *result = run(inputs, user);
    ctx->call = call;
    if (state) {
        state->checkpoint = outer;
        state->checkpoint_mode = outer_mode;
    }
    if (dt_failed(ctx) || !result) {
        if (!dt_failed(ctx))
            (void)dt__fail(ctx, DT_ERR_VALUE, "the function returned NULL: expected a tensor");
        dt_scope_end(scope);
        return NULL;
    }
    if (!DT__LIVE(DT__KIND_TENSOR, result))
        return dt_scope_end(scope), NULL;
    bool is_new = result->scope == dt__scope_current(ctx).depth; /* else an input or another tensor, as it is */
    dt_tensor *kept = is_new ? dt_keep(result) : result;
    dt_scope_end(scope);
    return kept;
}

/* The first run: draws are logged, for this checkpoint and for those around it. */
static dt_tensor *run_first(dt__checkpoint *self, dt_tensors inputs) {
    dt_ctx *ctx = self->ctx;
    dt__draw_log *outer = ctx->draw_log;
    self->draws.outer = outer;
    ctx->draw_log = &self->draws;
    dt_tensor *result = run_as(self, DT__CHECKPOINT_FIRST, self->run, self->user, ctx, inputs.list);
    ctx->draw_log = outer;
    self->draws.outer = NULL;
    dt__checkpoint_release(self);
    return result;
}

static dt_ctx *ctx_of(dt_tensors inputs) {
    for (int i = 0; i < inputs.n; i++)
        if (inputs.list[i])
            return inputs.list[i]->ctx;
    return NULL;
}

static bool can_run(dt_ctx *ctx, const char *name, dt_checkpoint_fn *run, dt_tensors inputs) {
    if (!ctx)
        return false;
    for (int i = 0; i < inputs.n; i++) {
        if (!inputs.list[i])
            return (void)dt__null_argument(ctx, name, i + 1), false;
        if (!DT__LIVE_ARGUMENT(DT__KIND_TENSOR, inputs.list[i], i + 1))
            return false;
        if (inputs.list[i]->ctx != ctx)
            return (void)dt__fail(ctx, DT_ERR_STATE, "input %d belongs to another context", i + 1), false;
    }
    return run || (dt__fail(ctx, DT_ERR_VALUE, "expected a function, got NULL"), false);
}

/* Inside a second run, the checkpoint of the first one gets its inputs. */
static dt_tensor *run_inside(dt_ctx *ctx, dt_checkpoint_fn *run, void *user, dt_tensors inputs) {
    const dt__autograd_state *state = state_of(ctx);
    dt__checkpoint_mode mode = state ? state->checkpoint_mode : DT__CHECKPOINT_NONE;
    dt__checkpoint *outer = state ? state->checkpoint : NULL;
    if (mode == DT__CHECKPOINT_AGAIN && outer->at_child < outer->n_children) {
        dt__checkpoint *own = outer->children[outer->at_child++];
        if (own && !own->is_filled && own->n_inputs == inputs.n) {
            drop_inputs(own);
            keep_inputs(own, inputs);
        }
    }
    return run_as(outer, mode == DT__CHECKPOINT_NONE ? mode : DT__CHECKPOINT_INSIDE, run, user, ctx, inputs.list);
}

/* *is_kept: the user belongs to the records. */
static dt_tensor *run_checkpoint(dt_ctx *ctx, dt_checkpoint_fn *run, void *user, dt_user_end *end, dt_tensors inputs,
                                 bool *is_kept) {
    const dt__autograd_state *state = state_of(ctx);
    dt__checkpoint_mode mode = state ? state->checkpoint_mode : DT__CHECKPOINT_NONE;
    if (!ctx->recorder || (mode != DT__CHECKPOINT_NONE && mode != DT__CHECKPOINT_FIRST))
        return run_inside(ctx, run, user, inputs);
    dt__checkpoint *self = new_checkpoint(ctx, run, user, inputs);
    if (!self)
        return NULL;
    *is_kept = true;
    self->end = end;
    return run_first(self, inputs);
}

dt_tensor *dt_checkpoint_owner_site(dt_checkpoint_fn *run, void *user, dt_user_end *end, dt_tensors inputs,
                                    const dt_site *site) {
    dt_ctx *ctx = ctx_of(inputs);
    DT__ENTER(ctx, "checkpoint_owner", site);
    bool is_kept = false;
    dt_tensor *result = NULL;
    if (DT__REFUSAL() == DT_OK && can_run(ctx, "checkpoint_owner", run, inputs))
        result = run_checkpoint(ctx, run, user, end, inputs, &is_kept);
    if (!is_kept && end)
        end(user);
    return result;
}

dt_tensor *dt_checkpoint_site(dt_checkpoint_fn *run, void *user, dt_tensors inputs, const dt_site *site) {
    dt_ctx *ctx = ctx_of(inputs);
    DT__ENTER(ctx, "checkpoint", site);
    bool is_kept = false;
    if (DT__REFUSAL() != DT_OK || !can_run(ctx, "checkpoint", run, inputs))
        return NULL;
    return run_checkpoint(ctx, run, user, NULL, inputs, &is_kept);
}

static void drop_saved(dt__recorded_call *record) {
    for (int i = 0; i < record->n_inputs + record->n_outputs; i++)
        dt__saved_release(&record->tensors[i]);
}

static bool is_same_call(const dt__recorded_call *a, const dt__recorded_call *b) {
    bool same = a->info == b->info && a->overload == b->overload && a->n_inputs == b->n_inputs &&
                a->n_outputs == b->n_outputs && !strcmp(a->name, b->name);
    for (int i = 0; same && i < a->n_inputs + a->n_outputs; i++) {
        const dt__recorded_tensor *x = &a->tensors[i], *y = &b->tensors[i];
        same = x->spec == y->spec && x->dtype == y->dtype && x->n_dims == y->n_dims && !x->strides == !y->strides;
        for (int d = 0; same && d < x->n_dims; d++)
            same = dt__recorded_shape(x)[d] == dt__recorded_shape(y)[d];
    }
    return same;
}

static dt_status refuse_difference(const dt__checkpoint *self, const char *expected, const char *got) {
    char site[DT__SITE_TEXT_BYTES];
    dt__site_text(self->site.file ? &self->site : NULL, site, sizeof site);
    return dt__fail(self->ctx, DT_ERR_STATE,
                    "the function of checkpoint%s made other calls when it ran again: call %d: expected %s, got %s",
                    site, self->at_record + 1, expected, got);
}

/* Hands the values of a call in the second run to the record of the first one. Versions stay those of the first run, so
 * that a change to an outside value since then is detected. */
static dt_status hand_over(dt__checkpoint *self, dt__recorded_call *from) {
    if (self->at_record >= self->n_records)
        return refuse_difference(self, "no more", from->name);
    dt__recorded_call *to = self->records[self->at_record];
    if (to && !is_same_call(from, to))
        return refuse_difference(self, to->name, from->name);
    self->at_record++;
    for (int i = 0; to && i < to->n_inputs + to->n_outputs; i++) {
        dt__recorded_tensor *target = &to->tensors[i], *source = &from->tensors[i];
        if (!source->storage)
            continue;
        int n = source->spec ? source->spec->local.n_dims : source->n_dims;
        dt__saved_release(target);
        target->storage = source->storage; /* with its reference */
        target->data = source->data;
        memcpy((int64_t *)target->strides, source->strides, (size_t)n * sizeof *source->strides);
        source->storage = NULL;
    }
    drop_saved(from);
    return DT_OK;
}

dt_status dt__checkpoint_record(dt__recorded_call *record) {
    dt__autograd_state *state = state_of(record->ctx);
    dt__checkpoint *self = state->checkpoint;
    if (state->checkpoint_mode == DT__CHECKPOINT_AGAIN)
        return hand_over(self, record);
    drop_saved(record);
    if (state->checkpoint_mode != DT__CHECKPOINT_FIRST)
        return DT_OK;
    if (!grow(record->ctx, (void ***)&self->records, self->n_records, &self->record_capacity))
        return dt_error_status(record->ctx);
    record->checkpoint = self;
    record->checkpoint_index = self->n_records;
    self->records[self->n_records++] = record;
    self->n_refs++;
    return DT_OK;
}

static dt_status check_inputs(const dt__checkpoint *self) {
    char site[DT__SITE_TEXT_BYTES], changed[DT__SITE_TEXT_BYTES + 128];
    dt__site_text(self->site.file ? &self->site : NULL, site, sizeof site);
    for (int i = 0; i < self->n_inputs; i++) {
        if (!self->inputs[i])
            return dt__fail(self->ctx, DT_ERR_STATE, "checkpoint%s: the function around it made other calls", site);
        const dt__storage *storage = self->inputs[i]->storage;
        if (storage->version == self->versions[i])
            continue;
        dt__storage_change_text(storage, changed, sizeof changed);
        return dt__fail(
            self->ctx, DT_ERR_STATE,
            "input %d of checkpoint%s, whose function runs again, has been%s since: expected version %llu, "
            "got %llu; clone it before it is changed",
            i + 1, site, changed, (unsigned long long)self->versions[i], (unsigned long long)storage->version);
    }
    return DT_OK;
}

dt_status dt__checkpoint_fill(dt__checkpoint *self) {
    dt_ctx *ctx = self->ctx;
    if (self->is_filled)
        return DT_OK;
    if (self->parent)
        DT__TRY(dt__checkpoint_fill(self->parent));
    DT__TRY(check_inputs(self));
    const dt__recorder *recorder = ctx->recorder;
    dt__draw_log *draws = ctx->draw_log;
    int64_t copies = dt__used_copies_hand_over(ctx);
    dt_scope scope = dt_scope_begin(ctx);
    if (scope.number == 0)
        return dt__used_copies_let(ctx, copies), dt_error_status(ctx);
    ctx->recorder = &dt__autograd_recorder;
    ctx->draw_log = &self->draws;
    self->draws.repeats = true;
    self->draws.at = self->at_record = self->at_child = 0;
    self->n_refs++;
    dt_tensor *result = run_as(self, DT__CHECKPOINT_AGAIN, self->run, self->user, ctx, self->inputs);
    self->draws.repeats = false;
    ctx->draw_log = draws;
    ctx->recorder = recorder;
    dt_status status = result ? DT_OK : dt_error_status(ctx);
    dt_scope_end(scope);
    dt__used_copies_let(ctx, copies);
    if (status == DT_OK && self->at_record < self->n_records)
        status = refuse_difference(self, "another one", "the end");
    if (status == DT_OK) {
        self->is_filled = true;
        drop_inputs(self);
    }
    dt__checkpoint_release(self);
    return status;
}
