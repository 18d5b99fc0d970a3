# SPDX-License-Identifier: Apache-2.0
"""The command line of dtensor: help, version, exit codes, error lines, and that the man pages describe every option."""
import glob
import os
import re
import subprocess
import unittest

import tool

COMMANDS = tool.commands()
SHOW = ["show", "--mesh", "2x2", "--shape", "4,4"]

MISUSED = [
    [], ["nonsense"], ["--nonsense"], ["help", "nonsense"],
    ["show"], ["show", "S(0)", "R"], ["show", "--mesh", "2", "S(0)"], ["show", "--shape", "2", "S(0)"],
    ["show", "--order", "0=0", "f32[2] R on mesh(2)"], ["show", "--dtype", "f64", "f32[2] R on mesh(2)"],
    [*SHOW, "--nonsense", "R,R"], [*SHOW, "-x", "R,R"], [*SHOW, "--json=yes", "R,R"], [*SHOW, "R,R", "--svg"],
    [*SHOW, "R,R", "--mesh", "4"], [*SHOW, "R,R", "--svg", "x", "--json"], [*SHOW, "R,R", "--color", "blue"],
    [*SHOW, "R,R", "--rank", "x"], [*SHOW, "R,R", "--rank", "-1"], [*SHOW, "R,R", "--rank", ""],
    [*SHOW, "R,R", "--width", "3"], [*SHOW, "R,R", "--rank", "99999999999999999999"],
    ["mesh"], ["mesh", "2", "3"], ["mesh", "2", "--rank"], ["mesh", "2", "--rank", "1", "--rank", "2"],
    ["explain"], ["explain", "mm(f32[2,2]; f32[2,2])"], ["explain", "--mesh", "2"],
    ["explain", "--mesh", "2", "--most", "0", "neg(f32[2])"], ["rules"], ["rules", "a", "b"],
    ["ops", "add", "--json"], ["ops", "add", "sub"], ["verify", "-x"], ["verify", "--json=yes"], ["verify", "-v", "-v"],
    ["query", "word"], ["query", "--json"],
]

FAILED = {
    ("show", "--mesh", "2x2", "--shape", "4,4", "S(0)"): "placement",
    ("show", "--mesh", "2x2", "--shape", "4,4", "S(2),R"): "placement",
    ("show", "--mesh", "2x2", "--shape", "4,4", "S(0,R"): "placement",
    ("show", "--mesh", "2x", "--shape", "4,4", "R,R"): "mesh",
    ("show", "--mesh", "2x2", "--shape", "4,", "R,R"): "shape",
    ("show", "--mesh", "2x2", "--shape", "4,-4", "R,R"): "shape",
    ("show", "--mesh", "2x2", "--shape", "[4", "R,R"): "shape",
    ("show", "--mesh", "2x2", "--shape", "99999999999999999999", "R,R"): "shape",
    ("show", "--mesh", "2x2", "--shape", "4611686018427387904,4", "R,R"): "shape",
    ("show", "--mesh", "2x2", "--shape", "4,4", "--dtype", "f31", "R,R"): "dtype",
    ("show", "--mesh", "2x2", "--shape", "4", "--order", "0", "S(0),S(0)"): "placement",
    ("show", "--mesh", "2x2", "--shape", "4", "--order", "0=", "S(0),S(0)"): "placement",
    ("show", "--mesh", "2x2", "--shape", "4", "--order", "0=1,0,", "S(0),S(0)"): "placement",
    ("show", "--mesh", "2x2", "--shape", "4", "--order", "0=1,2", "S(0),S(0)"): "placement",
    ("show", "--mesh", "a=2,b=2", "--shape", "4", "--order", "0=b,c", "S(0),S(0)"): "placement",
    ("show", "--mesh", "2x2", "--shape", "4,4", "--rank", "4", "R,R"): "mesh",
    ("show", "--mesh", "2x2", "--shape", "4,4", "--rank", "4", "--json", "R,R"): "mesh",
    ("show", "--mesh", "65", "--shape", "4,4", "--svg", "-", "R"): "unsupported",
    ("show", "--mesh", "2", "--shape", "1,1,1,1", "--svg", "-", "R"): "unsupported",
    ("show", "--mesh", "1048577", "--shape", "4", "--json", "R"): "unsupported",
    ("show", "--mesh", "2x2", "--shape", "4,4", "--svg", "/nonexistent/x.svg", "R,R"): "system",
    ("show", "f32[4] S(0)"): None,
    ("explain", "--mesh", "2", "mm(f32[2,3] S(0); f32[2,3] R)"): "shape",
    ("explain", "--mesh", "2", "mm(f32[2,3] S(0) f32[2,3] R)"): "placement",
    ("explain", "--mesh", "2", "mm(f32[2,3] S(0); 3)"): "value",
    ("explain", "--mesh", "2", "mm(f32[2,3] S(0),R; f32[3,3])"): "placement",
    ("explain", "--mesh", "2", "nonsense(f32[2,3])"): "op",
    ("explain", "--mesh", "2", "add_(f32[2,3] P(sum); 1)"): "placement",
    ("verify", "nonsense"): "op",
    ("verify", "relu", "no*"): "op",
    ("rules", "mm(f32[2,3])"): "value",
    ("rules", "mm(f32[2,3"): "value",
    ("ops", "nonsense"): "op",
    ("mesh", "dp=0"): "mesh",
    ("mesh", "dp=2,dp=2"): "mesh",
    ("mesh", "dp=2", "--slice", "tp"): "mesh",
    ("mesh", "dp=2,tp=2", "--flatten", "tp,dp"): "mesh",
    ("mesh", "2x2", "--slice", "0"): "mesh",
    ("mesh", "2097152", "--json"): "unsupported",
}


