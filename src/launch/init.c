/* SPDX-License-Identifier: Apache-2.0
 *
 * Initializing and closing the library in a process: transport, rank, number of threads, deadline. Options take
 * precedence over the DTENSOR_ environment variables, and these over defaults. No other variable is read.
 */
#include "launch/launch.h"

#include "base/near_miss.h"
#include "base/open_contexts.h"
#include "base/options.h"
#include "base/quantity.h"
#include "base/size.h"
#include "cluster/cluster.h"
#include "launch/activity_signal.h"
#include "launch/node_cpus.h"
#include "launch/rank_reports.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dt__transport *const transports[] = {&dt__transport_self, &dt__transport_shm, &dt__transport_mpi,
                                                  &dt__transport_fake};
#define ESTIMATE "DTENSOR_ESTIMATE" /* describes the world and the rank of a program that is estimated */

static dt_status refuse_transport(dt_ctx *ctx, const char *name) {
    static const char names[] = "self, shm, mpi or fake";
    dt__near_miss near = dt__near_miss_new(name);
    dt__near_miss_add_list(&near, names);
    return dt__fail(ctx, DT_ERR_VALUE, "transport: expected %s, got \"%s\"%s", names, name,
                    dt__near_miss_hint(&near));
}

/* NULL: there is none of this name. */
static const dt__transport *transport_named(const char *name) {
    for (size_t i = 0; i < sizeof transports / sizeof *transports; i++)
        if (!strcmp(name, transports[i]->name))
            return transports[i];
    return NULL;
}

static dt_status select_transport(dt__runtime *runtime, const char *requested, const dt__ticket *ticket) {
    const char *name = requested ? requested : ticket ? "shm" : dt__mpi_is_launched() ? "mpi" : "self";
    if (runtime->described) {
        runtime->transport = &dt__transport_estimate;
        return DT_OK;
    }
    runtime->transport = transport_named(name);
    if (!runtime->transport)
        return refuse_transport(runtime->ctx, name);
    if (runtime->transport == &dt__transport_shm && !ticket)
        return dt__fail(runtime->ctx, DT_ERR_STATE,
                        "transport shm: this process is not a rank of a launch; start the program with dtrun -n N");
    return DT_OK;
}

/* A program that requests the fake transport by name plans for itself. */
static const char *estimate_from_environment(const char *transport) {
    const char *text = secure_getenv(ESTIMATE);
    return text && *text && (!transport || strcmp(transport, "fake") != 0) ? text : NULL;
}

static dt_status describe_estimate(dt__runtime *runtime, const char *transport, dt__estimate_options *described) {
    const char *text = estimate_from_environment(transport);
    char error[512];
    if (!text)
        return DT_OK;
    if (!dt__estimate_parse(text, described, error, sizeof error))
        return dt__fail(runtime->ctx, DT_ERR_VALUE, "%s", error);
    if (!described->cores)
        described->cores = dt__usable_cores();
    runtime->described = described;
    return DT_OK;
}

/* names: the valid values, for the did-you-mean hint. */
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

static bool read_switch(dt_ctx *ctx, const char *name) {
    const char *value = environment_value(name);
    bool on = value && !strcmp(value, "1");
    if (value && !on && strcmp(value, "0") != 0)
        refuse_variable(ctx, name, "0 or 1", "");
    return on;
}

