/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the BLAS library once per process (private_library.h), and tries whether its products can be cut into tiles.
 */
#include "kernels/blas.h"

#include "kernels/private_library.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define DT__BLAS_LIBRARY_openblas "libopenblas.so.0", "libopenblas.so",
#define DT__BLAS_LIBRARY_blis     "libblis.so.4", "libblis.so.3", "libblis.so",
#define DT__BLAS_LIBRARY_mkl      "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so",
#define DT__BLAS_LIBRARY_none
#define DT__BLAS_LIBRARY__(name) DT__BLAS_LIBRARY_##name
#define DT__BLAS_LIBRARY_(name)  DT__BLAS_LIBRARY__(name)
#ifndef DTENSOR_BLAS
#define DTENSOR_BLAS openblas
#endif

enum { SPACE_BYTES = 320 << 20 }; /* of the library, and of OpenBLAS' buffers for two threads, 128 MiB each */

static void *library; /* NULL: none was found */
static dt__blas loaded;
static bool is_loaded;

static bool find(const char *name, void *function) { return dt__private_function(library, name, function); }

/* A product of the shape of both dtypes in memory, and the same in two pieces of its rows. It is not one that a BLAS
 * counts as small, and has edges that do not fill registers. */
enum { SIDE = 136, FIRST_ROWS = 64, K = 400 };
#define PROBE(name, type, gemm)                                                                                      \
    struct name##_probe {                                                                                            \
        type a[SIDE * K], b[K * SIDE], whole[SIDE * SIDE], pieces[SIDE * SIDE];                                      \
    };                                                                                                               \
    static bool name##_is_alike(struct name##_probe *p) {                                                            \
        for (int i = 0; i < SIDE * K; i++) {                                                                         \
            p->a[i] = (type)(i * 7919L % 104729) / 104729 - (type)0.5;                                               \
            p->b[i] = (type)(i * 6271L % 104723) / 104723 - (type)0.5;                                               \
        }                                                                                                            \
        loaded.gemm(DT__BLAS_ROW_MAJOR, DT__BLAS_PLAIN, DT__BLAS_PLAIN, SIDE, SIDE, K, 1, p->a, K, p->b, SIDE, 0,    \
                    p->whole, SIDE);                                                                                 \
        for (int i = 0; i < SIDE; i += i ? SIDE : FIRST_ROWS)                                                        \
            loaded.gemm(DT__BLAS_ROW_MAJOR, DT__BLAS_PLAIN, DT__BLAS_PLAIN, i ? SIDE - FIRST_ROWS : FIRST_ROWS,      \
                        SIDE, K, 1, p->a + i * K, K, p->b, SIDE, 0, p->pieces + i * SIDE, SIDE);                     \
        return !memcmp(p->whole, p->pieces, sizeof p->whole);                                                        \
    }
PROBE(f32, float, sgemm)
PROBE(f64, double, dgemm)

static bool tiles_are_alike(void) {
    const size_t bytes = sizeof(struct f64_probe);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    const bool alike = f32_is_alike(memory) && f64_is_alike(memory);
    munmap(memory, bytes);
    return alike;
}

/* Without address space for its buffers (ulimit -v), OpenBLAS retries forever. */
static bool has_space(void) {
    void *memory = mmap(NULL, SPACE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    munmap(memory, SPACE_BYTES);
    return true;
}

static void load(void) {
    static const char *const names[] = {DT__BLAS_LIBRARY_(DTENSOR_BLAS) NULL};
    if (!names[0] || !has_space())
        return;
    library = dt__private_library(names);
    is_loaded = find("cblas_sgemm", &loaded.sgemm) && find("cblas_dgemm", &loaded.dgemm) &&
                find("cblas_cgemm", &loaded.cgemm) && find("cblas_zgemm", &loaded.zgemm);
    loaded.tiles_are_alike = is_loaded && tiles_are_alike();
}

static bool load_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, load) == 0 && is_loaded;
}

bool dt__blas_load(dt__blas *out) {
    if (!load_once())
        return false;
    *out = loaded;
    return true;
}

bool dt__blas_find(const char *name, void *function) {
    (void)load_once();
    return find(name, function);
}
