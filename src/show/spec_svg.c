/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_spec_svg: the picture of a spec, for bindings and notebooks.
 */
#include "dtensor/show.h"

#include "base/lifetime.h"
#include "base/public_call.h"
#include "show/show.h"
#include "spec/spec.h"

#include <string.h>

static dt_status draw(const dt_spec *spec, dt__arena *arena, dt__text *out) {
    holdings held;
    const char *why_not = NULL;
    grid *drawn = DT__NEW(arena, grid);
    if (!drawn)
        return DT_ERR_MEMORY;
    DT__TRY(dt__holdings_new(spec, arena, &held));
    DT__TRY(dt__grid_new(&held, arena, drawn, &why_not));
    if (why_not)
        return dt__fail(arena->ctx, DT_ERR_UNSUPPORTED, "cannot draw %s", why_not);
    return dt__show_svg(&held, drawn, -1, arena, out);
}

char *dt_spec_svg_site(const dt_spec *spec, const dt_site *site) {
    DT__ENTER(spec ? spec->ctx : NULL, "spec_svg", site);
    if (DT__REFUSAL() != DT_OK || !spec || !DT__LIVE(DT__KIND_SPEC, (dt_spec *)(uintptr_t)spec))
        return NULL;
    dt__arena arena = dt__arena_new(spec->ctx);
    dt__text text = dt__text_new(spec->ctx);
    char *result = NULL;
    if (draw(spec, &arena, &text) == DT_OK && !(result = strdup(dt__text_chars(&text))))
        (void)dt__fail_memory(spec->ctx, text.n_chars, "a picture");
    dt__text_free(&text);
    dt__arena_free(&arena);
    return result;
}
