/* SPDX-License-Identifier: Apache-2.0
 *
 * The validation of a call (op, dtype, counts, sizes, pointers and overlaps) before it is published to any rank.
 */
#include "comm/comm.h"

#include "base/hash.h"
#include "base/size.h"

#include <inttypes.h>
#include <string.h>

const dt__op_shape dt__op_shapes[DT__N_WORK_OPS] = {
    [DT_BARRIER] = {.src = DT__NO_DATA, .dst = DT__NO_DATA},
    [DT_BROADCAST] = {.src = DT__VALUE, .dst = DT__VALUE, .src_on_root = true, .rooted = true},
    [DT_SCATTER] = {.src = DT__ALL_BLOCKS, .dst = DT__OWN_BLOCK, .src_on_root = true, .rooted = true},
    [DT_GATHER] = {.src = DT__OWN_BLOCK, .dst = DT__ALL_BLOCKS, .dst_on_root = true, .rooted = true},
    [DT_ALL_GATHER] = {.src = DT__OWN_BLOCK, .dst = DT__ALL_BLOCKS},
    [DT_ALL_REDUCE] = {.src = DT__VALUE, .dst = DT__VALUE, .reduces = true},
    [DT_REDUCE_SCATTER] = {.src = DT__ALL_BLOCKS, .dst = DT__OWN_BLOCK, .reduces = true},
    [DT_ALL_TO_ALL] = {.src = DT__ALL_BLOCKS, .dst = DT__ALL_BLOCKS},
    [DT_SEND] = {.src = DT__VALUE, .dst = DT__NO_DATA, .rooted = true, .pair = true},
    [DT_RECV] = {.src = DT__NO_DATA, .dst = DT__VALUE, .rooted = true, .pair = true},
    [DT__WORK_EXCHANGE] = {.src = DT__VALUE, .dst = DT__VALUE},
};

enum dt__data_extent dt__src_extent(const dt_group *group, const dt_comm_call *call) {
    const dt__op_shape *shape = &dt__op_shapes[call->op];
    return shape->src_on_root && group->rank != call->root ? DT__NO_DATA : shape->src;
}

