# SPDX-License-Identifier: Apache-2.0
# ctest: processors=2
"""dtrun takes no CPU time while the ranks run."""
import os
import time

import launch


class Idle(launch.Case):
    def test_waiting__takes_no_cpu_time(self):
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
