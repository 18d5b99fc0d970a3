/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses headers of safetensors files, and indexes of several files. Names are sorted to find those that occur twice,
 * and tensors by offset to find overlaps and holes: neither depends on a hash that a malicious file could defeat.
 */
#include "train/safetensors.h"

#include "base/json_reader.h"
#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list that grows in an arena. */
typedef struct grown {
    void *items;
    int n, capacity;
} grown;

/* The next item, zeroed; NULL when out of memory. */
static void *grow(dt__arena *arena, grown *list, size_t item_bytes) {
    if (list->n == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 64;
        void *items = dt__arena_alloc(arena, (size_t)capacity, item_bytes);
        if (!items)
            return NULL;
        if (list->n)
            memcpy(items, list->items, (size_t)list->n * item_bytes);
        list->items = items;
        list->capacity = capacity;
    }
    return (char *)list->items + (size_t)list->n++ * item_bytes;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(((const dt__stored_text *)a)->key, ((const dt__stored_text *)b)->key);
}

/* Sorts texts by key, and refuses a key that occurs twice. */
static bool sort_texts(dt__json_reader *r, int n, dt__stored_text *texts, const char *what) {
    if (n)
        qsort(texts, (size_t)n, sizeof *texts, compare_texts);
    for (int i = 1; i < n; i++)
        if (!strcmp(texts[i - 1].key, texts[i].key))
            return dt__json_fail(r, "%s '%.100s' occurs twice", what, texts[i].key);
    return true;
}

/* Members of an object that are all strings. */
static bool read_texts(dt__json_reader *r, grown *list, const char *what) {
    const char *key, *value;
    if (!dt__json_enter(r, '{'))
        return false;
    while (dt__json_next_key(r, &key)) {
        if (dt__json_kind(r) != '"')
            return dt__json_fail(r, "%s '%.100s' is not a string", what, key);
        dt__stored_text *text = grow(r->arena, list, sizeof *text);
        if (!text)
            return dt__json_fail(r, "out of memory");
        if (!dt__json_take_string(r, &value))
            return false;
        *text = (dt__stored_text){key, value};
    }
    return !r->failed && sort_texts(r, list->n, list->items, what);
}

/* A tensor. */

static bool read_dtype(dt__json_reader *r, dt__stored_tensor *out) {
    const char *name;
    if (!dt__json_take_string(r, &name))
        return false;
    out->dtype = dt__stored_dtype_named(name);
    return out->dtype || dt__json_fail(r, "'%.100s' has the unknown dtype '%.20s'", out->name, name);
}

static bool read_shape(dt__json_reader *r, dt__stored_tensor *out) {
    int64_t shape[DT_SPEC_MAX_DIMS];
    int n = 0;
    if (!dt__json_enter(r, '['))
        return false;
    for (; dt__json_next(r); n++) {
        if (n == DT_SPEC_MAX_DIMS)
            return dt__json_fail(r, "'%.100s' has too many dims: expected at most %d", out->name, DT_SPEC_MAX_DIMS);
        if (!dt__json_take_int(r, &shape[n]))
            return false;
        if (shape[n] < 0)
            return dt__json_fail(r, "'%.100s' has a dim of size %" PRId64, out->name, shape[n]);
    }
    out->n_dims = n;
    out->shape = dt__arena_copy(r->arena, shape, (size_t)n, sizeof *shape);
    return !r->failed && (out->shape || dt__json_fail(r, "out of memory"));
}

static bool read_offsets(dt__json_reader *r, dt__stored_tensor *out) {
    int64_t offsets[2];
    int n = 0;
    if (!dt__json_enter(r, '['))
        return false;
    for (; dt__json_next(r); n++)
        if (n == 2 || !dt__json_take_int(r, &offsets[n]))
            return dt__json_fail(r, "data_offsets of '%.100s': expected two numbers", out->name);
    if (r->failed || n < 2)
        return dt__json_fail(r, "data_offsets of '%.100s': expected two numbers", out->name);
    out->begin = offsets[0];
    out->end = offsets[1];
    return (out->begin >= 0 && out->begin <= out->end) ||
           dt__json_fail(r, "data_offsets of '%.100s' are [%" PRId64 ", %" PRId64 "]: expected 0 <= begin <= end",
                         out->name, out->begin, out->end);
}

/* Bytes of a shape; false: more than 63 bits. */
static bool count_bytes(const dt__stored_tensor *t, int64_t *out) {
    int64_t n = t->dtype->bytes;
    bool is_empty = false;
    for (int d = 0; d < t->n_dims; d++) {
        is_empty = is_empty || t->shape[d] == 0;
        if (!dt__mul_i64(n, dt__max_i64(t->shape[d], 1), &n))
            return false;
    }
    *out = is_empty ? 0 : n;
    return true;
}

