/* SPDX-License-Identifier: Apache-2.0
 *
 * einsum, tensordot and inner: sums of products over labels (contraction.h). Each label is a factor: it may be
 * sharded in all tensors that have it, and makes a partial sum where the result lacks it. Gradients are such sums,
 * too.
 */
#include "ops/contraction.h"

#include "base/dtype.h"
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/ops.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct labeling {
    dt__read_labels *read;
} labeling;

int dt__new_label(const dt_op_call *call, dt__contraction *of) {
    if (of->n_labels < DT__MAX_LABELS)
        return of->n_labels++;
    (void)dt_op_refuse(call, DT_ERR_UNSUPPORTED, "expected at most %d different dims", DT__MAX_LABELS);
    return 0;
}

/* The labels of an equation: of letters, and of the dims of "...", counted from the right. */
typedef struct equation {
    const dt_op_call *call;
    dt__contraction *of;
    const char *text;                             /* of the term */
    int letters[128], ellipsis[DT_SPEC_MAX_DIMS]; /* label + 1; 0: none yet */
    int uses[DT__MAX_LABELS];                     /* how often operands have it */
    int n_ellipsis;
} equation;

static dt_status bad_equation(const equation *self, const char *why) {
    return dt_op_refuse(self->call, DT_ERR_VALUE, "equation '%s': %s", self->call->args[0].as.text, why);
}

static dt_status label_of(equation *self, int *of, bool is_result, int *out) {
    if (*of == 0) {
        if (is_result)
            return bad_equation(self, "the result has a letter that no operand has");
        *of = dt__new_label(self->call, self->of) + 1;
    }
    *out = *of - 1;
    return DT_OK;
}

static size_t term_length(const char *text) { return strcspn(text, ",-"); }

/* Counts letters and finds "...". */
static dt_status scan_term(const equation *self, int *n_letters, bool *has_dots) {
    size_t length = term_length(self->text);
    *n_letters = 0;
    *has_dots = false;
    for (size_t i = 0; i < length; i++) {
        char c = self->text[i];
        if (c == '.') {
            if (*has_dots || i + 2 >= length || self->text[i + 1] != '.' || self->text[i + 2] != '.')
                return bad_equation(self, "expected '...' at most once in a term");
            *has_dots = true;
            i += 2;
        } else if (isalpha((unsigned char)c))
            ++*n_letters;
        else if (c != ' ')
            return bad_equation(self, "expected letters, '...', ',' and '->'");
    }
    return DT_OK;
}

/* The labels of the dims of a term; "..." stands for n_dots of them. */
static dt_status read_term(equation *self, int n_dots, bool is_result, dt__labels *out) {
    size_t length = term_length(self->text);
    out->n = 0;
    for (size_t i = 0; i < length; i++) {
        int label = 0, n = self->text[i] == '.' ? n_dots : 1;
        if (self->text[i] == ' ')
            continue;
        for (int d = 0; d < n; d++) {
            int *of = self->text[i] == '.' ? &self->ellipsis[n_dots - 1 - d] : &self->letters[(int)self->text[i]];
            DT__TRY(label_of(self, of, is_result, &label));
            if (out->n == DT_SPEC_MAX_DIMS)
                return bad_equation(self, "a term has too many dims");
            self->uses[label] += !is_result;
            out->of[out->n++] = (unsigned char)label;
        }
        i += self->text[i] == '.' ? 2 : 0;
    }
    return DT_OK;
}

/* Without an arrow the result has the dims of "...", then the letters that occur once, in the order of characters. */
static void imply_result(equation *self) {
    dt__labels *result = &self->of->result;
    result->n = 0;
    for (int d = self->n_ellipsis - 1; d >= 0; d--)
        result->of[result->n++] = (unsigned char)(self->ellipsis[d] - 1);
    for (int c = 'A'; c <= 'z'; c++)
        if (self->letters[c] && self->uses[self->letters[c] - 1] == 1)
            result->of[result->n++] = (unsigned char)(self->letters[c] - 1);
}

