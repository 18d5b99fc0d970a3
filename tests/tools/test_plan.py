# SPDX-License-Identifier: Apache-2.0
"""`dtensor plan`: the same numbers as `query redistribute`, all planners side by side, large meshes, and refusals."""
import json
import re
import time
import unittest

import tool

MOVES = [
    (["--mesh", "2,4", "--shape", "4096,4096"], "S(0),R", "R,S(1)"),
    (["--mesh", "dp=2,tp=2", "--shape", "10,7", "--dtype", "f64"], "S(0)[1],S(0)[0]", "S(1),S(0)"),
    (["--mesh", "3", "--shape", "10"], "P(sum)", "S(0:3,5,2)"),
    (["--mesh", "2x2", "--shape", "[]"], "P(max),R", "R,R"),
    (["--mesh", "2x2", "--shape", "0,4"], "S(0),S(1)", "R,R"),
]


def plan(*arguments):
    code, out, err = tool.run("plan", *arguments)
    return code, out, err


class Plan(unittest.TestCase):
    def test_json_is_what_query_answers(self):
        for options, source, target in MOVES:
            given = dict(zip(options[::2], options[1::2]))
            mesh = [int(size.split("=")[-1]) for size in re.split("[,x]", given["--mesh"])]
            code, out, err = plan(*options, "--planner", "all", "--json", source, target)
            self.assertEqual((code, err), (0, ""), source)
            got = {one.pop("planner"): one for one in json.loads(out)["plans"]}
            self.assertEqual(list(got), ["greedy", "graph", "min_cost", "direct"])
            for planner, one in got.items():
                want = tool.ask({"q": "redistribute", "mesh": mesh, "dtype": given.get("--dtype", "f32"),
                                 "shape": json.loads(f"[{given['--shape'].strip('[]')}]"),
                                 "from": source, "to": target, "planner": planner})
                self.assertEqual([one], want)

    def test_steps_stand_with_bytes_and_bound(self):
        code, out, err = plan("--mesh", "dp=2,tp=2", "--shape", "64,64", "S(0),S(1)", "S(1),S(0)")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"all_to_all +dp,tp +S\(0\)S\(1\) +S\(1\)S\(0\) +4 KiB")
        self.assertIn("at most: 4 KiB; no plan needs less than 4 KiB", out)
        self.assertIn("held by one rank, at most: 8 KiB", out)

    def test_nothing_to_do_is_said(self):
        code, out, _ = plan("--mesh", "2", "--shape", "8", "S(0)", "S(0)")
        self.assertEqual(code, 0)
        self.assertIn("nothing to do", out)

    def test_planners_are_compared(self):
        code, out, _ = plan("--mesh", "2x2", "--shape", "64,64", "--planner", "all", "S(0),S(1)", "S(1),S(0)")
        self.assertEqual(code, 0)
        rows = {line.split()[0]: line.split() for line in out.splitlines() if line.startswith("  ")}
        self.assertEqual(rows["greedy"][-1], "S(0)S(1)->S(0)R->S(1)R->S(1)S(0)")
        self.assertEqual(rows["direct"][-1], "S(0)S(1)->S(1)S(0)")

    def test_sixteen_thousand_ranks_take_less_than_a_second(self):
        start = time.monotonic()
        code, _, err = plan("--mesh", "16x16x8x8", "--shape", "4096,4096,100", "--planner", "all",
                            "S(0),S(1),S(0),S(2)", "S(1),S(0),R,S(0)")
        self.assertEqual((code, err), (0, ""))
        self.assertLess(time.monotonic() - start, 1)

    def test_what_makes_no_sense_is_refused(self):
        for arguments, code, says in [
                (["S(0)", "R"], 2, "--mesh and --shape"),
                (["--mesh", "2", "--shape", "8", "S(0)"], 2, "from and to"),
                (["--mesh", "2", "--shape", "8", "--planner", "best", "S(0)", "R"], 2, "no planner 'best'"),
                (["--mesh", "2", "--shape", "8", "--dtype", "f31", "S(0)", "R"], 1, "no dtype 'f31'"),
                (["--mesh", "2", "--shape", "8,", "S(0)", "R"], 1, "is not a shape"),
                (["--mesh", "2,", "--shape", "8", "S(0)", "R"], 1, "mesh"),
                (["--mesh", "2", "--shape", "8", "R", "P(sum)"], 1, "can not redistribute R to P(sum)"),
                (["--mesh", "2x2", "--shape", "8", "P(sum),P(min)", "R,R"], 1, "P(sum),P(min)"),
                (["--mesh", "2x2", "--shape", "8", "S(0)", "R,R"], 1, "1 placement for a mesh of 2 dims"),
        ]:
            got, out, err = plan(*arguments)
            self.assertEqual((got, out), (code, ""), arguments)
            self.assertIn(says, err)


if __name__ == "__main__":
    unittest.main()
