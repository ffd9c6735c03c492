"""Compiles and runs every C block of a page, and compares what it prints with the block that follows.

usage: readme.py README.md INCLUDE_DIR LIBRARY_DIR
A ```c block must be a whole program. A ```text block right behind it is its exact output.
"""
import os, re, subprocess, sys, tempfile


def main(page, include, libraries):
    with open(page, encoding="utf-8") as f:
        text = f.read()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```\n", text, re.M | re.S)
    passed = failed = 0
    for i, (language, code) in enumerate(blocks):
        if language != "c":
            continue
        following = blocks[i + 1] if i + 1 < len(blocks) else ("", "")
        with tempfile.TemporaryDirectory() as work:
            program = f"{work}/program"
            built = subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", include, "-x", "c", "-", "-o",
                                    program, "-L", libraries, "-lsheaf"], input=code, text=True)
            if built.returncode == 0:
                ran = subprocess.run([program], cwd=work, capture_output=True, text=True,
                                     env={**os.environ, "LD_LIBRARY_PATH": libraries})
                if ran.returncode == 0 and (following[0] != "text" or ran.stdout == following[1]):
                    passed += 1
                    continue
                print(f"exit code {ran.returncode}; it printed:\n{ran.stdout}{ran.stderr}")
        print(f"{page}: C block number {i + 1} does not do what the page says")
        failed += 1
    if passed + failed == 0:
        print(f"{page} holds no C block")
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
