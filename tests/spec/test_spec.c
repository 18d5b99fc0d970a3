/* SPDX-License-Identifier: Apache-2.0
 *
 * Specs: equal specs are one object, local shapes of this rank and of others, the text form, errors, and failing
 * allocations.
 */
#include "spec/brute.h"

#include "spec/spec.h"

/* A context that is a rank of a world without a transport. */
static dt_ctx *context_of(int64_t world, int64_t rank) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    ctx->world = world;
    ctx->rank = rank;
    return ctx;
}

#define SHAPE(...)                                                                                                   \
    (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { __VA_ARGS__ }

static dt_spec *spec_of(dt_mesh *mesh, const char *text, size_t n_dims, const int64_t *shape) {
    dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){.n_dims = (int)n_dims, .shape = shape, .text = text});
    if (!spec)
        fail_msg("%s: %s", text, dt_error_text(dt_mesh_ctx(mesh)));
    return spec;
}

static void spec__equal_specs_are_one_object(void **state) {
    (void)state;
    dt_ctx *ctx = context_of(8, 3);
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=4"), *again = dt_mesh_new(ctx, "dp=2,tp=4");
    assert_ptr_not_equal(mesh, again);
    dt_spec *a = spec_of(mesh, "S(0),S(1)", SHAPE(8, 6));
    dt_spec *b = spec_of(again, "S(-2)[0],S(1)", SHAPE(8, 6));
    dt_spec *c = spec_of(mesh, "S(0:4,4),S(1:2,2,2,0)", SHAPE(8, 6));
    dt_placement placements[] = {dt_placement_shard(0), dt_placement_shard(1)};
    dt_spec *d = dt_spec_new(mesh, &(dt_spec_desc){.n_dims = 2,
                                                   .shape = (int64_t[]){8, 6},
                                                   .n_placements = 2,
                                                   .placements = placements,
                                                   .stride_order = (int[]){0, 1}});
    assert_ptr_equal(a, b);
    assert_ptr_equal(a, c);
    assert_ptr_equal(a, d);
    assert_int_equal(a->n_refs, 4);
    dt_spec_release(b), dt_spec_release(c), dt_spec_release(d);
    dt_mesh_release(again), dt_mesh_release(mesh); /* the spec holds a reference */
    assert_int_equal(dt_mesh_size(dt_spec_mesh(a)), 8);
    dt_spec_release(a);
    dt__ctx_free(ctx);
}

static void spec__any_difference_makes_another_spec(void **state) {
    (void)state; /* SCH-001: a spec as the key of a cache distinguishes all of these */
    dt_ctx *ctx = context_of(8, 0);
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=4"), *renamed = dt_mesh_new(ctx, "dp=2,cp=4");
    dt_mesh *plain = dt_mesh_new(ctx, "2x4"), *reversed = dt_mesh_new(ctx, "dp,tp=[[4,5,6,7],[0,1,2,3]]");
    const struct {
        dt_mesh *mesh;
        dt_dtype dtype;
        const char *text;
        int64_t shape[2];
        int stride_order[2];
    } rows[] = {
        {mesh, DT_F32, "S(0),S(0)", {10, 6}, {0, 1}},    {mesh, DT_F64, "S(0),S(0)", {10, 6}, {0, 1}},
        {mesh, DT_F32, "S(0),R", {10, 6}, {0, 1}},       {mesh, DT_F32, "S(0)[1],S(0)[0]", {10, 6}, {0, 1}},
        {mesh, DT_F32, "_S(0,1),S(0)", {10, 6}, {0, 1}}, {mesh, DT_F32, "_S(0,2),S(0)", {10, 6}, {0, 1}},
        {mesh, DT_F32, "S(0:4,6),R", {10, 6}, {0, 1}},   {mesh, DT_F32, "S(0:6,4),R", {10, 6}, {0, 1}},
        {mesh, DT_F32, "S(0),P(sum)", {10, 6}, {0, 1}},  {mesh, DT_F32, "S(0),P(max)", {10, 6}, {0, 1}},
        {mesh, DT_F32, "S(0),P(mask)", {10, 6}, {0, 1}}, {mesh, DT_F32, "S(0),S(0)", {6, 10}, {0, 1}},
        {mesh, DT_F32, "S(0),S(0)", {10, 6}, {1, 0}},    {renamed, DT_F32, "S(0),S(0)", {10, 6}, {0, 1}},
        {plain, DT_F32, "S(0),S(0)", {10, 6}, {0, 1}},   {reversed, DT_F32, "S(0),S(0)", {10, 6}, {0, 1}},
    };
    enum { N = sizeof rows / sizeof *rows };
    dt_spec *specs[N];
    for (int i = 0; i < N; i++) {
        dt_spec_desc desc = {.dtype = rows[i].dtype,
                             .n_dims = 2,
                             .shape = rows[i].shape,
                             .text = rows[i].text,
                             .stride_order = rows[i].stride_order};
        specs[i] = dt_spec_new(rows[i].mesh, &desc);
        assert_non_null(specs[i]);
        for (int k = 0; k < i; k++) {
            assert_ptr_not_equal(specs[i], specs[k]);
            assert_true(dt_spec_id(specs[i]) != dt_spec_id(specs[k]));
            assert_true(dt_spec_fingerprint(specs[i]) != dt_spec_fingerprint(specs[k]));
        }
    }
    for (int i = 0; i < N; i++)
        dt_spec_release(specs[i]);
    dt__ctx_free(ctx); /* frees the meshes that are left */
}

