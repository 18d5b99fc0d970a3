#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=soak timeout=86400
# 10,000 seeded faults in file calls, and the launches that end during a save with a hundred seeds.
set -e
DTENSOR_TEST_SEED=1000 DTENSOR_TEST_RUNS=10000 "$DTENSOR_BUILD/tests/move.file_faults"
for seed in $(seq 1000 1099); do
    DTENSOR_TEST_SEED=$seed python3 "$DTENSOR_SOURCE/tests/move/test_file_signals.py"
done
