# SPDX-License-Identifier: Apache-2.0
"""C++ guards in any order relative to dt_close, with the address sanitizer where the compiler has it, and wrappers whose errors
carry their caller's line."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["DTENSOR_SOURCE"])
BUILD = pathlib.Path(os.environ["DTENSOR_BUILD"])
PROGRAM = SOURCE / "tests/project/consumer/guards.cpp"


class Guards(unittest.TestCase):
    def test_guards_may_outlive_their_context_and_wrappers_name_their_caller(self):
        compiler = shutil.which("c++")
        if not compiler:
            print("skipped: no C++ compiler")
            sys.exit(77)
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "guards")
            subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-pedantic", "-g", f"-I{SOURCE}/include", str(PROGRAM), "-o", program,
                            f"-L{BUILD}/lib", "-ldtensor", f"-Wl,-rpath,{BUILD}/lib"], check=True)
            variables = {**os.environ, "MALLOC_PERTURB_": "165"}  # freed memory is overwritten
            for ranks in 1, 3:
                launcher = [str(BUILD / "bin/dtrun"), "-n", str(ranks)] if ranks > 1 else []
                result = subprocess.run([*launcher, program], env=variables, capture_output=True, text=True, timeout=60)
                self.assertEqual((0, ""), (result.returncode, result.stderr), result.stdout)
        lines = {found.group(1): number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1)
                 for found in [re.search(r"// caller (\d)", line)] if found}
        first = result.stdout.splitlines()[:3]
        for text, number in zip(first, "123"):
            self.assertRegex(text, rf"^matmul: .*guards\.cpp:{lines[number]}\)")


if __name__ == "__main__":
    unittest.main()
