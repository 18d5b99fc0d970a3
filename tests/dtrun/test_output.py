# SPDX-License-Identifier: Apache-2.0
"""Output of the ranks: complete lines in order, large amounts, and readers that are slow or close."""
import collections
import errno
import os
import pty
import socket
import subprocess
import sys
import tempfile
import time

import launch

WRITER = """
import os, sys
rank, n = os.environ["RANK"], int(sys.argv[1])
text = "".join(f"{rank}:{i}:{'x' * (i * 37 % 500)}:end\\n" for i in range(n)).encode()
at = 0
while at < len(text):  # in pieces that do not end at lines
    at += os.write(int(sys.argv[2]), text[at:at + 777])
"""


def expected_lines(rank, n):
    return [f"{rank}:{i}:{'x' * (i * 37 % 500)}:end" for i in range(n)]


class Lines(launch.Case):
    def assert_complete(self, text, n_ranks, n_lines, tag=False):
        self.assertTrue(text.endswith("\n"))
        found = collections.defaultdict(list)
        for line in text.splitlines():
            if tag:
                mark, line = line[:4], line[4:]
                self.assertEqual(mark, f"[{line[0]}] ")
            found[line[0]].append(line)
        for rank in range(n_ranks):
            self.assertEqual(found.pop(str(rank)), expected_lines(rank, n_lines))
        self.assertEqual(found, {})

    def test_lines__are_never_mixed(self):
        for tag in (False, True):
            for n in (1, 2, 5):
                options = ("--tag-output",) if tag else ()
                code, out, err = self.run_dtrun("-n", n, *options, sys.executable, "-c", WRITER, 300, 1)
                self.assertEqual((code, err), (0, ""))
                self.assert_complete(out, n, 300, tag)

    def test_errors__go_to_standard_error(self):
        code, out, err = self.run_dtrun("-n", 3, sys.executable, "-c", WRITER, 100, 2)
        self.assertEqual((code, out), (0, ""))
        self.assert_complete(err, 3, 100)

    def test_lines__are_not_mixed_if_both_outputs_are_one_file(self):
        script = 'python3 -c "$WRITER" 200 1 & python3 -c "$WRITER" 200 2; wait'
        code, out, _ = self.sh(2, script, stderr=subprocess.STDOUT, environment={"WRITER": WRITER})
        self.assertEqual(code, 0)
        counts = collections.Counter(out.splitlines())
        self.assertEqual(counts, {line: 2 for rank in (0, 1) for line in expected_lines(rank, 200)})

    def test_line__that_is_written_slowly_is_not_split(self):
        script = """if [ $RANK = 0 ]; then printf 'slow '; sleep 0.4; echo line
                    else for i in 1 2 3 4 5 6; do echo quick; sleep 0.1; done; fi"""
        code, out, _ = self.sh(2, script)
        self.assertEqual((code, sorted(out.splitlines())), (0, ["quick"] * 6 + ["slow line"]))

    def test_line__without_its_end_gets_one(self):
        self.assertEqual(self.sh(3, "printf same"), (0, "same\nsame\nsame\n", ""))
        self.assertEqual(self.sh(1, "printf same", "--tag-output"), (0, "[0] same\n", ""))

    def test_bytes__of_a_single_rank_are_unchanged(self):
        data = bytes(range(256)) * 20000 + b"\0no end"
        process = self.launch("-n", 1, "cat", stdin=subprocess.PIPE)
        out, err = process.process.communicate(data, timeout=30)
        self.assertEqual(err, b"")
        self.assertTrue(out == data)

    def test_empty_lines__are_tagged_too(self):
        self.assertEqual(self.sh(1, "echo; echo a; echo", "--tag-output"), (0, "[0] \n[0] a\n[0] \n", ""))

    def test_line__of_several_megabytes_is_not_split_by_others(self):
        script = """
import os, sys, time
if os.environ["RANK"] == "0":
    for _ in range(50):
        os.write(1, b"x" * 100000)
        time.sleep(0.002)
    os.write(1, b"\\n")
else:
    for _ in range(200):
        os.write(1, b"other\\n")
        time.sleep(0.001)
"""
        code, out, err = self.run_dtrun("-n", 3, sys.executable, "-c", script)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(collections.Counter(out.splitlines()), {"x" * 5000000: 1, "other": 400})

    def test_line__without_an_end_delays_others_for_a_bounded_time(self):
        script = """if [ $RANK = 0 ]; then head -c 2000000 /dev/zero | tr '\\0' x; sleep 3; printf 'end'
                    else sleep 0.5; echo other; fi"""
        running = self.launch("-n", 2, "sh", "-c", script)
        start = time.monotonic()
        out = b""
        while not out.endswith(b"\nother\n"):
            piece = os.read(running.process.stdout.fileno(), 1 << 20)
            self.assertTrue(piece)
            out += piece
        self.assertLess(time.monotonic() - start, 2.9)
        self.assertTrue(out == b"x" * 2000000 + b"\nother\n")
        self.assertEqual(running.end()[:2], (0, "end\n"))

    def test_last_output__precedes_the_message_of_dtrun(self):
        for _ in range(10):
            code, _, err = self.sh(2, "test $RANK = 1 && { echo last output >&2; kill -9 $$; }; exec sleep 0.1")
            self.assertEqual((code, err), (137, "last output\ndtrun: rank 1 ended with signal 9 (SIGKILL)\n"))


