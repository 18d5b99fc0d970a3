/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in machine model, and the text form of any. The links of the built-in table are those of the reference
 * planner that the graph planner follows, so that its traces and our times rest on the same numbers; they describe a
 * cluster of hosts with 8 fast devices, not the current machine. Copies are assumed to run at the bandwidth within a
 * host.
 *
 * One table lists the entries of a file and one the fields that an entry may have; reading and writing follow them.
 */
#include "base/machine.h"

#include "base/hash.h"
#include "base/near_miss.h"
#include "base/regular_file.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 1 << 20 }; /* many times what 256 measured steps take */

#define GIB_PER_S(rate) ((rate)*1073741824.0 / 1e6) /* in bytes per microsecond */
#define WITHIN                                                                                                       \
    { .start_us = 6.6, .peer_us = 0.6, .bytes_per_us = GIB_PER_S(87.7) }
#define BETWEEN                                                                                                      \
    { .start_us = 6.6, .peer_us = 2.7, .bytes_per_us = GIB_PER_S(87.7 * 0.22) }

const dt__machine dt__machine_builtin = {
    .ranks_per_host = 8,
    .within = WITHIN,
    .between = BETWEEN,
    .copy_bytes_per_us = GIB_PER_S(87.7),
    .min_within = WITHIN,
    .min_between = BETWEEN,
    .min_copy_bytes_per_us = GIB_PER_S(87.7),
};

static const char *const kind_names[] = {
#define X(upper, lower) #lower,
    DT__STEP_KIND_LIST(X)
#undef X
};

const char *dt__step_kind_name(dt__step_kind kind) { return kind_names[kind]; }

/* In a file, a step without communication is what it does. */
static const char *file_name_of(dt__step_kind kind) { return kind == DT__STEP_NONE ? "copy" : kind_names[kind]; }

static int compare_steps(const void *a, const void *b) {
    const dt__measured_step *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->strided != y->strided)
        return x->strided ? 1 : -1;
    if (x->ranks != y->ranks)
        return x->ranks < y->ranks ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static int compare_rates(const void *a, const void *b) {
    const dt__op_rate *x = a, *y = b;
    int names = strcmp(x->name, y->name);
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (names)
        return names;
    if (x->dtype != y->dtype)
        return x->dtype < y->dtype ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size;
}

static uint64_t hash_double(double value, uint64_t seed) { return dt__hash(&value, sizeof value, seed); }

static uint64_t hash_link(const dt__link *link, uint64_t seed) {
    return hash_double(link->bytes_per_us, hash_double(link->peer_us, hash_double(link->start_us, seed)));
}

/* Field by field: padding has no meaning. */
static uint64_t hash_model(const dt__machine *machine) {
    uint64_t hash = dt__hash_u64((uint64_t)machine->ranks_per_host, 3);
    hash = hash_link(&machine->between, hash_link(&machine->within, hash));
    hash = hash_double(machine->copy_bytes_per_us, hash);
    for (int i = 0; i < machine->n_measured; i++) {
        const dt__measured_step *step = &machine->measured[i];
        hash = dt__hash_u64((uint64_t)step->kind << 1 | step->strided, hash);
        hash = dt__hash_u64((uint64_t)step->ranks, dt__hash_u64((uint64_t)step->group, hash));
        hash = hash_double(step->bytes_per_us, hash_double(step->start_us, hash));
        hash = hash_double(step->memory_bytes_per_us, hash_double(step->cache_bytes, hash));
    }
    return hash;
}

/* For measured steps, a collective takes at least the shortest start-up and writes its result no faster than the
 * highest rate. Interpolated and extrapolated steps (plan/cost.c) cost no less. */
static void derive_minima(dt__machine *machine) {
    machine->min_within = machine->within;
    machine->min_between = machine->between;
    machine->min_copy_bytes_per_us = machine->copy_bytes_per_us;
    for (int i = 0; i < machine->n_measured; i++) {
        const dt__measured_step *step = &machine->measured[i];
        machine->min_copy_bytes_per_us = fmax(machine->min_copy_bytes_per_us, step->bytes_per_us);
        if (step->kind == DT__STEP_NONE)
            continue;
        machine->min_within.start_us = fmin(machine->min_within.start_us, step->start_us);
        machine->min_within.peer_us = 0;
        machine->min_within.bytes_per_us = INFINITY;
    }
}

