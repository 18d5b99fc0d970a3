# SPDX-License-Identifier: Apache-2.0
"""`dtensor trace`: times by rank, op and line, the calls that moved most, and what would have avoided it."""
import itertools
import json
import os
import re
import subprocess
import tempfile
import unittest

import tool


def run_tool(*arguments):
    code, out, err = tool.run(*arguments)
    assert (code, err) == (0, ""), (arguments, code, err)
    return out


TRACE = """\
setup/
  linear(f32[64,512] S(1); f32[256,512] S(0); f32[256] R) -> f32[64,256] S(1) on mesh(tp=4) (at model.c:12)
    S(1)->R of f32[64,512]: all_gather 1, 98304 bytes
  linear(f32[64,512] S(1); f32[256,512] S(0); f32[256] R) -> f32[64,256] S(1) on mesh(tp=4) (at model.c:12)
    S(1)->R of f32[64,512]: all_gather 1, 98304 bytes
gelu(f32[64,256] S(1)) -> f32[64,256] S(1) on mesh(tp=4) (at model.c:13)
softmax(f32[64,256] S(1); dim=-1) -> f32[64,256] S(0) on mesh(tp=4) (at my file at 3.c:20)
  S(1)->S(0) of f32[64,256]: all_to_all 1, 12288 bytes
redistribute: S(0)->R of f32[64,256]: all_gather 1, 49152 bytes
mystery(f32[8] S(0)) -> f32[8] R on mesh(tp=4) (at model.c:30)
  S(0)->R of f32[8]: all_gather 1, 24 bytes
add(f32[8]; f32[8]) -> f32[8] (at model.c:31)
"""


def write_trace(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def events(text):
    """The same trace as events: the communication of an op precedes it."""
    out, time, pending_op = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "rank 0"}}], 0, None
    for line in text.splitlines() + [""]:
        time += 10
        moved = re.match(r" *(?:(\w+): )?(\S+->\S+ of .*), (\d+) bytes$", line)
        if moved:
            out.append({"name": moved[1] or "redistribute", "cat": "comm", "ph": "X", "ts": time, "dur": 1, "pid": 0, "tid": 0,
                        "args": {"bytes": int(moved[3]), "what": moved[2]}})
            if not moved[1]:
                continue
        if pending_op:
            out.insert(len(out) - bool(moved), pending_op)
            pending_op = None
        op = re.match(r" *(\w+)(\(.*?) \(at (.*):(\d+)\)$", line)
        if op:
            pending_op = {"name": op[1], "cat": "op", "ph": "X", "ts": time, "dur": 5, "pid": 0, "tid": 0,
                       "args": {"call": op[1] + op[2], "file": op[3], "line": int(op[4])}}
    return json.dumps(out)


