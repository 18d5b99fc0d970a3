/* SPDX-License-Identifier: Apache-2.0
 *
 * The safetensors format, as a table of what a file holds. A file is
 *
 *     n, 8 bytes, little-endian | a JSON object of n bytes, padded with blanks | the data
 *
 * and the object has a member per tensor, and one for texts:
 *
 *     {"__metadata__": {"format": "pt"},
 *      "h.0.attn.wq.weight": {"dtype": "F32", "shape": [768, 768], "data_offsets": [0, 2359296]}}
 *
 * Offsets are relative to the data, which is row-major and little-endian. A name occurs once, and the tensors cover the
 * data without overlaps and holes. All of that is checked before anything is read, in memory and time that are bounded
 * by the size of the header. Parsing is pure: from bytes to a table.
 */
#ifndef DT_TRAIN_SAFETENSORS_H
#define DT_TRAIN_SAFETENSORS_H

#include "base/arena.h"
#include "dtensor/spec.h"

enum {
    DT__SAFETENSORS_LENGTH_BYTES = 8,
    DT__SAFETENSORS_MAX_HEADER = 100000000, /* bytes; what the safetensors package accepts */
};

/* An element as a file has it. */
typedef struct dt__stored_dtype {
    const char *name; /* "BF16" */
    int bytes;
    dt_dtype dtype; /* that holds every value: that of the file, or a wider one */
    /* NULL: the bytes are those of dtype. Otherwise decodes n elements; false: one does not fit. */
    bool (*decode)(int64_t n, const unsigned char *in, void *out);
} dt__stored_dtype;
/* NULL for a dtype that the format does not have: c128. */
const dt__stored_dtype *dt__stored_dtype_of(dt_dtype dtype);
const dt__stored_dtype *dt__stored_dtype_named(const char *name);

typedef struct dt__stored_tensor {
    const char *name;
    const dt__stored_dtype *dtype;
    int n_dims;
    const int64_t *shape;
    int64_t begin, end; /* of its bytes in the data */
} dt__stored_tensor;

typedef struct dt__stored_text {
    const char *key, *value;
} dt__stored_text;

/* What a file holds. All of it is in the arena that was passed. */
typedef struct dt__safetensors {
    int64_t data_at, data_bytes; /* in the file */
    int n;
    dt__stored_tensor *tensors;        /* in the order of their data */
    const dt__stored_tensor **by_name; /* sorted by strcmp */
    int n_texts;
    dt__stored_text *texts; /* of __metadata__ */
    char error[512];
} dt__safetensors;

/* Reads the length from the first 8 bytes of a file: the bytes of the header. NULL, or what is wrong, which may be in
 * *out. */
const char *dt__safetensors_length(const unsigned char bytes[DT__SAFETENSORS_LENGTH_BYTES], int64_t file_bytes,
                                   dt__safetensors *out, int64_t *header_bytes);
/* Parses the header of a file of this many bytes. NULL, or what is wrong. */
const char *dt__safetensors_parse(dt__arena *arena, const char *header, size_t header_bytes, int64_t file_bytes,
                                  dt__safetensors *out);

/* NULL: there is none. */
const dt__stored_tensor *dt__safetensors_find(const dt__safetensors *self, const char *name);
const char *dt__safetensors_text(const dt__safetensors *self, const char *key);

/* Parses the "weight_map" of an index, from names to files. A file is a plain name in the folder of the index. NULL, or
 * what is wrong; *names are sorted. */
typedef struct dt__safetensors_index {
    int n;
    dt__stored_text *entries; /* name and file, sorted by name */
    int n_files;
    const char **files; /* each once, sorted */
    char error[512];
} dt__safetensors_index;
enum { DT__SAFETENSORS_MAX_INDEX = 100000000, DT__SAFETENSORS_MAX_FILES = 4096 };
const char *dt__safetensors_parse_index(dt__arena *arena, const char *text, size_t n, dt__safetensors_index *out);

#endif
