#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=long
# The seeded faults of comm.faults, 200 of them with another seed than the short test has.
DTENSOR_TEST_SEED=1001 DTENSOR_TEST_RUNS=200 exec "$DTENSOR_BUILD/tests/comm.faults"
