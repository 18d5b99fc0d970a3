/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that become elements: which fit a dtype, and which rank of a partial tensor holds the value.
 */
#include "base/dtype.h"
#include "tensor/tensor.h"

dt_status dt__want_number(dt_ctx *ctx, const char *op, dt_dtype dtype, double value) {
    int64_t least, most;
    if (!dt__is_integer(dtype))
        return DT_OK;
    dt__integer_limits(dtype, &least, &most);
    if (dt__is_within(value, least, most))
        return DT_OK;
    return dt__fail(ctx, DT_ERR_VALUE, "%s: %.17g does not fit %s; wanted a number from %lld to %lld", op, value,
                    dt_dtype_name(dtype), (long long)least, (long long)most);
}

bool dt__holds_value(const dt_spec *spec, dt_reduce *identity) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (!dt_mesh_coordinate(spec->mesh, coordinate))
        return true; /* of nothing */
    bool first = true;
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++) {
        const dt_placement *p = &spec->sharding.placements[m];
        if (!dt_placement_is_partial(*p) || p->reduce == DT_AVG || coordinate[m] == 0)
            continue;
        first = false;
        *identity = p->reduce;
    }
    return first;
}
