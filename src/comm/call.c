/* SPDX-License-Identifier: Apache-2.0
 *
 * The check of a call: kinds, counts, sizes, pointers and overlaps, before any rank is told of it.
 */
#include "comm/call.h"

#include "base/hash.h"
#include "base/size.h"
#include "comm/describe.h"

#include <inttypes.h>
#include <string.h>

const dt__op_shape dt__op_shapes[DT__N_WORK_OPS] = {
    [DT_BARRIER] = {.src = DT__NOTHING, .dst = DT__NOTHING},
    [DT_BROADCAST] = {.src = DT__VALUE, .dst = DT__VALUE, .src_on_root = true, .rooted = true},
    [DT_SCATTER] = {.src = DT__ALL, .dst = DT__OWN, .src_on_root = true, .rooted = true},
    [DT_GATHER] = {.src = DT__OWN, .dst = DT__ALL, .dst_on_root = true, .rooted = true},
    [DT_ALL_GATHER] = {.src = DT__OWN, .dst = DT__ALL},
    [DT_ALL_REDUCE] = {.src = DT__VALUE, .dst = DT__VALUE, .reduces = true},
    [DT_REDUCE_SCATTER] = {.src = DT__ALL, .dst = DT__OWN, .reduces = true},
    [DT_ALL_TO_ALL] = {.src = DT__ALL, .dst = DT__ALL},
    [DT_SEND] = {.src = DT__VALUE, .dst = DT__NOTHING, .rooted = true, .pair = true},
    [DT_RECV] = {.src = DT__NOTHING, .dst = DT__VALUE, .rooted = true, .pair = true},
    [DT__WORK_EXCHANGE] = {.src = DT__VALUE, .dst = DT__VALUE},
};

enum dt__part dt__src_part(const dt_group *group, const dt_comm_call *call) {
    const dt__op_shape *shape = &dt__op_shapes[call->op];
    return shape->src_on_root && group->rank != call->root ? DT__NOTHING : shape->src;
}

enum dt__part dt__dst_part(const dt_group *group, const dt_comm_call *call) {
    const dt__op_shape *shape = &dt__op_shapes[call->op];
    return shape->dst_on_root && group->rank != call->root ? DT__NOTHING : shape->dst;
}

int64_t dt__block_size(const dt_comm_call *call, int64_t i) { return call->counts ? call->counts[i] : call->count; }

int64_t dt__block_at(const dt_comm_call *call, int64_t i) {
    if (!call->counts)
        return call->count * i;
    int64_t at = 0;
    for (int64_t k = 0; k < i; k++)
        at += call->counts[k];
    return at;
}

static int64_t sum(const int64_t *counts, int64_t n) {
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++)
        total += counts[i];
    return total;
}

static int64_t part_count(const dt_group *group, const dt_comm_call *call, enum dt__part part,
                          const int64_t *counts) {
    switch (part) {
    case DT__NOTHING:
        return 0;
    case DT__VALUE:
        return call->count;
    case DT__OWN:
        return counts ? counts[group->rank] : call->count;
    case DT__ALL:
        return counts ? sum(counts, group->n_ranks) : call->count * group->n_ranks;
    }
    return 0;
}

int64_t dt__src_count(const dt_group *group, const dt_comm_call *call) {
    return part_count(group, call, dt__src_part(group, call), call->counts);
}

int64_t dt__dst_count(const dt_group *group, const dt_comm_call *call) {
    return part_count(group, call, dt__dst_part(group, call), call->recv_counts ? call->recv_counts : call->counts);
}

static dt_ctx *ctx_of(const dt_group *group) { return group->runtime->ctx; }

static bool has_blocks(const dt__op_shape *shape) { return shape->src == DT__ALL || shape->dst == DT__ALL; }

/* All counts at least 0, and neither their sum nor its bytes overflow. */
static dt_status check_counts(dt_group *group, const dt_comm_call *call, const int64_t *counts, size_t item_bytes) {
    int64_t total = 0, bytes;
    bool fits = true;
    for (int64_t i = 0; i < group->n_ranks; i++) {
        if (counts[i] < 0)
            return dt__fail(ctx_of(group), DT_ERR_VALUE,
                            "%s: the count of member %" PRId64 " is %" PRId64 "; it must be at least 0",
                            dt_collective_name(call->op), i, counts[i]);
        fits = fits && dt__add_i64(total, counts[i], &total);
    }
    if (!fits || !dt__mul_i64(total, (int64_t)item_bytes, &bytes))
        return dt__fail(ctx_of(group), DT_ERR_VALUE, "%s: the blocks together are larger than 2^63-1 bytes",
                        dt_collective_name(call->op));
    return DT_OK;
}

