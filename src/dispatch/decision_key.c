/* SPDX-License-Identifier: Apache-2.0
 *
 * The key of a call: calls with equal keys have the same decision. First the op with its overload and the number of
 * tensors, then the types of the arguments, sixteen to a word, which determine the number of further words. Then the
 * values of the arguments that the decision depends on; of scalars that vary from call to call only the class is in
 * the key (dt_op.class_of). Then the tensors: the id of a spec, or dtype and shape of a plain one.
 */
#include "dispatch/dispatch_state.h"

#include <string.h>

enum { TYPE_BITS = 4, TYPES_PER_WORD = 64 / TYPE_BITS };
_Static_assert(DT_N_ARG_TYPES <= 1 << TYPE_BITS, "an argument type fits TYPE_BITS");
_Static_assert(1 + DT__MAX_ARGS / TYPES_PER_WORD < DT__KEY_WORDS, "every key has space for its types");

/* Each of these writes at `at` and returns the position after it; NULL: the key is full. */
static uint64_t *put_bytes(uint64_t *at, const uint64_t *end, const void *bytes, size_t n) {
    size_t n_words = (n + sizeof *at - 1) / sizeof *at;
    if ((size_t)(end - at) < n_words + 1)
        return NULL;
    *at = n;
    if (n_words)
        at[n_words] = 0; /* the last word may be partly filled */
    memcpy(at + 1, bytes, n);
    return at + 1 + n_words;
}

static inline uint64_t *put(uint64_t *at, const uint64_t *end, uint64_t word) {
    if (at == end)
        return NULL;
    *at = word;
    return at + 1;
}

static uint64_t *put_value(uint64_t *at, const uint64_t *end, const dt_arg *arg) {
    switch (arg->type) {
    case DT_ARG_INT:
        return put(at, end, (uint64_t)arg->as.i);
    case DT_ARG_BOOL:
        return put(at, end, arg->as.b);
    case DT_ARG_DTYPE:
        return put(at, end, (uint64_t)arg->as.dtype);
    case DT_ARG_TENSORS:
        at = put(at, end, (uint64_t)(uint32_t)arg->n << 1 | (arg->as.tensors.members != NULL));
        if (at && arg->as.tensors.members)
            at = put_bytes(at, end, arg->as.tensors.members, (size_t)arg->n * sizeof *arg->as.tensors.members);
        return at;
    case DT_ARG_FLOAT:
        return put_bytes(at, end, &arg->as.f, sizeof arg->as.f);
    case DT_ARG_COMPLEX:
        return put_bytes(at, end, arg->as.c, sizeof arg->as.c);
    case DT_ARG_INTS:
        return put_bytes(at, end, arg->as.ints, (size_t)arg->n * sizeof *arg->as.ints);
    case DT_ARG_FLOATS:
        return put_bytes(at, end, arg->as.floats, (size_t)arg->n * sizeof *arg->as.floats);
    case DT_ARG_TEXT:
        return put_bytes(at, end, arg->as.text, strlen(arg->as.text));
    default: /* none; or a tensor, whose index among the inputs follows from the types before it */
        return at;
    }
}

/* Types and values. The types of DT__MAX_ARGS arguments always fit. */
static inline uint64_t *put_args(uint64_t *at, const uint64_t *end, const dt__signature *signature,
                                 const dt_arg *args) {
    uint64_t types[DT__MAX_ARGS / TYPES_PER_WORD] = {0}, with_value = 0;
    int n = signature->n_params;
    for (int i = 0; i < n; i++) {
        types[i / TYPES_PER_WORD] |= (uint64_t)args[i].type << i % TYPES_PER_WORD * TYPE_BITS;
        with_value |= (uint64_t)(args[i].type > DT_ARG_TENSOR) << i;
    }
    for (int i = 0; i < n; i += TYPES_PER_WORD)
        *at++ = types[i / TYPES_PER_WORD];
    for (with_value &= ~(uint64_t)signature->varying; with_value && at; with_value &= with_value - 1)
        at = put_value(at, end, &args[__builtin_ctzll(with_value)]);
    return at;
}

static inline uint64_t *put_inputs(uint64_t *at, const uint64_t *end, int n, dt_tensor *const *inputs) {
    for (int i = 0; i < n; i++) {
        const dt_tensor *tensor = inputs[i];
        bool plain = !tensor->spec;
        if (end - at < (plain ? 1 + tensor->n_dims : 1))
            return NULL;
        *at++ = plain ? ((uint64_t)tensor->dtype << 8 | (uint64_t)tensor->n_dims) << 1 : tensor->spec->id << 1 | 1;
        for (int d = 0; plain && d < tensor->n_dims; d++)
            *at++ = (uint64_t)tensor->shape[d];
    }
    return at;
}

void dt__decision_key_of(const dt__call *call, bool replicates, dt__decision_key *out) {
    const dt__op_info *info = call->info;
    uint64_t *at = out->words, *end = at + DT__KEY_WORDS;
    *at++ = (uint64_t)(uint32_t)info->index | (uint64_t)call->overload << 32 | (uint64_t)call->n_inputs << 48 |
            (uint64_t)replicates << 63;
    at = put_args(at, end, &info->schema.signatures[call->overload], call->args);
    if (at && info->op->class_of)
        at = put(at, end, (uint64_t)(int64_t)info->op->class_of(&call->op_call));
    if (at)
        at = put_inputs(at, end, call->n_inputs, call->inputs);
    out->too_long = !at;
    out->n_words = at ? (int)(at - out->words) : 0;
    uint64_t hash = (uint64_t)out->n_words;
    for (int i = 0; i < out->n_words; i++)
        hash = ((hash << 23 | hash >> 41) ^ out->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    out->hash = hash ^ hash >> 32;
}
