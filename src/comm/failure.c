/* SPDX-License-Identifier: Apache-2.0
 *
 * Failures: a member is dead, has failed, has made a different call, or does not arrive in time. The rank that detects
 * it breaks the channel: it publishes the reason, so that every other member stops waiting and returns an error too.
 * Other channels are not affected.
 */
#include "comm/comm.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHOWN_MEMBERS = 16 };

static const dt__messenger *messenger_of(const dt_work *work) { return work->group->runtime->transport->messenger; }

/* "all_reduce of f32 x 1024, sum, #12 of ranks 0-3" */
static void describe_work(const dt_work *work, char *text, size_t capacity) {
    char call_text[128], set[160];
    dt__describe_own_operation(work, call_text, sizeof call_text);
    dt__describe_set(work->channel->set, (uint64_t)work->channel->n, set, sizeof set);
    snprintf(text, capacity, "%s, #%" PRIu64 " of %s", call_text, work->seq, set);
}

/* The current activity of every member, the missing ones first. */
static void describe_members(dt_work *work, char *text, size_t capacity) {
    const dt__messenger *messenger = messenger_of(work);
    size_t at = 0;
    int shown = 0;
    text[0] = 0;
    for (int missing = 1; missing >= 0; missing--)
        for (int64_t c = 0; c < work->channel->n && shown < SHOWN_MEMBERS && at < capacity; c++) {
            if (c == work->channel->me || dt__waits_for(work, c) != missing)
                continue;
            char activity[1400];
            int64_t rank = work->channel->ranks[c];
            dt__describe_rank(&work->channel->board->ranks[rank], activity, sizeof activity);
            double silent_s = messenger ? messenger->silence(work->group->runtime, rank) : 0;
            char silence[64] = "";
            if (silent_s >= 0.1)
                snprintf(silence, sizeof silence, "; it has not answered for %.1f s", silent_s);
            int n = snprintf(text + at, capacity - at, "\n  rank %" PRId64 "%s: %s%s", rank,
                             missing ? " (missing)" : "", activity, silence);
            at += n > 0 ? (size_t)n : 0;
            shown++;
        }
}

void dt__break_channel(dt__channel *channel, uint64_t seq, dt_status status, const char *reason) {
    if (channel->broken)
        return;
    channel->broken = status;
    snprintf(channel->own->reason, sizeof channel->own->reason, "%s", reason);
    atomic_store(&channel->own->broken_status, status);
    atomic_store(&channel->own->broken, seq);
    dt__board_notify(channel->board);
    if (channel->remotes)
        channel->board->runtime->transport->messenger->send_break(channel, seq, status, reason);
}

/* Notes that this rank fails in an operation, unless it follows another rank that has. */
static void note_incident(dt__board *board, const dt_work *work) {
    if (atomic_load(&board->own->incident))
        return;
    uint64_t hash = dt__hash_u64(work->seq, work->channel->key);
    hash =
        dt__hash_u64((uint64_t)atomic_load(&board->own->n_joined) << 32 | atomic_load(&board->own->n_cleared), hash);
    atomic_store(&board->own->incident, (hash | UINT64_C(1) << 63) & ~(uint64_t)DT__INCIDENT_FOLLOWS);
}

dt_status dt__work_fail(dt_work *work, dt_status status, const char *format, ...) {
    char reason[DT__REASON_BYTES], operation[320], members[3000];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    describe_work(work, operation, sizeof operation);
    describe_members(work, members, sizeof members);
    work->channel->board->out_of_step = true;
    note_incident(work->channel->board, work);
    dt__break_channel(work->channel, work->seq, status, reason);
    dt__work_end(work, status);
    return dt__fail(work->channel->board->runtime->ctx, status, "%s: %s%s", operation, reason, members);
}

/* The operation at which a member broke the channel, or 0. */
static uint64_t broken_by(const dt_work *work, int64_t c) {
    if (work->channel->remotes && work->channel->remotes[c].broken)
        return work->channel->remotes[c].broken;
    const struct dt__channel_block *block = dt__channel_peer_block(work->channel, c);
    return block ? atomic_load(&block->broken) : 0;
}

/* A member that finished this operation and broke the channel later does not prevent this rank from finishing. */
static bool has_finished(const dt_work *work, int64_t c, uint64_t broken) {
    const struct dt__channel_block *block = work->channel->peers[c].block;
    return broken > work->seq && (!block || atomic_load(&block->done) >= work->seq);
}

