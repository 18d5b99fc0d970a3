/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening: which files a path means, their headers, and the table of all tensors by name.
 */
#include "train/stored_files.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char single_name[] = "model.safetensors", index_name[] = "model.safetensors.index.json";

/* "FOLDER/NAME" in the arena; NULL after an error. */
static const char *joined(dt__arena *arena, size_t folder_bytes, const char *folder, const char *name) {
    const size_t n = folder_bytes + strlen(name) + 2;
    char *path = dt__arena_alloc(arena, n, 1);
    if (path)
        (void)snprintf(path, n, "%.*s/%s", (int)folder_bytes, folder, name);
    return path;
}

/* Opens a regular file. Ranks compare at their next meeting what they have opened. */
static dt_status open_file(dt__file *file, const char *path, int64_t *bytes) {
    struct stat info;
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->fd < 0 || fstat(file->fd, &info) != 0)
        return dt__file_fail(file, DT_ERR_SYSTEM, "cannot be opened: %s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return dt__file_fail(file, DT_ERR_VALUE, "expected a regular file, got a %s", dt__file_kind(info.st_mode));
    const uint64_t before = file->call->own.file_hash;
    dt__file_call_opened(file->call, &info, file->entry ? file->entry : path);
    file->call->own.file_hash = dt__hash_u64(before, file->call->own.file_hash);
    *bytes = (int64_t)info.st_size;
    return DT_OK;
}

/* n bytes of a file, in n + 1 bytes of the context's memory. NULL after an error. */
static char *read_text(dt__file *file, int64_t at, int64_t n) {
    char *text = dt__alloc(file->ctx, (size_t)n + 1);
    if (!text) {
        (void)dt__fail_memory(file->ctx, (size_t)n + 1, "the header of a file");
        return NULL;
    }
    if (dt__file_read(file, at, text, (size_t)n) == DT_OK)
        return text;
    dt__free(file->ctx, text, (size_t)n + 1);
    return NULL;
}

static dt_status status_of(const dt__file *file) {
    return file->call->own.status != DT_OK ? (dt_status)file->call->own.status : dt_error_status(file->ctx);
}

/* A reason of a parser; out of memory is recorded already. */
static dt_status refuse(dt__file *file, const char *error) {
    return dt_failed(file->ctx) ? dt_error_status(file->ctx) : dt__file_fail(file, DT_ERR_VALUE, "%s", error);
}

static dt_status open_header(dt__stored_file *self, const char *path, dt__arena *arena) {
    unsigned char length[DT__SAFETENSORS_LENGTH_BYTES] = {0};
    int64_t bytes, n = 0;
    DT__TRY(open_file(&self->file, path, &bytes));
    if (bytes >= (int64_t)sizeof length)
        DT__TRY(dt__file_read(&self->file, 0, length, sizeof length));
    const char *error = dt__safetensors_length(length, bytes, &self->header, &n);
    if (error)
        return refuse(&self->file, error);
    char *text = read_text(&self->file, sizeof length, n);
    if (!text)
        return status_of(&self->file);
    error = dt__safetensors_parse(arena, text, (size_t)n, bytes, &self->header);
    dt__free(self->file.ctx, text, (size_t)n + 1);
    return error ? refuse(&self->file, error) : DT_OK;
}

static int compare_entries(const void *a, const void *b) {
    return strcmp(((const dt__stored_entry *)a)->tensor->name, ((const dt__stored_entry *)b)->tensor->name);
}

static dt_status list_entries(dt__stored_files *self, dt__arena *arena) {
    for (int f = 0; f < self->n_files; f++)
        self->n += self->files[f].header.n;
    self->entries = DT__NEW_ARRAY(arena, dt__stored_entry, self->n);
    if (!self->entries)
        return DT_ERR_MEMORY;
    for (int f = 0, i = 0; f < self->n_files; f++)
        for (int t = 0; t < self->files[f].header.n; t++)
            self->entries[i++] = (dt__stored_entry){&self->files[f].header.tensors[t], &self->files[f]};
    self->by_name = dt__arena_copy(arena, self->entries, (size_t)self->n, sizeof *self->entries);
    if (!self->by_name)
        return DT_ERR_MEMORY;
    if (self->n)
        qsort(self->by_name, (size_t)self->n, sizeof *self->by_name, compare_entries);
    for (int i = 1; i < self->n; i++)
        if (!compare_entries(&self->by_name[i - 1], &self->by_name[i]))
            return dt__file_fail(&self->by_name[i].file->file, DT_ERR_VALUE, "'%.100s' is in another file, too",
                                 self->by_name[i].tensor->name);
    return DT_OK;
}

static dt_status open_files(dt__stored_files *self, dt__arena *arena, int n, const char *const *paths,
                            const char *const *names) {
    self->files = DT__NEW_ARRAY(arena, dt__stored_file, n);
    if (!self->files)
        return DT_ERR_MEMORY;
    for (; self->n_files < n; self->n_files++) {
        dt__stored_file *file = &self->files[self->n_files];
        file->file = (dt__file){.ctx = self->call->ctx, .call = self->call, .entry = names[self->n_files], .fd = -1};
        dt_status status = paths[self->n_files] ? open_header(file, paths[self->n_files], arena) : DT_ERR_MEMORY;
        if (status != DT_OK) {
            self->n_files++;
            return status;
        }
    }
    return list_entries(self, arena);
}

