# SPDX-License-Identifier: Apache-2.0
"""`dtensor explain`, `rules` and `ops`: the same answers as from queries, the order of candidates, and large meshes."""
import itertools
import json
import os
import re
import subprocess
import tempfile
import unittest
from xml.etree import ElementTree

import tool

MM = "mm(f32[64,32] S(0),P(sum); f32[32,48] R,S(1))"


def run_tool(*arguments):
    code, out, err = tool.run(*arguments)
    assert (code, err) == (0, ""), (arguments, code, err)
    return out


class Explain(unittest.TestCase):
    def test_json_equals_the_answer_of_query(self):
        got = json.loads(run_tool("explain", MM + " on mesh(2x4)", "--json", "--most", "3"))
        expected = tool.query({"q": "propagate", "op": "mm", "mesh": [2, 4], "args": [{"t": 0}, {"t": 1}], "kwargs": {},
                             "tensors": [{"shape": [64, 32], "placements": "S(0),P(sum)"},
                                         {"shape": [32, 48], "placements": "R,S(1)"}]})
        self.assertEqual([got["candidates"][got["chosen"]]], expected)
        costs = [one["cost_us"] for one in got["candidates"]]
        self.assertEqual((3, sorted(costs)), (len(costs), costs))
        self.assertEqual(len(got["plans"]), 2)
        self.assertAlmostEqual(sum(one["cost_us"] for one in got["plans"]), costs[0], places=3)

    def test_text_marks_the_selected_row_and_lists_moves(self):
        out = run_tool("explain", MM + " on mesh(dp=2,tp=4)")
        first = next(line for line in out.splitlines() if line.startswith("  *"))
        self.assertIn(tool.query({"q": "propagate", "op": "mm", "mesh": [2, 4], "args": [{"t": 0}, {"t": 1}], "kwargs": {},
                                "tensors": [{"shape": [64, 32], "placements": "S(0),P(sum)"},
                                            {"shape": [32, 48], "placements": "R,S(1)"}]})
                      [0]["outputs"][0]["placements"], first)
        for word in ("mesh dim dp: ", "mesh dim tp: ", "input 1: ", "input 2: ", "selected because"):
            self.assertIn(word, out)

    def test_no_communication(self):
        out = run_tool("explain", "gelu(f32[8,4] S(0)) on mesh(4)")
        self.assertIn("selected because it sends nothing", out)
        self.assertIn("input 1: stays", out)

    def test_partials_that_ranks_make_locally_are_listed(self):
        out = run_tool("explain", "linear(f32[8,4] S(1); f32[6,4] S(1); f32[6] R) on mesh(4)")
        self.assertIn("input 3: stays, then each rank makes P(sum) of it locally", out)

    def test_large_mesh(self):
        out = run_tool("explain", "matmul(f32[8192,4096] S(0),R,R; f32[4096,4096] R,R,S(1)) on mesh(pp=16,dp=128,tp=32)")
        self.assertIn("S(0),R,S(1)", out)

    def test_the_mesh_may_follow_a_tensor(self):
        self.assertEqual(run_tool("explain", MM + " on mesh(2x4)").split("\n", 1)[1],
                         run_tool("explain", MM.replace("P(sum);", "P(sum) on mesh(2x*);"), "--ranks", "8").split("\n", 1)[1])

    def test_rules_equal_the_answer_of_query(self):
        got = json.loads(run_tool("rules", "sum(f32[8,4]; dim=[1])", "--json"))
        expected = tool.query({"q": "rules", "op": "sum", "tensors": [{"shape": [8, 4]}], "args": [{"t": 0}],
                             "kwargs": {"dim": [1]}})
        self.assertEqual([got], expected)
        rows = [row.replace("->", " -> ") for row in got["rows"]]  # for people; several inputs are separated by ";"
        self.assertEqual(run_tool("rules", "sum(f32[8,4]; dim=[1])").splitlines(), rows)
        self.assertIn("S(0); R -> S(0)", run_tool("rules", "mm(i32[8,4]; i32[4,6])").splitlines())

    def test_rules_of_a_decomposition_are_those_of_its_ops(self):
        for order in ("1", "inf"):
            rows = run_tool("rules", f"linalg_vector_norm(f32[5,3]; {order})").splitlines()
            self.assertEqual(run_tool("rules", f"norm(f32[5,3]; {order})").splitlines(),
                             [f"{row}  (a decomposition)" for row in rows])
        self.assertIn("whose ops communicate", run_tool("rules", "norm(f32[5,3])"))

    def test_rules_list_all_ways_and_query_the_local_ones(self):
        for op, tensors, args, call, marked in (
                ("layer_norm", [[8, 4]], [{"t": 0}, [4]], "layer_norm(f32[8,4]; [4])", "S(1) -> S(1)  (the ranks meet)"),
                ("cumsum", [[8, 4]], [{"t": 0}, 0], "cumsum(f32[8,4]; 0)", "S(0) -> S(0)  (a scan over the ranks)"),
                ("flip", [[8, 4]], [{"t": 0}, [0]], "flip(f32[8,4]; [0])", "S(0) -> S(0)  (each rank fetches its window)")):
            expected = tool.query({"q": "rules", "op": op, "tensors": [{"shape": shape} for shape in tensors],
                                   "args": args, "kwargs": {}})
            got = json.loads(run_tool("rules", call, "--json"))
            self.assertEqual([got], expected)
            lines = run_tool("rules", call).splitlines()
            self.assertIn(marked, lines)
            self.assertNotIn(marked.split("  ")[0].replace(" ", ""), got["rows"])

    def test_a_weight_that_is_used_as_replicate_is_gathered(self):
        call = "linear(f32[2,128,256] S(0); f32[1024,256] S(0){}) on mesh(fsdp=2)"
        out = run_tool("explain", call.format(" use R"))
        self.assertRegex(out, r"(?m)^  \*  S\(0\); R +S\(0\) +none ")
        self.assertIn("input 2: used as R, as requested: S(0)->R; stays\n  all_gather  512 KiB  23.9 us", out)
        out = run_tool("explain", call.format(""))  # cheaper, and not what a user who shards weights means
        self.assertRegex(out, r"(?m)^  \*  R; S\(0\) +S\(2\) +all_gather 1 +128 KiB +11\.4 us")
        self.assertRegex(out, r"(?m)^     S\(0\); R +S\(0\) +all_gather 1 +512 KiB +23\.9 us")

    def test_ways_are_named_with_their_collectives(self):
        for call, text in (("softmax(f32[64,512] S(1); 1)", "all_gather 1 (meets)"),
                           ("cumsum(f32[64,512] S(1); 1)", "all_gather 1 (scans)"),
                           ("slice(f32[64,512] S(1); 1; 1; 512)", "all_to_all 1 (fetches windows)")):
            first = next(line for line in run_tool("explain", call + " on mesh(4)").splitlines() if line.startswith("  *"))
            self.assertIn(text, first)

    def test_ops_are_listed(self):
        table = json.loads(run_tool("ops", "--json"))
        names = [op["name"] for op in table]
        self.assertEqual(names, sorted(names))
        lines = run_tool("ops").splitlines()
        self.assertEqual([line.split(None, 1) for line in lines], [[op["name"], op["summary"]] for op in table])
        for op in table:
            self.assertEqual(" | ".join(one["text"] for one in op["signatures"]), op["schema"])
            out = run_tool("ops", op["name"])
            self.assertTrue(out.startswith(op["summary"] + "\n\n" + op["schema"].replace(" | ", "\n") + "\n"), op["name"])

    def test_ops_take_patterns(self):
        def names(*patterns):
            return [op["name"] for op in json.loads(run_tool("ops", *patterns, "--json"))]
        everything = names()
        self.assertEqual(names("*mm"), ["addbmm", "addmm", "baddbmm", "bmm", "mm"])
        self.assertEqual(names("mm"), ["mm"])  # a name is that op only
        self.assertEqual(names("_norm"), [name for name in everything if "_norm" in name])
        self.assertEqual(names("soft"), [name for name in everything if name.startswith("soft") or "_soft" in name])
        self.assertEqual(tool.run("ops", "eight")[:2], (1, ""))  # within weight: no word begins with it
        self.assertEqual(names("eigh"), ["linalg_eigh"])  # and no weight
        self.assertEqual(tool.run("ops", "stft"), (1, "", "dtensor ops: op: there is no op 'stft': PyTorch's stft does not "
                                                   "exist in dtensor yet\n"))
        self.assertEqual(names("?um", "a*"), [name for name in everything if name[0] == "a" or name == "sum"])
        self.assertEqual(names("*"), everything)
        listed = run_tool("ops", "*mm").splitlines()
        self.assertEqual([line.split()[0] for line in listed], names("*mm"))
        self.assertEqual(run_tool("ops", "softmi"), run_tool("ops", "softmin"))
        out = run_tool("ops", "*mm", "-v")
        self.assertIn("\n    bmm(Tensor self, Tensor mat2) -> Tensor\n", out)
        self.assertEqual(tool.run("ops", "no_such*")[0], 1)


