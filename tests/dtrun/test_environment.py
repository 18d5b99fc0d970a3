# SPDX-License-Identifier: Apache-2.0
"""The environment of the ranks: variables, descriptors, signals, limits and CPUs."""
import os
import resource
import signal
import tempfile

import launch

CORES = sorted(os.sched_getaffinity(0))


class Environment(launch.Case):
    def values(self, n, *names, options=(), environment=None):
        script = "echo $RANK: " + " ".join(f'"${{{name}-unset}}"' for name in names)
        code, out, err = self.sh(n, script, *options, environment=environment)
        self.assertEqual((code, err), (0, ""))
        rows = dict(line.split(": ", 1) for line in out.splitlines())
        self.assertEqual(sorted(rows, key=int), [str(rank) for rank in range(n)])
        return [rows[str(rank)].split(" ") for rank in range(n)]

    def test_ranks__have_their_variables(self):
        for n in (1, 3, 8):
            rows = self.values(n, "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE",
                               environment={"RANK": "77", "WORLD_SIZE": "99"})
            self.assertEqual(rows, [[str(rank), str(rank), str(n), str(n)] for rank in range(n)])

    def test_ticket__names_a_descriptor_of_the_launch(self):
        script = """echo $RANK: $DTENSOR_LAUNCH; fd=$(echo $DTENSOR_LAUNCH | cut -d: -f2)
                    test $fd -ge 200 && readlink /proc/self/fd/$fd >&2"""
        code, out, err = self.sh(3, script)
        self.assertEqual(code, 0)
        tickets = [line.split(": ")[1].split(":") for line in sorted(out.splitlines())]
        self.assertEqual([ticket[3] for ticket in tickets], ["0", "1", "2"])
        self.assertEqual(len({tuple(ticket[:3] + ticket[4:]) for ticket in tickets}), 1)
        self.assertEqual(err, "/memfd:dtensor (deleted)\n" * 3)
        other = self.sh(1, "echo $DTENSOR_LAUNCH")[1].split(":")
        self.assertNotEqual(other[2], tickets[0][2])

    def test_threads__are_a_share_of_the_cores(self):
        names = ("DTENSOR_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
        for n in (1, 2, 3, 5):
            ticket_cores = int(self.values(n, "DTENSOR_LAUNCH")[0][0].split(":")[4])
            self.assertLessEqual(ticket_cores, len(CORES))
            share = str(max(1, ticket_cores // n))
            self.assertEqual(self.values(n, *names), [[share] * 5] * n)

    def test_threads__can_be_set_by_the_user(self):
        names = ("DTENSOR_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        self.assertEqual(self.values(2, *names, options=("--threads", "3")), [["3", "3", "3"]] * 2)
        self.assertEqual(self.values(2, *names, environment={"DTENSOR_THREADS": "5"}), [["5", "5", "5"]] * 2)
        self.assertEqual(self.values(2, *names, options=("--threads", "3"),
                                     environment={"DTENSOR_THREADS": "5", "OMP_NUM_THREADS": "7"}),
                         [["3", "7", "3"]] * 2)

    def test_affinity__of_dtrun_is_used(self):
        code, out, _ = self.run_dtrun("-n", "2", "sh", "-c", "echo $DTENSOR_THREADS $DTENSOR_LAUNCH; taskset -p $$ | sed s/.*://",
                                   preexec_fn=lambda: os.sched_setaffinity(0, CORES[:1]))
        self.assertEqual(code, 0)
        lines = out.splitlines()
        self.assertEqual(len(lines), 4)
        for line in lines:
            self.assertTrue(line.startswith("1 shm:") and line.endswith(":1") or int(line, 16) == 1 << CORES[0], line)

    def test_timeout__is_passed_in_seconds(self):
        for text, passed in (("30s", "30"), ("500ms", "0.5"), ("2m", "120"), ("off", "-1")):
            self.assertEqual(self.values(2, "DTENSOR_TIMEOUT", options=("--timeout", text)), [[passed]] * 2)
        self.assertEqual(self.values(1, "DTENSOR_TIMEOUT"), [["unset"]])
        self.assertEqual(self.values(1, "DTENSOR_TIMEOUT", environment={"DTENSOR_TIMEOUT": "7"}), [["7"]])

    def test_heap__has_the_requested_size(self):
        def segment_bytes(*options, **more):
            code, out, err = self.sh(2, "stat -L -c %s /proc/self/fd/$(echo $DTENSOR_LAUNCH | cut -d: -f2)",
                                     *options, **more)
            self.assertEqual((code, err), (0, ""))
            return int(out.split()[0])
        small, large = segment_bytes("--heap", "64M"), segment_bytes("--heap", "1G")
        self.assertEqual(large - small, 2 * (1024 - 64) << 20)
        self.assertEqual(segment_bytes(environment={"DTENSOR_HEAP": "1G"}), large)
        self.assertEqual(segment_bytes("--heap", "64M", environment={"DTENSOR_HEAP": "1G"}), small)

    def test_descriptors__are_only_the_standard_ones_and_the_segment(self):
        code, out, err = self.sh(3, "ls /proc/$$/fd")
        self.assertEqual((code, err), (0, ""))
        for number in set(out.split()):
            self.assertEqual(out.split().count(number), 3, out)
        self.assertEqual(len(set(out.split())), 4)

    def test_signals__are_as_dtrun_found_them(self):
        def change_signals():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for background programs
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        code, out, err = self.run_dtrun("-n", "2", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status", preexec_fn=change_signals)
        self.assertEqual((code, err), (0, ""))
        masks = [int(line.split()[1], 16) for line in out.splitlines()]
        for i in (0, 2):
            blocked, ignored = masks[i:i + 2]
            self.assertEqual(blocked, 1 << signal.SIGUSR1 - 1)
            self.assertTrue(ignored >> signal.SIGHUP - 1 & 1)
            self.assertFalse(ignored >> signal.SIGINT - 1 & 1)

    def test_limits__are_as_dtrun_found_them(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        code, out, err = self.run_dtrun("-n", "100", "--heap", "16M", "sh", "-c", "ulimit -Sn",
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard)))
        self.assertEqual((code, err, set(out.split())), (0, "", {"64"}))

    def test_limits__that_are_too_low_are_reported(self):
        code, out, err = self.run_dtrun("-n", "100", "--heap", "16M", "sleep", "100",
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
        self.assertEqual((code, out), (125, ""))
        self.assertRegex(err, "cannot start rank [0-9]+ of 100: .*ulimit -n")

    def test_group__is_the_rank_s_own(self):
        code, out, err = self.sh(3, "cut -d' ' -f1,5 /proc/$$/stat | tr ' ' '\\n' | sort -u | wc -l")
        self.assertEqual((code, out, err), (0, "1\n" * 3, ""))


    def test_missing_sysfs__is_no_message(self):
        with tempfile.TemporaryDirectory() as empty:
            code, out, err = self.sh(2, "env | grep -c ^HWLOC_", environment={"HWLOC_FSROOT": empty})
        self.assertEqual((code, out, err), (0, "1\n" * 2, ""))


class Binding(launch.Case):
    def masks(self, n, *options):
        code, out, err = self.run_dtrun("-n", n, *options, "sh", "-c", "echo $RANK $(taskset -p $$ | sed s/.*://)")
        self.assertEqual(code, 0)
        rows = dict(line.split() for line in out.splitlines())
        return [{cpu for cpu in CORES if int(rows[str(rank)], 16) >> cpu & 1} for rank in range(n)], err

    def test_core__binds_each_rank_to_its_own(self):
        n = min(len(CORES), 4)
        for options in (("--bind", "core"), ()):
            masks, err = self.masks(n, *options)
            self.assertEqual(err, "")
            self.assertEqual(set().union(*masks), set(CORES))
            self.assertEqual(sum(map(len, masks)), len(CORES))

    def test_core__that_is_impossible_is_reported_once(self):
        n = len(CORES) + 1
        masks, err = self.masks(n, "--bind", "core")
        self.assertEqual(masks, [set(CORES)] * n)
        self.assertEqual(err, f"dtrun: --bind core: cannot share {len(CORES)} cores fairly among {n} ranks; they are not bound\n")
        self.assertEqual(self.masks(n), ([set(CORES)] * n, ""))

    def test_none__lets_ranks_run_anywhere(self):
        self.assertEqual(self.masks(2, "--bind", "none"), ([set(CORES)] * 2, ""))

    def test_numa__follows_the_nodes(self):
        masks, err = self.masks(3, "--bind", "numa")
        self.assertEqual(err, "")
        for mask in masks:
            self.assertTrue(mask and mask <= set(CORES))


launch.main()
