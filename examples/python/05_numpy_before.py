# SPDX-License-Identifier: Apache-2.0
"""5, before: a program of NumPy and mpi4py that standardizes the columns of a table whose rows are divided
among the ranks.

    $ mpirun -n 3 python3 05_numpy_before.py
"""
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rows = 1000
per_rank = -(-rows // comm.size)
first, last = min(comm.rank * per_rank, rows), min((comm.rank + 1) * per_rank, rows)
table = np.sin(np.arange(first * 4, last * 4, dtype=np.float64)).reshape(-1, 4)

total = np.empty(4)
comm.Allreduce(table.sum(axis=0), total, op=MPI.SUM)
mean = total / rows
squares = np.empty(4)
comm.Allreduce(((table - mean) ** 2).sum(axis=0), squares, op=MPI.SUM)
table = (table - mean) / np.sqrt(squares / rows)

gram = np.empty((4, 4))
comm.Allreduce(table.T @ table, gram, op=MPI.SUM)
if comm.rank == 0:
    print(f"correlation {gram[0, 1] / rows:.6f}")
