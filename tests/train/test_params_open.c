/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters from safetensors files: every dtype in every placement, shards with few and many bytes, parts that a map
 * cuts and transposes, and joins again when they are saved, folders with an index, and errors that all ranks have.
 * Ranks 1, 2, 3, 5 and 6 on shm.
 */
#include "support/ranks.h"

#include "base/ctx.h"
#include "base/half_float.h"
#include "dtensor/dtensor.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A tensor of a file. Element i has the value (i + seed) % 8, which every dtype represents. */
struct item {
    const char *name, *dtype;
    int bytes, n_dims, seed;
    int64_t shape[4];
};

static int64_t elements_of(const struct item *item) {
    int64_t n = 1;
    for (int d = 0; d < item->n_dims; d++)
        n *= item->shape[d];
    return n;
}

static double value_at(const struct item *item, int64_t i) { return (double)((i + item->seed) % 8); }

static void encode(const char *dtype, double value, unsigned char *out) {
    const float f = (float)value;
    const uint64_t i = (uint64_t)value;
    static const unsigned char e4m3[] = {0, 0x38, 0x40, 0x44, 0x48, 0x4a, 0x4c, 0x4e},
                               e5m2[] = {0, 0x3c, 0x40, 0x42, 0x44, 0x45, 0x46, 0x47};
    const uint16_t bf16 = dt__f32_to_bf16(f), f16 = dt__f32_to_f16(f);
    if (!strcmp(dtype, "F64"))
        memcpy(out, &value, 8);
    else if (!strcmp(dtype, "F32"))
        memcpy(out, &f, 4);
    else if (!strcmp(dtype, "BF16"))
        memcpy(out, &bf16, 2);
    else if (!strcmp(dtype, "F16"))
        memcpy(out, &f16, 2);
    else if (!strcmp(dtype, "F8_E4M3"))
        *out = e4m3[i];
    else if (!strcmp(dtype, "F8_E5M2"))
        *out = e5m2[i];
    else if (!strcmp(dtype, "C64"))
        memcpy(memset(out, 0, 8), &f, 4);
    else
        memcpy(out, &i, !strcmp(dtype, "BOOL") || dtype[1] == '8' ? 1 : (size_t)(atoi(dtype + 1) / 8));
}

static bool write_bytes(const char *path, size_t n, const void *bytes) {
    FILE *file = fopen(path, "wb");
    return file && fwrite(bytes, 1, n, file) == n && !fclose(file);
}

