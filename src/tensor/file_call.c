/* SPDX-License-Identifier: Apache-2.0
 *
 * The meetings of a file call. Each is an exchange named after the call: its tag is a hash of all that must agree, and
 * the memory that ranks publish contains the text of their call, so src/comm detects and describes a mismatch as in any
 * collective. Failures are part of the published memory instead: after the exchange every rank has read the same
 * records and derives the same error from them.
 */
#include "tensor/file_call.h"

#include "base/hash.h"
#include "mesh/mesh.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_CALL_BYTES = 400 };

static bool needs_group(dt_ctx *ctx, dt_mesh *mesh) {
    return mesh && dt_mesh_ctx(mesh) == ctx && dt_mesh_size(mesh) > 1 && dt__transport_has_data(ctx) &&
           dt_mesh_coordinate(mesh, (int64_t[DT_MESH_MAX_DIMS]){0});
}

dt_status dt__file_call_begin(dt__file_call *call, dt_ctx *ctx, const dt__exchange_call *kind, const char *path,
                              dt_mesh *mesh) {
    *call = (dt__file_call){.ctx = ctx, .kind = kind, .path = path, .is_plain = !mesh, .is_first = true};
    if (!needs_group(ctx, mesh))
        return DT_OK;
    dt__arena arena = dt__arena_new(ctx);
    int64_t n = dt_mesh_size(mesh), *ranks = DT__NEW_ARRAY(&arena, int64_t, n);
    dt_status status = ranks ? DT_OK : DT_ERR_MEMORY;
    if (ranks) {
        dt_mesh_ranks(mesh, ranks);
        call->group = dt_group_new(ctx, ranks, n);
        call->first_rank = ranks[0];
        call->is_first = ranks[0] == ctx->rank;
        call->history = dt__mesh_history(mesh);
        call->spans_nodes = call->group && dt__group_spans_nodes(call->group);
        status = call->group ? DT_OK : dt_error_status(ctx);
    }
    dt__arena_free(&arena);
    return status;
}

void dt__file_call_end(dt__file_call *call) { dt_group_release(call->group); }

dt_status dt__file_call_describe(dt__file_call *call, const dt__text *text, uint64_t hash) {
    DT__TRY(dt__text_status(text));
    const char *chars = dt__text_chars(text);
    call->tag = dt__hash(chars, strlen(chars), dt__hash_u64(hash, call->tag));
    if (snprintf(call->own.call, sizeof call->own.call, "%s", chars) >= (int)sizeof call->own.call)
        memcpy(call->own.call + sizeof call->own.call - 4, "...", 4);
    return DT_OK;
}

void dt__file_call_opened(dt__file_call *call, const struct stat *info, const char *text) {
    /* The number of a device is that of a node. */
    const uint64_t words[] = {call->spans_nodes ? 0 : (uint64_t)info->st_dev, (uint64_t)info->st_ino,
                              (uint64_t)info->st_size, (uint64_t)info->st_mtim.tv_sec,
                              (uint64_t)info->st_mtim.tv_nsec};
    call->own.file_hash = dt__hash(words, sizeof words, dt__hash(text, strlen(text), 1));
    (void)snprintf(call->own.file_text, sizeof call->own.file_text, "%.128s in inode %llu", text,
                   (unsigned long long)info->st_ino);
}

static const char *name_of(const dt__file_call *call) { return call->kind->name; }

/* Only the first failure counts: later ones are its consequences. */
static void keep_failure(dt__file_call *call, dt_status status, const char *text) {
    if (call->own.status != DT_OK)
        return;
    call->own.status = status;
    (void)snprintf(call->own.failure, sizeof call->own.failure, "%s", text);
}

dt_status dt__file_call_fail(dt__file_call *call, dt_status status, const char *text) {
    char full[sizeof call->own.failure];
    (void)snprintf(full, sizeof full, "%.600s: %.400s", call->path, text);
    if (call->is_plain)
        return dt__fail_local(call->ctx, status, "%s: %s", name_of(call), full);
    if (!call->group)
        return dt__fail(call->ctx, status, "%s: %s", name_of(call), full);
    keep_failure(call, status, full);
    return status;
}

dt_status dt__file_call_refuse(dt__file_call *call, dt_status status, const char *format, ...) {
    char text[sizeof call->own.failure];
    va_list args;
    va_start(args, format);
    dt__vformat(text, sizeof text, format, args);
    va_end(args);
    if (!call->group)
        return dt__fail(call->ctx, status, "%s: %s", name_of(call), text);
    keep_failure(call, status, text);
    return status;
}

/* The conclusion from the records of all ranks. */
struct verdict {
    dt__file_call *call;
    int64_t failed;          /* the first member that has, or -1 */
    bool all_alike;          /* all have failed with the same text */
    int64_t other;           /* the first member that has opened another file than member 0, or -1 */
    dt__file_record first;   /* member 0's */
    dt__file_record failure; /* of the member that failed */
    dt__file_record opened;  /* of the one that opened another file */
};

static void judge(struct verdict *verdict, int64_t i, const dt__file_record *record) {
    dt__file_call *call = verdict->call;
    if (i == 0) {
        verdict->first = *record;
        memcpy(call->handle, record->handle, sizeof call->handle);
        memcpy(call->temporary, record->temporary, sizeof call->temporary);
    }
    call->wants_name = call->wants_name || record->wants_name;
    if (verdict->other < 0 && record->file_hash != verdict->first.file_hash) {
        verdict->other = i;
        verdict->opened = *record;
    }
    if (record->status != DT_OK && verdict->failed < 0) {
        verdict->failed = i;
        verdict->failure = *record;
    }
    verdict->all_alike = verdict->all_alike && record->status == verdict->first.status &&
                         strcmp(record->failure, verdict->first.failure) == 0;
}

