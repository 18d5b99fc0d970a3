/* SPDX-License-Identifier: Apache-2.0
 *
 * The internal interface of communication, used by other folders, dtrun and tests beyond the public header. In order:
 * the state of a context, observers, groups of meshes, exchanges, ranks as threads, launches. How bytes move between
 * ranks is decided inside this folder.
 */
#ifndef DT_COMM_COMM_H
#define DT_COMM_COMM_H

#include "base/ctx.h"
#include "comm/call_history.h"
#include "comm/node_cpus.h"
#include "dtensor/comm.h"
#include "kernels/kernels.h"

/* The name of the context's transport ("shm"), or NULL without one (a context of dt__ctx_new). */
const char *dt__transport_name(const dt_ctx *ctx);
/* Whether collectives move data: not on the fake transport, nor without a transport. */
bool dt__transport_has_data(const dt_ctx *ctx);
/* The kernels of this rank. */
const dt__kernels *dt__rank_kernels(const dt_ctx *ctx);
/* The threads of this rank, started on first use; NULL: one thread. */
dt__pool *dt__pool_of(dt_ctx *ctx);
/* The number of collective dt_error_clear calls so far. */
uint32_t dt__clear_epoch(const dt_ctx *ctx);
/* Whether all of this memory is in this rank's heap, where peers can read it. */
bool dt__is_in_heap(const dt_ctx *ctx, const void *memory, size_t bytes);

/* Bytes that a rank receives in one transfer, from which on the log mentions it at level info. */
enum { DT__LARGE_TRANSFER = 64 << 20 };

/* CLOCK_MONOTONIC. */
int64_t dt__now_ns(void);
static inline double dt__now_us(void) { return (double)dt__now_ns() / 1e3; }

/* A collective that this rank took part in and finished. */
typedef struct dt__collective_report {
    dt_collective op;
    int64_t bytes;           /* of this rank's result */
    double begin_us, end_us; /* dt__now_us */
} dt__collective_report;

/* The observer of the context is called for every collective of the program that this rank has finished.
 * Redistributions report themselves (move/move.h). Without an observer (NULL) this costs one comparison. */
typedef struct dt__comm_observer {
    void (*collective)(dt_ctx *ctx, const dt__collective_report *report);
    const char *op; /* name of the op in progress, the outermost that has a kernel; NULL: none */
} dt__comm_observer;

/* dt_group_new for an object, such as a mesh, whose fingerprint `origin` members compare in every collective. */
dt_group *dt__group_new_for(dt_ctx *ctx, const int64_t *ranks, int64_t n_ranks, uint64_t origin);
uint64_t dt__group_origin(const dt_group *group);
/* dt_comm_run, a collective of all ranks of a mesh, for the library's own meetings: they compare the mesh's history,
 * unless it is NULL. */
dt_status dt__comm_run_on_mesh(dt_group *group, const dt_comm_call *call, const dt__history *history);
/* Whether the group was created before the last collective dt_error_clear: it may be broken. */
bool dt__group_is_stale(const dt_group *group);
/* Whether the members are on more than one node: they read no memory of each other, so that only collectives move data
 * between them, and an exchange compares calls at most. The same on all members. */
bool dt__group_spans_nodes(const dt_group *group);
/* The node of a rank; 0 for all where they are on one. */
int64_t dt__node_of(const dt_ctx *ctx, int64_t rank);
/* Whether the ranks of this world may be on several. */
bool dt__has_nodes(const dt_ctx *ctx);

/* Two texts of calls at equal capacities, each at least 64: where one is too long, its beginning up to the first comma,
 * and then the part in which it differs from the other. */
void dt__describe_difference(const char *a, const char *b, char *a_out, char *b_out, size_t capacity);

/* An exchange is a collective whose members compute on their own what they read: every member publishes the address of
 * its memory, waits for the others, runs a function that reads their memory, and returns only when its own memory has
 * been read. An optional second function runs when every member has finished the first. Redistributions are exchanges.
 */

