# SPDX-License-Identifier: Apache-2.0
"""The project's own cases: tests/tools/cases/*.jsonl has {"id", "ask", "answer"} per line. Fields of `answer` must be
equal in the answer of `dtensor query`; "error" compares the code, and the message must contain `message`."""
import glob
import json
import os
import unittest

import tool


def cases():
    for name in sorted(glob.glob(os.path.join(tool.HERE, "cases", "*.jsonl"))):
        with open(name, encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)


class Cases(unittest.TestCase):
    maxDiff = None

    def test_every_case(self):
        every = list(cases())
        self.assertGreater(len(every), 60)
        self.assertEqual(len(every), len({case["id"] for case in every}), "expected unique ids")
        answers = tool.query(*(case["ask"] for case in every))
        self.assertEqual(len(answers), len(every))
        for case, answer in zip(every, answers):
            with self.subTest(case["id"]):
                self.compare(case["answer"], answer)

    def compare(self, expected, got):
        if "error" in expected:
            self.assertIn("error", got)
            self.assertEqual(expected["error"], got["error"]["code"], got)
            self.assertIn(expected.get("message", ""), got["error"]["message"])
            return
        self.assertNotIn("error", got)
        self.assertEqual(expected, {name: got.get(name) for name in expected})


if __name__ == "__main__":
    unittest.main()
