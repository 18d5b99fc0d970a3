/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of safetensors files and of their indexes: what a header lists covers the data exactly, in order, under
 * distinct names that are found again; what an index lists are plain names.
 */
#include "fuzz.h"

#include "train/safetensors.h"

static void check_header(dt__arena *arena, const unsigned char *bytes, size_t n) {
    dt__safetensors st;
    int64_t header_bytes, at = 0;
    unsigned char length[DT__SAFETENSORS_LENGTH_BYTES] = {0};
    memcpy(length, bytes, n < sizeof length ? n : sizeof length);
    if (dt__safetensors_length(length, (int64_t)n, &st, &header_bytes))
        return;
    FUZZ_CHECK(header_bytes >= 0 && header_bytes <= (int64_t)n - DT__SAFETENSORS_LENGTH_BYTES, "%lld",
               (long long)header_bytes);
    if (dt__safetensors_parse(arena, (const char *)bytes + sizeof length, (size_t)header_bytes, (int64_t)n, &st))
        return;
    for (int i = 0; i < st.n; i++) {
        const dt__stored_tensor *t = &st.tensors[i];
        int64_t size = t->dtype->bytes;
        FUZZ_CHECK(t->begin == at && t->end >= t->begin, "%s", t->name);
        for (int d = 0; d < t->n_dims; d++)
            size *= t->shape[d];
        FUZZ_CHECK(size == t->end - t->begin, "%s: %lld bytes", t->name, (long long)size);
        FUZZ_CHECK(dt__safetensors_find(&st, t->name) == t, "%s", t->name);
        at = t->end;
    }
    FUZZ_CHECK(st.data_at + at == (int64_t)n && st.data_bytes == at, "%lld", (long long)at);
    for (int i = 0; i < st.n_texts; i++)
        FUZZ_CHECK(dt__safetensors_text(&st, st.texts[i].key) == st.texts[i].value, "%s", st.texts[i].key);
}

static void check_index(dt__arena *arena, const unsigned char *bytes, size_t n) {
    dt__safetensors_index index;
    if (dt__safetensors_parse_index(arena, (const char *)bytes, n, &index))
        return;
    for (int i = 0; i < index.n_files; i++)
        FUZZ_CHECK(*index.files[i] && !strchr(index.files[i], '/') && strcmp(index.files[i], "..") != 0, "%s",
                   index.files[i]);
    for (int i = 1; i < index.n; i++)
        FUZZ_CHECK(strcmp(index.entries[i - 1].key, index.entries[i].key) < 0, "%s", index.entries[i].key);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    check_header(&arena, bytes, n);
    check_index(&arena, bytes, n);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
    return 0;
}
