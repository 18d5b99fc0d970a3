# SPDX-License-Identifier: Apache-2.0
"""What ranks under mpirun get when one of them is late, makes another call, fails alone, closes or dies: errors as on
shared memory, and an end of the job in any case; also after failures that leave messages in MPI."""
# ctest: labels=long
import multiprocessing.pool
import re
import unittest

import matrix

COLLECTIVES = "broadcast scatter gather all_gather all_reduce reduce_scatter all_to_all barrier recv".split()
# what only the first rank waits for the last one in
OF_THE_FIRST = "gather", "recv"
SHAPES = [(2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2)]


def run(kind, mpi, n, nodes):
    return matrix.run_faults(kind, mpi, n, DTENSOR_NODES=nodes)


class Faults(unittest.TestCase):
    maxDiff = None

    def errors(self, kind, mpi, n, nodes):
        """Of each rank its errors; all have added up once at least. The job has ended; launchers may report a failure
        where ranks did not finalize MPI because of one."""
        code, out = run(kind, mpi, n, nodes)
        self.assertIsNotNone(code, f"the job did not end\n{out}")
        lines = [re.findall(rf"^rank {rank}: (.*)$", out, re.M) for rank in range(n)]
        for rank in range(n):
            self.assertEqual(1 + 10 if kind == "local" else 1, lines[rank].count(f"sum {n}"), out)
        return [[line for line in lines[rank] if line != f"sum {n}"] for rank in range(n)]

    def each(self, kind, check, shapes=SHAPES):
        """Checks the errors of every launch; several run at a time, as ranks mostly wait."""
        launches = [(kind, mpi, n, nodes) for mpi in matrix.installed() for n, nodes in shapes]
        with multiprocessing.pool.ThreadPool(4) as pool:
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
        launches = [("late", mpi, n, 2) for mpi in matrix.installed() for n in (2, 4)]
        with multiprocessing.pool.ThreadPool(4) as pool:
            results = pool.starmap(run, launches, 1)
        for (_, mpi, n, _), (_, out) in zip(launches, results):
            with self.subTest(mpi=mpi, n=n):
                self.assertRegex(out, r"(?m)^rank 0: timeout: .*\n  rank 1 .*has not answered for" if n == 2 else
                                      r"(?m)^rank 2: timeout: (.*\n  .*)*\n  rank [01]: in all_reduce of f32 x 3000, "
                                      r"sum, #2 of ranks 0-3, for .* s \(comm_all_reduce at \S*prog_faults.c:\d+\)")

    def test_a_local_error_in_each_collective_reaches_all_and_is_cleared(self):
        def check(n, errors):
            self.assertEqual(10, len(errors[n - 1]))
            for error in errors[n - 1]:
                self.assertRegex(error, "^memory: ")
            for rank in range(n - 1):
                for name in COLLECTIVES:
                    found = [error for error in errors[rank] if re.search(rf"\b{name}\b( of |, #)", error)]
                    if rank == 0 or name not in OF_THE_FIRST:
                        self.assertEqual(1, len(found), (rank, name, errors[rank]))
                    for error in found:
                        self.assertRegex(error, rf"^peer: .*rank {n - 1}.*memory: ")
        self.each("local", check, [(1, 1), *SHAPES])

    def test_a_rank_that_closes_is_named(self):
        def check(n, errors):
            for rank in range(n - 1):
                self.assertRegex(errors[rank][0], rf"rank {n - 1} has closed its context")
        self.each("close", check, [(1, 1), *SHAPES])

    def test_closing_with_unfinished_operations_ends(self):
        self.each("start", lambda n, errors: None, [(1, 1), *SHAPES])

    def test_a_death_ends_the_job(self):
        for kind in "kill", "exit":
            launches = [(mpi, n, nodes) for mpi in matrix.installed() for n, nodes in [(1, 1), *SHAPES]]
            with multiprocessing.pool.ThreadPool(4) as pool:
                results = pool.starmap(run, [(kind, *launch) for launch in launches], 1)
            for (mpi, n, nodes), (code, out) in zip(launches, results):
                with self.subTest(kind, mpi=mpi, n=n, nodes=nodes):
                    self.assertIsNotNone(code, f"the job did not end\n{out}")
                    if kind == "kill":
                        self.assertNotEqual(0, code, out)


if __name__ == "__main__":
    unittest.main()
