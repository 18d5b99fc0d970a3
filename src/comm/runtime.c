/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting and ending the library in a process: which transport, which rank, how many threads, which deadline.
 * Options come first, then our own environment variables, then defaults. No other variable is believed.
 */
#include "comm/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const dt__transport *const transports[] = {&dt__transport_self, &dt__transport_shm, &dt__transport_fake};

int64_t dt__now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static dt_status choose_transport(dt__runtime *runtime, const char *wanted, const dt__ticket *ticket) {
    const char *name = wanted ? wanted : ticket ? "shm" : "self";
    for (size_t i = 0; i < sizeof transports / sizeof *transports; i++)
        if (!strcmp(name, transports[i]->name))
            runtime->transport = transports[i];
    if (!runtime->transport)
        return dt__fail(runtime->ctx, DT_ERR_VALUE, "there is no transport '%s'; there are self, shm and fake", name);
    if (runtime->transport == &dt__transport_shm && !ticket)
        return dt__fail(runtime->ctx, DT_ERR_STATE,
                        "the shm transport needs ranks to talk to: start the program with dtrun -n N");
    return DT_OK;
}

/* A decimal number from the environment; false if the variable is absent. */
static bool number_from(dt_ctx *ctx, const char *variable, double *out) {
    const char *text = getenv(variable);
    if (!text || !*text)
        return false;
    char *end;
    *out = strtod(text, &end);
    if (*end == 0 && *out == *out)
        return true;
    dt__fail(ctx, DT_ERR_VALUE, "%s is '%s'; a decimal number is needed", variable, text);
    return false;
}

/* Thirty years, which nanoseconds in 64 bits can hold. */
#define LONGEST_TIMEOUT_S 1e9

static void choose_timeout(dt__runtime *runtime, const dt_init_options *options) {
    double seconds = 300;
    number_from(runtime->ctx, "DTENSOR_TIMEOUT", &seconds);
    seconds = options->timeout_s != 0 ? options->timeout_s : seconds;
    runtime->timeout_s = seconds < LONGEST_TIMEOUT_S ? seconds : LONGEST_TIMEOUT_S;
}

static void choose_threads(dt_ctx *ctx, const dt_init_options *options, const dt__ticket *ticket) {
    double threads = 0;
    int cores = dt__usable_cores();
    if (ticket && ticket->n_cores > 0 && ctx->world > 0)
        cores = (int)(ticket->n_cores / ctx->world);
    number_from(ctx, "DTENSOR_THREADS", &threads);
    ctx->threads = options->threads > 0 ? options->threads : threads >= 1 && threads < 4096 ? (int)threads : cores;
    if (ctx->threads < 1)
        ctx->threads = 1;
}

dt__pool *dt__pool_of(dt_ctx *ctx) {
    dt__runtime *runtime = dt__runtime_of(ctx);
    if (!runtime)
        return NULL;
    if (!runtime->threads && ctx->threads > 1)
        runtime->threads = dt__pool_new(ctx, ctx->threads); /* without one, there is one thread */
    return runtime->threads;
}

/* Bytes with an optional unit, as in DTENSOR_HEAP=8G. */
static size_t heap_bytes_from_environment(dt_ctx *ctx) {
    const char *text = getenv("DTENSOR_HEAP");
    if (!text || !*text)
        return 0;
    char *end;
    double bytes = strtod(text, &end);
    const char *units = "KMGT", *unit = *end ? strchr(units, *end) : NULL;
    for (const char *at = units; unit && at <= unit; at++)
        bytes *= 1024;
    if (!(bytes >= 1 && bytes < 1e18) || (*end && (!unit || end[1]))) {
        dt__fail(ctx, DT_ERR_VALUE, "DTENSOR_HEAP is '%s'; bytes such as 8G are needed", text);
        return 0;
    }
    return (size_t)bytes;
}

static void tell_error(dt_ctx *ctx) {
    dt__runtime *runtime = dt__runtime_of(ctx);
    if (runtime && runtime->transport && runtime->transport->tell_error)
        runtime->transport->tell_error(runtime);
}

static void free_works(dt__runtime *runtime) {
    while (runtime->started)
        dt_work_wait(runtime->started);
    while (runtime->pool) {
        dt_work *work = runtime->pool;
        runtime->pool = work->next;
        dt__free(runtime->ctx, work, sizeof *work);
    }
}

static void free_runtime(dt_ctx *ctx, void *state) {
    dt__runtime *runtime = state;
    ctx->on_local_error = NULL;
    free_works(runtime);
    while (runtime->groups)
        dt__group_destroy(runtime->groups);
    runtime->transport->close(runtime);
    dt__pool_free(runtime->threads);
    dt__free(ctx, runtime, sizeof *runtime);
}

