# SPDX-License-Identifier: Apache-2.0
"""`dtensor plan`: the same numbers as `query redistribute`, all planners side by side, large meshes, and refusals."""
import json
import os
import re
import tempfile
import unittest
from xml.etree import ElementTree

import tool

MOVES = [
    (["--mesh", "2,4", "--shape", "4096,4096"], "S(0),R", "R,S(1)"),
    (["--mesh", "dp=2,tp=2", "--shape", "10,7", "--dtype", "f64"], "S(0)[1],S(0)[0]", "S(1),S(0)"),
    (["--mesh", "3", "--shape", "10"], "P(sum)", "S(0:3,5,2)"),
    (["--mesh", "2x2", "--shape", "[]"], "P(max),R", "R,R"),
    (["--mesh", "2x2", "--shape", "0,4"], "S(0),S(1)", "R,R"),
]


def plan(*arguments):
    return tool.run("plan", *arguments)


# As the help lists them: "  --planner PLANNER   greedy, graph, ..., or all to compare them".
PLANNERS = re.search(r"--planner PLANNER +(.*), or all", plan("--help")[1])[1].split(", ")


SVG = "{http://www.w3.org/2000/svg}"


def ranges(options, source, target):
    """(held before, held after) of every rank: sets of elements, from `dtensor query shard`."""
    sides = tool.ask(*({"q": "shard", "mesh": options["mesh"], "shape": options["shape"], "placements": placements}
                       for placements in (source, target)))
    for side in sides:
        held = []
        for local in side["local"]:
            dims = [[i for begin, end in dim for i in range(begin, end)] for dim in local["runs"]]
            held.append({(i, j) for i in dims[0] for j in dims[1]})
        yield held


