# SPDX-License-Identifier: Apache-2.0
"""Mistakes of programs that use MPI themselves: errors and warnings that name the mistake, and no crash."""
import pathlib
import re
import tempfile
import unittest

import matrix

SOURCES = pathlib.Path(__file__).resolve().parent / "consumer"
FINALIZED = "MPI_Finalize was called while the context was open; call dt_close before MPI_Finalize"


class Misuse(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.programs = {mpi: matrix.compile_program(mpi, SOURCES / "misuse.c", cls.folder.name) for mpi in matrix.installed()}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def each(self, how, n, nodes=(1, 2)):
        """(exit code, output) under every MPI, with ranks on so many nodes."""
        for mpi, program in self.programs.items():
            for n_nodes in nodes:
                with self.subTest(how, mpi=mpi, nodes=n_nodes):
                    yield matrix.run(mpi, n, [program, how], 60, DTENSOR_NODES=n_nodes)

    def test_finalizing_first_is_an_error_of_dt_close(self):
        for how in "finalize", "finalize_then_call":
            for code, out in self.each(how, 2):
                self.assertEqual(0, code, out)
                for rank in range(2):
                    self.assertIn(f"rank {rank}: closed with 1\n", out)
                    self.assertRegex(out, rf"rank {rank}: \w+: .*{FINALIZED}.* \(at \S*misuse.c:\d+\)")
                # UCX may warn of a message that arrived too late to be received; an error of its own would be a crash.
                self.assertNotRegex(out, r"UCX +(ERROR|FATAL)")

    def test_no_communicator_is_an_error_on_that_rank(self):
        for code, out in self.each("null", 3, [1]):
            self.assertEqual(0, code, out)
            self.assertRegex(out, r"rank 0: init: transport mpi: mpi_comm: expected a communicator, got MPI_COMM_NULL; .*misuse.c:\d+\)")
            for rank in 1, 2:
                self.assertIn(f"rank {rank}: world of 2, closed with 0\n", out)

    def test_communicator_of_two_groups_is_refused(self):
        for code, out in self.each("two_groups", 2, [1]):
            self.assertEqual(0, code, out)
            self.assertEqual(2, len(re.findall(r"expected a communicator of one group, got an intercommunicator", out)), out)

    def test_threads_that_mpi_does_not_expect_are_a_warning(self):
        warning = r"warn: transport mpi: MPI was initialized with MPI_THREAD_SINGLE, but this context has 3 threads"
        for how, n_warnings in ("single", 1), ("funneled", 0):
            for code, out in self.each(how, 2, [1]):
                self.assertEqual((0, n_warnings), (code, len(re.findall(warning, out))), out)
        for code, out in self.each("thread", 1, [1]):
            self.assertEqual(0, code, out)
            self.assertIn("this context belongs to a thread that did not initialize MPI", out)

    def test_rank_that_waits_in_mpi_is_described(self):
        for code, out in self.each("in_mpi", 2):
            self.assertIsNotNone(code, out)
            self.assertRegex(out, r"rank 0: comm_barrier: .*rank 1 did not arrive within 1 s; a rank that is in no call of dtensor computes, or "
                                  r"waits in a call of MPI itself; DTENSOR_TIMEOUT")


if __name__ == "__main__":
    unittest.main()
