/* SPDX-License-Identifier: Apache-2.0
 *
 * Internals of the mpi transport. Ranks of one node use the shm transport among themselves, unchanged. A channel with
 * members on several nodes *spans*: its operations are sequences of stages, each a set of messages between members and
 * a computation on them (mpi_operation.c); the messages are packets of MPI (mpi_packet.c). What ranks of other nodes
 * report about themselves is kept in their blocks of the segment, which are private memory of this process, so that the
 * functions for failures and texts serve both.
 */
#ifndef DT_CLUSTER_SPANNING_H
#define DT_CLUSTER_SPANNING_H

#include "cluster/algorithm_choice.h"
#include "cluster/cluster.h"
#include "comm/comm.h"
#include "mpi/mpi.h"
#include "shm/shm.h"

#include <stddef.h>

enum dt__packet_kind {
    DT__PACKET_DATA,     /* a message of an operation: the data is in the packet, and in those that follow, or in a
                          * message with its tag */
    DT__PACKET_CALL,     /* the call that a rank is in, for the receiver to compare; also one that the rank refused */
    DT__PACKET_VERDICT,  /* a verdict that the sender of a message has, before its data (comm/verdict.h) */
    DT__PACKET_BREAK,    /* the sender has broken the channel; text: the reason */
    DT__PACKET_STATE,    /* the sender's state has changed; text: its error */
    DT__PACKET_CREDIT,   /* the sender has taken seq DATA packets of the channel */
    DT__PACKET_NUMBERED, /* in dt_error_clear: operations of the channel that the sender has numbered */
    DT__PACKET_QUESTION, /* requests the receiver's calls (remote_calls.c) */
    DT__PACKET_CALLS,    /* the answer, or a part of it */
    DT__PACKET_NONE,     /* not a packet of the library */
};

/* What every message begins with. */
struct dt__packet_head {
    uint32_t magic;
    uint16_t kind, text_bytes; /* payload of the packet, data or text */
    uint64_t key, seq;         /* of the channel and the operation */
    uint32_t stage;
    uint32_t tag;   /* of the message with the data, if it is not in the packet */
    uint64_t bytes; /* of the data */
    uint64_t signature, count, check, histories[2];
    int32_t status, state; /* of BREAK, and of STATE: error and state */
    uint32_t n_joined, n_ready, n_cleared, cause;
};

enum {
    DT__PACKET_BYTES = 4000, /* all MPIs send as much without waiting for the receiver */
    DT__PACKET_PAYLOAD = DT__PACKET_BYTES - (int)sizeof(struct dt__packet_head),
    DT__N_POSTED = 32,           /* packets for which receives are posted */
    DT__N_SPARE = 32,            /* and more for which there is memory from the start */
    DT__N_RESERVED = 16,         /* of those, for packets that are sent: reports of errors need no memory */
    DT__PACKET_WINDOW = 128,     /* DATA packets of a channel to one member that it has not taken yet */
    DT__MAX_DATA_PACKETS = 5,    /* that the data of a message is sent in; more data has messages of its own */
    DT__MESSAGE_BYTES = 1 << 30, /* at most in one message, unless a test lowers it */
};

struct dt__packet {
    struct dt__packet_head head;
    unsigned char payload[DT__PACKET_PAYLOAD];
};

/* A packet that arrived before its operation, or one that is being sent. */
struct dt__held_packet {
    struct dt__held_packet *next;
    dt__mpi_request request;
    int64_t rank; /* that sent it, or that it is sent to */
    struct dt__packet packet;
};

/* The data of one message of an operation that has failed: MPI still refers to it. */
struct dt__abandoned {
    struct dt__abandoned *next;
    dt__mpi_request request;
};

/* What this rank has requested from a rank of another node. */
struct dt__inquiry {
    uint64_t n_requested, n_answered;
    int64_t requested_ns, unanswered_ns; /* the last time; the first that is not answered */
};

typedef struct dt__mpi {
    dt__runtime *runtime;
    const dt__mpi_table *table;
    dt__mpi_world *world;
    int32_t node, n_nodes;
    struct dt__held_packet *posted[DT__N_POSTED];
    int next_posted; /* receives complete in the order they were posted */
    struct dt__held_packet *sending, *arrived, *unused;
    int n_unused;
    uint32_t n_idle_tests; /* that found no packet, while packets were being sent */
    int64_t idle_ns;       /* when a test found no packet: all that had arrived were taken */
    struct dt__abandoned *abandoned;
    dt_work *active; /* operations of spanning channels in progress */
    struct dt__span *spare_spans;
    dt__algorithm_choice forced; /* DTENSOR_TEST_ALGORITHM of rank 0 */
    size_t message_bytes;        /* at most in one message; DTENSOR_TEST_MESSAGE_BYTES of rank 0 */
    uint32_t n_tags;
    bool test_yields;     /* a test of MPI yields the core by itself */
    bool failed;          /* MPI has reported an error */
    bool out_of_memory;   /* for a packet: operations fail until errors are cleared */
    bool is_stalled;      /* the packet at next_posted has arrived, and there was no memory to keep it */
    bool has_lost;        /* MPI still owns a request */
    dt__map retired_keys; /* of channels that this rank has not used and other members retired; value: epoch */
    struct dt__inquiry *inquiries; /* [world] */
} dt__mpi;

