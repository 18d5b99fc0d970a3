/* SPDX-License-Identifier: Apache-2.0
 *
 * Running a recorded op again, with the arguments and the draw of its record.
 */
#include "autograd/autograd.h"

#include <string.h>

static dt_status run_again(const dt__recorded_call *record, dt__call *call, dt_tensor **outputs) {
    DT__TRY(dt__call_reserve(call, record->n_inputs));
    for (int i = 0; i < record->n_inputs; i++)
        if (!(call->inputs[i] = dt__saved_tensor(record, i))) {
            for (int k = 0; k < i; k++)
                dt_drop(call->inputs[k]);
            return dt_error_status(record->ctx);
        }
    call->n_inputs = record->n_inputs;
    call->draw = record->draw;
    dt_status status = dt__dispatch(record->ctx, call);
    if (status == DT_OK)
        memcpy(outputs, call->outputs, (size_t)call->n_outputs * sizeof *outputs);
    for (int i = 0; i < record->n_inputs; i++)
        dt_drop(call->inputs[i]);
    return status;
}

dt_status dt__record_replay(const dt__recorded_call *record, dt_tensor **outputs) {
    dt__call call;
    if (!record->info || record->is_in_place)
        return dt__fail(record->ctx, DT_ERR_STATE, "%s cannot be repeated: expected an op that makes new tensors",
                        record->name ? record->name : "a leaf");
    dt__call_init(&call, record->ctx, record->overload, record->args);
    call.info = record->info;
    dt_status status = run_again(record, &call, outputs);
    dt__call_end(&call);
    return status;
}
