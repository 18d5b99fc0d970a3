/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors about freed objects, and the memory of objects that are allocated one by one.
 */
#include "base/lifetime.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *noun, *hint;
} kinds[] = {
    [DT__KIND_TENSOR] = {"tensor", "dt_keep moves a tensor to the outer scope, dt_tensor_retain holds it"},
    [DT__KIND_LAYOUT] = {"layout", "dt_layout_retain holds it"},
    [DT__KIND_MESH] = {"mesh", "dt_mesh_retain holds it"},
    [DT__KIND_SPEC] = {"spec", "dt_spec_retain holds it"},
    [DT__KIND_GROUP] = {"group", "dt_group_retain holds it"},
    [DT__KIND_GENERATOR] = {"generator", "dt_generator_retain holds it"},
    [DT__KIND_WORK] = {"operation", "an operation is waited for once"},
    [DT__KIND_TRANSFER] = {"transfer", "a transfer is waited for once"},
    [DT__KIND_OPTIMIZER] = {"optimizer", "an optimizer is freed once, after its last step"},
    [DT__KIND_PARAMS] = {"list of parameters", "it is freed once, after its last use"},
    [DT__KIND_REST] = {"rest of gradients", "dt_backward_rest and dt_rest_free both free it, once"},
    [DT__KIND_SCHEDULE] = {"schedule", "a schedule is freed once, after its last use"},
    [DT__KIND_BATCHES] = {"reader of batches", "it is freed once, after its last batch"},
};

/* Calls that free objects of their own kind; other calls free an object only through its owner. */
static const struct {
    dt__kind kind;
    const char *name, *verb;
} verbs[] = {
    {DT__KIND_TENSOR, "scope_end", "freed with its scope"},
    {DT__KIND_TENSOR, "drop", "dropped"},
    {DT__KIND_TENSOR, "tensor_release", "released"},
    {DT__KIND_LAYOUT, "layout_release", "released"},
    {DT__KIND_MESH, "mesh_release", "released"},
    {DT__KIND_SPEC, "spec_release", "released"},
    {DT__KIND_GROUP, "group_release", "released"},
    {DT__KIND_GENERATOR, "generator_release", "released"},
    {DT__KIND_WORK, "work_wait", "waited for"},
    {DT__KIND_TRANSFER, "transfer_wait", "waited for"},
    {DT__KIND_OPTIMIZER, "optimizer_free", "freed"},
    {DT__KIND_PARAMS, "params_free", "freed"},
    {DT__KIND_REST, "rest_free", "freed"},
    {DT__KIND_SCHEDULE, "schedule_free", "freed"},
    {DT__KIND_BATCHES, "batches_free", "freed"},
};

static void line_text(const char *file, int line, const char *words, char out[DT__SITE_TEXT_BYTES]) {
    if (file)
        snprintf(out, DT__SITE_TEXT_BYTES, "%s%s:%d", words, file, line);
    else
        out[0] = 0;
}

void dt__fail_freed(dt__kind kind, const void *freed_object, int argument, const char *function) {
    const dt__lifetime *life = freed_object;
    dt_ctx *ctx = *(dt_ctx *const *)(life + 1);
    DT__ENTER(ctx, function + strlen("dt_"), NULL);
    char object[64], made[DT__SITE_TEXT_BYTES], freed[DT__SITE_TEXT_BYTES], verb[64];
    if (argument)
        snprintf(object, sizeof object, "%s %d", kinds[kind].noun, argument);
    else
        snprintf(object, sizeof object, "the %s", kinds[kind].noun);
    line_text(life->made_file, life->made_line, " made at ", made);
    line_text(life->freed_file, life->freed_line, " at ", freed);
    snprintf(verb, sizeof verb, "freed%s%s", *life->freed_by ? " by dt_" : "", life->freed_by);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (verbs[i].kind == kind && !strcmp(verbs[i].name, life->freed_by))
            snprintf(verb, sizeof verb, "%s", verbs[i].verb);
    const void *subject = ctx->call.subject; /* not shown: it may be the freed object */
    ctx->call.subject = NULL;
    (void)dt__fail(ctx, DT_ERR_STATE, "%s%s was %s%s; %s", object, made, verb, freed, kinds[kind].hint);
    ctx->call.subject = subject;
}

void dt__freed_trim(dt__freed_queue *queue, dt_ctx *ctx, size_t bytes) {
    dt__free(ctx, dt__freed_pop(queue, ctx, bytes), bytes);
}

void dt__freed_free(dt__freed_queue *queue, dt_ctx *ctx, size_t bytes) {
    while (queue->oldest) {
        dt__lifetime *oldest = queue->oldest;
        queue->oldest = oldest->newer;
        DT__UNPOISON(oldest, bytes);
        dt__free(ctx, oldest, bytes);
    }
    *queue = (dt__freed_queue){0};
}
