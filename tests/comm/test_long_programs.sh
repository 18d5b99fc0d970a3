#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=long timeout=900
# The random programs of comm.random_programs, longer and with other seeds.
set -e
for seed in 11 12 13; do
    DTENSOR_TEST_SEED=$seed DTENSOR_TEST_STEPS=5000 "$DTENSOR_BUILD/tests/comm.random_programs"
done
