# SPDX-License-Identifier: Apache-2.0
"""`dtensor plan`: the same numbers as `query redistribute`, comparisons of planners, large meshes, and errors."""
import json
import os
import re
import tempfile
import unittest
from xml.etree import ElementTree

import tool

# mesh, shape, dtype, source, target
MOVES = [
    ("2,4", "4096,4096", "f32", "S(0),R", "R,S(1)"),
    ("dp=2,tp=2", "10,7", "f64", "S(0)[1],S(0)[0]", "S(1),S(0)"),
    ("3", "10", "f32", "P(sum)", "S(0:3,5,2)"),
    ("2x2", "[]", "f32", "P(max),R", "R,R"),
    ("2x2", "0,4", "f32", "S(0),S(1)", "R,R"),
    ("7", "5,3", "bf16", "S(0)", "S(1)"),
]


def plan(*arguments):
    return tool.run("plan", *arguments)


# As the help lists them: "  --planner PLANNER   greedy, graph, ..., or all to compare them".
PLANNERS = re.search(r"--planner PLANNER +(.*), or all", plan("--help")[1])[1].split(", ")


SVG = "{http://www.w3.org/2000/svg}"


def ranges(options, source, target):
    """(held before, held after) of every rank: sets of elements, from `dtensor query shard`."""
    sides = tool.query(*({"q": "shard", "mesh": options["mesh"], "shape": options["shape"], "placements": placements}
                       for placements in (source, target)))
    for side in sides:
        held = []
        for local in side["local"]:
            dims = [[i for begin, end in dim for i in range(begin, end)] for dim in local["runs"]]
            held.append({(i, j) for i in dims[0] for j in dims[1]})
        yield held