static void select_checks(dt_ctx *ctx) {
    ctx->checks_calls = read_switch(ctx, "DTENSOR_CHECK_CALLS");
    ctx->checks_replicas = read_switch(ctx, "DTENSOR_CHECK_REPLICAS");
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

static size_t available_memory(void) { return dt__available_memory(""); }

static void select_heap(dt__runtime *runtime, dt_init_options *options) {
    char error[256];
    if (!options->heap_bytes && !dt__heap_bytes_from_environment(&options->heap_bytes, error, sizeof error))
        dt__fail(runtime->ctx, DT_ERR_VALUE, "%s", error);
}

/* When pages of freed memory go back to the system. */
static void select_idle(dt__runtime *runtime) {
    const char *text = environment_value("DTENSOR_HEAP_IDLE");
    int64_t ms;
    runtime->heap.available = available_memory;
    if (text && dt__duration_parse(text, &ms))
        runtime->heap.idle_ns = ms == DT__DURATION_OFF ? -1 : dt__min_i64(ms, INT64_MAX / 1000000) * 1000000;
    else if (text)
        refuse_variable(runtime->ctx, "DTENSOR_HEAP_IDLE", "a duration such as 60 or 500ms, or off", "off");
}

/* What the transport needs to know about this node: the memory for its heaps, and the CPUs of a rank that shares
 * memory. */
static void describe_node(dt__runtime *runtime, const dt_init_options *options) {
    dt__cpu_set cpus;
    if (!options->heap_bytes && runtime->transport != &dt__transport_shm)
        runtime->heap_memory = dt__heap_memory();
    runtime->numa_node = -1;
    if (runtime->transport != &dt__transport_shm && runtime->transport != &dt__transport_mpi)
        return;
    bool is_known = dt__cpus_of_process(&cpus);
    runtime->numa_node = is_known ? dt__numa_node_of("", &cpus) : -1;
    if (runtime->transport == &dt__transport_mpi)
        runtime->cpus = (dt__rank_cpus){is_known ? dt__hash(&cpus, sizeof cpus, 1) : 0, dt__usable_cores()};
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

/* A test aid: with DTENSOR_TEST_SPAN=2 every two ranks of a launch count as a node, so that communication between nodes
 * is tested on shared memory. */
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
    if (runtime->board)
        dt__board_raise_abort(runtime->board, status, text);
}

/* Only the error of the failed operation itself belongs to its incident: a context keeps its first error. */
static uint64_t incident_of_error(const dt__runtime *runtime) {
    dt_status status = runtime->ctx->status;
    bool is_shared =
        status == DT_ERR_MISMATCH || status == DT_ERR_TIMEOUT || status == DT_ERR_PEER || status == DT_ERR_GROUP;
    return is_shared ? atomic_load(&runtime->board->own->incident) : 0;
}

/* A verdict on data that was not reported is an error, too, if the rank ends without another transfer. */
static void on_error(dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    if (!runtime->board)
        return;
    struct dt__rank_block *own = runtime->board->own;
    bool has_verdict = ctx->status == DT_OK &&
                       dt__verdict_line(ctx, DT__UNCLOSED_NOTE, own->first_error_text, sizeof own->first_error_text);
    if (ctx->status != DT_OK)
        dt__error_line(ctx, DT__UNCLOSED_NOTE, own->first_error_text, sizeof own->first_error_text);
    own->first_error_incident = has_verdict ? 0 : incident_of_error(runtime);
    atomic_store(&own->first_error, has_verdict            ? DT__FIRST_ERROR_UNREAD
                                    : ctx->status == DT_OK ? DT__FIRST_ERROR_NONE
                                    : ctx->is_reported     ? DT__FIRST_ERROR_REPORTED
                                                           : DT__FIRST_ERROR_UNREAD);
}

static void on_fork(dt_ctx *ctx) {
    dt__runtime_of(ctx)->transport = &dt__transport_forked;
    dt__runtime_of(ctx)->board = NULL;
}

static bool hand_over(const dt_ctx *ctx, const char *line, bool is_error) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime->board && dt__report_post(runtime->board->own, line, is_error ? incident_of_error(runtime) : 0);
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
    ctx->on_error = NULL;
    if (runtime->board)
        dt__activity_signal_remove(runtime->board);
    free_works(runtime);
    while (runtime->groups)
        dt__group_destroy(runtime->groups);
    dt__freed_free(&runtime->freed_groups, ctx, sizeof(dt_group));
    runtime->transport->close(runtime);
    dt__pool_free(runtime->threads);
    dt__free(ctx, runtime->pretended_nodes, (size_t)ctx->world * sizeof *runtime->pretended_nodes);
    dt__free(ctx, runtime, sizeof *runtime);
}

static void finish_runtime(dt_ctx *ctx) {
    dt__runtime *runtime = dt__runtime_of(ctx);
    dt__verdicts_end(ctx);
    if (runtime->transport->closing)
        runtime->transport->closing(runtime);
}

