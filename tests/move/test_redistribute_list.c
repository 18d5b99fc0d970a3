/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_redistribute_list: every tensor is what dt_redistribute returns, in one exchange per mesh, with as many bytes;
 * lists that cannot be moved leave nothing behind.
 */
#include "dispatch/calls.h"
#include "support/check.h"

/* A tensor of a list: its shape, and placements on meshes of one and of two dims. */
typedef struct entry {
    int n_dims;
    int64_t shape[3];
    dt_dtype dtype;
    const char *from[2], *to[2];
} entry;

static const entry entries[] = {
    {2, {7, 3}, DT_F32, {"S(0)", "S(0),R"}, {"R", "R,R"}},
    {2, {7, 3}, DT_F64, {"P(sum)", "P(sum),R"}, {"R", "R,R"}},
    {1, {5}, DT_F32, {"P(sum)", "P(sum),P(sum)"}, {"S(0)", "S(0),S(0)"}},
    {3, {4, 1, 6}, DT_BF16, {"S(0)", "S(0),S(2)"}, {"S(2)", "S(2),S(0)"}},
    {2, {300, 301}, DT_F32, {"P(sum)", "P(sum),S(1)"}, {"R", "R,S(1)"}}, /* in two phases */
    {0, {0}, DT_F64, {"P(max)", "P(max),R"}, {"R", "R,R"}},
    {2, {9, 5}, DT_I64, {"R", "R,R"}, {"S(1)", "S(1),R"}}, /* nothing moves */
    {2, {1, 5}, DT_F32, {"S(0)", "R,S(0)"}, {"S(1)", "S(1),R"}},
    {2, {9, 5}, DT_F32, {"S(1)", "S(1),P(avg)"}, {"S(1)", "S(1),R"}},
    {2, {0, 5}, DT_F32, {"S(0)", "S(0),R"}, {"R", "R,R"}},
    {2, {8, 6}, DT_C64, {"_S(0,2)", "_S(0,2),S(0)"}, {"S(1)", "S(1),R"}},
};
enum { N = sizeof entries / sizeof *entries };

/* Values that differ by rank where they are partial, and do not where they are not. */
static dt_tensor *make(dt_ctx *ctx, dt_mesh *mesh, const entry *of, const char *place, int number) {
    dt_tensor *full = calls_counting(ctx, of->dtype, (dt_shape){of->n_dims, of->shape}, number, 1);
    dt_tensor *tensor = NULL;
    if (!strstr(place, "P("))
        return dt_distribute_tensor(full, mesh, place, .everywhere = true);
    dt_spec *spec =
        full ? dt_spec_new(
                   mesh, &(dt_spec_desc){.dtype = of->dtype, .n_dims = of->n_dims, .shape = of->shape, .text = place})
             : NULL;
    tensor = spec ? dt__tensor_of_spec(spec) : NULL;
    for (int64_t i = 0; tensor && i < dt_tensor_local_elements(tensor); i++)
        calls_set_element(tensor, i, (double)((i + number) % 50) + (double)dt_rank(ctx));
    dt_spec_release(spec);
    return tensor;
}

static bool same_elements(const dt_tensor *a, const dt_tensor *b) {
    return a && b && a->spec == b->spec &&
           (!a->data || !memcmp(a->data, b->data, (size_t)dt_tensor_local_elements(a) * dt_dtype_size(a->dtype)));
}

