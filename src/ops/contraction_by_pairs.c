/* SPDX-License-Identifier: Apache-2.0
 *
 * A sum of products of several tensors as products of two, each an einsum of its own, in the cheapest order. Each of
 * them has its own placements, so that partial results move instead of operands if they are smaller.
 */
#include "dtensor/ops.h"
#include "ops/contraction.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

int dt__write_labels(const dt__labels *labels, char end, char *out) {
    for (int d = 0; d < labels->n; d++)
        out[d] = letters[labels->of[d]];
    out[labels->n] = end;
    return labels->n + 1;
}

/* A tensor and the labels of its dims. */
typedef struct part {
    dt_tensor *tensor;
    dt__labels labels;
} part;

/* The product of two. Its result keeps the labels that are needed later; the last product is the result. */
static part multiply(const dt__contraction *of, const part *a, const part *b, uint64_t kept, bool is_last) {
    char text[3 * (DT_SPEC_MAX_DIMS + 2)];
    part out = {.labels = of->result};
    uint64_t seen = 0;
    if (!is_last) {
        out.labels.n = 0;
        for (int i = 0; i < 2; i++) {
            const dt__labels *from = i ? &b->labels : &a->labels;
            for (int d = 0; d < from->n && out.labels.n < DT_SPEC_MAX_DIMS; d++) {
                uint64_t bit = (uint64_t)1 << from->of[d];
                if (kept & bit & ~seen)
                    out.labels.of[out.labels.n++] = from->of[d];
                seen |= bit;
            }
        }
    }
    int n = dt__write_labels(&a->labels, ',', text);
    n += dt__write_labels(&b->labels, '-', text + n);
    text[n++] = '>';
    dt__write_labels(&out.labels, 0, text + n);
    out.tensor = a->tensor && b->tensor ? dt_einsum(text, DT_TENSORS(a->tensor, b->tensor)) : NULL;
    return out;
}

static part contract_set(const dt__contraction *of, const dt__contraction_order *order, unsigned set, uint64_t later,
                         dt_tensor *const *inputs, bool is_last) {
    unsigned first = order->first[set];
    int i = 0;
    while (!(set >> i & 1))
        i++;
    if (first == 0)
        return (part){inputs[i], of->operands[i]};
    uint64_t kept = later;
    for (int k = 0; k < of->n_operands && k < DT__ORDER_LIMIT; k++)
        kept |= set >> k & 1 ? 0 : dt__label_set(&of->operands[k]);
    part a = contract_set(of, order, first, later, inputs, false);
    part b = contract_set(of, order, set & ~first, later, inputs, false);
    return multiply(of, &a, &b, kept, is_last);
}

dt_tensor *dt__contract_by_pairs(const dt__contraction *of, dt_tensor *const *inputs) {
    const int n = of->n_operands < DT__ORDER_LIMIT ? of->n_operands : DT__ORDER_LIMIT;
    dt__contraction_order order;
    uint64_t later = dt__label_set(&of->result);
    for (int i = n; i < of->n_operands; i++)
        later |= dt__label_set(&of->operands[i]);
    dt__find_order(of, &order);
    part all = contract_set(of, &order, (1u << n) - 1, later, inputs, n == of->n_operands);
    for (int i = n; i < of->n_operands; i++) {
        part next = {inputs[i], of->operands[i]};
        uint64_t kept = dt__label_set(&of->result);
        for (int k = i + 1; k < of->n_operands; k++)
            kept |= dt__label_set(&of->operands[k]);
        all = multiply(of, &all, &next, kept, i == of->n_operands - 1);
    }
    return all.tensor;
}
