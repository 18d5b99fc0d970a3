/* SPDX-License-Identifier: Apache-2.0
 *
 * Indexing by a text (dtensor/indexing.h). The text becomes a list of steps, each an op on one dim: select, slice,
 * flip, unsqueeze; what tensors index is one call of index at the end. An assignment runs the steps, and then puts
 * each result back into the one before by the scatter that belongs to its step.
 */
#include "dtensor/indexing.h"

#include "base/ctx.h"
#include "base/dtype.h"
#include "base/size.h"
#include "dtensor/ops.h"
#include "tensor/tensor.h"

#include <ctype.h>
#include <inttypes.h>
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

/* One op on one dim, and what it was run on. */
typedef struct step {
    item_kind kind; /* ITEM_REST: a flip */
    int64_t dim, start, end, by;
    dt_tensor *of;
} step;

typedef struct steps {
    index_text *text;
    dt_tensor *tensor; /* the result so far */
    int n, dim;
    step list[2 * MAX_ITEMS];
    dt_tensor *indices[DT_SPEC_MAX_DIMS];
    int n_indices, n_masks; /* masks without a number of elements */
} steps;

static dt_status add_step(steps *self, step of) {
    of.of = self->tensor;
    dt_dims dims = {.n = 1, .list = &of.dim};
    switch (of.kind) {
    case ITEM_INT:
        self->tensor = dt_select(of.of, of.dim, of.start);
        break;
    case ITEM_SLICE:
        self->tensor = dt_slice(of.of, of.dim, of.start, of.end, of.by);
        break;
    case ITEM_REST:
        self->tensor = dt_flip(of.of, dims);
        break;
    default:
        self->tensor = dt_unsqueeze(of.of, of.dim);
    }
    self->list[self->n++] = of;
    return self->tensor ? DT_OK : dt_error_status(self->text->ctx);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) { return dt__min_i64(dt__max_i64(value, low), high); }

/* As Python does it: bounds beyond the dim are those of the dim. A negative step is a slice that is flipped. */
static dt_status add_slice(steps *self, const item *of) {
    int64_t size = dt_tensor_size(self->tensor, self->dim);
    bool down = of->step < 0;
    int64_t low = down ? -1 : 0, high = down ? size - 1 : size;
    int64_t start = of->has_start ? clamp(of->start < 0 ? of->start + size : of->start, low, high)
                    : down        ? high
                                  : low;
    int64_t end = of->has_end ? clamp(of->end < 0 ? of->end + size : of->end, low, high) : down ? low : high;
    int64_t by = down ? -of->step : of->step, length = down ? start - end : end - start;
    int64_t n = length > 0 ? dt__ceil_div(length, by) : 0;
    int64_t first = n == 0 ? 0 : down ? start - (n - 1) * by : start;
    if (first != 0 || by != 1 || n != size)
        DT__TRY(add_step(self, (step){.kind = ITEM_SLICE,
                                      .dim = self->dim,
                                      .start = first,
                                      .end = n ? first + (n - 1) * by + 1 : 0,
                                      .by = by}));
    if (down && n > 1)
        DT__TRY(add_step(self, (step){.kind = ITEM_REST, .dim = self->dim}));
    self->dim++;
    return DT_OK;
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
    self->dim += n_consumed(of);
    return DT_OK;
}

/* An integer next to tensors is a tensor without dims. */
static dt_status add_int(steps *self, const item *of, bool has_tensors) {
    int64_t size = dt_tensor_size(self->tensor, self->dim);
    if (of->start < -size || of->start >= size)
        return dt__fail(self->text->ctx, DT_ERR_VALUE,
                        "%s: index %" PRId64 " is out of range for dim %d of the selected elements: expected %" PRId64
                        " to %" PRId64,
                        self->text->name, of->start, self->dim, -size, size - 1);
    if (!has_tensors)
        return add_step(self, (step){.kind = ITEM_INT, .dim = self->dim, .start = of->start});
    self->n_indices++;
    self->indices[self->dim] =
        dt_full(self->text->ctx, DT_SHAPE(), of->start, .dtype = DT_I64, .mesh = dt_tensor_mesh(self->tensor));
    return self->indices[self->dim++] ? DT_OK : dt_error_status(self->text->ctx);
}

static dt_status run_steps(steps *self) {
    index_text *text = self->text;
    int n_dims = dt_tensor_n_dims(self->tensor), consumed = 0;
    bool has_tensors = text->n_tensors > 0;
    for (int i = 0; i < text->n_items; i++)
        consumed += n_consumed(&text->items[i]);
    if (consumed > n_dims)
        return dt__fail(text->ctx, DT_ERR_SHAPE, "%s: index \"%s\": too many items: expected at most %d dims, got %d",
                        text->name, text->text, n_dims, consumed);
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
        else {
            DT__TRY(add_step(self, (step){.kind = ITEM_NEW, .dim = self->dim}));
            self->dim++;
        }
    }
    return DT_OK;
}

static dt_status prepare(const char *name, dt_tensor *tensor, const char *index, int n_tensors,
                         dt_tensor *const *tensors, index_text *text, steps *out) {
    *text = (index_text){
        .ctx = tensor->ctx, .name = name, .text = index ? index : "", .n_tensors = n_tensors, .tensors = tensors};
    text->at = text->text;
    DT__TRY(read_text(text));
    *out = (steps){.text = text, .tensor = tensor};
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
        prepare("at", tensor, index, n_tensors, tensors, &text, &all) != DT_OK)
        return NULL;
    if (all.n_masks) {
        (void)dt__fail(tensor->ctx, DT_ERR_UNSUPPORTED,
                       "at: index \"%s\": how many elements a mask selects is not known: expected '?(n)'", text.text);
        return NULL;
    }
    return all.n_indices ? dt_index(all.tensor, indices_of(&all)) : all.tensor;
}

/* The tensor that a step was run on, with other elements where its result is. */
static dt_tensor *put_back(const step *of, dt_tensor *value) {
    dt_dims dims = {.n = 1, .list = &of->dim};
    switch (of->kind) {
    case ITEM_INT:
        return dt_select_scatter(of->of, value, of->dim, of->start);
    case ITEM_SLICE:
        return dt_slice_scatter(of->of, value, of->dim, of->start, of->end, of->by);
    case ITEM_REST:
        return dt_flip(value, dims);
    default:
        return dt_squeeze_dim(value, of->dim);
    }
}

dt_tensor *dt_set_at_site(dt_tensor *tensor, dt_tensor *value, const char *index, int n_tensors,
                          dt_tensor *const *tensors, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "set_at", site);
    index_text text;
    steps all;
    value = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, value, 2);
    if (DT__REFUSAL() != DT_OK || !tensor || !value || !all_live(n_tensors, tensors) ||
        prepare("set_at", tensor, index, n_tensors, tensors, &text, &all) != DT_OK)
        return NULL;
    if (dt_tensor_dtype(value) != dt_tensor_dtype(tensor))
        value = dt_to(value, dt_tensor_dtype(tensor));
    if (all.n == 0 && all.n_indices)
        return value ? dt_index_put_(tensor, indices_of(&all), value) : NULL;
    dt_tensor *next = !value          ? NULL
                      : all.n_indices ? dt_index_put(all.tensor, indices_of(&all), value)
                                      : dt_expand(value, ((dt_shape){all.tensor->n_dims, all.tensor->shape}));
    for (int i = all.n - 1; i >= 0 && next; i--)
        next = put_back(&all.list[i], next);
    return next ? dt_copy_(tensor, next) : NULL;
}
