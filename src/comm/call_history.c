/* SPDX-License-Identifier: Apache-2.0
 *
 * Histories and labels: where they are stored, and the search for the first call in which two
 * ranks differ. Clearing errors collectively resets histories; otherwise ranks that differed once would always differ.
 */
#include "comm/comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dt__history_block *dt__history_block_of(struct dt__rank_block *rank, uint64_t key) {
    for (uint64_t i = 0; i < DT__N_HISTORIES; i++) {
        struct dt__history_block *block = &rank->histories[(key + i) % DT__N_HISTORIES];
        uint64_t found = atomic_load(&block->key);
        if (found == key || found == 0)
            return block;
    }
    return NULL;
}

bool dt__has_histories(const dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return ctx->world != 1 && runtime && runtime->board;
}

dt__history *dt__history_of(dt_ctx *ctx, uint64_t key, const char *name) {
    if (!dt__has_histories(ctx))
        return NULL;
    dt__board *board = dt__runtime_of(ctx)->board;
    key += key == 0;
    for (dt__history *history = board->histories; history; history = history->next)
        if (history->key == key)
            return history;
    dt__history *made = dt__alloc_zeroed(ctx, sizeof *made);
    if (!made)
        return (void)dt__fail_memory(ctx, sizeof *made, "the history of a mesh"), NULL;
    made->key = key;
    made->ctx = ctx;
    snprintf(made->name, sizeof made->name, "%s", name);
    made->block = dt__history_block_of(board->own, key);
    if (made->block)
        atomic_store(&made->block->key, key);
    made->next = board->histories;
    board->histories = made;
    return made;
}

void dt__histories_reset(dt__board *board) {
    for (dt__history *history = board->histories; history; history = history->next) {
        history->hash = history->n = 0;
        dt__verdict_restart(history);
        if (history->block)
            atomic_store(&history->block->n, 0);
    }
}

void dt__histories_free(dt__board *board) {
    while (board->histories) {
        dt__history *history = board->histories;
        board->histories = history->next;
        dt__verdict_free(board->runtime->ctx, history->verdict);
        dt__free(board->runtime->ctx, history, sizeof *history);
    }
}

void dt__history_amend(dt__history *history, uint64_t number) {
    history->hash = dt__hash_u64(number, history->hash);
    if (history->block && history->n)
        atomic_store(&history->block->calls[(history->n - 1) % DT__N_HISTORY_CALLS].hash, history->hash);
}

/* A label is its offset + 1 in the map, as a pointer. */
uint32_t dt__label_find(dt_ctx *ctx, uint64_t fingerprint) {
    dt__board *board = dt__runtime_of(ctx)->board;
    return (uint32_t)(uintptr_t)dt__map_get(&board->labels, fingerprint, NULL, NULL);
}

uint32_t dt__label_new(dt_ctx *ctx, uint64_t fingerprint, const char *text) {
    dt__board *board = dt__runtime_of(ctx)->board;
    size_t bytes = strlen(text) + 1;
    bytes = bytes < DT__MAX_LABEL ? bytes : DT__MAX_LABEL;
    uintptr_t label = board->label_bytes + 1;
    if (board->label_bytes + bytes > DT__LABEL_BYTES || !dt__map_try_add(&board->labels, fingerprint, (void *)label))
        return 0;
    snprintf(board->own->labels + board->label_bytes, bytes, "%s", text);
    board->label_bytes += bytes;
    return (uint32_t)label;
}

/* The label of a text that stays where it is, such as a literal. */
static uint32_t label_of_literal(dt_ctx *ctx, const char *text) {
    uint64_t fingerprint = dt__hash_u64((uint64_t)(uintptr_t)text, 17);
    uint32_t label = text ? dt__label_find(ctx, fingerprint) : 0;
    return label || !text ? label : dt__label_new(ctx, fingerprint, text);
}

void dt__history_set_file(dt__history *history, const char *file) {
    history->last_file = file;
    history->file_text = (uint64_t)label_of_literal(history->ctx, file) << DT__FILE_SHIFT;
}

uint64_t dt__program_call_word(dt__board *board) {
    dt_ctx *ctx = board->runtime->ctx;
    const dt__public_call *call = &ctx->call;
    if (!call->depth || !call->name)
        return 0;
    const dt_site *site = call->site; /* a host reports its own only in a long wait (dt__host_waits) */
    if (call->name != board->call_name) {
        board->call_name = call->name;
        board->name_label = label_of_literal(ctx, call->name);
    }
    if (site && site->file != board->call_file) {
        board->call_file = site->file;
        board->file_label = label_of_literal(ctx, site->file);
    }
    if (!site)
        return board->name_label;
    return board->name_label | (uint64_t)board->file_label << DT__FILE_SHIFT | dt__line_text(site->line);
}

