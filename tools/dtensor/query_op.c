/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests about calls of ops: `rules` (the rows that are correct on one mesh dim), `propagate` (what a call does on a
 * mesh, and what moves) and `run` (its values, computed by ranks of this process, which stay alive between requests of
 * the same number of ranks).
 */
#include "base/dtype.h"
#include "dispatch/dispatch.h"
#include "dtensor/autograd.h"
#include "dtensor/debug.h"
#include "dtensor/ops.h"
#include "json.h"
#include "move/move.h"
#include "ops/ops.h"
#include "query.h"
#include "rules/rules.h"

#include <stdlib.h>
#include <string.h>

/* Rows list the request's tensors in their order, whatever the order of the arguments: input e is entry order[e]. */
static json_t *row_json(const dt_op_call *call, const dt__row *row, const int *order, dt_row_entry *entries,
                        dt__text *text) {
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++)
        entries[e < call->n_inputs ? order[e] : e] = row->entries[e];
    dt__text_clear(text);
    dt__row_query_text(call, &(dt__row){.flags = row->flags, .entries = entries}, text);
    return text->broken ? NULL : string_json(dt__text_chars(text));
}

/* The entry of each input: its tensor's number if each tensor of the request is used once, so that rows can name it. */
static dt_status find_order(const request *req, const dt__bound_args *bound, const int **out) {
    int *order = DT__NEW_ARRAY(req->arena, int, bound->n_inputs);
    bool *used = DT__NEW_ARRAY(req->arena, bool, bound->n_inputs), once = true;
    if (!order || !used)
        return DT_ERR_MEMORY;
    for (int i = 0; i < bound->n_inputs && once; i++) {
        int number = bound->inputs[i];
        once = number < bound->n_inputs && !used[number];
        if (once)
            used[number] = true;
    }
    for (int i = 0; i < bound->n_inputs; i++)
        order[i] = once ? bound->inputs[i] : i;
    *out = order;
    return DT_OK;
}

static dt_status answer_rules(const request *req, dt__text *out) {
    dt__placed_call placed;
    dt__row_list rows;
    DT__TRY(request_call(req, REQUEST_SHAPES, &placed));
    DT__TRY(dt__op_call_rows(req->arena, &placed.call, &rows));
    DT__TRY(dt__rows_expand(req->arena, &placed.call, DT_ROW_UNLISTED | DT__ROW_WAYS, &rows));
    const int *order;
    DT__TRY(find_order(req, &placed.bound, &order));
    dt_row_entry *entries = DT__NEW_ARRAY(req->arena, dt_row_entry, rows.n_entries);
    if (!entries)
        return DT_ERR_MEMORY;
    dt__text text = dt__text_new(req->ctx);
    json_t *list = json_array();
    for (int r = 0; r < rows.n_rows; r++)
        json_append(&list, row_json(&placed.call, &rows.rows[r], order, entries, &text));
    dt__text_free(&text);
    return json_write(req->ctx, json_pack("{s:o}", "rows", list), JSON_COST_DIGITS, out);
}

static dt_status answer_propagate(const request *req, dt__text *out) {
    dt__placed_call placed;
    dt__candidate candidate;
    dt__input_moves moved;
    DT__TRY(request_call(req, REQUEST_PLACED, &placed));
    dt__placed_inputs on = {placed.n_mesh_dims, placed.mesh, placed.inputs, req->ctx->machine};
    DT__TRY(dt__select_placements(req->arena, &placed.call, &on, &candidate));
    DT__TRY(dt__input_moves_plan(req->arena, &placed, &candidate, &moved));
    return json_write(req->ctx, moves_json(&placed, &candidate, &moved), JSON_COST_DIGITS, out);
}

const request_kind query_rules = {
    .q = "rules",
    .fields = {{"op", true}, {"tensors", true}, {"args", true}, {"kwargs", true}},
    .answer = answer_rules,
};

const request_kind query_propagate = {
    .q = "propagate",
    .fields = {{"op", true}, {"mesh", true}, {"tensors", true}, {"args", true}, {"kwargs", true}},
    .answer = answer_propagate,
};

enum { MAX_RANKS = 64, PLACEMENTS_BYTES = 4096 };

/* The full value of an output, in memory of malloc: rank 0 writes it and the caller reads it. */
typedef struct run_output {
    dt_dtype dtype;
    int n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS];
    char placements[PLACEMENTS_BYTES];
    int64_t elements;
    void *data;
} run_output;

