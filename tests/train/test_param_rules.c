/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules that place parameters: patterns, the text form and its errors, what they decide about shapes on meshes, rules
 * without effect. No ranks.
 */
#include "support/check.h"

#include "train/param_rules.h"

#include <stdio.h>
#include <string.h>

static dt_ctx *context_of(int64_t world) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    ctx->world = world;
    return ctx;
}

static void pattern__matches_names(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"*", "a.b", true},
        {"*", "", true},
        {"a.b", "a.b", true},
        {"a.b", "a.bc", false},
        {"a?b", "a.b", true},
        {"a?b", "ab", false},
        {"*.w[qkv].*", "h.0.attn.wq.weight", true},
        {"*.w[qkv].*", "h.0.attn.wo.weight", false},
        {"h.[0-3].*", "h.3.x", true},
        {"h.[0-3].*", "h.4.x", false},
        {"h.[0-35].*", "h.5.x", true},
        {"[a-]", "-", true},
        {"*a*b*c", "xaybzc", true},
        {"*a*b*c", "xaybz", false},
        {"*.bias", "bias", false},
        {"**", "x", true},
        {"*aaa", "aaaaaaa", true},
        {"net[1-2]", "net2", true}, /* TPA-008 */
        {"net?", "net1", true},
        {"layers.*.net[1]", "layers.0.net1", true},
        {"layers.*.net[1]", "layers.0.net2", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (dt__pattern_matches(cases[i].pattern, cases[i].name) != cases[i].matches)
            fail_msg("%s and %s: expected %d", cases[i].pattern, cases[i].name, cases[i].matches);
    char name[4097] = "", pattern[257];
    memset(name, 'a', 4096);
    for (int i = 0; i < 128; i++)
        memcpy(pattern + 2 * i, "*a", 2);
    strcpy(pattern + 254, "*b");
    assert_false(dt__pattern_matches(pattern, name)); /* and returns soon */
}

static void pattern__that_matches_nothing_has_a_nearest_name(void **state) {
    (void)state;
    static const char *const names[] = {"tok.weight", "h.10.attn.wq.weight", "h.10.attn.wo.bias", "h.10.norm.weight"};
    static const struct {
        const char *pattern, *hint;
    } cases[] = {
        {"*.wqq.weight", "; did you mean h.*.attn.wq.weight?"}, /* stars cost nothing, */
        {"h.*.atn.*", "; did you mean h.*.attn.wq.weight?"},
        {"*.wq.wieght", "; did you mean h.*.attn.wq.weight?"},
        {"h.?.norm.weight", "; did you mean h.*.norm.weight?"}, /* nor do sets: this lacks a digit */
        {"*.w[xyz].bias", "; did you mean h.*.attn.wo.bias?"},
        {"tok", "; did you mean tok.weight?"}, /* begins with it */
        {"tok.weights", "; did you mean tok.weight?"},
        {"*.mlp.fc1.scale", ""},
        {"head.*", ""},
        {"*.wz", ""}, /* the name has to end there */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__pattern_miss near = dt__pattern_miss_new(cases[i].pattern);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            dt__pattern_miss_add(&near, names[n]);
        assert_string_equal(near.hint, cases[i].hint);
    }
    char name[4097] = "";
    memset(name, 'a', 4096);
    dt__pattern_miss near = dt__pattern_miss_new("*b");
    dt__pattern_miss_add(&near, name); /* too long to compare */
    assert_string_equal(near.hint, "");
}

static void pattern__of_a_name_has_stars_for_numbers(void **state) {
    (void)state;
    char out[64];
    dt__pattern_of_name("h.0.attn.w2.weight", sizeof out, out);
    assert_string_equal(out, "h.*.attn.w2.weight");
    dt__pattern_of_name("10.x.3", sizeof out, out);
    assert_string_equal(out, "*.x.*");
    dt__pattern_of_name("a..b.", sizeof out, out);
    assert_string_equal(out, "a..b.");
    dt__pattern_of_name("abcdefgh", 4, out);
    assert_string_equal(out, "abc");
}

typedef struct rule_case {
    const char *mesh, *rules, *name;
    int n_dims;
    int64_t shape[3];
    const char *placed, *used;
} rule_case;

static const char transformer[] = "# tensor parallel\n"
                                  "*.attn.w[qkv].*  tp=S(0)*64\n"
                                  "*.attn.wo.weight tp=S(1)*64\n"
                                  "*.fc1.*          tp=col\n"
                                  "*.fc2.*          tp=row\n"
                                  "\n"
                                  "tok.weight       tp=vocab,decay=0.5 lr=2   # an embedding\n"
                                  "*.bias           decay=0\n"
                                  "pos.weight       freeze\n"
                                  "*                fsdp=free use=bf16 grad=f32\n";

