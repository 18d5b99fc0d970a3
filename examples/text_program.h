/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program that trains on texts needs besides its model. Options are rows of a table: name, kind of value, where
 * it is stored, default, and a line of help. A problem with options or files is one line, which one rank prints before
 * anything starts. A text is tokens: the bytes of a file, or a small grammar.
 */
#ifndef EXAMPLES_TEXT_PROGRAM_H
#define EXAMPLES_TEXT_PROGRAM_H

#include <dtensor/dtensor.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define I64 "%" PRId64 /* the format of an integer */

enum option_kind { INT, REAL, TEXT, CHOICE, INPUT, OUTPUT, FLAG }; /* CHOICE: its help begins with the words */

struct option {
    const char *name;
    enum option_kind kind;
    size_t offset;       /* of its field: int64_t, double, const char * or bool */
    int lowest, highest; /* of numbers */
    const char *value, *help;
};

static char problem[1024]; /* the first one */
#define complain(...) ((void)(*problem || snprintf(problem, sizeof problem, __VA_ARGS__)), false)

/* A call that failed: its first line, without the line of this program that made it. */
static inline bool complain_of_call(dt_ctx *ctx, const char *subject, const char *value) {
    const char *text = dt_error_text(ctx), *site = strstr(text, " (at ");
    ptrdiff_t n = (ptrdiff_t)strcspn(text, "\n");
    (void)complain("%s%s: %.*s", subject, value, (int)(site && site < text + n ? site - text : n), text);
    dt_error_clear(ctx);
    return false;
}

/* Whether all ranks are ready. If not, the first one that is not prints why. */
static inline bool all_ready(dt_ctx *ctx, const char *program, bool ready) {
    int64_t mine = ready ? INT64_MAX : dt_rank(ctx), first = mine;
    dt_comm_all_reduce(dt_group_world(ctx), &mine, &first, 1, DT_I64, DT_MIN);
    if (first == dt_rank(ctx))
        fprintf(stderr, "%s: %s\n", program, problem);
    return first == INT64_MAX && !dt_failed(ctx);
}

/* Whether a file can be written to: before the training, not after it. */
static inline bool check_writable(const char *option, const char *path) {
    char folder[4096];
    const char *slash = strrchr(path, '/');
    struct stat found;
    const bool exists = !stat(path, &found), is_folder = exists && S_ISDIR(found.st_mode);
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return (!is_folder && !access(exists ? path : folder, W_OK)) ||
           complain("--%s: cannot write '%s': %s", option, path, strerror(is_folder ? EISDIR : errno));
}

/* Whether a word is one of a list such as "allow, warn or error: more about it". */
static inline bool is_choice(const char *word, const char *list) {
    for (const char *at = list; (at = strstr(at, word)) && at < list + strcspn(list, ":"); at++)
        if ((at == list || at[-1] == ' ') && strchr(", :", at[strlen(word)]))
            return true;
    return false;
}

/* Sets the field of an option to the value that the text is. */
static inline bool set_option(void *to, const struct option *of, const char *text) {
    void *field = (char *)to + of->offset;
    const bool open = of->highest == INT_MAX; /* of numbers that are not integers, no limit at all */
    char *end = "";
    if (of->kind == FLAG)
        return *(bool *)field = true;
    if (of->kind == CHOICE && !is_choice(text, of->help))
        return complain("--%s: expected %.*s, got '%s'", of->name, (int)strcspn(of->help, ":"), of->help, text);
    if (of->kind > REAL)
        return *(*(const char **)field = text) || complain("--%s: expected a text, got an empty one", of->name);
    const double number = of->kind == REAL ? (*(double *)field = strtod(text, &end))
                                           : (double)(*(int64_t *)field = strtoll(text, &end, 10));
    return (end != text && !*end && number >= of->lowest && (number <= of->highest || (of->kind == REAL && open))) ||
           complain("--%s: expected %s %s %d%s%.0d, got '%s'", of->name, of->kind == INT ? "an integer" : "a number",
                    open ? "of at least" : "from", of->lowest, open ? "" : " to ", open ? 0 : of->highest, text);
}

