# SPDX-License-Identifier: Apache-2.0
# ctest: processors=2
"""Memory runs out in a cgroup with a limit: with the default heaps a tensor that does not fit is an error of its rank; with
larger heaps the kernel kills a rank, not dtrun, and dtrun reports it."""
import os
import pathlib
import unittest
import uuid

import launch

LIMIT = 640 << 20
PROGRAM = str(launch.BUILD / "tests" / "dtrun.fills_memory")


def new_group():
    """A memory cgroup below that of this process, with a limit; None if the system does not allow it."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            mount, limit = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
        elif not controllers:
            mount, limit = "/sys/fs/cgroup", "memory.max"
        else:
            continue
        group = pathlib.Path(mount + path, f"dtensor-test-{uuid.uuid4().hex}")
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(LIMIT))
            return group
        except OSError:
            group.rmdir()
    return None


class Memory(launch.Case):
    def setUp(self):
        super().setUp()
        self.group = new_group()
        if not self.group:
            self.skipTest("cannot create a memory cgroup")
        self.addCleanup(self.remove_group)

    def remove_group(self):
        def removed():
            try:
                self.group.rmdir()
                return True
            except OSError:
                return False
        self.assertTrue(launch.wait_until(removed))

    def run_inside(self, *arguments):
        def enter():
            (self.group / "cgroup.procs").write_text(str(os.getpid()))
        return self.run_dtrun(*arguments, preexec_fn=enter)

    def test_default_heaps__refuse_tensors_that_do_not_fit(self):
        code, _, err = self.run_inside("-n", 2, PROGRAM)
        self.assertEqual(code, 1, err)
        self.assertIn("heap: out of memory: 16.0 MiB requested", err)
        self.assertIn("largest tensors: f32[4,1024,1024] (16777216 bytes)", err)
        self.assertNotIn("SIGKILL", err)

    @unittest.skipIf(launch.IS_SANITIZED, "sanitizers need more memory than the limit")
    def test_larger_heaps__a_rank_is_killed_and_dtrun_reports_the_reason(self):
        code, _, err = self.run_inside("-n", 2, "--heap", "2G", PROGRAM)
        self.assertEqual(code, 128 + 9, err)
        self.assertIn("ended with signal 9 (SIGKILL): the node ran out of memory and the kernel killed it", err)


launch.main()
