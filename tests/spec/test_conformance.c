/* SPDX-License-Identifier: Apache-2.0
 *
 * Local shapes, offsets, strided shards, shard orders and predicates, with the numbers of the conformance pages.
 */
#include "spec/brute.h"

#include "spec/spec.h"

typedef struct fixture {
    dt_ctx *ctx;
    dt__arena arena;
} fixture;

static int set_up(void **state) {
    fixture *f = malloc(sizeof *f);
    if (!f)
        return -1;
    f->ctx = dt__ctx_new(NULL);
    f->arena = dt__arena_new(f->ctx);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    dt__arena_free(&f->arena);
    dt__ctx_free(f->ctx);
    free(f);
    return 0;
}

#define LIST(...)                                                                                                    \
    (const int64_t[]) { __VA_ARGS__ }

/* A sharding from its text; n_mesh_dims follows from it. */
static dt__sharding sharding_of(fixture *f, const int64_t *mesh, int n_dims, const int64_t *shape, const char *text) {
    int n;
    dt_placement *placements;
    dt__sharding sharding;
    if (dt__placements_parse(&f->arena, text, &n, &placements) != DT_OK)
        fail_msg("%s: %s", text, dt_error_text(f->ctx));
    dt__sharding_desc desc = {n, mesh, n_dims, shape, n, placements};
    if (dt__sharding_new(&f->arena, &desc, &sharding) != DT_OK)
        fail_msg("%s: %s", text, dt_error_text(f->ctx));
    return sharding;
}

/* Dim 0 has this size and offset at the coordinate; other dims are not split. */
static void check_dim_0(const char *name, const dt__sharding *sharding, const int64_t *coordinate, int64_t size,
                        int64_t offset) {
    int64_t shape[BRUTE_MAX_DIMS], at[BRUTE_MAX_DIMS];
    dt__sharding_local(sharding, coordinate, shape, at);
    check_equal(name, shape[0], size);
    check_equal(name, at[0], offset);
    for (int d = 1; d < sharding->n_dims; d++) {
        check_equal(name, shape[d], sharding->shape[d]);
        check_equal(name, at[d], 0);
    }
}

/* The indices that a coordinate holds of a dim, in order. */
static void check_indices(const char *name, const dt__sharding *sharding, int dim, const int64_t *coordinate, int n,
                          const int64_t *expected) {
    dt__shard shard;
    dt__shard_at(sharding, dim, coordinate, &shard);
    check_equal(name, shard.size, n);
    for (int i = 0; i < n; i++)
        check_equal(name, dt__shard_to_global(&shard, i), expected[i]);
}

static void select_split__is_the_ceil_rule(void **state) {
    fixture *f = *state; /* PLT-004 */
    static const int64_t rows[][2] = {{16, 4}, {17, 4}, {15, 4}, {7, 4}, {3, 4}, {1, 4}, {8, 1}, {8, 8}, {8, 16}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int dim = 0; dim < 2; dim++) {
            int64_t shape[] = {5, 5}, n = rows[i][1], left = rows[i][0], chunk = (left + n - 1) / n;
            shape[dim] = left;
            dt__sharding sharding = sharding_of(f, &n, 2, shape, dim ? "S(1)" : "S(0)");
            for (int64_t r = 0; r < n; r++) {
                int64_t local[2], offset[2], expected = left < chunk ? left : chunk;
                dt__sharding_local(&sharding, &r, local, offset);
                check_equal("split", local[dim], expected);
                check_equal("split", offset[dim], rows[i][0] - left);
                check_equal("split", local[1 - dim], 5);
                left -= expected;
            }
        }
}

static void local_shape__uneven_strided_then_shard(void **state) {
    fixture *f = *state; /* UTL-001 */
    dt__sharding sharding = sharding_of(f, LIST(30, 8), 2, LIST(4096, 4096), "_S(0,8),S(0)");
    for (int64_t dp = 0; dp < 30; dp++)
        for (int64_t tp = 0; tp < 8; tp++)
            check_dim_0("_S(0,8),S(0)", &sharding, LIST(dp, tp),
                        dp < 28    ? 18
                        : dp == 28 ? 8
                                   : 0,
                        dp < 29 ? tp * 512 + 18 * dp : 4096);
}

