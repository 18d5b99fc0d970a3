# SPDX-License-Identifier: Apache-2.0
"""`--machine FILE`: plan, explain and query predict by the model of the file; without it, by the built-in one."""
import json
import os
import pathlib
import tempfile
import unittest

import tool

# A host on which a gather of two ranks takes 3 us and 2500 bytes per us, and everything else is slow.
MODEL = """dtensor-machine 1
copy bytes_per_us=1000
within start_us=50 peer_us=10 bytes_per_us=100
measured all_gather group=2 ranks=2 start_us=3 bytes_per_us=2500
"""
GATHER = tool.tensor("2", "100,25", "S(0)")  # 10,000 bytes
REQUEST = {"q": "redistribute", "mesh": [2], "shape": [100, 25], "from": "S(0)", "to": "R", "planner": "min_cost"}


class Machine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "m.txt")
        pathlib.Path(self.path).write_text(MODEL)

    def cost(self, *arguments, **changes):
        code, out, err = tool.run("plan", *arguments, "--json", **changes)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)["plans"][0]["cost_us"]

    def test_plan_predicts_by_the_file(self):
        for planner in ("direct", "min_cost", "greedy", "graph"):
            arguments = (GATHER, "R", "--planner", planner)
            self.assertAlmostEqual(self.cost(*arguments, "--machine", self.path), 3 + 10000 / 2500, 6)
            self.assertNotAlmostEqual(self.cost(*arguments), 7, 1)
        self.assertIn("predicted time: 7 us\n", tool.run("plan", GATHER, "R", "--machine", self.path)[1])

    def test_a_step_that_is_not_measured_follows_the_links(self):
        self.assertAlmostEqual(self.cost(tool.tensor("2", "100,25", "P(sum)"), "S(0)", "--planner", "min_cost",
                                         "--machine", self.path), 50 + 10 + 5000 / 100 + 5000 / 1000, 6)

    def test_plans_follow_the_links_between_hosts(self):
        """Over a slow link, the ranks of a host bring half each of what all need; if it is slow to start, all bring all."""
        links = "dtensor-machine 1\nranks_per_host 2\ncopy bytes_per_us=10000\nwithin start_us=5 peer_us=0 bytes_per_us=10000\n"
        for start, rate, trace in ((5, 10, "S(0)R->S(0)S(1)->RS(1)->RR"), (5000, 10000, "S(0)R->RR")):
            pathlib.Path(self.path).write_text(f"{links}between start_us={start} peer_us=0 bytes_per_us={rate}\n")
            code, out, err = tool.run("plan", tool.tensor("2x2", "512,512", "S(0),R"), "R,R", "--planner", "min_cost",
                                      "--json", "--machine", self.path)
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(json.loads(out)["plans"][0]["trace"], trace)

    def test_query_answers_by_the_file(self):
        line = json.dumps(REQUEST).encode() + b"\n"
        code, out, err = tool.run("query", "--machine", self.path, stdin=line * 2)
        self.assertEqual((code, err), (0, ""))
        for answer in out.splitlines():
            self.assertAlmostEqual(json.loads(answer)["cost_us"], 7, 6)
        self.assertEqual(tool.query(REQUEST)[0]["cost_us"], self.cost(GATHER, "R", "--planner", "min_cost"))

    def test_explain_prices_by_the_file(self):
        call = "mm(f32[64,64] S(1); f32[64,64] R) on mesh(2)"
        code, out, err = tool.run("explain", call, "--json", "--machine", self.path)
        self.assertEqual((code, err), (0, ""))
        gathers = [one for one in json.loads(out)["candidates"] if one["inputs"] == ["R", "R"]]
        self.assertAlmostEqual(gathers[0]["cost_us"], 3 + 4 * 64 * 64 / 2500, 4)

    def test_the_environment_does_not_change_tools(self):
        self.assertEqual(self.cost(GATHER, "R", DTENSOR_MACHINE=self.path), self.cost(GATHER, "R"))
        self.assertEqual(self.cost(GATHER, "R", DTENSOR_MACHINE="/nowhere"), self.cost(GATHER, "R"))

    def test_a_malformed_file_is_an_error(self):
        pathlib.Path(self.path).write_text(MODEL.replace("group=2", "group=two"))
        for command in (["plan", GATHER, "R"], ["explain", "relu(f32[4] R) on mesh(2)"], ["query"]):
            fault = f'{self.path}:4: group: expected an integer from 1 to 1048576, got "two"'
            self.assertEqual(tool.run(*command, "--machine", self.path),
                             (2, "", f"dtensor {command[0]}: --machine: {fault} (see dtensor {command[0]} --help)\n"))
            code, out, err = tool.run(*command, "--machine", "/nowhere/m")
            self.assertEqual((code, out), (2, ""))
            self.assertIn("/nowhere/m: cannot open the file: No such file or directory", err)


if __name__ == "__main__":
    unittest.main()
