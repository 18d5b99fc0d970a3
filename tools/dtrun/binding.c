/* SPDX-License-Identifier: Apache-2.0
 *
 * The division of a machine among ranks. The CPUs are grouped into units (packages, NUMA nodes, cores or hardware
 * threads), which are runs of the machine's list; n ranks get consecutive runs of units.
 *
 * A launch is as fast as its smallest share, because ranks wait for each other. So runs of cores are as even as
 * possible, and boundaries of NUMA nodes are respected where that costs the smallest share nothing.
 */
#include "dtrun/binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    [BIND_NONE] = "none", [BIND_CORE] = "core", [BIND_NUMA] = "numa", [BIND_PACKAGE] = "package"};
enum { N_WORDS = sizeof words / sizeof words[0] };

bool binding_parse(const char *word, enum binding *out) {
    for (int i = BIND_NONE; i < N_WORDS; i++) {
        if (strcmp(word, words[i]) == 0) {
            *out = (enum binding)i;
            return true;
        }
    }
    return false;
}

const char *binding_name(enum binding binding) { return words[binding]; }

void machine_free(struct machine *machine) {
    free(machine->cpus);
    *machine = (struct machine){0};
}

enum binding binding_settle(enum binding binding, int64_t n_ranks, int n_cores) {
    if (binding != BIND_DEFAULT)
        return binding;
    return n_ranks > 1 && n_ranks <= n_cores ? BIND_CORE : BIND_NONE;
}

/* The unit of a CPU; CPUs of one unit follow each other. */
typedef int unit_of(const struct cpu *cpu);

static int package_of(const struct cpu *cpu) { return cpu->package; }
static int node_of(const struct cpu *cpu) { return cpu->node; }
static int core_of(const struct cpu *cpu) { return cpu->core; }
static int id_of(const struct cpu *cpu) { return cpu->id; }

static int count_units(const struct machine *machine, const struct share *share, unit_of *unit) {
    int n = 0;
    for (int i = share->first; i < share->first + share->n; i++)
        n += i == share->first || unit(&machine->cpus[i]) != unit(&machine->cpus[i - 1]);
    return n;
}

static struct share all_of(const struct machine *machine) { return (struct share){0, machine->n_cpus}; }

int machine_cores(const struct machine *machine) {
    struct share all = all_of(machine);
    return count_units(machine, &all, core_of);
}

int machine_nodes(const struct machine *machine) {
    struct share all = all_of(machine);
    return count_units(machine, &all, node_of);
}

int machine_packages(const struct machine *machine) {
    struct share all = all_of(machine);
    return count_units(machine, &all, package_of);
}

int share_cores(const struct machine *machine, const struct share *share) {
    return count_units(machine, share, core_of);
}

/* Units [first, end) of those within a range of CPUs. */
static struct share take_units(const struct machine *machine, const struct share *range, unit_of *unit, int64_t first,
                               int64_t end) {
    struct share taken = {range->first, 0};
    int64_t current = 0;
    for (int i = range->first; i < range->first + range->n; i++) {
        current += i > range->first && unit(&machine->cpus[i]) != unit(&machine->cpus[i - 1]);
        if (current < first)
            taken.first = i + 1;
        else if (current < end)
            taken.n++;
    }
    return taken;
}

/* n ranks get runs of the units of a range whose lengths differ by at most one. */
static void divide_evenly(const struct machine *machine, const struct share *range, unit_of *unit, int64_t n_ranks,
                          struct share *shares) {
    int64_t n_units = count_units(machine, range, unit);
    for (int64_t rank = 0; rank < n_ranks; rank++)
        shares[rank] = take_units(machine, range, unit, rank * n_units / n_ranks, (rank + 1) * n_units / n_ranks);
}

/* The unit that rank r of n belongs to: that of the core in the middle of its even share. */
static struct share home_of(const struct machine *machine, unit_of *unit, int64_t rank, int64_t n_ranks,
                            int64_t n_cores) {
    struct share all = all_of(machine);
    int64_t middle = (2 * rank + 1) * n_cores / (2 * n_ranks);
    int first = take_units(machine, &all, core_of, middle, middle + 1).first, end = first + 1;
    while (first > 0 && unit(&machine->cpus[first - 1]) == unit(&machine->cpus[first]))
        first--;
    while (end < machine->n_cpus && unit(&machine->cpus[end]) == unit(&machine->cpus[first]))
        end++;
    return (struct share){first, end - first};
}