static void local_shape__shard_then_shard(void **state) {
    fixture *f = *state; /* UTL-002, UTL-003 */
    dt__sharding a = sharding_of(f, LIST(4, 2), 2, LIST(18, 2), "S(0),S(0)");
    dt__sharding b = sharding_of(f, LIST(4, 2), 2, LIST(13, 2), "S(0),S(0)");
    for (int64_t dp = 0; dp < 3; dp++) {
        check_dim_0("18", &a, LIST(dp, 0), 3, 5 * dp);
        check_dim_0("18", &a, LIST(dp, 1), 2, 5 * dp + 3);
        check_dim_0("13", &b, LIST(dp, 0), 2, 4 * dp);
        check_dim_0("13", &b, LIST(dp, 1), 2, 4 * dp + 2);
    }
    check_dim_0("18", &a, LIST(3, 0), 2, 15);
    check_dim_0("18", &a, LIST(3, 1), 1, 17);
    check_dim_0("13", &b, LIST(3, 0), 1, 12);
    check_dim_0("13", &b, LIST(3, 1), 0, 13);
}

static void local_shape__strided_shards_of_all_kinds(void **state) {
    fixture *f = *state;
    dt__sharding a = sharding_of(f, LIST(4, 2), 2, LIST(18, 2), "_S(0,2),S(0)");    /* UTL-004 */
    dt__sharding b = sharding_of(f, LIST(4, 2), 2, LIST(39, 2), "_S(0,3),_S(0,4)"); /* UTL-005 */
    dt__sharding c = sharding_of(f, LIST(4, 2), 2, LIST(18, 2), "S(0),_S(0,2)");    /* UTL-006 */
    for (int64_t dp = 0; dp < 3; dp++) {
        for (int64_t tp = 0; tp < 2; tp++)
            check_dim_0("_S,S", &a, LIST(dp, tp), 3, tp * 9 + 3 * dp);
        check_dim_0("_S,_S", &b, LIST(dp, 0), 8, 4 * dp);
        check_dim_0("_S,_S", &b, LIST(dp, 1), 4, 4 * dp + 2);
        check_dim_0("S,_S", &c, LIST(dp, 0), 3, 5 * dp);
        check_dim_0("S,_S", &c, LIST(dp, 1), 2, 5 * dp + 2);
    }
    check_dim_0("_S,S", &a, LIST(3, 0), 0, 18);
    check_dim_0("_S,S", &a, LIST(3, 1), 0, 18);
    check_dim_0("_S,_S", &b, LIST(3, 0), 3, 12);
    check_dim_0("_S,_S", &b, LIST(3, 1), 0, 39);
    check_dim_0("S,_S", &c, LIST(3, 0), 2, 15);
    check_dim_0("S,_S", &c, LIST(3, 1), 1, 16);
}

static void local_shape__shard_strided_shard(void **state) {
    fixture *f = *state; /* UTL-007 */
    static const int64_t outer[2][3][2] = {{{2, 0}, {2, 2}, {2, 6}}, {{2, 3}, {2, 8}, {0, 39}}};
    static const int64_t last[2][3][2] = {{{2, 30}, {2, 32}, {1, 36}}, {{2, 33}, {2, 37}, {0, 39}}};
    dt__sharding sharding = sharding_of(f, LIST(4, 2, 3), 2, LIST(39, 2), "S(0),_S(0,2),S(0)");
    for (int64_t m0 = 0; m0 < 4; m0++)
        for (int64_t m1 = 0; m1 < 2; m1++)
            for (int64_t m2 = 0; m2 < 3; m2++) {
                const int64_t *expected = m0 < 3 ? outer[m1][m2] : last[m1][m2];
                check_dim_0("S,_S,S", &sharding, LIST(m0, m1, m2), expected[0],
                            m0 < 3 && expected[0] ? expected[1] + 10 * m0 : expected[1]);
            }
}