static int check_equal(dt_ctx *ctx, void *arg) {
    const int64_t *shape = arg, sizes[2] = {shape[0], shape[1]};
    int two = shape[1] > 0;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, sizes, two ? 2 : 1, NULL);
    dt_tensor *tensors[N], *results[N], *alone[N];
    const char *places[N];
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < N; i++) {
            tensors[i] = make(ctx, mesh, &entries[i], entries[i].from[two], i);
            places[i] = entries[i].to[two];
            CHECK(tensors[i], "%d: %s", i, dt_error_text(ctx));
        }
        dt__redistribute_stats start = dt__redistribute_statistics(ctx);
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        for (int i = 0; i < N; i++) {
            alone[i] = dt_redistribute(tensors[i], places[i]);
            CHECK(alone[i], "%d: %s", i, dt_error_text(ctx));
        }
        dt__redistribute_stats before = dt__redistribute_statistics(ctx);
        int64_t counted = dt_comm_stats(ctx, &(dt_comm_filter){0}).bytes;
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK_OK(ctx, dt_redistribute_list(((dt_tensors){N, tensors}), places, results));
        dt__redistribute_stats after = dt__redistribute_statistics(ctx);
        dt_comm_stats_end(ctx);
        CHECK(dt_comm_stats(ctx, &(dt_comm_filter){0}).bytes == counted, "%lld bytes, alone %lld",
              (long long)dt_comm_stats(ctx, &(dt_comm_filter){0}).bytes, (long long)counted);
        for (int i = 0; i < N; i++)
            CHECK(same_elements(alone[i], results[i]), "tensor %d", i);
        CHECK(after.bytes_received - before.bytes_received == before.bytes_received - start.bytes_received,
              "%lld bytes, alone %lld", (long long)(after.bytes_received - before.bytes_received),
              (long long)(before.bytes_received - start.bytes_received));
        CHECK(dt__has_nodes(ctx) || after.n_exchanges - before.n_exchanges == (dt_world(ctx) > 1), "%lld exchanges",
              (long long)(after.n_exchanges - before.n_exchanges));
        CHECK(after.n_runs - before.n_runs == before.n_runs - start.n_runs, "runs");
        for (int kind = DT__STEP_NONE + 1; kind < DT__N_STEP_KINDS; kind++)
            CHECK(after.collectives[kind] - before.collectives[kind] <=
                      before.collectives[kind] - start.collectives[kind],
                  "collectives of kind %d", kind);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void list__moves_what_each_tensor_would(void **state) {
    (void)state;
    static const int64_t meshes[][2] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {2, 2}, {3, 2}, {1, 3}};
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
        run_ranks(meshes[i][0] * (meshes[i][1] ? meshes[i][1] : 1), check_equal, (void *)meshes[i]);
}

/* One collective over the same mesh dims counts once; others, and other mesh dims, count separately. */
static int check_counts(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2");
    dt_tensor *tensors[6], *results[6];
    static const char *const from[] = {"P(sum),R", "P(sum),R", "R,P(sum)", "P(sum),P(sum)", "S(0),R", "S(0),R"};
    static const char *const to[] = {"R,R", "R,R", "R,R", "R,R", "R,R", "S(1),R"};
    for (int i = 0; i < 6; i++)
        tensors[i] = make(ctx, mesh, &(entry){2, {6, 4}, DT_F32, {NULL}, {NULL}}, from[i], i);
    dt__redistribute_stats before = dt__redistribute_statistics(ctx);
    CHECK_OK(ctx, dt_redistribute_list(((dt_tensors){6, tensors}), to, results));
    CHECK(!strcmp(calls_collectives(ctx, &before), "all_gather 1, all_reduce 3, all_to_all 1"), "%s",
          calls_collectives(ctx, &before));
    CHECK(dt__has_nodes(ctx) || dt__redistribute_statistics(ctx).n_exchanges - before.n_exchanges == 1, "exchanges");
    dt_mesh_release(mesh);
    return 0;
}

static void list__counts_a_collective_once(void **state) {
    (void)state;
    run_ranks(4, check_counts, NULL);
}

