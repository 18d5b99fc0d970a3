/* SPDX-License-Identifier: Apache-2.0
 *
 * One request of `dtensor query` and how its fields are read. Each reader checks type and range and records an error
 * that names the field, what was wanted and what is there ("field 'world': wanted an integer from 1 to 8, got
 * \"x\""). Everything that a request makes lives in its own context and arena and goes with them.
 */
#ifndef TOOLS_DTENSOR_REQUEST_H
#define TOOLS_DTENSOR_REQUEST_H

#include "base/arena.h"
#include "base/text.h"

#include <jansson.h>

enum {
    REQUEST_MAX_FIELDS = 12,
    REQUEST_MAX_ANSWER_BYTES = 64 << 20, /* of one answer */
};

typedef struct request {
    dt_ctx *ctx;
    dt__arena *arena;
    const json_t *fields; /* an object */
} request;

typedef struct request_field {
    const char *name;
    bool required;
} request_field;

/* A kind of request: what may be in it and what answers it. The answer is appended to out; after an error what was
 * appended is thrown away. */
typedef struct request_kind {
    const char *q;
    request_field fields[REQUEST_MAX_FIELDS]; /* apart from "q"; ends with a row without a name */
    dt_status (*answer)(const request *asked, dt__text *out);
} request_kind;

/* Every field is in the list and every required one is there; owner ("shard") is named in the error. */
dt_status request_check_fields(const request *asked, const char *owner, const request_field *allowed);

/* The field's value, or NULL. */
const json_t *request_get(const request *asked, const char *name);

/* Readers of a value that stands in the field `name`. */
dt_status request_int(const request *asked, const char *name, const json_t *value, int64_t min, int64_t max,
                      int64_t *out);
dt_status request_string(const request *asked, const char *name, const json_t *value, const char **out);
/* A list of integers from min to max, in the arena. */
dt_status request_ints(const request *asked, const char *name, const json_t *value, int64_t min, int64_t max,
                       int64_t **out, int *n);
/* A list of strings, in the arena; the characters are the request's. */
dt_status request_strings(const request *asked, const char *name, const json_t *value, const char ***out, int *n);

/* Records "field 'do': wanted a list, got 7" as an error of code `field`. */
dt_status request_wrong(const request *asked, const char *name, const char *wanted, const json_t *got);

/* Refuses an answer that has grown beyond REQUEST_MAX_ANSWER_BYTES. */
dt_status request_check_size(const request *asked, const dt__text *out);

#endif
