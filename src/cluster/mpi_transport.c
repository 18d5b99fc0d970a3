/* SPDX-License-Identifier: Apache-2.0
 *
 * The mpi transport: joining and leaving. Rank, world and the nodes come from MPI; each node gets a segment like that
 * of a launch, made by its first rank, and from then on its ranks use shm among themselves. In dt_init all ranks agree
 * after each phase: if one fails, all fail with its text. DTENSOR_NODES=n pretends that the ranks are on n nodes, in
 * blocks of consecutive ranks, so that everything between nodes can be run on one machine.
 */
#include "cluster/spanning.h"

#include "base/quantity.h"
#include "base/size.h"
#include "cluster/core_shares.h"
#include "cluster/mpi_library.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

const char dt__finalized_text[] =
    "MPI_Finalize was called while the context was open; call dt_close before MPI_Finalize";

#define LINGER_NS INT64_C(2000000000)

/* What a joining rank sends to the others. */
struct hello {
    int64_t n_nodes;             /* of DTENSOR_NODES; 0: as they are */
    dt__algorithm_choice forced; /* DTENSOR_TEST_ALGORITHM */
    int64_t message_bytes;       /* DTENSOR_TEST_MESSAGE_BYTES */
    dt__rank_cpus cpus;          /* the CPUs that it may use */
    uint64_t nonce;              /* a random number for its node */
    int32_t status;              /* a failure, and its text */
    char text[DT__MPI_ERROR_BYTES];
};

struct joining {
    dt__runtime *runtime;
    dt__mpi *mpi;
    struct hello own, *all;
    const int *hosts;        /* the lowest rank of each rank's host */
    int64_t *local, n_local; /* ranks of this node */
    int64_t n_here, n_cores; /* ranks of this host, and their cores */
    dt__ticket ticket;
};

static dt_status fail_joining(struct joining *self, dt_status status, const char *format, ...) DT_PRINTF(3);
static dt_status fail_joining(struct joining *self, dt_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(self->own.text, sizeof self->own.text, format, args);
    va_end(args);
    return self->own.status = status;
}

/* All ranks get the failure of the first that has one. */
static dt_status agree(struct joining *self) {
    dt_ctx *ctx = self->runtime->ctx;
    char error[DT__MPI_ERROR_BYTES] = "";
    if (!self->mpi->table->all_gather(self->mpi->world, &self->own, self->all, sizeof self->own, error))
        return dt__fail(ctx, DT_ERR_SYSTEM, "transport mpi: %s", error);
    for (int64_t i = 0; i < ctx->world; i++)
        if (self->all[i].status)
            return dt__fail(ctx, (dt_status)self->all[i].status, "transport mpi: rank %" PRId64 ": %s", i,
                            self->all[i].text);
    return DT_OK;
}

static void read_environment(struct joining *self) {
    const char *text = getenv("DTENSOR_NODES");
    self->own.cpus = self->runtime->cpus;
    if (getrandom(&self->own.nonce, sizeof self->own.nonce, 0) != sizeof self->own.nonce)
        self->own.nonce = (uint64_t)getpid() << 32 ^ (uint64_t)dt__now_ns();
    if (text && *text && !dt__count_parse(text, DT__MAX_RANKS, &self->own.n_nodes))
        fail_joining(self, DT_ERR_VALUE, "DTENSOR_NODES: expected an integer from 1 to %d, got \"%.64s\"",
                     DT__MAX_RANKS, text);
    const char *algorithm = getenv("DTENSOR_TEST_ALGORITHM");
    self->own.forced = (dt__algorithm_choice){DT__N_ROUTES, DT__N_ALGORITHMS, 0};
    if (algorithm && *algorithm && !dt__algorithm_choice_parse(algorithm, &self->own.forced))
        fail_joining(
            self, DT_ERR_VALUE,
            "DTENSOR_TEST_ALGORITHM: expected a route, an algorithm, or both such as shares/ring, got \"%.64s\"",
            algorithm);
    const char *bytes = getenv("DTENSOR_TEST_MESSAGE_BYTES");
    self->own.message_bytes = DT__MESSAGE_BYTES;
    if (bytes && *bytes && !dt__count_parse(bytes, DT__MESSAGE_BYTES, &self->own.message_bytes))
        fail_joining(self, DT_ERR_VALUE,
                     "DTENSOR_TEST_MESSAGE_BYTES: expected an integer from 1 to %d, got \"%.64s\"", DT__MESSAGE_BYTES,
                     bytes);
}

/* The number of a rank's pretended node, 0 if nothing is pretended. */
static int64_t block_of(const struct joining *self, int64_t rank) {
    int64_t n = self->all[0].n_nodes;
    return n ? rank * n / self->runtime->ctx->world : 0;
}

