"""Plants one violation at a time in a small tree and expects check-layers to name it."""
import os, subprocess, sys, tempfile

CLEAN = {
    "include/sheaf/error.h": "#include <stdint.h>\n",
    "include/sheaf/sys/engine.h": "#include <sheaf/error.h>\n",
    "src/base/mem.c": '#include "base/mem.h"\nvoid *f(void) { return malloc(1); }\n',
    "src/base/clock.c": "void g(void) { clock_gettime(0, 0); }\n",
    "src/base/rng.c": "void h(void) { getrandom(0, 0, 0); }\n",
    "src/value/val.c": '#include "base/mem.h"\n#include "value/val.h"\n#include "val.h"\n',
    "src/key/key.c": '#include "value/val.h"\n#include <sheaf/sys/engine.h>\n',
    "src/engine/run.c": '#include "base/mem.h"\n#include <sheaf/sys/engine.h>\n',
    "src/engine/rocks/rocks.c": '#include "engine/engine.h"\n#include <rocksdb/c.h>\nvoid r(char *p) { rocksdb_free(p); }\n',
    "src/engine/fault/fault.c": '#include "engine/engine.h"\nvoid r(void) { raise(9); }\n',
    "src/core/exec.c": '#include "engine/engine.h"\n#include "expr/expr.h"\n/* JSON stays outside */\n',
    "src/ops/put.c": '#include "core/core.h"\n#include "json/json.h"\n',
    "src/server/main.c": '#include "http/loop.h"\n#include "ops/put.h"\nvoid p(void) { printf("x"); }\n',
    "src/mapper/map.c": '#include "base/span.h"\n#include <sheaf/sheaf.h>\n',
    "examples/hello.c": "#include <sheaf/error.h>\n#include <stdio.h>\n",
    "bench/micro/b.c": "#include <rocksdb/c.h>\n",
    "tests/unit/value/test_val.c": '#include "value/val.h"\nvoid t(void) { free(0); }\n',
    "src/value/words.c": '/* malloc( in a comment */\nconst char *s = "free(x)";\nvoid w(struct o *o) { o->free(o); my_free(o); }\n',
}
PLANTS = [  # (file, text, line, a word of the complaint)
    ("src/base/up.c", '#include "value/val.h"\n', 1, "base may include public headers only"),
    ("src/value/up.c", '\n#include "key/key.h"\n', 2, "value may include base"),
    ("src/value/engine.c", "#include <sheaf/sys/engine.h>\n", 1, "public headers"),
    ("src/expr/side.c", '#include "key/key.h"\n', 1, "expr may include"),
    ("src/key/eng.c", '#include "engine/engine.h"\n', 1, "key may include"),
    ("src/engine/val.c", '#include "value/val.h"\n', 1, "engine may include base"),
    ("src/engine/mem/val.c", '#include "value/val.h"\n', 1, "engine/mem may include"),
    ("src/engine/mem/side.c", '#include "engine/rocks/rocks.h"\n', 1, "engine/mem may include"),
    ("src/core/eng.c", '#include "engine/mem/mem.h"\n', 1, "core may include"),
    ("src/core/run.c", '#include "engine/run.h"\n', 1, "engine/engine.h only"),
    ("src/core/json.c", '#include "json/json.h"\n', 1, "core may include"),
    ("src/core/word.c", "int parse_json;\n", 1, "does not say"),
    ("src/json/ops.c", '#include "ops/put.h"\n', 1, "json may include"),
    ("src/api/http.c", '#include "http/loop.h"\n', 1, "api may include"),
    ("src/auth/http.c", '#include "http/loop.h"\n', 1, "auth may include"),
    ("src/http/auth.c", '#include "auth/sig.h"\n', 1, "http may include"),
    ("src/server/core.c", '#include "engine/engine.h"\n', 1, "server may include"),
    ("src/client/state.c", '#include "core/state.h"\n', 1, "core/core.h only"),
    ("src/client/api.c", '#include "api/api.h"\n', 1, "client may include"),
    ("src/mapper/val.c", '#include "value/val.h"\n', 1, "mapper may include base"),
    ("src/mapper/api.c", '#include "api/api.h"\n', 1, "mapper may include base"),
    ("src/cli/core.c", '#include "core/core.h"\n', 1, "cli may include server"),
    ("src/attic/x.c", "int x;\n", 1, "no layer rule"),
    ("src/value/nowhere.c", '#include "attic/x.h"\n', 1, "no room"),
    ("include/sheaf/bad.h", '#include "base/span.h"\n', 1, "public headers include only"),
    ("examples/bad.c", '#include "base/span.h"\n', 1, "examples include public headers only"),
    ("src/engine/mem/rocks.c", "#include <rocksdb/c.h>\n", 1, "may know this library"),
    ("tests/unit/engine/test_r.c", "#include <rocksdb/c.h>\n", 1, "may know this library"),
    ("src/value/m.c", "\n\nvoid *f(void) { return malloc(1); }\n", 3, "only base/mem.c"),
    ("src/value/f.c", "void f(void *p) { free (p); }\n", 1, "only base/mem.c"),
    ("src/value/d.c", "char *f(char *p) { return strdup(p); }\n", 1, "only base/mem.c"),
    ("src/engine/mem/t.c", "/* now\n */ long f(void) { return time(0); }\n", 2, "only base/clock.c"),
    ("src/engine/mem/s.c", "void f(void) { usleep(1); }\n", 1, "only base/clock.c"),
    ("src/key/r.c", "int f(void) { return rand(); }\n", 1, "only base/rng.c"),
    ("src/key/u.c", 'const char *p = "/dev/urandom";\n', 1, "only base/rng.c"),
    ("src/expr/p.c", 'void f(void) { printf("x"); }\n', 1, "never prints"),
    ("src/expr/a.c", "void f(void) { abort(); }\n", 1, "never ends the process"),
]


def run(tool, files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(f"{root}/{path}"), exist_ok=True)
            with open(f"{root}/{path}", "w", encoding="utf-8") as f:
                f.write(text)
        done = subprocess.run([sys.executable, tool, root], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main(tool):
    failures = []
    rc, out = run(tool, CLEAN)
    if rc != 0:
        failures.append(f"a clean tree is refused:\n{out}")
    for path, text, line, words in PLANTS:
        rc, out = run(tool, {**CLEAN, path: text})
        if rc != 1 or f"{path}:{line}:" not in out or words not in out or "1 violation(s)" not in out:
            failures.append(f"planted in {path}, wanted line {line} and '{words}':\n{out}")
    for text in failures:
        print(text)
    print(f"{1 + len(PLANTS) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


sys.exit(main(sys.argv[1]))
