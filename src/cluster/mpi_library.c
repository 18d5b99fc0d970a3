/* SPDX-License-Identifier: Apache-2.0
 *
 * Which MPI library a process uses, and opening the module for it. A process can contain only one MPI: one that is
 * already loaded decides; otherwise the launcher's variables do. They are read for nothing else: rank and size come
 * from MPI. DTENSOR_MPI names the MPI, or the file of the module.
 */
#include "cluster/mpi_library.h"

#include "cluster/cluster.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, LOOKED_BYTES = 2048 };

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

static bool is_initialized(void) {
    int (*initialized)(int *), (*finalized)(int *);
    int yes = 0, no = 0;
    *(void **)&initialized = loaded_function("MPI_Initialized");
    *(void **)&finalized = loaded_function("MPI_Finalized");
    return initialized && finalized && initialized(&yes) == 0 && finalized(&no) == 0 && yes && !no;
}

bool dt__mpi_is_launched(void) { return launcher_mpi() || is_initialized(); }

/* Writes the folder of a file, with links resolved or as the path has it; "" if there is none. */
static void folder_of(const char *file, bool resolves, char *folder) {
    char path[PATH_BYTES];
    folder[0] = 0;
    if (!file || (resolves ? !realpath(file, path) : snprintf(path, sizeof path, "%s", file) >= PATH_BYTES))
        return;
    char *slash = strrchr(path, '/');
    if (!slash)
        return;
    *slash = 0;
    snprintf(folder, PATH_BYTES, "%s", path);
}

/* The search for the module, and where it has looked, for the error. */
struct search {
    const char *mpi;
    void *module;
    char looked[LOOKED_BYTES]; /* "A, B, C" */
    char refused[256];         /* why the first file that was there could not be opened; or "" */
};

/* Global, because the plug-ins of Open MPI expect its symbols to be. Opening a device or a pipe might never return. */
static void *open_module(const char *path) {
    struct stat info;
    if (strchr(path, '/') && stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static void look_in(struct search *search, const char *folder) {
    char path[PATH_BYTES + 64], resolved[PATH_BYTES];
    if (search->module || !realpath(folder, resolved))
        return;
    size_t n = strlen(search->looked), room = sizeof search->looked - n;
    const char *known = strstr(search->looked, resolved);
    if (known && (known[strlen(resolved)] == ',' || !known[strlen(resolved)]))
        return;
    snprintf(search->looked + n, room, "%s%s", n ? ", " : "", resolved);
    snprintf(path, sizeof path, "%s/libdtensor_mpi_%s.so", resolved, search->mpi);
    search->module = open_module(path);
    const char *why = !search->module && access(path, F_OK) == 0 ? dlerror() : NULL;
    if (why && !search->refused[0])
        snprintf(search->refused, sizeof search->refused, "%s", why);
}

/* In a folder and where an installation has its libraries, seen from that folder. */
static void look_around(struct search *search, const char *folder) {
    static const char *const places[] = {"", "/../lib", ("/../" DTENSOR_LIBDIR), "/../../lib"};
    char path[PATH_BYTES + 64];
    for (size_t i = 0; *folder && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        look_in(search, path);
    }
}

/* Next to the library; next to the program, where its file is and where a link to it was started; in the prefix that
 * the library was compiled for; where the system searches. A set-uid program does not search next to itself: its caller
 * may have made the link. */
static void *find_module(const char *mpi, char *error, size_t error_bytes) {
    struct search search = {.mpi = mpi};
    char folder[PATH_BYTES], name[64];
    bool is_secure = getauxval(AT_SECURE);
    Dl_info info;
    if (dladdr((const void *)(uintptr_t)find_module, &info)) {
        folder_of(info.dli_fname, true, folder);
        look_around(&search, is_secure && !strstr(info.dli_fname, ".so") ? "" : folder);
    }
    if (!is_secure) {
        folder_of("/proc/self/exe", true, folder);
        look_around(&search, folder);
        folder_of((const char *)getauxval(AT_EXECFN), false, folder); // NOLINT(performance-no-int-to-ptr)
        look_around(&search, folder);
    }
    look_in(&search, DTENSOR_FULL_LIBDIR);
    snprintf(name, sizeof name, "libdtensor_mpi_%s.so", mpi);
    if (!search.module)
        search.module = open_module(name);
    if (!search.module)
        snprintf(error, error_bytes,
                 "this process runs under MPI, but the module for it cannot be opened: %s; looked in %s, and where "
                 "the system searches; set DTENSOR_MPI to the path of %s, install it in one of these folders, or "
                 "set DTENSOR_TRANSPORT=self",
                 search.refused[0] ? search.refused : dlerror(), search.looked, name);
    return search.module;
}

static void *open_named(const char *name, char *error, size_t error_bytes) {
    struct stat info;
    if (!strchr(name, '/'))
        return find_module(name, error, error_bytes);
    void *module = open_module(name);
    if (!module && stat(name, &info) == 0 && !S_ISREG(info.st_mode))
        snprintf(error, error_bytes, "DTENSOR_MPI: expected a regular file, got %s", name);
    else if (!module)
        snprintf(error, error_bytes, "DTENSOR_MPI: %s", dlerror());
    return module;
}

const dt__mpi_table *dt__mpi_load(char *error, size_t error_bytes) {
    const char *requested = secure_getenv("DTENSOR_MPI"), *loaded = loaded_mpi(), *launcher = launcher_mpi();
    const char *mpi = loaded ? loaded : launcher ? launcher : "openmpi";
    if (requested && *requested && strcmp(requested, "openmpi") && strcmp(requested, "mpich") &&
        !strchr(requested, '/')) {
        snprintf(error, error_bytes, "DTENSOR_MPI: expected openmpi, mpich or a path, got \"%.64s\"", requested);
        return NULL;
    }
    void *module = open_named(requested && *requested ? requested : mpi, error, error_bytes);
    if (!module && !loaded && !launcher && !(requested && *requested))
        module = find_module("mpich", error, error_bytes);
    const dt__mpi_table *table = module ? dlsym(module, DT__MPI_TABLE_SYMBOL) : NULL;
    if (table && table->version == DT__MPI_TABLE_VERSION)
        return table;
    if (module)
        snprintf(error, error_bytes, "the MPI module is of another version of the library");
    return NULL;
}
