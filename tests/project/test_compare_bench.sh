#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/compare_bench.sh in a synthetic project, whose commit has slower and faster programs than its working tree: rows
# of every part that the gate of speed consists of are joined, the best of all rounds counts, and slower rows are marked.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/project/build/bench"
cd "$work/project"
cp -r "$DTENSOR_SOURCE/scripts" .
printf '#!/usr/bin/env bash\nexit 0\n' >"$work/bin/cmake" # programs of both sides are there already
chmod +x "$work/bin/cmake"
export PATH=$work/bin:$PATH

program() { # PART TEXT: prints the text, in which ROUND becomes the number of its run
    cat >"build/bench/bench_$1" <<END
#!/usr/bin/env bash
echo x >>"\$0.runs"
sed "s/ROUND/\$(wc -l <"\$0.runs")/" <<'TEXT'
$2
TEXT
END
    chmod +x "build/bench/bench_$1"
}

expect() {
    if [ "$2" != "$3" ]; then
        printf '%s: expected\n%s\ngot\n%s\n' "$1" "$3" "$2" >&2
        exit 1
    fi
}

programs() { # FACTOR: programs of all parts, whose times are multiplied
    program dispatch "{\"bench\":\"dispatch\",\"config\":{\"op\":\"add\",\"what\":\"added\"},\"ours\":$1"'00.0,"unit":"ns"}
{"bench":"dispatch","config":{"op":"add","what":"plain"},"ours":50.0,"unit":"ns"}
{"bench":"matmul","config":{"n":64},"ours":10.0,"unit":"us"}'
    program comm '{"bench":"all_reduce","config":{"ranks":2,"bytes":4,"fresh":false},"ours":'"$1"'.25,"unit":"us","median":9}
{"bench":"copy","config":{"ranks":2,"bytes":4,"fresh":false},"ours":7,"unit":"us","median":9}'
    program redistribute "$(printf 'ours\t2\t2\t[4,4]\tR -> S(0)\t%s.0000\nbarriers\t2\t2\t-\t-\t1.0000' "$1")"
    program rules '{"bench":"rules","calls":"all ops","mesh":"4x8","n":5,"median_us":4.000,"slowest_us":'"$1"'0.000}'
    program plan '{"bench":"plan","config":{"planner":"greedy","mesh":"8","dims":3},"ours":'"$1"'ROUND.0,"unit":"us"}'
}
programs 2
git init --quiet
git add --force .
git -c user.name=x -c user.email=x@example.org commit --quiet -m "old"
programs 4
base=$(git rev-parse --short HEAD)

row() { printf '%-52s %10s %10s %-5s %6s%s\n' "$@"; }
output=$(scripts/compare_bench.sh --rounds 2 HEAD)
expect "all parts" "$output" "$(
    echo "== dispatch: $base (old) and the working tree (new), best of 2 rounds"
    row row old new unit ratio
    row op:add,what:plain 50 50 ns 1.000
    row op:add,what:distributed 250 450 ns 0.556 " SLOWER"
    row "matmul n:64" 10 10 us 1.000
    row "geometric mean of 3 rows" "" "" "" 0.822
    echo "== comm: $base (old) and the working tree (new), best of 2 rounds"
    row row old new unit ratio
    row "all_reduce ranks:2,bytes:4,fresh:false" 2.25 4.25 us 0.529 " SLOWER"
    row "geometric mean of 1 rows" "" "" "" 0.529
    echo "== redistribute: $base (old) and the working tree (new), best of 2 rounds"
    row row old new unit ratio
    row "ranks 2, mesh 2, [4,4] R -> S(0)" 2 4 us 0.500 " SLOWER"
    row "barriers, ranks 2" 1 1 us 1.000
    row "geometric mean of 2 rows" "" "" "" 0.707
    echo "== rules: $base (old) and the working tree (new), best of 2 rounds"
    row row old new unit ratio
    row "all ops, 4x8, median" 4 4 us 1.000
    row "all ops, 4x8, slowest" 20 40 us 0.500 " SLOWER"
    row "geometric mean of 2 rows" "" "" "" 0.707
    echo "== plan: $base (old) and the working tree (new), best of 2 rounds"
    row row old new unit ratio
    row "planner:greedy,mesh:8,dims:3" 21 41 us 0.512 " SLOWER"
    row "geometric mean of 1 rows" "" "" "" 0.512
    echo "== geometric means, $base over the working tree"
    echo "dispatch        0.822    1 of   3 rows below 0.95"
    echo "comm            0.529    1 of   1 rows below 0.95"
    echo "redistribute    0.707    1 of   2 rows below 0.95"
    echo "rules           0.707    1 of   2 rows below 0.95"
    echo "plan            0.512    1 of   1 rows below 0.95"
)"

# 1.5 and 1.6 may both have been 1.55; 1.7 may not.
plan() { # OLD NEW: the row that compares them
    program plan '{"bench":"plan","config":{"mesh":"8"},"ours":'"$1"',"unit":"us"}'
    mv build/bench/bench_plan "build/compare/$base/build/bench/"
    program plan '{"bench":"plan","config":{"mesh":"8"},"ours":'"$2"',"unit":"us"}'
    scripts/compare_bench.sh --rounds 1 HEAD plan | sed -n 3p
}
expect "slower within rounding" "$(plan 1.5 1.6)" "$(row mesh:8 1.5 1.6 us 0.938)"
expect "slower" "$(plan 1.5 1.7)" "$(row mesh:8 1.5 1.7 us 0.882 " SLOWER")"
expect "slower by exact values" "$(plan 1.5001 1.6001)" "$(row mesh:8 1.5 1.6 us 0.938 " SLOWER")"
expect "faster" "$(plan 1.7 1.5)" "$(row mesh:8 1.7 1.5 us 1.133)"

program plan 'no rows'
status=0
scripts/compare_bench.sh --rounds 1 HEAD plan >/dev/null 2>"$work/error" || status=$?
expect "a part without rows fails" $status 1
expect "its error" "$(cat "$work/error")" "compare_bench: no row of plan has a value on both sides"
