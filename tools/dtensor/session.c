/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of one run.
 */
#include "session.h"

#include "mesh/mesh.h"
#include "ops/ops.h"

#include <stdio.h>

int session_run(const args *given, int64_t rank, session_fn *body, void *user) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    if (!ctx) {
        fprintf(stderr, "dtensor %s: memory: there is none to start with\n", given->command->name);
        return EXIT_FAILED;
    }
    ctx->world = DT__MESH_MAX_RANKS;
    ctx->rank = rank;
    dt__arena arena = dt__arena_new(ctx);
    dt__text out = dt__text_new(ctx);
    session self = {given, ctx, &arena, &out};
    int code = dt__ops_open(ctx) == DT_OK && body(&self, user) == DT_OK ? EXIT_OK : args_failed(given->command, ctx);
    dt__text_free(&out);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
    return code;
}
