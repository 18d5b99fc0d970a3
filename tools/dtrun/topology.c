/* SPDX-License-Identifier: Apache-2.0
 *
 * hwloc reads what a launch needs: packages, cores, hardware threads and NUMA nodes. Its plugins look for graphics and
 * network cards and take longer than everything else; its x86 backend binds this process to each CPU in turn. Neither
 * adds to what the kernel's own files contain, so both are left out. If those files are missing, as in a container
 * without /sys, hwloc counts CPUs by other means; its warning about that is suppressed, too.
 */
#include "dtrun/topology.h"

#include "base/regular_file.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_XML_BYTES = 64 << 20 }; /* more than that of any machine */

/* Settings that hwloc takes from the environment only. Those of the user stay, and ranks inherit none of ours. */
static struct setting {
    const char *name, *value;
    bool is_ours;
} settings[] = {{.name = "HWLOC_PLUGINS_PATH", .value = "/nonexistent"}, {.name = "HWLOC_HIDE_ERRORS", .value = "2"}};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

static void settings_begin(void) {
    for (struct setting *s = settings; s < settings + N_SETTINGS; s++)
        s->is_ours = !getenv(s->name) && setenv(s->name, s->value, 1) == 0;
}

static void settings_end(void) {
    for (struct setting *s = settings; s < settings + N_SETTINGS; s++)
        if (s->is_ours)
            unsetenv(s->name);
}

static hwloc_topology_t new_topology(void) {
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology))
        return NULL;
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    /* Several NUMA nodes in a package each belong to a group of its cores. */
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    return topology;
}

/* The text of a file, to be freed; NULL if it cannot be read whole. */
static char *read_text(FILE *file, size_t *n_chars) {
    char *text = malloc(MAX_XML_BYTES + 1);
    *n_chars = text ? fread(text, 1, MAX_XML_BYTES, file) : 0;
    if (text && !ferror(file)) {
        text[*n_chars] = 0;
        return text;
    }
    free(text);
    return NULL;
}

/* The file is read here: hwloc would open anything, also a pipe. */
static bool describe_by_file(hwloc_topology_t topology, const char *path) {
    char error[DT__REGULAR_ERROR_BYTES];
    size_t n_chars = 0;
    FILE *file = dt__regular_file_read(path, MAX_XML_BYTES, error);
    char *text = file ? read_text(file, &n_chars) : NULL;
    if (file)
        (void)fclose(file);
    else
        fprintf(stderr, "dtrun: %s: %s\n", path, error);
    bool ok = text && hwloc_topology_set_xmlbuffer(topology, text, (int)n_chars + 1) == 0;
    free(text);
    return ok;
}

static bool describe(hwloc_topology_t topology, const char *description) {
    if (!description)
        return true;
    return access(description, F_OK) == 0 ? describe_by_file(topology, description)
                                          : hwloc_topology_set_synthetic(topology, description) == 0;
}

/* The CPUs of this process's affinity mask; NULL: no limit is known. */
static hwloc_bitmap_t own_mask(hwloc_topology_t topology) {
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    if (mask && hwloc_get_cpubind(topology, mask, HWLOC_CPUBIND_PROCESS) == 0)
        return mask;
    hwloc_bitmap_free(mask);
    return NULL;
}

static int index_of(hwloc_topology_t topology, hwloc_obj_t cpu, hwloc_obj_type_t type, int otherwise) {
    hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, cpu);
    return found ? (int)found->logical_index : otherwise;
}

static bool list_cpus(hwloc_topology_t topology, hwloc_const_bitmap_t allowed, struct machine *machine) {
    int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    machine->cpus = n > 0 ? calloc((size_t)n, sizeof *machine->cpus) : NULL;
    for (int i = 0; machine->cpus && i < n; i++) {
        hwloc_obj_t cpu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned)i);
        if (allowed && !hwloc_bitmap_isset(allowed, cpu->os_index))
            continue;
        int node = hwloc_bitmap_first(cpu->nodeset);
        machine->cpus[machine->n_cpus++] = (struct cpu){
            .id = (int)cpu->os_index,
            .node = node > 0 ? node : 0,
            .package = index_of(topology, cpu, HWLOC_OBJ_PACKAGE, 0),
            .core = index_of(topology, cpu, HWLOC_OBJ_CORE, i),
        };
    }
    return machine->n_cpus > 0;
}

bool machine_read(const char *description, struct machine *machine) {
    settings_begin();
    hwloc_topology_t topology = new_topology();
    bool ok = topology && describe(topology, description) && hwloc_topology_load(topology) == 0;
    settings_end();
    /* hwloc has variables of its own for machines that are described, such as HWLOC_XMLFILE. */
    *machine = (struct machine){.is_pretended = ok && !hwloc_topology_is_thissystem(topology)};
    hwloc_bitmap_t allowed = ok && !description ? own_mask(topology) : NULL;
    ok = ok && list_cpus(topology, allowed, machine);
    hwloc_bitmap_free(allowed);
    if (topology)
        hwloc_topology_destroy(topology);
    if (!ok)
        machine_free(machine);
    return ok;
}
