# SPDX-License-Identifier: Apache-2.0
# ctest: labels=long processors=2
"""`dtensor query` answers 20,000 shard requests a second on small meshes, through pipes."""
import json
import random
import subprocess
import time
import unittest

import tool

WANTED = 20000


class Speed(unittest.TestCase):
    def test_shard_requests_a_second(self):
        rng = random.Random(3)
        requests = []
        for _ in range(3 * WANTED):
            mesh = rng.choice([[2], [4], [8], [2, 2], [2, 4]])
            shape = [rng.randint(1, 4096) for _ in range(rng.randint(1, 3))]
            placements = ",".join(rng.choice(["R", "S(0)", f"S({len(shape) - 1})", "P(sum)"]) for _ in mesh)
            requests.append(json.dumps({"q": "shard", "mesh": mesh, "shape": shape, "placements": placements}))
        text = "\n".join(requests).encode() + b"\n"
        begin = time.monotonic()
        done = subprocess.run([tool.DTENSOR, "query"], input=text, capture_output=True, check=True, timeout=100)
        rate = len(requests) / (time.monotonic() - begin)
        print(f"{rate:.0f} requests a second")
        self.assertEqual(len(requests), done.stdout.count(b"\n"))
        self.assertNotIn(b"error", done.stdout)
        self.assertGreater(rate, WANTED)


if __name__ == "__main__":
    unittest.main()
