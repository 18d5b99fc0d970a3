# SPDX-License-Identifier: Apache-2.0
"""`dtensor mesh`: expected texts, bounded output for any size, JSON equal to the answer of `query mesh`."""
import json
import os
import unittest

import tool

# name of the file in expected/: arguments
PRINTED = {
    "mesh_named": ["dp=2,cp=2,tp=2", "--rank", "5", "--slice", "dp,tp", "--flatten", "dp,tp", "--slice", "cp"],
    "mesh_plain": ["2x3"],
    "mesh_list": ["dp,tp=[[7,3],[1,5]]", "--rank", "1", "--flatten", "dp,tp"],
    "mesh_vector": ["5"],
    "mesh_outside": ["4", "--rank", "9"],
    "mesh_large": ["pp=16,dp=128,tp=32", "--rank", "4321", "--slice", "dp,tp"],
}


def mesh(*arguments):
    code, out, err = tool.run("mesh", *arguments)
    if code or err:
        raise AssertionError(f"mesh {arguments} ended with {code}: {err}")
    return out


class Mesh(unittest.TestCase):
    maxDiff = None

    def test_expected_texts(self):
        for name, arguments in PRINTED.items():
            with self.subTest(name):
                with open(os.path.join(tool.HERE, "expected", name + ".txt"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), mesh(*arguments))

    def test_output_is_bounded(self):
        out = mesh("a=1000,b=1000,c=1000", "--rank", "999999999", "--slice", "a,b", "--flatten", "b,c", "--slice", "c")
        self.assertLess(len(out), 40000)
        self.assertIn("999999999", out)

    def test_no_color_in_pipes(self):
        self.assertNotIn("\033", mesh("2x3"))

    def test_json_equals_the_answer_of_query(self):
        request = {"q": "mesh", "world": 8, "rank": 5, "shape": [2, 2, 2], "names": ["dp", "cp", "tp"]}
        root, sliced, flat = tool.query(request, {**request, "do": [["slice", "dp", "tp"]]},
                                      {**request, "do": [["slice", "cp", "tp"], ["flatten"]]})
        printed = json.loads(mesh("dp=2,cp=2,tp=2", "--rank", "5", "--json", "--slice", "dp,tp", "--flatten", "cp,tp"))
        self.assertEqual({"text": "dp=2,cp=2,tp=2", "mesh": root,
                          "parts": [{"slice": "dp,tp", "mesh": sliced}, {"flatten": "cp,tp", "mesh": flat}]}, printed)

    def test_json_without_submeshes(self):
        self.assertEqual([], json.loads(mesh("2x2", "--json"))["parts"])


if __name__ == "__main__":
    unittest.main()
