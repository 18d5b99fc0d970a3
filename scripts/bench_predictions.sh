#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times of redistributions as `dtensor plan --machine` predicts them, next to those that are measured, with a machine model
# that `dtensor calibrate` makes first. Prints a table, then a JSON object per row. Usage: bench_predictions.sh [--quick]
set -euo pipefail
cd "$(dirname "$0")/.."
model=$(mktemp)
trap 'rm -f "$model"' EXIT
build/bin/dtensor calibrate -o "$model"
build/bench/bench_predictions --machine "$model" "$@"
