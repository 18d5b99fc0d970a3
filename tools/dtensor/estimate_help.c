/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes of a program's arguments that usually save memory. A mesh with dp becomes one with fsdp, and so does one that
 * the arguments leave to the program; micro-batches are halved, by twice as many of them in a pipeline or by half the
 * batch; --dtype bf16 and --checkpoint are added. If the program takes none of these options, the text names the
 * change; every printed figure comes from a run.
 */
#include "estimate_help.h"

#include "table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *last_option(const estimate_settings *self, const char *name, int *value) {
    for (int i = self->n_words - 2; i > 0; i--)
        if (!strcmp(self->words[i], name)) {
            *value = i + 1;
            return self->words[i + 1];
        }
    return NULL;
}

/* "dp=8,tp=2" to "fsdp=8,tp=2"; NULL where there is no dp, or fsdp already. */
static const char *sharded_mesh(dt__arena *arena, const char *mesh) {
    const char *dp = !strncmp(mesh, "dp=", 3) ? mesh : strstr(mesh, ",dp=");
    if (!dp || strstr(mesh, "fsdp="))
        return NULL;
    int before = (int)(dp - mesh) + (*dp == ',');
    return label_format(arena, "%.*sfs%s", before, mesh, mesh + before);
}

/* The program with one word replaced, or words added. */
static int64_t try_words(const estimate_settings *settings, int64_t rank, int replaced, const char *word,
                         const char *const *added) {
    const char *words[ARGS_MAX];
    estimate_settings tried = *settings;
    int n = 0;
    for (; n < settings->n_words; n++)
        words[n] = n == replaced ? word : settings->words[n];
    for (; added && *added; added++) {
        if (n == ARGS_MAX)
            return 0;
        words[n++] = *added;
    }
    tried.words = words;
    tried.n_words = n;
    tried.is_quiet = true;
    tried.trace = NULL;
    dt_ctx *ctx = dt__ctx_new(NULL); /* a program that refuses the option is not an error here */
    json_t *report = ctx ? estimate_run(ctx, &tried, rank, NULL) : NULL;
    int64_t peak = report ? estimate_peak(report, "all") : 0;
    json_decref(report);
    dt__ctx_free(ctx);
    return peak;
}

/* Without a mesh among the arguments, data parallel programs use all ranks. */
static estimate_help try_sharding(dt__arena *arena, const estimate_settings *settings, int64_t rank) {
    int at = -1;
    const char *mesh = last_option(settings, "--mesh", &at);
    const char *sharded = mesh                  ? sharded_mesh(arena, mesh)
                          : settings->ranks > 1 ? label_format(arena, "fsdp=%lld", (long long)settings->ranks)
                                                : NULL;
    estimate_help out = {.what = "fsdp instead of dp", .reason = mesh ? "--mesh has no dp" : "there is one rank"};
    if (!sharded)
        return out;
    const char *const added[] = {"--mesh", sharded, NULL};
    out.change = label_format(arena, "--mesh %s", sharded);
    out.peak = try_words(settings, rank, at, sharded, mesh ? NULL : added);
    return out;
}

/* A pipeline's micro-batches are what lives at once; the batch of other programs is their only micro-batch. */
static estimate_help try_smaller(dt__arena *arena, const estimate_settings *settings, int64_t rank) {
    int at = 0;
    const char *micro = last_option(settings, "--micro", &at);
    const char *text = micro ? micro : last_option(settings, "--batch", &at);
    const long long size = text ? strtoll(text, NULL, 10) : 0;
    estimate_help out = {.what = micro ? "half the micro-batch" : "half the batch",
                         .reason = text ? "it is as small as it can be" : "the command has no --batch to halve"};
    if (size < (micro ? 1 : 2) || size > INT32_MAX)
        return out;
    const char *word = label_format(arena, "%lld", micro ? 2 * size : size / 2);
    out.change = word ? label_format(arena, "--%s %s", micro ? "micro" : "batch", word) : NULL;
    out.peak = word ? try_words(settings, rank, at, word, NULL) : 0;
    return out;
}

/* An option that the program has already would change nothing. */
static estimate_help try_added(const estimate_settings *settings, int64_t rank, estimate_help help, bool is_there,
                               const char *const *added) {
    if (is_there) {
        help.change = NULL;
        help.reason = "it is in use";
    } else
        help.peak = try_words(settings, rank, -1, NULL, added);
    return help;
}

static bool has_word(const estimate_settings *settings, const char *word) {
    for (int i = 1; i < settings->n_words; i++)
        if (!strcmp(settings->words[i], word))
            return true;
    return false;
}

dt_status estimate_helps(dt__arena *arena, const estimate_settings *settings, int64_t rank,
                         estimate_help out[ESTIMATE_N_HELPS]) {
    static const char *const half[] = {"--dtype", "bf16", NULL}, *const checkpoint[] = {"--checkpoint", NULL};
    static const estimate_help checkpoints = {.what = "gradient checkpoints (dt_checkpoint)",
                                              .change = "--checkpoint"},
                               bf16 = {.what = "bf16", .change = "--dtype bf16"};
    int at;
    const char *dtype = last_option(settings, "--dtype", &at);
    out[0] = try_sharding(arena, settings, rank);
    out[1] = try_added(settings, rank, checkpoints, has_word(settings, checkpoint[0]), checkpoint);
    out[2] = try_added(settings, rank, bf16, dtype && !strcmp(dtype, "bf16"), half);
    out[3] = try_smaller(arena, settings, rank);
    return DT_OK;
}
