/* SPDX-License-Identifier: Apache-2.0
 *
 * Indexing by a text, read and assigned: values and shapes are what NumPy has, for every placement of the tensor; where
 * indices repeat, the last value is kept; a slice of a sharded dim moves what a rank lacks of it, and nothing else.
 */
#include "support/ranks.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <stdlib.h>
#include <string.h>

/* Index, tensors by their letters, shape of the selected elements, and values: of these, or of the whole tensor after
 * 1000, 1001, ... were assigned to them. The tensor is 0 to 39 in the shape 2,5,4. */
typedef struct numpy_case {
    const char *index, *tensors, *shape, *values;
} numpy_case;

static const numpy_case reads[] = {
    {"1", "", "5,4", "20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39"},
    {"-1, 1:-1", "", "3,4", "24,25,26,27,28,29,30,31,32,33,34,35"},
    {"..., ::2", "", "2,5,2", "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38"},
    {"1:-1, ::2", "", "0,3,4", ""},
    {":, ::-1", "", "2,5,4",
     "16,17,18,19,12,13,14,15,8,9,10,11,4,5,6,7,0,1,2,3,36,37,38,39,"
     "32,33,34,35,28,29,30,31,24,25,26,27,20,21,22,23"},
    {":, 4:0:-2, ::-3", "", "2,2,2", "19,16,11,8,39,36,31,28"},
    {"..., None, 0", "", "2,5,1", "0,4,8,12,16,20,24,28,32,36"},
    {"None, 1, None, 2:", "", "1,1,3,4", "28,29,30,31,32,33,34,35,36,37,38,39"},
    {"::-1, -2, ...", "", "2,4", "32,33,34,35,12,13,14,15"},
    {":, 10:20", "", "2,0,4", ""},
    {":, -100:100:3", "", "2,2,4", "0,1,2,3,12,13,14,15,20,21,22,23,32,33,34,35"},
    {"?", "q", "2,1,5,4",
     "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,"
     "24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39"},
    {":, ?", "r", "2,3,4",
     "12,13,14,15,0,1,2,3,16,17,18,19,32,33,34,35,20,21,22,23,36,37,"
     "38,39"},
    {":, ?, ?", "rc", "2,3", "13,3,17,33,23,37"},
    {"?, :, ?", "qc", "2,3,5",
     "1,5,9,13,17,3,7,11,15,19,1,5,9,13,17,21,25,29,33,37,23,27,31,"
     "35,39,21,25,29,33,37"},
    {"1, :, ?", "c", "3,5", "21,25,29,33,37,23,27,31,35,39,21,25,29,33,37"},
    {"0, ?", "r", "3,4", "12,13,14,15,0,1,2,3,16,17,18,19"},
    {"?, 1:4, None", "q", "2,1,3,1,4",
     "4,5,6,7,8,9,10,11,12,13,14,15,24,25,26,27,28,29,30,31,32,33,34,"
     "35"},
    {"..., ?", "c", "2,5,3",
     "1,3,1,5,7,5,9,11,9,13,15,13,17,19,17,21,23,21,25,27,25,29,31,"
     "29,33,35,33,37,39,37"},
    {":, ?, None, 2", "r", "3,2,1", "14,34,2,22,18,38"},
    {":, ?(3)", "m", "2,3,4",
     "0,1,2,3,8,9,10,11,12,13,14,15,20,21,22,23,28,29,30,31,32,33,34,"
     "35"},
    {"?(4), 1:", "n", "4,3", "5,6,7,17,18,19,21,22,23,33,34,35"},
    {"None, :, ?, ::-1", "r", "1,2,3,4",
     "15,14,13,12,3,2,1,0,19,18,17,16,35,34,33,32,23,22,21,20,39,38,"
     "37,36"},
    {"?, ?, ?", "qrc", "2,3", "13,3,17,33,23,37"},
};

