# SPDX-License-Identifier: Apache-2.0
"""`dtensor calibrate`: the file that it writes is a machine model that other commands load. No test asserts a time."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import tool

KINDS = ["copy", "copy strided", "all_gather", "all_gather strided", "all_reduce", "reduce_scatter",
         "reduce_scatter strided", "all_to_all strided"]


def measured(text):
    """(kind, group, ranks) of the measured lines."""
    return [(kind, int(group), int(ranks)) for kind, group, ranks in
            re.findall(r"(?m)^measured (.*) group=(\d+) ranks=(\d+) start_us=[0-9.e+-]+ bytes_per_us=[0-9.e+-]+"
                       r"(?: cache_bytes=[0-9.e+-]+ memory_bytes_per_us=[0-9.e+-]+)?$", text)]


class Calibrate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "m.txt")

    def test_writes_a_file_that_loads(self):
        self.path.write_text("what was there before, which is longer than what follows\n" * 200)
        self.assertEqual(tool.run("calibrate", "--quick", "--ranks", "3", "-o", str(self.path)), (0, "", ""))
        text = self.path.read_text()
        self.assertTrue(text.startswith("# Machine model by dtensor calibrate --quick "), text)
        expected = [(kind, 1 if "copy" in kind else group, group) for kind in KINDS for group in (2, 3)]
        self.assertEqual(sorted(measured(text)), sorted(expected))
        self.assertEqual(len(text.splitlines()), 2 + 5 + len(expected))
        for planner in ("direct", "min_cost"):
            code, out, err = tool.run("plan", tool.tensor("3", "300,300", "S(0)"), "S(1)", "--planner", planner, "--json",
                                      "--machine", str(self.path))
            self.assertEqual((code, err), (0, ""))
            self.assertGreater(json.loads(out)["plans"][0]["cost_us"], 0)
        code, out, err = tool.run("explain", "mm(f32[64,64] S(1); f32[64,64] S(1)) on mesh(3)", "--machine", str(self.path))
        self.assertEqual((code, err), (0, ""))

    def test_measures_ops(self):
        self.assertEqual(tool.run("calibrate", "--quick", "--ops", "--ranks", "2", "-o", str(self.path)), (0, "", ""))
        code, out, err = tool.run("machine", "--json", str(self.path))
        self.assertEqual((0, ""), (code, err))
        rates = json.loads(out)["rates"]
        kinds = {rate["kind"] for rate in rates}
        # Kernels that only run in a backward pass have rates, too; products and loops have those of all.
        self.assertLessEqual({"multiply", "touch", "gelu", "gelu_backward", "layer_norm", "attention_backward", "cross_entropy"}, kinds)
        self.assertFalse({"matmul", "linear"} & kinds)
        self.assertGreaterEqual(len({rate["size"] for rate in rates if (rate["kind"], rate["dtype"]) == ("gelu", "bf16")}), 2)
        self.assertIn("ops with rates of their own", tool.run("machine", str(self.path))[1])

    def test_writes_to_standard_output(self):
        """And does not read the model that it is to replace."""
        code, out, err = tool.run("calibrate", "--quick", "--ranks", "2", DTENSOR_MACHINE="/nowhere/m.txt")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(measured(out)), sorted((kind, 1 if "copy" in kind else 2, 2) for kind in KINDS))

    def launch(self, n_ranks, **changes):
        """On ranks that dtrun starts."""
        command = [os.path.join(tool.BUILD, "bin", "dtrun"), "-n", str(n_ranks), tool.DTENSOR, "calibrate", "--quick",
                   "-o", str(self.path)]
        result = subprocess.run(command, capture_output=True, env=tool.environment(**changes), timeout=300)
        return result.returncode, result.stderr.decode()

    def test_measures_links_between_nodes(self):
        """Alone they are a model; one of a node is completed by them."""
        self.assertEqual(self.launch(4, DTENSOR_TEST_SPAN="2"), (0, ""))
        text = self.path.read_text()
        self.assertIn("\nranks_per_host 2\n", text)
        for word in ("copy", "within", "between"):
            self.assertRegex(text, f"(?m)^{word} .*bytes_per_us=[1-9]")
        self.path.write_text("dtensor-machine 1\ncopy bytes_per_us=7\nwithin start_us=1 peer_us=2 bytes_per_us=3\n"
                             "measured all_gather group=2 ranks=2 start_us=5 bytes_per_us=6\n")
        self.assertEqual(self.launch(3, DTENSOR_TEST_SPAN="2"), (0, ""))
        text = self.path.read_text()
        for line in ("ranks_per_host 2", "copy bytes_per_us=7", "within start_us=1 peer_us=2 bytes_per_us=3",
                     "measured all_gather group=2 ranks=2 start_us=5 bytes_per_us=6"):
            self.assertIn(f"\n{line}\n", text)
        self.assertNotIn("between start_us=1 peer_us=2 bytes_per_us=3", text)
        code, out, err = tool.run("plan", tool.tensor("4", "300,300", "S(0)"), "S(1)", "--machine", str(self.path))
        self.assertEqual((code, err), (0, ""))

    def test_refuses_ranks_of_one_node_and_a_file_that_is_no_model(self):
        code, err = self.launch(2)
        self.assertEqual(code, 1)
        self.assertIn("expected ranks on several nodes, got 2 on one", err)
        self.assertFalse(self.path.exists())
        self.path.write_text("no model\n")
        code, err = self.launch(2, DTENSOR_TEST_SPAN="1")
        self.assertEqual((code, self.path.read_text()), (1, "no model\n"))
        self.assertIn(str(self.path), err)

    def test_refuses_a_path_before_it_measures(self):
        code, out, err = tool.run("calibrate", "-o", "/nowhere/m.txt")
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "dtensor calibrate: /nowhere/m.txt: No such file or directory\n")

    def test_refuses_wrong_options(self):
        for ranks in ("1", "0", "129", "two", ""):
            code, out, err = tool.run("calibrate", "--ranks", ranks, "-o", str(self.path))
            self.assertEqual((code, out), (2, ""))
            self.assertIn(f"--ranks: expected an integer from 2 to 128, got '{ranks}'", err)
        code, out, err = tool.run("calibrate", "-o")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("-o: expected a value", err)
        self.assertFalse(self.path.exists())

    def test_a_launch_that_fails_leaves_no_file(self):
        code, out, err = tool.run("calibrate", "--quick", "--ranks", "2", "-o", str(self.path), DTENSOR_HEAP="much")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("DTENSOR_HEAP: expected a size", err)
        self.assertFalse(os.path.exists(self.path))


if __name__ == "__main__":
    unittest.main()
