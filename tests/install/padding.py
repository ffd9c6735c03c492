"""Request structs have no implicit padding.

usage: padding.py INCLUDE_DIR
A member that is added later could land in bytes that an older program left undefined, and the library
would read them as a wish. So whatever a caller fills in (the structs of SHEAF_CALLS_, sheaf_options,
and the structs these hold or point to) spells its holes as reserved_ members. What the library fills
in is handed out by pointer and may have holes. gcc's -Wpadded finds them; a planted one must be found.
"""
import re, subprocess, sys, tempfile

HEADER = "sheaf/sheaf.h"


def bodies(text):
    """name -> (first line, last line, body) of every struct in the header."""
    found = {}
    for m in re.finditer(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
        first = text.count("\n", 0, m.start()) + 1
        found[m.group(1)] = (first, first + m.group(0).count("\n"), m.group(2))
    return found


def filled_by_callers(text, structs):
    calls = re.search(r"#define SHEAF_CALLS_\(X\)(.*?)\n\n", text, re.S).group(1)
    todo = ["sheaf_options"] + re.findall(r"X\(\w+, (\w+)\)", calls)
    wanted = set()
    while todo:
        name = todo.pop()
        if name in structs and name not in wanted:
            wanted.add(name)
            todo += re.findall(r"struct (\w+)", structs[name][2])
    return wanted


def holes(include, text):
    """(number of structs looked at, complaints)"""
    structs = bodies(text)
    wanted = filled_by_callers(text, structs)
    with tempfile.TemporaryDirectory() as work:
        copy = f"{work}/header.h"
        with open(copy, "w", encoding="utf-8") as f:
            f.write(text)
        done = subprocess.run(["gcc", "-x", "c", "-std=c11", "-Wpadded", "-fsyntax-only", "-I", include, copy],
                              capture_output=True, text=True)
    complaints = [] if done.returncode == 0 else [done.stderr]
    for line, what in re.findall(r"header\.h:(\d+):\d+: warning: (.*)", done.stderr):
        inside = [n for n, (first, last, _) in structs.items() if first <= int(line) <= last]
        if not inside or inside[0] in wanted:
            complaints.append(f"{HEADER}:{line}: struct {', '.join(inside) or '?'}: {what}")
    return len(wanted), complaints


def main(include):
    with open(f"{include}/{HEADER}", encoding="utf-8") as f:
        text = f.read()
    n, complaints = holes(include, text)
    passed, failed = (n, 0) if not complaints else (0, 1)
    print("\n".join(complaints))
    for name in "sheaf_put_item", "sheaf_fault", "sheaf_transact_write":  # a call's, a held one, one of an array
        planted = re.sub(rf"^struct {name} {{\n", rf"struct {name} {{\n    bool planted;\n", text, flags=re.M)
        if any(f"struct {name}:" in c for c in holes(include, planted)[1]):
            passed += 1
        else:
            print(f"a hole planted in struct {name} was not found")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or n < 20 else 0


sys.exit(main(*sys.argv[1:]))
