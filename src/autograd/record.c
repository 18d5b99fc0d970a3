/* SPDX-License-Identifier: Apache-2.0
 *
 * Making and freeing records. A record is one block of memory: the call, its tensors, their dims, its arguments and
 * what those point to. Blocks come from pools of the context by size, because each recorded call makes one. Freeing a
 * record may free those that it refers to, and so on: they are freed one after the other, without recursion.
 */
#include "autograd/record.h"
#include "base/hot.h"

#include "base/dtype.h"

#include <string.h>

enum { LINE = 64, CHUNK_BYTES = 1 << 16 };

/* A free block, or the head of a chunk that blocks are cut from. */
struct dt__record_block {
    struct dt__record_block *next;
    size_t bytes; /* of a chunk */
};

static dt__autograd_state *state_of(const dt_ctx *ctx) { return ctx->slots[DT__SLOT_AUTOGRAD].state; }

/* Closing the context frees storages and specs whatever their reference counts. */
static void free_state(dt_ctx *ctx, void *slot) {
    dt__autograd_state *state = slot;
    while (state->chunks) {
        struct dt__record_block *chunk = state->chunks;
        state->chunks = chunk->next;
        dt__free(ctx, chunk, chunk->bytes);
    }
    dt__free(ctx, state->pending, (size_t)state->pending_capacity * sizeof(*state->pending));
    dt__free(ctx, state, sizeof *state);
}

static size_t class_of(size_t bytes) { return (bytes + LINE - 1) / LINE; }

static bool add_chunk(dt_ctx *ctx, dt__autograd_state *state) {
    struct dt__record_block *chunk = dt__alloc(ctx, CHUNK_BYTES);
    if (!chunk)
        return false;
    *chunk = (struct dt__record_block){state->chunks, CHUNK_BYTES};
    state->chunks = chunk;
    state->unused = (char *)chunk + LINE;
    state->n_unused = CHUNK_BYTES - LINE;
    return true;
}

/* NULL after an error. */
static void *allocate(dt_ctx *ctx, size_t bytes) {
    dt__autograd_state *state = state_of(ctx);
    size_t class = class_of(bytes);
    if (class >= DT__RECORD_CLASSES)
        return dt__owned_new(ctx, bytes, "a record");
    struct dt__record_block *block = state->free[class];
    if (block) {
        state->free[class] = block->next;
        return block;
    }
    if (state->n_unused < class * LINE && !add_chunk(ctx, state))
        return dt__fail_memory(ctx, CHUNK_BYTES, "records"), NULL;
    void *memory = state->unused;
    state->unused += class * LINE;
    state->n_unused -= class * LINE;
    return memory;
}

static void deallocate(dt_ctx *ctx, void *memory, size_t bytes) {
    dt__autograd_state *state = state_of(ctx);
    size_t class = class_of(bytes);
    if (class >= DT__RECORD_CLASSES) {
        dt__owned_free(ctx, memory);
        return;
    }
    struct dt__record_block *block = memory;
    block->next = state->free[class];
    state->free[class] = block;
}

/* Frees a record, and those whose last reference it held. */
DT__HOT static void free_record(dt__record *head) {
    dt__recorded_call *first = (dt__recorded_call *)head;
    first->next = NULL;
    while (first) {
        dt__recorded_call *record = first;
        first = record->next;
        for (int i = 0; i < record->n_inputs + record->n_outputs; i++) {
            dt__recorded_tensor *tensor = &record->tensors[i];
            dt__saved_release(tensor);
            dt_spec_release(tensor->spec);
            if (tensor->use)
                dt_spec_release(tensor->use);
            if (tensor->made_by && --tensor->made_by->head.n_refs == 0) {
                tensor->made_by->next = first;
                first = tensor->made_by;
            }
        }
        dt_spec_release(record->grad_spec);
        if (record->checkpoint)
            dt__checkpoint_forget(record);
        while (record->slots)
            dt__gradient_slot_remove(record, record->slots);
        deallocate(record->ctx, record, record->bytes);
    }
}

