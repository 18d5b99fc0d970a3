#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steps of pipelines on two ranks (bench_pipeline), next to what is simulated, and to torch.distributed.pipelining where
# python3 has it. Usage: bench_pipeline.sh [--quick]
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build/bench/bench_pipeline "$@" | tee "$work/ours"
if python3 -c 'import torch.distributed.pipelining' 2>/dev/null; then
    python3 bench/torch_pipeline_peer.py "$@" "$work/ours"
else
    echo "torch: skipped, python3 has no torch.distributed.pipelining"
fi