static const numpy_case sets[] = {
    {"1", "", "5,4",
     "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,1000,1001,"
     "1002,1003,1004,1005,1006,1007,1008,1009,1010,1011,1012,1013,1014,1015,"
     "1016,1017,1018,1019"},
    {":, 1:-1, ::2", "", "2,3,2",
     "0,1,2,3,1000,5,1001,7,1002,9,1003,11,1004,13,1005,15,16,17,18,19,"
     "20,21,22,23,1006,25,1007,27,1008,29,1009,31,1010,33,1011,35,36,37,"
     "38,39"},
    {":, ::-1", "", "2,5,4",
     "1016,1017,1018,1019,1012,1013,1014,1015,1008,1009,1010,1011,1004,1005,"
     "1006,1007,1000,1001,1002,1003,1036,1037,1038,1039,1032,1033,1034,1035,"
     "1028,1029,1030,1031,1024,1025,1026,1027,1020,1021,1022,1023"},
    {"..., None, 0", "", "2,5,1",
     "1000,1,2,3,1001,5,6,7,1002,9,10,11,1003,13,14,15,1004,17,18,19,"
     "1005,21,22,23,1006,25,26,27,1007,29,30,31,1008,33,34,35,1009,37,38,"
     "39"},
    {"0, 4:0:-2", "", "2,4",
     "0,1,2,3,4,5,6,7,1004,1005,1006,1007,12,13,14,15,1000,1001,1002,"
     "1003,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39"},
    {"?", "q", "2,1,5,4",
     "1000,1001,1002,1003,1004,1005,1006,1007,1008,1009,1010,1011,1012,1013,"
     "1014,1015,1016,1017,1018,1019,1020,1021,1022,1023,1024,1025,1026,1027,"
     "1028,1029,1030,1031,1032,1033,1034,1035,1036,1037,1038,1039"},
    {":, ?", "d", "2,4,4",
     "0,1,2,3,1012,1013,1014,1015,1008,1009,1010,1011,12,13,14,15,16,17,"
     "18,19,20,21,22,23,1028,1029,1030,1031,1024,1025,1026,1027,32,33,34,"
     "35,36,37,38,39"},
    {":, ?, ?", "rc", "2,3",
     "0,1,2,1001,4,5,6,7,8,9,10,11,12,1000,14,15,16,1002,18,19,20,21,"
     "22,1004,24,25,26,27,28,29,30,31,32,1003,34,35,36,1005,38,39"},
    {"1, :, ?", "c", "3,5",
     "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,1010,22,"
     "1005,24,1011,26,1006,28,1012,30,1007,32,1013,34,1008,36,1014,38,1009"},
    {":, 1:4, ?", "c", "2,3,3",
     "0,1,2,3,4,1002,6,1001,8,1005,10,1004,12,1008,14,1007,16,17,18,19,"
     "20,21,22,23,24,1011,26,1010,28,1014,30,1013,32,1017,34,1016,36,37,"
     "38,39"},
    {"?, ?, 1:3", "qr", "2,3,2",
     "0,1002,1003,3,4,5,6,7,8,9,10,11,12,1000,1001,15,16,1004,1005,19,"
     "20,1008,1009,23,24,25,26,27,28,29,30,31,32,1006,1007,35,36,1010,"
     "1011,39"},
    {":, ?(3)", "m", "2,3,4",
     "1000,1001,1002,1003,4,5,6,7,1004,1005,1006,1007,1008,1009,1010,1011,"
     "16,17,18,19,1012,1013,1014,1015,24,25,26,27,1016,1017,1018,1019,1020,"
     "1021,1022,1023,36,37,38,39"},
    {"::-1, ?", "r", "2,3,4",
     "1016,1017,1018,1019,4,5,6,7,8,9,10,11,1012,1013,1014,1015,1020,1021,"
     "1022,1023,1004,1005,1006,1007,24,25,26,27,28,29,30,31,1000,1001,1002,"
     "1003,1008,1009,1010,1011"},
    {":, 4:0:-1, ?", "c", "2,4,3",
     "0,1,2,3,4,1011,6,1010,8,1008,10,1007,12,1005,14,1004,16,1002,"
     "18,1001,20,21,22,23,24,1023,26,1022,28,1020,30,1019,32,1017,34,"
     "1016,36,1014,38,1013"},
    {"?, None, 1:4, ::-2", "q", "2,1,1,3,2",
     "0,1,2,3,4,1001,6,1000,8,1003,10,1002,12,1005,14,1004,16,17,18,"
     "19,20,21,22,23,24,1007,26,1006,28,1009,30,1008,32,1011,34,1010,"
     "36,37,38,39"},
    {"::-1, 1:-1, ?", "d", "2,3,4",
     "0,1,2,3,4,1015,1014,7,8,1019,1018,11,12,1023,1022,15,16,17,18,"
     "19,20,21,22,23,24,1003,1002,27,28,1007,1006,31,32,1011,1010,35,"
     "36,37,38,39"},
    {"-1:0:-1, ?, 3:0:-2", "r", "1,3,2",
     "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,1003,22,"
     "1002,24,25,26,27,28,29,30,31,32,1001,34,1000,36,1005,38,1004"},
    {"0, 3:0:-1, ?", "c", "3,3",
     "0,1,2,3,4,1008,6,1005,8,1007,10,1004,12,1006,14,1003,16,17,18,"
     "19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39"},
    {"?, 1:5:2, 1:3", "q", "2,1,2,2",
     "0,1,2,3,4,1000,1001,7,8,9,10,11,12,1002,1003,15,16,17,18,19,20,"
     "21,22,23,24,1004,1005,27,28,29,30,31,32,1006,1007,35,36,37,38,"
     "39"},
    {"1:, ?, ?", "rc", "1,3",
     "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,"
     "1001,24,25,26,27,28,29,30,31,32,1000,34,35,36,1002,38,39"},
};