/* Called for a saved tensor: number i of the inputs, then outputs. */
typedef void saved_fn(int i, const dt_tensor *tensor, void *arg);

/* Visits the tensors whose values are saved. */
static void for_each_saved(const dt__made *made, saved_fn *visit, void *arg) {
    if (!made->op)
        return;
    dt__saved_values saves = dt__values_to_save(made->op->info, made->op->overload, dt__recorded_params(made->op));
    for (uint32_t left = saves.params; left; left &= left - 1) {
        const dt_arg *list = &made->op->args[__builtin_ctz(left)];
        int n = list->type == DT_ARG_TENSOR ? 1 : list->type == DT_ARG_TENSORS ? list->n : 0;
        for (int i = 0; i < n; i++) {
            int at = list->type == DT_ARG_TENSOR ? list->as.first : dt_arg_member(list, i);
            if (at >= 0)
                visit(at, made->inputs[at], arg);
        }
    }
    for (int o = 0; o < made->n_outputs && saves.outputs; o++)
        if (saves.outputs >> (o < 63 ? o : 63) & 1)
            visit(made->n_inputs + o, made->outputs[o], arg);
}

static const dt_tensor *tensor_at(const dt__made *made, int i) {
    return i < made->n_inputs ? made->inputs[i] : made->outputs[i - made->n_inputs];
}

static size_t dims_of(const dt_tensor *tensor) { return (size_t)(tensor->spec ? 0 : tensor->n_dims); }

/* Bytes that an argument points to. */
DT__HOT static size_t list_bytes(const dt_arg *arg) {
    switch (arg->type) {
    case DT_ARG_TENSORS:
        return arg->as.tensors.members ? (size_t)arg->n * sizeof *arg->as.tensors.members : 0;
    case DT_ARG_INTS:
        return (size_t)arg->n * sizeof *arg->as.ints;
    case DT_ARG_FLOATS:
        return (size_t)arg->n * sizeof *arg->as.floats;
    case DT_ARG_TEXT:
        return strlen(arg->as.text) + 1;
    default:
        return 0;
    }
}

/* Copies the arguments to `to`, and lists and texts to `lists`. A generator is not held: the draw is recorded. */
static void copy_args(int n, const dt_arg *args, dt_arg *to, char *lists) {
    for (int i = 0; i < n; i++) {
        size_t bytes = list_bytes(&args[i]);
        bool members = args[i].type == DT_ARG_TENSORS;
        to[i] = args[i];
        if (args[i].type == DT_ARG_GENERATOR)
            to[i] = (dt_arg){.type = DT_ARG_NONE};
        if (!bytes)
            continue;
        memcpy(lists, members ? (const void *)args[i].as.tensors.members : args[i].as.ints, bytes);
        if (members)
            to[i].as.tensors.members = (const int *)lists;
        else
            to[i].as.ints = (const int64_t *)lists;
        lists += (bytes + sizeof(int64_t) - 1) & ~(sizeof(int64_t) - 1);
    }
}

/* Writes a tensor, with its sizes at *dims. */
static void describe(dt__recorded_tensor *to, const dt_tensor *tensor, int64_t **dims) {
    int64_t *at = *dims;
    *to = (dt__recorded_tensor){.spec = dt_spec_retain(tensor->spec),
                                .use = tensor->use ? dt_spec_retain(tensor->use) : NULL,
                                .sizes = at,
                                .version = tensor->storage->version,
                                .n_dims = (int16_t)tensor->n_dims,
                                .dtype = tensor->dtype};
    for (int d = 0; d < tensor->n_dims && !tensor->spec; d++)
        *at++ = tensor->shape[d];
    *dims = at;
}

/* Where values are saved: a record, and space for strides. */
struct saving {
    dt__recorded_call *record;
    int64_t *strides;
    dt_tensor *const *originals;
};