static void spec__ids_are_never_reused(void **state) {
    (void)state; /* SCH-006: released specs leave nothing allocated */
    test_memory memory = {0};
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    ctx->freed_kept = 0; /* blocks are counted */
    dt_spec *kept = spec_of(mesh, "S(0)", SHAPE(7));
    uint64_t last = dt_spec_id(kept);
    assert_true(last >= 1);
    long live = 0;
    for (int i = 0; i < 100; i++) {
        dt_spec *spec = spec_of(mesh, "S(0)", SHAPE(8)), *same = dt_spec_retain(spec);
        assert_true(dt_spec_id(spec) > last);
        last = dt_spec_id(spec);
        dt_spec_release(spec);
        assert_int_equal(dt_spec_id(same), last);
        dt_spec_release(same);
        if (i == 0)
            live = memory.n_live;
        assert_int_equal(memory.n_live, live);
    }
    dt_spec_release(kept);
    dt_spec_release(NULL);
    assert_null(dt_spec_retain(NULL));
    dt_mesh_release(mesh);
    dt__ctx_free(ctx);
    assert_int_equal(memory.n_live, 0);
    assert_false(memory.wrong_size);
}

static void spec__same_mesh_for_another_rank_is_another_spec(void **state) {
    (void)state; /* within one context only tools do this, for ranks of other worlds */
    dt_ctx *ctx = context_of(2, 0);
    dt_mesh *first = dt_mesh_new(ctx, "2");
    dt_spec *a = spec_of(first, "S(0)", SHAPE(5));
    ctx->rank = 1;
    dt_mesh *second = dt_mesh_new(ctx, "2");
    assert_true(dt_mesh_equal(first, second));
    dt_spec *b = spec_of(second, "S(0)", SHAPE(5));
    assert_ptr_not_equal(a, b);
    assert_int_equal(dt_spec_fingerprint(a), dt_spec_fingerprint(b));
    assert_int_equal(dt_spec_local(a)->shape[0], 3);
    assert_int_equal(dt_spec_local(b)->shape[0], 2);
    dt__ctx_free(ctx);
}