class Command(unittest.TestCase):
    def test_version(self):
        code, out, err = tool.run("--version")
        self.assertEqual((0, ""), (code, err))
        self.assertRegex(out, r"^dtensor \d+\.\d+\.\d+\n$")

    def test_help_lists_every_command(self):
        for arguments in (["--help"], ["-h"], ["help"]):
            code, out, err = tool.run(*arguments)
            self.assertEqual((0, ""), (code, err))
            self.assertLessEqual({"show", "plan", "mesh", "explain", "rules", "ops", "verify", "query"}, set(COMMANDS))
            for name in COMMANDS:
                self.assertRegex(out, rf"(?m)^  {name} +\w")

    def test_help_of_a_command_has_examples(self):
        for name in COMMANDS:
            first = tool.run(name, "--help")
            self.assertEqual((0, ""), (first[0], first[2]))
            self.assertIn("usage: dtensor " + name, first[1])
            self.assertRegex(first[1], r"(?m)^examples:\n  .*dtensor " + name)
            self.assertEqual(first, tool.run("help", name))
            self.assertEqual(first, tool.run(name, "-h"))

    def test_examples_in_the_help_run(self):
        for name in ("show", "mesh"):
            examples = tool.run(name, "--help")[1].split("examples:\n")[1]
            for line in examples.strip().splitlines():
                words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", line)][1:]
                words = [os.devnull if word == "shards.svg" else word for word in words]
                code, _, err = tool.run(*words)
                self.assertEqual((0, ""), (code, err), line)

    def test_wrong_use_exits_with_2(self):
        for arguments in MISUSED:
            code, out, err = tool.run(*arguments)
            self.assertEqual((2, ""), (code, out), arguments)
            if arguments:
                self.assertRegex(err, r"^dtensor[^\n]*: [^\n]+ \(see dtensor[^\n]* --help\)\n$", arguments)

    def test_a_failed_request_exits_with_1(self):
        for arguments, word in FAILED.items():
            code, out, err = tool.run(*arguments)
            self.assertEqual((1, ""), (code, out), arguments)
            # A text that cannot be parsed is repeated below, with a mark under the place.
            self.assertRegex(err, rf"^dtensor {arguments[0]}: {word or '[a-z]+'}: [^\n]+\n(    [^\n]+\n)*$", arguments)

    def test_man_pages_describe_every_option(self):
        for name in COMMANDS:
            options = re.findall(r"(?m)^  --([a-z-]+)", tool.run(name, "--help")[1])
            with open(os.path.join(tool.SOURCE, "man", f"dtensor-{name}.1"), encoding="utf-8") as file:
                page = file.read()
            for option in set(options) - {"help"}:
                self.assertIn(f".It Fl -{option}", page, name)
            described = re.findall(r"(?m)^\.It Fl -([a-z-]+)", page)
            self.assertEqual(sorted(set(described) - {"help"}), sorted(set(options) - {"help"}), name)

    def test_examples_in_the_man_pages_are_true(self):
        count = 0
        for name in COMMANDS:
            with open(os.path.join(tool.SOURCE, "man", f"dtensor-{name}.1"), encoding="utf-8") as file:
                page = file.read()
            for line, output in re.findall(r"(?ms)^\.Bd -literal\n\$ ([^\n]*)\n(.*?)^\.Ed", page):
                done = subprocess.run(line, shell=True, executable="/bin/bash", capture_output=True, text=True,
                                      env=tool.environment(LC_ALL="C", PATH=f"{tool.BUILD}/bin:{os.environ['PATH']}"))
                self.assertEqual(output, done.stdout, line)
                count += 1
        self.assertEqual(8, count)

    def test_reference_page_is_complete(self):
        """dtensor.7 lists every status and dtype, and the functions that it names exist."""
        with open(os.path.join(tool.SOURCE, "man", "dtensor.7"), encoding="utf-8") as file:
            page = file.read()
        headers = ""
        for name in sorted(glob.glob(os.path.join(tool.SOURCE, "include", "dtensor", "*.h"))):
            with open(name, encoding="utf-8") as file:
                headers += file.read()
        statuses = re.findall(r'X\((ERR_\w+), -\d+, "(\w+)"', headers)
        self.assertGreater(len(statuses), 10)
        self.assertEqual([f"DT_{name} Ta {word}" for name, word in statuses],
                         re.findall(r"(?m)^\.It Dv (DT_ERR_\w+ Ta \w+)", page))
        dtypes = re.findall(r'X\(\w+, \d+, "(\w+)"\)', headers)
        self.assertIn(f".Li {' '.join(dtypes)} .\n", page)
        for name in set(re.findall(r"Fn (dt_\w+)", page)):
            self.assertRegex(headers, rf"\b{name}\(", name)

    def test_main_page_lists_every_command(self):
        with open(os.path.join(tool.SOURCE, "man", "dtensor.1"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(COMMANDS, re.findall(r"(?m)^\.It Cm (\w+)", page))


if __name__ == "__main__":
    unittest.main()