static bool same_node(const struct joining *self, int64_t a, int64_t b) {
    return self->hosts[a] == self->hosts[b] && block_of(self, a) == block_of(self, b);
}

/* Numbers the nodes in the order of their lowest ranks. */
static void find_nodes(struct joining *self) {
    dt__runtime *runtime = self->runtime;
    int64_t world = runtime->ctx->world, me = runtime->ctx->rank;
    int32_t n = 0;
    for (int64_t rank = 0; rank < world; rank++) {
        int64_t first = self->hosts[rank];
        while (!same_node(self, first, rank))
            first++;
        runtime->node_of[rank] = first == rank ? n++ : runtime->node_of[first];
        if (same_node(self, rank, me))
            self->local[self->n_local++] = rank;
    }
    self->mpi->node = runtime->node_of[me];
    self->mpi->n_nodes = n;
}

static dt_status count_cores(struct joining *self) {
    dt_ctx *ctx = self->runtime->ctx;
    size_t bytes = (size_t)ctx->world * sizeof(dt__rank_cpus);
    dt__rank_cpus *here = dt__alloc(ctx, bytes);
    if (!here)
        return dt__fail_memory(ctx, bytes, "the CPUs of ranks");
    int64_t me = 0;
    for (int64_t rank = 0; rank < ctx->world; rank++) {
        if (self->hosts[rank] != self->hosts[ctx->rank])
            continue;
        me = rank == ctx->rank ? self->n_here : me;
        here[self->n_here++] = self->all[rank].cpus;
    }
    self->n_cores = dt__share_cores(here, self->n_here, me, &self->runtime->cores_per_rank);
    dt__free(ctx, here, bytes);
    return DT_OK;
}

/* Rank 0's model is that of all. */
static dt_status share_machine(struct joining *self, dt__machine *machine) {
    char error[DT__MACHINE_ERROR_BYTES] = "";
    int64_t rank = self->runtime->ctx->rank;
    *machine = dt__machine_builtin;
    if (rank == 0 && !dt__machine_from_environment(machine, error, sizeof error))
        fail_joining(self, DT_ERR_VALUE, "%.400s", error);
    DT__TRY(agree(self));
    if (!self->mpi->table->broadcast(self->mpi->world, machine, sizeof *machine, 0, error))
        return dt__fail(self->runtime->ctx, DT_ERR_SYSTEM, "transport mpi: %s", error);
    return DT_OK;
}

static struct dt__segment *make_segment(struct joining *self, const dt_init_options *options) {
    size_t bytes =
        options->heap_bytes ? options->heap_bytes : dt__heap_share(self->runtime->heap_memory, self->n_here);
    char error[256] = "";
    struct dt__segment *segment = dt__segment_create(self->runtime->ctx->world, self->local, self->n_local, bytes,
                                                     &self->ticket.fd, error, sizeof error);
    if (!segment)
        fail_joining(self, DT_ERR_SYSTEM, "%s", error);
    else
        self->own.nonce = segment->nonce;
    return segment;
}

/* The first rank of the node makes the segment; afterwards self->ticket is this rank's ticket. */
static dt_status join_node(struct joining *self, const dt_init_options *options, const dt__machine *machine) {
    bool makes = self->local[0] == self->runtime->ctx->rank;
    struct dt__segment *segment = makes ? make_segment(self, options) : NULL;
    if (segment)
        dt__segment_set_machine(segment, machine);
    char error[256] = "";
    dt_status status = agree(self);
    self->ticket.nonce = self->all[self->local[0]].nonce;
    self->ticket.rank = self->runtime->ctx->rank;
    self->ticket.n_cores = self->n_here <= self->n_cores ? self->n_local : 0;
    if (status == DT_OK && makes) {
        if (dt__node_segment_pass((int)self->n_local - 1, self->ticket.fd, self->ticket.nonce, error, sizeof error))
            fail_joining(self, DT_ERR_SYSTEM, "%s", error);
    } else if (status == DT_OK) {
        self->ticket.fd = dt__node_segment_receive(self->ticket.nonce, error, sizeof error);
        if (self->ticket.fd < 0)
            fail_joining(self, DT_ERR_SYSTEM, "%s", error);
    }
    dt__segment_unmap(segment);
    return status == DT_OK ? agree(self) : status;
}

/* Ranks are numbered host by host in meshes, where the nodes are equal blocks of ranks. */
static int64_t ranks_per_host(const dt__runtime *runtime, int32_t n_nodes) {
    int64_t world = runtime->ctx->world, size = world / n_nodes;
    for (int64_t rank = 0; rank < world; rank++)
        if (size * n_nodes != world || runtime->node_of[rank] != rank / size)
            return 0;
    return n_nodes > 1 ? size : 0;
}

