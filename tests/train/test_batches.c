/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of files against rows that the test computes itself: formats and dtypes, orders of several epochs,
 * placements, batches that do not divide the rows or are smaller than the number of ranks, positions, malformed files,
 * ranks whose calls differ, and what a rank reads and holds. Ranks 1, 2, 3, 4 and 5 on shm.
 */
#include "move/folder.h"

#include "dtensor/dtensor.h"

#include <inttypes.h>
#include <sys/stat.h>

#define NO_INT                                                                                                       \
    { .given = false }

/* Token i of a file, in the range of its numbers: of `size` bytes, signed or not. */
static int64_t token(int64_t i, int size, bool is_signed) {
    const uint64_t word = ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - 8 * size);
    const uint64_t sign = is_signed ? UINT64_C(1) << (8 * size - 1) : 0;
    return (int64_t)((word ^ sign) - sign);
}

static void put_bytes(unsigned char *out, uint64_t bits, int size, bool is_big) {
    for (int b = 0; b < size; b++)
        out[is_big ? size - 1 - b : b] = (unsigned char)(bits >> (8 * b));
}

/* The header of a .npy file, 128 bytes. */
static void npy_header(FILE *file, const char *descr, const char *order, const char *shape) {
    char header[129];
    memset(header, ' ', 128);
    memcpy(header, "\x93NUMPY\1\0\x76\0", 10);
    int n = snprintf(header + 10, 118, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape);
    header[10 + n] = ' ';
    header[127] = '\n';
    (void)fwrite(header, 1, 128, file);
}

/* A file of n tokens: raw, or, with a descr, .npy. */
static void write_tokens(const char *name, const char *descr, int64_t n, int size, bool is_signed) {
    FILE *file = fopen(in_folder(name), "wb");
    char shape[64];
    (void)snprintf(shape, sizeof shape, "(%" PRId64 ",)", n);
    if (descr)
        npy_header(file, descr, "False", shape);
    for (int64_t i = 0; i < n; i++) {
        unsigned char bytes[8];
        put_bytes(bytes, (uint64_t)token(i, size, is_signed), size, descr && descr[0] == '>');
        (void)fwrite(bytes, 1, (size_t)size, file);
    }
    (void)fclose(file);
}

/* A file of tokens, and how it is read. */
typedef struct token_case {
    const char *descr; /* NULL: raw */
    int size;
    bool is_signed;
    int64_t n_tokens, length, batch;
    dt_opt_int seed;
    bool drop_last;
} token_case;

/* clang-format off */
static const token_case token_cases[] = {
    {NULL, 2, false, 100, 7, 4, DT_INT(3), false},
    {NULL, 2, false, 100, 7, 4, DT_INT(3), true},
    {NULL, 4, false, 61, 4, 5, DT_INT(-1), false},
    {NULL, 4, false, 61, 4, 5, NO_INT, false},          /* in the order of the file; 15 rows divide */
    {NULL, 2, false, 3, 2, 8, DT_INT(1), false},     /* one row, less than a batch */
    {NULL, 2, false, 2, 1, 1, NO_INT, true},
    {NULL, 2, false, 9002, 1, 2000, DT_INT(5), false}, /* an order without a table */
    {"<u2", 2, false, 50, 3, 2, DT_INT(0), false},
    {">u2", 2, false, 50, 3, 2, DT_INT(0), false},
    {"<u4", 4, false, 50, 3, 3, DT_INT(9), false},
    {"|i1", 1, true, 50, 3, 3, DT_INT(9), false},
    {"|u1", 1, false, 50, 3, 3, DT_INT(9), false},
    {">i2", 2, true, 50, 3, 3, DT_INT(9), false},
    {"<i4", 4, true, 50, 3, 3, DT_INT(9), false},
    {"<i8", 8, true, 50, 3, 3, DT_INT(9), false},
    {">i8", 8, true, 50, 3, 3, DT_INT(9), false},
};
/* clang-format on */
enum { N_TOKEN_CASES = sizeof token_cases / sizeof *token_cases };

static const char *token_name(int i) {
    static _Thread_local char name[32];
    (void)snprintf(name, sizeof name, "tokens%d", i);
    return name;
}