/* Defaults, then "--name value" or "--name=value". */
static inline bool parse_options(int argc, char **argv, int n, const struct option *options, void *to) {
    for (int i = 0; i < n; i++)
        if (options[i].value)
            set_option(to, &options[i], options[i].value);
    for (int a = 1; a < argc; a++) {
        const char *name = argv[a], *value = strchr(name, '=');
        const size_t length = value ? (size_t)(value - name) : strlen(name);
        int i = 0;
        while (i < n && (length < 3 || strncmp(name, "--", 2) || strlen(options[i].name) != length - 2 ||
                         strncmp(name + 2, options[i].name, length - 2)))
            i++;
        if (i == n)
            return complain("unknown option '%s'; --help lists them", name);
        if (options[i].kind == FLAG && value)
            return complain("--%s: expected no value, got '%s'", options[i].name, value + 1);
        if (options[i].kind != FLAG && !value && a + 1 == argc)
            return complain("--%s: expected a value", options[i].name);
        const char *text = options[i].kind == FLAG ? "" : value ? value + 1 : argv[++a];
        if (!set_option(to, &options[i], text) ||
            (options[i].kind == OUTPUT && !check_writable(options[i].name, text)))
            return false;
    }
    return true;
}

/* Whether --help is among the arguments; one rank prints it. */
static inline bool gives_help(dt_ctx *ctx, int argc, char **argv, const char *usage, int n, const struct option *of) {
    static const char *const values[] = {" N", " X", " TEXT", " TEXT", " FILE", " FILE", ""}; /* by kind */
    while (argc > 1 && strcmp(argv[argc - 1], "--help") != 0)
        argc--;
    if (argc <= 1 || dt_rank(ctx) != 0)
        return argc > 1;
    printf("%s [OPTION]...\n\n", usage);
    for (int i = 0; i < n; i++) {
        const int left = 20 - (int)strlen(of[i].name);
        printf("  --%s%*s %s", of[i].name, -left, values[of[i].kind], of[i].help);
        printf(of[i].value ? " (%s)\n" : "\n", of[i].value);
    }
    printf("  --help                 this text\n\nDefaults are in parentheses. The exit code is 0; 2 if an option or "
           "a file "
           "that it names is not usable,\nwith one line before anything starts; 1 if something fails later.\n");
    return true;
}

struct text {
    size_t n;
    int64_t n_characters;
    uint8_t characters[256]; /* by token */
    uint8_t *tokens;
    const int64_t *batches; /* instead of a text: the tokens of every step */
};

static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
    x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return x ^ x >> 33;
}

/* Sentences such as "the old fox follows a river to the village." */
static inline void write_sentences(uint64_t seed, FILE *to) {
    static const char *const words[][9] = {
        {"the", "a"},
        {"old", "small", "quiet", "bright", "green", "cold", "young"},
        {"fox", "river", "village", "garden", "bird", "mountain", "child", "stone"},
        {"follows", "finds", "leaves", "sees", "remembers", "passes"},
        {"to", "behind", "under", "near"},
    };
    static const char sentence[] = "012302402"; /* kinds of words; the last three in every second sentence */
    uint64_t state = seed << 32;
    while (ftell(to) < 131072) {
        for (int i = 0, n = mix(++state) % 2 ? 9 : 6; i < n; i++) {
            const char *const *kind = words[sentence[i] - '0'];
            uint64_t n_words = 0;
            while (kind[n_words])
                n_words++;
            fprintf(to, "%s%s", i ? " " : "", kind[mix(++state) % n_words]);
        }
        fprintf(to, ".\n");
    }
}