SVG = "{http://www.w3.org/2000/svg}"


class Svg(unittest.TestCase):
    CALLS = ["mm(f32[6,4] S(0),R; f32[4,8] S(0),R) on mesh(dp=2,tp=2)",
             "linear(f32[64,512] S(1); f32[256,512] S(1); f32[256] R) on mesh(tp=7)",
             "cat({f32[4,3] S(1); f32[5,3] R}; dim=0) on mesh(3)",
             "matmul(f32[8,16,32] S(0),R,S(1); f32[8,32,4] R,P(sum),R) on mesh(2x2x4)",
             "softmax(f32[5] S(0),R; 0) on mesh(8x8)", "neg(f32[0,4] S(0)) on mesh(2)", "neg(f32[] P(sum)) on mesh(5)",
             "neg(f32[2,2,2,2] S(0)) on mesh(3)", "split(f32[12,5] S(0),R; 5; 0) on mesh([[3,1],[0,2]])",
             "add(f32[1000000,3] S(0),R; f32[3] R,R) on mesh(a<b=2,c&d=2)"]

    def draw(self, call, *options):
        return ElementTree.fromstring(run_tool("explain", call, "--svg", "-", *options))

    def test_texts_do_not_overlap_and_are_inside(self):
        for call in self.CALLS:
            root = self.draw(call)
            width, height = float(root.get("width")), float(root.get("height"))
            texts = []
            for text in root.iter(SVG + "text"):
                kind = text.get("class").split()
                size = 16 if "title" in kind else 22 if "sign" in kind else 12
                length = 0.62 * size * len(text.text)
                left = float(text.get("x")) - (length / 2 if {"label", "place", "sign"} & set(kind) else 0)
                texts.append((left, float(text.get("y")) - 0.75 * size, left + length, float(text.get("y")) + 0.2 * size, text.text))
            for i, a in enumerate(texts):
                self.assertTrue(a[0] >= 0 and a[1] >= 0 and a[2] <= width and a[3] <= height, (call, a))
                for b in texts[i + 1:]:
                    self.assertTrue(a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], (call, a, b))

    def test_blocks_are_those_of_the_placements(self):
        """Each block, by its tooltip, against `dtensor show` of the tensor that it belongs to."""
        root = self.draw("mm(f32[6,4] S(0),R; f32[4,8] S(0),R) on mesh(dp=2,tp=2)")
        blocks = [rect.find(SVG + "title").text for rect in root.iter(SVG + "rect") if rect.get("class") == "block"]
        expected = []
        for tensor in ("f32[6,4] S(0),R", "f32[6,4] S(0),R", "f32[4,8] S(0),R", "f32[4,8] R,S(1)", "f32[6,8] S(0),S(1)"):
            shown = ElementTree.fromstring(tool.run("show", tensor + " on mesh(dp=2,tp=2)", "--svg", "-")[1])
            expected += [text.text for text in shown.iter(SVG + "text") if text.get("class") == "label"]
        self.assertEqual(sorted(expected), sorted(blocks))

    def test_moves_are_those_of_the_explanation(self):
        call = "mm(f32[6,4] S(0),R; f32[4,8] S(0),R) on mesh(dp=2,tp=2)"
        texts = [text.text for text in self.draw(call).iter(SVG + "text")]
        plans = json.loads(run_tool("explain", call, "--json"))["plans"]
        self.assertEqual([plan["collectives"] for plan in plans], [0, 1])
        for word in ("self", "mat2", "output", "all_gather", "stays", "R,S(1)", "S(0),S(1)"):
            self.assertIn(word, texts)
        received = [int(text.split()[1].replace("nothing", "0")) for text in texts if text.startswith("receives ")]
        self.assertEqual((4, plans[1]["bytes"]), (len(received), max(received)))

    def test_calls_that_cannot_be_drawn(self):
        code, out, err = tool.run("explain", "neg(f32[128] S(0)) on mesh(65)", "--svg", "-")
        self.assertEqual((1, ""), (code, out))
        self.assertIn("cannot draw a mesh of more than 64 ranks, got 65", err)
        texts = [text.text for text in self.draw("neg(f32[2,2,2,2] S(0)) on mesh(3)").iter(SVG + "text")]
        self.assertIn("self is not drawn: a tensor of more than 3 dims", texts)


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
        report = json.loads(run_tool("explain", "--trace", self.path, "--json"))
        self.assertEqual((7, 2 * 98304 + 12288 + 49152 + 24), (report["calls"], report["bytes"]))
        self.assertEqual([(one["site"], one["calls"], one["bytes"]) for one in report["moved_most"]],
                         [("model.c:12", 2, 196608), ("", 1, 49152), ("my file at 3.c:20", 1, 12288), ("model.c:30", 1, 24)])
        out = run_tool("explain", "--trace", self.path)
        self.assertIn("1. 192 KiB in 2 calls at model.c:12\n   linear(f32[64,512] S(1); f32[256,512] S(0); f32[256] R) on mesh(tp=4)\n"
                      "   moved S(1)->R of f32[64,512]: all_gather 1\n   avoided by ", out)
        self.assertIn("redistribute: S(0)->R of f32[64,256]: all_gather 1\n   requested by the program, not by an op\n", out)
        self.assertIn("not explained: there is no op 'mystery'", out)
        self.assertEqual(2, run_tool("explain", "--trace", self.path, "--most", "2").count("calls at") +
                         run_tool("explain", "--trace", self.path, "--most", "2").count("requested"))

    def test_text_and_events_are_the_same(self):
        other = write_trace(self.folder.name, "a.json", events(TRACE))
        self.assertEqual(run_tool("explain", "--trace", self.path, "--json"), run_tool("explain", "--trace", other, "--json"))

    def test_files_add_up(self):
        once = json.loads(run_tool("explain", "--trace", self.path, "--json"))
        twice = json.loads(run_tool("explain", "--trace", self.path, "--trace", self.path, "--json"))
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
            advice = json.loads(run_tool("explain", "--json", "--trace", write_trace(self.folder.name, "b.txt", line)))["moved_most"][0]["avoid"]

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
        options = [word for path in paths for word in ("--trace", path)]
        report = json.loads(run_tool("explain", *options, "--json", "--most", "64"))
        self.assertEqual((total, total), (report["bytes"], sum(one["bytes"] for one in report["moved_most"])))
        softmax = next(one for one in report["moved_most"] if one["call"].startswith("softmax("))
        self.assertRegex(softmax["site"], r"11_numpy_file\.c:\d+$")
        self.assertEqual((3, "meet of 3 ranks: all_gather 1"), (softmax["calls"], softmax["moves"]))
        avoid = softmax["avoid"]
        self.assertEqual(("self", "S(1)", "S(0)", 0), (avoid["name"], avoid["from"], avoid["to"], avoid["better_bytes"]))

    def test_wrong_traces_are_refused(self):
        for text, message in (("", "expected a trace, got an empty file"), ("nonsense\n", "expected a line of a trace, got 'nonsense'"),
                              ("[1,", "expected a list of events"), ("{}\n", "expected a line of a trace")):
            code, out, err = tool.run("explain", "--trace", write_trace(self.folder.name, "c", text))
            self.assertEqual((1, ""), (code, out))
            self.assertIn(message, err)
        self.assertEqual(1, tool.run("explain", "--trace", "/nonexistent")[0])
        self.assertEqual(2, tool.run("explain", "--trace", self.path, "neg(f32[2]) on mesh(2)")[0])
        self.assertEqual(2, tool.run("explain", "--trace", self.path, "--svg", "-")[0])


if __name__ == "__main__":
    unittest.main()