/* The order of an epoch, by dt_randperm, or that of the file. */
static int64_t *order_of(dt_ctx *ctx, dt_opt_int seed, int64_t epoch, int64_t n_rows) {
    int64_t *order = malloc((size_t)n_rows * sizeof *order);
    dt_generator *generator = dt_generator_new(ctx, (uint64_t)seed.value);
    (void)dt_generator_restore(generator, (dt_generator_state){(uint64_t)seed.value, (uint64_t)epoch});
    dt_tensor *drawn = seed.given ? dt_randperm(ctx, n_rows, .generator = generator) : NULL;
    for (int64_t i = 0; i < n_rows; i++)
        order[i] = drawn ? ((const int64_t *)dt_data(drawn))[i] : i;
    dt_drop(drawn);
    dt_generator_release(generator);
    return order;
}

/* The next batch has the tokens of this position. */
static int check_tokens(dt_ctx *ctx, dt_batches *batches, const token_case *of, int64_t position) {
    const int64_t n_rows = (of->n_tokens - 1) / of->length;
    const int64_t per_epoch = of->drop_last ? n_rows / of->batch : (n_rows + of->batch - 1) / of->batch;
    const int64_t first = position % per_epoch * of->batch;
    const int64_t n = first + of->batch < n_rows ? of->batch : n_rows - first;
    CHECK(dt_batches_n_rows(batches) == n_rows && dt_batches_per_epoch(batches) == per_epoch,
          "%" PRId64 " rows, %" PRId64 " batches", dt_batches_n_rows(batches), dt_batches_per_epoch(batches));
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *batch = dt_batches_next(batches);
    CHECK(batch && !dt_failed(ctx), "%s", dt_error_text(ctx));
    CHECK(dt_batches_position(batches) == position + 1, "%" PRId64, dt_batches_position(batches));
    CHECK(dt_tensor_dtype(batch) == DT_I64 && dt_tensor_n_dims(batch) == 2, "%s",
          dt_dtype_name(dt_tensor_dtype(batch)));
    CHECK(dt_tensor_size(batch, 0) == n && dt_tensor_size(batch, 1) == of->length + 1,
          "expected %" PRId64 " rows, got %" PRId64, n, dt_tensor_size(batch, 0));
    const int64_t *got = dt_data(dt_tensor_spec(batch) ? dt_full_tensor(batch) : batch);
    int64_t *order = order_of(ctx, of->seed, position / per_epoch, n_rows);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k <= of->length; k++) {
            const int64_t expected = token(order[first + i] * of->length + k, of->size, of->is_signed);
            CHECK(got[i * (of->length + 1) + k] == expected,
                  "position %" PRId64 " [%" PRId64 ",%" PRId64 "]: expected %" PRId64 ", got %" PRId64, position, i,
                  k, expected, got[i * (of->length + 1) + k]);
        }
    free(order);
    dt_scope_end(scope);
    return 0;
}

static dt_batches *open_tokens(dt_ctx *ctx, int i, dt_mesh *mesh, const char *place) {
    const token_case *of = &token_cases[i];
    return dt_batches_open(ctx, in_folder(token_name(i)), of->batch, .mesh = mesh, .place = place,
                           .format = of->descr       ? "npy"
                                     : of->size == 2 ? "u16"
                                                     : "u32",
                           .length = DT_INT(of->length), .seed = of->seed, .drop_last = of->drop_last);
}

/* Two epochs and more, then other positions with a second reader. */
static int read_tokens(dt_ctx *ctx, int i, dt_mesh *mesh, const char *place) {
    dt_batches *batches = open_tokens(ctx, i, mesh, place), *again = open_tokens(ctx, i, mesh, place);
    CHECK(batches && again, "case %d: %s", i, dt_error_text(ctx));
    const int64_t n = 2 * dt_batches_per_epoch(batches) + 1;
    CHECK(dt_batches_position(batches) == 0, "%" PRId64, dt_batches_position(batches));
    for (int64_t position = 0; position < n; position++)
        CHECK(check_tokens(ctx, batches, &token_cases[i], position) == 0, "case %d, %s", i, place ? place : "plain");
    const int64_t others[] = {n / 2, n, 0, 1000001};
    for (int k = 0; k < 4; k++) {
        CHECK_OK(ctx, dt_batches_seek(again, others[k]));
        CHECK(check_tokens(ctx, again, &token_cases[i], others[k]) == 0, "case %d, %s", i, place ? place : "plain");
    }
    dt_batches_free(again);
    dt_batches_free(batches);
    return 0;
}

