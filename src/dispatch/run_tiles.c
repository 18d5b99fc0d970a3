/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs calls with windows whose kernel computes any part of the outputs (DT_OP_TILES): only halos are fetched, the
 * inside is computed from the shards where they are, and the rest from small copies. Outputs that lack the split dims
 * are sums over the tiles, in a fixed order.
 */
#include "base/size.h"
#include "dispatch/dispatch_state.h"
#include "dispatch/tiles.h"
#include "kernels/kernels.h"
#include "mesh/mesh.h"
#include "move/move.h"

#include <inttypes.h>
#include <string.h>

/* One input of a tile. */
typedef struct tile_input {
    dt__range *box;
    bool in_place;
    int64_t *strides; /* of the copy, dense */
    size_t at;        /* of the copy, in the memory of the tile */
} tile_input;

typedef struct tile {
    dt_op_call boxes; /* shapes and offsets of inputs and outputs */
    tile_input *inputs;
    size_t bytes; /* of its copies */
} tile;

struct dt__tiled {
    dt__halo *halo;
    int n;
    tile *tiles;
    bool *is_sum;             /* per output: the sum over the tiles */
    size_t copy_bytes;        /* of the tile that copies most */
    size_t sum_bytes;         /* of the terms of such outputs */
    dt__shard_memory *shards; /* per input, while it runs */
    dt_op_value *values;      /* of the tile that runs: inputs, then outputs */
};

/* The call while its tiles are prepared. */
typedef struct preparation {
    dt__decision *decision;
    const dt_op_call *call;
    const dt__sharding *const *inputs, *const *outputs;
    uint32_t *fetched; /* per input: dims */
    dt_op_call boxes;  /* of this rank */
    int n_axes;
    signed char (*axis_of)[DT_SPEC_MAX_DIMS]; /* per entry and dim; -1: it is not split */
    int64_t sizes[DT_SPEC_MAX_DIMS];          /* per axis */
    dt__arena *scratch;
} preparation;

/* The ranges of windows that are one run each; of dims that are not fetched the part of this rank. */
static dt_status find_ranges(dt__arena *arena, const dt_op_call *boxes, const uint32_t *fetched, bool needs_none,
                             dt__range **out) {
    dt__dim_window **windows = DT__NEW_ARRAY(arena, dt__dim_window *, boxes->n_inputs + 1);
    if (!windows)
        return DT_ERR_MEMORY;
    if (!needs_none)
        DT__TRY(dt__windows_of_boxes(arena, boxes, windows));
    for (int i = 0; i < boxes->n_inputs; i++) {
        const dt_op_value *input = &boxes->inputs[i];
        out[i] = DT__NEW_ARRAY(arena, dt__range, input->n_dims + 1);
        if (!out[i])
            return DT_ERR_MEMORY;
        for (int d = 0; d < input->n_dims; d++) {
            if (!(fetched[i] >> d & 1)) {
                out[i][d] = (dt__range){input->offset[d], input->offset[d] + input->shape[d]};
                continue;
            }
            const dt__dim_window *window = needs_none ? NULL : &windows[i][d];
            if (!window || !window->n_runs || !window->size)
                continue;
            if (window->n_runs > 1 || (window->runs[0].step != 1 && window->size > 1))
                return dt_op_refuse(
                    boxes, DT_ERR_VALUE,
                    "the window of dim %d of input %d: expected one run in steps of 1, because the op "
                    "has DT_OP_TILES, got %d runs, the first in steps of %" PRId64,
                    d, i + 1, window->n_runs, window->runs[0].step);
            out[i][d] = (dt__range){window->runs[0].start, window->runs[0].start + window->size};
        }
    }
    return DT_OK;
}

static dt_status needed_at(const void *user, dt__arena *arena, const int64_t *coordinate, dt__range **out) {
    const preparation *self = user;
    dt_op_call boxes;
    bool needs_none;
    DT__TRY(dt__boxes_at(arena, self->call, self->inputs, self->outputs, coordinate, &boxes, &needs_none));
    return find_ranges(arena, &boxes, self->fetched, needs_none, out);
}

static const dt_placement *placement_of(const preparation *self, int entry, int m) {
    int o = entry - self->call->n_inputs;
    return &(o < 0 ? self->inputs[entry] : self->outputs[o])->placements[m];
}

