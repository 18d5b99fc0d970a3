# SPDX-License-Identifier: Apache-2.0
"""The project's own cases: tests/tools/cases/*.jsonl has {"id", "ask", "answer"} per line. Fields of `answer` must be
equal in what `dtensor query` answers; "error" compares the code, and the message must contain `says`."""
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
        self.assertEqual(len(every), len({case["id"] for case in every}), "ids are used once")
        answers = tool.ask(*(case["ask"] for case in every))
        self.assertEqual(len(answers), len(every))
        for case, answer in zip(every, answers):
            with self.subTest(case["id"]):
                self.check(case["answer"], answer)

    def check(self, want, got):
        if "error" in want:
            self.assertIn("error", got)
            self.assertEqual(want["error"], got["error"]["code"], got)
            self.assertIn(want.get("says", ""), got["error"]["message"])
            return
        self.assertNotIn("error", got)
        self.assertEqual(want, {name: got.get(name) for name in want})


if __name__ == "__main__":
    unittest.main()