/* The calls that are made of exchanges. Texts name an exchange after its call. File calls show more of it when members
 * make different calls: the memory that they publish begins with the text of the call, DT__CALL_TEXT_BYTES of it. */
#define DT__EXCHANGE_CALL_LIST(X)                                                                                    \
    X(REDISTRIBUTE, "redistribute")                                                                                  \
    X(CHECK_CALLS, "check_calls")                                                                                    \
    X(MEET, "meet")                                                                                                  \
    X(WINDOW, "window")                                                                                              \
    X(REDISTRIBUTE_LIST, "redistribute_list")                                                                        \
    X(SAVE_NPY, "save_npy")                                                                                          \
    X(SAVE_NPZ, "save_npz")                                                                                          \
    X(LOAD_NPY, "load_npy")                                                                                          \
    X(LOAD_NPZ, "load_npz")
typedef enum dt__exchange_call {
#define ROW(name, word) DT__CALL_##name,
    DT__EXCHANGE_CALL_LIST(ROW)
#undef ROW
        DT__N_EXCHANGE_CALLS
} dt__exchange_call;
const char *dt__exchange_call_name(dt__exchange_call call);
enum { DT__CALL_TEXT_BYTES = 4096 };

/* Called when all data that it reads is complete; must not block. */
typedef dt_status dt__exchange_step(dt_work *work, void *user);

enum { DT__EXCHANGE_COPIED_BYTES = 8192 };

typedef struct dt__exchange {
    dt__exchange_call call;
    uint64_t tag; /* hash of all that members must agree on */
    /* Of the mesh of all members, or of the two meshes between which it moves; members of both compare them. NULL for
     * a mesh of which this rank is not a member. */
    const struct dt__history *histories[2];
    int n_histories;
    dt_dtype dtype;
    int64_t count; /* elements, for error texts; must agree too */
    /* The memory that this rank publishes, in its heap. Only a dense src of at most DT__EXCHANGE_COPIED_BYTES may be
     * elsewhere, if there is no second step: it is copied, so that no rank waits at the end. */
    const void *src;
    size_t src_bytes;           /* 0: nothing */
    const int64_t *src_strides; /* n_strides strides of src; NULL: dense */
    int n_strides;
    const void *dst;             /* for the second step */
    dt__exchange_step *steps[2]; /* NULL: the members compare their calls only */
    void *user;
} dt__exchange;

/* Collective over the group, which has more than one member and includes this rank. A started exchange and the memory
 * that it publishes must stay unchanged until dt_work_wait. */
dt_status dt__exchange_run(dt_group *group, const dt__exchange *exchange);
dt_work *dt__exchange_start(dt_group *group, const dt__exchange *exchange);

/* Where members cannot read each other's memory (dt__group_spans_nodes), collectives carry what an exchange would read.
 * Such a collective compares the call, the tag and the histories of the exchange, whose memory and steps are not used,
 * and is not reported: the call that it is part of reports itself. The memory of a started one must stay unchanged
 * until dt_work_wait; the exchange itself may be freed. */
dt_status dt__carry_run(dt_group *group, const dt__exchange *exchange, const dt_comm_call *call);
dt_work *dt__carry_start(dt_group *group, const dt__exchange *exchange, const dt_comm_call *call);

/* For steps: member i's src or dst, if `bytes` bytes from offset `from` (which may be negative) on are in its heap;
 * NULL otherwise. */
const void *dt__exchange_src(const dt_work *work, int64_t i, int64_t from, size_t bytes);
const void *dt__exchange_dst(const dt_work *work, int64_t i, size_t bytes);
/* Whether member i publishes strides; *out is NULL if n of them are not in its heap. */
bool dt__exchange_strides(const dt_work *work, int64_t i, int n, const int64_t **out);
/* Fails the exchange because member i published memory outside its heap. */
dt_status dt__exchange_fail(dt_work *work, int64_t i);