class Plan(unittest.TestCase):
    def test_json_equals_the_answer_of_query(self):
        for options, source, target in MOVES:
            values = dict(zip(options[::2], options[1::2]))
            mesh = [int(size.split("=")[-1]) for size in re.split("[,x]", values["--mesh"])]
            code, out, err = plan(*options, "--planner", "all", "--json", source, target)
            self.assertEqual((code, err), (0, ""), source)
            got = {one.pop("planner"): one for one in json.loads(out)["plans"]}
            self.assertEqual(list(got), PLANNERS)
            for planner, one in got.items():
                expected = tool.ask({"q": "redistribute", "mesh": mesh, "dtype": values.get("--dtype", "f32"),
                                     "shape": json.loads(f"[{values['--shape'].strip('[]')}]"),
                                     "from": source, "to": target, "planner": planner})
                self.assertEqual([one], expected)

    def test_specs_are_printed_in_full(self):
        extents = ",".join(["10"] * 198 + ["0", "20"])
        code, out, _ = plan("--mesh", "200", "--shape", "2000,9", "--json", f"S(0:{extents})", "S(1)")
        self.assertEqual((0, f"f32[2000,9] S(0:{extents}) on mesh(200)"), (code, json.loads(out)["from"]))

    def test_steps_have_bytes_and_the_lower_bound(self):
        code, out, err = plan("--mesh", "dp=2,tp=2", "--shape", "64,64", "S(0),S(1)", "S(1),S(0)")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"all_to_all +dp,tp +S\(0\)S\(1\) +S\(1\)S\(0\) +4 KiB")
        self.assertIn("at most: 4 KiB (lower bound of any plan: 4 KiB)", out)
        self.assertIn("held by one rank, at most: 8 KiB", out)

    def test_a_plan_without_steps(self):
        code, out, _ = plan("--mesh", "2", "--shape", "8", "S(0)", "S(0)")
        self.assertEqual(code, 0)
        self.assertIn("nothing to do", out)

    def test_planners_are_compared(self):
        code, out, _ = plan("--mesh", "2x2", "--shape", "64,64", "--planner", "all", "S(0),S(1)", "S(1),S(0)")
        self.assertEqual(code, 0)
        rows = {line.split()[0]: line.split() for line in out.splitlines() if line.startswith("  ")}
        self.assertEqual(rows["greedy"][-1], "S(0)S(1)->S(0)R->S(1)R->S(1)S(0)")
        self.assertEqual(rows["direct"][-1], "S(0)S(1)->S(1)S(0)")

    def test_sixteen_thousand_ranks_are_planned(self):
        for mesh, source, target in (("16x16x8x8", "S(0),S(1),S(0),S(2)", "S(1),S(0),R,S(0)"),
                                     ("128x128", "P(sum),S(0)", "R,S(1)"), ("16384", "S(0)", "S(1)"),
                                     ("16x32x32", "P(sum),S(1),S(0)", "S(1),R,S(0)")):
            code, out, err = plan("--mesh", mesh, "--shape", "4096,4096,100", "--planner", "all", source, target)
            self.assertEqual((code, err), (0, ""))
            self.assertEqual([line.split()[0] for line in out.splitlines() if line.startswith("  ")],
                             ["planner", *PLANNERS])

    def test_wrong_requests_are_refused(self):
        for arguments, code, message in [
                (["S(0)", "R"], 2, "--mesh and --shape"),
                (["--mesh", "2", "--shape", "8", "S(0)"], 2, "from and to"),
                (["--mesh", "2", "--shape", "8", "--planner", "best", "S(0)", "R"], 2, "or all, got 'best'"),
                (["--mesh", "2", "--shape", "8", "--dtype", "f31", "S(0)", "R"], 1, "got 'f31'"),
                (["--mesh", "2", "--shape", "8,", "S(0)", "R"], 1, "got '8,'"),
                (["--mesh", "2,", "--shape", "8", "S(0)", "R"], 1, "mesh"),
                (["--mesh", "2", "--shape", "8", "R", "P(sum)"], 1, "can not redistribute R to P(sum)"),
                (["--mesh", "2x2", "--shape", "8", "P(sum),P(min)", "R,R"], 1, "P(sum),P(min)"),
                (["--mesh", "2x2", "--shape", "8", "S(0)", "R,R"], 1, "wrong number: expected 2, one per mesh dim, got 1"),
                (["--mesh", "2", "--to-mesh", "3", "--shape", "8", "S(0)", "P(sum)"], 1, "may not be partial"),
                (["--mesh", "2", "--to-mesh", "3,", "--shape", "8", "S(0)", "R"], 1, "mesh"),
                (["--mesh", "2", "--to-mesh", "3", "--planner", "graph", "--shape", "8", "S(0)", "R"], 1,
                 "planner graph: the meshes differ; direct can do it"),
                (["--mesh", "2", "--shape", "8", "--svg", "-", "--json", "S(0)", "R"], 2, "--svg draws one plan"),
                (["--mesh", "2", "--shape", "8", "--svg", "-", "--planner", "all", "S(0)", "R"], 2, "one plan"),
                (["--mesh", "2000000000", "--shape", "2000000000,2", "--planner", "all", "S(0)", "S(1)"], 1, "16777216 ranks"),
        ]:
            got, out, err = plan(*arguments)
            self.assertEqual((got, out), (code, ""), arguments)
            self.assertIn(message, err)

    def test_planners_that_refuse_are_listed(self):
        arguments = ["--mesh", "4", "--to-mesh", "2x3", "--shape", "12,6", "--planner", "all", "S(0)", "R,S(1)"]
        code, out, err = plan(*arguments)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("planner min_cost: the meshes differ; direct can do it", out)
        plans = {one["planner"]: one for one in json.loads(plan(*arguments, "--json")[1])["plans"]}
        self.assertIn("the meshes differ", plans["greedy"]["refused"])
        # ranks 0 to 3 hold 3 rows each, all six get 2 columns: 12 x 2, of which ranks 4 and 5 have nothing
        self.assertEqual((plans["direct"]["bytes"], plans["direct"]["lower_bound_bytes"]), (96, 96))
        self.assertEqual((plans["direct"]["peak_bytes"], plans["direct"]["trace"]), (4 * (18 + 24), "S(0)->RS(1)"))

    def test_another_mesh_uses_the_direct_planner(self):
        code, out, err = plan("--mesh", "2", "--to-mesh", "[2,3]", "--shape", "8", "S(0)", "S(0)")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("direct: 1 step, 1 collective", out)
        self.assertIn("on mesh([2,3])", out.splitlines()[0])


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
                root = self.draw("--mesh", mesh, "--shape", shape, "--planner", planner, source, target)
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
                        apart = a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3]
                        self.assertTrue(apart, (mesh, source, target, planner, a, b))

    def test_widths_are_bytes(self):
        for mesh, shape, source, target in (("6", "10,9", "S(0)", "S(1)"), ("2x3", "12,10", "S(0),S(1)", "S(1),S(0)"),
                                            ("3x2", "7,5", "S(0),R", "R,S(1)")):
            options = {"mesh": [int(n) for n in mesh.split("x")], "shape": [int(n) for n in shape.split(",")]}
            before, after = ranges(options, source, target)
            root = self.draw("--mesh", mesh, "--shape", shape, "--planner", "direct", source, target)
            arrows = self.arrows(root)
            bytes_of = {(a, b): len(before[a] & after[b]) for a, b, _ in arrows}
            unit = max(width for _, _, width in arrows) / max(bytes_of.values())
            for a, b, width in arrows:
                self.assertAlmostEqual(width, unit * bytes_of[a, b], delta=0.05)
            for b, target_elements in enumerate(after):  # nothing is missing, nothing is received twice
                self.assertEqual(len(target_elements - before[b]), sum(bytes_of[pair] for pair in bytes_of if pair[1] == b))

    def test_every_rank_has_a_box_in_every_column(self):
        root = self.draw("--mesh", "2x2", "--shape", "64,64", "--planner", "greedy", "S(0),S(1)", "S(1),S(0)")
        boxes = [rect for rect in root.iter(SVG + "rect") if rect.get("class") == "box"]
        self.assertEqual((len(boxes), len({box.get("x") for box in boxes}), len({box.get("y") for box in boxes})), (16, 4, 4))

    def test_meshes_have_boxes_where_they_have_ranks(self):
        root = self.draw("--mesh", "2", "--to-mesh", "[1,2,5]", "--shape", "6,6", "S(0)", "S(1)")
        boxes = [rect.get("y") for rect in root.iter(SVG + "rect") if rect.get("class") == "box"]
        self.assertEqual((len(boxes), len(set(boxes))), (5, 4))
        self.assertEqual({(0, 1), (0, 2), (1, 2), (0, 5), (1, 5)}, {(a, b) for a, b, _ in self.arrows(root)})

    def test_large_meshes_are_summarised(self):
        root = self.draw("--mesh", "128x128", "--shape", "1024,1024", "--planner", "direct", "S(0),R", "R,R")
        self.assertEqual(12, len(self.arrows(root)))
        texts = [text.text for text in root.iter(SVG + "text")]
        self.assertIn("(115 senders not shown)", texts)
        self.assertTrue(any("of 16384 ranks" in text for text in texts))
        self.assertIn("receives 4.0 MiB", texts)  # 127 of 128 shards, also from senders that are not shown
        self.assertIn("grey: from other ranks", texts)
        root = self.draw("--mesh", "100", "--to-mesh", "3x50", "--shape", "640,64", "S(0)", "S(1),R")
        texts = [text.text for text in root.iter(SVG + "text")]
        self.assertTrue(any(text.startswith("of 100 and 150 ranks") for text in texts))
        self.assertTrue(any("mesh(3x50)" in text for text in texts))  # not broken in two

    def test_blocks_have_the_colours_of_their_origins(self):
        root = self.draw("--mesh", "2", "--shape", "8,8", "S(0)", "S(1)")
        self.assertNotIn("grey: from other ranks", [text.text for text in root.iter(SVG + "text")])
        boxes = sorted({float(rect.get("x")) for rect in root.iter(SVG + "rect") if rect.get("class") == "box"})
        pieces = [(float(rect.get("x")) > boxes[1], float(rect.get("y")), rect.get("fill")) for rect in root.iter(SVG + "rect")
                  if rect.get("class") in ("piece", "tiny")]
        held = [fill for after, _, fill in sorted(pieces) if not after]
        grey = "#e4e4e4"
        self.assertEqual(2, len(set(held)))
        self.assertEqual(set(held) | {grey}, {fill for after, _, fill in pieces if after})  # grey is drawn below

    def test_texts_that_are_cut_are_well_formed(self):
        for name in ("\u00f6" * 120, "x" + "\u00f6" * 120):  # cut in a character, or between two
            root = self.draw("--mesh", name + "=2,b=2", "--shape", "4", "S(0),R", "R,R")
            texts = [text.text for text in root.iter(SVG + "text")]
            self.assertTrue(any(text.startswith("over " + name[:5]) and text.endswith("..") for text in texts))

    def test_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "x.svg")
            arguments = ["--mesh", "2", "--shape", "8", "S(0)", "R", "--svg"]
            self.assertEqual((0, "", ""), tool.run("plan", *arguments, path))
            with open(path, encoding="utf-8") as file:
                self.assertEqual(plan(*arguments, "-")[1], file.read())


if __name__ == "__main__":
    unittest.main()
