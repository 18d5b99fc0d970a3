/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses and prints the header of a .npy file, and decodes the numbers after it.
 */
#include "tensor/npy.h"

#include "base/dtype.h"
#include "base/size.h"
#include "tensor/tensor.h"

#include <stdio.h>
#include <string.h>

/* NumPy's names of the dtypes, without the byte order. */
static const char *const names[DT_N_DTYPES] = {
    [DT_F32] = "f4", [DT_F64] = "f8", [DT_F16] = "f2", [DT_BF16] = "V2", [DT_I8] = "i1",  [DT_I16] = "i2",
    [DT_I32] = "i4", [DT_I64] = "i8", [DT_U8] = "u1",  [DT_BOOL] = "b1", [DT_C64] = "c8", [DT_C128] = "c16",
};

static const char *refuse_dtype(dt__npy *out, const char *text) {
    snprintf(out->error, sizeof out->error,
             "unknown dtype: expected one of f2, f4, f8, V2 (bf16), i1, i2, i4, i8, u1, b1, c8, c16, got '%s'", text);
    return out->error;
}

/* The dictionary, read from left to right. */
struct reader {
    const char *at, *end;
};

static void skip_blanks(struct reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t'))
        r->at++;
}

static bool take(struct reader *r, char c) {
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* A quoted text without escapes, truncated to capacity - 1 characters. */
static bool take_text(struct reader *r, size_t capacity, char *out) {
    size_t n = 0;
    skip_blanks(r);
    char quote = r->at < r->end ? *r->at : '\0';
    if (quote != '\'' && quote != '"')
        return false;
    for (r->at++; r->at < r->end && *r->at != quote; r->at++)
        if (n < capacity - 1)
            out[n++] = *r->at;
    out[n] = '\0';
    return take(r, quote);
}

static bool take_word(struct reader *r, const char *word) {
    size_t n = strlen(word);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool take_number(struct reader *r, int64_t *out) {
    int64_t n = 0;
    skip_blanks(r);
    const char *start = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (!dt__mul_i64(n, 10, &n) || !dt__add_i64(n, *r->at - '0', &n))
            return false;
    *out = n;
    if (r->at == start)
        return false;
    (void)(r->at < r->end && *r->at == 'L' && r->at++); /* as Python 2 wrote it */
    return true;
}

static void set_dtype(dt__npy *out, dt_dtype dtype, int element_bytes, char order) {
    out->dtype = dtype;
    out->element_bytes = element_bytes;
    out->swapped = order == '>' && element_bytes > 1;
}

/* Of u2 and u4 the error is kept, for callers that have no use for them. */
static const char *read_descr(struct reader *r, dt__npy *out) {
    char text[16];
    if (!take_text(r, sizeof text, text))
        return "its elements are structures: expected one number per element";
    bool prefixed = text[0] && strchr("<>|=", text[0]);
    const char *name = text + prefixed;
    for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
        if (strcmp(name, names[dtype]) == 0) {
            set_dtype(out, (dt_dtype)dtype, (int)dt_dtype_size((dt_dtype)dtype), text[0]);
            return NULL;
        }
    if (strcmp(name, "?") == 0)
        return set_dtype(out, DT_BOOL, 1, '|'), NULL;
    for (char *c = text; *c; c++)
        *c = (char)(*c >= ' ' && *c <= '~' ? *c : '?');
    (void)refuse_dtype(out, text);
    out->is_wider = strcmp(name, "u2") == 0 || strcmp(name, "u4") == 0;
    if (!out->is_wider)
        return out->error;
    set_dtype(out, DT_I64, name[1] - '0', text[0]);
    return NULL;
}

static const char *read_order(struct reader *r, dt__npy *out) {
    out->fortran = take_word(r, "True");
    return out->fortran || take_word(r, "False") ? NULL : "fortran_order is not a boolean: expected True or False";
}

static const char *read_shape(struct reader *r, dt__npy *out) {
    static const char *const not_a_tuple = "the shape is not a tuple of sizes";
    if (!take(r, '('))
        return not_a_tuple;
    for (out->n_dims = 0; !take(r, ')'); out->n_dims++) {
        if (out->n_dims == DT_SPEC_MAX_DIMS)
            return "too many dims: expected at most 32";
        if (!take_number(r, &out->shape[out->n_dims]))
            return not_a_tuple;
        if (take(r, ','))
            continue;
        out->n_dims++;
        if (!take(r, ')'))
            return not_a_tuple;
        break;
    }
    return NULL;
}

static const char *read_dictionary(struct reader *r, dt__npy *out) {
    static const struct {
        const char *key;
        const char *(*read)(struct reader *r, dt__npy *out);
    } fields[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
    enum { N_FIELDS = sizeof fields / sizeof *fields, ALL = (1 << N_FIELDS) - 1 };
    unsigned found = 0;
    if (!take(r, '{'))
        return "the header is not a dictionary";
    while (!take(r, '}')) {
        char key[16];
        int f = 0;
        if (!take_text(r, sizeof key, key) || !take(r, ':'))
            return "the header is not a dictionary";
        while (f < N_FIELDS && strcmp(key, fields[f].key) != 0)
            f++;
        if (f == N_FIELDS)
            return "unknown key in the header: expected descr, fortran_order and shape";
        const char *error = fields[f].read(r, out);
        if (error)
            return error;
        found |= 1u << f;
        if (!take(r, ',') && !(r->at < r->end && *r->at == '}'))
            return "the header is not a dictionary";
    }
    return found == ALL ? NULL : "a key is missing in the header: expected descr, fortran_order and shape";
}

static const char *count_bytes(dt__npy *out) {
    int64_t n = 1;
    bool empty = false;
    for (int d = 0; d < out->n_dims; d++) {
        empty = empty || out->shape[d] == 0;
        if (!dt__mul_i64(n, dt__max_i64(out->shape[d], 1), &n))
            return "too large: its bytes do not fit in 63 bits";
    }
    if (!dt__mul_i64(n, out->element_bytes, &out->bytes))
        return "too large: its bytes do not fit in 63 bits";
    out->elements = empty ? 0 : n;
    out->bytes = empty ? 0 : out->bytes;
    return NULL;
}

const char *dt__npy_read_unsigned(const unsigned char *bytes, size_t n, dt__npy *out) {
    *out = (dt__npy){0};
    if (n < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return "not a .npy file: it does not begin with \\x93NUMPY";
    unsigned major = bytes[6];
    size_t start = major == 1 ? 10 : 12, length = 0;
    if (major < 1 || major > 3)
        return "unknown format version: expected 1, 2 or 3";
    for (size_t i = 8; i < start && i < n; i++)
        length |= (size_t)bytes[i] << (8 * (i - 8));
    if (length > DT__NPY_MAX_BYTES - start)
        return "the header is too long: expected at most 4096 bytes";
    if (n < start + length)
        return "the file is too short: it ends inside the header";
    struct reader reader = {(const char *)bytes + start, (const char *)bytes + start + length};
    const char *error = read_dictionary(&reader, out);
    skip_blanks(&reader);
    if (!error && reader.at != reader.end)
        error = "text follows the dictionary of the header";
    out->header_bytes = start + length;
    return error ? error : count_bytes(out);
}

const char *dt__npy_read(const unsigned char *bytes, size_t n, dt__npy *out) {
    const char *error = dt__npy_read_unsigned(bytes, n, out);
    return !error && out->is_wider ? out->error : error;
}

const char *dt__npy_check_bytes(dt__npy *npy, int64_t file_bytes) {
    char shape[128];
    int64_t left = file_bytes - (int64_t)npy->header_bytes;
    if (npy->bytes <= left)
        return NULL;
    snprintf(npy->error, sizeof npy->error, "the data of %s[%s] is cut off: expected %lld bytes, got %lld",
             dt_dtype_name(npy->dtype), dt__shape_text(npy->n_dims, npy->shape, sizeof shape, shape),
             (long long)npy->bytes, (long long)left);
    return npy->error;
}

/* Reverses the bytes of each number; a complex one is two. */
static void swap_bytes(dt_dtype dtype, unsigned char *data, size_t bytes) {
    size_t size = dt_dtype_size(dtype) / (dt__is_complex(dtype) ? 2 : 1);
    for (size_t at = 0; at < bytes; at += size)
        for (size_t i = 0; i < size / 2; i++) {
            unsigned char first = data[at + i];
            data[at + i] = data[at + size - 1 - i];
            data[at + size - 1 - i] = first;
        }
}

void dt__npy_decode(const dt__npy *npy, unsigned char *data, size_t bytes) {
    if (npy->swapped)
        swap_bytes(npy->dtype, data, bytes);
    for (size_t i = 0; npy->dtype == DT_BOOL && i < bytes; i++)
        data[i] = data[i] != 0;
}

void dt__npy_widen(const dt__npy *npy, const unsigned char *in, int64_t n, int64_t *out) {
    const int size = npy->element_bytes;
    const uint64_t sign = npy->is_wider || dt__is_unsigned(npy->dtype) ? 0 : UINT64_C(1) << (8 * size - 1);
    for (int64_t i = 0; i < n; i++, in += size) {
        uint64_t bits = 0;
        for (int b = 0; b < size; b++)
            bits |= (uint64_t)in[npy->swapped ? size - 1 - b : b] << (8 * b);
        out[i] = (int64_t)((bits ^ sign) - sign);
    }
}

size_t dt__npy_write(dt_dtype dtype, int n_dims, const int64_t *shape, unsigned char out[DT__NPY_MAX_BYTES]) {
    enum { START = 10, ALIGNED = 64 };
    char *text = (char *)out + START;
    size_t capacity = DT__NPY_MAX_BYTES - START;
    size_t n = (size_t)snprintf(text, capacity, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                                dt_dtype_size(dtype) > 1 ? '<' : '|', names[dtype]);
    for (int d = 0; d < n_dims; d++)
        n += (size_t)snprintf(text + n, capacity - n, "%s%lld", d ? ", " : "", (long long)shape[d]);
    n += (size_t)snprintf(text + n, capacity - n, "%s), }", n_dims == 1 ? "," : "");
    while ((START + n + 1) % ALIGNED != 0)
        text[n++] = ' ';
    text[n++] = '\n';
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (unsigned char)(n & 0xff);
    out[9] = (unsigned char)(n >> 8);
    return START + n;
}
