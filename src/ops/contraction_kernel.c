/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of products of local tensors, two operands at a time. A product of two becomes matrix products: labels that both
 * have and the result keeps are the batch, those that the result lacks the inner dim, the others rows and columns. Dims
 * are joined where strides allow it, and copied otherwise. Without an inner dim the elements are multiplied.
 */
#include "kernels/kernels.h"
#include "ops/contraction.h"

#include <string.h>

/* An operand, a partial result, or the result: a stride per label. */
typedef struct term {
    void *data;
    uint64_t labels;
    int64_t strides[DT__MAX_LABELS];
    bool owned;
    dt__scratch memory;
} term;

typedef struct contracting {
    const dt_op_call *call;
    const dt__contraction *of;
    dt_dtype dtype;
    int64_t sizes[DT__MAX_LABELS]; /* of the local tensors */
    uint64_t kept;                 /* labels that operands which follow need */
    dt__contraction_order order;
    term terms[DT__MAX_OPERANDS];
} contracting;

static void free_term(const contracting *self, term *of) {
    if (of->owned)
        dt__scratch_free(self->call, &of->memory);
    of->owned = false;
}

/* A dense term with labels in this order. */
static dt_status new_term(const contracting *self, int n, const unsigned char *labels, term *out) {
    int64_t shape[DT__MAX_LABELS] = {0};
    *out = (term){.owned = true};
    for (int i = 0; i < n; i++)
        shape[i] = self->sizes[labels[i]];
    dt_status status = dt__scratch_new(self->call, self->dtype, 1, (int64_t[]){dt__elements(n, shape)}, &out->memory);
    out->owned = status == DT_OK;
    out->data = out->owned ? out->memory.array.data : NULL;
    for (int64_t i = n - 1, stride = 1; i >= 0; stride *= shape[i--]) {
        out->strides[labels[i]] = stride;
        out->labels |= (uint64_t)1 << labels[i];
    }
    return status;
}

/* Labels in an order. */
typedef struct order {
    int n;
    unsigned char labels[DT__MAX_LABELS];
} order;

static void append(order *to, const order *more) {
    memcpy(to->labels + to->n, more->labels, (size_t)more->n);
    to->n += more->n;
}

/* An array with these labels, repeated along those that the term lacks. */
typedef struct labeled {
    int64_t shape[DT__MAX_LABELS], strides[DT__MAX_LABELS];
    dt__array array;
} labeled;

static void array_of(const contracting *self, const term *of, const order *labels, labeled *out) {
    for (int i = 0; i < labels->n; i++) {
        out->shape[i] = self->sizes[labels->labels[i]];
        out->strides[i] = of->labels >> labels->labels[i] & 1 ? of->strides[labels->labels[i]] : 0;
    }
    out->array = (dt__array){of->data, self->dtype, labels->n, out->shape, out->strides};
}

/* Adds labels to an array as one dim; false where the strides do not allow that. */
static bool join(const contracting *self, const term *of, const order *labels, labeled *out) {
    int64_t size = 1, stride = 1;
    for (int i = labels->n - 1; i >= 0; i--) {
        int l = labels->labels[i];
        if (self->sizes[l] == 1)
            continue;
        if (size == 1)
            stride = of->strides[l];
        else if (of->strides[l] != stride * size)
            return false;
        size *= self->sizes[l];
    }
    int at = out->array.n_dims++;
    out->shape[at] = size;
    out->strides[at] = stride;
    return true;
}

/* [batch.., rows, columns], or a dense copy of that if the strides do not allow it. The result is not copied. */
static bool matrix_of(const contracting *self, const term *of, const order *batch, const order *rows,
                      const order *columns, labeled *out) {
    array_of(self, of, batch, out);
    return join(self, of, rows, out) && join(self, of, columns, out);
}

static dt_status copy_term(const contracting *self, const term *from, const order *labels, term *out) {
    labeled source, target;
    DT__TRY(new_term(self, labels->n, labels->labels, out));
    array_of(self, from, labels, &source);
    array_of(self, out, labels, &target);
    dt__run_convert(self->call, &target.array, &source.array);
    return DT_OK;
}

static dt_status packed_matrix(const contracting *self, term *of, const order *batch, const order *rows,
                               const order *columns, labeled *out) {
    term copy;
    order all = *batch;
    if (matrix_of(self, of, batch, rows, columns, out))
        return DT_OK;
    append(&all, rows);
    append(&all, columns);
    for (int i = 0, n = all.n; i < n; i++) /* labels that the operand lacks stay repeated */
        if (!(of->labels >> all.labels[i] & 1)) {
            memmove(all.labels + i, all.labels + i + 1, (size_t)(n - i - 1));
            all.n = --n;
            i--;
        }
    DT__TRY(copy_term(self, of, &all, &copy));
    free_term(self, of);
    *of = copy;
    (void)matrix_of(self, of, batch, rows, columns, out);
    return DT_OK;
}

