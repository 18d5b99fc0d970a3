/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_local_map with halos: a function of the program fills this rank's part of the outputs, tile by tile, from what it
 * needs of the inputs around each tile. The inside reads the shards where they are. The fetch and the tiles are
 * prepared once for each combination of specs and halos. Where a gradient is recorded, the function runs once, on a
 * part of the padded full tensors: its ops are recorded, so that gradients flow through it.
 */
#include "base/cursor.h"
#include "base/hash.h"
#include "base/size.h"
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"
#include "dispatch/tiles.h"
#include "dtensor/redistribute.h"
#include "kernels/kernels.h"
#include "mesh/mesh.h"
#include "move/move.h"
#include "tensor/tensor.h"

#include <stdio.h>
#include <string.h>

enum { MAX_STENCILS = 64 };

static const struct border_mode {
    const char *name;
    dt__border border;
} border_modes[] = {
    {"constant", DT__BORDER_ZEROS}, {"circular", DT__BORDER_CIRCULAR}, {"replicate", DT__BORDER_REPLICATE}};

/* What the function reads of one input around a tile. */
typedef struct input_halo {
    const dt_spec *spec; /* NULL: the input is passed as it is */
    int64_t before[DT_SPEC_MAX_DIMS], after[DT_SPEC_MAX_DIMS];
    uint32_t fetched; /* the dims along which more than the shard may be needed */
    int at;           /* among the inputs of the halo */
} input_halo;

/* A prepared mapping. */
struct dt__stencil {
    struct dt__stencil *next;
    int n_users;
    bool listed; /* otherwise it is freed by its last user */
    int n_words;
    uint64_t *words; /* its key: specs, which it holds, and numbers */
    int n_specs;
    dt_spec **specs;
    int n_inputs;
    input_halo *inputs;
    dt_spec *part; /* of the outputs: shape and placements */
    dt__way way;
    bool runs; /* this rank has a part of the outputs */
    dt__halo *halo;
    dt__tiles tiles;
    dt__arena arena;
};

/* A mapping while it is prepared. */
typedef struct preparation {
    dt_ctx *ctx;
    const dt_local_mapping *mapping;
    dt__stencil *out;
    int axes[DT_SPEC_MAX_DIMS];       /* the dims along which parts are split */
    dt__range part[DT_SPEC_MAX_DIMS]; /* of this rank */
} preparation;

static const struct border_mode *find_border(dt_ctx *ctx, const char *name) {
    for (size_t i = 0; i < sizeof border_modes / sizeof *border_modes; i++)
        if (!strcmp(name ? name : "constant", border_modes[i].name))
            return &border_modes[i];
    (void)dt__fail(ctx, DT_ERR_VALUE,
                   "local_map: border: expected 'constant', 'circular' or 'replicate', got '%.60s'", name);
    return NULL;
}

/* "1,2:0": before and after per dim. */
static dt_status read_halo(dt_ctx *ctx, const char *text, int n_dims, input_halo *out) {
    dt__cursor at = dt__cursor_new(ctx, DT_ERR_VALUE, "local_map: halo", text);
    for (int d = 0; d < n_dims; d++) {
        if (d > 0)
            DT__TRY(dt__cursor_expect(&at, ",", "between the dims of a halo"));
        DT__TRY(dt__cursor_number(&at, 0, INT64_MAX / 4, "a number of indices", &out->before[d]));
        out->after[d] = out->before[d];
        if (dt__cursor_take(&at, ":"))
            DT__TRY(dt__cursor_number(&at, 0, INT64_MAX / 4, "a number of indices", &out->after[d]));
    }
    return dt__cursor_peek(&at) ? dt__cursor_fail(&at, "expected %d dims", n_dims) : DT_OK;
}

/* Whether both tensors have the same parts of a dim on every rank. */
static bool same_parts(const dt_spec *a, const dt_spec *b, int d) {
    bool same = a->sharding.shape[d] == b->sharding.shape[d];
    for (int m = 0; m < a->sharding.n_mesh_dims && same; m++) {
        const dt_placement *of_a = &a->sharding.placements[m], *of_b = &b->sharding.placements[m];
        bool a_cuts = dt__is_cut(of_a) && of_a->dim == d, b_cuts = dt__is_cut(of_b) && of_b->dim == d;
        same = a_cuts == b_cuts && (!a_cuts || dt_placement_equal(of_a, of_b));
    }
    return same;
}

