#!/bin/sh
# Every public header compiles alone, twice in one file, as C11, C++17 and C++20 (.hpp: C++ only), with
# gcc and (where installed) clang, under full warnings: plainly, without the pragma that hides warnings
# born in macros, with short names asked for, and in a program that has macros of its own with names that a careless header would trip over.
set -u
include=$1
passed=0 failed=0
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror"

compile() { # compiler language standard header
    for variant in "" -DSHEAF_NO_SYSTEM_HEADER_ -DSHEAF_SHORT_NAMES "-DVERSION=1 -DSTR=1 -DKEY=1 -DN=1 -DS=1 -DB=1"; do
        if printf '#include <%s>\n#include <%s>\n' "$4" "$4" |
            "$1" -x "$2" -std="$3" $warnings $variant -I "$include" -fsyntax-only -; then
            passed=$((passed + 1))
        else
            echo "FAILED: $1 -std=$3 $variant <$4>"
            failed=$((failed + 1))
        fi
    done
}

cd "$include" || exit 1
for header in $(find sheaf -name '*.h' -o -name '*.hpp' | sort); do
    for pair in gcc:g++ clang:clang++; do
        command -v "${pair%:*}" >/dev/null || continue
        [ "${header%.h}" = "$header" ] || compile "${pair%:*}" c c11 "$header"
        compile "${pair#*:}" c++ c++17 "$header"
        compile "${pair#*:}" c++ c++20 "$header"
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
