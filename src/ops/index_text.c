/* SPDX-License-Identifier: Apache-2.0
 *
 * Indexing by a text (dtensor/indexing.h). The text becomes a list of steps, each an op on one dim: select, slice,
 * flip, unsqueeze. Tensors among the indices are one call of index at the end.
 *
 * An assignment moves what it writes, and nothing of the tensor. With tensors among the indices it is one index_put_ on
 * a view of the tensor. A slice of a sharded dim is no such view: that dim is written as a whole, with the value at its
 * places in it, and a mask selects what is kept of that. Any other assignment writes a box, a slice of each dim.
 */
#include "dtensor/indexing.h"

#include "base/ctx.h"
#include "base/dtype.h"
#include "base/size.h"
#include "dtensor/ops.h"
#include "tensor/tensor.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef enum item_kind { ITEM_INT, ITEM_SLICE, ITEM_NEW, ITEM_TENSOR, ITEM_REST } item_kind;

typedef struct item {
    item_kind kind;
    int64_t start, end, step; /* an int is its start */
    bool has_start, has_end;
    dt_tensor *tensor;
    int64_t n_true; /* of a mask; -1: not given */
} item;

enum { MAX_ITEMS = 2 * DT_SPEC_MAX_DIMS };

typedef struct index_text {
    dt_ctx *ctx;
    const char *name, *text, *at;
    int n_items;
    item items[MAX_ITEMS];
    int n_tensors, n_used;
    dt_tensor *const *tensors;
} index_text;

static dt_status bad_text(const index_text *self, const char *expected) {
    return dt__fail(self->ctx, DT_ERR_VALUE, "%s: index \"%s\": column %d: expected %s", self->name, self->text,
                    (int)(self->at - self->text) + 1, expected);
}

static void skip_spaces(index_text *self) { self->at += strspn(self->at, " \t\n"); }

static bool take(index_text *self, const char *word) {
    size_t n = strlen(word);
    skip_spaces(self);
    if (strncmp(self->at, word, n) != 0)
        return false;
    self->at += n;
    return true;
}

/* An integer, if there is one. */
static dt_status take_int(index_text *self, bool *found, int64_t *out) {
    skip_spaces(self);
    const char *at = self->at + (*self->at == '-' || *self->at == '+');
    bool negative = *self->at == '-';
    *found = isdigit((unsigned char)*at);
    if (!*found)
        return DT_OK;
    for (*out = 0; isdigit((unsigned char)*at); at++)
        if (!dt__mul_i64(*out, 10, out) || !dt__add_i64(*out, *at - '0', out))
            return bad_text(self, "a smaller number");
    *out = negative ? -*out : *out;
    self->at = at;
    return DT_OK;
}

static dt_status read_tensor(index_text *self, item *out) {
    bool found = false;
    if (self->n_used == self->n_tensors)
        return bad_text(self, "as many tensors as there are '?'");
    out->kind = ITEM_TENSOR;
    out->n_true = -1;
    out->tensor = self->tensors[self->n_used++];
    if (!out->tensor)
        return bad_text(self, "a tensor for '?', got NULL");
    if (!take(self, "("))
        return DT_OK;
    DT__TRY(take_int(self, &found, &out->n_true));
    return found && out->n_true >= 0 && take(self, ")") ? DT_OK : bad_text(self, "a number and ')'");
}

static dt_status read_range(index_text *self, item *out) {
    bool has_step = false;
    DT__TRY(take_int(self, &out->has_start, &out->start));
    if (!take(self, ":")) {
        out->kind = ITEM_INT;
        return out->has_start ? DT_OK : bad_text(self, "a number, a slice, '?', '...' or None");
    }
    out->kind = ITEM_SLICE;
    out->step = 1;
    DT__TRY(take_int(self, &out->has_end, &out->end));
    if (take(self, ":"))
        DT__TRY(take_int(self, &has_step, &out->step));
    return out->step == 0 ? bad_text(self, "a step other than 0") : DT_OK;
}

static dt_status read_item(index_text *self, item *out) {
    *out = (item){0};
    if (take(self, "...") || take(self, "Ellipsis"))
        out->kind = ITEM_REST;
    else if (take(self, "None") || take(self, "newaxis"))
        out->kind = ITEM_NEW;
    else if (take(self, "?"))
        return read_tensor(self, out);
    else
        return read_range(self, out);
    return DT_OK;
}