static dt_status check_ranges(dt_ctx *ctx, const dt_spec *spec) {
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++)
        if (spec->sharding.placements[m].kind == DT_PLACEMENT_STRIDED) {
            char text[512];
            (void)dt_spec_text(spec, sizeof text, text);
            return dt__fail(ctx, DT_ERR_PLACEMENT, "local_map: halo: expected shards in one piece, got %s", text);
        }
    return DT_OK;
}

static dt_status read_input(const preparation *self, int i, const dt_tensor *tensor, input_halo *out) {
    const char *text = self->mapping->halo[i];
    const dt_spec *part = self->out->part;
    *out = (input_halo){.spec = NULL};
    if (!text)
        return DT_OK;
    if (!tensor->spec || tensor->spec->mesh != part->mesh)
        return dt__fail(self->ctx, DT_ERR_PLACEMENT,
                        "local_map: halo of input %d: expected a tensor on the mesh of the outputs, got %s", i + 1,
                        tensor->spec ? "one on another mesh" : "a plain one");
    if (tensor->n_dims != part->sharding.n_dims)
        return dt__fail(self->ctx, DT_ERR_SHAPE,
                        "local_map: halo of input %d: expected as many dims as the outputs have (%d), got %d", i + 1,
                        part->sharding.n_dims, tensor->n_dims);
    DT__TRY(check_ranges(self->ctx, tensor->spec));
    DT__TRY(read_halo(self->ctx, text, tensor->n_dims, out));
    out->spec = tensor->spec;
    for (int d = 0; d < tensor->n_dims; d++)
        if (out->before[d] || out->after[d] || !same_parts(tensor->spec, part, d))
            out->fetched |= (uint32_t)1 << d;
    return DT_OK;
}

/* The range of an input that a part of the outputs reads. */
static void widen(const input_halo *input, int n_dims, const dt__range *part, dt__range *out) {
    for (int d = 0; d < n_dims; d++)
        out[d] = (dt__range){part[d].begin - input->before[d], part[d].end + input->after[d]};
}

/* The part of the outputs at a coordinate; false: it is empty. */
static bool find_part(const dt_spec *spec, const int64_t *coordinate, dt__range *out) {
    int64_t shape[DT_SPEC_MAX_DIMS], offset[DT_SPEC_MAX_DIMS];
    bool has_elements = true;
    dt__sharding_local(&spec->sharding, coordinate, shape, offset);
    for (int d = 0; d < spec->sharding.n_dims; d++) {
        out[d] = (dt__range){offset[d], offset[d] + shape[d]};
        has_elements &= shape[d] > 0;
    }
    return has_elements;
}

static dt_status needed_at(const void *user, dt__arena *arena, const int64_t *coordinate, dt__range **out) {
    const dt__stencil *self = ((const preparation *)user)->out;
    dt__range part[DT_SPEC_MAX_DIMS];
    int n_dims = self->part->sharding.n_dims;
    bool has_elements = find_part(self->part, coordinate, part);
    for (int i = 0; i < self->n_inputs; i++) {
        if (!self->inputs[i].spec)
            continue;
        dt__range *needed = DT__NEW_ARRAY(arena, dt__range, n_dims + 1);
        if (!needed)
            return DT_ERR_MEMORY;
        if (has_elements)
            widen(&self->inputs[i], n_dims, part, needed);
        out[self->inputs[i].at] = needed;
    }
    return DT_OK;
}

static dt_status find_reach(void *user, const dt__range *tile, dt__tile_reach *out) {
    const preparation *self = user;
    const dt__stencil *of = self->out;
    dt__range part[DT_SPEC_MAX_DIMS], needed[DT_SPEC_MAX_DIMS];
    int n_dims = of->part->sharding.n_dims;
    memcpy(part, self->part, sizeof part);
    for (int a = 0; a < of->tiles.n_axes; a++)
        part[self->axes[a]] = (dt__range){self->part[self->axes[a]].begin + tile[a].begin,
                                          self->part[self->axes[a]].begin + tile[a].end};
    for (int i = 0; i < of->n_inputs; i++) {
        const input_halo *input = &of->inputs[i];
        if (!input->spec)
            continue;
        const dt_local *local = &input->spec->local;
        widen(input, n_dims, part, needed);
        for (int d = 0; d < n_dims; d++) {
            out->before |= input->fetched >> d & 1 && needed[d].begin < local->offset[d];
            out->after |= input->fetched >> d & 1 && needed[d].end > local->offset[d] + local->shape[d];
        }
    }
    return DT_OK;
}