class Amounts(launch.Case):
    def test_output__of_100_megabytes_is_quick_and_complete(self):
        start = time.monotonic()
        running = self.launch("-n", 4, "sh", "-c", "yes 012345678901234567890123456789012345678 | head -n 625000")
        n_bytes = 0
        while piece := os.read(running.process.stdout.fileno(), 1 << 20):
            n_bytes += len(piece)
            self.assertEqual(set(piece) - set(b"0123456789\n"), set())
        self.assertEqual(running.end()[0], 0)
        self.assertEqual(n_bytes, 100000000)
        if not launch.IS_SANITIZED:
            self.assertLess(time.monotonic() - start, 10)

    def test_output__of_many_ranks_is_complete(self):
        n = 300
        code, out, err = self.sh(n, "echo out $RANK; echo err $RANK >&2", "--heap", "16M")
        self.assertEqual(code, 0)
        self.assertEqual(sorted(out.splitlines()), sorted(f"out {rank}" for rank in range(n)))
        self.assertEqual(sorted(err.splitlines()), sorted(f"err {rank}" for rank in range(n)))

    def test_output__at_the_very_end_is_not_lost(self):
        for _ in range(10):
            code, out, _ = self.sh(3, "yes | head -c 60000; echo; echo bye")
            self.assertEqual((code, len(out), out.count("bye\n")), (0, 3 * (60000 + 5), 3))

    def test_output__of_processes_that_outlive_their_rank_is_printed(self):
        code, out, _ = self.sh(2, "(sleep 0.2; echo late) & exit 0")
        self.assertEqual((code, out), (0, "late\nlate\n"))

    def test_output__waits_for_a_slow_reader(self):
        running = self.launch("-n", 2, "sh", "-c", "yes abc | head -n 2000000")  # far more than all buffers
        out = b""
        time.sleep(0.5)
        while piece := os.read(running.process.stdout.fileno(), 1 << 20):
            out += piece
            if len(out) < 8000000:
                time.sleep(0.01)
        self.assertEqual(running.end()[0], 0)
        self.assertTrue(out == b"abc\n" * 4000000)

    def test_memory__is_bounded_with_a_reader_that_does_not_read(self):
        running = self.launch("-n", 2, "yes")
        time.sleep(1)
        supervisor = running.supervisor()
        status = launch.pathlib.Path(f"/proc/{supervisor}/status").read_text()
        resident_kb = int(status.split("VmRSS:")[1].split()[0])
        if not launch.IS_SANITIZED:
            self.assertLess(resident_kb, 32 << 10)
        os.kill(running.pid, launch.signal.SIGTERM)
        self.assertTrue(launch.wait_until(lambda: running.process.poll() is not None, 10))
        self.assertEqual(running.process.returncode, 143)
        self.assertEqual(running.remaining_processes(), [])