enum dt__data_extent dt__dst_extent(const dt_group *group, const dt_comm_call *call) {
    const dt__op_shape *shape = &dt__op_shapes[call->op];
    return shape->dst_on_root && group->rank != call->root ? DT__NO_DATA : shape->dst;
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

static int64_t extent_count(const dt_group *group, const dt_comm_call *call, enum dt__data_extent extent,
                            const int64_t *counts) {
    switch (extent) {
    case DT__NO_DATA:
        return 0;
    case DT__VALUE:
        return call->count;
    case DT__OWN_BLOCK:
        return counts ? counts[group->rank] : call->count;
    case DT__ALL_BLOCKS:
        return counts ? sum(counts, group->n_ranks) : call->count * group->n_ranks;
    }
    return 0;
}

int64_t dt__src_count(const dt_group *group, const dt_comm_call *call) {
    return extent_count(group, call, dt__src_extent(group, call), call->counts);
}

int64_t dt__dst_count(const dt_group *group, const dt_comm_call *call) {
    return extent_count(group, call, dt__dst_extent(group, call),
                        call->recv_counts ? call->recv_counts : call->counts);
}

static dt_ctx *ctx_of(const dt_group *group) { return group->runtime->ctx; }

static bool has_blocks(const dt__op_shape *shape) {
    return shape->src == DT__ALL_BLOCKS || shape->dst == DT__ALL_BLOCKS;
}

/* Checks that no count is negative, and that neither their sum nor its bytes overflow. */
static dt_status check_counts(dt_group *group, const dt_comm_call *call, const int64_t *counts, size_t item_bytes) {
    int64_t total = 0, bytes;
    bool fits = true;
    for (int64_t i = 0; i < group->n_ranks; i++) {
        if (counts[i] < 0)
            return dt__fail(ctx_of(group), DT_ERR_VALUE,
                            "%s: count of member %" PRId64 ": expected at least 0, got %" PRId64,
                            dt_collective_name(call->op), i, counts[i]);
        fits = fits && dt__add_i64(total, counts[i], &total);
    }
    if (!fits || !dt__mul_i64(total, (int64_t)item_bytes, &bytes))
        return dt__fail(ctx_of(group), DT_ERR_VALUE, "%s: blocks too large: expected at most 2^63-1 bytes in total",
                        dt_collective_name(call->op));
    return DT_OK;
}

static dt_status check_count(dt_group *group, const dt_comm_call *call, size_t item_bytes) {
    int64_t elements = call->count, bytes;
    if (call->count < 0)
        return dt__fail(ctx_of(group), DT_ERR_VALUE, "%s: count: expected at least 0, got %" PRId64,
                        dt_collective_name(call->op), call->count);
    bool fits = !has_blocks(&dt__op_shapes[call->op]) || dt__mul_i64(elements, group->n_ranks, &elements);
    if (!fits || !dt__mul_i64(elements, (int64_t)item_bytes, &bytes))
        return dt__fail(ctx_of(group), DT_ERR_VALUE,
                        "%s: data too large: expected at most 2^63-1 bytes, got %" PRId64
                        " elements of %s on %" PRId64 " ranks",
                        dt_collective_name(call->op), call->count, dt_dtype_name(call->dtype), group->n_ranks);
    return DT_OK;
}

/* Checks everything that does not depend on sizes; also returns the bytes of an element. Names for the error text are
 * looked up only on failure, because this is on the path of every small message. */
static dt_status check_kinds(dt_group *group, const dt_comm_call *call, size_t *item_bytes) {
    dt_ctx *ctx = ctx_of(group);
    const dt__op_shape *shape = &dt__op_shapes[call->op];
    *item_bytes = 0;
    if (group->rank < 0)
        return dt__fail(ctx, DT_ERR_STATE, "%s: rank %" PRId64 " is not a member of the group",
                        dt_collective_name(call->op), ctx->rank);
    if (shape->src == DT__NO_DATA && shape->dst == DT__NO_DATA)
        return DT_OK;
    *item_bytes = dt_dtype_size(call->dtype);
    if (!*item_bytes)
        return dt__fail(ctx, DT_ERR_DTYPE, "%s: dtype: expected a dt_dtype, got %d", dt_collective_name(call->op),
                        (int)call->dtype);
    if (shape->reduces && !dt_reduce_allowed(call->dtype, call->reduce))
        return dt__fail(ctx, DT_ERR_DTYPE, "%s: cannot reduce %s values by %s", dt_collective_name(call->op),
                        dt_dtype_name(call->dtype), dt_reduce_name(call->reduce));
    if (shape->rooted && (call->root < 0 || call->root >= group->n_ranks))
        return dt__fail(ctx, DT_ERR_VALUE, "%s: %s: expected a member from 0 to %" PRId64 ", got %" PRId64,
                        dt_collective_name(call->op), shape->pair ? "peer" : "root", group->n_ranks - 1, call->root);
    if (call->op == DT_ALL_TO_ALL && !call->counts != !call->recv_counts)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: expected both counts and recv_counts or neither, got only %s",
                        dt_collective_name(call->op), call->counts ? "counts" : "recv_counts");
    return DT_OK;
}

/* The address of dst if the call were in place; NULL if it has no in-place form. The blocks of an all_to_all must keep
 * their offsets, or a received block would overwrite one that was not sent yet. */
static const char *in_place_dst(const dt_group *group, const dt_comm_call *call, size_t item_bytes, const char *src) {
    enum dt__data_extent from = dt__src_extent(group, call), to = dt__dst_extent(group, call);
    if (call->recv_counts && memcmp(call->counts, call->recv_counts, (size_t)group->n_ranks * sizeof *call->counts))
        return NULL;
    if (from == to)
        return src;
    ptrdiff_t offset = (ptrdiff_t)((size_t)dt__block_at(call, group->rank) * item_bytes);
    if (from == DT__OWN_BLOCK && to == DT__ALL_BLOCKS)
        return src - offset;
    if (from == DT__ALL_BLOCKS && to == DT__OWN_BLOCK)
        return src + offset;
    return NULL;
}

static dt_status check_memory(dt_group *group, const dt_comm_call *call, size_t item_bytes) {
    const char *src = call->src, *dst = call->dst;
    size_t src_bytes = (size_t)dt__src_count(group, call) * item_bytes;
    size_t dst_bytes = (size_t)dt__dst_count(group, call) * item_bytes;
    if ((src_bytes && !src) || (dst_bytes && !dst))
        return dt__fail(ctx_of(group), DT_ERR_VALUE, "%s: %s: expected %zu bytes, got NULL",
                        dt_collective_name(call->op), src_bytes && !src ? "src" : "dst",
                        src_bytes && !src ? src_bytes : dst_bytes);
    bool apart = !src_bytes || !dst_bytes || src + src_bytes <= dst || dst + dst_bytes <= src;
    if (!apart && in_place_dst(group, call, item_bytes, src) != dst)
        return dt__fail(ctx_of(group), DT_ERR_VALUE,
                        "%s: src and dst overlap: expected separate memory or a call in place",
                        dt_collective_name(call->op));
    return DT_OK;
}

