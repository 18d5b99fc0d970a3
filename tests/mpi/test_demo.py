# SPDX-License-Identifier: Apache-2.0
"""The GPT of `make demo` under mpirun: on one node its log has the numbers of a run under dtrun, bit for bit; on two
nodes, where sums are taken in another order, the same losses to the precision of f32; `make demo RUN=...` starts it."""
# ctest: labels=long processors=2
import json
import os
import re
import subprocess
import tempfile
import unittest

import matrix

GPT = matrix.BUILD / "examples" / "gpt"
OPTIONS = "--mesh dp=2,tp=2 --layers 2 --width 24 --heads 4 --seq 12 --batch 6 --steps 20 --warmup 4 --sample 0".split()


class Demo(unittest.TestCase):
    maxDiff = None

    def losses(self, launcher, **variables):
        """The log of a run, a line per step."""
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log.jsonl")
            result = subprocess.run([*map(str, launcher), "-n", "4", str(GPT), *OPTIONS, "--log", log], timeout=120,
                                    env=matrix.environment(**variables), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(0, result.returncode, result.stdout.decode())
            with open(log, encoding="utf-8") as file:
                return [json.loads(line) for line in file]

    def test_loss_curve_is_that_of_dtrun(self):
        expected = self.losses([matrix.BUILD / "bin" / "dtrun"])
        self.assertEqual(20, len(expected))
        for mpi in matrix.installed():
            with self.subTest(mpi, nodes=1):
                self.assertEqual(expected, self.losses(matrix.LAUNCHERS[mpi], DTENSOR_NODES=1))
            with self.subTest(mpi, nodes=2):
                got = self.losses(matrix.LAUNCHERS[mpi], DTENSOR_NODES=2)
                self.assertEqual(20, len(got))
                self.assertLess(max(abs(a["loss"] - b["loss"]) for a, b in zip(expected, got)), 1e-4)

    def test_make_demo_starts_it(self):
        if matrix.BUILD != matrix.SOURCE / "build":
            self.skipTest("make demo runs what is in build/")
        for mpi in matrix.installed():
            with self.subTest(mpi):
                words = subprocess.run(["make", "--no-print-directory", "-n", "demo", f"RUN=mpirun.{mpi} -n 4"],
                                       cwd=matrix.SOURCE, capture_output=True, text=True, check=True).stdout
                self.assertRegex(words, rf"(?m)mpirun\.{mpi} -n 4 build/examples/gpt --mesh dp=2,tp=2 ")


if __name__ == "__main__":
    unittest.main()