static dt_status check_count(dt_group *group, const dt_comm_call *call, size_t item_bytes) {
    int64_t elements = call->count, bytes;
    if (call->count < 0)
        return dt__fail(ctx_of(group), DT_ERR_VALUE, "%s: count is %" PRId64 "; it must be at least 0",
                        dt_collective_name(call->op), call->count);
    bool fits = !has_blocks(&dt__op_shapes[call->op]) || dt__mul_i64(elements, group->n_ranks, &elements);
    if (!fits || !dt__mul_i64(elements, (int64_t)item_bytes, &bytes))
        return dt__fail(ctx_of(group), DT_ERR_VALUE,
                        "%s: %" PRId64 " elements of %s on %" PRId64 " ranks are more than 2^63-1 bytes",
                        dt_collective_name(call->op), call->count, dt_dtype_name(call->dtype), group->n_ranks);
    return DT_OK;
}

/* Refuses what can be refused without looking at sizes; also gives the bytes of an element. Words for the error are
 * looked up only where there is one, because this is on the way of every small message. */
static dt_status check_kinds(dt_group *group, const dt_comm_call *call, size_t *item_bytes) {
    dt_ctx *ctx = ctx_of(group);
    const dt__op_shape *shape = &dt__op_shapes[call->op];
    *item_bytes = 0;
    if (group->rank < 0)
        return dt__fail(ctx, DT_ERR_STATE, "%s: rank %" PRId64 " is not a member of the group",
                        dt_collective_name(call->op), ctx->rank);
    if (shape->src == DT__NOTHING && shape->dst == DT__NOTHING)
        return DT_OK;
    *item_bytes = dt_dtype_size(call->dtype);
    if (!*item_bytes)
        return dt__fail(ctx, DT_ERR_DTYPE, "%s: %d is not a dtype", dt_collective_name(call->op), (int)call->dtype);
    if (shape->reduces && !dt_reduce_allowed(call->dtype, call->reduce))
        return dt__fail(ctx, DT_ERR_DTYPE, "%s: %s values cannot be reduced by %s", dt_collective_name(call->op),
                        dt_dtype_name(call->dtype), dt_reduce_name(call->reduce));
    if (shape->rooted && (call->root < 0 || call->root >= group->n_ranks))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: %s %" PRId64 " is not a member; members are 0 to %" PRId64,
                        dt_collective_name(call->op), shape->pair ? "peer" : "root", call->root, group->n_ranks - 1);
    if (call->op == DT_ALL_TO_ALL && !call->counts != !call->recv_counts)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: counts and recv_counts must be given both or not at all",
                        dt_collective_name(call->op));
    return DT_OK;
}

/* Where dst would lie if the call were in place; NULL if it has no in-place form. Exchanged blocks must lie where they
 * lay before, or what comes in overwrites what has not gone out yet. */
static const char *in_place(const dt_group *group, const dt_comm_call *call, size_t item_bytes, const char *src) {
    enum dt__part from = dt__src_part(group, call), to = dt__dst_part(group, call);
    if (call->recv_counts && memcmp(call->counts, call->recv_counts, (size_t)group->n_ranks * sizeof *call->counts))
        return NULL;
    if (from == to)
        return src;
    ptrdiff_t offset = (ptrdiff_t)((size_t)dt__block_at(call, group->rank) * item_bytes);
    if (from == DT__OWN && to == DT__ALL)
        return src - offset;
    if (from == DT__ALL && to == DT__OWN)
        return src + offset;
    return NULL;
}

static dt_status check_memory(dt_group *group, const dt_comm_call *call, size_t item_bytes) {
    const char *src = call->src, *dst = call->dst;
    size_t src_bytes = (size_t)dt__src_count(group, call) * item_bytes;
    size_t dst_bytes = (size_t)dt__dst_count(group, call) * item_bytes;
    if ((src_bytes && !src) || (dst_bytes && !dst))
        return dt__fail(ctx_of(group), DT_ERR_VALUE, "%s: %s is NULL, but this rank %s %zu bytes",
                        dt_collective_name(call->op), src_bytes && !src ? "src" : "dst",
                        src_bytes && !src ? "gives" : "gets", src_bytes && !src ? src_bytes : dst_bytes);
    bool apart = !src_bytes || !dst_bytes || src + src_bytes <= dst || dst + dst_bytes <= src;
    if (!apart && in_place(group, call, item_bytes, src) != dst)
        return dt__fail(ctx_of(group), DT_ERR_VALUE, "%s: src and dst overlap in another way than in place",
                        dt_collective_name(call->op));
    return DT_OK;
}

static uint64_t hash_of_counts(const dt_group *group, dt__work_op op, const dt_comm_call *call) {
    if (!call->counts || op == DT__WORK_ALL_TO_ALL)
        return 0;
    return dt__hash(call->counts, (size_t)group->n_ranks * sizeof *call->counts, 1);
}

