"""Loads the sample of docs/authentication.md and signs with its keys, through oracle_signature.

usage: keys.py PAGE PROGRAM
"""
import os, re, subprocess, sys, tempfile

page, program = sys.argv[1:]
with open(page, encoding="utf-8") as f:
    samples = re.findall(r"^```ini\n(.*?)^```\n", f.read(), re.M | re.S)
assert len(samples) == 1, "the page has one sample"
keys = re.findall(r"^\[(\w+)\]\nsecret = (\S+)\n(?:session_token = (\S+)\n\s+(\S+)\n)?", samples[0], re.M)
assert len(keys) == samples[0].count("["), "every key of the sample is found"


def hexed(*fields):
    return " ".join("x" + str(f).encode().hex() for f in fields)


def ask(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline().rstrip("\n")


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "keys.ini")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as f:
        f.write(samples[0])
    process = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    now, request = 1800000000, ["POST", "/", "", "{}", "Host", "h"]
    for key, secret, first, rest in keys:
        signed = ask(process, "S " + hexed(now, key, secret, first + rest, "us-east-1", *request)).split("|")
        headers = ["X-Amz-Date", signed[0], "Authorization", signed[1]] + (["X-Amz-Security-Token", signed[2]] if first else [])
        answer = ask(process, "V " + hexed(now, 0, *request, *headers))
        assert answer == f"ok {key} us-east-1", (key, answer)
    process.stdin.close()
    assert process.wait() == 0
    os.chmod(path, 0o644)
    refused = subprocess.run([program, path], input="", capture_output=True, text=True)
    assert "others may read it (mode 0644); chmod 600 it" in refused.stderr, refused.stderr
print(f"{len(keys) + 1} passed, 0 failed")
