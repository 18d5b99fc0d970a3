/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules that place parameters: any text is parsed or refused, and what was parsed places parameters of several shapes
 * on a mesh, or refuses them. A pattern of the text matches the names that it is made of.
 */
#include "dtensor/mesh.h"
#include "fuzz.h"
#include "train/train.h"

static const struct {
    const char *name;
    int n_dims;
    int64_t shape[3];
} params[] = {{"tok.weight", 2, {61, 16}}, {"h.0.attn.wq.weight", 2, {128, 64}},
              {"h.10.fc1.bias", 1, {7}},   {"scale", 0, {0}},
              {"conv", 3, {0, 5, 3}},      {"h.1.empty", 1, {0}}};
enum { N_PARAMS = sizeof params / sizeof *params };

static void place(dt__param_rules *rules, dt__arena *arena, dt_mesh *mesh, int i) {
    dt__param_traits traits;
    const dt__param_shape of = {params[i].name, DT_F32, params[i].n_dims, params[i].shape};
    dt_ctx *ctx = arena->ctx;
    if (dt__param_rules_apply(rules, arena, &of, mesh, &traits) != DT_OK) {
        fuzz_check_status(ctx, false);
        FUZZ_CHECK(dt_error_clear(ctx) == DT_OK, "%s", dt_error_text(ctx));
        return;
    }
    FUZZ_CHECK(traits.n_mesh_dims == dt_mesh_n_dims(mesh), "%d", traits.n_mesh_dims);
    FUZZ_CHECK(traits.decay >= 0 && traits.lr >= 0, "%g and %g", traits.decay, traits.lr);
    dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){.n_dims = of.n_dims,
                                                      .shape = of.shape,
                                                      .n_placements = traits.n_mesh_dims,
                                                      .placements = traits.placements});
    if (!spec)
        FUZZ_CHECK(dt_error_clear(ctx) == DT_OK, "%s", dt_error_text(ctx));
    dt_spec_release(spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    ctx->world = 64;
    dt__arena arena = dt__arena_new(ctx);
    dt__param_rules rules;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,fsdp=4,tp=3");
    bool parsed = dt__param_rules_parse(&arena, fuzz_text(&arena, bytes, n), &rules) == DT_OK;
    fuzz_check_status(ctx, parsed);
    for (int r = 0; parsed && r < rules.n; r++)
        if (!strpbrk(rules.rules[r].pattern, "*?["))
            FUZZ_CHECK(dt__pattern_matches(rules.rules[r].pattern, rules.rules[r].pattern), "%s",
                       rules.rules[r].pattern);
    if (parsed && dt__param_rules_check_mesh(&rules, mesh) == DT_OK) {
        const char *names[N_PARAMS];
        for (int i = 0; i < N_PARAMS; i++) {
            place(&rules, &arena, mesh, i);
            names[i] = params[i].name;
        }
        (void)dt__param_rules_check(&rules, ctx, N_PARAMS, names);
    }
    dt_mesh_release(mesh);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
    return 0;
}