static int read_all_tokens(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*"), *both = dt_world(ctx) == 4 ? dt_mesh_new(ctx, "dp=2,tp=2") : NULL;
    static const char *const places[] = {"S(0)", "S(1)", "R", "dp=S(0)"};
    static const char *const both_places[] = {"dp=S(0)", "S(0),S(0)", "S(0),S(1)", "S(1),R"};
    for (int i = 0; i < N_TOKEN_CASES; i++) {
        CHECK(read_tokens(ctx, i, NULL, NULL) == 0, "plain");
        for (int k = 0; k < 4; k++) {
            CHECK(read_tokens(ctx, i, mesh, places[k]) == 0, "one mesh dim");
            CHECK(!both || read_tokens(ctx, i, both, both_places[k]) == 0, "two mesh dims");
        }
    }
    /* A batch of a partial placement has the tokens once. */
    CHECK(read_tokens(ctx, 0, mesh, "P(sum)") == 0, "partial");
    /* The current mesh serves where only placements are stated. */
    dt_mesh_scope_begin(mesh);
    CHECK(read_tokens(ctx, 0, NULL, "S(0)") == 0, "current mesh");
    dt_mesh_scope_end(ctx);
    dt_mesh_release(both);
    dt_mesh_release(mesh);
    return 0;
}

static void tokens__are_those_of_the_file(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, read_all_tokens, NULL);
}

/* A mesh without this rank. */
static int read_outside(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_ranks(ctx, (int64_t[]){2, 0}, (int64_t[]){2}, 1, NULL);
    dt_batches *batches = open_tokens(ctx, 0, mesh, "S(0)");
    CHECK(batches, "%s", dt_error_text(ctx));
    for (int i = 0; i < 3; i++) {
        dt_tensor *rows = dt_batches_next(batches);
        CHECK(rows && dt_tensor_size(rows, 0) == 4, "%s", dt_error_text(ctx));
        CHECK(dt_rank(ctx) != 1 || dt_tensor_local_elements(rows) == 0, "outside");
        dt_drop(rows);
    }
    dt_batches_free(batches);
    dt_mesh_release(mesh);
    return 0;
}

static void ranks_outside__hold_nothing(void **state) {
    (void)state;
    run_ranks(3, read_outside, NULL);
}

/* Arrays: each row of a batch is that of the tensor that was saved. */
enum { ARRAY_ROWS = 7, ARRAY_BATCH = 3 };

static int read_array(dt_ctx *ctx, const char *path, dt_tensor *expected, dt_mesh *mesh, const char *place) {
    const size_t row_bytes =
        (size_t)(dt_tensor_elements(expected) / ARRAY_ROWS) * dt_dtype_size(dt_tensor_dtype(expected));
    dt_batches *batches = dt_batches_open(ctx, path, ARRAY_BATCH, .mesh = mesh, .place = place, .seed = DT_INT(11));
    CHECK(batches, "%s: %s", path, dt_error_text(ctx));
    for (int64_t position = 0; position < 7; position++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *batch = dt_batches_next(batches);
        const int64_t first = position % 3 * ARRAY_BATCH, n = first ? first == 6 ? 1 : 3 : 3;
        CHECK(batch && dt_tensor_size(batch, 0) == n, "%s: %s", path, dt_error_text(ctx));
        CHECK(dt_tensor_dtype(batch) == dt_tensor_dtype(expected), "%s", dt_dtype_name(dt_tensor_dtype(batch)));
        const char *got = dt_data(dt_tensor_spec(batch) ? dt_full_tensor(batch) : batch);
        int64_t *order = order_of(ctx, DT_INT(11), position / 3, ARRAY_ROWS);
        for (int64_t i = 0; i < n && row_bytes; i++)
            CHECK(memcmp(got + (size_t)i * row_bytes,
                         (const char *)dt_data(expected) + (size_t)order[first + i] * row_bytes, row_bytes) == 0,
                  "%s: position %" PRId64 ", row %" PRId64, path, position, i);
        free(order);
        dt_scope_end(scope);
    }
    dt_batches_free(batches);
    return 0;
}

