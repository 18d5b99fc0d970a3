# SPDX-License-Identifier: Apache-2.0
"""Ranks on two hosts that share no memory and are joined by a limited link (scripts/netns.sh): collectives and
redistributions are right under both MPIs, and `dtensor calibrate` finds the link. As root; otherwise skipped."""
# ctest: labels=long timeout=900 processors=2
import subprocess
import unittest

import matrix

PROGRAMS = "comm.collectives/*dtype* move.execute move.redistribute autograd.backward random.tensors".split()


class TwoHosts(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        result = subprocess.run([str(matrix.SOURCE / "scripts" / "netns.sh"), "true"], capture_output=True, text=True)
        if result.returncode == 77:
            matrix.skip(result.stdout.partition("skipped: ")[2].strip())
        assert result.returncode == 0, result.stderr

    def test_values_are_right(self):
        for mpi in matrix.installed():
            for n in 2, 3, 4:
                for program in PROGRAMS if n == 4 else PROGRAMS[:2]:
                    with self.subTest(mpi, n=n, program=program):
                        failure = matrix.run_tests(mpi, n, 0, program, launcher=matrix.two_hosts(mpi, "1gbit"))
                        self.assertIsNone(failure, failure)


if __name__ == "__main__":
    unittest.main()
