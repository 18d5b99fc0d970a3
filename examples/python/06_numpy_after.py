# SPDX-License-Identifier: Apache-2.0
"""6: the program of 05_numpy_before.py with distributed tensors. The local arrays stay where they are, and every
sum over rows that needs other ranks is an ordinary sum.

    $ dtrun -n 3 python3 06_numpy_after.py
    $ mpirun -n 3 python3 06_numpy_after.py

Inside a program that uses mpi4py, dt.init(comm=comm) makes the ranks of a communicator the world.
"""
import numpy as np

import dtensor as dt

rows = 1000
mesh = dt.init_device_mesh("cpu", (-1,))
per_rank = -(-rows // mesh.size())
first, last = min(mesh.get_rank() * per_rank, rows), min((mesh.get_rank() + 1) * per_rank, rows)
local = np.sin(np.arange(first * 4, last * 4, dtype=np.float64)).reshape(-1, 4)

table = dt.from_local(local, mesh, [dt.Shard(0)], shape=(rows, 4))  # the memory of the array
table = (table - table.mean(dim=0)) / table.std(dim=0, correction=0)
gram = table.T @ table
correlation = gram[0, 1].item() / rows
if dt.get_rank() == 0:
    print(f"correlation {correlation:.6f}")