class Trace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = write_trace(self.folder.name, "a.txt", TRACE)

    def test_calls_are_summed_and_sorted(self):
        report = json.loads(run_tool("trace", self.path, "--json"))
        self.assertEqual((7, 2 * 98304 + 12288 + 49152 + 24), (report["calls"], report["bytes"]))
        self.assertEqual([(one["site"], one["calls"], one["bytes"]) for one in report["moved_most"]],
                         [("model.c:12", 2, 196608), ("", 1, 49152), ("my file at 3.c:20", 1, 12288), ("model.c:30", 1, 24)])
        out = run_tool("trace", self.path)
        self.assertIn("1. 192 KiB in 2 calls at model.c:12\n   linear(f32[64,512] S(1); f32[256,512] S(0); f32[256] R) on mesh(tp=4)\n"
                      "   moved S(1)->R of f32[64,512]: all_gather 1\n   avoided by ", out)
        self.assertIn("redistribute: S(0)->R of f32[64,256]: all_gather 1\n   requested by the program, not by an op\n", out)
        self.assertIn("not explained: there is no op 'mystery'", out)
        self.assertEqual(2, run_tool("trace", self.path, "--most", "2").count("calls at") +
                         run_tool("trace", self.path, "--most", "2").count("requested"))

    def test_text_and_events_are_the_same(self):
        other = write_trace(self.folder.name, "a.json", events(TRACE))
        text, json_ = (json.loads(run_tool("trace", path, "--json")) for path in (self.path, other))
        for key in ("calls", "bytes", "moved_most"):
            self.assertEqual(text[key], json_[key])
        self.assertEqual([[], [], []], [text[key] for key in ("ranks", "ops", "lines")])  # text has no times

    def test_files_add_up(self):
        once = json.loads(run_tool("trace", self.path, "--json"))
        twice = json.loads(run_tool("trace", self.path, self.path, "--json"))
        self.assertEqual((2 * once["calls"], 2 * once["bytes"]), (twice["calls"], twice["bytes"]))
        self.assertEqual([2 * one["bytes"] for one in once["moved_most"]], [one["bytes"] for one in twice["moved_most"]])

    def test_advice_is_the_best_placement_of_one_input(self):
        """Against all combinations of R and S for every input."""
        cases = [("linear", [[64, 512], [256, 512], [256]], ["S(1)", "S(0)", "R"], [4]),
                 ("mm", [[30, 20], [20, 42]], ["S(0),R", "S(0),S(1)"], [2, 3]),
                 ("mm", [[7, 5], [5, 3]], ["S(0)", "S(0)"], [7]),
                 ("add", [[12, 10], [12, 10]], ["S(0),S(1)", "S(1),S(0)"], [2, 2]),
                 ("matmul", [[4, 6, 8], [8, 5]], ["S(2),S(0)", "R,S(1)"], [2, 2]),
                 ("mm", [[8, 8], [8, 8]], ["P(sum)", "S(1)"], [4])]
        for op, shapes, places, mesh in cases:
            text = "; ".join(f"f32[{','.join(map(str, shape))}] {place}" for shape, place in zip(shapes, places))
            line = f"{op}({text}) -> f32[1] R on mesh({'x'.join(map(str, mesh))}) (at a.c:1)\n  S(0)->R of f32[1]: all_gather 1, 8 bytes\n"
            advice = json.loads(run_tool("trace", "--json", write_trace(self.folder.name, "b.txt", line)))["moved_most"][0]["avoid"]

            def bytes_of(places):
                answer, = tool.query({"q": "propagate", "op": op, "mesh": mesh, "args": [{"t": i} for i in range(len(shapes))],
                                    "kwargs": {}, "tensors": [{"shape": shape, "placements": place}
                                                              for shape, place in zip(shapes, places)]})
                return answer["bytes"]
            current = bytes_of(places)
            best = min(bytes_of([*places[:i], ",".join(other), *places[i + 1:]]) for i, shape in enumerate(shapes)
                       for other in itertools.product(["R", *(f"S({d})" for d in range(len(shape)))], repeat=len(mesh)))
            if best >= current:
                self.assertIsNone(advice, line)
                continue
            self.assertEqual((current, best), (advice["bytes"], advice["better_bytes"]), line)
            i = advice["input"] - 1
            self.assertEqual(advice["from"], places[i])
            self.assertEqual(best, bytes_of([*places[:i], advice["to"], *places[i + 1:]]), line)

    def test_traces_of_a_program(self):
        """The report of an example has the bytes of its traces."""
        trace = os.path.join(self.folder.name, "t.txt")
        command = [os.path.join(tool.BUILD, "bin", "dtrun"), "-n", "3", os.path.join(tool.BUILD, "examples", "11_numpy_file")]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder.name, timeout=60,
                       env=tool.environment(DTENSOR_TRACE=trace))
        paths = [os.path.join(self.folder.name, f"t.{rank}.txt") for rank in range(3)]
        total = 0
        for path in paths:
            with open(path, encoding="utf-8") as file:
                total += sum(int(number) for number in re.findall(r", (\d+) bytes$", file.read(), re.M))
        report = json.loads(run_tool("trace", *paths, "--json", "--most", "64"))
        self.assertEqual((total, total), (report["bytes"], sum(one["bytes"] for one in report["moved_most"])))
        softmax = next(one for one in report["moved_most"] if one["call"].startswith("softmax("))
        self.assertRegex(softmax["site"], r"11_numpy_file\.c:\d+$")
        self.assertEqual((3, "meet of 3 ranks: all_gather 1"), (softmax["calls"], softmax["moves"]))
        avoid = softmax["avoid"]
        self.assertEqual(("self", "S(1)", "S(0)", 0), (avoid["name"], avoid["from"], avoid["to"], avoid["better_bytes"]))

    def test_wrong_traces_are_refused(self):
        for text, message in (("", "expected a trace, got an empty file"), ("nonsense\n", "expected a line of a trace, got 'nonsense'"),
                              ("[1,", "expected a list of events"), ("{}\n", "expected a line of a trace")):
            code, out, err = tool.run("trace", write_trace(self.folder.name, "c", text))
            self.assertEqual((1, ""), (code, out))
            self.assertIn(message, err)
        self.assertEqual(1, tool.run("trace", "/nonexistent")[0])
        self.assertEqual(2, tool.run("trace")[0])
        for broken in ({"ts": 1}, {"ts": 1, "dur": -1}, {"ts": "1", "dur": 1}):
            text = json.dumps([{"name": "use", "cat": "comm", "ph": "X", "pid": 0, "args": {"bytes": 0, "what": ""}, **broken}])
            code, out, err = tool.run("trace", write_trace(self.folder.name, "d.json", text))
            self.assertEqual((1, ""), (code, out))
            self.assertIn("event 0: expected a time and a duration", err)


def event(category, name, begin, duration, rank=0, line=1, **args):
    args = {"call": f"{name}(f32[8]) -> f32[8]", **args} if category == "op" else {"bytes": 8, "what": "all_gather 1", **args}
    return {"name": name, "cat": category, "ph": "X", "ts": begin, "dur": duration, "pid": rank, "tid": 0,
            "args": {**args, "file": "a.c", "line": line}}


