# SPDX-License-Identifier: Apache-2.0
"""Where the MPI module is found: next to a program or in the libraries of its prefix, also through PATH and links, or the file
of DTENSOR_MPI; and the error, which lists the folders. Each program runs as a world of one, on the transport mpi."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import matrix

PROGRAM = r"""
#include <dtensor/dtensor.h>
#include <stdio.h>
int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 9;
    printf("found\n");
    return dt_close(ctx);
}
"""


class ModuleSearch(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.mpi = matrix.installed()[-1]
        self.module = f"libdtensor_mpi_{self.mpi}.so"
        if os.path.exists(f"/usr/local/lib/{self.module}"):
            matrix.skip("the module is installed in /usr/local")

    def compile_static(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        source = self.folder / "program.c"
        source.write_text(PROGRAM)
        sanitizer = ["-fsanitize=address,undefined"] if b"__asan_init" in (matrix.BUILD / "bin/dtrun").read_bytes() else []
        subprocess.run(["cc", *sanitizer, f"-I{matrix.SOURCE}/include", source, "-o", path, matrix.BUILD / "lib/libdtensor.a", "-lz", "-lm",
                        "-lpthread"], check=True)
        return path

    def put_module(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(matrix.BUILD / "lib" / self.module, folder)

    def run_program(self, *command, **variables):
        result = subprocess.run(list(map(str, command)), env=matrix.environment(DTENSOR_TRANSPORT="mpi", **{"DTENSOR_MPI": self.mpi, **variables}),
                                capture_output=True, text=True, timeout=60, cwd=self.folder)
        return result.returncode, result.stdout, result.stderr

    def assert_found(self, *command, **variables):
        code, out, err = self.run_program(*command, **variables)
        self.assertEqual((0, "found\n"), (code, out), err)

    def test_program_through_path_and_links(self):
        program = self.compile_static(self.folder / "prefix/bin/program")
        self.put_module(self.folder / "prefix/lib")
        self.assert_found(program)
        self.assert_found("program", PATH=f"{program.parent}:{os.environ['PATH']}")
        link = self.folder / "elsewhere/link"
        link.parent.mkdir()
        link.symlink_to(program)
        self.assert_found("link", PATH=f"{link.parent}:{os.environ['PATH']}")

    def test_module_next_to_a_program_or_to_a_link(self):
        program = self.compile_static(self.folder / "a/program")
        self.put_module(self.folder / "b")
        link = self.folder / "b/link"
        link.symlink_to(program)
        self.assert_found(link)
        self.put_module(self.folder / "a")
        self.assert_found(program)

    def test_error_lists_where_it_looked_and_the_variable_names_a_file(self):
        program = self.compile_static(self.folder / "a/b/program")
        (self.folder / "a/lib").mkdir()
        code, out, err = self.run_program(program)
        self.assertEqual((9, ""), (code, out))
        self.assertIn("the module for it cannot be opened: ", err)
        looked = err.split("looked in ")[1].split(", and where the system searches")[0].split(", ")
        self.assertEqual([f"{self.folder}/a/b", f"{self.folder}/a/lib"], looked[:2])
        self.assertIn(f"set DTENSOR_MPI to the path of {self.module}", err)
        self.put_module(self.folder / "far")
        self.assert_found(program, DTENSOR_MPI=self.folder / "far" / self.module)

    def test_file_that_is_no_module_is_shown(self):
        program = self.compile_static(self.folder / "a/program")
        (self.folder / "a" / self.module).write_text("no library")
        code, _, err = self.run_program(program)
        self.assertEqual(9, code)
        self.assertRegex(err, f"cannot be opened: {self.folder}/a/{self.module}: .*; looked in")

    def test_pipe_is_refused_at_once(self):
        program = self.compile_static(self.folder / "a/program")
        os.mkfifo(self.folder / "a" / self.module)
        code, _, err = self.run_program(program)
        self.assertEqual(9, code, err)
        code, _, err = self.run_program(program, DTENSOR_MPI=self.folder / "a" / self.module)
        self.assertEqual(9, code)
        self.assertIn("DTENSOR_MPI: expected a regular file, got ", err)


if __name__ == "__main__":
    unittest.main()
