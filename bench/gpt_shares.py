# SPDX-License-Identifier: Apache-2.0
"""Where the time of a training step goes, from the traces of all ranks (examples/10_gpt --trace).

A moment belongs to the innermost event that covers it: the kernel of an op, or a transfer. The part of a transfer before its last rank has
begun it is waiting. What no event covers is dispatch: decisions, records, handles, the example itself, and writing the trace.
"""
import json

PRODUCTS = {"linear", "linear_weight_backward", "matmul", "mm", "bmm", "addmm", "baddbmm", "addbmm"}
KINDS = ["products", "attention", "elementwise", "communication", "waiting", "dispatch"]


def kind_of(event):
    if event["cat"] == "comm":
        return "communication"
    if event["name"] in PRODUCTS:
        return "products"
    return "attention" if "attention" in event["name"] else "elementwise"


def read_steps(path):
    """The events of each step: from one forward embedding to the next."""
    with open(path, encoding="utf-8") as file:
        events = [event for event in json.load(file) if event.get("ph") == "X" and event.get("cat") in ("op", "comm")]
    events.sort(key=lambda event: (event["ts"], -event["dur"]))
    begins = [i for i, event in enumerate(events) if event["cat"] == "op" and event["name"] == "embedding"]
    return [(events[i:j], events[j]["ts"] - events[i]["ts"]) for i, j in zip(begins, begins[1:])]


def self_times(events):
    """Of each event: the time in which it is the innermost."""
    own, stack = [event["dur"] for event in events], []
    for i, event in enumerate(events):
        while stack and events[stack[-1]]["ts"] + events[stack[-1]]["dur"] <= event["ts"]:
            stack.pop()
        if stack:
            own[stack[-1]] -= event["dur"]
        stack.append(i)
    return [max(time, 0) for time in own]


def shares_of(paths):
    """Milliseconds of rank 0's fastest step, and the share of each kind."""
    ranks = [read_steps(path) for path in paths]
    at = min(range(1, len(ranks[0])), key=lambda i: ranks[0][i][1])
    events, total = ranks[0][at]
    begins = [[event["ts"] for event in rank[at][0] if event["cat"] == "comm"] for rank in ranks]
    times, n_comm = dict.fromkeys(KINDS, 0.0), 0
    for event, own in zip(events, self_times(events)):
        kind = kind_of(event)
        times[kind] += own
        if kind == "communication":
            last = max(begin[n_comm] if n_comm < len(begin) else event["ts"] for begin in begins)
            waiting = min(max(last - event["ts"], 0), own)
            times["waiting"] += waiting
            times[kind] -= waiting
            n_comm += 1
    times["dispatch"] = max(total - sum(times.values()), 0)
    return total / 1e3, {kind: time / total for kind, time in times.items()}