static bool check_bytes(dt__json_reader *r, const dt__stored_tensor *t) {
    int64_t bytes;
    if (!count_bytes(t, &bytes))
        return dt__json_fail(r, "'%.100s' is too large: its bytes do not fit in 63 bits", t->name);
    return bytes == t->end - t->begin ||
           dt__json_fail(r,
                         "data_offsets of '%.100s' span %" PRId64 " bytes: expected %" PRId64 " for its shape in %s",
                         t->name, t->end - t->begin, bytes, t->dtype->name);
}

static bool read_tensor(dt__json_reader *r, dt__stored_tensor *out) {
    static const struct {
        const char *key;
        bool (*read)(dt__json_reader *r, dt__stored_tensor *out);
    } fields[] = {{"dtype", read_dtype}, {"shape", read_shape}, {"data_offsets", read_offsets}};
    enum { N_FIELDS = sizeof fields / sizeof *fields, ALL = (1 << N_FIELDS) - 1 };
    unsigned found = 0;
    const char *key;
    if (dt__json_kind(r) != '{')
        return dt__json_fail(r, "'%.100s' is not an object: expected dtype, shape and data_offsets", out->name);
    (void)dt__json_enter(r, '{');
    while (dt__json_next_key(r, &key)) {
        int f = 0;
        while (f < N_FIELDS && strcmp(key, fields[f].key) != 0)
            f++;
        if (f == N_FIELDS)
            return dt__json_fail(r, "'%.100s' has the unknown key '%.40s': expected dtype, shape and data_offsets",
                                 out->name, key);
        if (found & 1u << f)
            return dt__json_fail(r, "the key '%s' of '%.100s' occurs twice", key, out->name);
        if (!fields[f].read(r, out))
            return false;
        found |= 1u << f;
    }
    if (r->failed)
        return false;
    if (found != ALL)
        return dt__json_fail(r, "'%.100s' lacks a key: expected dtype, shape and data_offsets", out->name);
    return check_bytes(r, out);
}

/* The header. */

static bool read_header(dt__json_reader *r, grown *tensors, grown *texts) {
    bool has_texts = false;
    const char *key;
    if (!dt__json_enter(r, '{'))
        return false;
    while (dt__json_next_key(r, &key)) {
        if (!strcmp(key, "__metadata__")) {
            if (has_texts)
                return dt__json_fail(r, "the name '__metadata__' occurs twice");
            has_texts = true;
            if (!read_texts(r, texts, "the value of the metadata"))
                return false;
            continue;
        }
        dt__stored_tensor *tensor = grow(r->arena, tensors, sizeof *tensor);
        if (!tensor)
            return dt__json_fail(r, "out of memory");
        tensor->name = key;
        if (!read_tensor(r, tensor))
            return false;
    }
    return dt__json_end(r);
}

static int compare_names(const void *a, const void *b) {
    return strcmp((*(const dt__stored_tensor *const *)a)->name, (*(const dt__stored_tensor *const *)b)->name);
}

/* Empty tensors go before others at the same offset. */
static int compare_offsets(const void *a, const void *b) {
    const dt__stored_tensor *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return strcmp(x->name, y->name);
}

static const char *refuse(dt__safetensors *out, const char *format, ...) DT_PRINTF(2);
static const char *refuse(dt__safetensors *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(out->error, sizeof out->error, format, args);
    va_end(args);
    return out->error;
}

static const char *check_names(dt__arena *arena, dt__safetensors *out) {
    out->by_name = DT__NEW_ARRAY(arena, const dt__stored_tensor *, out->n);
    if (!out->by_name)
        return "out of memory";
    for (int i = 0; i < out->n; i++)
        out->by_name[i] = &out->tensors[i];
    if (out->n)
        qsort(out->by_name, (size_t)out->n, sizeof(const dt__stored_tensor *), compare_names);
    for (int i = 1; i < out->n; i++)
        if (!strcmp(out->by_name[i - 1]->name, out->by_name[i]->name))
            return refuse(out, "the name '%.100s' occurs twice", out->by_name[i]->name);
    return NULL;
}

/* Sorted by offset, each tensor begins where the one before it ends, and the last one ends with the file. */
static const char *check_offsets(dt__safetensors *out) {
    int64_t at = 0;
    if (out->n)
        qsort(out->tensors, (size_t)out->n, sizeof *out->tensors, compare_offsets);
    for (int i = 0; i < out->n; i++) {
        const dt__stored_tensor *t = &out->tensors[i];
        if (t->begin < at)
            return refuse(out, "the data of '%.100s' overlaps that of '%.100s'", t->name, out->tensors[i - 1].name);
        if (t->begin > at)
            return refuse(out, "the data has a hole of %" PRId64 " bytes before '%.100s'", t->begin - at, t->name);
        at = t->end;
    }
    if (at > out->data_bytes)
        return refuse(out, "the file is cut off: expected %" PRId64 " bytes of data, got %" PRId64, at,
                      out->data_bytes);
    if (at < out->data_bytes)
        return refuse(out, "%" PRId64 " bytes follow the data: expected %" PRId64 " bytes, got %" PRId64,
                      out->data_bytes - at, at, out->data_bytes);
    return NULL;
}

