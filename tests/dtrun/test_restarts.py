# SPDX-License-Identifier: Apache-2.0
"""dtrun --restarts: a program that fails is started again, with a line that says why, and not after it was told to end."""
import pathlib
import re
import shutil
import signal
import tempfile

import launch

RESTART = r"dtrun: restart (\d+) of (\d+) in [\d.]+ s(, with \d+ ranks instead of \d+)?: (.*)"


class Restarts(launch.Case):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dtensor_restarts_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def restarts(self, err):
        return [match.groups() for match in re.finditer(f"^{RESTART}$", err, re.M)]

    def test_failures__are_followed_by_another_start(self):
        """Rank 1 fails in the first two launches: by an exit code, and killed."""
        script = 'echo "$RANK of $WORLD_SIZE, $DTENSOR_RESTART"; case $RANK$DTENSOR_RESTART in 10) exit 7 ;; 11) kill -9 $$ ;; esac; sleep 0.2'
        code, out, err = self.run_dtrun("-n", 3, "--restarts", 5, "sh", "-c", script)
        self.assertEqual(code, 0, err)
        self.assertEqual([found[:2] + found[3:] for found in self.restarts(err)],
                         [("1", "5", "rank 1 ended with exit code 7"), ("2", "5", "rank 1 ended with signal 9 (SIGKILL)")])
        self.assertEqual(sorted(set(out.splitlines()) & {f"{rank} of 3, 2" for rank in range(3)}),
                         [f"{rank} of 3, 2" for rank in range(3)])

    def test_restarts__end_after_their_number(self):
        code, _, err = self.run_dtrun("-n", 2, "--restarts", 2, "sh", "-c", "exit 3")
        self.assertEqual(code, 3)
        self.assertEqual(len(self.restarts(err)), 2, err)
        self.assertRegex(err, r"dtrun: no more restarts: rank \d ended with exit code 3, after 2 of 2\n")

    def test_restarts__are_not_for_what_ended_otherwise(self):
        for command in (["true"], ["/nonexistent/program"], ["/etc/passwd"]):
            _, _, err = self.run_dtrun("-n", 2, "--restarts", 5, *command)
            self.assertNotIn("restart", err)
        code, _, err = self.run_dtrun("-n", 2, "sh", "-c", "exit 3")
        self.assertEqual((code, "restart" in err), (3, False))

    def test_signals__end_a_launch_and_the_time_before_the_next(self):
        running = self.launch("-n", 2, "--restarts", 5, "sh", "-c", "echo ready; sleep 60")
        running.read_lines(2)
        running.process.send_signal(signal.SIGTERM)
        code, _, err = running.end()
        self.assertEqual(code, 128 + signal.SIGTERM, err)
        self.assertNotIn("restart", err)
        starts = self.folder / "starts"
        running = self.launch("-n", 1, "--restarts", 9, "sh", "-c", f"echo >>{starts}; exit 3")
        # the fifth launch is followed by a time that is long enough to be met on busy cores
        self.assertTrue(launch.wait_until(lambda: starts.exists() and len(starts.read_text()) == 5))
        self.assertTrue(launch.wait_until(lambda: len(running.roles()["supervisor"]) == 0))
        running.process.send_signal(signal.SIGINT)
        code, _, err = running.end()
        self.assertEqual((code, len(self.restarts(err))), (128 + signal.SIGINT, 5), err)
        self.assertEqual(running.remaining_processes(2), [])

    def test_ranks__that_keep_dying_are_left_out(self):
        script = "test $RANK != 2 || exit 9; sleep 0.3"
        code, _, err = self.run_dtrun("-n", 3, "--restarts", 5, "--min-ranks", 2, "sh", "-c", script)
        self.assertEqual(code, 0, err)
        self.assertEqual([found[2] for found in self.restarts(err)], [None, ", with 2 ranks instead of 3"])
        for arguments, text in ((("-n", 2, "--min-ranks", 3, "--restarts", 1), "expected at most the number of ranks, 2, got 3"),
                                (("-n", 2, "--min-ranks", 2), "expected --restarts, too"),
                                (("--restarts", 0), "--restarts: expected an integer from 1")):
            code, _, err = self.run_dtrun(*arguments, "true")
            self.assertEqual(code, 2)
            self.assertIn(text, err)

    def test_files__keep_the_output_of_the_launches_before(self):
        script = 'echo "launch $DTENSOR_RESTART"; test $DTENSOR_RESTART = 1'
        code, _, err = self.run_dtrun("-n", 1, "--restarts", 1, "--output-dir", self.folder / "out", "sh", "-c", script)
        self.assertEqual(code, 0, err)
        self.assertEqual((self.folder / "out/rank-0.out").read_text(), "launch 0\nlaunch 1\n")

    def test_input__is_that_of_the_first_launch(self):
        script = "cat; test $DTENSOR_RESTART = 1"
        code, out, err = self.run_dtrun("-n", 1, "--restarts", 1, "sh", "-c", script, input=b"once\n")
        self.assertEqual((code, out), (0, "once\n"), err)


launch.main()
