# SPDX-License-Identifier: Apache-2.0
"""Ranks that srun starts, of programs in C and in Python, on a Slurm of the test's own (scripts/slurm.sh): Open MPI by
PMIx, MPICH by PMI-2. As root and with slurm-wlm installed; otherwise skipped."""
# ctest: labels=long processors=2
import subprocess
import sys
import unittest

import matrix

SLURM = str(matrix.SOURCE / "scripts" / "slurm.sh")
INTERFACES = {"openmpi": "pmix", "mpich": "pmi2"}
PROGRAMS = "comm.collectives/*dtype* move.redistribute random.tensors autograd.backward".split()
PACKAGE = matrix.BUILD / "python"
FAILS = """
import dtensor as dt
x = dt.arange(7, device_mesh=dt.init_device_mesh("cpu", (-1,)), placements="S(0)")
if dt.get_rank() == 1:
    raise KeyError("only here")
print(x.sum().item())
"""


class Slurm(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        result = subprocess.run([SLURM, "true"], capture_output=True, text=True, timeout=60)
        if result.returncode == 77:
            matrix.skip(result.stdout.partition("skipped: ")[2].strip())
        assert result.returncode == 0, result.stderr

    def test_values_are_right(self):
        for mpi in matrix.installed():
            for n, nodes in (3, 0), (4, 2):
                for program in PROGRAMS:
                    with self.subTest(mpi, n=n, nodes=nodes, program=program):
                        launcher = [SLURM, "srun", f"--mpi={INTERFACES[mpi]}"]
                        failure = matrix.run_tests(mpi, n, nodes, program, launcher=launcher)
                        self.assertIsNone(failure, failure)

    def test_errors_reach_all_ranks_and_the_step_ends(self):
        for mpi in matrix.installed():
            with self.subTest(mpi):
                code, out = matrix.run_faults("count", mpi, 3, [SLURM, "srun", f"--mpi={INTERFACES[mpi]}"])
                self.assertIsNotNone(code, f"the step did not end\n{out}")
                for rank in range(3):
                    self.assertRegex(out, rf"(?m)^rank {rank}: mismatch: .*\b3001\b")

    def test_programs_in_python(self):
        if not (PACKAGE / "dtensor" / "_dtensor.abi3.so").exists():
            self.skipTest("the Python package was not built")
        program = [sys.executable, matrix.SOURCE / "examples" / "python" / "04_conjugate_gradient.py"]
        for mpi in matrix.installed():
            with self.subTest(mpi):
                launcher = [SLURM, "srun", f"--mpi={INTERFACES[mpi]}"]
                expected = matrix.run(mpi, 3, program, launcher=[matrix.BUILD / "bin" / "dtrun"], PYTHONPATH=PACKAGE)
                self.assertEqual(expected, matrix.run(mpi, 3, program, launcher=launcher, PYTHONPATH=PACKAGE))
                self.assertRegex(expected[1], r"^\d+ steps, residual \S+\n$")
                code, out = matrix.run(mpi, 3, [sys.executable, "-c", FAILS], 60, launcher, PYTHONPATH=PACKAGE)
                self.assertEqual(1, code, out)
                self.assertRegex(out, r"(?m)^KeyError: 'only here'$")
                for rank in 0, 2:
                    self.assertRegex(out, rf"(?m)^rank {rank}: .*KeyError: 'only here'")


if __name__ == "__main__":
    unittest.main()
