/* SPDX-License-Identifier: Apache-2.0
 *
 * Command lines and sessions. getopt_long parses, by the table of options of the subcommand.
 */
#include "arguments.h"

#include "base/near_miss.h"
#include "mesh/mesh.h"
#include "ops/ops.h"

#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HELP = 1000, FIRST_OPTION, MAX_OPTIONS = 32, HELP_COLUMN = 22 };
enum { DEFAULT_WIDTH = 80, MIN_WIDTH = 20, MAX_WIDTH = 1000 };
static const off_t MAX_INPUT_BYTES = (off_t)4 << 30;

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
    const char *kind = dt_status_name(dt_error_status(ctx)), *text = dt_error_text(ctx);
    size_t n = strlen(kind);
    bool repeated = !strncmp(text, kind, n) && text[n] == ':'; /* "mesh: column 2: …" */
    fprintf(stderr, "dtensor %s: %s%s%s\n", self->name, repeated ? "" : kind, repeated ? "" : ": ", text);
    return EXIT_FAILED;
}

static void print_option(const command_option *option) {
    int n = printf("  --%s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
    if (n >= HELP_COLUMN)
        n = printf("\n") * 0;
    printf("%*s%s\n", HELP_COLUMN - n, "", option->help);
}

void args_help(const command *self) {
    printf("dtensor %s: %s\n\nusage: dtensor %s %s\n\n%s\n\noptions:\n", self->name, self->summary, self->name,
           self->synopsis, self->about);
    for (const command_option *option = self->options; option->name; option++)
        print_option(option);
    print_option(&(command_option){.name = "help", .help = "print this text"});
    printf("\nexamples:\n%s\n", self->examples);
}

static void fill_long_options(const command *self, struct option *out) {
    int n = 0;
    for (const command_option *option = self->options; option->name && n < MAX_OPTIONS; option++, n++)
        out[n] =
            (struct option){option->name, option->value ? required_argument : no_argument, NULL, FIRST_OPTION + n};
    out[n] = (struct option){"help", no_argument, NULL, HELP};
}

/* ":h" and the letters of the table. */
static void fill_letters(const command *self, char out[2 * MAX_OPTIONS + 3]) {
    size_t n = (size_t)sprintf(out, ":h");
    for (int i = 0; self->options[i].name && i < MAX_OPTIONS; i++)
        if (self->options[i].letter) {
            out[n++] = self->options[i].letter;
            if (self->options[i].value)
                out[n++] = ':';
        }
    out[n] = 0;
}

static dt_status keep_option(arguments *out, const command_option *option, const char *value) {
    if (args_has(out, option->name) && !option->repeats) {
        args_misused(out->command, "--%s is given twice", option->name);
        return DT_ERR_VALUE;
    }
    if (out->n_options == ARGS_MAX) {
        args_misused(out->command, "expected at most %d options", (int)ARGS_MAX);
        return DT_ERR_VALUE;
    }
    out->options[out->n_options++] = (struct parsed_option){option, value ? value : ""};
    return DT_OK;
}

static dt_status keep_words(arguments *out, int argc, char **argv) {
    const command *self = out->command;
    if (argc - optind > self->max_words) {
        args_misused(self, "unexpected argument '%s'", argv[optind + self->max_words]);
        return DT_ERR_VALUE;
    }
    if (argc - optind < self->min_words) {
        args_misused(self, "expected %s", self->operand);
        return DT_ERR_VALUE;
    }
    while (optind < argc)
        out->words[out->n_words++] = argv[optind++];
    return DT_OK;
}

/* "--colors=never" may be --color. */
static void refuse_name(const command *self, const char *word) {
    dt__near_miss near = dt__near_miss_of(word, strcspn(word, "="));
    for (const command_option *option = self->options; option->name; option++) {
        char name[DT__NEAR_MISS_CHARS];
        int n = snprintf(name, sizeof name, "--%s", option->name);
        dt__near_miss_add(&near, name, (size_t)n);
    }
    args_misused(self, "unknown option %s%s", word, dt__near_miss_hint(&near));
}

/* What getopt_long refused: optopt is a character, or the code of an option that exists, or 0. */
static dt_status refuse_option(const command *self, int code, char **argv) {
    const char *word = argv[optind - 1];
    if (code == ':')
        args_misused(self, "%s: expected a value", word);
    else if (optopt > 0 && optopt < HELP)
        args_misused(self, "unknown option -%c", optopt);
    else if (optopt)
        args_misused(self, "%s: the option takes no value", word);
    else
        refuse_name(self, word);
    return DT_ERR_VALUE;
}

/* The option that getopt_long found, by name or by letter. */
static const command_option *find_option(const command *self, int code) {
    for (const command_option *option = self->options; option->name; option++)
        if (code == option->letter)
            return option;
    return &self->options[code - FIRST_OPTION];
}

dt_status args_parse(const command *self, int argc, char **argv, arguments *out) {
    struct option long_options[MAX_OPTIONS + 2] = {{0}};
    char letters[2 * MAX_OPTIONS + 3];
    fill_long_options(self, long_options);
    fill_letters(self, letters);
    *out = (arguments){.command = self};
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, letters, long_options, NULL)) != -1;) {
        if (code == HELP || code == 'h') {
            args_help(self);
            return DT_IN_PROGRESS;
        }
        if (code == ':' || code == '?')
            return refuse_option(self, code, argv);
        DT__TRY(keep_option(out, find_option(self, code), optarg));
    }
    return keep_words(out, argc, argv);
}

