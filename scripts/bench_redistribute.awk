# SPDX-License-Identifier: Apache-2.0
# Joins rows "side ranks mesh shape move us" of bench_redistribute and its peers, with tabs between: the best of each,
# their ratio, and the target ratio. Of a small matrix, what it costs over a pair of barriers.

{
    key = $2 "\t" $3 "\t" $4 "\t" $5
    if ($1 == "barriers") {
        key = $2
    } else if ($1 == "ours" && !(key in known)) {
        known[key] = 1
        order[n++] = key
    }
    if (!(($1, key) in best) || $6 < best[$1, key])
        best[$1, key] = $6
}

function row(at, peer, us, theirs, target, note, ratio) {
    split(at, part, "\t")
    ratio = theirs / us
    if (target != "")
        note = ratio >= target ? "yes" : "NO"
    printf "%5d %-4s %-11s %-22s %9.4g %-8s %9.4g %7.2f %6s %s\n", part[1], part[2], part[3], part[4], us, peer,
           theirs, ratio, target, note
    move = part[4]
    gsub(/ /, "", move)
    json[m++] = sprintf("{\"bench\":\"redistribute\",\"config\":{\"ranks\":%d,\"mesh\":\"%s\",\"shape\":%s," \
                        "\"move\":\"%s\"},\"ours\":%.5g,\"unit\":\"us\",\"peer\":\"%s\",\"theirs\":%.5g,\"ratio\":%.4g}",
                        part[1], part[2], part[3], move, us, peer, theirs, ratio)
}

# The target ratio, or "".
function target_of(peer, ranks, shape, move) {
    if (shape != "[2048,2048]")
        return ""
    if (peer == "limit")
        return ranks == 2 ? 0.7 : ""
    if (move ~ /^R ->/) # nothing is sent
        return peer == "torch" ? 1 : ""
    return peer == "openmpi" ? 2 : ranks == 2 ? 5 : 8
}

END {
    printf "%5s %-4s %-11s %-22s %9s %-8s %9s %7s %6s %s\n", "ranks", "mesh", "shape", "move", "ours us", "peer",
           "peer us", "ratio", "target", "reached"
    n_peers = split("limit openmpi torch", peers, " ")
    for (p = 1; p <= n_peers; p++)
        for (i = 0; i < n; i++) {
            if (!((peers[p], order[i]) in best))
                continue
            split(order[i], part, "\t")
            target = target_of(peers[p], part[1], part[3], part[4])
            row(order[i], peers[p], best["ours", order[i]], best[peers[p], order[i]], target, "")
        }
    for (i = 0; i < n; i++) {
        split(order[i], part, "\t")
        if (part[3] != "[64,64]" || !(("barriers", part[1]) in best))
            continue
        pair = best["barriers", part[1]]
        over = best["ours", order[i]] - pair
        row(order[i], "barriers", best["ours", order[i]], pair, "",
            sprintf("%.2f us over a pair of barriers; target 2: %s", over, over <= 2 ? "yes" : "NO"))
    }
    for (i = 0; i < m; i++)
        print json[i]
}