/* Every tensor is in the file that the index states, and nothing else is there. */
static dt_status check_index(const dt__stored_files *self, const dt__file *file, const dt__safetensors_index *index) {
    for (int i = 0; i < index->n; i++) {
        const dt__stored_entry *found = dt__stored_files_find(self, index->entries[i].key);
        if (!found || strcmp(found->file->file.entry, index->entries[i].value) != 0)
            return dt__file_fail(file, DT_ERR_VALUE, "'%.100s' is not in %.100s, as the index states",
                                 index->entries[i].key, index->entries[i].value);
    }
    for (int i = 0; i < self->n && index->n < self->n; i++)
        if (i == index->n || strcmp(index->entries[i].key, self->by_name[i].tensor->name) != 0)
            return dt__file_fail(file, DT_ERR_VALUE, "'%.100s' of %.100s is not in the index",
                                 self->by_name[i].tensor->name, self->by_name[i].file->file.entry);
    return DT_OK;
}

static dt_status open_listed(dt__stored_files *self, dt__arena *arena, const dt__file *file, const char *folder,
                             size_t folder_bytes, const dt__safetensors_index *index) {
    const char **paths = DT__NEW_ARRAY(arena, const char *, index->n_files);
    if (!paths)
        return DT_ERR_MEMORY;
    for (int i = 0; i < index->n_files; i++)
        paths[i] = joined(arena, folder_bytes, folder, index->files[i]);
    DT__TRY(open_files(self, arena, index->n_files, paths, index->files));
    return check_index(self, file, index);
}

static dt_status read_index(dt__file *file, const char *path, dt__arena *arena, dt__safetensors_index *index) {
    int64_t bytes;
    DT__TRY(open_file(file, path, &bytes));
    if (bytes > DT__SAFETENSORS_MAX_INDEX)
        return dt__file_fail(file, DT_ERR_VALUE, "the index is too long: expected at most %d bytes, got %lld",
                             DT__SAFETENSORS_MAX_INDEX, (long long)bytes);
    char *text = read_text(file, 0, bytes);
    if (!text)
        return status_of(file);
    const char *error = dt__safetensors_parse_index(arena, text, (size_t)bytes, index);
    dt__free(file->ctx, text, (size_t)bytes + 1);
    return error ? refuse(file, error) : DT_OK;
}

/* name NULL: the path of the call is the index. The folder is that of the files. */
static dt_status open_index(dt__stored_files *self, dt__arena *arena, const char *path, const char *name,
                            const char *folder, size_t folder_bytes) {
    dt__file file = {.ctx = self->call->ctx, .call = self->call, .entry = name, .fd = -1};
    dt__safetensors_index index;
    dt_status status = read_index(&file, path, arena, &index);
    if (status == DT_OK)
        status = open_listed(self, arena, &file, folder, folder_bytes, &index);
    if (file.fd >= 0)
        (void)close(file.fd);
    return status;
}

static dt_status open_folder(dt__stored_files *self, dt__arena *arena, const char *folder) {
    const size_t n = strlen(folder);
    const char *single = joined(arena, n, folder, single_name), *index = joined(arena, n, folder, index_name);
    const char *names[] = {single_name};
    if (!single || !index)
        return DT_ERR_MEMORY;
    if (access(single, F_OK) == 0 || errno != ENOENT)
        return open_files(self, arena, 1, &single, names);
    if (access(index, F_OK) == 0 || errno != ENOENT)
        return open_index(self, arena, index, index_name, folder, n);
    char text[160];
    (void)snprintf(text, sizeof text, "expected %s or %s in the folder", single_name, index_name);
    return dt__file_call_fail(self->call, DT_ERR_VALUE, text);
}

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

dt_status dt__stored_files_open(dt__stored_files *self, dt__file_call *call, dt__arena *arena) {
    struct stat info;
    const char *path = call->path, *slash = strrchr(path, '/'), *none[] = {NULL};
    *self = (dt__stored_files){.call = call};
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return open_folder(self, arena, path);
    if (!ends_with(path, ".index.json"))
        return open_files(self, arena, 1, &path, none);
    return open_index(self, arena, path, NULL, slash ? path : ".", slash ? (size_t)(slash - path) : 1);
}

void dt__stored_files_close(dt__stored_files *self) {
    for (int i = 0; i < self->n_files; i++)
        if (self->files[i].file.fd >= 0)
            (void)close(self->files[i].file.fd);
    self->n_files = 0;
}

const dt__stored_entry *dt__stored_files_find(const dt__stored_files *self, const char *name) {
    const dt__stored_tensor probe = {.name = name};
    const dt__stored_entry key = {&probe, NULL};
    return self->n ? bsearch(&key, self->by_name, (size_t)self->n, sizeof key, compare_entries) : NULL;
}
