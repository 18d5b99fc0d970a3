# SPDX-License-Identifier: Apache-2.0
"""Signals to dtrun: the processes that get them, and the end of the launch."""
import os
import signal
import sys
import time

import launch


CATCHER = """
import os, signal, sys, time
def catch(number, frame):
    os.write(1, b"caught\\n")
    {action}
signal.signal(signal.SIG{name}, catch)
os.write(1, b"ready\\n")
for _ in range({seconds} * 50):  # a signal just before a sleep is handled only after it
    time.sleep(0.02)
"""


class Signals(launch.Case):
    def start_catcher(self, n, name, action, seconds=20, **options):
        """Starts ranks with a handler of a signal."""
        script = CATCHER.format(name=name, action=action, seconds=seconds)
        running = self.launch("-n", n, sys.executable, "-c", script, **options)
        self.assertEqual(running.read_lines(n), ["ready"] * n)
        return running

    def start(self, n, script, **options):
        """Starts ranks and waits until each has printed that it is ready."""
        running = self.launch("-n", n, "sh", "-c", script, **options)
        self.assertEqual(running.read_lines(n), ["ready"] * n)
        return running

    def end(self, running, seconds=20):
        start = time.monotonic()
        result = running.end(seconds=seconds)
        self.assertEqual(running.remaining_processes(0.5), [])
        return *result, time.monotonic() - start

    def test_signals__that_end_the_ranks_exit_with_128_plus_the_number(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR2):
            running = self.start(3, "echo ready; ulimit -c 0; exec sleep 100")
            os.kill(running.pid, number)
            code, out, err, seconds = self.end(running)
            self.assertEqual((code, out), (128 + number, ""))
            self.assertEqual(err, f"dtrun: ended by signal {int(number)} ({number.name})\n")
            self.assertLess(seconds, 1.5)

    def test_signals__are_passed_on_to_every_rank(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR2, signal.SIGCONT):
            name = number.name[3:]
            running = self.start_catcher(3, name, "os._exit(0)")
            os.kill(running.pid, number)
            self.assertEqual(self.end(running)[:3], (0, "caught\n" * 3, ""), name)

    def test_signals__reach_child_processes_of_ranks(self):
        running = self.start(2, "sh -c 'trap \"echo inner; exit 0\" TERM; echo ready; while :; do sleep 0.02; done'; exit 0")
        os.kill(running.pid, signal.SIGTERM)
        code, out, _, _ = self.end(running)
        self.assertEqual(out, "inner\ninner\n")

    def test_failure__soon_after_a_signal_is_its_effect(self):
        running = self.start_catcher(2, "TERM", "os._exit(7)")
        os.kill(running.pid, signal.SIGTERM)
        code, _, err, _ = self.end(running)
        self.assertEqual((code, err), (143, "dtrun: ended by signal 15 (SIGTERM)\n"))

    def test_user_signal__does_not_hide_a_failure(self):
        running = self.start_catcher(2, "USR2", "os._exit(int(os.environ['RANK']) * 3)")
        os.kill(running.pid, signal.SIGUSR2)
        code, _, err, _ = self.end(running)
        self.assertEqual((code, err), (3, "dtrun: rank 1 ended with exit code 3\n"))

    def test_first_request__may_be_ignored(self):
        running = self.start_catcher(2, "TERM", "pass", seconds=1)
        os.kill(running.pid, signal.SIGTERM)
        self.assertEqual(self.end(running)[:3], (0, "caught\ncaught\n", ""))

    def test_second_request__ends_ranks_that_ignore_it(self):
        running = self.start(2, "trap '' TERM INT; echo ready; while :; do sleep 0.05; done")
        os.kill(running.pid, signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(running.process.poll())
        os.kill(running.pid, signal.SIGINT)
        code, _, _, seconds = self.end(running)
        self.assertEqual(code, 130)
        self.assertTrue(2.5 < seconds < 6, seconds)

    def test_third_request__ends_at_once(self):
        running = self.start(2, "trap '' TERM INT; echo ready; while :; do sleep 0.05; done")
        for _ in range(3):
            os.kill(running.pid, signal.SIGTERM)
            time.sleep(0.2)
        code, _, _, seconds = self.end(running)
        self.assertEqual(code, 143)
        self.assertLess(seconds, 2)

    def test_nohup__is_respected(self):
        running = self.start(2, "echo ready; sleep 0.5; echo done",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        os.kill(running.pid, signal.SIGHUP)
        self.assertEqual(self.end(running)[:3], (0, "done\ndone\n", ""))

    def test_ignored_sigchld__has_no_effect(self):
        running = self.start(2, "echo ready; sleep 0.1; exit $((RANK * 4))",
                             preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(self.end(running)[:3], (4, "", "dtrun: rank 1 ended with exit code 4\n"))

    def test_interrupt__of_a_background_job_of_a_script_works(self):
        running = self.start(2, "echo ready; exec sleep 100",
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        os.kill(running.pid, signal.SIGINT)
        self.assertEqual(self.end(running)[0], 130)

    def test_group__may_be_signaled_as_a_whole(self):
        running = self.start_catcher(2, "INT", "pass", seconds=1, start_new_session=True)
        os.killpg(running.pid, signal.SIGINT)
        self.assertEqual(self.end(running)[:3], (0, "caught\ncaught\n", ""))

    def test_signal__during_the_start_is_not_lost(self):
        for delay_ms in range(0, 20):
            running = self.launch("-n", 4, "sleep", "100")
            time.sleep(delay_ms / 1000)
            os.kill(running.pid, signal.SIGTERM)
            code, _, _ = running.end(seconds=10)
            self.assertIn(code, (143, -15))  # -15: before dtrun had installed its handlers
            self.assertEqual(running.remaining_processes(1), [])

    def test_stop__stops_the_ranks_and_continue_continues(self):
        """Without a shell that could continue it, dtrun does not stay stopped."""
        running = self.start(2, "echo ready; sleep 0.5; echo done", start_new_session=True)
        os.kill(running.pid, signal.SIGTSTP)
        self.assertEqual(self.end(running)[:2], (0, "done\ndone\n"))

    def test_stopped_ranks__are_ended_too(self):
        running = self.start(2, "echo ready; test $RANK = 0 && kill -STOP $$; sleep 0.3; exit 5")
        code, _, err, seconds = self.end(running)
        self.assertEqual((code, err), (5, "dtrun: rank 1 ended with exit code 5\ndtrun: the others: dtrun ended rank 0\n"))
        self.assertLess(seconds, 4)


launch.main()