/* The text of a label. If its owner has rejoined meanwhile, it may belong to another call, but it is terminated. */
static void copy_label(const struct dt__rank_block *rank, uint32_t label, const char *otherwise, char *text) {
    snprintf(text, DT__MAX_LABEL, "%.*s", DT__MAX_LABEL - 1,
             label && label <= DT__LABEL_BYTES ? rank->labels + label - 1 : otherwise);
}

void dt__describe_program_call(const struct dt__rank_block *rank, uint64_t word, char *text, size_t capacity) {
    char name[DT__MAX_LABEL], file[DT__MAX_LABEL];
    uint64_t mask = (1 << DT__LABEL_BITS) - 1;
    copy_label(rank, (uint32_t)(word & mask), "", name);
    copy_label(rank, (uint32_t)(word >> DT__FILE_SHIFT & mask), "", file);
    if (!*name)
        text[0] = 0;
    else if (!*file)
        snprintf(text, capacity, " (%s)", name);
    else
        snprintf(text, capacity, " (%s at %s:%" PRIu64 ")", name, file,
                 word >> DT__LINE_SHIFT & ((1 << DT__LINE_BITS) - 1));
}

/* "0.1)", with as many digits as it takes to tell the number from others. */
static void print_value(double number, char *text, size_t capacity) {
    snprintf(text, capacity, "%.15g)", number);
    if (strtod(text, NULL) != number)
        snprintf(text, capacity, "%.17g)", number);
}

/* "add(f32[8,6] S(0) on mesh(tp=2); …) (at a.c:12)"; "none" for call UINT64_MAX. */
static void describe_call(const struct dt__rank_block *rank, const struct dt__history_block *block, uint64_t i,
                          char *text, size_t capacity) {
    if (i == UINT64_MAX) {
        snprintf(text, capacity, "none");
        return;
    }
    const struct dt__history_call *call = &block->calls[i % DT__N_HISTORY_CALLS];
    char label[DT__MAX_LABEL], file[DT__MAX_LABEL], value[48] = "", site[DT__MAX_LABEL + 24] = "";
    uint64_t word = atomic_load(&call->text), mask = (1 << DT__LABEL_BITS) - 1;
    uint64_t bits = atomic_load(&block->values[i % DT__N_HISTORY_CALLS]);
    enum dt__shown_value shown = (enum dt__shown_value)(word >> DT__VALUE_SHIFT);
    double number;
    memcpy(&number, &bits, sizeof number);
    copy_label(rank, (uint32_t)(word & mask), "a call", label);
    copy_label(rank, (uint32_t)(word >> DT__FILE_SHIFT & mask), "", file);
    size_t n = strlen(label);
    if (shown == DT__SHOW_DOUBLE && n && label[n - 1] == '=')
        print_value(number, value, sizeof value);
    else if (shown == DT__SHOW_DOUBLE)
        snprintf(value, sizeof value, " with %.17g", number);
    else if (shown == DT__SHOW_INT)
        snprintf(value, sizeof value, " with %" PRId64, (int64_t)bits);
    else if (shown == DT__SHOW_TWO_INTS)
        snprintf(value, sizeof value, " with %" PRId32 " and %" PRId32, (int32_t)bits, (int32_t)(bits >> 32));
    if (*file)
        snprintf(site, sizeof site, " (at %s:%" PRIu64 ")", file,
                 word >> DT__LINE_SHIFT & ((1 << DT__LINE_BITS) - 1));
    snprintf(text, capacity, "%s%s%s", label, value, site);
}

bool dt__describe_last_call(const struct dt__rank_block *rank, const struct dt__history_block *block, char *text,
                            size_t capacity) {
    uint64_t n = atomic_load(&block->key) ? atomic_load_explicit(&block->n, memory_order_acquire) : 0;
    if (n)
        describe_call(rank, block, n - 1, text, capacity);
    return n > 0;
}

/* The first of the calls before `end` in which two blocks of n_a and n_b calls differ; false, with *at = end, if there
 * is none. *older: the call before it is no longer kept, so they may have differed before; also set if one rank is so
 * far ahead that both keep no common call. *n_kept: the number of last calls that are. b may change meanwhile. */
