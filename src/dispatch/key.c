/* SPDX-License-Identifier: Apache-2.0
 *
 * The key of a call: words that are equal exactly where the decision is. Scalars that vary from call to call put in
 * their type only, and a class where the op has one.
 */
#include "dispatch/state.h"

#include <string.h>

static inline void put(dt__key *key, uint64_t word) {
    if (key->n_words < DT__KEY_WORDS)
        key->words[key->n_words++] = word;
    else
        key->too_long = true;
}

static void put_bytes(dt__key *key, const void *bytes, size_t n) {
    const char *from = bytes;
    for (size_t at = 0; at < n; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, from + at, n - at < sizeof word ? n - at : sizeof word);
        put(key, word);
    }
}

static void put_arg(dt__key *key, const dt_arg *arg, bool varies) {
    put(key, (uint64_t)arg->type | (uint64_t)(uint32_t)arg->n << 8);
    if (varies)
        return;
    switch (arg->type) {
    case DT_ARG_TENSOR:
    case DT_ARG_TENSORS:
        put(key, (uint64_t)(uint32_t)arg->as.first);
        break;
    case DT_ARG_INT:
        put(key, (uint64_t)arg->as.i);
        break;
    case DT_ARG_BOOL:
        put(key, arg->as.b);
        break;
    case DT_ARG_DTYPE:
        put(key, (uint64_t)arg->as.dtype);
        break;
    case DT_ARG_FLOAT:
        put_bytes(key, &arg->as.f, sizeof arg->as.f);
        break;
    case DT_ARG_COMPLEX:
        put_bytes(key, arg->as.c, sizeof arg->as.c);
        break;
    case DT_ARG_INTS:
        put_bytes(key, arg->as.ints, (size_t)arg->n * sizeof *arg->as.ints);
        break;
    case DT_ARG_FLOATS:
        put_bytes(key, arg->as.floats, (size_t)arg->n * sizeof *arg->as.floats);
        break;
    case DT_ARG_TEXT:
        put(key, strlen(arg->as.text));
        put_bytes(key, arg->as.text, strlen(arg->as.text));
        break;
    default:
        break;
    }
}

/* The number that stands for what the op's rule looks at among the scalars. */
static int class_of(dt_ctx *ctx, const dt__invocation *call) {
    dt_op_value values[DT__MAX_INPUTS];
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_tensor *tensor = call->inputs[i];
        values[i] = (dt_op_value){.dtype = tensor->dtype, .n_dims = tensor->n_dims, .shape = tensor->shape};
    }
    dt_op_call asked = dt__call_new(ctx, call->info, call->overload, call->args, call->n_inputs, values);
    return call->info->op->class_of(&asked);
}

static void put_input(dt__key *key, const dt_tensor *tensor) {
    if (tensor->spec) {
        put(key, tensor->spec->id << 1 | 1);
        return;
    }
    put(key, ((uint64_t)tensor->dtype << 8 | (uint64_t)tensor->n_dims) << 1);
    for (int d = 0; d < tensor->n_dims; d++)
        put(key, (uint64_t)tensor->shape[d]);
}

static uint64_t hash_words(int n, const uint64_t *words) {
    uint64_t hash = (uint64_t)n * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < n; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash;
}

void dt__key_of(dt_ctx *ctx, const dt__invocation *call, dt__key *out) {
    const dt__signature *signature = &call->info->schema.signatures[call->overload];
    const dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    out->n_words = 0;
    out->too_long = false;
    put(out, (uint64_t)call->info->index | (uint64_t)call->overload << 32 |
                 (uint64_t)(state->implicit_replication > 0) << 63);
    for (int i = 0; i < signature->n_params; i++)
        put_arg(out, &call->args[i], signature->varying >> i & 1);
    if (call->info->op->class_of)
        put(out, (uint64_t)(int64_t)class_of(ctx, call));
    for (int i = 0; i < call->n_inputs; i++)
        put_input(out, call->inputs[i]);
    out->hash = hash_words(out->n_words, out->words);
}