void dt__machine_derive(dt__machine *machine) {
    qsort(machine->measured, (size_t)machine->n_measured, sizeof *machine->measured, compare_steps);
    qsort(machine->op_rates, (size_t)machine->n_op_rates, sizeof *machine->op_rates, compare_rates);
    derive_minima(machine);
    uint64_t hash = hash_model(machine);
    machine->fingerprint = hash == hash_model(&dt__machine_builtin) ? 0 : hash;
}

/* An entry of a file: a word, and fields with values. */
enum entry { RANKS_PER_HOST, COPY, WITHIN_HOST, BETWEEN_HOSTS, MEASURED, NODE, OP, RATE, N_ENTRIES };
static const struct {
    const char *word;
    const char *fields; /* letters of the table below; those that may be missing are capitals */
    bool required;
} entries[N_ENTRIES] = {
    [RANKS_PER_HOST] = {"ranks_per_host", "", false},
    [COPY] = {"copy", "b", true},
    [WITHIN_HOST] = {"within", "spb", true},
    [BETWEEN_HOSTS] = {"between", "spb", false},
    [MEASURED] = {"measured", "grsbCM", false},
    [NODE] = {"node", "KB", false},
    [OP] = {"op", "s", false},
    [RATE] = {"rate", "zv", false},
};

/* The values of one line. */
typedef struct line_values {
    dt__step_kind kind;
    bool strided;
    double start_us, peer_us, bytes_per_us, cache_bytes, memory_bytes_per_us, group, ranks, cores, memory, size,
        per_us;
    dt__rate_kind rate;
    dt_dtype dtype;
    char name[DT__RATE_NAME_BYTES];
} line_values;

static const struct field {
    char letter;
    const char *name;
    const char *expected;
    size_t at; /* in line_values */
    double min, max;
    bool is_count;
} fields[] = {
    {'s', "start_us", "microseconds from 0 to 1e9", offsetof(line_values, start_us), 0, 1e9, false},
    {'p', "peer_us", "microseconds from 0 to 1e9", offsetof(line_values, peer_us), 0, 1e9, false},
    {'b', "bytes_per_us", "a rate from 1e-6 to 1e12", offsetof(line_values, bytes_per_us), 1e-6, 1e12, false},
    {'C', "cache_bytes", "bytes from 1 to 1e15", offsetof(line_values, cache_bytes), 1, 1e15, false},
    {'M', "memory_bytes_per_us", "a rate from 1e-6 to 1e12", offsetof(line_values, memory_bytes_per_us), 1e-6, 1e12,
     false},
    {'g', "group", "an integer from 1 to 1048576", offsetof(line_values, group), 1, 1048576, true},
    {'r', "ranks", "an integer from 1 to 1048576", offsetof(line_values, ranks), 1, 1048576, true},
    {'K', "cores", "an integer from 1 to 1048576", offsetof(line_values, cores), 1, 1048576, true},
    {'B', "memory_bytes", "bytes from 1 to 1e18", offsetof(line_values, memory), 1, 1e18, true},
    {'z', "size", "a number from 1 to 1e18", offsetof(line_values, size), 1, 1e18, false},
    {'v', "per_us", "a rate from 1e-6 to 1e12", offsetof(line_values, per_us), 1e-6, 1e12, false},
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

/* A file while it is read. */
typedef struct reader {
    const char *path;
    int line; /* 0: the file itself */
    char *error;
    size_t error_bytes;
    dt__machine machine;
    bool has_format, has[N_ENTRIES];
} reader;

/* Writes the error; false, so that it can end a function. */
static bool refuse(const reader *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(const reader *self, const char *format, ...) {
    char where[16] = "";
    if (self->line)
        snprintf(where, sizeof where, ":%d", self->line);
    int n = snprintf(self->error, self->error_bytes, "%.300s%s: ", self->path, where);
    if (n < 0 || (size_t)n >= self->error_bytes)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(self->error + n, self->error_bytes - (size_t)n, format, args);
    va_end(args);
    return false;
}

static bool parse_number(const char *text, double min, double max, bool is_count, double *out) {
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= min && value <= max) || (is_count && value != floor(value)))
        return false;
    *out = value;
    return true;
}

