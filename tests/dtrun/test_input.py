# SPDX-License-Identifier: Apache-2.0
"""Standard input: rank 0 gets all of it, the others nothing, and it does not block dtrun."""
import os
import pty
import signal
import subprocess
import sys
import time

import launch


class Input(launch.Case):
    def test_input__goes_to_rank_0_only(self):
        for n in (1, 2, 5):
            code, out, err = self.sh(n, "echo $RANK $(wc -c)", input=b"12345\n")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(sorted(out.splitlines()), [f"{rank} {0 if rank else 6}" for rank in range(n)])

    def test_input__may_be_large(self):
        data = os.urandom(1 << 20) * 20
        running = self.launch("-n", 2, "sh", "-c", "test $RANK = 0 && exec cksum", stdin=subprocess.PIPE)
        code, out, _ = running.end(data)
        self.assertEqual(out, subprocess.run(["cksum"], input=data, capture_output=True, check=True).stdout.decode())
        self.assertEqual(code, 1)  # of `test` on the other rank

    def test_input__may_be_a_file_closed_or_nothing(self):
        with open(__file__, "rb") as file:
            self.assertEqual(self.sh(2, "cat", stdin=file)[1], launch.pathlib.Path(__file__).read_text())
        self.assertEqual(self.sh(2, "cat", stdin=subprocess.DEVNULL), (0, "", ""))
        self.assertEqual(self.sh(2, "cat", preexec_fn=lambda: os.close(0)), (0, "", ""))

    def test_input__that_is_not_read_does_not_block_dtrun(self):
        running = self.launch("-n", 2, "true", stdin=subprocess.PIPE)  # stays open
        self.assertTrue(launch.wait_until(lambda: running.process.poll() is not None, 5))
        self.assertEqual(running.process.returncode, 0)

    def test_input__that_is_not_read_is_left_to_the_next_program(self):
        result = subprocess.run(["sh", "-c", f"{launch.DTRUN} -n 2 true; {launch.DTRUN} -n 2 head -c 2; cat"],
                                input=b"one two", capture_output=True, timeout=20, check=False)
        self.assertEqual(result.stdout, b"on\ne two")

    def test_writer__gets_an_error_after_rank_0_has_ended(self):
        running = self.launch("-n", 2, "sh", "-c", "test $RANK = 0 || exec sleep 20", stdin=subprocess.PIPE)
        start = time.monotonic()
        with self.assertRaises(BrokenPipeError):
            while time.monotonic() < start + 10:
                os.write(running.process.stdin.fileno(), b"x" * 1000)
        os.kill(running.pid, signal.SIGTERM)
        self.assertEqual(running.end()[0], 143)


SHELL = """
import os, signal, sys, time
# A session with a terminal and, like a shell with job control, a child that is a process group of its own.
command, foreground = sys.argv[2:], sys.argv[1] == "foreground"
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    if foreground:
        os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(command[0], command)
while True:
    _, status = os.waitpid(child, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        os.tcsetpgrp(0, os.getpgrp())
        os.write(1, b"stopped by %d\\n" % os.WSTOPSIG(status))
        if os.read(0, 100) == b"fg\\n":
            os.tcsetpgrp(0, child)
            os.kill(-child, signal.SIGCONT)
    else:
        os.tcsetpgrp(0, os.getpgrp())
        os.write(1, b"ended with %d\\n" % os.waitstatus_to_exitcode(status))
        break
"""