/* The error of a context that outlives MPI. */
extern const char dt__finalized_text[];

static inline dt__mpi *dt__mpi_of(const dt__runtime *runtime) { return runtime->state; }

/* mpi_packet.c */
dt_status dt__packets_open(dt__mpi *mpi);
/* Cancels the receives posted for packets, before MPI is finalized: operations between nodes fail from then on. */
void dt__packets_cancel(dt__mpi *mpi);
/* False: a message is still in transfer. */
bool dt__packets_close(dt__mpi *mpi);
/* Sends a packet with a payload; errors of MPI are recorded in mpi->failed. */
void dt__packet_send(dt__mpi *mpi, int64_t to, struct dt__packet_head head, const void *payload, size_t bytes);
/* Takes the next packet, if one has arrived; or all that have. A test of MPI may yield the core, so an operation tests
 * no more than it needs to. */
bool dt__mpi_take_packet(dt__mpi *mpi);
void dt__mpi_progress(dt__mpi *mpi);
/* Takes the packets of a channel that arrived before it existed, or before the operation or stage that they are for. */
void dt__packets_take_arrived(dt__mpi *mpi, uint64_t key);
/* Whether packets are being sent; tests them. */
bool dt__packets_are_leaving(dt__mpi *mpi);
/* Whether packets are being sent to ranks that have not closed: a closed rank takes nothing until it finalizes MPI. */
bool dt__packets_are_awaited(dt__mpi *mpi);
void dt__packet_free(dt__mpi *mpi, struct dt__held_packet *packet);
/* The functions of dt__messenger. */
void dt__announce_state(dt__runtime *runtime);
void dt__announce_numbered(dt__channel *channel);
/* When all ranks clear errors and channels that are out of step are retired: forgets what belongs to these. */
void dt__packets_before_clear(dt__runtime *runtime);
void dt__packets_after_clear(dt__runtime *runtime);
/* Whether other members retired the channel of this key, which this rank has not used, at this clear or before. */
bool dt__key_is_retired(const dt__runtime *runtime, uint64_t key, uint32_t epoch);
void dt__announce_break(dt__channel *channel, uint64_t seq, dt_status status, const char *reason);
bool dt__is_remote(const dt__runtime *runtime, int64_t rank);

/* remote_calls.c: what ranks of other nodes are doing. */
/* Requests the calls of member c and waits for the answer, briefly. False: c has not answered. */
bool dt__calls_fetch(dt_work *work, int64_t c);
/* Requests the calls of up to `max` members on other nodes, missing ones first. */
void dt__calls_fetch_all(dt_work *work, int max);
/* Requests those of the members that the operation waits for, from time to time; answers arrive later. */
void dt__calls_ask_missing(dt_work *work);
/* For how many seconds a rank has not answered; 0: nothing was requested, or it has answered. */
double dt__calls_unanswered(const dt__runtime *runtime, int64_t rank);
/* A question or an answer has arrived. */
void dt__calls_take(dt__mpi *mpi, int64_t from, const struct dt__packet *packet);
void dt__calls_forget(dt__mpi *mpi);
dt_status dt__calls_open(dt__mpi *mpi);
void dt__calls_close(dt__mpi *mpi);

/* mpi_operation.c */
dt_status dt__span_start(dt_work *work);
dt_status dt__span_step(dt_work *work);
bool dt__span_waits_for(const dt_work *work, int64_t c);
/* Whether the operation waits for member c, leaving out messages that are in transfer and not overdue. */
bool dt__span_needs(const dt_work *work, int64_t c);
/* Frees the operation's state; what is in transfer is abandoned. */
void dt__span_end(dt_work *work);
/* A packet of an operation has arrived; false: it is to be kept until the operation starts. */
bool dt__span_take(dt__mpi *mpi, struct dt__held_packet *packet);
/* Publishes the call to the members that the operation waits for, so that they compare it. */
void dt__span_publish_call(dt_work *work);

/* A schedule: the stages of an operation on this rank, one after the other. A stage is a set of messages, all in
 * transfer at once, a collective of the members on this node, by shm, or both; and tasks, which run at its end.
 * Messages belong to the stage that has the same number on their sender and their receiver. */