static const dt_dtype dtypes[] = {DT_F32, DT_F64, DT_F16,  DT_BF16, DT_I8,  DT_I16,
                                  DT_I32, DT_I64, DT_BOOL, DT_U8,   DT_C64, DT_C128};

static int read_arrays(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    for (int i = 0; i < 14; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "array%d.npy", i);
        dt_tensor *all = i < 12   ? dt_to(dt_arange(ctx, 0, 42, 1, .dtype = DT_F32), dtypes[i])
                         : i < 13 ? dt_zeros(ctx, DT_SHAPE(0))
                                  : dt_arange(ctx, 0, 7, 1, .dtype = DT_I32);
        dt_tensor *expected = i < 12   ? dt_reshape(all, DT_SHAPE(ARRAY_ROWS, 2, 3))
                              : i < 13 ? dt_reshape(all, DT_SHAPE(ARRAY_ROWS, 0))
                                       : all;
        if (dt_rank(ctx) == 0)
            CHECK_OK(ctx, dt_save_npy(expected, in_folder(name)));
        CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
        CHECK(read_array(ctx, in_folder(name), expected, NULL, NULL) == 0, "plain");
        CHECK(read_array(ctx, in_folder(name), expected, mesh, "S(0)") == 0, "rows");
        CHECK(i >= 13 || read_array(ctx, in_folder(name), expected, mesh, "S(1)") == 0, "columns");
        CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    }
    /* What no dtype is, or in another byte order. */
    dt_tensor *wide = dt_reshape(dt_arange(ctx, 0, 14, 1, .dtype = DT_I64), DT_SHAPE(ARRAY_ROWS, 2));
    int64_t *values = dt_data(wide);
    for (int k = 0; k < 14; k++)
        values[k] = token(k, 2, false);
    CHECK(read_array(ctx, in_folder("u2.npy"), wide, mesh, "S(0)") == 0, "u2");
    for (int k = 0; k < 14; k++)
        values[k] %= 100;
    CHECK(read_array(ctx, in_folder("c8.npy"), dt_to(wide, DT_C64), mesh, "S(0)") == 0, "big-endian");
    dt_mesh_release(mesh);
    return 0;
}

static void write_array(const char *name, const char *descr) {
    FILE *file = fopen(in_folder(name), "wb");
    npy_header(file, descr, "False", "(7, 2)");
    for (int k = 0; k < 14; k++) {
        unsigned char bytes[8] = {0};
        const float real = (float)(token(k, 2, false) % 100);
        uint32_t bits;
        memcpy(&bits, &real, sizeof bits);
        if (descr[1] == 'u')
            put_bytes(bytes, (uint64_t)token(k, 2, false), 2, false);
        else
            put_bytes(bytes, bits, 4, true);
        (void)fwrite(bytes, 1, descr[1] == 'u' ? 2 : 8, file);
    }
    (void)fclose(file);
}

static void arrays__of_every_dtype(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n += 2)
        run_ranks(n, read_arrays, NULL);
}

/* Files and options that are refused, on all ranks alike. */
typedef struct refused_case {
    const char *name, *format;
    int64_t batch;
    dt_opt_int length;
    bool drop_last;
    const char *place, *text;
} refused_case;

