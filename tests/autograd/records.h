/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of records share: the text of a tensor's records, and of the last one alone.
 */
#ifndef DT_TESTS_AUTOGRAD_RECORDS_H
#define DT_TESTS_AUTOGRAD_RECORDS_H

#include "dispatch/calls.h"

#include "autograd/autograd.h"

/* All records of the tensor, or those from the last `n` on; "" for none. Valid for the next seven calls. */
static inline const char *records_text(const dt_tensor *tensor, int n) {
    static _Thread_local char text[8][4096];
    static _Thread_local int at;
    char *out = text[at++ % 8];
    if (!tensor)
        return "NULL";
    dt__text built = dt__text_new(tensor->ctx);
    (void)dt__record_text(tensor, &built);
    const char *from = dt__text_chars(&built), *end = from + strlen(from);
    for (const char *line = end; n > 0 && line > from; line--)
        if (line == from + 1 || line[-2] == '\n')
            if (--n == 0)
                from = line - 1;
    snprintf(out, sizeof text[0], "%s", from);
    dt__text_free(&built);
    return out;
}

/* The last record, without its number and the end of the line. */
static inline const char *records_last(const dt_tensor *tensor) {
    static _Thread_local char text[8][1024];
    static _Thread_local int at;
    char *out = text[at++ % 8];
    const char *last = records_text(tensor, 1), *space = strchr(last, ' ');
    snprintf(out, sizeof text[0], "%s", space ? space + 1 : last);
    out[strcspn(out, "\n")] = '\0';
    return out;
}

/* In a test on ranks: the last record of the tensor. */
#define CHECK_RECORD(tensor, expected)                                                                               \
    do {                                                                                                             \
        const char *record_ = records_last(tensor);                                                                  \
        CHECK(!strcmp(record_, expected), "expected '%s', got '%s'", expected, record_);                             \
    } while (0)

#endif
