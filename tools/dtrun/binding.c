/* SPDX-License-Identifier: Apache-2.0
 *
 * Shares of a machine. The CPUs are divided into units (NUMA nodes, cores, or hardware threads), and n ranks get
 * consecutive runs of units whose lengths differ by at most one. Two ranks never share a unit, except NUMA nodes.
 */
#include "dtrun/binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {[BIND_CORE] = "core", [BIND_NUMA] = "numa", [BIND_NONE] = "none"};

bool binding_parse(const char *word, enum binding *out) {
    for (int i = BIND_CORE; i <= BIND_NONE; i++) {
        if (strcmp(word, words[i]) == 0) {
            *out = (enum binding)i;
            return true;
        }
    }
    return false;
}

/* Opens <root>/<head><number>/<tail>. */
static FILE *open_numbered(const char *root, const char *head, int number, const char *tail) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s%d/%s", root, head, number, tail);
    return fopen(path, "re");
}

static int read_topology(const char *root, int cpu, const char *file_name, int default_value) {
    FILE *file = open_numbered(root, "cpu/cpu", cpu, file_name);
    int value;
    if (!file)
        return default_value;
    if (fscanf(file, "%d", &value) != 1)
        value = default_value;
    fclose(file);
    return value;
}

/* Reads the next range of a list "0-3,8,10-11"; false at its end. */
static bool next_range(FILE *file, int *first, int *last) {
    if (fscanf(file, "%d", first) != 1)
        return false;
    *last = *first;
    int sign = fgetc(file);
    if (sign == '-' && fscanf(file, "%d", last) == 1)
        sign = fgetc(file);
    return sign == ',' || sign == '\n' || sign == EOF;
}

static void mark_node(const char *root, int node, struct machine *machine) {
    int first, last;
    FILE *list = open_numbered(root, "node/node", node, "cpulist");
    if (!list)
        return;
    while (next_range(list, &first, &last)) {
        for (int i = 0; i < machine->n_cpus; i++) {
            if (machine->cpus[i].id >= first && machine->cpus[i].id <= last)
                machine->cpus[i].node = node;
        }
    }
    fclose(list);
}

static void mark_nodes(const char *root, struct machine *machine) {
    char path[512];
    int first, last;
    snprintf(path, sizeof path, "%s/node/online", root);
    FILE *list = fopen(path, "re");
    if (!list)
        return;
    while (next_range(list, &first, &last)) {
        for (int node = first; node <= last; node++)
            mark_node(root, node, machine);
    }
    fclose(list);
}

static bool same_core(const struct cpu *a, const struct cpu *b) {
    return a->node == b->node && a->package == b->package && a->core == b->core;
}

static int compare_cpus(const void *left, const void *right) {
    const struct cpu *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->package != b->package)
        return a->package < b->package ? -1 : 1;
    if (a->core != b->core)
        return a->core < b->core ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

bool machine_read(const char *root, cpu_mask *allowed, struct machine *machine) {
    size_t n = (size_t)CPU_COUNT_S(sizeof *allowed, cpu_mask_set(allowed));
    *machine = (struct machine){.cpus = calloc(n ? n : 1, sizeof *machine->cpus)};
    if (!machine->cpus)
        return false;
    for (int id = 0; id < MAX_CPUS; id++) {
        if (!CPU_ISSET_S((size_t)id, sizeof *allowed, cpu_mask_set(allowed)))
            continue;
        machine->cpus[machine->n_cpus++] = (struct cpu){
            .id = id,
            .package = read_topology(root, id, "topology/physical_package_id", 0),
            .core = read_topology(root, id, "topology/core_id", id),
        };
    }
    mark_nodes(root, machine);
    qsort(machine->cpus, n, sizeof *machine->cpus, compare_cpus);
    return true;
}

void machine_free(struct machine *machine) {
    free(machine->cpus);
    *machine = (struct machine){0};
}

enum binding binding_settle(enum binding binding, int64_t n_ranks, int n_cores) {
    if (binding != BIND_DEFAULT)
        return binding;
    return n_ranks > 1 && n_ranks <= n_cores ? BIND_CORE : BIND_NONE;
}

/* Whether a CPU begins a new unit after the one before it in the machine's order. */
typedef bool begins_unit(const struct cpu *before, const struct cpu *cpu);

static bool begins_node(const struct cpu *before, const struct cpu *cpu) { return before->node != cpu->node; }
static bool begins_core(const struct cpu *before, const struct cpu *cpu) { return !same_core(before, cpu); }
static bool begins_thread(const struct cpu *before, const struct cpu *cpu) { return before->id != cpu->id; }

static int64_t count_units(const struct machine *machine, begins_unit *begins) {
    int64_t n = machine->n_cpus > 0;
    for (int i = 1; i < machine->n_cpus; i++)
        n += begins(&machine->cpus[i - 1], &machine->cpus[i]);
    return n;
}

static void take_units(const struct machine *machine, begins_unit *begins, int64_t first, int64_t end,
                       cpu_mask *out) {
    int64_t unit = 0;
    for (int i = 0; i < machine->n_cpus; i++) {
        if (i > 0 && begins(&machine->cpus[i - 1], &machine->cpus[i]))
            unit++;
        if (unit >= first && unit < end)
            CPU_SET_S((size_t)machine->cpus[i].id, sizeof *out, cpu_mask_set(out));
    }
}

bool binding_share(const struct machine *machine, enum binding binding, int64_t rank, int64_t n_ranks,
                   cpu_mask *out) {
    begins_unit *begins = begins_node;
    if (binding != BIND_CORE && binding != BIND_NUMA)
        return false;
    if (binding == BIND_CORE)
        begins = n_ranks <= count_units(machine, begins_core) ? begins_core : begins_thread;
    int64_t n_units = count_units(machine, begins);
    if (n_units == 0 || (binding == BIND_CORE && n_ranks > n_units))
        return false;
    int64_t first = rank * n_units / n_ranks, end = (rank + 1) * n_units / n_ranks;
    memset(out, 0, sizeof *out);
    take_units(machine, begins, first, end > first ? end : first + 1, out);
    return true;
}
