/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls parsed from text, for tests of rules and ops.
 */
#ifndef DT_TESTS_RULES_CALLS_H
#define DT_TESTS_RULES_CALLS_H

#include "support/check.h"

#include "ops/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct test_calls {
    dt_ctx *ctx;
    dt__arena arena;
    int n_mesh_dims;
    int64_t mesh[8];
} test_calls;

/* mesh as sizes, "2,4". */
static inline test_calls calls_open(const char *mesh) {
    test_calls self = {.ctx = dt__ctx_new(NULL)};
    assert_int_equal(dt__ops_open(self.ctx), DT_OK);
    self.arena = dt__arena_new(self.ctx);
    for (int used = 0; *mesh && sscanf(mesh, "%" SCNd64 "%n", &self.mesh[self.n_mesh_dims], &used) == 1;
         self.n_mesh_dims++)
        mesh += used + (mesh[used] == ',');
    return self;
}

static inline void calls_close(test_calls *self) {
    dt__arena_free(&self->arena);
    dt__ctx_free(self->ctx);
}

static inline dt__placed_call calls_parse(test_calls *self, const char *text) {
    dt__placed_call placed;
    if (dt__placed_call_parse(&self->arena, text, self->n_mesh_dims, self->mesh, &placed) != DT_OK)
        fail_msg("%s: %s", text, dt_error_text(self->ctx));
    return placed;
}

static inline dt__placed_inputs calls_inputs(const test_calls *self, const dt__placed_call *placed) {
    return (dt__placed_inputs){self->n_mesh_dims, self->mesh, placed->inputs, &dt__machine_builtin};
}

static inline const char *calls_placements(int n, const dt_placement *placements, char *out, size_t capacity) {
    dt_placements_text(n, placements, capacity, out);
    return out;
}

/* Selects placements, and asserts those of inputs and outputs: "S(0),R; R,S(1) -> S(0),S(1)"; "" accepts any. Returns
 * the cost. */
static inline double assert_selection(const char *mesh, const char *text, const char *expected) {
    test_calls self = calls_open(mesh);
    dt__placed_call placed = calls_parse(&self, text);
    dt__placed_inputs inputs = calls_inputs(&self, &placed);
    dt__candidate selected;
    char got[1024] = "", one[256];
    if (dt__select_placements(&self.arena, &placed.call, &inputs, &selected) != DT_OK)
        fail_msg("%s: %s", text, dt_error_text(self.ctx));
    for (int i = 0; i < placed.call.n_inputs; i++) {
        strcat(got, i ? "; " : "");
        strcat(got, calls_placements(self.n_mesh_dims, selected.inputs[i], one, sizeof one));
    }
    strcat(got, " -> ");
    for (int o = 0; o < placed.call.n_outputs; o++) {
        strcat(got, o ? "; " : "");
        strcat(got, calls_placements(self.n_mesh_dims, selected.outputs[o], one, sizeof one));
    }
    if (*expected)
        assert_string_equal(got, expected);
    double us = selected.cost_us;
    calls_close(&self);
    return us;
}

#endif
