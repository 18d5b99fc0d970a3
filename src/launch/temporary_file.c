/* SPDX-License-Identifier: Apache-2.0
 *
 * The file that a rank creates under a temporary name if a file without a name is impossible. Its path is in the rank's
 * control block, so that others can open it, and remove it if the rank dies: the supervisor when it publishes the end
 * of the rank, the peers when they find it dead.
 */
#include "launch/temporary_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

dt_status dt__temporary_register(dt_ctx *ctx, const char *path) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    if (!runtime || !runtime->board) /* a world of one: no other process can remove it */
        return DT_OK;
    struct dt__rank_block *own = runtime->board->own;
    atomic_store(&own->has_temporary, 0);
    if (!path)
        return DT_OK;
    if (strlen(path) >= sizeof own->temporary)
        return DT_ERR_VALUE;
    memcpy(own->temporary, path, strlen(path) + 1);
    atomic_store(&own->has_temporary, 1);
    return DT_OK;
}

static bool path_of(const struct dt__rank_block *block, size_t capacity, char *out) {
    if (!atomic_load(&block->has_temporary))
        return false;
    return (size_t)snprintf(out, capacity, "%.*s", DT__TEMPORARY_BYTES - 1, block->temporary) < capacity;
}

bool dt__temporary_of(const dt_ctx *ctx, int64_t rank, size_t capacity, char *out) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime && runtime->board && path_of(&runtime->board->ranks[rank], capacity, out);
}

/* The name is checked, because the control words of a rank that has crashed may be anything. */
static void remove_file(const struct dt__rank_block *block) {
    static const char ending[] = DT__TEMPORARY_ENDING;
    char path[DT__TEMPORARY_BYTES];
    if (!path_of(block, sizeof path, path))
        return;
    size_t n = strlen(path);
    if (path[0] == '/' && n > sizeof ending && strcmp(path + n - (sizeof ending - 1), ending) == 0)
        (void)unlink(path);
}

void dt__segment_remove_temporary(const struct dt__segment *segment, int64_t rank) {
    remove_file(&segment->ranks[rank]);
}

void dt__temporary_remove(dt_ctx *ctx, int64_t rank) {
    char path[DT__TEMPORARY_BYTES];
    if (dt__temporary_of(ctx, rank, sizeof path, path) && dt__peer_is_dead(ctx, rank))
        remove_file(&dt__runtime_of(ctx)->board->ranks[rank]);
}

void dt__segment_remove_temporaries(const struct dt__segment *segment) {
    for (int64_t rank = 0; rank < segment->n_ranks; rank++)
        dt__segment_remove_temporary(segment, rank);
}
