/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds ops to the call histories of meshes (comm/call_history.h). A call is noted before it is checked, whether it
 * fails or not, so that ranks which make the same calls have the same history. Its fingerprint covers the op's name,
 * the specs of the inputs and the arguments that do not vary, and is computed once per decision. It contains no ids,
 * because ids depend on which specs a rank made before, and no ranks of a mesh, because the history belongs
 * to one mesh, whose members may see different ranks in the other meshes of a call.
 */
#include "base/hot.h"
#include "dispatch/decision.h"

#include "mesh/mesh.h"

#include <string.h>

static uint64_t hash_bytes(const void *bytes, size_t n, uint64_t hash) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return dt__hash_u64(n, hash);
}

static uint64_t hash_value(const dt_arg *arg, uint64_t hash) {
    switch (arg->type) {
    case DT_ARG_INT:
        return dt__hash_u64((uint64_t)arg->as.i, hash);
    case DT_ARG_BOOL:
        return dt__hash_u64(arg->as.b, hash);
    case DT_ARG_DTYPE:
        return dt__hash_u64((uint64_t)arg->as.dtype, hash);
    case DT_ARG_TENSORS:
        hash = dt__hash_u64((uint64_t)(uint32_t)arg->n, hash);
        for (int i = 0; i < arg->n; i++)
            hash = dt_arg_member(arg, i) < 0 ? dt__hash_u64((uint64_t)i, hash) : hash;
        return hash;
    case DT_ARG_FLOAT:
        return hash_bytes(&arg->as.f, sizeof arg->as.f, hash);
    case DT_ARG_COMPLEX:
        return hash_bytes(arg->as.c, sizeof arg->as.c, hash);
    case DT_ARG_INTS:
        return hash_bytes(arg->as.ints, (size_t)arg->n * sizeof *arg->as.ints, hash);
    case DT_ARG_FLOATS:
        return hash_bytes(arg->as.floats, (size_t)arg->n * sizeof *arg->as.floats, hash);
    case DT_ARG_TEXT:
        return hash_bytes(arg->as.text, strlen(arg->as.text), hash);
    default:
        return hash;
    }
}

static uint64_t hash_tensor(const dt_tensor *tensor, uint64_t hash) {
    if (tensor->spec)
        return dt__hash_u64(tensor->spec->layout_fingerprint, hash);
    hash = dt__hash_u64((uint64_t)tensor->dtype << 8 | (uint64_t)tensor->n_dims, hash);
    return hash_bytes(tensor->shape, (size_t)tensor->n_dims * sizeof *tensor->shape, hash);
}

static uint64_t fingerprint_of(const dt__call *call) {
    const dt__signature *signature = &call->info->schema.signatures[call->overload];
    const char *name = call->info->schema.name;
    uint64_t hash = hash_bytes(name, strlen(name), (uint64_t)call->overload);
    for (int i = 0; i < signature->n_params; i++) {
        hash = dt__hash_u64((uint64_t)call->args[i].type, hash);
        if (!(signature->varying >> i & 1))
            hash = hash_value(&call->args[i], hash);
    }
    for (int i = 0; i < call->n_inputs; i++)
        hash = hash_tensor(call->inputs[i], hash);
    for (int i = 0; call->used && i < call->n_inputs; i++)
        hash = dt__hash_u64(call->used[i] ? call->used[i]->layout_fingerprint : 0, hash);
    if (call->maker && call->maker->mesh)
        hash = dt__hash_u64(dt_mesh_fingerprint(call->maker->mesh), hash);
    if (call->maker && call->maker->place)
        hash = hash_bytes(call->maker->place, strlen(call->maker->place), hash);
    if (call->maker && call->maker->use)
        hash = hash_bytes(call->maker->use, strlen(call->maker->use), hash);
    return hash;
}

#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

static bool fits_half(uint64_t bits) { return (int64_t)bits == (int32_t)bits; }

