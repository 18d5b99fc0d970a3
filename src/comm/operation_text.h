/* SPDX-License-Identifier: Apache-2.0
 *
 * The signature of an operation, one word that is published and compared, and texts about operations and ranks.
 */
#ifndef DT_COMM_OPERATION_TEXT_H
#define DT_COMM_OPERATION_TEXT_H

#include "comm/board.h"

#include <string.h>

/* The library call that an exchange is part of, for texts. Each caller has its own. */
enum { DT__CALL_NAME_BYTES = 24, DT__CALL_TEXT_BYTES = 4096 };
typedef struct dt__exchange_call {
    char
        name[DT__CALL_NAME_BYTES]; /* zeros after its end; texts name the exchange after it, and members compare it */
    bool shows_data;               /* texts add the dtype and the count */
    /* published memory begins with DT__CALL_TEXT_BYTES of text, which is shown when members make different calls */
    bool has_text;
} dt__exchange_call;

/* op, dtype, reduction and root of an operation in one word, so that one comparison compares two. Bits 23 to 31 are
 * flags; of these only DT__SIGNATURE_BLOCKS_DIFFER must agree. */
#define DT__SIGNATURE_VERDICT       (UINT64_C(1) << 23) /* the member has a verdict to report (verdict.h) */
#define DT__SIGNATURE_BLOCKS_DIFFER (UINT64_C(1) << 24)
#define DT__SIGNATURE_RECEIVES      (UINT64_C(1) << 31) /* the other side of a send; for texts */
#define DT__SIGNATURE_OWN_FLAGS     (UINT64_C(0xfe) << 24 | DT__SIGNATURE_VERDICT)
static inline uint64_t dt__signature_pack(dt__work_op op, dt_dtype dtype, dt_reduce reduce, int64_t root) {
    return (uint64_t)op | (uint64_t)dtype << 8 | (uint64_t)reduce << 16 | (uint64_t)root << 32;
}
static inline dt__work_op dt__signature_op(uint64_t signature) { return (dt__work_op)(signature & 0xff); }
static inline dt_dtype dt__signature_dtype(uint64_t signature) { return (dt_dtype)(signature >> 8 & 0xff); }
static inline dt_reduce dt__signature_reduce(uint64_t signature) { return (dt_reduce)(signature >> 16 & 0x7f); }
static inline int64_t dt__signature_root(uint64_t signature) { return (int64_t)(signature >> 32); }

/* An exchange has no root: this field stores a hash of its call's name and what texts show of it. */
#define DT__SIGNATURE_SHOWS_DATA (UINT64_C(1) << 62)
#define DT__SIGNATURE_HAS_TEXT   (UINT64_C(1) << 63)
static inline uint64_t dt__exchange_call_hash(const dt__exchange_call *call) {
    uint64_t words[DT__CALL_NAME_BYTES / 8];
    memcpy(words, call->name, sizeof words);
    return dt__hash_u64(words[0], dt__hash_u64(words[1], words[2]));
}
static inline uint64_t dt__signature_with_call(uint64_t signature, const dt__exchange_call *call) {
    return signature | (dt__exchange_call_hash(call) >> 34) << 32 |
           (call->shows_data ? DT__SIGNATURE_SHOWS_DATA : 0) | (call->has_text ? DT__SIGNATURE_HAS_TEXT : 0);
}
/* Whether members publish the text of the call. */
static inline bool dt__signature_has_text(uint64_t signature) {
    return dt__signature_op(signature) == DT__WORK_EXCHANGE && signature & DT__SIGNATURE_HAS_TEXT;
}

static inline bool dt__signature_matches(uint64_t a, uint64_t b) { return ((a ^ b) & ~DT__SIGNATURE_OWN_FLAGS) == 0; }

/* "all_reduce of f32 x 1024, sum" or "broadcast of f32 x 3 from 0"; name: of an exchange's call. */
void dt__describe_operation(uint64_t signature, uint64_t count, const char *name, char *text, size_t capacity);
/* Describes an operation of this rank, and a recent one of any rank. */
void dt__describe_own_operation(const dt_work *work, char *text, size_t capacity);
void dt__describe_recent_operation(const struct dt__recent_operation *operation, char *text, size_t capacity);
/* "rank 3" or "ranks 0-3,7" of a bit set of the first 128 world ranks, or "5000 ranks". */
void dt__describe_set(const uint64_t set[2], uint64_t n_members, char *text, size_t capacity);
/* A rank's current activity, for error texts: "in all_reduce of f32 x 1024, sum, #12 of ranks 0-3, for 3.2 s" or
 * "between calls; last: …", preceded by its local error if it has one. */
void dt__describe_rank(const struct dt__rank_block *block, char *text, size_t capacity);
/* "all_reduce of f32 x 1024, sum, #12 of ranks 0-3". */
void dt__describe_numbered_operation(const struct dt__recent_operation *operation, char *text, size_t capacity);
/* "exit code 3" or "signal 11 (SIGSEGV)". */
void dt__describe_wait_status(int wait_status, char *text, size_t capacity);
/* "rank 3" or "ranks 0-3,7" of an ascending list of ranks. */
void dt__describe_ranks(const int64_t *ranks, int64_t n_ranks, char *text, size_t capacity);
/* The oldest operation that a rank is in, as far as its log of recent operations has it; NULL: none. */
const struct dt__recent_operation *dt__operation_in_progress(const struct dt__rank_block *block);

/* rank_activity.c */
/* What a rank is doing, as one line for a person who watches the launch: dt__describe_rank, the ranks that it waits
 * for, its last calls on meshes if it is in none, and whether its process is stopped. Allocates nothing and takes no
 * lock, so that a signal handler may call it. */
void dt__describe_activity(const struct dt__rank_block *ranks, int64_t n_ranks, int64_t rank, char *text,
                           size_t capacity);
/* The rank at the end of the chain of ranks that wait for each other; the first one if the chain is a circle. */
int64_t dt__last_awaited(const struct dt__rank_block *ranks, int64_t n_ranks, int64_t rank);
/* A rank of this node whose process is stopped, by a signal or a debugger; -1: none. */
int64_t dt__stopped_rank(const struct dt__rank_block *ranks, int64_t n_ranks);

#endif
