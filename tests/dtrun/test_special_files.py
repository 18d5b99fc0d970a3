# SPDX-License-Identifier: Apache-2.0
"""Variables and options that name a device, a pipe, a folder or an endless file instead of a file: an error at once, never a hang."""
import os
import pathlib
import subprocess
import tempfile

import launch


class SpecialFiles(launch.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.pipe, self.sparse = self.folder / "pipe", self.folder / "sparse"
        os.mkfifo(self.pipe)
        with self.sparse.open("wb") as file:
            file.truncate(1 << 40)

    def paths(self):
        return {"/dev/zero": "got a device", self.pipe: "got a pipe", self.folder: "got a folder", self.sparse: "expected at most"}

    def test_machine(self):
        for path, text in self.paths().items():
            code, out, err = self.run_dtrun("-n", 2, "true", environment={"DTENSOR_MACHINE": str(path)}, seconds=20)
            self.assertEqual((code, out), (2, ""), err)
            self.assertIn(f"DTENSOR_MACHINE: {path}: cannot open the file: ", err)
            self.assertIn(text, err)

    def test_topology(self):
        for path, text in self.paths().items():
            for options, variables in ((["--topology", path], {}), ([], {"DTENSOR_TOPOLOGY": str(path)})):
                code, out, err = self.run_dtrun(*options, "-n", 2, "--show-binding", environment=variables, seconds=20)
                self.assertEqual((code, out), (2, ""), err)
                self.assertIn(text, err)

    def test_trace(self):
        code, out, err = self.run_dtrun("-n", 1, launch.BUILD / "tests" / "dtrun.waits", self.folder,
                                        environment={"DTENSOR_TRACE": str(self.pipe)}, seconds=20)
        self.assertEqual(code, 1, err)
        self.assertIn(f"trace: cannot open {self.pipe} for writing: expected a regular file, got a pipe", err)

    def test_tools(self):
        paths = self.paths()
        del paths[self.pipe]  # a shell may substitute the output of a command
        for path, text in paths.items():
            for arguments in (["trace", path], ["params", path, "--shapes", "-", "--mesh", "dp=2"]):
                done = subprocess.run([launch.BUILD / "bin" / "dtensor", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                                      text=True, timeout=20)
                self.assertNotEqual(done.returncode, 0, arguments)
                self.assertIn(text, done.stderr)


launch.main()
