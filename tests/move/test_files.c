/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors in files: the bytes that are written, loading with other placements, and malformed files.
 * test_numpy_files.py exchanges files with NumPy if it is installed. Ranks 1, 2, 3, 4, 5, 7 on shm.
 */
#include "move/folder.h"
#include "spec/brute.h"
#include "tensor/tensors.h"

#include "move/save_npy.h"

#include <sys/stat.h>
#include <unistd.h>

static size_t read_file(const char *path, size_t capacity, unsigned char *out) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    size_t n = fread(out, 1, capacity, file);
    (void)fclose(file);
    return n;
}

static const char *write_file(const char *name, const void *bytes, size_t n) {
    const char *path = in_folder(name);
    (void)unlink(path); /* some file systems flush files that are overwritten */
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    (void)fclose(file);
    return path;
}

/* A .npy file with a header of 128 bytes. */
static size_t npy_of(unsigned char *out, const char *dictionary, const void *data, size_t n) {
    size_t length = strlen(dictionary);
    memset(out, ' ', 128);
    memcpy(out, "\x93NUMPY\1\0\x76\0", 10);
    memcpy(out + 10, dictionary, length);
    out[127] = '\n';
    memcpy(out + 128, data, n);
    return 128 + n;
}

static void npy__has_the_bytes_that_numpy_writes(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    static const struct {
        dt_dtype dtype;
        const char *descr;
    } cases[] = {{DT_F32, "<f4"}, {DT_F64, "<f8"},  {DT_F16, "<f2"}, {DT_BF16, "<V2"},
                 {DT_I8, "|i1"},  {DT_I16, "<i2"},  {DT_I32, "<i4"}, {DT_I64, "<i8"},
                 {DT_U8, "|u1"},  {DT_BOOL, "|b1"}, {DT_C64, "<c8"}, {DT_C128, "<c16"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char expected[1024], got[1024];
        char dictionary[128];
        dt_tensor *t = dt_arange(ctx, 0, 6, 1, .dtype = cases[i].dtype);
        dt_tensor *matrix = dt_view(t, DT_SHAPE(2, 3));
        (void)snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3), }",
                       cases[i].descr);
        size_t n = npy_of(expected, dictionary, dt_data(t), 6 * dt_dtype_size(cases[i].dtype));
        assert_int_equal(dt_save_npy(matrix, in_folder("a.npy")), DT_OK);
        assert_int_equal(read_file(in_folder("a.npy"), sizeof got, got), n);
        assert_memory_equal(got, expected, n);
        assert_true(tensors_equal(dt_load_npy(ctx, in_folder("a.npy")), matrix));
        /* A view is saved as its elements. */
        dt_tensor *transposed = dt_transpose(matrix, 0, 1);
        assert_int_equal(dt_save_npy(transposed, in_folder("a.npy")), DT_OK);
        assert_true(tensors_equal(dt_load_npy(ctx, in_folder("a.npy")), transposed));
    }
    dt_tensor *small[] = {dt_scalar(ctx, 5), dt_zeros(ctx, DT_SHAPE(0)), dt_zeros(ctx, DT_SHAPE(3, 0, 2)),
                          dt_ones(ctx, DT_SHAPE(1))};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(dt_save_npy(small[i], in_folder("odd.npy")), DT_OK);
        dt_tensor *again = dt_load_npy(ctx, in_folder("odd.npy"));
        assert_true(tensors_equal(again, small[i]));
    }
    assert_int_equal(folder_count(), 2);
    assert_int_equal(dt_close(ctx), 0);
}

