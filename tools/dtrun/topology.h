/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading a machine by hwloc: this one, or one that is described.
 */
#ifndef DTRUN_TOPOLOGY_H
#define DTRUN_TOPOLOGY_H

#include "dtrun/binding.h"

/* The forms of a description that machine_read accepts, for errors. */
#define TOPOLOGY_EXPECTED "a description such as \"package:2 numa:2 core:4 pu:2\" or an XML file of lstopo"

/* The CPUs of this machine that this process may use: within its affinity mask and the cpusets of its cgroups. With a
 * description, instead, those of the machine that it describes: an XML file if there is one of this name, else hwloc's
 * synthetic form. False if it cannot be read. */
bool machine_read(const char *description, struct machine *machine);

#endif
