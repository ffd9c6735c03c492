#!/usr/bin/env python3
"""run-interop tells a registry that does not answer from a suite that fails: a false mvn stands in
for Maven, so that neither Java nor a network is needed."""
import os, subprocess, sys, tempfile, unittest

TOOL = sys.argv.pop(1)
REPORT = """<testsuite><testcase name="a"/><testcase name="b"/>
<testcase name="c"><skipped/></testcase>%s</testsuite>"""


class RunInterop(unittest.TestCase):
    def run_with(self, mvn, suites=("java",), **environment):
        """What run-interop says when this shell script is mvn."""
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/mvn", "w") as f:
                f.write(f"#!/bin/sh\nreports={folder}/java/sheaf-interop/surefire-reports\n{mvn}\n")
            os.chmod(f"{folder}/mvn", 0o755)
            done = subprocess.run(
                [sys.executable, TOOL, *suites], capture_output=True, text=True, env={
                    **os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "INTEROP_DIR": folder,
                    "SHEAF_BINARY": "/bin/true", **environment})
        return done.returncode, done.stdout + done.stderr

    def mvn_reports(self, more, status):
        """A mvn whose tests, the offline run, leave this report."""
        return self.run_with(f"""case "$*" in *--offline*)
            mkdir -p "$reports"
            echo '{REPORT % more}' >"$reports/TEST-x.xml"
            exit {status};;
        esac""")

    def test_counts_what_passed(self):
        status, said = self.mvn_reports("", 0)
        self.assertTrue(said.endswith("ran: java; skipped: none\n2 passed, 0 failed\n"), said)
        self.assertEqual(status, 0)

    def test_counts_what_failed(self):
        status, said = self.mvn_reports('<testcase name="d"><failure/></testcase>', 1)
        self.assertTrue(said.endswith("ran: java; skipped: none\n2 passed, 1 failed\n"), said)
        self.assertEqual(status, 1)

    def test_a_run_that_dies_has_failed(self):
        status, said = self.mvn_reports("", 1)
        self.assertTrue(said.endswith("\n2 passed, 1 failed\n"), said)
        self.assertEqual(status, 1)

    def test_a_registry_that_does_not_answer_is_skipped_and_nothing_run_is_a_failure(self):
        status, said = self.run_with(
            'echo "Could not transfer artifact x from/to central: Connection refused"; exit 1')
        self.assertIn("Connection refused", said)
        self.assertIn("nothing ran", said)
        self.assertTrue(said.endswith("ran: none; skipped: java\n0 passed, 1 failed\n"), said)
        self.assertEqual(status, 1)

    def test_code_that_does_not_compile_is_a_failure(self):
        status, said = self.run_with('echo "COMPILATION ERROR"; exit 1')
        self.assertIn("COMPILATION ERROR", said)
        self.assertTrue(said.endswith("ran: java; skipped: none\n0 passed, 1 failed\n"), said)
        self.assertEqual(status, 1)

    def test_a_suite_that_is_none_is_refused(self):
        status, said = self.run_with("exit 0", suites=["cobol"])
        self.assertIn("no suite cobol", said)
        self.assertEqual(status, 1)

    def test_a_missing_server_is_told(self):
        status, said = self.run_with("exit 0", SHEAF_BINARY="/absent/sheaf")
        self.assertIn("there is no server at /absent/sheaf", said)
        self.assertEqual(status, 1)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(failed > 0)