static dt_tensor *index_tensor(dt_ctx *ctx, char letter, dt_mesh *mesh, const char *place) {
    static const int64_t rows[] = {3, 0, 4}, columns[] = {1, 3, 1}, pair[] = {0, 1}, repeated[] = {2, 2, 2, 1};
    static const bool mask[] = {true, false, true, true, false};
    static const bool masks[] = {false, true, false, false, true, true, false, false, true, false};
    dt_tensor *tensor = letter == 'r'   ? dt_from_memory(ctx, rows, DT_SHAPE(3), DT_I64)
                        : letter == 'c' ? dt_from_memory(ctx, columns, DT_SHAPE(3), DT_I64)
                        : letter == 'q' ? dt_from_memory(ctx, pair, DT_SHAPE(2, 1), DT_I64)
                        : letter == 'd' ? dt_from_memory(ctx, repeated, DT_SHAPE(4), DT_I64)
                        : letter == 'm' ? dt_from_memory(ctx, mask, DT_SHAPE(5), DT_BOOL)
                                        : dt_from_memory(ctx, masks, DT_SHAPE(2, 5), DT_BOOL);
    return dt_distribute_tensor(tensor, mesh, place);
}

static int read_numbers(const char *text, int64_t *out) {
    int n = 0;
    for (char *end; *text; text = *end ? end + 1 : end)
        out[n++] = strtoll(text, &end, 10);
    return n;
}

/* Whether a tensor has these values, in this shape if it is given. */
static int check_values(dt_ctx *ctx, dt_tensor *tensor, const char *shape, const char *values, const char *what) {
    int64_t expected[64], sizes[8];
    CHECK(tensor, "%s: %s", what, dt_error_text(ctx));
    int n = read_numbers(values, expected), n_dims = shape ? read_numbers(shape, sizes) : dt_tensor_n_dims(tensor);
    CHECK(dt_tensor_n_dims(tensor) == n_dims, "%s: %d dims instead of %d", what, dt_tensor_n_dims(tensor), n_dims);
    for (int d = 0; shape && d < n_dims; d++)
        CHECK(dt_tensor_size(tensor, d) == sizes[d], "%s: dim %d has %lld instead of %lld", what, d,
              (long long)dt_tensor_size(tensor, d), (long long)sizes[d]);
    dt_tensor *full = dt_contiguous(dt_full_tensor(tensor));
    CHECK(full && dt_tensor_elements(full) == n, "%s: %s", what, dt_error_text(ctx));
    const int64_t *data = dt_data(full);
    for (int i = 0; i < n; i++)
        CHECK(data[i] == expected[i], "%s: element %d: %lld instead of %lld", what, i, (long long)data[i],
              (long long)expected[i]);
    return 0;
}