static void local_shape__is_a_slice_of_the_global_tensor(void **state) {
    fixture *f = *state; /* UTL-012, UTL-013: without strided shards, shape and offset determine the shard */
    const int64_t eight = 8;
    for (int64_t size = 0; size <= 16; size++) {
        dt__sharding sharded = sharding_of(f, &eight, 1, &size, "S(0)");
        dt__sharding replicated = sharding_of(f, &eight, 1, &size, "R");
        for (int64_t r = 0, next = 0; r < 8; r++) {
            int64_t chunk = (size + 7) / 8, expected = size - next < chunk ? size - next : chunk;
            check_dim_0("S(0)", &sharded, &r, expected, next);
            check_dim_0("R", &replicated, &r, size, 0);
            next += expected;
        }
    }
    static const char *const texts[] = {"S(0),S(0)", "S(0),S(1)", "S(0),R", "S(1),S(1)", "S(1),R", "R,R"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int64_t d0 = 1; d0 <= 8; d0++) {
            const int64_t shape[] = {d0, 64 / d0};
            dt__sharding sharding = sharding_of(f, LIST(2, 4), 2, shape, texts[i]);
            int held[64] = {0},
                copies = (texts[i][0] == 'R' ? 2 : 1) * (texts[i][strlen(texts[i]) - 1] == 'R' ? 4 : 1);
            for (int64_t r = 0; r < 8; r++) {
                int64_t local[2], offset[2];
                dt__sharding_local(&sharding, LIST(r / 4, r % 4), local, offset);
                for (int64_t e = 0; e < local[0] * local[1]; e++)
                    held[(offset[0] + e / local[1]) * shape[1] + offset[1] + e % local[1]]++;
            }
            for (int64_t e = 0; e < shape[0] * shape[1]; e++)
                check_equal(texts[i], held[e], copies);
        }
}

static void local_shape__data_and_tensor_parallel(void **state) {
    fixture *f = *state;
    dt__sharding u14 = sharding_of(f, LIST(2, 2, 2), 2, LIST(16, 16), "_S(0,2),S(0),S(0)");
    dt__sharding u15 = sharding_of(f, LIST(1, 2, 2, 2), 2, LIST(16, 16), "_S(0,2),_S(1,2),S(0),S(1)");
    dt__sharding u16 = sharding_of(f, LIST(1, 2, 2, 2), 2, LIST(16, 16), "_S(0,2),_S(1,2),S(0),S(0)");
    dt__sharding u17 = sharding_of(f, LIST(4, 2), 2, LIST(16, 2), "_S(0,2),S(0)");
    dt__sharding u19 = sharding_of(f, LIST(2, 2, 2), 2, LIST(8, 2), "R,_S(0,2),S(0)");
    for (int64_t r = 0; r < 8; r++) {
        int64_t a = r / 4, b = r / 2 % 2, c = r % 2, local[2], offset[2];
        check_dim_0("UTL-014", &u14, LIST(a, b, c), 2, 4 * a + 8 * b + 2 * c); /* UTL-014 */
        dt__sharding_local(&u15, LIST(0, a, b, c), local, offset);             /* UTL-015 */
        check_equal("UTL-015", local[0], 8);
        check_equal("UTL-015", local[1], 4);
        check_equal("UTL-015", offset[0], 8 * b);
        check_equal("UTL-015", offset[1], 8 * c + 4 * a);
        dt__sharding_local(&u16, LIST(0, a, b, c), local, offset); /* UTL-016 */
        check_equal("UTL-016", local[0], 4);
        check_equal("UTL-016", local[1], 8);
        check_equal("UTL-016", offset[0], 8 * b + 4 * c);
        check_equal("UTL-016", offset[1], 4 * a);
        check_dim_0("UTL-017", &u17, LIST(r / 2, c), 2, (c * 4 + r / 2) * 2); /* UTL-017 */
        check_dim_0("UTL-019", &u19, LIST(a, b, c), 2, (c * 2 + b) * 2);      /* UTL-019 */
    }
    static const int64_t sizes[] = {2, 2, 2, 2, 2, 2, 2, 1}, offsets[] = {0, 8, 2, 10, 4, 12, 6, 14};
    dt__sharding u18 = sharding_of(f, LIST(4, 2), 2, LIST(15, 5), "_S(0,2),S(0)");
    for (int64_t r = 0; r < 8; r++)
        check_dim_0("UTL-018", &u18, LIST(r / 2, r % 2), sizes[r], offsets[r]); /* UTL-018 */
}

static void fsdp_and_tensor_parallel__rows_by_rank(void **state) {
    fixture *f = *state; /* UTL-040, UTL-041: sizes and offsets; data is tested with redistribution */
    dt__sharding fsdp1 = sharding_of(f, LIST(2, 2), 2, LIST(4, 2), "S(0),S(0)");
    dt__sharding fsdp2 = sharding_of(f, LIST(2, 2), 2, LIST(4, 2), "_S(0,2),S(0)");
    for (int64_t r = 0; r < 4; r++) {
        check_dim_0("UTL-040", &fsdp1, LIST(r / 2, r % 2), 1, r);
        check_dim_0("UTL-041", &fsdp2, LIST(r / 2, r % 2), 1, r % 2 * 2 + r / 2);
    }
}

