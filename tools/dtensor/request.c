/* SPDX-License-Identifier: Apache-2.0
 *
 * Readers of request fields.
 */
#include "request.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 60 };

const json_t *request_get(const request *asked, const char *name) { return json_object_get(asked->fields, name); }

/* The value as JSON, cut short. Only a value that is short is printed at all: a depth bomb would be printed whole
 * just to be thrown away. */
static const char *shown(const json_t *value, char *buffer) {
    if (!value)
        return "nothing";
    if (json_is_array(value) && json_array_size(value) > 16)
        return "a longer list";
    size_t n = json_dumpb(value, buffer, SHOWN_BYTES, JSON_COMPACT | JSON_ENCODE_ANY);
    if (n == 0)
        return "something that cannot be shown";
    if (n <= SHOWN_BYTES) {
        buffer[n] = 0;
        return buffer;
    }
    n = SHOWN_BYTES;
    while (n > 0 && ((unsigned char)buffer[n - 1] & 0xc0) == 0x80)
        n--; /* not in the middle of a character */
    if (n > 0 && (unsigned char)buffer[n - 1] >= 0xc0)
        n--;
    memcpy(buffer + n, "…", sizeof "…");
    return buffer;
}

dt_status request_wrong(const request *asked, const char *name, const char *wanted, const json_t *got) {
    char buffer[SHOWN_BYTES + 8];
    return dt__fail(asked->ctx, DT_ERR_FIELD, "field '%s': wanted %s, got %s", name, wanted, shown(got, buffer));
}

static const request_field *find(const request_field *allowed, const char *name) {
    for (; allowed->name; allowed++)
        if (!strcmp(allowed->name, name))
            return allowed;
    return NULL;
}

dt_status request_check_fields(const request *asked, const char *owner, const request_field *allowed) {
    for (const request_field *field = allowed; field->name; field++)
        if (field->required && !request_get(asked, field->name))
            return dt__fail(asked->ctx, DT_ERR_FIELD, "%s: field '%s' is missing", owner, field->name);
    void *fields = (void *)asked->fields; /* the iterator's type asks for it; nothing is changed */
    for (void *at = json_object_iter(fields); at; at = json_object_iter_next(fields, at)) {
        const char *name = json_object_iter_key(at);
        if (strcmp(name, "q") != 0 && !find(allowed, name))
            return dt__fail(asked->ctx, DT_ERR_FIELD, "%s: there is no field '%.60s'", owner, name);
    }
    return DT_OK;
}

dt_status request_int(const request *asked, const char *name, const json_t *value, int64_t min, int64_t max,
                      int64_t *out) {
    if (json_is_integer(value) && json_integer_value(value) >= min && json_integer_value(value) <= max) {
        *out = json_integer_value(value);
        return DT_OK;
    }
    char wanted[96];
    if (max == INT64_MAX)
        snprintf(wanted, sizeof wanted, "an integer of at least %lld", (long long)min);
    else
        snprintf(wanted, sizeof wanted, "an integer from %lld to %lld", (long long)min, (long long)max);
    return request_wrong(asked, name, wanted, value);
}

dt_status request_string(const request *asked, const char *name, const json_t *value, const char **out) {
    if (!json_is_string(value))
        return request_wrong(asked, name, "a string", value);
    *out = json_string_value(value);
    return DT_OK;
}

static dt_status list(const request *asked, const char *name, const json_t *value, const char *wanted, int *n) {
    if (!json_is_array(value) || json_array_size(value) > INT_MAX)
        return request_wrong(asked, name, wanted, value);
    *n = (int)json_array_size(value);
    return DT_OK;
}

/* The name of an element, "shape[1]", for errors. */
static const char *element(const char *name, int i, char *buffer, size_t room) {
    snprintf(buffer, room, "%s[%d]", name, i);
    return buffer;
}

dt_status request_ints(const request *asked, const char *name, const json_t *value, int64_t min, int64_t max,
                       int64_t **out, int *n) {
    DT__TRY(list(asked, name, value, "a list of integers", n));
    int64_t *ints = DT__NEW_ARRAY(asked->arena, int64_t, *n);
    if (!ints)
        return DT_ERR_MEMORY;
    for (int i = 0; i < *n; i++) {
        const json_t *item = json_array_get(value, (size_t)i);
        char buffer[64];
        if (json_is_integer(item) && json_integer_value(item) >= min && json_integer_value(item) <= max)
            ints[i] = json_integer_value(item);
        else
            return request_int(asked, element(name, i, buffer, sizeof buffer), item, min, max, &ints[i]);
    }
    *out = ints;
    return DT_OK;
}

dt_status request_strings(const request *asked, const char *name, const json_t *value, const char ***out, int *n) {
    DT__TRY(list(asked, name, value, "a list of strings", n));
    const char **strings = DT__NEW_ARRAY(asked->arena, const char *, *n);
    if (!strings)
        return DT_ERR_MEMORY;
    for (int i = 0; i < *n; i++) {
        char buffer[64];
        DT__TRY(request_string(asked, element(name, i, buffer, sizeof buffer), json_array_get(value, (size_t)i),
                               &strings[i]));
    }
    *out = strings;
    return DT_OK;
}

dt_status request_check_size(const request *asked, const dt__text *out) {
    if (out->broken)
        return dt__fail_memory(asked->ctx, out->n_chars, "an answer");
    if (out->n_chars <= REQUEST_MAX_ANSWER_BYTES)
        return DT_OK;
    return dt__fail(asked->ctx, DT_ERR_UNSUPPORTED, "the answer is larger than the limit of %d bytes",
                    REQUEST_MAX_ANSWER_BYTES);
}
