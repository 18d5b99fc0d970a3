/* SPDX-License-Identifier: Apache-2.0
 *
 * Initialising and closing the library in a process: transport, rank, number of threads, deadline. Options take
 * precedence over the DTENSOR_ environment variables, and these over defaults. No other variable is read.
 */
#include "comm/runtime.h"

#include "base/near_miss.h"
#include "base/options.h"
#include "base/quantity.h"
#include "base/size.h"
#include "comm/mpi_library.h"
#include "comm/rank_reports.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB (1024.0 * 1024.0)

static const dt__transport *const transports[] = {&dt__transport_self, &dt__transport_shm, &dt__transport_mpi,
                                                  &dt__transport_fake};

int64_t dt__now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

const char *dt__transport_name(const dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime ? runtime->transport->name : NULL;
}

bool dt__transport_has_data(const dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime && runtime->transport != &dt__transport_fake;
}

const dt__kernels *dt__rank_kernels(const dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime ? runtime->kernels : dt__kernels_best();
}

uint32_t dt__clear_epoch(const dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime ? runtime->epoch : 0;
}

bool dt__is_in_heap(const dt_ctx *ctx, const void *memory, size_t bytes) {
    return dt__heap_holds(&dt__runtime_of(ctx)->heap, memory, bytes);
}

static dt_status refuse_transport(dt_ctx *ctx, const char *name) {
    static const char names[] = "self, shm, mpi or fake";
    dt__near_miss near = dt__near_miss_new(name);
    dt__near_miss_add_list(&near, names);
    return dt__fail(ctx, DT_ERR_VALUE, "transport: expected %s, got \"%s\"%s", names, name,
                    dt__near_miss_hint(&near));
}

static dt_status select_transport(dt__runtime *runtime, const char *requested, const dt__ticket *ticket) {
    const char *name = requested ? requested : ticket ? "shm" : dt__mpi_is_launched() ? "mpi" : "self";
    for (size_t i = 0; i < sizeof transports / sizeof *transports; i++)
        if (!strcmp(name, transports[i]->name))
            runtime->transport = transports[i];
    if (!runtime->transport)
        return refuse_transport(runtime->ctx, name);
    if (runtime->transport == &dt__transport_shm && !ticket)
        return dt__fail(runtime->ctx, DT_ERR_STATE,
                        "transport shm: this process is not a rank of a launch; start the program with dtrun -n N");
    return DT_OK;
}

/* names: the words that it may be, in the place of which one nearby may have been written. */
static void refuse_variable(dt_ctx *ctx, const char *variable, const char *expected, const char *names) {
    const char *value = getenv(variable);
    dt__near_miss near = dt__near_miss_new(value);
    dt__near_miss_add_list(&near, names);
    dt__fail(ctx, DT_ERR_VALUE, "%s: expected %s, got \"%s\"%s", variable, expected, value,
             dt__near_miss_hint(&near));
}

