"""run-tests must count cases and must not let a missing, dead or silent test pass."""
import subprocess, sys, tempfile

PROJECT = r"""
cmake_minimum_required(VERSION 3.25)
project(planted NONE)
enable_testing()
function(plant name script)
  add_test(NAME ${name} COMMAND sh -c "${script}")
endfunction()
plant(plain "exit 0")
plant(own "echo unverified rows: 3 && echo 9 rows, 2 of them unverified && echo 7 passed, 0 failed")
plant(own-bad "echo 7 passed, 2 failed && exit 1")
plant(own-lies "echo 1 passed, 1 failed")
plant(cmocka "echo '[==========] Running 2 test(s).' && echo '[       OK ] a' && echo '[       OK ] b'")
plant(cmocka-dies "echo '[==========] Running 3 test(s).' && echo '[       OK ] a' && kill -KILL $$")
plant(cmocka-bad "echo '[==========] Running 2 test(s).' && echo '[       OK ] a' && echo '[  FAILED  ] 1 test(s), listed below:' && exit 1")
plant(plain-bad "exit 1")
add_test(NAME missing COMMAND /nonexistent/program)
plant(skipped "exit 77")
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
plant(environment "test \"$GREETING\" = hello")
set_tests_properties(environment PROPERTIES ENVIRONMENT GREETING=hello)
"""
CASES = [  # (options, last line)
    (["-R", "^plain$"], "1 passed, 0 failed"),
    (["-R", "^own$"], "7 passed, 0 failed"),
    (["-R", "^own-bad$"], "7 passed, 2 failed"),
    (["-R", "^own-lies$"], "1 passed, 1 failed"),
    (["-R", "^cmocka$"], "2 passed, 0 failed"),
    (["-R", "^cmocka-dies$"], "1 passed, 1 failed"),
    (["-R", "^cmocka-bad$"], "1 passed, 1 failed"),
    (["-R", "^plain-bad$"], "0 passed, 1 failed"),
    (["-R", "^missing$"], "0 passed, 1 failed"),
    (["-R", "^environment$"], "1 passed, 0 failed"),
    (["-R", "^nothing$"], "0 passed, 1 failed"),
    (["-R", "^skipped$"], "0 passed, 1 failed"),  # nothing but a skipped test is no test
    (["-R", "^(own|cmocka|skipped)$"], "9 passed, 0 failed"),
]


def main(tool):
    failures = 0
    with tempfile.TemporaryDirectory() as root:
        with open(f"{root}/CMakeLists.txt", "w", encoding="utf-8") as f:
            f.write(PROJECT)
        subprocess.run(["cmake", "-G", "Ninja", "-S", root, "-B", f"{root}/b"], check=True, stdout=subprocess.DEVNULL)
        plans = [([], o, w) for o, w in CASES]
        plans += [(["--long"], o, w) for o, w in CASES if o[1] not in ("^missing$", "^(own|cmocka|skipped)$")]
        for mode, options, wanted in plans:
            done = subprocess.run([sys.executable, tool] + mode + [f"{root}/b"] + options, capture_output=True, text=True)
            last = (done.stdout.strip().split("\n") or [""])[-1]
            good = done.returncode == (0 if wanted.endswith(" 0 failed") else 1)
            if last != wanted or not good or ("own$" in options[1] and "unverified rows: 5" not in done.stdout):
                print(f"{mode} {options}: wanted '{wanted}', rc {done.returncode}, got:\n{done.stdout}{done.stderr}")
                failures += 1
    print(f"{len(plans) - failures} passed, {failures} failed")
    return 1 if failures else 0


sys.exit(main(sys.argv[1]))
