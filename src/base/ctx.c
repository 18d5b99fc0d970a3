/* SPDX-License-Identifier: Apache-2.0
 *
 * The context: it keeps the first error, allocates memory through one hook, and passes log lines to one callback.
 * Nothing here depends on ranks or tensors; the runtime notifies peers of a local error (on_local_error).
 */
#include "base/ctx.h"

#include "base/lifetime.h"
#include "base/open_contexts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *default_resize(void *user, void *old, size_t old_size, size_t new_size) {
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

static const char *const level_words[] = {
    [DT_LOG_OFF] = "off",   [DT_LOG_ERROR] = "error", [DT_LOG_WARN] = "warn",
    [DT_LOG_INFO] = "info", [DT_LOG_DEBUG] = "debug",
};

/* The user pointer is the context, whose rank is set later. A warning of several ranks is printed once, as errors are;
 * with a requested level, the lines of a rank stay in order. */
static void default_log(void *user, dt_log_level level, const char *line) {
    const dt_ctx *ctx = user;
    if (ctx->log_is_default && ctx->hand_over) {
        char text[DT__ERROR_TEXT_BYTES + 64];
        snprintf(text, sizeof text, "%s: %s", level_words[level], line);
        if (ctx->hand_over(ctx, text, false))
            return;
    }
    fprintf(stderr, "rank %lld: %s: %s\n", (long long)ctx->rank, level_words[level], line);
}

bool dt__log_level_from_environment(dt_log_level *out) {
    const char *requested = getenv("DTENSOR_LOG");
    *out = DT_LOG_WARN;
    for (int i = 0; requested && *requested && i <= DT_LOG_DEBUG; i++) {
        if (strcmp(requested, level_words[i]) != 0)
            continue;
        *out = (dt_log_level)i;
        return true;
    }
    return !requested || !*requested;
}

bool dt__freed_kept_from_environment(int64_t *out) {
    const char *requested = getenv("DTENSOR_KEEP_FREED");
    bool all = requested && !strcmp(requested, "1");
    *out = all ? INT64_MAX : DT__FREED_KEPT;
    return all || !requested || !*requested || !strcmp(requested, "0");
}

/* Reads no variable. */
static dt_ctx *new_ctx(const dt_init_options *options) {
    dt_allocator allocator = options->allocator;
    if (!allocator.resize)
        allocator.resize = default_resize;
    dt_ctx *ctx = allocator.resize(allocator.user, NULL, 0, sizeof *ctx);
    if (!ctx)
        return NULL;
    *ctx = (dt_ctx){
        .allocator = allocator,
        .log = options->log ? options->log : default_log,
        .log_user = options->log ? options->log_user : ctx,
        .host = options->host,
        .log_level = options->log_level,
        .world = 1,
        .threads = 1,
        .machine = &dt__machine_builtin,
        .freed_kept = DT__FREED_KEPT,
    };
    return ctx;
}

dt_ctx *dt__ctx_new(const dt_init_options *options) {
    static const dt_init_options none;
    dt_ctx *ctx = new_ctx(options ? options : &none);
    if (!ctx)
        return NULL;
    if (!ctx->log_level) {
        const char *requested = getenv("DTENSOR_LOG");
        dt__log_level_from_environment(&ctx->log_level);
        ctx->log_is_default = !requested || !*requested;
    }
    dt__freed_kept_from_environment(&ctx->freed_kept);
    return ctx;
}

static void free_machine(dt_ctx *ctx) {
    if (ctx->machine != &dt__machine_builtin)
        dt__free(ctx, (void *)(uintptr_t)ctx->machine, sizeof *ctx->machine);
    ctx->machine = &dt__machine_builtin;
}

dt_status dt__ctx_set_machine(dt_ctx *ctx, const dt__machine *machine) {
    dt__machine *copy = NULL;
    if (machine->fingerprint != dt__machine_builtin.fingerprint) {
        copy = dt__alloc(ctx, sizeof *copy);
        if (!copy)
            return dt__fail_memory(ctx, sizeof *copy, "the machine model");
        *copy = *machine;
    }
    free_machine(ctx);
    ctx->machine = copy ? copy : &dt__machine_builtin;
    return DT_OK;
}

