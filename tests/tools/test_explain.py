# SPDX-License-Identifier: Apache-2.0
"""`dtensor explain`, `rules` and `ops`: the same answers as from queries, the order of candidates, and large meshes."""
import json
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

    def test_a_decomposition_that_is_selected_is_marked(self):
        call = "cross_entropy(f32[2097152,32000] S(0),S(0),{}; i64[2097152] S(0),S(0),R) on mesh(dp=8,fsdp=64,tp=8)"
        out = run_tool("explain", call.format("S(1)"))
        self.assertRegex(out, r"(?m)^\* decomposition -> P\(sum\),P\(sum\),R  [\d.]+ us$")
        self.assertIn("\nthe decomposition is selected because the best of these rows takes ", out)
        self.assertNotRegex(out, r"(?m)^  \*  |^input 1: |^selected because")
        got = json.loads(run_tool("explain", call.format("S(1)"), "--json"))
        self.assertEqual((None, []), (got["chosen"], got["plans"]))
        self.assertTrue(got["decomposition"].startswith("* decomposition -> P(sum),P(sum),R  "), got["decomposition"])
        code, out, err = tool.run("explain", call.format("S(1)").replace("8,fsdp=64,tp=8", "2,fsdp=2,tp=2"), "--svg", "-")
        self.assertEqual((1, ""), (code, out))
        self.assertIn("cross_entropy: the decomposition is selected, whose ops are not drawn", err)
        out = run_tool("explain", "cross_entropy(f32[4096,600] S(1); i64[4096] R) on mesh(2)")  # as cheap as the kernel
        self.assertRegex(out, r"(?m)^decomposition -> R  [\d.]+ us$")
        self.assertRegex(out, r"(?m)^  \*  S\(1\); R +R +all_gather 1 \(meets\)")

    def test_a_decomposition_shows_what_its_ops_move(self):
        out = run_tool("explain", "linalg_cholesky(f64[6,6] S(0),S(1)) on mesh(p=2,q=2)")
        self.assertIn("decomposition -> R,R  ", out)
        self.assertIn("\n  linalg_cholesky_ex: moves argument 1, f64[6,6] S(0),S(1) on mesh(p=2,q=2), to R,R: all_gather 1\n", out)
        out = run_tool("explain", "normalize(f32[8,6] S(1); 2.0; 1) on mesh(2)")
        self.assertRegex(out, r"(?m)^  \w+: merges the states of 2 ranks, because .*: all_\w+ 1 \(meets\)$")
        out = run_tool("explain", "linalg_inv(f64[7,6,6] S(0)) on mesh(3)")
        self.assertEqual(["decomposition -> S(0)  0 us"], out.splitlines()[2:])

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


if __name__ == "__main__":
    unittest.main()
