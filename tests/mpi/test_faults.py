# SPDX-License-Identifier: Apache-2.0
"""What ranks under mpirun get when one of them is late, makes another call, fails alone, closes or dies: errors as on
shared memory, and an end of the job in any case; also after failures that leave messages in MPI."""
# ctest: labels=long timeout=600
import multiprocessing.pool
import re
import unittest

import matrix


class Faults(unittest.TestCase):
    maxDiff = None

    def errors(self, kind, mpi, n, nodes):
        """Of each rank its errors; all have added up once at least. The job has ended; launchers may report a failure
        where ranks did not finalise MPI because of one."""
        code, out = matrix.run(mpi, n, [matrix.BUILD / "tests" / "mpi.faults", kind], 60, DTENSOR_NODES=nodes)
        self.assertIsNotNone(code, f"the job did not end\n{out}")
        lines = [re.findall(rf"^rank {rank}: (.*)$", out, re.M) for rank in range(n)]
        for rank in range(n):
            self.assertEqual(2 if kind == "local" else 1, lines[rank].count(f"sum {n}"), out)
        return [[line for line in lines[rank] if line != f"sum {n}"] for rank in range(n)]

    def each(self, kind, check):
        """Checks the errors of every launch; two run at a time, as ranks mostly wait."""
        launches = [(kind, mpi, n, nodes) for mpi in matrix.installed() for n, nodes in ((2, 1), (2, 2), (4, 2))]
        with multiprocessing.pool.ThreadPool(2) as pool:
            results = [pool.apply_async(self.errors, launch) for launch in launches]
            for (_, mpi, n, nodes), result in zip(launches, results):
                with self.subTest(kind, mpi=mpi, n=n, nodes=nodes):
                    check(n, result.get())

    def test_a_late_rank_is_named_when_the_deadline_has_passed(self):
        def check(n, errors):
            for rank in range(n - 1):
                self.assertRegex(errors[rank][0], rf"^timeout: comm_all_reduce: all_reduce .*rank {n - 1} did not")
            self.assertTrue(errors[n - 1])
        self.each("late", check)
        self.each("late_small", check)

    def test_other_calls_are_mismatches_on_every_rank(self):
        for kind, text in ("count", r"\b3001\b"), ("op", "all_gather"):
            def check(n, errors):
                for rank in range(n):
                    self.assertRegex(errors[rank][0], rf"^mismatch: .*{text}")
            self.each(kind, check)

    def test_another_call_on_a_mesh_is_named_with_its_line(self):
        def check(n, errors):
            for rank in range(n):
                self.assertRegex(errors[rank][0], r"^mismatch: .*made different calls on mesh\(tp=\d\): call 2 is ")
                for call in r"neg\(f32\[8,6\] S\(0\)", r"relu\(f32\[8,6\] S\(0\)":
                    self.assertRegex(errors[rank][0], call + r".*\) \(at \S*prog_faults.c:\d+\)")
        self.each("diverge", check)

    def test_errors_name_what_ranks_of_other_nodes_do(self):
        for mpi in matrix.installed():
            with self.subTest(mpi=mpi):
                _, out = matrix.run(mpi, 2, [matrix.BUILD / "tests" / "mpi.faults", "late"], 60, DTENSOR_NODES=2)
                self.assertRegex(out, r"(?m)^rank 0: timeout: .*\n  rank 1 .*has not answered for")
                _, out = matrix.run(mpi, 4, [matrix.BUILD / "tests" / "mpi.faults", "late"], 60, DTENSOR_NODES=2)
                self.assertRegex(out, r"(?m)^rank 2: timeout: (.*\n  .*)*\n  rank [01]: in all_reduce of f32 x 3000, "
                                      r"sum, #2 of ranks 0-3, for .* s \(comm_all_reduce at \S*prog_faults.c:\d+\)")

    def test_a_local_error_reaches_all_and_is_cleared(self):
        def check(n, errors):
            self.assertRegex(errors[n - 1][0], "^memory: ")
            for rank in range(n):
                if rank < n - 1:
                    self.assertRegex(errors[rank][0], rf"rank {n - 1}.*memory: ")
        self.each("local", check)

    def test_a_rank_that_closes_is_named(self):
        def check(n, errors):
            for rank in range(n - 1):
                self.assertRegex(errors[rank][0], rf"rank {n - 1} has closed its context")
        self.each("close", check)

    def test_closing_with_unfinished_operations_ends(self):
        self.each("start", lambda n, errors: None)

    def test_a_death_ends_the_job(self):
        for kind in "kill", "exit":
            for mpi in matrix.installed():
                with self.subTest(kind, mpi=mpi):
                    code, out = matrix.run(mpi, 3, [matrix.BUILD / "tests" / "mpi.faults", kind], 60, DTENSOR_NODES=2)
                    self.assertIsNotNone(code, f"the job did not end\n{out}")
                    if kind == "kill":
                        self.assertNotEqual(0, code, out)


if __name__ == "__main__":
    unittest.main()
