# SPDX-License-Identifier: Apache-2.0
"""After the end of a launch no process of it is running, however it ended."""
import os
import signal
import time

import launch

# Ranks with children in their group, in other groups and sessions, and as daemons.
FAMILIES = {
    "alone": "echo ready; exec sleep 1000",
    "child": "sleep 1000 & echo ready; wait",
    "ignores_signals": "trap '' TERM INT HUP; sh -c 'trap \"\" TERM INT HUP; while :; do sleep 0.1; done' & echo ready; while :; do sleep 0.1; done",
    "group": "set -m; sleep 1000 & set +m; echo ready; wait",
    "session": "setsid sleep 1000 & echo ready; wait",
    "daemon": "(setsid sh -c 'sleep 1000 & sleep 1000' &) ; echo ready; exec sleep 1000",
}


class Orphans(launch.Case):
    def start(self, family, n=2, **options):
        running = self.launch("-n", n, "sh", "-c", FAMILIES[family], **options)
        self.assertEqual(running.read_lines(n), ["ready"] * n)
        return running

    def assert_gone(self, running, seconds):
        self.assertEqual(running.remaining_processes(seconds), [], f"after {seconds} s")

    def start_all(self, **options):
        return {family: self.start(family, **options) for family in FAMILIES}

    def test_kill_of_dtrun__kills_everything(self):
        launches = self.start_all()
        for running in launches.values():
            os.kill(running.pid, signal.SIGKILL)
        for family, running in launches.items():
            with self.subTest(family):
                self.assert_gone(running, 3)

    def test_kill_of_the_supervisor__kills_everything(self):
        launches = self.start_all()
        for running in launches.values():
            os.kill(running.supervisor(), signal.SIGKILL)
        for family, running in launches.items():
            with self.subTest(family):
                code, _, err = running.end()
                self.assertEqual(code, 137)
                self.assertIn("supervises the ranks ended with signal 9 (SIGKILL)", err)
                self.assertEqual(launch.processes(running.mark), [])

    def test_kill_of_the_group__kills_everything(self):
        launches = self.start_all(start_new_session=True)
        for running in launches.values():
            os.killpg(running.pid, signal.SIGKILL)
        for family, running in launches.items():
            with self.subTest(family):
                self.assert_gone(running, 3)

    def test_kill_of_everything_by_name__leaves_no_rank(self):
        """No process is left that could find grandchildren, but the kernel kills the ranks."""
        running = self.start("alone")
        supervisor = running.supervisor()
        os.kill(supervisor, signal.SIGSTOP)
        os.kill(running.pid, signal.SIGKILL)
        os.kill(supervisor, signal.SIGKILL)
        self.assert_gone(running, 3)

    def test_signals__end_everything(self):
        launches = self.start_all()
        for running in launches.values():
            os.kill(running.pid, signal.SIGTERM)
        time.sleep(0.1)
        os.kill(launches["ignores_signals"].pid, signal.SIGTERM)
        for family, running in launches.items():
            with self.subTest(family):
                self.assertEqual(running.end()[0], 143)
                self.assertEqual(launch.processes(running.mark), [])

    def test_failure__ends_everything(self):
        launches = {family: self.launch("-n", 3, "sh", "-c", f"test $RANK = 1 && exit 6; {script}")
                    for family, script in FAMILIES.items()}
        for family, running in launches.items():
            with self.subTest(family):
                self.assertEqual(running.end()[0], 6)
                self.assertEqual(launch.processes(running.mark), [])

    def test_success__leaves_no_processes(self):
        scripts = ("sleep 1000 &", "setsid sleep 1000 &", "(setsid sh -c 'sleep 1000 & sleep 1000' &);",
                 "sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' &")
        launches = {script: self.launch("-n", 2, "sh", "-c", f"{script} exit 0") for script in scripts}
        for script, running in launches.items():
            with self.subTest(script):
                code, _, err = running.end()
                self.assertEqual((code, err), (0, ""))
                self.assertEqual(launch.processes(running.mark), [])

    def test_processes_that_outlive_their_rank__do_not_delay_others(self):
        """A rank has succeeded and left a process; the launch continues until the last rank has ended."""
        code, out, _ = self.sh(2, "test $RANK = 0 && { sleep 1000 & exit 0; }; sleep 0.7; echo done")
        self.assertEqual((code, out), (0, "done\n"))

    def test_launch_within_a_launch__ends_with_it(self):
        script = f"{launch.DTRUN} -n 2 sh -c 'echo ready; setsid sleep 1000 & sleep 1000'; exit 0"
        for number in (signal.SIGKILL, signal.SIGTERM):
            running = self.launch("-n", 2, "sh", "-c", script)
            self.assertEqual(running.read_lines(4), ["ready"] * 4)
            os.kill(running.pid, number)
            self.assert_gone(running, 8)

    def test_early_kill__leaves_nothing(self):
        for delay_ms in range(0, 20, 2):
            running = self.launch("-n", 4, "sh", "-c", "sleep 1000 & wait")
            time.sleep(delay_ms / 1000)
            os.kill(running.pid, signal.SIGKILL)
            self.assert_gone(running, 3)

    def test_shared_memory__has_no_name(self):
        def names():
            return {name for name in os.listdir("/dev/shm")} if os.path.isdir("/dev/shm") else set()
        before = names()
        running = self.start("alone")
        self.assertEqual(names() - before, set())
        os.kill(running.pid, signal.SIGKILL)
        self.assert_gone(running, 3)


launch.main()
