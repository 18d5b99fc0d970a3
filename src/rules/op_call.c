/* SPDX-License-Identifier: Apache-2.0
 *
 * What an op's functions do with their call: add outputs, find arguments, refuse.
 */
#include "rules/in_place_twin.h"
#include "rules/list_op.h"

#include "comm/comm.h"
#include "mesh/mesh.h"
#include "random/random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SHOWN_INPUTS = 4 };

/* Where outputs are stored while a shape function adds them. */
typedef struct output_list {
    dt__arena *arena;
    int capacity;
} output_list;

/* A list that the schema requires is none where the caller passed NULL, or a negative length. */
static dt_status check_lists(const dt_op_call *call) {
    const dt__op_info *info = call->info;
    const dt__signature *signature = &info->schema.signatures[call->overload];
    for (int p = 0; p < signature->n_params; p++) {
        const dt__param *param = &signature->params[p];
        bool needed = param->required && !param->type.optional && param->type.kind == DT__PARAM_INTS;
        if (needed && call->args[p].type == DT_ARG_NONE)
            return dt_op_refuse(call, DT_ERR_VALUE, "%s: expected a list, got NULL with the length %d", param->name,
                                call->args[p].n);
    }
    return DT_OK;
}

dt_status dt__refuse_unread(const dt_op_call *call) {
    return dt_op_refuse(call, DT_ERR_UNSUPPORTED,
                        "%s is read from values, and a call that is only planned has none: expected a number",
                        call->op->read->argument);
}

dt_status dt__op_call_infer(dt__arena *arena, dt_op_call *call) {
    output_list list = {.arena = arena};
    if (dt__unread_argument(call->info, call->overload, call->args) >= 0)
        return dt__refuse_unread(call);
    DT__TRY(check_lists(call));
    call->output_list = &list;
    call->n_outputs = 0;
    call->outputs = NULL;
    dt_status status = call->op->flags & DT_OP_LIST ? dt__list_op_infer(arena, call) : call->op->shape(call);
    if (status == DT_OK && call->op->in_place_of)
        status = dt__in_place_check(call);
    call->output_list = NULL;
    if (!call->records)
        call->n_outputs -= call->n_outputs > call->op->n_saved ? call->op->n_saved : 0;
    return status == DT_OK && call->op->check ? call->op->check(call) : status;
}

dt_status dt_op_draw(const dt_op_call *call, dt_generator_state *out) {
    dt__op_draw *draw = call->draw;
    dt_generator *generator = NULL;
    dt__philox_key key;
    if (draw && draw->taken) {
        *out = draw->state;
        return DT_OK;
    }
    for (int i = 0; i < call->n_args && !generator; i++)
        generator = call->args[i].type == DT_ARG_GENERATOR ? call->args[i].as.generator : NULL;
    if (!generator && !(generator = dt_generator_default(call->ctx)))
        return dt_error_status(call->ctx);
    DT__TRY(dt__generator_next(generator, &key));
    *out = (dt_generator_state){key.seed, key.draw};
    if (draw)
        *draw = (dt__op_draw){true, *out};
    return DT_OK;
}

dt_status dt_op_add_output(dt_op_call *call, dt_dtype dtype, int n_dims, const int64_t *shape) {
    output_list *list = call->output_list;
    int64_t bytes;
    if (n_dims > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result has too many dims: expected at most %d, got %d",
                            DT_SPEC_MAX_DIMS, n_dims);
    if (!dt__product(n_dims, shape, (int64_t)dt_dtype_size(dtype), &bytes))
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than 2^63 - 1 bytes");
    if (call->n_outputs == list->capacity) {
        int capacity = list->capacity * 2 + 2;
        dt_op_value *more = DT__NEW_ARRAY(list->arena, dt_op_value, capacity);
        if (!more)
            return DT_ERR_MEMORY;
        if (call->n_outputs)
            memcpy(more, call->outputs, (size_t)call->n_outputs * sizeof *more);
        call->outputs = more;
        list->capacity = capacity;
    }
    const int64_t *copy = dt__arena_copy(list->arena, shape, (size_t)n_dims, sizeof *shape);
    if (!copy)
        return DT_ERR_MEMORY;
    call->outputs[call->n_outputs++] = (dt_op_value){.dtype = dtype, .n_dims = n_dims, .shape = copy};
    return DT_OK;
}