typedef struct placed {
    dt_mesh *mesh;
    const char *place, *of_indices;
} placed;

static dt_tensor *new_x(dt_ctx *ctx, const placed *at) {
    return dt_distribute_tensor(dt_view(dt_arange(ctx, 0, 40, 1, .dtype = DT_I64), DT_SHAPE(2, 5, 4)), at->mesh,
                                at->place);
}

static int read_case(dt_ctx *ctx, const numpy_case *one, const placed *at) {
    dt_tensor *list[4] = {NULL};
    int n = (int)strlen(one->tensors);
    for (int i = 0; i < n; i++)
        list[i] = index_tensor(ctx, one->tensors[i], at->mesh, at->of_indices);
    dt_tensor *x = new_x(ctx, at);
    return check_values(ctx, dt_at_site(x, one->index, n, list, NULL), one->shape, one->values, one->index);
}

static int set_case(dt_ctx *ctx, const numpy_case *one, const placed *at) {
    dt_tensor *list[4] = {NULL}, *x = new_x(ctx, at);
    int64_t sizes[8], elements = 1;
    int n = (int)strlen(one->tensors), n_dims = read_numbers(one->shape, sizes);
    for (int i = 0; i < n; i++)
        list[i] = index_tensor(ctx, one->tensors[i], at->mesh, at->of_indices);
    for (int d = 0; d < n_dims; d++)
        elements *= sizes[d];
    dt_shape shape = {n_dims, sizes};
    dt_tensor *value = dt_view(dt_arange(ctx, 1000, 1000 + elements, 1, .dtype = DT_I64), shape);
    value = dt_distribute_tensor(value, at->mesh, at->of_indices);
    CHECK(dt_set_at_site(x, value, one->index, n, list, NULL) == x, "%s: %s", one->index, dt_error_text(ctx));
    return check_values(ctx, x, NULL, one->values, one->index);
}

/* Placements of the tensor, and of every second tensor of indices. */
typedef struct arrangement {
    const char *mesh, *places[4], *of_indices;
} arrangement;

static int compare(dt_ctx *ctx, void *arg) {
    const arrangement *on = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, on->mesh);
    const char *replicate = strchr(on->mesh, ',') ? "R,R" : "R";
    for (size_t p = 0; p < 4; p++)
        for (size_t i = 0; i < sizeof reads / sizeof *reads + sizeof sets / sizeof *sets; i++) {
            const placed at = {mesh, on->places[p], i % 2 ? on->of_indices : replicate};
            dt_scope scope = dt_scope_begin(ctx);
            size_t n_reads = sizeof reads / sizeof *reads;
            int wrong = i < n_reads ? read_case(ctx, &reads[i], &at) : set_case(ctx, &sets[i - n_reads], &at);
            CHECK(!wrong, "with the tensor %s and indices %s", on->places[p], at.of_indices);
            dt_scope_end(scope);
        }
    dt_mesh_release(mesh);
    return 0;
}

static void index_text__has_the_values_of_numpy(void **state) {
    static arrangement line = {"*", {"R", "S(0)", "S(1)", "S(2)"}, "S(0)"};
    static arrangement square = {"2,*", {"S(0),S(1)", "S(1),S(1)", "S(2),R", "S(1)[1],S(1)[0]"}, "R,S(0)"};
    static const int worlds[] = {1, 3, 4, 5, 7};
    (void)state;
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
        run_ranks(worlds[w], compare, &line);
    run_ranks(4, compare, &square);
    run_ranks(6, compare, &square);
}