/* Whether a mesh dim splits this tensor so that windows follow from its part. */
static bool is_split(const preparation *self, int entry, int m) {
    const dt_placement *placement = placement_of(self, entry, m);
    return dt__is_cut(placement) && (entry >= self->call->n_inputs || !(self->fetched[entry] >> placement->dim & 1));
}

/* The dims that one mesh dim splits form one axis; several mesh dims may split the same dims. */
static bool find_axis(preparation *self, int m) {
    int axis = -1, n_entries = self->call->n_inputs + self->call->n_outputs;
    for (int e = 0; e < n_entries; e++)
        if (is_split(self, e, m) && self->axis_of[e][placement_of(self, e, m)->dim] >= 0)
            axis = self->axis_of[e][placement_of(self, e, m)->dim];
    bool is_new = axis < 0;
    axis = is_new ? self->n_axes++ : axis;
    for (int e = 0; e < n_entries; e++) {
        int dim = is_split(self, e, m) ? placement_of(self, e, m)->dim : -1;
        if (dim < 0)
            continue;
        int64_t size = dt__row_value(&self->boxes, e)->shape[dim];
        bool is_other = self->axis_of[e][dim] >= 0 && self->axis_of[e][dim] != axis;
        if (is_other || (!is_new && self->sizes[axis] != size))
            return false;
        self->axis_of[e][dim] = (signed char)axis;
        self->sizes[axis] = size;
        is_new = false;
    }
    return !is_new;
}

/* An output has all axes, or none and is a sum. */
static bool find_sums(const preparation *self, uint32_t mesh_dims, bool *is_sum) {
    int n_inputs = self->call->n_inputs;
    for (int o = 0; o < self->call->n_outputs; o++) {
        int n = 0;
        for (int d = 0; d < self->call->outputs[o].n_dims; d++)
            n += self->axis_of[n_inputs + o][d] >= 0;
        is_sum[o] = n == 0;
        for (int m = 0; m < self->outputs[o]->n_mesh_dims && is_sum[o]; m++) {
            const dt_placement *placement = placement_of(self, n_inputs + o, m);
            if (mesh_dims >> m & 1 && !(dt_placement_is_partial(*placement) && placement->reduce == DT_SUM))
                return false;
        }
        if ((n && n < self->n_axes) || dt__output_input(self->call, o) >= 0)
            return false;
    }
    return true;
}

/* The axes along which the call is split; none: it runs as one tile. */
static void find_axes(preparation *self, uint32_t mesh_dims, bool *is_sum) {
    int n_entries = self->call->n_inputs + self->call->n_outputs;
    bool fits = true;
    memset(self->axis_of, -1, (size_t)n_entries * sizeof *self->axis_of);
    for (int m = 0; m < dt_mesh_n_dims(self->decision->mesh) && fits; m++)
        fits = !(mesh_dims >> m & 1) || find_axis(self, m);
    if (fits && find_sums(self, mesh_dims, is_sum))
        return;
    memset(self->axis_of, -1, (size_t)n_entries * sizeof *self->axis_of);
    memset(is_sum, 0, (size_t)self->call->n_outputs * sizeof *is_sum);
    self->n_axes = 0;
}

/* The parts of this rank, narrowed to a tile. */
static dt_status narrow_boxes(const preparation *self, dt__arena *arena, const dt__range *ranges, dt_op_call *out) {
    int n = self->call->n_inputs + self->call->n_outputs;
    dt_op_value *values = DT__NEW_ARRAY(arena, dt_op_value, n + 1);
    int64_t *numbers = DT__NEW_ARRAY(arena, int64_t, 2 * DT_SPEC_MAX_DIMS * n + 1);
    if (!values || !numbers)
        return DT_ERR_MEMORY;
    for (int e = 0; e < n; e++, numbers += (ptrdiff_t)2 * DT_SPEC_MAX_DIMS) {
        const dt_op_value *whole = dt__row_value(&self->boxes, e);
        int64_t *shape = numbers, *offset = numbers + DT_SPEC_MAX_DIMS;
        for (int d = 0; d < whole->n_dims; d++) {
            int axis = self->axis_of[e][d];
            shape[d] = axis < 0 ? whole->shape[d] : ranges[axis].end - ranges[axis].begin;
            offset[d] = whole->offset[d] + (axis < 0 ? 0 : ranges[axis].begin);
        }
        values[e] = *whole;
        values[e].shape = shape;
        values[e].offset = offset;
    }
    *out = self->boxes;
    out->inputs = values;
    out->outputs = values + self->call->n_inputs;
    return DT_OK;
}