static const rule_case cases[] = {
    {"dp=2,fsdp=4,tp=2", transformer, "h.0.attn.wq.weight", 2, {128, 96}, "R,S(1),S(0)", "bf16 R,R,S(0)"},
    {"dp=2,fsdp=4,tp=2",
     transformer,
     "h.0.attn.wq.weight",
     2,
     {192, 96},
     "R,S(1),S(0:128,64)",
     "bf16 R,R,S(0:128,64)"},
    {"dp=2,fsdp=4,tp=2", transformer, "h.0.attn.wq.weight", 2, {64, 96}, "R,S(1),S(0:64,0)", "bf16 R,R,S(0:64,0)"},
    {"dp=2,fsdp=4,tp=2", transformer, "h.0.attn.wq.bias", 1, {192}, "R,R,S(0:128,64)", "bf16 R,R,S(0:128,64)"},
    {"dp=2,fsdp=4,tp=2", transformer, "h.0.attn.wo.weight", 2, {96, 128}, "R,S(0),S(1)", "bf16 R,R,S(1)"},
    {"dp=2,fsdp=4,tp=2", transformer, "h.0.fc1.bias", 1, {7}, "R,R,S(0)", "bf16 R,R,S(0)"},
    {"dp=2,fsdp=4,tp=2", transformer, "h.0.fc2.bias", 1, {7}, "R,S(0),R", "bf16 R,R,R"},
    {"dp=2,fsdp=4,tp=2", transformer, "scale", 0, {0}, "R,R,R", "bf16 R,R,R"},
    {"dp=2,fsdp=4,tp=2", transformer, "tok.weight", 2, {61, 16}, "R,S(1),S(0)", "bf16 R,R,S(0)"},
    {"tp=3", transformer, "h.0.fc2.weight", 2, {16, 64}, "S(1)", "bf16 S(1)"},
    {"fsdp=3", transformer, "h.0.fc2.weight", 2, {16, 64}, "S(0)", "bf16 R"},
    {"dp=3", transformer, "h.0.fc2.weight", 2, {16, 64}, "R", "bf16 R"},
    {"fsdp=2,dp=2", "* fsdp=free dp=free", "w", 2, {4, 4}, "S(0),S(1)", "R,R"},
    {"fsdp=2,dp=2", "* fsdp=free dp=free", "w", 1, {4}, "S(0),R", "R,R"},
    {"fsdp=2", "* fsdp=free(1)", "w", 2, {4, 4}, "S(1)", "R"},
    {"tp=2", "a tp=R\n* tp=S(-1)", "a", 2, {4, 4}, "R", NULL},
    {"tp=2", "a tp=R\n* tp=S(-1)", "b", 2, {4, 4}, "S(1)", NULL},
    {"dp=2,tp=2", "* tp=S(0)[0] dp=S(0)[1]", "b", 1, {9}, "S(0)[1],S(0)[0]", NULL},
    {"tp=2", "* tp=col", "scalar", 0, {0}, "R", NULL},
    {"pp=2,tp=2", "* tp=col pp=R", "w", 1, {4}, "R,S(0)", NULL},
};