static void spec__properties_are_derived(void **state) {
    (void)state;
    dt_ctx *ctx = context_of(12, 7); /* coordinate (1, 0, 1) */
    dt_mesh *mesh = dt_mesh_new(ctx, "a=2,b=3,c=2");
    dt_spec_desc desc = {.dtype = DT_BF16,
                         .n_dims = 3,
                         .shape = (int64_t[]){10, 5, 7},
                         .text = "S(1)[1],R,S(1)[0]",
                         .stride_order = (int[]){2, 0, 1}};
    dt_spec *spec = dt_spec_new(mesh, &desc);
    assert_non_null(spec);
    assert_ptr_equal(dt_spec_mesh(spec), mesh);
    assert_int_equal(dt_spec_dtype(spec), DT_BF16);
    assert_int_equal(dt_spec_n_dims(spec), 3);
    assert_memory_equal(dt_spec_shape(spec), desc.shape, 3 * sizeof(int64_t));
    assert_memory_equal(dt_spec_stride_order(spec), desc.stride_order, 3 * sizeof(int));
    assert_memory_equal(dt_spec_strides(spec), ((int64_t[]){5, 1, 50}), 3 * sizeof(int64_t));
    assert_int_equal(dt_spec_placements(spec)[0].position, 1);
    assert_int_equal(dt_spec_elements(spec), 350);
    assert_int_equal(dt_spec_bytes(spec), 700);
    assert_int_equal(dt_spec_n_shards(spec), 4);
    assert_int_equal(dt_spec_dim_shards(spec, 0), 1);
    assert_int_equal(dt_spec_dim_shards(spec, 1), 4);
    assert_int_equal(dt_spec_dim_shards(spec, 3), 0);
    assert_false(dt_spec_is_even(spec));
    assert_int_equal(dt_spec_max_bytes(spec), 10 * 2 * 7 * 2);
    int mesh_dims[DT_SPEC_MAX_DIMS];
    assert_int_equal(dt_spec_cut_order(spec, 1, mesh_dims), 2);
    assert_int_equal(mesh_dims[0], 2);
    assert_int_equal(mesh_dims[1], 0);
    assert_int_equal(dt_spec_cut_order(spec, 0, mesh_dims), 0);
    assert_int_equal(dt_spec_cut_order(spec, -1, mesh_dims), 0);
    /* c splits 5 into 3 and 2; a splits the 2 into 1 and 1: this rank holds index 4. */
    const dt_local *local = dt_spec_local(spec);
    assert_true(local->member);
    assert_int_equal(local->n_dims, 3);
    assert_memory_equal(local->shape, ((int64_t[]){10, 1, 7}), 3 * sizeof(int64_t));
    assert_memory_equal(local->offset, ((int64_t[]){0, 4, 0}), 3 * sizeof(int64_t));
    assert_memory_equal(local->strides, ((int64_t[]){1, 1, 10}), 3 * sizeof(int64_t));
    assert_int_equal(local->elements, 70);
    assert_int_equal(local->bytes, 140);
    dt_spec_release(spec);
    dt__ctx_free(ctx);
}

static void spec__a_tensor_without_dims(void **state) {
    (void)state;
    dt_ctx *ctx = context_of(4, 2);
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){.dtype = DT_F64, .text = "P(sum)"});
    assert_non_null(spec);
    assert_int_equal(dt_spec_elements(spec), 1);
    assert_int_equal(dt_spec_max_bytes(spec), 8);
    assert_int_equal(dt_spec_n_shards(spec), 1);
    assert_true(dt_spec_is_even(spec));
    assert_int_equal(dt_spec_local(spec)->n_dims, 0);
    assert_int_equal(dt_spec_local(spec)->elements, 1);
    int64_t owner[1];
    assert_true(dt_spec_owners(spec, NULL, owner));
    assert_int_equal(owner[0], -1);
    char text[60];
    dt_spec_text(spec, sizeof text, text);
    assert_string_equal(text, "f64[] P(sum) on mesh(4)");
    dt_spec_release(spec);
    dt__ctx_free(ctx);
}

static void check_rows(dt_spec *spec, const int64_t *rows, int n) {
    for (int rank = 0; rank < n; rank++) {
        dt_local local;
        dt_spec_local_of(spec, rank, &local);
        check_equal("rows", local.member, rows[rank] > 0);
        check_equal("rows", local.n_dims, rows[rank] > 0 ? 2 : 1);
        check_equal("rows", local.shape[0], rows[rank]);
        check_equal("rows", local.elements, rows[rank] * 3);
        check_equal("rows", local.bytes, rows[rank] * 12);
        if (rank == dt_rank(dt_mesh_ctx(dt_spec_mesh(spec))))
            check_equal("rows", dt_spec_local(spec)->shape[0], local.shape[0]);
    }
}

static void spec__ranks_outside_the_mesh_hold_an_empty_tensor(void **state) {
    (void)state; /* INI-006 */
    for (int rank = 0; rank < 4; rank++) {
        dt_ctx *ctx = context_of(4, rank);
        dt_mesh *two = dt_mesh_new(ctx, "[0,3]"), *three = dt_mesh_new(ctx, "[0,1,3]");
        dt_mesh *column = dt_mesh_new(ctx, "[[0],[3]]");
        dt_spec *a = spec_of(two, "S(0)", SHAPE(32, 3)), *b = spec_of(three, "S(0)", SHAPE(32, 3));
        dt_spec *c = spec_of(column, "S(0),S(1)", SHAPE(32, 3));
        check_rows(a, (int64_t[]){16, 0, 0, 16}, 4);
        check_rows(b, (int64_t[]){11, 11, 0, 10}, 4);
        check_rows(c, (int64_t[]){16, 0, 0, 16}, 4);
        assert_int_equal(dt_spec_elements(a), 96);
        dt_local outside;
        dt_spec_local_of(a, -1, &outside);
        assert_false(outside.member);
        dt_spec_local_of(a, 4, &outside);
        assert_false(outside.member);
        assert_int_equal(outside.strides[0], 1);
        assert_int_equal(outside.offset[0], 0);
        assert_false(dt_failed(ctx));
        dt__ctx_free(ctx);
    }
}