/* The text of a file, or of the grammar for NULL, with a token for each byte that occurs in it. */
static inline bool read_text(const char *path, uint64_t seed, struct text *to) {
    FILE *from = path ? fopen(path, "rb") : NULL, *copy = open_memstream((char **)&to->tokens, &to->n);
    if (copy && !path)
        write_sentences(seed, copy);
    for (int c; copy && from && (c = getc(from)) != EOF;)
        putc(c, copy);
    const bool is_read = (copy && (!path || (from && !ferror(from)))) ||
                         complain("--data: cannot read '%s': %s", path ? path : "", strerror(errno));
    if (copy)
        fclose(copy);
    if (from)
        fclose(from);
    for (size_t i = 0; is_read && i < to->n; i++) { /* in place */
        uint8_t *known = memchr(to->characters, to->tokens[i], (size_t)to->n_characters);
        if (!known)
            *(known = &to->characters[to->n_characters++]) = to->tokens[i];
        to->tokens[i] = (uint8_t)(known - to->characters);
    }
    return is_read;
}

/* Tokens of a .npy file of this shape, or with more steps. */
static inline bool read_tokens(dt_ctx *ctx, const char *path, const int64_t *expected, int64_t vocab,
                               struct text *to) {
    dt_tensor *read = dt_load_npy(ctx, path);
    const int64_t *shape = dt_tensor_shape(read);
    if (!read)
        return complain_of_call(ctx, "--tokens ", path);
    to->batches = dt_data(read);
    to->n = (size_t)dt_tensor_elements(read);
    if (dt_tensor_dtype(read) != DT_I64 || dt_tensor_n_dims(read) != 3 || shape[0] < expected[0] ||
        shape[1] != expected[1] || shape[2] != expected[2])
        return complain("--tokens %s: expected i64[" I64 "," I64 "," I64 "], for --steps, --batch and --seq + 1",
                        path, expected[0], expected[1], expected[2]);
    for (size_t i = 0; i < to->n; i++)
        if (to->batches[i] < 0 || to->batches[i] >= vocab)
            return complain("--tokens %s: expected 0 to " I64 ", got " I64, path, vocab - 1, to->batches[i]);
    return true;
}

/* The rows of a step: those of the file, or drawn from the text. */
static inline void fill_batch(const struct text *from, uint64_t seed, int64_t step, int64_t n_rows, int64_t row,
                              int64_t *batch) {
    for (int64_t i = 0; i < n_rows * row; i++) {
        const int64_t index = step * n_rows + i / row;
        const uint64_t drawn = mix(seed << 40 ^ (uint64_t)index) % (from->n - (size_t)row + 1);
        batch[i] = from->batches ? from->batches[index * row + i % row] : from->tokens[drawn + (uint64_t)(i % row)];
    }
}

/* Prints a text that the model draws after up to seq last tokens; seq + 1 fit into memory. All ranks draw the same. */
static inline void print_sample(dt_ctx *ctx, const struct text *text, int64_t length, int64_t *tokens, int64_t seq,
                                uint64_t seed, dt_tensor *predict(int64_t *tokens, int64_t n)) {
    const bool is_first = dt_rank(ctx) == 0;
    int64_t n = 1;
    tokens[0] = text->tokens[0];
    if (is_first)
        printf("\nA sample of what it writes:\n\n%c", text->characters[tokens[0]]);
    dt_generator_seed(dt_generator_default(ctx), seed);
    dt_no_grad_begin(ctx);
    for (int64_t i = 0; i < length && !dt_failed(ctx); i++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *logits = predict(tokens, n); /* divided by the temperature, and with Gumbel's noise */
        dt_tensor *noise = dt_log(dt_neg(dt_log(dt_rand_like(logits))));
        tokens[n] = dt_item_i64(dt_argmax(dt_sub(dt_div_scalar(logits, 0.7), noise)));
        dt_scope_end(scope);
        if (is_first)
            putchar(tokens[n] < text->n_characters ? text->characters[tokens[n]] : '?');
        if (++n > seq)
            memmove(tokens, tokens + 1, (size_t)--n * sizeof *tokens);
    }
    dt_no_grad_end(ctx);
}

#endif
