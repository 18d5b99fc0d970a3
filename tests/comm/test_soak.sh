#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=soak timeout=86400
# Hours of what the short tests try for seconds: 10,000 seeded faults, then random programs with a hundred other seeds.
set -e
DTENSOR_TEST_SEED=1000 DTENSOR_TEST_RUNS=${DTENSOR_TEST_RUNS:-10000} "$DTENSOR_BUILD/tests/comm.faults"
for seed in $(seq 1000 1099); do
    DTENSOR_TEST_SEED=$seed DTENSOR_TEST_STEPS=5000 "$DTENSOR_BUILD/tests/comm.random_programs"
done
