# SPDX-License-Identifier: Apache-2.0
"""The numbered course in examples/: each program runs alone, says what examples/expected/ has, and ends with 0."""
import glob
import os
import subprocess
import unittest

import tool


class Examples(unittest.TestCase):
    maxDiff = None

    def test_each_says_what_is_expected(self):
        sources = sorted(glob.glob(os.path.join(tool.SOURCE, "examples", "[0-9][0-9]_*.c")))
        self.assertGreaterEqual(len(sources), 2)
        for number, source in enumerate(sources, 1):
            name = os.path.splitext(os.path.basename(source))[0]
            self.assertTrue(name.startswith(f"{number:02}_"), "the course has no gaps")
            with self.subTest(name):
                with open(os.path.join(tool.SOURCE, "examples", "expected", name + ".txt"), encoding="utf-8") as file:
                    expected = file.read()
                done = subprocess.run([os.path.join(tool.BUILD, "examples", name)], capture_output=True, text=True,
                                      env=tool.environment(), timeout=60)
                self.assertEqual((expected, "", 0), (done.stdout, done.stderr, done.returncode))


if __name__ == "__main__":
    unittest.main()