struct dt__span_message {
    int64_t c; /* member of the channel */
    unsigned char *data;
    size_t bytes, at; /* at: bytes that are complete */
    bool sends, begun, done;
    int64_t begun_ns; /* when its current piece began */
    uint32_t tag;
    dt__mpi_request request; /* of the message in transfer, if begun and not done */
};
/* Copies n bytes, or reduces n elements of n_sources sources, in their order. */
struct dt__span_task {
    unsigned char *dst;
    const unsigned char *src;
    int64_t first_source, n_sources; /* 0 sources: a copy */
    size_t n;
    dt_reduce reduce;
};
struct dt__stage {
    int64_t first, n; /* transfers */
    int64_t first_task, n_tasks;
    uint32_t number;                   /* among the stages with messages */
    bool is_local;                     /* with a collective of the members on this node, by shm */
    dt_comm_call call;                 /* that one, without its counts */
    int64_t counts_at, recv_counts_at; /* of the call in the schedule's counts; -1: none */
};
/* An array of a schedule; its memory is kept for the next operation. */
typedef struct dt__span_array {
    void *items;
    int64_t n, capacity;
} dt__span_array;
enum { DT__SPAN_SMALL_BYTES = 16384, DT__SPAN_MAX_SCRATCH = 8 };
typedef struct dt__span {
    dt__mpi *mpi;
    dt_work *next;          /* of the active operations */
    struct dt__span *spare; /* next of those that no operation uses */
    dt__span_array stages, transfers, tasks, sources, counts;
    int64_t stage, last_local; /* current stage; the last one that is local, or -1 */
    uint32_t n_message_stages;
    dt_work local;                       /* of the stage, if it is local */
    bool is_running, local_done;         /* `local` */
    void *scratch[DT__SPAN_MAX_SCRATCH]; /* in the heap */
    int n_scratch;
    bool out_of_memory; /* while the schedule was made */
    bool begun;         /* the stage */
    bool is_published;  /* the call, because the wait is long */
    bool differs;       /* `other` is the header of a member that makes another call */
    int64_t other_c;
    struct dt__packet_head other;
    size_t small_bytes; /* used of `small`: scratch of up to DT__EXCHANGE_COPIED_BYTES, which shm copies anyway */
    _Alignas(max_align_t) unsigned char small[DT__SPAN_SMALL_BYTES];
} dt__span;

void dt__spans_free(dt__mpi *mpi);

/* span_schedule.c: what schedules are made of. When memory is short, span->out_of_memory is set. */
size_t dt__span_bytes(const dt_work *work, int64_t count);
/* Memory that the operation owns until its end. */
unsigned char *dt__span_scratch(dt_work *work, size_t bytes);
void dt__span_add_stage(dt_work *work);
/* A collective of the members on this node; its counts, one per member on the node, are copied; NULL: equal blocks. */
void dt__span_add_local(dt_work *work, dt_comm_call call, const int64_t *counts, const int64_t *recv_counts);
/* Adds the collective to the last stage if that has messages: for one that does not need what they bring. */
void dt__span_add_local_beside(dt_work *work, dt_comm_call call, const int64_t *counts, const int64_t *recv_counts);
/* Add a message of the last stage, which was added for messages, to or from a member of the group. */
void dt__span_send(dt_work *work, int64_t i, const void *data, size_t bytes);
void dt__span_receive(dt_work *work, int64_t i, void *data, size_t bytes);
/* Add a task of the last stage, or of an empty one if there is none. */
void dt__span_copy(dt_work *work, void *dst, const void *src, size_t bytes);
void dt__span_reduce(dt_work *work, void *dst, const void *const *sources, int64_t n_sources, int64_t n,
                     dt_reduce reduce);
/* The reduction of all steps but the last: the average is a sum until then. */
dt_reduce dt__partial_reduce(const dt_work *work);
/* The k-th of n slices of a range, aligned to cache lines. */
struct dt__slice {
    int64_t first, n;
};
struct dt__slice dt__slice_of(int64_t count, int64_t n, int64_t k, size_t item_bytes);

/* node_group.c */
/* The members of the group on this node as a group of its own, for the shm part of operations; NULL with the error. */
dt_group *dt__node_group(dt_work *work);
/* Frees it, and the layout of the group. */
void dt__node_group_release(dt__runtime *runtime, dt_group *group);

/* node_hierarchy.c: makes the schedule of a call. */
dt_status dt__span_schedule(dt_work *work);

/* mpi_wait.c */
dt_status dt__mpi_pause(dt__runtime *runtime, dt_work *work, struct dt__pause *pause);
dt_status dt__mpi_check_failure(dt__runtime *runtime, dt_work *work);

/* node_segment.c */
/* Maps private blocks of this process for the ranks of other nodes. */
bool dt__node_segment_separate(struct dt__segment *segment, const int32_t *node_of, int32_t node);
/* The segment of this rank's node, made by its first rank and passed to the others. Collective over the
 * node; nonce: a random number that they share. -1 with the text of the error. */
int dt__node_segment_pass(int n_others, int fd, uint64_t nonce, char *error, size_t error_bytes);
int dt__node_segment_receive(uint64_t nonce, char *error, size_t error_bytes);

#endif
