/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses a request, finds its kind in the table, has it answered in a context of its own and turns a failure into an
 * error object. Kinds that are not served yet stand in the table without a function, so that they are told apart from
 * requests that do not exist.
 */
#include "query_answer.h"

#include "json_text.h"

#include <string.h>

static const request_kind *const kinds[] = {&query_layout, &query_mesh,      &query_shard, &query_redistribute,
                                            &query_rules,  &query_propagate, &query_run};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* What a caller may see as a code. */
static const dt_status told[] = {
    DT_ERR_JSON,  DT_ERR_FIELD,     DT_ERR_OP,   DT_ERR_SHAPE,       DT_ERR_DTYPE,
    DT_ERR_VALUE, DT_ERR_PLACEMENT, DT_ERR_MESH, DT_ERR_UNSUPPORTED, DT_ERR_INTERNAL,
};

void query_answer_error(dt__text *out, dt_status status, const char *message) {
    const char *code = dt_status_name(DT_ERR_INTERNAL);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (told[i] == status)
            code = dt_status_name(status);
    dt__text_clear(out);
    json_add(out, "{\"error\":{\"code\":");
    json_add_string(out, code);
    json_add(out, ",\"message\":");
    json_add_string(out, message);
    json_add(out, "}}");
}

static dt_status find_kind(const request *asked, const request_kind **out) {
    const char *q = NULL;
    DT__TRY(request_string(asked, "q", request_get(asked, "q"), &q));
    for (int i = 0; i < N_KINDS; i++)
        if (!strcmp(q, kinds[i]->q)) {
            *out = kinds[i];
            return DT_OK;
        }
    dt__text names = dt__text_new(asked->ctx);
    for (int i = 0; i < N_KINDS; i++)
        dt__text_add(&names, "%s%s", i ? ", " : "", kinds[i]->q);
    dt_status status = dt__text_status(&names);
    if (status == DT_OK)
        status = dt__fail(asked->ctx, DT_ERR_FIELD, "field 'q': there is no request '%.60s'; known are %s", q,
                          dt__text_chars(&names));
    dt__text_free(&names);
    return status;
}

static dt_status answer_object(const request *asked, dt__text *out) {
    if (!json_is_object(asked->fields))
        return dt__fail(asked->ctx, DT_ERR_FIELD, "a request is an object with a field 'q'");
    const request_kind *kind = NULL;
    DT__TRY(find_kind(asked, &kind));
    if (!kind->answer)
        return dt__fail(asked->ctx, DT_ERR_UNSUPPORTED, "%s: this request is not served by version %s", kind->q,
                        dt_version_text());
    DT__TRY(request_check_fields(asked, kind->q, kind->fields));
    DT__TRY(kind->answer(asked, out));
    return request_check_size(asked, out);
}

static dt_status answer_in(dt_ctx *ctx, const char *line, size_t n, dt__text *out) {
    json_error_t error;
    json_t *fields = json_loadb(line, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!fields)
        return dt__fail(ctx, DT_ERR_JSON, "%s at column %d", error.text, error.column);
    dt__arena arena = dt__arena_new(ctx);
    dt_status status = answer_object(&(request){.ctx = ctx, .arena = &arena, .fields = fields}, out);
    dt__arena_free(&arena);
    json_decref(fields);
    return status;
}

void query_answer(const char *line, size_t n, dt__text *out) {
    dt__text_clear(out);
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = out->ctx->allocator});
    dt_status status = ctx ? answer_in(ctx, line, n, out) : DT_ERR_MEMORY;
    if (status != DT_OK)
        query_answer_error(out, status, ctx ? dt_error_text(ctx) : dt_status_text(status));
    dt__ctx_free(ctx);
}
