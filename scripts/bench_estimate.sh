#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Predicted steps of a GPT next to measured ones: on this machine, over limited links (as root), and what estimates and traces cost.
# Usage: bench_estimate.sh [--quick] [--part step,link,more,trace,scale] [--model FILE]
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 bench/estimate.py "$@"
