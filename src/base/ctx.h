/* SPDX-License-Identifier: Apache-2.0
 *
 * The context, for the other folders. Base owns the error, the memory hook and the log; each other module keeps its
 * state in a slot, with a function that frees it. Slots are freed in reverse order when the context is closed.
 */
#ifndef DT_BASE_CTX_H
#define DT_BASE_CTX_H

#include "base/machine.h"
#include "base/public_call.h"

#include <stdarg.h>

/* The state of a context. One row per module; freed from the last to the first. */
enum dt__slot {
    DT__SLOT_RUNTIME,  /* src/comm: transport, heap, groups */
    DT__SLOT_LAYOUT,   /* src/layout: layouts of the program */
    DT__SLOT_MESH,     /* src/mesh: current mesh, interned meshes */
    DT__SLOT_SPEC,     /* src/spec: interned specs */
    DT__SLOT_TENSOR,   /* src/tensor: storages, handles, scopes */
    DT__SLOT_MOVE,     /* src/move: plans and exchanges */
    DT__SLOT_RANDOM,   /* src/random: generators */
    DT__SLOT_OPS,      /* src/rules: schema lines, registered ops */
    DT__SLOT_DISPATCH, /* src/dispatch: decisions, policies */
    DT__SLOT_AUTOGRAD, /* src/autograd: records */
    DT__SLOT_TRAIN,    /* src/train: freed optimizers */
    DT__SLOT_PIPELINE, /* src/train: pipeline schedules */
    DT__N_SLOTS
};

enum { DT__ERROR_TEXT_BYTES = 4096 };
/* Follows the text of an error that is printed because the process ended. */
#define DT__UNCLOSED_NOTE                                                                                            \
    "\n  the program ended without dt_close, which prints the first error and returns the exit code"

struct dt_ctx {
    dt_status status; /* of the first error; DT_OK without one */
    bool is_reported; /* dt_report has printed it */
    dt_allocator allocator;
    dt_log_fn *log;
    dt__public_call call; /* the outermost one in progress; next to the status, which every op reads, too */
    char text[DT__ERROR_TEXT_BYTES]; /* of the first error */
    void *log_user;
    dt_host host;     /* of a binding; zeroed: none */
    bool notes_sites; /* an estimate, a report or a trace shows the lines of calls: the host is asked in each */
    dt_log_level log_level;
    bool log_is_default;    /* no level was requested: warnings are logged, errors are only reported */
    _Atomic uint64_t owner; /* the thread that is in a public call; 0: none, or calls are not checked */
    bool checks_replicas;   /* DTENSOR_CHECK_REPLICAS: every call on a mesh compares the replicas that it reads */
    bool checks_calls;  /* DTENSOR_CHECK_CALLS: every call on a mesh meets the other members and compares histories */
    bool is_foreign;    /* this process was forked from the one that made the context: open_contexts.c */
    dt_ctx *next_open;  /* of the open contexts of the process: base/open_contexts.h */
    uint64_t number;    /* of the context in the process, from 1 */
    int64_t freed_kept; /* freed objects of a kind that are recognized: base/lifetime.h */
    bool is_dry;        /* plans decompositions: tensors have no data, and reading one is an error */
    int64_t rank, world;
    int64_t ranks_per_host; /* ranks are numbered host by host; 0: all are on one host */
    int threads;
    int64_t n_capped;           /* searches that reached a limit: what they found may not be the cheapest */
    const dt__machine *machine; /* prices of plans and placements; set before the first, then never changed */
    struct {
        void *state;
        void (*free_state)(dt_ctx *ctx, void *state);
        void (*finish)(dt_ctx *ctx); /* (optional) does what may still fail, before dt_close reports */
    } slots[DT__N_SLOTS];
    /* (optional) Raises the abort flag with this error, unless it is raised already; set by the runtime. */
    void (*on_local_error)(dt_ctx *ctx, dt_status status, const char *text);
    /* (optional) Publishes the first error, or that it was cleared or reported; set by the runtime. */
    void (*on_error)(dt_ctx *ctx);
    /* (optional) In a forked child: releases what the process shares with its parent; set by the runtime. */
    void (*on_fork)(dt_ctx *ctx);
    /* (optional) Records errors that no call has reported yet, at the end of a process; set by the runtime. */
    void (*on_unread)(dt_ctx *ctx);
    /* (optional) Hands a line to the supervisor of the launch, which prints a line that several ranks hand in only
     * once; is_error: the line is the context's error. False: this rank prints it. Set by the runtime. */
    bool (*hand_over)(const dt_ctx *ctx, const char *line, bool is_error);
    /* base/recorder.h: records calls for gradients; NULL: no tensor requires a gradient, or recording is off. */
    const struct dt__recorder *recorder;
    struct dt__draw_log *draw_log;      /* random/random.h: of a function that runs again; NULL: none */
    int no_grad;                        /* dt_no_grad_begin without its end */
    int as_stored;                      /* dt_as_stored_begin without its end */
    struct dt__estimate *estimate;      /* comm/estimate.h: of a program that is estimated; NULL: it runs */
    struct dt__comm_observer *observer; /* comm/comm.h: is called for finished collectives; NULL: none */
    const struct dt__move_observer *move_observer; /* move/move.h: for finished redistributions; NULL: none */
};