/* Adds the call; its arguments that vary are noted by value, and the first of them is shown, or two integers. */
static void note(dt__history *history, const dt_ctx *ctx, const dt__call *call, const dt__call_entry *entry) {
    uint64_t value = 0, first = 0;
    enum dt__shown_value shown = DT__SHOW_NONE;
    for (uint32_t left = call->info->schema.signatures[call->overload].varying; left; left &= left - 1) {
        const dt_arg *arg = &call->args[__builtin_ctz(left)];
        bool is_number = arg->type == DT_ARG_FLOAT || arg->type == DT_ARG_INT;
        uint64_t bits = is_number ? (uint64_t)arg->as.i : hash_value(arg, 0); /* a double has the same bytes */
        if (is_number && !shown) {
            first = bits;
            shown = arg->type == DT_ARG_FLOAT ? DT__SHOW_DOUBLE : DT__SHOW_INT;
        } else if (shown == DT__SHOW_INT && arg->type == DT_ARG_INT && fits_half(first) && fits_half(bits)) {
            first = (uint32_t)first | bits << 32;
            shown = DT__SHOW_TWO_INTS;
        }
        value = (value ^ bits) * MULTIPLIER;
    }
    dt__history_note(history,
                     &(dt__history_entry){entry->fingerprint, value, dt__label_text(entry->label, shown), first},
                     ctx->call.site);
}

/* "ones(size=[8,6]; dtype=f32) S(0) on mesh(tp=2)" of a maker. Arguments that vary are shown with each call. */
static void add_call(const dt__call *call, dt__text *out) {
    uint32_t varying = call->info->schema.signatures[call->overload].varying;
    dt__call_print(call, varying, out);
    if (!call->maker || !call->maker->mesh)
        return;
    const char *mesh = dt_mesh_text(call->maker->mesh);
    dt__text_add(out, " %s", call->maker->place ? call->maker->place : "R");
    if (call->maker->use)
        dt__text_add(out, " use %s", call->maker->use);
    dt__text_add(out, " on mesh(%s)", mesh ? mesh : "");
}

static uint32_t label_of(dt_ctx *ctx, const dt__call *call, uint64_t fingerprint) {
    uint32_t label = dt__label_find(ctx, fingerprint);
    if (label)
        return label;
    dt__text text = dt__text_new(ctx);
    add_call(call, &text);
    label = dt__label_new(ctx, fingerprint, dt__text_chars(&text));
    dt__text_free(&text);
    return label;
}

static void describe_number(const dt_ctx *ctx, const dt__call *call, dt__call_entry *out) {
    uint32_t varying = call->info->schema.signatures[call->overload].varying;
    out->number = varying ? __builtin_ctz(varying) : 0;
    dt_arg_type type = varying ? call->args[out->number].type : DT_ARG_NONE;
    enum dt__shown_value shown = type == DT_ARG_FLOAT ? DT__SHOW_DOUBLE
                                 : type == DT_ARG_INT ? DT__SHOW_INT
                                                      : DT__SHOW_NONE;
    out->has_number = shown != DT__SHOW_NONE;
    out->text = dt__label_text(out->label, shown);
    out->is_simple =
        !ctx->checks_calls && !ctx->checks_replicas && (!varying || (out->has_number && !(varying & (varying - 1))));
}

static bool has_history(const dt__call *call) {
    bool found = call->maker && call->maker->mesh && dt__mesh_history(call->maker->mesh);
    for (int i = 0; i < call->n_inputs && !found; i++)
        found = call->inputs[i]->spec && dt__mesh_history(call->inputs[i]->spec->mesh);
    return found;
}

void dt__describe_entry(dt_ctx *ctx, const dt__call *call, dt__call_entry *out) {
    *out = (dt__call_entry){0};
    if (!has_history(call))
        return;
    out->fingerprint = fingerprint_of(call);
    out->label = label_of(ctx, call, out->fingerprint);
    describe_number(ctx, call, out);
}

/* Neither views nor in-place ops: the memory that these overwrite may never have held values, and their results are
 * read later. */