/* The number that is shown in descriptions and must agree: of one block, or of all where blocks differ. */
static uint64_t count_to_show(const dt_group *group, dt__work_op op, const dt_comm_call *call) {
    if (!call->counts || !has_blocks(&dt__op_shapes[op]))
        return (uint64_t)call->count;
    return op == DT__WORK_ALL_TO_ALL ? 0 : (uint64_t)sum(call->counts, group->n_ranks);
}

/* The two sides of a message publish the same words: those of the sender, with a flag that need not agree. */
static uint64_t what_to_show(const dt_group *group, dt__work_op op, const dt_comm_call *call) {
    const dt__op_shape *shape = &dt__op_shapes[op];
    int64_t root = op == DT__WORK_RECV ? group->rank : shape->rooted ? call->root : 0;
    uint64_t what =
        dt__what_pack(op == DT__WORK_RECV ? DT__WORK_SEND : op, op == DT__WORK_BARRIER ? DT_F32 : call->dtype,
                      shape->reduces ? call->reduce : DT_SUM, root);
    if (op == DT__WORK_RECV)
        what |= DT__WHAT_RECEIVES;
    return call->counts && has_blocks(&dt__op_shapes[op]) ? what | DT__WHAT_BLOCKS_DIFFER : what;
}

static dt_status check(dt_group *group, const dt_comm_call *call, size_t *item_bytes) {
    if ((unsigned)call->op >= DT_N_COLLECTIVES)
        return dt__fail(ctx_of(group), DT_ERR_VALUE, "%d is not a collective", (int)call->op);
    DT__TRY(check_kinds(group, call, item_bytes));
    bool by_counts = call->counts && has_blocks(&dt__op_shapes[call->op]);
    if (call->op != DT_BARRIER) {
        if (by_counts)
            DT__TRY(check_counts(group, call, call->counts, *item_bytes));
        else
            DT__TRY(check_count(group, call, *item_bytes));
        if (by_counts && call->recv_counts)
            DT__TRY(check_counts(group, call, call->recv_counts, *item_bytes));
        if (by_counts && call->recv_counts && call->counts[group->rank] != call->recv_counts[group->rank])
            return dt__fail(ctx_of(group), DT_ERR_VALUE,
                            "%s: this rank sends itself %" PRId64 " elements and receives %" PRId64 " from itself",
                            dt_collective_name(call->op), call->counts[group->rank], call->recv_counts[group->rank]);
        DT__TRY(check_memory(group, call, *item_bytes));
    }
    return DT_OK;
}

/* What is left of a call that is not valid: enough for the members, or for the other one of a pair, to see that this
 * rank does not make theirs. */
static void refuse(dt_group *group, const dt_comm_call *call, dt_work *work) {
    bool pair = (unsigned)call->op < DT_N_COLLECTIVES && dt__op_shapes[call->op].pair;
    bool nobody = pair && (call->root < 0 || call->root >= group->n_ranks || call->root == group->rank);
    *work = (dt_work){.group = group->rank < 0 || nobody ? NULL : group, .status = DT_IN_PROGRESS, .refused = true};
    if (pair) {
        work->op = (dt__work_op)call->op;
        work->call = (dt_comm_call){.op = call->op, .root = call->root};
    }
}

void dt__call_describe(dt_group *group, dt__work_op op, const dt_comm_call *call, size_t item_bytes, dt_work *work) {
    /* Field by field, because this is on the way of every small message; the transport sets its own part. */
    work->group = group;
    work->op = op;
    work->call = *call;
    work->refused = false;
    work->started = false;
    work->own_counts = NULL;
    work->next = NULL;
    work->exchange = NULL;
    work->ring = NULL;
    work->channel = NULL;
    work->what = what_to_show(group, op, call);
    work->count = op == DT__WORK_BARRIER ? 0 : count_to_show(group, op, call);
    work->check = group->order_hash + group->origin + call->tag * UINT64_C(0x9e3779b97f4a7c15) +
                  hash_of_counts(group, op, call);
    work->item_bytes = item_bytes;
    work->status = DT_IN_PROGRESS;
    if (!has_blocks(&dt__op_shapes[op]))
        work->call.counts = NULL;
    if (op != DT__WORK_ALL_TO_ALL)
        work->call.recv_counts = NULL;
    if (op == DT__WORK_BARRIER)
        work->call.count = 0;
}

dt_status dt__call_check(dt_group *group, const dt_comm_call *call, dt_work *work) {
    size_t item_bytes = 0;
    dt_status status = check(group, call, &item_bytes);
    if (status == DT_OK)
        dt__call_describe(group, (dt__work_op)call->op, call, item_bytes, work);
    else
        refuse(group, call, work);
    return status;
}
