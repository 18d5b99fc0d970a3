# SPDX-License-Identifier: Apache-2.0
"""Who runs where: the text of --show-binding on machines that are described (bindings.txt has the commands and their
output), and the CPUs that ranks and their threads really have on this machine."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import launch

CORES = sorted(os.sched_getaffinity(0))
GOLDEN = pathlib.Path(__file__).with_name("bindings.txt")
AFFINITY = str(launch.BUILD / "tests" / "dtrun.affinity")


def object_of(kind, index, cpus, inner="", more=""):
    mask = f"0x{sum(1 << cpu for cpu in cpus):08x}"
    node = "" if kind in ("PU", "Core") else f'{more} nodeset="0x1" complete_nodeset="0x1"'
    return f'<object type="{kind}" os_index="{index}" cpuset="{mask}" complete_cpuset="{mask}"{node}>{inner}</object>'


def xml_of_cores(n_cores, allowed):
    """A machine of cores with two hardware threads, as lstopo writes it; a cgroup allows some of them."""
    cores = "".join(object_of("Core", core, (2 * core, 2 * core + 1),
                              "".join(object_of("PU", cpu, (cpu,)) for cpu in (2 * core, 2 * core + 1)))
                    for core in range(n_cores))
    everything = range(2 * n_cores)
    node = object_of("NUMANode", 0, everything)
    mask = f' allowed_cpuset="0x{sum(1 << cpu for cpu in allowed):08x}" allowed_nodeset="0x1"'
    machine = object_of("Machine", 0, everything, node + object_of("Package", 0, everything, cores), mask)
    return f'<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">{machine}</topology>\n'


class ShowBinding(launch.Case):
    def show(self, *arguments, **options):
        code, out, err = self.run_dtrun(*arguments, "--show-binding", **options)
        self.assertEqual((code, err), (0, ""))
        return out

    def test_text__is_that_of_the_golden_file(self):
        cases = re.split(r"^\$ dtrun ", GOLDEN.read_text(), flags=re.M)[1:]
        self.assertGreater(len(cases), 15)
        for case in cases:
            command, expected = case.split("\n", 1)
            with self.subTest(command):
                result = self.run_dtrun(*shlex.split(command))
                self.assertEqual(result, (0, expected.rstrip("\n") + "\n", ""))

    def test_variables__are_defaults_of_the_options(self):
        variables = {"DTENSOR_TOPOLOGY": "package:2 core:2 pu:1", "DTENSOR_BIND": "package"}
        self.assertEqual(self.show("-n", "2", environment=variables),
                         self.show("-n", "2", "--bind", "package", "--topology", "package:2 core:2 pu:1"))
        self.assertIn("binding: none", self.show("-n", "2", "--bind", "none", environment=variables))
        code, out, err = self.run_dtrun("true", environment={"DTENSOR_BIND": "socket"})
        self.assertEqual((code, out), (2, ""))
        self.assertIn('DTENSOR_BIND: expected none, core, numa or package, got "socket"', err)

    def test_topology__may_be_an_xml_file_with_cpus_that_are_not_allowed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "machine.xml")
            path.write_text(xml_of_cores(4, range(8)))
            self.assertIn("4 cores, 8 CPUs\n", self.show("-n", "3", "--topology", str(path)))
            path.write_text(xml_of_cores(4, (1, 2, 3, 6)))
            self.assertEqual(self.show("--topology", str(path)),
                             "machine (pretended): 1 package, 1 NUMA node, 3 cores, 4 CPUs\n"
                             "binding: core, 1 thread per rank\n"
                             "rank 0: 1 core, CPU 1, NUMA node 0, package 0\n"
                             "rank 1: 1 core, CPUs 2-3, NUMA node 0, package 0\n"
                             "rank 2: 1 core, CPU 6, NUMA node 0, package 0\n")
            path.write_text("<topology>")
            code, out, err = self.run_dtrun("--topology", str(path), "true")
            self.assertEqual((code, out), (2, ""))
            self.assertIn("--topology: expected a description such as", err)

    def test_variables_of_hwloc__are_respected(self):
        self.assertEqual(self.show("-n", "2", "--bind", "core", environment={"HWLOC_SYNTHETIC": "package:2 core:3 pu:1"}).splitlines()[0],
                         "machine (pretended): 2 packages, 1 NUMA node, 6 cores, 6 CPUs")

    def test_with_a_program__it_is_printed_to_standard_error_first(self):
        code, out, err = self.run_dtrun("-n", "2", "--bind", "none", "--show-binding", "echo", "hello")
        self.assertEqual((code, out), (0, "hello\nhello\n"))
        self.assertRegex(err, r"^machine: .* cores?, .* CPUs?\nbinding: none, \d+ threads? per rank\nranks 0-1: .*\n$")

    def test_pretended_machine__binds_no_rank(self):
        code, out, _ = self.run_dtrun("-n", "4", "--topology", "package:2 core:2 pu:1", "sh", "-c",
                                      "taskset -cp $$ | sed 's/.*: //'")
        whole = subprocess.run(["sh", "-c", "taskset -cp $$ | sed 's/.*: //'"], capture_output=True, text=True).stdout
        self.assertEqual((code, out), (0, whole * 4))

    def test_ranks_that_cannot_share_fairly__are_not_bound(self):
        code, out, err = self.run_dtrun("-n", "3", "--bind", "core", "--topology", "core:2 pu:2", "--show-binding")
        self.assertEqual((code, out), (0, "machine (pretended): 1 package, 1 NUMA node, 2 cores, 4 CPUs\n"
                                          "binding: none, 1 thread per rank\n"
                                          "ranks 0-2: 2 cores, CPUs 0-3, NUMA node 0, package 0\n"))
        self.assertEqual(err, "dtrun: --bind core: cannot share 2 cores fairly among 3 ranks; they are not bound\n")

    def masks(self, *options, n, **more):
        """Of each rank: the CPUs of its process and of its threads, as bits."""
        code, out, err = self.run_dtrun("-n", str(n), *options, AFFINITY, **more)
        self.assertEqual((code, err), (0, ""))
        rows = sorted(re.findall(rf"rank (\d+) of {n}: (\S+), \d+ threads on (.*)", out))
        self.assertEqual([int(row[0]) for row in rows], list(range(n)))
        return [(int(row[1], 16), [int(mask, 16) for mask in row[2].split()]) for row in rows]

    def test_ranks_and_their_threads__run_on_the_cpus_that_are_shown(self):
        n = min(len(CORES), 4)
        if n < 2:
            self.skipTest("one core")
        shown = re.findall(r"^rank \d+: .*?CPUs? ([\d,-]+),", self.show("-n", str(n), "--threads", "3"), flags=re.M)
        for (process, threads), cpus in zip(self.masks("--threads", "3", n=n), shown, strict=True):
            expected = 0
            for part in cpus.split(","):
                first, _, last = part.partition("-")
                expected |= sum(1 << cpu for cpu in range(int(first), int(last or first) + 1))
            self.assertEqual(process, expected)
            self.assertEqual(threads, [expected] * 3)

    def test_ranks_that_are_not_bound__may_run_everywhere(self):
        everywhere = sum(1 << cpu for cpu in CORES)
        for options, n in ((("--bind", "none"), 2), ((), len(CORES) + 1), ((), 1)):
            for process, threads in self.masks(*options, "--threads", "2", n=n):
                self.assertEqual((process, threads), (everywhere, [everywhere] * 2))

    def test_affinity_and_cpuset__limit_what_is_shared(self):
        last = CORES[-1]
        expected = rf"1 core, 1 CPU\nbinding: none, 1 thread per rank\nrank 0: 1 core, CPU {last}, "
        self.assertRegex(self.show(preexec_fn=lambda: os.sched_setaffinity(0, {last})), expected)
        group = pathlib.Path("/sys/fs/cgroup/cpuset", f"dtrun-test-{os.getpid()}")
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"no cpuset cgroup can be made: {error}")
        try:
            (group / "cpuset.mems").write_text((group.parent / "cpuset.mems").read_text())
            (group / "cpuset.cpus").write_text(str(last))
            own = str(group / "cgroup.procs")
            self.assertRegex(self.show(preexec_fn=lambda: pathlib.Path(own).write_text(str(os.getpid()))), expected)
        finally:
            launch.wait_until(lambda: not (group / "cgroup.procs").read_text())
            group.rmdir()


launch.main()
