# SPDX-License-Identifier: Apache-2.0
# ctest: labels=long processors=2
"""Two rounds of each kind of fault while gradients, optimizers and files are in progress; the soak (test_soak.py) has thousands."""
import sys

import soak

N_KINDS = len(soak.OUTSIDE) + len(soak.AROUND) + len(soak.INSIDE) - 2
sys.exit(1 if soak.run(0, 2 * N_KINDS) else 0)