dt_status dt__work_broken(dt_work *work) {
    dt__channel *channel = work->channel;
    dt_status status = channel->broken;
    char operation[320], reason[DT__REASON_BYTES] = "";
    describe_work(work, operation, sizeof operation);
    memcpy(reason, channel->own->reason, sizeof reason - 1);
    dt__work_end(work, DT_ERR_GROUP);
    dt__fail(channel->board->runtime->ctx, DT_ERR_GROUP,
             "%s: the group is unusable since its operation #%" PRIu64 " failed with %s: %s", operation,
             atomic_load(&channel->own->broken), dt_status_name(status), reason);
    return DT_ERR_GROUP;
}

/* The operation with this number in a rank's log of recent operations, or NULL. */
static const struct dt__recent_operation *recent_call(const dt_work *work, int64_t rank, uint64_t seq) {
    const struct dt__recent_operation *recent = work->channel->board->ranks[rank].recent;
    for (int i = 0; i < DT__N_RECENT; i++)
        if (atomic_load(&recent[i].channel) == work->channel->key && atomic_load(&recent[i].seq) == seq)
            return &recent[i];
    return NULL;
}

static bool is_same_call(uint64_t signature, uint64_t count, uint64_t other_signature, uint64_t other_count) {
    return dt__signature_matches(signature, other_signature) && count == other_count;
}

/* Describes the first earlier call, kept by both ranks, in which the two differ; false if there is none. */
static bool find_divergence(const dt_work *work, int64_t own, int64_t rank, char *text, size_t capacity) {
    for (uint64_t seq = work->seq > DT__N_RECENT ? work->seq - DT__N_RECENT : 1; seq < work->seq; seq++) {
        const struct dt__recent_operation *a = recent_call(work, own, seq), *b = recent_call(work, rank, seq);
        char own_call[128], peer_call[128];
        if (!a || !b ||
            is_same_call(atomic_load(&a->signature), atomic_load(&a->count), atomic_load(&b->signature),
                         atomic_load(&b->count)))
            continue;
        dt__describe_recent_operation(a, own_call, sizeof own_call);
        dt__describe_recent_operation(b, peer_call, sizeof peer_call);
        snprintf(text, capacity, "at #%" PRIu64 " rank %" PRId64 " called %s, rank %" PRId64 " called %s", seq, own,
                 own_call, rank, peer_call);
        return true;
    }
    return false;
}

static dt_status fail_refused(dt_work *work, int64_t c, uint64_t seq) {
    return dt__work_fail(work, DT_ERR_MISMATCH,
                         "rank %" PRId64 " refused its call as invalid at #%" PRIu64 ", rank %" PRId64 " did not",
                         work->channel->ranks[c], seq, work->channel->ranks[work->channel->me]);
}

enum { SHOWN_CALL_BYTES = 400 };

/* This rank's call and member c's, which differ, for the error: their texts, if members publish these. */
static void describe_both(const dt_work *work, int64_t c, const struct dt__entry *entry, char *own, char *peer) {
    char texts[2][DT__CALL_TEXT_BYTES];
    const struct dt__recent_operation *recent = recent_call(work, work->channel->ranks[c], work->seq);
    dt__describe_own_operation(work, texts[0], sizeof texts[0]);
    if (recent)
        dt__describe_recent_operation(recent, texts[1], sizeof texts[1]);
    else
        dt__describe_operation(entry->signature, entry->count, "a call of the library", texts[1], sizeof texts[1]);
    if (dt__signature_has_text(work->signature))
        snprintf(texts[0], sizeof texts[0], "%s", (const char *)work->exchange->src);
    const char *published = dt__signature_has_text(entry->signature)
                                ? work->group->runtime->transport->peer_memory(work, c, entry->src, sizeof texts[1])
                                : NULL;
    if (published) {
        memcpy(texts[1], published, sizeof texts[1]);
        texts[1][sizeof texts[1] - 1] = 0;
    }
    dt__describe_difference(texts[0], texts[1], own, peer, SHOWN_CALL_BYTES);
}

/* Brings the calls that are known of a member up to date; false: it has not answered. */
static bool fetch_calls(dt_work *work, int64_t c) {
    return !work->channel->remotes || messenger_of(work)->fetch_calls(work, c);
}

