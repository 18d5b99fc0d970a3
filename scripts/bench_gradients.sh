#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Small steps of training (bench_gradients), and the steps of optimizers next to PyTorch's where python3 has it; one thread each. PYTHON
# selects another python3. Usage: bench_gradients.sh [--quick]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DTENSOR_THREADS=1 build/bench/bench_gradients "$@" | tee "$work/ours"
if "$python" -c 'import torch' 2>/dev/null; then
    "$python" bench/torch_optimizers_peer.py "$@" "$work/ours"
else
    echo "torch: skipped, $python has no torch"
fi
