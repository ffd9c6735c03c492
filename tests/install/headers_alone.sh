#!/bin/sh
# Every public header compiles alone, twice in one file, as C11, C++17 and C++20, with gcc and (where
# installed) clang, under full warnings. Then -Wpadded names the structs with holes: information
# for whoever changes a public struct, not a verdict.
set -u
include=$1
passed=0 failed=0
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror"

compile() { # compiler language standard header
    if printf '#include <%s>\n#include <%s>\n' "$4" "$4" |
        "$1" -x "$2" -std="$3" $warnings -I "$include" -fsyntax-only -; then
        passed=$((passed + 1))
    else
        echo "FAILED: $1 -std=$3 <$4>"
        failed=$((failed + 1))
    fi
}

cd "$include" || exit 1
for header in $(find sheaf -name '*.h' | sort); do
    for pair in gcc:g++ clang:clang++; do
        command -v "${pair%:*}" >/dev/null || continue
        compile "${pair%:*}" c c11 "$header"
        compile "${pair#*:}" c++ c++17 "$header"
        compile "${pair#*:}" c++ c++20 "$header"
    done
    printf '#include <%s>\n' "$header" | gcc -x c -std=c11 -Wpadded -I "$include" -fsyntax-only - 2>&1 |
        grep "$header.*warning" | sed 's/^/note: /; s/warning: //'
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