/* Headers of other programs. */
static void npy__reads_every_kind_of_header(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    unsigned char bytes[512];
    const float floats[6] = {0, 1, 2, 3, 4, 5};
    dt_tensor *expected = dt_view(dt_arange(ctx, 0, 6, 1), DT_SHAPE(2, 3));
    size_t n = npy_of(bytes, "{\"shape\":(2L,3),'fortran_order':False ,'descr':'=f4'}", floats, 24);
    assert_true(tensors_equal(dt_load_npy(ctx, write_file("b.npy", bytes, n)), expected));
    bytes[n] = 7; /* bytes after the data are ignored */
    assert_true(tensors_equal(dt_load_npy(ctx, write_file("b.npy", bytes, n + 1)), expected));
    n = npy_of(bytes, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }", floats, 24);
    dt_tensor *fortran = dt_load_npy(ctx, write_file("b.npy", bytes, n));
    assert_true(tensors_equal(fortran, dt_transpose(expected, 0, 1)));
    assert_int_equal(dt_tensor_strides(fortran)[0], 1);
    n = npy_of(bytes, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "\x3f\x80\0\0", 4);
    assert_true(dt_item(dt_load_npy(ctx, write_file("b.npy", bytes, n))) == 1);
    n = npy_of(bytes, "{'descr': '>c8', 'fortran_order': False, 'shape': (), }", "\x3f\x80\0\0\x40\0\0\0", 8);
    const float *c = dt_data(dt_load_npy(ctx, write_file("b.npy", bytes, n)));
    assert_true(c[0] == 1 && c[1] == 2);
    n = npy_of(bytes, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\0\1\2", 3);
    assert_memory_equal(dt_data(dt_load_npy(ctx, write_file("b.npy", bytes, n))), "\0\1\1", 3);
    /* Versions 2 and 3 have a longer length. */
    for (unsigned char version = 2; version <= 3; version++) {
        unsigned char wide[512];
        n = npy_of(bytes, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", floats, 24);
        memcpy(wide, "\x93NUMPY\2\0\x76\0\0\0", 12);
        wide[6] = version;
        memcpy(wide + 12, bytes + 10, n - 10);
        assert_true(tensors_equal(dt_load_npy(ctx, write_file("b.npy", wide, n + 2)), expected));
    }
    assert_int_equal(dt_close(ctx), 0);
}

static void assert_refused(dt_ctx *ctx, const dt_tensor *result, dt_status status, const char *part) {
    assert_null(result);
    assert_error_contains(ctx, status, part);
    dt_error_clear(ctx);
}

static void npy__malformed_files_are_refused(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    static const struct {
        const char *dictionary, *reason;
    } cases[] = {
        {"", "not a dictionary"},
        {"{}", "a key is missing"},
        {"{'descr': '<f4', 'fortran_order': False}", "a key is missing"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1,)}", "c8, c16, got '<u2'"},
        {"{'descr': '<U4', 'fortran_order': False, 'shape': (1,)}", "unknown dtype: expected one of f2, f4"},
        {"{'descr': '<U4\033', 'fortran_order': False, 'shape': (1,)}", "got '<U4?'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "structures"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "expected True or False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "do not fit in 63 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "unknown key"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "text follows"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "not a tuple"},
        {"{'descr': '<f4", "structures"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,)}",
         "the data of f32[5] is cut off: expected 20 bytes, got 16"},
    };
    unsigned char bytes[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = npy_of(bytes, cases[i].dictionary, "0123456789abcdef", 16);
        assert_refused(ctx, dt_load_npy(ctx, write_file("c.npy", bytes, n)), DT_ERR_VALUE, cases[i].reason);
    }
    size_t n = npy_of(bytes, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "0123", 4);
    for (size_t length = 0; length < n; length++) /* truncated anywhere */
        assert_refused(ctx, dt_load_npy(ctx, write_file("c.npy", bytes, length)), DT_ERR_VALUE, "load_npy: ");
    bytes[6] = 4;
    assert_refused(ctx, dt_load_npy(ctx, write_file("c.npy", bytes, n)), DT_ERR_VALUE, "version");
    bytes[6] = 1;
    bytes[9] = 0x7f;
    assert_refused(ctx, dt_load_npy(ctx, write_file("c.npy", bytes, n)), DT_ERR_VALUE, "the header is too long");
    assert_refused(ctx, dt_load_npy(ctx, in_folder("nothing.npy")), DT_ERR_SYSTEM, "cannot be opened: No such file");
    assert_refused(ctx, dt_load_npy(ctx, folder), DT_ERR_VALUE, "expected a regular file, got a directory");
    assert_refused(ctx, dt_load_npy(ctx, NULL), DT_ERR_VALUE, "argument 2 of load_npy is NULL");
    assert_null(dt_load_npy(NULL, "x"));
    /* A failed save leaves no file. */
    int before = folder_count();
    assert_int_equal(dt_save_npy(dt_ones(ctx, DT_SHAPE(3)), in_folder("no/such/folder.npy")), DT_ERR_SYSTEM);
    assert_error_contains(ctx, DT_ERR_SYSTEM, "cannot be created: No such file or directory");
    dt_error_clear(ctx);
    assert_int_equal(mkdir(in_folder("taken"), 0700), 0);
    assert_int_equal(dt_save_npy(dt_ones(ctx, DT_SHAPE(3)), in_folder("taken")), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "expected a regular file or a new name, got a directory");
    dt_error_clear(ctx);
    assert_int_equal(rmdir(in_folder("taken")), 0);
    assert_int_equal(folder_count(), before);
    assert_int_equal(dt_save_npy(NULL, "x"), DT_ERR_VALUE);
    assert_int_equal(dt_close(ctx), 0);
}

