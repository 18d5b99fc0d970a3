# SPDX-License-Identifier: Apache-2.0
"""`dtensor params`: the table of a model on meshes that do not exist here, JSON, and errors of both files."""
import json
import os
import tempfile
import unittest

import tool

RULES = """*.attn.w[qkv].*  tp=S(0)*64   # heads
*.attn.wo.weight tp=row
*.fc1.*          tp=col
*.fc2.weight     tp=row
tok.weight       tp=vocab
*.bias           decay=0
*                fsdp=free use=bf16 grad=f32
"""
SHAPES = """tok.weight f32[50257,768]
h.{0..1}.part.{0..2}.scale []
h.{0..11}.attn.wq.weight [768,768]
h.{0..11}.attn.wq.bias [768]
h.{0..11}.attn.wo.weight [768,768]
h.{0..11}.fc1.weight [3072,768]
h.{0..11}.fc2.weight [768,3072]
"""


class Params(unittest.TestCase):
    maxDiff = None

    def run_with(self, rules, shapes, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("rules", "shapes")]
            for path, text in zip(paths, (rules, shapes)):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return tool.run("params", paths[0], "--shapes", paths[1], *arguments)

    def test_expected_text(self):
        code, out, err = self.run_with(RULES, SHAPES, "--mesh", "fsdp=64,tp=8")
        self.assertEqual((0, ""), (code, err))
        with open(os.path.join(tool.HERE, "expected", "params_gpt.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), out)

    def test_json(self):
        code, out, err = self.run_with("* tp=S(0)*2 decay=0.5", "a.weight f64[6,4]\nb [4]", "--mesh", "dp=2,tp=*",
                                     "--ranks", "4", "--json")
        self.assertEqual((0, ""), (code, err))
        answer = json.loads(out)
        self.assertEqual(("dp=2,tp=2", 4 * 4 * 8 + 2 * 4), (answer["mesh"], answer["bytes"]))
        self.assertEqual({"name": "a.weight", "shape": [6, 4], "dtype": "f64", "placed": "tp=S(0:4,2)", "used": None,
                          "use_dtype": None, "bytes": 128, "decay": 0.5, "lr": 1, "frozen": False}, answer["params"][0])

    def test_million_ranks(self):
        code, out, err = self.run_with("* fsdp=free", "w [4194304,8]", "--mesh", "fsdp=1048576")
        self.assertEqual((0, ""), (code, err))
        self.assertIn("fsdp=S(0)", out)

    def test_errors(self):
        for rules, shapes, part in (
                ("* tpp=col", "w [4]", "did you mean tp?"),
                ("*.wq tp=col", "w [4]", "matches none of the 1 parameters"),
                ("* tp=", "w [4]", "rules: line 1: column 6"),
                ("* tp=col", "w [4", "shapes: line 1"),
                ("* tp=col", "ok [4]\nw f33[4]", "shapes: line 2"),
                ("* tp=col", "w{1..} [4]", "expected a range"),
                ("* tp=col", "", "expected a parameter, got none"),
                ("* tp=S(1)", "w [4]", "placement")):
            with self.subTest(rules=rules, shapes=shapes):
                code, out, err = self.run_with(rules, shapes, "--mesh", "tp=2")
                self.assertEqual((1, ""), (code, out))
                self.assertIn(part, err)
        self.assertEqual(2, tool.run("params", "x")[0])
        self.assertIn("No such file", tool.run("params", "/nowhere", "--shapes", "x", "--mesh", "2")[2])


if __name__ == "__main__":
    unittest.main()