static dt_status read_result(equation *self) {
    int n_letters;
    bool has_dots;
    if (*self->text == 0) {
        imply_result(self);
        return DT_OK;
    }
    if (strncmp(self->text, "->", 2) != 0 || strpbrk(self->text + 2, ",-"))
        return bad_equation(self, "expected '->' and one term after the operands");
    self->text += 2;
    DT__TRY(scan_term(self, &n_letters, &has_dots));
    DT__TRY(read_term(self, self->n_ellipsis, true, &self->of->result));
    uint64_t seen = 0;
    for (int d = 0; d < self->of->result.n; d++) {
        uint64_t bit = (uint64_t)1 << self->of->result.of[d];
        if (seen & bit)
            return bad_equation(self, "the result has a letter twice");
        seen |= bit;
    }
    return DT_OK;
}

static dt_status read_equation(const dt_op_call *call, dt__contraction *out) {
    equation self = {.call = call, .of = out, .text = call->args[0].as.text};
    for (int i = 0; i < call->n_inputs; i++) {
        int n_letters, n_dots;
        bool has_dots;
        if (i > 0 && *self.text != ',')
            return bad_equation(&self, "expected a term for each operand");
        self.text += i > 0;
        DT__TRY(scan_term(&self, &n_letters, &has_dots));
        n_dots = call->inputs[i].n_dims - n_letters;
        if (n_dots < 0 || (n_dots > 0 && !has_dots))
            return dt_op_refuse(call, DT_ERR_SHAPE, "operand %d: expected %d dims, as its term has, got %d", i + 1,
                                n_letters, call->inputs[i].n_dims);
        DT__TRY(read_term(&self, n_dots, false, &out->operands[i]));
        if (n_dots > self.n_ellipsis)
            self.n_ellipsis = n_dots;
        self.text += term_length(self.text);
    }
    if (*self.text == ',')
        return bad_equation(&self, "it has more terms than there are operands");
    return read_result(&self);
}

/* The first tensor's dims, then those of the second that are not summed. */
static dt_status read_tensordot(const dt_op_call *call, dt__contraction *out) {
    const dt_arg *dims[2] = {&call->args[2], &call->args[3]};
    int label_of_dim[DT_SPEC_MAX_DIMS];
    uint32_t summed[2];
    if (dims[0]->n != dims[1]->n)
        return dt_op_refuse(call, DT_ERR_VALUE, "dims_self and dims_other differ in length: %d and %d", dims[0]->n,
                            dims[1]->n);
    for (int i = 0; i < 2; i++) {
        summed[i] = 0;
        if (dims[i]->n)
            DT__TRY(dt__read_dims(call, dims[i], call->inputs[i].n_dims, &summed[i]));
        out->operands[i].n = call->inputs[i].n_dims;
    }
    for (int d = 0; d < call->inputs[1].n_dims; d++)
        label_of_dim[d] = -1;
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        out->operands[0].of[d] = (unsigned char)dt__new_label(call, out);
    for (int i = 0; i < dims[0]->n; i++)
        label_of_dim[dt__wrap_dim(dims[1]->as.ints[i], call->inputs[1].n_dims)] =
            out->operands[0].of[dt__wrap_dim(dims[0]->as.ints[i], call->inputs[0].n_dims)];
    for (int d = 0; d < call->inputs[1].n_dims; d++)
        out->operands[1].of[d] = (unsigned char)(label_of_dim[d] >= 0 ? label_of_dim[d] : dt__new_label(call, out));
    for (int i = 0; i < 2; i++)
        for (int d = 0; d < call->inputs[i].n_dims; d++)
            if (!(summed[i] >> d & 1) && out->result.n < DT_SPEC_MAX_DIMS)
                out->result.of[out->result.n++] = out->operands[i].of[d];
    return DT_OK;
}

/* The last dims are summed; a tensor without dims is a factor. */
static dt_status read_inner(const dt_op_call *call, dt__contraction *out) {
    bool sums = call->inputs[0].n_dims && call->inputs[1].n_dims;
    int shared = sums ? dt__new_label(call, out) : -1;
    for (int i = 0; i < 2; i++) {
        int n = out->operands[i].n = call->inputs[i].n_dims;
        for (int d = 0; d < n; d++) {
            bool last = sums && d == n - 1;
            out->operands[i].of[d] = (unsigned char)(last ? shared : dt__new_label(call, out));
            if (!last && out->result.n < DT_SPEC_MAX_DIMS)
                out->result.of[out->result.n++] = out->operands[i].of[d];
        }
    }
    return DT_OK;
}

