# SPDX-License-Identifier: Apache-2.0
"""The binding of mpirun is respected: the threads of a rank are as many as the cores that it was given, and run there."""
# ctest: processors=2
import os
import re
import sys

import matrix

CORES = sorted(os.sched_getaffinity(0))
PROGRAM = matrix.BUILD / "tests" / "dtrun.affinity"
BOUND = {"openmpi": [word if word != "none" else "core" for word in matrix.LAUNCHERS["openmpi"]],
         "mpich": [*matrix.LAUNCHERS["mpich"], "-bind-to", "core"]}


def masks(mpi, n, launcher):
    """Of each rank: the CPUs of its process, the number of the library's threads, and the CPUs of all threads."""
    code, text = matrix.run(mpi, n, [PROGRAM], launcher=launcher)[:2]
    rows = re.findall(rf"rank (\d+) of {n}: (0x[0-9a-f]+), (\d+) threads on((?: 0x[0-9a-f]+)*)", text)
    if code != 0 or len(rows) != n:
        sys.exit(f"{mpi} -n {n}: exit code {code}\n{text}")
    return [(int(row[1], 16), int(row[2]), [int(mask, 16) for mask in row[3].split()]) for row in sorted(rows)]


def expect(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: expected {expected}, got {got}")


cores = masks(matrix.installed()[0], 1, None)[0][1]
for mpi in matrix.installed():
    everywhere = sum(1 << core for core in CORES)
    for n in (1, 2, len(CORES) + 1):
        for process, n_threads, threads in masks(mpi, n, None):
            expect(f"{mpi}: threads of a rank of {n}", n_threads, max(1, cores // n))
            expect(f"{mpi}: CPUs of an unbound rank", process, everywhere)
            expect(f"{mpi}: CPUs of threads", set(threads), {everywhere})
    if len(CORES) >= 2:
        ranks = masks(mpi, 2, BOUND[mpi])
        expect(f"{mpi}: CPUs of two bound ranks", len({process for process, _, _ in ranks}), 2)
        for process, n_threads, threads in ranks:
            expect(f"{mpi}: threads of a bound rank", n_threads, 1)
            # Threads that MPI started before it bound the process are not the library's.
            if process not in threads:
                sys.exit(f"{mpi}: no thread on {process:#x}: {threads}")
