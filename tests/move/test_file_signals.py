# SPDX-License-Identifier: Apache-2.0
"""Launches that end during a save: by signals to dtrun, to the supervisor and to single ranks, and by a rank that cannot
write. No process keeps running, and the folder has no file but the complete one."""
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "dtrun"))
import launch  # noqa: E402
from seed import test_seed  # noqa: E402

PROGRAM = str(launch.BUILD / "tests" / "move.save")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)


class Files(launch.Case):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dtensor_files_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.random = random.Random(test_seed(31))

    def check_folder(self, case):
        self.assertEqual([path.name for path in self.folder.iterdir()], ["a.npz"], case)
        with zipfile.ZipFile(self.folder / "a.npz") as file:
            self.assertIsNone(file.testzip(), case)
            self.assertEqual(file.namelist(), ["large.npy", "small.npy"])

    def remove_parts(self, kind_of_file):
        """Removes files that have a temporary name, which one without a name gets only when it is complete."""
        for path in self.folder.glob(".*.part"):
            if kind_of_file == "unnamed":
                with zipfile.ZipFile(path) as file:
                    self.assertIsNone(file.testzip(), path)
            path.unlink()

    def start(self, n, kind_of_file):
        running = self.launch("-n", n, PROGRAM, kind_of_file, self.folder / "a.npz")
        self.assertEqual(running.read_lines(1), ["ready"])
        time.sleep(self.random.random() * 0.05)
        return running

    def end(self, running, case):
        code, _, err = running.end(seconds=30)
        self.assertNotEqual(code, 0, case)
        self.assertEqual(running.remaining_processes(2), [], case)
        self.check_folder(case)
        return code, err

    def test_signals__to_dtrun_leave_nothing(self):
        for n in (1, 2, 3, 5):
            for number in SIGNALS[:3]:
                for kind_of_file in ("unnamed", "named"):
                    running = self.start(n, kind_of_file)
                    os.kill(running.pid, number)
                    code, _ = self.end(running, (n, number, kind_of_file))
                    self.assertEqual(code, 128 + number)

    def test_signals__to_ranks_leave_nothing(self):
        for i in range(24):
            n, number, kind_of_file = (1, 2, 3, 5)[i % 4], SIGNALS[i // 4 % 4], ("unnamed", "named")[i // 2 % 2]
            running = self.start(n, kind_of_file)
            ranks = running.roles()["others"]
            os.kill(self.random.choice(ranks), number)
            self.end(running, (n, number, kind_of_file))

    def test_kill__of_dtrun_leaves_nothing(self):
        for kind_of_file in ("unnamed", "named"):
            for role in ("front", "supervisor"):
                running = self.start(3, kind_of_file)
                os.kill(running.roles()[role][0], signal.SIGKILL)
                running.end(seconds=30)
                self.assertEqual(running.remaining_processes(5), [], role)
                if role == "supervisor":  # no process is left to remove a temporary name
                    self.remove_parts(kind_of_file)
                self.check_folder((kind_of_file, role))

    def test_failure__names_the_rank_that_failed_and_why(self):
        for n in (2, 3, 5):
            for rank in range(0, n, 2):
                code, out, err = self.run_dtrun("-n", n, PROGRAM, "limit", rank, self.folder / "a.npz")
                self.assertEqual((code, out), (1, ""))
                reason = f"save_npz: rank {rank}: {self.folder}/a.npz: cannot be written: File too large"
                self.assertIn(f"ranks 0-{n - 1}: system: {reason}", err)
                self.assertIn(f"dtrun: rank {rank} ended with exit code 1", err)
                self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    launch.main()