static bool find_difference(const struct dt__history_block *a, uint64_t n_a, const struct dt__history_block *b,
                            uint64_t n_b, uint64_t end, uint64_t *at, uint64_t *n_kept, bool *older) {
    uint64_t max = n_a > n_b ? n_a : n_b;
    uint64_t first = max > DT__N_HISTORY_CALLS ? max - DT__N_HISTORY_CALLS : 0, known = atomic_load(&b->first);
    first = known > first ? known : first;
    *n_kept = max - first;
    for (*at = first; *at < end; ++*at) {
        uint64_t slot = *at % DT__N_HISTORY_CALLS;
        if (atomic_load(&a->calls[slot].hash) == atomic_load(&b->calls[slot].hash))
            continue;
        if (*at + DT__N_HISTORY_CALLS <= atomic_load(&b->n) + 1) { /* overwritten meanwhile */
            first = *at + 1;
            continue;
        }
        *older = first > 0 && *at == first;
        return true;
    }
    *older = first > end;
    return false;
}

/* Whether call i of two ranks differs in text or values. Unlike hashes, these are complete before a call has made its
 * draws. False if one of the texts is not kept. */
static bool has_other_text(const struct dt__rank_block *a_rank, const struct dt__history_block *a,
                           const struct dt__rank_block *b_rank, const struct dt__history_block *b, uint64_t i) {
    uint64_t slot = i % DT__N_HISTORY_CALLS, mask = (1 << DT__LABEL_BITS) - 1;
    uint64_t a_word = atomic_load(&a->calls[slot].text), b_word = atomic_load(&b->calls[slot].text);
    char a_label[DT__MAX_LABEL], b_label[DT__MAX_LABEL];
    if (!(a_word & mask) || !(b_word & mask))
        return false;
    copy_label(a_rank, (uint32_t)(a_word & mask), "", a_label);
    copy_label(b_rank, (uint32_t)(b_word & mask), "", b_label);
    uint64_t shown = a_word >> DT__VALUE_SHIFT;
    return strcmp(a_label, b_label) != 0 || shown != b_word >> DT__VALUE_SHIFT ||
           (shown && atomic_load(&a->values[slot]) != atomic_load(&b->values[slot]));
}

static bool describe_difference(const dt__board *board, const dt__history *history, int64_t peer,
                                enum dt__peer_calls calls, char *text, size_t capacity) {
    struct dt__rank_block *ranks = board->ranks;
    const struct dt__history_block *block = dt__history_block_of(&ranks[peer], history->key);
    int64_t own = board->runtime->ctx->rank;
    if (!history->block || !block || atomic_load(&block->key) != history->key)
        return false;
    uint64_t n = atomic_load_explicit(&block->n, memory_order_acquire), n_both = n < history->n ? n : history->n, at,
             n_kept;
    uint64_t n_complete = calls == DT__CALLS_RUNNING && n ? n - 1 : n;
    bool older;
    if (calls != DT__CALLS_COMPARED && history->n && n_complete > history->n - 1)
        n_complete = history->n - 1; /* this rank is in its last call */
    n_complete = n_complete < n_both ? n_complete : n_both;
    bool found = find_difference(history->block, history->n, block, n, n_complete, &at, &n_kept, &older);
    if (!found && !older && n_complete < n_both)
        found = has_other_text(&ranks[own], history->block, &ranks[peer], block, at) && atomic_load(&block->n) == n;
    if (!found && (calls != DT__CALLS_COMPARED || history->n == n))
        return false;
    if (older) {
        snprintf(text, capacity,
                 "ranks %" PRId64 " and %" PRId64 " made different calls on %s, before the last %" PRIu64
                 ", which are kept",
                 own, peer, history->name, n_kept);
        return true;
    }
    char own_call[2 * DT__MAX_LABEL], peer_call[2 * DT__MAX_LABEL];
    describe_call(&ranks[own], history->block, at < history->n ? at : UINT64_MAX, own_call, sizeof own_call);
    describe_call(&ranks[peer], block, at < n ? at : UINT64_MAX, peer_call, sizeof peer_call);
    snprintf(text, capacity,
             "ranks %" PRId64 " and %" PRId64 " made different calls on %s: call %" PRIu64 " is %s on rank %" PRId64
             " and %s on rank %" PRId64 "%s",
             own, peer, history->name, at + 1, own_call, own, peer_call, peer,
             strcmp(own_call, peer_call)
                 ? ""
                 : ", with other arguments that are not shown or after different random draws "
                   "(generators must have the same seed and the same number of draws)");
    return true;
}

bool dt__describe_divergence(const dt_work *work, int64_t c, enum dt__peer_calls calls, char *text, size_t capacity) {
    for (int i = 0; i < work->n_histories; i++)
        if (work->histories[i] && describe_difference(work->channel->board, work->histories[i],
                                                      work->channel->ranks[c], calls, text, capacity))
            return true;
    return false;
}
