/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of .npy and .npz files: a header that parses makes sense, and printing and parsing it again gives the same; an
 * entry that is found is inside the file; inflating it fails with an error or returns what it declares.
 */
#include "fuzz.h"

#include "tensor/inflate.h"
#include "tensor/tensor.h"

#include <sys/mman.h>
#include <unistd.h>

static void check_npy(const unsigned char *bytes, size_t n) {
    unsigned char header[DT__NPY_MAX_BYTES];
    dt__npy npy, again;
    if (dt__npy_read(bytes, n, &npy))
        return;
    FUZZ_CHECK(npy.header_bytes <= n && npy.n_dims <= DT_SPEC_MAX_DIMS && npy.bytes >= 0, "%d dims", npy.n_dims);
    size_t length = dt__npy_write(npy.dtype, npy.n_dims, npy.shape, header);
    const char *error = dt__npy_read(header, length, &again);
    FUZZ_CHECK(!error, "%s", error);
    FUZZ_CHECK(again.dtype == npy.dtype && again.bytes == npy.bytes && again.n_dims == npy.n_dims, "%d",
               again.n_dims);
    for (int d = 0; d < npy.n_dims; d++)
        FUZZ_CHECK(again.shape[d] == npy.shape[d], "dim %d", d);
}

/* In two steps and from the start again: a prefix, then all of it. */
static void check_inflate(int fd, const dt__zip_entry *entry) {
    unsigned char first[64], again[64];
    size_t n = entry->bytes < (int64_t)sizeof first ? (size_t)entry->bytes : sizeof first;
    dt_ctx *ctx = dt__ctx_new(NULL);
    const dt__exchange_call load = {.name = "load_npz", .has_text = true};
    dt__file_call call = {.ctx = ctx, .kind = &load, .path = "npz"};
    dt__file file = {.ctx = ctx, .call = &call, .entry = "a", .fd = fd};
    dt__inflate *inflate = dt__inflate_new(&file, entry);
    FUZZ_CHECK(inflate, "%s", dt_error_text(ctx));
    bool ok = dt__inflate_read(inflate, 0, first, n) == DT_OK && dt__inflate_finish(inflate) == DT_OK;
    fuzz_check_status(ctx, ok);
    if (ok) {
        FUZZ_CHECK(dt__inflate_read(inflate, 0, again, n) == DT_OK, "%s", dt_error_text(ctx));
        FUZZ_CHECK(memcmp(first, again, n) == 0, "%zu bytes", n);
    }
    dt__inflate_free(inflate);
    dt__ctx_free(ctx);
}

static void check_zip(const unsigned char *bytes, size_t n) {
    dt__zip_entry entry;
    bool missing;
    int fd = memfd_create("npz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n, "cannot write the file");
    if (!dt__zip_find(fd, (int64_t)n, "a", &entry, &missing)) {
        FUZZ_CHECK(entry.data_at >= 0 && entry.bytes >= 0 && entry.stored_bytes >= 0, "%lld", (long long)entry.bytes);
        FUZZ_CHECK(entry.data_at <= (int64_t)n - entry.stored_bytes, "%lld", (long long)entry.data_at);
        if (entry.deflated)
            check_inflate(fd, &entry);
    }
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    check_npy(bytes, n);
    check_zip(bytes, n);
    return 0;
}