class Terminal(launch.Case):
    """dtrun in a session with a terminal, started by a program with job control."""

    def start(self, where, *arguments):
        mark = launch.uuid.uuid4().hex
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.environ[launch.MARK] = mark
            os.execv(sys.executable, [sys.executable, "-c", SHELL, where, launch.DTRUN, *map(str, arguments)])
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.close, self.terminal)
        self.addCleanup(lambda: [os.kill(other, signal.SIGKILL) for other in launch.processes(mark)])
        self.mark, self.unread = mark, b""

    def expect(self, text, seconds=15):
        """Reads the terminal up to and including a text."""
        end = time.monotonic() + seconds
        os.set_blocking(self.terminal, False)
        while text not in self.unread and time.monotonic() < end:
            try:
                self.unread += os.read(self.terminal, 4096)
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:
                break
        self.assertIn(text, self.unread)
        before, self.unread = self.unread.split(text, 1)
        return before + text

    def test_keyboard__is_read_by_rank_0(self):
        self.start("foreground", "-n", 2, "sh", "-c", "read x; echo $RANK got \"'$x'\"; exit 0")
        self.expect(b"1 got ''\r\n")
        os.write(self.terminal, b"hello\n")
        self.expect(b"0 got 'hello'\r\n")
        self.expect(b"ended with 0")

    def test_keyboard__has_an_end(self):
        self.start("foreground", "-n", 2, "sh", "-c", "echo $RANK counts $(wc -c)")
        self.expect(b"1 counts 0")
        os.write(self.terminal, b"12\n345\n\x04")
        self.expect(b"0 counts 7")
        self.expect(b"ended with 0")

    def test_keyboard__input_that_is_not_read_does_not_block_dtrun(self):
        self.start("foreground", "-n", 2, "sleep", "0.3")
        os.write(self.terminal, b"typed\n" * 100)
        self.expect(b"ended with 0")

    def test_background__is_not_stopped(self):
        self.start("background", "-n", 2, "sh", "-c", "sleep 0.5; echo done")
        os.write(self.terminal, b"for the shell\n")
        self.expect(b"ended with 0")

    def test_interrupt__reaches_every_rank_once(self):
        script = """
import os, signal, time
signal.signal(signal.SIGINT, lambda *_: os.write(1, b"caught\\n"))
os.write(1, b"ready\\n")
time.sleep(1)
"""
        self.start("foreground", "-n", 2, sys.executable, "-c", script)
        self.expect(b"ready\r\nready\r\n")
        os.write(self.terminal, b"\x03")
        self.assertEqual(self.expect(b"ended with 0").count(b"caught"), 2)

    def test_interrupt__ends_the_launch(self):
        self.start("foreground", "-n", 3, "sh", "-c", "echo ready; exec sleep 100")
        self.expect(b"ready\r\nready\r\nready\r\n")
        os.write(self.terminal, b"\x03")
        self.expect(b"dtrun: ended by signal 2 (SIGINT)")
        self.expect(b"ended with 130")

    def test_stop_key__stops_all_and_fg_continues_them(self):
        # Not a shell: if the program that it starts is stopped, the shell waits for it and is not stopped itself.
        script = ("import os, signal, time\n"
                  "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
                  "signal.signal(signal.SIGCONT, lambda *_: os.write(1, b'continued\\n'))\n"  # print is not reentrant
                  "print('ready', os.getpid(), flush=True)\n"
                  "while True: time.sleep(0.02)")
        self.start("foreground", "-n", 2, sys.executable, "-c", script)
        out = self.expect(b"\n") + self.expect(b"\n")
        pids = [int(word) for word in out.split() if word.isdigit()]
        self.assertEqual(len(pids), 2)
        os.write(self.terminal, b"\x1a")
        self.expect(b"stopped by 20")

        def states():
            return {launch.pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] for pid in pids}
        self.assertTrue(launch.wait_until(lambda: states() == {"T"}))
        os.write(self.terminal, b"fg\n")
        self.expect(b"continued")
        self.expect(b"continued")
        self.assertTrue(launch.wait_until(lambda: "T" not in states()))
        os.write(self.terminal, b"\x03")
        self.expect(b"ended with 130")

    def test_hang_up__ends_the_launch(self):
        self.start("foreground", "-n", 2, "sh", "-c", "echo ready; exec sleep 100")
        self.expect(b"ready\r\nready\r\n")
        os.dup2(os.open("/dev/null", os.O_RDWR), self.terminal)
        self.assertTrue(launch.wait_until(lambda: not launch.processes(self.mark)))


launch.main()
