/* SPDX-License-Identifier: Apache-2.0
 *
 * The signature of a call, one word that is published and compared, and texts about operations and ranks.
 */
#ifndef DT_COMM_OPERATION_TEXT_H
#define DT_COMM_OPERATION_TEXT_H

#include "comm/runtime.h"
#include "comm/segment.h"

#include <stdio.h>

/* op, dtype, reduction and root of a call in one word, so that one comparison compares two calls. Bits 24 to 31 are
 * flags; of these only DT__CALL_BLOCKS_DIFFER must agree. */
#define DT__CALL_BLOCKS_DIFFER (UINT64_C(1) << 24)
#define DT__CALL_RECEIVES      (UINT64_C(1) << 31) /* the other side of a send; for texts */
#define DT__CALL_OWN_FLAGS     (UINT64_C(0xfe) << 24)
static inline uint64_t dt__signature_pack(dt__work_op op, dt_dtype dtype, dt_reduce reduce, int64_t root) {
    return (uint64_t)op | (uint64_t)dtype << 8 | (uint64_t)reduce << 16 | (uint64_t)root << 32;
}
static inline dt__work_op dt__signature_op(uint64_t signature) { return (dt__work_op)(signature & 0xff); }
static inline dt_dtype dt__signature_dtype(uint64_t signature) { return (dt_dtype)(signature >> 8 & 0xff); }
static inline dt_reduce dt__signature_reduce(uint64_t signature) { return (dt_reduce)(signature >> 16 & 0xff); }
static inline int64_t dt__signature_root(uint64_t signature) { return (int64_t)(signature >> 32); }

/* An exchange has no root: its call is stored there. */
static inline uint64_t dt__signature_with_call(uint64_t signature, dt__exchange_call call) {
    return signature | (uint64_t)call << 32;
}
/* DT__CALL_REDISTRIBUTE for what is not an exchange. */
static inline dt__exchange_call dt__signature_call(uint64_t signature) {
    bool is_exchange = dt__signature_op(signature) == DT__WORK_EXCHANGE && signature >> 32 < DT__N_EXCHANGE_CALLS;
    return is_exchange ? (dt__exchange_call)(signature >> 32) : DT__CALL_REDISTRIBUTE;
}

/* Whether members publish the text of the call: those of files, which are the last of the list. */
static inline bool dt__signature_has_text(uint64_t signature) {
    return dt__signature_call(signature) >= DT__CALL_SAVE_NPY;
}

static inline bool dt__signature_matches(uint64_t a, uint64_t b) { return ((a ^ b) & ~DT__CALL_OWN_FLAGS) == 0; }

/* "all_reduce of f32 x 1024, sum" or "broadcast of f32 x 3 from 0". */
void dt__describe_call(uint64_t signature, uint64_t count, char *text, size_t capacity);
/* "rank 3" or "ranks 0-3,7" of a bit set of the first 128 world ranks, or "5000 ranks". */
void dt__describe_set(const uint64_t set[2], uint64_t n_members, char *text, size_t capacity);
/* Prints all ranks and their recent calls, one line each. */
void dt__segment_dump(const struct dt__segment *segment, FILE *out);

#endif
