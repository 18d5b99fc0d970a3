# SPDX-License-Identifier: Apache-2.0
# Joins rows of two builds of a benchmark, "old" or "new" in the first field: JSON objects with "config", "ours" and "unit",
# or the fields "side ranks mesh shape move us". Prints the best of each, and old over new.

$2 ~ /^\{/ {
    match($2, /"config":\{[^}]*\}/)
    row = substr($2, RSTART + 10, RLENGTH - 11)
    gsub(/"/, "", row)
    match($2, /"ours":[-+.0-9e]+/)
    value = substr($2, RSTART + 7, RLENGTH - 7) + 0
    match($2, /"unit":"[^"]*"/)
    unit = substr($2, RSTART + 8, RLENGTH - 9)
    if (sub(/,what:added$/, "", row)) { # over the plain call, whose row comes next: a difference has no ratio
        added = value
        next
    }
    add($1, row, value, unit)
    if (sub(/,what:plain$/, "", row))
        add($1, row ",what:distributed", value + added, unit)
}

$2 == "ours" || $2 == "barriers" {
    add($1, $2 == "barriers" ? "barriers, ranks " $3 : sprintf("ranks %s, mesh %s, %s %s", $3, $4, $5, $6), $7 + 0, "us")
}

function add(side, row, value, unit) {
    if (!(row in units)) {
        units[row] = unit
        order[n++] = row
    }
    if (!((side, row) in best) || value < best[side, row])
        best[side, row] = value
}

END {
    printf "%-52s %10s %10s %-5s %6s\n", "row", "old", "new", "unit", "ratio"
    for (i = 0; i < n; i++) {
        row = order[i]
        if (!(("old", row) in best) || !(("new", row) in best) || best["old", row] <= 0 || best["new", row] <= 0) {
            printf "%-52s only on one side\n", row
            continue
        }
        ratio = best["old", row] / best["new", row]
        logs += log(ratio)
        m++
        printf "%-52s %10.4g %10.4g %-5s %6.3f\n", row, best["old", row], best["new", row], units[row], ratio
    }
    printf "%-52s %10s %10s %-5s %6.3f\n", "geometric mean of " m " rows", "", "", "", m ? exp(logs / m) : 0
}