class Readers(launch.Case):
    def test_reader__that_closes_ends_the_launch_without_a_message(self):
        for name in ("stdout", "stderr"):
            running = self.launch("-n", 3, "sh", "-c", "yes" if name == "stdout" else "yes >&2")
            stream = getattr(running.process, name)
            self.assertEqual(stream.readline(), b"y\n")
            stream.close()
            setattr(running.process, name, None)
            code, out, err = running.end()
            self.assertEqual((code, err if name == "stdout" else out), (141, ""))
            self.assertEqual(running.remaining_processes(), [])

    def test_reader__that_closes_without_output_has_no_effect(self):
        running = self.launch("-n", 2, "sleep", "0.5")
        running.process.stdout.close()
        running.process.stdout = None
        self.assertEqual(running.end(), (0, "", ""))

    def test_full_device__is_an_error(self):
        with open("/dev/full", "wb") as full:
            code, _, err = self.sh(2, "yes", stdout=full)
        self.assertEqual((code, err), (125, f"dtrun: cannot write the ranks' output: {os.strerror(errno.ENOSPC)}\n"))

    def test_closed_outputs__have_no_effect(self):
        for closed in ((1,), (2,), (0, 1, 2)):
            running = self.launch("-n", 2, "sh", "-c", "echo out; echo err >&2; cat",
                                  preexec_fn=lambda: [os.close(fd) for fd in closed])
            code, out, err = running.end()
            self.assertEqual(code, 0)
            self.assertEqual(out, "" if 1 in closed else "out\nout\n")
            self.assertEqual(err, "" if 2 in closed else "err\nerr\n")

    def test_files__are_written_at_their_position(self):
        path = launch.pathlib.Path(tempfile.mkstemp()[1])
        self.addCleanup(path.unlink)
        with open(path, "w") as file:
            file.write("before\n")
            file.flush()
            self.assertEqual(self.sh(2, "echo x", stdout=file)[0], 0)
            file.seek(0, os.SEEK_END)
            file.write("after\n")
        self.assertEqual(path.read_text(), "before\nx\nx\nafter\n")

    def test_sockets__work_and_do_not_block(self):
        own_end, other_end = socket.socketpair()
        with own_end, other_end:
            running = self.launch("-n", 2, "sh", "-c", "yes abc | head -n 500000", stdout=other_end)
            other_end.close()
            time.sleep(0.3)
            out = b""
            while piece := own_end.recv(1 << 20):
                out += piece
            self.assertTrue(out == b"abc\n" * 1000000)
            self.assertEqual(running.end()[0], 0)

    def test_pipe__keeps_its_flags(self):
        """The pipe is shared with other processes, which expect it to block."""
        read, write = os.pipe()
        running = self.launch("-n", 1, "sh", "-c", "echo x; sleep 0.2", stdout=write)
        os.read(read, 2)
        self.assertTrue(os.get_blocking(write))
        running.end()
        os.close(read)
        os.close(write)


class Terminal(launch.Case):
    """Standard output and error are one terminal, standard input is not."""

    def start(self, *arguments):
        own_end, other_end = pty.openpty()
        running = self.launch(*arguments, stdout=other_end, stderr=other_end)
        os.close(other_end)
        self.addCleanup(os.close, own_end)
        return running, own_end

    def read_until(self, fd, text):
        out = b""
        while text not in out:
            try:
                out += os.read(fd, 4096)
            except OSError:
                break
        return out

    def test_terminal__shows_unfinished_lines_of_rank_0(self):
        running, terminal = self.start("-n", 2, "sh", "-c", "test $RANK = 0 && { printf 'name? '; exec sleep 2; }; exec sleep 2")
        start = time.monotonic()
        self.assertEqual(self.read_until(terminal, b"? "), b"name? ")
        self.assertLess(time.monotonic() - start, 1.9)
        self.assertEqual(running.end()[0], 0)

    def test_terminal__gets_complete_lines(self):
        running, terminal = self.start("-n", 3, sys.executable, "-c", WRITER, 100, 1)
        out = self.read_until(terminal, b"never")
        self.assertEqual(running.end()[0], 0)
        self.assertEqual(sorted(out.decode().split("\r\n")),
                         sorted([""] + [line for rank in range(3) for line in expected_lines(rank, 100)]))

    def test_terminal__that_hangs_up_ends_the_launch(self):
        running, terminal = self.start("-n", 2, "sh", "-c", "while :; do echo x; sleep 0.01; done")
        self.read_until(terminal, b"x")
        os.dup2(os.open("/dev/null", os.O_RDWR), terminal)
        code, _, _ = running.end()
        self.assertEqual(code, 125)
        self.assertEqual(running.remaining_processes(), [])


launch.main()
