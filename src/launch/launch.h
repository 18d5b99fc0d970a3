/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting, joining and supervising ranks: what dtrun, tests and later folders use in addition to the public header. A
 * launch is the shared memory of its ranks (the segment), created by the process that starts and supervises them.
 */
#ifndef DT_LAUNCH_LAUNCH_H
#define DT_LAUNCH_LAUNCH_H

#include "comm/comm.h"
#include "shm/shm.h"

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

/* Creates and maps a segment for n ranks; *fd is close-on-exec. heap_bytes 0 selects the default
 * (dt__heap_bytes_default). The text of a failure is written to error. Used before a context exists: it allocates no
 * other memory. */
struct dt__segment *dt__segment_new(int64_t n_ranks, size_t heap_bytes, int *fd, char *error, size_t error_bytes);
/* The ticket of a rank that inherits fd, and as the value of DTENSOR_LAUNCH. */
dt__ticket dt__segment_ticket(const struct dt__segment *segment, int fd, int64_t rank, int64_t n_cores);
void dt__ticket_print(const dt__ticket *ticket, char *text, size_t capacity);
bool dt__ticket_parse(const char *text, dt__ticket *ticket); /* false if the text is not one */
/* dt_init with this ticket instead of that of the environment; NULL ticket: self or fake. */
dt_ctx *dt__init_with_ticket(const dt_init_options *options, const dt__ticket *ticket, const dt_site *site);
/* A context that plans for its parent, on the fake transport and without a heap (dt__ctx_new_dry); freed by
 * dt__ctx_free, before its parent. NULL when out of memory. */
dt_ctx *dt__init_dry(const dt_ctx *parent);

/* For the supervisor: publishes that this rank is process pid, or that it has ended (status of waitpid), which wakes
 * all ranks. */
void dt__segment_set_pid(struct dt__segment *segment, int64_t rank, int32_t pid);
void dt__segment_set_ended(struct dt__segment *segment, int64_t rank, int wait_status);
/* Removes the registered files of ranks that still exist; called when the ranks have ended. */
void dt__segment_remove_temporaries(const struct dt__segment *segment);
/* Whether the rank has an open context: dt_init was called, and dt_close was not. */
bool dt__segment_is_open(const struct dt__segment *segment, int64_t rank);
/* Whether one of the rank's recent operations failed because of a peer. */
bool dt__segment_failed_by_peer(const struct dt__segment *segment, int64_t rank);
/* dt__describe_rank. */
void dt__segment_describe(const struct dt__segment *segment, int64_t rank, char *text, size_t capacity);
/* dt__describe_activity. */
void dt__segment_describe_activity(const struct dt__segment *segment, int64_t rank, char *text, size_t capacity);
/* dt__describe_wait_status for a rank of the launch, with the reason where the kernel killed it for lack of memory;
 * whether it did. */
bool dt__segment_describe_ending(const struct dt__segment *segment, int wait_status, char *text, size_t capacity);

/* For the supervisor: it will print this rank's reports (the error of dt_close, for example), unless the rank's
 * standard error is no longer the file of stderr_fd. Called before the rank starts. A world of one prints its
 * reports itself. */
void dt__segment_print_reports_of(struct dt__segment *segment, int64_t rank, int stderr_fd);

/* A text to print, "on ranks 0-3: shape: …" or "rank 2: memory: …", and the ranks that reported it. */
typedef struct dt__report {
    const int64_t *ranks; /* valid until the next call */
    int64_t n_ranks;
    char text[DT__REPORT_BYTES + 512];
} dt__report;

enum { DT__PRINTED_INCIDENTS = 16 }; /* the last incidents; their late reports are dropped */

/* The reports of a launch, as the supervisor sees them. */
typedef struct dt__reports {
    struct dt__segment *segment;
    struct dt__report_head *heads; /* scratch, one per rank */
    int64_t *ranks;                /* scratch, one per rank */
    uint64_t printed[DT__PRINTED_INCIDENTS], n_printed;
} dt__reports;
/* Whether a rank that has ended left an error in a context that it did not close. An error that it did not report
 * becomes its last report. For the supervisor, before it publishes the end. */
bool dt__segment_left_error(struct dt__segment *segment, int64_t rank);
/* False when out of memory; dt__reports_close is correct in both cases. */
bool dt__reports_open(dt__reports *reports, struct dt__segment *segment);
void dt__reports_close(dt__reports *reports);
/* Takes the next report that is due. False if none is; *due_ns is then when one will be, unless a signal arrives
 * earlier; INT64_MAX: none waits. With now_ns INT64_MAX, every report is due. */
bool dt__reports_next(dt__reports *reports, int64_t now_ns, dt__report *out, int64_t *due_ns);
/* Whether a report of the rank waits to be printed. */
bool dt__reports_waiting(const dt__reports *reports, int64_t rank);

/* The number of cores that this process may use, limited by affinity and cgroups. At least 1. */
int dt__usable_cores(void);
/* Bytes that this process may still use: available on the node, and within the limits of its cgroups. `root` is "", or
 * the folder in which a test has its own /proc and /sys. */
size_t dt__available_memory(const char *root);
/* Processes that the kernel has ended for lack of memory since the node started. */
int64_t dt__oom_kills(const char *root);
/* Makes this process, a rank, a more likely victim of the kernel's OOM killer than its supervisor and other programs.
 */
enum { DT__OOM_SCORE = 500 };
void dt__offer_to_oom_killer(void);
/* DTENSOR_HEAP, 0 if it is not set. False, with the text of the error, if it is not a size. */
bool dt__heap_bytes_from_environment(size_t *bytes, char *error, size_t error_bytes);
/* What all heaps of this node may use together: what is available now, less a reserve for private memory, page tables
 * and other programs. */
size_t dt__heap_memory(void);
/* The default size of each of n heaps that one process maps: the memory of the node, if address space suffices. */
size_t dt__heap_bytes_default(int64_t n_ranks);

#endif