static dt_status find_reach(void *user, const dt__range *ranges, dt__tile_reach *out) {
    const preparation *self = user;
    dt__arena_mark mark = dt__arena_begin(self->scratch);
    dt__range **needed = DT__NEW_ARRAY(self->scratch, dt__range *, self->call->n_inputs + 1);
    dt_op_call boxes;
    if (!needed)
        return DT_ERR_MEMORY;
    DT__TRY(narrow_boxes(self, self->scratch, ranges, &boxes));
    DT__TRY(find_ranges(self->scratch, &boxes, self->fetched, false, needed));
    for (int i = 0; i < self->call->n_inputs; i++) {
        const dt_op_value *shard = &self->boxes.inputs[i];
        for (int d = 0; d < shard->n_dims; d++) {
            bool is_fetched = self->fetched[i] >> d & 1 && needed[i][d].begin < needed[i][d].end;
            out->before |= is_fetched && needed[i][d].begin < shard->offset[d];
            out->after |= is_fetched && needed[i][d].end > shard->offset[d] + shard->shape[d];
        }
    }
    dt__arena_rewind(self->scratch, mark);
    return DT_OK;
}

/* The inputs of a tile, whose shapes become those of their windows. */
static dt_status prepare_tile(const preparation *self, dt__arena *arena, const dt__tiled *of, const dt__range *ranges,
                              tile *out) {
    dt__range **needed = DT__NEW_ARRAY(arena, dt__range *, self->call->n_inputs + 1);
    out->inputs = DT__NEW_ARRAY(arena, tile_input, self->call->n_inputs + 1);
    if (!needed || !out->inputs)
        return DT_ERR_MEMORY;
    DT__TRY(narrow_boxes(self, arena, ranges, &out->boxes));
    DT__TRY(find_ranges(arena, &out->boxes, self->fetched, false, needed));
    for (int i = 0; i < self->call->n_inputs; i++) {
        dt_op_value *input = (dt_op_value *)&out->boxes.inputs[i];
        int64_t *shape = (int64_t *)input->shape, *offset = (int64_t *)input->offset, elements = 1;
        tile_input *to = &out->inputs[i];
        *to = (tile_input){.box = needed[i],
                           .in_place = dt__halo_holds(of->halo, i, needed[i]),
                           .strides = DT__NEW_ARRAY(arena, int64_t, input->n_dims + 1)};
        if (!to->strides)
            return DT_ERR_MEMORY;
        for (int d = 0; d < input->n_dims; d++) {
            shape[d] = needed[i][d].end - needed[i][d].begin;
            offset[d] = shape[d] ? needed[i][d].begin : input->global_shape[d];
            elements *= shape[d];
        }
        dt__row_strides(input->n_dims, shape, to->strides);
        to->at = out->bytes;
        out->bytes += to->in_place ? 0 : ((size_t)elements * dt_dtype_size(input->dtype) + 63) / 64 * 64;
    }
    return DT_OK;
}

static dt_status prepare_halo(const preparation *self, dt__arena *arena, const dt__way *way, uint64_t tag,
                              dt__tiled *out) {
    const dt_op_call *call = self->call;
    dt__halo_tensor *tensors = DT__NEW_ARRAY(self->scratch, dt__halo_tensor, call->n_inputs + 1);
    if (!tensors)
        return DT_ERR_MEMORY;
    for (int i = 0; i < call->n_inputs; i++)
        tensors[i] = (dt__halo_tensor){.from = self->decision->inputs[i].kernel, .fetched = self->fetched[i]};
    return dt__halo_new(arena,
                        &(dt__halo_request){.mesh = self->decision->mesh,
                                            .n = call->n_inputs,
                                            .tensors = tensors,
                                            .mesh_dims = way->mesh_dims,
                                            .exchanges = way->bytes > 0,
                                            .tag = tag,
                                            .needed_at = needed_at,
                                            .user = self},
                        &out->halo);
}