/* The mesh dims whose ranks may hold what others need. */
static void find_way(const preparation *self, dt__way *out) {
    const dt__stencil *of = self->out;
    *out = (dt__way){.flags = DT_ROW_WINDOW, .kind = DT__STEP_ALL_TO_ALL, .group = 1};
    for (int i = 0; i < of->n_inputs; i++)
        for (int m = 0; of->inputs[i].spec && m < of->part->sharding.n_mesh_dims; m++) {
            const dt_placement *placement = &of->inputs[i].spec->sharding.placements[m];
            if (dt__is_cut(placement) && of->inputs[i].fetched >> placement->dim & 1 &&
                of->part->sharding.mesh[m] > 1)
                out->mesh_dims |= (uint32_t)1 << m;
        }
    for (int m = 0; m < of->part->sharding.n_mesh_dims; m++)
        out->group *= out->mesh_dims >> m & 1 ? of->part->sharding.mesh[m] : 1;
}

static dt_status prepare_halo(const preparation *self, dt__border border) {
    dt__stencil *out = self->out;
    dt__halo_tensor *tensors = DT__NEW_ARRAY(&out->arena, dt__halo_tensor, out->n_inputs + 1);
    uint64_t tag = dt__hash_u64(out->part->fingerprint, (uint64_t)border);
    int n = 0;
    if (!tensors)
        return DT_ERR_MEMORY;
    for (int i = 0; i < out->n_inputs; i++) {
        input_halo *input = &out->inputs[i];
        if (!input->spec)
            continue;
        input->at = n;
        tensors[n++] = (dt__halo_tensor){input->spec, input->fetched, border};
        tag = dt__hash_u64(input->spec->fingerprint, tag);
        for (int d = 0; d < out->part->sharding.n_dims; d++)
            tag = dt__hash_u64((uint64_t)input->before[d], dt__hash_u64((uint64_t)input->after[d], tag));
    }
    return dt__halo_new(&out->arena,
                        &(dt__halo_request){.mesh = out->part->mesh,
                                            .n = n,
                                            .tensors = tensors,
                                            .mesh_dims = out->way.mesh_dims,
                                            .exchanges = out->way.mesh_dims != 0,
                                            .tag = tag,
                                            .needed_at = needed_at,
                                            .user = self},
                        &out->halo);
}

static dt_status prepare_tiles(preparation *self) {
    dt__stencil *out = self->out;
    int n_dims = out->part->sharding.n_dims, n_axes = 0;
    int64_t sizes[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < n_dims; d++) {
        uint32_t fetched = 0;
        for (int i = 0; i < out->n_inputs; i++)
            fetched |= out->inputs[i].spec ? out->inputs[i].fetched : 0;
        if (fetched >> d & 1) {
            sizes[n_axes] = self->part[d].end - self->part[d].begin;
            self->axes[n_axes++] = d;
        }
    }
    out->tiles.n_axes = n_axes;
    DT__TRY(dt__tiles_new(&out->arena, n_axes, sizes, find_reach, self, &out->tiles));
    dt__range *boxes = DT__NEW_ARRAY(&out->arena, dt__range, out->tiles.n * n_dims + 1);
    if (!boxes)
        return DT_ERR_MEMORY;
    for (int t = 0; t < out->tiles.n; t++) { /* ranges of axes become boxes of the full outputs */
        memcpy(boxes + (ptrdiff_t)t * n_dims, self->part, (size_t)n_dims * sizeof *boxes);
        for (int a = 0; a < n_axes; a++) {
            const dt__range *range = &out->tiles.ranges[(ptrdiff_t)t * n_axes + a];
            int64_t begin = self->part[self->axes[a]].begin;
            boxes[(ptrdiff_t)t * n_dims + self->axes[a]] = (dt__range){begin + range->begin, begin + range->end};
        }
    }
    out->tiles.ranges = boxes;
    return DT_OK;
}

