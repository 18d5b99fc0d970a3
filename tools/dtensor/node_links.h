/* SPDX-License-Identifier: Apache-2.0
 *
 * The links between nodes and within one, measured by `dtensor calibrate` on the ranks that a launcher has started.
 */
#ifndef TOOLS_DTENSOR_NODE_LINKS_H
#define TOOLS_DTENSOR_NODE_LINKS_H

#include "base/machine.h"
#include "dtensor/comm.h"

typedef struct node_links {
    int64_t ranks_per_node;
    dt__link within, between;
    double copy_bytes_per_us;
} node_links;

/* Collective over all ranks, which have the same result. Agreed errors: ranks of one node only, or not numbered node by
 * node. */
dt_status node_links_measure(dt_ctx *ctx, bool quick, node_links *out);

#endif