static dt_status read_text(index_text *self) {
    int n_rest = 0;
    for (bool more = true; more; more = take(self, ",")) {
        skip_spaces(self);
        if (self->n_items == MAX_ITEMS)
            return bad_text(self, "fewer items");
        DT__TRY(read_item(self, &self->items[self->n_items]));
        n_rest += self->items[self->n_items++].kind == ITEM_REST;
    }
    skip_spaces(self);
    if (*self->at)
        return bad_text(self, "',' or the end");
    if (n_rest > 1)
        return bad_text(self, "'...' at most once");
    return self->n_used == self->n_tensors ? DT_OK : bad_text(self, "a '?' for each tensor");
}

static bool is_mask(const item *of) { return of->kind == ITEM_TENSOR && dt_tensor_dtype(of->tensor) == DT_BOOL; }

/* How many dims of the tensor an item stands for. */
static int n_consumed(const item *of) {
    return of->kind == ITEM_NEW || of->kind == ITEM_REST ? 0 : is_mask(of) ? dt_tensor_n_dims(of->tensor) : 1;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) { return dt__min_i64(dt__max_i64(value, low), high); }

/* The indices of a slice, ascending: `end` is after the last one. */
typedef struct range {
    int64_t start, end, by, n;
    bool is_flipped; /* the step is negative */
} range;

/* As Python does it: bounds beyond the dim are those of the dim. */
static range range_of(const item *of, int64_t size) {
    bool down = of->step < 0;
    int64_t low = down ? -1 : 0, high = down ? size - 1 : size;
    int64_t start = of->has_start ? clamp(of->start < 0 ? of->start + size : of->start, low, high)
                    : down        ? high
                                  : low;
    int64_t end = of->has_end ? clamp(of->end < 0 ? of->end + size : of->end, low, high) : down ? low : high;
    int64_t by = down ? -of->step : of->step, length = down ? start - end : end - start;
    int64_t n = length > 0 ? dt__ceil_div(length, by) : 0;
    int64_t first = n == 0 ? 0 : down ? start - (n - 1) * by : start;
    return (range){first, n ? first + (n - 1) * by + 1 : 0, by, n, down && n > 1};
}

static bool is_whole(const range *of, int64_t size) { return of->start == 0 && of->by == 1 && of->n == size; }

/* What a dim of the result so far is. */
typedef struct selected_dim {
    range part; /* of a slice */
    bool is_slice, is_indexed;
    bool is_cut; /* the slice is still to be selected */
} selected_dim;

typedef struct steps {
    index_text *text;
    bool writes;       /* the result is a view of the tensor: slices that are none are cut, and flips are left out */
    dt_tensor *tensor; /* the result so far */
    int dim;
    selected_dim dims[2 * DT_SPEC_MAX_DIMS];
    dt_tensor *indices[DT_SPEC_MAX_DIMS];
    int n_indices, n_masks; /* masks without a number of elements */
} steps;

static dt_status set_result(steps *self, dt_tensor *result) {
    self->tensor = result;
    return result ? DT_OK : dt_error_status(self->text->ctx);
}

static bool is_sharded(const dt_tensor *tensor, int dim) {
    for (int m = 0; tensor->spec && m < tensor->spec->sharding.n_mesh_dims; m++)
        if (dt__is_cut(&tensor->spec->sharding.placements[m]) && tensor->spec->sharding.placements[m].dim == dim)
            return true;
    return false;
}

/* A slice with a negative step is one that is flipped. */
static dt_status add_slice(steps *self, const item *of) {
    const int dim = self->dim++;
    const int64_t size = dt_tensor_size(self->tensor, dim);
    const range part = range_of(of, size);
    const bool is_cut = self->writes && !is_whole(&part, size) && is_sharded(self->tensor, dim);
    self->dims[dim] = (selected_dim){.part = part, .is_slice = true, .is_cut = is_cut};
    if (!is_cut && !is_whole(&part, size))
        DT__TRY(set_result(self, dt_slice(self->tensor, dim, part.start, part.end, part.by)));
    return part.is_flipped && !self->writes ? set_result(self, dt_flip(self->tensor, DT_DIMS(dim))) : DT_OK;
}