/* clang-format off */
static const refused_case refused_cases[] = {
    {"missing", "u16", 4, DT_INT(2), false, NULL, "cannot be opened: No such file"},
    {"folder", "u16", 4, DT_INT(2), false, NULL, "expected a regular file, got a directory"},
    {"fifo", "u16", 4, DT_INT(2), false, NULL, "expected a regular file, got a FIFO"},
    {"empty", "u16", 4, DT_INT(2), false, NULL, "too short for a row: expected at least 2 tokens and a target, got 0"},
    {"empty", NULL, 4, DT_INT(2), false, NULL, "not a .npy file"},
    {"tokens0", NULL, 4, DT_INT(2), false, NULL, "not a .npy file"},
    {"odd", "u16", 4, DT_INT(2), false, NULL, "expected a multiple of 2 bytes, got 7"},
    {"odd", "u32", 4, DT_INT(2), false, NULL, "expected a multiple of 4 bytes, got 7"},
    {"cut.npy", NULL, 4, NO_INT, false, NULL, "is cut off: expected 48 bytes, got 8"},
    {"cut.npy", NULL, 4, DT_INT(2), false, NULL, "is cut off: expected 48 bytes, got 8"},
    {"columns.npy", NULL, 4, NO_INT, false, NULL, "expected row-major order, got column-major"},
    {"scalar.npy", NULL, 4, NO_INT, false, NULL, "expected at least 1, got a scalar"},
    {"none.npy", NULL, 4, NO_INT, false, NULL, "expected at least 1, got 0"},
    {"long.npy", NULL, 4, NO_INT, false, NULL, "unknown dtype: expected one of"},
    {"u2.npy", NULL, 4, DT_INT(2), false, NULL, "expected integers in one dim, got i64[7,2]"},
    {"cube.npy", NULL, 4, DT_INT(2), false, NULL, "expected integers in one dim, got f32[7,2,3]"},
    {"cube.npy", NULL, 8, NO_INT, true, NULL, "too short for a batch: expected at least 8 rows, got 7"},
    {"tokens0", "u16", 4, DT_INT(100), false, NULL, "expected at least 100 tokens and a target, got 100"},
    {"tokens0", "u16", 4, DT_INT(INT64_MAX), false, NULL, "and a target, got 100"},
    {"tokens0", "u16", 4, NO_INT, false, NULL, "length: expected the tokens of a row"},
    {"tokens0", "u16", 4, DT_INT(0), false, NULL, "length: expected at least 1 token, got 0"},
    {"tokens0", "u16", 0, DT_INT(2), false, NULL, "batch: expected at least 1 row, got 0"},
    {"tokens0", "u64", 4, DT_INT(2), false, NULL, "format: expected npy, u16 or u32, got 'u64'"},
    {"tokens0", "u16", 4, DT_INT(2), false, "S(2)", "S(2)"},
};
/* clang-format on */

static int open_refused(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_batches *batches = open_tokens(ctx, 0, mesh, "S(0)"); /* and with it what the group of the ranks keeps */
    for (size_t i = 0; i < sizeof refused_cases / sizeof *refused_cases; i++)
        for (int with_mesh = 0; with_mesh < 2; with_mesh++) {
            const refused_case *of = &refused_cases[i];
            if (of->place && !with_mesh)
                continue;
            const size_t before = dt_heap_stats(ctx).live_bytes;
            dt_batches *refused = dt_batches_open(
                ctx, in_folder(of->name), of->batch, .mesh = with_mesh ? mesh : NULL, .place = of->place,
                .format = of->format, .length = of->length, .drop_last = of->drop_last);
            CHECK(!refused && strstr(dt_error_text(ctx), of->text) &&
                      !strncmp(dt_error_text(ctx), "batches_open: ", 14),
                  "%s: expected '%s', got '%s'", of->name, of->text, dt_error_text(ctx));
            CHECK(!strstr(dt_error_text(ctx), ": rank "), "not the error of all ranks: %s", dt_error_text(ctx));
            CHECK_OK(ctx, dt_error_clear(ctx));
            CHECK(dt_heap_stats(ctx).live_bytes == before, "expected %zu bytes in use, got %zu", before,
                  dt_heap_stats(ctx).live_bytes);
        }
    const int64_t wrong[] = {-1, INT64_MAX};
    for (int i = 0; i < 2; i++) {
        CHECK(dt_batches_seek(batches, wrong[i]) == DT_ERR_VALUE, "%" PRId64, wrong[i]);
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    CHECK(check_tokens(ctx, batches, &token_cases[0], 0) == 0, "afterwards");
    CHECK(!dt_batches_next(NULL) && dt_batches_position(NULL) == 0 && dt_batches_n_rows(NULL) == 0, "NULL");
    dt_batches_free(NULL);
    dt_batches_free(batches);
    dt_mesh_release(mesh);
    return 0;
}

static void malformed__files_are_refused(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n += 2)
        run_ranks(n, open_refused, NULL);
}