static bool reads_values(const dt__call *call) {
    return !(call->info->op->flags & DT_OP_VIEW) && !call->info->schema.signatures[call->overload].written;
}

static dt_status note_on(const dt_ctx *ctx, const dt__call *call, dt_mesh *mesh, const dt__call_entry *entry) {
    dt__history *history = dt__mesh_history(mesh);
    if (!history)
        return DT_OK; /* this rank is outside */
    note(history, ctx, call, entry);
    DT__TRY(dt__mesh_check_calls(mesh));
    return reads_values(call) ? dt__check_replicas(mesh, call->n_inputs, call->inputs) : DT_OK;
}

static dt_status __attribute__((noinline))
note_any(const dt_ctx *ctx, const dt__call *call, const dt__decision *decision) {
    dt_status status = decision->mesh ? note_on(ctx, call, decision->mesh, &decision->entry) : DT_OK;
    for (int m = 0; m < decision->n_more_meshes && status == DT_OK; m++)
        status = note_on(ctx, call, decision->more_meshes[m], &decision->entry);
    return status;
}

/* For a decision without a history. Either this rank is outside its first mesh; or it was made for a part of a list,
 * which is not noted, and is now found by a call of the program itself, which every rank must note whatever it has
 * cached. */
static dt_status __attribute__((noinline))
note_without_history(dt_ctx *ctx, const dt__call *call, dt__decision *decision) {
    if (decision->is_of_part) {
        dt__describe_entry(ctx, call, &decision->entry);
        decision->history = decision->mesh ? dt__mesh_history(decision->mesh) : NULL;
        decision->is_of_part = false;
    }
    return dt__call_is_noted(ctx) ? note_any(ctx, call, decision) : DT_OK;
}

DT__HOT dt_status dt__note_call(dt_ctx *ctx, const dt__call *call, dt__decision *decision) {
    dt__history *history = decision->history;
    if (!history)
        return decision->is_of_part || decision->n_more_meshes ? note_without_history(ctx, call, decision) : DT_OK;
    if (!dt__call_is_noted(ctx))
        return DT_OK;
    const dt__call_entry *entry = &decision->entry;
    const dt_site *site = ctx->call.site;
    if (!entry->is_simple || !site || site->file != history->last_file || decision->n_more_meshes)
        return note_any(ctx, call, decision);
    /* A fast path of note for nearly all calls. It calls no function, so no registers are saved. */
    uint64_t first = entry->has_number ? (uint64_t)call->args[entry->number].as.i : 0;
    dt__history_put(history, &(dt__history_entry){entry->fingerprint, first * MULTIPLIER, entry->text, first},
                    history->file_text | dt__line_text(site->line));
    return DT_OK;
}

dt_status dt__note_new_call(const dt_ctx *ctx, const dt__call *call, const dt__call_entry *entry) {
    if (!dt__call_is_noted(ctx))
        return DT_OK;
    dt_mesh *mesh = call->maker ? call->maker->mesh : NULL;
    const dt__history *made_on = mesh ? dt__mesh_history(mesh) : NULL;
    if (made_on)
        DT__TRY(note_on(ctx, call, mesh, entry));
    for (int i = 0; i < call->n_inputs; i++) {
        mesh = call->inputs[i]->spec ? call->inputs[i]->spec->mesh : NULL;
        const dt__history *history = mesh ? dt__mesh_history(mesh) : NULL;
        bool is_new = history && history != made_on;
        for (int k = 0; k < i && is_new; k++)
            is_new = !call->inputs[k]->spec || dt__mesh_history(call->inputs[k]->spec->mesh) != history;
        if (is_new)
            DT__TRY(note_on(ctx, call, mesh, entry));
    }
    return DT_OK;
}

dt_status dt__note_undecided_call(dt_ctx *ctx, const dt__call *call) {
    dt__call_entry entry;
    if (!dt__call_is_noted(ctx))
        return DT_OK;
    dt__describe_entry(ctx, call, &entry);
    return dt__note_new_call(ctx, call, &entry);
}