/* Ranks 0 and 1, ranks 1 and 2, and all of them. */
static int check_meshes(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t ranks[2][2] = {{0, 1}, {1, 2}}, two = 2, three = 3;
    dt_mesh *meshes[3] = {dt_mesh_from_ranks(ctx, ranks[0], &two, 1, NULL),
                          dt_mesh_from_ranks(ctx, ranks[1], &two, 1, NULL), dt_mesh_from_shape(ctx, &three, 1, NULL)};
    for (int again = 0; again < 2; again++) {
        dt_tensor *tensors[9], *results[9];
        const char *places[9];
        for (int i = 0; i < 9; i++) {
            const entry *of = &(entry){2, {5, 3 + i}, DT_F32, {NULL}, {NULL}};
            tensors[i] = make(ctx, meshes[i % 3], of, i % 2 ? "P(sum)" : "S(0)", i);
            places[i] = "R";
        }
        dt__redistribute_stats before = dt__redistribute_statistics(ctx);
        CHECK_OK(ctx, dt_redistribute_list(((dt_tensors){9, tensors}), places, results));
        int64_t n = dt__redistribute_statistics(ctx).n_exchanges - before.n_exchanges;
        CHECK(dt__has_nodes(ctx) || n == (dt_rank(ctx) == 1 ? 3 : 2), "%lld exchanges", (long long)n);
        for (int i = 0; i < 9; i++)
            CHECK(same_elements(dt_redistribute(tensors[i], "R"), results[i]), "tensor %d", i);
    }
    for (int i = 0; i < 3; i++)
        dt_mesh_release(meshes[i]);
    return 0;
}

static void list__takes_one_exchange_per_mesh(void **state) {
    (void)state;
    run_ranks(3, check_meshes, NULL);
}

/* Memory outside the heap, and views that are not dense. */
static int check_memory(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    static _Thread_local float own[12];
    for (int i = 0; i < 12; i++)
        own[i] = (float)(i + 100 * (int)dt_rank(ctx));
    dt_tensor *borrowed = dt_borrow(ctx, own, DT_SHAPE(4, 3), DT_F32);
    dt_tensor *wide = calls_counting(ctx, DT_F32, DT_SHAPE(6, 4), (double)dt_rank(ctx), 1);
    dt_tensor *tensors[3] = {dt_from_local(ctx, borrowed, mesh, "S(0)"),
                             dt_from_local(ctx, dt_transpose(wide, 0, 1), mesh, "P(sum)"),
                             dt_from_local(ctx, dt_slice(wide, 1, 1, 4, 2), mesh, "S(1)")};
    static const char *const places[3] = {"R", "R", "S(0)"};
    dt_tensor *results[3];
    CHECK_OK(ctx, dt_redistribute_list(((dt_tensors){3, tensors}), places, results));
    for (int i = 0; i < 3; i++)
        CHECK(same_elements(dt_redistribute(tensors[i], places[i]), results[i]), "tensor %d", i);
    dt_mesh_release(mesh);
    return 0;
}

static void list__reads_any_memory(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, check_memory, NULL);
}

static int check_errors(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *a = make(ctx, mesh, &entries[0], "S(0)", 1), *plain = dt_ones(ctx, DT_SHAPE(3)), *results[2];
    static const struct {
        int second; /* a tensor, a plain one, NULL */
        const char *place, *error;
    } cases[] = {
        {0, "S(5)", "S(5)"},
        {0, "P(max)", "P(max)"},
        {0, NULL, "placements 2: expected a text, got NULL"},
        {1, "R", "tensor 2 is plain"},
        {2, "R", "tensor 2 is NULL"},
    };
    size_t live = dt_heap_stats(ctx).live_bytes;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t before = dt__redistribute_statistics(ctx).n_exchanges;
        results[0] = results[1] = a;
        dt_tensor *list[2] = {a, cases[i].second == 0 ? a : cases[i].second == 1 ? plain : NULL};
        const char *places[2] = {"R", cases[i].place};
        CHECK(dt_redistribute_list(((dt_tensors){2, list}), places, results) != DT_OK, "case %zu", i);
        CHECK(strstr(dt_error_text(ctx), cases[i].error), "%s", dt_error_text(ctx));
        CHECK(!results[0] && !results[1], "results of case %zu", i);
        CHECK(dt__redistribute_statistics(ctx).n_exchanges == before, "nothing moves");
        CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK(dt_heap_stats(ctx).live_bytes == live, "case %zu: %zu bytes before, %zu after", i, live,
              dt_heap_stats(ctx).live_bytes);
    }
    CHECK_OK(ctx, dt_redistribute_list(((dt_tensors){0, NULL}), NULL, NULL));
    dt_mesh_release(mesh);
    return 0;
}

static void list__with_an_error_moves_nothing(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, check_errors, NULL);
}

