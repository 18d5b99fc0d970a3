# SPDX-License-Identifier: Apache-2.0
# ctest: processors=2
"""A training run survives a few killed ranks (killed_runs.py); test_killed_runs.py kills many."""
import sys

import killed_runs
from seed import test_seed

wrong, killed = killed_runs.check(3, 400, 0, 4, test_seed(11))
sys.exit(wrong or (0 if killed else 1))
