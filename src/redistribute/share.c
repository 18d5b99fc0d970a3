/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting within shares. What two parts have in common is a product of per-dim index sets, so how much of it comes
 * before an element follows from the element's indices, dim by dim.
 */
#include "redistribute/share.h"

#include "base/size.h"

dt__share dt__share_of(int64_t elements, int64_t n_members, int64_t member) {
    int64_t chunk = elements / n_members + (elements % n_members != 0), begin;
    if (!dt__mul_i64(member, chunk, &begin) || begin > elements)
        begin = elements;
    return (dt__share){begin, elements - begin < chunk ? elements : begin + chunk};
}

/* Common indices before local index `end` of b; *has: whether `end` itself is one. */
static int64_t common_before(const dt__shard *a, const dt__shard *b, int64_t end, bool *has) {
    dt__overlap_run run;
    int64_t at = 0, n = 0;
    *has = false;
    while (dt__overlap_next(a, b, &at, &run) && run.b <= end) {
        int64_t size = run.end - run.begin;
        *has |= end < run.b + size;
        n += dt__min_i64(size, end - run.b);
    }
    return n;
}

/* Common elements before element number `end` of b. */
static int64_t elements_before(int n_dims, const dt__shard *a, const dt__shard *b, int64_t end) {
    int64_t inner[DT_SPEC_MAX_DIMS + 1], common[DT_SPEC_MAX_DIMS + 1], total = 0;
    inner[n_dims] = common[n_dims] = 1;
    for (int d = n_dims - 1; d >= 0; d--) {
        inner[d] = inner[d + 1] * b[d].size;
        common[d] = common[d + 1] * dt__overlap_size(&a[d], &b[d]);
    }
    if (end >= inner[0])
        return common[0];
    for (int d = 0; d < n_dims; d++) {
        bool has;
        total += common_before(&a[d], &b[d], end / inner[d + 1], &has) * common[d + 1];
        if (!has)
            break;
        end %= inner[d + 1];
    }
    return total;
}

int64_t dt__share_common(int n_dims, const dt__shard *a, const dt__shard *b, dt__share share) {
    return elements_before(n_dims, a, b, share.end) - elements_before(n_dims, a, b, share.begin);
}