/* A file that became shorter is the error of all ranks, also of those whose rows are there. */
static int read_shorter(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    const char *path = in_folder("shrinks");
    dt_batches *batches =
        dt_batches_open(ctx, path, 30, .mesh = mesh, .place = "S(0)", .format = "u16", .length = DT_INT(1));
    CHECK(batches, "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    CHECK(dt_rank(ctx) != 0 || truncate(path, 102) == 0, "truncate");
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    dt_drop(dt_batches_next(batches));
    CHECK_OK(ctx, dt_error_status(ctx));
    CHECK(!dt_batches_next(batches) && strstr(dt_error_text(ctx), "the file is too short"), "%s", dt_error_text(ctx));
    CHECK(strstr(dt_error_text(ctx), "rank 2"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(dt_batches_position(batches) == 1, "%" PRId64, dt_batches_position(batches));
    CHECK_OK(ctx, dt_batches_seek(batches, 0));
    dt_drop(dt_batches_next(batches));
    CHECK_OK(ctx, dt_error_status(ctx));
    dt_mesh_release(mesh);
    return 0; /* the reader is freed with the context */
}

static void shorter__files_are_errors_of_all(void **state) {
    (void)state;
    if (test_leads())
        write_tokens("shrinks", NULL, 61, 2, false);
    run_ranks(3, read_shorter, NULL);
}

/* Rank 1 makes another call; the error shows what differs. */
static int open_differing(dt_ctx *ctx, void *arg) {
    static const char *const differing[] = {"batches_open(\"", ", 5", "place=R",        "format=u32",
                                            "length=3",        "=8",  "drop_last=true", "position=2"};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    for (int i = 0; i < 8; i++) {
        const int differs = dt_rank(ctx) == 1 ? i : -1;
        dt_batches *batches = dt_batches_open(
            ctx, in_folder(differs == 0 ? "tokens1" : "tokens0"), differs == 1 ? 5 : 4, .mesh = mesh,
            .place = differs == 2 ? "R" : "S(0)", .format = differs == 3 ? "u32" : "u16",
            .length = DT_INT(differs == 4 ? 3 : 2), .seed = DT_INT(differs == 5 ? 8 : 7), .drop_last = differs == 6);
        if (i == 7) {
            CHECK_OK(ctx, dt_batches_seek(batches, dt_rank(ctx) == 1 ? 2 : 1));
            CHECK(!dt_batches_next(batches), "expected a mismatch");
        }
        CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH && strstr(dt_error_text(ctx), differing[i]), "%s: got %s: %s",
              differing[i], dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        dt_batches_free(batches);
    }
    dt_batches *batches = open_tokens(ctx, 0, mesh, "S(0)");
    CHECK(batches && check_tokens(ctx, batches, &token_cases[0], 0) == 0, "afterwards");
    dt_batches_free(batches);
    dt_mesh_release(mesh);
    return 0;
}

static void differing__calls_are_mismatches(void **state) {
    (void)state;
    run_ranks(2, open_differing, NULL);
    run_ranks(3, open_differing, NULL);
}

/* What a rank reads and holds. */
enum { LONG_LENGTH = 4096, LONG_BATCH = 120, LONG_ROWS = 250, SLACK = 1 << 16 };

/* Bytes that this thread has read so far; -1: unknown. */
static int64_t read_so_far(void) {
    FILE *file = fopen("/proc/thread-self/io", "r");
    long long n = -1;
    if (file && fscanf(file, "rchar: %lld", &n) != 1)
        n = -1;
    if (file)
        (void)fclose(file);
    return n;
}

static int read_own_rows(dt_ctx *ctx, void *arg) {
    (void)arg;
    const int64_t world = dt_world(ctx), own = LONG_BATCH / world * (LONG_LENGTH + 1);
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_batches *first = open_tokens(ctx, 0, mesh, "S(0)"); /* and with it what the group of the ranks keeps */
    const size_t live = dt_heap_stats(ctx).live_bytes;
    const int64_t before = read_so_far();
    dt_batches *batches = dt_batches_open(ctx, in_folder("long"), LONG_BATCH, .mesh = mesh, .place = "S(0)",
                                          .format = "u16", .length = DT_INT(LONG_LENGTH), .seed = DT_INT(2));
    dt_tensor *rows = dt_batches_next(batches);
    CHECK(rows, "%s", dt_error_text(ctx));
    const int64_t after = read_so_far();
    const size_t peak = dt_heap_stats(ctx).peak_bytes - live;
    CHECK(dt_tensor_local_elements(rows) == own, "%" PRId64, dt_tensor_local_elements(rows));
    CHECK(peak <= (size_t)own * 8 + SLACK, "expected at most %" PRId64 " bytes, got %zu", own * 8 + SLACK, peak);
    CHECK(before < 0 || (after - before >= own * 2 && after - before <= own * 2 + SLACK),
          "expected to read %" PRId64 " bytes, got %" PRId64, own * 2, after - before);
    dt_batches_free(batches);
    dt_batches_free(first);
    dt_mesh_release(mesh);
    return 0;
}

static void rank__reads_and_holds_its_rows(void **state) {
    (void)state;
    if (test_leads())
        write_tokens("long", NULL, LONG_ROWS * LONG_LENGTH + 1, 2, false);
    run_ranks(2, read_own_rows, NULL);
    run_ranks(3, read_own_rows, NULL);
}

static bool open_and_read(dt_ctx *ctx, void *user) {
    (void)user;
    dt_batches *batches = open_tokens(ctx, 0, NULL, NULL);
    dt_tensor *rows = batches ? dt_batches_next(batches) : NULL;
    const bool read = rows;
    dt_drop(rows);
    dt_batches_free(batches);
    return read;
}

static void without_memory__fails(void **state) {
    (void)state;
    assert_true(assert_survives_failing_allocations(open_and_read, NULL) > 0);
}

static void write_npy(const char *name, const char *descr, const char *order, const char *shape, size_t bytes) {
    static const char zeros[168];
    FILE *file = fopen(in_folder(name), "wb");
    npy_header(file, descr, order, shape);
    (void)fwrite(zeros, 1, bytes, file);
    (void)fclose(file);
}

static void write_malformed(void) {
    write_npy("cut.npy", "<i8", "False", "(6,)", 8);
    write_npy("columns.npy", "<i4", "True", "(2, 3)", 24);
    write_npy("scalar.npy", "<i4", "False", "()", 4);
    write_npy("none.npy", "<i4", "False", "(0, 3)", 0);
    write_npy("long.npy", "<u8", "False", "(3,)", 24);
    (void)fclose(fopen(in_folder("empty"), "wb"));
    FILE *odd = fopen(in_folder("odd"), "wb");
    (void)fwrite("1234567", 1, 7, odd);
    (void)fclose(odd);
    (void)mkdir(in_folder("folder"), 0700);
    (void)mkfifo(in_folder("fifo"), 0600);
}

/* Each test finds all files, also if it runs alone. */
static int files_begin(void **state) {
    if (folder_begin(state))
        return 1;
    if (!test_leads())
        return 0;
    for (int i = 0; i < N_TOKEN_CASES; i++)
        write_tokens(token_name(i), token_cases[i].descr, token_cases[i].n_tokens, token_cases[i].size,
                     token_cases[i].is_signed);
    write_array("u2.npy", "<u2");
    write_array("c8.npy", ">c8");
    write_npy("cube.npy", "<f4", "False", "(7, 2, 3)", 168);
    write_malformed();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens__are_those_of_the_file),    cmocka_unit_test(ranks_outside__hold_nothing),
        cmocka_unit_test(arrays__of_every_dtype),           cmocka_unit_test(malformed__files_are_refused),
        cmocka_unit_test(shorter__files_are_errors_of_all), cmocka_unit_test(differing__calls_are_mismatches),
        cmocka_unit_test(rank__reads_and_holds_its_rows),   cmocka_unit_test(without_memory__fails),
    };
    return cmocka_run_group_tests(tests, files_begin, folder_end);
}
