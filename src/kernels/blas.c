/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the BLAS library once per process, because the number of link namespaces is limited, and never unloads it.
 *
 * The namespace has a C library of its own, whose environment is replaced before the BLAS is loaded into it: every BLAS
 * takes its thread count from there, and with one thread it starts none. The environment of the program is not
 * touched. The loader, thread-local storage and the threads of the program are shared by all namespaces.
 */
#include "kernels/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DT__BLAS_LIBRARY_openblas "libopenblas.so.0", "libopenblas.so",
#define DT__BLAS_LIBRARY_blis     "libblis.so.4", "libblis.so.3", "libblis.so",
#define DT__BLAS_LIBRARY_mkl      "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so",
#define DT__BLAS_LIBRARY_none
#define DT__BLAS_LIBRARY__(name) DT__BLAS_LIBRARY_##name
#define DT__BLAS_LIBRARY_(name)  DT__BLAS_LIBRARY__(name)
#ifndef DTENSOR_BLAS
#define DTENSOR_BLAS openblas
#endif

enum { MAX_VARIABLES = 512 };

/* The environment of the namespace; must outlive it. If a variable occurs twice, the first value counts. */
static char *environment[MAX_VARIABLES + 1] = {
    "OPENBLAS_NUM_THREADS=1",         "BLIS_NUM_THREADS=1", "MKL_NUM_THREADS=1",
    "MKL_THREADING_LAYER=SEQUENTIAL", "OMP_NUM_THREADS=1",
};
enum { N_OWN_VARIABLES = 5 };

static void *library; /* NULL: none was found */
static dt__blas loaded;
static bool is_loaded;

/* dlsym returns functions as object pointers. */
static bool find_function(const char *name, void *function) {
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* A new namespace with a C library that has our environment; false where the system does not support namespaces. */
static bool open_namespace(Lmid_t *out) {
    void *libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW | RTLD_LOCAL);
    char ***namespace_environ = libc ? dlsym(libc, "environ") : NULL;
    if (!namespace_environ || dlinfo(libc, RTLD_DI_LMID, out) != 0)
        return false;
    for (int i = 0; environ && environ[i] && N_OWN_VARIABLES + i < MAX_VARIABLES; i++)
        environment[N_OWN_VARIABLES + i] = environ[i];
    *namespace_environ = environment;
    return true;
}

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

static void load(void) {
    static const char *const names[] = {DT__BLAS_LIBRARY_(DTENSOR_BLAS) NULL};
    Lmid_t space;
    if (!names[0] || !open_namespace(&space))
        return;
    for (int i = 0; names[i] && !library; i++)
        library = dlmopen(space, names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    is_loaded = find_function("cblas_sgemm", &loaded.sgemm) && find_function("cblas_dgemm", &loaded.dgemm) &&
                find_function("cblas_cgemm", &loaded.cgemm) && find_function("cblas_zgemm", &loaded.zgemm);
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
    return find_function(name, function);
}
