# SPDX-License-Identifier: Apache-2.0
"""`dtensor verify`: names and patterns, counts, JSON, and no progress in pipes. Rules: tests/verify."""
import json
import re
import unittest

import tool


def verify(*arguments):
    code, out, err = tool.run("verify", *arguments)
    if code or err:
        raise AssertionError(f"verify {arguments} exited with {code}: {out}{err}")
    return out


class Verify(unittest.TestCase):
    def test_names_and_patterns(self):  # VAL-024
        ops = [one["op"] for one in json.loads(verify("--json", "relu", "re*", "ne?"))["ops"]]
        self.assertEqual(sorted(ops), sorted(set(ops)))
        self.assertLessEqual({"relu", "reshape", "neg"}, set(ops))
        self.assertTrue(all(re.match("re|ne.$", op) for op in ops), ops)

    def test_unknown_names_get_suggestions(self):  # VAL-024
        code, out, err = tool.run("verify", "relo")
        self.assertEqual((1, ""), (code, out))
        self.assertIn("there is no op 'relo'; did you mean relu?", err)

    def test_text_and_json_agree(self):
        text = verify("to", "relu", "-v").splitlines()
        found = {one["op"]: one for one in json.loads(verify("to", "relu", "--json"))["ops"]}
        self.assertEqual({"to", "relu"}, set(found))
        for name, one in found.items():
            self.assertEqual(("verified", [], 0), (one["state"], one["wrong"], one["refused"]))
            self.assertGreater(one["trials"], one["rows"])
            numbers = [one["calls"], one["rows"], one["trials"], len(one["wrong"]), len(one["missing"])]
            self.assertIn([name, *map(str, numbers)], [line.split() for line in text])
            for row in one["missing"]:
                self.assertIn(f"    missing  {row['row']}: {row['call']}", text)
        self.assertTrue(found["to"]["missing"])
        self.assertEqual([], [line for line in verify("to").splitlines() if "missing  " in line])

    def test_output_is_deterministic(self):
        self.assertEqual(verify("dropout", "gather", "-v"), verify("dropout", "gather", "-v"))


if __name__ == "__main__":
    unittest.main()
