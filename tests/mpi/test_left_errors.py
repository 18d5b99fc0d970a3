# SPDX-License-Identifier: Apache-2.0
"""Ranks under mpirun that end without dt_close: an error that was not reported is printed by each rank, once. The first
rank that ends may have the launcher kill the others before they print."""
import re
import subprocess
import unittest

import matrix

REPORTS = matrix.BUILD / "tests" / "dtrun.reports"


class LeftErrors(unittest.TestCase):
    def lines(self, mpi, n, actions, **variables):
        """What the ranks print of their errors."""
        result = subprocess.run([*map(str, matrix.LAUNCHERS[mpi]), "-n", str(n), str(REPORTS), actions], timeout=100,
                                env=matrix.environment(**variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        return sorted(re.findall(r"^rank \d: .*", result.stdout.decode(), re.M))

    def test_error_of_one_rank_is_printed_once(self):
        for mpi in matrix.installed():
            with self.subTest(mpi):
                for end in "exit 0", "tell; exit 0":  # Open MPI exits with 1, MPICH with 0
                    self.assertEqual(["rank 0: value: text"], self.lines(mpi, 1, f"wait; fail text; {end}"))

    def test_error_of_two_ranks_is_printed_once_by_each_that_lives(self):
        for mpi in matrix.installed():
            for nodes in 1, 2:
                with self.subTest(mpi, nodes=nodes):
                    either = [f"rank {rank}: value: text" for rank in range(2)]
                    for end in "exit 0", "tell; exit 0":
                        lines = self.lines(mpi, 2, f"wait; fail text; {end}", DTENSOR_NODES=nodes)
                        self.assertIn(lines, [either, either[:1], either[1:]])
                    self.assertEqual([], self.lines(mpi, 2, "wait; fail text; forget; exit 0", DTENSOR_NODES=nodes))

    def test_verdict_that_no_transfer_has_reported_is_printed(self):
        for mpi in matrix.installed():
            for nodes in 1, 2:
                with self.subTest(mpi, nodes=nodes):
                    either = [f"rank {rank}: value: text; found on rank {rank}" for rank in range(2)]
                    self.assertIn(self.lines(mpi, 2, "wait; verdict text; exit 0", DTENSOR_NODES=nodes),
                                  [either, either[:1], either[1:]])


if __name__ == "__main__":
    unittest.main()