/* The labels of a call, and their sizes: dims of size 1 are broadcast. */
static dt_status read_contraction(const dt_op_call *call, dt__contraction *out) {
    const labeling *op = call->op->family;
    *out = (dt__contraction){.n_operands = call->n_inputs};
    if (call->n_inputs < 1 || call->n_inputs > DT__MAX_OPERANDS)
        return dt_op_refuse(call, DT_ERR_VALUE, "expected 1 to %d operands, got %d", DT__MAX_OPERANDS,
                            call->n_inputs);
    DT__TRY(op->read(call, out));
    for (int l = 0; l < out->n_labels; l++)
        out->sizes[l] = 1;
    for (int i = 0; i < call->n_inputs; i++)
        for (int d = 0; d < out->operands[i].n; d++) {
            int64_t size = call->inputs[i].shape[d], *of = &out->sizes[out->operands[i].of[d]];
            if (size != 1 && *of != 1 && size != *of)
                return dt_op_refuse(call, DT_ERR_SHAPE,
                                    "dim %d of operand %d: expected size %" PRId64 ", as another operand has, got "
                                    "%" PRId64,
                                    d, i + 1, *of, size);
            *of = size == 1 ? *of : size;
        }
    return dt_failed(call->ctx) && out->n_labels == DT__MAX_LABELS ? dt_error_status(call->ctx) : DT_OK;
}

static dt_status shape_contraction(dt_op_call *call) {
    dt__contraction of;
    dt__shape shape = {0};
    DT__TRY(read_contraction(call, &of));
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i].dtype != call->inputs[0].dtype || call->inputs[i].dtype == DT_BOOL)
            return dt_op_refuse(call, DT_ERR_DTYPE,
                                "expected numbers of one dtype, got %s and %s; convert with dt_to",
                                dt_dtype_name(call->inputs[0].dtype), dt_dtype_name(call->inputs[i].dtype));
    for (int d = 0; d < of.result.n; d++)
        shape.sizes[shape.n++] = of.sizes[of.result.of[d]];
    return dt__add_made(call, call->inputs[0].dtype, shape.n, shape.sizes);
}

/* The only dim with a label; -1: none or several, or it is broadcast. */
static int dim_of_label(const dt_op_call *call, const dt__contraction *of, int i, int label, bool *repeats) {
    int found = -1, n = 0;
    for (int d = 0; d < of->operands[i].n; d++)
        if (of->operands[i].of[d] == label) {
            found = call->inputs[i].shape[d] == of->sizes[label] ? d : -1;
            n++;
        }
    *repeats = *repeats || n > 1;
    return found;
}

static void rows_contraction(const dt_op_call *call, dt_rows *rows) {
    dt__contraction of;
    if (read_contraction(call, &of) != DT_OK)
        return;
    uint64_t summed = 0, result = dt__label_set(&of.result);
    for (int i = 0; i < of.n_operands; i++)
        summed |= dt__label_set(&of.operands[i]) & ~result;
    for (int l = 0; l < of.n_labels; l++) {
        dt_row_entry entries[DT__MAX_OPERANDS + 1] = {0};
        bool repeats = false;
        for (int i = 0; i < of.n_operands; i++) {
            int d = dim_of_label(call, &of, i, l, &repeats);
            entries[i] = d < 0 ? DT_ROW_R : DT_ROW_S(d);
        }
        entries[of.n_operands] = DT_ROW_P(DT_SUM);
        for (int d = 0; d < of.result.n; d++)
            if (of.result.of[d] == l)
                entries[of.n_operands] = DT_ROW_S(d);
        /* of several products, sums of infinite parts need not be those of the whole: pairs have such rows */
        if (!repeats && (result >> l & 1 || of.n_operands < 3))
            dt_rows_add(rows, 0, entries);
    }
    dt_rows_partial(rows, of.n_operands > 1 ? DT_PARTIAL_EACH | (summed ? 0 : DT_PARTIAL_PRODUCT)
                          : summed          ? DT_PARTIAL_LINEAR
                                            : DT_PARTIAL_ANY);
}

