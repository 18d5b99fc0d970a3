/* SPDX-License-Identifier: Apache-2.0
 *
 * `{"q":"run",…}`: an op is run on the ranks of a mesh, with the values that the request gives, and answers with the
 * values of its outputs. Ranks stay alive between requests of the same number of ranks.
 */
#include "query_answer.h"

#include "dispatch/dispatch.h"
#include "json_text.h"
#include "move/move.h"
#include "request_call.h"
#include "request_data.h"
#include "run_inputs.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 64, PLACEMENTS_BYTES = 4096 };

/* What an output was. Memory is malloc's: rank 0 writes it and the caller reads it. */
typedef struct run_output {
    dt_dtype dtype;
    int n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS];
    char placements[PLACEMENTS_BYTES];
    int64_t elements;
    void *data;
} run_output;

/* One request while it is run: written before and read after by the caller; rank 0 writes the results. */
typedef struct job {
    const dt__placed_call *parts;
    const void *const *data; /* per input of the call: the whole value */
    dt_status status;
    char text[2048];
    int n_outputs;
    run_output outputs[DT__MAX_OUTPUTS];
    int64_t collectives[DT__N_STEP_KINDS];
} job;

static dt_status keep_output(job *self, dt_tensor *tensor, bool writes, run_output *out) {
    dt_tensor *whole = dt_full_tensor(tensor);
    if (!whole)
        return dt_error_status(tensor->ctx);
    if (!writes)
        return DT_OK;
    const dt_spec *spec = tensor->spec;
    out->dtype = whole->dtype;
    out->n_dims = whole->n_dims;
    memcpy(out->shape, whole->shape, (size_t)whole->n_dims * sizeof *whole->shape);
    if (spec)
        (void)dt_placements_text(spec->sharding.n_mesh_dims, spec->sharding.placements, sizeof out->placements,
                                 out->placements);
    out->elements = dt_tensor_elements(whole);
    dt_tensor *dense = dt_contiguous(whole);
    size_t bytes = (size_t)out->elements * dt_dtype_size(whole->dtype);
    out->data = malloc(bytes ? bytes : 1);
    if (!dense || !out->data)
        return dt__fail_memory(tensor->ctx, bytes, "the answer");
    if (bytes)
        memcpy(out->data, dense->data, bytes);
    self->n_outputs++;
    return DT_OK;
}

static dt_status run_op(dt_ctx *ctx, job *self, dt_mesh *mesh) {
    const dt__placed_call *parts = self->parts;
    dt_tensor *inputs[DT__MAX_INPUTS], *outputs[DT__MAX_OUTPUTS];
    int n_outputs = 0;
    bool writes = dt_rank(ctx) == 0;
    const dt__op_info *info = dt__op_find(ctx, parts->info->schema.name);
    if (!info)
        return dt_error_status(ctx);
    DT__TRY(run_inputs(mesh, parts, self->data, inputs));
    dt__redistribute_stats before = dt__redistribute_statistics(ctx);
    dt__invocation call = {info, parts->bound.overload, parts->bound.args, parts->call.n_inputs, inputs, NULL};
    DT__TRY(dt__dispatch(ctx, &call, outputs, &n_outputs));
    dt__redistribute_stats after = dt__redistribute_statistics(ctx);
    for (int c = 0; writes && c < DT__N_STEP_KINDS; c++)
        self->collectives[c] = after.collectives[c] - before.collectives[c];
    for (int i = 0; i < n_outputs; i++)
        DT__TRY(keep_output(self, outputs[i], writes, &self->outputs[i]));
    return DT_OK;
}

