/* SPDX-License-Identifier: Apache-2.0
 *
 * Pull lists without ranks: sizes that are too large to move, shards of many runs, the ranks that are read from, and
 * failing allocations.
 */
#include "support/check.h"

#include "mesh/mesh.h"
#include "move/pull_list.h"

#include <string.h>

typedef struct fixture {
    dt_ctx *ctx;
    dt_spec *from, *to;
    dt__arena arena;
    dt__pull_list pulls;
} fixture;

struct move {
    int64_t mesh[2];
    int n_dims;
    int64_t shape[2];
    const char *from, *to;
};

static dt_spec *spec_of(dt_ctx *ctx, const struct move *move, int64_t rank, const char *placements) {
    int64_t world = move->mesh[0] * move->mesh[1];
    dt_mesh *mesh = dt__mesh_from_shape(ctx, (dt__mesh_self){world, rank}, move->mesh, 2, (dt__names){0}, NULL);
    dt_spec *spec = dt_spec_new(
        mesh, &(dt_spec_desc){.dtype = DT_F32, .n_dims = move->n_dims, .shape = move->shape, .text = placements});
    dt_mesh_release(mesh);
    return spec;
}

/* All mesh dims are marked as changed, so that all ranks are involved. */
static dt_status make_list(fixture *f, dt_ctx *ctx, const struct move *move, int64_t rank) {
    *f = (fixture){.ctx = ctx, .arena = dt__arena_new(ctx)};
    f->from = spec_of(ctx, move, rank, move->from);
    f->to = f->from ? spec_of(ctx, move, rank, move->to) : NULL;
    if (!f->to)
        return dt_error_status(ctx);
    dt__pull_request request = {
        .from = f->from, .to = f->to, .same_mesh = true, .changes = {true, true}, .rank = rank};
    DT__TRY(dt__pull_list_ranks(&f->arena, &request));
    return dt__pull_list_new(&f->arena, &request, &f->pulls);
}

static void free_list(fixture *f) {
    dt_spec_release(f->from);
    dt_spec_release(f->to);
    dt__arena_free(&f->arena);
}

static int64_t n_elements(const dt__pull_list *pulls) {
    int64_t n = 0;
    for (int64_t b = 0; b < pulls->n_blocks; b++)
        n += pulls->blocks[b].elements;
    return n;
}

static int64_t n_pieces(const dt__pull_list *pulls) {
    int64_t n = 0;
    for (int64_t b = 0; b < pulls->n_blocks; b++)
        for (int d = 0; d < pulls->n_dims; d++)
            n += pulls->blocks[b].n_pieces[d];
    return n;
}

static void check_list_of(const struct move *move, int64_t rank, void (*body)(const fixture *f)) {
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){0});
    fixture f;
    if (make_list(&f, ctx, move, rank) != DT_OK)
        fail_msg("%s", dt_error_text(ctx));
    body(&f);
    free_list(&f);
    dt__ctx_free(ctx);
}

static void check_huge(const fixture *f) {
    int64_t expected = dt_spec_local(f->to)->elements;
    assert_true(expected > (int64_t)1 << 40);
    assert_int_equal(n_elements(&f->pulls), expected);
}

static void pull_lists__of_huge_tensors_have_the_right_counts(void **state) {
    (void)state;
    check_list_of(&(struct move){{3, 2}, 2, {((int64_t)1 << 40) + 7, 1001}, "S(0),S(1)", "S(1),R"}, 4, check_huge);
    check_list_of(&(struct move){{3, 2}, 2, {((int64_t)1 << 50) + 7, 3}, "R,S(0)", "S(0),R"}, 1, check_huge);
}

static void check_n_pieces(const fixture *f) {
    assert_int_equal(n_elements(&f->pulls), dt_spec_local(f->to)->elements);
    assert_true(n_pieces(&f->pulls) <= 16);
}

static void pull_lists__of_strided_shards_have_few_pieces(void **state) {
    (void)state;
    check_list_of(&(struct move){{2, 1}, 1, {1 << 16, 0}, "_S(0,4096),R", "S(0),R"}, 0, check_n_pieces);
    check_list_of(&(struct move){{2, 1}, 1, {1 << 16, 0}, "S(0),R", "_S(0,4096),R"}, 1, check_n_pieces);
    check_list_of(&(struct move){{2, 2}, 1, {(1 << 16) + 3, 0}, "_S(0,64),S(0)", "R,R"}, 1, check_n_pieces);
}

/* Two phases: the portions of all replicas together are the shard, and this rank's blocks are its portion. */
static void check_portions(const fixture *f) {
    const dt_local *local = dt_spec_local(f->to);
    const dt__pull_list *pulls = &f->pulls;
    int64_t n_others = 0;
    assert_true(pulls->two_phases);
    assert_int_equal(pulls->n_sources, 4);
    for (int64_t i = 0; i < pulls->n_portions; i++)
        n_others += pulls->portions[i].size;
    int64_t per_index = local->elements / local->shape[pulls->portion_dim];
    assert_int_equal(n_others * per_index + n_elements(pulls), local->elements);
}

static void pull_lists__in_two_phases_divide_the_shard(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 8; rank++) {
        check_list_of(&(struct move){{4, 2}, 2, {1001, 64}, "P(sum),S(0)", "R,S(1)"}, rank, check_portions);
        check_list_of(&(struct move){{4, 2}, 2, {3, 6400}, "P(sum),S(0)", "R,R"}, rank, check_portions);
    }
}

/* Elements that several ranks hold are read from each of them equally often. */
static void pull_lists__spread_over_the_holders(void **state) {
    (void)state;
    const struct move move = {{4, 2}, 2, {8, 64}, "R,S(0)", "S(1),R"};
    int64_t reads[8] = {0};
    for (int64_t rank = 0; rank < 8; rank++) {
        dt_ctx *ctx = dt__ctx_new(&(dt_init_options){0});
        fixture f;
        assert_int_equal(make_list(&f, ctx, &move, rank), DT_OK);
        for (int64_t b = 0; b < f.pulls.n_blocks; b++)
            reads[f.pulls.blocks[b].members[0]] += f.pulls.blocks[b].elements;
        free_list(&f);
        dt__ctx_free(ctx);
    }
    for (int rank = 1; rank < 8; rank++)
        assert_int_equal(reads[rank], reads[0]);
}

static bool make_and_free(dt_ctx *ctx, void *user) {
    fixture f;
    dt_status status = make_list(&f, ctx, user, 2);
    free_list(&f);
    return status == DT_OK;
}

static void pull_lists__survive_failing_allocations(void **state) {
    (void)state;
    struct move moves[] = {{{4, 2}, 2, {1001, 64}, "P(sum),S(0)", "R,S(1)"},
                           {{4, 2}, 2, {30, 40}, "_S(0,2),S(0)", "S(1),S(0)"}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        assert_true(assert_survives_failing_allocations(make_and_free, &moves[i]) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pull_lists__of_huge_tensors_have_the_right_counts),
        cmocka_unit_test(pull_lists__of_strided_shards_have_few_pieces),
        cmocka_unit_test(pull_lists__in_two_phases_divide_the_shard),
        cmocka_unit_test(pull_lists__spread_over_the_holders),
        cmocka_unit_test(pull_lists__survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