static void strided__holds_the_same_block_of_each_chunk(void **state) {
    fixture *f = *state;
    const int64_t four = 4, eight = 8;
    dt__sharding u24 = sharding_of(f, &four, 1, &eight, "_S(0,1)");
    dt__sharding u25 = sharding_of(f, &four, 1, &eight, "_S(0,2)");
    dt__sharding u26 = sharding_of(f, LIST(2, 2), 1, &eight, "_S(0,1),_S(0,1)");
    dt__sharding u27_row = sharding_of(f, LIST(2, 2), 1, &eight, "_S(0,2),R");
    dt__sharding u27 = sharding_of(f, LIST(2, 2), 1, &eight, "_S(0,2),_S(0,1)");
    dt__sharding u28_row = sharding_of(f, LIST(2, 2), 2, LIST(2, 4), "_S(1,2),R");
    dt__sharding u28 = sharding_of(f, LIST(2, 2), 2, LIST(2, 4), "_S(1,2),_S(1,1)");
    for (int64_t r = 0; r < 4; r++) {
        const int64_t *at = LIST(r / 2, r % 2);
        check_indices("UTL-024", &u24, 0, &r, 2, LIST(2 * r, 2 * r + 1)); /* UTL-024 */
        check_indices("UTL-025", &u25, 0, &r, 2, LIST(r, r + 4));         /* UTL-025 */
        check_indices("UTL-026", &u26, 0, at, 2, LIST(2 * r, 2 * r + 1)); /* UTL-026 */
        int64_t row = r / 2 * 2;
        check_indices("UTL-027", &u27_row, 0, at, 4, LIST(row, row + 1, row + 4, row + 5)); /* UTL-027 */
        int64_t first_index = row + r % 2 * 4;
        check_indices("UTL-027", &u27, 0, at, 2, LIST(first_index, first_index + 1));
        check_indices("UTL-028", &u28_row, 1, at, 2, LIST(r / 2, r / 2 + 2)); /* UTL-028 */
        check_indices("UTL-028", &u28, 1, at, 1, LIST(r / 2 + r % 2 * 2));
        check_indices("UTL-028", &u28, 0, at, 2, LIST(0, 1));
    }
}

/* Every index is held once, so that the shards can be gathered. */
static void check_gathers(const char *name, const dt__sharding *sharding, int dim, int64_t n_ranks, int64_t inner) {
    int held[256] = {0};
    for (int64_t r = 0; r < n_ranks; r++) {
        dt__shard shard;
        dt__shard_at(sharding, dim, LIST(r / inner, r % inner), &shard);
        for (int64_t i = 0; i < shard.size; i++)
            held[dt__shard_to_global(&shard, i)]++;
    }
    for (int64_t i = 0; i < sharding->shape[dim]; i++)
        check_equal(name, held[i], 1);
}

static void strided__uneven_sizes_can_be_gathered(void **state) {
    fixture *f = *state;
    static const int64_t sizes[] = {2, 3, 5, 11};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        dt__sharding sharding = sharding_of(f, LIST(2, 2), 2, LIST(1, sizes[i]), "_S(1,2),S(1)");
        check_gathers("UTL-029", &sharding, 1, 4, 2); /* UTL-029 */
    }
    for (int64_t factor = 2; factor <= 16; factor++) /* UTL-042, UTL-043 */
        for (int64_t size = 1; size < 200; size++) {
            brute_case c = {.n_mesh_dims = 1, .n_dims = 1, .mesh = {4}, .shape = {size}, .n_order = {1}};
            c.placements[0] = dt_placement_strided(0, factor);
            brute_name(&c);
            dt__arena_mark mark = dt__arena_begin(&f->arena);
            dt__sharding sharding = brute_sharding(&f->arena, &c);
            check_gathers(c.text, &sharding, 0, 4, 1);
            for (int64_t r = 0; r < 4; r++) {
                brute_list expected = brute_shard(&c, 0, &r);
                dt__shard shard;
                dt__shard_at(&sharding, 0, &r, &shard);
                check_equal(c.text, shard.size, expected.n);
                for (int i = 0; i < expected.n; i++)
                    check_equal(c.text, dt__shard_to_global(&shard, i), expected.items[i]);
            }
            dt__arena_rewind(&f->arena, mark);
        }
}

