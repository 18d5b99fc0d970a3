# SPDX-License-Identifier: Apache-2.0
"""The program of docs/mpi-codes.md under both MPIs: an MPI code with ghost cells whose arrays are shards of tensors, on part of the processes.
Its norms, its mean and its file are those of a plain loop in Python, on any number of workers, on one node and on two."""
import ast
import os
import pathlib
import re
import struct
import tempfile
import unittest

import matrix

SOURCES = pathlib.Path(__file__).resolve().parent / "consumer"
EVERY = 20


def iterate(rows, columns, n_steps):
    """(changes, the plate): the same iteration without ranks."""
    old = [[1.0] * (columns + 2)] + [[0.0] * (columns + 2) for _ in range(rows + 1)]
    changes = []
    for step in range(1, n_steps + 1):
        new = [line[:] for line in old]
        for i in range(1, rows + 1):
            for j in range(1, columns + 1):
                new[i][j] = 0.25 * (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1])
        if step % EVERY == 0:
            changes.append(sum((new[i][j] - old[i][j]) ** 2 for i in range(1, rows + 1) for j in range(1, columns + 1)) ** 0.5)
        old = new
    return changes, [line[1:-1] for line in old[1:-1]]


def read_npy(path):
    data = path.read_bytes()
    n = struct.unpack_from("<H", data, 8)[0]
    head = ast.literal_eval(data[10:10 + n].decode())
    assert head["descr"] == "<f8" and not head["fortran_order"], head
    rows, columns = head["shape"]
    return [list(struct.unpack_from(f"<{columns}d", data, 10 + n + 8 * columns * i)) for i in range(rows)]


class Jacobi(unittest.TestCase):
    def test_values_are_those_of_a_plain_loop(self):
        with tempfile.TemporaryDirectory() as folder:
            for mpi in matrix.installed():
                program = matrix.compile_program(mpi, SOURCES / "jacobi.c", folder)
                for n, nodes, rows, columns, n_steps in (2, 1, 13, 11, 60), (4, 1, 13, 11, 61), (5, 2, 13, 11, 60), (7, 2, 5, 9, 41), (7, 1, 2, 1, 40):
                    with self.subTest(mpi, n=n, nodes=nodes, rows=rows, columns=columns):
                        path = pathlib.Path(folder, "plate.npy")
                        code, out = matrix.run(mpi, n, [program, rows, columns, n_steps, path], 60, DTENSOR_NODES=nodes)
                        self.assertEqual(0, code, out)
                        changes, plate = iterate(rows, columns, n_steps)
                        printed = [float(value) for value in re.findall(r"^change (\S+)$", out, re.M)]
                        self.assertEqual(len(changes), len(printed), out)
                        for ours, expected in zip(printed, changes):
                            self.assertAlmostEqual(ours, expected, 11)
                        mean = sum(map(sum, plate)) / (rows * columns)
                        self.assertAlmostEqual(float(re.search(r"^mean (\S+)$", out, re.M)[1]), mean, 11)
                        self.assertEqual(plate, read_npy(path))  # to the last bit: no sum is involved
                        os.remove(path)


if __name__ == "__main__":
    unittest.main()