/* The labels of a pair by what the product does with them, in the order of the result. */
typedef struct pair_labels {
    order batch, rows, columns, inner, all;
} pair_labels;

static void sort_labels(const contracting *self, const term *a, const term *b, uint64_t kept, pair_labels *out) {
    const dt__labels *result = &self->of->result;
    unsigned char labels[DT__MAX_LABELS];
    int n = 0;
    uint64_t seen = 0;
    *out = (pair_labels){0};
    for (int d = 0; d < result->n; d++) {
        labels[n++] = result->of[d];
        seen |= (uint64_t)1 << result->of[d];
    }
    for (int l = 0; l < self->of->n_labels; l++)
        if (!(seen >> l & 1))
            labels[n++] = (unsigned char)l;
    for (int i = 0; i < n; i++) {
        uint64_t bit = (uint64_t)1 << labels[i];
        bool in_a = a->labels & bit, in_b = b->labels & bit;
        if (!in_a && !in_b)
            continue;
        order *to = !(kept & bit) ? &out->inner : in_a && in_b ? &out->batch : in_a ? &out->rows : &out->columns;
        to->labels[to->n++] = labels[i];
    }
    append(&out->all, &out->batch);
    append(&out->all, &out->rows);
    append(&out->all, &out->columns);
}

static dt_status run_matrices(const contracting *self, const dt__array *a, const dt__array *b, const dt__array *out) {
    dt__products *products = dt__products_of(self->call->ctx);
    if (!products)
        return dt_error_status(self->call->ctx);
    dt__matmul product = {.a = a,
                          .b = b,
                          .out = out,
                          .alpha = dt__number_of(&(dt_arg){.type = DT_ARG_INT, .as.i = 1}, self->dtype),
                          .beta = dt__number_of(&(dt_arg){.type = DT_ARG_INT}, self->dtype)};
    return dt__matmul_run(products, &product) ? DT_OK : dt__fail_memory(self->call->ctx, 0, self->call->name);
}

/* out = a times b; false in *written where the strides of out do not allow that. */
static dt_status multiply_into(const contracting *self, term *a, term *b, const pair_labels *labels, const term *out,
                               bool *written) {
    labeled arrays[3];
    *written = true;
    if (labels->inner.n == 0) {
        array_of(self, a, &labels->all, &arrays[0]);
        array_of(self, b, &labels->all, &arrays[1]);
        array_of(self, out, &labels->all, &arrays[2]);
        return dt__run_elements(self->call, DT__EL_MUL, self->dtype, &arrays[2].array, &arrays[0].array,
                                &arrays[1].array, NULL);
    }
    *written = matrix_of(self, out, &labels->batch, &labels->rows, &labels->columns, &arrays[2]);
    if (!*written)
        return DT_OK;
    DT__TRY(packed_matrix(self, a, &labels->batch, &labels->rows, &labels->inner, &arrays[0]));
    DT__TRY(packed_matrix(self, b, &labels->batch, &labels->inner, &labels->columns, &arrays[1]));
    return run_matrices(self, &arrays[0].array, &arrays[1].array, &arrays[2].array);
}

/* The product of two terms, which are freed; `target` is the result, if this is the last one. */
static dt_status multiply(const contracting *self, term *a, term *b, uint64_t kept, const term *target, term *out) {
    pair_labels labels;
    bool written = false;
    dt_status status = DT_OK;
    *out = (term){0};
    sort_labels(self, a, b, kept, &labels);
    if (target) {
        status = multiply_into(self, a, b, &labels, target, &written);
        *out = *target;
    }
    if (status == DT_OK && !written) {
        status = new_term(self, labels.all.n, labels.all.labels, out);
        if (status == DT_OK)
            status = multiply_into(self, a, b, &labels, out, &written);
    }
    free_term(self, a);
    free_term(self, b);
    return status;
}

/* The contraction of a set of operands, in the order that was found. */
static dt_status contract_set(contracting *self, unsigned set, const term *target, term *out) {
    unsigned part = self->order.first[set];
    if (part == 0) {
        int i = 0;
        while (!(set >> i & 1))
            i++;
        *out = self->terms[i];
        self->terms[i].owned = false;
        return DT_OK;
    }
    term a = {0}, b = {0};
    uint64_t kept = self->kept;
    for (int i = 0; i < DT__ORDER_LIMIT && i < self->of->n_operands; i++)
        kept |= set >> i & 1 ? 0 : self->terms[i].labels;
    dt_status status = contract_set(self, part, NULL, &a);
    if (status == DT_OK)
        status = contract_set(self, set & ~part, NULL, &b);
    if (status == DT_OK)
        return multiply(self, &a, &b, kept, target, out);
    free_term(self, &a);
    free_term(self, &b);
    return status;
}

