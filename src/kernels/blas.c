/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds OpenBLAS at run time. It is never unloaded: its threads would lose their code.
 */
#include "kernels/blas.h"

#include <dlfcn.h>
#include <string.h>

/* POSIX gives functions as object pointers. */
static bool find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

bool dt__blas_load(dt__blas *out) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
    void (*set_threads)(int n);
    void *library = NULL;
    for (int i = 0; i < 2 && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library || !find(library, "openblas_set_num_threads", &set_threads) ||
        !find(library, "cblas_sgemm", &out->sgemm) || !find(library, "cblas_dgemm", &out->dgemm) ||
        !find(library, "cblas_cgemm", &out->cgemm) || !find(library, "cblas_zgemm", &out->zgemm))
        return false;
    set_threads(1);
    return true;
}
