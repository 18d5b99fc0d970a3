/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of .npy and .npz files: a header that is read makes sense, and writing what it says and reading that gives the
 * same; an entry that is found lies in the file.
 */
#include "fuzz.h"

#include "tensor/npy.h"
#include "tensor/zip.h"

#include <sys/mman.h>
#include <unistd.h>

static void check_npy(const unsigned char *bytes, size_t n) {
    unsigned char header[DT__NPY_MOST_BYTES];
    dt__npy npy, again;
    if (dt__npy_read(bytes, n, &npy))
        return;
    FUZZ_CHECK(npy.header_bytes <= n && npy.n_dims <= DT_SPEC_MAX_DIMS && npy.bytes >= 0, "%d dims", npy.n_dims);
    size_t length = dt__npy_write(npy.dtype, npy.n_dims, npy.shape, header);
    const char *why = dt__npy_read(header, length, &again);
    FUZZ_CHECK(!why, "%s", why);
    FUZZ_CHECK(again.dtype == npy.dtype && again.bytes == npy.bytes && again.n_dims == npy.n_dims, "%d",
               again.n_dims);
    for (int d = 0; d < npy.n_dims; d++)
        FUZZ_CHECK(again.shape[d] == npy.shape[d], "dim %d", d);
}

static void check_zip(const unsigned char *bytes, size_t n) {
    dt__zip_entry entry;
    bool missing;
    int fd = memfd_create("npz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n, "no file");
    if (!dt__zip_find(fd, (int64_t)n, "a", &entry, &missing))
        FUZZ_CHECK(entry.data_at >= 0 && entry.bytes >= 0 && entry.data_at <= (int64_t)n - entry.bytes, "%lld",
                   (long long)entry.data_at);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    check_npy(bytes, n);
    check_zip(bytes, n);
    return 0;
}
