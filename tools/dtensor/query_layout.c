/* SPDX-License-Identifier: Apache-2.0
 *
 * `{"q":"layout","do":…}`: one operation of the layout algebra on layouts given as nested shapes and strides.
 */
#include "query_answer.h"

#include "json_text.h"
#include "layout/layout.h"
#include "mesh_json.h"

#include <stdio.h>
#include <string.h>

/* A nested list of integers. Its depth is checked on the way down, so that a deep one costs little. */
static dt_status read_tuple(const request *asked, const char *name, const json_t *value, int depth, dt__tuple *out) {
    if (!json_is_array(value)) {
        DT__TRY(request_int(asked, name, value, 0, INT64_MAX, &out->value));
        *out = dt__tuple_int(out->value);
        return DT_OK;
    }
    if (depth == DT__TUPLE_MAX_DEPTH)
        return dt__fail(asked->ctx, DT_ERR_FIELD, "field '%s': lists nest more than %d deep", name,
                        (int)DT__TUPLE_MAX_DEPTH);
    size_t n = json_array_size(value);
    dt__tuple *items = DT__NEW_ARRAY(asked->arena, dt__tuple, n);
    if (!items)
        return DT_ERR_MEMORY;
    for (size_t i = 0; i < n; i++)
        DT__TRY(read_tuple(asked, name, json_array_get(value, i), depth + 1, &items[i]));
    return dt__tuple_list(asked->arena, items, (int64_t)n, out);
}

/* {"shape":…,"stride":…}; without a stride the row-major one is meant. */
static dt_status read_layout(const request *asked, const char *name, dt__layout *out) {
    static const request_field allowed[] = {{"shape", true}, {"stride", false}, {0}};
    const json_t *value = request_get(asked, name);
    if (!json_is_object(value))
        return request_wrong(asked, name, "an object with shape and stride", value);
    request parts = {asked->ctx, asked->arena, value};
    DT__TRY(request_check_fields(&parts, name, allowed));
    const json_t *stride_json = request_get(&parts, "stride");
    char path[32];
    dt__tuple shape, stride;
    snprintf(path, sizeof path, "%s.shape", name);
    DT__TRY(read_tuple(asked, path, request_get(&parts, "shape"), 0, &shape));
    snprintf(path, sizeof path, "%s.stride", name);
    if (stride_json)
        DT__TRY(read_tuple(asked, path, stride_json, 0, &stride));
    return dt__layout_new(asked->arena, &shape, stride_json ? &stride : NULL, out);
}

static dt_status add_value(dt__text *out, const dt__tuple *value) {
    json_add(out, "{\"value\":");
    tuple_json(value, out);
    json_add(out, "}");
    return DT_OK;
}

static dt_status coalesce(const request *asked, const dt__layout *a, dt__text *out) {
    dt__layout result;
    DT__TRY(dt__layout_coalesce(asked->arena, a, &result));
    layout_json(&result, out);
    return DT_OK;
}

static dt_status complement(const request *asked, const dt__layout *a, dt__text *out) {
    dt__layout result;
    int64_t size = 0;
    DT__TRY(request_int(asked, "size", request_get(asked, "size"), 0, INT64_MAX, &size));
    DT__TRY(dt__layout_complement(asked->arena, a, size, &result));
    layout_json(&result, out);
    return DT_OK;
}

static dt_status composition(const request *asked, const dt__layout *a, dt__text *out) {
    dt__layout b, result;
    DT__TRY(read_layout(asked, "b", &b));
    DT__TRY(dt__layout_composition(asked->arena, a, &b, &result));
    layout_json(&result, out);
    return DT_OK;
}

static dt_status right_inverse(const request *asked, const dt__layout *a, dt__text *out) {
    dt__layout result;
    DT__TRY(dt__layout_right_inverse(asked->arena, a, &result));
    layout_json(&result, out);
    return DT_OK;
}

static dt_status left_inverse(const request *asked, const dt__layout *a, dt__text *out) {
    dt__layout result;
    DT__TRY(dt__layout_left_inverse(asked->arena, a, &result));
    layout_json(&result, out);
    return DT_OK;
}

static dt_status size(const request *asked, const dt__layout *a, dt__text *out) {
    (void)asked;
    dt__tuple value = dt__tuple_int(dt__layout_size(a));
    return add_value(out, &value);
}

static dt_status cosize(const request *asked, const dt__layout *a, dt__text *out) {
    (void)asked;
    dt__tuple value = dt__tuple_int(dt__layout_cosize(a));
    return add_value(out, &value);
}

static dt_status crd2idx(const request *asked, const dt__layout *a, dt__text *out) {
    dt__tuple coord, value = dt__tuple_int(0);
    DT__TRY(read_tuple(asked, "coord", request_get(asked, "coord"), 0, &coord));
    DT__TRY(dt__layout_crd2idx(asked->arena, a, &coord, &value.value));
    return add_value(out, &value);
}

static dt_status idx2crd(const request *asked, const dt__layout *a, dt__text *out) {
    dt__tuple coord;
    int64_t index = 0;
    DT__TRY(request_int(asked, "index", request_get(asked, "index"), 0, INT64_MAX, &index));
    DT__TRY(dt__layout_idx2crd(asked->arena, a, index, &coord));
    return add_value(out, &coord);
}

/* What can be done, and the field that it takes besides the layout `a`. */
static const struct operation {
    const char *name, *field;
    dt_status (*answer)(const request *asked, const dt__layout *a, dt__text *out);
} operations[] = {
    {"coalesce", NULL, coalesce},
    {"complement", "size", complement},
    {"composition", "b", composition},
    {"right_inverse", NULL, right_inverse},
    {"left_inverse", NULL, left_inverse},
    {"size", NULL, size},
    {"cosize", NULL, cosize},
    {"crd2idx", "coord", crd2idx},
    {"idx2crd", "index", idx2crd},
};
enum { N_OPERATIONS = sizeof operations / sizeof *operations };

static dt_status answer(const request *asked, dt__text *out) {
    const char *name = NULL;
    DT__TRY(request_string(asked, "do", request_get(asked, "do"), &name));
    for (int i = 0; i < N_OPERATIONS; i++) {
        if (strcmp(name, operations[i].name) != 0)
            continue;
        const request_field allowed[] = {{"do", true}, {"a", true}, {operations[i].field, true}, {0}};
        dt__layout a;
        DT__TRY(request_check_fields(asked, name, allowed));
        DT__TRY(read_layout(asked, "a", &a));
        return operations[i].answer(asked, &a, out);
    }
    return dt__fail(asked->ctx, DT_ERR_FIELD, "layout: there is no operation '%.60s'", name);
}

const request_kind query_layout = {
    .q = "layout",
    .fields = {{"do", true}, {"a", true}, {"b", false}, {"size", false}, {"coord", false}, {"index", false}},
    .answer = answer,
};