static const struct field *find_field(const char *letters, const char *name) {
    for (int i = 0; i < N_FIELDS; i++)
        if (strchr(letters, fields[i].letter) && !strcmp(fields[i].name, name))
            return &fields[i];
    return NULL;
}

static bool refuse_field(const reader *self, const char *word, const char *letters, const char *name) {
    dt__near_miss near = dt__near_miss_new(name);
    char names[128] = "";
    for (int i = 0; i < N_FIELDS; i++)
        if (strchr(letters, fields[i].letter)) {
            dt__near_miss_add(&near, fields[i].name, strlen(fields[i].name));
            strcat(names, *names ? ", " : "");
            strcat(names, fields[i].name);
        }
    return refuse(self, "%s: unknown field: expected %s, got \"%.64s\"%s", word, names, name,
                  dt__near_miss_hint(&near));
}

/* "start_us=6.6 bytes_per_us=94168": every field once. */
static bool read_fields(const reader *self, const char *word, const char *letters, char **rest, line_values *out) {
    bool has[N_FIELDS] = {false};
    for (char *text; (text = strtok_r(NULL, " \t\r\n", rest));) {
        if (strchr(letters, 'g') && !out->strided && !strcmp(text, "strided")) {
            out->strided = true;
            continue;
        }
        char *value = strchr(text, '=');
        if (!value)
            return refuse(self, "%s: expected a field such as %s=1, got \"%.64s\"", word,
                          *letters ? "start_us" : "name", text);
        *value++ = 0;
        const struct field *field = find_field(letters, text);
        if (!field)
            return refuse_field(self, word, letters, text);
        if (has[field - fields])
            return refuse(self, "%s: expected %s once, got it twice", word, text);
        has[field - fields] = true;
        if (!parse_number(value, field->min, field->max, field->is_count, (double *)((char *)out + field->at)))
            return refuse(self, "%s: expected %s, got \"%.64s\"", text, field->expected, value);
    }
    for (int i = 0; i < N_FIELDS; i++)
        if (strchr(letters, fields[i].letter) && !has[i] && islower((unsigned char)fields[i].letter))
            return refuse(self, "%s: expected the field %s, got none", word, fields[i].name);
    return true;
}

static bool read_kind(const reader *self, const char *text, dt__step_kind *out) {
    char names[128] = "";
    dt__near_miss near = dt__near_miss_new(text ? text : "");
    for (int kind = 0; kind < DT__N_STEP_KINDS; kind++) {
        const char *name = file_name_of((dt__step_kind)kind);
        *out = (dt__step_kind)kind;
        if (text && !strcmp(text, name))
            return true;
        dt__near_miss_add(&near, name, strlen(name));
        strcat(names, kind == 0 ? "" : kind + 1 == DT__N_STEP_KINDS ? " or " : ", ");
        strcat(names, name);
    }
    return refuse(self, "measured: expected %s, got \"%.64s\"%s", names, text ? text : "", dt__near_miss_hint(&near));
}

static bool add_measured(reader *self, const line_values *values) {
    dt__machine *machine = &self->machine;
    dt__measured_step step = {.kind = values->kind,
                              .strided = values->strided,
                              .group = (int64_t)values->group,
                              .ranks = (int64_t)values->ranks,
                              .start_us = values->start_us,
                              .bytes_per_us = values->bytes_per_us,
                              .cache_bytes = values->cache_bytes,
                              .memory_bytes_per_us = values->memory_bytes_per_us};
    bool copies = step.kind == DT__STEP_NONE;
    if (copies ? step.group != 1 : step.group < 2)
        return refuse(self, "measured %s: group: expected %s, got %lld", file_name_of(step.kind),
                      copies ? "1" : "2 or more", (long long)step.group);
    if (step.group > step.ranks)
        return refuse(self, "measured %s: expected at least as many ranks as in a group, got group=%lld ranks=%lld",
                      file_name_of(step.kind), (long long)step.group, (long long)step.ranks);
    if ((step.cache_bytes == 0) != (step.memory_bytes_per_us == 0))
        return refuse(self, "measured %s: expected both cache_bytes and memory_bytes_per_us or neither, got one",
                      file_name_of(step.kind));
    if (step.memory_bytes_per_us > step.bytes_per_us)
        return refuse(self, "measured %s: memory_bytes_per_us: expected at most bytes_per_us, %g, got %g",
                      file_name_of(step.kind), step.bytes_per_us, step.memory_bytes_per_us);
    for (int i = 0; i < machine->n_measured; i++)
        if (!compare_steps(&machine->measured[i], &step))
            return refuse(self, "measured %s%s: expected group=%lld ranks=%lld once, got it twice",
                          file_name_of(step.kind), step.strided ? " strided" : "", (long long)step.group,
                          (long long)step.ranks);
    if (machine->n_measured == DT__MACHINE_MAX_MEASURED)
        return refuse(self, "expected at most %d measured lines, got more", (int)DT__MACHINE_MAX_MEASURED);
    machine->measured[machine->n_measured++] = step;
    return true;
}

