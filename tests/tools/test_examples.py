# SPDX-License-Identifier: Apache-2.0
"""The numbered course in examples/: each program, run as its head comment shows ("$ ./01_mesh", "$ dtrun -n 4 ./04_redistribute"),
prints the text in examples/expected/, and exits with 0: that of the number of ranks or the arguments where there is one
("04_redistribute.6.txt"). One whose head mentions "any number of ranks" prints the same on 1 to 5 ranks, except for lines that begin with
"moved: ". Every program is run in at least two worlds. Numbers 10 and 16 have tests of their own: test_gpt.py,
test_gpt_program.py, test_huggingface.py."""
import glob
import os
import re
import subprocess
import tempfile
import unittest

import tool


def run_example(name, ranks=None, folder=None, arguments=""):
    """(standard output, standard error, exit code) of a program, with the paths of sources relative to the project."""
    command = [os.path.join(tool.BUILD, "examples", name)] + arguments.split()
    if ranks:
        command = [os.path.join(tool.BUILD, "bin", "dtrun"), "-n", str(ranks)] + command
    result = subprocess.run(command, capture_output=True, text=True, env=tool.environment(), timeout=60, cwd=folder)
    return re.sub(r"[^\s(]*/examples/", "examples/", result.stdout), result.stderr, result.returncode


def expected_text(name, world=""):
    path = os.path.join(tool.SOURCE, "examples", "expected", name)
    with open(f"{path}.{world}.txt" if world and os.path.exists(f"{path}.{world}.txt") else f"{path}.txt", encoding="utf-8") as file:
        return file.read()


def results(text):
    return [line for line in text.splitlines() if not line.startswith("moved: ")]


class Examples(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def test_output_is_as_expected(self):
        sources = sorted(glob.glob(os.path.join(tool.SOURCE, "examples", "[0-9][0-9]_*.c*")))
        self.assertGreaterEqual(len(sources), 2)
        on_any_number = 0
        for number, source in enumerate(sources, 1):
            name = os.path.splitext(os.path.basename(source))[0]
            self.assertTrue(name.startswith(f"{number:02}_"), "the numbers of the examples have gaps")
            if name in ("10_gpt", "16_huggingface"):
                continue
            with self.subTest(name):
                expected = expected_text(name)
                with open(source, encoding="utf-8") as file:
                    text = file.read()
                if source.endswith(".cpp") and not os.path.exists(os.path.join(tool.BUILD, "examples", name)):
                    self.skipTest("no C++ compiler")
                launches = re.findall(rf"^ \*     \$ (?:dtrun -n (\d+) )?\./{name}\b((?: \d+)*)", text, re.M)
                self.assertGreaterEqual(len(launches), 1 if "any number of ranks" in text else 2, "expected commands in the head comment")
                for ranks, arguments in launches:
                    self.assertEqual((expected_text(name, ranks or arguments.strip()), "", 0),
                                     run_example(name, ranks, self.folder, arguments), (ranks, arguments))
                if "any number of ranks" in text:
                    on_any_number += 1
                    for ranks in range(1, 6):
                        output, error, code = run_example(name, ranks, self.folder)
                        self.assertEqual((results(expected), "", 0), (results(output), error, code), ranks)
        self.assertGreaterEqual(on_any_number, 5)

    def test_programs_are_short(self):
        def lines(name, with_headers):
            with open(os.path.join(tool.SOURCE, "examples", name), encoding="utf-8") as file:
                text = file.read()
            headers = re.findall(r'^#include "(\w+\.h)"', text, re.M) if with_headers else ()
            return text.count("\n") + sum(lines(header, True) for header in headers)

        for name, most, most_with_headers in ("09_mlp.c", 110, 110), ("10_gpt.c", 450, 700), ("16_huggingface.c", 500, 500):
            self.assertLessEqual(lines(name, False), most, name)
            self.assertLessEqual(lines(name, True), most_with_headers, name)

    def test_memory_of_loops_is_flat(self):
        """The log has the blocks in use at each end of a scope: once a loop has made what it keeps, their number does not grow."""
        n_loops = 0
        for source in sorted(glob.glob(os.path.join(tool.SOURCE, "examples", "*.c*"))):
            name = os.path.splitext(os.path.basename(source))[0]
            with open(source, encoding="utf-8") as file:
                text = file.read()
            if name == "16_huggingface" or not re.search(r"dt_scope_begin|dt::scope", text) or not os.path.exists(os.path.join(tool.BUILD, "examples", name)):
                continue
            arguments = "--mesh dp=2 --steps 6 --layers 1" if name == "10_gpt" else ""
            command = [os.path.join(tool.BUILD, "bin", "dtrun"), "-n", "4" if name == "tour" else "2",
                       os.path.join(tool.BUILD, "examples", name), *arguments.split()]
            result = subprocess.run(command, capture_output=True, text=True, env={**tool.environment(), "DTENSOR_LOG": "debug"}, timeout=100,
                                    cwd=self.folder)
            ends = {}
            for blocks, site in re.findall(r"^rank 0: debug: scope_end: (\d+) blocks of the heap are in use, .* \(at (\S+)\)", result.stderr, re.M):
                ends.setdefault(site, []).append(int(blocks))
            with self.subTest(name):
                self.assertEqual(0, result.returncode, result.stderr[-2000:])
                self.assertTrue(ends, "no scope has ended")
                for site, blocks in ends.items():
                    half = len(blocks) // 2
                    if half >= 3:
                        n_loops += 1
                        self.assertLessEqual(max(blocks[half:]), max(blocks[:half]), (site, blocks))
        self.assertGreaterEqual(n_loops, 3)

    def test_numpy_computes_the_same_softmax(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        for ranks in (1, 3):
            self.assertEqual(0, run_example("11_numpy_file", ranks, self.folder)[2])
            scores, ours = (numpy.load(os.path.join(self.folder, name)) for name in ("scores.npy", "softmax.npy"))
            exponentials = numpy.exp(scores.astype("f8") - scores.max(axis=1, keepdims=True))
            expected = exponentials / exponentials.sum(axis=1, keepdims=True)
            self.assertEqual((6, 1000), ours.shape)
            self.assertLess(abs(ours / expected - 1).max(), 1e-5)

    def test_numpy_computes_the_same_temperatures(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        n, sweeps = 30, 2000
        x = numpy.sin(numpy.arange(1, n + 1) * (numpy.pi / (n + 1)))
        source = numpy.outer(x, x) * (4 - 4 * numpy.cos(numpy.pi / (n + 1)))
        expected = numpy.zeros((n, n))
        for _ in range(sweeps):
            wide = numpy.pad(expected, 1)
            expected = 0.25 * (wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] + source)
        for ranks in (1, 3, 4):
            self.assertEqual(0, run_example("15_jacobi", ranks, self.folder, "plate.npy")[2])
            ours = numpy.load(os.path.join(self.folder, "plate.npy"))
            self.assertEqual((n, n), ours.shape)
            self.assertLess(abs(ours - expected).max(), 1e-12)

    def test_tour_verifies_its_values_and_fits_the_screen(self):
        output, error, code = run_example("tour", 4)
        lines = output.splitlines()
        self.assertEqual(("All values are right.", "", 0), (lines[-1], error, code))
        self.assertEqual(6, output.count("every value is right"))
        self.assertNotIn("\033", output)
        self.assertLessEqual(max(map(len, lines)), 100)


if __name__ == "__main__":
    unittest.main()