/* Whether a member's call on a mesh comes after other calls than this rank's. */
static bool has_other_history(const dt_work *work, const struct dt__entry *entry) {
    for (int i = 0; i < work->n_histories; i++)
        if (work->history_words[i] && work->history_words[i] != atomic_load(&entry->histories[i]))
            return true;
    return false;
}

/* Whether the channel is broken is checked first: a rank that was late may have read memory that its owner has reused
 * since. */
dt_status dt__work_mismatch(dt_work *work, int64_t c) {
    return dt__work_mismatch_with(work, c, dt__entry_of(work, c));
}

dt_status dt__work_mismatch_with(dt_work *work, int64_t c, const struct dt__entry *entry) {
    DT__TRY(dt__check_broken(work));
    char own_call[SHOWN_CALL_BYTES], peer_call[SHOWN_CALL_BYTES], before[320], divergence[DT__REASON_BYTES];
    int64_t rank = work->channel->ranks[c], own = work->channel->ranks[work->channel->me];
    bool has_texts = dt__signature_has_text(work->signature) || dt__signature_has_text(entry->signature);
    enum dt__peer_calls calls =
        fetch_calls(work, c) && has_other_history(work, entry) ? DT__CALLS_COMPARED : DT__CALLS_RUNNING;
    describe_both(work, c, entry, own_call, peer_call);
    bool is_pair = dt__op_shapes[work->op].pair; /* whose texts differ */
    bool differ = !(entry->signature & DT__CALL_REFUSED) &&
                  (!is_same_call(work->signature, work->count, entry->signature, entry->count) ||
                   (!is_pair && strcmp(own_call, peer_call) != 0));
    if (!(differ && has_texts) && dt__describe_divergence(work, c, calls, divergence, sizeof divergence))
        return dt__work_fail(work, DT_ERR_MISMATCH, "%s", divergence);
    if (entry->signature & DT__CALL_REFUSED)
        return fail_refused(work, c, work->seq);
    if (differ)
        return dt__work_fail(work, DT_ERR_MISMATCH, "rank %" PRId64 " calls %s, rank %" PRId64 " calls %s", own,
                             own_call, rank, peer_call);
    if (find_divergence(work, own, rank, before, sizeof before))
        return dt__work_fail(work, DT_ERR_MISMATCH, "ranks %" PRId64 " and %" PRId64 " both call %s, but %s", own,
                             rank, own_call, before);
    if (is_pair)
        return dt__work_fail(work, DT_ERR_MISMATCH,
                             "rank %" PRId64 " calls %s, rank %" PRId64
                             " calls %s, but the tag, the order or the mesh "
                             "of the group differ, now or in an earlier call",
                             own, own_call, rank, peer_call);
    if (work->exchange)
        return dt__work_fail(
            work, DT_ERR_MISMATCH,
            "ranks %" PRId64 " and %" PRId64
            " both call %s, but between different specs, or after different random draws on the mesh "
            "(generators must have the same seed and the same number of draws)",
            own, rank, own_call);
    return dt__work_fail(work, DT_ERR_MISMATCH,
                         "ranks %" PRId64 " and %" PRId64
                         " both call %s, but the sizes of the blocks, the order or the "
                         "mesh of the group, or the tag differ, now or in an earlier call",
                         own, rank, own_call);
}

dt_status dt__work_fail_outside_heap(dt_work *work, int64_t c) {
    DT__TRY(dt__check_broken(work));
    return dt__work_fail(work, DT_ERR_INTERNAL, "rank %" PRId64 " published memory outside its heap",
                         work->channel->ranks[c]);
}

/* A zombie process counts as dead, which kill(pid, 0) would not report. */
static bool process_is_gone(int32_t pid) {
    if (pid <= 0 || pid == getpid())
        return false;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return errno == ESRCH || (errno == ENOSYS && kill(pid, 0) && errno == ESRCH);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    bool gone = poll(&ended, 1, 0) == 1;
    close(fd);
    return gone;
}

/* After dt_close the process of a rank may end and another may take its place: a rank may be a script that runs several
 * programs in sequence. Then only the supervisor can report its death. The state is read again after the process was
 * found gone, because a process that is alive when the state is read may close and end before it is checked. */
bool dt__rank_is_dead(const dt__board *board, int64_t rank) {
    const struct dt__rank_block *block = &board->ranks[rank];
    int32_t pid = atomic_load(&block->pid);
    if (atomic_load(&block->ended))
        return true;
    return atomic_load(&block->state) != DT__RANK_CLOSED && process_is_gone(pid) &&
           atomic_load(&block->state) != DT__RANK_CLOSED && atomic_load(&block->pid) == pid;
}

