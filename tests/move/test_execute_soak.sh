#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=soak timeout=86400
# A million random redistributions with values: ten numbers of ranks, a hundred seeds, a thousand each.
set -e
for seed in $(seq 2000 2099); do
    DTENSOR_TEST_SEED=$seed DTENSOR_TEST_RUNS=1000 "$DTENSOR_BUILD/tests/move.execute_random"
done
