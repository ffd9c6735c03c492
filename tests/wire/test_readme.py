"""The commands of README.md's first look, run by a shell against a server, print what it shows."""
import os, re, shutil, subprocess
import harness
from harness import Case, Server

AWS = "/usr/bin/aws" if os.path.exists("/usr/bin/aws") else shutil.which("aws")


class Readme(Case):
    args = None

    def test_first_look_prints_what_it_shows(self):
        self.assertTrue(AWS, "the AWS CLI is missing: scripts/setup test installs Debian's awscli")
        with open(os.path.join(harness.ROOT, "README.md"), encoding="utf-8") as f:
            text = f.read()
        look = text.split("## A first look\n", 1)[1].split("\n## ", 1)[0]
        commands = re.search(r"^```sh\n(.*?)^```\n", look, re.M | re.S).group(1)
        shown = re.search(r"^```json\n(.*?)^```\n", look, re.M | re.S).group(1)
        self.assertIn("http://127.0.0.1:8000", commands)
        with Server("--data", self.path("d")) as s:
            commands = commands.replace("http://127.0.0.1:8000", s.url)
            env = {"PATH": os.path.dirname(AWS) + ":/usr/bin:/bin", "HOME": self.folder,
                   "AWS_PAGER": "", "AWS_EC2_METADATA_DISABLED": "true"}
            ran = subprocess.run(["bash", "-e", "-c", commands], env=env, capture_output=True,
                                 text=True, timeout=harness.TIMEOUT * 3)
        self.assertEqual(ran.stderr, "")
        self.assertEqual(ran.returncode, 0)
        self.assertEqual(ran.stdout, shown)


if __name__ == "__main__":
    harness.main()
