/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of an op before anything is done: its arguments, its outputs, and how it refuses.
 */
#include "rules/rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_INPUTS = 4, PLACEMENT_BYTES = 128 };

/* Where outputs go while they are added. */
typedef struct adding {
    dt__arena *arena;
    int room;
} adding;

dt_op_call dt__op_call_new(dt_ctx *ctx, const dt__op_info *info, int overload, const dt_arg *args, int n_inputs,
                           const dt_op_value *inputs) {
    return (dt_op_call){
        .ctx = ctx,
        .op = info->op,
        .name = info->schema.name,
        .overload = overload,
        .n_args = info->schema.signatures[overload].n_params,
        .args = args,
        .n_inputs = n_inputs,
        .inputs = inputs,
        .info = info,
    };
}

dt_status dt__op_call_infer(dt__arena *arena, dt_op_call *call) {
    adding into = {.arena = arena};
    call->adding = &into;
    call->n_outputs = 0;
    call->outputs = NULL;
    dt_status status = call->op->shape(call);
    call->adding = NULL;
    return status;
}

dt_status dt_op_add_output(dt_op_call *call, dt_dtype dtype, int n_dims, const int64_t *shape) {
    adding *into = call->adding;
    int64_t bytes;
    if (n_dims > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result would have %d dims; at most %d are possible", n_dims,
                            DT_SPEC_MAX_DIMS);
    if (!dt__product(n_dims, shape, (int64_t)dt_dtype_size(dtype), &bytes))
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result would have more than 2^63 - 1 bytes");
    if (call->n_outputs == into->room) {
        int room = into->room * 2 + 2;
        dt_op_value *more = DT__NEW_ARRAY(into->arena, dt_op_value, room);
        if (!more)
            return DT_ERR_MEMORY;
        if (call->n_outputs)
            memcpy(more, call->outputs, (size_t)call->n_outputs * sizeof *more);
        call->outputs = more;
        into->room = room;
    }
    const int64_t *kept = dt__arena_copy(into->arena, shape, (size_t)n_dims, sizeof *shape);
    if (!kept)
        return DT_ERR_MEMORY;
    call->outputs[call->n_outputs++] = (dt_op_value){.dtype = dtype, .n_dims = n_dims, .shape = kept};
    return DT_OK;
}

/* "f32[4,3] S(0)"; a tensor whose placements are not known yet goes without. */
static void add_value(const dt_op_value *value, dt__text *out) {
    char placements[PLACEMENT_BYTES];
    dt__text_add(out, "%s[", dt_dtype_name(value->dtype));
    for (int d = 0; d < value->n_dims; d++)
        dt__text_add(out, "%s%" PRId64, d ? "," : "", value->shape[d]);
    dt__text_add(out, "]");
    if (!value->spec)
        return;
    dt_placements_text(value->spec->sharding.n_mesh_dims, value->spec->sharding.placements, sizeof placements,
                       placements);
    dt__text_add(out, " %s", placements);
}

dt_status(dt_op_refuse)(const dt_op_call *call, dt_status status, const char *format, ...) {
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    dt__text inputs = dt__text_new(call->ctx);
    for (int i = 0; i < call->n_inputs && i < SHOWN_INPUTS; i++) {
        dt__text_add(&inputs, i ? ", " : ": ");
        add_value(&call->inputs[i], &inputs);
    }
    dt__text_add(&inputs, call->n_inputs > SHOWN_INPUTS ? ", …" : "");
    dt__fail(call->ctx, status, "%s%s: %s", call->name, dt__text_chars(&inputs), why);
    dt__text_free(&inputs);
    return status;
}

/* Names are short, and most differ in their first letter. */
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
