# SPDX-License-Identifier: Apache-2.0
"""The seed of randomized tests in Python, as support/random.h is for those in C: DTENSOR_TEST_SEED, 1 by default."""
import os
import sys

SEED = int(os.environ.get("DTENSOR_TEST_SEED") or 1)
print(f"DTENSOR_TEST_SEED={SEED}", file=sys.stderr, flush=True)


def test_seed(stream):
    """The seed of one stream of random numbers; streams of one program have different numbers."""
    return SEED << 32 | stream
