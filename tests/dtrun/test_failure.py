# SPDX-License-Identifier: Apache-2.0
"""Ranks that fail, and programs that cannot be started: the message and exit code of dtrun, and the end of the other ranks."""
import os
import re
import signal
import stat
import tempfile
import time

import launch


class Failure(launch.Case):
    def test_code__is_that_of_the_rank(self):
        for n in (1, 2, 5):
            for code in (1, 3, 77, 127, 255):
                self.assertEqual(self.sh(n, f"test $RANK = {n - 1} && exit {code}; exit 0"),
                                 (code, "", f"dtrun: rank {n - 1} ended with exit code {code}\n"))

    def test_code__is_128_and_the_signal(self):
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
            self.assertEqual(self.sh(3, f"ulimit -c 0; test $RANK = 1 && kill -{int(number)} $$; exit 0"),
                             (128 + number, "", f"dtrun: rank 1 ended with signal {int(number)} ({number.name})\n"))

    def test_first_failure__determines_the_exit_code(self):
        script = "case $RANK in 0) sleep 0.6; exit 4;; 1) sleep 0.3; exit 5;; 2) exit 6;; *) sleep 0.1;; esac"
        self.assertEqual(self.sh(4, script), (6, "", "dtrun: rank 2 ended with exit code 6\n"
                                              "dtrun: the others: rank 0 ended with exit code 4; "
                                              "rank 1 ended with exit code 5\n"))

    def test_success__of_one_rank_does_not_end_the_others(self):
        self.assertEqual(self.sh(3, "test $RANK = 0 && exit 0; sleep 0.5; echo done"), (0, "done\ndone\n", ""))

    def test_others__may_end_by_themselves_for_two_seconds(self):
        code, out, err = self.sh(3, "test $RANK = 1 && exit 9; sleep 1.5; echo in order; exit 0")
        self.assertEqual((code, out, err), (9, "in order\nin order\n", "dtrun: rank 1 ended with exit code 9\n"))
        start = time.monotonic()
        code, out, err = self.sh(3, "test $RANK = 1 && exit 9; trap 'echo signaled; exit 0' TERM; sleep 100 & wait")
        self.assertEqual((code, out, err), (9, "signaled\nsignaled\n", "dtrun: rank 1 ended with exit code 9\n"))
        self.assertTrue(1.8 < time.monotonic() - start < 6)

    def test_others__are_killed_in_the_end(self):
        start = time.monotonic()
        code, _, err = self.sh(3, "test $RANK = 1 && exit 9; trap '' TERM; while :; do sleep 0.1; done")
        self.assertEqual((code, err), (9, "dtrun: rank 1 ended with exit code 9\n"
                                       "dtrun: the others: dtrun ended ranks 0,2\n"))
        self.assertTrue(4.5 < time.monotonic() - start < 10)

    def test_rank__may_be_killed_from_outside(self):
        running = self.launch("-n", 3, "sh", "-c", "echo $RANK $$; exec sleep 100")
        pids = dict(line.split() for line in running.read_lines(3))
        os.kill(int(pids["2"]), signal.SIGKILL)
        code, _, err = running.end()
        self.assertEqual((code, err), (137, "dtrun: rank 2 ended with signal 9 (SIGKILL)\n"
                                       "dtrun: the others: dtrun ended ranks 0-1\n"))
        self.assertEqual(running.remaining_processes(), [])


