#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Speed of the local kernels: next to the memory's limit (bench_kernels), and of ops with one thread next to PyTorch, where python3
# has it (torch_ops_peer.py), else alone. PYTHON selects another python3. Usage: bench_kernels.sh [--quick]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
build/bench/bench_kernels "$@"
if "$python" -c 'import torch' 2>/dev/null; then
    "$python" bench/torch_ops_peer.py "$@" build/bench/bench_ops
else
    echo "torch: skipped, $python has no torch"
    build/bench/bench_ops "$@"
fi
