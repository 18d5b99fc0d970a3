/* SPDX-License-Identifier: Apache-2.0
 *
 * The key of a call: calls with equal keys have the same decision. It begins with the op and its overload, and the
 * types of the arguments that the schema does not fix, sixteen to a word; these determine the number of further words.
 * The values of all arguments follow, except those that vary (dt_op.varying): only their class is in the key
 * (dt_op.class_of), unless that is DT_CLASS_OF_VALUES. Last come the tensors: the id of a spec, or the dtype and shape
 * of a plain one, and the ids of use placements where some are used. A key that does not fit the call's own space is
 * written to a buffer of the dispatch state, which grows.
 */
#include "base/hot.h"
#include "dispatch/dispatch_state.h"

#include <string.h>

enum { TYPE_BITS = 4, TYPES_PER_WORD = 64 / TYPE_BITS };
_Static_assert(DT_N_ARG_TYPES <= 1 << TYPE_BITS, "an argument type fits TYPE_BITS");
_Static_assert(1 + DT__MAX_ARGS / TYPES_PER_WORD < DT__KEY_WORDS, "every buffer has space for the types");

/* Each of these writes at `at` and returns the position after it; NULL: the key is full. */
static uint64_t *put_words(uint64_t *at, const uint64_t *end, const void *words, int n) {
    const unsigned char *from = words;
    if (end - at < n + 1)
        return NULL;
    *at++ = (uint64_t)n;
    for (int i = 0; i < n; i++)
        memcpy(at++, from + (size_t)i * sizeof *at, sizeof *at);
    return at;
}

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

static uint64_t *put_double(uint64_t *at, const uint64_t *end, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put(at, end, bits);
}

DT__HOT static uint64_t *put_value(uint64_t *at, const uint64_t *end, const dt_arg *arg) {
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
        return put_double(at, end, arg->as.f);
    case DT_ARG_COMPLEX:
        return put_words(at, end, arg->as.c, 2);
    case DT_ARG_INTS:
        return put_words(at, end, arg->as.ints, arg->n);
    case DT_ARG_FLOATS:
        return put_words(at, end, arg->as.floats, arg->n);
    case DT_ARG_TEXT:
        return put_bytes(at, end, arg->as.text, strlen(arg->as.text));
    default: /* none; or a tensor, whose index among the inputs follows from the types before it */
        return at;
    }
}

/* Types and values. Types always fit. */
static inline uint64_t *put_args(uint64_t *at, const uint64_t *end, const dt__signature *signature,
                                 const dt_arg *args) {
    uint64_t types = 0;
    int n = 0;
    for (uint32_t left = signature->open_types; left; left &= left - 1) {
        types = types << TYPE_BITS | (uint64_t)args[__builtin_ctz(left)].type;
        if (++n % TYPES_PER_WORD == 0)
            *at++ = types;
    }
    *at++ = types;
    for (uint32_t left = signature->keyed; left && at; left &= left - 1)
        at = put_value(at, end, &args[__builtin_ctz(left)]);
    return at;
}

/* The arguments that vary. */
static uint64_t *put_varying(uint64_t *at, const uint64_t *end, const dt__call *call) {
    for (uint32_t left = call->info->schema.signatures[call->overload].varying; left && at; left &= left - 1)
        at = put_value(at, end, &call->args[__builtin_ctz(left)]);
    return at;
}

static inline __attribute__((always_inline)) uint64_t *put_class(uint64_t *at, const uint64_t *end,
                                                                 const dt__call *call) {
    int64_t class = call->info->op->class_of(&call->op_call);
    at = put(at, end, (uint64_t) class);
    return class == DT_CLASS_OF_VALUES && at ? put_varying(at, end, call) : at;
}

/* The classes of the items of a list, which all have the list's arguments. */
static uint64_t *put_classes(uint64_t *at, const uint64_t *end, const dt__call *call,
                             const dt__dispatch_state *state) {
    at = put_words(at, end, state->class_words, (int)state->n_class_words);
    return state->class_of_values && at ? put_varying(at, end, call) : at;
}

