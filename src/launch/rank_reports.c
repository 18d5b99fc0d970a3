/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank's reports are a queue in its block: processes of the rank claim slots, the supervisor takes them in order. A
 * rank wakes the supervisor by SIGCHLD, which every supervisor handles anyway.
 *
 * The supervisor prints a text when no other rank is left that may agree: each has a report in its queue, has closed
 * its context, or has ended. It waits at most PATIENCE_NS for that. If several texts are due, the one that most
 * ranks have is printed first, so that a rank that failed differently is shown after an agreed error. A text that is
 * also further back in some queue waits for the texts before it there.
 *
 * Reports of one incident are printed as one: that of the rank that detected the failure, with the ranks that failed
 * with it. A report of an incident that was already printed is dropped: it came from a rank that noticed late.
 */
#include "launch/rank_reports.h"

#include "base/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_NS INT64_C(1000000000)

/* The oldest report of a rank. */
struct dt__report_head {
    uint64_t hash;
    int64_t rank, at_ns;
};

/* Ranks whose oldest report is the same text: heads[begin, end) after sorting. */
struct group {
    int64_t begin, end, at_ns;
    bool is_due;     /* by patience */
    bool is_blocked; /* the text is also further back in some queue */
};

void dt__segment_print_reports_of(struct dt__segment *segment, int64_t rank, int stderr_fd) {
    struct dt__rank_block *block = &segment->ranks[rank];
    struct stat info;
    if (segment->n_ranks == 1 || fstat(stderr_fd, &info))
        return;
    block->stderr_device = info.st_dev;
    block->stderr_inode = info.st_ino;
    atomic_store(&block->supervisor, (int32_t)getpid());
}

/* Whether the standard error of this process is still the one that the supervisor connected. */
static bool keeps_stderr(const struct dt__rank_block *block) {
    struct stat info;
    int fd = fileno(stderr);
    return fd >= 0 && fstat(fd, &info) == 0 && info.st_dev == block->stderr_device &&
           info.st_ino == block->stderr_inode;
}

static struct dt__report_slot *slot_of(struct dt__rank_block *block, uint64_t number) {
    return &block->reports[number % DT__N_REPORTS];
}

static bool claim_slot(struct dt__rank_block *block, uint64_t *number) {
    *number = atomic_load(&block->n_reports);
    do {
        if (*number - atomic_load(&block->n_reports_taken) >= DT__N_REPORTS)
            return false;
    } while (!atomic_compare_exchange_weak(&block->n_reports, number, *number + 1));
    return true;
}

static bool add_report(struct dt__rank_block *block, const char *text, uint64_t incident) {
    uint64_t number;
    if (!claim_slot(block, &number))
        return false;
    struct dt__report_slot *slot = slot_of(block, number);
    snprintf(slot->text, sizeof slot->text, "%s", text);
    slot->incident = incident;
    slot->hash = incident ? incident & ~(uint64_t)DT__INCIDENT_FOLLOWS : dt__hash(slot->text, strlen(slot->text), 0);
    slot->at_ns = dt__now_ns();
    atomic_store(&slot->complete, number + 1);
    return true;
}

bool dt__report_post(struct dt__rank_block *block, const char *text, uint64_t incident) {
    int32_t supervisor = atomic_load(&block->supervisor);
    if (!supervisor || !keeps_stderr(block) || kill(supervisor, 0))
        return false;
    fflush(stderr); /* what the program wrote before comes first */
    if (!add_report(block, text, incident))
        return false;
    kill(supervisor, SIGCHLD);
    return true;
}

bool dt__segment_left_error(struct dt__segment *segment, int64_t rank) {
    struct dt__rank_block *block = &segment->ranks[rank];
    int32_t error = atomic_load(&block->first_error);
    if (!dt__rank_is_open(block) || error == DT__FIRST_ERROR_NONE)
        return false;
    if (error == DT__FIRST_ERROR_UNREAD)
        (void)add_report(block, block->first_error_text, block->first_error_incident);
    return true;
}

bool dt__report_post_early(const dt__ticket *ticket, const char *text) {
    char error[256];
    struct dt__segment *segment = dt__segment_join(ticket, error, sizeof error);
    bool posted = segment && dt__report_post(&segment->ranks[ticket->rank], text, 0);
    if (segment && !ticket->base)
        dt__segment_unmap(segment);
    return posted;
}

