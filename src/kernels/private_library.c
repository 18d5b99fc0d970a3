/* SPDX-License-Identifier: Apache-2.0
 *
 * The namespace is opened once per process, because their number is limited. The environment of its C library is
 * replaced before a library is loaded into it, which reads its thread count there, and starts no thread if it is 1.
 * The environment of the program is not touched. The loader, thread-local storage and the threads of the program are
 * shared by all namespaces.
 */
#include "kernels/private_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_VARIABLES = 512,
    NAME_BYTES = 128,
    MAX_DEPTH = 4, /* of libraries that are needed by those that are needed */
};

/* The environment of the namespace; must outlive it. If a variable occurs twice, the first value counts. */
static char *environment[MAX_VARIABLES + 1] = {
    "OPENBLAS_NUM_THREADS=1",         "BLIS_NUM_THREADS=1", "MKL_NUM_THREADS=1",
    "MKL_THREADING_LAYER=SEQUENTIAL", "OMP_NUM_THREADS=1",
};
enum { N_OWN_VARIABLES = 5 };

static Lmid_t space;
static bool is_open;

bool dt__private_function(void *library, const char *name, void *function) {
    void *found = library ? dlsym(library, name) : NULL; /* dlsym returns functions as object pointers */
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* A new namespace with a C library that has our environment. */
static void open_namespace(void) {
    void *libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW | RTLD_LOCAL);
    char ***namespace_environ = libc ? dlsym(libc, "environ") : NULL;
    if (!namespace_environ || dlinfo(libc, RTLD_DI_LMID, &space) != 0)
        return;
    for (int i = 0; environ && environ[i] && N_OWN_VARIABLES + i < MAX_VARIABLES; i++)
        environment[N_OWN_VARIABLES + i] = environ[i];
    *namespace_environ = environment;
    is_open = true;
}

/* Opens a library in the namespace. The loader searches for what we open in the folders of our run path, where a wheel
 * has its libraries, but for what such a library needs in those of the system only. So what it does not find is opened
 * here first; an error begins with its name. */
static void *open_library(const char *name, int depth) {
    char missing[NAME_BYTES], tried[NAME_BYTES] = "";
    for (;;) {
        void *found = dlmopen(space, name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        const char *error = found ? NULL : dlerror();
        size_t n = error ? strcspn(error, ":") : 0;
        if (found || n == 0 || n >= sizeof missing || depth == 0)
            return found;
        memcpy(missing, error, n);
        missing[n] = 0;
        if (!strcmp(missing, name) || !strcmp(missing, tried) || !open_library(missing, depth - 1))
            return NULL;
        memcpy(tried, missing, n + 1);
    }
}

void *dt__private_library(const char *const *names) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    void *library = NULL;
    if (pthread_once(&once, open_namespace) != 0 || !is_open)
        return NULL;
    for (int i = 0; names[i] && !library; i++)
        library = open_library(names[i], MAX_DEPTH);
    return library;
}
