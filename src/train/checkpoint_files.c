/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of safetensors files. A file is the length of its header as a 64-bit number, the header as JSON, padded
 * with blanks to a multiple of 8 bytes, and the tensors without gaps.
 */
#include "train/checkpoint_files.h"

#include "base/json_writer.h"
#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH_BYTES = DT__SAFETENSORS_LENGTH_BYTES };

dt_status dt__metadata_add(dt__metadata *self, dt__arena *arena, const char *key, const char *format, ...) {
    char value[256];
    va_list args;
    va_start(args, format);
    dt__vformat(value, sizeof value, format, args);
    va_end(args);
    if (self->n == self->capacity) {
        const int capacity = 2 * self->capacity + 16;
        dt__stored_text *texts = DT__NEW_ARRAY(arena, dt__stored_text, capacity);
        if (!texts)
            return DT_ERR_MEMORY;
        if (self->n)
            memcpy(texts, self->texts, (size_t)self->n * sizeof *texts);
        self->texts = texts;
        self->capacity = capacity;
    }
    self->texts[self->n] = (dt__stored_text){key, dt__arena_copy_text(arena, value)};
    return self->texts[self->n++].value ? DT_OK : DT_ERR_MEMORY;
}

/* Assigns entries to files, in their order; returns the number of files. */
static int assign_files(dt__file_set *self, int64_t file_bytes) {
    int64_t used = 0;
    int file = 0;
    for (int i = 0; i < self->n_entries; i++) {
        dt__file_entry *entry = &self->entries[i];
        if (file_bytes && used && entry->bytes > file_bytes - dt__min_i64(used, file_bytes)) {
            file++;
            used = 0;
        }
        entry->file = file;
        used += entry->bytes;
    }
    return file + 1;
}

/* Sizes, and offsets from the first tensor of the file on. */
static dt_status place_entries(dt__file_set *self, dt_ctx *ctx, int n_files) {
    for (int f = 0; f < n_files; f++) {
        int64_t at = 0;
        for (size_t size = 16; size > 0; size /= 2)
            for (int i = 0; i < self->n_entries; i++) {
                dt__file_entry *entry = &self->entries[i];
                if (entry->file != f || dt_dtype_size(entry->dtype) != size)
                    continue;
                entry->at = at;
                if (!dt__add_i64(at, entry->bytes, &at))
                    return dt__fail(ctx, DT_ERR_SHAPE, "the size of a file overflows 64 bits");
            }
        self->files[f].bytes = at;
    }
    return DT_OK;
}

static void write_metadata(dt__json_writer *json, const dt__metadata *metadata) {
    dt__json_open(json, '{');
    for (int i = 0; i < metadata->n; i++) {
        dt__json_key(json, metadata->texts[i].key);
        dt__json_string(json, metadata->texts[i].value);
    }
    dt__json_close(json, '}');
}

static void write_entry(dt__json_writer *json, const dt__file_entry *entry) {
    dt__json_key(json, entry->name);
    dt__json_open(json, '{');
    dt__json_key(json, "dtype");
    dt__json_string(json, dt__stored_dtype_of(entry->dtype)->name);
    dt__json_key(json, "shape");
    dt__json_open(json, '[');
    for (int d = 0; d < entry->n_dims; d++)
        dt__json_int(json, entry->shape[d]);
    dt__json_close(json, ']');
    dt__json_key(json, "data_offsets");
    dt__json_open(json, '[');
    dt__json_int(json, entry->at);
    dt__json_int(json, entry->at + entry->bytes);
    dt__json_close(json, ']');
    dt__json_close(json, '}');
}

static void write_header(const dt__file_set *self, const dt__metadata *metadata, int file, dt__text *out) {
    dt__json_writer json = dt__json_writer_new(out);
    dt__json_open(&json, '{');
    dt__json_key(&json, "__metadata__");
    write_metadata(&json, metadata);
    for (int i = 0; i < self->n_entries; i++)
        if (self->entries[i].file == file)
            write_entry(&json, &self->entries[i]);
    dt__json_close(&json, '}');
}

/* {"metadata": {"total_size": 123, …}, "weight_map": {"w": "model-00001-of-00002.safetensors"}} */
static void write_index(const dt__file_set *self, const dt__metadata *metadata, dt__text *out) {
    dt__json_writer json = dt__json_writer_new(out);
    int64_t total = 0;
    for (int i = 0; i < self->n_entries; i++)
        total += self->entries[i].bytes;
    dt__json_open(&json, '{');
    dt__json_key(&json, "metadata");
    dt__json_open(&json, '{');
    dt__json_key(&json, "total_size");
    dt__json_int(&json, total);
    for (int i = 0; i < metadata->n; i++) {
        dt__json_key(&json, metadata->texts[i].key);
        dt__json_string(&json, metadata->texts[i].value);
    }
    dt__json_close(&json, '}');
    dt__json_key(&json, "weight_map");
    dt__json_open(&json, '{');
    for (int i = 0; i < self->n_entries; i++) {
        dt__json_key(&json, self->entries[i].name);
        dt__json_string(&json, self->files[self->entries[i].file].name);
    }
    dt__json_close(&json, '}');
    dt__json_close(&json, '}');
}

