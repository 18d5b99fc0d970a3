/* SPDX-License-Identifier: Apache-2.0
 *
 * The `dtensor` command: finds the subcommand in the table and runs it with the rest of the command line. Exit codes:
 * 0; 1 when a request failed; 2 when the command line is wrong.
 */
#include "arguments.h"
#include "base/near_miss.h"
#include "help_topics.h"

#include <stdio.h>
#include <string.h>

static const command *const commands[] = {
#define COMMAND_ROW(name) &name##_command,
    COMMAND_LIST(COMMAND_ROW)
#undef COMMAND_ROW
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *file) {
    fprintf(file, "dtensor: inspect meshes, placements, redistributions and ops of distributed tensors\n\n"
                  "usage: dtensor COMMAND [OPTIONS]\n\ncommands:\n");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(file, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(file, "\ntopics (dtensor help TOPIC):\n");
    for (const help_topic *topic = help_topics; topic->name; topic++)
        fprintf(file, "  %-12s %s\n", topic->name, topic->summary);
    fprintf(file, "\noptions:\n"
                  "  --help     print this text; dtensor COMMAND --help describes one command\n"
                  "  --version  print the version\n"
                  "\nexamples:\n"
                  "  dtensor show 'f32[1024,512] S(0),R on mesh(dp=2,tp=4)'\n"
                  "  dtensor plan 'f32[1024,512] S(0),R on mesh(dp=2,tp=4)' 'R,S(1)'\n"
                  "  dtensor explain 'mm(f32[64,32] S(0); f32[32,48] S(0)) on mesh(4)'\n"
                  "  dtensor mesh dp=2,cp=2,tp=2 --slice dp,tp\n");
}

static const command *find_command(const char *name) {
    for (int i = 0; i < N_COMMANDS; i++)
        if (!strcmp(name, commands[i]->name))
            return commands[i];
    return NULL;
}

static int refuse_name(const char *name, bool is_topic) {
    dt__near_miss near = dt__near_miss_new(name);
    for (int i = 0; i < N_COMMANDS; i++)
        dt__near_miss_add(&near, commands[i]->name, strlen(commands[i]->name));
    for (const help_topic *topic = help_topics; topic->name && is_topic; topic++)
        dt__near_miss_add(&near, topic->name, strlen(topic->name));
    dt__near_miss_add_list(&near, "--help --version");
    fprintf(stderr, "dtensor: unknown %s '%s'%s (see dtensor --help)\n",
            *name == '-' ? "option"
            : is_topic   ? "command or topic"
                         : "command",
            name, dt__near_miss_hint(&near));
    return EXIT_USAGE;
}

/* `dtensor help`, `dtensor help show` and `dtensor help placements`. */
static int help(const char *name) {
    const command *found = name ? find_command(name) : NULL;
    const help_topic *topic = name ? help_topic_find(name) : NULL;
    if (name && !found && !topic)
        return refuse_name(name, true);
    if (found)
        args_help(found);
    else if (topic)
        fputs(topic->text, stdout);
    else
        print_help(stdout);
    return EXIT_OK;
}

static int run_command(const command *self, int argc, char **argv) {
    arguments args;
    dt_status parsed = args_parse(self, argc, argv, &args);
    if (parsed != DT_OK)
        return parsed == DT_IN_PROGRESS ? EXIT_OK : EXIT_USAGE;
    return self->run(&args);
}

static int run(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (!*name) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
        return help(argc > 2 ? argv[2] : NULL);
    if (!strcmp(name, "--version"))
        return printf("dtensor %s\n", dt_version_text()) < 0;
    const command *found = find_command(name);
    return found ? run_command(found, argc - 1, argv + 1) : refuse_name(name, false);
}

int main(int argc, char **argv) {
    int code = run(argc, argv);
    /* A full disk under standard output is a failure, not a short answer. */
    if (fflush(stdout) == EOF || ferror(stdout)) {
        if (code == EXIT_OK)
            perror("dtensor: standard output");
        return code == EXIT_OK ? EXIT_FAILED : code;
    }
    return code;
}