static dt_status open_runtime(dt_ctx *ctx, const dt_init_options *options, const dt__ticket *ticket) {
    dt__runtime *runtime = dt__alloc_zeroed(ctx, sizeof *runtime);
    if (!runtime)
        return dt__fail_memory(ctx, sizeof *runtime, "the runtime");
    *runtime = (dt__runtime){.ctx = ctx};
    dt_init_options filled = *options;
    dt__estimate_options described;
    check_log_level(ctx);
    check_keep_freed(ctx);
    select_checks(ctx);
    select_kernels(runtime);
    select_heap(runtime, &filled);
    select_timeout(runtime, options);
    dt_status status = ctx->status;
    if (status == DT_OK)
        status = describe_estimate(runtime, options->transport, &described);
    if (status == DT_OK)
        status = select_transport(runtime, options->transport, ticket);
    if (status == DT_OK) {
        select_machine(ctx, runtime->transport);
        describe_node(runtime, &filled);
        status = ctx->status;
    }
    if (status == DT_OK)
        status = runtime->transport->open(runtime, &filled, ticket);
    runtime->described = NULL;
    if (status != DT_OK) {
        dt__free(ctx, runtime, sizeof *runtime);
        return status;
    }
    ctx->slots[DT__SLOT_RUNTIME].state = runtime;
    ctx->slots[DT__SLOT_RUNTIME].free_state = free_runtime;
    ctx->slots[DT__SLOT_RUNTIME].finish = finish_runtime;
    ctx->on_unread = dt__verdicts_end;
    ctx->on_local_error = on_local_error;
    ctx->hand_over = hand_over;
    ctx->on_fork = on_fork;
    ctx->on_error = on_error;
    select_idle(runtime);
    on_error(ctx); /* none, in place of an earlier context's */
    select_threads(ctx, options, ticket);
    if (runtime->transport->opened)
        runtime->transport->opened(runtime);
    if (runtime->board)
        dt__activity_signal_add(runtime->board);
    DT__TRY(pretend_nodes(runtime));
    return ctx->status;
}

dt_ctx *dt__init_dry(const dt_ctx *parent) {
    const dt__runtime *outer = dt__runtime_of(parent);
    dt_ctx *ctx = dt__ctx_new_dry(parent);
    dt__runtime *runtime = ctx ? dt__alloc(ctx, sizeof *runtime) : NULL;
    if (!runtime) {
        dt__ctx_free(ctx);
        return NULL;
    }
    *runtime = (dt__runtime){.ctx = ctx,
                             .transport = &dt__transport_fake,
                             .kernels = dt__rank_kernels(parent),
                             .timeout_s = outer ? outer->timeout_s : 0,
                             .numa_node = -1};
    dt__heap_open(&runtime->heap, ctx, NULL, 0, false);
    ctx->slots[DT__SLOT_RUNTIME].state = runtime;
    ctx->slots[DT__SLOT_RUNTIME].free_state = free_runtime;
    return ctx;
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
        dt__open_contexts_add(ctx);
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
    const char *launch = secure_getenv("DTENSOR_LAUNCH");
    dt__ticket ticket;
    const char *transport = options->transport ? options->transport : secure_getenv("DTENSOR_TRANSPORT");
    if (transport && !options->transport && !*transport)
        transport = NULL;
    if (estimate_from_environment(transport)) {
        transport = NULL; /* whatever starts it */
        launch = NULL;
    } else if (options->mpi_comm && !transport)
        transport = "mpi";
    full = *options;
    full.transport = transport;
    options = &full;
    const dt__transport *named = transport ? transport_named(transport) : NULL;
    bool own_world = named && named != &dt__transport_shm; /* an unknown name is refused by the ranks together */
    if (own_world || !launch || !*launch)
        return dt__init_with_ticket(options, NULL, site);
    if (!dt__ticket_parse(launch, &ticket))
        return init_failed(options, NULL, site,
                           "DTENSOR_LAUNCH: expected a value set by dtrun, got \"%s\"; unset it or use dtrun",
                           launch);
    return dt__init_with_ticket(options, &ticket, site);
}

int dt_close_site(dt_ctx *ctx, const dt_site *site) {
    if (ctx && ctx->is_foreign) /* what the context owns is the parent's */
        return dt_report(ctx);
    (void)dt__call_enter(ctx, "close", site, NULL, NULL); /* and never left: the context is freed */
    if (ctx && dt__runtime_of(ctx))
        dt__abandon_started_works(dt__runtime_of(ctx));
    dt__ctx_finish(ctx);
    int code = ctx && ctx->is_reported ? dt_failed(ctx) : dt_report(ctx);
    dt__ctx_free(ctx);
    return code;
}