static dt_status prepare(preparation *self, dt__border border, dt_tensor *const *inputs) {
    dt__stencil *out = self->out;
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    out->n_inputs = self->mapping->n_inputs;
    out->inputs = DT__NEW_ARRAY(&out->arena, input_halo, out->n_inputs + 1);
    if (!out->inputs)
        return DT_ERR_MEMORY;
    DT__TRY(check_ranges(self->ctx, out->part));
    for (int i = 0; i < out->n_inputs; i++)
        DT__TRY(read_input(self, i, inputs[i], &out->inputs[i]));
    find_way(self, &out->way);
    if (!dt_mesh_coordinate(out->part->mesh, coordinate))
        return DT_OK;
    DT__TRY(prepare_halo(self, border));
    out->runs = find_part(out->part, coordinate, self->part);
    return out->runs ? prepare_tiles(self) : DT_OK;
}

static void free_stencil(dt_ctx *ctx, dt__stencil *self) {
    dt__halo_end(self->halo);
    for (int i = 0; i < self->n_specs; i++)
        dt_spec_release(self->specs[i]);
    dt__arena_free(&self->arena);
    dt__free(ctx, self, sizeof *self);
}

static void release_stencil(dt_ctx *ctx, dt__stencil *self) {
    if (--self->n_users == 0 && !self->listed)
        free_stencil(ctx, self);
}

void dt__stencils_free(dt_ctx *ctx, dt__dispatch_state *state) {
    for (dt__stencil *next, *at = state->stencils; at; at = next) {
        next = at->next;
        at->listed = false;
        if (at->n_users == 0)
            free_stencil(ctx, at);
    }
    state->stencils = NULL;
}

/* What a prepared mapping depends on: specs by address, halos by a hash of their text. */
static uint64_t *make_key(dt__arena *arena, const dt_local_mapping *mapping, dt_tensor *const *inputs, dt_spec *part,
                          dt__border border, int *n) {
    uint64_t *words = DT__NEW_ARRAY(arena, uint64_t, 3 + 2 * mapping->n_inputs);
    *n = 0;
    if (!words)
        return NULL;
    words[(*n)++] = (uint64_t)(uintptr_t)part;
    words[(*n)++] = (uint64_t)border;
    words[(*n)++] = (uint64_t)mapping->n_inputs;
    for (int i = 0; i < mapping->n_inputs; i++) {
        const char *text = mapping->halo[i];
        words[(*n)++] = text ? (uint64_t)(uintptr_t)inputs[i]->spec : 0;
        words[(*n)++] = text ? dt__hash(text, strlen(text), 1) : 0;
    }
    return words;
}

static dt__stencil *find_stencil(dt__dispatch_state *state, int n_words, const uint64_t *words) {
    for (dt__stencil **at = &state->stencils; *at; at = &(*at)->next) {
        dt__stencil *found = *at;
        if (found->n_words != n_words || memcmp(found->words, words, (size_t)n_words * sizeof *words))
            continue;
        *at = found->next; /* to the front: the last ones are evicted */
        found->next = state->stencils;
        state->stencils = found;
        return found;
    }
    return NULL;
}

static void evict(dt_ctx *ctx, dt__dispatch_state *state) {
    int n = 0;
    for (dt__stencil **at = &state->stencils; *at; at = &(*at)->next)
        if (++n > MAX_STENCILS) {
            dt__stencil *last = *at;
            *at = last->next;
            last->listed = false;
            if (last->n_users == 0)
                free_stencil(ctx, last);
            return;
        }
}