class Plan(unittest.TestCase):
    def test_json_equals_the_answer_of_query(self):
        for mesh, shape, dtype, source, target in MOVES:
            sizes = [int(size.split("=")[-1]) for size in re.split("[,x]", mesh)]
            code, out, err = plan(tool.tensor(mesh, shape, source, dtype), target, "--planner", "all", "--json")
            self.assertEqual((code, err), (0, ""), source)
            got = {one.pop("planner"): one for one in json.loads(out)["plans"]}
            self.assertEqual(list(got), PLANNERS)
            for planner, one in got.items():
                expected = tool.query({"q": "redistribute", "mesh": sizes, "dtype": dtype,
                                     "shape": json.loads(f"[{shape.strip('[]')}]"),
                                     "from": source, "to": target, "planner": planner})
                self.assertIsNone(one.pop("sent_to"))
                del one["sends"]
                self.assertEqual([one], expected)

    def test_the_default_is_the_planner_of_dt_redistribute(self):
        for mesh, shape, dtype, source, target in MOVES:
            tensor = tool.tensor(mesh, shape, source, dtype)
            self.assertEqual(plan(tensor, target), plan(tensor, target, "--planner", "direct"))
        self.assertEqual(plan("f32[64,64] S(0),S(1) on mesh(2x2)", "S(1),S(0)")[1].splitlines()[2], "direct: 1 step, 1 collective")

    def test_the_target_may_be_a_tensor(self):
        source = "f32[8,6] S(0),S(1) on mesh(dp=2,tp=2)"
        self.assertEqual(plan(source, "R,S(1)"), plan(source, "f32[8,6] R,S(1) on mesh(dp=2,tp=2)"))
        self.assertEqual(plan(source, "R,S(1)"), plan(source, "R,S(1) on mesh(dp=2,tp=2)"))
        self.assertEqual(plan(source, "R,S(1)"), plan(source.replace("tp=2", "tp=*"), "R,S(1)", "--ranks", "4"))

    def test_specs_are_printed_in_full(self):
        extents = ",".join(["10"] * 198 + ["0", "20"])
        code, out, _ = plan(f"f32[2000,9] S(0:{extents}) on mesh(200)", "S(1)", "--json")
        self.assertEqual((0, f"f32[2000,9] S(0:{extents}) on mesh(200)"), (code, json.loads(out)["from"]))

    def test_steps_have_bytes_and_the_lower_bound(self):
        code, out, err = plan("f32[64,64] S(0),S(1) on mesh(dp=2,tp=2)", "S(1),S(0)")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"all_to_all +dp,tp +S\(0\)S\(1\) +S\(1\)S\(0\) +4 KiB")
        self.assertIn("at most: 4 KiB (lower bound of any plan: 4 KiB)", out)
        self.assertIn("held by one rank, at most: 8 KiB", out)

    def test_a_plan_without_steps(self):
        code, out, _ = plan("f32[8] S(0) on mesh(2)", "S(0)")
        self.assertEqual(code, 0)
        self.assertIn("nothing to do", out)

    def test_planners_are_compared(self):
        code, out, _ = plan("f32[64,64] S(0),S(1) on mesh(2x2)", "S(1),S(0)", "--planner", "all")
        self.assertEqual(code, 0)
        rows = {line.split()[0]: line.split() for line in out.splitlines() if line.startswith("  ")}
        self.assertEqual(rows["greedy"][-1], "S(0)S(1)->S(0)R->S(1)R->S(1)S(0)")
        self.assertEqual(rows["direct"][-1], "S(0)S(1)->S(1)S(0)")

    def test_sixteen_thousand_ranks_are_planned(self):
        for mesh, source, target in (("16x16x8x8", "S(0),S(1),S(0),S(2)", "S(1),S(0),R,S(0)"),
                                     ("128x128", "P(sum),S(0)", "R,S(1)"), ("16384", "S(0)", "S(1)"),
                                     ("16x32x32", "P(sum),S(1),S(0)", "S(1),R,S(0)")):
            code, out, err = plan(tool.tensor(mesh, "4096,4096,100", source), target, "--planner", "all")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual([line.split()[0] for line in out.splitlines() if line.startswith("  ")],
                             ["planner", *PLANNERS])

    def test_wrong_requests_are_refused(self):
        for arguments, code, message in [
                (["S(0)", "R"], 1, "expected a dtype"),
                (["f32[8] S(0) on mesh(2)"], 2, "expected a tensor and a target"),
                (["f32[8] S(0) on mesh(2)", "R", "--planner", "best"], 2, "or all, got 'best' (see"),
                (["f32[8] S(0) on mesh(2)", "R", "--planner", "gready"], 2, "got 'gready'; did you mean greedy? (see"),
                (["f31[8] S(0) on mesh(2)", "R"], 1, "c128; did you mean f32?"),
                (["f32[8,] S(0) on mesh(2)", "R"], 1, "column 7: expected a size"),
                (["f32[8] S(0) on mesh(2,)", "R"], 1, "mesh"),
                (["f32[8] R on mesh(2)", "P(sum)"], 1, "can not redistribute R to P(sum)"),
                (["f32[8] P(sum),P(min) on mesh(2x2)", "R,R"], 1, "P(sum),P(min)"),
                (["f32[8] S(0) on mesh(2x2)", "R,R"], 1, "wrong number: expected 2, one per mesh dim, got 1"),
                (["f32[8] S(0) on mesh(2)", "P(sum) on mesh(3)"], 1, "may not be partial"),
                (["f32[8] S(0) on mesh(2)", "R on mesh(3,)"], 1, "mesh"),
                (["f32[8] S(0) on mesh(2)", "R on mesh(3) x"], 1, "expected ')' at the end of 'R on mesh(3) x'"),
                (["f32[8] S(0) on mesh(2)", "R on mesh(3"], 1, "mesh"),
                (["f32[8] S(0) on mesh(2)", "f32[9] R on mesh(2)"], 1, "shapes"),
                (["f32[8] S(0) on mesh(2)", "f64[8] R on mesh(2)"], 1, "dtypes"),
                (["f32[8] S(0) on mesh(2)", "R", "--rank", "2"], 1, "rank 2 is not in the mesh of the target"),
                (["f32[8] S(0) on mesh(*)", "R"], 1, "'*' takes what is left of the world, whose size is not known; tools have --ranks"),
                (["f32[8] S(0) on mesh(2x*)", "R", "--ranks", "7"], 1, "world of 7 ranks: expected other sizes whose product divides it"),
                (["f32[8] S(0) on mesh(2)", "R on mesh(3)", "--planner", "graph"], 1,
                 "planner graph: the meshes differ; direct can do it"),
                (["f32[8] S(0) on mesh(2)", "R", "--svg", "-", "--json"], 2, "--svg draws one plan"),
                (["f32[8] S(0) on mesh(2)", "R", "--svg", "-", "--planner", "all"], 2, "one plan"),
                (["f32[2000000000,2] S(0) on mesh(2000000000)", "S(1)", "--planner", "all"], 1, "16777216 ranks"),
        ]:
            got, out, err = plan(*arguments)
            self.assertEqual((got, out), (code, ""), arguments)
            self.assertIn(message, err)

    def test_planners_that_refuse_are_listed(self):
        arguments = ["f32[12,6] S(0) on mesh(4)", "R,S(1) on mesh(2x3)", "--planner", "all"]
        code, out, err = plan(*arguments)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("planner min_cost: the meshes differ; direct can do it", out)
        plans = {one["planner"]: one for one in json.loads(plan(*arguments, "--json")[1])["plans"]}
        self.assertIn("the meshes differ", plans["greedy"]["refused"])
        # ranks 0 to 3 hold 3 rows each, all six get 2 columns: 12 x 2, and ranks 4 and 5 have nothing of it
        self.assertEqual((plans["direct"]["bytes"], plans["direct"]["lower_bound_bytes"]), (96, 96))
        self.assertEqual((plans["direct"]["peak_bytes"], plans["direct"]["trace"]), (4 * (18 + 24), "S(0)->RS(1)"))

    def test_another_mesh_uses_the_direct_planner(self):
        code, out, err = plan("f32[8] S(0) on mesh(2)", "S(0) on mesh([2,3])")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("direct: 1 step, 1 collective", out)
        self.assertIn("on mesh([2,3])", out.splitlines()[0])


