# SPDX-License-Identifier: Apache-2.0
"""Each test program that runs several ranks runs under MPI, too (mpi.programs), or states in a line "mpi: no: reason" why it does
not. Programs run there that call run_ranks or test_run_started; others, which start ranks in ways of their own, need the line."""
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["DTENSOR_SOURCE"])
STARTS_RANKS = re.compile(r"\b(run_ranks|run_ranks_with|test_launch_begin|dt_spawn|dt__run_threads)\(")
RUNS_THERE = re.compile(r"\b(run_ranks(_with)?|test_run_started)\(")
REASON = re.compile(r"^(?: \*|/\*) mpi: no: \S.{10,}", re.M)


class Matrix(unittest.TestCase):
    def test_programs_run_under_mpi_or_state_why_not(self):
        sources = {path: path.read_text() for path in sorted(SOURCE.glob("tests/*/test_*.c"))}
        starting = {path: text for path, text in sources.items() if STARTS_RANKS.search(text)}
        self.assertGreater(len(starting), 50)
        for path, text in sources.items():
            with self.subTest(path.relative_to(SOURCE)):
                if path in starting and not RUNS_THERE.search(text):
                    self.assertRegex(text, REASON, 'expected a line "mpi: no: reason"')
                if "mpi: no" in text:
                    self.assertRegex(text, REASON)
                    self.assertIn(path, starting, "it runs no ranks")


if __name__ == "__main__":
    unittest.main()