static uint64_t hash_of_counts(const dt_group *group, dt__work_op op, const dt_comm_call *call) {
    if (!call->counts || op == DT__WORK_ALL_TO_ALL)
        return 0;
    return dt__hash(call->counts, (size_t)group->n_ranks * sizeof *call->counts, 1);
}

/* The count that is published and must agree: of one block, or the total where blocks differ. */
static uint64_t count_to_publish(const dt_group *group, dt__work_op op, const dt_comm_call *call) {
    if (!call->counts || !has_blocks(&dt__op_shapes[op]))
        return (uint64_t)call->count;
    return op == DT__WORK_ALL_TO_ALL ? 0 : (uint64_t)sum(call->counts, group->n_ranks);
}

/* Sender and receiver of a message publish the same words: those of the sender, with a flag that need not agree. */
static uint64_t signature_of(const dt_group *group, dt__work_op op, const dt_comm_call *call) {
    const dt__op_shape *shape = &dt__op_shapes[op];
    int64_t root = op == DT__WORK_RECV ? group->rank : shape->rooted ? call->root : 0;
    uint64_t signature =
        dt__signature_pack(op == DT__WORK_RECV ? DT__WORK_SEND : op, op == DT__WORK_BARRIER ? DT_F32 : call->dtype,
                           shape->reduces ? call->reduce : DT_SUM, root);
    if (op == DT__WORK_RECV)
        signature |= DT__SIGNATURE_RECEIVES;
    return call->counts && has_blocks(&dt__op_shapes[op]) ? signature | DT__SIGNATURE_BLOCKS_DIFFER : signature;
}

static dt_status check_call(dt_group *group, const dt_comm_call *call, size_t *item_bytes) {
    if ((unsigned)call->op >= DT_N_COLLECTIVES)
        return dt__fail(ctx_of(group), DT_ERR_VALUE, "comm: op: expected a dt_collective, got %d", (int)call->op);
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
                            "%s: counts of this rank to itself differ: sends %" PRId64 " elements, receives %" PRId64,
                            dt_collective_name(call->op), call->counts[group->rank], call->recv_counts[group->rank]);
        DT__TRY(check_memory(group, call, *item_bytes));
    }
    return DT_OK;
}

/* The part of an invalid call that is published: enough for the members, or the other rank of a pair, to detect that
 * this rank does not make the call. */
static void prepare_refusal(dt_group *group, const dt_comm_call *call, dt_work *work) {
    bool pair = (unsigned)call->op < DT_N_COLLECTIVES && dt__op_shapes[call->op].pair;
    bool no_peer = pair && (call->root < 0 || call->root >= group->n_ranks || call->root == group->rank);
    *work = (dt_work){.group = group->rank < 0 || no_peer ? NULL : group, .status = DT_IN_PROGRESS, .refused = true};
    if (pair) {
        work->op = (dt__work_op)call->op;
        work->call = (dt_comm_call){.op = call->op, .root = call->root};
    }
}

void dt__call_prepare(dt_group *group, dt__work_op op, const dt_comm_call *call, size_t item_bytes, dt_work *work) {
    /* Field by field, because this is on the path of every small message; the transport sets its own fields. */
    work->group = group;
    work->op = op;
    work->call = *call;
    work->refused = false;
    work->started = false;
    work->own_counts = NULL;
    work->next = NULL;
    work->exchange = NULL;
    work->n_histories = 0;
    work->mesh_dims = 0;
    work->verdict = NULL;
    work->recent = NULL;
    work->channel = NULL;
    work->span = NULL;
    work->signature = signature_of(group, op, call);
    work->count = op == DT__WORK_BARRIER ? 0 : count_to_publish(group, op, call);
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
    dt_status status = check_call(group, call, &item_bytes);
    if (status == DT_OK)
        dt__call_prepare(group, (dt__work_op)call->op, call, item_bytes, work);
    else
        prepare_refusal(group, call, work);
    return status;
}