/* The value of a variable; NULL if it is unset or empty. */
static const char *environment_value(const char *name) {
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static void check_log_level(dt_ctx *ctx) {
    dt_log_level level;
    if (!dt__log_level_from_environment(&level))
        refuse_variable(ctx, "DTENSOR_LOG", "off, error, warn, info or debug", "off error warn info debug");
}

static void check_keep_freed(dt_ctx *ctx) {
    int64_t kept;
    if (!dt__freed_kept_from_environment(&kept))
        refuse_variable(ctx, "DTENSOR_KEEP_FREED", "0 or 1", "");
}

static void select_call_checks(dt_ctx *ctx) {
    const char *value = environment_value("DTENSOR_CHECK_CALLS");
    ctx->checks_calls = value && !strcmp(value, "1");
    if (value && !ctx->checks_calls && strcmp(value, "0") != 0)
        refuse_variable(ctx, "DTENSOR_CHECK_CALLS", "0 or 1", "");
}

static void select_kernels(dt__runtime *runtime) {
    const char *name = environment_value("DTENSOR_KERNELS");
    runtime->kernels = dt__kernels_best();
    if (name && !dt__kernels_named(name))
        refuse_variable(runtime->ctx, "DTENSOR_KERNELS", "plain, baseline, or avx2 or avx512 where the CPU has it",
                        "plain baseline avx2 avx512");
}

/* The ranks of a launch have the model that their launcher or rank 0 has read. */
static void select_machine(dt_ctx *ctx, const dt__transport *transport) {
    dt__machine machine;
    char error[DT__MACHINE_ERROR_BYTES];
    if (transport == &dt__transport_shm || transport == &dt__transport_mpi)
        return;
    if (dt__machine_from_environment(&machine, error, sizeof error))
        (void)dt__ctx_set_machine(ctx, &machine);
    else
        dt__fail(ctx, DT_ERR_VALUE, "%s", error);
}

static void select_heap(dt__runtime *runtime, dt_init_options *options) {
    char error[256];
    if (!options->heap_bytes && !dt__heap_bytes_from_environment(&options->heap_bytes, error, sizeof error))
        dt__fail(runtime->ctx, DT_ERR_VALUE, "%s", error);
}

/* Thirty years, which nanoseconds in 64 bits can hold. */
#define MAX_TIMEOUT_S 1e9

/* Seconds; negative: no deadline. */
static double timeout_from_environment(dt_ctx *ctx) {
    const char *text = environment_value("DTENSOR_TIMEOUT");
    int64_t ms = 300000;
    bool negative = text && text[0] == '-';
    if (text && !dt__duration_parse(text + negative, &ms))
        refuse_variable(ctx, "DTENSOR_TIMEOUT", "a duration such as 30 or 500ms, or off", "off");
    return negative || ms == DT__DURATION_OFF ? -1 : (double)ms / 1000;
}

static void select_timeout(dt__runtime *runtime, const dt_init_options *options) {
    double seconds = timeout_from_environment(runtime->ctx);
    seconds = options->timeout_s != 0 ? options->timeout_s : seconds;
    runtime->timeout_s = seconds < MAX_TIMEOUT_S ? seconds : MAX_TIMEOUT_S;
}

static void select_threads(dt_ctx *ctx, const dt_init_options *options, const dt__ticket *ticket) {
    const char *text = environment_value("DTENSOR_THREADS");
    bool is_shared = ticket && ticket->n_cores > 0 && ctx->world > 0;
    int64_t threads = is_shared                      ? ticket->n_cores / ctx->world
                      : text || options->threads > 0 ? 1
                                                     : dt__usable_cores();
    if (dt__runtime_of(ctx)->cores_per_rank)
        threads = dt__runtime_of(ctx)->cores_per_rank;
    if (text && !dt__count_parse(text, DT__MAX_THREADS, &threads))
        refuse_variable(ctx, "DTENSOR_THREADS", "an integer from 1 to 4096", "");
    ctx->threads = options->threads > 0 ? options->threads : (int)dt__max_i64(threads, 1);
}

dt__pool *dt__pool_of(dt_ctx *ctx) {
    dt__runtime *runtime = dt__runtime_of(ctx);
    if (!runtime)
        return NULL;
    if (!runtime->threads && ctx->threads > 1)
        runtime->threads = dt__pool_new(ctx, ctx->threads); /* NULL: one thread */
    return runtime->threads;
}

/* A test aid: with DTENSOR_TEST_SPAN=2 every two ranks of a launch count as a node, so that what nodes do among
 * themselves is tested on shared memory. */
static dt_status pretend_nodes(dt__runtime *runtime) {
    dt_ctx *ctx = runtime->ctx;
    const char *text = environment_value("DTENSOR_TEST_SPAN");
    int64_t ranks;
    if (!text || runtime->transport != &dt__transport_shm)
        return DT_OK;
    if (!dt__count_parse(text, DT__MAX_RANKS, &ranks)) {
        refuse_variable(ctx, "DTENSOR_TEST_SPAN", "ranks per node from 1 to 4096", "");
        return ctx->status;
    }
    runtime->pretended_nodes = dt__alloc(ctx, (size_t)ctx->world * sizeof *runtime->pretended_nodes);
    if (!runtime->pretended_nodes)
        return dt__fail_memory(ctx, (size_t)ctx->world * sizeof *runtime->pretended_nodes, "the nodes of ranks");
    for (int64_t i = 0; i < ctx->world; i++)
        runtime->pretended_nodes[i] = (int32_t)(i / ranks);
    runtime->node_of = runtime->pretended_nodes;
    return DT_OK;
}

static void on_local_error(dt_ctx *ctx, dt_status status, const char *text) {
    dt__runtime *runtime = dt__runtime_of(ctx);
    if (runtime->transport->raise_abort)
        runtime->transport->raise_abort(runtime, status, text);
}

static bool hand_over(const dt_ctx *ctx, const char *line) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime->transport->hand_over && runtime->transport->hand_over(runtime, line);
}

static void free_works(dt__runtime *runtime) {
    while (runtime->started)
        dt_work_wait(runtime->started);
    dt__freed_free(&runtime->freed_works, runtime->ctx, sizeof(dt_work));
}

static void log_close(dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    char peak[32], bytes[32];
    dt__size_print(runtime->heap.stats.peak_bytes, peak, sizeof peak);
    dt__size_print((size_t)runtime->logged_bytes, bytes, sizeof bytes);
    dt__log(ctx, DT_LOG_INFO, "close: %" PRId64 " collectives with results of %s, at most %s of the heap in use",
            runtime->n_logged, bytes, peak);
}

