/* SPDX-License-Identifier: Apache-2.0
 *
 * The rate of the link between NUMA nodes, for the machine model.
 */
#ifndef DTENSOR_NUMA_LINK_H
#define DTENSOR_NUMA_LINK_H

#include <stdbool.h>
#include <stddef.h>

/* The rate at which all CPUs of one NUMA node together copy from the memory of another, in bytes per microsecond; 0 if
 * this process may use the CPUs of one node only. */
double numa_link_measure(bool quick);

/* The same for these CPUs, each with `bytes` of its own on a node, touched first by a CPU of that node. 0 if a thread
 * cannot be started or bound, or without memory. */
typedef struct numa_link {
    const int *readers;
    int n_readers;
    int far_node, far_cpu;
    size_t bytes;
    int n_rounds; /* the best one counts */
} numa_link;
double numa_link_rate(const numa_link *link);

#endif
