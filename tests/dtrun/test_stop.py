# SPDX-License-Identifier: Apache-2.0
"""A job that is stopped for longer than the deadline and continued, by dtrun's parent or process by process, continues: stopped
time does not count. A rank that is stopped alone is late."""
import os
import pathlib
import signal
import tempfile
import time

import launch

WAITS = launch.BUILD / "tests" / "dtrun.waits"
TIMEOUT, STOPPED = 5, 6


class Stop(launch.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "go")

    def start(self, *jobs):
        """Starts a job with each list of arguments: pairs of the job and the processes of its ranks, which wait. Each is a
        process group of its own, as in a shell: a terminal's stop does nothing in a group without a parent in its session."""
        started = [self.launch("-n", 3, "--timeout", f"{TIMEOUT}s", WAITS, self.file, *job, preexec_fn=os.setpgrp) for job in jobs]
        pids = [[int(line.split()[1]) for line in running.read_lines(3)] for running in started]
        time.sleep(0.2)
        return list(zip(started, pids))

    def test_stopped_jobs__go_on(self):
        """By the terminal; process by process; and with ranks that test their operations instead of waiting."""
        jobs = self.start([], [], ["test"])
        stopped = [(jobs[0][0].pid, signal.SIGTSTP)] + [(pid, signal.SIGSTOP) for _, pids in jobs[1:] for pid in pids]
        for pid, number in stopped:
            os.kill(pid, number)
        time.sleep(STOPPED)
        for pid, _ in stopped:
            os.kill(pid, signal.SIGCONT)
        time.sleep(0.3)  # ranks check their deadlines
        self.file.touch()
        for running, _ in jobs:
            code, out, err = running.end()
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(out.count("sum"), 3)

    def test_rank_stopped_alone__is_late(self):
        [(running, pids)] = self.start([])
        os.kill(pids[0], signal.SIGSTOP)
        code, _, err = running.end()
        self.assertEqual(code, 1)
        self.assertRegex(err, rf"is stopped; .*did not arrive within {TIMEOUT} s")


launch.main()