static int64_t received(dt_ctx *ctx) {
    dt_comm_statistics all = dt_comm_stats(ctx, NULL);
    dt_comm_stats_end(ctx);
    return (int64_t)all.bytes;
}

/* 12 rows of 2 numbers on 3 ranks: rows 3 to 8 are two per rank; rank 0 holds row 3 of them, rank 1 rows 5 and 6, rank
 * 2 row 8. */
static int count_bytes(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *x = dt_zeros(ctx, DT_SHAPE(12, 2), .mesh = mesh, .place = "S(0)", .dtype = DT_F64);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK(dt_at(x, "3:9"), "%s", dt_error_text(ctx));
    int64_t bytes = received(ctx), rows = dt_rank(ctx) == 1 ? 0 : 1;
    CHECK(bytes == rows * 16, "%lld bytes instead of %lld", (long long)bytes, (long long)rows * 16);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *columns = dt_at(x, ":, 1"), *row = dt_at(x, "None, ...");
    bytes = received(ctx);
    CHECK(columns && row && bytes == 0, "%lld bytes", (long long)bytes);
    dt_mesh_release(mesh);
    return 0;
}

/* What every rank has is written without communication. Of rows in shards, ranks 1 and 2 lack the one before theirs:
 * they hold rows from 400 and from 800 on, of a slice that begins at row 1. */
static int count_written_bytes(dt_ctx *ctx, void *arg) {
    static const char *const indices[] = {"300:900", "900:300:-2, 1", "5", "7, None, ::-1", "..., 1:9:2"};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *x = dt_zeros(ctx, DT_SHAPE(1200, 64), .mesh = mesh, .place = "S(0)", .dtype = DT_F64);
    dt_tensor *one = dt_ones(ctx, DT_SHAPE(), .mesh = mesh, .dtype = DT_F64);
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK(dt_set_at(x, one, indices[i]) == x, "%s: %s", indices[i], dt_error_text(ctx));
        const int64_t bytes = received(ctx);
        CHECK(bytes == 0, "%s: received %lld bytes", indices[i], (long long)bytes);
    }
    dt_tensor *rows = dt_randn(ctx, DT_SHAPE(1198, 64), .mesh = mesh, .place = "S(0)", .dtype = DT_F64);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK(dt_set_at(x, rows, "1:-1") == x, "%s", dt_error_text(ctx));
    const int64_t bytes = received(ctx), expected = dt_rank(ctx) > 0 ? 64 * 8 : 0;
    CHECK(bytes == expected, "received %lld bytes instead of %lld", (long long)bytes, (long long)expected);
    dt_tensor *written = dt_full_tensor(dt_at(x, "1:-1"));
    CHECK(written && dt_item(dt_all(dt_eq(written, dt_full_tensor(rows)))) == 1, "other values were written");
    dt_mesh_release(mesh);
    return 0;
}

/* With tensors among the indices only the value moves, to the ranks that hold the elements: from shards that begin one
 * row earlier one row, and where the sharded dim itself is indexed, whose rows no rank knows before, all of it. */
