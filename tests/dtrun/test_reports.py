# SPDX-License-Identifier: Apache-2.0
"""Errors that ranks report: dtrun and dt_spawn print the text of several ranks once, with the list of these ranks."""
import pathlib
import tempfile
import time

import launch

REPORTS = launch.BUILD / "tests/dtrun.reports"


class Reports(launch.Case):
    def reports(self, n, *lists, options=(), **more):
        """Exit code, the lines of the ranks and those of dtrun."""
        code, out, err = self.run_dtrun("-n", n, *options, REPORTS, *lists, **more)
        self.assertEqual(out, "")
        lines = err.splitlines()
        return (code, [line for line in lines if not line.startswith("dtrun: ")],
                [line for line in lines if line.startswith("dtrun: ")])

    def test_agreed_error__is_printed_once(self):
        for n in (2, 3, 5, 7):
            code, lines, of_dtrun = self.reports(n, "wait; fail shapes differ")
            self.assertEqual((code, lines), (1, [f"on ranks 0-{n - 1}: value: shapes differ"]))
            self.assertRegex(of_dtrun[0], r"^dtrun: rank \d+ ended with exit code 1$")
            self.assertRegex(of_dtrun[1], r"^dtrun: the others: ranks? [0-9,-]+ ended with exit code 1$")

    def test_agreed_error__precedes_the_end_of_its_rank(self):
        _, _, err = self.run_dtrun("-n", 4, REPORTS, "wait; fail shapes differ")
        self.assertTrue(err.startswith("on ranks 0-3: value: shapes differ\ndtrun: rank "), err)

    def test_different_error__is_shown_after_the_agreed_one(self):
        code, lines, _ = self.reports(4, "wait; fail agreed", "wait; fail other", "wait; fail agreed")
        self.assertEqual((code, lines), (1, ["on ranks 0,2-3: value: agreed", "rank 1: value: other"]))

    def test_ranks__are_named_as_ranges(self):
        lists = ["wait; fail a" if rank in (0, 1, 2, 5) else "wait" for rank in range(7)]
        self.assertEqual(self.reports(7, *lists)[:2], (1, ["on ranks 0-2,5: value: a"]))

    def test_failed_operation__is_printed_once(self):
        for n in (2, 3, 5):
            code, lines, _ = self.reports(n, "wait; sum", "wait; wait")
            self.assertEqual(code, 1)
            self.assertRegex(lines[0], r"^rank \d: mismatch: .*(all_reduce.*barrier|barrier.*all_reduce)")
            self.assertRegex(lines[-1], r"^  ranks? [0-9,-]+ failed with it$")
            self.assertEqual(len([line for line in lines if "mismatch: " in line]), 1, lines)

    def test_failed_operation__of_a_rank_that_notices_late_is_not_printed_again(self):
        _, lines, _ = self.reports(3, "wait; sum", "wait; wait", "wait; sleep 2500; wait")
        self.assertEqual(len([line for line in lines if "mismatch: " in line]), 1, lines)

    def test_failed_operations__of_two_times_are_printed_each(self):
        _, lines, _ = self.reports(2, "wait; sum; clear; wait; sum", "wait; wait; clear; wait; wait")
        self.assertEqual(len([line for line in lines if line.startswith("rank ") and ": mismatch: " in line]), 2, lines)

    def test_one_rank__is_printed_without_a_list(self):
        self.assertEqual(self.reports(1, "fail alone")[:2], (1, ["rank 0: value: alone"]))
        self.assertEqual(self.reports(3, "wait", "wait", "wait; fail alone")[:2], (1, ["rank 2: value: alone"]))

    def test_same_text__without_content_is_the_same(self):
        self.assertEqual(self.reports(3, "wait; fail")[1], ["on ranks 0-2: value: "])

    def test_long_text__is_complete(self):
        text = "x" * 4000
        self.assertEqual(self.reports(3, f"wait; fail {text}")[1], [f"on ranks 0-2: value: {text}"])
        truncated = self.reports(3, f"wait; fail {'y' * 9000}")[1]
        self.assertEqual(len(truncated), 1)
        self.assertRegex(truncated[0], r"^on ranks 0-2: value: y{4000,}\.\.\.$")

    def test_text_of_several_lines__stays_together(self):
        self.assertEqual(self.reports(3, "wait; fail a\n  b\n  ^")[1], ["on ranks 0-2: value: a", "  b", "  ^"])

    def test_rank_that_continues__reports_in_order(self):
        lists = "wait; report one; report two; report one; wait; fail three"
        self.assertEqual(self.reports(3, lists)[1], [f"on ranks 0-2: value: {text}"
                                                    for text in ("one", "two", "one", "three")])

    def test_report_before_the_others__does_not_split_what_they_share(self):
        lines = self.reports(3, "wait; report shared; wait", "report own; report shared; wait; wait",
                             "wait; report shared; wait")[1]
        self.assertEqual(lines, ["rank 1: value: own", "on ranks 0-2: value: shared"])

    def test_report_while_the_others_run__is_printed_at_once(self):
        running = self.launch("-n", 3, REPORTS, "report early; sleep 60000", "sleep 60000")
        self.assertEqual(running.process.stderr.readline().decode(), "rank 0: value: early\n")

    def test_late_report__is_printed_with_its_own_rank(self):
        lines = self.reports(2, "report text; sleep 3000", "sleep 2000; report text")[1]
        self.assertEqual(lines, ["rank 0: value: text", "rank 1: value: text"])

    def test_ranks_that_have_closed__are_not_waited_for(self):
        running = self.launch("-n", 2, "sh", "-c", f"{REPORTS} 'sleep 0' 'fail b'; sleep 60")
        self.assertEqual(running.process.stderr.readline().decode(), "rank 1: value: b\n")

    def test_rank_killed_after_its_report__loses_nothing(self):
        code, lines, _ = self.reports(3, "wait; report last text; kill")
        self.assertEqual((code, lines), (137, ["on ranks 0-2: value: last text"]))
        lists = ["wait; report last text", "wait; report last text; kill", "wait; report last text"]
        self.assertEqual(self.reports(3, *lists)[:2], (137, ["on ranks 0-2: value: last text"]))

    def test_many_reports__are_all_printed(self):
        n = 200
        code, lines, _ = self.reports(3, f"wait; repeat {n}")
        printed = {str(i): set() for i in range(1, n + 1)}
        for line in lines:
            ranks, text = line.replace("on ", "").split(": value: ")
            for part in ranks.split()[1].split(","):
                first, last = (part.split("-") + [part])[:2]
                printed[text] |= set(range(int(first), int(last) + 1))
        self.assertEqual((code, [text for text in printed if printed[text] != {0, 1, 2}]), (0, []))

    def test_many_ranks__that_differ_are_all_printed(self):
        n = 24
        lines = self.reports(n, *[f"wait; fail {rank} {'z' * 3000}" for rank in range(n)], seconds=60)[1]
        self.assertEqual(sorted(line.split("z")[0] for line in lines),
                         sorted(f"rank {rank}: value: {rank} " for rank in range(n)))

    def test_slow_reader__gets_reports_too(self):
        running = self.launch("-n", 3, REPORTS, "flood 8", "sleep 500; fail text", "sleep 500; fail text")
        time.sleep(1)  # the output buffer of dtrun is full now
        code, _, err = running.end()
        self.assertEqual((code, err.count("on ranks 1-2: value: text\n")), (1, 1))

    def test_redirected_stderr__gets_its_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "errors")
            _, lines, _ = self.reports(3, "wait; fail text", f"to {path}; wait; fail text", "wait; fail text")
            self.assertEqual((lines, path.read_text()), (["on ranks 0,2: value: text"], "rank 1: value: text\n"))
        code, out, err = self.sh(2, f"{REPORTS} 'wait; fail text' 2>&1")
        self.assertEqual((code, sorted(out.splitlines())), (1, ["rank 0: value: text", "rank 1: value: text"]), err)

    def test_earlier_output__precedes_the_report(self):
        lines = self.reports(3, "print hello; wait; fail text")[1]
        self.assertEqual(lines, ["hello"] * 3 + ["on ranks 0-2: value: text"])

    def test_child_of_a_rank__has_an_error_of_state(self):
        code, lines, _ = self.reports(2, "wait; fork-report; wait")
        self.assertEqual((code, len(lines)), (0, 2), lines)
        for line in lines:
            self.assertRegex(line, r"^rank [01]: state: the context was made by the process that forked this one")

    def test_child_of_a_rank__does_not_print_the_error_of_its_parent(self):
        self.assertEqual(self.reports(2, "wait; fail text; fork; sleep 100")[:2], (1, ["on ranks 0-1: value: text"]))

    def test_error_of_a_context_that_is_not_closed__is_printed_once_and_fails(self):
        note = "  the program ended without dt_close, which prints the first error and returns the exit code"
        for end in ("exit", "vanish"):
            for n in (1, 2, 3):
                code, lines, of_dtrun = self.reports(n, f"wait; fail text; {end} 0")
                ranks = f"on ranks 0-{n - 1}" if n > 1 else "rank 0"
                self.assertEqual((code, lines), (1, [f"{ranks}: value: text", note]))
                self.assertRegex(of_dtrun[0], r"^dtrun: rank \d ended with exit code 0, but without dt_close after an error")
            code, lines, _ = self.reports(3, "wait", f"wait; fail text; {end} 0", "wait")
            self.assertEqual((code, lines), (1, ["rank 1: value: text", note]))
            code, lines, _ = self.reports(2, f"wait; fail text; {end} 7")
            self.assertEqual((code, lines), (7, ["on ranks 0-1: value: text", note]))

    def test_verdict_that_no_transfer_has_reported__is_printed_and_fails(self):
        note = "  the program ended without dt_close, which prints the first error and returns the exit code"
        for end in ("exit 0", "vanish 0"):
            code, lines, _ = self.reports(3, "wait", f"wait; verdict text; {end}", "wait")
            self.assertEqual((code, lines), (1, ["rank 1: value: text; found on rank 1", note]))
        code, lines, _ = self.reports(3, "wait", "wait; verdict text", "wait")
        self.assertEqual(code, 1)
        self.assertRegex(lines[0], r"^rank 1: value: text; found on rank 1, reported by close \(at .*\)$")

    def test_error_of_a_context_that_is_not_closed__was_reported(self):
        for end in ("exit", "vanish"):
            self.assertEqual(self.reports(2, f"wait; fail text; tell; {end} 0")[:2], (1, ["on ranks 0-1: value: text"]))

    def test_context_that_is_not_closed__may_have_no_error(self):
        for end in ("exit", "vanish"):
            self.assertEqual(self.reports(2, f"wait; {end} 0"), (0, [], []))
            self.assertEqual(self.reports(2, f"wait; fail text; forget; {end} 0"), (0, [], []))

    def test_tags__are_those_of_the_first_rank(self):
        _, lines, _ = self.reports(3, "wait; fail a\nb", options=["--tag-output"])
        self.assertEqual(lines, ["[0] on ranks 0-2: value: a", "[0] b"])

    def test_failed_init__is_printed_once(self):
        code, lines, _ = self.reports(3, "wait", environment={"DTENSOR_KERNELS": "magic"})
        self.assertEqual(code, 90)
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], r'^on ranks 0-2: init: DTENSOR_KERNELS: expected .*, got "magic" .at .*:[0-9]+.$')
        code, lines, _ = self.reports(3, "wait", environment={"DTENSOR_TRANSPORT": "smh"})
        self.assertEqual((code, len(lines)), (90, 1), lines)
        self.assertRegex(lines[0], r'^on ranks 0-2: init: transport: expected self, shm, mpi or fake, got "smh"; did you mean shm\? ')

    def test_warnings__are_printed_once_unless_a_level_is_requested(self):
        self.assertEqual(self.reports(3, "wait; warn text; wait")[:2], (0, ["on ranks 0-2: warn: text"]))
        _, lines, _ = self.reports(3, "wait; warn text; wait", environment={"DTENSOR_LOG": "warn"})
        self.assertEqual(sorted(lines), [f"rank {rank}: warn: text" for rank in range(3)])
        self.assertEqual(self.reports(3, "wait; warn text; wait", environment={"DTENSOR_LOG": "off"})[1], [])

    def test_two_launches__do_not_mix(self):
        code, _, err = self.sh(2, f"{launch.DTRUN} -n 3 {REPORTS} 'wait; fail inner'")
        self.assertEqual(code, 1)
        self.assertEqual(err.count("on ranks 0-2: value: inner\n"), 2, err)

    def test_shared_file__gets_reports_too(self):
        with tempfile.TemporaryFile() as both:
            code, _, _ = self.run_dtrun("-n", 3, REPORTS, "wait; fail text", stdout=both, stderr=both)
            both.seek(0)
            self.assertEqual((code, both.readline()), (1, b"on ranks 0-2: value: text\n"))


