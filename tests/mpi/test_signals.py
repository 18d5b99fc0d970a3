# SPDX-License-Identifier: Apache-2.0
"""Signals to ranks under mpirun: SIGUSR1 prints what ranks are doing, and the job continues; time in which all ranks are stopped does not
count against their deadline."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import matrix

WAITS = matrix.BUILD / "tests" / "dtrun.waits"
TIMEOUT, STOPPED = 4, 5
N = 3


class Job:
    """Ranks that all wait until a file exists, except for the last."""

    def __init__(self, mpi, nodes, folder):
        self.file, self.output = pathlib.Path(folder, f"go-{mpi}-{nodes}"), pathlib.Path(folder, f"out-{mpi}-{nodes}")
        with self.output.open("wb") as output:
            self.process = subprocess.Popen([*matrix.LAUNCHERS[mpi], "-n", str(N), str(WAITS), str(self.file)], stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                                            env=matrix.environment(DTENSOR_NODES=nodes, DTENSOR_TIMEOUT=TIMEOUT))

    def text(self):
        return self.output.read_text(errors="replace")

    def wait_for(self, pattern, again=lambda: None):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            found = re.findall(pattern, self.text(), re.M)
            if found:
                return found
            again()
            time.sleep(0.1)
        raise AssertionError(f"{pattern}: not in\n{self.text()}")

    def pids(self):
        self.wait_for(rf"(?:^ready \d+$[\s\S]*){{{N}}}")
        return list(map(int, re.findall(r"^ready (\d+)$", self.text(), re.M)))

    def destroy(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Signals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.jobs = {}
        for mpi in matrix.installed():
            for nodes in 1, 2:
                self.jobs[mpi, nodes] = Job(mpi, nodes, folder.name)
                self.addCleanup(self.jobs[mpi, nodes].destroy)

    def test_ranks_print_what_they_are_in_and_stopped_jobs_go_on(self):
        stopped = []
        for job in self.jobs.values():
            stopped += job.pids()
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(STOPPED)
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        for (mpi, nodes), job in self.jobs.items():
            with self.subTest(mpi, nodes=nodes):
                def ask():
                    for pid in job.pids():
                        os.kill(pid, signal.SIGUSR1)
                lines = (r"^rank 0 \(process \d+\): what ranks are doing:\n  rank 0: in \w+ of f32 x 1.* \(item at \S*prog_waits\.c:\d+\)"
                         + (r"; waits for rank 2" if nodes == 1 else ""))
                job.wait_for(lines, ask)
                job.file.touch()
        for (mpi, nodes), job in self.jobs.items():
            with self.subTest(mpi, nodes=nodes):
                self.assertEqual(0, job.process.wait(timeout=60), job.text())
                self.assertEqual(N, len(re.findall(r"^sum 12$", job.text(), re.M)), job.text())


if __name__ == "__main__":
    unittest.main()