void dt__ctx_finish(dt_ctx *ctx) {
    for (int i = DT__N_SLOTS - 1; ctx && i >= 0; i--)
        if (ctx->slots[i].finish)
            ctx->slots[i].finish(ctx);
}

void dt__ctx_free(dt_ctx *ctx) {
    if (!ctx)
        return;
    dt__open_contexts_remove(ctx);
    for (int i = DT__N_SLOTS - 1; i >= 0; i--)
        if (ctx->slots[i].free_state)
            ctx->slots[i].free_state(ctx, ctx->slots[i].state);
    free_machine(ctx);
    ctx->allocator.resize(ctx->allocator.user, ctx, sizeof *ctx, 0);
}

static void log_nothing(void *user, dt_log_level level, const char *line) { (void)user, (void)level, (void)line; }

dt_ctx *dt__ctx_new_dry(const dt_ctx *parent) {
    dt_ctx *ctx =
        new_ctx(&(dt_init_options){.allocator = parent->allocator, .log = log_nothing, .log_level = DT_LOG_OFF});
    if (!ctx)
        return NULL;
    ctx->is_dry = true;
    ctx->freed_kept = parent->freed_kept;
    ctx->rank = parent->rank;
    ctx->world = parent->world;
    ctx->ranks_per_host = parent->ranks_per_host;
    ctx->threads = parent->threads;
    if (dt__ctx_set_machine(ctx, parent->machine) == DT_OK)
        return ctx;
    dt__ctx_free(ctx);
    return NULL;
}

int dt_version(void) { return DT_VERSION; }

#define TEXT_OF(x)                        #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
const char *dt_version_text(void) { return VERSION_TEXT(DT_VERSION_MAJOR, DT_VERSION_MINOR, DT_VERSION_PATCH); }

void dt__owner_enter(dt_ctx *ctx, const char *name, const dt_site *site) {
    uint64_t self = (uint64_t)pthread_self(), owner = 0;
    if (atomic_compare_exchange_strong(&ctx->owner, &owner, self) || owner == self)
        return;
    char at[512];
    dt__site_text(site, at, sizeof at);
    dt__fail_local(ctx, DT_ERR_STATE,
                   "%s%s was called by another thread during this call: a context belongs to one thread at a time",
                   name ? name : "a function", at);
}

void dt__owner_leave(dt_ctx *ctx) { atomic_store(&ctx->owner, 0); }

int64_t dt_rank(const dt_ctx *ctx) { return ctx ? ctx->rank : 0; }
int64_t dt_world(const dt_ctx *ctx) { return ctx ? ctx->world : 0; }
int dt_threads(const dt_ctx *ctx) { return ctx ? ctx->threads : 0; }

bool dt_failed(const dt_ctx *ctx) { return !ctx || ctx->status != DT_OK; }
dt_status dt_error_status(const dt_ctx *ctx) { return ctx ? ctx->status : DT_ERR_STATE; }
const char *dt_error_text(const dt_ctx *ctx) { return ctx ? ctx->text : "there is no context"; }

/* The text without the name of its status, which is printed before it: errors of "mesh" often begin with "mesh: ". */
static const char *text_after_name(dt_status status, const char *text) {
    const char *name = dt_status_name(status);
    size_t n = strlen(name);
    return !strncmp(text, name, n) && !strncmp(text + n, ": ", 2) ? text + n + 2 : text;
}

static void print_line(const dt_ctx *ctx, const char *line) {
    if (!ctx->hand_over || !ctx->hand_over(ctx, line, true))
        fprintf(stderr, "rank %lld: %s\n", (long long)ctx->rank, line);
}

void dt__error_line(const dt_ctx *ctx, const char *note, char *out, size_t capacity) {
    snprintf(out, capacity, "%s: %s%s", dt_status_name(ctx->status), text_after_name(ctx->status, ctx->text), note);
}