const char *dt__rank_gone_reason(const dt__board *board, int64_t rank, bool check_process, bool may_return) {
    const struct dt__rank_block *block = &board->ranks[rank];
    bool dead = check_process ? dt__rank_is_dead(board, rank) : atomic_load(&block->ended) != 0;
    bool closed = atomic_load(&block->state) == DT__RANK_CLOSED || atomic_load(&block->n_joined) > board->number;
    if (closed && !may_return)
        return "has closed its context"; /* before it died: that is why it is missing */
    return dead ? "is dead" : NULL;
}

static bool any_rank_is_gone(const dt__board *board) {
    for (int64_t rank = 0; rank < board->n_ranks; rank++)
        if (dt__rank_gone_reason(board, rank, true, false))
            return true;
    return false;
}

int64_t dt__dead_rank(const dt__board *board) {
    for (int64_t rank = 0; rank < board->n_ranks; rank++)
        if (dt__rank_is_dead(board, rank) && atomic_load(&board->ranks[rank].ended) != DT__ENDED_WELL &&
            atomic_load(&board->ranks[rank].state) != DT__RANK_CLOSED)
            return rank;
    return -1;
}

/* Adds the first line of a rank's local error: the rest, what each rank was doing, is outdated. */
static void add_error(const struct dt__rank_block *block, char *text, size_t capacity) {
    char message[sizeof block->error_text];
    memcpy(message, block->error_text, sizeof message);
    message[sizeof message - 1] = 0;
    message[strcspn(message, "\n")] = 0;
    size_t at = strlen(text);
    snprintf(text + at, capacity - at, "%s: %s", dt_status_name((dt_status)atomic_load(&block->error_status)),
             message);
}

void dt__describe_absence(const dt__board *board, int64_t rank, const char *why, char *text, size_t capacity) {
    const struct dt__rank_block *ranks = board->ranks;
    int64_t dead = dt__dead_rank(board), cause = (int64_t)atomic_load(&ranks[rank].cause) - 1;
    text[0] = 0;
    if (dead >= 0 && dead != rank)
        snprintf(text, capacity, "rank %" PRId64 " is dead; ", dead);
    size_t at = strlen(text);
    snprintf(text + at, capacity - at, "rank %" PRId64 " %s", rank, why);
    if (cause < 0)
        return;
    at = strlen(text);
    if (cause == rank)
        snprintf(text + at, capacity - at, " after ");
    else
        snprintf(text + at, capacity - at, " after rank %" PRId64 " failed with ", cause);
    add_error(&ranks[cause], text, capacity);
}

void dt__inherit_cause(dt__board *board, int64_t rank) {
    uint64_t incident = atomic_load(&board->ranks[rank].incident);
    if (incident && !atomic_load(&board->own->incident))
        atomic_store(&board->own->incident, incident | DT__INCIDENT_FOLLOWS);
    if (!atomic_load(&board->own->cause))
        atomic_store(&board->own->cause, atomic_load(&board->ranks[rank].cause));
}

/* Why a member that an operation waits for will never arrive, or NULL. A member in dt_error_clear waits for this rank
 * to clear too, unless it is about to find that another rank is gone. */
static const char *absence_reason(const dt__board *board, int64_t rank, bool check_process) {
    int32_t state = atomic_load(&board->ranks[rank].state);
    const char *gone = dt__rank_gone_reason(board, rank, check_process, false);
    if (gone)
        return gone;
    if (state == DT__RANK_CLEARING && !any_rank_is_gone(board))
        return "is in dt_error_clear";
    return state == DT__RANK_FAILED ? "has failed" : NULL;
}

/* A mismatch or timeout has the same code on all ranks; a failure of one rank is DT_ERR_PEER on the others. */
static dt_status status_for_peer(dt_status status) {
    return status == DT_ERR_MISMATCH || status == DT_ERR_TIMEOUT ? status : DT_ERR_PEER;
}

/* Why member c has broken the channel. */
static dt_status read_reason(const dt__channel *channel, int64_t c, char *reason) {
    const dt__remote *remote = channel->remotes ? &channel->remotes[c] : NULL;
    const struct dt__channel_block *block = channel->peers[c].block;
    bool by_message = remote && remote->broken;
    const char *text = by_message ? remote->reason : block->reason;
    reason[0] = 0;
    if (text)
        memcpy(reason, text, DT__REASON_BYTES);
    reason[DT__REASON_BYTES - 1] = 0;
    return by_message ? remote->broken_status : (dt_status)atomic_load(&block->broken_status);
}

