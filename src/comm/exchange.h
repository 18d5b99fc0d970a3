/* SPDX-License-Identifier: Apache-2.0
 *
 * An exchange is the collective of those who have worked out for themselves what they need: every member shows where
 * its memory lies, all arrive, each runs a function of its own that reads what the others show, and nobody leaves
 * before its memory was read. A second function runs when every member has finished the first. A redistribution is
 * made of it.
 */
#ifndef DT_COMM_EXCHANGE_H
#define DT_COMM_EXCHANGE_H

#include "comm/runtime.h"

/* Called when what it may read is there; must not block. */
typedef dt_status dt__exchange_step(dt_work *work, void *user);

enum { DT__EXCHANGE_COPIED_BYTES = 8192 };

typedef struct dt__exchange {
    uint64_t tag; /* of all that members must agree on */
    dt_dtype dtype;
    int64_t count; /* elements, for texts; must agree, too */
    /* What this rank shows: it lies in the heap. Only a src without strides of at most DT__EXCHANGE_COPIED_BYTES may
     * lie elsewhere, if there is no second step: it may be copied, so that nobody waits at the end. */
    const void *src;
    size_t src_bytes;           /* 0: nothing */
    const int64_t *src_strides; /* n_strides numbers that go with src; or NULL */
    int n_strides;
    const void *dst; /* for the second step */
    dt__exchange_step *steps[2];
    void *user;
} dt__exchange;

/* Collective over the group, of which this rank is a member; it has more than one. A started exchange stays where it
 * is, and what it shows unchanged, until dt_work_wait. */
dt_status dt__exchange_run(dt_group *group, const dt__exchange *exchange);
dt_work *dt__exchange_start(dt_group *group, const dt__exchange *exchange);

/* For steps: where peer i's src or dst lies, provided that `bytes` from `from` bytes behind it (which may be negative)
 * are in its heap; NULL otherwise. */
const void *dt__exchange_src(const dt_work *work, int64_t i, int64_t from, size_t bytes);
const void *dt__exchange_dst(const dt_work *work, int64_t i, size_t bytes);
/* Whether the peer shows strides, and those; *out is NULL where n of them do not lie in its heap. */
bool dt__exchange_strides(const dt_work *work, int64_t i, int n, const int64_t **out);
/* Ends the exchange because of what peer i shows. */
dt_status dt__exchange_fail(dt_work *work, int64_t i);

#endif
