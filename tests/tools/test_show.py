# SPDX-License-Identifier: Apache-2.0
"""`dtensor show`: expected pictures, and properties of all pictures: blocks tile the tensor, labels are inside and do not
overlap, and the picture agrees with `query shard`.

A shard is shown with all ranks that hold it (VIZ-003), uneven and strided shards with all of their ranges (VIZ-004, which
shows the first one only)."""
import json
import os
import pty
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import tool

SVG = "{http://www.w3.org/2000/svg}"

# name of the file in expected/: arguments
PICTURES = {
    "shard_and_replicate": ["f32[1024,512] S(0),R on mesh(dp=2,tp=4)"],
    "uneven_and_empty": ["f32[10,7] S(0),S(1) on mesh(3x5)"],
    "vector": ["f32[10] S(0),S(0) on mesh(2x4)"],
    "partial": ["f32[64,64] P(sum),S(0),R on mesh(dp=2,cp=2,tp=2)"],
    "strided": ["f32[12,8] _S(0,2),_S(1,2) on mesh(dp=2,tp=3)"],
    "order": ["f32[8,8] S(0)[1],S(0)[0] on mesh(dp=2,tp=2)"],
    "slices": ["f32[4,4,4] S(0),S(1),S(2) on mesh(2x2x2)"],
    "scalar": ["f32[] R,P(max) on mesh(dp=2,tp=2)"],
    "no_elements": ["f32[0,4] S(0),R on mesh(2x2)"],
    "four_dims": ["f32[4,2,2,5] S(0),S(3) on mesh(2x3)"],
    "extents": ["f32[10,4] S(0:3,5,2) on mesh(3)"],
    "many_ranks": ["f32[1000000,16] S(0),R on mesh(dp=1000,tp=1000)"],
    "some_ranks": ["f32[64,64] S(0),P(sum) on mesh(8x16)"],
    "sixty_four_rows": ["f32[640,10] S(0),S(0) on mesh(8x8)"],
    "rank": ["f64[16,4] _S(0,4),R on mesh(dp=2,tp=4)", "--rank", "5"],
    "ranks_of_the_mesh": ["f32[4] S(0),R on mesh([[7,3],[1,5]])"],
}

# For properties of all pictures: meshes up to 64 ranks, uneven sizes, sizes below the number of ranks.
MESHES = ["1", "2x2", "2x4", "3x5", "8x8", "2x2x2", "64"]
TENSORS = [("10", 1), ("100000", 1), ("3", 1), ("7,5", 2), ("1024,512", 2), ("4096,3", 2), ("2,1000000", 2), ("6,8,10", 3),
           ("5,3,7", 3)]


def matrix():
    """Arguments with different placements on every mesh and tensor."""
    for mesh in MESHES:
        n = mesh.count("x") + 1
        for shape, n_dims in TENSORS:
            for first in ("S(0)", "R", "P(sum)", f"S({n_dims - 1})", "_S(0,2)"):
                placements = ",".join([first] + [f"S({i % n_dims})" for i in range(1, n)])
                yield [tool.tensor(mesh, shape, placements)]


def show(*arguments, **changes):
    code, out, err = tool.run("show", *arguments, **changes)
    if code or err:
        raise AssertionError(f"show {arguments} ended with {code}: {err}")
    return out


