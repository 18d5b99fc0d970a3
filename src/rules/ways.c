/* SPDX-License-Identifier: Apache-2.0
 *
 * The exchange of a combination of rows: over which mesh dims, how many bytes, at which price; and the memory of
 * states.
 */
#include "rules/ways.h"

#include "base/dtype.h"
#include "base/size.h"
#include "rules/move_prices.h"

#include <math.h>
#include <string.h>

enum { ALIGNMENT = 64, FEW_BYTES = 16 };
static const int64_t max_numbers = (int64_t)1 << 48;

/* One number is not aligned for vector loops. */
static size_t field_bytes(const dt_state_field *field) {
    const size_t bytes = (size_t)field->n * dt_dtype_size(field->dtype), step = field->n <= 1 ? FEW_BYTES : ALIGNMENT;
    return (bytes + step - 1) / step * step;
}

size_t dt__meet_state_bytes(const dt_state *state) {
    size_t bytes = 0;
    for (int f = 0; f < state->n_fields; f++)
        bytes += field_bytes(&state->fields[f]);
    return bytes;
}

void dt__meet_state_place(dt_state *state, void *memory) {
    unsigned char *at = memory;
    for (int f = 0; f < state->n_fields; f++) {
        state->fields[f].data = at;
        at += field_bytes(&state->fields[f]);
    }
}

void dt__meet_state_set_identity(const dt_state *state) {
    for (int f = 0; f < state->n_fields; f++) {
        const dt_state_field *field = &state->fields[f];
        unsigned char element[16], *at = field->data;
        size_t size = dt_dtype_size(field->dtype);
        dt__write_f64(field->dtype, field->identity, element);
        for (int64_t i = 0; i < field->n; i++, at += size)
            memcpy(at, element, size);
    }
}

dt_status dt__meet_state_describe(const dt_op_call *call, dt_state *out) {
    *out = (dt_state){0};
    call->op->meet->describe(call, out);
    if (out->n_fields < 1 || out->n_fields > DT_STATE_MAX_FIELDS)
        return dt_op_refuse(call, DT_ERR_VALUE, "the state has %d fields: expected 1 to %d", out->n_fields,
                            DT_STATE_MAX_FIELDS);
    for (int f = 0; f < out->n_fields; f++)
        if (out->fields[f].n < 0 || out->fields[f].n > max_numbers || (unsigned)out->fields[f].dtype >= DT_N_DTYPES)
            return dt_op_refuse(
                call, DT_ERR_VALUE,
                "field %d of the state: expected a dtype and at most 2^48 numbers, got dtype %d and %lld numbers",
                f + 1, (int)out->fields[f].dtype, (long long)out->fields[f].n);
    return DT_OK;
}

bool dt__meet_state_is_empty(const dt_op_call *call) {
    int n = call->op->flags & DT__OP_STATE_OF_FIRST ? 1 : call->n_inputs;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < call->inputs[i].n_dims; d++)
            if (call->inputs[i].shape[d] == 0)
                return true;
    return false;
}

/* The ranks along its mesh dims. */
static void set_group(const dt__placed_inputs *on, dt__way *way) {
    way->group = 1;
    way->spans_hosts = false;
    for (int m = 0; m < on->n_mesh_dims; m++)
        if (way->mesh_dims >> m & 1) {
            way->group *= on->mesh[m];
            way->spans_hosts |= dt__machine_spans_hosts(on->machine, on->n_mesh_dims, on->mesh, m);
        }
}

/* The values with the shapes of their largest shards. */
static dt_status largest_shards(dt__arena *arena, const dt__placed_inputs *on, int n, const dt_op_value *values,
                                const dt_placement *const *placements, dt_op_value *out) {
    for (int i = 0; i < n; i++) {
        dt__sharding sharding;
        int64_t *shape = DT__NEW_ARRAY(arena, int64_t, values[i].n_dims + 1);
        dt__sharding_desc desc = {.n_mesh_dims = on->n_mesh_dims,
                                  .mesh = on->mesh,
                                  .n_dims = values[i].n_dims,
                                  .shape = values[i].shape,
                                  .n_placements = on->n_mesh_dims,
                                  .placements = placements[i]};
        if (!shape)
            return DT_ERR_MEMORY;
        DT__TRY(dt__sharding_build(arena, &desc, &sharding));
        for (int d = 0; d < values[i].n_dims; d++)
            if (!dt__sharding_dim_max(&sharding, d, &shape[d]))
                shape[d] = values[i].shape[d];
        out[i] = values[i];
        out[i].shape = shape;
        out[i].global_shape = values[i].shape;
    }
    return DT_OK;
}