static void free_runtime(dt_ctx *ctx, void *state) {
    dt__runtime *runtime = state;
    log_close(ctx);
    ctx->on_local_error = NULL;
    ctx->hand_over = NULL;
    free_works(runtime);
    while (runtime->groups)
        dt__group_destroy(runtime->groups);
    dt__freed_free(&runtime->freed_groups, ctx, sizeof(dt_group));
    runtime->transport->close(runtime);
    dt__pool_free(runtime->threads);
    dt__free(ctx, runtime->pretended_nodes, (size_t)ctx->world * sizeof *runtime->pretended_nodes);
    dt__free(ctx, runtime, sizeof *runtime);
}

static dt_status open_runtime(dt_ctx *ctx, const dt_init_options *options, const dt__ticket *ticket) {
    dt__runtime *runtime = dt__alloc_zeroed(ctx, sizeof *runtime);
    if (!runtime)
        return dt__fail_memory(ctx, sizeof *runtime, "the runtime");
    *runtime = (dt__runtime){.ctx = ctx};
    dt_init_options filled = *options;
    check_log_level(ctx);
    check_keep_freed(ctx);
    select_call_checks(ctx);
    select_kernels(runtime);
    select_heap(runtime, &filled);
    select_timeout(runtime, options);
    dt_status status = ctx->status;
    if (status == DT_OK)
        status = select_transport(runtime, options->transport, ticket);
    if (status == DT_OK) {
        select_machine(ctx, runtime->transport);
        status = ctx->status;
    }
    if (status == DT_OK)
        status = runtime->transport->open(runtime, &filled, ticket);
    if (status != DT_OK) {
        dt__free(ctx, runtime, sizeof *runtime);
        return status;
    }
    ctx->slots[DT__SLOT_RUNTIME].state = runtime;
    ctx->slots[DT__SLOT_RUNTIME].free_state = free_runtime;
    ctx->on_local_error = on_local_error;
    ctx->hand_over = hand_over;
    select_threads(ctx, options, ticket);
    DT__TRY(pretend_nodes(runtime));
    return ctx->status;
}

/* vsnprintf as dt__vformat does it. */
static void print_into(char *text, size_t capacity, const char *format, ...) DT_PRINTF(3);
static void print_into(char *text, size_t capacity, const char *format, ...) {
    va_list args;
    va_start(args, format);
    dt__vformat(text, capacity, format, args);
    va_end(args);
}

/* Without a context, the text goes to options->error, to the supervisor of the launch, or to stderr. */
static dt_ctx *init_failed(const dt_init_options *options, const dt__ticket *ticket, const dt_site *site,
                           const char *format, ...) DT_PRINTF(4);
static dt_ctx *init_failed(const dt_init_options *options, const dt__ticket *ticket, const dt_site *site,
                           const char *format, ...) {
    dt_ctx none = {.call = {.name = "init", .site = site, .depth = 1}};
    char text[DT__ERROR_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    dt__call_vformat(&none, text, sizeof text, format, args);
    va_end(args);
    if (options->error && options->error_bytes)
        print_into(options->error, options->error_bytes, "%s", text);
    else if (!ticket || !dt__report_post_early(ticket, text))
        fprintf(stderr, "%s\n", text);
    return NULL;
}

static void log_launch(dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    char heap[32];
    dt__size_print(runtime->heap.bytes, heap, sizeof heap);
    dt__log(ctx, DT_LOG_INFO,
            "dtensor %s: rank %" PRId64 " of %" PRId64 ", %" PRId64
            " per host, transport %s, heap %s, kernels %s, %d thread%s",
            dt_version_text(), ctx->rank, ctx->world, ctx->ranks_per_host ? ctx->ranks_per_host : ctx->world,
            runtime->transport->name, heap, runtime->kernels->name, ctx->threads, ctx->threads == 1 ? "" : "s");
}

dt_ctx *dt__init_with_ticket(const dt_init_options *options, const dt__ticket *ticket, const dt_site *site) {
    dt_ctx *ctx = dt__ctx_new(options);
    if (!ctx)
        return init_failed(options, ticket, site, "out of memory: %zu bytes for a context", sizeof *ctx);
    if (open_runtime(ctx, options, ticket) == DT_OK) {
        log_launch(ctx);
        return ctx;
    }
    init_failed(options, ticket, site, "%s", ctx->text);
    dt__ctx_free(ctx);
    return NULL;
}

dt_ctx *dt_init_sized(const dt_init_options *options, size_t options_size, const dt_site *site) {
    dt_init_options full;
    const dt_init_options *caller_options = options;
    options = DT__STRUCT(NULL, options, options_size, &full);
    if (!options)
        return init_failed(caller_options, NULL, site,
                           "options of a newer version of dtensor: expected %zu bytes, got %zu", sizeof full,
                           options_size);
    const char *launch = getenv("DTENSOR_LAUNCH");
    dt__ticket ticket;
    const char *transport = options->transport ? options->transport : environment_value("DTENSOR_TRANSPORT");
    if (options->mpi_comm && !transport)
        transport = "mpi";
    full = *options;
    full.transport = transport;
    options = &full;
    bool own_world = transport && strcmp(transport, "shm") != 0;
    if (own_world || !launch || !*launch)
        return dt__init_with_ticket(options, NULL, site);
    if (!dt__ticket_parse(launch, &ticket))
        return init_failed(options, NULL, site,
                           "DTENSOR_LAUNCH: expected a value set by dtrun, got \"%s\"; unset it or use dtrun",
                           launch);
    return dt__init_with_ticket(options, &ticket, site);
}

int dt_close_site(dt_ctx *ctx, const dt_site *site) {
    (void)dt__call_enter(ctx, "close", site, NULL, NULL); /* and never left: the context is freed */
    if (ctx && dt__runtime_of(ctx))
        dt__abandon_started_works(dt__runtime_of(ctx));
    dt__ctx_finish(ctx);
    int code = ctx && ctx->is_reported ? dt_failed(ctx) : dt_report(ctx);
    dt__ctx_free(ctx);
    return code;
}

dt_status dt_error_clear_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "error_clear", site);
    if (!ctx)
        return DT_ERR_STATE;
    dt__runtime *runtime = dt__runtime_of(ctx);
    bool failed = ctx->status != DT_OK;
    ctx->status = DT_OK;
    ctx->text[0] = 0;
    if (!runtime || !runtime->transport->clear_error)
        return DT_OK;
    /* A rank that is in step with its peers can only have an agreed error, which is cleared locally. */
    if (failed && runtime->transport->is_in_step(runtime))
        return DT_OK;
    return runtime->transport->clear_error(runtime);
}

