/* SPDX-License-Identifier: Apache-2.0
 *
 * The states of reductions.
 */
#include "ops/states.h"

#include "base/size.h"
#include "rules/rules.h"

#include <math.h>

int64_t dt__n_remaining(const dt_op_value *value, uint32_t dims) {
    const int64_t most = (int64_t)1 << 48; /* where a dim is empty, the others may have any sizes */
    int64_t n = 1;
    for (int d = 0; d < value->n_dims; d++)
        if (!(dims >> d & 1) && (!dt__mul_i64(n, value->shape[d], &n) || n > most))
            n = most;
    return n;
}

void dt__state_array(const dt_op_call *call, uint32_t dims, const dt_state_field *field, dt__reduced *out) {
    const dt_op_value *input = &call->inputs[0];
    int n = 0;
    for (int d = 0; d < input->n_dims; d++)
        if (!(dims >> d & 1))
            out->shape[n++] = input->shape[d];
    dt__row_strides(n, out->shape, out->strides);
    out->array = (dt__array){field->data, field->dtype, n, out->shape, out->strides};
}

void dt__statistics_describe(const dt_op_call *call, dt__statistic kind, uint32_t dims, dt_state *state) {
    int64_t n = dt__n_remaining(&call->inputs[0], dims);
    double first = kind == DT__EXPONENTIALS ? -INFINITY : 0;
    state->n_fields = kind == DT__SQUARES ? 1 : kind == DT__MOMENTS ? 3 : 2;
    for (int f = 0; f < state->n_fields; f++)
        state->fields[f] = (dt_state_field){.dtype = DT_F64, .n = f == 2 ? 1 : n, .identity = f == 0 ? first : 0};
}

void dt__statistics_begin(const dt_op_call *call, dt__statistic kind, uint32_t dims, const dt__array *in,
                          const dt__array *powers, const dt_state *state) {
    dt__reduced fields[2];
    for (int f = 0; f < 2 && f < state->n_fields; f++)
        dt__state_array(call, dims, &state->fields[f], &fields[f]);
    dt__statistics_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                       &(dt__statistics){.kind = kind,
                                         .dims = dims,
                                         .in = in,
                                         .first = kind == DT__SQUARES ? NULL : &fields[0].array,
                                         .second = &fields[dt__second_field(kind)].array,
                                         .powers = powers});
    if (kind != DT__MOMENTS)
        return;
    double count = 1;
    for (int d = 0; d < in->n_dims; d++)
        count *= dims >> d & 1 ? (double)in->shape[d] : 1;
    *(double *)state->fields[2].data = count;
}

static dt__row_statistics row_statistics(dt__statistic kind, const dt_state *state) {
    return (dt__row_statistics){.count = kind == DT__MOMENTS ? state->fields[2].data : NULL,
                                .first = state->fields[0].data,
                                .second = state->fields[dt__second_field(kind)].data};
}

void dt__statistics_meet(const dt_op_call *call, dt__statistic kind, const dt_state *into, const dt_state *next) {
    dt__row_statistics a = row_statistics(kind, into), b = row_statistics(kind, next);
    dt__statistics_merge(dt__kernels_of(call->ctx), kind, into->fields[0].n, &a, &b);
}

dt_status dt__run_alone(dt_op_call *call) {
    enum { FEW_BYTES = 1024 };
    const dt_meet *meet = call->op->meet;
    _Alignas(64) unsigned char few[FEW_BYTES];
    dt_state state = {0};
    meet->describe(call, &state);
    size_t bytes = dt__meet_state_bytes(&state);
    dt__scratch scratch;
    if (bytes > FEW_BYTES)
        DT__TRY(dt__scratch_new(call, DT_U8, 1, (int64_t[]){(int64_t)bytes}, &scratch));
    dt__meet_state_place(&state, bytes > FEW_BYTES ? scratch.array.data : few);
    dt__meet_state_set_identity(&state);
    dt_status status = dt__meet_state_is_empty(call) ? DT_OK : meet->begin(call, &state);
    if (status == DT_OK)
        status = meet->finish(call, &state);
    if (bytes > FEW_BYTES)
        dt__scratch_free(call, &scratch);
    return status;
}
