/* SPDX-License-Identifier: Apache-2.0 */
#include "layout/layouts.h"

/* Every function that allocates; returns DT_OK or the first other status. */
static dt_status call_all_functions(dt_ctx *ctx, dt__arena *arena) {
    dt__layout a, b, c;
    dt_tuple tuple;
    bool injective;
    DT__TRY(dt__layout_parse(arena, "((4,(2,2)),(3,5)):((8,(1,4)),(160,32))", &a));
    DT__TRY(dt__layout_parse(arena, "(2,(2,(1,3)))", &b));
    DT__TRY(dt__layout_coalesce(arena, &a, &c));
    DT__TRY(dt__layout_flatten(arena, &a, &c));
    DT__TRY(dt__layout_composition(arena, &b, &b, &c));
    DT__TRY(dt__layout_complement(arena, &a, 1000, &c));
    DT__TRY(dt__layout_right_inverse(arena, &a, &c));
    DT__TRY(dt__layout_left_inverse(arena, &a, &c));
    DT__TRY(dt__layout_splice(arena, &a, 1, 2, &b, &c));
    DT__TRY(dt__layout_idx2crd(arena, &a, 17, &tuple));
    DT__TRY(dt__layout_is_injective(arena, &a, &injective));
    DT__TRY(dt__layout_parse(arena, "(3,2):(2,3)", &a));
    DT__TRY(dt__layout_is_injective(arena, &a, &injective));
    if (dt__layout_left_inverse(arena, &a, &c) != DT_ERR_VALUE) /* the text of the error is allocated, too */
        return DT_ERR_MEMORY;
    return dt_error_clear(ctx);
}

static bool call_in_an_arena(dt_ctx *ctx, void *user) {
    (void)user;
    dt__arena arena = dt__arena_new(ctx);
    dt_status status = call_all_functions(ctx, &arena);
    dt__arena_free(&arena);
    return status == DT_OK;
}

static void memory__every_allocation_may_fail(void **state) {
    (void)state;
    assert_in_range(assert_survives_failing_allocations(call_in_an_arena, NULL), 3, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