/* Marks the last call of this rank as failed because of a peer, so that the supervisor blames the peer. For errors
 * that members of an exchange find in what they have read. */
void dt__blame_peer(dt_ctx *ctx);

/* Whether the process of a rank is dead. */
bool dt__peer_is_dead(const dt_ctx *ctx, int64_t rank);

/* How the names of temporary files end. */
#define DT__TEMPORARY_ENDING ".part"
/* The absolute path of a file that this rank is about to create and will rename or remove; NULL: it has done so.
 * Should the rank die before, its supervisor removes the file, and so may its peers. One per rank. Local. */
dt_status dt__temporary_register(dt_ctx *ctx, const char *path);
/* The path that a rank has registered; false: none. */
bool dt__temporary_of(const dt_ctx *ctx, int64_t rank, size_t capacity, char *out);
/* Removes the file that a rank has registered, if that rank is dead. */
void dt__temporary_remove(dt_ctx *ctx, int64_t rank);

/* Runs fn on n threads, each a rank with its own context, opened with these options (NULL: defaults). codes[rank],
 * unless codes is NULL, is the result of fn, or of dt_close if fn returned 0. False if the launch failed. Threads
 * share all memory, so that a race detector can check the accesses between ranks. */
bool dt__run_threads(int64_t n_ranks, const dt_init_options *options, dt_rank_fn *fn, void *arg, int *codes);

/* A launch: the shared memory of its ranks (the segment), created by the process that starts and supervises them. */
enum {
    DT__MAX_RANKS = 4096,   /* of one node */
    DT__MAX_THREADS = 4096, /* of one rank */
};
struct dt__segment;

/* The data with which a process joins a launch as a rank. */
typedef struct dt__ticket {
    int fd;     /* of the segment; -1 if base is set */
    void *base; /* the segment, already mapped (ranks as threads of one process) */
    uint64_t nonce;
    int64_t rank;
    int64_t n_cores; /* cores that the ranks of this node share */
} dt__ticket;

/* Creates and maps a segment for n ranks; *fd is close-on-exec. heap_bytes 0 selects the default. The text of a
 * failure is written to error. Used before a context exists: it allocates no other memory. */
struct dt__segment *dt__segment_new(int64_t n_ranks, size_t heap_bytes, int *fd, char *error, size_t error_bytes);
void dt__segment_unmap(struct dt__segment *segment);
/* The model that all ranks adopt in dt_init, in the place of the built-in one. Called before ranks start. */
void dt__segment_set_machine(struct dt__segment *segment, const dt__machine *machine);
/* The ticket of a rank that inherits fd, and as the value of DTENSOR_LAUNCH. */
dt__ticket dt__segment_ticket(const struct dt__segment *segment, int fd, int64_t rank, int64_t n_cores);
void dt__ticket_print(const dt__ticket *ticket, char *text, size_t capacity);
/* dt_init with this ticket instead of that of the environment; NULL ticket: self or fake. */
dt_ctx *dt__init_with_ticket(const dt_init_options *options, const dt__ticket *ticket, const dt_site *site);

/* For the supervisor: publishes that this rank is process pid, or that it has ended (status of waitpid), which wakes
 * all ranks. */
void dt__segment_set_pid(struct dt__segment *segment, int64_t rank, int32_t pid);
void dt__segment_set_ended(struct dt__segment *segment, int64_t rank, int wait_status);
/* Publishes that a rank is bound to a NUMA node. Called before its first collective. */
void dt__segment_set_numa_node(struct dt__segment *segment, int64_t rank, int node);
/* Removes the registered files of ranks that still exist; called when the ranks have ended. */
void dt__segment_remove_temporaries(const struct dt__segment *segment);
/* Whether the rank has an open context: dt_init was called, and dt_close was not. */
bool dt__segment_is_open(const struct dt__segment *segment, int64_t rank);
/* Whether one of the rank's recent calls failed because of a peer. */
bool dt__segment_failed_by_peer(const struct dt__segment *segment, int64_t rank);
/* A rank's current activity, for error texts: "in all_reduce of f32 x 1024, sum, #12 of ranks 0-3, for 3.2 s" or
 * "between calls; last: …", preceded by the rank's local error if it has one. */
