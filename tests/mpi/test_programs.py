# SPDX-License-Identifier: Apache-2.0
"""The rank tests of the suite on the ranks that mpirun starts: both MPIs, 1 to 4 ranks, one node and two pretended
ones. In each of these cells there is every test that needs this number of ranks; a test that needs more runs on the
fewest that it needs, on two nodes. A program is left out only for the reason that it states (tests/CMakeLists.txt)."""
# ctest: labels=long timeout=1800 processors=2
import sys

import matrix

tests = matrix.rank_tests()
shapes = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2)]
shapes += [(n, 2) for n in sorted({min(needed) for needed in tests.values()}) if n > 4]
cells = []
for n in sorted({n for n, _ in shapes}, key=lambda n: (n <= 4, n), reverse=True):  # the longest first
    selected = [test for test, needed in tests.items() if n in needed and (n <= 4 or n == min(needed))]
    cells += [(mpi, n, nodes, selected) for mpi in matrix.installed() for ranks, nodes in shapes if ranks == n]
sys.exit(matrix.run_all(cells, matrix.run_selected))
