#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=soak timeout=86400
# 10,000 seeded faults in ops: other ops, other arguments, another order, deaths, and two of these at once.
set -e
DTENSOR_TEST_SEED=1000 DTENSOR_TEST_RUNS=10000 "$DTENSOR_BUILD/tests/dispatch.op_faults"