/* The indices of the n_true elements of a mask, in order, one tensor per dim. */
static dt_status add_counted_mask(steps *self, const item *of) {
    int n = dt_tensor_n_dims(of->tensor);
    dt_tensor *flat = dt_reshape(dt_to(of->tensor, DT_I32), DT_SHAPE(-1));
    dt_tensor *places = flat ? dt_argsort(flat, .dim = DT_INT(0), .descending = true) : NULL;
    places = places ? dt_slice(places, 0, 0, of->n_true, 1) : NULL;
    for (int d = n - 1; d >= 0 && places; d--) {
        int64_t size = dt_tensor_size(of->tensor, d);
        self->indices[self->dim + d] = dt_remainder_scalar_other(places, size);
        self->dims[self->dim + d].is_indexed = true;
        places = dt_floor_divide_scalar(places, size);
    }
    self->dim += n;
    return places ? DT_OK : dt_error_status(self->text->ctx);
}

static dt_status add_tensor(steps *self, const item *of) {
    self->n_indices++;
    if (is_mask(of) && of->n_true >= 0)
        return add_counted_mask(self, of);
    if (of->n_true >= 0)
        return dt__fail(self->text->ctx, DT_ERR_VALUE, "%s: index \"%s\": '?(n)' is for masks: expected bool, got %s",
                        self->text->name, self->text->text, dt_dtype_name(dt_tensor_dtype(of->tensor)));
    self->n_masks += is_mask(of);
    self->indices[self->dim] = of->tensor;
    for (int n = n_consumed(of); n > 0; n--)
        self->dims[self->dim++].is_indexed = true;
    return DT_OK;
}

static dt_status check_int(const index_text *text, const item *of, int dim, int64_t size) {
    if (of->start >= -size && of->start < size)
        return DT_OK;
    return dt__fail(text->ctx, DT_ERR_VALUE,
                    "%s: index %" PRId64 " is out of range for dim %d of the selected elements: expected %" PRId64
                    " to %" PRId64,
                    text->name, of->start, dim, -size, size - 1);
}

/* An integer next to tensors is a tensor without dims. */
static dt_status add_int(steps *self, const item *of, bool has_tensors) {
    DT__TRY(check_int(self->text, of, self->dim, dt_tensor_size(self->tensor, self->dim)));
    if (!has_tensors)
        return set_result(self, dt_select(self->tensor, self->dim, of->start));
    self->n_indices++;
    self->dims[self->dim].is_indexed = true;
    self->indices[self->dim] =
        dt_full(self->text->ctx, DT_SHAPE(), of->start, .dtype = DT_I64, .mesh = dt_tensor_mesh(self->tensor));
    return self->indices[self->dim++] ? DT_OK : dt_error_status(self->text->ctx);
}

/* How many dims all items stand for. */
static dt_status count_consumed(const index_text *text, int n_dims, int *out) {
    *out = 0;
    for (int i = 0; i < text->n_items; i++)
        *out += n_consumed(&text->items[i]);
    if (*out <= n_dims)
        return DT_OK;
    return dt__fail(text->ctx, DT_ERR_SHAPE, "%s: index \"%s\": too many items: expected at most %d dims, got %d",
                    text->name, text->text, n_dims, *out);
}

static dt_status run_steps(steps *self) {
    index_text *text = self->text;
    int n_dims = dt_tensor_n_dims(self->tensor), consumed;
    bool has_tensors = text->n_tensors > 0;
    DT__TRY(count_consumed(text, n_dims, &consumed));
    for (int i = 0; i < text->n_items; i++) {
        const item *of = &text->items[i];
        if (of->kind == ITEM_REST)
            self->dim += n_dims - consumed;
        else if (of->kind == ITEM_INT)
            DT__TRY(add_int(self, of, has_tensors));
        else if (of->kind == ITEM_SLICE)
            DT__TRY(add_slice(self, of));
        else if (of->kind == ITEM_TENSOR)
            DT__TRY(add_tensor(self, of));
        else
            DT__TRY(set_result(self, dt_unsqueeze(self->tensor, self->dim++)));
    }
    return DT_OK;
}

static dt_status open_text(const char *name, dt_tensor *tensor, const char *index, int n_tensors,
                           dt_tensor *const *tensors, index_text *text) {
    *text = (index_text){
        .ctx = tensor->ctx, .name = name, .text = index ? index : "", .n_tensors = n_tensors, .tensors = tensors};
    text->at = text->text;
    return read_text(text);
}

static dt_status prepare(index_text *text, dt_tensor *tensor, bool writes, steps *out) {
    *out = (steps){.text = text, .writes = writes, .tensor = tensor};
    return run_steps(out);
}

static dt_tensors indices_of(const steps *self) {
    dt_tensors list = {0, self->indices};
    for (int d = 0; d < DT_SPEC_MAX_DIMS; d++)
        list.n = self->indices[d] ? d + 1 : list.n;
    return list;
}

