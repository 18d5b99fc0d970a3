#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=soak timeout=86400
# A rank dies at every action of every schedule, in DTENSOR_TEST_RUNS rounds, by default 20.
set -e
DTENSOR_TEST_FILTER=run__ends_where_a_rank_dies DTENSOR_TEST_RUNS=${DTENSOR_TEST_RUNS:-20} "$DTENSOR_BUILD/tests/train.pipeline_run"
