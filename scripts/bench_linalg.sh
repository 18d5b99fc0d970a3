#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Speed of linear algebra with one and two threads, in turn with PyTorch and NumPy where python3 has both
# (torch_linalg_peer.py), else alone. PYTHON selects another python3. Usage: bench_linalg.sh [--quick]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
for threads in 1 2; do
    if "$python" -c 'import numpy, torch' 2>/dev/null; then
        OPENBLAS_NUM_THREADS=$threads "$python" bench/torch_linalg_peer.py --threads $threads "$@" build/bench/bench_linalg
    else
        echo "torch and numpy: skipped, $python lacks one of them"
        build/bench/bench_linalg --threads $threads
    fi
done
