/* SPDX-License-Identifier: Apache-2.0
 *
 * Which CPUs each rank runs on. A machine is a list of CPUs in which neighbors share caches and memory (topology.h
 * reads it); what a rank gets is a run of that list, by arithmetic alone.
 */
#ifndef DTRUN_BINDING_H
#define DTRUN_BINDING_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum binding { BIND_DEFAULT, BIND_NONE, BIND_CORE, BIND_NUMA, BIND_PACKAGE };

bool binding_parse(const char *word, enum binding *out);
/* "core"; of any but BIND_DEFAULT. */
const char *binding_name(enum binding binding);

/* One CPU as the kernel counts them: a hardware thread. */
struct cpu {
    int id;      /* of the kernel */
    int node;    /* NUMA node, as the kernel numbers them */
    int package; /* from 0 */
    int core;    /* from 0, over the whole machine; CPUs of one core are its hardware threads */
};

struct machine {
    struct cpu *cpus; /* that this process may use; those of a core, node or package follow each other */
    int n_cpus;
    bool is_pretended; /* read from a description: nothing can be bound */
};

/* The number of cores, NUMA nodes or packages with a CPU in the list. */
int machine_cores(const struct machine *machine);
int machine_nodes(const struct machine *machine);
int machine_packages(const struct machine *machine);
void machine_free(struct machine *machine);

/* The CPUs of one rank: a run of the machine's list. Two ranks have the same run, or disjoint ones. */
struct share {
    int first, n;
};

int share_cores(const struct machine *machine, const struct share *share);

/* Resolves the default: core if each of several ranks has one of n_cores, else none. */
enum binding binding_settle(enum binding binding, int64_t n_ranks, int n_cores);

/* Computes the share of each of n ranks. False if the machine cannot be shared fairly in this way, or if the binding
 * is none. Otherwise
 *     core     disjoint runs of cores. No run crosses a NUMA node unless a rank would have fewer than cores / ranks,
 *              rounded down. With more ranks than cores, hardware threads if each rank gets as many of them as every
 *              other, and each core as many ranks
 *     numa     the NUMA node of the rank, in proportion to cores; with fewer ranks than nodes, runs of nodes
 *     package  the same for packages */
bool binding_divide(const struct machine *machine, enum binding binding, int64_t n_ranks, struct share *shares);

/* Threads per rank such that no core has more than one: the minimum over ranks of the cores of a share, divided by the
 * ranks that have it. At least 1. */
int binding_threads(const struct machine *machine, const struct share *shares, int64_t n_ranks);

/* Restricts this process to the share; false with errno. */
bool binding_apply(const struct machine *machine, const struct share *share);

#endif
