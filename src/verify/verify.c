/* SPDX-License-Identifier: Apache-2.0
 *
 * From an op to a verdict: its samples, their variations, the rows of each call.
 */
#include "verify/verify.h"

#include "dispatch/dispatch.h"
#include "ops/ops.h"
#include "verify/missing_rows.h"
#include "verify/sample_variations.h"

#include <inttypes.h>
#include <string.h>

const char *const dt__verify_state_words[DT__N_VERIFIED] = {
    [DT__VERIFIED] = "verified",
    [DT__NO_KERNEL] = "no kernel",
    [DT__NO_SAMPLES] = "no samples",
    [DT__NO_ROWS] = "its rows are those of the ops that it maps or that it is written with",
};

enum { REASON_BYTES = 512 };

typedef struct verification {
    dt__arena *arena; /* for the verdict */
    dt__sim sim;
    const dt__verify_options *options;
    dt__verdict *to;
    int wrong_capacity, missing_capacity;
    const char *call; /* in the arena */
} verification;

/* Makes space for one more entry of a list. */
static dt_status grow(dt__arena *arena, void *list, int n, int *capacity, size_t bytes) {
    void **at = list;
    if (n < *capacity)
        return DT_OK;
    int more = *capacity * 2 + 8;
    void *grown = dt__arena_alloc(arena, (size_t)more, bytes);
    if (!grown)
        return DT_ERR_MEMORY;
    if (n)
        memcpy(grown, *at, (size_t)n * bytes);
    *at = grown;
    *capacity = more;
    return DT_OK;
}

static const char *row_text(dt__arena *arena, const dt_op_call *call, const dt__row *row, const char *way) {
    dt__text text = dt__text_new(arena->ctx);
    dt__row_text(call, row, &text);
    dt__text_add(&text, "%s", way);
    const char *kept = dt__text_status(&text) == DT_OK ? dt__arena_copy_text(arena, dt__text_chars(&text)) : NULL;
    dt__text_free(&text);
    return kept;
}

/* One entry per row, that of the smallest call. */
static dt_status add_wrong(verification *self, const dt__wrong_row *one) {
    dt__verdict *to = self->to;
    for (int w = 0; w < to->n_wrong; w++)
        if (!strcmp(to->wrong[w].row, one->row)) {
            if (one->elements < to->wrong[w].elements)
                to->wrong[w] = *one;
            return DT_OK;
        }
    DT__TRY(grow(self->arena, &to->wrong, to->n_wrong, &self->wrong_capacity, sizeof *one));
    to->wrong[to->n_wrong++] = *one;
    return DT_OK;
}

static dt_status check_offered(verification *self, dt__trial_call *trial_call, const dt__row_list *rows) {
    static const int worlds[] = {2, 3, 5};
    dt__trial_set trial_set = {.n_worlds = 3, .worlds = worlds, .all_cuts = true};
    for (int r = 0; r < rows->n_rows; r++) {
        const char *failure;
        dt__wrong_row one = {.call = self->call, .elements = trial_call->elements};
        self->to->n_rows++;
        DT__TRY(dt__check_row(trial_call, &rows->rows[r], &trial_set, &failure, &one.n_ranks, &self->to->n_trials));
        if (!failure)
            continue;
        one.row = row_text(self->arena, &trial_call->placed.call, &rows->rows[r], "");
        one.failure = dt__arena_copy_text(self->arena, failure);
        if (!one.row || !one.failure)
            return DT_ERR_MEMORY;
        DT__TRY(add_wrong(self, &one));
    }
    return DT_OK;
}

typedef struct finding {
    verification *self;
    const dt_op_call *call;
} finding;

static dt_status add_missing(void *user, const dt__row *row) {
    finding *here = user;
    verification *self = here->self;
    dt__verdict *to = self->to;
    const char *way = row->flags & DT_ROW_MEET   ? " (the ranks meet)"
                      : row->flags & DT_ROW_SCAN ? " (a scan over the ranks)"
                                                 : "";
    dt__missing_row one = {.call = self->call, .row = row_text(self->arena, here->call, row, way)};
    if (!one.row)
        return DT_ERR_MEMORY;
    DT__TRY(grow(self->arena, &to->missing, to->n_missing, &self->missing_capacity, sizeof one));
    to->missing[to->n_missing++] = one;
    return DT_OK;
}

static dt_status verify_call(verification *self, dt__arena *scratch, const char *text, bool is_sample) {
    dt__trial_call trial_call;
    dt__row_list rows;
    bool usable;
    char reason[REASON_BYTES];
    dt__verdict *to = self->to;
    DT__TRY(dt__trial_call_new(&self->sim, scratch, text, &trial_call, &usable, sizeof reason, reason));
    if (!usable) {
        to->n_refused += is_sample;
        if (is_sample && !to->refusal)
            to->refusal = dt__arena_copy_text(self->arena, reason);
        return DT_OK;
    }
    to->n_calls++;
    self->call = dt__arena_copy_text(self->arena, text);
    if (!self->call)
        return DT_ERR_MEMORY;
    DT__TRY(dt__op_call_rows(scratch, &trial_call.placed.call, &rows));
    DT__TRY(check_offered(self, &trial_call, &rows));
    finding here = {self, &trial_call.placed.call};
    return is_sample && !self->options->no_missing
               ? dt__find_missing_rows(&trial_call, &rows, add_missing, &here, &to->n_trials)
               : DT_OK;
}

