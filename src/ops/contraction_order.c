/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of the multiplications in a sum of products: of all orders of products of two, the one with
 * the fewest multiplications, found set by set (the best order of a set consists of best orders of its parts).
 */
#include "ops/contraction.h"

static double multiplications(const dt__contraction *of, uint64_t labels) {
    double n = 1;
    for (int l = 0; l < of->n_labels; l++)
        if (labels >> l & 1)
            n *= (double)of->sizes[l];
    return n;
}

void dt__find_order(const dt__contraction *of, dt__contraction_order *out) {
    enum { SETS = 1 << DT__ORDER_LIMIT };
    const int n = of->n_operands < DT__ORDER_LIMIT ? of->n_operands : DT__ORDER_LIMIT;
    double costs[SETS];
    uint64_t labels[SETS], result = dt__label_set(&of->result);
    for (int i = n; i < of->n_operands; i++)
        result |= dt__label_set(&of->operands[i]); /* they are needed later */
    for (unsigned set = 1; set < 1u << n; set++) {
        uint64_t inside = 0, outside = result;
        for (int i = 0; i < n; i++)
            *(set >> i & 1 ? &inside : &outside) |= dt__label_set(&of->operands[i]);
        labels[set] = (set & (set - 1)) == 0 ? inside : inside & outside;
        costs[set] = 0;
        out->first[set] = 0;
        for (unsigned part = (set - 1) & set; part > 0; part = (part - 1) & set) {
            double cost = costs[part] + costs[set & ~part] + multiplications(of, labels[part] | labels[set & ~part]);
            if (out->first[set] == 0 || cost < costs[set]) {
                costs[set] = cost;
                out->first[set] = part;
            }
        }
    }
}