static inline uint64_t *put_inputs(uint64_t *at, const uint64_t *end, int n, dt_tensor *const *inputs) {
    for (int i = 0; i < n; i++) {
        const dt_tensor *tensor = inputs[i];
        if (tensor->spec)
            *at++ = tensor->spec->id << 1 | 1;
        else {
            *at++ = ((uint64_t)tensor->dtype << 8 | (uint64_t)tensor->n_dims) << 1;
            for (int d = 0; d < tensor->n_dims; d++)
                *at++ = (uint64_t)tensor->shape[d];
        }
        if (at > end)
            return NULL;
    }
    return at;
}

/* The specs in which inputs are seen. */
static uint64_t *put_uses(uint64_t *at, const uint64_t *end, const dt__call *call) {
    for (int i = 0; i < call->n_inputs && at; i++)
        at = put(at, end, call->used[i] ? call->used[i]->id : UINT64_MAX);
    return at;
}

/* The decision's outputs hold a reference to the mesh, so that no other mesh gets its address. */
static uint64_t *put_maker_place(uint64_t *at, const uint64_t *end, const dt__maker_place *maker) {
    at = put(at, end, (uint64_t)(uintptr_t)maker->mesh);
    at = at ? put_bytes(at, end, maker->place ? maker->place : "", maker->place ? strlen(maker->place) : 0) : NULL;
    return at && maker->use ? put_bytes(at, end, maker->use, strlen(maker->use)) : at;
}

/* The end of the key; NULL: there is too little space for it. */
static inline __attribute__((always_inline)) uint64_t *
write_key(uint64_t *at, const uint64_t *end, const dt__call *call, const dt__dispatch_state *state) {
    bool replicates = state->implicit_replication > 0;
    const dt__op_info *info = call->info;
    *at++ = (uint64_t)(uint32_t)info->index | (uint64_t)(uint32_t)call->overload << 32 |
            (uint64_t)(call->used != NULL) << 61 | (uint64_t)(call->records && info->op->n_saved) << 62 |
            (uint64_t)replicates << 63;
    at = put_args(at, end, &info->schema.signatures[call->overload], call->args);
    if (at && info->op->class_of)
        at = put_class(at, end, call);
    at = at ? put_inputs(at, end, call->n_inputs, call->inputs) : NULL;
    if (at && call->used)
        at = put_uses(at, end, call);
    if (at && call->maker && call->maker->mesh)
        at = put_maker_place(at, end, call->maker);
    return at && info->list ? put_classes(at, end, call, state) : at;
}

static dt_status grow_buffer(dt_ctx *ctx, dt__dispatch_state *state) {
    size_t n = state->key_capacity ? state->key_capacity * 2 : (size_t)4 * DT__KEY_WORDS;
    uint64_t *words = dt__resize(ctx, state->key_words, state->key_capacity * sizeof *words, n * sizeof *words);
    if (!words)
        return dt__fail_memory(ctx, n * sizeof *words, "the key of a call");
    state->key_words = words;
    state->key_capacity = n;
    return DT_OK;
}

/* The end of the key in the buffer of the state; NULL with the error recorded. */
static uint64_t *write_long_key(dt_ctx *ctx, dt__dispatch_state *state, const dt__call *call) {
    for (;;) {
        uint64_t *words = state->key_words;
        uint64_t *end = words ? write_key(words, words + state->key_capacity - DT__KEY_SLACK, call, state) : NULL;
        if (end || grow_buffer(ctx, state) != DT_OK)
            return end;
    }
}

static inline uint64_t mix(uint64_t hash, uint64_t word) {
    return ((hash << 23 | hash >> 41) ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t hash_words(const uint64_t *at, const uint64_t *end, uint64_t hash) {
    if ((end - at) % 2)
        hash = mix(hash, *at++);
    for (; at != end; at += 2)
        hash = mix(mix(hash, at[0]), at[1]);
    return hash ^ hash >> 32;
}

DT__HOT dt_status dt__decision_key_of(dt_ctx *ctx, const dt__call *call, dt__decision_key *out) {
    dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    const uint64_t *words = out->space, *end = write_key(out->space, out->space + DT__KEY_WORDS, call, state);
    if (!end) {
        if (!(end = write_long_key(ctx, state, call)))
            return dt_error_status(ctx);
        words = state->key_words;
    }
    int n = (int)(end - words);
    out->n_words = n;
    out->words = words;
    out->hash = hash_words(words, end, (uint64_t)n);
    return DT_OK;
}