/* Between hosts, states travel in rounds: each passes on what has arrived so far, so that ranks have twice as much
 * after it. This takes fewer messages than one from each peer, and another copy. Then states of one number on many
 * ranks take less time than any move of a tensor that would spare them. */
static double states_us(const dt__machine *machine, const dt__step_desc *step) {
    double us = dt__machine_price(machine, step);
    if (!step->spans_hosts)
        return us;
    double message_us = machine->between.peer_us, by_peers = (double)(step->group - 1) * message_us;
    double by_rounds = step->after_bytes / machine->copy_bytes_per_us;
    for (double reached = 1; reached < (double)step->group; reached *= 2)
        by_rounds += message_us;
    return us - by_peers + fmin(by_peers, by_rounds);
}

static dt_status price_states(dt__arena *arena, const dt_op_call *call, const dt__combination *combination,
                              dt__way *out) {
    const dt__placed_inputs *on = combination->on;
    dt_op_call local = *call;
    dt_op_value *inputs = DT__NEW_ARRAY(arena, dt_op_value, call->n_inputs + 1);
    local.outputs = DT__NEW_ARRAY(arena, dt_op_value, call->n_outputs + 1);
    dt_state state;
    if (!inputs || !local.outputs)
        return DT_ERR_MEMORY;
    local.inputs = inputs;
    DT__TRY(largest_shards(arena, on, call->n_inputs, call->inputs, combination->inputs, inputs));
    DT__TRY(largest_shards(arena, on, call->n_outputs, call->outputs, combination->outputs, local.outputs));
    DT__TRY(dt__meet_state_describe(&local, &state));
    double bytes = (double)dt__meet_state_bytes(&state);
    out->is_fixed = true;
    for (int f = 0; f < state.n_fields; f++)
        out->is_fixed &= state.fields[f].n <= 1;
    if (bytes == 0) { /* there is nothing to exchange */
        out->group = 1;
        return DT_OK;
    }
    out->kind = DT__STEP_ALL_GATHER;
    if (!dt__mul_i64((int64_t)bytes, out->group - 1, &out->bytes)) /* on meshes that are only planned */
        out->bytes = INT64_MAX;
    dt__step_desc step = {.kind = out->kind,
                          .group = out->group,
                          .ranks = dt__mesh_ranks(on->n_mesh_dims, on->mesh),
                          .spans_hosts = out->spans_hosts,
                          .before_bytes = out->is_fixed ? 0 : bytes, /* costs its start-up alone */
                          .after_bytes = out->is_fixed ? 0 : bytes * (double)out->group};
    out->us = states_us(on->machine, &step);
    return DT_OK;
}

static dt_status new_shardings(dt__arena *arena, const dt__placed_inputs *on, int n, const dt_op_value *values,
                               const dt_placement *const *placements, const dt__sharding ***out) {
    dt__sharding *shardings = DT__NEW_ARRAY(arena, dt__sharding, n + 1);
    *out = DT__NEW_ARRAY(arena, const dt__sharding *, n + 1);
    if (!shardings || !*out)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        DT__TRY(dt__sharding_of_value(arena, on, &values[i], placements[i], &shardings[i]));
        (*out)[i] = &shardings[i];
    }
    return DT_OK;
}

/* The windows of a call while they are priced. */
typedef struct windowing {
    dt__arena *arena;
    const dt_op_call *call;
    const dt__placed_inputs *on;
    const dt__sharding **inputs, **outputs;
    dt__dim_window **windows; /* of one rank */
    double needed, received;  /* bytes of the rank that receives most */
} windowing;