const char *dt__safetensors_length(const unsigned char bytes[DT__SAFETENSORS_LENGTH_BYTES], int64_t file_bytes,
                                   dt__safetensors *out, int64_t *header_bytes) {
    uint64_t n = 0;
    if (file_bytes < DT__SAFETENSORS_LENGTH_BYTES)
        return "not a safetensors file: it has fewer than 8 bytes";
    for (int i = 0; i < DT__SAFETENSORS_LENGTH_BYTES; i++)
        n |= (uint64_t)bytes[i] << (8 * i);
    if (n > DT__SAFETENSORS_MAX_HEADER)
        return refuse(out, "the header is too long: expected at most %d bytes, got %" PRIu64,
                      DT__SAFETENSORS_MAX_HEADER, n);
    if ((int64_t)n > file_bytes - DT__SAFETENSORS_LENGTH_BYTES)
        return refuse(out, "the file is cut off: expected a header of %" PRIu64 " bytes, got %" PRId64, n,
                      file_bytes - DT__SAFETENSORS_LENGTH_BYTES);
    *header_bytes = (int64_t)n;
    return NULL;
}

const char *dt__safetensors_parse(dt__arena *arena, const char *header, size_t header_bytes, int64_t file_bytes,
                                  dt__safetensors *out) {
    grown tensors = {0}, texts = {0};
    dt__json_reader reader = dt__json_reader_new(arena, header, header_bytes);
    *out = (dt__safetensors){.data_at = DT__SAFETENSORS_LENGTH_BYTES + (int64_t)header_bytes};
    out->data_bytes = file_bytes - out->data_at;
    if (header_bytes == 0 || header[0] != '{')
        return "the header does not begin with '{'";
    if (!read_header(&reader, &tensors, &texts))
        return refuse(out, "the header is malformed: %s", reader.error);
    out->n = tensors.n;
    out->tensors = tensors.items;
    out->n_texts = texts.n;
    out->texts = texts.items;
    const char *error = check_offsets(out);
    return error ? error : check_names(arena, out);
}

const dt__stored_tensor *dt__safetensors_find(const dt__safetensors *self, const char *name) {
    const dt__stored_tensor probe = {.name = name}, *key = &probe;
    const dt__stored_tensor **found =
        self->n ? bsearch(&key, self->by_name, (size_t)self->n, sizeof(const dt__stored_tensor *), compare_names)
                : NULL;
    return found ? *found : NULL;
}

const char *dt__safetensors_text(const dt__safetensors *self, const char *key) {
    const dt__stored_text probe = {key, NULL};
    const dt__stored_text *found =
        self->n_texts ? bsearch(&probe, self->texts, (size_t)self->n_texts, sizeof probe, compare_texts) : NULL;
    return found ? found->value : NULL;
}

/* Indexes. */

static const char *refuse_index(dt__safetensors_index *out, const char *file, const char *why) {
    (void)snprintf(out->error, sizeof out->error, "names the file '%.100s': %s", file, why);
    return out->error;
}

static const char *check_file(dt__safetensors_index *out, const char *file) {
    if (file[0] == '/')
        return refuse_index(out, file, "expected a name in its own folder, got an absolute path");
    if (strchr(file, '/') || !strcmp(file, "..") || !strcmp(file, ".") || !*file)
        return refuse_index(out, file, "expected a name in its own folder");
    return NULL;
}

static int compare_files(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *list_files(dt__arena *arena, dt__safetensors_index *out) {
    const char **files = DT__NEW_ARRAY(arena, const char *, out->n);
    if (!files)
        return "out of memory";
    for (int i = 0; i < out->n; i++) {
        const char *error = check_file(out, out->entries[i].value);
        if (error)
            return error;
        files[i] = out->entries[i].value;
    }
    if (out->n)
        qsort(files, (size_t)out->n, sizeof *files, compare_files);
    for (int i = 0; i < out->n; i++)
        if (i == 0 || strcmp(files[i], files[out->n_files - 1]) != 0)
            files[out->n_files++] = files[i];
    out->files = files;
    return out->n_files <= DT__SAFETENSORS_MAX_FILES ? NULL : "names too many files: expected at most 4096";
}

const char *dt__safetensors_parse_index(dt__arena *arena, const char *text, size_t n, dt__safetensors_index *out) {
    dt__json_reader r = dt__json_reader_new(arena, text, n);
    grown entries = {0};
    bool has_map = false;
    const char *key;
    *out = (dt__safetensors_index){0};
    (void)dt__json_enter(&r, '{');
    while (dt__json_next_key(&r, &key))
        if (strcmp(key, "weight_map") != 0)
            (void)dt__json_skip(&r);
        else if (has_map)
            (void)dt__json_fail(&r, "the key 'weight_map' occurs twice");
        else
            has_map = read_texts(&r, &entries, "the file of");
    if (!dt__json_end(&r)) {
        (void)snprintf(out->error, sizeof out->error, "is malformed: %s", r.error);
        return out->error;
    }
    if (!has_map)
        return "has no weight_map";
    out->n = entries.n;
    out->entries = entries.items;
    return list_files(arena, out);
}