const char *args_value(const arguments *args, const char *name) {
    for (int i = args->n_options - 1; i >= 0; i--)
        if (!strcmp(args->options[i].option->name, name))
            return args->options[i].value;
    return NULL;
}

bool args_has(const arguments *args, const char *name) { return args_value(args, name) != NULL; }

dt_status args_int(const arguments *args, const char *name, int64_t min, int64_t max, int64_t *out) {
    const char *text = args_value(args, name);
    char *end = NULL;
    if (!text)
        return DT_OK;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (!*text || *end || errno || number < min || number > max) {
        args_misused(args->command, "--%s: expected an integer from %lld to %lld, got '%s'", name, (long long)min,
                     (long long)max, text);
        return DT_ERR_VALUE;
    }
    *out = number;
    return DT_OK;
}

/* The terminal's, else the shell's. */
static int terminal_width(void) {
    struct winsize size;
    int width = 0;
    const char *columns = getenv("COLUMNS");
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    else if (columns)
        width = atoi(columns);
    return width < MIN_WIDTH || width > MAX_WIDTH ? DEFAULT_WIDTH : width;
}

/* NO_COLOR turns colors off unless it is empty. */
static bool terminal_has_color(void) {
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && !(terminal && !strcmp(terminal, "dumb"));
}

static dt_status read_color(const arguments *args, bool *out) {
    const char *when = args_value(args, "color");
    if (!when || !strcmp(when, "auto")) {
        *out = terminal_has_color();
        return DT_OK;
    }
    *out = !strcmp(when, "always");
    if (*out || !strcmp(when, "never"))
        return DT_OK;
    dt__near_miss near = dt__near_miss_new(when);
    dt__near_miss_add_list(&near, "auto, always or never");
    args_misused(args->command, "--color: expected auto, always or never, got '%s'%s", when,
                 dt__near_miss_hint(&near));
    return DT_ERR_VALUE;
}

dt_status args_text_style(const arguments *args, text_style *out) {
    int64_t width = terminal_width();
    DT__TRY(read_color(args, &out->color));
    DT__TRY(args_int(args, "width", MIN_WIDTH, MAX_WIDTH, &width));
    setlocale(LC_CTYPE, "");
    out->utf8 = !args_has(args, "ascii") && !strcmp(nl_langinfo(CODESET), "UTF-8");
    out->width = (int)width;
    return DT_OK;
}