/* Writes a file of the first n items, `cut` bytes too short. */
static bool write_file(const char *path, int n, const struct item *items, size_t cut) {
    char header[8192] = "{";
    int64_t at = 0;
    size_t used = 1;
    for (int k = 0; k < n; k++) {
        const int64_t bytes = elements_of(&items[k]) * items[k].bytes;
        used += (size_t)snprintf(header + used, sizeof header - used, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[",
                                 k ? "," : "", items[k].name, items[k].dtype);
        for (int d = 0; d < items[k].n_dims; d++)
            used += (size_t)snprintf(header + used, sizeof header - used, "%s%lld", d ? "," : "",
                                     (long long)items[k].shape[d]);
        used += (size_t)snprintf(header + used, sizeof header - used, "],\"data_offsets\":[%lld,%lld]}",
                                 (long long)at, (long long)(at + bytes));
        at += bytes;
    }
    used += (size_t)snprintf(header + used, sizeof header - used, "}");
    unsigned char *all = malloc(8 + used + (size_t)at), *data = all + 8 + used;
    const uint64_t length = used;
    memcpy(all, &length, 8);
    memcpy(all + 8, header, used);
    for (int k = 0; k < n; k++)
        for (int64_t i = 0; i < elements_of(&items[k]); i++, data += items[k].bytes)
            encode(items[k].dtype, value_at(&items[k], i), data);
    bool ok = write_bytes(path, 8 + used + (size_t)at - cut, all);
    free(all);
    return ok;
}

static const struct item items[] = {{"f32", "F32", 4, 2, 1, {7, 5}},
                                    {"f64", "F64", 8, 3, 2, {2, 3, 4}},
                                    {"f16", "F16", 2, 2, 3, {5, 6}},
                                    {"bf16", "BF16", 2, 2, 4, {4, 3}},
                                    {"i8", "I8", 1, 1, 5, {9}},
                                    {"i16", "I16", 2, 2, 6, {3, 3}},
                                    {"i32", "I32", 4, 0, 7, {0}},
                                    {"i64", "I64", 8, 2, 1, {6, 2}},
                                    {"u8", "U8", 1, 2, 2, {2, 7}},
                                    {"u16", "U16", 2, 2, 3, {3, 5}},
                                    {"u32", "U32", 4, 1, 4, {11}},
                                    {"u64", "U64", 8, 2, 5, {2, 2}},
                                    {"e4m3", "F8_E4M3", 1, 2, 6, {5, 7}},
                                    {"e5m2", "F8_E5M2", 1, 2, 7, {7, 3}},
                                    {"c64", "C64", 8, 2, 1, {3, 4}},
                                    {"none", "F32", 4, 2, 0, {0, 4}},
                                    {"rows", "F32", 4, 2, 3, {300, 700}},
                                    {"long", "F32", 4, 2, 5, {3, 300000}},
                                    {"cube", "BF16", 2, 4, 5, {3, 4, 5, 6}}};
enum { N_ITEMS = sizeof items / sizeof *items };

/* Whether a tensor has the values of an item. */
static int check_values(dt_ctx *ctx, dt_tensor *tensor, const struct item *item) {
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *full = dt_tensor_spec(tensor) ? dt_full_tensor(tensor) : tensor;
    CHECK(full && dt_tensor_n_dims(full) == item->n_dims, "%s: %s", item->name, dt_error_text(ctx));
    full = dt_contiguous(dt_to(full, DT_F64));
    const double *values = dt_data(full);
    CHECK(dt_tensor_elements(full) == elements_of(item), "%s", item->name);
    for (int64_t i = 0; i < elements_of(item); i++)
        CHECK(values[i] == value_at(item, i), "%s[%lld]: expected %g, got %g", item->name, (long long)i,
              value_at(item, i), values[i]);
    dt_scope_end(scope);
    return 0;
}

static int opens_every_dtype(dt_ctx *ctx, void *arg) {
    static const char *const rules[] = {NULL, "* tp=col\n", "* fsdp=free\n", "rows tp=S(1)\nlong tp=S(1)\n* tp=row",
                                        "rows tp=S(0)*60\ncube tp=S(3) fsdp=S(2)\n* tp=R"};
    static const dt_dtype dtypes[] = {DT_NO_DTYPE, DT_F32, DT_F64, DT_BF16, DT_F16};
    const char *path = arg;
    const int64_t world = dt_world(ctx), tp = world % 2 ? world : 2;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){world / tp, tp}, 2, &(dt_mesh_options){.names = "fsdp,tp"});
    for (int r = 0; r < 5; r++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_params *p = dt_params_open(ctx, path, .mesh = r ? mesh : NULL, .rules = rules[r], .dtype = dtypes[r]);
        CHECK(p && dt_params_n(p) == N_ITEMS, "%s", dt_error_text(ctx));
        for (int k = 0; k < N_ITEMS; k++) {
            dt_tensor *t = dt_params_get(p, items[k].name);
            CHECK(t && !check_values(ctx, t, &items[k]), "rules %d: %s: %s", r, items[k].name, dt_error_text(ctx));
            const bool is_float = strchr("Ffb", items[k].dtype[0]) || !strcmp(items[k].dtype, "BF16");
            CHECK(dt_requires_grad(t) == (is_float || items[k].dtype[0] == 'C'), "%s", items[k].name);
            CHECK(!dtypes[r] || !is_float || dt_tensor_dtype(t) == dtypes[r], "%s", items[k].name);
        }
        CHECK_OK(ctx, dt_params_check(p));
        dt_params_free(p);
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

/* What a map makes of two layers, in two files. */
static const struct item stored[] = {{"m.tok", "F32", 4, 2, 0, {6, 4}},       {"m.h.0.qkv", "BF16", 2, 2, 1, {4, 12}},
                                     {"m.h.0.bias", "F32", 4, 1, 2, {12}},    {"m.h.0.mask", "BOOL", 1, 2, 3, {4, 4}},
                                     {"m.h.1.qkv", "BF16", 2, 2, 4, {4, 12}}, {"m.h.1.bias", "F32", 4, 1, 5, {12}},
                                     {"m.h.1.extra", "F32", 4, 1, 5, {2}}};
static const char map[] = "prefix x.\n"
                          "E = m.tok[1]  # the width\n"
                          "m.tok -> tok\n"
                          "m.h.*.qkv[:,0:E] T -> h.*.q\n"
                          "m.h.*.qkv[:,E:3E] T -> h.*.kv\n"
                          "m.h.*.bias[0:4] -> h.*.bq\n"
                          "m.h.*.bias[4:12] -> h.*.bkv\n"
                          "m.h.*.extra? -> h.*.extra\n"
                          "m.head -> head = tok\n"
                          "ignore m.h.*.mask\n";

static int maps_names_and_parts(dt_ctx *ctx, void *arg) {
    static const char *const names[] = {"tok",    "h.0.q",  "h.0.kv",  "h.0.bq",    "h.0.bkv", "h.1.q",
                                        "h.1.kv", "h.1.bq", "h.1.bkv", "h.1.extra", "head"};
    const char *path = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_params *p = dt_params_open(ctx, path, .mesh = mesh, .rules = "*.q tp=S(0)\n*.kv tp=S(1)\n* tp=R", .map = map,
                                  .dtype = DT_F32);
    CHECK(p, "%s", dt_error_text(ctx));
    CHECK(dt_params_n(p) == 11, "%d", dt_params_n(p));
    for (int i = 0; i < 11; i++)
        CHECK(!strcmp(dt_params_name(p, i), names[i]), "expected %s, got %s", names[i], dt_params_name(p, i));
    CHECK(dt_params_get(p, "head") == dt_params_get(p, "tok"), "tied");
    for (int layer = 0; layer < 2; layer++) {
        const struct item *qkv = &stored[layer ? 4 : 1], *bias = &stored[layer ? 5 : 2];
        const float *q = dt_data(dt_full_tensor(dt_params_get(p, layer ? "h.1.q" : "h.0.q")));
        const float *kv = dt_data(dt_full_tensor(dt_params_get(p, layer ? "h.1.kv" : "h.0.kv")));
        const float *bkv = dt_data(dt_full_tensor(dt_params_get(p, layer ? "h.1.bkv" : "h.0.bkv")));
        for (int64_t row = 0; row < 12; row++)
            for (int64_t column = 0; column < 4; column++) {
                const double got = (double)(row < 4 ? q[row * 4 + column] : kv[(row - 4) * 4 + column]);
                CHECK(got == value_at(qkv, column * 12 + row), "[%lld,%lld]", (long long)row, (long long)column);
            }
        for (int64_t i = 0; i < 8; i++)
            CHECK((double)bkv[i] == value_at(bias, 4 + i), "bias %lld", (long long)i);
    }
    dt_params_free(p);
    dt_mesh_release(mesh);
    return 0;
}

/* What is saved with a map has the tensors that were opened with it, in one file or in several. */
static int saves_back(dt_ctx *ctx, void *arg) {
    const char *path = arg;
    char saved[400];
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    (void)snprintf(saved, sizeof saved, "%s/saved", path);
    for (int several = 0; several < 2; several++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_params *p =
            dt_params_open(ctx, path, .mesh = mesh, .rules = "*.q tp=S(0)\n*.kv tp=S(1)\n* tp=R", .map = map);
        CHECK(p, "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_params_save(p, saved, .map = map, .dtype = DT_F64, .file_bytes = DT_INT(several ? 100 : 0)));
        dt_params *q = dt_params_open(ctx, saved, .mesh = mesh, .rules = "*qkv tp=S(1)\n* tp=R");
        CHECK(q && dt_params_n(q) == 6, "%s", dt_error_text(ctx));
        for (int i = 0; i < 7; i++)
            if (i != 3) { /* which the map ignores */
                dt_tensor *t = dt_params_get(q, stored[i].name);
                CHECK(t && dt_tensor_dtype(t) == DT_F64 && !check_values(ctx, t, &stored[i]), "%s: %s",
                      stored[i].name, dt_error_text(ctx));
            }
        CHECK(dt_params_save(p, saved, .map = "m.tok -> tok") == DT_ERR_VALUE, "%s", dt_error_text(ctx));
        CHECK(strstr(dt_error_text(ctx), "it does not name the parameter 'h.0.q'"), "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK(dt_params_save(p, saved, .map = "m.x -> x") == DT_ERR_VALUE, "%s", dt_error_text(ctx));
        CHECK(strstr(dt_error_text(ctx), "there is no parameter 'x', for 'm.x'"), "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK(dt_params_save(p, saved, .dtype = DT_I32) == DT_ERR_DTYPE, "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        dt_params_free(p);
        dt_params_free(q);
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

/* A list, and what saving it with a map says of parts that it lacks. What is saved without an error is opened with the
 * same map, with the same names. */
struct list {
    const char *names[8];
    const char *map, *text; /* NULL: no error */
};

static const struct list lists[] = {
    {{"h.0.a", "h.0.b", "h.1.a"}, "l.*.a -> h.*.a\nl.*.b -> h.*.b", "there is no parameter 'h.1.b', for 'l.1.b'"},
    {{"h.0.a", "h.0.b", "h.1.b"}, "l.*.a -> h.*.a\nl.*.b -> h.*.b", "there is no parameter 'h.1.a', for 'l.1.a'"},
    {{"h.0.a", "h.2.a", "e"}, "l.*.a -> h.*.a\nx -> e", "there is no parameter 'h.1.a', for 'l.1.a'"},
    {{"h.0.a", "e", "h.0.b", "h.1.b"},
     "l.*.a -> h.*.a\nx -> e\nl.*.b -> h.*.b",
     "there is no parameter 'h.1.a', for 'l.1.a'"},
    {{"h.0.b", "e"}, "l.*.a[0:2] -> h.*.a\nl.*.a[2:4] -> h.*.b\nx -> e", "no parameter 'h.0.a', for 'l.0.a'"},
    {{"h.0.b", "e"}, "l.*.a[0:2]? -> h.*.a\nl.*.a[2:4]? -> h.*.b\nx -> e", "no parameter 'h.0.a', for 'l.0.a'"},
    {{"h.0.a", "e"}, "l.*.a[0:2]? -> h.*.a\nl.*.a[2:4]? -> h.*.b\nx -> e", "no parameter 'h.0.b', for 'l.0.a'"},
    {{"h.0.a"}, "l.*.a -> h.*.a\nx -> e", "there is no parameter 'e', for 'x'"},
    {{"h.0.a", "h.0.b", "h.1.a"}, "l.*.a -> h.*.a\nl.*.b? -> h.*.b", NULL},
    {{"h.0.a", "h.1.a", "h.1.b"}, "l.*.b? -> h.*.b\nl.*.a -> h.*.a", NULL},
    {{"e", "h.0.a", "t"}, "x -> e\nl.*.a -> h.*.a\ny -> t = e", NULL},
    {{"e", "t"}, "x -> e\ny -> t = e\nl.*.a -> h.*.a", NULL},
};

static int check_list(dt_ctx *ctx, const char *saved, const struct list *list) {
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "* tp=S(0)");
    int n = 0;
    for (; n < 8 && list->names[n]; n++)
        CHECK(dt_param(p, list->names[n], DT_SHAPE(2), .value = DT_REAL(n)), "%s", dt_error_text(ctx));
    dt_status status = dt_params_save(p, saved, .map = list->map);
    CHECK((status != DT_OK) == (list->text != NULL), "%s: %s", list->map, dt_error_text(ctx));
    if (list->text) {
        CHECK(status == DT_ERR_VALUE && strstr(dt_error_text(ctx), list->text), "expected '%s', got '%s'", list->text,
              dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    } else {
        dt_params *q = dt_params_open(ctx, saved, .mesh = mesh, .map = list->map);
        CHECK(q && dt_params_n(q) == n, "%s: %s", list->map, dt_error_text(ctx));
        for (int i = 0; i < n; i++)
            CHECK(dt_params_get(q, list->names[i]), "%s", dt_error_text(ctx));
        dt_params_free(q);
    }
    dt_params_free(p);
    dt_mesh_release(mesh);
    return 0;
}

static int refuses_lists_with_holes(dt_ctx *ctx, void *arg) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        CHECK(check_list(ctx, arg, &lists[i]) == 0, "list %zu", i);
        dt_scope_end(scope);
    }
    return 0;
}

struct bad {
    const char *path, *map, *text;
};

static int refuses(dt_ctx *ctx, void *arg) {
    const struct bad *bad = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    for (; bad->path; bad++) {
        dt_params *p = dt_params_open(ctx, bad->path, .mesh = mesh, .map = bad->map);
        CHECK(!p && strstr(dt_error_text(ctx), bad->text), "expected '%s', got '%s'", bad->text, dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

static char folder[256];

static const char *in_folder(const char *name) {
    static char paths[12][400];
    static int n;
    char *path = paths[n++ % 12];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_all(void) {
    static const char index[] =
        "{\"weight_map\":{\"m.tok\":\"1.safetensors\",\"m.h.0.qkv\":\"1.safetensors\","
        "\"m.h.0.bias\":\"1.safetensors\",\"m.h.0.mask\":\"2.safetensors\",\"m.h.1.qkv\":"
        "\"2.safetensors\",\"m.h.1.bias\":\"2.safetensors\",\"m.h.1.extra\":\"2.safetensors\"}}";
    static const char wrong[] = "{\"weight_map\":{\"m.tok\":\"1.safetensors\",\"x\":\"1.safetensors\"}}";
    static const char less[] = "{\"weight_map\":{\"m.tok\":\"1.safetensors\"}}";
    static const char outside[] = "{\"weight_map\":{\"m.tok\":\"../1.safetensors\"}}";
    static const char absent[] = "{\"weight_map\":{\"m.tok\":\"3.safetensors\"}}";
    assert_true(write_file(in_folder("all.safetensors"), N_ITEMS, items, 0));
    assert_true(write_file(in_folder("cut.safetensors"), N_ITEMS, items, 1));
    assert_true(write_file(in_folder("1.safetensors"), 3, stored, 0));
    assert_true(write_file(in_folder("2.safetensors"), 4, stored + 3, 0));
    assert_true(write_bytes(in_folder("model.safetensors.index.json"), strlen(index), index));
    assert_true(write_bytes(in_folder("wrong.index.json"), strlen(wrong), wrong));
    assert_true(write_bytes(in_folder("less.index.json"), strlen(less), less));
    assert_true(write_bytes(in_folder("outside.index.json"), strlen(outside), outside));
    assert_true(write_bytes(in_folder("absent.index.json"), strlen(absent), absent));
    assert_true(write_bytes(in_folder("short.safetensors"), 3, "abc"));
    assert_true(write_bytes(in_folder("header.safetensors"), 10, "\2\0\0\0\0\0\0\0[]"));
}

static void open__reads_shards_of_every_dtype(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 6; n += n == 3 ? 2 : 1)
        run_ranks(n, opens_every_dtype, (void *)in_folder("all.safetensors"));
}

static void open__maps_names_and_parts(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 6; n += n == 3 ? 2 : 1)
        run_ranks(n, maps_names_and_parts, folder);
}

static void save__writes_what_was_opened(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 6; n += n == 3 ? 2 : 1)
        run_ranks(n, saves_back, folder);
}

static void save__refuses_lists_with_holes(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n += 2)
        run_ranks(n, refuses_lists_with_holes, (void *)in_folder("saved"));
}

static void open__refuses_on_all_ranks(void **state) {
    (void)state;
    const char *one = in_folder("1.safetensors");
    struct bad bad[] = {
        {in_folder("cut.safetensors"), NULL, "the file is cut off"},
        {in_folder("short.safetensors"), NULL, "fewer than 8 bytes"},
        {in_folder("header.safetensors"), NULL, "does not begin with '{'"},
        {in_folder("gone.safetensors"), NULL, "cannot be opened"},
        {"/dev/null", NULL, "expected a regular file, got a character device"},
        {"/", NULL, "expected model.safetensors or model.safetensors.index.json in the folder"},
        {in_folder("wrong.index.json"), NULL, "'x' is not in 1.safetensors, as the index states"},
        {in_folder("less.index.json"), NULL, "'m.h.0.bias' of 1.safetensors is not in the index"},
        {in_folder("outside.index.json"), NULL, "expected a name in its own folder"},
        {in_folder("absent.index.json"), NULL, "3.safetensors: cannot be opened"},
        {one, "m.tok -> tok\nm.pos -> pos\nm.h.*.qkv -> h.*.qkv\nm.h.*.w -> h.*.w",
         "2 missing: m.pos, m.h.0.w; 1 that it does not name: m.h.0.bias"},
        {one, "m.tok[:,0:2] -> tok\nignore m.h.*", "has 24 elements: expected the 12 of its parameters"},
        {one, "m.tok[:,0:5] -> tok\nignore m.h.*", "has size 4 in dim 1: expected at least 5"},
        {one, "m.tok[:,:,:] -> tok\nignore m.h.*", "has 2 dims: expected at least 3"},
        {one, "E = m.x[1]\nm.tok[:,0:E] -> tok\nignore m.h.*", "expected 'm.x' with a dim 1, which is E"},
        {one, "gpt3", "map: line 1: column 5: expected '->' after the name"},
        {one, "use gpt3", "expected gpt2 or llama"},
        {one, "a.*.* -> b", "expected one '*' at most"},
        {one, "a.* -> b", "expected a '*' in both names or in none"},
        {one, "a[0:F] -> b", "expected a number, or a size that a line above names"},
        {one, "a -> b c", "expected the end of the line"},
        {one, "m.tok -> tok\nm.tok -> tok\nignore m.h.*", "has 24 elements: expected the 48 of its parameters"},
        {one, "m.tok[0:3] -> tok\nm.tok[3:6] -> tok\nignore m.h.*", "there is a parameter 'tok' already"},
        {NULL, NULL, NULL}};
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, refuses, bad);
}

static void remove_saved(void) {
    char name[64];
    for (int i = 1; i <= 20; i++)
        for (int n = 1; n <= 20 && test_leads(); n++) {
            (void)snprintf(name, sizeof name, "saved/model-%05d-of-%05d.safetensors", i, n);
            (void)unlink(in_folder(name));
        }
    (void)unlink(in_folder("saved/model.safetensors"));
    (void)unlink(in_folder("saved/model.safetensors.index.json"));
    (void)rmdir(in_folder("saved"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open__reads_shards_of_every_dtype), cmocka_unit_test(open__maps_names_and_parts),
        cmocka_unit_test(save__writes_what_was_opened),      cmocka_unit_test(save__refuses_lists_with_holes),
        cmocka_unit_test(open__refuses_on_all_ranks),
    };
    static const char *const names[] = {"all.safetensors",
                                        "cut.safetensors",
                                        "1.safetensors",
                                        "2.safetensors",
                                        "wrong.index.json",
                                        "less.index.json",
                                        "outside.index.json",
                                        "absent.index.json",
                                        "short.safetensors",
                                        "header.safetensors",
                                        "model.safetensors.index.json"};
    if (!test_make_folder(folder, sizeof folder))
        return 1;
    if (test_leads())
        write_all();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names && test_leads(); i++)
        (void)unlink(in_folder(names[i]));
    remove_saved();
    (void)test_remove_folder(folder);
    return failed;
}