dt_status dt__check_broken(dt_work *work) {
    dt__channel *channel = work->channel;
    uint32_t n_events = atomic_load(channel->board->n_events);
    bool intact = true;
    for (int64_t c = 0; c < channel->n; c++) {
        uint64_t broken = c == channel->me ? 0 : broken_by(work, c);
        intact = intact && !broken;
        if (!broken || has_finished(work, c, broken))
            continue;
        char reason[DT__REASON_BYTES];
        dt_status status = read_reason(channel, c, reason);
        dt__inherit_cause(channel->board, channel->ranks[c]);
        return dt__work_fail(work, status_for_peer(status),
                             "rank %" PRId64 " ended the group at #%" PRIu64 ": %.1000s", channel->ranks[c], broken,
                             reason);
    }
    work->n_events = n_events;
    if (intact)
        channel->n_events = n_events;
    return DT_OK;
}

/* Whether member c has published a different call for this operation, even if this rank does not read its header. */
static bool makes_another_call(dt_work *work, int64_t c) {
    if (work->refused || !dt__channel_peer_block(work->channel, c))
        return false;
    const struct dt__entry *entry = dt__entry_of(work, c);
    return atomic_load_explicit(&entry->seq, memory_order_acquire) == work->seq && !dt__header_matches(work, entry);
}

/* The number of a call that member c refused and this rank has made, or 0. */
static uint64_t refused_by(dt_work *work, int64_t c) {
    const struct dt__channel_block *block = dt__channel_peer_block(work->channel, c);
    uint64_t seq = block ? atomic_load(&block->refused) : 0;
    return seq > work->channel->refused && seq <= work->channel->started && !work->refused ? seq : 0;
}

static bool is_in_call(const struct dt__rank_block *block) {
    for (int i = 0; i < DT__N_RECENT; i++)
        if (atomic_load(&block->recent[i].channel) && atomic_load(&block->recent[i].state) == DT_IN_PROGRESS)
            return true;
    return false;
}

static bool waits_for_any(dt_work *work) {
    for (int64_t c = 0; c < work->channel->n; c++)
        if (dt__waits_for(work, c))
            return true;
    return false;
}

/* Whether member c, if its block can be read, has finished the operation. */
static bool is_done(dt_work *work, int64_t c) {
    const struct dt__channel_block *block = dt__channel_peer_block(work->channel, c);
    return block && atomic_load(&block->done) >= work->seq;
}

/* A member that died fails the operation even if this rank waits for another one: without the operation finished,
 * inside a later call, or by a signal. One that has finished it and exited between two calls does not, whatever its
 * exit code: it may have failed with an error that this rank will get, too. Nor does one that has finished it if this
 * rank already has what it waited for and only needs to notice. */
static bool has_died(dt_work *work, int64_t c, bool check_process) {
    const dt__board *board = work->channel->board;
    int64_t rank = work->channel->ranks[c];
    const struct dt__rank_block *own = &board->ranks[rank];
    int32_t ended = atomic_load(&own->ended);
    if (!ended && !(check_process && dt__rank_is_dead(board, rank)))
        return false;
    if (atomic_load(&own->state) == DT__RANK_CLOSED)
        return false;
    return !is_done(work, c) || ((is_in_call(own) || (ended && WIFSIGNALED(ended - 1))) && waits_for_any(work));
}

static enum dt__peer_calls calls_of(const struct dt__rank_block *rank) {
    bool ended = atomic_load(&rank->state) == DT__RANK_CLOSED && !atomic_load(&rank->cause);
    return ended ? DT__CALLS_ENDED : DT__CALLS_RUNNING;
}

/* Whether this rank waits for something that member c has not done yet. The close of a member that shares memory is
 * visible at once, before its last messages arrive; other members report it in a message that follows them. */
static bool needs(dt_work *work, int64_t c) {
    const dt__messenger *messenger = messenger_of(work);
    return messenger ? messenger->needs(work, c) : dt__waits_for(work, c);
}

