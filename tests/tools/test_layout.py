# SPDX-License-Identifier: Apache-2.0
"""`dtensor layout`: expected texts, bounded output, values against the definition, JSON, and a cell of the SVG drawing for each
offset."""
import itertools
import json
import os
import re
import unittest
import xml.etree.ElementTree as ElementTree

import tool

SVG = "{http://www.w3.org/2000/svg}"

# name of the file in expected/: arguments
PRINTED = {
    "layout_composition": ["composition((4,2):(1,4), (2,4))"],
    "layout_tables": ["(2,3,4):(1,2,6)"],
    "layout_large": ["(1000,1000,40):(1,1000,1000000)"],
    "layout_complement": ["complement((2,2):(4,1), size((4,6)))"],
    "layout_coordinate": ["idx2crd((4,(2,2)):(8,(1,4)), 13)"],
}
# Wrong expressions, and a part of their errors.
REFUSED = {
    "coalesc((2,3))": "did you mean coalesce?",
    "coalesce((2,3)": "column 15: expected ')' after the operands",
    "coalesce((2,3), 4)": "column 15: expected ')'",
    "complement((2,3))": "column 17: expected ',' before the second operand",
    "complement((2,3), (1,2))": "column 19: expected a number",
    "crd2idx((2,3), 2:1)": "column 16: expected a number or a tuple",
    "(3,2):(2,3": "column 11: expected ',' or ')'",
    "8:1 x": "column 5: expected the end",
    "(2,3) x": "column 7: expected ':' or the end",
    "size 4": "column 6: expected '('",
    "": "column 1: expected a number or '('",
    "left_inverse((3,2):(2,3))": "modes overlap",
    "size(" * 70 + "2" + ")" * 70: "operations nest too deep",
}


def layout(*arguments):
    code, out, err = tool.run("layout", *arguments)
    if code or err:
        raise AssertionError(f"layout {arguments} ended with {code}: {err}")
    return out


def integers(nested):
    return [nested] if isinstance(nested, int) else [value for item in nested for value in integers(item)]


def values(answer):
    """The offsets of a layout by its definition."""
    shape, stride = integers(answer["shape"]), integers(answer["stride"])
    return [sum(i * step for i, step in zip(at, stride)) for at in itertools.product(*map(range, shape))]


class Layout(unittest.TestCase):
    maxDiff = None

    def test_expected_texts(self):
        for name, arguments in PRINTED.items():
            with self.subTest(name), open(os.path.join(tool.HERE, "expected", name + ".txt"), encoding="utf-8") as file:
                self.assertEqual(file.read(), layout(*arguments))

    def test_json_has_the_values(self):
        for text in ("(2,(2,3)):(6,(1,2))", "5", "()", "composition((4,2):(1,4), (2,4))", "left_inverse((4,6):(2,8))"):
            answer = json.loads(layout(text, "--json"))
            self.assertEqual(values(answer), answer["values"], text)
            self.assertEqual((len(answer["values"]), max(answer["values"]) + 1), (answer["size"], answer["cosize"]))
            self.assertEqual(len(set(answer["values"])) == answer["size"], answer["injective"])
            self.assertEqual(answer, json.loads(layout(answer["text"], "--json")))

    def test_json_of_large_layouts_and_numbers(self):
        self.assertIsNone(json.loads(layout("(1000,1000)", "--json"))["values"])
        self.assertEqual({"text": "(1,(1,1))", "value": [1, [1, 1]]},
                         json.loads(layout(*PRINTED["layout_coordinate"], "--json")))

    def test_operations_are_those_of_query(self):
        a, b = {"shape": [4, 6], "stride": [2, 8]}, {"shape": [2, 3], "stride": [1, 4]}
        for name, operand, field in (("coalesce", "", {}), ("flatten", "", {}), ("complement", ", 96", {"size": 96}),
                                     ("composition", ", (2,3):(1,4)", {"b": b}), ("right_inverse", "", {}),
                                     ("left_inverse", "", {}), ("size", "", {}), ("cosize", "", {}),
                                     ("crd2idx", ", (1,2)", {"coord": [1, 2]}), ("idx2crd", ", 18", {"index": 18})):
            answer = tool.query({"q": "layout", "do": name, "a": a, **field})[0]
            code, out, err = tool.run("layout", f"{name}((4,6):(2,8){operand})", "--json")
            if "error" in answer:
                self.assertIn(answer["error"]["message"], err)
                continue
            self.assertEqual((0, ""), (code, err), name)
            printed = json.loads(out)
            self.assertEqual(answer, {key: printed[key] for key in answer})
            self.assertIn(f"  {name}(A", tool.run("layout", "--help")[1])

    def test_errors_point_at_the_column(self):
        for text, part in REFUSED.items():
            code, out, err = tool.run("layout", text)
            self.assertEqual((1, ""), (code, out), text)
            self.assertIn(part, err)
            self.assertTrue(err.startswith("dtensor layout: value: "), err)

    def test_svg_has_a_cell_per_offset(self):
        for text in ("(4,(2,2)):(8,(1,4))", "(2,3,4):(1,2,6)", "7:3", "1"):
            root = ElementTree.fromstring(layout(text, "--svg", "-"))
            labels = [int(item.text) for item in root.iter(SVG + "text") if item.get("class") == "label"]
            cells = {(rect.get("x"), rect.get("y")) for rect in root.iter(SVG + "rect") if rect.get("class") == "block"}
            self.assertEqual(json.loads(layout(text, "--json"))["values"], labels)
            self.assertEqual(len(labels), len(cells))
            width, height = int(root.get("width")), int(root.get("height"))
            for rect in root.iter(SVG + "rect"):
                self.assertLessEqual(int(rect.get("x") or 0) + int(rect.get("width")), width)
                self.assertLessEqual(int(rect.get("y") or 0) + int(rect.get("height")), height)

    def test_svg_is_bounded(self):
        code, _, err = tool.run("layout", "(65,64)", "--svg", "-")
        self.assertEqual(1, code)
        self.assertIn("expected at most 4096 cells, got 4160", err)
        self.assertEqual(1, tool.run("layout", "size(4)", "--svg", "-")[0])

    def test_output_is_bounded(self):
        self.assertLess(len(layout(",".join(["(9", "9", "9", "9", "9", "9)"]))), 20000)
        self.assertRegex(layout("(4,2)"), re.compile(r"^\(4,2\):\(2,1\)\nsize 8, ", re.M))


if __name__ == "__main__":
    unittest.main()
