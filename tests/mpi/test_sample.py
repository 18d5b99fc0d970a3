# SPDX-License-Identifier: Apache-2.0
"""A sample of the matrix of test_programs.py: both MPIs, four ranks as two nodes, and one node of three."""
# ctest: processors=2
import sys

import matrix

cells = []
for mpi in matrix.installed():
    cells += [(mpi, 4, 2, "comm.collectives/*dtype*"), (mpi, 4, 2, "move.execute_random"), (mpi, 3, 1, "mesh.groups"),
              (mpi, 2, 2, "autograd.backward")]
sys.exit(matrix.run_all(cells))