static void npz__stores_tensors_by_name(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    static const int64_t limits[] = {UINT32_MAX, 1, 400}; /* 64-bit fields in no, all and some headers */
    dt_tensor *a = dt_view(dt_arange(ctx, 0, 100, 1), DT_SHAPE(4, 25)), *b = dt_scalar(ctx, 3, .dtype = DT_I64);
    dt_tensor *c = dt_zeros(ctx, DT_SHAPE(0, 2), .dtype = DT_C128);
    for (int i = 0; i < 3; i++) {
        const char *path = in_folder("d.npz");
        assert_int_equal(dt__save_npz(path, 3, (const char *[]){"a", "layer.0/b", "c"}, (dt_tensor *[]){a, b, c},
                                      &(dt__save_options){.limit = limits[i]}),
                         DT_OK);
        assert_true(tensors_equal(dt_load_npz(ctx, path, "a"), a));
        assert_true(tensors_equal(dt_load_npz(ctx, path, "layer.0/b"), b));
        assert_true(tensors_equal(dt_load_npz(ctx, path, "layer.0/b.npy"), b));
        assert_true(tensors_equal(dt_load_npz(ctx, path, "c"), c));
        assert_refused(ctx, dt_load_npz(ctx, path, "d"), DT_ERR_VALUE, "no entry d");
    }
    /* Every byte in turn is wrong: an error, or the same tensor, if the byte is of a date and the like. */
    unsigned char bytes[4096], saved;
    dt_save_npz(in_folder("e.npz"), 2, (const char *[]){"a", "b"}, (dt_tensor *[]){dt_arange(ctx, 0, 8, 1), b});
    dt_tensor *expected = dt_arange(ctx, 0, 8, 1);
    size_t n = read_file(in_folder("e.npz"), sizeof bytes, bytes);
    int64_t n_refused = 0;
    for (size_t i = 0; i < n; i++) {
        saved = bytes[i];
        bytes[i] ^= 0x55;
        dt_tensor *t = dt_load_npz(ctx, write_file("f.npz", bytes, n), "a");
        assert_true(!t || tensors_equal(t, expected));
        if (!t) {
            n_refused++;
            assert_int_equal(dt_error_status(ctx), DT_ERR_VALUE);
            dt_error_clear(ctx);
        }
        dt_drop(t);
        bytes[i] = saved;
    }
    assert_true(n_refused > 160);
    for (size_t length = 0; length < n; length++)
        assert_refused(ctx, dt_load_npz(ctx, write_file("f.npz", bytes, length), "a"), DT_ERR_VALUE, "load_npz: ");
    /* Invalid calls. */
    int before = folder_count();
    assert_int_equal(dt_save_npz(in_folder("g.npz"), 2, (const char *[]){"a", "a"}, (dt_tensor *[]){a, b}),
                     DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "two tensors have the name a");
    dt_error_clear(ctx);
    assert_int_equal(dt_save_npz(in_folder("g.npz"), 1, (const char *[]){""}, (dt_tensor *[]){a}), DT_ERR_VALUE);
    dt_error_clear(ctx);
    assert_int_equal(dt_save_npz(in_folder("g.npz"), 2, (const char *[]){"a", "b"}, (dt_tensor *[]){a, NULL}),
                     DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "expected tensors, got NULL");
    dt_error_clear(ctx);
    assert_int_equal(dt_save_npz(NULL, 0, NULL, NULL), DT_ERR_VALUE);
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    dt_tensor *placed = dt_ones(ctx, DT_SHAPE(1), .mesh = mesh);
    assert_int_equal(dt_save_npz(in_folder("g.npz"), 2, (const char *[]){"a", "b"}, (dt_tensor *[]){a, placed}),
                     DT_ERR_MESH);
    dt_error_clear(ctx);
    assert_null(dt_load_npz(ctx, "x", NULL));
    dt_error_clear(ctx);
    assert_int_equal(folder_count(), before);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

static int save_and_load(dt_ctx *ctx, void *arg) {
    uint64_t random = *(const uint64_t *)arg;
    int64_t n_live = 0;
    for (int i = 0; i < 60; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        brute_case c, other;
        brute_random_case(&random, (int)dt_world(ctx), &c);
        brute_random_case_of(&random, (int)dt_world(ctx), c.n_dims, c.shape, &other);
        for (int m = 0; m < c.n_mesh_dims; m++)
            if (dt_placement_is_partial(c.placements[m]))
                c.placements[m] = dt_placement_partial(DT_SUM);
        for (int m = 0; m < other.n_mesh_dims; m++)
            if (other.placements[m].kind == DT_PLACEMENT_PARTIAL && other.placements[m].reduce == DT_AVG)
                other.placements[m] = dt_placement_replicate();
        brute_name(&c);
        brute_name(&other);
        char place[256], place_of_other[256];
        dt_placements_text(c.n_mesh_dims, c.placements, sizeof place, place);
        dt_placements_text(other.n_mesh_dims, other.placements, sizeof place_of_other, place_of_other);
        dt_mesh *mesh = dt_mesh_from_shape(ctx, c.mesh, c.n_mesh_dims, NULL);
        dt_mesh *mesh_of_other = dt_mesh_from_shape(ctx, other.mesh, other.n_mesh_dims, NULL);
        int64_t n = 1;
        for (int d = 0; d < c.n_dims; d++)
            n *= c.shape[d];
        dt_tensor *plain =
            dt_reshape(dt_arange(ctx, 0, (double)n, 1, .dtype = DT_F64), TENSORS_SHAPE(c.n_dims, c.shape));
        dt_tensor *t = dt_distribute_tensor(plain, mesh, place, .everywhere = true);
        CHECK(t, "%s: %s", c.text, dt_error_text(ctx));
        const char *path = in_folder("parts.npy"), *zip = in_folder("parts.npz");
        CHECK_OK(ctx, dt_save_npy(t, path)); /* API-016, changed: a partial is reduced */
        CHECK_OK(ctx, dt_save_npz(zip, 2, (const char *[]){"x", "y"}, (dt_tensor *[]){t, t}));
        CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx))); /* ranks outside the mesh wait for the file */
        CHECK(tensors_equal(dt_load_npy(ctx, path), plain), "%s in a file: %s", c.text, dt_error_text(ctx));
        CHECK(tensors_equal(dt_load_npz(ctx, zip, "y"), plain), "%s in a zip: %s", c.text, dt_error_text(ctx));
        dt_tensor *again = dt_load_npy(ctx, path, .mesh = mesh_of_other, .place = place_of_other);
        dt_tensor *full = dt_full_tensor(again);
        CHECK(full, "%s: %s", other.text, dt_error_text(ctx));
        CHECK(dt_rank(ctx) >= brute_world(&other) || tensors_equal(full, plain), "%s read as %s", c.text, other.text);
        dt_tensor *zipped =
            dt_load_npz(ctx, zip, "x", .mesh = mesh_of_other, .place = place_of_other, .check = i % 2);
        CHECK(tensors_equal(dt_to_local(zipped), dt_to_local(again)), "%s read as %s", c.text, other.text);
        CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx))); /* before rank 0 writes the next one */
        if (dt_rank(ctx) == 0)
            CHECK(unlink(path) == 0 && unlink(zip) == 0, "unlink");
        dt_mesh_release(mesh);
        dt_mesh_release(mesh_of_other);
        dt_scope_end(scope);
        n_live = dt_heap_stats(ctx).n_live;
    }
    CHECK(n_live < 30, "%lld blocks leak", (long long)n_live);
    return 0;
}

