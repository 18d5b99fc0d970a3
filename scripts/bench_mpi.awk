# SPDX-License-Identifier: Apache-2.0
# Joins rows "part side op ranks bytes inputs best median repeats" of bench_mpi.sh, and rows of moves with tabs: the
# best of each side, their ratio, and whether the target is reached. rate: of the link, in Mbit/s.

function keep_min(part, side, op, bytes, us, key) {
    key = part " " op " " bytes
    if (!(key in known)) {
        known[key] = 1
        order[n++] = key
    }
    if (!((side, key) in best) || us < best[side, key])
        best[side, key] = us
}

$1 == "nodes" || $1 == "link" || $1 == "start" { keep_min($1, $2, $3, $5, $7) }
$1 == "move" { # "move side<tab>ranks<tab>mesh<tab>shape<tab>move<tab>us"
    split($0, field, "\t")
    split(field[1], word, " ")
    keep_min("link", word[2], "S(0)->S(1)", 4 * 2048 * 2048, field[6])
}

function size_word(bytes) {
    if (bytes >= 1048576)
        return bytes / 1048576 " MB"
    return bytes >= 1024 ? bytes / 1024 " KB" : bytes " B"
}

# Bytes of N that must cross the link in either direction: the sum of a node's ranks; what one node holds; of the half
# of the rows that a node holds, the half of the columns that the other is to hold.
function crossing(op, N) {
    return op == "all_reduce" ? N : op == "all_gather" ? N / 2 : N / 4
}

function row(op, bytes, us, peer, theirs, target, ratio) {
    ratio = theirs / us
    printf "%-15s %7s %10.4g %-8s %10.4g %7.2f %7.2f %s\n", op, size_word(bytes), us, peer, theirs, ratio, target,
           (ratio >= target ? "yes" : "NO")
    json[m++] = sprintf("{\"bench\":\"%s\",\"config\":{\"part\":\"%s\",\"ranks\":4,\"bytes\":%d},\"ours\":%.5g," \
                        "\"unit\":\"us\",\"peer\":\"%s\",\"theirs\":%.5g,\"ratio\":%.4g}",
                        op, part, bytes, us, peer, theirs, ratio)
    n_rows++
    n_reached += ratio >= target
}

function head(text) {
    print text
    printf "%-15s %7s %10s %-8s %10s %7s %7s %s\n", "op", "size", "ours us", "peer", "peer us", "ratio", "target",
           "reached"
}

END {
    titles["nodes"] = "4 ranks as 2 pretended nodes of 2"
    titles["link"] = "4 ranks on 2 hosts, joined by " rate " Mbit/s"
    for (i = 0; i < n; i++) {
        split(order[i], word, " ")
        op = word[2]
        bytes = word[3]
        us = best["ours", order[i]]
        theirs = best["openmpi", order[i]]
        if (!us || !theirs)
            continue
        if (word[1] == "start") {
            more = (us - theirs) / 1000
            part = "start"
            printf "start of 4 ranks: %.0f ms, of an empty MPI program %.0f: %.0f more; at most 100: %s\n", us / 1000,
                   theirs / 1000, more, (more <= 100 ? "yes" : "NO")
            json[m++] = sprintf("{\"bench\":\"start\",\"config\":{\"part\":\"start\",\"ranks\":4},\"ours\":%.5g," \
                                "\"unit\":\"us\",\"peer\":\"openmpi\",\"theirs\":%.5g}", us, theirs)
            n_rows++
            n_reached += more <= 100
            continue
        }
        if (part != word[1]) {
            part = word[1]
            head(titles[part])
        }
        row(op, bytes, us, "openmpi", theirs, part == "nodes" && bytes < 65536 ? 0.7 : 1)
        if (part == "link")
            row(op, bytes, us, "bound", crossing(op, bytes) * 8 / rate, 1 / 1.3)
    }
    printf "%d of %d rows reach their target\n", n_reached, n_rows
    for (i = 0; i < m; i++)
        print json[i]
}