/* The prepared mapping, which the caller releases; NULL after an error. */
static dt__stencil *open_stencil(dt_ctx *ctx, const dt_local_mapping *mapping, dt_tensor *const *inputs,
                                 dt_spec *part) {
    dt__dispatch_state *state = dt__dispatch_state_of(ctx);
    const struct border_mode *border = find_border(ctx, mapping->border);
    dt__stencil *self = state && border ? dt__alloc_zeroed(ctx, sizeof *self) : NULL;
    if (!self)
        return state && border ? (void)dt__fail_memory(ctx, sizeof *self, "a mapping with halos"), NULL : NULL;
    self->arena = dt__arena_new(ctx);
    self->words = make_key(&self->arena, mapping, inputs, part, border->border, &self->n_words);
    self->specs = DT__NEW_ARRAY(&self->arena, dt_spec *, mapping->n_inputs + 1);
    dt__stencil *found = self->words ? find_stencil(state, self->n_words, self->words) : NULL;
    if (found || !self->words || !self->specs) {
        free_stencil(ctx, self);
        if (found)
            found->n_users++;
        return found;
    }
    self->part = self->specs[self->n_specs++] = dt__spec_retain(part);
    for (int i = 0; i < mapping->n_inputs; i++)
        if (mapping->halo[i] && inputs[i]->spec)
            self->specs[self->n_specs++] = dt__spec_retain(inputs[i]->spec);
    preparation prepared = {.ctx = ctx, .mapping = mapping, .out = self};
    if (prepare(&prepared, border->border, inputs) != DT_OK) {
        free_stencil(ctx, self);
        return NULL;
    }
    self->listed = true;
    self->n_users = 1;
    self->next = state->stencils;
    state->stencils = self;
    evict(ctx, state);
    return self;
}

/* A plain handle on a box of a tensor's local elements. */
static dt_tensor *box_of(dt_tensor *tensor, const dt__range *box) {
    const dt_local *local = &tensor->spec->local;
    int64_t shape[DT_SPEC_MAX_DIMS], offset = dt__tensor_offset(tensor);
    for (int d = 0; d < tensor->n_dims; d++) {
        shape[d] = box[d].end - box[d].begin;
        offset += (box[d].begin - local->offset[d]) * tensor->strides[d];
    }
    return dt__tensor_plain(tensor->storage,
                            &(dt__array_desc){tensor->dtype, tensor->n_dims, shape, tensor->strides, offset});
}

/* What a tile reads of an input: in place, or copied together. */
static dt_tensor *tile_input(dt_ctx *ctx, const dt__stencil *self, const input_halo *input, dt_tensor *tensor,
                             const dt__range *tile) {
    dt__range box[DT_SPEC_MAX_DIMS];
    int64_t shape[DT_SPEC_MAX_DIMS];
    if (!input->spec)
        return dt_to_local(tensor);
    widen(input, tensor->n_dims, tile, box);
    if (dt__halo_holds(self->halo, input->at, box))
        return box_of(tensor, box);
    for (int d = 0; d < tensor->n_dims; d++)
        shape[d] = box[d].end - box[d].begin;
    dt_tensor *copy = dt__tensor_new(ctx, "local_map", tensor->dtype, tensor->n_dims, shape);
    if (copy)
        dt__halo_copy(self->halo, input->at, box, copy->data);
    return copy;
}

dt_status dt__local_map_call(dt_ctx *ctx, const dt_local_mapping *mapping, dt_tensor *const *locals,
                             dt_tensor **outputs) {
    dt__public_call outer =
        ctx->call; /* the function is the program's: its calls have names and lines of their own */
    ctx->call.depth = 0;
    dt_status status = mapping->run(ctx, locals, outputs, mapping->user);
    ctx->call = outer;
    return status == DT_OK || dt_failed(ctx) ? status : dt_error_set(ctx, status, "local_map: the function failed");
}

/* A tensor that the function made, to its place. */
static dt_status copy_output(dt_ctx *ctx, int o, const dt_tensor *made, const dt_tensor *to) {
    bool fits = made && !made->spec && made->dtype == to->dtype && made->n_dims == to->n_dims;
    for (int d = 0; fits && d < to->n_dims; d++)
        fits = made->shape[d] == to->shape[d];
    if (!fits) {
        char expected[256], got[256] = "NULL";
        (void)dt_tensor_text(to, sizeof expected, expected);
        if (made)
            (void)dt_tensor_text(made, sizeof got, got);
        return dt__fail(ctx, DT_ERR_SHAPE, "local_map: output %d of the function: expected %s, got %s", o + 1,
                        expected, got);
    }
    dt__spread_copy(dt__rank_kernels(ctx), dt__pool_of(ctx),
                    &(dt__strided){to->data, made->data, dt_dtype_size(to->dtype), to->n_dims, to->shape, to->strides,
                                   made->strides},
                    DT__CACHED);
    return DT_OK;
}