static bool all_live(int n, dt_tensor *const *tensors) {
    for (int i = 0; i < n; i++)
        if (tensors[i] && !DT__LIVE_ARGUMENT(DT__KIND_TENSOR, tensors[i], i + 1))
            return false;
    return true;
}

dt_tensor *dt_at_site(dt_tensor *tensor, const char *index, int n_tensors, dt_tensor *const *tensors,
                      const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "at", site);
    index_text text;
    steps all;
    if (DT__REFUSAL() != DT_OK || !tensor || !all_live(n_tensors, tensors) ||
        open_text("at", tensor, index, n_tensors, tensors, &text) != DT_OK ||
        prepare(&text, tensor, false, &all) != DT_OK)
        return NULL;
    if (all.n_masks) {
        (void)dt__fail(tensor->ctx, DT_ERR_UNSUPPORTED,
                       "at: index \"%s\": how many elements a mask selects is not known: expected '?(n)'", text.text);
        return NULL;
    }
    return all.n_indices ? dt_index(all.tensor, indices_of(&all)) : all.tensor;
}

static dt_tensor *scatter(dt_tensor *to, dt_tensor *value, int dim, const range *part) {
    return dt_slice_scatter(to, value, dim, part->start, part->end, part->by);
}

/* How the selected elements are laid out: the dims that are not indexed, and those of the indices among them. */
typedef struct layout {
    int n_dims;   /* of the selected elements */
    int n_before; /* dims before those of the indices */
    int n_of_indices;
} layout;

/* NumPy's: where indices are adjacent their dims replace the indexed ones, otherwise they come first. */
static layout layout_of(const steps *all) {
    layout out = {0};
    int n_dims = dt_tensor_n_dims(all->tensor), first = -1, last = -1, n_indexed = 0;
    for (int d = 0; d < n_dims; d++) {
        if (!all->dims[d].is_indexed)
            continue;
        first = first < 0 ? d : first;
        last = d;
        n_indexed++;
        int own = all->n_masks ? 1 : all->indices[d] ? dt_tensor_n_dims(all->indices[d]) : 0;
        out.n_of_indices = own > out.n_of_indices ? own : out.n_of_indices;
    }
    out.n_before = last - first + 1 == n_indexed ? first : 0;
    out.n_dims = n_dims - n_indexed + out.n_of_indices;
    return out;
}

/* Zeros of the sizes of a value but for one dim, which is sharded as dim `of` of the tensor is. */
static dt_tensor *zeros_along(const steps *all, const dt_tensor *value, int dim, int of) {
    const dt_tensor *tensor = all->tensor;
    int64_t sizes[DT_SPEC_MAX_DIMS];
    char place[24 * DT_SPEC_MAX_DIMS];
    size_t n = 0;
    for (int m = 0; m < tensor->spec->sharding.n_mesh_dims; m++) {
        const dt_placement *p = &tensor->spec->sharding.placements[m];
        const char *comma = m ? "," : "";
        n += (size_t)(dt__is_cut(p) && p->dim == of ? snprintf(place + n, sizeof place - n, "%sS(%d)", comma, dim)
                                                    : snprintf(place + n, sizeof place - n, "%sR", comma));
    }
    memcpy(sizes, value->shape, (size_t)value->n_dims * sizeof *sizes);
    sizes[dim] = tensor->shape[of];
    return dt_zeros(tensor->ctx, ((dt_shape){value->n_dims, sizes}), .dtype = value->dtype,
                    .mesh = tensor->spec->mesh, .place = place);
}

/* The value as it is written: flipped where steps are negative, and at its places along dims that are cut. What is
 * broadcast along a dim needs neither. */
static dt_tensor *arrange(const steps *all, dt_tensor *value) {
    const layout of = layout_of(all);
    const int n_dims = dt_tensor_n_dims(all->tensor), missing = of.n_dims - dt_tensor_n_dims(value);
    for (int d = 0, kept = 0; d < n_dims && value; d++) {
        const selected_dim *dim = &all->dims[d];
        if (dim->is_indexed)
            continue;
        const int at = (kept < of.n_before ? kept : kept + of.n_of_indices) - missing;
        kept++;
        if (!dim->is_slice || at < 0 || at >= value->n_dims || value->shape[at] == 1)
            continue;
        if (dim->part.is_flipped)
            value = dt_flip(value, DT_DIMS(at));
        dt_tensor *zeros = value && dim->is_cut ? zeros_along(all, value, at, d) : NULL;
        if (value && dim->is_cut)
            value = zeros ? scatter(zeros, value, at, &dim->part) : NULL;
    }
    return value;
}

