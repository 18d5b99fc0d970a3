/* SPDX-License-Identifier: Apache-2.0
 *
 * The key of a call: words that are equal exactly where the decision is. First the op with its signature and the number
 * of tensors, then the types of the arguments, sixteen to a word; these say how many words follow. Then the values of
 * the arguments that decide something; of scalars that vary from call to call only the class that the op gives them.
 * Then the tensors: the id of a spec, or dtype and shape of a plain one.
 */
#include "dispatch/state.h"

#include <string.h>

enum { TYPE_BITS = 4, TYPES_PER_WORD = 64 / TYPE_BITS };
_Static_assert(DT_N_ARG_TYPES <= 1 << TYPE_BITS, "types of arguments fit");

/* Where the next word goes. */
typedef struct words {
    uint64_t *at, *end;
    bool too_long;
} words;

static inline void put(words *to, uint64_t word) {
    if (to->at < to->end)
        *to->at++ = word;
    else
        to->too_long = true;
}

static void put_bytes(words *to, const void *bytes, size_t n) {
    const char *from = bytes;
    put(to, n);
    for (size_t at = 0; at < n && !to->too_long; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, from + at, n - at < sizeof word ? n - at : sizeof word);
        put(to, word);
    }
}

static void put_value(words *to, const dt_arg *arg) {
    switch (arg->type) {
    case DT_ARG_INT:
        put(to, (uint64_t)arg->as.i);
        break;
    case DT_ARG_BOOL:
        put(to, arg->as.b);
        break;
    case DT_ARG_DTYPE:
        put(to, (uint64_t)arg->as.dtype);
        break;
    case DT_ARG_TENSORS:
        put(to, (uint64_t)(uint32_t)arg->n);
        break;
    case DT_ARG_FLOAT:
        put_bytes(to, &arg->as.f, sizeof arg->as.f);
        break;
    case DT_ARG_COMPLEX:
        put_bytes(to, arg->as.c, sizeof arg->as.c);
        break;
    case DT_ARG_INTS:
        put_bytes(to, arg->as.ints, (size_t)arg->n * sizeof *arg->as.ints);
        break;
    case DT_ARG_FLOATS:
        put_bytes(to, arg->as.floats, (size_t)arg->n * sizeof *arg->as.floats);
        break;
    case DT_ARG_TEXT:
        put_bytes(to, arg->as.text, strlen(arg->as.text));
        break;
    default: /* none; a tensor, whose place follows from the types before it */
        break;
    }
}

static inline void put_args(words *to, const dt__signature *signature, const dt_arg *args) {
    uint64_t types = 0, valued = 0;
    int n = signature->n_params;
    for (int i = 0; i < n; i++) {
        dt_arg_type type = args[i].type;
        types |= (uint64_t)type << i % TYPES_PER_WORD * TYPE_BITS;
        valued |= (uint64_t)(type > DT_ARG_TENSOR) << i;
        if (i % TYPES_PER_WORD == TYPES_PER_WORD - 1) {
            put(to, types);
            types = 0;
        }
    }
    put(to, types);
    for (valued &= ~(uint64_t)signature->varying; valued; valued &= valued - 1)
        put_value(to, &args[__builtin_ctzll(valued)]);
}

static inline void put_input(words *to, const dt_tensor *tensor) {
    if (tensor->spec) {
        put(to, tensor->spec->id << 1 | 1);
        return;
    }
    put(to, ((uint64_t)tensor->dtype << 8 | (uint64_t)tensor->n_dims) << 1);
    for (int d = 0; d < tensor->n_dims; d++)
        put(to, (uint64_t)tensor->shape[d]);
}

static inline uint64_t hash_words(int n, const uint64_t *each) {
    uint64_t hash = (uint64_t)n;
    for (int i = 0; i < n; i++)
        hash = ((hash << 23 | hash >> 41) ^ each[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

void dt__key_of(const dt__invocation *call, const dt_op_call *asked, bool replicates, dt__key *out) {
    words to = {out->words, out->words + DT__KEY_WORDS, false};
    put(&to, (uint64_t)(uint32_t)call->info->index | (uint64_t)call->overload << 32 | (uint64_t)call->n_inputs << 48 |
                 (uint64_t)replicates << 63);
    put_args(&to, &call->info->schema.signatures[call->overload], call->args);
    if (call->info->op->class_of)
        put(&to, (uint64_t)(int64_t)call->info->op->class_of(asked));
    for (int i = 0; i < call->n_inputs; i++)
        put_input(&to, call->inputs[i]);
    out->n_words = (int)(to.at - out->words);
    out->too_long = to.too_long;
    out->hash = hash_words(out->n_words, out->words);
}