static void report(dt_ctx *ctx, const char *note) {
    char line[DT__ERROR_TEXT_BYTES + 128];
    dt__error_line(ctx, note, line, sizeof line);
    ctx->is_reported = true;
    if (ctx->on_error)
        ctx->on_error(ctx);
    print_line(ctx, line);
}

int dt_report(dt_ctx *ctx) {
    if (!dt_failed(ctx))
        return 0;
    if (ctx)
        report(ctx, "");
    else
        fprintf(stderr, "dtensor: there is no context\n");
    return 1;
}

void dt__report_unread(dt_ctx *ctx) {
    if (ctx->status == DT_OK && ctx->on_unread)
        ctx->on_unread(ctx);
    if (ctx->status != DT_OK && !ctx->is_reported)
        report(ctx, DT__UNCLOSED_NOTE);
}

void dt__vformat(char *text, size_t capacity, const char *format, va_list args) {
    static const char ellipsis[] = "...";
    int n = vsnprintf(text, capacity, format, args);
    if (n < 0)
        snprintf(text, capacity, "%s", format);
    else if ((size_t)n >= capacity && capacity >= sizeof ellipsis)
        memcpy(text + capacity - sizeof ellipsis, ellipsis, sizeof ellipsis);
}

void dt__site_text(const dt_site *site, char *out, size_t capacity) {
    if (site && site->file)
        snprintf(out, capacity, " (at %s:%d)", site->file, site->line);
    else
        out[0] = 0;
}

const dt_site *dt__call_site(dt_ctx *ctx) {
    dt__public_call *call = &ctx->call;
    if (call->depth == 0)
        return NULL;
    if (!call->site && ctx->host.site && ctx->host.site(ctx->host.user, &call->host_site))
        call->site = &call->host_site;
    return call->site;
}

/* The text after "NAME: ", or the whole text. */
static const char *without_name(const char *text, const char *name) {
    const char *bare = strncmp(text, "dt_", 3) ? text : text + 3;
    size_t n = strlen(name);
    return !strncmp(bare, name, n) && !strncmp(bare + n, ": ", 2) ? bare + n + 2 : text;
}

/* Describing the subject may run out of memory, for the text of a mesh for example: that is not the error to record. */
static void describe_subject(dt_ctx *ctx, char *out, size_t capacity) {
    dt__public_call call = ctx->call;
    dt_status status = ctx->status;
    void (*on_local_error)(dt_ctx *, dt_status, const char *) = ctx->on_local_error;
    out[0] = 0;
    if (!call.subject)
        return;
    ctx->call.subject = NULL;
    ctx->status = DT_ERR_INTERNAL;
    ctx->on_local_error = NULL;
    call.describe(call.subject, out, capacity);
    ctx->call = call;
    ctx->status = status;
    ctx->on_local_error = on_local_error;
}

void dt__call_vformat(dt_ctx *ctx, char *out, size_t capacity, const char *format, va_list args) {
    if (ctx->call.depth == 0) {
        dt__vformat(out, capacity, format, args);
        return;
    }
    char text[DT__ERROR_TEXT_BYTES], subject[DT__SUBJECT_BYTES], site[DT__SITE_TEXT_BYTES];
    const char *name = ctx->call.name ? ctx->call.name : "";
    dt__site_text(dt__call_site(ctx), site, sizeof site);
    describe_subject(ctx, subject, sizeof subject);
    size_t left = capacity - strlen(name) - strlen(subject) - strlen(site) - strlen(": : ");
    dt__vformat(text, left < sizeof text ? left : sizeof text, format, args);
    const char *rest = without_name(text, name);
    if (strstr(rest, subject))
        subject[0] = 0;
    int first_line = (int)strcspn(rest, "\n");
    snprintf(out, capacity, "%s%s%s%s%.*s%s%s", name, *name ? ": " : "", subject, *subject ? ": " : "", first_line,
             rest, site, rest + first_line);
}

