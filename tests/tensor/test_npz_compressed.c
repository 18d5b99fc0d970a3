/* SPDX-License-Identifier: Apache-2.0
 *
 * Compressed entries of .npz files: they are read with any placement, and entries whose contents differ from their
 * headers are refused with an error that names file and entry. The test writes the zip files byte by byte;
 * move/test_numpy_files.py reads those that NumPy writes. Ranks 1, 3, 4 on shm.
 */
#include "tensor/tensors.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static char folder[256], path[300];

static int make_path(void **state) {
    (void)state;
    bool made = test_make_folder(folder, sizeof folder);
    (void)snprintf(path, sizeof path, "%s/arrays.npz", folder);
    return made ? 0 : 1;
}

static int remove_path(void **state) {
    (void)state;
    if (!test_started_ranks())
        (void)unlink(path);
    return test_remove_folder(folder);
}

static unsigned char *put(unsigned char *out, int n_bytes, uint64_t value) {
    for (int i = 0; i < n_bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
    return out + n_bytes;
}

/* A zip file with one entry, a.npy, whose headers may be wrong. */
typedef struct zip {
    unsigned char data[1 << 18]; /* deflated */
    size_t data_bytes;
    uint64_t declared_bytes, declared_data_bytes;
    uint32_t crc;
    unsigned method;
    bool wide; /* sizes in 64-bit fields */
} zip;

static void deflate_into(zip *z, const void *bytes, size_t n) {
    z_stream s = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)n};
    assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    s.next_out = z->data;
    s.avail_out = sizeof z->data;
    assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
    z->data_bytes = z->declared_data_bytes = s.total_out;
    z->declared_bytes = n;
    z->crc = (uint32_t)crc32_z(0, bytes, n);
    z->method = 8;
    (void)deflateEnd(&s);
}

/* The fields that the local header and the directory share, from the version to the length of the extra field, which
 * holds 64-bit sizes. */
static unsigned char *put_sizes(unsigned char *out, const zip *z) {
    out = put(put(put(put(out, 2, 45), 2, 0), 2, z->method), 4, 0x00210000);
    out = put(out, 4, z->crc);
    out = put(out, 4, z->wide ? UINT32_MAX : z->declared_data_bytes);
    out = put(out, 4, z->wide ? UINT32_MAX : z->declared_bytes);
    return put(put(out, 2, 5), 2, z->wide ? 20 : 0);
}

static unsigned char *put_name(unsigned char *out, const zip *z) {
    memcpy(out, "a.npy", 5);
    out += 5;
    return z->wide ? put(put(put(put(out, 2, 1), 2, 16), 8, z->declared_bytes), 8, z->declared_data_bytes) : out;
}

static void write_zip(const zip *z) {
    static unsigned char file[sizeof z->data + 1024];
    unsigned char *out = put_name(put_sizes(put(file, 4, 0x04034b50), z), z);
    memcpy(out, z->data, z->data_bytes);
    out += z->data_bytes;
    uint64_t directory = (uint64_t)(out - file);
    out = put_sizes(put(put(out, 4, 0x02014b50), 2, 45), z);
    out = put(put(put(put(put(out, 2, 0), 2, 0), 2, 0), 4, 0), 4, 0);
    out = put_name(out, z);
    uint64_t length = (uint64_t)(out - file) - directory;
    out = put(put(put(put(put(out, 4, 0x06054b50), 4, 0), 2, 1), 2, 1), 4, length);
    out = put(put(out, 4, directory), 2, 0);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(file, 1, (size_t)(out - file), stream), out - file);
    assert_int_equal(fclose(stream), 0);
}

/* A .npy file of this shape with the elements 0, 1, … */
static size_t npy_of(const char *shape, int n, unsigned char *out) {
    enum { HEADER_BYTES = 128 };
    char dictionary[HEADER_BYTES];
    int length =
        snprintf(dictionary, sizeof dictionary, "{'descr': '<f4', 'fortran_order': False, 'shape': %s}", shape);
    memset(out, ' ', HEADER_BYTES);
    memcpy(out, "\x93NUMPY\1\0\x76\0", 10);
    memcpy(out + 10, dictionary, (size_t)length);
    out[HEADER_BYTES - 1] = '\n';
    for (int i = 0; i < n; i++) {
        float value = (float)i;
        memcpy(out + HEADER_BYTES + 4 * i, &value, sizeof value);
    }
    return HEADER_BYTES + 4 * (size_t)n;
}

