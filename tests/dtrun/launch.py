# SPDX-License-Identifier: Apache-2.0
"""For tests of dtrun: starting it, waiting with a time-out, and finding every process of a launch that is still running.

Each launch gets an environment variable with a unique value. All its processes inherit it, also in other sessions and
groups and with other parents, so that a scan of /proc finds them all.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
import uuid

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DTENSOR_BUILD", SOURCE / "build"))
DTRUN = str(BUILD / "bin" / "dtrun")
MARK = "DTRUN_TEST_MARK"
IS_SANITIZED = b"__asan_init" in pathlib.Path(DTRUN).read_bytes() or b"__tsan_init" in pathlib.Path(DTRUN).read_bytes()


def processes(mark):
    """Pids of the running processes with the mark."""
    variable = f"{MARK}={mark}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            variables = pathlib.Path("/proc", entry, "environ").read_bytes().split(b"\0")
            state = pathlib.Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if variable in variables and state not in "ZX":
            found.append(int(entry))
    return found


def wait_until(condition, seconds=10):
    """Polls until the condition is true; returns its last value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.005)


class Launch:
    """One running dtrun."""

    def __init__(self, *arguments, environment=None, **options):
        self.mark = uuid.uuid4().hex
        variables = {name: value for name, value in os.environ.items()
                     if not name.startswith("DTENSOR_") and not name.endswith("_NUM_THREADS")}
        variables.update({MARK: self.mark, **(environment or {})})
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen([DTRUN, *map(str, arguments)], env=variables, **options)
        self.pid = self.process.pid

    def end(self, input=None, seconds=30):
        """Waits for the end; returns exit code, output and errors."""
        try:
            out, err = self.process.communicate(input, timeout=seconds)
        except subprocess.TimeoutExpired:
            self.destroy()
            raise
        return self.process.returncode, *((text or b"").decode(errors="replace") for text in (out, err))

    def read_lines(self, n):
        return [self.process.stdout.readline().decode().rstrip("\n") for _ in range(n)]

    def roles(self):
        """The running processes: the one that was started, its child, the supervisor, and the others."""
        roles = {"front": [], "supervisor": [], "others": []}
        for pid in processes(self.mark):
            try:
                parent = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            roles["front" if pid == self.pid else "supervisor" if parent == self.pid else "others"].append(pid)
        return roles

    def supervisor(self):
        return self.roles()["supervisor"][0]

    def remaining_processes(self, seconds=5):
        """Processes that are still running after some time."""
        wait_until(lambda: not processes(self.mark), seconds)
        return processes(self.mark)

    def destroy(self):
        for pid in processes(self.mark):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        self.process.wait()


class Case(unittest.TestCase):
    maxDiff = 4000

    def launch(self, *arguments, **options):
        launch = Launch(*arguments, **options)
        self.addCleanup(launch.destroy)
        return launch

    def run_dtrun(self, *arguments, input=None, seconds=30, **options):
        """Runs a launch to its end and checks that no process of it is running."""
        if input is not None:
            options["stdin"] = subprocess.PIPE
        launch = self.launch(*arguments, **options)
        result = launch.end(input, seconds)
        self.assertEqual(processes(launch.mark), [], "processes are still running")
        return result

    def sh(self, n, script, *options, **more):
        """Runs a shell script on n ranks."""
        return self.run_dtrun("-n", n, *options, "sh", "-c", script, **more)


def main():
    unittest.main(module=sys.modules["__main__"], verbosity=2)