/* Both shardings assign the same indices of 32x32x32 to each rank of a 2x2x2x2x2 mesh. */
static void check_same_parts(const char *name, const dt__sharding *a, const dt__sharding *b) {
    for (int64_t r = 0; r < 32; r++)
        for (int d = 0; d < 3; d++) {
            dt__shard shard_a, shard_b;
            const int64_t *at = LIST(r >> 4, r >> 3 & 1, r >> 2 & 1, r >> 1 & 1, r & 1);
            dt__shard_at(a, d, at, &shard_a);
            dt__shard_at(b, d, at, &shard_b);
            check_equal(name, shard_a.size, shard_b.size);
            for (int64_t i = 0; i < shard_a.size; i++)
                check_equal(name, dt__shard_to_global(&shard_a, i), dt__shard_to_global(&shard_b, i));
        }
}

static bool split_same_dim(const dt_placement *a, const dt_placement *b) {
    return dt__is_cut(a) && dt__is_cut(b) && a->dim == b->dim;
}

/* A shard order as strided shards that split from left to right: the split factor of a mesh dim is the product of the
 * mesh dims to its right that split before it. */
static void order_to_strided(int n, const int64_t *mesh, const dt_placement *placements, dt_placement *out) {
    for (int m = 0; m < n; m++) {
        int64_t factor = 1;
        for (int right = m + 1; right < n; right++)
            if (split_same_dim(&placements[right], &placements[m]) &&
                placements[right].position < placements[m].position)
                factor *= mesh[right];
        out[m] = placements[m];
        if (placements[m].ordered)
            out[m] =
                factor == 1 ? dt_placement_shard(placements[m].dim) : dt_placement_strided(placements[m].dim, factor);
    }
}

static void check_order_round_trip(fixture *f, const dt_placement *ordered) {
    const int64_t mesh[] = {2, 2, 2, 2, 2}, shape[] = {32, 32, 32};
    dt_placement strided[5], back[5];
    char name[200];
    dt__sharding by_order, by_stride;
    dt__sharding_desc desc = {5, mesh, 3, shape, 5, ordered};
    dt__arena_mark mark = dt__arena_begin(&f->arena);
    dt_placements_text(5, ordered, sizeof name, name);
    assert_int_equal(dt__sharding_new(&f->arena, &desc, &by_order), DT_OK);
    order_to_strided(5, mesh, by_order.placements, strided);
    desc.placements = strided;
    assert_int_equal(dt__sharding_new(&f->arena, &desc, &by_stride), DT_OK);
    check_same_parts(name, &by_order, &by_stride);
    check_equal(name, dt__strided_to_order(5, mesh, by_stride.placements, back), true);
    for (int m = 0; m < 5; m++)
        check_equal(name, dt_placement_equal(&back[m], &by_order.placements[m]), true);
    dt__arena_rewind(&f->arena, mark);
}

/* Every permutation of the mesh dims, divided into segments, one per tensor dim: dims[i] is the tensor dim that the
 * i-th mesh dim of the permutation splits; dims never decreases. */
static int round_trip_segments(fixture *f, const int *permutation, int at, int dim, int *dims) {
    if (at == 5) {
        dt_placement placements[5];
        int position[3] = {0};
        for (int i = 0; i < 5; i++) {
            placements[permutation[i]] = dt_placement_shard(dims[i]);
            placements[permutation[i]].ordered = true;
            placements[permutation[i]].position = position[dims[i]]++;
        }
        check_order_round_trip(f, placements);
        return 1;
    }
    int n = 0;
    for (; dim < 3; dim++) {
        dims[at] = dim;
        n += round_trip_segments(f, permutation, at + 1, dim, dims);
    }
    return n;
}

static int round_trip_permutations(fixture *f, int *permutation, int at) {
    int n = 0, dims[5];
    if (at == 5)
        return round_trip_segments(f, permutation, 0, 0, dims);
    for (int i = at; i < 5; i++) {
        int first = permutation[at];
        permutation[at] = permutation[i];
        permutation[i] = first;
        n += round_trip_permutations(f, permutation, at + 1);
        permutation[i] = permutation[at];
        permutation[at] = first;
    }
    return n;
}

static void strided__expresses_every_shard_order(void **state) {
    fixture *f = *state; /* UTL-038, all 2520 of them */
    int permutation[] = {0, 1, 2, 3, 4};
    check_equal("orders", round_trip_permutations(f, permutation, 0), 2520);
}