static unsigned char npy[1 << 18];

/* f32[60,1000]: many chunks. */
static void large_zip(zip *z) { deflate_into(z, npy, npy_of("(60, 1000)", 60000, npy)); }

static void entry__is_read(void **state) {
    (void)state;
    static zip z;
    dt_ctx *ctx = dt_init(NULL);
    static const int sizes[] = {0, 1, 5, 1000, 60000};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        char shape[32];
        (void)snprintf(shape, sizeof shape, "(%d,)", sizes[i / 2]);
        deflate_into(&z, npy, npy_of(shape, sizes[i / 2], npy));
        z.wide = i % 2;
        write_zip(&z);
        dt_tensor *t = dt_load_npz(ctx, path, "a"), *expected = dt_arange(ctx, 0, sizes[i / 2], 1);
        if (!tensors_equal(t, expected))
            fail_msg("%s: %s", shape, dt_error_text(ctx));
    }
    assert_int_equal(dt_close(ctx), 0);
}

static int load_shards(dt_ctx *ctx, void *arg) {
    const char *const *places = arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    dt_tensor *expected = dt_reshape(dt_arange(ctx, 0, 60000, 1), DT_SHAPE(60, 1000));
    for (; *places; places++) {
        dt_tensor *t = dt_load_npz(ctx, path, "a", .mesh = mesh, .place = *places);
        CHECK(tensors_equal(dt_full_tensor(t), expected), "%s: %s", *places, dt_error_text(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

static void entry__is_read_shard_by_shard(void **state) {
    (void)state;
    static zip z;
    large_zip(&z);
    write_zip(&z);
    const char *places[] = {"S(0)", "S(1)", "R", "P(sum)", "_S(0,2)", "_S(1,3)", NULL};
    run_ranks(1, load_shards, places);
    run_ranks(3, load_shards, places);
    run_ranks(4, load_shards, places);
}

static void assert_refused(dt_ctx *ctx, const zip *z, const char *text) {
    char name[400];
    write_zip(z);
    assert_null(dt_load_npz(ctx, path, "a"));
    (void)snprintf(name, sizeof name, "load_npz: %s: entry a: ", path);
    assert_error_contains(ctx, DT_ERR_VALUE, name);
    assert_error_contains(ctx, DT_ERR_VALUE, text);
    dt_error_clear(ctx);
}

static void entry__that_differs_from_its_header_is_refused(void **state) {
    (void)state;
    static zip valid, z;
    dt_ctx *ctx = dt_init(NULL);
    large_zip(&valid);
    z = valid;
    z.crc ^= 1;
    assert_refused(ctx, &z, "the checksum differs: expected ");
    z = valid;
    z.declared_data_bytes = z.data_bytes -= 10;
    assert_refused(ctx, &z, "the compressed data is cut off: expected 240128 bytes, got ");
    z = valid;
    z.declared_data_bytes = z.data_bytes += 3;
    assert_refused(ctx, &z, "bytes follow the compressed data: expected ");
    z = valid;
    z.declared_data_bytes += 1000;
    assert_refused(ctx, &z, "it extends beyond the end of the file");
    z = valid;
    z.declared_bytes += 1;
    assert_refused(ctx, &z, "the compressed data is too short: expected 240129 bytes, got 240128");
    z = valid;
    z.declared_bytes -= 1;
    assert_refused(ctx, &z, "the data of f32[60,1000] is cut off: expected 240000 bytes, got 239999");
    z = valid;
    z.method = 12;
    assert_refused(ctx, &z, "its compression method is neither 0 (stored) nor 8 (deflated)");
    z = valid;
    z.data[0] = 7; /* a block of a type that deflate does not have */
    assert_refused(ctx, &z, "the compressed data is corrupt at byte 0: invalid block type");
    z = valid;
    z.declared_data_bytes = z.data_bytes = 0;
    assert_refused(ctx, &z, "it declares more bytes than its compressed data can hold");
    /* Longer than declared, after the tensor. */
    size_t n = npy_of("(5,)", 200, npy);
    deflate_into(&z, npy, n);
    z.declared_bytes -= 40;
    assert_refused(ctx, &z, "the compressed data is too long: expected 888 bytes, got more");
    assert_int_equal(dt_close(ctx), 0);
}

/* Any wrong byte: an error, or the same values. */
static void entry__with_one_wrong_byte_is_refused(void **state) {
    (void)state;
    static zip valid, z;
    dt_ctx *ctx = dt_init(NULL);
    deflate_into(&valid, npy, npy_of("(100,)", 100, npy));
    dt_tensor *expected = dt_arange(ctx, 0, 100, 1);
    for (size_t i = 0; i < 3 * valid.data_bytes; i++) {
        z = valid;
        z.data[i / 3] ^= (unsigned char)(i % 3 == 0 ? 1 : i % 3 == 1 ? 0x80 : 0xff);
        write_zip(&z);
        dt_tensor *t = dt_load_npz(ctx, path, "a");
        if (t ? !tensors_equal(t, expected) : dt_error_status(ctx) != DT_ERR_VALUE)
            fail_msg("byte %zu: %s", i / 3, dt_error_text(ctx));
        dt_drop(t);
        dt_error_clear(ctx);
    }
    assert_int_equal(dt_close(ctx), 0);
}

/* 64 MiB of zeros; the tensor is the first five elements: inflating takes no memory for the rest. */
static void entry__that_is_inflated_to_a_large_size_takes_little_memory(void **state) {
    (void)state;
    static zip z;
    size_t n = (size_t)64 << 20;
    unsigned char *zeros = calloc(1, n);
    assert_non_null(zeros);
    (void)npy_of("(5,)", 5, zeros);
    deflate_into(&z, zeros, n);
    write_zip(&z);
    free(zeros);
    test_memory memory = {0};
    dt_ctx *ctx = dt_init(&(dt_init_options){
        .transport = "self", .heap_bytes = 1 << 20, .threads = 1, .allocator = test_memory_allocator(&memory)});
    assert_true(tensors_equal(dt_load_npz(ctx, path, "a"), dt_arange(ctx, 0, 5, 1)));
    assert_int_equal(dt_heap_stats(ctx).n_live, 2);
    /* 1 TiB, declared by header and directory: refused before memory for it is allocated. */
    deflate_into(&z, npy, npy_of("(274877906944,)", 5, npy));
    z.declared_bytes = ((uint64_t)1 << 40) + 128;
    z.wide = true;
    assert_refused(ctx, &z, "it declares more bytes than its compressed data can hold");
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(memory.n_live, 0);
}

static void reading__survives_failing_allocations(void **state) {
    (void)state;
    static zip z;
    large_zip(&z);
    write_zip(&z);
    long n_failed = 0;
    for (bool has_failed = true; has_failed; n_failed += has_failed) {
        test_memory memory = {0};
        dt_ctx *ctx = dt_init(&(dt_init_options){
            .transport = "self", .heap_bytes = 1 << 20, .threads = 1, .allocator = test_memory_allocator(&memory)});
        memory.fail_at = memory.n_calls + n_failed + 1;
        dt_tensor *t = dt_load_npz(ctx, path, "a");
        has_failed = memory.n_calls >= memory.fail_at;
        assert_int_equal(t == NULL, has_failed);
        assert_int_equal(dt_error_status(ctx), has_failed ? DT_ERR_MEMORY : DT_OK);
        dt_error_clear(ctx);
        assert_int_equal(dt_close(ctx), 0);
        if (memory.n_live || memory.wrong_size)
            fail_msg("after allocation %ld failed: %ld blocks leak", n_failed + 1, memory.n_live);
    }
    assert_true(n_failed >= 3); /* the stream, zlib's state and its window */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entry__is_read),
        cmocka_unit_test(entry__is_read_shard_by_shard),
        cmocka_unit_test(entry__that_differs_from_its_header_is_refused),
        cmocka_unit_test(entry__with_one_wrong_byte_is_refused),
        cmocka_unit_test(entry__that_is_inflated_to_a_large_size_takes_little_memory),
        cmocka_unit_test(reading__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