bool dt__reports_open(dt__reports *reports, struct dt__segment *segment) {
    *reports = (dt__reports){.segment = segment};
    reports->heads = calloc((size_t)segment->n_ranks, sizeof *reports->heads);
    reports->ranks = calloc((size_t)segment->n_ranks, sizeof *reports->ranks);
    return reports->heads && reports->ranks;
}

void dt__reports_close(dt__reports *reports) {
    free(reports->heads);
    free(reports->ranks);
    *reports = (dt__reports){0};
}

/* The oldest complete report, or NULL. A slot whose process died before it completed the report is skipped. */
static const struct dt__report_slot *head_of(struct dt__rank_block *block) {
    for (;;) {
        bool has_ended = atomic_load(&block->ended) != 0; /* read first: nothing is added later */
        uint64_t number = atomic_load(&block->n_reports_taken);
        if (number == atomic_load(&block->n_reports))
            return NULL;
        const struct dt__report_slot *slot = slot_of(block, number);
        if (atomic_load(&slot->complete) == number + 1)
            return slot;
        if (!has_ended)
            return NULL;
        atomic_store(&block->n_reports_taken, number + 1);
    }
}

bool dt__reports_waiting(const dt__reports *reports, int64_t rank) {
    return head_of(&reports->segment->ranks[rank]) != NULL;
}

