# SPDX-License-Identifier: Apache-2.0
# ctest: labels=soak timeout=86400 processors=2
"""The soak of training: 2,000 rounds of faults, or DTENSOR_TEST_RUNS of them, with a table at the end (soak.py)."""
import argparse
import os
import sys

import soak

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--rounds", type=int, default=int(os.environ.get("DTENSOR_TEST_RUNS", 2000)))
options.add_argument("--first", type=int, default=int(os.environ.get("DTENSOR_TEST_FIRST", 0)))
options.add_argument("--parallel", type=int, default=2)
chosen = options.parse_args()
sys.exit(1 if soak.run(chosen.first, chosen.rounds, chosen.parallel) else 0)