/* Creates a context with memory and log only; dt_init builds on it, and tests of pure modules use it directly. NULL
 * only when out of memory. */
dt_ctx *dt__ctx_new(const dt_init_options *options);
/* A context that plans for its parent (is_dry): it has the parent's memory, rank, world and machine model, reads no
 * variable and logs nothing. NULL only when out of memory. */
dt_ctx *dt__ctx_new_dry(const dt_ctx *parent);
/* Copies the model, which replaces the built-in one. */
dt_status dt__ctx_set_machine(dt_ctx *ctx, const dt__machine *machine);
/* Runs what may still fail in each module, such as completing a file, while the error can still be reported. */
void dt__ctx_finish(dt_ctx *ctx);
void dt__ctx_free(dt_ctx *ctx);
/* The line that reports the error, followed by a note: "shape: matmul: …". */
void dt__error_line(const dt_ctx *ctx, const char *note, char *out, size_t capacity);
/* At the end of a process that has not closed the context: reports an error that was not reported yet. */
void dt__report_unread(dt_ctx *ctx);

/* With DTENSOR_CHECK_CALLS: notes which thread enters a public call and when it leaves the outermost one. A call while
 * another thread is in one is a local error that names both. */
void dt__owner_enter(dt_ctx *ctx, const char *name, const dt_site *site);
void dt__owner_leave(dt_ctx *ctx);

/* Enters a public call until the end of the enclosing block; ctx may be NULL. Errors of one that is entered with a
 * subject show it: "item: f32[2,3]: …". */
#define DT__ENTER(ctx, name, site) DT__ENTER_ON(ctx, name, site, NULL, NULL)
#define DT__ENTER_ON(ctx, name, site, subject, describe)                                                             \
    __attribute__((cleanup(dt__call_leave), unused)) dt_ctx *const dt__entered_ =                                    \
        dt__call_enter(ctx, name, site, subject, describe)
static inline dt_ctx *dt__call_enter(dt_ctx *ctx, const char *name, const dt_site *site, const void *subject,
                                     void (*describe)(const void *subject, char *out, size_t capacity)) {
    if (!ctx)
        return ctx;
    if (__builtin_expect(ctx->checks_calls, false))
        dt__owner_enter(ctx, name, site);
    if (ctx->call.depth++ == 0) {
        ctx->call.name = name;
        ctx->call.site = site;
        ctx->call.subject = subject;
        ctx->call.describe = describe;
    }
    return ctx;
}
/* Whether the call in progress is one of the program's own, which all ranks of a mesh make: not nested in another, not
 * between dt_apart_begin and dt_apart_end. */
static inline bool dt__call_is_noted(const dt_ctx *ctx) { return ctx->call.depth + ctx->call.apart == 1; }
static inline void dt__call_leave(dt_ctx *const *entered) {
    dt_ctx *ctx = *entered;
    if (ctx && --ctx->call.depth == 0 && __builtin_expect(ctx->checks_calls, false))
        dt__owner_leave(ctx);
}

/* The status that a call which makes or changes something returns instead of acting, while its context has an error
 * that was not cleared; DT_OK: it continues. Such a function checks this after DT__ENTER, before it notes itself in a
 * history; queries, ends of scopes and functions that free do not. */