/* Random cases through the public calls: the shard of every rank, element by element. */
static void check_elements(const brute_case *c, dt_spec *spec, const int64_t *coordinate, const dt_local *local) {
    int64_t index[BRUTE_MAX_DIMS] = {0}, global[BRUTE_MAX_DIMS] = {0}, back[BRUTE_MAX_DIMS] = {0};
    int64_t owner[BRUTE_MAX_DIMS] = {0};
    brute_list lists[BRUTE_MAX_DIMS] = {0};
    for (int d = 0; d < c->n_dims; d++)
        lists[d] = brute_shard(c, d, coordinate);
    for (int64_t e = 0; e < local->elements; e++) {
        int64_t rest = e;
        for (int d = c->n_dims - 1; d >= 0; d--) {
            index[d] = rest % local->shape[d];
            rest /= local->shape[d];
        }
        check_equal(c->text, dt_spec_to_global(spec, coordinate, index, global), true);
        check_equal(c->text, dt_spec_to_local(spec, coordinate, global, back), true);
        check_equal(c->text, dt_spec_owners(spec, global, owner), true);
        for (int d = 0; d < c->n_dims; d++) {
            check_equal(c->text, global[d], lists[d].items[index[d]]);
            check_equal(c->text, back[d], index[d]);
        }
        for (int m = 0; m < c->n_mesh_dims; m++)
            check_equal(c->text, owner[m] == -1 || owner[m] == coordinate[m], true);
    }
}

static void check_spec_runs(const brute_case *c, dt_spec *spec, const int64_t *coordinate) {
    for (int d = 0; d < c->n_dims; d++) {
        brute_list list = brute_shard(c, d, coordinate);
        dt_run runs[3];
        int64_t from = 0, n;
        do {
            n = dt_spec_runs(spec, coordinate, d, from, 3, runs);
            for (int64_t i = 0; i < n; i++)
                for (int64_t at = runs[i].begin; at < runs[i].end; at++, from++)
                    check_equal(c->text, list.items[from], at);
        } while (n == 3);
        check_equal(c->text, from, list.n);
    }
}

static void spec__random_cases_agree_with_the_definition(void **state) {
    (void)state;
    uint64_t random = test_seed(6);
    for (int i = 0; i < 1500; i++) {
        brute_case c;
        brute_random_case(&random, 24, &c);
        int64_t world = brute_world(&c), rank = brute_below(&random, (int)world), max = 0;
        dt_ctx *ctx = context_of(world, rank);
        dt_mesh *mesh = dt_mesh_from_shape(ctx, c.mesh, c.n_mesh_dims, NULL);
        dt_spec_desc desc = {.dtype = DT_I16,
                             .n_dims = c.n_dims,
                             .shape = c.shape,
                             .n_placements = c.n_mesh_dims,
                             .placements = c.placements};
        dt_spec *spec = dt_spec_new(mesh, &desc);
        if (!spec)
            fail_msg("%s: %s", c.text, dt_error_text(ctx));
        for (int64_t r = 0; r < world; r++) {
            int64_t coordinate[BRUTE_MAX_DIMS] = {0};
            dt_local by_rank, local;
            brute_coordinate(&c, r, coordinate);
            dt_spec_local_of(spec, r, &by_rank);
            check_equal(c.text, dt_spec_local_at(spec, coordinate, &local), true);
            check_equal(c.text, local.elements, by_rank.elements);
            for (int d = 0; d < c.n_dims; d++) {
                check_equal(c.text, local.shape[d], by_rank.shape[d]);
                check_equal(c.text, local.offset[d], by_rank.offset[d]);
                if (r == rank)
                    check_equal(c.text, dt_spec_local(spec)->offset[d], local.offset[d]);
            }
            max = local.bytes > max ? local.bytes : max;
            check_elements(&c, spec, coordinate, &local);
            check_spec_runs(&c, spec, coordinate);
        }
        check_equal(c.text, dt_spec_max_bytes(spec), max);
        dt__ctx_free(ctx);
    }
}