/* Labels, sizes and so the order of products are those of the global tensors. */
static dt_status run_contraction(dt_op_call *call) {
    dt__contraction of;
    dt_op_value inputs[DT__MAX_OPERANDS];
    dt_op_call global = *call;
    for (int i = 0; i < call->n_inputs; i++) {
        inputs[i] = call->inputs[i];
        inputs[i].shape = inputs[i].global_shape;
    }
    global.inputs = inputs;
    DT__TRY(read_contraction(&global, &of));
    return dt__run_contraction(call, &of);
}

static dt_status decompose_contraction(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt__contraction of;
    DT__TRY(read_contraction(call, &of));
    if (of.n_operands < 3 || of.n_labels > 52)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "expected at least 3 operands");
    outputs[0] = dt__contract_by_pairs(&of, inputs);
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

/* The gradient of one operand, as an einsum of that of the result and the other operands. */
typedef struct operand_gradient {
    const dt_op_backward *call;
    const dt__contraction *of;
    int operand;
    uint64_t available;                                         /* labels of the other tensors */
    char text[(DT__MAX_OPERANDS + 1) * (DT_SPEC_MAX_DIMS + 2)]; /* equation */
    int length;
} operand_gradient;

static void write_term(operand_gradient *self, const dt__labels *labels, char end) {
    self->length += dt__write_labels(labels, end, self->text + self->length);
}

/* The dims of the operand whose labels are new, not broadcast, and perhaps among the other tensors. */
static int first_dims(const operand_gradient *self, uint64_t among, int *dims) {
    const dt__labels *labels = &self->of->operands[self->operand];
    const dt_op_value *value = &self->call->call->inputs[self->operand];
    uint64_t seen = 0;
    int n = 0;
    for (int d = 0; d < labels->n; d++) {
        uint64_t bit = (uint64_t)1 << labels->of[d];
        bool broadcast = value->shape[d] == 1 && self->of->sizes[labels->of[d]] != 1;
        if (!(seen & bit) && !broadcast && (among & bit))
            dims[n++] = d;
        seen |= bit;
    }
    return n;
}

static dt_tensor *contract_others(operand_gradient *self) {
    dt_tensor *tensors[DT__MAX_OPERANDS + 1] = {self->call->grads[0]};
    int dims[DT_SPEC_MAX_DIMS], n = 1;
    write_term(self, &self->of->result, ',');
    for (int i = 0; i < self->of->n_operands; i++)
        if (i != self->operand) {
            tensors[n++] = dt__conjugate(self->call->inputs[i]);
            write_term(self, &self->of->operands[i], ',');
        }
    self->length--;
    self->text[self->length++] = '-';
    self->text[self->length++] = '>';
    dt__labels found = {.n = first_dims(self, self->available, dims)};
    for (int d = 0; d < found.n; d++)
        found.of[d] = self->of->operands[self->operand].of[dims[d]];
    write_term(self, &found, 0);
    dt_tensors list = {n, tensors};
    return dt_einsum(self->text, list);
}

/* Repeats the gradient along dims that were summed alone, and along those of size 1. */
static dt_tensor *repeat_summed(const operand_gradient *self, dt_tensor *grad) {
    const dt__labels *labels = &self->of->operands[self->operand];
    const dt_op_value *value = &self->call->call->inputs[self->operand];
    int64_t kept[DT_SPEC_MAX_DIMS], sizes[DT_SPEC_MAX_DIMS];
    uint64_t seen = 0;
    int n = 0;
    for (int d = 0; d < labels->n; d++) {
        uint64_t bit = (uint64_t)1 << labels->of[d];
        if (seen & bit)
            continue;
        seen |= bit;
        kept[n] = self->available & bit ? value->shape[d] : 1;
        sizes[n++] = value->shape[d];
    }
    dt_tensor *apart = grad ? dt_reshape(grad, ((dt_shape){n, kept})) : NULL;
    return apart ? dt_expand(apart, ((dt_shape){n, sizes})) : NULL;
}

