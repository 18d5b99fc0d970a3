/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of products over labels: einsum, tensordot and inner. Every dim of an operand has a label; dims with one label
 * run together, and those whose label the result lacks are summed.
 */
#ifndef DT_OPS_CONTRACTION_H
#define DT_OPS_CONTRACTION_H

#include "ops/kernel_support.h"

enum { DT__MAX_LABELS = 64, DT__MAX_OPERANDS = 24 };

/* The labels of one tensor, by dim. */
typedef struct dt__labels {
    int n;
    unsigned char of[DT_SPEC_MAX_DIMS];
} dt__labels;

typedef struct dt__contraction {
    int n_operands, n_labels;
    dt__labels operands[DT__MAX_OPERANDS], result;
    int64_t sizes[DT__MAX_LABELS]; /* of the global tensors */
} dt__contraction;

/* Reads the labels of an op; refuses anything but a sum of products. */
typedef dt_status dt__read_labels(const dt_op_call *call, dt__contraction *out);

static inline uint64_t dt__label_set(const dt__labels *labels) {
    uint64_t set = 0;
    for (int d = 0; d < labels->n; d++)
        set |= (uint64_t)1 << labels->of[d];
    return set;
}

/* Adds a label; 0 after a refusal. */
int dt__new_label(const dt_op_call *call, dt__contraction *of);

/* contraction_order.c: the cheapest order of products of two, by multiplications: for each set of operands (by bits)
 * with at least two members, the part of it that is contracted first. Operands beyond ORDER_LIMIT follow one by one. */
enum { DT__ORDER_LIMIT = 10 };
typedef struct dt__contraction_order {
    unsigned first[1 << DT__ORDER_LIMIT];
} dt__contraction_order;
void dt__find_order(const dt__contraction *of, dt__contraction_order *out);

/* contraction_kernel.c: the result of local operands. */
dt_status dt__run_contraction(dt_op_call *call, const dt__contraction *of);

/* contraction_by_pairs.c: labels as letters of an equation, then a character; returns how many were written. */
int dt__write_labels(const dt__labels *labels, char end, char *out);
/* The result, by einsums of two operands; at most 52 labels. NULL after an error. */
dt_tensor *dt__contract_by_pairs(const dt__contraction *of, dt_tensor *const *inputs);

#endif