static void strided__negative_dims_express_an_order(void **state) {
    fixture *f = *state; /* RED-041 */
    dt__sharding a = sharding_of(f, LIST(4, 2), 2, LIST(8, 4), "_S(-2,2),S(-2)");
    dt__sharding b = sharding_of(f, LIST(4, 2), 2, LIST(8, 4), "S(0)[1],S(0)[0]");
    dt_placement order[2];
    assert_true(dt__strided_to_order(2, a.mesh, a.placements, order));
    for (int m = 0; m < 2; m++)
        assert_true(dt_placement_equal(&order[m], &b.placements[m]));
    for (int64_t r = 0; r < 8; r++) {
        int64_t shape[2], offset[2];
        dt__sharding_local(&b, LIST(r / 2, r % 2), shape, offset);
        check_dim_0("RED-041", &a, LIST(r / 2, r % 2), shape[0], offset[0]);
    }
}

static void strided__that_is_no_order_is_not_converted(void **state) {
    fixture *f = *state; /* UTL-039, and strided shards that have an order of their own */
    static const char *const texts[] = {"_S(0,2),_S(1,2)", "_S(0,2),S(1)", "_S(1,16),S(1)", "_S(0,8)[1],S(0)[0]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        dt__sharding sharding = sharding_of(f, LIST(4, 8), 2, LIST(64, 64), texts[i]);
        dt_placement out[2] = {dt_placement_masked(), dt_placement_masked()};
        check_equal(texts[i], dt__strided_to_order(2, sharding.mesh, sharding.placements, out), false);
        check_equal(texts[i], out[0].kind, DT_PLACEMENT_MASKED);
    }
}

static void shards__even_and_uneven_ones_are_distinguished(void **state) {
    fixture *f = *state;
    static const struct {
        int64_t mesh[2], shape[2];
        const char *text;
        int n_dims;
        bool even;
    } rows[] = {
        {{4}, {8}, "S(0)", 1, true},                 /* UTL-050 */
        {{4}, {10}, "S(0)", 1, false},               /* UTL-050 */
        {{4, 2}, {16, 8}, "S(0),S(0)", 2, true},     /* UTL-050 */
        {{4, 2}, {16, 8}, "_S(0,3),S(0)", 2, false}, /* UTL-050 */
        {{4, 2}, {0, 8}, "R,S(0)", 2, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt__sharding sharding = sharding_of(f, rows[i].mesh, rows[i].n_dims, rows[i].shape, rows[i].text);
        check_equal(rows[i].text, dt__sharding_dim_is_even(&sharding, 0), rows[i].even);
    }
}

static void stride_order__is_by_descending_stride(void **state) {
    (void)state;
    int order[4];
    dt__stride_order_of(4, LIST(2, 1, 5, 6), LIST(30, 1, 6, 1), order); /* channels-last, of one channel */
    assert_memory_equal(order, ((int[]){0, 2, 3, 1}), sizeof order);
    dt__stride_order_of(4, LIST(2, 5, 2, 4), LIST(1, 8, 8, 2), order);
    assert_memory_equal(order, ((int[]){1, 2, 3, 0}), sizeof order);
    assert_true(dt__is_stride_order(4, order));
    assert_false(dt__is_stride_order(4, (int[]){0, 1, 1, 3}));
    assert_false(dt__is_stride_order(4, (int[]){0, 1, 4, 3}));
    assert_false(dt__is_stride_order(4, (int[]){0, 1, -1, 3}));
    int64_t strides[4];
    assert_true(dt__dense_strides(4, LIST(5, 0, 3, 2), order, strides)); /* size 0 counts as 1 */
    assert_memory_equal(strides, LIST(1, 30, 10, 5), sizeof strides);
    assert_false(dt__dense_strides(3, LIST(0, INT64_MAX, 2), (int[]){0, 1, 2}, strides));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(select_split__is_the_ceil_rule),
        TEST(local_shape__uneven_strided_then_shard),
        TEST(local_shape__shard_then_shard),
        TEST(local_shape__strided_shards_of_all_kinds),
        TEST(local_shape__shard_strided_shard),
        TEST(local_shape__is_a_slice_of_the_global_tensor),
        TEST(local_shape__data_and_tensor_parallel),
        TEST(fsdp_and_tensor_parallel__rows_by_rank),
        TEST(strided__holds_the_same_block_of_each_chunk),
        TEST(strided__uneven_sizes_can_be_gathered),
        TEST(strided__expresses_every_shard_order),
        TEST(strided__negative_dims_express_an_order),
        TEST(strided__that_is_no_order_is_not_converted),
        TEST(shards__even_and_uneven_ones_are_distinguished),
        TEST(stride_order__is_by_descending_stride),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