static dt_status write_text(const dt__text *text, const char *path) {
    bool is_stdout = !path || !strcmp(path, "-");
    FILE *file = is_stdout ? stdout : fopen(path, "w");
    bool ok = file && fwrite(dt__text_chars(text), 1, text->n_chars, file) == text->n_chars;
    ok = file && (is_stdout ? fflush(file) : fclose(file)) == 0 && ok;
    if (!ok)
        return dt__fail_local(text->ctx, DT_ERR_SYSTEM, "%s: %s", is_stdout ? "standard output" : path,
                              strerror(errno));
    return DT_OK;
}

dt_status args_set_machine(const arguments *args, dt_ctx *ctx) {
    const char *path = args_value(args, "machine");
    dt__machine machine;
    char error[DT__MACHINE_ERROR_BYTES];
    if (!path)
        return DT_OK;
    if (dt__machine_read(path, &machine, error, sizeof error))
        return dt__ctx_set_machine(ctx, &machine);
    args_misused(args->command, "--machine: %s", error);
    return DT_ERR_VALUE;
}

static dt_status run_body(session *self, session_fn *body, void *user) {
    DT__TRY(dt__ops_open(self->ctx));
    DT__TRY(body(self, user));
    DT__TRY(dt__text_status(self->out));
    return write_text(self->out, args_value(self->args, "svg"));
}

int session_run(const arguments *args, int64_t rank, session_fn *body, void *user) {
    int64_t world = DT__ANY_WORLD;
    if (args_int(args, "ranks", 1, DT__MESH_MAX_RANKS - 1, &world) != DT_OK)
        return EXIT_USAGE;
    if (rank >= world)
        return args_misused(args->command, "--rank: expected a rank below --ranks %lld, got %lld", (long long)world,
                            (long long)rank);
    dt_ctx *ctx = dt__ctx_new(NULL);
    if (!ctx) {
        fprintf(stderr, "dtensor %s: memory: out of memory\n", args->command->name);
        return EXIT_FAILED;
    }
    if (args_set_machine(args, ctx) != DT_OK) {
        dt__ctx_free(ctx);
        return EXIT_USAGE;
    }
    ctx->world = world;
    ctx->rank = rank;
    dt__arena arena = dt__arena_new(ctx);
    dt__text out = dt__text_new(ctx);
    session self = {args, ctx, &arena, &out};
    int code = run_body(&self, body, user) == DT_OK ? EXIT_OK : args_failed(args->command, ctx);
    dt__text_free(&out);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
    return code;
}

/* Opens a file of bounded size, or a pipe. A device may have no end. */
static dt_status open_input(dt_ctx *ctx, const char *file, FILE **out) {
    struct stat info;
    *out = fopen(file, "re");
    if (!*out || fstat(fileno(*out), &info))
        return dt__fail_local(ctx, DT_ERR_SYSTEM, "%s: %s", file, strerror(errno));
    if (S_ISFIFO(info.st_mode) || (S_ISREG(info.st_mode) && info.st_size <= MAX_INPUT_BYTES))
        return DT_OK;
    (void)fclose(*out);
    if (S_ISREG(info.st_mode))
        return dt__fail_local(ctx, DT_ERR_VALUE, "%s: expected at most %lld bytes, got %lld", file,
                              (long long)MAX_INPUT_BYTES, (long long)info.st_size);
    return dt__fail_local(ctx, DT_ERR_VALUE, "%s: expected a regular file, got a %s", file,
                          S_ISDIR(info.st_mode) ? "folder" : "device");
}

dt_status args_read_file(dt_ctx *ctx, const char *file, dt__text *out) {
    char buffer[1 << 14];
    size_t n;
    FILE *in = stdin;
    if (strcmp(file, "-") != 0)
        DT__TRY(open_input(ctx, file, &in));
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0)
        dt__text_add_chars(out, buffer, n);
    bool failed = ferror(in) != 0;
    if (in != stdin)
        (void)fclose(in);
    return failed ? dt__fail_local(ctx, DT_ERR_SYSTEM, "%s: cannot be read", file) : dt__text_status(out);
}
