/* SPDX-License-Identifier: Apache-2.0
 *
 * The base of all other headers: status codes, dtypes, the context with its first error, memory and log hooks.
 *
 * A context (dt_ctx) is the root of everything: the library keeps no process-wide mutable state. It belongs to one
 * thread at a time. It keeps the first error, with its text; later errors do not replace it. Until dt_error_clear,
 * calls that make something return NULL, and calls that change tensors or files change nothing and return the status of
 * that error. Queries, ends of scopes, calls that free, waits for what was started, and comm.h work as ever.
 *
 * Options, descriptors and statistics may get new fields at their ends without breaking compiled programs: functions
 * that take or fill such a struct are exported with the suffix _sized and take the size of the caller's version, which
 * the macro or function without the suffix passes. Other languages call the exported function. A zeroed field means
 * "the default", and so does a field that the caller's version does not have.
 *
 * Every error names the call that the program made, and where: "item: f32[2,3]: expected 1 element, got 6 (at
 * train.c:12)". In C, calls that can fail are macros, which pass the site of the call, its file and line, to the
 * exported function with the suffix _site (or _sized): as the last argument, or in its options. In C++ (dtensor.hpp) a
 * default argument does. Other languages call the exported function, with a site of their own or NULL. A program
 * compiled with -DDT_SITE=NULL has no file names in it. Calls that the library makes in turn, such as the ops that an
 * op is composed of, do not replace the program's own.
 *
 * *Collective* in a contract means that all ranks named must make the call, *Local* that it involves this rank only.
 */
#ifndef DTENSOR_BASE_H
#define DTENSOR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DT_VERSION_MAJOR 0
#define DT_VERSION_MINOR 1
#define DT_VERSION_PATCH 0
#define DT_VERSION       (DT_VERSION_MAJOR * 10000 + DT_VERSION_MINOR * 100 + DT_VERSION_PATCH)

/* Marks the symbols that the shared library exports; all others are hidden. */
#define DT_API        __attribute__((visibility("default")))
#define DT_PRINTF(at) __attribute__((format(printf, at, (at) + 1)))

