/* SPDX-License-Identifier: Apache-2.0
 *
 * Shares: where several ranks hold equal parts and each works on its share of them, the elements of the part are
 * numbered row-major and member i of n takes the i-th chunk by the ceil rule.
 */
#ifndef DT_REDISTRIBUTE_SHARE_H
#define DT_REDISTRIBUTE_SHARE_H

#include "spec/overlap.h"

/* Elements begin … end - 1 of a part. */
typedef struct dt__share {
    int64_t begin, end;
} dt__share;

dt__share dt__share_of(int64_t elements, int64_t n_members, int64_t member);

/* How many elements of the share of part b part a holds, too; n_dims shards each. */
int64_t dt__share_common(int n_dims, const dt__shard *a, const dt__shard *b, dt__share share);

#endif
