# SPDX-License-Identifier: Apache-2.0
"""Each algorithm between nodes, forced by DTENSOR_TEST_ALGORITHM, on 2 to 7 nodes with equal and unequal numbers of ranks;
collectives that lack the algorithm, or the route, use another. And what the machine model chooses, with data cut into
messages that are far smaller than 1 GiB, too."""
# ctest: labels=long timeout=1800 processors=2
import sys

import matrix

ROUTES = "ranks leaders shares copies direct".split()
ALGORITHMS = "pairwise_exchange ring recursive_doubling binomial_tree".split()
# ranks and nodes: nodes of one, of two and of three ranks; of unequal numbers
SHAPES = [(3, 3), (5, 5), (7, 7), (4, 2), (6, 3), (6, 2), (8, 4), (3, 2), (5, 2), (5, 3), (7, 4), (8, 3)]

cells = []
for mpi in matrix.installed():
    for n, nodes in SHAPES:
        forced = [None] + ALGORITHMS if n == nodes else [None] + ROUTES + [f"{r}/{a}" for r in ROUTES[1:3] for a in ALGORITHMS]
        if mpi != matrix.installed()[0]:
            forced = [None]
        for name in forced:
            cells.append((mpi, n, nodes, "comm.algorithms", 240, None, {"DTENSOR_TEST_ALGORITHM": name} if name else {}))
    for n, nodes, program in (4, 2, "comm.algorithms"), (5, 3, "comm.algorithms"), (4, 2, "move.execute_random"):
        cells.append((mpi, n, nodes, program, 240, None, {"DTENSOR_TEST_MESSAGE_BYTES": "5003"}))
sys.exit(matrix.run_all(cells))