static dt_status prepare_tiles(preparation *self, dt__arena *arena, const dt__way *way, dt__tiled *out) {
    int n_entries = self->call->n_inputs + self->call->n_outputs;
    dt__tiles tiles;
    self->axis_of = dt__arena_alloc(self->scratch, (size_t)n_entries + 1, sizeof *self->axis_of);
    if (!self->axis_of)
        return DT_ERR_MEMORY;
    find_axes(self, way->mesh_dims, out->is_sum);
    DT__TRY(dt__tiles_new(self->scratch, self->n_axes, self->sizes, find_reach, self, &tiles));
    out->n = tiles.n;
    out->tiles = DT__NEW_ARRAY(arena, tile, tiles.n);
    if (!out->tiles)
        return DT_ERR_MEMORY;
    for (int t = 0; t < tiles.n; t++) {
        DT__TRY(prepare_tile(self, arena, out, tiles.ranges + (ptrdiff_t)t * tiles.n_axes, &out->tiles[t]));
        out->copy_bytes = out->tiles[t].bytes > out->copy_bytes ? out->tiles[t].bytes : out->copy_bytes;
    }
    for (int o = 0; o < self->call->n_outputs && out->n > 1; o++)
        out->sum_bytes += out->is_sum[o] ? (size_t)(self->decision->outputs[o].bytes + 63) / 64 * 64 : 0;
    return DT_OK;
}

/* Windows are ranges only where shards are. */
static bool has_ranges(const preparation *self) {
    for (int i = 0; i < self->call->n_inputs; i++)
        for (int m = 0; m < self->inputs[i]->n_mesh_dims; m++) {
            const dt_placement *placement = &self->inputs[i]->placements[m];
            if (placement->kind == DT_PLACEMENT_STRIDED && self->fetched[i] >> placement->dim & 1)
                return false;
        }
    return true;
}

dt_status dt__tiled_new(dt__decision *decision, const dt_op_call *call, const dt__sharding *const *inputs,
                        const dt__sharding *const *outputs, const dt__way *way, uint64_t tag, dt__tiled **out) {
    dt__arena *arena = &decision->arena, scratch = dt__arena_new(arena->ctx);
    preparation self = {
        .decision = decision, .call = call, .inputs = inputs, .outputs = outputs, .scratch = &scratch};
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    bool needs_none;
    *out = NULL;
    self.fetched = DT__NEW_ARRAY(&scratch, uint32_t, call->n_inputs + 1);
    dt__tiled *tiled = DT__NEW(arena, dt__tiled);
    dt_status status = self.fetched && tiled ? dt__windows_fetched(&scratch, call, self.fetched) : DT_ERR_MEMORY;
    if (status != DT_OK || !has_ranges(&self)) {
        dt__arena_free(&scratch);
        return status;
    }
    int n_entries = call->n_inputs + call->n_outputs;
    tiled->shards = DT__NEW_ARRAY(arena, dt__shard_memory, call->n_inputs + 1);
    tiled->values = DT__NEW_ARRAY(arena, dt_op_value, n_entries + 1);
    tiled->is_sum = DT__NEW_ARRAY(arena, bool, call->n_outputs + 1);
    if (!tiled->shards || !tiled->values || !tiled->is_sum)
        status = DT_ERR_MEMORY;
    (void)dt_mesh_coordinate(decision->mesh, coordinate);
    if (status == DT_OK)
        status = dt__boxes_at(&scratch, call, inputs, outputs, coordinate, &self.boxes, &needs_none);
    if (status == DT_OK)
        status = prepare_halo(&self, arena, way, tag, tiled);
    if (status == DT_OK && !needs_none)
        status = prepare_tiles(&self, arena, way, tiled);
    dt__arena_free(&scratch);
    *out = tiled;
    return status;
}

void dt__tiled_end(dt__tiled *tiled) {
    if (tiled)
        dt__halo_end(tiled->halo);
}

static size_t bytes_of(const dt_op_value *value) {
    size_t n = dt_dtype_size(value->dtype);
    for (int d = 0; d < value->n_dims; d++)
        n *= (size_t)value->shape[d];
    return n;
}

static char *displaced(const dt_op_value *value, const int64_t *from, const int64_t *to) {
    int64_t elements = 0;
    for (int d = 0; d < value->n_dims; d++) {
        if (value->shape[d] == 0)
            return value->data;
        elements += (to[d] - from[d]) * value->strides[d];
    }
    return (char *)value->data + elements * (int64_t)dt_dtype_size(value->dtype);
}

