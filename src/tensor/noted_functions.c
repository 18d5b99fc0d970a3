/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds public calls other than ops to the call histories of meshes (comm/call_history.h). Each public function that
 * makes, changes, moves or reads a distributed tensor notes itself when it has its tensor, before it checks the other
 * arguments; queries do not. Ops are noted by dispatch, with a text that is made once per decision.
 */
#include "base/text.h"
#include "mesh/mesh.h"
#include "tensor/tensor.h"

#include <stdio.h>
#include <string.h>

static uint64_t hash_text(const char *text, uint64_t hash) {
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* "redistribute(f32[8,6] S(0) on mesh(tp=2); R)" */
static uint32_t label_of(dt_ctx *ctx, uint64_t fingerprint, const dt_spec *spec, const dt__call_details *details) {
    uint32_t label = dt__label_find(ctx, fingerprint);
    if (label)
        return label;
    dt__text text = dt__text_new(ctx);
    char form[256];
    (void)dt_spec_text(spec, sizeof form, form);
    dt__text_add(&text, "%s(%s", ctx->call.name, form);
    if (details->other) {
        (void)dt_spec_text(details->other, sizeof form, form);
        dt__text_add(&text, "; %s", form);
    }
    dt__text_add(&text, "%s%s", details->text ? "; " : "", details->text ? details->text : "");
    if (details->describe)
        details->describe(details->describe_arg, &text);
    dt__text_add(&text, ")");
    label = dt__label_new(ctx, fingerprint, dt__text_chars(&text));
    dt__text_free(&text);
    return label;
}

/* "optimizer_step(f32[8,6] R on mesh(tp=2); method=sgd)", or "optimizer_step(f32[8,6] R on mesh(tp=2); lr=": the value
 * and ")" follow in errors. */
static uint32_t label_of_field(dt_ctx *ctx, uint64_t fingerprint, const dt_spec *spec, const dt__field *field) {
    uint32_t label = dt__label_find(ctx, fingerprint);
    if (label)
        return label;
    char text[DT__MAX_LABEL], form[256];
    (void)dt_spec_text(spec, sizeof form, form);
    snprintf(text, sizeof text, "%s(%s; %s=%s%s", ctx->call.name, form, field->name, field->text ? field->text : "",
             field->text ? ")" : "");
    return dt__label_new(ctx, fingerprint, text);
}

void dt__note_fields(const dt_spec *spec, const dt__field *fields, int n) {
    dt__history *history = dt__mesh_history(spec->mesh);
    dt_ctx *ctx = dt_mesh_ctx(spec->mesh);
    if (!history || !dt__call_is_noted(ctx))
        return;
    uint64_t call = dt__hash(ctx->call.name, strlen(ctx->call.name), spec->fingerprint);
    for (int i = 0; i < n; i++) {
        const char *text = fields[i].text;
        uint64_t fingerprint = dt__hash(fields[i].name, strlen(fields[i].name), call);
        fingerprint = text ? hash_text(text, fingerprint) : fingerprint;
        dt__history_entry entry = {.call = fingerprint};
        entry.text = dt__label_text(label_of_field(ctx, fingerprint, spec, &fields[i]),
                                    text ? DT__SHOW_NONE : DT__SHOW_DOUBLE);
        memcpy(&entry.first, &fields[i].value, sizeof entry.first);
        entry.value = dt__hash_u64(entry.first, 0);
        dt__history_note(history, &entry, ctx->call.site);
    }
}

void dt_apart_begin(dt_ctx *ctx) {
    if (ctx)
        ctx->call.apart += DT__APART;
}

dt_status dt_apart_end_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "apart_end", site);
    if (!ctx)
        return DT_ERR_VALUE;
    if (!ctx->call.apart)
        return dt__fail(ctx, DT_ERR_STATE, "expected an open dt_apart_begin, got none");
    ctx->call.apart -= DT__APART;
    return DT_OK;
}

dt_status dt__note_public_call(const dt_spec *spec, const dt__call_details *details) {
    static const dt__call_details none;
    details = details ? details : &none;
    dt_ctx *ctx = dt_mesh_ctx(spec->mesh);
    if (ctx->status != DT_OK)
        return DT_OK; /* queries work after an error, but peers compare what led to it */
    dt_mesh *second = details->other ? details->other->mesh : details->mesh;
    if (dt__is_freed((const dt__lifetime *)second))
        second = NULL; /* the call fails, on all ranks alike */
    dt__history *history = dt__mesh_history(spec->mesh), *other = second ? dt__mesh_history(second) : NULL;
    if (!history && !other)
        return DT_OK;
    uint64_t fingerprint = dt__hash_u64(spec->fingerprint, hash_text(ctx->call.name, details->hash));
    if (details->other)
        fingerprint = dt__hash_u64(details->other->fingerprint, fingerprint);
    if (details->text)
        fingerprint = hash_text(details->text, fingerprint);
    dt__history_entry entry = {.call = fingerprint, .text = label_of(ctx, fingerprint, spec, details)};
    for (int i = 0; i < details->n_values; i++) {
        uint64_t bits;
        memcpy(&bits, &details->values[i], sizeof bits);
        entry.value = dt__hash_u64(bits, entry.value);
        if (i == 0) {
            entry.text = dt__label_text((uint32_t)entry.text, DT__SHOW_DOUBLE);
            entry.first = bits;
        }
    }
    if (history)
        dt__history_note(history, &entry, ctx->call.site);
    if (other && other != history)
        dt__history_note(other, &entry, ctx->call.site);
    DT__TRY(dt__mesh_check_calls(spec->mesh));
    return other && other != history ? dt__mesh_check_calls(second) : DT_OK;
}
