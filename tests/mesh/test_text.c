/* SPDX-License-Identifier: Apache-2.0 */
#include "mesh/meshes.h"

static void text__round_trips(void **state) {
    (void)state;
    static const char *const texts[] = {
        "dp=2,tp=4",
        "2x4",
        "8",
        "x=1",
        "1x1x1",
        "[[0,1],[3,2]]",
        "[3,1,0]",
        "[[[5]],[[2]],[[7]]]",
        "dp,tp=[[0,1],[3,2]]",
        "only=[4,5,6,7]",
        "tp=4:1+4 of dp=2,tp=4",
        "dp=2:4+3 of dp=2,tp=4",
        "f=(2,2):(4,1)+2 of dp=2,cp=2,tp=2",
        "tp=2:1,dp=2:4 of dp=2,cp=2,tp=2",
        "one=1:0,tp=2:1+6 of dp=4,tp=2",
        "b=3:1+3 of a,b=[[5,1,4],[0,2,6]]",
        "dp=2,tp=4 on cuda",
        "tp=4:1 of dp=2,tp=4 on xpu",
        "übung=2,тест=4",
        "x-1=2,y.2=2",
        "a=(2,2,2):(1,2,4) of w=8",
    };
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 5);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, texts[i]));
        assert_string_equal(dt_mesh_text(mesh), texts[i]);
        assert_ptr_equal(dt_mesh_text(mesh), dt_mesh_text(mesh));
        dt_mesh *again = require(ctx, dt_mesh_new(ctx, dt_mesh_text(mesh)));
        assert_true(dt_mesh_equal(mesh, again));
        dt_mesh_release(again);
        dt_mesh_release(mesh);
    }
    world_end(&w);
}

/* Texts that are parsed as the same mesh, and the form in which it is printed. */
static void text__has_one_form(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"[[0,1],[2,3]]", "2x2"},
        {"dp,tp=[[0, 1], [2, 3]]", "dp=2,tp=2"},
        {"dp=2, tp=4", "dp=2,tp=4"},
        {"02x4", "2x4"},
        {"dp=2,tp=4 on cpu", "dp=2,tp=4"},
        {"f=(2,2):(2,1) of 8", "f=4:1 of 8"},
        {"f=(2,(1,2)):(2,(5,1))+0 of 8", "f=4:1 of 8"},
        {"[0]", "1"},
    };
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, cases[i][0]));
        assert_string_equal(dt_mesh_text(mesh), cases[i][1]);
        dt_mesh_release(mesh);
    }
    world_end(&w);
}

static void star__is_the_world_size_divided_by_the_other_sizes(void **state) {
    (void)state;
    static const struct {
        int64_t world;
        const char *text, *form;
    } cases[] = {
        {8, "dp=2,tp=*", "dp=2,tp=4"},
        {8, "dp=*,tp=2", "dp=4,tp=2"},
        {8, "dp=2,cp=*,tp=2", "dp=2,cp=2,tp=2"},
        {8, "2x*", "2x4"},
        {8, "*x2", "4x2"},
        {8, "2,*", "2x4"},
        {8, "*", "8"},
        {8, "all=*", "all=8"},
        {8, "8x*", "8x1"},
        {8, "dp=2,tp=* on cuda", "dp=2,tp=4 on cuda"},
        {8, "tp=4:1+4 of dp=2,tp=*", "tp=4:1+4 of dp=2,tp=4"},
        {8, "a*b=2,tp=*", "a*b=2,tp=4"},
        {7, "*", "7"},
        {7, "dp=1,tp=*", "dp=1,tp=7"},
        {7, "dp=7,tp=*", "dp=7,tp=1"},
        {5, "*x1", "5x1"},
        {3, "dp=*,tp=3", "dp=1,tp=3"},
        {1, "*", "1"},
        {1, "dp=*,tp=1", "dp=1,tp=1"},
        {1000000, "dp=64,tp=*", "dp=64,tp=15625"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world w;
        dt_ctx *ctx = world_begin(&w, cases[i].world, cases[i].world - 1);
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, cases[i].text));
        assert_string_equal(dt_mesh_text(mesh), cases[i].form);
        dt_mesh_release(mesh);
        world_end(&w);
    }
}