/* On every rank. Errors are agreed or come with the end of this world, so rank 0's is told. */
static int run_on_rank(dt_ctx *ctx, void *arg) {
    job *self = arg;
    dt_scope scope = dt_scope_begin(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, self->parts->mesh, self->parts->n_mesh_dims, NULL);
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
static world *ranks;

void query_run_end(void) {
    world_close(ranks);
    ranks = NULL;
}

static dt_status find_ranks(const request *asked, const dt__placed_call *parts) {
    int64_t n = 1;
    for (int m = 0; m < parts->n_mesh_dims; m++) {
        n = parts->mesh[m] > MAX_RANKS ? MAX_RANKS + 1 : n * parts->mesh[m];
        if (n > MAX_RANKS)
            return dt__fail(asked->ctx, DT_ERR_UNSUPPORTED, "run: the mesh has more than %d ranks", MAX_RANKS);
    }
    if (ranks && world_size(ranks) != n)
        query_run_end();
    if (!ranks)
        ranks = world_open(n);
    return ranks ? DT_OK
                 : dt__fail(asked->ctx, DT_ERR_INTERNAL, "run: %lld ranks could not be started", (long long)n);
}

static void add_output(const run_output *output, dt__text *out) {
    json_add(out, "{\"shape\":");
    json_add_ints(out, output->shape, output->n_dims);
    json_add(out, ",\"dtype\":");
    json_add_string(out, dt_dtype_name(output->dtype));
    json_add(out, ",\"placements\":");
    json_add_string(out, output->placements);
    json_add(out, ",\"data\":");
    request_data_add(out, output->dtype, output->data, output->elements);
    json_add(out, "}");
}

static void add_collectives(const job *self, dt__text *out) {
    const char *before = "";
    for (int c = DT__STEP_NONE + 1; c < DT__N_STEP_KINDS; c++) {
        if (!self->collectives[c])
            continue;
        json_add(out, before);
        json_add_string(out, dt__step_kind_name((dt__step_kind)c));
        dt__text_add(out, ":%lld", (long long)self->collectives[c]);
        before = ",";
    }
}

static dt_status answer_job(const request *asked, job *self, dt__text *out) {
    DT__TRY(find_ranks(asked, self->parts));
    world_run(ranks, run_on_rank, self);
    if (self->status != DT_OK)
        return dt__fail(asked->ctx, self->status, "%s", self->text);
    json_add(out, "{\"outputs\":[");
    for (int i = 0; i < self->n_outputs; i++) {
        json_add(out, i ? "," : "");
        add_output(&self->outputs[i], out);
    }
    json_add(out, "],\"collectives\":{\"forward\":{");
    add_collectives(self, out);
    json_add(out, "},\"backward\":{}}}");
    return request_check_size(asked, out);
}

static dt_status answer(const request *asked, dt__text *out) {
    dt__placed_call parts;
    const void **data = NULL;
    const json_t *grad = request_get(asked, "grad"), *transport = request_get(asked, "transport");
    const char *word = "shm";
    if (transport)
        DT__TRY(request_string(asked, "transport", transport, &word));
    if (strcmp(word, "shm") != 0)
        return dt__fail(asked->ctx, DT_ERR_UNSUPPORTED, "run: there is no transport '%.60s'; there is shm", word);
    if (grad && !json_is_boolean(grad))
        return request_wrong(asked, "grad", "true or false", grad);
    DT__TRY(request_call(asked, REQUEST_VALUES, &parts));
    if (grad && json_is_true(grad))
        return dt__fail(asked->ctx, DT_ERR_UNSUPPORTED, "run: there are no gradients yet");
    if (parts.call.n_inputs > DT__MAX_INPUTS || parts.call.n_outputs > DT__MAX_OUTPUTS)
        return dt__fail(asked->ctx, DT_ERR_UNSUPPORTED, "run: more than %d tensors", DT__MAX_INPUTS);
    DT__TRY(request_data(asked, &parts, &data));
    job *self = calloc(1, sizeof *self);
    if (!self)
        return dt__fail_memory(asked->ctx, sizeof *self, "a request");
    self->parts = &parts;
    self->data = data;
    dt_status status = answer_job(asked, self, out);
    for (int i = 0; i < DT__MAX_OUTPUTS; i++)
        free(self->outputs[i].data);
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
    .answer = answer,
};
