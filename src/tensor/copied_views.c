/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of copies. A view op whose input has to move, because no row of its rule fits the placements, returns a view of
 * the copy that was moved; with other placements the same call returns a view of the tensor itself. To give a program
 * the same meaning with all placements, such a copy must not be written to, because that would not change the tensor,
 * nor read after the tensor has changed. The copy records the version that it was made from; for that the storage
 * object of the tensor outlives its memory.
 */
#include "tensor/tensor_state.h"

#include <stdio.h>

/* What a storage is a copy of. */
struct dt__origin {
    dt__storage *base; /* watched */
    uint64_t version;  /* of the base when it was copied */
    const char *made_by;
    dt_site made_at;
};

dt_status dt__copied_view_note(dt_tensor *view, dt__storage *base) {
    dt__storage *storage = view->storage;
    dt_ctx *ctx = storage->ctx;
    if (storage->origin || storage == base) {
        view->special |= storage->origin ? DT__OF_COPY : 0;
        return DT_OK;
    }
    struct dt__origin *origin = dt__alloc(ctx, sizeof *origin);
    if (!origin)
        return dt__fail_memory(ctx, sizeof *origin, "a view of a copy");
    const dt__public_call *call = &ctx->call;
    bool known = call->depth > 0;
    *origin = (struct dt__origin){.base = base, .version = base->version, .made_by = known ? call->name : NULL};
    if (known && call->site)
        origin->made_at = *call->site;
    if (base->origin) { /* neither it nor its base has changed: both were checked */
        origin->base = base->origin->base;
        origin->version = base->origin->version;
    }
    origin->base->n_watchers++;
    storage->origin = origin;
    view->special |= DT__OF_COPY;
    return DT_OK;
}

void dt__origin_free(dt__storage *storage) {
    struct dt__origin *origin = storage->origin;
    dt__storage *base = origin->base;
    storage->origin = NULL;
    dt__free(storage->ctx, origin, sizeof *origin);
    if (base->n_watchers > 0 && --base->n_watchers == 0 && base->n_refs == 0) {
        base->n_refs = 1;
        dt__storage_release(base);
    }
}

/* ", made by slice (at FILE:LINE)," */
static void add_call(char *out, size_t capacity, const char *verb, const char *name, const dt_site *site) {
    char at[DT__SITE_TEXT_BYTES];
    dt__site_text(site && site->file ? site : NULL, at, sizeof at);
    (void)snprintf(out, capacity, " %s%s%s%s", verb, name ? " by " : "", name ? name : "", at);
}

void dt__storage_change_text(const dt__storage *storage, char *out, size_t capacity) {
    add_call(out, capacity, "changed", storage->changed_by, &(dt_site){storage->changed_file, storage->changed_line});
}

enum { CALL_BYTES = DT__SITE_TEXT_BYTES + 128 };

dt_status dt__refuse_write_to_copy(const dt_tensor *tensor, const char *op) {
    const struct dt__origin *origin = tensor->storage->origin;
    char text[256], made[CALL_BYTES];
    (void)dt_tensor_text(tensor, sizeof text, text);
    add_call(made, sizeof made, "made", origin->made_by, &origin->made_at);
    return dt__fail(
        tensor->ctx, DT_ERR_STATE,
        "%s: cannot write to %s: it is a view of a copy%s, whose input had to move, and the input would not "
        "change; redistribute the input before, or write to the input",
        op, text, made);
}

dt_status dt__check_origin(const dt_tensor *tensor) {
    const struct dt__origin *origin = tensor->storage->origin;
    if (origin->base->version == origin->version)
        return DT_OK;
    char text[256], made[CALL_BYTES], changed[CALL_BYTES];
    (void)dt_tensor_text(tensor, sizeof text, text);
    add_call(made, sizeof made, "made", origin->made_by, &origin->made_at);
    dt__storage_change_text(origin->base, changed, sizeof changed);
    return dt__fail(
        tensor->ctx, DT_ERR_STATE,
        "%s is a view of a copy%s, whose input had to move, and the input has been%s since; take the view "
        "again, or redistribute the input before",
        text, made, changed);
}
