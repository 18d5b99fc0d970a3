#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Training steps of a GPT next to PyTorch, JAX and the bound of OpenBLAS. Usage: bench_gpt.sh [--quick]; SIZE=small, large or gpt2 and
# MODE=one, dp, fsdp or tp for some of it.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 bench/gpt.py "$@"