/* What a rank needs but does not hold. For a dim that is not fetched, the largest shard counts. */
static void count_bytes(windowing *self, const int64_t *coordinate) {
    double needed = 0, received = 0;
    for (int i = 0; i < self->call->n_inputs; i++) {
        double all = (double)dt_dtype_size(self->call->inputs[i].dtype), held = all;
        for (int d = 0; d < self->call->inputs[i].n_dims; d++) {
            const dt__dim_window *window = &self->windows[i][d];
            int64_t size = window->size, own = size;
            if (window->is_own && dt__sharding_dim_max(self->inputs[i], d, &size))
                own = size;
            else if (!window->is_own) {
                dt__shard shard;
                dt__shard_at(self->inputs[i], d, coordinate, &shard);
                own = dt__window_held(&shard, window);
            }
            all *= (double)size;
            held *= (double)own;
        }
        needed += all;
        received += all - held;
    }
    if (received > self->received || (received == self->received && needed > self->needed)) {
        self->received = received;
        self->needed = needed;
    }
}

/* All coordinates along the mesh dims whose ranks exchange something. */
static dt_status count_ranks(windowing *self, uint32_t mesh_dims, int64_t *coordinate) {
    for (bool more = true; more;) {
        bool needs_none;
        dt__arena_mark mark = dt__arena_begin(self->arena);
        DT__TRY(dt__windows_at(self->arena, self->call, self->inputs, self->outputs, coordinate, self->windows,
                               &needs_none));
        if (!needs_none)
            count_bytes(self, coordinate);
        dt__arena_rewind(self->arena, mark);
        more = false;
        for (int m = self->on->n_mesh_dims - 1; m >= 0 && !more; m--)
            if (mesh_dims >> m & 1) {
                more = ++coordinate[m] < self->on->mesh[m];
                coordinate[m] = more ? coordinate[m] : 0;
            }
    }
    return DT_OK;
}

/* One message from each peer: what is received is packed by its senders, and the windows are written once, unless they
 * are the result, which the kernel would have written, or the shards are read in place. */
static double windows_us(const dt__machine *machine, const dt__way *way, double needed) {
    const dt__link *link = way->spans_hosts ? &machine->between : &machine->within;
    double received = (double)way->bytes;
    return link->start_us + (double)(way->group - 1) * link->peer_us + received / link->bytes_per_us +
           (needed + received) / machine->copy_bytes_per_us;
}

static dt_status price_windows(dt__arena *arena, const dt_op_call *call, const dt__combination *combination,
                               dt__way *out) {
    const dt__placed_inputs *on = combination->on;
    windowing self = {.arena = arena, .call = call, .on = on};
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0};
    bool needs_none;
    self.windows = DT__NEW_ARRAY(arena, dt__dim_window *, call->n_inputs + 1);
    if (!self.windows)
        return DT_ERR_MEMORY;
    DT__TRY(new_shardings(arena, on, call->n_inputs, call->inputs, combination->inputs, &self.inputs));
    DT__TRY(new_shardings(arena, on, call->n_outputs, call->outputs, combination->outputs, &self.outputs));
    DT__TRY(dt__windows_at(arena, call, self.inputs, self.outputs, coordinate, self.windows, &needs_none));
    out->mesh_dims |= dt__windows_mesh_dims(call, self.inputs, self.windows);
    DT__TRY(count_ranks(&self, out->mesh_dims, coordinate));
    set_group(on, out);
    out->kind = DT__STEP_ALL_TO_ALL;
    out->bytes = self.received < (double)INT64_MAX ? (int64_t)self.received : INT64_MAX;
    bool copies_all = !dt__windows_are_result(call) && !(call->op->flags & DT_OP_TILES);
    out->us = out->bytes ? windows_us(on->machine, out, copies_all ? self.needed : 0) : 0;
    return DT_OK;
}

dt_status dt__way_of(dt__arena *arena, const dt_op_call *call, const dt__combination *combination, dt__way *out) {
    const dt__placed_inputs *on = combination->on;
    *out = (dt__way){.group = 1};
    for (int m = 0; m < on->n_mesh_dims; m++) {
        const dt__row *row = combination->rows[m];
        if (!row || !(row->flags & DT__ROW_WAYS))
            continue;
        out->flags |= row->flags & DT__ROW_WAYS;
        out->mesh_dims |= (uint32_t)1 << m;
    }
    set_group(on, out);
    if (out->flags & DT_ROW_WINDOW) {
        if (!(out->flags & DT__ROW_STATES))
            return price_windows(arena, call, combination, out);
        out->us = INFINITY; /* a call exchanges states or elements, not both */
        return DT_OK;
    }
    return out->flags && out->group > 1 ? price_states(arena, call, combination, out) : DT_OK;
}
