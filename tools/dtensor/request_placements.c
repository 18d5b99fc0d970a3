/* SPDX-License-Identifier: Apache-2.0
 *
 * Orders and extents of a request: objects with a list per tensor dim.
 */
#include "request_placements.h"

#include <limits.h>
#include <stdlib.h>

/* The tensor dim that a key such as "0" of `order` or `extents` names. */
static dt_status read_dim(const request *asked, const char *field, const char *key, int *out) {
    char *end;
    long dim = strtol(key, &end, 10);
    bool digits = *key >= '0' && *key <= '9' && !*end;
    if (!digits || dim > INT_MAX)
        return dt__fail(asked->ctx, DT_ERR_FIELD, "field '%s': wanted a tensor dim as key, got \"%.60s\"", field,
                        key);
    *out = (int)dim;
    return DT_OK;
}

/* What a key of `order` or of `extents` does to the placements. */
typedef dt_status apply_fn(const request *asked, const char *field, dt_placement *placements, int n, int dim,
                           const json_t *list);

static dt_status apply_order(const request *asked, const char *field, dt_placement *placements, int n, int dim,
                             const json_t *list) {
    int64_t *mesh_dims = NULL;
    int n_mesh_dims = 0;
    DT__TRY(request_ints(asked, field, list, 0, DT_SPEC_MAX_DIMS - 1, &mesh_dims, &n_mesh_dims));
    int *narrow = DT__NEW_ARRAY(asked->arena, int, n_mesh_dims);
    if (!narrow)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n_mesh_dims; i++)
        narrow[i] = (int)mesh_dims[i];
    return dt_placements_set_order(asked->ctx, n, placements, dim, n_mesh_dims, narrow);
}

static dt_status apply_extents(const request *asked, const char *field, dt_placement *placements, int n, int dim,
                               const json_t *list) {
    int64_t *sizes = NULL;
    int n_sizes = 0;
    DT__TRY(request_ints(asked, field, list, 0, INT64_MAX, &sizes, &n_sizes));
    return dt_placements_set_extents(asked->ctx, n, placements, dim, n_sizes, sizes);
}

static dt_status apply_field(const request *asked, const char *field, apply_fn *apply, dt_placement *placements,
                             int n) {
    void *by_dim = (void *)request_get(asked, field); /* the iterator's type asks for it; nothing is changed */
    if (by_dim && !json_is_object((json_t *)by_dim))
        return request_wrong(asked, field, "an object with a list per tensor dim", by_dim);
    for (void *at = json_object_iter(by_dim); at; at = json_object_iter_next(by_dim, at)) {
        int dim = 0;
        DT__TRY(read_dim(asked, field, json_object_iter_key(at), &dim));
        DT__TRY(apply(asked, field, placements, n, dim, json_object_iter_value(at)));
    }
    return DT_OK;
}

dt_status request_order(const request *asked, const char *field, dt_placement *placements, int n) {
    return apply_field(asked, field, apply_order, placements, n);
}

dt_status request_extents(const request *asked, const char *field, dt_placement *placements, int n) {
    return apply_field(asked, field, apply_extents, placements, n);
}
