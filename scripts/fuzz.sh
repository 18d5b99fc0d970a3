#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Feeds random input to every fuzz target, starting from fuzz/corpus/<target>. Usage: fuzz.sh [seconds per target]
# [target ...]; default 60 seconds, all targets. Fails on the first finding and prints how to reproduce it. A finding is
# fixed and its input kept in fuzz/corpus/<target>, where the tests use it.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift $(($# > 0))
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: fuzz.sh [seconds per target] [target ...]" >&2
    exit 2
fi
if ! command -v clang >/dev/null; then
    echo "fuzz: skipped, no clang is installed" >&2
    exit 77
fi
# Debian has clang without its run-time library (libclang-rt-*-dev), which -fsanitize=fuzzer links.
if ! problem=$(echo 'int LLVMFuzzerTestOneInput(const char *, unsigned long); int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }' |
    clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>&1); then
    echo "fuzz: clang cannot link with -fsanitize=fuzzer; install its run-time library (libclang-rt-dev):" >&2
    printf '%s\n' "$problem" | tail -n 3 >&2
    exit 1
fi
mkdir -p build-fuzz
if ! { cmake --preset fuzz && cmake --build build-fuzz --parallel "$(nproc)"; } >build-fuzz/build.log 2>&1; then
    tail -n 40 build-fuzz/build.log >&2
    echo "fuzz: the targets cannot be built; all of the output is in build-fuzz/build.log" >&2
    exit 1
fi

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for program in build-fuzz/fuzz/fuzz_*; do
        if [ -x "$program" ]; then targets+=("${program##*/fuzz_}"); fi
    done
fi
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
for target in "${targets[@]}"; do
    found=build-fuzz/fuzz/corpus/$target findings=build-fuzz/fuzz/findings
    mkdir -p "$found" "$findings"
    log=build-fuzz/fuzz/$target.log
    echo "fuzz: $target for $seconds s"
    if ! "build-fuzz/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
        -dict="fuzz/$target.dict" -artifact_prefix="$findings/$target-" -print_final_stats=1 "$found" "fuzz/corpus/$target" >"$log" 2>&1; then
        grep -E -m 1 -A 40 'runtime error|ERROR:|^[^ ]*fuzz_[a-z]*\.c:' "$log" || tail -n 40 "$log"
        echo "fuzz: $target: a finding; reproduce it with: build-fuzz/fuzz/fuzz_$target $findings/$target-…" >&2
        exit 1
    fi
    grep -E 'number_of_executed_units|new_units_added' "$log" | sed 's/^stat::/    /'
done
