# SPDX-License-Identifier: Apache-2.0
"""Ranks on two hosts that share no memory and are joined by a limited link (scripts/netns.sh): collectives and
redistributions are right under both MPIs, `dtensor calibrate` finds the link, and plans follow it. As root; otherwise
skipped."""
# ctest: labels=long timeout=900 processors=2
import pathlib
import re
import subprocess
import tempfile
import unittest

import matrix

PROGRAMS = "comm.collectives/*dtype* move.execute move.redistribute autograd.backward random.tensors".split()
BYTES_PER_US = {"1gbit": 125, "100mbit": 12.5}
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}


def bytes_between_hosts(model):
    """That cross the link, by the plan of a sum over 4 ranks, two of them on each host."""
    words = [matrix.BUILD / "bin" / "dtensor", "plan", "--planner", "min_cost", "--machine", model,
             "f32[2048,2048] P(sum),P(sum) on mesh(2x2)", "R,R"]
    out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"(?m)^ +\d+ +(\d) +(\d) +([\d.]+) (\w+) ", out.partition("who sends what to whom:")[2])
    assert rows, out
    return sum(float(n) * UNITS[unit] for source, target, n, unit in rows if int(source) // 2 != int(target) // 2)


class TwoHosts(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        result = subprocess.run([str(matrix.SOURCE / "scripts" / "netns.sh"), "true"], capture_output=True, text=True)
        if result.returncode == 77:
            matrix.skip(result.stdout.partition("skipped: ")[2].strip())
        assert result.returncode == 0, result.stderr

    def test_values_are_right(self):
        for mpi in matrix.installed():
            for n in 2, 3, 4:
                for program in PROGRAMS if n == 4 else PROGRAMS[:2]:
                    with self.subTest(mpi, n=n, program=program):
                        failure = matrix.run_tests(mpi, n, 0, program, launcher=matrix.two_hosts(mpi, "1gbit"))
                        self.assertIsNone(failure, failure)

    def test_variables_are_passed_to_both_hosts(self):
        for mpi in matrix.installed():
            with self.subTest(mpi):
                launcher = [*matrix.two_hosts(mpi, "1gbit"), "-x", "FIRST=1", "-x", "SECOND=two"]
                code, out = matrix.run(mpi, 2, ["sh", "-c", "echo $FIRST $SECOND $(hostname)"], launcher=launcher)
                self.assertEqual((0, ["1 two node0", "1 two node1"]), (code, sorted(out.splitlines())))

    def test_calibrate_finds_the_link_and_plans_follow_it(self):
        for mpi in matrix.installed():
            for rate, expected in BYTES_PER_US.items():
                with self.subTest(mpi, rate=rate), tempfile.TemporaryDirectory() as folder:
                    model, fast = pathlib.Path(folder, "model"), pathlib.Path(folder, "fast")
                    code, out = matrix.run(mpi, 4, [matrix.BUILD / "bin" / "dtensor", "calibrate", "--quick", "--output",
                                                    model], launcher=matrix.two_hosts(mpi, rate))
                    self.assertEqual(0, code, out)
                    text = model.read_text()
                    measured = float(re.search(r"(?m)^between .*bytes_per_us=(\S+)", text)[1])
                    self.assertLess(measured, 1.5 * expected / 2, text)  # two ranks of a host share the link
                    # nearer to this link than to one of a tenth of its rate: by less than the root of ten
                    self.assertGreater(measured, expected / 2 / 10 ** 0.5, text)
                    within = re.search(r"(?m)^within (.*)", text)[1]
                    fast.write_text(re.sub(r"(?m)^between .*", f"between {within}", text))
                    self.assertLess(bytes_between_hosts(model), bytes_between_hosts(fast), text)


if __name__ == "__main__":
    unittest.main()