static dt_status join_world(struct joining *self, const dt_init_options *options) {
    dt__runtime *runtime = self->runtime;
    dt__mpi *mpi = self->mpi;
    dt__machine machine;
    read_environment(self);
    DT__TRY(agree(self));
    mpi->forced = self->all[0].forced;
    mpi->message_bytes = (size_t)self->all[0].message_bytes;
    find_nodes(self);
    DT__TRY(count_cores(self));
    DT__TRY(share_machine(self, &machine));
    DT__TRY(join_node(self, options, &machine));
    if (dt__transport_shm.open(runtime, options, &self->ticket) != DT_OK)
        fail_joining(self, runtime->ctx->status, "%.400s", runtime->ctx->text);
    else if (!dt__node_segment_separate(dt__segment_of(runtime), runtime->node_of, mpi->node))
        fail_joining(self, DT_ERR_SYSTEM, "cannot map memory for the ranks of other nodes");
    else if (dt__packets_open(mpi) != DT_OK)
        fail_joining(self, DT_ERR_SYSTEM, "cannot receive packets");
    dt_status status = agree(self);
    if (status != DT_OK && runtime->board)
        dt__transport_shm.close(runtime);
    runtime->ctx->ranks_per_host = ranks_per_host(runtime, mpi->n_nodes);
    return status;
}

static void free_mpi(dt__runtime *runtime, dt__mpi *mpi, bool clean) {
    dt_ctx *ctx = runtime->ctx;
    clean = dt__packets_close(mpi) && clean;
    if (mpi->world)
        mpi->table->close(mpi->world, clean);
    dt__spans_free(mpi);
    dt__map_free(&mpi->retired_keys);
    dt__free(ctx, runtime->node_of, (size_t)ctx->world * sizeof *runtime->node_of);
    dt__free(ctx, mpi, sizeof *mpi);
    runtime->node_of = NULL;
}

static dt_status open_mpi(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket) {
    dt_ctx *ctx = runtime->ctx;
    char error[DT__ERROR_TEXT_BYTES - 256] = "";
    int rank = 0, n_ranks = 0;
    (void)ticket;
    dt__mpi *mpi = dt__alloc_zeroed(ctx, sizeof *mpi);
    if (!mpi)
        return dt__fail_memory(ctx, sizeof *mpi, "the mpi transport");
    *mpi = (dt__mpi){.runtime = runtime, .retired_keys = dt__map_new(ctx)};
    struct joining self = {.runtime = runtime, .mpi = mpi, .ticket = {.fd = -1}};
    mpi->table = dt__mpi_load(error, sizeof error);
    mpi->test_yields = mpi->table && mpi->table->test_yields();
    if (mpi->table)
        mpi->world = mpi->table->open(options->mpi_comm, &rank, &n_ranks, &self.hosts, error);
    if (!mpi->world) {
        dt__free(ctx, mpi, sizeof *mpi);
        return dt__fail(ctx, DT_ERR_SYSTEM, "transport mpi: %s", error);
    }
    ctx->rank = rank;
    ctx->world = n_ranks;
    size_t n = (size_t)n_ranks;
    runtime->node_of = dt__alloc(ctx, n * sizeof *runtime->node_of);
    self.all = dt__alloc(ctx, n * sizeof *self.all);
    self.local = dt__alloc(ctx, n * sizeof *self.local);
    dt_status status = runtime->node_of && self.all && self.local
                           ? join_world(&self, options)
                           : dt__fail_memory(ctx, n * sizeof *self.all, "the ranks of the world");
    dt__free(ctx, self.all, n * sizeof *self.all);
    dt__free(ctx, self.local, n * sizeof *self.local);
    if (self.ticket.fd >= 0)
        close(self.ticket.fd);
    if (status != DT_OK) {
        free_mpi(runtime, mpi, false);
        return status;
    }
    runtime->state = mpi;
    return DT_OK;
}

static bool all_have_closed(const dt__board *board) {
    for (int64_t rank = 0; rank < board->n_ranks; rank++)
        if (dt__rank_is_open(&board->ranks[rank]))
            return false;
    return true;
}

/* Waits until the packets of this rank have left, except those to ranks that have closed, which no longer receive.
 * After a failure it also waits briefly until the other ranks have closed: a launcher may kill all of them when the
 * first one exits, before they have reported their errors. Meanwhile messages of failed operations, which no rank will
 * receive, are discarded so that their senders can close. */