/* Puts a gradient on the diagonals of dims that share a label, one of them after the other. */
static dt_tensor *embed_diagonals(const operand_gradient *self, dt_tensor *grad) {
    const dt__labels *labels = &self->of->operands[self->operand];
    const dt_op_value *value = &self->call->call->inputs[self->operand];
    bool present[DT_SPEC_MAX_DIMS] = {false};
    int first[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < labels->n; d++) {
        first[d] = d;
        for (int e = d - 1; e >= 0; e--)
            first[d] = labels->of[e] == labels->of[d] ? e : first[d];
        present[d] = first[d] == d;
    }
    for (int d = 0; d < labels->n && grad; d++) {
        int64_t order[DT_SPEC_MAX_DIMS], sizes[DT_SPEC_MAX_DIMS];
        int n = 0, at = 0, dim1 = 0, dim2 = 0, n_others = 0;
        if (first[d] == d)
            continue;
        for (int e = 0; e < labels->n; e++)
            if (present[e]) {
                if (e != first[d])
                    order[n_others++] = n;
                else
                    at = n;
                n++;
            }
        order[n_others] = at;
        dt_dims dims = {.n = n, .list = order};
        grad = dt_permute(grad, dims);
        present[d] = true;
        n = 0;
        for (int e = 0; e < labels->n; e++)
            if (present[e]) {
                dim1 = e == first[d] ? n : dim1;
                dim2 = e == d ? n : dim2;
                sizes[n++] = value->shape[e];
            }
        grad = grad ? dt_diagonal_backward(grad, ((dt_shape){n, sizes}), 0, dim1, dim2) : NULL;
    }
    return grad;
}

static dt_status backward_contraction(const dt_op_backward *call, dt_tensor **input_grads) {
    dt__contraction of;
    DT__TRY(read_contraction(call->call, &of));
    if (of.n_labels > 52)
        return dt_op_refuse(call->call, DT_ERR_UNSUPPORTED, "the gradient of more than 52 different dims");
    for (int i = 0; i < of.n_operands; i++) {
        operand_gradient self = {.call = call, .of = &of, .operand = i, .available = dt__label_set(&of.result)};
        if (!call->needed[i])
            continue;
        for (int k = 0; k < of.n_operands; k++)
            self.available |= k == i ? 0 : dt__label_set(&of.operands[k]);
        input_grads[i] = embed_diagonals(&self, repeat_summed(&self, contract_others(&self)));
        if (!input_grads[i])
            return dt_error_status(call->call->ctx);
    }
    return DT_OK;
}

#define CONTRACTION(read_)                                                                                           \
    .shape = shape_contraction, .rows = rows_contraction, .kernel = run_contraction,                                 \
    .backward = backward_contraction, .family = &(const labeling) {                                                  \
        read_                                                                                                        \
    }

const dt_op dt__op_einsum = {
    .schema = "einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
    .summary = "Sums of products by labels of dims, such as \"bij,bjk->bik\", in the cheapest order.",
    CONTRACTION(read_equation),
    .decompose = decompose_contraction,
    .saves = "tensors",
    .unused = "path",
    .samples = "einsum(\"ij,jk->ik\"; {f32[5,3]; f32[3,4]})\neinsum(\"bij,bkj->bki\"; {f32[2,5,3]; f32[2,4,3]})\n"
               "einsum(\"ij->j\"; {f32[5,3]})\neinsum(\"ij->ji\"; {f32[5,3]})\neinsum(\"iij->j\"; {f32[3,3,5]})\n"
               "einsum(\"i,j->ij\"; {f32[5]; f32[3]})\neinsum(\"...i,i\"; {f32[2,3]; f32[3]})\n"
               "einsum(\"ij,jk,kl->il\"; {f32[5,3]; f32[3,4]; f32[4,2]})\neinsum(\"ij,ij->\"; {i32[5,3]; i32[5,1]})",
};
const dt_op dt__op_tensordot = {
    .schema = "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
    .summary = "Sums of products over pairs of dims of two tensors.",
    CONTRACTION(read_tensordot),
    .saves = "self,other",
    .samples = "tensordot(f32[5,3]; f32[3,4]; [1]; [0])\ntensordot(f32[2,5,3]; f32[3,4,2]; [0,2]; [2,0])\n"
               "tensordot(f32[5]; f32[3]; []; [])",
};
const dt_op dt__op_inner = {
    .schema = "inner(Tensor self, Tensor other) -> Tensor",
    .summary = "Sums of products over the last dims of two tensors.",
    CONTRACTION(read_inner),
    .saves = "self,other",
    .samples = "inner(f32[5,3]; f32[4,3])\ninner(f32[3]; f32[2,4,3])\ninner(f32[]; f32[3])",
};