static int count_bytes_with_tensors(dt_ctx *ctx, void *arg) {
    static const char *const indices[] = {"1:-1, ?",   "900:300:-2, ?", "::-1, ?",     "5, ?",
                                          "?, 3:60:2", "?, 9::-1",      "1:5, None, ?"};
    static const int64_t list[] = {3, 0, 9, 3, 30};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *x = dt_zeros(ctx, DT_SHAPE(1200, 64), .mesh = mesh, .place = "S(0)", .dtype = DT_F64);
    dt_tensor *one = dt_ones(ctx, DT_SHAPE(), .mesh = mesh, .dtype = DT_F64);
    dt_tensor *five = dt_distribute_tensor(dt_from_memory(ctx, list, DT_SHAPE(5), DT_I64), mesh, "R");
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK(dt_set_at(x, one, indices[i], five) == x, "%s: %s", indices[i], dt_error_text(ctx));
        const int64_t bytes = received(ctx);
        CHECK(bytes == 0, "%s: received %lld bytes", indices[i], (long long)bytes);
    }
    const struct {
        const char *index;
        int64_t rows, columns, expected;
    } cases[] = {{"1:-1, ?", 1198, 5, dt_rank(ctx) > 0 ? 5 * 8 : 0}, {"?, 1:-1", 6, 62, 4 * 62 * 8}};
    for (size_t i = 0; i < 2; i++) {
        dt_tensor *value =
            dt_randn(ctx, DT_SHAPE(cases[i].rows, cases[i].columns), .mesh = mesh, .place = "S(0)", .dtype = DT_F64);
        dt_tensor *of = i ? dt_arange(ctx, 0, 1200, 200, .dtype = DT_I64, .mesh = mesh) : five;
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK(dt_set_at(x, value, cases[i].index, of) == x, "%s: %s", cases[i].index, dt_error_text(ctx));
        const int64_t bytes = received(ctx);
        CHECK(bytes == cases[i].expected, "%s: received %lld bytes instead of %lld", cases[i].index, (long long)bytes,
              (long long)cases[i].expected);
    }
    dt_mesh_release(mesh);
    return 0;
}

/* The same where two sharded dims are cut, or one by two mesh dims. */
static int count_bytes_of_blocks(dt_ctx *ctx, void *arg) {
    static const char *const places[] = {"S(0),S(1)", "S(0),S(0)", "S(1)[1],S(1)[0]"};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "2,2");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        dt_tensor *x = dt_zeros(ctx, DT_SHAPE(13, 12), .mesh = mesh, .place = places[i], .dtype = DT_F64);
        dt_tensor *value = dt_full(ctx, DT_SHAPE(11, 5), 2, .mesh = mesh, .place = "R,R", .dtype = DT_F64);
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK(dt_set_at(x, value, "1:-1, 1:-1:2") == x, "%s: %s", places[i], dt_error_text(ctx));
        const int64_t bytes = received(ctx);
        CHECK(bytes == 0, "%s: received %lld bytes", places[i], (long long)bytes);
        CHECK(dt_item(dt_sum(x)) == 110, "%s: another sum", places[i]);
        dt_tensor *columns = dt_arange(ctx, 0, 12, 4, .dtype = DT_I64, .mesh = mesh);
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK(dt_set_at(x, dt_full(ctx, DT_SHAPE(1, 3), 5, .mesh = mesh, .place = "R,R", .dtype = DT_F64),
                        "-1:1:-3, ?", columns) == x,
              "%s: %s", places[i], dt_error_text(ctx));
        const int64_t bytes_of_tensors = received(ctx);
        CHECK(bytes_of_tensors == 0, "%s: received %lld bytes", places[i], (long long)bytes_of_tensors);
        CHECK(dt_item(dt_sum(x)) == 110 + 4 * 3 * 5, "%s: another sum after columns", places[i]);
    }
    dt_mesh_release(mesh);
    return 0;
}

/* Gradients of what an assignment keeps, and of the value: those of y w, where w counts from 0. Columns 1, 3 and 5 are
 * a slice, or a tensor. */