class LastCall(launch.Case):
    """The last call of a rank is read from its shared memory."""

    def assert_message(self, where, expected, others="ranks 0,2 ended with exit code 1"):
        code, out, err = self.run_dtrun("-n", 3, launch.BUILD / "tests/dtrun.dies", where)
        self.assertEqual((code, out), (137, ""), err)
        messages = [line for line in err.splitlines() if line.startswith("dtrun: ")]
        self.assertRegex(messages[0], "^dtrun: rank 1 ended with signal 9 .SIGKILL." + expected + "$")
        self.assertEqual(messages[1:], [f"dtrun: the others: {others}"] if others else [])
        return err

    def test_call__is_reported(self):
        err = self.assert_message("call", r", in all_reduce of f32 x 1024, sum, #2 of ranks 0-2, for 0\.\d s \(comm_all_reduce at .*prog_dies\.c:\d+\)")
        self.assertRegex(err, r"(?m)^rank [02]: peer: .*all_reduce.*(\n  rank .*)+\n  rank [02] failed with it$")

    def test_last_call__is_reported(self):
        self.assert_message("between", r", between calls; last: all_reduce of f32 x 1024, sum, #1 of ranks 0-2 \(comm_all_reduce at .*prog_dies\.c:\d+\)")

    def test_error__is_reported(self):
        self.assert_message("failed", ", has failed with memory: no memory for 5 tensors .at .*prog_dies.c:[0-9]+.; between calls; last: all_reduce of .*")

    def test_cause__is_reported_although_its_effects_end_first(self):
        code, _, err = self.run_dtrun("-n", 3, launch.BUILD / "tests/dtrun.dies", "error")
        messages = [line for line in err.splitlines() if line.startswith("dtrun: ")]
        self.assertEqual((code, messages), (5, ["dtrun: rank 1 ended with exit code 5",
                                            "dtrun: the others: ranks 0,2 ended with exit code 1"]), err)
        self.assertLess(err.index(": peer: "), err.index("dtrun: rank 1"))

    def assert_blamed(self, kind, code, expected):
        """Rank 1 is named first in each error of the others; those of one incident are printed once."""
        got, _, err = self.run_dtrun("-n", 4, "--timeout", "2s", launch.BUILD / "tests/dtrun.blame", kind)
        errors = [line for line in err.splitlines() if re.match("rank [023]: ", line)]
        self.assertEqual(got, code, err)
        self.assertTrue(errors, err)
        for error in errors:
            self.assertRegex(error, expected)

    def test_rank_that_died__is_named_first_by_all_others(self):
        for _ in range(5):
            self.assert_blamed("die", 3, r"^rank \d: peer: .*? of ranks [0-9,-]+: rank 1 is dead")

    def test_rank_that_failed__is_named_first_by_all_others(self):
        for _ in range(5):
            self.assert_blamed("fail", 1, r"^rank \d: peer: .*? of ranks [0-9,-]+: rank 1 has .*system: trouble of one rank")

    def test_rank_that_stopped__is_named_first_by_all_others(self):
        self.assert_blamed("stop", 1, r"^rank \d: timeout: .*? of ranks [0-9,-]+: rank 1 is stopped; rank 1 did not arrive within 2 s")

    def test_closed_context__is_not_reported(self):
        self.assert_message("closed", "", None)


class Start(launch.Case):
    def assert_cannot_run(self, program, code, *parts, **options):
        start = time.monotonic()
        got, out, err = self.run_dtrun("-n", 3, program, **options)
        self.assertEqual((got, out), (code, ""))
        self.assertEqual(err.count("\n"), 1, err)
        self.assertTrue(err.startswith(f"dtrun: cannot run {program}: "), err)
        for part in parts:
            self.assertIn(part, err)
        self.assertLess(time.monotonic() - start, 1.5)

    def make_file(self, name, text, mode):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = launch.pathlib.Path(folder.name, name)
        path.write_text(text)
        path.chmod(mode)
        return path

    def test_program__that_does_not_exist(self):
        self.assert_cannot_run("no-such-program", 127, os.strerror(2))
        self.assert_cannot_run("./no-such-program", 127, os.strerror(2))
        self.assert_cannot_run("", 127)

    def test_program__that_is_not_executable(self):
        self.assert_cannot_run(self.make_file("plain", "hello\n", stat.S_IRUSR), 126, os.strerror(13))
        self.assert_cannot_run("/", 126)

    def test_program__whose_interpreter_is_missing(self):
        path = self.make_file("script", "#!/no/such/interpreter\n", 0o700)
        self.assert_cannot_run(path, 127, "the interpreter or loader that it names")

    def test_program__in_the_working_folder_gets_a_hint(self):
        path = self.make_file("only-here", "#!/bin/sh\n", 0o700)
        self.assert_cannot_run("only-here", 127, "./", cwd=path.parent)

    def test_script__without_an_interpreter_is_run_by_the_shell(self):
        path = self.make_file("script", "echo $RANK\n", 0o700)
        self.assertEqual(self.run_dtrun("-n", 1, path), (0, "0\n", ""))

    def test_code_127__of_a_rank_is_returned(self):
        self.assertEqual(self.sh(2, "exit $((RANK * 127))"), (127, "", "dtrun: rank 1 ended with exit code 127\n"))


launch.main()