#define DT__REFUSAL() dt__refusal(dt__entered_)
dt_status dt__refuse(dt_ctx *ctx);
static inline dt_status dt__refusal(dt_ctx *ctx) {
    return ctx && __builtin_expect(ctx->status != DT_OK, 0) ? dt__refuse(ctx) : DT_OK;
}

/* The text of an error or a warning: "NAME: SUBJECT: TEXT (at FILE:LINE)" of the call in progress. A name or subject
 * that TEXT already has is not repeated; in a text of several lines, the site is at the end of the first. */
void dt__call_vformat(dt_ctx *ctx, char *out, size_t capacity, const char *format, va_list args);
/* The site of the call in progress, for texts: the call's own, or the host's. NULL: unknown. */
const dt_site *dt__call_site(dt_ctx *ctx);
/* The site of the call in progress, to be kept with what the call makes. Asks the host only where an estimate, a report
 * or a trace will show it. */
static inline const dt_site *dt__noted_site(dt_ctx *ctx) {
    if (__builtin_expect(ctx->notes_sites, false))
        return dt__call_site(ctx);
    return ctx->call.depth > 0 ? ctx->call.site : NULL;
}
/* " (at FILE:LINE)", or "" for NULL. */
void dt__site_text(const dt_site *site, char *out, size_t capacity);
enum { DT__SITE_TEXT_BYTES = 512, DT__SUBJECT_BYTES = 1024 };

/* Records an *agreed* error: one that depends only on data that all ranks share, so that all fail alike and no peer
 * waits. */
dt_status dt__fail(dt_ctx *ctx, dt_status status, const char *format, ...) DT_PRINTF(3);
dt_status dt__vfail(dt_ctx *ctx, dt_status status, const char *format, va_list args);
/* Records a *local* error (memory, file, transport) and raises the abort flag, so that no peer waits for this rank. The
 * flag is raised even if an earlier agreed error is the one that the context keeps. */
dt_status dt__fail_local(dt_ctx *ctx, dt_status status, const char *format, ...) DT_PRINTF(3);
/* "out of memory: N bytes for WHAT" as a local error. */
dt_status dt__fail_memory(dt_ctx *ctx, size_t bytes, const char *what);
#ifdef __clang_analyzer__ /* which does not see that these never return DT_OK */
#define dt__fail(ctx, status, ...)        ((void)(dt__fail)(ctx, status, __VA_ARGS__), status)
#define dt__fail_local(ctx, status, ...)  ((void)(dt__fail_local)(ctx, status, __VA_ARGS__), status)
#define dt__fail_memory(ctx, bytes, what) ((void)(dt__fail_memory)(ctx, bytes, what), DT_ERR_MEMORY)
#endif

/* Private memory. NULL without an error recorded: the caller records what the memory was for (dt__fail_memory). */
void *dt__alloc(dt_ctx *ctx, size_t bytes);
void *dt__alloc_zeroed(dt_ctx *ctx, size_t bytes);
void *dt__resize(dt_ctx *ctx, void *old, size_t old_bytes, size_t new_bytes);
void dt__free(dt_ctx *ctx, void *memory, size_t bytes);

/* How many freed objects of a kind a context keeps, by DTENSOR_KEEP_FREED; false if it is not 0 or 1. */
bool dt__freed_kept_from_environment(int64_t *out);

/* The level of DTENSOR_LOG, and DT_LOG_WARN without it; false if it is not a level. */
bool dt__log_level_from_environment(dt_log_level *out);
void dt__log(dt_ctx *ctx, dt_log_level level, const char *format, ...) DT_PRINTF(3);
/* Logs a line with the name and the site of the call in progress. */
void dt__log_call(dt_ctx *ctx, dt_log_level level, const char *format, ...) DT_PRINTF(3);

/* vsnprintf that marks a truncated text with "..." at its end. capacity > 0. */
void dt__vformat(char *text, size_t capacity, const char *format, va_list args);

/* Propagates an error: `DT__TRY(f(x));` returns f's status from the enclosing function unless it is DT_OK. */
#define DT__TRY(call)                                                                                                \
    do {                                                                                                             \
        dt_status dt__status_ = (call);                                                                              \
        if (dt__status_ != DT_OK)                                                                                    \
            return dt__status_;                                                                                      \
    } while (0)

#endif
