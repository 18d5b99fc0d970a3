/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls by their text, for tests of rules and ops.
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

static inline dt__placed_call calls_make(test_calls *self, const char *text) {
    dt__placed_call made;
    if (dt__placed_call_parse(&self->arena, text, self->n_mesh_dims, self->mesh, &made) != DT_OK)
        fail_msg("%s: %s", text, dt_error_text(self->ctx));
    return made;
}

static inline dt__placed_inputs calls_on(const test_calls *self, const dt__placed_call *made) {
    return (dt__placed_inputs){self->n_mesh_dims, self->mesh, made->inputs, &dt__machine_builtin};
}

static inline const char *calls_placements(int n, const dt_placement *placements, char *out, size_t room) {
    dt_placements_text(n, placements, room, out);
    return out;
}

/* Chooses, and checks inputs and outputs: "S(0),R; R,S(1) -> S(0),S(1)"; "" checks nothing. Returns the cost. */
static inline double calls_check(const char *mesh, const char *text, const char *want) {
    test_calls self = calls_open(mesh);
    dt__placed_call made = calls_make(&self, text);
    dt__placed_inputs on = calls_on(&self, &made);
    dt__candidate choice;
    char got[1024] = "", one[256];
    if (dt__select_placements(&self.arena, &made.call, &on, &choice) != DT_OK)
        fail_msg("%s: %s", text, dt_error_text(self.ctx));
    for (int i = 0; i < made.call.n_inputs; i++) {
        strcat(got, i ? "; " : "");
        strcat(got, calls_placements(self.n_mesh_dims, choice.inputs[i], one, sizeof one));
    }
    strcat(got, " -> ");
    for (int o = 0; o < made.call.n_outputs; o++) {
        strcat(got, o ? "; " : "");
        strcat(got, calls_placements(self.n_mesh_dims, choice.outputs[o], one, sizeof one));
    }
    if (*want)
        assert_string_equal(got, want);
    double us = choice.cost_us;
    calls_close(&self);
    return us;
}

#endif
