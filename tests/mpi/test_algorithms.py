# SPDX-License-Identifier: Apache-2.0
"""Each algorithm between nodes, forced by DTENSOR_TEST_ALGORITHM, on 2 to 7 nodes with equal and unequal numbers of ranks;
collectives that lack the algorithm, or the route, use another. And what the machine model chooses, with data cut into
messages that are far smaller than 1 GiB, too."""
# ctest: labels=long timeout=1800 processors=2
import sys

import matrix

ROUTES = "ranks leaders shares copies direct".split()
ALGORITHMS = "pairwise_exchange ring recursive_doubling binomial_tree".split()
# Ranks and nodes. Everything is forced on nodes of one rank, of two, and of unequal numbers; the model chooses on all.
SHAPES = [(3, 3), (5, 5), (7, 7), (4, 2), (6, 3), (3, 2), (5, 3), (5, 2), (6, 2), (7, 4), (8, 3), (8, 4)]
FORCED = SHAPES[:7]

cells = []
for mpi in matrix.installed():
    for n, nodes in SHAPES:
        tried = ["model"]
        if mpi == matrix.installed()[0] and (n, nodes) in FORCED:
            tried += ALGORITHMS if n == nodes else ROUTES + [f"{r}/{a}" for r in ROUTES[1:3] for a in ALGORITHMS]
        cells.append((mpi, n, nodes, "cluster.algorithms", 240, None, {"DTENSOR_TEST_ALGORITHMS": " ".join(tried)}))
    for n, nodes, program in (4, 2, "cluster.algorithms"), (5, 3, "cluster.algorithms"), (4, 2, "move.execute_random"):
        cells.append((mpi, n, nodes, program, 240, None, {"DTENSOR_TEST_MESSAGE_BYTES": "5003"}))
sys.exit(matrix.run_all(cells))
