# SPDX-License-Identifier: Apache-2.0
"""dtrun --output-dir: a file for each output of each rank, and errors where there cannot be one."""
import os
import pathlib
import tempfile

import launch


class OutputDir(launch.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def texts(self, folder):
        return {path.name: path.read_text() for path in folder.iterdir()}

    def test_files__have_what_each_rank_writes(self):
        folder = self.folder / "new" / "deeper"
        code, out, err = self.sh(3, "echo out $RANK; printf 'err %s' $RANK >&2", "--output-dir", folder)
        self.assertEqual((code, out, err), (0, "", ""))
        self.assertEqual(self.texts(folder), {f"rank-{rank}.{end}": text for rank in range(3)
                                              for end, text in (("out", f"out {rank}\n"), ("err", f"err {rank}"))})
        self.sh(1, "echo again", "--output-dir", folder)  # files are emptied, those of other ranks stay
        self.assertEqual(self.texts(folder)["rank-0.out"], "again\n")
        self.assertEqual(self.texts(folder)["rank-1.out"], "out 1\n")

    def test_output__is_there_while_ranks_run(self):
        running = self.launch("-n", 2, "--output-dir", self.folder, "sh", "-c", "echo early; read x", stdin=-1)
        self.assertTrue(launch.wait_until(lambda: (self.folder / "rank-1.out").exists()
                                          and (self.folder / "rank-1.out").read_text() == "early\n"))
        running.end(b"\n")

    def test_reports_and_messages__are_dtrun_s(self):
        reports = launch.BUILD / "tests" / "dtrun.reports"
        code, out, err = self.run_dtrun("-n", 2, "--output-dir", self.folder, reports, "wait; fail text; close")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("on ranks 0-1: value: text", err)
        self.assertEqual(self.texts(self.folder)["rank-0.err"], "")

    def test_folder__that_cannot_be_used_is_an_error(self):
        (self.folder / "file").touch()
        for folder, text in ((self.folder / "file", "Not a directory"), ("", "expected a folder, got")):
            code, out, err = self.run_dtrun("-n", 2, "--output-dir", folder, "true")
            self.assertIn((code, out), ((125, ""), (2, "")))
            self.assertIn("--output-dir", err)
            self.assertIn(text, err)
        os.mkfifo(self.folder / "rank-1.err")
        code, _, err = self.run_dtrun("-n", 2, "--output-dir", self.folder, "true")
        self.assertEqual(code, 125)
        self.assertIn("rank-1.err", err)


launch.main()
