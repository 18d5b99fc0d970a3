# SPDX-License-Identifier: Apache-2.0
# ctest: labels=soak timeout=7200 processors=2
"""The soak of restarts: training runs on 1 to 5 ranks; in each, ranks are killed twenty times (killed_runs.py)."""
import os
import sys

import killed_runs
from seed import test_seed

first, runs = int(os.environ.get("DTENSOR_TEST_FIRST", 0)), int(os.environ.get("DTENSOR_TEST_RUNS", 20))
sys.exit(1 if sum(killed_runs.check(1 + i % 5, 3000, 5000, 20, test_seed(11) + i)[0] for i in range(first, first + runs)) else 0)
