/* SPDX-License-Identifier: Apache-2.0
 *
 * Strips of halos, and boxes that are copied together from them.
 */
#include "move/halo.h"

#include "base/size.h"
#include "kernels/kernels.h"
#include "mesh/mesh.h"
#include "tensor/tensor.h"

#include <string.h>

/* A part of the halo: a box, dense in its memory. */
typedef struct strip {
    dt__range *box;
    int64_t *strides;
    size_t at, bytes; /* in the memory of all strips */
    bool is_filled;   /* with zeros first: it reaches beyond the borders */
} strip;

typedef struct haloed {
    const dt_spec *from;
    int n_dims;
    uint32_t fetched;
    dt__border border;
    size_t item_bytes;
    dt__range *shard;
    int n_strips; /* two for each dim that is fetched, the same on all ranks */
    strip *strips;
    dt__shard_memory src; /* while it runs */
} haloed;

struct dt__halo {
    dt_ctx *ctx;
    int n;
    haloed *tensors;
    dt__fetch *fetch; /* NULL: nothing is ever fetched */
    int n_fetched;    /* strips of all tensors */
    dt__fetch_memory *memory;
    size_t bytes;
    char *strips; /* while it runs */
};

/* The halo while it is prepared. */
typedef struct preparation {
    dt__halo *out;
    const dt__halo_request *request;
} preparation;

static int64_t size_of(dt__range range) { return range.end > range.begin ? range.end - range.begin : 0; }

static dt__range common(dt__range a, dt__range b) {
    return (dt__range){dt__max_i64(a.begin, b.begin), dt__min_i64(a.end, b.end)};
}

static void find_shard(const dt__sharding *sharding, const int64_t *coordinate, dt__range *out) {
    int64_t shape[DT_SPEC_MAX_DIMS], offset[DT_SPEC_MAX_DIMS];
    dt__sharding_local(sharding, coordinate, shape, offset);
    for (int d = 0; d < sharding->n_dims; d++)
        out[d] = (dt__range){offset[d], offset[d] + shape[d]};
}

/* The box of the strip before or after the shard along dim `along`. */
static void find_box(const haloed *tensor, const dt__range *shard, const dt__range *needed, int along, bool is_after,
                     dt__range *out) {
    for (int d = 0; d < tensor->n_dims; d++) {
        dt__range before = {needed[d].begin, dt__min_i64(needed[d].end, shard[d].begin)};
        dt__range after = {dt__max_i64(needed[d].begin, shard[d].end), needed[d].end};
        out[d] = d < along ? common(shard[d], needed[d]) : d > along ? needed[d] : (is_after ? after : before);
    }
}

/* Adds the indices of the tensor that a range of a dim is, beyond its borders as well. */
static int list_runs(dt__border border, dt__range range, int64_t size, dt__window_run *out) {
    int n = 0;
    if (border == DT__BORDER_REPLICATE && size > 0) {
        dt__range before = common(range, (dt__range){INT64_MIN, 0}),
                  after = common(range, (dt__range){size, INT64_MAX});
        dt__range inside = common(range, (dt__range){0, size});
        if (size_of(before))
            out[n++] = (dt__window_run){0, size_of(before), 0};
        if (size_of(inside))
            out[n++] = (dt__window_run){inside.begin, size_of(inside), 1};
        if (size_of(after))
            out[n++] = (dt__window_run){size - 1, size_of(after), 0};
        return n;
    }
    if (border == DT__BORDER_CIRCULAR && size > 0) {
        for (int64_t at = range.begin; at < range.end; n++) {
            int64_t start = (at % size + size) % size;
            out[n] = (dt__window_run){start, dt__min_i64(size - start, range.end - at), 1};
            at += out[n].size;
        }
        return n;
    }
    dt__range inside = common(range, (dt__range){0, size});
    out[0] = (dt__window_run){inside.begin, size_of(inside), 1};
    return size_of(inside) > 0;
}

/* How many runs that are at most. */
static int64_t count_runs(dt__border border, dt__range range, int64_t size) {
    return border == DT__BORDER_CIRCULAR && size > 0 ? size_of(range) / size + 2 : 3;
}

/* What is fetched for a strip. */
static dt_status find_windows(dt__arena *arena, const haloed *tensor, const dt__range *box, dt__dim_window **out) {
    dt__dim_window *windows = DT__NEW_ARRAY(arena, dt__dim_window, tensor->n_dims + 1);
    if (!windows)
        return DT_ERR_MEMORY;
    for (int d = 0; d < tensor->n_dims; d++) {
        int64_t size = tensor->from->sharding.shape[d];
        dt__window_run *runs = DT__NEW_ARRAY(arena, dt__window_run,
                                             (int)dt__min_i64(count_runs(tensor->border, box[d], size), INT32_MAX));
        if (!runs)
            return DT_ERR_MEMORY;
        windows[d] = (dt__dim_window){.is_own = !(tensor->fetched >> d & 1), .size = size_of(box[d])};
        if (windows[d].is_own)
            continue;
        windows[d].n_runs = list_runs(tensor->border, box[d], size, runs);
        windows[d].runs = runs;
        windows[d].at = tensor->border == DT__BORDER_ZEROS ? dt__max_i64(-box[d].begin, 0) : 0;
        windows[d].size = 0;
        for (int r = 0; r < windows[d].n_runs; r++)
            windows[d].size += runs[r].size;
    }
    *out = windows;
    return DT_OK;
}

