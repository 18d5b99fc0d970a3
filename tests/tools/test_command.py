# SPDX-License-Identifier: Apache-2.0
"""The command line of dtensor: help, version, exit codes, error lines, and man pages that describe every option."""
import glob
import os
import re
import shlex
import subprocess
import tempfile
import unittest

import tool

COMMANDS = tool.commands()
TENSOR = "f32[4,4] R,R on mesh(2x2)"
SHOW = ["show", TENSOR]

MISUSED = [
    [], ["nonsense"], ["--nonsense"], ["help", "nonsense"],
    ["show"], ["show", TENSOR, "R"], ["show", "--mesh", "2", "S(0)"],
    [*SHOW, "--nonsense"], [*SHOW, "-x"], [*SHOW, "--json=yes"], [*SHOW, "--svg"],
    [*SHOW, "--json", "--json"], [*SHOW, "--svg", "x", "--json"], [*SHOW, "--color", "blue"],
    [*SHOW, "--rank", "x"], [*SHOW, "--rank", "-1"], [*SHOW, "--rank", ""], [*SHOW, "--ranks", "0"],
    [*SHOW, "--width", "3"], [*SHOW, "--rank", "99999999999999999999"],
    ["mesh"], ["mesh", "2", "3"], ["mesh", "2", "--rank"], ["mesh", "2", "--rank", "1", "--rank", "2"],
    ["mesh", "2", "--rank", "3", "--ranks", "3"], ["plan", TENSOR], ["plan", TENSOR, "R,R", "--rank", "x"],
    ["explain"], ["explain", "neg(f32[2] on mesh(2))", "--most", "0"], ["rules"], ["rules", "a", "b"],
    ["verify", "-x"], ["verify", "--json=yes"], ["verify", "-v", "-v"],
    ["query", "word"], ["query", "--json"],
]

FAILED = {
    ("show", "f32[4,4] S(0) on mesh(2x2)"): "placement",
    ("show", "f32[4,4] S(2),R on mesh(2x2)"): "placement",
    ("show", "f32[4,4] S(0,R on mesh(2x2)"): "placement",
    ("show", "f32[4,4] R,R on mesh(2x)"): "mesh",
    ("show", "f32[4,4] R,R on mesh(2x*)"): "mesh",
    ("show", "f32[4,4] R,R on mesh(2x*)", "--ranks", "5"): "mesh",
    ("show", "f32[4,4] R,R on mesh(2x3)", "--ranks", "5"): "mesh",
    ("show", "f32[4,] R,R on mesh(2x2)"): "shape",
    ("show", "f32[4,-4] R,R on mesh(2x2)"): "shape",
    ("show", "f32[4 R,R on mesh(2x2)"): "shape",
    ("show", "f32[99999999999999999999] R,R on mesh(2x2)"): "shape",
    ("show", "f32[4611686018427387904,4] R,R on mesh(2x2)"): "shape",
    ("show", "f31[4,4] R,R on mesh(2x2)"): "dtype",
    ("show", "f32[4] S(0)[1],S(0)[1] on mesh(2x2)"): "placement",
    ("show", "f32[4] S(0)[2],S(0)[0] on mesh(2x2)"): "placement",
    ("show", TENSOR, "--rank", "4"): "mesh",
    ("show", TENSOR, "--rank", "4", "--json"): "mesh",
    ("show", "f32[4,4] R on mesh(65)", "--svg", "-"): "unsupported",
    ("show", "f32[1,1,1,1] R on mesh(2)", "--svg", "-"): "unsupported",
    ("show", "f32[4] R on mesh(1048577)", "--json"): "unsupported",
    ("show", TENSOR, "--svg", "/nonexistent/x.svg"): "system",
    ("show", "f32[4] S(0)"): None,
    ("explain", "mm(f32[2,2]; f32[2,2])"): "mesh",
    ("explain", "mm(f32[2,2] on mesh(2); f32[2,2] on mesh(3))"): "mesh",
    ("explain", "mm(f32[2,2] on mesh(2); f32[2,2] on mesh(2"): None,
    ("explain", "mm(f32[2,2] on mesh(tp=*); f32[2,2])"): "mesh",
    ("explain", "mm(f32[2,3] S(0); f32[2,3] R) on mesh(2)"): "shape",
    ("explain", "mm(f32[2,3] S(0) f32[2,3] R) on mesh(2)"): "placement",
    ("explain", "mm(f32[2,3] S(0); 3) on mesh(2)"): "value",
    ("explain", "mm(f32[2,3] S(0),R; f32[3,3]) on mesh(2)"): "placement",
    ("explain", "nonsense(f32[2,3]) on mesh(2)"): "op",
    ("explain", "add_(f32[2,3] P(sum); 1) on mesh(2)"): "placement",
    ("verify", "nonsense"): "op",
    ("verify", "relu", "zz*"): "op",
    ("rules", "mm(f32[2,3])"): "value",
    ("rules", "mm(f32[2,3"): "value",
    ("ops", "nonsense"): "op",
    ("mesh", "dp=0"): "mesh",
    ("mesh", "dp=2,dp=2"): "mesh",
    ("mesh", "dp=2,tp=*"): "mesh",
    ("mesh", "dp=2", "--slice", "tp"): "mesh",
    ("mesh", "dp=2,tp=2", "--flatten", "tp,dp"): "mesh",
    ("mesh", "2x2", "--slice", "0"): "mesh",
    ("mesh", "2097152", "--json"): "unsupported",
}

