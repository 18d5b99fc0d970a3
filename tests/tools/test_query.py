# SPDX-License-Identifier: Apache-2.0
"""`dtensor query` as a server: one answer per line, for any contents of the line, in order, each flushed."""
import json
import os
import subprocess
import unittest

import tool

VALID = b'{"q":"shard","mesh":[2],"shape":[3],"placements":"S(0)"}'
VALID_ANSWER = {"local": [{"rank": 0, "shape": [2], "offset": [0], "runs": [[[0, 2]]]},
                         {"rank": 1, "shape": [1], "offset": [2], "runs": [[[2, 3]]]}]}

INVALID = {
    b"": "json", b"   ": "json", b"{": "json", b"nonsense": "json", b"{'q':1}": "json", b"[1,2": "json",
    b'{"q":"shard"} {}': "json",
    b'{"q":"sh\0ard"}': "json",
    b'{"q":"sh\\u0000ard"}': "json",
    b'{"q":"\xff\xfe"}': "json",
    b"\xff\xff\xff": "json",
    b'{"q":"shard","q":"mesh"}': "json",
    b'{"q":"shard","mesh":[99999999999999999999],"shape":[1],"placements":"R"}': "json",
    b'{"q":"shard","mesh":[1e999],"shape":[1],"placements":"R"}': "json",
    b"[" * 100000: "json",
    b'{"q":"mesh","world":' + b"[" * 2000 + b"]" * 2000 + b',"rank":0,"shape":[1]}': "field",
    b'{"q":"layout","do":"size","a":{"shape":' + b"[" * 1500 + b"2" + b"]" * 1500 + b"}}": "field",
    b"7": "field", b"null": "field", b'"shard"': "field", b"true": "field",
    b'{"q":"shard","mesh":[2.0],"shape":[1],"placements":"R"}': "field",
    b'{"q":"shard","mesh":[true],"shape":[1],"placements":"R"}': "field",
    b'{"q":"shard","mesh":{},"shape":[1],"placements":"R"}': "field",
    b'{"q":"shard","mesh":[2],"shape":[1],"placements":null}': "field",
    # A strided shard with as many runs as elements.
    b'{"q":"shard","mesh":[2],"shape":[4611686018427387904],"placements":"_S(0,2305843009213693952)"}': "unsupported",
    # States that so many ranks exchange have more bytes than an integer can count.
    b'{"q":"propagate","op":"softmax","mesh":[9223372036854775807],"tensors":[{"shape":[8,6],"placements":"S(0)"}],"args":[{"t":0},0],"kwargs":{}}':
        "unsupported",
    b'{"q":"shard","mesh":' + json.dumps([2] * 40).encode() + b',"shape":[1],"placements":"R"}': "mesh",
}


class Query(unittest.TestCase):
    def test_invalid_lines_are_answered_and_the_next_one_is_served(self):
        lines = [line for invalid in INVALID for line in (invalid, VALID)]
        answers = tool.query(*lines)
        self.assertEqual(len(lines), len(answers))
        for line, answer, valid in zip(INVALID, answers[::2], answers[1::2]):
            self.assertEqual(INVALID[line], answer.get("error", {}).get("code"), (line[:80], answer))
            self.assertTrue(answer["error"]["message"], line[:80])
            self.assertEqual(VALID_ANSWER, valid)

    def test_messages_are_short_for_all_requests(self):
        long = {"q": "shard", "mesh": [2], "shape": ["é" * 1000], "placements": "R"}
        name = {"q": "shard", "mesh": [2], "shape": [2], "placements": "R", "x" * 10000: 1}
        for answer in tool.query(long, name, {"q": "y" * 10000}):
            self.assertLess(len(answer["error"]["message"]), 300)

    def test_line_of_many_megabytes(self):
        line = b'{"q":"shard","mesh":[2],"shape":[3],"placements":"S(0)","x":"' + b"y" * (5 << 20) + b'"}'
        answers = tool.query(line, VALID)
        self.assertEqual("field", answers[0]["error"]["code"])
        self.assertEqual(VALID_ANSWER, answers[1])

    def test_line_beyond_the_limit_is_skipped(self):
        answers = tool.query(b"[" + b" " * (65 << 20), VALID)
        self.assertEqual("json", answers[0]["error"]["code"])
        self.assertIn("67108864", answers[0]["error"]["message"])
        self.assertEqual(VALID_ANSWER, answers[1])

    def test_last_line_needs_no_newline(self):
        code, out, _ = tool.run("query", stdin=VALID + b"\n" + VALID)
        self.assertEqual((0, 2), (code, len(out.splitlines())))

    def test_no_input_is_no_output(self):
        self.assertEqual((0, "", ""), tool.run("query"))

    def test_carriage_returns_are_ignored(self):
        self.assertEqual([VALID_ANSWER], tool.query(VALID + b"\r"))

    def test_each_answer_is_flushed(self):
        with subprocess.Popen([tool.DTENSOR, "query"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            for _ in range(3):
                server.stdin.write(VALID + b"\n")
                server.stdin.flush()
                self.assertEqual(VALID_ANSWER, json.loads(server.stdout.readline()))
            server.stdin.close()
            self.assertEqual(0, server.wait(timeout=20))

    def test_lines_in_pieces(self):
        with subprocess.Popen([tool.DTENSOR, "query"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            for byte in VALID + b"\n" + VALID + b"\n":
                server.stdin.write(bytes([byte]))
                server.stdin.flush()
            server.stdin.close()
            self.assertEqual([VALID_ANSWER] * 2, [json.loads(line) for line in server.stdout])

    def test_memory_does_not_grow(self):
        with subprocess.Popen([tool.DTENSOR, "query"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            def resident():
                with open(f"/proc/{server.pid}/statm", encoding="ascii") as file:
                    return int(file.read().split()[1])

            def send_requests(n):
                for _ in range(n):
                    server.stdin.write(VALID + b"\n{\n")
                    server.stdin.flush()
                    server.stdout.readline()
                    server.stdout.readline()

            send_requests(500)
            before = resident()
            send_requests(2000)
            grown = resident() - before
            server.stdin.close()
        if "asan" not in tool.BUILD and "tsan" not in tool.BUILD:
            self.assertLess(grown, 64, "pages after 4000 more requests")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([tool.DTENSOR, "query"], input=VALID + b"\n", stdout=full, stderr=subprocess.PIPE,
                                  timeout=20)
        self.assertEqual(1, result.returncode)
        self.assertIn(b"dtensor query: system: standard output", result.stderr)

    def test_input_that_cannot_be_read(self):
        directory = os.open("/", os.O_RDONLY)
        result = subprocess.run([tool.DTENSOR, "query"], stdin=directory, capture_output=True, timeout=20)
        os.close(directory)
        self.assertEqual(1, result.returncode)
        self.assertIn(b"dtensor query: system: standard input", result.stderr)


if __name__ == "__main__":
    unittest.main()