/* One run: the caller writes the call, rank 0 the results. */
typedef struct run_job {
    const dt__placed_call *placed;
    const void *const *data; /* per input of the call: its full value */
    dt_status status;
    char text[2048];
    int n_outputs;
    run_output *outputs;
    int n_tensors;     /* of the request */
    run_output *grads; /* one per tensor, without data where there is none; NULL: none are computed */
    int64_t collectives[DT__N_STEP_KINDS], backward_collectives[DT__N_STEP_KINDS];
} run_job;

static dt_status keep_output(dt_tensor *tensor, bool writes, run_output *out) {
    dt_tensor *full = dt_full_tensor(tensor);
    if (!full)
        return dt_error_status(tensor->ctx);
    if (!writes)
        return DT_OK;
    const dt_spec *spec = tensor->spec;
    out->dtype = full->dtype;
    out->n_dims = full->n_dims;
    memcpy(out->shape, full->shape, (size_t)full->n_dims * sizeof *full->shape);
    if (spec)
        (void)dt_placements_text(spec->sharding.n_mesh_dims, spec->sharding.placements, sizeof out->placements,
                                 out->placements);
    out->elements = dt_tensor_elements(full);
    dt_tensor *dense = dt_tensor_is_contiguous(full) ? full : dt__clone(full);
    size_t bytes = (size_t)out->elements * dt_dtype_size(full->dtype);
    out->data = malloc(bytes ? bytes : 1);
    if (!dense || !out->data)
        return dt__fail_memory(tensor->ctx, bytes, "the answer");
    if (bytes)
        memcpy(out->data, dense->data, bytes);
    return DT_OK;
}

static dt_status keep_outputs(run_job *self, const dt__call *call, bool writes) {
    if (writes && !(self->outputs = calloc((size_t)call->n_outputs + 1, sizeof *self->outputs)))
        return dt__fail_memory(call->ctx, (size_t)call->n_outputs * sizeof *self->outputs, "the answer");
    if (writes)
        self->n_outputs = call->n_outputs;
    for (int i = 0; i < call->n_outputs; i++)
        DT__TRY(keep_output(call->outputs[i], writes, writes ? &self->outputs[i] : NULL));
    return DT_OK;
}

/* How often the op ran a collective, in redistributions and between the kernels of ranks that meet. */
static int64_t count_of(dt_ctx *ctx, dt__step_kind kind) {
    dt_collective collective = dt__collective_of_step(kind);
    return dt_comm_stats(ctx, &(dt_comm_filter){.collective = dt_collective_name(collective)}).n;
}

/* Makes leaves of the floating-point inputs; what the op writes to is a copy of one. The leaf of each tensor is in
 * `leaves`. */
static dt_status require_grads(const dt__placed_call *placed, dt__call *call, dt_tensor **leaves) {
    for (int i = 0; i < call->n_inputs; i++) {
        dt_tensor **leaf = &leaves[placed->bound.inputs[i]];
        if (!dt__is_inexact(call->inputs[i]->dtype))
            continue;
        if (!*leaf)
            DT__TRY(dt_set_requires_grad(*leaf = call->inputs[i], true));
        if (dt__writes_input(&placed->call, i) && !(call->inputs[i] = dt_clone(*leaf)))
            return dt_error_status(call->ctx);
    }
    return DT_OK;
}

/* The gradients of the sum of all outputs that are real numbers of floating point. */
static dt_status run_backward(run_job *self, const dt__call *call, dt_mesh *mesh, dt__arena *arena,
                              dt_tensor *const *leaves, bool writes) {
    int n = 0, n_targets = 0;
    dt_tensor **outputs = DT__NEW_ARRAY(arena, dt_tensor *, call->n_outputs),
              **ones = DT__NEW_ARRAY(arena, dt_tensor *, call->n_outputs),
              **targets = DT__NEW_ARRAY(arena, dt_tensor *, self->n_tensors),
              **grads = DT__NEW_ARRAY(arena, dt_tensor *, self->n_tensors);
    if (!outputs || !ones || !targets || !grads)
        return DT_ERR_MEMORY;
    for (int o = 0; o < call->n_outputs; o++) {
        dt_tensor *output = call->outputs[o];
        if (!output->record || !dt__is_float(output->dtype))
            continue;
        dt_shape shape = {output->n_dims, output->shape};
        outputs[n] = output;
        if (!(ones[n++] = dt_ones(call->ctx, shape, .dtype = output->dtype, .mesh = output->spec ? mesh : NULL)))
            return dt_error_status(call->ctx);
    }
    for (int t = 0; t < self->n_tensors; t++)
        if (leaves[t])
            targets[n_targets++] = leaves[t];
    if (!n || !n_targets)
        return DT_OK;
    dt_tensors of = {n, outputs}, to = {n_targets, targets};
    DT__TRY(dt_comm_stats_begin(call->ctx));
    dt_status status = dt_gradients(of, to, grads, .output_grads = ones, .allow_unused = true);
    for (int c = DT__STEP_NONE + 1; writes && c < DT__N_STEP_KINDS; c++)
        self->backward_collectives[c] = count_of(call->ctx, (dt__step_kind)c);
    dt_comm_stats_end(call->ctx);
    DT__TRY(status);
    for (int t = 0, k = 0; t < self->n_tensors; t++)
        if (leaves[t] && grads[k++])
            DT__TRY(keep_output(grads[k - 1], writes, &self->grads[t]));
    return DT_OK;
}