class Times(unittest.TestCase):
    """Sums of events whose times are given."""
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def report(self, *lists, options=("--json",)):
        paths = [write_trace(self.folder.name, f"{i}.json", json.dumps(events_)) for i, events_ in enumerate(lists)]
        return run_tool("trace", *options, *paths)

    def rows(self, report, key):
        first = {"ranks": "rank", "ops": "op", "lines": "site"}[key]
        names = (first, "calls", "us", "compute_us", "communication_us", "waiting_us")
        return [tuple(row[name] for name in names) for row in report[key]]

    def test_time_inside_an_op_is_not_its_own(self):
        # svd from 0 to 100 has a transfer from 10 to 30, waiting for 15 of it, and mm from 40 to 70 with a transfer of
        # 5. After a gap of 20, a transfer of the program's own from 120 to 130.
        got = json.loads(self.report([event("comm", "meet", 10, 20, wait_us=15), event("comm", "redistribute", 45, 5),
                                      event("op", "mm", 40, 30), event("op", "svd", 0, 100),
                                      event("comm", "use", 120, 10, line=2, wait_us=4)]))
        self.assertEqual([(0, 3, 130, 75, 16, 19)], self.rows(got, "ranks"))
        self.assertEqual([("svd", 1, 70, 50, 5, 15), ("mm", 1, 30, 25, 5, 0), ("use", 1, 10, 0, 6, 4)], self.rows(got, "ops"))
        self.assertEqual([("a.c:1", 2, 100, 75, 10, 15), ("a.c:2", 1, 10, 0, 6, 4)], self.rows(got, "lines"))

    def test_ranks_are_apart_and_ops_add_up(self):
        first, second = [event("op", "mm", 5, 10)], [event("op", "mm", 1000, 30, rank=1), event("op", "add", 1040, 10, rank=1)]
        got = json.loads(self.report(second, first))
        self.assertEqual([(0, 1, 10, 10, 0, 0), (1, 2, 50, 40, 0, 0)], self.rows(got, "ranks"))
        self.assertEqual([("mm", 2, 40, 40, 0, 0), ("add", 1, 10, 10, 0, 0)], self.rows(got, "ops"))
        self.assertEqual(got, json.loads(self.report(first + second)))
        text = self.report(first, second, options=("--most", "1"))
        self.assertRegex(text, r"(?m)^  1 +50 us +80.0% +0.0% +0.0% +20.0%$")
        self.assertRegex(text, r"(?m)^  mm +2 +40 us +66.7% +40 us +0 us +0 us$")
        self.assertIn("  and 1 more\n", text)

    def test_events_without_time_nest_anywhere(self):
        got = json.loads(self.report([event("op", "mm", 7, 0), event("comm", "use", 7, 0), event("op", "add", 7, 3)]))
        self.assertEqual([(0, 3, 3)], [(row[0], row[2], row[3]) for row in self.rows(got, "ranks")])

    def trace_program(self, *words, **variables):
        subprocess.run(words, check=True, capture_output=True, cwd=self.folder.name, timeout=60, env=tool.environment(**variables))
        return json.loads(run_tool("trace", "--json", "--most", "64", *(os.path.join(self.folder.name, f"r.{rank}.json") for rank in (0, 1))))

    def check_parts(self, report):
        """All tables have the same sum, and no part is negative or longer than the whole."""
        sums = {key: [sum(row[i] for row in self.rows(report, key)) for i in (3, 4, 5)] for key in ("ranks", "ops", "lines")}
        for key in ("ops", "lines"):
            for got, expected in zip(sums[key], sums["ranks"]):
                self.assertAlmostEqual(got, expected, delta=0.1 + 1e-4 * expected)
        for rank in self.rows(report, "ranks"):
            self.assertGreaterEqual(min(rank[3:]), 0)
            self.assertLessEqual(sum(rank[3:]), rank[2] * 1.001 + 1)

    def test_a_run_and_its_estimate(self):
        """The trace of an estimate, on its virtual clock, has the calls and the lines of the run's."""
        gpt = [os.path.join(tool.BUILD, "examples", "10_gpt"), *"--steps 2 --layers 1 --width 16 --seq 8 --batch 4 --mesh fsdp=2 --sample 0 --clip 0".split()]
        machine = os.path.join(tool.SOURCE, "examples", "machines", "two_sockets.txt")
        run = self.trace_program(os.path.join(tool.BUILD, "bin", "dtrun"), "-n", "2", *gpt, DTENSOR_TRACE="r.json")
        self.check_parts(run)
        estimated = self.trace_program(os.path.join(tool.BUILD, "bin", "dtensor"), "estimate", "--ranks", "2", "--machine", machine,
                                       "--trace", "r.json", "--", *gpt)
        self.check_parts(estimated)
        for key in ("ops", "lines"):
            self.assertEqual(sorted(row[0] for row in self.rows(run, key)), sorted(row[0] for row in self.rows(estimated, key)))
        self.assertEqual((run["calls"], run["bytes"]), (estimated["calls"], estimated["bytes"]))
        self.assertGreater(sum(row[3] for row in self.rows(estimated, "ranks")), 0)
        backward = [row["site"] for row in run["moved_most"] if row["call"].startswith("backward: ")]
        self.assertRegex(backward[0], r"10_gpt\.c:\d+$")  # transfers of the program's own have a line, too


if __name__ == "__main__":
    unittest.main()
