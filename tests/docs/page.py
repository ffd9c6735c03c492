"""Compiles and runs every C and C++ block of a page, and compares what it prints with the block that
follows.

usage: page.py PAGE INCLUDE_DIR LIBRARY_DIR
A ```c or ```cpp block with a main is a program. The other ```c blocks of a page are pieces of one more
program, in order: those that begin with `static`, `#define` or a type's definition stand at its top, the
others each in braces inside main, where `db` (a sheaf_db *) and `err` (a sheaf_error) are declared. A
```text block right behind one is exactly what it prints.
"""
import os, re, subprocess, sys, tempfile

HEAD = "#define SHEAF_SHORT_NAMES\n#include <sheaf/mapper.h>\n#include <string.h>\nstatic sheaf_error err;\nstatic sheaf_db *db;\n"
TOP = r"static|#define|(struct|enum) \w+ \{"
MARK = "---- piece {} ----\n"
COMPILERS = {"c": ["gcc", "-std=c11", "-x", "c"], "cpp": ["g++", "-std=c++17", "-x", "c++"]}


def run(language, code, include, libraries):
    """What the program prints, or None after saying what is wrong."""
    with tempfile.TemporaryDirectory() as work:
        program = f"{work}/program"
        built = subprocess.run(COMPILERS[language] + ["-Wall", "-Wextra", "-Werror", "-I", include, "-", "-o", program,
                                                      "-L", libraries, "-lsheaf"], input=code, text=True)
        if built.returncode != 0:
            return None
        ran = subprocess.run([program], cwd=work, capture_output=True, text=True,
                             env={**os.environ, "LD_LIBRARY_PATH": libraries})
        if ran.returncode == 0:
            return ran.stdout
        print(f"exit code {ran.returncode}; it printed:\n{ran.stdout}{ran.stderr}")
        return None


def blocks_of(text):
    """(line, language, code, the text it should print or None)"""
    found = [(text.count("\n", 0, m.start()) + 2, m.group(1), m.group(2))
             for m in re.finditer(r"^```(\w*)\n(.*?)^```\n", text, re.M | re.S)]
    for i, (line, language, code) in enumerate(found):
        after = found[i + 1] if i + 1 < len(found) else (0, "", "")
        if language in COMPILERS:
            yield line, language, code, after[2] if after[1] == "text" else None


def pieces_as_program(page, pieces):
    top, body = HEAD, ""
    for line, _, code, _ in pieces:
        if re.match(TOP, code):
            top += f'#line {line} "{page}"\n{code}'
        else:
            body += f'printf("%s", "{MARK.format(line)[:-1]}\\n");\n{{\n#line {line} "{page}"\n{code}}}\n'
    return f"{top}int main(void)\n{{\n{body}return 0;\n}}\n"


def outputs_of_pieces(page, pieces, include, libraries):
    """line -> what the piece printed"""
    printed = run("c", pieces_as_program(page, pieces), include, libraries)
    parts = re.split(MARK.format(r"(\d+)"), printed or "")[1:]
    return {int(line): said for line, said in zip(parts[::2], parts[1::2])}


def main(page, include, libraries):
    with open(page, encoding="utf-8") as f:
        blocks = list(blocks_of(f.read()))
    pieces = [b for b in blocks if "int main(" not in b[2]]
    said = outputs_of_pieces(page, pieces, include, libraries) if pieces else {}
    failed = 0
    for block in blocks:
        line, language, code, wanted = block
        if block not in pieces:
            got = run(language, code, include, libraries)
        else:
            got = said.get(line, "" if said and re.match(TOP, code) else None)
        if got is None or (wanted is not None and got != wanted):
            print(f"{page}:{line}: this block does not do what the page says; it printed:\n{got}")
            failed += 1
    if not blocks:
        print(f"{page} holds no code")
        failed = 1
    print(f"{len(blocks) - failed if blocks else 0} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