static dt_status open_runtime(dt_ctx *ctx, const dt_init_options *options, const dt__ticket *ticket) {
    dt__runtime *runtime = dt__alloc_zeroed(ctx, sizeof *runtime);
    if (!runtime)
        return dt__fail_memory(ctx, sizeof *runtime, "the runtime");
    *runtime = (dt__runtime){.ctx = ctx, .kernels = dt__kernels_best()};
    dt_init_options filled = *options;
    if (!filled.heap_bytes)
        filled.heap_bytes = heap_bytes_from_environment(ctx);
    choose_timeout(runtime, options);
    dt_status status = ctx->status;
    if (status == DT_OK)
        status = choose_transport(runtime, options->transport, ticket);
    if (status == DT_OK)
        status = runtime->transport->open(runtime, &filled, ticket);
    if (status != DT_OK) {
        dt__free(ctx, runtime, sizeof *runtime);
        return status;
    }
    ctx->slots[DT__SLOT_RUNTIME].state = runtime;
    ctx->slots[DT__SLOT_RUNTIME].free_state = free_runtime;
    ctx->on_local_error = tell_error;
    choose_threads(ctx, options, ticket);
    return ctx->status;
}

dt_ctx *dt__init_with_ticket(const dt_init_options *options, const dt__ticket *ticket) {
    dt_ctx *ctx = dt__ctx_new(options);
    if (!ctx) {
        fprintf(stderr, "dt_init: out of memory\n");
        return NULL;
    }
    if (open_runtime(ctx, options, ticket) == DT_OK) {
        dt__log(ctx, DT_LOG_DEBUG, "rank %lld of %lld, transport %s, kernels %s, %d threads", (long long)ctx->rank,
                (long long)ctx->world, dt__runtime_of(ctx)->transport->name, dt__runtime_of(ctx)->kernels->name,
                ctx->threads);
        return ctx;
    }
    fprintf(stderr, "dt_init: %s: %s\n", dt_status_word(ctx->status), ctx->text);
    dt__ctx_free(ctx);
    return NULL;
}

dt_ctx *dt_init(const dt_init_options *options) {
    static const dt_init_options defaults;
    const char *launch = getenv("DTENSOR_LAUNCH");
    dt__ticket ticket;
    bool own_world = options && options->transport && strcmp(options->transport, "shm") != 0;
    if (!options)
        options = &defaults;
    if (own_world || !launch || !*launch)
        return dt__init_with_ticket(options, NULL);
    if (!dt__ticket_parse(launch, &ticket)) {
        fprintf(stderr, "dt_init: DTENSOR_LAUNCH is '%s', which dtrun did not write; unset it or use dtrun\n",
                launch);
        return NULL;
    }
    return dt__init_with_ticket(options, &ticket);
}

int dt_close(dt_ctx *ctx) {
    int code = dt_report(ctx);
    dt__ctx_free(ctx);
    return code;
}

dt_status dt_error_clear(dt_ctx *ctx) {
    if (!ctx)
        return DT_ERR_STATE;
    dt__runtime *runtime = dt__runtime_of(ctx);
    dt_status status = DT_OK;
    ctx->status = DT_OK;
    ctx->text[0] = 0;
    if (runtime && runtime->transport->clear_error)
        status = runtime->transport->clear_error(runtime);
    return status;
}

void *dt_heap_alloc(dt_ctx *ctx, size_t bytes) {
    dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    if (!runtime)
        return NULL;
    void *memory = dt__heap_take(&runtime->heap, bytes);
    if (!memory)
        dt__fail_local(ctx, DT_ERR_MEMORY, "heap: %zu bytes are not to be had: %zu of %zu are handed out", bytes,
                       runtime->heap.stats.live_bytes, runtime->heap.bytes);
    return memory;
}

dt_status dt_heap_free(dt_ctx *ctx, void *memory) {
    dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    if (!memory)
        return DT_OK;
    if (!runtime || !dt__heap_give(&runtime->heap, memory))
        return dt__fail_local(ctx, DT_ERR_VALUE, "heap: %p is not a live block of this rank's heap", memory);
    return DT_OK;
}

dt_heap_stats dt_heap_statistics(const dt_ctx *ctx) {
    const dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    return runtime ? runtime->heap.stats : (dt_heap_stats){0};
}

void dt_comm_dump(const dt_ctx *ctx) {
    const dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    if (runtime && runtime->transport->dump)
        runtime->transport->dump(runtime);
}