/* Every rank gets the unit that it belongs to; with fewer ranks than units, a run of units. */
static void divide_by_home(const struct machine *machine, unit_of *unit, int64_t n_ranks, struct share *shares) {
    struct share all = all_of(machine);
    int64_t n_cores = machine_cores(machine);
    if (n_ranks < count_units(machine, &all, unit)) {
        divide_evenly(machine, &all, unit, n_ranks, shares);
        return;
    }
    for (int64_t rank = 0; rank < n_ranks; rank++)
        shares[rank] = home_of(machine, unit, rank, n_ranks, n_cores);
}

/* Ranks that belong to a node share its cores. False if one of them would get fewer than an even share. */
static bool divide_within_nodes(const struct machine *machine, int64_t n_ranks, struct share *shares) {
    int64_t n_cores = machine_cores(machine), next;
    for (int64_t rank = 0; rank < n_ranks; rank++)
        shares[rank] = home_of(machine, node_of, rank, n_ranks, n_cores);
    for (int64_t rank = 0; rank < n_ranks; rank = next) {
        struct share node = shares[rank];
        for (next = rank; next < n_ranks && shares[next].first == node.first;)
            next++;
        if (share_cores(machine, &node) / (next - rank) < n_cores / n_ranks)
            return false;
        divide_evenly(machine, &node, core_of, next - rank, shares + rank);
    }
    return true;
}

/* Whether every core can carry the same number of ranks, each with the same number of hardware threads. */
static bool threads_divide(const struct machine *machine, int64_t n_ranks, int64_t n_cores) {
    if (n_ranks % n_cores || machine->n_cpus % n_ranks)
        return false;
    for (int i = 0, n = 1; i < machine->n_cpus; i++, n++) {
        bool ends = i + 1 == machine->n_cpus || machine->cpus[i + 1].core != machine->cpus[i].core;
        if (ends && n != machine->n_cpus / n_cores)
            return false;
        n = ends ? 0 : n;
    }
    return true;
}

static bool divide_cores(const struct machine *machine, int64_t n_ranks, struct share *shares) {
    struct share all = all_of(machine);
    int64_t n_cores = machine_cores(machine);
    if (n_ranks > n_cores) {
        if (!threads_divide(machine, n_ranks, n_cores))
            return false;
        divide_evenly(machine, &all, id_of, n_ranks, shares);
    } else if (!divide_within_nodes(machine, n_ranks, shares)) {
        divide_evenly(machine, &all, core_of, n_ranks, shares);
    }
    return true;
}

bool binding_divide(const struct machine *machine, enum binding binding, int64_t n_ranks, struct share *shares) {
    if (machine->n_cpus == 0 || binding == BIND_NONE || binding == BIND_DEFAULT)
        return false;
    if (binding == BIND_CORE)
        return divide_cores(machine, n_ranks, shares);
    divide_by_home(machine, binding == BIND_NUMA ? node_of : package_of, n_ranks, shares);
    return true;
}

int binding_threads(const struct machine *machine, const struct share *shares, int64_t n_ranks) {
    int64_t min = INT64_MAX, next;
    for (int64_t rank = 0; rank < n_ranks; rank = next) {
        for (next = rank; next < n_ranks && shares[next].first == shares[rank].first;)
            next++;
        int64_t n = share_cores(machine, &shares[rank]) / (next - rank);
        min = n < min ? n : min;
    }
    return min < 1 ? 1 : (int)min;
}

bool binding_apply(const struct machine *machine, const struct share *share) {
    int max = 0;
    for (int i = share->first; i < share->first + share->n; i++)
        max = machine->cpus[i].id > max ? machine->cpus[i].id : max;
    size_t bytes = CPU_ALLOC_SIZE((size_t)max + 1);
    cpu_set_t *set = CPU_ALLOC((size_t)max + 1);
    if (!set)
        return false;
    CPU_ZERO_S(bytes, set);
    for (int i = share->first; i < share->first + share->n; i++)
        CPU_SET_S((size_t)machine->cpus[i].id, bytes, set);
    bool ok = sched_setaffinity(0, bytes, set) == 0;
    int error = errno;
    CPU_FREE(set);
    errno = error;
    return ok;
}