/* Sums over the labels that only this operand has. */
static dt_status sum_alone(contracting *self, int i, uint64_t needed) {
    term *of = &self->terms[i], sums;
    order all = {0}, rest = {0};
    uint64_t dims = 0;
    for (int l = 0; l < self->of->n_labels; l++)
        if (of->labels >> l & 1) {
            bool stays = needed >> l & 1;
            dims |= stays ? 0 : (uint64_t)1 << all.n;
            all.labels[all.n++] = (unsigned char)l;
            if (stays)
                rest.labels[rest.n++] = (unsigned char)l;
        }
    if (dims == 0)
        return DT_OK;
    DT__TRY(new_term(self, rest.n, rest.labels, &sums));
    labeled from, to;
    array_of(self, of, &all, &from);
    array_of(self, &sums, &rest, &to);
    dt__reduce(dt__kernels_of(self->call->ctx), dt__pool_of(self->call->ctx),
               &(dt__reduction){DT__FOLD_SUM, dims, 0, &from.array, &to.array});
    *of = sums;
    return DT_OK;
}

/* Dims that share a label are a diagonal, and those of size 1 that are broadcast have none. */
static void read_terms(contracting *self) {
    for (int l = 0; l < self->of->n_labels; l++)
        self->sizes[l] = 1;
    for (int i = 0; i < self->of->n_operands; i++) {
        const dt_op_value *value = &self->call->inputs[i];
        const dt__labels *labels = &self->of->operands[i];
        term *out = &self->terms[i];
        *out = (term){.data = value->data};
        for (int d = 0; d < labels->n; d++) {
            if (value->global_shape[d] == 1 && self->of->sizes[labels->of[d]] != 1)
                continue;
            out->labels |= (uint64_t)1 << labels->of[d];
            out->strides[labels->of[d]] += value->strides[d];
            self->sizes[labels->of[d]] = value->shape[d];
        }
    }
}

static dt_status contract(contracting *self, const term *result) {
    const dt__contraction *of = self->of;
    const int n = of->n_operands < DT__ORDER_LIMIT ? of->n_operands : DT__ORDER_LIMIT;
    const uint64_t labels = dt__label_set(&of->result);
    for (int i = 0; i < of->n_operands; i++) {
        uint64_t needed = labels;
        for (int k = 0; k < of->n_operands; k++)
            needed |= k == i ? 0 : self->terms[k].labels;
        DT__TRY(sum_alone(self, i, needed));
    }
    for (int i = n; i < of->n_operands; i++)
        self->kept |= self->terms[i].labels;
    self->kept |= labels;
    term all, next;
    DT__TRY(contract_set(self, (1u << n) - 1, n == of->n_operands ? result : NULL, &all));
    for (int i = n; i < of->n_operands; i++) {
        uint64_t kept = labels;
        for (int k = i + 1; k < of->n_operands; k++)
            kept |= self->terms[k].labels;
        DT__TRY(multiply(self, &all, &self->terms[i], kept, i == of->n_operands - 1 ? result : NULL, &next));
        all = next;
    }
    if (all.data != result->data) {
        labeled from, to;
        order dims = {.n = of->result.n};
        memcpy(dims.labels, of->result.of, (size_t)dims.n);
        array_of(self, &all, &dims, &from);
        array_of(self, result, &dims, &to);
        dt__run_convert(self->call, &to.array, &from.array);
    }
    free_term(self, &all);
    return DT_OK;
}

dt_status dt__run_contraction(dt_op_call *call, const dt__contraction *of) {
    contracting self = {.call = call, .of = of, .dtype = call->outputs[0].dtype};
    term result = {.data = call->outputs[0].data, .labels = dt__label_set(&of->result)};
    read_terms(&self);
    for (int d = 0; d < of->result.n; d++)
        result.strides[of->result.of[d]] = call->outputs[0].strides[d];
    if (dt__elements(call->outputs[0].n_dims, call->outputs[0].shape) == 0)
        return DT_OK;
    dt__find_order(of, &self.order);
    dt_status status = contract(&self, &result);
    for (int i = 0; i < of->n_operands; i++)
        free_term(&self, &self.terms[i]);
    return status;
}