/* Whether elements are in the slices that are cut; *out is NULL without any. */
static dt_status make_mask(const steps *all, dt_tensor **out) {
    dt_ctx *ctx = all->text->ctx;
    dt_mesh *mesh = dt_tensor_mesh(all->tensor);
    const int n_dims = dt_tensor_n_dims(all->tensor);
    *out = NULL;
    for (int d = 0; d < n_dims; d++) {
        const selected_dim *dim = &all->dims[d];
        int64_t sizes[DT_SPEC_MAX_DIMS];
        if (!dim->is_cut)
            continue;
        for (int other = 0; other < n_dims; other++)
            sizes[other] = other == d ? dim->part.n : 1;
        dt_tensor *ones = dt_ones(ctx, ((dt_shape){n_dims, sizes}), .dtype = DT_BOOL, .mesh = mesh);
        sizes[d] = all->tensor->shape[d];
        dt_tensor *zeros = dt_zeros(ctx, ((dt_shape){n_dims, sizes}), .dtype = DT_BOOL, .mesh = mesh);
        dt_tensor *mask = ones && zeros ? scatter(zeros, ones, d, &dim->part) : NULL;
        *out = *out && mask ? dt_logical_and(*out, mask) : mask;
        if (!*out)
            return dt_error_status(ctx);
    }
    return DT_OK;
}

static bool is_partial(const dt_tensor *tensor) {
    for (int m = 0; tensor->spec && m < tensor->spec->sharding.n_mesh_dims; m++)
        if (dt_placement_is_partial(tensor->spec->sharding.placements[m]))
            return true;
    return false;
}

static dt_tensor *set_at_tensors(dt_tensor *tensor, dt_tensor *value, index_text *text) {
    steps all;
    dt_tensor *mask;
    if (prepare(text, tensor, true, &all) != DT_OK || make_mask(&all, &mask) != DT_OK ||
        !(value = arrange(&all, value)))
        return NULL;
    dt_tensor *next = mask ? dt_clone(all.tensor) : all.tensor;
    if (next)
        next = is_partial(tensor) ? dt_index_put(next, indices_of(&all), value)
                                  : dt_index_put_(next, indices_of(&all), value);
    if (next && mask)
        next = dt_where(mask, next, all.tensor);
    if (next && next != all.tensor)
        next = dt_copy_(all.tensor, next);
    return next ? tensor : NULL;
}

/* A slice of each dim of a tensor. */
typedef struct box {
    range dims[DT_SPEC_MAX_DIMS];
} box;

/* The box that the text selects; the value, broadcast to the selected elements, gets the dims of the box. */
static dt_status read_box(const index_text *text, const dt_tensor *tensor, dt_tensor **value, box *out) {
    static const item whole = {.kind = ITEM_SLICE, .step = 1};
    item list[MAX_ITEMS + DT_SPEC_MAX_DIMS]; /* one per dim, and new ones */
    int64_t shape[MAX_ITEMS + DT_SPEC_MAX_DIMS];
    int consumed, n = 0, n_dims = tensor->n_dims, n_selected = 0, dim = 0;
    DT__TRY(count_consumed(text, n_dims, &consumed));
    bool has_rest = false;
    for (int i = 0; i <= text->n_items; i++) {
        const bool is_rest = i < text->n_items ? text->items[i].kind == ITEM_REST : !has_rest;
        for (int d = 0; is_rest && d < n_dims - consumed; d++)
            list[n++] = whole;
        has_rest |= is_rest;
        if (i < text->n_items && !is_rest)
            list[n++] = text->items[i];
    }
    for (int i = 0; i < n; i++) {
        if (list[i].kind == ITEM_NEW) {
            shape[n_selected++] = 1;
            continue;
        }
        const int64_t size = tensor->shape[dim];
        range *part = &out->dims[dim];
        if (list[i].kind == ITEM_INT) {
            DT__TRY(check_int(text, &list[i], n_selected, size));
            const int64_t at = list[i].start + (list[i].start < 0 ? size : 0);
            *part = (range){at, at + 1, 1, 1, false};
        } else {
            *part = range_of(&list[i], size);
            shape[n_selected++] = part->n;
        }
        dim++;
    }
    *value = dt_expand(*value, ((dt_shape){n_selected, shape}));
    dim = 0;
    for (int i = 0; i < n && *value; i++) {
        if (list[i].kind == ITEM_NEW)
            *value = dt_squeeze_dim(*value, dim);
        else if (list[i].kind == ITEM_INT)
            *value = dt_unsqueeze(*value, dim++);
        else if (out->dims[dim++].is_flipped)
            *value = dt_flip(*value, DT_DIMS(dim - 1));
    }
    return *value ? DT_OK : dt_error_status(text->ctx);
}

