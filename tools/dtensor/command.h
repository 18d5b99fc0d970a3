/* SPDX-License-Identifier: Apache-2.0
 *
 * What a subcommand of `dtensor` is: a row of words (name, summary, options, examples) and a function. Help, option
 * parsing and error texts are made from the row, so that they cannot disagree. A new subcommand is one file that
 * defines `<name>_command` and one name in COMMAND_LIST.
 */
#ifndef TOOLS_DTENSOR_COMMAND_H
#define TOOLS_DTENSOR_COMMAND_H

#include "dtensor/base.h"

/* In the order in which `dtensor --help` lists them. */
#define COMMAND_LIST(X)                                                                                              \
    X(show)                                                                                                          \
    X(plan)                                                                                                          \
    X(mesh)                                                                                                          \
    X(explain)                                                                                                       \
    X(rules)                                                                                                         \
    X(ops)                                                                                                           \
    X(verify)                                                                                                        \
    X(query)

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct command_option {
    const char *name;  /* without the dashes */
    const char *value; /* word that stands for its value in the help; NULL: takes none */
    const char *help;
    bool repeats; /* may be given more than once */
    char letter;  /* a short form; 0: none */
} command_option;

typedef struct command command;
struct command {
    const char *name;
    const char *summary;           /* one line without a full stop */
    const char *synopsis;          /* what follows the name */
    const char *about;             /* whole sentences */
    const command_option *options; /* ends with a row without a name; --help is understood without a row */
    const char *examples;          /* lines, each one command or what it does */
    int (*run)(const command *self, int argc, char **argv); /* argv[0] is the name; returns the exit code */
};

#define COMMAND_DECLARE(name) extern const command name##_command;
COMMAND_LIST(COMMAND_DECLARE)
#undef COMMAND_DECLARE

#endif
