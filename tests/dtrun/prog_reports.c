/* SPDX-License-Identifier: Apache-2.0
 *
 * "reports [--spawn] ACTIONS ...": rank i does the i-th list of actions, the last list if there are fewer; with
 * --spawn the ranks are forked by the program. Actions are separated by ";":
 *     report TEXT    records an agreed error, reports it and clears it
 *     fail TEXT      records an agreed error
 *     verdict TEXT   records a verdict on data of a mesh of all ranks
 *     clear          reports the error of the context and clears it
 *     warn TEXT      logs a warning
 *     print TEXT     writes a line to standard error
 *     flood MB       writes this many megabytes of lines to standard error
 *     to FILE        directs standard error to the file
 *     wait           waits for all ranks
 *     sum            adds up a number of each rank
 *     sleep MS       sleeps
 *     repeat N       reports the texts "1" to "N"
 *     forget         clears the error without reporting it
 *     tell           reports the error, without clearing it
 *     fork           forks a child process that ends by exit without doing anything, and waits for it
 *     fork-report    forks a child process that records and reports "child", and waits for it
 *     exit CODE      ends by exit, without closing the context
 *     vanish CODE    ends by _exit, without closing the context
 *     kill           ends with SIGKILL
 */
#include "comm/comm.h"
#include "mesh/mesh.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void report(dt_ctx *ctx, const char *text) {
    dt__fail(ctx, DT_ERR_VALUE, "%s", text);
    dt_report(ctx);
    dt_error_clear(ctx);
}

static void repeat(dt_ctx *ctx, int n) {
    for (int i = 1; i <= n; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        report(ctx, text);
    }
}

static void flood(int megabytes) {
    for (int i = 0; i < megabytes << 10; i++)
        fprintf(stderr, "%01023d\n", i);
}

static void fork_child(dt_ctx *ctx, bool reports) {
    pid_t pid = fork();
    if (pid == 0 && reports) {
        report(ctx, "child");
        _exit(0);
    }
    if (pid == 0)
        exit(0);
    waitpid(pid, NULL, 0);
}

static void record_verdict(dt_ctx *ctx, const char *text) {
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    (void)dt__verdict_record(dt__mesh_history(mesh), DT_ERR_VALUE, text);
    dt_mesh_release(mesh);
}

static void run_action(dt_ctx *ctx, const char *verb, const char *object) {
    if (!strcmp(verb, "report"))
        report(ctx, object);
    else if (!strcmp(verb, "fail"))
        dt__fail(ctx, DT_ERR_VALUE, "%s", object);
    else if (!strcmp(verb, "verdict"))
        record_verdict(ctx, object);
    else if (!strcmp(verb, "clear") && dt_report(ctx))
        dt_error_clear(ctx);
    else if (!strcmp(verb, "warn"))
        dt__log(ctx, DT_LOG_WARN, "%s", object);
    else if (!strcmp(verb, "print"))
        fprintf(stderr, "%s\n", object);
    else if (!strcmp(verb, "to") && !freopen(object, "w", stderr))
        _exit(99);
    else if (!strcmp(verb, "wait"))
        dt_comm_barrier(dt_group_world(ctx));
    else if (!strcmp(verb, "sum"))
        dt_comm_all_reduce(dt_group_world(ctx), &(float){1}, &(float){0}, 1, DT_F32, DT_SUM);
    else if (!strcmp(verb, "sleep"))
        usleep(1000 * (unsigned)atoi(object));
    else if (!strcmp(verb, "repeat"))
        repeat(ctx, atoi(object));
    else if (!strcmp(verb, "flood"))
        flood(atoi(object));
    else if (!strcmp(verb, "forget"))
        dt_error_clear(ctx);
    else if (!strcmp(verb, "tell"))
        dt_report(ctx);
    else if (!strncmp(verb, "fork", 4))
        fork_child(ctx, !strcmp(verb, "fork-report"));
    else if (!strcmp(verb, "exit"))
        exit(atoi(object));
    else if (!strcmp(verb, "vanish"))
        _exit(atoi(object));
    else if (!strcmp(verb, "kill"))
        kill(getpid(), SIGKILL);
}

struct lists {
    int n;
    char **of;
};

static int run_actions(dt_ctx *ctx, void *arg) {
    const struct lists *lists = arg;
    int i = dt_rank(ctx) < lists->n ? (int)dt_rank(ctx) : lists->n - 1;
    char *rest = strdup(lists->of[i]), *state = NULL;
    for (char *verb = strtok_r(rest, ";", &state); verb; verb = strtok_r(NULL, ";", &state)) {
        verb += strspn(verb, " ");
        char *object = strchr(verb, ' ');
        if (object)
            *object++ = 0;
        run_action(ctx, verb, object ? object : "");
    }
    free(rest);
    return 0;
}

int main(int argc, char **argv) {
    bool spawns = argc > 1 && !strcmp(argv[1], "--spawn");
    struct lists lists = {argc - 1 - spawns, argv + 1 + spawns};
    char *error = NULL;
    if (spawns && dt_spawn(4, run_actions, &lists, &error) != DT_OK) {
        fprintf(stderr, "spawn: %s\n", error);
        free(error);
        return 3;
    }
    dt_ctx *ctx = spawns ? NULL : dt_init(NULL);
    if (!ctx)
        return spawns ? 0 : 90;
    run_actions(ctx, &lists);
    return dt_close(ctx);
}
