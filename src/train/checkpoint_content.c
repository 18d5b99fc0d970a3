/* SPDX-License-Identifier: Apache-2.0
 *
 * Entries follow from names and specs alone. A rank outside the mesh of a parameter may not know whether it was
 * stepped. So the state of every parameter that is not frozen has a place in the file, which stays zero until the
 * parameter is stepped, and the numbers of steps are entries as well.
 */
#include "train/checkpoint_content.h"

#include "base/size.h"
#include "move/move.h"

#include <stdio.h>
#include <string.h>

enum {
    SMALL_SEGMENT = 1 << 18, /* bytes: ranks that write smaller parts of one file wait for its lock */
    SMALL_SHARD = 1 << 16,   /* not worth moving */
};

/* Entries. */

static const char *state_name(dt__arena *arena, const char *state, const char *name) {
    const size_t n = strlen(state) + strlen(name) + 2;
    char *out = DT__NEW_ARRAY(arena, char, n);
    if (out)
        (void)snprintf(out, n, "%s.%s", state, name);
    return out;
}

static dt_status reserve(dt__content *self, dt__arena *arena, const char *stem, int64_t n) {
    dt__file_set *set = &self->sets[self->n_sets];
    *set = (dt__file_set){.stem = stem, .entries = DT__NEW_ARRAY(arena, dt__file_entry, n)};
    self->sources[self->n_sets++] = DT__NEW_ARRAY(arena, dt__saved_source, n);
    return set->entries && self->sources[self->n_sets - 1] ? DT_OK : DT_ERR_MEMORY;
}

static void add_entry(dt__content *self, const dt__file_entry *entry, const dt__saved_source *source) {
    dt__file_set *set = &self->sets[self->n_sets - 1];
    self->sources[self->n_sets - 1][set->n_entries] = *source;
    set->entries[set->n_entries++] = *entry;
}

static dt_status list_model(dt__content *self, dt__arena *arena, const dt_params *params) {
    const int n = dt_params_n(params);
    DT__TRY(reserve(self, arena, "model", n));
    for (int i = 0; i < n; i++) {
        const dt__param_entry from = dt__params_entry(params, i);
        if (strcmp(from.name, "__metadata__") == 0)
            return dt__fail(arena->ctx, DT_ERR_VALUE, "safetensors has another use for the name __metadata__");
        if (!from.tied && !from.original)
            add_entry(self,
                      &(dt__file_entry){.name = from.name,
                                        .dtype = from.tensor->dtype,
                                        .n_dims = from.tensor->n_dims,
                                        .shape = from.tensor->shape},
                      &(dt__saved_source){.spec = from.tensor->spec, .tensor = from.tensor});
    }
    return DT_OK;
}

static dt_status list_state(dt__content *self, dt__arena *arena, const dt_optimizer *optimizer,
                            const dt__param_entry *from) {
    const char *names[DT__MAX_STATES];
    const int n = dt__optimizer_states(optimizer, names);
    const dt_tensor *parameter = from->tensor;
    int64_t n_steps;
    dt_tensor *const *states = dt__optimizer_row(optimizer, parameter, &n_steps);
    for (int s = 0; s <= n; s++) {
        const char *name = state_name(arena, s < n ? names[s] : "step", from->name);
        if (!name)
            return DT_ERR_MEMORY;
        if (s == n)
            add_entry(self, &(dt__file_entry){.name = name, .dtype = DT_I64},
                      &(dt__saved_source){.spec = parameter->spec, .number = n_steps, .is_number = true});
        else
            add_entry(self,
                      &(dt__file_entry){.name = name,
                                        .dtype = dt__optimizer_state_dtype(parameter->dtype),
                                        .n_dims = parameter->n_dims,
                                        .shape = parameter->shape},
                      &(dt__saved_source){.spec = parameter->spec, .tensor = states ? states[s] : NULL});
    }
    return DT_OK;
}

static dt_status list_optimizer(dt__content *self, dt__arena *arena, const dt_params *params,
                                const dt_optimizer *optimizer) {
    const int n = dt_params_n(params);
    DT__TRY(reserve(self, arena, "optimizer", (int64_t)n * (DT__MAX_STATES + 1)));
    for (int i = 0; i < n; i++) {
        const dt__param_entry from = dt__params_entry(params, i);
        if (!from.tied && !from.original && !from.is_frozen)
            DT__TRY(list_state(self, arena, optimizer, &from));
    }
    return DT_OK;
}

dt_status dt__content_list(dt__content *self, dt__arena *arena, const dt_params *params,
                           const dt_optimizer *optimizer) {
    *self = (dt__content){0};
    DT__TRY(list_model(self, arena, params));
    return optimizer ? list_optimizer(self, arena, params, optimizer) : DT_OK;
}

/* Pieces. */

typedef struct piece_list {
    dt__arena *arena;
    dt__save_job *job;
    int64_t capacity;
    /* Of the tensor: */
    int file;
    int64_t at;
    const unsigned char *data;
} piece_list;

