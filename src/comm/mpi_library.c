/* SPDX-License-Identifier: Apache-2.0
 *
 * Which MPI library a process uses, and opening the module for it. A process can contain only one MPI: the one that it
 * has already loaded decides; otherwise the variables of the launcher decide, which are read for nothing else: rank and
 * size come from MPI. DTENSOR_MPI names the MPI, or the file of the module.
 */
#include "comm/mpi_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* The first variable that is set decides. */
static const struct {
    const char *variable, *mpi;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "openmpi"}, /* mpirun of Open MPI */
    {"PMI_RANK", "mpich"},               /* mpirun of MPICH, srun --mpi=pmi2 */
    {"PMIX_RANK", "openmpi"},            /* srun --mpi=pmix, prterun */
};

static const char *launcher_mpi(void) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (getenv(launchers[i].variable))
            return launchers[i].mpi;
    return NULL;
}

/* The MPI library that the process has loaded: a handle of it, NULL if there is none. */
static int find_loaded(struct dl_phdr_info *info, size_t size, void *found) {
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    (void)size;
    if (strncmp(name, "libmpi.so", 9) != 0 && strncmp(name, "libmpich.so", 11) != 0)
        return 0;
    snprintf(found, PATH_BYTES, "%s", info->dlpi_name);
    return 1;
}

/* A function of the MPI library that the process has loaded; NULL: it has none. */
static void *loaded_function(const char *name) {
    char path[PATH_BYTES];
    void *function = dlsym(RTLD_DEFAULT, name); /* also where the program is linked with MPI statically */
    if (function || !dl_iterate_phdr(find_loaded, path))
        return function;
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    function = library ? dlsym(library, name) : NULL;
    if (library)
        dlclose(library);
    return function;
}

enum { VERSION_BYTES = 16384 }; /* more than the maximum of any MPI */

static const char *loaded_mpi(void) {
    int (*version)(char *, int *);
    *(void **)&version = loaded_function("MPI_Get_library_version");
    if (!version)
        return NULL;
    char *text = calloc(1, VERSION_BYTES);
    int n = 0;
    bool is_openmpi = text && version(text, &n) == 0 && strstr(text, "Open MPI");
    free(text);
    return is_openmpi ? "openmpi" : "mpich";
}

static bool is_initialised(void) {
    int (*initialized)(int *), (*finalized)(int *);
    int yes = 0, no = 0;
    *(void **)&initialized = loaded_function("MPI_Initialized");
    *(void **)&finalized = loaded_function("MPI_Finalized");
    return initialized && finalized && initialized(&yes) == 0 && finalized(&no) == 0 && yes && !no;
}

bool dt__mpi_is_launched(void) { return launcher_mpi() || is_initialised(); }

/* The folder of the library, or of the program that contains it. */
static void own_folder(char *folder) {
    Dl_info info;
    char path[PATH_BYTES];
    folder[0] = 0;
    if (!dladdr((const void *)(uintptr_t)own_folder, &info) || !info.dli_fname || !realpath(info.dli_fname, path))
        return;
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
    snprintf(folder, PATH_BYTES, "%s", path);
}

/* Global, because the plug-ins of Open MPI expect its symbols to be. */
static void *open_module(const char *path) { return dlopen(path, RTLD_NOW | RTLD_GLOBAL); }

/* Beside the library; beside or in ../lib of a program that contains the library; where the system searches. */
static void *find_module(const char *mpi, char *error) {
    static const char *const places[] = {"/", "/../lib/", "/../../lib/"};
    char folder[PATH_BYTES], path[PATH_BYTES + 64];
    void *module = NULL;
    own_folder(folder);
    for (size_t i = 0; !module && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%slibdtensor_mpi_%s.so", folder, places[i], mpi);
        module = open_module(path);
    }
    snprintf(path, sizeof path, "libdtensor_mpi_%s.so", mpi);
    if (!module && !(module = open_module(path)))
        snprintf(error, DT__MPI_ERROR_BYTES,
                 "this process runs under MPI, but the module for it cannot be opened: %.300s; install "
                 "libdtensor_mpi_%.16s.so, or set DTENSOR_TRANSPORT=self",
                 dlerror(), mpi);
    return module;
}

static void *open_named(const char *name, char *error) {
    if (!strchr(name, '/'))
        return find_module(name, error);
    void *module = open_module(name);
    if (!module)
        snprintf(error, DT__MPI_ERROR_BYTES, "DTENSOR_MPI: %.400s", dlerror());
    return module;
}

const dt__mpi_table *dt__mpi_load(char *error) {
    const char *requested = getenv("DTENSOR_MPI"), *loaded = loaded_mpi(), *launcher = launcher_mpi();
    const char *mpi = loaded ? loaded : launcher ? launcher : "openmpi";
    if (requested && *requested && strcmp(requested, "openmpi") && strcmp(requested, "mpich") &&
        !strchr(requested, '/')) {
        snprintf(error, DT__MPI_ERROR_BYTES, "DTENSOR_MPI: expected openmpi, mpich or a path, got \"%.64s\"",
                 requested);
        return NULL;
    }
    void *module = open_named(requested && *requested ? requested : mpi, error);
    if (!module && !loaded && !launcher && !(requested && *requested))
        module = find_module("mpich", error);
    const dt__mpi_table *table = module ? dlsym(module, DT__MPI_TABLE_SYMBOL) : NULL;
    if (table && table->version == DT__MPI_TABLE_VERSION)
        return table;
    if (module)
        snprintf(error, DT__MPI_ERROR_BYTES, "the MPI module is of another version of the library");
    return NULL;
}