DT__HOT static void save(int i, const dt_tensor *tensor, void *arg) {
    struct saving *saving = arg;
    dt__recorded_tensor *to = &saving->record->tensors[i];
    if (to->storage)
        return;
    if (saving->originals && i < saving->record->n_inputs && saving->originals[i]) {
        tensor = saving->originals[i];
        to->version = tensor->storage->version;
    }
    to->storage = tensor->storage;
    to->storage->n_refs++;
    to->storage->n_saved++;
    to->data = tensor->data;
    to->strides = saving->strides;
    for (int d = 0; d < tensor->local_n_dims; d++)
        *saving->strides++ = tensor->strides[d];
}

static bool is_written(const dt__made *made, int i) {
    return made->op ? dt__writes_input(&made->op->op_call, i) : made->inputs[i] == made->outputs[0];
}

/* The call has changed inputs, and each counts once: inputs that share a written storage had the values of the
 * versions before. */
static void use_versions_before(const dt__made *made, dt__recorded_call *record) {
    for (int w = 0; w < made->n_inputs; w++)
        for (int i = 0; i < made->n_inputs && is_written(made, w); i++)
            record->tensors[i].version -= made->inputs[w]->storage == made->inputs[i]->storage;
}

DT__HOT dt__recorded_call *dt__record_new(dt_ctx *ctx, const char *name, size_t bytes) {
    dt__recorded_call *record = allocate(ctx, bytes);
    if (!record)
        return NULL;
    const dt_site *site = dt__noted_site(ctx);
    *record = (dt__recorded_call){.head = {.n_refs = 1, .free_record = free_record},
                                  .ctx = ctx,
                                  .number = ++state_of(ctx)->n_records,
                                  .scope = dt__scope_current(ctx).number,
                                  .name = name,
                                  .site = site ? *site : (dt_site){NULL, 0},
                                  .may_move = dt__policy_allows(ctx),
                                  .bytes = (uint32_t)bytes};
    record->tensors = (dt__recorded_tensor *)(record + 1);
    return record;
}

static dt__recorded_call *build(dt_ctx *ctx, const dt__made *made) {
    const dt__call *op = made->op;
    int n_args = op ? op->info->schema.signatures[op->overload].n_params : 0;
    int n = made->n_inputs + made->n_outputs;
    size_t n_dims = 0, n_lists = (size_t)made->n_numbers;
    for (int i = 0; i < n; i++) /* as if all values were saved: dims are few */
        n_dims += dims_of(tensor_at(made, i)) + (size_t)(op ? tensor_at(made, i)->local_n_dims : 0);
    for (int i = 0; i < n_args; i++)
        n_lists += (list_bytes(&op->args[i]) + sizeof(int64_t) - 1) / sizeof(int64_t);
    size_t tensor_bytes = (size_t)n * sizeof(dt__recorded_tensor), arg_bytes = (size_t)n_args * sizeof(dt_arg);
    dt__recorded_call *record = dt__record_new(
        ctx, made->name, sizeof *record + tensor_bytes + arg_bytes + (n_dims + n_lists) * sizeof(int64_t));
    if (!record)
        return NULL;
    dt_arg *own_args = (dt_arg *)(record->tensors + n);
    int64_t *dims = (int64_t *)(own_args + n_args);
    if (op) {
        record->info = op->info;
        record->overload = op->overload;
        record->draw = op->draw;
    }
    record->n_inputs = made->n_inputs;
    record->n_outputs = made->n_outputs;
    record->n_args = n_args;
    record->args = own_args;
    for (int i = 0; i < n; i++) {
        const dt_tensor *tensor = tensor_at(made, i);
        describe(&record->tensors[i], tensor, &dims);
        if (i >= made->n_inputs || !tensor->record)
            continue;
        record->tensors[i].made_by = dt__recorded_call_of(tensor);
        record->tensors[i].made_by->head.n_refs++;
        record->tensors[i].output = tensor->output;
    }
    const dt_tensor *first_in = made->n_inputs ? made->inputs[0] : NULL, *first_out = made->outputs[0];
    record->grad_spec = dt_spec_retain(made->grad_spec);
    record->is_in_place = op ? dt__call_writes(&op->op_call) : first_in == first_out;
    record->is_view = first_in && !record->is_in_place && first_in->storage == first_out->storage;
    if (record->is_in_place)
        use_versions_before(made, record);
    struct saving saving = {record, dims, made->originals};
    for_each_saved(made, save, &saving);
    dims = saving.strides;
    if (op)
        copy_args(n_args, op->args, own_args, (char *)dims);
    record->n_numbers = made->n_numbers;
    record->numbers = dims;
    for (int i = 0; i < made->n_numbers; i++)
        dims[i] = made->numbers[i];
    return record;
}

