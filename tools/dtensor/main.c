/* SPDX-License-Identifier: Apache-2.0
 *
 * The `dtensor` command: finds the subcommand in the list and hands it the rest of the command line. Exit codes: 0,
 * 1 when a request failed, 2 when the command line is wrong.
 */
#include "args.h"

#include <stdio.h>
#include <string.h>

static const command *const commands[] = {
#define COMMAND_ROW(name) &name##_command,
    COMMAND_LIST(COMMAND_ROW)
#undef COMMAND_ROW
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *file) {
    fprintf(file, "dtensor: ask the library of distributed tensors who holds what\n\n"
                  "usage: dtensor COMMAND [OPTIONS]\n\ncommands:\n");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(file, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(file, "\noptions:\n"
                  "  --help     print this text; dtensor COMMAND --help tells about one command\n"
                  "  --version  print the version\n"
                  "\nexamples:\n"
                  "  dtensor show --mesh dp=2,tp=4 --shape 1024,512 'S(0),R'\n"
                  "  dtensor mesh dp=2,cp=2,tp=2 --slice dp,tp\n");
}

static const command *find(const char *name) {
    for (int i = 0; i < N_COMMANDS; i++)
        if (!strcmp(name, commands[i]->name))
            return commands[i];
    return NULL;
}

/* `dtensor help` and `dtensor help show`. */
static int help_about(const char *name) {
    const command *known = name ? find(name) : NULL;
    if (known)
        args_help(known);
    else if (!name)
        help(stdout);
    else
        fprintf(stderr, "dtensor: there is no command '%s' (see dtensor --help)\n", name);
    return known || !name ? EXIT_OK : EXIT_USAGE;
}

static int run(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (!*name) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
        return help_about(argc > 2 ? argv[2] : NULL);
    if (!strcmp(name, "--version"))
        return printf("dtensor %s\n", dt_version_text()) < 0;
    const command *known = find(name);
    if (known)
        return known->run(known, argc - 1, argv + 1);
    fprintf(stderr, "dtensor: there is no %s '%s' (see dtensor --help)\n", *name == '-' ? "option" : "command", name);
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    int code = run(argc, argv);
    /* A full disk behind standard output is a failure, not a short answer. */
    if (fflush(stdout) == EOF || ferror(stdout)) {
        if (code == EXIT_OK)
            perror("dtensor: standard output");
        return code == EXIT_OK ? EXIT_FAILED : code;
    }
    return code;
}