static dt_status run_tile(dt_ctx *ctx, const dt_local_mapping *mapping, const dt__stencil *self,
                          dt_tensor *const *inputs, dt_tensor *const *outputs, const dt__range *tile) {
    dt__arena arena = dt__arena_new(ctx);
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor **locals = DT__NEW_ARRAY(&arena, dt_tensor *, mapping->n_inputs + 1);
    dt_tensor **places = DT__NEW_ARRAY(&arena, dt_tensor *, 2 * mapping->n_outputs + 1);
    dt_status status = scope.number && locals && places ? DT_OK : DT_ERR_MEMORY;
    for (int i = 0; i < mapping->n_inputs && status == DT_OK; i++)
        if (!(locals[i] = tile_input(ctx, self, &self->inputs[i], inputs[i], tile)))
            status = dt_error_status(ctx);
    for (int o = 0; o < mapping->n_outputs && status == DT_OK; o++)
        if (!(places[o] = places[mapping->n_outputs + o] = box_of(outputs[o], tile)))
            status = dt_error_status(ctx);
    if (status == DT_OK)
        status = dt__local_map_call(ctx, mapping, locals, places + mapping->n_outputs);
    for (int o = 0; o < mapping->n_outputs && status == DT_OK; o++)
        if (places[mapping->n_outputs + o] != places[o])
            status = copy_output(ctx, o, places[mapping->n_outputs + o], places[o]);
    if (scope.number)
        dt_scope_end(scope);
    dt__arena_free(&arena);
    return status;
}

static dt_status run_tiles(dt_ctx *ctx, const dt_local_mapping *mapping, const dt__stencil *self,
                           dt_tensor *const *inputs, dt_tensor *const *outputs, int begin, int end) {
    dt__dispatch_state *state = dt__dispatch_state_of(ctx);
    const int64_t *outer = state->tile_offset;
    int n_dims = self->part->sharding.n_dims;
    int64_t offset[DT_SPEC_MAX_DIMS];
    dt_status status = DT_OK;
    for (int t = begin; t < end && status == DT_OK; t++) {
        const dt__range *tile = self->tiles.ranges + (ptrdiff_t)t * n_dims;
        for (int d = 0; d < n_dims; d++)
            offset[d] = tile[d].begin;
        state->tile_offset = offset;
        status = run_tile(ctx, mapping, self, inputs, outputs, tile);
    }
    state->tile_offset = outer;
    return status;
}

/* How many of the first tiles read nothing but the shards of this rank. */
static int count_inside(const dt__stencil *self) {
    bool is_inside = self->runs && self->tiles.n > 0;
    dt__range box[DT_SPEC_MAX_DIMS];
    for (int i = 0; i < self->n_inputs && is_inside; i++)
        if (self->inputs[i].spec) {
            widen(&self->inputs[i], self->part->sharding.n_dims, self->tiles.ranges, box);
            is_inside = dt__halo_holds(self->halo, self->inputs[i].at, box);
        }
    return is_inside;
}

static dt_status start_halos(dt_ctx *ctx, const dt__stencil *self, dt_tensor *const *inputs) {
    dt__arena arena = dt__arena_new(ctx);
    dt__shard_memory *shards = DT__NEW_ARRAY(&arena, dt__shard_memory, self->n_inputs + 1);
    for (int i = 0; i < self->n_inputs && shards; i++)
        if (self->inputs[i].spec)
            shards[self->inputs[i].at] = (dt__shard_memory){(const char *)inputs[i]->data, inputs[i]->strides};
    dt_status status =
        shards ? dt__halo_start(self->halo, shards, dt__mesh_history(self->part->mesh)) : DT_ERR_MEMORY;
    dt__arena_free(&arena);
    return status;
}

/* The inside is computed while halos arrive from other nodes. */
static dt_status run_around(dt_ctx *ctx, const dt_local_mapping *mapping, const dt__stencil *self,
                            dt_tensor *const *inputs, dt_tensor *const *outputs) {
    int n_inside = count_inside(self);
    dt__fetch_cost cost;
    DT__TRY(start_halos(ctx, self, inputs));
    dt_status computed = run_tiles(ctx, mapping, self, inputs, outputs, 0, n_inside);
    dt_status waited = dt__halo_wait(self->halo, &cost);
    if (computed != DT_OK || waited != DT_OK)
        return computed != DT_OK ? computed : waited;
    if (ctx->observer && self->way.mesh_dims)
        dt__observe_way(ctx, &self->way, cost.bytes, dt__clock_us(ctx) - cost.us);
    return run_tiles(ctx, mapping, self, inputs, outputs, n_inside, self->runs ? self->tiles.n : 0);
}