/* Calls visit for each strip of each tensor, as the rank at a coordinate has them. */
typedef dt_status visit_fn(void *user, dt__arena *arena, haloed *tensor, int s, const dt__range *box);
static dt_status visit_strips(const preparation *self, dt__arena *arena, const int64_t *coordinate, visit_fn *visit,
                              void *user) {
    const dt__halo *halo = self->out;
    dt__range **needed = DT__NEW_ARRAY(arena, dt__range *, halo->n + 1);
    if (!needed)
        return DT_ERR_MEMORY;
    DT__TRY(self->request->needed_at(self->request->user, arena, coordinate, needed));
    for (int i = 0; i < halo->n; i++) {
        haloed *tensor = &halo->tensors[i];
        dt__range *shard = DT__NEW_ARRAY(arena, dt__range, tensor->n_dims + 1);
        dt__range *box = DT__NEW_ARRAY(arena, dt__range, tensor->n_dims + 1);
        int s = 0;
        if (!shard || !box)
            return DT_ERR_MEMORY;
        find_shard(&tensor->from->sharding, coordinate, shard);
        for (int d = 0; d < tensor->n_dims; d++)
            for (int is_after = 0; is_after < 2 && tensor->fetched >> d & 1; is_after++) {
                find_box(tensor, shard, needed[i], d, is_after, box);
                DT__TRY(visit(user, arena, tensor, s++, box));
            }
    }
    return DT_OK;
}

static dt_status keep_strip(void *user, dt__arena *arena, haloed *tensor, int s, const dt__range *box) {
    dt__halo *self = user;
    strip *out = &tensor->strips[s];
    int64_t elements = 1, shape[DT_SPEC_MAX_DIMS];
    out->box = dt__arena_copy(arena, box, (size_t)tensor->n_dims, sizeof *box);
    out->strides = DT__NEW_ARRAY(arena, int64_t, tensor->n_dims + 1);
    if (!out->box || !out->strides)
        return DT_ERR_MEMORY;
    for (int d = 0; d < tensor->n_dims; d++) {
        shape[d] = size_of(box[d]);
        elements *= shape[d];
        out->is_filled |= box[d].begin < 0 || box[d].end > tensor->from->sharding.shape[d];
    }
    dt__row_strides(tensor->n_dims, shape, out->strides);
    out->bytes = (size_t)elements * tensor->item_bytes;
    out->at = self->bytes;
    self->bytes += (out->bytes + 63) / 64 * 64;
    return DT_OK;
}

/* The windows of the strips of another rank, one after the other. */
typedef struct window_list {
    dt__dim_window **next;
} window_list;

static dt_status list_windows(void *user, dt__arena *arena, haloed *tensor, int s, const dt__range *box) {
    window_list *list = user;
    (void)s;
    return find_windows(arena, tensor, box, list->next++);
}

static dt_status windows_at(const void *user, dt__arena *arena, const int64_t *coordinate, dt__dim_window **out) {
    return visit_strips(user, arena, coordinate, list_windows, &(window_list){out});
}

static dt_status prepare_fetch(const preparation *self, dt__arena *arena) {
    dt__halo *out = self->out;
    dt__fetched_tensor *list = DT__NEW_ARRAY(arena, dt__fetched_tensor, out->n_fetched);
    out->memory = DT__NEW_ARRAY(arena, dt__fetch_memory, out->n_fetched);
    if (!list || !out->memory)
        return DT_ERR_MEMORY;
    int n = 0;
    for (int i = 0; i < out->n; i++)
        for (int s = 0; s < out->tensors[i].n_strips; s++, n++) {
            dt__dim_window *windows;
            DT__TRY(find_windows(arena, &out->tensors[i], out->tensors[i].strips[s].box, &windows));
            list[n] = (dt__fetched_tensor){.from = out->tensors[i].from,
                                           .windows = windows,
                                           .dst_strides = out->tensors[i].strips[s].strides,
                                           .is_same = s > 0};
        }
    return dt__fetch_new(arena,
                         &(dt__fetch_request){.mesh = self->request->mesh,
                                              .n = out->n_fetched,
                                              .tensors = list,
                                              .mesh_dims = self->request->mesh_dims,
                                              .exchanges = self->request->exchanges,
                                              .tag = self->request->tag,
                                              .windows_at = windows_at,
                                              .user = self},
                         &out->fetch);
}

