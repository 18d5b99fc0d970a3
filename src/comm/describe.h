/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations in words: the packed `what` of an entry, and what a rank is doing, as people read it in errors.
 */
#ifndef DT_COMM_DESCRIBE_H
#define DT_COMM_DESCRIBE_H

#include "comm/runtime.h"
#include "comm/segment.h"

#include <stdio.h>

/* op, dtype, reduction and root of a call in one word, so that two calls compare by one comparison. Bits 24 to 31 are
 * flags; only DT__WHAT_BLOCKS_DIFFER of them must agree. */
#define DT__WHAT_BLOCKS_DIFFER (UINT64_C(1) << 24)
#define DT__WHAT_RECEIVES      (UINT64_C(1) << 31) /* the other side of a send; for texts */
#define DT__WHAT_OWN_FLAGS     (UINT64_C(0xfe) << 24)
static inline uint64_t dt__what_pack(dt__work_op op, dt_dtype dtype, dt_reduce reduce, int64_t root) {
    return (uint64_t)op | (uint64_t)dtype << 8 | (uint64_t)reduce << 16 | (uint64_t)root << 32;
}
static inline dt__work_op dt__what_op(uint64_t what) { return (dt__work_op)(what & 0xff); }
static inline dt_dtype dt__what_dtype(uint64_t what) { return (dt_dtype)(what >> 8 & 0xff); }
static inline dt_reduce dt__what_reduce(uint64_t what) { return (dt_reduce)(what >> 16 & 0xff); }
static inline int64_t dt__what_root(uint64_t what) { return (int64_t)(what >> 32); }

static inline bool dt__what_agrees(uint64_t a, uint64_t b) { return ((a ^ b) & ~DT__WHAT_OWN_FLAGS) == 0; }

/* "all_reduce of f32 x 1024, sum" or "broadcast of f32 x 3 from 0". */
void dt__describe_call(uint64_t what, uint64_t count, char *text, size_t room);
/* All ranks and their last calls, a line each. */
void dt__segment_dump(const struct dt__segment *segment, FILE *out);
/* "rank 3" or "ranks 0-3,7" of a bit set of the first 128 world ranks, or "5000 ranks". */
void dt__describe_set(const uint64_t set[2], uint64_t n_members, char *text, size_t room);

#endif
