/* SPDX-License-Identifier: Apache-2.0
 *
 * Which CPUs each rank runs on. The machine is read once into a list of CPUs ordered so that neighbours share caches
 * and memory; what a rank gets is arithmetic on that list.
 */
#ifndef DTRUN_BINDING_H
#define DTRUN_BINDING_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum binding { BIND_DEFAULT, BIND_CORE, BIND_NUMA, BIND_NONE };

bool binding_parse(const char *word, enum binding *out);

/* One CPU as the kernel counts them: a hardware thread. */
struct cpu {
    int id;
    int node;          /* NUMA node; 0 where the machine has none */
    int package, core; /* CPUs that agree in both are threads of one core */
};

struct machine {
    struct cpu *cpus; /* that this process may use, ordered by node, package, core and id */
    int n_cpus;
};

/* CPUs that one rank may use. */
enum { MAX_CPUS = 8192 };
typedef struct cpu_mask {
    unsigned long words[MAX_CPUS / (8 * sizeof(unsigned long))];
} cpu_mask;

static inline cpu_set_t *cpu_mask_set(cpu_mask *mask) { return (cpu_set_t *)(void *)mask->words; }

/* Reads the topology of the allowed CPUs from below `root` ("/sys/devices/system"). False if memory is out. */
bool machine_read(const char *root, cpu_mask *allowed, struct machine *machine);
void machine_free(struct machine *machine);

/* Resolves the default: core if each of several ranks has one of n_cores, else none. */
enum binding binding_settle(enum binding binding, int64_t n_ranks, int n_cores);

/* The share of rank r of n. False if the machine cannot be shared in this way: more ranks than CPUs, or no
 * binding. */
bool binding_share(const struct machine *machine, enum binding binding, int64_t rank, int64_t n_ranks, cpu_mask *out);

#endif