static void linger(dt__mpi *mpi, bool failed) {
    int64_t deadline = dt__now_ns() + LINGER_NS;
    while (dt__now_ns() < deadline) {
        dt__mpi_progress(mpi);
        if (!dt__packets_are_awaited(mpi) && !mpi->abandoned && (!failed || all_have_closed(mpi->runtime->board)))
            return;
        if (failed)
            mpi->table->discard(mpi->world);
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
}

static void on_finalize(void *mpi) { dt__packets_cancel(mpi); }

/* Threads compute, and one of them calls MPI: a program that initialized MPI with a lower thread level gets a
 * warning. */
static void opened_mpi(dt__runtime *runtime) {
    char warning[DT__MPI_ERROR_BYTES];
    dt_ctx *ctx = runtime->ctx;
    dt__mpi_of(runtime)->table->watch(dt__mpi_of(runtime)->world, on_finalize, dt__mpi_of(runtime));
    runtime->shares_mpi = dt__mpi_of(runtime)->table->is_shared();
    if (dt__mpi_of(runtime)->table->lacks_threads(ctx->threads, warning) && ctx->rank == 0)
        dt__log(ctx, DT_LOG_WARN, "transport mpi: %s", warning);
}

static void closing_mpi(dt__runtime *runtime) {
    if (dt__mpi_of(runtime)->table->is_finalized())
        dt__fail(runtime->ctx, DT_ERR_STATE, "%s", dt__finalized_text);
}

static void close_mpi(dt__runtime *runtime) {
    dt__mpi *mpi = dt__mpi_of(runtime);
    bool is_finalized = mpi->table->is_finalized();
    bool failed = runtime->ctx->status != DT_OK || runtime->board->out_of_step;
    dt__board_leave(runtime->board);
    if (!is_finalized)
        linger(mpi, failed);
    bool clean = !is_finalized && (!failed || all_have_closed(runtime->board));
    if (mpi->abandoned || mpi->has_lost) /* MPI may still read what failed calls sent from the heap */
        dt__segment_keep_mapped(runtime);
    runtime->state = NULL;
    dt__transport_shm.close(runtime);
    free_mpi(runtime, mpi, clean);
}

/* An operation of a channel whose members are all on this node is one of shm. */
static dt_status start_mpi(dt__runtime *runtime, dt_work *work) {
    return work->channel->remotes ? dt__span_start(work) : dt__transport_shm.start(runtime, work);
}

static dt_status step_mpi(dt__runtime *runtime, dt_work *work) {
    return work->span ? dt__span_step(work) : dt__transport_shm.step(runtime, work);
}

static bool waits_for(dt_work *work, int64_t c) {
    return work->span ? dt__span_waits_for(work, c) : dt__transport_shm.waits_for(work, c);
}

static bool needs(dt_work *work, int64_t c) {
    return work->span ? dt__span_needs(work, c) : dt__transport_shm.waits_for(work, c);
}

static void end_mpi(dt_work *work) {
    dt__span_end(work);
    dt__transport_shm.end(work);
}

static const void *peer_memory(const dt_work *work, int64_t c, uint64_t at, size_t bytes) {
    return dt__transport_shm.peer_memory(work, c, at, bytes);
}

static void notify(dt__board *board) { dt__transport_shm.notify(board); }
static void wake(const dt__channel *channel) { dt__transport_shm.wake(channel); }

/* Ranks of other nodes cannot wake this one. */
static void sleep_mpi(dt__board *board, bool (*ready)(void *arg), void *arg) {
    dt__mpi *mpi = dt__mpi_of(board->runtime);
    if (!mpi) {
        dt__transport_shm.sleep(board, ready, arg);
        return;
    }
    dt__mpi_progress(mpi);
    if (!ready(arg))
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static const dt__messenger messenger = {
    .send_state = dt__announce_state,
    .send_break = dt__announce_break,
    .send_numbered = dt__announce_numbered,
    .is_retired = dt__key_is_retired,
    .is_remote = dt__is_remote,
    .needs = needs,
    .fetch_calls = dt__calls_fetch,
    .fetch_all_calls = dt__calls_fetch_all,
    .request_calls = dt__calls_ask_missing,
    .silence = dt__calls_unanswered,
    .before_clear = dt__packets_before_clear,
    .after_clear = dt__packets_after_clear,
};

const dt__transport dt__transport_mpi = {
    .name = "mpi",
    .has_data = true,
    .open = open_mpi,
    .opened = opened_mpi,
    .closing = closing_mpi,
    .close = close_mpi,
    .start = start_mpi,
    .step = step_mpi,
    .pause = dt__mpi_pause,
    .check_failure = dt__mpi_check_failure,
    .release_group = dt__node_group_release,
    .waits_for = waits_for,
    .end = end_mpi,
    .peer_memory = peer_memory,
    .notify = notify,
    .wake = wake,
    .sleep = sleep_mpi,
    .messenger = &messenger,
};