static void check_case(const rule_case *c) {
    dt_ctx *ctx = context_of(64);
    dt__arena arena = dt__arena_new(ctx);
    dt__param_rules rules;
    dt__param_traits traits;
    dt_mesh *mesh = dt_mesh_new(ctx, c->mesh);
    char placed[128] = "", used[128] = "";
    const dt__param_shape of = {c->name, DT_F32, c->n_dims, c->shape};
    if (dt__param_rules_parse(&arena, c->rules, &rules) != DT_OK ||
        dt__param_rules_check_mesh(&rules, mesh) != DT_OK ||
        dt__param_rules_apply(&rules, &arena, &of, mesh, &traits) != DT_OK)
        fail_msg("%s: %s", c->name, dt_error_text(ctx));
    dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){.n_dims = c->n_dims,
                                                      .shape = c->shape,
                                                      .n_placements = traits.n_mesh_dims,
                                                      .placements = traits.placements});
    assert_non_null(spec);
    (void)dt_placements_text(traits.n_mesh_dims, dt_spec_placements(spec), sizeof placed, placed);
    if (traits.has_use) {
        dt_spec *use = dt_spec_new(mesh, &(dt_spec_desc){.n_dims = c->n_dims,
                                                         .shape = c->shape,
                                                         .n_placements = traits.n_mesh_dims,
                                                         .placements = traits.used});
        int n = traits.use_dtype ? snprintf(used, sizeof used, "%s ", dt_dtype_name(traits.use_dtype)) : 0;
        (void)dt_placements_text(traits.n_mesh_dims, dt_spec_placements(use), sizeof used - (size_t)n, used + n);
        dt_spec_release(use);
    }
    if (strcmp(placed, c->placed) != 0 || strcmp(used, c->used ? c->used : "") != 0)
        fail_msg("%s on %s: expected %s used as %s, got %s used as %s", c->name, c->mesh, c->placed,
                 c->used ? c->used : "", placed, used);
    dt_spec_release(spec);
    dt_mesh_release(mesh);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static void rules__place_by_name_shape_and_mesh(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

static void rules__first_matching_line_decides_each_attribute(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double decay, lr;
        bool is_frozen;
    } expected[] = {
        {"tok.weight", 0.5, 2, false}, {"h.0.fc1.bias", 0, 1, false}, {"pos.weight", 1, 1, true}, {"x", 1, 1, false}};
    dt_ctx *ctx = context_of(64);
    dt__arena arena = dt__arena_new(ctx);
    dt__param_rules rules;
    assert_int_equal(dt__param_rules_parse(&arena, transformer, &rules), DT_OK);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        dt__param_traits traits;
        const int64_t shape[] = {64};
        assert_int_equal(dt__param_rules_apply(&rules, &arena, &(dt__param_shape){expected[i].name, DT_F32, 1, shape},
                                               dt_mesh_new(ctx, "tp=2"), &traits),
                         DT_OK);
        if (traits.decay != expected[i].decay || traits.lr != expected[i].lr ||
            traits.is_frozen != expected[i].is_frozen)
            fail_msg("%s: got decay %g, lr %g, frozen %d", expected[i].name, traits.decay, traits.lr,
                     traits.is_frozen);
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static void rules__do_not_depend_on_the_locale(void **state) {
    (void)state;
    test_commas_begin();
    rules__first_matching_line_decides_each_attribute(NULL);
    test_commas_end();
}

static void rules__errors_name_line_and_column(void **state) {
    (void)state;
    static const struct {
        const char *mesh, *rules, *part;
    } wrong[] = {
        {"tp=2", "*", "line 1: column 2: expected attributes after the pattern"},
        {"tp=2", "a tp=R\n* tp", "line 2: column 5: expected '='"},
        {"tp=2", "* tp=", "expected a placement"},
        {"tp=2", "* tp=S(0)*0", "a multiple must be from 1"},
        {"tp=2", "* tp=R*2", "expected S(dim) before '*'"},
        {"tp=2", "* tp=P(sum)", "not partial"},
        {"tp=2", "* tp=S(0)tp=R", "expected a blank or ','"},
        {"tp=2", "* tp=S(0) tp=R", "expected an attribute that the line does not have yet"},
        {"tp=2", "* decay=-1", "expected a finite number of at least 0"},
        {"tp=2", "* lr=inf", "expected a finite number"},
        {"tp=2", "* freeze=2", "expected 0 or 1"},
        {"tp=2", "* use=bf61", "did you mean bf16?"},
        {"tp=2", "[ab tp=R", "expected ']' after '['"},
        {"tp=2", "[] tp=R", "expected characters between"},
        {"tp=2", "* =R", "expected an attribute"},
        {"tp=2", "* fsdp=free(33)", "a tensor dim must be from 0"},
        {"tp=2", "* tpp=S(0)", "there is no mesh dim 'tpp' in mesh(tp=2); did you mean tp?"},
        {"fsdp=2", "* fsd=free", "did you mean fsdp?"},
        {"tp=2", "* TP=S(0)", "did you mean tp?"},
        {"2x2", "* tp=S(0)", "expected a mesh whose dims have names"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dt_ctx *ctx = context_of(8);
        dt__arena arena = dt__arena_new(ctx);
        dt__param_rules rules;
        dt_status status = dt__param_rules_parse(&arena, wrong[i].rules, &rules);
        if (status == DT_OK)
            status = dt__param_rules_check_mesh(&rules, dt_mesh_new(ctx, wrong[i].mesh));
        if (status == DT_OK || !strstr(dt_error_text(ctx), wrong[i].part))
            fail_msg("%s: expected %s, got %s", wrong[i].rules, wrong[i].part, dt_error_text(ctx));
        dt__arena_free(&arena);
        dt__ctx_free(ctx);
    }
}

static void rules__refuse_what_does_not_fit_a_parameter(void **state) {
    (void)state;
    static const struct {
        const char *mesh, *rules, *part;
    } wrong[] = {
        {"tp=2", "* tp=S(0)*64", "w: tp=S(0)*64: expected a size that is a multiple of 64, got 96"},
        {"tp=2", "* grad=bf16", "w: grad=bf16: expected the dtype of the parameter, f32"},
        {"pp=2,tp=2", "* tp=S(0)", "w: expected .on, the slice of one stage, or a rule for 'pp'"},
        {NULL, "* use=bf16", "w: use=bf16: expected a mesh, got none"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dt_ctx *ctx = context_of(8);
        dt__arena arena = dt__arena_new(ctx);
        dt__param_rules rules;
        dt__param_traits traits;
        const int64_t shape[] = {96, 64};
        assert_int_equal(dt__param_rules_parse(&arena, wrong[i].rules, &rules), DT_OK);
        dt_status status = dt__param_rules_apply(&rules, &arena, &(dt__param_shape){"w", DT_F32, 2, shape},
                                                 wrong[i].mesh ? dt_mesh_new(ctx, wrong[i].mesh) : NULL, &traits);
        if (status == DT_OK || !strstr(dt_error_text(ctx), wrong[i].part))
            fail_msg("%s: expected %s, got %s", wrong[i].rules, wrong[i].part, dt_error_text(ctx));
        dt__arena_free(&arena);
        dt__ctx_free(ctx);
    }
}

static void rules__without_effect_are_errors(void **state) {
    (void)state; /* TPA-011: a key that matches nothing is an error here; TPA-013: no rules are no error */
    static const struct {
        const char *rules, *part;
    } cases_of[] = {
        {"*.atn.wq.weight tp=S(0)\n* decay=0",
         "line 1: '*.atn.wq.weight' matches none of the 2 parameters; did you mean "
         "h.*.attn.wq.weight?"},
        {"* tp=S(0)\n*.wq.weight tp=R",
         "line 2: '*.wq.weight' has no effect: line 1, '*', decides its attributes first"},
        {"net0.hello.world tp=R", "matches none of the 2 parameters"},
        {"net0.hello.world? tp=R", NULL},
        {"* tp=S(0)\n*.wq.weight tp=R decay=0", NULL},
        {"*.wq.weight ep=S(0)", NULL}, /* the mesh lacks it */
        {"", NULL},
        {NULL, NULL},
    };
    static const char *const names[] = {"h.0.attn.wq.weight", "h.1.attn.wq.weight"};
    for (size_t i = 0; i < sizeof cases_of / sizeof *cases_of; i++) {
        dt_ctx *ctx = context_of(8);
        dt__arena arena = dt__arena_new(ctx);
        dt__param_rules rules;
        dt__param_traits traits;
        dt_mesh *mesh = dt_mesh_new(ctx, "tp=2");
        const int64_t shape[] = {96, 64};
        assert_int_equal(dt__param_rules_parse(&arena, cases_of[i].rules, &rules), DT_OK);
        for (int k = 0; k < 2; k++)
            assert_int_equal(
                dt__param_rules_apply(&rules, &arena, &(dt__param_shape){names[k], DT_F32, 2, shape}, mesh, &traits),
                DT_OK);
        dt_status status = dt__param_rules_check(&rules, ctx, 2, names);
        const char *part = cases_of[i].part;
        if ((status == DT_OK) != !part || (part && !strstr(dt_error_text(ctx), part)))
            fail_msg("%s: expected %s, got %s", cases_of[i].rules ? cases_of[i].rules : "", part ? part : "no error",
                     dt_error_text(ctx));
        dt__arena_free(&arena);
        dt__ctx_free(ctx);
    }
}

static bool parse_and_apply(dt_ctx *ctx, void *user) {
    (void)user;
    ctx->world = 64;
    dt__arena arena = dt__arena_new(ctx);
    dt__param_rules rules;
    dt__param_traits traits;
    dt_mesh *mesh = dt_mesh_new(ctx, "fsdp=4,tp=2");
    const int64_t shape[] = {192, 64};
    bool ok = mesh && dt__param_rules_parse(&arena, transformer, &rules) == DT_OK &&
              dt__param_rules_apply(&rules, &arena, &(dt__param_shape){"h.0.attn.wq.weight", DT_F32, 2, shape}, mesh,
                                    &traits) == DT_OK;
    dt_mesh_release(mesh);
    dt__arena_free(&arena);
    return ok;
}

static void rules__survive_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_survives_failing_allocations(parse_and_apply, NULL) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pattern__matches_names),
        cmocka_unit_test(pattern__that_matches_nothing_has_a_nearest_name),
        cmocka_unit_test(pattern__of_a_name_has_stars_for_numbers),
        cmocka_unit_test(rules__place_by_name_shape_and_mesh),
        cmocka_unit_test(rules__first_matching_line_decides_each_attribute),
        cmocka_unit_test(rules__do_not_depend_on_the_locale),
        cmocka_unit_test(rules__errors_name_line_and_column),
        cmocka_unit_test(rules__refuse_what_does_not_fit_a_parameter),
        cmocka_unit_test(rules__without_effect_are_errors),
        cmocka_unit_test(rules__survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
