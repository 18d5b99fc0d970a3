# SPDX-License-Identifier: Apache-2.0
# ctest: processors=2
"""dtrun starts quickly and costs nothing while the ranks work."""
import os
import time

import launch

LIMIT_S = 0.040


class Speed(launch.Case):
    @launch.unittest.skipIf(launch.IS_SANITIZED, "sanitizers take their time")
    def test_empty_launch__of_four_ranks_is_quick(self):
        best = 1.0
        for _ in range(30):
            start = time.monotonic()
            code, _, err = self.launch("-n", 4, launch.BUILD / "bench/bench_launch", "--rank").end()
            best = min(best, time.monotonic() - start)
            self.assertEqual((code, err), (0, ""))
        self.assertLessEqual(best, LIMIT_S)

    def test_waiting__takes_no_processor_time(self):
        running = self.launch("-n", 4, "sh", "-c", "echo ready; exec sleep 100")
        self.assertEqual(running.read_lines(4), ["ready"] * 4)

        def ticks():
            fields = [launch.pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                      for pid in (running.pid, running.supervisor())]
            return sum(int(field[11]) + int(field[12]) for field in fields)
        before = ticks()
        time.sleep(1)
        self.assertLessEqual(ticks() - before, 0.02 * os.sysconf("SC_CLK_TCK"))


launch.main()
