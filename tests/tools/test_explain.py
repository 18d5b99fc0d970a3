# SPDX-License-Identifier: Apache-2.0
"""`dtensor explain`, `rules` and `ops`: the same answers as queries, candidates in order, and large meshes."""
import json
import unittest

import tool

MM = "mm(f32[64,32] S(0),P(sum); f32[32,48] R,S(1))"


def run(*arguments):
    code, out, err = tool.run(*arguments)
    assert (code, err) == (0, ""), (arguments, code, err)
    return out


class Explain(unittest.TestCase):
    def test_json_equals_the_answer_of_query(self):
        got = json.loads(run("explain", MM + " on mesh(2x4)", "--json", "--most", "3"))
        expected = tool.ask({"q": "propagate", "op": "mm", "mesh": [2, 4], "args": [{"t": 0}, {"t": 1}], "kwargs": {},
                             "tensors": [{"shape": [64, 32], "placements": "S(0),P(sum)"},
                                         {"shape": [32, 48], "placements": "R,S(1)"}]})
        self.assertEqual([got["candidates"][got["chosen"]]], expected)
        costs = [one["cost_us"] for one in got["candidates"]]
        self.assertEqual((3, sorted(costs)), (len(costs), costs))
        self.assertEqual(len(got["plans"]), 2)
        self.assertAlmostEqual(sum(one["cost_us"] for one in got["plans"]), costs[0], places=3)

    def test_text_marks_the_selected_row_and_lists_moves(self):
        out = run("explain", MM + " on mesh(dp=2,tp=4)")
        first = next(line for line in out.splitlines() if line.startswith("  *"))
        self.assertIn(tool.ask({"q": "propagate", "op": "mm", "mesh": [2, 4], "args": [{"t": 0}, {"t": 1}], "kwargs": {},
                                "tensors": [{"shape": [64, 32], "placements": "S(0),P(sum)"},
                                            {"shape": [32, 48], "placements": "R,S(1)"}]})
                      [0]["outputs"][0]["placements"], first)
        for word in ("mesh dim dp: ", "mesh dim tp: ", "input 0: ", "input 1: ", "selected because"):
            self.assertIn(word, out)

    def test_no_communication(self):
        out = run("explain", "gelu(f32[8,4] S(0)) on mesh(4)")
        self.assertIn("selected because it sends nothing", out)
        self.assertIn("input 0: stays", out)

    def test_partials_that_ranks_make_locally_are_listed(self):
        out = run("explain", "linear(f32[8,4] S(1); f32[6,4] S(1); f32[6] R) on mesh(4)")
        self.assertIn("input 2: stays, then each rank makes P(sum) of it locally", out)

    def test_large_mesh(self):
        out = run("explain", "matmul(f32[8192,4096] S(0),R,R; f32[4096,4096] R,R,S(1)) on mesh(pp=16,dp=128,tp=32)")
        self.assertIn("S(0),R,S(1)", out)

    def test_rules_equal_the_answer_of_query(self):
        got = json.loads(run("rules", "sum(f32[8,4]; dim=[1])", "--json"))
        expected = tool.ask({"q": "rules", "op": "sum", "tensors": [{"shape": [8, 4]}], "args": [{"t": 0}],
                             "kwargs": {"dim": [1]}})
        self.assertEqual([got], expected)
        self.assertEqual(run("rules", "sum(f32[8,4]; dim=[1])").splitlines(), got["rows"])

    def test_ops_are_listed(self):
        table = json.loads(run("ops", "--json"))
        names = [op["name"] for op in table]
        self.assertEqual(names, sorted(names))
        lines = run("ops").splitlines()
        self.assertEqual([line.split(None, 1) for line in lines], [[op["name"], op["summary"]] for op in table])
        for op in table:
            out = run("ops", op["name"])
            self.assertTrue(out.startswith(op["summary"] + "\n\n" + op["schema"].replace(" | ", "\n") + "\n"), op["name"])

    def test_ops_take_patterns(self):
        def names(*patterns):
            return [op["name"] for op in json.loads(run("ops", *patterns, "--json"))]
        everything = names()
        self.assertEqual(names("*mm"), ["addmm", "bmm", "mm"])
        self.assertEqual(names("mm"), ["mm"])  # a name is that op only
        self.assertEqual(names("norm"), ["layer_norm"])
        self.assertEqual(names("?um", "a*"), [name for name in everything if name[0] == "a" or name == "sum"])
        self.assertEqual(names("*"), everything)
        listed = run("ops", "*mm").splitlines()
        self.assertEqual([line.split()[0] for line in listed], names("*mm"))
        self.assertEqual(run("ops", "norm"), run("ops", "layer_norm"))
        out = run("ops", "*mm", "-v")
        self.assertIn("\n    bmm(Tensor self, Tensor mat2) -> Tensor\n", out)
        self.assertEqual(tool.run("ops", "no_such*")[0], 1)


if __name__ == "__main__":
    unittest.main()