class Text(unittest.TestCase):
    maxDiff = None

    def test_expected_pictures(self):
        for name, arguments in PICTURES.items():
            with self.subTest(name):
                with open(os.path.join(tool.HERE, "expected", name + ".txt"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), show(*arguments))

    def test_lines_fit_into_the_width(self):
        for arguments in list(matrix())[::5]:
            for width in (40, 80, 200):
                picture = show(*arguments, "--width", str(width)).split("\n\n")[2]
                longest = max(picture.splitlines(), key=len)
                if "│" in picture and len(re.findall("│", longest)) > 2:
                    self.assertLessEqual(len(longest), width, (arguments, longest))

    def test_columns_is_the_width_of_a_pipe(self):
        wide = ["f32[10] S(0),S(0) on mesh(2x4)"]
        self.assertEqual(show(*wide, "--width", "100"), show(*wide, COLUMNS="100"))
        self.assertEqual(show(*wide, "--width", "80"), show(*wide, COLUMNS="nonsense"))

    def test_ascii_in_the_c_locale(self):
        arguments = PICTURES["uneven_and_empty"]
        plain = show(*arguments, LC_ALL="C")
        self.assertTrue(plain.isascii())
        self.assertEqual(plain, show(*arguments, "--ascii"))
        box = dict.fromkeys("┌┬┐├┼┤└┴┘", "+") | {"─": "-", "│": "|"}
        self.assertEqual(plain, show(*arguments).translate(str.maketrans(box)))

    def test_blocks_are_to_scale(self):
        out = show("f32[100] S(0:10,60,30) on mesh(3)", "--width", "100")
        line = next(line for line in out.splitlines() if "┬" in line)
        widths = [len(block) for block in line.strip(" ┌┐").split("┬")]
        for width, share in zip(widths, (0.1, 0.6, 0.3)):
            self.assertAlmostEqual(width / sum(widths), share, delta=0.02)

    def test_a_star_is_the_remaining_size(self):
        self.assertEqual(show(*PICTURES["shard_and_replicate"]),
                         show("f32[1024,512] S(0),R on mesh(dp=2,tp=*)", "--ranks", "8"))


def on_terminal(*arguments, **changes):
    """The output of the command on a terminal of 80 columns."""
    terminal, child_end = pty.openpty()
    child = subprocess.Popen([tool.DTENSOR, *arguments], stdout=child_end, env=tool.environment(**changes))
    os.close(child_end)
    out = b""
    try:
        while chunk := os.read(terminal, 4096):
            out += chunk
    except OSError:
        pass  # the other end is closed
    os.close(terminal)
    child.wait(timeout=20)
    return out.decode().replace("\r\n", "\n")


class Color(unittest.TestCase):
    arguments = ["show", *PICTURES["uneven_and_empty"]]

    def plain(self, text):
        return re.sub(r"\033\[[0-9;]*m", "", text)

    def test_only_on_a_terminal(self):
        piped = tool.run(*self.arguments)[1]
        colored = on_terminal(*self.arguments)
        self.assertNotIn("\033", piped)
        self.assertIn("\033[", colored)
        self.assertEqual(piped, self.plain(colored))

    def test_explicit_color(self):
        self.assertIn("\033[", tool.run(*self.arguments, "--color=always", NO_COLOR="1")[1])
        self.assertNotIn("\033", on_terminal(*self.arguments, "--color=never"))

    def test_no_color_and_dumb_terminals_are_honored(self):
        self.assertNotIn("\033", on_terminal(*self.arguments, NO_COLOR="1"))
        self.assertIn("\033", on_terminal(*self.arguments, NO_COLOR=""))
        self.assertNotIn("\033", on_terminal(*self.arguments, TERM="dumb"))

    def test_every_line_ends_without_color(self):
        for line in tool.run(*self.arguments, "--color=always")[1].splitlines():
            if "\033" in line:
                self.assertTrue(line.rindex("\033[0m") == line.rindex("\033["), line)


class Json(unittest.TestCase):
    def test_json_equals_the_answer_of_query(self):
        selected = list(matrix())[::4]
        fields = [re.match(r"f32\[(.*?)\] (\S+) on mesh\((.*)\)", text).groups() for text, in selected]
        answers = tool.query(*({"q": "shard", "mesh": [int(n) for n in mesh.split("x")],
                              "shape": [int(n) for n in shape.split(",")], "placements": placements}
                             for shape, placements, mesh in fields))
        for arguments, answer in zip(selected, answers):
            shown = json.loads(show(*arguments, "--json"))
            self.assertEqual(answer["local"], shown["local"])
            self.assertEqual(arguments[0], shown["spec"])

    def test_one_rank(self):
        all_ranks = json.loads(show("f32[16,4] S(0),S(1) on mesh(2x4)", "--json"))
        one = json.loads(show("f32[16,4] S(0),S(1) on mesh(2x4)", "--json", "--rank", "6"))
        self.assertEqual([all_ranks["local"][6]], one["local"])
        self.assertEqual((256, 32), (one["bytes"], one["max_bytes"]))

    def test_ranks_of_the_mesh(self):
        shown = json.loads(show("f32[4] S(0),R on mesh([[7,3],[1,5]])", "--json"))
        self.assertEqual([7, 3, 1, 5], [local["rank"] for local in shown["local"]])


