/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards that outlive their context, in every order, and wrappers whose errors name their caller. Prints the errors.
 */
#include <dtensor/dtensor.hpp>

#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

/* Every kind of reference, and scopes, that end after the context was closed; some of them are copied and moved
 * then. */
static int outlive() {
    dt::context ctx;
    dt::scope outer(ctx);
    dt::ref mesh(dt_mesh_new(ctx, "*"));
    dt::ref<dt_tensor> tensor;
    {
        dt::scope inner(ctx);
        tensor = dt::ref<dt_tensor>::share(dt_ones(ctx, DT_SHAPE(4), dt::mesh = mesh.get(), dt::place = "S(0)"));
    }
    dt::ref layout(dt_layout_parse(ctx, "(2,3):(3,1)"));
    dt::ref group(dt_group_retain(dt_group_world(ctx)));
    dt::ref generator(dt_generator_retain(dt_generator_default(ctx)));
    dt::ref spec(dt_spec_retain(dt_tensor_spec(tensor)));
    if (!mesh.get() || !tensor.get() || !layout.get() || !group.get() || !generator.get() || !spec.get())
        return 2;
    int code = ctx.close();
    dt::ref copy(mesh);
    dt::ref moved(std::move(tensor));
    layout = dt::ref<dt_layout>();
    return code + (copy.get() != nullptr);
}

/* A second context at the memory of the first, which references of the first must leave alone. */
static int reuse() {
    std::vector<dt::ref<dt_mesh>> meshes;
    for (int i = 0; i < 20; i++) {
        dt::context ctx;
        meshes.emplace_back(dt_mesh_new(ctx, "1"));
        dt_ctx *open = ctx;
        if (!dt_ctx_is_open(dt_ctx_number(open)) || dt_ctx_is_open(0))
            return 3;
        if (i % 2)
            meshes.clear();
        if (dt_failed(ctx) || dt_mesh_size(i % 2 ? nullptr : meshes.back().get()) != 1 - i % 2)
            return 4;
    }
    return 0;
}

static dt_tensor *block(dt_tensor *x, dt_tensor *w, dt_site site = dt::here()) {
    dt::caller caller(site);
    dt_tensor *y = dt_relu(dt_matmul(x, w));
    return dt_sum(y, dt::dim = 0);
}

static dt_tensor *two_blocks(dt_tensor *x, dt_tensor *w, dt_site site = dt::here()) {
    dt::caller caller(site);
    return block(block(x, w), w);
}

static int name_the_caller() {
    dt::context ctx;
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2, 3)), *w = dt_ones(ctx, DT_SHAPE(4, 5));
    (void)block(x, w); // caller 1
    std::printf("%s\n", dt_error_text(ctx));
    dt_error_clear(ctx);
    (void)two_blocks(x, w); // caller 2
    std::printf("%s\n", dt_error_text(ctx));
    dt_error_clear(ctx);
    (void)dt_matmul(x, w); // caller 3
    std::printf("%s\n", dt_error_text(ctx));
    dt_error_clear(ctx);
    return ctx.close();
}

int main() {
    int codes[] = {outlive(), reuse(), name_the_caller()};
    std::printf("codes %d %d %d\n", codes[0], codes[1], codes[2]);
    return codes[0] || codes[1] || codes[2];
}