const char *dt__rate_text(const dt__op_rate *rate) {
    return rate->kind == DT__RATE_MULTIPLY ? "multiply" : rate->kind == DT__RATE_TOUCH ? "touch" : rate->name;
}

/* Between the lines of one kind, name and dtype; 0 without any. */
static double interpolated_rate(const dt__machine *machine, dt__rate_kind kind, const char *name, dt_dtype dtype,
                                double size) {
    const dt__op_rate *below = NULL, *above = NULL;
    for (int i = 0; i < machine->n_op_rates; i++) {
        const dt__op_rate *rate = &machine->op_rates[i];
        if (rate->kind != kind || rate->dtype != dtype || strcmp(rate->name, name) != 0)
            continue;
        if (rate->size <= size)
            below = rate;
        else if (!above)
            above = rate;
    }
    if (!below || !above)
        return below ? below->per_us : above ? above->per_us : 0;
    double part = log(size / below->size) / log(above->size / below->size);
    return below->per_us * pow(above->per_us / below->per_us, part);
}

double dt__op_rate_at(const dt__machine *machine, dt__rate_kind kind, dt_dtype dtype, double size) {
    double rate = interpolated_rate(machine, kind, "", dtype, size);
    if (rate == 0 && dtype != DT_F32)
        rate = interpolated_rate(machine, kind, "", DT_F32, size);
    return rate > 0 ? rate : INFINITY;
}

double dt__named_rate_at(const dt__machine *machine, const char *name, dt_dtype dtype, double size) {
    double rate = interpolated_rate(machine, DT__RATE_OP, name, dtype, size);
    return rate > 0 || dtype == DT_F32 ? rate : interpolated_rate(machine, DT__RATE_OP, name, DT_F32, size);
}

static bool add_rate(reader *self, const line_values *values) {
    dt__machine *machine = &self->machine;
    dt__op_rate rate = {values->rate, values->dtype, values->size, values->per_us, ""};
    memcpy(rate.name, values->name, sizeof rate.name);
    for (int i = 0; i < machine->n_op_rates; i++)
        if (!compare_rates(&machine->op_rates[i], &rate))
            return refuse(self, "rate: expected size=%g once, got it twice", rate.size);
    if (machine->n_op_rates == DT__MACHINE_MAX_RATES)
        return refuse(self, "expected at most %d lines of rates, got more", (int)DT__MACHINE_MAX_RATES);
    machine->op_rates[machine->n_op_rates++] = rate;
    return true;
}

/* An op's name: letters, digits, underscores and dots. */
static bool read_rate_name(const reader *self, const char *text, line_values *out) {
    size_t n = text ? strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") : 0;
    if (n == 0 || text[n] || n >= sizeof out->name)
        return refuse(self, "rate: expected multiply, touch or the name of an op, got \"%.64s\"", text ? text : "");
    memcpy(out->name, text, n + 1);
    out->rate = DT__RATE_OP;
    return true;
}