# Arguments, and the suggestion of the error.
NEAR_MISSES = {
    ("expalin",): "explain",
    ("--hlep",): "--help",
    ("help", "plna"): "plan",
    ("show", TENSOR, "--colors", "never"): "--color",
    ("show", TENSOR, "--color", "alway"): "always",
    ("plan", TENSOR, "R,R", "--planer", "direct"): "--planner",
    ("plan", TENSOR, "R,R", "--planner", "mincost"): "min_cost",
    ("plan", "f23[4] R on mesh(2)", "R"): "f32",
    ("plan", "f32[4] P(summ) on mesh(2)", "R"): "sum",
    ("explain", "matmull(f32[2,2]; f32[2,2]) on mesh(2)"): "matmul",
    ("explain", "mm(f32[2,2]; f23[2,2]) on mesh(2)"): "f32",
    ("explain", "softmax(f32[2,2]; dmi=0) on mesh(2)"): "dim",
    ("explain", "softmax(f32[2,2]; 0; dtype=f46) on mesh(2)"): "f64",
    ("rules", "sotfmax(f32[2,2]; 0)"): "softmax",
    ("ops", "sotfmax"): "softmax",
    ("verify", "sotfmax"): "softmax",
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
            self.assertLessEqual({"show", "plan", "mesh", "layout", "pipeline", "explain", "rules", "ops", "verify", "calibrate", "query"}, set(COMMANDS))
            for name in COMMANDS:
                self.assertRegex(out, rf"(?m)^  {name} +\w")

    def test_help_of_topics_fits_a_screen(self):
        topics = re.findall(r"(?m)^  (\w+)", tool.run("--help")[1].split("topics")[1].split("options:")[0])
        self.assertIn("placements", topics)
        for topic in topics:
            code, out, err = tool.run("help", topic)
            self.assertEqual((code, err), (0, ""), topic)
            lines = out.split("\n")
            self.assertLessEqual(len(lines), 24, topic)
            self.assertLessEqual(max(map(len, lines)), 88, topic)
            for command in re.findall(r"(?m)^  (dtensor .*)$", out):
                self.assertEqual(tool.run(*shlex.split(command)[1:])[0], 0, command)

    def test_variables_of_the_help_are_in_the_manual(self):
        with open(os.path.join(tool.SOURCE, "man/dtensor.7"), encoding="utf-8") as file:
            manual = file.read()
        for name in re.findall(r"DTENSOR_\w+", tool.run("help", "environment")[1]):
            self.assertIn(f".It Ev {name}\n", manual)

    def test_help_of_a_command_has_examples(self):
        for name in COMMANDS:
            first = tool.run(name, "--help")
            self.assertEqual((0, ""), (first[0], first[2]))
            self.assertIn("usage: dtensor " + name, first[1])
            self.assertRegex(first[1], r"(?m)^examples:\n  .*dtensor " + name)
            self.assertEqual(first, tool.run("help", name))
            self.assertEqual(first, tool.run(name, "-h"))

    def test_examples_in_the_help_run(self):
        for name in COMMANDS:
            # These read files or programs, or take long.
            if name in ("verify", "calibrate", "checkpoint", "query", "params", "estimate", "machine", "trace"):
                continue
            examples = tool.run(name, "--help")[1].split("examples:\n")[1]
            for line in examples.strip().splitlines():
                words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", line)][1:]
                words = [os.devnull if word.endswith(".svg") else word for word in words]
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
            # A text that cannot be parsed is printed below, with a mark at the column.
            self.assertRegex(err, rf"^dtensor {arguments[0]}: {word or '[a-z]+'}: [^\n]+\n(    [^\n]+\n)*$", arguments)

    def test_near_misses_suggest_what_exists(self):
        for arguments, word in NEAR_MISSES.items():
            code, out, err = tool.run(*arguments)
            self.assertNotEqual(0, code, arguments)
            self.assertEqual("", out)
            self.assertRegex(err.splitlines()[0], rf"; did you mean {re.escape(word)}\?( |$)", arguments)
        for arguments in (["frobnicate"], ["show", TENSOR, "--frobnicate"], ["explain", "frobnicate(f32[2]) on mesh(2)"]):
            self.assertNotIn("did you mean", tool.run(*arguments)[2])

    def test_a_comma_between_arguments_is_an_error(self):
        for call in ("mm(f32[2,2] S(0), f32[2,2] R)", "mm(f32[2,2], f32[2,2])", "softmax(f32[2,2] S(0), dim=0)",
                     "sum(f32[2,2] R, [0])", "clamp(f32[2]; 0, 1)", "cat({f32[2] R, f32[2] R}; 0)"):
            for text in (call, call + " on mesh(2)"):
                code, out, err = tool.run("explain" if "mesh" in text else "rules", text)
                self.assertEqual((1, ""), (code, out))
                first, repeated, mark = err.splitlines()
                self.assertIn("expected ';' between arguments, got ','", first)
                self.assertEqual(repeated.index(",", call.index("]") + 4) if "clamp" not in call else repeated.index(","),
                                 mark.index("^"))

    def test_man_pages_describe_every_option(self):
        for name in COMMANDS:
            options = re.findall(r"(?m)^  --([a-z-]+)", tool.run(name, "--help")[1])
            with open(os.path.join(tool.SOURCE, "man", f"dtensor-{name}.1"), encoding="utf-8") as file:
                page = file.read()
            for option in set(options) - {"help"}:
                self.assertIn(f".It Fl -{option}", page, name)
            described = re.findall(r"(?m)^\.It Fl -([a-z-]+)", page)
            self.assertEqual(sorted(set(described) - {"help"}), sorted(set(options) - {"help"}), name)

    def check_session(self, session):
        """Lines after "$ " are followed by what they print; they run in one folder."""
        with tempfile.TemporaryDirectory() as folder:
            for line, output in re.findall(r"(?m)^\$ (.*)\n((?:(?!\$ ).*\n)*)", session):
                result = subprocess.run(line, shell=True, executable="/bin/bash", capture_output=True, text=True, cwd=folder,
                                      env=tool.environment(LC_ALL="C", PATH=f"{tool.BUILD}/bin:{os.environ['PATH']}"))
                self.assertEqual(output, result.stdout, line)

    def test_examples_in_the_man_pages_have_their_output(self):
        count = 0
        for name in COMMANDS:
            with open(os.path.join(tool.SOURCE, "man", f"dtensor-{name}.1"), encoding="utf-8") as file:
                page = file.read()
            for session in re.findall(r"(?ms)^\.Bd -literal\n(\$ .*?)^\.Ed", page):
                self.check_session(session.replace("\\e", "\\"))
                count += 1
        self.assertEqual(14, count)

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