static dt_status add_piece(piece_list *self, const dt__save_piece *piece) {
    dt__save_job *job = self->job;
    if (job->n_pieces == self->capacity) {
        const int64_t capacity = 2 * self->capacity + 64;
        dt__save_piece *pieces = DT__NEW_ARRAY(self->arena, dt__save_piece, capacity);
        if (!pieces)
            return DT_ERR_MEMORY;
        if (job->n_pieces)
            memcpy(pieces, job->pieces, (size_t)job->n_pieces * sizeof *pieces);
        job->pieces = pieces;
        self->capacity = capacity;
    }
    job->pieces[job->n_pieces++] = *piece;
    job->bytes += (int64_t)piece->bytes;
    return DT_OK;
}

static dt_status add_segment(void *user, int64_t file_at, size_t memory_at, size_t bytes) {
    piece_list *self = user;
    return add_piece(self, &(dt__save_piece){self->file, self->at + file_at, self->data + memory_at, bytes});
}

static bool is_first_member(const dt_spec *spec) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (!spec)
        return true;
    if (!dt_mesh_coordinate(spec->mesh, coordinate))
        return false;
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++)
        if (coordinate[m] != 0)
            return false;
    return true;
}

/* The innermost tensor dim that is cut, and the bytes of a segment of it in the file; -1: none is cut. */
static int innermost_cut(const dt_spec *spec, int64_t *segment) {
    const dt__sharding *sharding = &spec->sharding;
    *segment = (int64_t)dt_dtype_size(spec->dtype);
    for (int d = sharding->n_dims - 1; d >= 0; d--) {
        int64_t n = 1;
        for (int m = 0; m < sharding->n_mesh_dims; m++)
            if (dt__is_cut(&sharding->placements[m]) && sharding->placements[m].dim == d)
                n *= sharding->mesh[m];
        *segment *= dt__ceil_div(sharding->shape[d], n);
        if (n > 1)
            return d;
    }
    return -1;
}

/* The placements in which the shards of a tensor are few large parts of the file: its longest dim before the one that
 * is cut is cut by all mesh dims. NULL without an error: those that it has. */
static dt_spec *long_segments(const dt_spec *spec) {
    int64_t segment, local = (int64_t)dt_dtype_size(spec->dtype);
    const int cut = innermost_cut(spec, &segment);
    dt_placement placements[DT_SPEC_MAX_DIMS];
    int longest = 0;
    for (int d = 0; d < spec->sharding.n_dims; d++)
        local *= spec->sharding.shape[d];
    if (cut <= 0 || segment >= SMALL_SEGMENT || local / dt_mesh_size(spec->mesh) < SMALL_SHARD)
        return NULL;
    for (int d = 1; d < cut; d++)
        longest = spec->sharding.shape[d] > spec->sharding.shape[longest] ? d : longest;
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++)
        placements[m] = dt_placement_shard(longest);
    return dt_spec_new(spec->mesh, &(dt_spec_desc){.dtype = spec->dtype,
                                                   .n_dims = spec->sharding.n_dims,
                                                   .shape = spec->sharding.shape,
                                                   .n_placements = spec->sharding.n_mesh_dims,
                                                   .placements = placements});
}

/* The tensor as it is written: row-major, in parts that are not too small. NULL after an error. */
static dt_tensor *written_form(dt_tensor *tensor) {
    dt_ctx *ctx = tensor->ctx;
    dt_spec *spec = tensor->spec ? long_segments(tensor->spec) : NULL;
    if (spec) {
        dt_tensor *moved = dt__tensor_redistribute(tensor, spec, DT__PLANNER_DIRECT);
        dt_spec_release(spec);
        return moved;
    }
    if (dt_failed(ctx))
        return NULL;
    return dt_tensor_is_contiguous(tensor) ? tensor : dt__clone(tensor);
}

static dt_status add_tensor(piece_list *self, dt_tensor *tensor, int64_t turn) {
    dt_tensor *written = written_form(tensor);
    if (!written)
        return dt_error_status(tensor->ctx);
    self->data = written->data;
    return dt__file_shared_segments(written, turn, add_segment, self);
}

dt_status dt__content_add_pieces(const dt__content *self, dt__arena *arena, dt__save_job *job) {
    piece_list list = {.arena = arena, .job = job};
    int first = 0;
    for (int s = 0; s < self->n_sets; s++) {
        const dt__file_set *set = &self->sets[s];
        for (int i = 0; i < set->n_entries; i++) {
            dt__saved_source *source = &self->sources[s][i];
            list.file = first + set->entries[i].file;
            list.at = set->entries[i].at;
            if (source->tensor)
                DT__TRY(add_tensor(&list, source->tensor, i));
            else if (source->is_number && is_first_member(source->spec))
                DT__TRY(add_piece(&list, &(dt__save_piece){list.file, list.at, (const unsigned char *)&source->number,
                                                           sizeof source->number}));
        }
        first += set->n_files;
    }
    return DT_OK;
}
