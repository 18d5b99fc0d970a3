/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of one subcommand, parsed by its table of options, and how a subcommand tells what went wrong: a
 * line "dtensor show: …" on standard error.
 */
#ifndef TOOLS_DTENSOR_ARGS_H
#define TOOLS_DTENSOR_ARGS_H

#include "command.h"

enum { ARGS_MAX = 64 };

typedef struct args {
    const command *command;
    struct args_given {
        const command_option *option;
        const char *value; /* "" for an option that takes none */
    } given[ARGS_MAX];     /* in the order of the command line */
    int n_given;
    const char *words[ARGS_MAX]; /* what is not an option */
    int n_words;
} args;

/* Parses; DT_OK, or DT_IN_PROGRESS when --help was printed, or an error that was told. At most max_words words. */
dt_status args_parse(const command *self, int argc, char **argv, int max_words, args *out);
/* The value of an option, or NULL where it is not given. */
const char *args_value(const args *given, const char *name);
bool args_has(const args *given, const char *name);
/* Reads a whole number from min to max; tells what is wrong otherwise. */
dt_status args_number(const args *given, const char *name, int64_t min, int64_t max, int64_t *out);

/* Tells of wrong use and returns EXIT_USAGE. */
int args_misused(const command *self, const char *format, ...) DT_PRINTF(2);
/* Tells the context's first error as "dtensor show: placement: …" and returns EXIT_FAILED. */
int args_failed(const command *self, const dt_ctx *ctx);

void args_help(const command *self);

#endif