class Alone(launch.Case):
    """Programs that are started by themselves: the error is printed, and the exit code stays the program's."""

    def alone(self, actions):
        process = launch.subprocess.run([REPORTS, actions], capture_output=True, text=True, timeout=60)
        return process.returncode, process.stderr

    def test_error_of_a_context_that_is_not_closed__is_printed(self):
        note = "\n  the program ended without dt_close, which prints the first error and returns the exit code\n"
        self.assertEqual(self.alone("fail text; exit 0"), (0, "rank 0: value: text" + note))
        self.assertEqual(self.alone("fail text; fork; exit 5"), (5, "rank 0: value: text" + note))

    def test_error_that_was_read__is_not_printed_again(self):
        self.assertEqual(self.alone("fail text; tell; exit 0"), (0, "rank 0: value: text\n"))
        self.assertEqual(self.alone("fail text; forget; exit 0"), (0, ""))
        self.assertEqual(self.alone("fail text"), (1, "rank 0: value: text\n"))


class Spawn(launch.Case):
    """The same for four ranks that a program forks itself."""

    def spawn(self, *lists):
        process = launch.subprocess.run([REPORTS, "--spawn", *lists], capture_output=True, text=True, timeout=60)
        lines = process.stderr.splitlines()
        return process.returncode, [line for line in lines if not line.startswith("spawn: ")]

    def test_agreed_error__is_printed_once(self):
        self.assertEqual(self.spawn("wait; fail text"), (3, ["on ranks 0-3: value: text"]))
        self.assertEqual(self.spawn("wait; fail text", "wait; fail other", "wait; fail text"),
                         (3, ["on ranks 0,2-3: value: text", "rank 1: value: other"]))

    def test_rank_that_continues__reports_in_order(self):
        self.assertEqual(self.spawn("wait; report one; report two; wait"),
                         (0, ["on ranks 0-3: value: one", "on ranks 0-3: value: two"]))

    def test_rank_killed_after_its_report__loses_nothing(self):
        self.assertEqual(self.spawn("wait; report text; kill", "wait; report text"),
                         (3, ["on ranks 0-3: value: text"]))

    def test_error_of_a_context_that_is_not_closed__is_printed_once_and_fails(self):
        note = "  the program ended without dt_close, which prints the first error and returns the exit code"
        for end in ("exit", "vanish"):
            self.assertEqual(self.spawn(f"wait; fail text; {end} 0"), (3, ["on ranks 0-3: value: text", note]))
            self.assertEqual(self.spawn(f"wait; {end} 0"), (0, []))

    def test_report_while_the_others_run__is_printed_at_once(self):
        process = launch.subprocess.Popen([REPORTS, "--spawn", "report early; sleep 60000", "sleep 60000"],
                                          stderr=launch.subprocess.PIPE)
        try:
            self.assertEqual(process.stderr.readline(), b"rank 0: value: early\n")
        finally:
            process.kill()
            process.wait()
            process.stderr.close()


launch.main()