static int differentiate(dt_ctx *ctx, void *arg) {
    const arrangement *on = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, on->mesh);
    for (size_t p = 0; p < 8; p++) {
        const char *place = on->places[p / 2];
        dt_tensor *x = dt_zeros(ctx, DT_SHAPE(7, 6), .mesh = mesh, .place = place, .requires_grad = true);
        dt_tensor *value = dt_ones(ctx, DT_SHAPE(5, 1), .mesh = mesh, .requires_grad = true), *y = dt_clone(x);
        dt_tensor *weights = dt_view(dt_arange(ctx, 0, 42, 1, .dtype = DT_F32), DT_SHAPE(7, 6));
        dt_tensor *w = dt_distribute_tensor(weights, mesh, place), *grads[2];
        dt_tensor *columns = dt_arange(ctx, 1, 6, 2, .dtype = DT_I64, .mesh = mesh);
        dt_tensor *set = p % 2 ? dt_set_at(y, value, "-2:0:-1, ?", columns) : dt_set_at(y, value, "5:0:-1, -1:0:-2");
        CHECK(set == y, "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_gradients(DT_TENSORS(dt_sum(dt_mul(y, w))), DT_TENSORS(x, value), grads));
        const float *of_x = dt_data(dt_full_tensor(grads[0])), *of_value = dt_data(dt_full_tensor(grads[1]));
        CHECK(of_x && of_value, "%s", dt_error_text(ctx));
        for (int i = 0; i < 42; i++) {
            const bool is_written = i / 6 >= 1 && i / 6 < 6 && i % 6 % 2;
            CHECK(of_x[i] == (is_written ? 0 : (float)i), "%s: gradient %d of the tensor is %g", place, i, of_x[i]);
        }
        for (int i = 0; i < 5; i++)
            CHECK(of_value[i] == (float)(18 * (5 - i) + 9), "%s: gradient %d of the value is %g", place, i,
                  of_value[i]);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void index_text__of_an_assignment_has_gradients(void **state) {
    static arrangement line = {"*", {"R", "S(0)", "S(1)", "P(sum)"}, NULL};
    static arrangement square = {"2,*", {"S(0),S(1)", "S(1),S(0)", "S(0),S(0)", "S(1),R"}, NULL};
    (void)state;
    run_ranks(1, differentiate, &line);
    run_ranks(3, differentiate, &line);
    run_ranks(4, differentiate, &square);
}

static void index_text__writes_without_reading(void **state) {
    (void)state;
    run_ranks(3, count_written_bytes, NULL);
    run_ranks(3, count_bytes_with_tensors, NULL);
    run_ranks(4, count_bytes_of_blocks, NULL);
}

static void index_text__moves_what_a_rank_lacks_of_a_slice(void **state) {
    (void)state;
    run_ranks(3, count_bytes, NULL);
}

static void index_text__reads_views_of_whole_dims(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_zeros(ctx, DT_SHAPE(3, 4)), *view = dt_at(x, "1:, None, ::2");
    assert_non_null(view);
    dt_fill_(view, 7);
    const float *data = dt_data(x);
    assert_true(data[4] == 7 && data[6] == 7 && data[5] == 0 && data[0] == 0);
    dt_tensor *one = dt_ones(ctx, DT_SHAPE());
    bool mask[] = {true, false, true};
    assert_ptr_equal(dt_set_at(x, one, "?", dt_from_memory(ctx, mask, DT_SHAPE(3), DT_BOOL)), x);
    data = dt_data(x);
    assert_true(data[0] == 1 && data[3] == 1 && data[4] == 7 && data[8] == 1);
    assert_int_equal(dt_close(ctx), 0);
}

static void index_text__refuses_what_it_cannot_read(void **state) {
    static const struct {
        const char *index, *error;
    } cases[] = {
        {"1:2:0", "column 6: expected a step other than 0"},
        {"a", "column 1: expected a number, a slice, '?', '...' or None"},
        {"0, 1, 2", "too many items: expected at most 2 dims, got 3"},
        {"..., ...", "'...' at most once"},
        {"3", "index 3 is out of range for dim 0"},
        {"?", "as many tensors as there are '?'"},
        {"0 1", "expected ',' or the end"},
        {"", "expected a number"},
    };
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_zeros(ctx, DT_SHAPE(3, 4));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(dt_at(x, cases[i].index));
        if (!strstr(dt_error_text(ctx), cases[i].error))
            fail_msg("\"%s\": expected '%s', got '%s'", cases[i].index, cases[i].error, dt_error_text(ctx));
        assert_int_equal(dt_error_clear(ctx), DT_OK);
    }
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_text__has_the_values_of_numpy),
        cmocka_unit_test(index_text__moves_what_a_rank_lacks_of_a_slice),
        cmocka_unit_test(index_text__writes_without_reading),
        cmocka_unit_test(index_text__of_an_assignment_has_gradients),
        cmocka_unit_test(index_text__reads_views_of_whole_dims),
        cmocka_unit_test(index_text__refuses_what_it_cannot_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
