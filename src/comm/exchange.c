/* SPDX-License-Identifier: Apache-2.0
 *
 * What the steps of an exchange read from its members: the addresses that these have published, checked against their
 * heaps.
 */
#include "comm/comm.h"

#include <string.h>

/* Word i of the payload that member c of an exchange publishes: the offset of dst; that of the strides, or
 * DT__FILLED_IN_ROUNDS. */
static uint64_t payload_word(const dt_work *work, int64_t c, int i) {
    uint64_t words[DT__INLINE_BYTES / 8];
    memcpy(words, dt__entry_of(work, c)->payload, sizeof words);
    return words[i];
}

static const void *peer_memory(const dt_work *work, int64_t c, uint64_t at, size_t bytes) {
    return work->group->runtime->transport->peer_memory(work, c, at, bytes);
}

const void *dt__exchange_src(const dt_work *work, int64_t i, int64_t from, size_t bytes) {
    int64_t c = dt__member(work, i);
    uint64_t at = dt__entry_of(work, c)->src;
    const char *memory = peer_memory(work, c, at + (uint64_t)from, bytes);
    return memory ? memory - from : NULL;
}

const void *dt__exchange_dst(const dt_work *work, int64_t i, size_t bytes) {
    int64_t c = dt__member(work, i);
    return peer_memory(work, c, payload_word(work, c, 0), bytes);
}

bool dt__exchange_strides(const dt_work *work, int64_t i, int n, const int64_t **out) {
    int64_t c = dt__member(work, i);
    uint64_t at = payload_word(work, c, 1);
    *out = at ? peer_memory(work, c, at, (size_t)n * sizeof **out) : NULL;
    return at != 0;
}

int64_t dt__exchange_round(const dt_work *work) { return work->lockstep ? work->round : -1; }

bool dt__exchange_fills(const dt_work *work, int64_t i) {
    return payload_word(work, dt__member(work, i), 1) == DT__FILLED_IN_ROUNDS;
}

dt_status dt__exchange_fail_memory(dt_work *work) {
    return dt__work_fail(work, DT_ERR_MEMORY, "out of memory on this rank");
}

dt_status dt__exchange_fail(dt_work *work, int64_t i) {
    return dt__work_fail_outside_heap(work, dt__member(work, i));
}