void dt__heap_set_describe(dt_ctx *ctx, dt__describe_fn *describe) {
    if (dt__runtime_of(ctx))
        dt__runtime_of(ctx)->describe_heap = describe;
}

static void fail_heap_full(dt_ctx *ctx, const dt__runtime *runtime, size_t bytes) {
    const dt__heap *heap = &runtime->heap;
    char contents[1024] = "";
    if (runtime->describe_heap)
        runtime->describe_heap(ctx, contents, sizeof contents);
    dt__fail_local(ctx, DT_ERR_MEMORY,
                   "heap: out of memory: %.1f MiB requested, %.1f of %.1f MiB in use in %" PRId64
                   " blocks%s; DTENSOR_HEAP sets the size of each rank's heap",
                   (double)bytes / MIB, (double)heap->stats.live_bytes / MIB, (double)heap->bytes / MIB,
                   heap->stats.n_live, contents);
}

void *dt__alloc_heap(dt_ctx *ctx, size_t bytes, dt_memory_kind kind, const dt_site *site) {
    dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    if (!runtime)
        return NULL;
    void *memory = dt__heap_alloc(&runtime->heap, bytes, kind);
    if (!memory) { /* every tensor needs memory: only a failure enters the call */
        DT__ENTER(ctx, "heap_alloc", site);
        fail_heap_full(ctx, runtime, bytes);
    }
    return memory;
}

void *dt_heap_alloc_site(dt_ctx *ctx, size_t bytes, const dt_site *site) {
    return dt__alloc_heap(ctx, bytes, DT_MEMORY_SCRATCH, site);
}

void dt__set_memory_kind(dt_ctx *ctx, void *memory, dt_memory_kind kind) {
    if (dt__runtime_of(ctx))
        dt__heap_set_kind(&dt__runtime_of(ctx)->heap, memory, kind);
}

const char *dt_memory_kind_name(dt_memory_kind kind) {
    static const char *const names[] = {
#define NAME(name, word) word,
        DT_MEMORY_KIND_LIST(NAME)
#undef NAME
    };
    return (unsigned)kind < DT_N_MEMORY_KINDS ? names[kind] : "?";
}

dt_status dt_heap_free_site(dt_ctx *ctx, void *memory, const dt_site *site) {
    dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    if (!memory)
        return DT_OK;
    if (runtime && dt__heap_free(&runtime->heap, memory))
        return DT_OK;
    DT__ENTER(ctx, "heap_free", site);
    return dt__fail_local(ctx, DT_ERR_VALUE, "expected a live block of this rank's heap, got %p", memory);
}

void dt_heap_stats_sized(const dt_ctx *ctx, dt_heap_statistics *out, size_t out_size) {
    static const dt_heap_statistics none;
    const dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    dt__fill_sized(runtime ? &runtime->heap.stats : &none, sizeof none, out, out_size);
}

void dt_comm_dump(const dt_ctx *ctx) {
    const dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    if (runtime && runtime->transport->dump)
        runtime->transport->dump(runtime);
}
