/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines for `dtensor query`: the answer to any bytes is one JSON object on one line; an error has a code of the
 * protocol and a message.
 */
#include "fuzz.h"

#include "dtensor/query.h"

static const char *const codes[] = {"json",  "field",     "op",   "shape",      "dtype",
                                    "value", "placement", "mesh", "unsupported"}; /* and never "internal" */

static bool is_known(const char *code) {
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (code && !strcmp(code, codes[i]))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__text answer = dt__text_new(ctx);
    query_answer((const char *)bytes, n, &answer);
    const char *line = dt__text_chars(&answer);
    FUZZ_CHECK(!strpbrk(line, "\n\r"), "%s", line);
    json_t *parsed = json_loadb(line, answer.n_chars, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_CHECK(json_is_object(parsed), "%s", line);
    const json_t *error = json_object_get(parsed, "error");
    if (error) {
        FUZZ_CHECK(is_known(json_string_value(json_object_get(error, "code"))), "%s", line);
        FUZZ_CHECK(json_string_length(json_object_get(error, "message")) > 0, "%s", line);
    }
    json_decref(parsed);
    dt__text_free(&answer);
    dt__ctx_free(ctx);
    return 0;
}
