/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads indexes, i64 or i32, and checks their range.
 */
#ifndef DT_KERNELS_INDEX_RANGE_H
#define DT_KERNELS_INDEX_RANGE_H

#include "kernels/kernels.h"

#include <string.h>

static inline int64_t dt__index_at(const dt__array *index, const char *at) {
    int64_t wide;
    int32_t narrow;
    if (index->dtype == DT_I64) {
        memcpy(&wide, at, 8);
        return wide;
    }
    memcpy(&narrow, at, 4);
    return narrow;
}

/* Whether all are from 0 to limit - 1; else the first of the others, in the order of the array, is in *bad. */
bool dt__check_indexes(const dt__array *index, int64_t limit, int64_t *bad);

#endif