/* "multiply f32", "touch" or "gelu f32". */
static bool read_rate(const reader *self, char **rest, line_values *out) {
    const char *kind = strtok_r(NULL, " \t\r\n", rest);
    out->dtype = DT_F32;
    out->rate = DT__RATE_TOUCH;
    if (kind && !strcmp(kind, "touch"))
        return true;
    if (kind && !strcmp(kind, "multiply"))
        out->rate = DT__RATE_MULTIPLY;
    else if (!read_rate_name(self, kind, out))
        return false;
    const char *dtype = strtok_r(NULL, " \t\r\n", rest);
    return (dtype && dt_dtype_parse(dtype, &out->dtype)) ||
           refuse(self, "rate %s: expected a dtype such as f32, got \"%.64s\"", kind, dtype ? dtype : "");
}

static bool set_entry(reader *self, enum entry entry, const line_values *values) {
    dt__machine *machine = &self->machine;
    dt__link link = {values->start_us, values->peer_us, values->bytes_per_us};
    if (entry == MEASURED)
        return add_measured(self, values);
    if (entry == RATE)
        return add_rate(self, values);
    if (entry == NODE) {
        machine->node_cores = (int64_t)values->cores;
        machine->node_memory = (int64_t)values->memory;
        return true;
    }
    if (entry == OP) {
        machine->op_start_us = values->start_us;
        return true;
    }
    if (entry == RANKS_PER_HOST)
        machine->ranks_per_host = (int64_t)values->ranks;
    else if (entry == COPY)
        machine->copy_bytes_per_us = values->bytes_per_us;
    else
        *(entry == WITHIN_HOST ? &machine->within : &machine->between) = link;
    return true;
}

static bool read_entry(reader *self, enum entry entry, char **rest) {
    line_values values = {0};
    const char *word = entries[entry].word, *letters = entries[entry].fields;
    if (self->has[entry] && entry != MEASURED && entry != RATE)
        return refuse(self, "expected one line \"%s\", got a second one", word);
    self->has[entry] = true;
    if (entry == RANKS_PER_HOST) {
        const char *text = strtok_r(NULL, " \t\r\n", rest);
        if (!text || !parse_number(text, 0, 1048576, true, &values.ranks))
            return refuse(self, "%s: expected an integer from 0 to 1048576, got \"%.64s\"", word, text ? text : "");
    }
    if (entry == MEASURED && !read_kind(self, strtok_r(NULL, " \t\r\n", rest), &values.kind))
        return false;
    if (entry == RATE && !read_rate(self, rest, &values))
        return false;
    return read_fields(self, word, letters, rest, &values) && set_entry(self, entry, &values);
}

static bool read_format(reader *self, const char *word, char **rest) {
    const char *version = strtok_r(NULL, " \t\r\n", rest), *more = strtok_r(NULL, " \t\r\n", rest);
    self->has_format = !strcmp(word, "dtensor-machine") && version && !strcmp(version, "1") && !more;
    return self->has_format || refuse(self, "expected the line \"dtensor-machine 1\", got \"%.64s%s%.64s\"", word,
                                      version ? " " : "", version ? version : "");
}

static bool read_line(reader *self, char *line) {
    char *rest = NULL;
    line[strcspn(line, "#")] = 0;
    const char *word = strtok_r(line, " \t\r\n", &rest);
    if (!word)
        return true;
    if (!self->has_format)
        return read_format(self, word, &rest);
    dt__near_miss near = dt__near_miss_new(word);
    for (int i = 0; i < N_ENTRIES; i++) {
        if (!strcmp(word, entries[i].word))
            return read_entry(self, (enum entry)i, &rest);
        dt__near_miss_add(&near, entries[i].word, strlen(entries[i].word));
    }
    return refuse(self, "expected ranks_per_host, copy, within, between, measured, node, op or rate, got \"%.64s\"%s",
                  word, dt__near_miss_hint(&near));
}

/* What is missing at the end. */
static bool complete(reader *self) {
    self->line = 0;
    if (!self->has_format)
        return refuse(self, "expected the line \"dtensor-machine 1\" first, got an empty file");
    for (int i = 0; i < N_ENTRIES; i++)
        if (entries[i].required && !self->has[i])
            return refuse(self, "expected a line \"%s\", got none", entries[i].word);
    if (!self->has[BETWEEN_HOSTS])
        self->machine.between = self->machine.within;
    dt__machine_derive(&self->machine);
    return true;
}

