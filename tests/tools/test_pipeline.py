# SPDX-License-Identifier: Apache-2.0
"""`dtensor pipeline`: timelines, tables, JSON against a simulation of its own, and a block of the SVG drawing for each action."""
import json
import unittest
import xml.etree.ElementTree as ElementTree

import tool

SVG = "{http://www.w3.org/2000/svg}"
ZB_H1 = """0 |F0 F1 .  I0 W0 F2 I1 W1 F3 I2 W2 I3 W3| 1 idle of 13, 2 live
1 |.  F0 I0 F1 I1 W0 F2 I2 W1 F3 I3 W2 W3| 1 idle of 13, 2 live
"""
# Arguments that are refused, the exit code and a part of the error.
REFUSED = [
    (["zb-h2", "--stages", "4", "--micro", "8"], 1, "got 'zb-h2'; did you mean zb-h1?"),
    (["zb-h1", "--stages", "4"], 1, "zb-h1: the number of micro-batches is missing"),
    (["zb-v", "--stages", "3", "--micro", "8"], 1, "expected 2 for 1 ranks, got 3"),
    (["0F0,0B0", "--stages", "2"], 1, ".stages differs from the table: expected 1, got 2"),
    (["0F0,0F0"], 1, "rank 0: action 2, 0F0: it is action 1 already"),
    (["1f1b", "--stages", "0", "--micro", "8"], 2, "--stages"),
    (["1f1b", "--stages", "2", "--micro", "2", "--times", "1,1"], 2, "--times: expected three numbers such as 1,1,1, got '1,1'"),
    (["1f1b", "--stages", "2", "--micro", "2", "--times", "1,nan,1"], 2, "--times"),
    (["1f1b", "--stages", "2", "--micro", "2", "--times", "0,0,0"], 2, "--times: expected a time above 0"),
    (["1f1b", "--stages", "2", "--micro", "2", "--hop", "-1"], 2, "--hop: expected a number of at least 0, got '-1'"),
    (["1f1b", "--stages", "2", "--micro", "2", "--json", "--table"], 2, "exclude each other"),
    ([], 2, "a schedule, such as 1f1b"),
]


def pipeline(*arguments):
    code, out, err = tool.run("pipeline", *arguments)
    if code or err:
        raise AssertionError(f"pipeline {arguments} ended with {code}: {err}")
    return out


def split(action):
    kind = next(character for character in action if character.isalpha())
    stage, micro = action.split(kind)
    return int(stage), kind, int(micro)


class Pipeline(unittest.TestCase):
    def test_timeline(self):
        self.assertEqual(ZB_H1, pipeline("zb-h1", "--stages", "2", "--micro", "4"))
        table = pipeline("zb-h1", "--stages", "2", "--micro", "4", "--table")
        self.assertEqual(ZB_H1, pipeline(table))

    def check_times(self, answer, times, hop):
        """Every action begins when its rank is free and its inputs are there, and not later."""
        lengths = {"F": times[0], "I": times[1], "W": times[2], "B": times[1] + times[2]}
        ends, ranks = {}, {}
        for row in answer["rows"]:
            for action in row["actions"]:
                stage, kind, micro = split(action["action"])
                ends[stage, "F" if kind == "F" else "W" if kind == "W" else "B", micro] = action["end"]
                ranks[stage] = row["rank"]
        for row in answer["rows"]:
            free = busy = 0
            for action in row["actions"]:
                stage, kind, micro = split(action["action"])
                before = (stage - 1, "F", micro) if kind == "F" else (stage + 1, "B", micro) if kind in "BI" else None
                arrives = 0
                if before in ends:
                    arrives = ends[before] + (hop if ranks[before[0]] != row["rank"] else 0)
                self.assertAlmostEqual(action["begin"], max(free, arrives), 4)
                self.assertAlmostEqual(action["end"], action["begin"] + lengths[kind], 4)
                free = action["end"]
                busy += lengths[kind]
            self.assertAlmostEqual(row["idle"], answer["makespan"] - busy, 4)
        self.assertAlmostEqual(answer["makespan"], max(ends.values()), 4)

    def test_json(self):
        for name, stages in ("gpipe", 3), ("1f1b", 3), ("zb-h1", 4), ("zb-v", 6), ("dualpipe-v", 6), ("interleaved", 6):
            for times, hop in ((1, 1, 1), 0), ((1, 2, 0.5), 0.25):
                answer = json.loads(pipeline(name, "--stages", str(stages), "--micro", "5", "--json", "--times",
                                             ",".join(map(str, times)), "--hop", str(hop)))
                with self.subTest(name, times=times):
                    self.check_times(answer, times, hop)
                    self.assertEqual(answer["table"], "".join(
                        ",".join(action["action"] for action in row["actions"]) + "\n" for row in answer["rows"]))

    def test_svg(self):
        root = ElementTree.fromstring(pipeline("dualpipe-v", "--stages", "8", "--micro", "8", "--svg", "-"))
        actions = json.loads(pipeline("dualpipe-v", "--stages", "8", "--micro", "8", "--json"))["rows"]
        blocks = [rect for rect in root.iter(SVG + "rect") if rect.get("class") == "block"]
        self.assertEqual(len(blocks), sum(len(row["actions"]) for row in actions))
        texts = {text.text for text in root.iter(SVG + "text")}
        self.assertLessEqual({action["action"] for row in actions for action in row["actions"]}, texts)

    def test_published_pictures(self):
        for name, stages in ("gpipe", 4), ("1f1b", 4), ("interleaved", 8), ("zb-h1", 4), ("zb-v", 8), ("dualpipe-v", 8):
            with open(f"{tool.SOURCE}/docs/pipeline-{name}.svg", encoding="utf-8") as file:
                self.assertEqual(file.read(), pipeline(name, "--stages", str(stages), "--micro", "8", "--svg", "-"))

    def test_refused(self):
        for arguments, expected, part in REFUSED:
            with self.subTest(arguments):
                code, out, err = tool.run("pipeline", *arguments)
                self.assertEqual((expected, ""), (code, out))
                self.assertIn(part, err)


if __name__ == "__main__":
    unittest.main()
