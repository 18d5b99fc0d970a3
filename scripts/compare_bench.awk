# SPDX-License-Identifier: Apache-2.0
# Joins rows of two builds of a benchmark, "old" or "new" in the first field. A row is a JSON object with "config", "ours"
# and "unit", one of bench_rules with "median_us" and "slowest_us", or the fields "side ranks mesh shape move us". Prints the
# best of each side and old over new, and marks rows below 0.95. A row whose values are printed with few digits is marked
# only if it is below 0.95 however they were rounded. The variables part, and summary, the file to which the part's mean is
# appended, are given.

$2 ~ /^\{/ && $2 ~ /"bench":"copy/ { next } # memory alone, no work of the library

$2 ~ /^\{/ && $2 ~ /"median_us":/ {
    row = text_of("calls") ", " text_of("mesh")
    add($1, row ", median", number_of("median_us"), "us")
    add($1, row ", slowest", number_of("slowest_us"), "us")
    next
}

$2 ~ /^\{/ {
    match($2, /"config":\{[^}]*\}/)
    row = substr($2, RSTART + 10, RLENGTH - 11)
    gsub(/"/, "", row)
    if (text_of("bench") != part)
        row = text_of("bench") " " row
    value = number_of("ours")
    unit = text_of("unit")
    if (sub(/,what:added$/, "", row)) { # over the plain call, whose row comes next: a difference has no ratio
        added = value
        next
    }
    add($1, row, value, unit)
    if (sub(/,what:plain$/, "", row))
        add($1, row ",what:distributed", value + added, unit)
}

$2 == "ours" || $2 == "barriers" {
    add($1, $2 == "barriers" ? "barriers, ranks " $3 : sprintf("ranks %s, mesh %s, %s %s", $3, $4, $5, $6), $7, "us")
}

function text_of(name) {
    return match($2, "\"" name "\":\"[^\"]*\"") ? substr($2, RSTART + length(name) + 4, RLENGTH - length(name) - 5) : ""
}

function number_of(name) { # as it is printed
    return match($2, "\"" name "\":[-+.0-9e]+") ? substr($2, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : ""
}

function half_digit(printed) { # half of the last digit that is printed
    return match(printed, /\.[0-9]+$/) ? 0.5 / 10 ^ (RLENGTH - 1) : 0
}

function add(side, row, printed, unit) {
    if (printed == "")
        return
    if (!(row in units)) {
        units[row] = unit
        order[n++] = row
    }
    if (!((side, row) in best) || printed + 0 < best[side, row]) {
        best[side, row] = printed + 0
        error[side, row] = half_digit(printed)
    }
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
        slower = (best["old", row] + error["old", row]) / (best["new", row] - error["new", row]) < 0.95
        n_slower += slower
        printf "%-52s %10.4g %10.4g %-5s %6.3f%s\n", row, best["old", row], best["new", row], units[row], ratio,
               slower ? " SLOWER" : ""
    }
    if (!m) {
        print "compare_bench: no row of " part " has a value on both sides" >"/dev/stderr"
        exit 1
    }
    printf "%-52s %10s %10s %-5s %6.3f\n", "geometric mean of " m " rows", "", "", "", exp(logs / m)
    printf "%-14s %6.3f  %3d of %3d rows below 0.95\n", part, exp(logs / m), n_slower, m >>summary
}
