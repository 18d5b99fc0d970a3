# SPDX-License-Identifier: Apache-2.0
"""The installed library and its modules under mpirun: a program built by pkg-config, shared and static, and by
find_package, one binary for both MPIs; and programs that call MPI_Init themselves, built with each MPI."""
# ctest: labels=long processors=2
import os
import pathlib
import subprocess
import tempfile
import unittest

import matrix

SOURCES = pathlib.Path(__file__).resolve().parent / "consumer"


def words(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout.split()


class Install(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.folder.name, "prefix")
        words("cmake", "--install", str(matrix.BUILD), "--prefix", str(cls.prefix))
        cls.libraries = str(next(cls.prefix.glob("**/libdtensor.so")).parent)
        cls.packages = {**os.environ, "PKG_CONFIG_PATH": cls.libraries + "/pkgconfig"}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def compile(self, compiler, source, name, *, static=False):
        flags = words("pkg-config", "--cflags", "dtensor", env=self.packages)
        libraries = words("pkg-config", *(["--static"] if static else []), "--libs", "dtensor", env=self.packages)
        libraries = ["-l:libdtensor.a" if static and word == "-ldtensor" else word for word in libraries]
        program = os.path.join(self.folder.name, name)
        words(compiler, "-std=c11", "-Wall", "-Wextra", *flags, str(SOURCES / source), "-o", program, *libraries)
        return program

    def find_package(self):
        build = os.path.join(self.folder.name, "build")
        words("cmake", "-S", str(SOURCES), "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        words("cmake", "--build", build)
        return os.path.join(build, "consumer")

    def test_one_binary_runs_under_both(self):
        programs = {"shared": self.compile("cc", "consumer.c", "shared"),
                    "static": self.compile("cc", "consumer.c", "static", static=True),
                    "find_package": self.find_package()}
        for kind, program in programs.items():
            for mpi in matrix.installed():
                with self.subTest(kind, mpi=mpi):
                    result = matrix.run(mpi, 3, [program], 60, LD_LIBRARY_PATH=self.libraries, DTENSOR_NODES=2)
                    self.assertEqual((0, "3 ranks, sum 3\n"), result)

    def test_programs_with_mpi_of_their_own(self):
        for mpi in matrix.installed():
            program = self.compile(f"mpicc.{mpi}", "own_mpi.c", f"own_{mpi}")
            for nodes in 1, 2:
                with self.subTest(mpi, nodes=nodes):
                    result = matrix.run(mpi, 4, [program], 60, LD_LIBRARY_PATH=self.libraries, DTENSOR_NODES=nodes)
                    self.assertEqual((0, "sums 201 406, 0 failed, MPI is ours\n"), result)


if __name__ == "__main__":
    unittest.main()