static dt_status check_peer(dt_work *work, int64_t c, bool check_process) {
    const dt__channel *channel = work->channel;
    bool died = has_died(work, c, check_process);
    const char *why = died              ? "is dead"
                      : !needs(work, c) ? NULL
                                        : absence_reason(channel->board, channel->ranks[c], check_process);
    if (refused_by(work, c))
        return fail_refused(work, c, refused_by(work, c));
    if (makes_another_call(work, c))
        return dt__work_mismatch(work, c);
    char reason[DT__REASON_BYTES];
    if (why && dt__waits_for(work, c))
        (void)fetch_calls(work, c);
    if ((check_process || why) && dt__waits_for(work, c) &&
        dt__describe_divergence(work, c, calls_of(&channel->board->ranks[channel->ranks[c]]), reason, sizeof reason))
        return dt__work_fail(work, DT_ERR_MISMATCH, "%s", reason);
    if (!why || !(died || needs(work, c)))
        return DT_OK;
    DT__TRY(dt__check_broken(work));
    dt__inherit_cause(channel->board, channel->ranks[c]);
    dt__describe_absence(channel->board, channel->ranks[c], why, reason, sizeof reason);
    return dt__work_fail(work, DT_ERR_PEER, "%s", reason);
}

/* A member that detects a failure publishes it before it exits: so this checks first whether it is gone, and then what
 * it published. */
dt_status dt__check_peers(dt_work *work, bool check_process) {
    DT__TRY(dt__check_broken(work));
    if (check_process && work->channel->remotes)
        messenger_of(work)->request_calls(work);
    for (int64_t c = 0; c < work->channel->n; c++)
        if (c != work->channel->me)
            DT__TRY(check_peer(work, c, check_process));
    return DT_OK;
}

bool dt__has_called(const dt_work *work, int64_t rank) { return recent_call(work, rank, work->seq); }

/* A list of ranks, the first 128 by name. */
struct rank_set {
    uint64_t bits[2], n;
};

static void add_rank(struct rank_set *set, int64_t rank) {
    uint64_t bit = rank < 128 ? UINT64_C(1) << rank % 64 : 0;
    if (bit && set->bits[rank / 64] & bit)
        return;
    set->n++;
    if (bit)
        set->bits[rank / 64] |= bit;
}

static bool all_are_in_calls(const dt__board *board, const struct rank_set *set) {
    for (int64_t rank = 0; rank < board->n_ranks && rank < 128; rank++)
        if (set->bits[rank / 64] >> rank % 64 & 1 && !dt__operation_in_progress(&board->ranks[rank]))
            return false;
    return true;
}

/* Members on other nodes are asked what they are doing; if the last missing one arrives meanwhile, the operation
 * continues. A member that is itself waiting for another rank is not to blame: the error begins with the rank that it
 * waits for. */
dt_status dt__work_timed_out(dt_work *work) {
    const dt__board *board = work->channel->board;
    struct rank_set missing = {0}, blamed = {0};
    char missing_text[160], blamed_text[160], waiting[200] = "", stopped[64] = "";
    if (work->channel->remotes)
        messenger_of(work)->fetch_all_calls(work, SHOWN_MEMBERS);
    for (int64_t c = 0; c < work->channel->n; c++)
        if (dt__waits_for(work, c)) {
            add_rank(&missing, work->channel->ranks[c]);
            add_rank(&blamed, dt__last_awaited(board->ranks, board->n_ranks, work->channel->ranks[c]));
        }
    if (!missing.n && work->channel->remotes)
        return DT_OK;
    dt__describe_set(missing.bits, missing.n, missing_text, sizeof missing_text);
    dt__describe_set(blamed.bits, blamed.n, blamed_text, sizeof blamed_text);
    if (strcmp(missing_text, blamed_text) != 0)
        snprintf(waiting, sizeof waiting, ", for which %s waits", missing_text);
    const char *elsewhere = "";
    if (board->runtime->shares_mpi && !all_are_in_calls(board, &blamed))
        elsewhere = "; a rank that is in no call of dtensor computes, or waits in a call of MPI itself";
    int64_t rank = dt__stopped_rank(board->ranks, board->n_ranks);
    if (rank >= 0)
        snprintf(stopped, sizeof stopped, "rank %" PRId64 " is stopped; ", rank);
    return dt__work_fail(work, DT_ERR_TIMEOUT,
                         "%s%s did not arrive within %g s%s%s; DTENSOR_TIMEOUT changes the deadline", stopped,
                         blamed_text, board->runtime->timeout_s, waiting, elsewhere);
}
