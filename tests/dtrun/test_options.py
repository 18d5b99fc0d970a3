# SPDX-License-Identifier: Apache-2.0
"""The command line of dtrun: help, version, and errors for mistakes."""
import re

import launch


class Options(launch.Case):
    def assert_refused(self, arguments, *parts, **options):
        code, out, err = self.run_dtrun(*arguments, **options)
        self.assertEqual((code, out), (2, ""), err)
        self.assertTrue(err.startswith("dtrun: "), err)
        self.assertTrue(err.endswith("\nTry 'dtrun --help'.\n"), err)
        for part in parts:
            self.assertIn(part, err)

    def test_help__shows_every_option_and_examples(self):
        for option in ("--help", "-h"):
            code, out, err = self.run_dtrun(option)
            self.assertEqual((code, err), (0, ""))
            for part in ("usage: dtrun", "-n, --ranks N", "--bind", "--tag-output", "--timeout", "--heap", "--threads",
                         "\nranks, and where they run:\n", "\noutput:\n", "\ndeadline and resources:\n", "\nafter a failure:\n",
                         "Examples:", "dtrun -n 4 "):
                self.assertIn(part, out)
            self.assertLessEqual(max(map(len, out.splitlines())), 110)

    def test_manual__describes_every_option(self):
        manual = (launch.SOURCE / "man/dtrun.1").read_text()
        options = re.findall(r"--[a-z-]+", self.run_dtrun("--help")[1].split("\n\n")[1])
        self.assertIn("--timeout", options)
        for option in options:
            self.assertIn(f"Fl -{option[2:]}", manual)

    def test_version__is_the_library_s(self):
        header = (launch.SOURCE / "include/dtensor/base.h").read_text()
        version = ".".join(re.findall(r"#define DT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
        for option in ("--version", "-V"):
            self.assertEqual(self.run_dtrun(option), (0, f"dtrun (dtensor) {version}\n", ""))

    def test_mistakes__are_errors_with_the_expected_values(self):
        self.assert_refused([], "expected a program to run")
        self.assert_refused(["-n", "4"], "expected a program")
        self.assert_refused(["-n", "4", "--"], "expected a program")
        self.assert_refused(["-n"], "-n: expected an integer from 1 to 4096, got no value")
        self.assert_refused(["--timeout"], "--timeout: expected", "30s", "got no value")
        for n in ("0", "-1", "5000", "4097", "four", "4x", "", "1.5", "99999999999999999999"):
            self.assert_refused(["-n", n, "true"], f'--ranks: expected an integer from 1 to 4096, got "{n}"')
        self.assert_refused(["--frobnicate", "true"], "--frobnicate: unknown option")
        self.assert_refused(["--rnaks", "2", "true"], "--rnaks: unknown option; did you mean --ranks?")
        self.assert_refused(["--bind", "nuna", "true"], 'expected none, core, numa or package, got "nuna"; did you mean numa?')
        self.assert_refused(["-x", "true"], "-x: unknown option")
        self.assert_refused(["--tag-output=yes", "true"], "--tag-output", "no value")
        self.assert_refused(["--bind", "socket", "true"], '--bind: expected none, core, numa or package, got "socket"')
        self.assert_refused(["--timeout", "soon", "true"], "--timeout: expected a duration", 'got "soon"')
        self.assert_refused(["--heap", "big", "true"], "--heap: expected a size", 'got "big"')
        self.assert_refused(["--threads", "0", "true"], "--threads: expected an integer from 1", 'got "0"')

    def test_mistakes__in_variables_are_refused(self):
        self.assert_refused(["true"], 'DTENSOR_THREADS: expected an integer from 1 to 4096, got "many"',
                            environment={"DTENSOR_THREADS": "many"})
        self.assert_refused(["true"], 'DTENSOR_HEAP: expected a size such as 512M or 8G, got "-1"',
                            environment={"DTENSOR_HEAP": "-1"})

    def test_program__keeps_its_own_options(self):
        for arguments in (["-n", "1", "echo", "--help", "-n", "3"], ["-n1", "--", "echo", "--help", "-n", "3"],
                          ["--ranks=1", "echo", "--help", "-n", "3"]):
            code, out, err = self.run_dtrun(*arguments)
            self.assertEqual((code, err), (0, ""))
            self.assertNotIn("dtrun", out)
            self.assertTrue(out.endswith("-n 3\n") or "Usage" in out, out)
        self.assertEqual(self.run_dtrun("-n", "1", "--", "printf", "%s,", "--", "-n", ""), (0, "--,-n,,", ""))

    def test_ranks__are_as_many_as_cores_by_default(self):
        code, out, _ = self.run_dtrun("sh", "-c", "echo $WORLD_SIZE")
        self.assertEqual(code, 0)
        self.assertEqual(set(out.split()), {str(len(out.split()))})
        code, out, _ = self.run_dtrun("sh", "-c", "echo $WORLD_SIZE",
                                   preexec_fn=lambda: launch.os.sched_setaffinity(0, {min(launch.os.sched_getaffinity(0))}))
        self.assertEqual((code, out), (0, "1\n"))

    def test_heap__that_is_too_large_is_refused(self):
        code, out, err = self.run_dtrun("-n", "4", "--heap", "1000000T", "true")
        self.assertEqual((code, out), (125, ""))
        self.assertIn("DTENSOR_HEAP", err)


launch.main()