static dt_status run_op(dt_ctx *ctx, run_job *self, dt_mesh *mesh) {
    const dt__placed_call *placed = self->placed;
    dt__call call;
    bool writes = dt_rank(ctx) == 0;
    DT__TRY(dt__ops_open(ctx));
    dt__call_init(&call, ctx, placed->bound.overload, placed->bound.args);
    call.info = dt__op_find(ctx, placed->info->schema.name);
    if (!call.info)
        return dt_error_status(ctx);
    dt__maker_place replicate = {.mesh = mesh};
    if (call.info->op->flags & DT_OP_MAKER)
        call.maker = &replicate;
    dt_status status = dt__call_reserve(&call, placed->call.n_inputs);
    call.n_inputs = placed->call.n_inputs;
    if (status == DT_OK)
        status = rank_inputs(mesh, placed, self->data, call.inputs);
    dt__arena arena = dt__arena_new(ctx);
    dt_tensor **leaves = DT__NEW_ARRAY(&arena, dt_tensor *, self->n_tensors);
    if (status == DT_OK && self->grads)
        status = leaves ? require_grads(placed, &call, leaves) : DT_ERR_MEMORY;
    if (status == DT_OK)
        status = dt_comm_stats_begin(ctx);
    if (status == DT_OK)
        status = dt__dispatch(ctx, &call);
    for (int c = DT__STEP_NONE + 1; writes && c < DT__N_STEP_KINDS; c++)
        self->collectives[c] = count_of(ctx, (dt__step_kind)c);
    dt_comm_stats_end(ctx);
    if (status == DT_OK)
        status = keep_outputs(self, &call, writes);
    if (status == DT_OK && self->grads)
        status = run_backward(self, &call, mesh, &arena, leaves, writes);
    dt__arena_free(&arena);
    dt__call_end(&call);
    return status;
}

/* On every rank. Errors are agreed or end all ranks, so that rank 0's is reported. */
static int run_on_rank(dt_ctx *ctx, void *arg) {
    run_job *self = arg;
    dt_scope scope = dt_scope_begin(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, self->placed->mesh, self->placed->n_mesh_dims, NULL);
    dt_status status = mesh ? run_op(ctx, self, mesh) : dt_error_status(ctx);
    dt_scope_end(scope);
    dt_mesh_release(mesh);
    if (dt_rank(ctx) == 0 && dt_failed(ctx)) {
        self->status = status == DT_OK ? DT_ERR_INTERNAL : dt_error_status(ctx);
        snprintf(self->text, sizeof self->text, "%s", dt_error_text(ctx));
    }
    if (dt_failed(ctx))
        (void)dt_error_clear(ctx);
    return 0;
}

/* The ranks of the last request. */
static rank_pool *ranks;

void query_run_end(void) {
    rank_pool_close(ranks);
    ranks = NULL;
}

static dt_status find_ranks(const request *req, const dt__placed_call *placed) {
    int64_t n = 1;
    for (int m = 0; m < placed->n_mesh_dims; m++) {
        n = placed->mesh[m] > MAX_RANKS ? MAX_RANKS + 1 : n * placed->mesh[m];
        if (n > MAX_RANKS)
            return dt__fail(req->ctx, DT_ERR_UNSUPPORTED, "run: expected a mesh of at most %d ranks", MAX_RANKS);
    }
    if (ranks && rank_pool_size(ranks) != n)
        query_run_end();
    if (!ranks)
        ranks = rank_pool_open(n);
    return ranks ? DT_OK : dt__fail(req->ctx, DT_ERR_INTERNAL, "run: cannot start %lld ranks", (long long)n);
}