static void spec__indices_out_of_range_are_reported(void **state) {
    (void)state;
    dt_ctx *ctx = context_of(4, 0);
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    dt_spec *spec = spec_of(mesh, "S(0)", SHAPE(6, 2));
    int64_t out[2];
    dt_local local;
    dt_run run;
    assert_true(dt_spec_to_global(spec, (int64_t[]){2}, (int64_t[]){1, 1}, out));
    assert_false(dt_spec_to_global(spec, (int64_t[]){2}, (int64_t[]){2, 0}, out));
    assert_false(dt_spec_to_global(spec, (int64_t[]){2}, (int64_t[]){0, -1}, out));
    assert_false(dt_spec_to_global(spec, (int64_t[]){4}, (int64_t[]){0, 0}, out));
    assert_false(dt_spec_to_local(spec, (int64_t[]){0}, (int64_t[]){2, 0}, out));
    assert_false(dt_spec_to_local(spec, (int64_t[]){0}, (int64_t[]){-1, 0}, out));
    assert_false(dt_spec_to_local(spec, (int64_t[]){0}, (int64_t[]){0, 2}, out));
    assert_false(dt_spec_to_local(spec, (int64_t[]){-1}, (int64_t[]){0, 0}, out));
    assert_false(dt_spec_owners(spec, (int64_t[]){6, 0}, out));
    assert_false(dt_spec_owners(spec, (int64_t[]){0, -1}, out));
    assert_false(dt_spec_local_at(spec, (int64_t[]){4}, &local));
    assert_int_equal(dt_spec_runs(spec, (int64_t[]){0}, 2, 0, 1, &run), -1);
    assert_int_equal(dt_spec_runs(spec, (int64_t[]){4}, 0, 0, 1, &run), -1);
    assert_int_equal(dt_spec_runs(spec, (int64_t[]){0}, 0, -1, 1, &run), -1);
    assert_int_equal(dt_spec_runs(spec, (int64_t[]){3}, 0, 0, 1, &run), 0);
    assert_false(dt_failed(ctx));
    dt__ctx_free(ctx);
}

/* The ranks that hold an element as hexadecimal digits, the first owner last: 0x31 for owners 1 and 3. */
static int64_t owner_ranks(const dt_spec *spec, const int64_t *element) {
    int64_t owner[DT_SPEC_MAX_DIMS], at = 0, rank = -1, digits = 0, digit = 1;
    assert_true(dt_spec_owners(spec, element, owner));
    for (; dt_spec_next_owner(spec, owner, &at, &rank); digit *= 16)
        digits += rank * digit;
    return digits;
}

static void spec__owners_are_enumerated_as_ranks(void **state) {
    (void)state;
    dt_ctx *ctx = context_of(8, 0);
    dt_mesh *mesh = dt_mesh_new(ctx, "dp,tp=[[7,5],[3,1]]");
    dt_spec *rows = spec_of(mesh, "S(0),R", SHAPE(4, 2)), *all = spec_of(mesh, "P(sum),R", SHAPE(4, 2));
    dt_spec *one = spec_of(mesh, "S(1),S(0)", SHAPE(4, 2));
    check_equal("owners", owner_ranks(rows, (int64_t[]){1, 1}), 0x57);
    check_equal("owners", owner_ranks(rows, (int64_t[]){2, 0}), 0x13);
    check_equal("owners", owner_ranks(all, (int64_t[]){2, 0}), 0x1357);
    check_equal("owners", owner_ranks(one, (int64_t[]){3, 0}), 5);
    dt__ctx_free(ctx);
}

static void spec__queries_of_null_return_defaults(void **state) {
    (void)state;
    char text[4] = "x";
    assert_null(dt_spec_new(NULL, NULL));
    assert_int_equal(dt_spec_id(NULL), 0);
    assert_int_equal(dt_spec_fingerprint(NULL), 0);
    assert_null(dt_spec_mesh(NULL));
    assert_int_equal(dt_spec_dtype(NULL), DT_NO_DTYPE);
    assert_int_equal(dt_spec_n_dims(NULL), 0);
    assert_null(dt_spec_shape(NULL));
    assert_null(dt_spec_placements(NULL));
    assert_null(dt_spec_stride_order(NULL));
    assert_null(dt_spec_strides(NULL));
    assert_null(dt_spec_local(NULL));
    assert_int_equal(dt_spec_elements(NULL) + dt_spec_bytes(NULL) + dt_spec_n_shards(NULL) + dt_spec_max_bytes(NULL),
                     0);
    assert_false(dt_spec_is_even(NULL));
    assert_int_equal(dt_spec_text(NULL, sizeof text, text), 0);
    assert_string_equal(text, "");
}