void dt__segment_describe(const struct dt__segment *segment, int64_t rank, char *text, size_t capacity);
/* "exit code 3" or "signal 11 (SIGSEGV)". */
void dt__describe_wait_status(int wait_status, char *text, size_t capacity);
/* The same for a rank of the launch, with the reason where the kernel killed it for lack of memory; whether it did. */
bool dt__segment_describe_ending(const struct dt__segment *segment, int wait_status, char *text, size_t capacity);

/* "rank 3" or "ranks 0-3,7" of an ascending list of ranks. */
void dt__describe_ranks(const int64_t *ranks, int64_t n_ranks, char *text, size_t capacity);

/* For the supervisor: it will print this rank's reports (the error of dt_close, for example), unless the rank's
 * standard error is no longer the file behind stderr_fd. Called before the rank starts. A world of one prints its
 * reports itself. */
void dt__segment_print_reports_of(struct dt__segment *segment, int64_t rank, int stderr_fd);

enum { DT__REPORT_BYTES = DT__ERROR_TEXT_BYTES + 64 };

/* A text to print, "on ranks 0-3: shape: …" or "rank 2: memory: …", and the ranks that reported it. */
typedef struct dt__report {
    const int64_t *ranks; /* valid until the next call */
    int64_t n_ranks;
    char text[DT__REPORT_BYTES + 512];
} dt__report;

/* The reports of a launch, as the supervisor sees them. */
typedef struct dt__reports {
    struct dt__segment *segment;
    struct dt__report_head *heads; /* scratch, one per rank */
    int64_t *ranks;                /* scratch, one per rank */
} dt__reports;
/* False when out of memory; dt__reports_close is correct in both cases. */
bool dt__reports_open(dt__reports *reports, struct dt__segment *segment);
void dt__reports_close(dt__reports *reports);
/* Takes the next report that is due. Otherwise false, and *due_ns is when one will be, unless a signal comes before;
 * INT64_MAX: none waits. With now_ns INT64_MAX, every report is due. */
bool dt__reports_next(dt__reports *reports, int64_t now_ns, dt__report *out, int64_t *due_ns);
/* Whether a report of the rank waits to be printed. */
bool dt__reports_waiting(const dt__reports *reports, int64_t rank);

/* The number of cores that this process may use, limited by affinity and cgroups. At least 1. */
int dt__usable_cores(void);
/* Writes a text, truncated to the capacity. */
typedef void dt__describe_fn(dt_ctx *ctx, char *text, size_t capacity);
/* dt_heap_alloc for memory of a kind; and another kind for memory of the heap. */
void *dt__alloc_heap(dt_ctx *ctx, size_t bytes, dt_memory_kind kind, const dt_site *site);
void dt__set_memory_kind(dt_ctx *ctx, void *memory, dt_memory_kind kind);
/* Sets the function that adds what the heap holds ("largest tensors: …") to the error of a full heap. */
void dt__heap_set_describe(dt_ctx *ctx, dt__describe_fn *describe);

/* Bytes that this process may still use: available on the node, and within the limits of its cgroups. `root` is "", or
 * the folder in which a test has its own /proc and /sys. */
size_t dt__available_memory(const char *root);
/* Processes that the kernel has ended for lack of memory since the node started. */
int64_t dt__oom_kills(const char *root);
/* Makes this process, a rank, a more likely victim of the kernel's OOM killer than its supervisor and other programs.
 */
enum { DT__OOM_SCORE = 500 };
void dt__offer_to_oom_killer(void);

#endif