static json_t *run_output_json(const run_output *output) {
    json_t *object = output_json(output->n_dims, output->shape, output->dtype, string_json(output->placements));
    if (!object)
        return NULL;
    if (json_object_set_new(object, "data", request_data_json(output->dtype, output->data, output->elements)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* One per tensor, null where there is none. */
static json_t *grads_json(const run_job *self) {
    json_t *list = json_array();
    for (int t = 0; t < self->n_tensors; t++) {
        const run_output *grad = &self->grads[t];
        json_append(&list, !grad->data ? json_null()
                                       : json_pack("{s:o, s:o}", "placements", string_json(grad->placements), "data",
                                                   request_data_json(grad->dtype, grad->data, grad->elements)));
    }
    return list;
}

/* Digits that identify a value: of the widest dtype among the outputs. */
static int data_digits(const run_job *self) {
    int digits = 9;
    for (int i = 0; i < self->n_outputs; i++)
        if (dt__is_double_precision(self->outputs[i].dtype))
            digits = 17;
    return digits;
}

static dt_status check_data_size(const request *req, const run_job *self) {
    int64_t elements = 0;
    for (int i = 0; i < self->n_outputs; i++)
        elements += self->outputs[i].elements;
    if (elements <= REQUEST_MAX_ANSWER_BYTES / 2) /* a digit and a comma each */
        return DT_OK;
    return dt__fail(req->ctx, DT_ERR_UNSUPPORTED, "run: the answer would be larger than %d bytes",
                    REQUEST_MAX_ANSWER_BYTES);
}

static dt_status answer_job(const request *req, run_job *self, dt__text *out) {
    DT__TRY(find_ranks(req, self->placed));
    rank_pool_run(ranks, run_on_rank, self);
    if (self->status != DT_OK)
        return dt__fail(req->ctx, self->status, "%s", self->text);
    DT__TRY(check_data_size(req, self));
    json_t *outputs = json_array();
    for (int i = 0; i < self->n_outputs; i++)
        json_append(&outputs, run_output_json(&self->outputs[i]));
    json_t *answer =
        json_pack("{s:o, s:{s:o, s:o}}", "outputs", outputs, "collectives", "forward",
                  collectives_json(self->collectives), "backward", collectives_json(self->backward_collectives));
    if (answer && self->grads && json_object_set_new(answer, "grads", grads_json(self)) != 0) {
        json_decref(answer);
        answer = NULL;
    }
    return json_write(req->ctx, answer, data_digits(self), out);
}

static dt_status answer_run(const request *req, dt__text *out) {
    dt__placed_call placed;
    const void **data = NULL;
    const json_t *grad = request_get(req, "grad"), *transport = request_get(req, "transport");
    const char *word = "shm";
    if (transport)
        DT__TRY(request_string(req, "transport", transport, &word));
    if (strcmp(word, "shm") != 0)
        return dt__fail(req->ctx, DT_ERR_UNSUPPORTED, "run: field 'transport': expected \"shm\", got \"%.60s\"",
                        word);
    if (grad && !json_is_boolean(grad))
        return request_wrong(req, "grad", "true or false", grad);
    DT__TRY(request_call(req, REQUEST_VALUES, &placed));
    DT__TRY(request_data(req, &placed, &data));
    run_job *self = calloc(1, sizeof *self);
    if (!self)
        return dt__fail_memory(req->ctx, sizeof *self, "a request");
    self->placed = &placed;
    self->data = data;
    self->n_tensors = (int)json_array_size(request_get(req, "tensors"));
    bool has_grads = grad && json_is_true(grad);
    if (has_grads)
        self->grads = calloc((size_t)self->n_tensors + 1, sizeof *self->grads);
    dt_status status = self->grads || !has_grads ? answer_job(req, self, out)
                                                 : dt__fail_memory(req->ctx, sizeof *self->grads, "a request");
    for (int i = 0; i < self->n_outputs; i++)
        free(self->outputs[i].data);
    for (int t = 0; self->grads && t < self->n_tensors; t++)
        free(self->grads[t].data);
    free(self->grads);
    free(self->outputs);
    free(self);
    return status;
}

const request_kind query_run = {
    .q = "run",
    .fields = {{"op", true},
               {"mesh", true},
               {"tensors", true},
               {"args", true},
               {"kwargs", true},
               {"grad", false},
               {"transport", false}},
    .answer = answer_run,
};