static void read_record(struct verdict *verdict, int64_t i, const void *published) {
    dt__file_record record;
    memcpy(&record, published, sizeof record);
    record.call[sizeof record.call - 1] = 0;
    record.failure[sizeof record.failure - 1] = 0;
    record.file_text[sizeof record.file_text - 1] = 0;
    record.temporary[sizeof record.temporary - 1] = 0;
    judge(verdict, i, &record);
}

static dt_status collect(dt_work *work, void *user) {
    struct verdict *verdict = user;
    const dt_group *group = verdict->call->group;
    if (verdict->call->ctx->estimate) { /* where all ranks find the same error */
        read_record(verdict, 0, &verdict->call->own);
        return DT_OK;
    }
    for (int64_t i = 0; i < dt_group_size(group); i++) {
        const void *published =
            i == dt_group_rank(group) ? &verdict->call->own : dt__exchange_src(work, i, 0, sizeof(dt__file_record));
        if (!published)
            return dt__exchange_fail(work, i);
        read_record(verdict, i, published);
    }
    return DT_OK;
}

/* Between nodes, calls are compared here, because no rank can read another one's text. */
static dt_status compare_calls(const struct verdict *verdict, const char *records) {
    dt__file_call *call = verdict->call;
    dt__file_record record;
    for (int64_t i = 0; i < dt_group_size(call->group); i++) {
        memcpy(&record, records + (size_t)i * sizeof record, sizeof record);
        record.call[sizeof record.call - 1] = 0;
        if (record.tag == verdict->first.tag && record.history != verdict->first.history)
            return dt__fail_local(call->ctx, DT_ERR_MISMATCH,
                                  "%s: ranks %" PRId64 " and %" PRId64 " made different calls on the mesh before",
                                  name_of(call), dt_group_world_rank(call->group, 0),
                                  dt_group_world_rank(call->group, i));
        if (record.tag == verdict->first.tag)
            continue;
        char first[SHOWN_CALL_BYTES], other[SHOWN_CALL_BYTES];
        dt__describe_difference(verdict->first.call, record.call, first, other, sizeof first);
        return dt__fail_local(call->ctx, DT_ERR_MISMATCH, "%s: rank %" PRId64 " calls %s, rank %" PRId64 " calls %s",
                              name_of(call), dt_group_world_rank(call->group, 0), first,
                              dt_group_world_rank(call->group, i), other);
    }
    return DT_OK;
}

/* Exchanges the records by an all_gather, where members are on several nodes. All file calls use this collective, so
 * that ranks that make different file calls meet. */
static dt_status gather(dt__file_call *call, struct verdict *verdict) {
    int64_t n = dt_group_size(call->group);
    char *records = dt_heap_alloc(call->ctx, (size_t)n * sizeof(dt__file_record));
    if (!records)
        return dt_error_status(call->ctx);
    static const dt__exchange_call file_call = {.name = "file"};
    dt_status status = dt__carry_run(call->group,
                                     &(dt__exchange){.call = &file_call,
                                                     .histories = {call->history},
                                                     .n_histories = call->history ? 1 : 0,
                                                     .compares_later = true,
                                                     .mesh_dims = DT__ALL_MESH_DIMS},
                                     &(dt_comm_call){.op = DT_ALL_GATHER,
                                                     .dtype = DT_U8,
                                                     .src = &call->own,
                                                     .dst = records,
                                                     .count = (int64_t)sizeof call->own});
    for (int64_t i = 0; i < n && status == DT_OK; i++)
        read_record(verdict, i, records + (size_t)i * sizeof(dt__file_record));
    if (status == DT_OK)
        status = compare_calls(verdict, records);
    (void)dt_heap_free(call->ctx, records);
    return status;
}

static dt_status fail_with(const struct verdict *verdict) {
    dt__file_call *call = verdict->call;
    dt_status status = (dt_status)verdict->failure.status;
    if (call->own.status == DT_OK)
        dt__blame_peer(call->ctx);
    if (verdict->all_alike)
        return dt__fail(call->ctx, status, "%s: %s", name_of(call), verdict->failure.failure);
    return dt__fail(call->ctx, status, "%s: rank %" PRId64 ": %s", name_of(call),
                    dt_group_world_rank(call->group, verdict->failed), verdict->failure.failure);
}

dt_status dt__file_call_meet(dt__file_call *call, dt_status status) {
    if (!call->group || (status != DT_OK && call->own.status == DT_OK))
        return status;
    struct verdict verdict = {.call = call, .failed = -1, .other = -1, .all_alike = true};
    dt__exchange exchange = {.call = call->kind,
                             .histories = {call->history},
                             .n_histories = call->history ? 1 : 0,
                             .mesh_dims = DT__ALL_MESH_DIMS,
                             .tag = call->tag,
                             .dtype = DT_U8,
                             .src = &call->own,
                             .src_bytes = sizeof call->own,
                             .steps = {collect},
                             .user = &verdict};
    call->wants_name = false;
    call->own.tag = dt__hash(name_of(call), strlen(name_of(call)), call->tag);
    call->own.history = call->history ? call->history->hash : 0;
    DT__TRY(call->spans_nodes ? gather(call, &verdict) : dt__exchange_run(call->group, &exchange));
    if (verdict.failed >= 0)
        return fail_with(&verdict);
    if (verdict.other < 0)
        return DT_OK;
    return dt__fail(call->ctx, DT_ERR_MISMATCH,
                    "%s: %s: ranks %" PRId64 " and %" PRId64
                    " read different files: %s, and %s; it may have been replaced meanwhile",
                    name_of(call), call->path, call->first_rank, dt_group_world_rank(call->group, verdict.other),
                    verdict.first.file_text, verdict.opened.file_text);
}
