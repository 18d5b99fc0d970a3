# SPDX-License-Identifier: Apache-2.0
"""Collectives and redistributions of more than 2^31 elements between two nodes, in messages of at most 1 GiB, under both
MPIs."""
# ctest: labels=soak timeout=1800 processors=2
import sys

import matrix

# one launch at a time: each needs most of the memory that the programs ask for
failures = [matrix.run_tests(mpi, 2, 2, program, 600)
            for mpi in matrix.installed() for program in ("comm.large_counts", "move.large_tensors")]
for failure in filter(None, failures):
    print(failure, file=sys.stderr)
sys.exit(1 if any(failures) else 0)