class Sends(unittest.TestCase):
    """Senders, receivers and elements, against the sets of elements that the ranks hold."""
    MOVES = [([6], [10, 9], "S(0)", "S(1)"), ([2, 3], [12, 10], "S(0),S(1)", "S(1),S(0)"), ([3, 2], [7, 5], "S(0),R", "R,S(1)"),
             ([5], [3, 4], "S(0)", "R"), ([7], [12, 1], "_S(0,2)", "S(0)"), ([2, 2], [8, 8], "S(0)[1],S(0)[0]", "S(0),S(0)"),
             ([3], [0, 4], "S(0)", "R"), ([1], [4, 4], "S(0)", "R")]

    def sends(self, mesh, shape, source, target, *options):
        text = tool.tensor("x".join(map(str, mesh)), ",".join(map(str, shape)), source)
        code, out, err = plan(text, target, "--json", *options)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)["plans"][0]

    def test_each_rank_receives_the_missing_elements_from_ranks_that_hold_them(self):
        for mesh, shape, source, target in self.MOVES:
            before, after = ranges({"mesh": mesh, "shape": shape}, source, target)
            received = [set() for _ in after]
            found = self.sends(mesh, shape, source, target)
            self.assertIsNone(found["sent_to"])
            for one in found["sends"]:
                rows, columns = ([i for begin, end in dim for i in range(begin, end)] for dim in one["indices"])
                elements = {(i, j) for i in rows for j in columns}
                self.assertEqual((len(elements), 4 * len(elements)), (one["elements"], one["bytes"]))
                self.assertNotEqual(one["from"], one["to"])
                self.assertLessEqual(elements, before[one["from"]])
                self.assertFalse(elements & received[one["to"]])
                received[one["to"]] |= elements
            for rank, elements in enumerate(after):
                self.assertEqual(elements - before[rank], received[rank], (mesh, source, target, rank))

    def test_one_rank(self):
        all_sends = self.sends([2, 3], [12, 10], "S(0),S(1)", "S(1),S(0)")["sends"]
        one = self.sends([2, 3], [12, 10], "S(0),S(1)", "S(1),S(0)", "--rank", "4")
        self.assertEqual((4, [pair for pair in all_sends if pair["to"] == 4]), (one["sent_to"], one["sends"]))
        out = plan("f32[12,10] S(0),S(1) on mesh(2x3)", "S(1),S(0)", "--rank", "4")[1]
        self.assertIn("sent to rank 4:\n", out)
        self.assertEqual(len(one["sends"]), len(re.findall(r"(?m)^  1 +\d+ +4 ", out)))

    def test_steps_are_numbered(self):
        found = self.sends([2, 2], [8, 8], "S(0),S(1)", "S(1),S(0)", "--planner", "greedy")
        self.assertEqual({step for step, one in enumerate(found["steps"]) if one["bytes"]}, {pair["step"] for pair in found["sends"]})
        for step, one in enumerate(found["steps"]):
            to_one = [sum(pair["bytes"] for pair in found["sends"] if (pair["step"], pair["to"]) == (step, rank)) for rank in range(4)]
            self.assertEqual(one["bytes"], max(to_one))

    def test_reductions_in_two_phases_have_portions(self):
        found = self.sends([4], [1024, 1024], "P(sum)", "R")
        self.assertEqual({None}, {pair["indices"] and 1 for pair in found["sends"]})
        self.assertEqual(found["bytes"], sum(pair["bytes"] for pair in found["sends"] if pair["to"] == 0))
        self.assertIn("portions", plan("f32[1024,1024] P(sum) on mesh(4)", "R")[1])

    def test_large_meshes_are_summarized(self):
        code, out, err = plan("f32[4096,4096] S(0),R on mesh(128x128)", "R,R")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"sent to rank \d+, which receives most:\n")
        self.assertIn(".. 115 more", out)
        self.assertLess(len(out.splitlines()), 32)
        found = self.sends([128, 128], [4096, 4096], "S(0),R", "R,R")
        self.assertEqual(({found["sent_to"]}, 127), ({pair["to"] for pair in found["sends"]}, len(found["sends"])))

    def test_nothing_is_sent(self):
        self.assertIn("\nnothing is sent\n", plan("f32[8] R on mesh(2)", "S(0)")[1])


