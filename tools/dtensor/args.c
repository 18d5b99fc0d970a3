/* SPDX-License-Identifier: Apache-2.0
 *
 * Command lines: getopt_long does the parsing, the subcommand's table says what there is to parse.
 */
#include "args.h"

#include "base/ctx.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP = 1000, FIRST_OPTION, MAX_OPTIONS = 32, HELP_COLUMN = 22 };

int args_misused(const command *self, const char *format, ...) {
    va_list values;
    va_start(values, format);
    fprintf(stderr, "dtensor %s: ", self->name);
    vfprintf(stderr, format, values);
    fprintf(stderr, " (see dtensor %s --help)\n", self->name);
    va_end(values);
    return EXIT_USAGE;
}

int args_failed(const command *self, const dt_ctx *ctx) {
    fprintf(stderr, "dtensor %s: %s: %s\n", self->name, dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
    return EXIT_FAILED;
}

static void print_option(const char *name, const char *value, const char *help) {
    int n = printf("  --%s%s%s", name, value ? " " : "", value ? value : "");
    if (n >= HELP_COLUMN)
        n = printf("\n") * 0;
    printf("%*s%s\n", HELP_COLUMN - n, "", help);
}

void args_help(const command *self) {
    printf("dtensor %s: %s\n\nusage: dtensor %s %s\n\n%s\n\noptions:\n", self->name, self->summary, self->name,
           self->synopsis, self->about);
    for (const command_option *option = self->options; option->name; option++)
        print_option(option->name, option->value, option->help);
    print_option("help", NULL, "print this text");
    printf("\nexamples:\n%s\n", self->examples);
}

static int fill_long_options(const command *self, struct option *out) {
    int n = 0;
    for (const command_option *option = self->options; option->name && n < MAX_OPTIONS; option++, n++)
        out[n] =
            (struct option){option->name, option->value ? required_argument : no_argument, NULL, FIRST_OPTION + n};
    out[n] = (struct option){"help", no_argument, NULL, HELP};
    return n;
}

static dt_status keep_option(args *out, const command_option *option, const char *value) {
    if (args_has(out, option->name) && !option->repeats) {
        args_misused(out->command, "--%s is given twice", option->name);
        return DT_ERR_VALUE;
    }
    if (out->n_given == ARGS_MAX) {
        args_misused(out->command, "more than %d options", (int)ARGS_MAX);
        return DT_ERR_VALUE;
    }
    out->given[out->n_given++] = (struct args_given){option, value ? value : ""};
    return DT_OK;
}

static dt_status keep_words(args *out, int argc, char **argv, int max_words) {
    if (argc - optind > max_words) {
        args_misused(out->command, "there is no place for '%s'", argv[optind + max_words]);
        return DT_ERR_VALUE;
    }
    while (optind < argc)
        out->words[out->n_words++] = argv[optind++];
    return DT_OK;
}

/* What getopt_long stumbled over: optopt is a character, or the code of an option that is there, or 0. */
static dt_status refuse_option(const command *self, int code, char **argv) {
    if (optopt > 0 && optopt < HELP)
        args_misused(self, "there is no option -%c", optopt);
    else if (code == ':')
        args_misused(self, "%s wants a value", argv[optind - 1]);
    else
        args_misused(self, optopt ? "%s: the option takes no value" : "there is no option %s", argv[optind - 1]);
    return DT_ERR_VALUE;
}

/* ":h" and the letters of the table. */
static void fill_letters(const command *self, char out[MAX_OPTIONS + 3]) {
    size_t n = (size_t)sprintf(out, ":h");
    for (int i = 0; self->options[i].name && i < MAX_OPTIONS; i++)
        if (self->options[i].letter)
            out[n++] = self->options[i].letter;
    out[n] = 0;
}

/* The option that getopt_long found, by name or by letter. */
static const command_option *option_of(const command *self, int code) {
    for (const command_option *option = self->options; option->name; option++)
        if (code == option->letter)
            return option;
    return &self->options[code - FIRST_OPTION];
}

dt_status args_parse(const command *self, int argc, char **argv, int max_words, args *out) {
    struct option long_options[MAX_OPTIONS + 2] = {{0}};
    char letters[MAX_OPTIONS + 3];
    fill_long_options(self, long_options);
    fill_letters(self, letters);
    *out = (args){.command = self};
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, letters, long_options, NULL)) != -1;) {
        if (code == HELP || code == 'h') {
            args_help(self);
            return DT_IN_PROGRESS;
        }
        if (code == ':' || code == '?')
            return refuse_option(self, code, argv);
        DT__TRY(keep_option(out, option_of(self, code), optarg));
    }
    return keep_words(out, argc, argv, max_words);
}

const char *args_value(const args *given, const char *name) {
    for (int i = given->n_given - 1; i >= 0; i--)
        if (!strcmp(given->given[i].option->name, name))
            return given->given[i].value;
    return NULL;
}

bool args_has(const args *given, const char *name) { return args_value(given, name) != NULL; }

dt_status args_number(const args *given, const char *name, int64_t min, int64_t max, int64_t *out) {
    const char *text = args_value(given, name);
    char *end = NULL;
    errno = 0;
    long long number = text ? strtoll(text, &end, 10) : 0;
    if (!text || !*text || *end || errno || number < min || number > max) {
        args_misused(given->command, "--%s wants a whole number from %lld to %lld, not '%s'", name, (long long)min,
                     (long long)max, text ? text : "");
        return DT_ERR_VALUE;
    }
    *out = number;
    return DT_OK;
}
