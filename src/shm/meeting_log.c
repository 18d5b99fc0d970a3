/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of meetings of an estimate: see meeting_log.h.
 */
#include "shm/meeting_log.h"

#include "base/regular_file.h"

#include <inttypes.h>
#include <stdlib.h>

dt_status dt__meeting_log_open(dt__meeting_log *self, dt_ctx *ctx) {
    const char *path = secure_getenv("DTENSOR_MEETINGS");
    char why[DT__REGULAR_ERROR_BYTES];
    *self = (dt__meeting_log){.groups = dt__map_new(ctx)};
    if (!path || !*path || (self->file = dt__regular_file_write(path, why)))
        return DT_OK;
    return dt__fail_local(ctx, DT_ERR_SYSTEM, "estimate: cannot open %s for writing: %s", path, why);
}

static bool is_evenly_spaced(const dt_group *group) {
    for (int64_t i = 2; i < group->n_ranks; i++)
        if (dt__group_member(group, i) - dt__group_member(group, i - 1) !=
            dt__group_member(group, 1) - dt__group_member(group, 0))
            return false;
    return true;
}

static void write_group(const dt__meeting_log *self, const dt_group *group) {
    int64_t first = dt__group_member(group, 0), second = group->n_ranks > 1 ? dt__group_member(group, 1) : first + 1;
    fprintf(self->file, "group %" PRId64 " %" PRIx64 " %" PRId64, self->n_groups - 1, group->direction,
            group->n_ranks);
    if (is_evenly_spaced(group))
        fprintf(self->file, " %" PRId64 " %" PRId64, first, second - first);
    else
        fputs(" list", self->file);
    for (int64_t i = 0; i < group->n_ranks && !is_evenly_spaced(group); i++)
        fprintf(self->file, " %" PRId64, dt__group_member(group, i));
    fputc('\n', self->file);
}

/* Its number, with a line of its own for the first time. */
static int64_t number_of(dt__meeting_log *self, const dt_group *group) {
    uint64_t key = dt__hash_u64(group->direction, group->order_hash);
    intptr_t number = (intptr_t)dt__map_get(&self->groups, key, NULL, NULL);
    if (number)
        return number - 1;
    number = ++self->n_groups;
    (void)dt__map_try_add(&self->groups, key, (void *)number); /* otherwise the group is written again */
    write_group(self, group);
    return number - 1;
}

void dt__meeting_log_add(dt__meeting_log *self, const dt_work *work) {
    const dt_ctx *ctx = work->group->ctx;
    if (!self->file || ctx->machine->n_op_rates == 0)
        return;
    int64_t group = number_of(self, work->group);
    const char *word = work->op == DT__WORK_SEND ? "send" : work->op == DT__WORK_RECV ? "recv" : "meet";
    fprintf(self->file, "%s %.3f %" PRId64, word, dt__clock_us(ctx), group);
    if (work->op == DT__WORK_SEND || work->op == DT__WORK_RECV)
        fprintf(self->file, " %" PRId64, dt__group_member(work->group, work->call.root));
    fputc('\n', self->file);
}

void dt__meeting_log_close(dt__meeting_log *self, const dt_ctx *ctx) {
    dt__map_free(&self->groups);
    if (!self->file)
        return;
    fprintf(self->file, "end %.3f\n", dt__clock_us(ctx));
    (void)fclose(self->file);
}