/* Rank 1 passes another placement; then another number of tensors. */
static int check_mismatch(dt_ctx *ctx, void *arg) {
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    bool other = dt_rank(ctx) == 1;
    dt_tensor *list[3], *results[3];
    for (int i = 0; i < 3; i++)
        list[i] = make(ctx, mesh, &entries[0], "S(0)", i);
    const char *places[3] = {"R", other && *(int *)arg == 0 ? "S(1)" : "R", "R"};
    dt_status status = dt_redistribute_list(((dt_tensors){other && *(int *)arg == 1 ? 2 : 3, list}), places, results);
    CHECK(status != DT_OK && !results[0] && !results[1], "expected an error");
    CHECK(strstr(dt_error_text(ctx), "redistribute"), "%s", dt_error_text(ctx));
    (void)dt_error_clear(ctx);
    static const char *const all[3] = {"R", "R", "R"};
    CHECK_OK(ctx, dt_redistribute_list(((dt_tensors){3, list}), all, results));
    dt_mesh_release(mesh);
    return 0;
}

static void list__that_differs_between_ranks_is_an_error(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        run_ranks(3, check_mismatch, &kind);
}

/* Rank 0 has a spec of one of the tensors on an equal mesh, which that tensor then has, too. */
static int check_equal_meshes(dt_ctx *ctx, void *arg) {
    (void)arg;
    const int64_t n = dt_world(ctx), shapes[2][1] = {{5}, {7}};
    dt_mesh *first = dt_mesh_from_shape(ctx, &n, 1, NULL), *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_spec_desc desc = {.dtype = DT_F32, .n_dims = 1, .shape = shapes[0], .text = "S(0)"};
    dt_spec *held = dt_rank(ctx) == 0 ? dt_spec_new(first, &desc) : NULL;
    dt_tensor *list[2], *results[2];
    for (int i = 0; i < 2; i++)
        list[i] = dt_ones(ctx, ((dt_shape){1, shapes[i]}), .mesh = mesh, .place = "S(0)");
    CHECK_OK(ctx, dt_redistribute_list(((dt_tensors){2, list}), ((const char *const[]){"R", "R"}), results));
    for (int i = 0; i < 2; i++)
        CHECK(dt_tensor_local_elements(results[i]) == shapes[i][0], "the full tensor");
    dt_spec_release(held);
    dt_mesh_release(first);
    dt_mesh_release(mesh);
    return 0;
}

static void list__of_equal_meshes_takes_one_exchange_on_all_ranks(void **state) {
    (void)state;
    run_ranks(3, check_equal_meshes, NULL);
}

/* A world that does not exist: the same counts, and no data. */
static void list__is_counted_without_data(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 4096, .rank = 7});
    assert_non_null(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=64,tp=64");
    dt_tensor *list[3], *results[3];
    static const char *const places[3] = {"R,S(0)", "R,R", "S(0),R"};
    for (int i = 0; i < 3; i++) {
        dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){.dtype = DT_F32,
                                                          .n_dims = 2,
                                                          .shape = (int64_t[]){512, 64},
                                                          .text = i == 0 ? "P(sum),S(0)" : "P(sum),R"});
        list[i] = dt__tensor_of_spec(spec);
        dt_spec_release(spec);
    }
    dt__redistribute_stats before = dt__redistribute_statistics(ctx);
    assert_int_equal(dt_redistribute_list(((dt_tensors){3, list}), places, results), DT_OK);
    assert_string_equal(calls_collectives(ctx, &before), "all_reduce 1, reduce_scatter 1");
    assert_int_equal(dt__redistribute_statistics(ctx).n_exchanges - before.n_exchanges, 1);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list__moves_what_each_tensor_would),
        cmocka_unit_test(list__counts_a_collective_once),
        cmocka_unit_test(list__takes_one_exchange_per_mesh),
        cmocka_unit_test(list__reads_any_memory),
        cmocka_unit_test(list__with_an_error_moves_nothing),
        cmocka_unit_test(list__that_differs_between_ranks_is_an_error),
        cmocka_unit_test(list__of_equal_meshes_takes_one_exchange_on_all_ranks),
        cmocka_unit_test(list__is_counted_without_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
