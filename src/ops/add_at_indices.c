/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums at indices: the memory in which the kernels sort the terms of f16 and bf16, and the error of a bad index.
 */
#include "ops/add_at_indices.h"

#include "base/dtype.h"

dt_status dt__index_terms_new(const dt_op_call *call, dt_dtype dtype, int64_t n, dt__scratch *memory,
                              dt__index_term **out) {
    const int64_t shape[] = {n, 2 * sizeof(dt__index_term) / sizeof(int64_t)};
    *out = NULL;
    if (!dt__is_half(dtype))
        return DT_OK;
    DT__TRY(dt__scratch_new(call, DT_I64, 2, shape, memory));
    *out = memory->array.data;
    return DT_OK;
}

void dt__index_terms_free(const dt_op_call *call, dt__scratch *memory, const dt__index_term *terms) {
    if (terms)
        dt__scratch_free(call, memory);
}

dt_status dt__add_at_indices(const dt_op_call *call, const dt__indexed *args, bool along) {
    const dt__kernels *kernels = dt__kernels_of(call->ctx);
    dt__pool *pool = dt__pool_of(call->ctx);
    dt__indexed indexed = *args;
    dt__scratch memory;
    int64_t bad;
    const int64_t bytes = along ? dt__scatter_bytes(pool, args) : dt__index_add_bytes(pool, args);
    if (bytes) {
        DT__TRY(dt__scratch_new(call, DT_I8, 1, &bytes, &memory));
        indexed.memory = memory.array.data;
    }
    const bool fine =
        along ? dt__scatter_along(kernels, pool, &indexed, true, &bad) : dt__index_add(kernels, pool, &indexed, &bad);
    if (bytes)
        dt__scratch_free(call, &memory);
    return fine ? DT_OK : dt__bad_index(call, bad, args->limit);
}