/* For a recorded call: the part of an input, from the full tensor, by ops that have gradients. */
static dt_tensor *recorded_input(dt_ctx *ctx, const dt_local_mapping *mapping, const input_halo *input,
                                 dt_tensor *tensor, const dt__range *part) {
    int64_t pad[2 * DT_SPEC_MAX_DIMS];
    char place[8 * DT_SPEC_MAX_DIMS] = "";
    int n = tensor->n_dims, n_made;
    if (!input->spec)
        return dt_to_local(tensor);
    for (int m = 0; m < input->spec->sharding.n_mesh_dims; m++)
        (void)strcat(place, m ? ",P(sum)" : "P(sum)");
    dt_tensor *full = dt_full_tensor(tensor, .grad_place = place);
    for (int d = 0; d < n && full; d++) {
        pad[2 * (n - 1 - d)] = input->before[d];
        pad[2 * (n - 1 - d) + 1] = dt__max_i64(part[d].end + input->after[d] - tensor->shape[d], 0);
    }
    dt_op_argument arguments[] = {
        {.tensor = full},
        {.value = {.type = DT_ARG_INTS, .n = 2 * n, .as.ints = pad}},
        {.value = {.type = DT_ARG_TEXT, .as.text = mapping->border ? mapping->border : "constant"}}};
    dt_tensor *made = NULL;
    if (!full || dt_op_run(ctx, "pad", 3, arguments, NULL, &made, 1, &n_made) != DT_OK)
        return NULL;
    for (int d = 0; d < n && made; d++) {
        dt_op_argument narrow[] = {
            {.tensor = made},
            {.value = {.type = DT_ARG_INT, .as.i = d}},
            {.value = {.type = DT_ARG_INT, .as.i = part[d].begin}},
            {.value = {.type = DT_ARG_INT,
                       .as.i = part[d].end - part[d].begin + input->before[d] + input->after[d]}}};
        if (dt_op_run(ctx, "narrow", 4, narrow, NULL, &made, 1, &n_made) != DT_OK)
            return NULL;
    }
    return made;
}

/* The function on the whole part of this rank, with ops that are recorded. */
static dt_status run_recorded(dt_ctx *ctx, const dt_local_mapping *mapping, const dt__stencil *self,
                              dt_tensor *const *inputs, dt_tensor **outputs) {
    dt__dispatch_state *state = dt__dispatch_state_of(ctx);
    const dt_local *local = &self->part->local;
    const int64_t *outer = state->tile_offset;
    dt__range part[DT_SPEC_MAX_DIMS];
    dt__arena arena = dt__arena_new(ctx);
    dt_tensor **locals = DT__NEW_ARRAY(&arena, dt_tensor *, mapping->n_inputs + 1);
    dt_status status = locals ? DT_OK : DT_ERR_MEMORY;
    const dt_shape shape = {local->n_dims, self->part->sharding.shape};
    for (int d = 0; d < local->n_dims; d++)
        part[d] =
            local->shape[d] ? (dt__range){local->offset[d], local->offset[d] + local->shape[d]} : (dt__range){0, 0};
    for (int i = 0; i < mapping->n_inputs && status == DT_OK; i++)
        if (!(locals[i] = recorded_input(ctx, mapping, &self->inputs[i], inputs[i], part)))
            status = dt_error_status(ctx);
    for (int o = 0; o < mapping->n_outputs && status == DT_OK; o++)
        if (!(outputs[o] = dt_to_local(outputs[o])))
            status = dt_error_status(ctx);
    state->tile_offset = local->offset;
    if (status == DT_OK) /* without elements as well: all ranks record the same */
        status = dt__local_map_call(ctx, mapping, locals, outputs);
    state->tile_offset = outer;
    for (int o = 0; o < mapping->n_outputs && status == DT_OK; o++)
        if (!outputs[o] ||
            !(outputs[o] = dt_from_local(ctx, outputs[o], self->part->mesh, mapping->out[o], .shape = shape)))
            status = dt_failed(ctx)
                         ? dt_error_status(ctx)
                         : dt__fail(ctx, DT_ERR_VALUE, "local_map: output %d of the function is NULL", o + 1);
    dt__arena_free(&arena);
    return status;
}

