# SPDX-License-Identifier: Apache-2.0
"""The numbered course in examples/: each program, run as its head comment shows ("$ ./01_mesh", "$ dtrun -n 4 ./04_redistribute"),
prints what examples/expected/ has, and exits with 0."""
import glob
import os
import re
import subprocess
import unittest

import tool


class Examples(unittest.TestCase):
    maxDiff = None

    def test_output_is_as_expected(self):
        sources = sorted(glob.glob(os.path.join(tool.SOURCE, "examples", "[0-9][0-9]_*.c")))
        self.assertGreaterEqual(len(sources), 2)
        for number, source in enumerate(sources, 1):
            name = os.path.splitext(os.path.basename(source))[0]
            self.assertTrue(name.startswith(f"{number:02}_"), "the course has no gaps")
            with self.subTest(name):
                with open(os.path.join(tool.SOURCE, "examples", "expected", name + ".txt"), encoding="utf-8") as file:
                    expected = file.read()
                with open(source, encoding="utf-8") as file:
                    launches = re.findall(rf"^ \*     \$ (dtrun -n \d+ )?\./{name}\b", file.read(), re.M)
                self.assertTrue(launches, "the head comment shows how to run it")
                for launch in launches:
                    command = [os.path.join(tool.BUILD, "examples", name)]
                    if launch:
                        command = [os.path.join(tool.BUILD, "bin", "dtrun"), *launch.split()[1:]] + command
                    done = subprocess.run(command, capture_output=True, text=True, env=tool.environment(), timeout=60)
                    stdout = re.sub(r"\(at \S*/", "(at ", done.stdout)  # folders depend on the build
                    self.assertEqual((expected, "", 0), (stdout, done.stderr, done.returncode), command)

    def test_demo_verifies_its_values_and_fits_the_screen(self):
        command = [os.path.join(tool.BUILD, "bin", "dtrun"), "-n", "4", os.path.join(tool.BUILD, "examples", "demo")]
        done = subprocess.run(command, capture_output=True, text=True, env=tool.environment(), timeout=60)
        lines = done.stdout.splitlines()
        self.assertEqual(("All values are right.", "", 0), (lines[-1], done.stderr, done.returncode))
        self.assertEqual(6, done.stdout.count("every value is right"))
        self.assertNotIn("\033", done.stdout)
        self.assertLessEqual(max(map(len, lines)), 100)


if __name__ == "__main__":
    unittest.main()