/* The dims of a tensor that the box does not fill, the sharded ones last. Returns their number, and in *n_sharded that
 * of the sharded ones. */
static int find_parts(const dt_tensor *tensor, const box *of, int *dims, int *n_sharded) {
    int n = 0;
    *n_sharded = 0;
    for (int sharded = 0; sharded < 2; sharded++)
        for (int d = 0; d < tensor->n_dims; d++)
            if (is_sharded(tensor, d) == sharded && !is_whole(&of->dims[d], tensor->shape[d])) {
                dims[n++] = d;
                *n_sharded += sharded;
            }
    return n;
}

/* Slices along these dims, each put back into the one before. The last one is not read: all of it is written. */
static dt_tensor *scatter_in_parts(dt_tensor *tensor, dt_tensor *value, const box *of, int n, const int *dims) {
    dt_tensor *parts[DT_SPEC_MAX_DIMS + 1] = {tensor};
    for (int i = 0; i + 1 < n; i++) {
        const range *part = &of->dims[dims[i]];
        parts[i + 1] = dt_slice(parts[i], dims[i], part->start, part->end, part->by);
        if (!parts[i + 1])
            return NULL;
    }
    for (int i = n - 1; i >= 0 && value; i--)
        value = scatter(parts[i], value, dims[i], &of->dims[dims[i]]);
    return value;
}

/* The value among zeros, in a tensor like this one: along one dim after the other. */
static dt_tensor *scatter_in_zeros(dt_tensor *tensor, dt_tensor *value, const box *of, int n, const int *dims) {
    int64_t shape[DT_SPEC_MAX_DIMS];
    memcpy(shape, value->shape, (size_t)value->n_dims * sizeof *shape);
    for (int i = n - 1; i >= 0 && value; i--) {
        shape[dims[i]] = tensor->shape[dims[i]];
        dt_tensor *zeros = i ? dt_new_zeros(value, ((dt_shape){tensor->n_dims, shape}))
                             : dt_zeros_like(tensor, .dtype = dt_tensor_dtype(value));
        value = zeros ? scatter(zeros, value, dims[i], &of->dims[dims[i]]) : NULL;
    }
    return value;
}

/* Where several sharded dims are cut, a slice of one of them would move: the value is selected by a mask instead. */
static dt_tensor *set_box(dt_tensor *tensor, dt_tensor *value, const box *of) {
    int dims[DT_SPEC_MAX_DIMS], n_sharded, n = find_parts(tensor, of, dims, &n_sharded);
    if (n_sharded < 2)
        value = scatter_in_parts(tensor, value, of, n, dims);
    else {
        dt_tensor *selected = dt_ones(tensor->ctx, ((dt_shape){value->n_dims, value->shape}), .dtype = DT_BOOL,
                                      .mesh = dt_tensor_mesh(tensor));
        selected = selected ? scatter_in_zeros(tensor, selected, of, n, dims) : NULL;
        value = selected ? scatter_in_zeros(tensor, value, of, n, dims) : NULL;
        value = value ? dt_where(selected, value, tensor) : NULL;
    }
    return value ? dt_copy_(tensor, value) : NULL;
}

dt_tensor *dt_set_at_site(dt_tensor *tensor, dt_tensor *value, const char *index, int n_tensors,
                          dt_tensor *const *tensors, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "set_at", site);
    index_text text;
    box of;
    value = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, value, 2);
    if (DT__REFUSAL() != DT_OK || !tensor || !value || !all_live(n_tensors, tensors) ||
        open_text("set_at", tensor, index, n_tensors, tensors, &text) != DT_OK)
        return NULL;
    if (dt_tensor_dtype(value) != dt_tensor_dtype(tensor))
        value = dt_to(value, dt_tensor_dtype(tensor));
    if (value && n_tensors)
        return set_at_tensors(tensor, value, &text);
    return value && read_box(&text, tensor, &value, &of) == DT_OK ? set_box(tensor, value, &of) : NULL;
}