dt_status dt__halo_new(dt__arena *arena, const dt__halo_request *request, dt__halo **out) {
    dt__halo *halo = *out = DT__NEW(arena, dt__halo);
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (!halo)
        return DT_ERR_MEMORY;
    *halo = (dt__halo){.ctx = arena->ctx, .n = request->n, .tensors = DT__NEW_ARRAY(arena, haloed, request->n + 1)};
    if (!halo->tensors)
        return DT_ERR_MEMORY;
    (void)dt_mesh_coordinate(request->mesh, coordinate);
    for (int i = 0; i < request->n; i++) {
        const dt__halo_tensor *tensor = &request->tensors[i];
        int n_dims = tensor->from->sharding.n_dims, n_strips = 0;
        for (int d = 0; d < n_dims; d++)
            n_strips += tensor->fetched >> d & 1 ? 2 : 0;
        halo->tensors[i] = (haloed){.from = tensor->from,
                                    .n_dims = n_dims,
                                    .fetched = tensor->fetched,
                                    .border = tensor->border,
                                    .item_bytes = dt_dtype_size(tensor->from->dtype),
                                    .n_strips = n_strips,
                                    .shard = DT__NEW_ARRAY(arena, dt__range, n_dims + 1),
                                    .strips = DT__NEW_ARRAY(arena, strip, n_strips + 1)};
        if (!halo->tensors[i].shard || !halo->tensors[i].strips)
            return DT_ERR_MEMORY;
        find_shard(&tensor->from->sharding, coordinate, halo->tensors[i].shard);
        halo->n_fetched += n_strips;
    }
    preparation self = {halo, request};
    DT__TRY(visit_strips(&self, arena, coordinate, keep_strip, halo));
    return halo->n_fetched ? prepare_fetch(&self, arena) : DT_OK;
}

void dt__halo_end(dt__halo *self) {
    if (self)
        dt__fetch_end(self->fetch);
}

dt_status dt__halo_start(dt__halo *self, const dt__shard_memory *src, struct dt__history *history) {
    for (int i = 0; i < self->n; i++)
        self->tensors[i].src = src[i];
    if (!self->fetch)
        return DT_OK;
    self->strips = self->bytes ? dt__alloc(self->ctx, self->bytes) : NULL;
    if (self->bytes && !self->strips)
        return dt__fail_memory(self->ctx, self->bytes, "halos");
    int n = 0;
    for (int i = 0; i < self->n; i++)
        for (int s = 0; s < self->tensors[i].n_strips; s++, n++) {
            const strip *to = &self->tensors[i].strips[s];
            self->memory[n] = (dt__fetch_memory){src[i], to->bytes ? self->strips + to->at : NULL};
            if (to->is_filled && to->bytes)
                memset(self->memory[n].dst, 0, to->bytes);
        }
    return dt__fetch_start(self->fetch, self->memory, history);
}

dt_status dt__halo_wait(dt__halo *self, dt__fetch_cost *out) {
    *out = (dt__fetch_cost){0};
    return self->fetch ? dt__fetch_wait(self->fetch, out) : DT_OK;
}

void dt__halo_release(dt__halo *self) {
    dt__free(self->ctx, self->strips, self->bytes);
    self->strips = NULL;
}

bool dt__halo_holds(const dt__halo *self, int tensor, const dt__range *box) {
    const haloed *of = &self->tensors[tensor];
    bool is_empty = false, holds = true;
    for (int d = 0; d < of->n_dims; d++) {
        is_empty |= size_of(box[d]) == 0;
        holds &= box[d].begin >= of->shard[d].begin && box[d].end <= of->shard[d].end;
    }
    return holds || is_empty;
}

/* Copies what one part, the shard or a strip, has of a box. */
static void copy_part(const haloed *of, const dt__range *part, dt__shard_memory src, const dt__range *box,
                      const int64_t *dst_strides, const dt_ctx *ctx, char *dst) {
    int64_t sizes[DT_SPEC_MAX_DIMS], from = 0, to = 0;
    for (int d = 0; d < of->n_dims; d++) {
        dt__range both = common(part[d], box[d]);
        sizes[d] = size_of(both);
        if (sizes[d] == 0)
            return;
        from += (both.begin - part[d].begin) * src.strides[d];
        to += (both.begin - box[d].begin) * dst_strides[d];
    }
    int64_t item = (int64_t)of->item_bytes;
    dt__spread_copy(dt__rank_kernels(ctx), dt__pool_of((dt_ctx *)ctx),
                    &(dt__strided){dst + to * item, src.at + from * item, of->item_bytes, of->n_dims, sizes,
                                   dst_strides, src.strides},
                    DT__CACHED);
}

void dt__halo_copy(const dt__halo *self, int tensor, const dt__range *box, void *dst) {
    const haloed *of = &self->tensors[tensor];
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < of->n_dims; d++)
        shape[d] = size_of(box[d]);
    dt__row_strides(of->n_dims, shape, strides);
    copy_part(of, of->shard, of->src, box, strides, self->ctx, dst);
    for (int s = 0; s < of->n_strips; s++)
        copy_part(of, of->strips[s].box, (dt__shard_memory){self->strips + of->strips[s].at, of->strips[s].strides},
                  box, strides, self->ctx, dst);
}
