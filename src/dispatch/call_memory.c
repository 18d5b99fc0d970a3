/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of calls with more tensors than the call object has space for. Blocks are freed when the call ends, so that
 * arguments may point into them while the lists grow.
 */
#include "dispatch/dispatch.h"

#include <string.h>

typedef struct dt__call_block {
    struct dt__call_block *next;
    size_t bytes;
} dt__call_block;

void *dt__call_alloc(dt__call *call, size_t bytes) {
    dt__call_block *block = dt__alloc(call->ctx, sizeof *block + bytes);
    if (!block)
        return (void)dt__fail_memory(call->ctx, bytes, "the tensors of a call"), NULL;
    block->next = call->memory;
    block->bytes = sizeof *block + bytes;
    call->memory = block;
    return block + 1;
}

dt_status dt__call_reserve_memory(dt__call *call, int n) {
    int capacity = n > 2 * call->capacity ? n : 2 * call->capacity, all = capacity + DT__MAX_ARGS;
    dt_op_value *values =
        dt__call_alloc(call, (size_t)all * (sizeof *values + 2 * sizeof *call->inputs + sizeof *call->members));
    if (!values)
        return DT_ERR_MEMORY;
    dt_tensor **inputs = (dt_tensor **)(values + all);
    memcpy(inputs, call->inputs, (size_t)call->n_inputs * sizeof *inputs);
    call->values = values;
    call->inputs = inputs;
    call->moved = inputs + all;
    call->members = (int *)(inputs + 2 * all); /* those before stay where they are */
    call->n_members = 0;
    call->capacity = capacity;
    return DT_OK;
}

dt_status dt__call_reserve_outputs_memory(dt__call *call, int n) {
    dt_op_value *values = dt__call_alloc(call, (size_t)n * (sizeof *values + sizeof *call->outputs));
    if (!values)
        return DT_ERR_MEMORY;
    call->output_values = values;
    call->outputs = (dt_tensor **)(values + n);
    call->output_capacity = n;
    return DT_OK;
}

void dt__call_free_memory(dt__call *call) {
    for (dt__call_block *block = call->memory, *next; block; block = next) {
        next = block->next;
        dt__free(call->ctx, block, block->bytes);
    }
    call->memory = NULL;
}
