/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and texts of statuses, dtypes and reductions, generated from the lists in the public header.
 */
#include "base/dtype.h"

#include <string.h>

const char *dt_status_name(dt_status status) {
    switch (status) {
#define WORD(name, value, word, text)                                                                                \
    case DT_##name:                                                                                                  \
        return word;
        DT_STATUS_LIST(WORD)
#undef WORD
    }
    return "unknown";
}

const char *dt_status_text(dt_status status) {
    switch (status) {
#define TEXT(name, value, word, text)                                                                                \
    case DT_##name:                                                                                                  \
        return text;
        DT_STATUS_LIST(TEXT)
#undef TEXT
    }
    return "not a status";
}

static const struct {
    const char *word;
    size_t size;
} dtypes[] = {
#define ROW(name, size, word) [DT_##name] = {word, size},
    DT_DTYPE_LIST(ROW)
#undef ROW
};

static const char *const reduces[] = {
#define ROW(name, word) [DT_##name] = word,
    DT_REDUCE_LIST(ROW)
#undef ROW
};

static bool is_dtype(dt_dtype dtype) { return dtype > DT_NO_DTYPE && dtype < DT_N_DTYPES; }
static bool is_reduce(dt_reduce reduce) { return (unsigned)reduce < DT_N_REDUCES; }

size_t dt_dtype_size(dt_dtype dtype) { return is_dtype(dtype) ? dtypes[dtype].size : 0; }
const char *dt_dtype_name(dt_dtype dtype) { return is_dtype(dtype) ? dtypes[dtype].word : "?"; }
const char *dt_reduce_name(dt_reduce reduce) { return is_reduce(reduce) ? reduces[reduce] : "?"; }

bool dt_dtype_parse(const char *word, dt_dtype *out) {
    for (int i = DT_NO_DTYPE + 1; word && i < DT_N_DTYPES; i++)
        if (!strcmp(word, dtypes[i].word)) {
            *out = (dt_dtype)i;
            return true;
        }
    return false;
}

bool dt_reduce_parse(const char *word, dt_reduce *out) {
    for (int i = 0; word && i < DT_N_REDUCES; i++)
        if (!strcmp(word, reduces[i])) {
            *out = (dt_reduce)i;
            return true;
        }
    return false;
}

bool dt_reduce_allowed(dt_dtype dtype, dt_reduce reduce) {
    if (!is_dtype(dtype) || !is_reduce(reduce))
        return false;
    if (dt__is_complex(dtype))
        return reduce != DT_MIN && reduce != DT_MAX;
    return dtype != DT_BOOL || reduce != DT_AVG;
}