static void files__hold_the_full_tensor(void **state) {
    (void)state;
    static const int64_t worlds[] = {1, 2, 3, 4, 5, 7};
    int before = folder_count();
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        uint64_t seed = test_seed(500 + i);
        run_ranks(worlds[i], save_and_load, &seed);
    }
    assert_int_equal(folder_count(), before);
}

/* Column-major order, on ranks. */
static int load_fortran_order(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    static const char *const places[] = {"S(0)", "S(1)", "_S(1,2)", "R", "P(sum)"};
    dt_tensor *expected = dt_transpose(dt_view(dt_arange(ctx, 0, 35, 1, .dtype = DT_I16), DT_SHAPE(5, 7)), 0, 1);
    for (int i = 0; i < 5; i++) {
        dt_tensor *t = dt_load_npy(ctx, in_folder("fortran.npy"), .mesh = mesh, .place = places[i]);
        CHECK(tensors_equal(dt_full_tensor(t), expected), "%s: %s", places[i], dt_error_text(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

static void fortran_order__is_read_shard_by_shard(void **state) {
    (void)state;
    unsigned char bytes[512];
    int16_t numbers[35];
    for (int i = 0; i < 35; i++)
        numbers[i] = (int16_t)i;
    size_t n = npy_of(bytes, "{'descr': '<i2', 'fortran_order': True, 'shape': (7, 5), }", numbers, sizeof numbers);
    write_file("fortran.npy", bytes, n);
    for (int64_t ranks = 1; ranks <= 5; ranks++)
        run_ranks(ranks, load_fortran_order, NULL);
}

/* All ranks get an error, and there is no new file. */
static int save_to_missing_folder(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(9), .mesh = mesh, .place = "S(0)");
    CHECK(dt_save_npy(t, in_folder("no/such/folder.npy")) != DT_OK, "expected an error");
    CHECK(dt_failed(ctx), "expected an error");
    CHECK(dt_error_clear(ctx) == DT_OK, "clear");
    CHECK_OK(ctx, dt_save_npy(t, in_folder("fine.npy")));
    dt_mesh_release(mesh);
    return 0;
}

static void save__fails_on_all_ranks(void **state) {
    (void)state;
    int before = folder_count();
    run_ranks(3, save_to_missing_folder, NULL);
    if (!test_started_ranks()) /* which may have written before this one counts */
        assert_int_equal(folder_count(), before + 1);
}

static void fake__reads_headers(void **state) {
    (void)state;
    unsigned char bytes[512];
    const float floats[6] = {0};
    size_t n = npy_of(bytes, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", floats, 24);
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 4, .rank = 1});
    dt_tensor *t = dt_load_npy(ctx, write_file("h.npy", bytes, n));
    assert_int_equal(dt_tensor_elements(t), 6);
    assert_null(dt_data(t));
    assert_int_equal(dt_save_npy(t, in_folder("i.npy")), DT_ERR_UNSUPPORTED);
    dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy__has_the_bytes_that_numpy_writes),
        cmocka_unit_test(npy__reads_every_kind_of_header),
        cmocka_unit_test(npy__malformed_files_are_refused),
        cmocka_unit_test(npz__stores_tensors_by_name),
        cmocka_unit_test(files__hold_the_full_tensor),
        cmocka_unit_test(fortran_order__is_read_shard_by_shard),
        cmocka_unit_test(save__fails_on_all_ranks),
        cmocka_unit_test(fake__reads_headers),
    };
    return cmocka_run_group_tests(tests, folder_begin, folder_end);
}