static void spec__text_is_parsed_as_the_same_spec(void **state) {
    (void)state;
    static const struct {
        const char *text, *normal;
    } rows[] = {
        {"f32[1024,512] S(0),R on mesh(dp=2,tp=4)", NULL},
        {"bool[3] P(sum),P(sum) on mesh(2x2)", NULL},
        {"i64[10] S(0:3,5,2) on mesh(tp=3)", NULL},
        {"bf16[8,4,2] major(2,0,1) S(0)[1],S(0)[0] on mesh(a=2,b=4)", NULL},
        {"u8[] R,R on mesh([[0,2],[1,3]])", NULL},
        {"f16[5] P(mask),R on mesh(dp,tp=[[0,2],[1,3]])", NULL},
        {"c128[0,7] _S(1,3),S(0)[0] on mesh(2x2)", "c128[0,7] _S(1,3),S(0) on mesh(2x2)"},
        {" f32[ 8 , 4 ]major(0,1)S(-1) ,R  on mesh (2x2) ", "f32[8,4] S(1),R on mesh(2x2)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt_ctx *ctx = context_of(8, 5);
        char text[100];
        const char *expected = rows[i].normal ? rows[i].normal : rows[i].text;
        dt_spec *spec = dt_spec_parse(ctx, rows[i].text);
        if (!spec)
            fail_msg("%s: %s", rows[i].text, dt_error_text(ctx));
        assert_int_equal(dt_spec_text(spec, sizeof text, text), strlen(expected));
        assert_string_equal(text, expected);
        dt_spec *again = dt_spec_parse(ctx, text);
        assert_ptr_equal(spec, again);
        dt_spec_release(spec), dt_spec_release(again);
        dt__ctx_free(ctx);
    }
}

static void spec__text_of_a_sub_mesh(void **state) {
    (void)state;
    dt_ctx *ctx = context_of(8, 5);
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=4"), *flat = dt_mesh_flatten(mesh, NULL);
    dt_mesh *slices[] = {dt_mesh_slice(mesh, "tp"), dt_mesh_slice(mesh, "dp"), flat};
    for (int i = 0; i < 3; i++) {
        char text[200];
        dt_spec *spec = spec_of(slices[i], "S(1)", SHAPE(3, 9));
        assert_in_range(dt_spec_text(spec, sizeof text, text), 20, sizeof text - 1);
        dt_spec *again = dt_spec_parse(ctx, text);
        if (!again)
            fail_msg("%s: %s", text, dt_error_text(ctx));
        assert_ptr_equal(spec, again);
        dt_spec_release(spec), dt_spec_release(again);
    }
    dt__ctx_free(ctx);
}

static void spec__errors_in_text_point_at_the_character(void **state) {
    (void)state;
    static const struct {
        const char *text;
        dt_status status;
        const char *message;
    } rows[] = {
        {"", DT_ERR_DTYPE, "column 1: expected a dtype"},
        {"f31[8] R on mesh(2)", DT_ERR_DTYPE, "column 1: expected a dtype"},
        {"f32 R on mesh(2)", DT_ERR_SHAPE, "column 5: expected '['"},
        {"f32[8;2] R on mesh(2)", DT_ERR_SHAPE, "column 6: expected ']'"},
        {"f32[-8] R on mesh(2)", DT_ERR_SHAPE, "column 5: expected a size"},
        {"f32[99999999999999999999] R on mesh(2)", DT_ERR_SHAPE, "column 5: a size must be from 0"},
        {"f32[8,4] major(1) R on mesh(2)", DT_ERR_SHAPE, "column 17: expected ','"},
        {"f32[8,4] major(1,2) R on mesh(2)", DT_ERR_SHAPE,
         "column 18: a dim of the stride order must be from 0 to 1"},
        {"f32[8,4] major(0,0) R on mesh(2)", DT_ERR_VALUE, "does not name each of the 2 dims once"},
        {"f32[8] X on mesh(2)", DT_ERR_PLACEMENT, "column 8: expected a placement"},
        {"f32[8] S(0) mesh(2)", DT_ERR_MESH, "column 13: expected 'on'"},
        {"f32[8] S(0) on 2", DT_ERR_MESH, "column 16: expected 'mesh'"},
        {"f32[8] S(0) on mesh 2", DT_ERR_MESH, "column 21: expected '('"},
        {"f32[8] S(0) on mesh(2", DT_ERR_MESH, "column 22: expected ')'"},
        {"f32[8] S(0) on mesh(2) x", DT_ERR_MESH, "column 25: expected ')'"},
        {"f32[8] S(0) on mesh(x2)", DT_ERR_MESH, ""},
        {"f32[8] S(1) on mesh(2)", DT_ERR_PLACEMENT, "expected -1 to 0, got 1"},
        {"f32[8] S(0),R on mesh(2)", DT_ERR_PLACEMENT, "expected 1, one per mesh dim, got 2"},
        {"f32[4611686018427387904] R on mesh(2)", DT_ERR_SHAPE, "more than 2^63 - 1 bytes"},
        {"f32[4611686018427387904,2] R on mesh(2)", DT_ERR_SHAPE, "more than 2^63 - 1 elements"},
        {"f32[0,4611686018427387904,2] R on mesh(2)", DT_ERR_SHAPE, "strides"},
        {"c64[8] P(max) on mesh(2)", DT_ERR_PLACEMENT, "c64 values cannot be reduced by max"},
        {"bool[8] P(avg) on mesh(2)", DT_ERR_PLACEMENT, "P(avg) on mesh dim 0: bool values cannot be reduced by avg"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt_ctx *ctx = context_of(8, 0);
        assert_null(dt_spec_parse(ctx, rows[i].text));
        assert_error_contains(ctx, rows[i].status, rows[i].message);
        dt__ctx_free(ctx);
    }
    dt_ctx *ctx = context_of(8, 0);
    assert_null(dt_spec_parse(ctx, NULL));
    assert_error_contains(ctx, DT_ERR_VALUE, "NULL");
    dt__ctx_free(ctx);
}

static void check_refused(const dt_spec_desc *desc, dt_status status, const char *message) {
    dt_ctx *ctx = context_of(2, 0);
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    assert_null(dt_spec_new(mesh, desc));
    assert_error_contains(ctx, status, message);
    dt__ctx_free(ctx);
}

static void spec__invalid_descriptions_are_refused(void **state) {
    (void)state;
    const int64_t shape[] = {8};
    const dt_placement shard = dt_placement_shard(0);
    check_refused(NULL, DT_ERR_VALUE, "the description is NULL");
    check_refused(&(dt_spec_desc){.n_dims = 1, .text = "R"}, DT_ERR_VALUE, "the shape is NULL");
    check_refused(&(dt_spec_desc){.n_dims = 1, .shape = shape, .n_placements = 1}, DT_ERR_VALUE,
                  "placements is NULL");
    check_refused(&(dt_spec_desc){.n_dims = 1, .shape = shape, .n_placements = 1, .placements = &shard, .text = "R"},
                  DT_ERR_VALUE, "set both as the text 'R' and as values");
    check_refused(&(dt_spec_desc){.n_dims = 1, .shape = shape}, DT_ERR_PLACEMENT,
                  "expected 1, one per mesh dim, got 0");
    check_refused(&(dt_spec_desc){.n_dims = 1, .shape = shape, .text = "R", .dtype = (dt_dtype)99}, DT_ERR_DTYPE,
                  "unknown dtype 99");
    check_refused(&(dt_spec_desc){.n_dims = -1, .shape = shape, .text = "R"}, DT_ERR_SHAPE,
                  "expected 0 to 32, got -1");
    check_refused(&(dt_spec_desc){.n_dims = 1, .shape = shape, .text = "R", .stride_order = (int[]){1}}, DT_ERR_VALUE,
                  "stride order");
}

/* A mesh may have more dims than a spec. */
static void spec__a_mesh_of_too_many_dims_is_refused(void **state) {
    (void)state;
    dt_ctx *ctx = context_of(1, 0);
    int64_t ones[DT_SPEC_MAX_DIMS + 1];
    dt_placement placements[DT_SPEC_MAX_DIMS + 1];
    for (int m = 0; m <= DT_SPEC_MAX_DIMS; m++) {
        ones[m] = 1;
        placements[m] = dt_placement_replicate();
    }
    dt_mesh *mesh = dt_mesh_from_shape(ctx, ones, DT_SPEC_MAX_DIMS + 1, NULL);
    assert_non_null(mesh);
    dt_spec_desc desc = {.n_placements = DT_SPEC_MAX_DIMS + 1, .placements = placements};
    assert_null(dt_spec_new(mesh, &desc));
    assert_error_contains(ctx, DT_ERR_MESH, "expected at most 32, got 33");
    dt__ctx_free(ctx);
}

static void spec__the_largest_tensor_is_exact(void **state) {
    (void)state;
    dt_ctx *ctx = context_of(7, 6);
    dt_mesh *mesh = dt_mesh_new(ctx, "7");
    dt_spec_desc desc = {.dtype = DT_U8, .n_dims = 1, .shape = (int64_t[]){INT64_MAX}, .text = "S(0)"};
    dt_spec *spec = dt_spec_new(mesh, &desc);
    assert_non_null(spec);
    assert_int_equal(dt_spec_bytes(spec), INT64_MAX);
    assert_int_equal(dt_spec_max_bytes(spec), INT64_MAX / 7);
    assert_int_equal(dt_spec_local(spec)->offset[0], INT64_MAX / 7 * 6);
    assert_true(dt_spec_is_even(spec)); /* 2^63 - 1 = 7 * 7 * 73 * 127 * 337 * 92737 * 649657 */
    dt_spec_release(spec);
    dt__ctx_free(ctx);
}

/* Every function that allocates, once; returns whether all calls succeeded. */
static bool call_all_functions(dt_ctx *ctx) {
    int n = 0;
    dt_placement *placements = dt_placements_parse(ctx, "S(0:3,4,1),S(1)", &n);
    dt_mesh *mesh = placements ? dt_mesh_new(ctx, "dp=3,tp=2") : NULL;
    dt_spec_desc desc = {.n_dims = 2, .shape = (int64_t[]){8, 5}, .n_placements = n, .placements = placements};
    dt_spec *spec = dt_spec_new(mesh, &desc), *same = spec ? dt_spec_new(mesh, &desc) : NULL;
    char text[100] = "";
    bool ok = spec && same == spec && dt_spec_text(spec, sizeof text, text) && !dt_failed(ctx);
    dt_spec *parsed = ok ? dt_spec_parse(ctx, text) : NULL;
    ok = ok && parsed == spec;
    dt_spec_release(parsed), dt_spec_release(same), dt_spec_release(spec);
    dt_mesh_release(mesh);
    dt_placements_free(ctx, placements);
    return ok;
}

/* After a failure the same calls succeed: the failed ones have left nothing incomplete. */
static bool call_again_after_a_failure(dt_ctx *ctx, void *user) {
    (void)user;
    ctx->world = 6;
    if (call_all_functions(ctx))
        return true;
    dt_status status = dt_error_status(ctx);
    dt_error_clear(ctx);
    assert_true(call_all_functions(ctx));
    dt_error_set(ctx, status, "the first time");
    return false;
}

static void spec__every_allocation_may_fail(void **state) {
    (void)state;
    assert_in_range(assert_survives_failing_allocations(call_again_after_a_failure, NULL), 3, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spec__equal_specs_are_one_object),
        cmocka_unit_test(spec__any_difference_makes_another_spec),
        cmocka_unit_test(spec__ids_are_never_reused),
        cmocka_unit_test(spec__same_mesh_for_another_rank_is_another_spec),
        cmocka_unit_test(spec__properties_are_derived),
        cmocka_unit_test(spec__a_tensor_without_dims),
        cmocka_unit_test(spec__ranks_outside_the_mesh_hold_an_empty_tensor),
        cmocka_unit_test(spec__random_cases_agree_with_the_definition),
        cmocka_unit_test(spec__indices_out_of_range_are_reported),
        cmocka_unit_test(spec__owners_are_enumerated_as_ranks),
        cmocka_unit_test(spec__queries_of_null_return_defaults),
        cmocka_unit_test(spec__text_is_parsed_as_the_same_spec),
        cmocka_unit_test(spec__text_of_a_sub_mesh),
        cmocka_unit_test(spec__errors_in_text_point_at_the_character),
        cmocka_unit_test(spec__invalid_descriptions_are_refused),
        cmocka_unit_test(spec__a_mesh_of_too_many_dims_is_refused),
        cmocka_unit_test(spec__the_largest_tensor_is_exact),
        cmocka_unit_test(spec__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