/* The context keeps the text of the first error; calls refused because of it appear in the log. */
__attribute__((cold)) dt_status dt__refuse(dt_ctx *ctx) {
    if (ctx->call.depth == 1)
        dt__log_call(ctx, DT_LOG_INFO, "refused: the context has an error (%s) that was not cleared",
                     dt_status_name(ctx->status));
    return ctx->status;
}

dt_status dt__vfail(dt_ctx *ctx, dt_status status, const char *format, va_list args) {
    if (!ctx || ctx->status != DT_OK)
        return status;
    ctx->status = status;
    ctx->is_reported = false;
    dt__call_vformat(ctx, ctx->text, sizeof ctx->text, format, args);
    if (ctx->on_error)
        ctx->on_error(ctx);
    dt__log(ctx, DT_LOG_ERROR, "%s: %s", dt_status_name(status), text_after_name(status, ctx->text));
    return status;
}

dt_status(dt__fail)(dt_ctx *ctx, dt_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    dt__vfail(ctx, status, format, args);
    va_end(args);
    return status;
}

/* Formats the text again for the peers, because the context may keep an earlier one. */
static dt_status fail_local(dt_ctx *ctx, dt_status status, const char *format, va_list args) {
    if (ctx && ctx->on_local_error) {
        char text[DT__ERROR_TEXT_BYTES];
        va_list again;
        va_copy(again, args);
        dt__call_vformat(ctx, text, sizeof text, format, again);
        va_end(again);
        ctx->on_local_error(ctx, status, text);
    }
    return dt__vfail(ctx, status, format, args);
}

dt_status(dt__fail_local)(dt_ctx *ctx, dt_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_local(ctx, status, format, args);
    va_end(args);
    return status;
}

dt_status dt_error_set_site(dt_ctx *ctx, dt_status status, const dt_site *site, const char *format, ...) {
    DT__ENTER(ctx, NULL, site); /* the text is the program's own */
    if (status >= 0)
        return dt__fail_local(ctx, DT_ERR_VALUE, "error_set: expected the status of an error, got %s",
                              dt_status_name(status));
    va_list args;
    va_start(args, format);
    fail_local(ctx, status, format, args);
    va_end(args);
    return status;
}

dt_status(dt__fail_memory)(dt_ctx *ctx, size_t bytes, const char *what) {
    return dt__fail_local(ctx, DT_ERR_MEMORY, "out of memory: %zu bytes for %s", bytes, what);
}

void *dt__alloc(dt_ctx *ctx, size_t bytes) {
    return ctx->allocator.resize(ctx->allocator.user, NULL, 0, bytes ? bytes : 1);
}

void *dt__alloc_zeroed(dt_ctx *ctx, size_t bytes) {
    void *memory = dt__alloc(ctx, bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void *dt__resize(dt_ctx *ctx, void *old, size_t old_bytes, size_t new_bytes) {
    size_t old_size = old && !old_bytes ? 1 : old_bytes;
    return ctx->allocator.resize(ctx->allocator.user, old, old_size, new_bytes ? new_bytes : 1);
}

void dt__free(dt_ctx *ctx, void *memory, size_t bytes) {
    if (memory)
        ctx->allocator.resize(ctx->allocator.user, memory, bytes ? bytes : 1, 0);
}

void dt__log(dt_ctx *ctx, dt_log_level level, const char *format, ...) {
    if (level > ctx->log_level || (level == DT_LOG_ERROR && ctx->log_is_default))
        return;
    char line[DT__ERROR_TEXT_BYTES + 64];
    va_list args;
    va_start(args, format);
    dt__vformat(line, sizeof line, format, args);
    va_end(args);
    ctx->log(ctx->log_user, level, line);
}

void dt__log_call(dt_ctx *ctx, dt_log_level level, const char *format, ...) {
    if (level > ctx->log_level)
        return;
    char line[DT__ERROR_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    dt__call_vformat(ctx, line, sizeof line, format, args);
    va_end(args);
    ctx->log(ctx->log_user, level, line);
}