#ifdef __cplusplus
extern "C" {
#endif

/* The source line of a call, for errors, warnings and traces. It is read during the call only, but the text of the file
 * name must live as long as the context: errors may name it later, as the line that made a tensor. */
typedef struct dt_site {
    const char *file;
    int line;
} dt_site;

/* How functions take the site of their caller; it may be NULL. */
#define DT_CALLER const dt_site *site
#if !defined __cplusplus && !defined DT_SITE
#define DT_SITE (&(const dt_site){__FILE__, __LINE__})
#endif

/* One list generates the enum, the names and the texts: X(name, value, word, text). Zero is success, positive is "not
 * finished", negative is an error. Tools print the word as the error code. */
#define DT_STATUS_LIST(X)                                                                                            \
    X(OK, 0, "ok", "success")                                                                                        \
    X(IN_PROGRESS, 1, "in_progress", "the operation has started and is not finished")                                \
    X(ERR_VALUE, -1, "value", "an argument has a value that is not allowed")                                         \
    X(ERR_SHAPE, -2, "shape", "shapes or sizes do not fit together")                                                 \
    X(ERR_DTYPE, -3, "dtype", "the dtype is unknown or not supported by the call")                                   \
    X(ERR_PLACEMENT, -4, "placement", "a placement is malformed or does not fit the tensor or the mesh")             \
    X(ERR_MESH, -5, "mesh", "a mesh is malformed or does not fit the world or the call")                             \
    X(ERR_OP, -6, "op", "there is no such op")                                                                       \
    X(ERR_FIELD, -7, "field", "a request has a field that is unknown, missing or of the wrong type")                 \
    X(ERR_JSON, -8, "json", "the text is not JSON")                                                                  \
    X(ERR_UNSUPPORTED, -9, "unsupported", "the call is valid but not supported")                                     \
    X(ERR_STATE, -10, "state", "the object is not in a state that allows the call")                                  \
    X(ERR_MEMORY, -11, "memory", "out of memory")                                                                    \
    X(ERR_SYSTEM, -12, "system", "the operating system reported an error")                                           \
    X(ERR_MISMATCH, -13, "mismatch", "ranks made calls that do not match")                                           \
    X(ERR_TIMEOUT, -14, "timeout", "a peer did not arrive in time")                                                  \
    X(ERR_PEER, -15, "peer", "a peer has died, closed its context, or failed")                                       \
    X(ERR_GROUP, -16, "group", "the group is unusable after an earlier failure")                                     \
    X(ERR_INTERNAL, -17, "internal", "a bug in the library")

typedef enum dt_status {
#define DT_STATUS_ENUM(name, value, word, text) DT_##name = (value),
    DT_STATUS_LIST(DT_STATUS_ENUM)
#undef DT_STATUS_ENUM
} dt_status;

/* The word ("shape") and the sentence of a status; never NULL. Local. */
DT_API const char *dt_status_name(dt_status status);
DT_API const char *dt_status_text(dt_status status);

/* Element types: X(name, size in bytes, word). */
#define DT_DTYPE_LIST(X)                                                                                             \
    X(F32, 4, "f32")                                                                                                 \
    X(F64, 8, "f64")                                                                                                 \
    X(F16, 2, "f16")                                                                                                 \
    X(BF16, 2, "bf16")                                                                                               \
    X(I8, 1, "i8")                                                                                                   \
    X(I16, 2, "i16")                                                                                                 \
    X(I32, 4, "i32")                                                                                                 \
    X(I64, 8, "i64")                                                                                                 \
    X(U8, 1, "u8")                                                                                                   \
    X(BOOL, 1, "bool")                                                                                               \
    X(C64, 8, "c64")                                                                                                 \
    X(C128, 16, "c128")

typedef enum dt_dtype {
    DT_NO_DTYPE, /* as an option: not set */
#define DT_DTYPE_ENUM(name, size, word) DT_##name,
    DT_DTYPE_LIST(DT_DTYPE_ENUM)
#undef DT_DTYPE_ENUM
        DT_N_DTYPES /* one more than the last */
} dt_dtype;

/* Reductions over ranks: X(name, word). On bool, sum and max are "or", product and min are "and". */
#define DT_REDUCE_LIST(X)                                                                                            \
    X(SUM, "sum")                                                                                                    \
    X(AVG, "avg")                                                                                                    \
    X(PRODUCT, "product")                                                                                            \
    X(MIN, "min")                                                                                                    \
    X(MAX, "max")

typedef enum dt_reduce {
#define DT_REDUCE_ENUM(name, word) DT_##name,
    DT_REDUCE_LIST(DT_REDUCE_ENUM)
#undef DT_REDUCE_ENUM
        DT_N_REDUCES
} dt_reduce;

/* Bytes per element, or 0 for a value that is not a dtype. Local. */
DT_API size_t dt_dtype_size(dt_dtype dtype);
/* The word ("f32"), or "?" for a value that is not a dtype. Local. */
DT_API const char *dt_dtype_name(dt_dtype dtype);
DT_API const char *dt_reduce_name(dt_reduce reduce);
/* Parses a word; false, with *out unchanged, if it is not one. Local. */
DT_API bool dt_dtype_parse(const char *word, dt_dtype *out);
DT_API bool dt_reduce_parse(const char *word, dt_reduce *out);
/* Whether the dtype supports the reduction: no min or max of complex numbers, no average of booleans. Local. */
DT_API bool dt_reduce_allowed(dt_dtype dtype, dt_reduce reduce);

typedef struct dt_ctx dt_ctx;

/* The hook through which the library allocates all private memory. Like realloc: old NULL allocates, new_size 0 frees
 * and returns NULL; NULL for a new_size above 0 means out of memory, and old stays valid. */
typedef struct dt_allocator {
    void *(*resize)(void *user, void *old, size_t old_size, size_t new_size);
    void *user;
    /* (optional) Called before memory is allocated in the shared heap; false refuses. */
    bool (*permit)(void *user, size_t bytes);
} dt_allocator;

/* What the log has. DTENSOR_LOG is the name of a level in lower case; without it and without an option, there are
 * warnings only, and errors are left to dt_report.
 *     error  errors, when they occur
 *     warn   also communication in a scope with DT_COMM_WARN, once per call site and decision
 *     info   also the launch, new meshes, the first decision of each op, transfers from 64 MiB on, counts at the end,
 *            calls that were refused because of an earlier error
 *     debug  also each decision, redistribution and collective, and the memory in use at the end of each scope */
typedef enum dt_log_level { DT_LOG_OFF, DT_LOG_ERROR, DT_LOG_WARN, DT_LOG_INFO, DT_LOG_DEBUG } dt_log_level;

/* Receives one line without its newline. */
typedef void dt_log_fn(void *user, dt_log_level level, const char *line);

/* What the binding of an interpreter, such as Python's, provides. All functions are optional, and are called on the
 * thread of the context, during one of its calls. */
typedef struct dt_host {
    void *user;
    /* Writes where the program made the call in progress; false if that is unknown. Called only if a text needs it (an
     * error, a warning, a trace, a report, a long wait) and the call has no site of its own. The file name must live as
     * long as the context. */
    bool (*site)(void *user, dt_site *out);
    /* Called before this rank first sleeps in a wait for other ranks, and when that wait has ended: in between, the
     * interpreter may run other threads. */
    void (*wait_begin)(void *user);
    void (*wait_end)(void *user);
    /* Called between the two, several times per second: true ends the wait with an error (state), as after Ctrl-C. */
    bool (*is_interrupted)(void *user);
} dt_host;

/* Each zeroed field means "the default". Environment variables (dtensor(7)) serve as defaults where a field is zero.
 */
typedef struct dt_init_options {
    const char *transport; /* "self", "shm", "mpi" or "fake"; default: that of DTENSOR_TRANSPORT, else shm in a launch
                               of dtrun, mpi under an MPI launcher or where MPI is initialized, else self */
    int64_t world;         /* fake: size of the world; otherwise 0 or the size of the launch */
    int64_t rank;          /* fake: the rank of this process */
    size_t heap_bytes;     /* size of each rank's heap; default: its share of what is available at start */
    double timeout_s;      /* deadline of every wait; default 300; negative: none (debugging) */
    int threads;           /* threads of this rank; default: its share of the cores */
    dt_allocator allocator; /* default: realloc and free */
    dt_log_fn *log;         /* default: standard error */
    void *log_user;
    dt_log_level log_level; /* default: that of DTENSOR_LOG, or warnings only; see dt_log_level */
    char *error;            /* where dt_init writes its error text if it fails; default: standard error */
    size_t error_bytes;     /* of that buffer; a longer text is truncated and ends in "..." */
    const void *mpi_comm;   /* pointer to the program's MPI_Comm whose ranks are the world; a duplicate of it is used.
                               Default: all processes */
    dt_host host;           /* copied; default: none */
} dt_init_options;

/* Initializes the library in this process and joins the launch of dtrun or dt_spawn; outside a launch, a world of one
 * rank. Options may be NULL. Returns NULL on failure; without a context to keep it, the error text is written to the
 * buffer of the options or, without one, to standard error. Local the first time; after a dt_close, Collective over
 * the launch. */
DT_API dt_ctx *dt_init_sized(const dt_init_options *options, size_t options_size, DT_CALLER);

/* Closes the context: prints the first error unless it was cleared or dt_report has printed it, and frees everything,
 * including groups. Returns an exit code: 0, or 1 after an error. NULL returns 1. Waits for no rank: a started
 * operation that is not finished is abandoned, which is an error here and on its other members. Peers that still wait
 * for this rank get an error with this rank's reason, if it has one. A process that ends without it prints an error
 * that was neither cleared nor reported; dtrun then ends with 1, and the exit code of a program that was started alone
 * stays its own. In a forked child the contexts of the parent have an error of state, which nothing clears. Local. */
DT_API int dt_close_site(dt_ctx *ctx, DT_CALLER);

/* A number of this context that no other context of the process has or had, from 1; 0 for NULL. And whether the context
 * with this number is open in this process. Objects end with their context: a guard that may outlive it, such as
 * dt::ref, keeps the number and releases its object only while the context is open. Local. */
DT_API uint64_t dt_ctx_number(const dt_ctx *ctx);
DT_API bool dt_ctx_is_open(uint64_t number);

/* The version of the linked library: DT_VERSION of its headers. Local. */
DT_API int dt_version(void);
DT_API const char *dt_version_text(void);

/* This rank, the number of ranks, and the number of threads that this rank may use. Local. */
DT_API int64_t dt_rank(const dt_ctx *ctx);
DT_API int64_t dt_world(const dt_ctx *ctx);
DT_API int dt_threads(const dt_ctx *ctx);

/* Whether the context holds an error; the first error's status and text ("" without one). The text is the context's
 * own: valid until it is closed, and empty after dt_error_clear. Local. */
DT_API bool dt_failed(const dt_ctx *ctx);
DT_API dt_status dt_error_status(const dt_ctx *ctx);
DT_API const char *dt_error_text(const dt_ctx *ctx);

/* Prints the first error, if there is one, on standard error as "rank 2: shape: …"; returns 1 if there was one, else 0.
 * In a launch of several ranks, dtrun or dt_spawn prints it, once if several ranks have it: "on ranks 0-3: shape: …".
 * Local.
 */
DT_API int dt_report(dt_ctx *ctx);

/* Errors are of three kinds. An *agreed* error follows from what all ranks have, such as shapes: all fail alike, before
 * anything is sent. A *local* error (memory, files, the transport) is that of one rank; ranks that wait for it get it.
 * A *verdict on data* (an index out of range, a matrix that is not positive definite) is found by some ranks in their
 * shards: the call succeeds with unspecified values, and the error comes as an agreed one, with the earlier call and
 * its line, from the next call in which all ranks of the mesh transfer something, or, if there is none, from dt_close
 * of the ranks that found it. With DTENSOR_CHECK_CALLS=1 it comes from the call itself. */

/* Clears the error, so that the program can continue. Local, and immediate, if this rank's error is agreed: the rank
 * has had neither a local error nor a failed collective since errors were last cleared collectively. A local error of
 * a peer is not lost: this rank's next wait for that peer fails with it. Otherwise, also without an error, Collective
 * over the world: peers that wait for this rank in another call get an error. Afterwards groups that are broken, or in
 * which some members made calls that others skipped, stay unusable; the world and new groups, even of the same ranks,
 * work. An error returned here means that a peer is gone. */
DT_API dt_status dt_error_clear_site(dt_ctx *ctx, DT_CALLER);

/* Whether the context has an error that dt_error_clear clears at once, without its peers. Local. */
DT_API bool dt_error_is_agreed(const dt_ctx *ctx);

/* Records an error of the caller; kept only if it is the first. Returns status, for use in a return statement; passing
 * a status that is not an error is an error itself (DT_ERR_VALUE). Local, and for local errors: it raises the abort
 * flag, and peers that wait for this rank get an error. */
DT_API dt_status dt_error_set_site(dt_ctx *ctx, dt_status status, DT_CALLER, const char *format, ...) DT_PRINTF(4);
#define dt_error_set(ctx, status, ...) dt_error_set_site(ctx, status, DT_SITE, __VA_ARGS__)

#ifndef __cplusplus
/* clang-format off */
#define dt_close(...) dt_close_site(__VA_ARGS__, DT_SITE)
#define dt_error_clear(...) dt_error_clear_site(__VA_ARGS__, DT_SITE)
#define dt_init(...) dt_init_sized(__VA_ARGS__, sizeof(dt_init_options), DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