dt_status(dt_op_refuse)(const dt_op_call *call, dt_status status, const char *format, ...) {
    char reason[512];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    const dt__public_call *outermost = &call->ctx->call;
    if (outermost->depth > 0 && outermost->subject && !strcmp(outermost->name, call->name))
        return dt__fail(call->ctx, status, "%s", reason); /* which shows the inputs with their placements */
    dt__text inputs = dt__text_new(call->ctx);
    for (int i = 0; i < call->n_inputs && i < MAX_SHOWN_INPUTS; i++) {
        dt__text_add(&inputs, i ? ", " : ": ");
        dt__op_value_text(&call->inputs[i], &inputs);
    }
    dt__text_add(&inputs, call->n_inputs > MAX_SHOWN_INPUTS ? ", …" : "");
    dt__fail(call->ctx, status, "%s%s: %s", call->name, dt__text_chars(&inputs), reason);
    dt__text_free(&inputs);
    return status;
}

/* The history of the mesh whose ranks share the call; NULL: this rank is alone with its data. */
static dt__history *shared_history(const dt_op_call *call) {
    const dt_spec *spec = NULL;
    for (int i = 0; i < call->n_inputs + call->n_outputs && !spec; i++)
        spec = i < call->n_inputs ? call->inputs[i].spec : call->outputs[i - call->n_inputs].spec;
    dt__history *history = spec && !call->ctx->call.apart ? dt__mesh_history(spec->mesh) : NULL;
    return history && history->mesh_dims ? history : NULL;
}

/* Whether all ranks have the same inputs: then all reach the same verdict in the same call. */
static bool has_replicas_only(const dt_op_call *call) {
    bool found = true;
    for (int i = 0; i < call->n_inputs && found; i++) {
        const dt_spec *spec = call->inputs[i].spec;
        for (int m = 0; spec && m < spec->sharding.n_mesh_dims; m++)
            found = found && (dt_placement_is_replicate(spec->sharding.placements[m]) || spec->sharding.mesh[m] == 1);
    }
    return found;
}

static void format_call(dt_ctx *ctx, char *out, size_t capacity, const char *format, ...) DT_PRINTF(4);
static void format_call(dt_ctx *ctx, char *out, size_t capacity, const char *format, ...) {
    va_list args;
    va_start(args, format);
    dt__call_vformat(ctx, out, capacity, format, args);
    va_end(args);
}

dt_status dt_op_verdict(const dt_op_call *call, dt_status status, const char *format, ...) {
    char reason[512], text[DT__VERDICT_TEXT_BYTES];
    va_list args;
    if (call->ctx->estimate && call->ctx->estimate->n_idle)
        return DT_OK; /* on data that nobody has computed */
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    dt__history *history = shared_history(call);
    if (!history)
        return dt__fail_local(call->ctx, status, "%s: %s", call->name, reason);
    if (has_replicas_only(call))
        return dt__fail(call->ctx, status, "%s: %s", call->name, reason);
    format_call(call->ctx, text, sizeof text, "%s: %s", call->name, reason);
    return dt__verdict_record(history, status, text);
}

bool dt__writes_input(const dt_op_call *call, int input) {
    const dt__op_info *info = call->info;
    uint32_t written = info->schema.signatures[call->overload].written;
    for (; written; written &= written - 1) {
        const dt_arg *arg = &call->args[__builtin_ctz(written)];
        if (arg->type == DT_ARG_TENSOR && arg->as.first == input)
            return true;
        for (int i = 0; arg->type == DT_ARG_TENSORS && i < arg->n; i++)
            if (dt_arg_member(arg, i) == input)
                return true;
    }
    return false;
}

int dt__output_input(const dt_op_call *call, int output) {
    const dt__op_info *info = call->info;
    const dt__signature *signature = &info->schema.signatures[call->overload];
    for (int r = 0; signature->written && r < signature->n_returns; r++) {
        const dt__return *one = &signature->returns[r];
        if (!one->type.written) {
            output--;
            continue;
        }
        const dt_arg *arg = &call->args[one->param];
        int n = arg->type == DT_ARG_TENSORS ? arg->n : arg->type == DT_ARG_TENSOR;
        if (output < n)
            return output < 0 ? -1 : arg->type == DT_ARG_TENSORS ? dt_arg_member(arg, output) : arg->as.first;
        output -= n;
    }
    return -1;
}

/* Names are short, and most of them differ in the first letter. */
static inline bool same_name(const char *a, const char *b) {
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

const dt_arg *dt_op_arg(const dt_op_call *call, const char *name) {
    const dt__op_info *info = call->info;
    const dt__signature *signature = &info->schema.signatures[call->overload];
    for (int p = 0; p < signature->n_params; p++)
        if (same_name(signature->params[p].name, name))
            return &call->args[p];
    return NULL;
}

const dt_arg *dt_op_arg_at(const dt_op_call *call, int n) { return n >= 0 ? dt__arg_at(call, n) : NULL; }
