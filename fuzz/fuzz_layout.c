/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout texts: printed and parsed again, a layout is the same; its algebra holds at its first indices.
 */
#include "fuzz.h"
#include "layout/layout.h"

enum { N_INDICES = 64 };

static void check_round_trip(dt__arena *arena, const dt__layout *layout) {
    dt__text text = dt__text_new(arena->ctx);
    dt__layout again;
    dt__layout_print(&text, layout);
    bool ok = dt__layout_parse(arena, dt__text_chars(&text), &again) == DT_OK;
    FUZZ_CHECK(ok && dt__layout_equal(layout, &again), "%s: %s", dt__text_chars(&text), dt_error_text(arena->ctx));
    dt__text_free(&text);
}

static void check_coalesce(dt__arena *arena, const dt__layout *layout) {
    dt__layout flat;
    FUZZ_CHECK(dt__layout_coalesce(arena, layout, &flat) == DT_OK, "%s", dt_error_text(arena->ctx));
    int64_t size = dt__layout_size(layout);
    FUZZ_CHECK(dt__layout_size(&flat) == size, "sizes %lld and %lld", (long long)dt__layout_size(&flat),
               (long long)size);
    for (int64_t i = 0; i < size && i < N_INDICES; i++)
        FUZZ_CHECK(dt__layout_at(layout, i) == dt__layout_at(&flat, i), "at %lld", (long long)i);
    check_round_trip(arena, &flat);
}

static void check_right_inverse(dt__arena *arena, const dt__layout *layout) {
    dt__layout inverse;
    if (dt__layout_right_inverse(arena, layout, &inverse) != DT_OK)
        return;
    for (int64_t i = 0; i < dt__layout_size(&inverse) && i < N_INDICES; i++)
        FUZZ_CHECK(dt__layout_at(layout, dt__layout_at(&inverse, i)) == i, "at %lld", (long long)i);
}

/* Calls that may refuse; each in a context of its own, because the first error is kept. */
static void check_others(const char *text) {
    for (int call = 0; call < 4; call++) {
        dt_ctx *ctx = dt__ctx_new(NULL);
        dt__arena arena = dt__arena_new(ctx);
        dt__layout layout, result;
        bool injective;
        FUZZ_CHECK(dt__layout_parse(&arena, text, &layout) == DT_OK, "%s", dt_error_text(ctx));
        dt_status status = call == 0   ? dt__layout_complement(&arena, &layout, 1000, &result)
                           : call == 1 ? dt__layout_composition(&arena, &layout, &layout, &result)
                           : call == 2 ? dt__layout_left_inverse(&arena, &layout, &result)
                                       : dt__layout_is_injective(&arena, &layout, &injective);
        fuzz_check_status(ctx, status == DT_OK);
        if (status == DT_OK && call < 3)
            check_round_trip(&arena, &result);
        dt__arena_free(&arena);
        dt__ctx_free(ctx);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    char *text = fuzz_text(&arena, bytes, n);
    dt__layout layout;
    bool ok = dt__layout_parse(&arena, text, &layout) == DT_OK;
    fuzz_check_status(ctx, ok);
    if (ok) {
        check_round_trip(&arena, &layout);
        check_coalesce(&arena, &layout);
        check_right_inverse(&arena, &layout);
        check_others(text);
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
    return 0;
}
