# SPDX-License-Identifier: Apache-2.0
"""The machine model of a launch: read once by dtrun or by the program that spawns ranks, and adopted by every rank."""
import os
import pathlib
import subprocess
import tempfile

import launch

PROGRAM = str(launch.BUILD / "tests" / "dtrun.machine")
MODEL = """dtensor-machine 1
copy bytes_per_us=5000
within start_us=2 peer_us=0.5 bytes_per_us=4000
measured all_gather group=2 ranks=2 start_us=3 bytes_per_us=2500
"""


class Machine(launch.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "m.txt")
        self.path.write_text(MODEL)

    def alone(self, *arguments, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DTENSOR_")}
        result = subprocess.run([PROGRAM, *arguments], env={**environment, **variables}, capture_output=True, timeout=60)
        return result.returncode, result.stdout.decode(), result.stderr.decode()

    def test_model__is_built_in_without_a_file(self):
        self.assertEqual(self.alone(), (0, "0 0\n", ""))
        self.assertEqual(self.run_dtrun("-n", "3", PROGRAM), (0, "0 0\n" * 3, ""))
        self.assertEqual(self.run_dtrun("-n", "2", PROGRAM, environment={"DTENSOR_MACHINE": ""}), (0, "0 0\n" * 2, ""))

    def test_model__is_the_same_on_all_ranks_however_they_start(self):
        code, one, err = self.alone(DTENSOR_MACHINE=str(self.path))
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(one, r"^[0-9a-f]{2,16} 1\n$")
        variable = {"DTENSOR_MACHINE": str(self.path)}
        for n in (1, 2, 5):
            self.assertEqual(self.run_dtrun("-n", str(n), PROGRAM, environment=variable), (0, one * n, ""))
            self.assertEqual(self.run_dtrun("-n", str(n), "--machine", str(self.path), PROGRAM), (0, one * n, ""))
        self.assertEqual(self.alone("--spawn", "3", **variable), (0, one * 3, ""))

    def test_ranks__need_neither_the_variable_nor_the_file(self):
        """They have the model from the control block, also where their own variable is wrong."""
        one = self.alone(DTENSOR_MACHINE=str(self.path))[1]
        script = f'unset DTENSOR_MACHINE; [ $RANK = 1 ] && rm "{self.path}" && export DTENSOR_MACHINE=/nowhere; exec {PROGRAM}'
        code, out, err = self.sh(3, script, environment={"DTENSOR_MACHINE": str(self.path)})
        self.assertEqual((code, out, err), (0, one * 3, ""))

    def test_option__overrides_the_variable(self):
        one = self.alone(DTENSOR_MACHINE=str(self.path))[1]
        self.assertEqual(self.run_dtrun("-n", "2", "--machine", str(self.path), PROGRAM,
                                        environment={"DTENSOR_MACHINE": "/nowhere"}), (0, one * 2, ""))

    def test_errors__are_one_line_before_anything_starts(self):
        self.path.write_text(MODEL.replace("start_us=3", "start_us=soon"))
        fault = f'{self.path}:4: start_us: expected microseconds from 0 to 1e9, got "soon"'
        mark = self.path.with_name("started")
        program = ("sh", "-c", f"touch {mark}")
        variable = {"DTENSOR_MACHINE": str(self.path)}
        self.assertEqual(self.run_dtrun("-n", "4", *program, environment=variable),
                         (2, "", f"dtrun: DTENSOR_MACHINE: {fault}\nTry 'dtrun --help'.\n"))
        self.assertEqual(self.run_dtrun("-n", "4", "--machine", str(self.path), *program),
                         (2, "", f"dtrun: --machine: {fault}\nTry 'dtrun --help'.\n"))
        self.assertEqual(self.run_dtrun("-n", "4", "--machine", "/nowhere/m", *program),
                         (2, "", "dtrun: --machine: /nowhere/m: cannot open the file: No such file or directory\n"
                                 "Try 'dtrun --help'.\n"))
        self.assertFalse(mark.exists())
        code, out, err = self.alone("--spawn", "3", **variable)
        self.assertEqual((code, out), (1, ""))
        self.assertIn(f"spawn: DTENSOR_MACHINE: {fault}", err)
        code, out, err = self.alone(**variable)
        self.assertEqual((code, out), (1, ""))
        self.assertIn(f"init: DTENSOR_MACHINE: {fault}", err)
        self.assertEqual(err.count("\n"), 1)


launch.main()