class Svg(unittest.TestCase):
    MOVES = [("2", "8,8", "S(0)", "S(1)"), ("2x2", "64,64", "S(0),S(1)", "S(1),S(0)"), ("4", "9,7", "P(sum)", "R"),
             ("2x4", "4096,4096", "S(0),R", "R,S(1)"), ("8x8", "100,70", "S(0),S(1)", "S(1),S(0)"),
             ("64", "128,128", "S(0)", "S(1)"), ("3x5", "10,7", "S(0)[1],S(0)[0]", "S(1),S(0)"), ("5", "3", "S(0)", "R"),
             ("2x2x2", "8,4,6", "S(0),S(2),P(avg)", "S(1),R,S(0)"), ("2", "[]", "P(sum)", "R"), ("2", "0,4", "S(0)", "R"),
             ("64x128", "1000,1000", "S(0),S(0)", "S(1),R"), ("7", "12", "S(0)", "S(0)"), ("3", "64", "_S(0,30)", "S(0)")]

    def draw(self, *arguments):
        code, out, err = plan(*arguments, "--svg", "-")
        self.assertEqual((code, err), (0, ""), arguments)
        return ElementTree.fromstring(out)

    def arrows(self, root):
        found = []
        for path in root.iter(SVG + "path"):
            title = path.find(SVG + "title")
            if title is not None:
                sender, receiver = re.match(r"(\d+) to (\d+): ", title.text).groups()
                ends = [float(number) for number in re.findall(r"[-\d.]+", path.get("d"))]
                found.append((int(sender), int(receiver), abs(ends[-1] - ends[1])))
        return found

    def test_texts_do_not_overlap_and_are_inside(self):
        for mesh, shape, source, target in self.MOVES:
            for planner in PLANNERS:
                root = self.draw(tool.tensor(mesh, shape, source), target, "--planner", planner)
                width, height = float(root.get("width")), float(root.get("height"))
                texts = []
                for text in root.iter(SVG + "text"):
                    size = {"title": 16, "small": 11}.get(text.get("class"), 12)
                    length = 0.62 * size * len(text.text)
                    left = float(text.get("x")) - (length / 2 if text.get("class") == "label" else 0)
                    texts.append((left, float(text.get("y")) - 0.75 * size, left + length, float(text.get("y")) + 0.2 * size,
                                  text.text))
                for i, a in enumerate(texts):
                    self.assertTrue(a[0] >= 0 and a[1] >= 0 and a[2] <= width and a[3] <= height, (mesh, planner, a))
                    for b in texts[i + 1:]:
                        is_apart = a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3]
                        self.assertTrue(is_apart, (mesh, source, target, planner, a, b))

    def test_widths_are_bytes(self):
        for mesh, shape, source, target in (("6", "10,9", "S(0)", "S(1)"), ("2x3", "12,10", "S(0),S(1)", "S(1),S(0)"),
                                            ("3x2", "7,5", "S(0),R", "R,S(1)")):
            options = {"mesh": [int(n) for n in mesh.split("x")], "shape": [int(n) for n in shape.split(",")]}
            before, after = ranges(options, source, target)
            root = self.draw(tool.tensor(mesh, shape, source), target, "--planner", "direct")
            arrows = self.arrows(root)
            bytes_of = {(a, b): len(before[a] & after[b]) for a, b, _ in arrows}
            unit = max(width for _, _, width in arrows) / max(bytes_of.values())
            for a, b, width in arrows:
                self.assertAlmostEqual(width, unit * bytes_of[a, b], delta=0.05)
            for b, target_elements in enumerate(after):  # nothing is missing, nothing is received twice
                self.assertEqual(len(target_elements - before[b]), sum(bytes_of[pair] for pair in bytes_of if pair[1] == b))

    def test_every_rank_has_a_box_in_every_column(self):
        root = self.draw("f32[64,64] S(0),S(1) on mesh(2x2)", "S(1),S(0)", "--planner", "greedy")
        boxes = [rect for rect in root.iter(SVG + "rect") if rect.get("class") == "box"]
        self.assertEqual((len(boxes), len({box.get("x") for box in boxes}), len({box.get("y") for box in boxes})), (16, 4, 4))

    def test_meshes_have_boxes_for_their_ranks(self):
        root = self.draw("f32[6,6] S(0) on mesh(2)", "S(1) on mesh([1,2,5])")
        boxes = [rect.get("y") for rect in root.iter(SVG + "rect") if rect.get("class") == "box"]
        self.assertEqual((len(boxes), len(set(boxes))), (5, 4))
        self.assertEqual({(0, 1), (0, 2), (1, 2), (0, 5), (1, 5)}, {(a, b) for a, b, _ in self.arrows(root)})

    def test_large_meshes_are_summarized(self):
        root = self.draw("f32[1024,1024] S(0),R on mesh(128x128)", "R,R", "--planner", "direct")
        self.assertEqual(12, len(self.arrows(root)))
        texts = [text.text for text in root.iter(SVG + "text")]
        self.assertIn("(115 senders not shown)", texts)
        self.assertTrue(any("of 16384 ranks" in text for text in texts))
        self.assertIn("receives 4.0 MiB", texts)  # 127 of 128 shards, also from senders that are not shown
        self.assertIn("gray: from other ranks", texts)
        root = self.draw("f32[640,64] S(0) on mesh(100)", "S(1),R on mesh(3x50)")
        texts = [text.text for text in root.iter(SVG + "text")]
        self.assertTrue(any(text.startswith("of 100 and 150 ranks") for text in texts))
        self.assertTrue(any("mesh(3x50)" in text for text in texts))  # not broken in two

    def test_blocks_have_the_colors_of_their_origins(self):
        root = self.draw("f32[8,8] S(0) on mesh(2)", "S(1)")
        self.assertNotIn("gray: from other ranks", [text.text for text in root.iter(SVG + "text")])
        boxes = sorted({float(rect.get("x")) for rect in root.iter(SVG + "rect") if rect.get("class") == "box"})
        pieces = [(float(rect.get("x")) > boxes[1], float(rect.get("y")), rect.get("fill")) for rect in root.iter(SVG + "rect")
                  if rect.get("class") in ("piece", "tiny")]
        held = [fill for after, _, fill in sorted(pieces) if not after]
        gray = "#e4e4e4"
        self.assertEqual(2, len(set(held)))
        self.assertEqual(set(held) | {gray}, {fill for after, _, fill in pieces if after})  # gray is drawn below

    def test_truncated_texts_are_well_formed(self):
        for name in ("\u00f6" * 120, "x" + "\u00f6" * 120):  # truncated in a character, or between two
            root = self.draw(tool.tensor(name + "=2,b=2", "4", "S(0),R"), "R,R")
            texts = [text.text for text in root.iter(SVG + "text")]
            self.assertTrue(any(text.startswith("over " + name[:5]) and text.endswith("..") for text in texts))

    def test_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "x.svg")
            arguments = ["f32[8] S(0) on mesh(2)", "R", "--svg"]
            self.assertEqual((0, "", ""), tool.run("plan", *arguments, path))
            with open(path, encoding="utf-8") as file:
                self.assertEqual(plan(*arguments, "-")[1], file.read())


if __name__ == "__main__":
    unittest.main()
