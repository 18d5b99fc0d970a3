# SPDX-License-Identifier: Apache-2.0
# Joins rows "side op ranks bytes inputs best median repeats" of bench_comm and its peer: the best of each, their
# ratio, and the target ratio. The bounds of docs/performance.md are rows with the peer "limit".

function keep_min(side, key, us) {
    if (!((side, key) in best) || us < best[side, key])
        best[side, key] = us
}

{
    key = $2 " " $3 " " $4 " " $5
    keep_min($1, key, $6)
    if ($1 == "ours" && !(key in known) && $2 !~ /^copy/) {
        known[key] = 1
        order[n++] = key
    }
}

# The target: how many times as fast as Open MPI a row should be.
function target_beside_mpi(op, ranks, bytes) {
    reduces = op == "all_reduce" || op == "reduce_scatter"
    if (ranks > 2) {
        if (bytes < 4096)
            return 0.8
        return reduces && bytes >= 262144 ? 2 : 1
    }
    if (bytes < 4096)
        return 1
    if (bytes < 262144)
        return 2
    if (op == "all_reduce")
        return bytes >= 67108864 ? 4 : 3
    if (op == "reduce_scatter")
        return bytes >= 67108864 ? 8 : 6
    return bytes >= 67108864 ? 1.4 : 1.8
}

# Bytes that all ranks together read and write, for a size of N bytes, and how many ranks copy.
function bytes_touched(op, n, N) {
    if (op == "broadcast")
        return (n - 1) * 2 * N
    if (op == "reduce_scatter")
        return n * (N + N / n)
    if (op == "all_reduce")
        return n * (N + N / n + 2 * N * (n - 1) / n)
    return n * 2 * N
}

# Microseconds for that, at the best of plain and streaming copy with as many ranks as copy.
function bound(op, n, N, copying, us, stream) {
    copying = op == "broadcast" ? n - 1 : n
    us = best["ours", "copy " copying " 67108864 left"]
    stream = best["ours", "copy_stream " copying " 67108864 left"]
    if (stream && stream < us)
        us = stream
    return us ? bytes_touched(op, n, N) * us / (copying * 2 * 67108864) : 0
}

function size_word(bytes) {
    if (bytes >= 1048576)
        return bytes / 1048576 " MB"
    return bytes >= 1024 ? bytes / 1024 " KB" : bytes " B"
}

function row(op, ranks, bytes, inputs, peer, us, theirs, target, ratio) {
    ratio = theirs / us
    printf "%-15s %5d %7s %-6s %10.4g %-8s %10.4g %7.2f %7.1f %s\n", op, ranks, size_word(bytes), inputs, us, peer,
           theirs, ratio, target, (ratio >= target ? "yes" : "NO")
    json[m++] = sprintf("{\"bench\":\"%s\",\"config\":{\"ranks\":%d,\"bytes\":%d,\"fresh\":%s},\"ours\":%.5g," \
                        "\"unit\":\"us\",\"peer\":\"%s\",\"theirs\":%.5g,\"ratio\":%.4g}",
                        op, ranks, bytes, inputs == "fresh" ? "true" : "false", us, peer, theirs, ratio)
    n_rows++
    n_reached += ratio >= target
}

END {
    printf "%-15s %5s %7s %-6s %10s %-8s %10s %7s %7s %s\n", "op", "ranks", "size", "inputs", "ours us", "peer",
           "peer us", "ratio", "target", "reached"
    for (i = 0; i < n; i++) {
        split(order[i], part, " ")
        us = best["ours", order[i]]
        if (("openmpi", order[i]) in best)
            row(part[1], part[2], part[3], part[4], "openmpi", us, best["openmpi", order[i]],
                target_beside_mpi(part[1], part[2], part[3]))
    }
    for (i = 0; i < n; i++) {
        split(order[i], part, " ")
        limit = part[2] == 2 && part[3] == 67108864 ? bound(part[1], part[2], part[3]) : 0
        if (limit)
            row(part[1], part[2], part[3], part[4], "limit", best["ours", order[i]], limit,
                part[1] == "broadcast" ? 0.5 : 0.7)
    }
    for (key in best) {
        split(key, at, SUBSEP)
        split(at[2], part, " ")
        if (part[1] ~ /^copy/)
            printf "%s of %d x %s: %.4g GB/s read and written\n", part[1], part[2], size_word(part[3]),
                   part[2] * 2 * part[3] / best[key] / 1000
    }
    printf "%d of %d rows reach their target\n", n_reached, n_rows
    for (i = 0; i < m; i++)
        print json[i]
}
