/* SPDX-License-Identifier: Apache-2.0
 *
 * Who is bound where, for people. Lists are ranges in ascending order: "0-3,8".
 *
 *     machine: 2 packages, 4 NUMA nodes, 16 cores, 32 CPUs
 *     binding: core, 2 threads per rank
 *     rank 0: 2 cores, CPUs 0-1,16-17, NUMA node 0, package 0
 */
#include "dtrun/binding_text.h"

#include <inttypes.h>
#include <stdlib.h>

static int compare_ints(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    return a < b ? -1 : a > b;
}

/* Sorts values and removes duplicates; returns how many are left. */
static int sort_unique(int *values, int n) {
    int kept = 0;
    qsort(values, (size_t)n, sizeof *values, compare_ints);
    for (int i = 0; i < n; i++)
        if (kept == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    return kept;
}

/* ", CPUs 0-3,8" of a field of the CPUs in a share. */
static void print_list(const struct machine *machine, const struct share *share, const char *noun, size_t field,
                       FILE *file) {
    int *values = calloc((size_t)share->n + 1, sizeof *values);
    if (!values)
        return;
    for (int i = 0; i < share->n; i++)
        values[i] = *(const int *)((const char *)&machine->cpus[share->first + i] + field);
    int n = sort_unique(values, share->n);
    fprintf(file, ", %s%s ", noun, n == 1 ? "" : "s");
    for (int i = 0, last; i < n; i = last + 1) {
        for (last = i; last + 1 < n && values[last + 1] == values[last] + 1;)
            last++;
        fprintf(file, "%s%d", i ? "," : "", values[i]);
        if (last > i)
            fprintf(file, "-%d", values[last]);
    }
    free(values);
}

static void print_count(int n, const char *noun, FILE *file) { fprintf(file, "%d %s%s", n, noun, n == 1 ? "" : "s"); }

/* A share that has not all hardware threads of a core is counted in these. */
static bool has_whole_cores(const struct machine *machine, const struct share *share) {
    int end = share->first + share->n;
    const struct cpu *cpus = machine->cpus;
    return (share->first == 0 || cpus[share->first - 1].core != cpus[share->first].core) &&
           (end == machine->n_cpus || cpus[end].core != cpus[end - 1].core);
}

static void print_share(const struct machine *machine, const struct share *share, FILE *file) {
    if (has_whole_cores(machine, share))
        print_count(share_cores(machine, share), "core", file);
    else
        print_count(share->n, "hardware thread", file);
    print_list(machine, share, "CPU", offsetof(struct cpu, id), file);
    print_list(machine, share, "NUMA node", offsetof(struct cpu, node), file);
    print_list(machine, share, "package", offsetof(struct cpu, package), file);
    fputc('\n', file);
}

void binding_print(const struct options *options, FILE *file) {
    const struct machine *machine = &options->topology;
    const struct share all = {0, machine->n_cpus};
    fprintf(file, "machine%s: ", machine->is_pretended ? " (pretended)" : "");
    print_count(machine_packages(machine), "package", file);
    fputs(", ", file);
    print_count(machine_nodes(machine), "NUMA node", file);
    fputs(", ", file);
    print_count(machine_cores(machine), "core", file);
    fputs(", ", file);
    print_count(machine->n_cpus, "CPU", file);
    fprintf(file, "\nbinding: %s, ", binding_name(options->shares ? options->binding : BIND_NONE));
    print_count(options->n_threads, "thread", file);
    fputs(" per rank\n", file);
    for (int64_t rank = 0; options->shares && rank < options->n_ranks; rank++) {
        fprintf(file, "rank %" PRId64 ": ", rank);
        print_share(machine, &options->shares[rank], file);
    }
    if (options->shares || machine->n_cpus == 0)
        return;
    if (options->n_ranks == 1)
        fputs("rank 0: ", file);
    else
        fprintf(file, "ranks 0-%" PRId64 ": ", options->n_ranks - 1);
    print_share(machine, &all, file);
}
