/* SPDX-License-Identifier: Apache-2.0
 *
 * A list per group of the messages to oneself that are not received yet.
 */
#include "comm/message.h"

#include "base/size.h"
#include "comm/describe.h"

#include <string.h>

struct dt__message {
    struct dt__message *next;
    uint64_t what, count, tag;
    size_t bytes;
    unsigned char data[];
};

dt_status dt__message_send(dt_work *work) {
    dt_ctx *ctx = work->group->runtime->ctx;
    size_t bytes = (size_t)work->call.count * work->item_bytes, total;
    struct dt__message *message = NULL;
    if (dt__add_size(bytes, sizeof *message, &total))
        message = dt__alloc(ctx, total);
    if (!message)
        return dt__fail_memory(ctx, bytes, "a message to this rank itself");
    message->next = NULL;
    message->what = work->what;
    message->count = work->count;
    message->tag = work->call.tag;
    message->bytes = bytes;
    if (bytes)
        memcpy(message->data, work->call.src, bytes);
    struct dt__message **end = &work->group->messages;
    while (*end)
        end = &(*end)->next;
    *end = message;
    return DT_OK;
}

/* Receives are served in the order in which they were called, whichever is waited for first. */
static bool is_first(const dt_work *work) {
    const dt_work *other = work->group->runtime->started;
    for (; other && other != work; other = other->next)
        if (other->status == DT_IN_PROGRESS && other->group == work->group && other->op == DT__WORK_RECV &&
            other->call.root == work->group->rank)
            return false;
    return true;
}

bool dt__message_is_there(const dt_work *work) { return work->group->messages && is_first(work); }

dt_status dt__message_receive(dt_work *work) {
    dt_ctx *ctx = work->group->runtime->ctx;
    struct dt__message *message = work->group->messages;
    if (!dt__message_is_there(work))
        return DT_IN_PROGRESS;
    if (!dt__what_agrees(message->what, work->what) || message->count != work->count ||
        message->tag != work->call.tag) {
        char sent[128], wanted[128];
        dt__describe_call(message->what, message->count, sent, sizeof sent);
        dt__describe_call(work->what, work->count, wanted, sizeof wanted);
        return dt__fail(ctx, DT_ERR_MISMATCH, "recv from this rank itself: what was sent is %s, what is wanted %s%s",
                        sent, wanted, message->tag != work->call.tag ? ", with another tag" : "");
    }
    if (message->bytes)
        memcpy(work->call.dst, message->data, message->bytes);
    work->group->messages = message->next;
    dt__free(ctx, message, sizeof *message + message->bytes);
    return DT_OK;
}

void dt__messages_free(dt_group *group) {
    while (group->messages) {
        struct dt__message *message = group->messages;
        group->messages = message->next;
        dt__free(group->runtime->ctx, message, sizeof *message + message->bytes);
    }
}