static bool is_recorded(const dt_ctx *ctx, const dt_local_mapping *mapping, dt_tensor *const *inputs) {
    bool requires_grad = false;
    for (int i = 0; i < mapping->n_inputs; i++)
        requires_grad |= dt__may_require_grad(inputs[i]);
    return ctx->recorder && requires_grad;
}

/* The specs of the outputs, which all have the same placements. */
static dt_spec *part_spec(dt_ctx *ctx, const dt_local_mapping *mapping, const dt_tensor *first, dt_mesh *mesh,
                          int o) {
    dt_shape shape = mapping->shapes ? mapping->shapes[o] : (dt_shape){first->n_dims, first->shape};
    int n;
    if (!mapping->out || !mapping->out[o]) {
        (void)dt__fail(ctx, DT_ERR_PLACEMENT, "local_map: halo: expected placements of output %d, got none", o + 1);
        return NULL;
    }
    dt_placement *placements = dt_placements_parse(ctx, mapping->out[o], &n);
    if (!placements)
        return NULL;
    dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){.dtype = mapping->dtypes ? mapping->dtypes[o] : first->dtype,
                                                      .n_dims = shape.n,
                                                      .shape = shape.sizes,
                                                      .n_placements = n,
                                                      .placements = placements});
    dt_placements_free(ctx, placements);
    return spec;
}

static dt_status make_outputs(dt_ctx *ctx, const dt_local_mapping *mapping, const dt_tensor *first, dt_mesh *mesh,
                              dt_tensor **outputs) {
    for (int o = 0; o < mapping->n_outputs; o++) {
        dt_spec *spec = part_spec(ctx, mapping, first, mesh, o);
        if (!spec)
            return dt_error_status(ctx);
        bool fits = o == 0 || spec->sharding.n_dims == outputs[0]->n_dims;
        for (int d = 0; d < spec->sharding.n_dims && fits && o > 0; d++)
            fits = same_parts(spec, outputs[0]->spec, d);
        outputs[o] = fits ? dt__tensor_of_spec(spec) : NULL;
        dt_spec_release(spec);
        if (!fits)
            return dt__fail(ctx, DT_ERR_SHAPE,
                            "local_map: halo: expected outputs of one shape and placement, got another for output %d",
                            o + 1);
        if (!outputs[o])
            return dt_error_status(ctx);
    }
    return DT_OK;
}

dt_status dt__stencil_run(dt_ctx *ctx, const dt_local_mapping *mapping, dt_mesh *mesh, dt_tensor *const *inputs,
                          dt_tensor **outputs) {
    const dt_tensor *first = NULL;
    for (int i = 0; i < mapping->n_inputs && !first; i++)
        first = inputs[i]->spec ? inputs[i] : NULL;
    if (!first || mapping->n_outputs < 1)
        return dt__fail(ctx, DT_ERR_PLACEMENT,
                        "local_map: halo: expected a distributed input and an output, got none; a mesh may have one "
                        "rank");
    DT__TRY(make_outputs(ctx, mapping, first, mesh, outputs));
    dt__stencil *self = open_stencil(ctx, mapping, inputs, outputs[0]->spec);
    if (!self)
        return dt_error_status(ctx);
    dt_status status = DT_OK;
    if (self->halo && is_recorded(ctx, mapping, inputs))
        status = run_recorded(ctx, mapping, self, inputs, outputs);
    else if (self->halo && dt__has_data(ctx)) {
        status = run_around(ctx, mapping, self, inputs, outputs);
        dt__halo_release(self->halo);
    } else if (self->way.mesh_dims && ctx->observer)
        dt__observe_way(ctx, &self->way, 0, dt__clock_us(ctx));
    release_stencil(ctx, self);
    return status;
}

const int64_t *dt_local_map_offset(const dt_ctx *ctx) {
    const dt__dispatch_state *state = ctx ? ctx->slots[DT__SLOT_DISPATCH].state : NULL;
    return state ? state->tile_offset : NULL;
}