/* Copies the text to the head of the file, after its length. */
static dt_status set_head(dt__new_file *file, dt__arena *arena, const dt__text *text) {
    DT__TRY(dt__text_status(text));
    const size_t n = text->n_chars, padded = (n + 7) / 8 * 8;
    if (padded > DT__SAFETENSORS_MAX_HEADER)
        return dt__fail(
            arena->ctx, DT_ERR_VALUE,
            "the header of a file is too long: expected at most %d bytes, got %zu; .file_bytes divides it",
            DT__SAFETENSORS_MAX_HEADER, padded);
    file->head_bytes = LENGTH_BYTES + padded;
    file->head = DT__NEW_ARRAY(arena, char, file->head_bytes);
    if (!file->head)
        return DT_ERR_MEMORY;
    for (int b = 0; b < LENGTH_BYTES; b++)
        file->head[b] = (char)((uint64_t)padded >> (8 * b));
    memset(file->head + LENGTH_BYTES, ' ', padded);
    memcpy(file->head + LENGTH_BYTES, dt__text_chars(text), n);
    return dt__add_i64(file->bytes, (int64_t)file->head_bytes, &file->bytes)
               ? DT_OK
               : dt__fail(arena->ctx, DT_ERR_SHAPE, "the size of a file overflows 64 bits");
}

static dt_status write_heads(dt__file_set *self, dt__arena *arena, const dt__metadata *metadata, int n_files) {
    dt__text text = dt__text_new(arena->ctx);
    dt_status status = DT_OK;
    for (int f = 0; f < n_files && status == DT_OK; f++) {
        dt__text_clear(&text);
        write_header(self, metadata, f, &text);
        status = set_head(&self->files[f], arena, &text);
    }
    for (int i = 0; i < self->n_entries && status == DT_OK; i++)
        self->entries[i].at += (int64_t)self->files[self->entries[i].file].head_bytes;
    if (status == DT_OK && n_files > 1) {
        dt__new_file *index = &self->files[n_files];
        dt__text_clear(&text);
        write_index(self, metadata, &text);
        (void)snprintf(index->name, sizeof index->name, "%s.safetensors.index.json", self->stem);
        index->head = dt__arena_copy_text(arena, dt__text_chars(&text));
        index->head_bytes = text.n_chars;
        index->bytes = (int64_t)text.n_chars;
        status = index->head ? dt__text_status(&text) : DT_ERR_MEMORY;
    }
    dt__text_free(&text);
    return status;
}

static void name_files(dt__file_set *self, int n_files) {
    for (int f = 0; f < n_files; f++) {
        char *name = self->files[f].name;
        if (n_files == 1)
            (void)snprintf(name, DT__FILE_NAME_BYTES, "%s.safetensors", self->stem);
        else
            (void)snprintf(name, DT__FILE_NAME_BYTES, "%s-%05d-of-%05d.safetensors", self->stem, f + 1, n_files);
    }
}

static dt_status measure_entries(dt__file_set *self, dt_ctx *ctx) {
    int64_t total = 0;
    for (int i = 0; i < self->n_entries; i++) {
        dt__file_entry *entry = &self->entries[i];
        if (!dt__stored_dtype_of(entry->dtype))
            return dt__fail(ctx, DT_ERR_DTYPE, "%s: safetensors has no dtype %s", entry->name,
                            dt_dtype_name(entry->dtype));
        entry->bytes = (int64_t)dt_dtype_size(entry->dtype);
        for (int d = 0; d < entry->n_dims; d++)
            entry->bytes *= entry->shape[d]; /* the shape is a tensor's: no overflow */
        if (!dt__add_i64(total, entry->bytes, &total))
            return dt__fail(ctx, DT_ERR_SHAPE, "the size of a checkpoint overflows 64 bits");
    }
    return DT_OK;
}

dt_status dt__file_set_lay_out(dt__file_set *self, dt__arena *arena, const dt__metadata *metadata,
                               int64_t file_bytes) {
    DT__TRY(measure_entries(self, arena->ctx));
    const int n_files = assign_files(self, file_bytes);
    self->n_files = n_files + (n_files > 1);
    self->files = DT__NEW_ARRAY(arena, dt__new_file, self->n_files);
    if (!self->files)
        return DT_ERR_MEMORY;
    name_files(self, n_files);
    DT__TRY(place_entries(self, arena->ctx, n_files));
    return write_heads(self, arena, metadata, n_files);
}
