/* SPDX-License-Identifier: Apache-2.0
 *
 * What every subcommand of `dtensor` shares. A subcommand is a row (name, summary, options, examples, function); help,
 * option parsing and error texts are made from the row, so that they cannot disagree. A new subcommand is one file that
 * defines `<name>_command` and one name in COMMAND_LIST. A session is one run of a subcommand: its context claims to be
 * a rank of the largest world, or of that of --ranks, and sends nothing, so that meshes may be of any size. Errors are
 * lines "dtensor show: …" on standard error.
 */
#ifndef TOOLS_DTENSOR_ARGUMENTS_H
#define TOOLS_DTENSOR_ARGUMENTS_H

#include "base/arena.h"
#include "base/text.h"
#include "dtensor/mesh.h"

/* In the order that `dtensor --help` lists them. */
#define COMMAND_LIST(X)                                                                                              \
    X(show)                                                                                                          \
    X(plan)                                                                                                          \
    X(mesh)                                                                                                          \
    X(layout)                                                                                                        \
    X(params)                                                                                                        \
    X(checkpoint)                                                                                                    \
    X(estimate)                                                                                                      \
    X(trace)                                                                                                         \
    X(pipeline)                                                                                                      \
    X(explain)                                                                                                       \
    X(rules)                                                                                                         \
    X(ops)                                                                                                           \
    X(verify)                                                                                                        \
    X(calibrate)                                                                                                     \
    X(machine)                                                                                                       \
    X(query)

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, ARGS_MAX = 64 };

typedef struct command_option {
    const char *name;  /* without the dashes */
    const char *value; /* placeholder of its value in the help; NULL: takes none */
    const char *help;
    bool repeats; /* may be given more than once */
    char letter;  /* a short form; 0: none */
} command_option;

typedef struct command command;

/* A parsed command line. */
typedef struct arguments {
    const command *command;
    struct parsed_option {
        const command_option *option;
        const char *value; /* "" for an option that takes none */
    } options[ARGS_MAX];   /* in the order of the command line */
    int n_options;
    const char *words[ARGS_MAX]; /* operands: what is not an option */
    int n_words;
} arguments;

struct command {
    const char *name;
    const char *summary;               /* one line without a full stop */
    const char *synopsis;              /* what follows the name */
    const char *about;                 /* full sentences */
    const command_option *options;     /* ends with a row without a name; --help needs no row */
    const char *examples;              /* lines, each one command */
    int min_words, max_words;          /* operands that it takes */
    const char *operand;               /* what is missing when there are fewer: "a mesh" */
    int (*run)(const arguments *args); /* returns the exit code */
};

#define COMMAND_DECLARE(name) extern const command name##_command;
COMMAND_LIST(COMMAND_DECLARE)
#undef COMMAND_DECLARE

/* Parses the command line of a subcommand (argv[0] is its name). DT_OK; DT_IN_PROGRESS when --help was printed; or an
 * error that was reported. */
dt_status args_parse(const command *self, int argc, char **argv, arguments *out);
/* The value of an option, or NULL without the option. */
const char *args_value(const arguments *args, const char *name);
bool args_has(const arguments *args, const char *name);
/* Reads an integer from min to max into *out, which is unchanged without the option; reports what is wrong. */
dt_status args_int(const arguments *args, const char *name, int64_t min, int64_t max, int64_t *out);

/* Appends all of a file, "-": standard input; refuses (system) one that cannot be read. */
dt_status args_read_file(dt_ctx *ctx, const char *file, dt__text *out);

/* Reports wrong use and returns EXIT_USAGE. */
int args_misused(const command *self, const char *format, ...) DT_PRINTF(2);
/* Reports the context's first error as "dtensor show: placement: …" and returns EXIT_FAILED. */
int args_failed(const command *self, const dt_ctx *ctx);

void args_help(const command *self);

/* How to draw in characters, and the rows of the options that say so. */
typedef struct text_style {
    bool utf8, color;
    int width; /* columns of the terminal */
} text_style;

#define TEXT_STYLE_OPTIONS                                                                                           \
    {.name = "color", .value = "WHEN", .help = "auto (on a terminal, unless NO_COLOR is set), always or never"},     \
        {.name = "ascii", .help = "draw with - | + even where the locale has box characters"}, {                     \
        .name = "width", .value = "COLUMNS", .help = "width to draw in; default: the terminal's, else 80"            \
    }

dt_status args_text_style(const arguments *args, text_style *out);

/* One run of a subcommand. */
typedef struct session {
    const arguments *args;
    dt_ctx *ctx;
    dt__arena *arena;
    dt__text *out; /* what is printed when the run succeeded */
} session;

typedef dt_status session_fn(session *self, void *user);

/* Runs the function in a context that claims to be this rank, prints what it wrote to self->out, to the file of --svg
 * where that is given ("-" is standard output), and returns the exit code. */
int session_run(const arguments *args, int64_t rank, session_fn *body, void *user);

/* The row of the option from which a session takes the size of its world. */
#define RANKS_OPTION                                                                                                 \
    { .name = "ranks", .value = "N", .help = "the size of the world; * in a mesh takes what is left of it" }

/* The row of the option from which a session takes its machine model, the built-in one by default. */
#define MACHINE_OPTION                                                                                               \
    {                                                                                                                \
        .name = "machine", .value = "FILE",                                                                          \
        .help = "times of this machine model (dtensor calibrate), not built-in ones"                                 \
    }
/* Reads the model of --machine into the context; reports what is wrong with the file. */
dt_status args_set_machine(const arguments *args, dt_ctx *ctx);

/* The forms of a mesh, for the texts of commands. */
#define MESH_FORMS "A mesh is dp=2,tp=4, or 2x4, or a list of ranks such as [[0,1],[2,3]]"

#endif