static bool read_lines(reader *self, FILE *file) {
    char line[512];
    while (fgets(line, sizeof line, file)) {
        self->line++;
        if (strlen(line) + 1 == sizeof line && line[sizeof line - 2] != '\n')
            return refuse(self, "expected lines of at most %zu characters, got a longer one", sizeof line - 2);
        if (!read_line(self, line))
            return false;
    }
    return ferror(file) ? refuse(self, "cannot read the file: %s", strerror(errno)) : complete(self);
}

bool dt__machine_read(const char *path, dt__machine *out, char *error, size_t error_bytes) {
    reader self = {.path = path, .error = error, .error_bytes = error_bytes};
    char why[DT__REGULAR_ERROR_BYTES];
    FILE *file = dt__regular_file_read(path, MAX_FILE_BYTES, why);
    if (!file)
        return refuse(&self, "cannot open the file: %s", why);
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = c ? uselocale(c) : (locale_t)0;
    bool ok = read_lines(&self, file);
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    fclose(file);
    if (ok)
        *out = self.machine;
    return ok;
}

bool dt__machine_from_environment(dt__machine *out, char *error, size_t error_bytes) {
    static const char prefix[] = "DTENSOR_MACHINE: ";
    const char *path = secure_getenv("DTENSOR_MACHINE");
    if (!path || !*path) {
        *out = dt__machine_builtin;
        return true;
    }
    int n = snprintf(error, error_bytes, "%s", prefix);
    return (size_t)n < error_bytes && dt__machine_read(path, out, error + n, error_bytes - (size_t)n);
}

/* The shortest decimal that reads back as the same number. */
static void print_number(FILE *file, const char *name, double value) {
    char text[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fprintf(file, " %s=%s", name, text);
}

static void print_link(FILE *file, const char *word, const dt__link *link) {
    fputs(word, file);
    print_number(file, "start_us", link->start_us);
    print_number(file, "peer_us", link->peer_us);
    print_number(file, "bytes_per_us", link->bytes_per_us);
    fputc('\n', file);
}

static void print_rates(const dt__machine *machine, FILE *file) {
    if (machine->node_cores || machine->node_memory) {
        fputs("node", file);
        if (machine->node_cores)
            print_number(file, "cores", (double)machine->node_cores);
        if (machine->node_memory)
            print_number(file, "memory_bytes", (double)machine->node_memory);
        fputc('\n', file);
    }
    if (machine->op_start_us > 0) {
        fputs("op", file);
        print_number(file, "start_us", machine->op_start_us);
        fputc('\n', file);
    }
    for (int i = 0; i < machine->n_op_rates; i++) {
        const dt__op_rate *rate = &machine->op_rates[i];
        fprintf(file, "rate %s", dt__rate_text(rate));
        if (rate->kind != DT__RATE_TOUCH)
            fprintf(file, " %s", dt_dtype_name(rate->dtype));
        print_number(file, "size", rate->size);
        print_number(file, "per_us", rate->per_us);
        fputc('\n', file);
    }
}

static void print_model(const dt__machine *machine, FILE *file) {
    fprintf(file, "dtensor-machine 1\nranks_per_host %lld\ncopy", (long long)machine->ranks_per_host);
    print_number(file, "bytes_per_us", machine->copy_bytes_per_us);
    fputc('\n', file);
    print_link(file, "within", &machine->within);
    print_link(file, "between", &machine->between);
    for (int i = 0; i < machine->n_measured; i++) {
        const dt__measured_step *step = &machine->measured[i];
        fprintf(file, "measured %s%s group=%lld ranks=%lld", file_name_of(step->kind),
                step->strided ? " strided" : "", (long long)step->group, (long long)step->ranks);
        print_number(file, "start_us", step->start_us);
        print_number(file, "bytes_per_us", step->bytes_per_us);
        if (step->cache_bytes > 0) {
            print_number(file, "cache_bytes", step->cache_bytes);
            print_number(file, "memory_bytes_per_us", step->memory_bytes_per_us);
        }
        fputc('\n', file);
    }
    print_rates(machine, file);
}

bool dt__machine_write(const dt__machine *machine, FILE *file) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = c ? uselocale(c) : (locale_t)0;
    print_model(machine, file);
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    return !ferror(file);
}