static void star__is_refused_where_no_size_fits(void **state) {
    (void)state;
    static const struct {
        int64_t world;
        const char *text, *message;
    } cases[] = {
        {8, "dp=3,tp=*",
         "mesh: column 9: '*' takes what is left of the world of 8 ranks: expected other sizes whose product divides "
         "it, got 3; start the program with dtrun -n 3, or a multiple of it (at "},
        {8, "dp=16,tp=*", "divides it, got 16"},
        {7, "a*b=2,tp=*", "column 10: '*' takes what is left of the world of 7 ranks"},
        {1, "2x*",
         "column 3: '*' takes what is left of the world of 1 rank: expected other sizes whose product divides it, "
         "got 2; start the "
         "program with dtrun -n 2"},
        {8, "dp=*,tp=*", "mesh: column 9: expected one '*', got a second one"},
        {8, "*x*", "column 3: expected one '*', got a second one"},
        {8, "4294967296x4294967296x*", "divides it, got 9223372036854775807 (at "},
        {8, "0x*", "expected"},
        {8, "[0,*]", "column 4: expected a number"},
        {8, "dp,tp=*", "column 7: expected '['"},
        {8, "dp=**", "column 5: expected the end"},
        {DT__ANY_WORLD, "dp=2,tp=*", "column 9: '*' takes what is left of the world, whose size is not known"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world w;
        dt_ctx *ctx = world_begin(&w, cases[i].world, 0);
        assert_refused(ctx, dt_mesh_new(ctx, cases[i].text), cases[i].message);
        world_end(&w);
    }
}

static void text__errors_point_at_the_character(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        dt_status status;
    } cases[] = {
        {"", "column 1: expected a name", DT_ERR_MESH},
        {"dp", "column 3: expected '=' or ','", DT_ERR_MESH},
        {"dp=", "mesh: column 4: expected a number or '('\n    dp=\n       ^", DT_ERR_VALUE},
        {"dp=2,", "mesh: column 6: expected a name\n    dp=2,\n         ^", DT_ERR_MESH},
        {"dp=2,tp", "column 8: expected '='", DT_ERR_MESH},
        {"dp=2;tp=4", "column 5: expected the end", DT_ERR_MESH},
        {"dp=2,tp=4x", "column 10: expected the end", DT_ERR_MESH},
        {"dp,tp=4", "column 7: expected '['", DT_ERR_MESH},
        {"dp=2,tp=[0,1]", "column 9: expected a number or '('", DT_ERR_VALUE},
        {"dp=2,tp=[[0,1],[2,3]]", "column 9: expected a number or '('", DT_ERR_VALUE},
        {"2x", "column 3: expected a number", DT_ERR_MESH},
        {"2xx4", "column 3: expected a number", DT_ERR_MESH},
        {"2*4", "column 2: expected the end", DT_ERR_MESH},
        {"-2x4", "column 5: expected '=' or ','", DT_ERR_MESH},
        {"[", "column 2: expected a number", DT_ERR_MESH},
        {"[]", "column 2: expected a number", DT_ERR_MESH},
        {"[0,1", "column 5: expected ',' or ']'", DT_ERR_MESH},
        {"[0,1]]", "column 6: expected the end", DT_ERR_MESH},
        {"[[0,1],[2]]", "column 8: expected a row as long as those before it", DT_ERR_MESH},
        {"[[0,1],2]", "column 8: expected '['", DT_ERR_MESH},
        {"[0,[1]]", "column 4: expected a number", DT_ERR_MESH},
        {"[0,-1]", "column 4: expected a number", DT_ERR_MESH},
        {"[0,99999999999999999999]", "column 4: a number must be from", DT_ERR_VALUE},
        {"dp=(2,2)", "column 4: expected a number", DT_ERR_MESH},
        {"dp=2:1", "column 7: expected ' of ' and the root", DT_ERR_MESH},
        {"dp=2:1 of ", "column 11: expected a name", DT_ERR_MESH},
        {"dp=2:1,tp=4 of 8", "column 12: expected strides for all sizes or for none", DT_ERR_MESH},
        {"dp=2:1 of tp=2:1 of 8", "column 17: expected the end", DT_ERR_MESH},
        {"dp=2:1 of tp=2:1", "column 11: expected a root", DT_ERR_MESH},
        {"dp=2:1+ of 8", "column 8: expected a number", DT_ERR_MESH},
        {"dp=2+1", "column 5: expected the end", DT_ERR_MESH},
        {"dp=2:(1) of 8", "do not nest alike", DT_ERR_SHAPE},
        {"dp=2,dp=4", "'dp' appears twice", DT_ERR_MESH},
        {"dp=2,2=4", "'2' is not a name", DT_ERR_MESH},
        {"dp=2 on cpu:0", "'cpu:0'", DT_ERR_MESH},
        {"dp=2 on ", "''", DT_ERR_MESH},
        {"3x3", "expected at least 9 ranks, got 8", DT_ERR_MESH},
        {"x=2:8 of 8", "is not a sub-mesh of it", DT_ERR_MESH},
        {"x=2:3 of 8", "is not a sub-mesh of it", DT_ERR_MESH},
        {"x=2:0 of 8", "is not a sub-mesh of it", DT_ERR_MESH},
        {"x=2:1,y=4:1 of 8", "is not a sub-mesh of it", DT_ERR_MESH},
        {"x=2:1+1 of 8", "is not a sub-mesh of it", DT_ERR_MESH},
        {"x=2:1+8 of 8", "is not a sub-mesh of it", DT_ERR_MESH},
        {"x=2:2,x=2:1 of 8", "'x' appears twice", DT_ERR_MESH},
        {"x=1:0,x=1:0 of 8", "'x' appears twice", DT_ERR_MESH},
    };
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_mesh *mesh = dt_mesh_new_site(ctx, cases[i].text, NULL);
        if (mesh)
            fail_msg("'%s': expected an error, got %s", cases[i].text, dt_mesh_text(mesh));
        assert_error_contains(ctx, cases[i].status, cases[i].message);
        dt_error_clear(ctx);
    }
    assert_refused(ctx, dt_mesh_new(ctx, NULL), "NULL");
    assert_null(dt_mesh_new(NULL, "2x4"));
    world_end(&w);
}