/* Sets the values of a tile: inputs in place or copied, outputs as parts of this rank's, or terms of sums. */
static void set_values(const dt__tiled *self, const tile *of, const dt_op_call *whole, char *copies, char *terms) {
    dt_op_value *values = self->values;
    for (int i = 0; i < whole->n_inputs; i++) {
        const tile_input *input = &of->inputs[i];
        values[i] = of->boxes.inputs[i];
        values[i].spec = whole->inputs[i].spec;
        values[i].strides = input->in_place ? whole->inputs[i].strides : input->strides;
        values[i].data = whole->inputs[i].data;
        if (!input->in_place) {
            values[i].data = copies + input->at;
            dt__halo_copy(self->halo, i, input->box, values[i].data);
        } else
            values[i].data = displaced(&values[i], whole->inputs[i].offset, values[i].offset);
    }
    for (int o = 0; o < whole->n_outputs; o++) {
        dt_op_value *value = &values[whole->n_inputs + o];
        *value = of->boxes.outputs[o];
        value->spec = whole->outputs[o].spec;
        value->strides = whole->outputs[o].strides;
        value->data = whole->outputs[o].data;
        value->global_shape = whole->outputs[o].global_shape;
        if (!self->is_sum[o])
            value->data = displaced(value, whole->outputs[o].offset, value->offset);
        else if (of != self->tiles) {
            value->data = terms;
            terms += (bytes_of(value) + 63) / 64 * 64;
        }
    }
}

static void add_terms(const dt__tiled *self, const dt_op_call *whole) {
    for (int o = 0; o < whole->n_outputs; o++) {
        const dt_op_value *term = &self->values[whole->n_inputs + o];
        if (self->is_sum[o])
            dt__rank_kernels(whole->ctx)
                ->accumulate(term->dtype, DT_SUM, whole->outputs[o].data, term->data,
                             bytes_of(term) / dt_dtype_size(term->dtype));
    }
}

static dt_status run_tiles(const dt__tiled *self, const dt_op_call *whole, int begin, int end, char *memory) {
    for (int t = begin; t < end; t++) {
        dt_op_call call = *whole;
        set_values(self, &self->tiles[t], whole, memory, memory + self->copy_bytes);
        call.inputs = self->values;
        call.outputs = self->values + whole->n_inputs;
        DT__TRY(dt__kernel_run(&call));
        if (t > 0)
            add_terms(self, whole);
    }
    return DT_OK;
}

/* How many of the first tiles read nothing but the shards of this rank. */
static int count_inside(const dt__tiled *self, int n_inputs) {
    bool is_inside = self->n > 0;
    for (int i = 0; i < n_inputs && is_inside; i++)
        is_inside = self->tiles[0].inputs[i].in_place;
    return is_inside;
}

/* The inside is computed while halos arrive. */
static dt_status run_around(dt__tiled *self, const dt_op_call *call, struct dt__history *history, char *memory,
                            dt__fetch_cost *cost) {
    int n_inside = count_inside(self, call->n_inputs);
    DT__TRY(dt__halo_start(self->halo, self->shards, history));
    dt_status computed = run_tiles(self, call, 0, n_inside, memory), waited = dt__halo_wait(self->halo, cost);
    if (computed != DT_OK || waited != DT_OK)
        return computed != DT_OK ? computed : waited;
    return run_tiles(self, call, n_inside, self->n, memory);
}

dt_status dt__tiled_run(dt__tiled *self, const dt_op_call *call, struct dt__history *history, dt__fetch_cost *cost) {
    size_t bytes = self->copy_bytes + self->sum_bytes;
    char *memory = bytes ? dt__alloc(call->ctx, bytes) : NULL;
    if (bytes && !memory)
        return dt__fail_memory(call->ctx, bytes, "the tiles of a call");
    for (int i = 0; i < call->n_inputs; i++)
        self->shards[i] = (dt__shard_memory){call->inputs[i].data, call->inputs[i].strides};
    dt_status status = run_around(self, call, history, memory, cost);
    dt__halo_release(self->halo);
    dt__free(call->ctx, memory, bytes);
    return status;
}