def boxes(root):
    """Texts of a document as (x0, y0, x1, y1, text), with generous estimates of their extent."""
    sizes = {"title": 16, "index": 11, "index end": 11}
    for text in root.iter(SVG + "text"):
        size = sizes.get(text.get("class"), 12)
        width = 0.62 * size * len(text.text)
        x, y = float(text.get("x")), float(text.get("y"))
        anchor = {"label": 0.5, "index": 0.5, "index end": 1}.get(text.get("class"), 0)
        yield x - anchor * width, y - 0.75 * size, x + (1 - anchor) * width, y + 0.2 * size, text


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


class Svg(unittest.TestCase):
    def check_picture(self, arguments):
        root = ElementTree.fromstring(show(*arguments, "--svg", "-"))
        width, height = float(root.get("width")), float(root.get("height"))
        texts = list(boxes(root))
        blocks = [[float(rect.get(name)) for name in ("x", "y", "width", "height")]
                  for rect in root.iter(SVG + "rect") if rect.get("class") == "block"]
        self.assertTrue(blocks)
        for i, text in enumerate(texts):
            self.assertTrue(text[0] >= 0 and text[1] >= 0 and text[2] <= width and text[3] <= height,
                            (arguments, text[:4], text[4].text))
            for other in texts[i + 1:]:
                self.assertFalse(overlap(text, other), (arguments, text[4].text, other[4].text))
        areas = [(x, y, x + w, y + h) for x, y, w, h in blocks]
        for text in texts:
            inside = [area for area in areas if overlap(text, area)]
            if text[4].get("class") == "label":
                self.assertEqual(1, len(inside), (arguments, text[4].text))
                self.assertTrue(inside[0][0] <= text[0] and inside[0][2] >= text[2], (arguments, text[4].text))
            else:
                self.assertFalse(inside, (arguments, text[4].text))
        for i, area in enumerate(areas):
            self.assertTrue(area[2] > area[0] and area[3] > area[1])
            self.assertFalse(any(overlap(area, other) for other in areas[i + 1:]), arguments)

    def test_nothing_overlaps(self):
        for arguments in matrix():
            self.check_picture(arguments)
        for arguments in PICTURES.values():
            if tool.run("show", *arguments, "--svg", os.devnull)[0] == 0:
                self.check_picture(arguments)

    def test_title_is_the_spec(self):
        root = ElementTree.fromstring(show(*PICTURES["partial"], "--svg", "-"))
        self.assertEqual("f32[64,64] P(sum),S(0),R on mesh(dp=2,cp=2,tp=2)", root.find(SVG + "title").text)

    def test_partial_values_are_hatched(self):
        for name, hatched in (("partial", 2), ("vector", 0)):
            root = ElementTree.fromstring(show(*PICTURES[name], "--svg", "-"))
            self.assertEqual(hatched, sum(rect.get("fill") == "url(#partial)" for rect in root.iter(SVG + "rect")))

    def test_names_are_escaped(self):
        root = ElementTree.fromstring(show("f32[4,4] S(0),R on mesh(a<b=2,c&d=2)", "--svg", "-"))
        self.assertIn("mesh(a<b=2,c&d=2)", root.find(SVG + "title").text)

    def test_other_ranks_are_faded(self):
        root = ElementTree.fromstring(show("f32[4,4] S(0),S(1) on mesh(2x2)", "--rank", "2", "--svg", "-"))
        faded = [group.find(SVG + "text").text for group in root.iter(SVG + "g") if group.get("opacity")]
        self.assertEqual(["0", "1", "3"], sorted(faded))

    def test_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "x.svg")
            self.assertEqual((0, "", ""), tool.run("show", *PICTURES["vector"], "--svg", path))
            with open(path, encoding="utf-8") as file:
                self.assertEqual(show(*PICTURES["vector"], "--svg", "-"), file.read())


if __name__ == "__main__":
    unittest.main()