/* Texts that are longer or nested deeper than any mesh are errors. */
static void text__bounds_hold(void **state) {
    (void)state;
    enum { N = 200000 };
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 0);
    char *text = malloc(N + 1);
    static const struct {
        const char *unit, *message;
    } cases[] = {
        {"[", "column 65: expected at most 64 dims"},
        {"1x", "column 129: expected at most 64 dims"},
        {"a,", "column 129: expected at most 64 dims"},
        {"a=1,", "column 257: expected at most 64 dims"},
        {"a=1:0,", "column 385: expected at most 64 dims"},
        {"a=((((((", "column 67: a tuple may nest 64 levels deep, not more"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t unit = strlen(cases[i].unit);
        for (size_t k = 0; k < N; k++)
            text[k] = i == 5 && k >= 2 ? '(' : cases[i].unit[k % unit];
        text[N] = 0;
        assert_null(dt_mesh_new(ctx, text));
        assert_error_contains(ctx, i == 5 ? DT_ERR_VALUE : DT_ERR_MESH, cases[i].message);
        dt_error_clear(ctx);
    }
    free(text);
    world_end(&w);
}

static void text__of_dims_names_no_ranks(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 5);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "tp=4:1+4 of dp=2,tp=4")),
            *plain = require(ctx, dt_mesh_new(ctx, "2x2"));
    dt__text text = dt__text_new(ctx);
    dt__mesh_print_dims(&text, mesh);
    dt__text_add(&text, " ");
    dt__mesh_print_dims(&text, plain);
    assert_string_equal(dt__text_chars(&text), "mesh(tp=4) mesh(2x2)");
    dt__text_free(&text);
    dt_mesh_release(mesh);
    dt_mesh_release(plain);
    world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text__round_trips),
        cmocka_unit_test(text__has_one_form),
        cmocka_unit_test(star__is_the_world_size_divided_by_the_other_sizes),
        cmocka_unit_test(star__is_refused_where_no_size_fits),
        cmocka_unit_test(text__errors_point_at_the_character),
        cmocka_unit_test(text__bounds_hold),
        cmocka_unit_test(text__of_dims_names_no_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