static int compare_heads(const void *left, const void *right) {
    const struct dt__report_head *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Fills in the heads, sorted by text; returns their number, whether some rank may still report something, and whether
 * some rank has further reports. */
static int64_t collect_heads(const dt__reports *reports, bool *may_agree, bool *has_more) {
    int64_t n = 0;
    *may_agree = *has_more = false;
    for (int64_t rank = 0; rank < reports->segment->n_ranks; rank++) {
        struct dt__rank_block *block = &reports->segment->ranks[rank];
        /* The state is read before the queue: a rank reports before it closes or ends. */
        bool is_over = atomic_load(&block->ended) || atomic_load(&block->state) == DT__RANK_CLOSED;
        const struct dt__report_slot *head = head_of(block);
        if (head)
            reports->heads[n++] = (struct dt__report_head){head->hash, rank, head->at_ns};
        else if (!is_over)
            *may_agree = true;
        if (atomic_load(&block->n_reports) > atomic_load(&block->n_reports_taken) + 1)
            *has_more = true;
    }
    qsort(reports->heads, (size_t)n, sizeof *reports->heads, compare_heads);
    return n;
}

/* Whether a rank has the text further back in its queue. */
static bool is_further_back(const dt__reports *reports, int64_t n_heads, uint64_t hash) {
    for (int64_t i = 0; i < n_heads; i++) {
        struct dt__rank_block *block = &reports->segment->ranks[reports->heads[i].rank];
        uint64_t end = atomic_load(&block->n_reports);
        for (uint64_t number = atomic_load(&block->n_reports_taken) + 1; number < end; number++)
            if (atomic_load(&slot_of(block, number)->complete) == number + 1 && slot_of(block, number)->hash == hash)
                return true;
    }
    return false;
}

static bool is_better(const struct group *a, const struct group *b) {
    int a_class = 2 * !a->is_blocked + a->is_due, b_class = 2 * !b->is_blocked + b->is_due;
    int64_t a_size = a->end - a->begin, b_size = b->end - b->begin;
    if (a_class != b_class)
        return a_class > b_class;
    return a_size != b_size ? a_size > b_size : a->at_ns < b->at_ns;
}

/* The group to print now, if one is due; otherwise *due_ns is when one will be. */
static bool select_group(const dt__reports *reports, int64_t now_ns, struct group *out, int64_t *due_ns) {
    bool may_agree, has_more, any_is_due = false;
    int64_t n = collect_heads(reports, &may_agree, &has_more), oldest_ns = INT64_MAX;
    struct group best = {0};
    for (int64_t begin = 0, end; begin < n; begin = end) {
        const struct dt__report_head *first = &reports->heads[begin];
        struct group group = {.begin = begin, .at_ns = first->at_ns};
        for (end = begin; end < n && reports->heads[end].hash == first->hash; end++)
            group.at_ns = group.at_ns < reports->heads[end].at_ns ? group.at_ns : reports->heads[end].at_ns;
        group.end = end;
        group.is_due = !may_agree || now_ns - group.at_ns >= PATIENCE_NS;
        group.is_blocked = has_more && is_further_back(reports, n, first->hash);
        any_is_due = any_is_due || group.is_due;
        oldest_ns = oldest_ns < group.at_ns ? oldest_ns : group.at_ns;
        if (begin == 0 || is_better(&group, &best))
            best = group;
    }
    *due_ns = n ? oldest_ns + PATIENCE_NS : INT64_MAX;
    *out = best;
    return any_is_due;
}

static const struct dt__report_slot *slot_at(const dt__reports *reports, int64_t i) {
    return head_of(&reports->segment->ranks[reports->heads[i].rank]);
}

static void take(const dt__reports *reports, int64_t rank) {
    atomic_fetch_add(&reports->segment->ranks[rank].n_reports_taken, 1);
}

static void print_text(const dt__reports *reports, const struct group *group, dt__report *out) {
    char ranks[384];
    const char *text = slot_at(reports, group->begin)->text;
    for (int64_t i = group->begin; i < group->end; i++) /* equal hashes are not yet equal texts */
        if (!strncmp(slot_at(reports, i)->text, text, DT__REPORT_BYTES))
            reports->ranks[out->n_ranks++] = reports->heads[i].rank;
    dt__describe_ranks(out->ranks, out->n_ranks, ranks, sizeof ranks);
    snprintf(out->text, sizeof out->text, "%s%s: %.*s", out->n_ranks > 1 ? "on " : "", ranks, DT__REPORT_BYTES - 1,
             text);
}

/* The report to print of an incident: the earliest of a rank that detected the failure; else the earliest. */
static int64_t find_first(const dt__reports *reports, const struct group *group) {
    int64_t first = group->begin;
    for (int64_t i = group->begin + 1; i < group->end; i++) {
        const struct dt__report_slot *a = slot_at(reports, i), *b = slot_at(reports, first);
        uint64_t a_follows = a->incident & DT__INCIDENT_FOLLOWS, b_follows = b->incident & DT__INCIDENT_FOLLOWS;
        if (a_follows != b_follows ? a_follows < b_follows : a->at_ns < b->at_ns)
            first = i;
    }
    return first;
}

/* "rank 0: mismatch: …" and, if it has followers, "  ranks 1-3 failed with it". */
static void print_incident(dt__reports *reports, const struct group *group, dt__report *out) {
    char others[384];
    int64_t first = find_first(reports, group), n_others = 0;
    for (int64_t i = group->begin; i < group->end; i++)
        if (i != first)
            reports->ranks[n_others++] = reports->heads[i].rank;
    dt__describe_ranks(reports->ranks, n_others, others, sizeof others);
    snprintf(out->text, sizeof out->text, "rank %" PRId64 ": %.*s%s%s%s", reports->heads[first].rank,
             DT__REPORT_BYTES - 1, slot_at(reports, first)->text, n_others ? "\n  " : "", n_others ? others : "",
             n_others ? " failed with it" : "");
    for (out->n_ranks = 0; out->n_ranks < group->end - group->begin; out->n_ranks++)
        reports->ranks[out->n_ranks] = reports->heads[group->begin + out->n_ranks].rank;
    reports->ranks[0] = reports->heads[first].rank;
    if (first != group->begin)
        reports->ranks[first - group->begin] = reports->heads[group->begin].rank;
    reports->printed[reports->n_printed++ % DT__PRINTED_INCIDENTS] = reports->heads[first].hash;
}

/* Drops the oldest reports that belong to incidents that were printed. */
static void drop_late(const dt__reports *reports) {
    uint64_t n = reports->n_printed < DT__PRINTED_INCIDENTS ? reports->n_printed : DT__PRINTED_INCIDENTS;
    for (int64_t rank = 0; n && rank < reports->segment->n_ranks; rank++)
        for (uint64_t i = 0; i < n; i++) {
            const struct dt__report_slot *head = head_of(&reports->segment->ranks[rank]);
            if (head && head->incident && head->hash == reports->printed[i])
                take(reports, rank);
        }
}

bool dt__reports_next(dt__reports *reports, int64_t now_ns, dt__report *out, int64_t *due_ns) {
    struct group group;
    drop_late(reports);
    if (!select_group(reports, now_ns, &group, due_ns))
        return false;
    out->ranks = reports->ranks;
    out->n_ranks = 0;
    if (slot_at(reports, group.begin)->incident)
        print_incident(reports, &group, out);
    else
        print_text(reports, &group, out);
    for (int64_t i = 0; i < out->n_ranks; i++)
        take(reports, out->ranks[i]);
    return true;
}