static bool is_input(const dt__made *made, const dt_tensor *output) {
    for (int i = 0; i < made->n_inputs; i++)
        if (made->inputs[i] == output)
            return true;
    return false;
}

DT__HOT static dt_status record_call(dt_ctx *ctx, const dt__made *made) {
    bool differentiable = false;
    for (int i = 0; i < made->n_outputs; i++)
        differentiable = differentiable || dt__is_inexact(made->outputs[i]->dtype);
    if (!differentiable)
        return DT_OK;
    dt__recorded_call *record = build(ctx, made);
    if (!record)
        return dt_error_status(ctx);
    dt_status status = state_of(ctx)->checkpoint_mode ? dt__checkpoint_record(record) : DT_OK;
    for (int i = 0; i < made->n_outputs; i++) {
        dt_tensor *output = made->outputs[i];
        if (!dt__is_inexact(output->dtype))
            continue;
        dt__previous_record before = {output->record, output->output}; /* of a tensor that was changed */
        record->head.n_refs++;
        output->record = &record->head;
        output->output = (uint16_t)i;
        if (record->is_in_place && is_input(made, output) && status == DT_OK)
            status = dt__shared_write_add(record, i, output, &before);
        dt__record_release(before.record);
    }
    dt__record_release(&record->head);
    return status;
}

static dt_status check_write(const dt_tensor *tensor, const char *op) {
    const dt__recorded_call *record = dt__recorded_call_of(tensor);
    while (record && record->is_view)
        record = record->tensors[0].made_by;
    if (!record || !record->head.is_leaf)
        return DT_OK;
    return dt__fail(tensor->ctx, DT_ERR_STATE,
                    "%s: cannot write to %s that requires a gradient; write between dt_no_grad_begin and "
                    "dt_no_grad_end, or to a copy",
                    op, tensor->record->is_leaf ? "a leaf" : "a view of a leaf");
}

const dt__recorder dt__autograd_recorder = {record_call, check_write};

static dt_status open_state(dt_ctx *ctx) {
    if (state_of(ctx))
        return DT_OK;
    dt__autograd_state *state = dt__alloc_zeroed(ctx, sizeof *state);
    if (!state)
        return dt__fail_memory(ctx, sizeof *state, "records");
    ctx->slots[DT__SLOT_AUTOGRAD].state = state;
    ctx->slots[DT__SLOT_AUTOGRAD].free_state = free_state;
    ctx->recorder = ctx->no_grad ? NULL : &dt__autograd_recorder;
    return DT_OK;
}

dt_status dt__require_grad(dt_tensor *tensor) {
    dt_ctx *ctx = tensor->ctx;
    DT__TRY(open_state(ctx));
    size_t n_dims = dims_of(tensor);
    dt__recorded_call *leaf =
        dt__record_new(ctx, NULL, sizeof *leaf + sizeof(dt__recorded_tensor) + n_dims * sizeof(int64_t));
    if (!leaf)
        return dt_error_status(ctx);
    int64_t *dims = (int64_t *)(leaf->tensors + 1);
    leaf->head.is_leaf = true;
    leaf->n_outputs = 1;
    describe(leaf->tensors, tensor, &dims);
    tensor->record = &leaf->head;
    tensor->output = 0;
    return DT_OK;
}
