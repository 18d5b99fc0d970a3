# SPDX-License-Identifier: Apache-2.0
"""SIGUSR1 to dtrun, and to a rank: what every rank is doing is printed, and the launch continues."""
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

import launch

WAITS = launch.BUILD / "tests" / "dtrun.waits"


class Activity(launch.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "go")
        self.errors = pathlib.Path(folder.name, "errors")

    def start(self, n, *options):
        """Ranks that all wait, except for the last; (launch, their pids in the order they were ready)."""
        errors = self.errors.open("wb")
        self.addCleanup(errors.close)
        running = self.launch("-n", n, *options, WAITS, self.file, stderr=errors)
        return running, [int(line.split()[1]) for line in running.read_lines(n)]

    def signal_until(self, pid, pattern):
        """Sends the signal until a line is printed that matches: ranks have to begin their wait first."""
        def matches():
            os.kill(pid, signal.SIGUSR1)
            time.sleep(0.05)
            return re.search(pattern, self.errors.read_text(), re.M)
        found = launch.wait_until(matches, 20)
        self.assertTrue(found, self.errors.read_text())
        return found

    def end(self, running, n):
        self.file.touch()
        code, out, _ = running.end()
        self.assertEqual((code, out), (0, "sum 12\n" * n), self.errors.read_text())

    def test_signal__to_dtrun_prints_what_every_rank_is_in(self):
        running, _ = self.start(3)
        self.signal_until(running.pid, r"^dtrun: \S*dtrun\.waits, for \d+\.\d s:\n"
                                       r"dtrun:   rank 0 \(process \d+\): in redistribute of f32 x 1, #1 of ranks 0-2, for \d+\.\d s "
                                       r"\(item at \S*prog_waits\.c:\d+\); waits for rank 2\n"
                                       r"dtrun:   rank 1 .*; waits for rank 2\n"
                                       r"dtrun:   rank 2 \(process \d+\): no transfers yet; last call on a mesh: relu\(f32\[12\] S\(0\)\) "
                                       r"\(at \S*prog_waits\.c:\d+\)\n")
        self.end(running, 3)

    def test_signal__to_a_rank_prints_the_same_there(self):
        running, pids = self.start(3)
        self.signal_until(pids[0], rf"^rank \d \(process {pids[0]}\): what ranks are doing:\n"
                                   r"  rank 0: in .*; waits for rank 2\n  rank 1: in .*; waits for rank 2\n"
                                   r"  rank 2: no transfers yet; last call on a mesh: relu.*\n")
        self.end(running, 3)

    def test_stopped_rank__is_shown(self):
        running, _ = self.start(2)
        found = self.signal_until(running.pid, r"rank 1 \(process (\d+)\)")
        last = int(found.group(1))
        os.kill(last, signal.SIGSTOP)
        self.signal_until(running.pid, r"rank 1 .*; its process is stopped$")
        os.kill(last, signal.SIGCONT)
        self.end(running, 2)

    def test_rank_of_another_program__has_not_called_dt_init(self):
        errors = self.errors.open("wb")
        self.addCleanup(errors.close)
        running = self.launch("-n", 2, "sh", "-c", f"echo ready; until [ -e {self.file} ]; do sleep 0.02; done; echo done", stderr=errors)
        running.read_lines(2)
        self.signal_until(running.pid, r"rank 0 \(process \d+\): has not called dt_init; no transfers yet")
        self.file.touch()
        code, out, _ = running.end()
        self.assertEqual((code, out), (0, "done\ndone\n"))

    def test_program_that_handles_the_signal__gets_it(self):
        script = ("import os, signal, time\n"
                  "def caught(number, frame):\n    os.write(1, b'caught\\n'); os._exit(0)\n"
                  "signal.signal(signal.SIGUSR1, caught)\nos.write(1, b'ready\\n')\n"
                  "while True: time.sleep(0.02)\n")
        running = self.launch("-n", 2, "sh", "-c", f"{sys.executable} -c \"{script}\"")  # a child of the rank
        self.assertEqual(running.read_lines(2), ["ready"] * 2)
        os.kill(running.pid, signal.SIGUSR1)
        code, out, _ = running.end()
        self.assertEqual((code, out), (0, "caught\ncaught\n"))

    def test_signal__with_many_ranks_prints_all(self):
        running = self.launch("-n", 40, "sh", "-c", "echo ready; exec sleep 100")
        running.read_lines(40)
        os.kill(running.pid, signal.SIGUSR1)
        os.kill(running.pid, signal.SIGTERM)
        code, _, err = running.end()
        self.assertEqual((143, 40), (code, len(re.findall(r"^dtrun:   rank \d+ \(process", err, re.M))))


launch.main()