static dt_status verify_sample(verification *self, const char *sample) {
    dt__text_list texts = {.n = 1, .list = &sample};
    if (!self->options->only_samples)
        DT__TRY(dt__sample_variations(self->arena, sample, &texts));
    dt_status status = DT_OK;
    for (int t = 0; t < texts.n && status == DT_OK; t++) {
        dt__arena scratch = dt__arena_new(self->arena->ctx);
        status = verify_call(self, &scratch, texts.list[t], t == 0);
        dt__arena_free(&scratch);
    }
    return status;
}

/* A decomposition must run without data on its samples. */
static dt_status plan_sample(verification *self, dt__arena *scratch, const dt__op_info *info, dt_mesh *mesh,
                             const char *sample) {
    dt__placed_call placed;
    dt__dry_plan plan;
    DT__TRY(dt__placed_call_parse(scratch, sample, 1, (const int64_t[]){1}, &placed));
    dt__dry_request request = {info,
                               placed.bound.overload,
                               placed.call.n_inputs,
                               placed.call.args,
                               placed.call.inputs,
                               mesh,
                               placed.inputs,
                               false,
                               NULL};
    DT__TRY(dt__dry_run(scratch, &request, &plan));
    bool none = info->op->kernel && plan.status == DT_ERR_UNSUPPORTED; /* none of this call, which has rows */
    if (!none && *plan.refusal && !self->to->n_refused++)
        self->to->refusal = dt__arena_copy_text(self->arena, plan.refusal);
    return DT_OK;
}

static dt_status plan_samples(verification *self, const dt__op_info *info, const dt__text_list *samples) {
    dt_mesh *mesh = dt_mesh_new(self->arena->ctx, "1");
    dt_status status = mesh ? DT_OK : dt_error_status(self->arena->ctx);
    for (int s = 0; s < samples->n && status == DT_OK; s++) {
        dt__arena scratch = dt__arena_new(self->arena->ctx);
        status = plan_sample(self, &scratch, info, mesh, samples->list[s]);
        dt__arena_free(&scratch);
    }
    dt_mesh_release(mesh);
    return status;
}

dt_status dt__verify(dt__arena *arena, const dt__op_info *info, const dt__verify_options *options, dt__verdict *out) {
    static const dt__verify_options all;
    dt__text_list samples;
    verification self = {.arena = arena, .options = options ? options : &all, .to = out};
    *out = (dt__verdict){.op = info->schema.name, .state = info->op->kernel ? DT__VERIFIED : DT__NO_KERNEL};
    if (info->list || (info->op->decompose && !info->op->kernel))
        out->state = DT__NO_ROWS;
    DT__TRY(dt__split_lines(arena, info->op->samples ? info->op->samples : "", &samples));
    if (info->op->decompose)
        DT__TRY(plan_samples(&self, info, &samples));
    if (!info->op->kernel)
        return DT_OK;
    self.sim = dt__sim_new(arena->ctx, info);
    dt_status status = DT_OK;
    for (int s = 0; s < samples.n && status == DT_OK; s++)
        status = verify_sample(&self, samples.list[s]);
    dt__sim_free(&self.sim);
    if (out->n_calls == 0)
        out->state = DT__NO_SAMPLES;
    return status;
}

static dt_status report_verdict(dt_ctx *ctx, const dt__verdict *verdict) {
    if (verdict->state == DT__NO_KERNEL && !verdict->n_refused)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "%s: cannot verify the rule: the op has no kernel", verdict->op);
    if (verdict->state == DT__NO_ROWS)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "%s: cannot verify the rule: %s", verdict->op,
                        dt__verify_state_words[verdict->state]);
    if (verdict->n_refused)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: the op refuses one of its samples: %s", verdict->op,
                        verdict->refusal);
    if (verdict->state == DT__NO_SAMPLES)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: cannot verify the rule: the descriptor has no samples", verdict->op);
    if (verdict->n_wrong == 0)
        return DT_OK;
    const dt__wrong_row *first = &verdict->wrong[0];
    for (int w = 1; w < verdict->n_wrong; w++)
        if (verdict->wrong[w].elements < first->elements)
            first = &verdict->wrong[w];
    return dt__fail(ctx, DT_ERR_VALUE, "%s: row %s is wrong (%d in all): %s on %d ranks: %s", verdict->op, first->row,
                    verdict->n_wrong, first->call, first->n_ranks, first->failure);
}

dt_status dt_op_verify_site(dt_ctx *ctx, const char *name, const dt_site *site) {
    DT__ENTER(ctx, "op_verify", site);
    DT__TRY(DT__REFUSAL());
    const dt__op_info *info = dt__ops_open(ctx) == DT_OK ? dt__op_find(ctx, name) : NULL;
    dt__verdict verdict;
    if (!info)
        return dt_error_status(ctx);
    dt__arena arena = dt__arena_new(ctx);
    dt_status status = dt__verify(&arena, info, &(dt__verify_options){.no_missing = true}, &verdict);
    if (status == DT_OK)
        status = report_verdict(ctx, &verdict);
    dt__arena_free(&arena);
    return status;
}
