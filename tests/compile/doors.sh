#!/bin/sh
# doors.c prints the same descriptors whichever compiler, language and door.
set -u
include=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

try() { # compiler language standard options…
    compiler=$1 language=$2 standard=$3
    shift 3
    if "$compiler" -x "$language" -std="$standard" -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror "$@" \
        -I "$include" "$source" -o "$work/doors" && "$work/doors" >"$work/said"; then
        [ -e "$work/first" ] || cp "$work/said" "$work/first"
        if cmp -s "$work/said" "$work/first"; then
            passed=$((passed + 1))
            return
        fi
    fi
    echo "FAILED: $compiler -std=$standard $*"
    diff "$work/first" "$work/said" 2>/dev/null
    failed=$((failed + 1))
}

both() { # compiler language standard
    command -v "$1" >/dev/null || { echo "$1 is not installed: not tried"; return; }
    try "$1" "$2" "$3"
    try "$1" "$2" "$3" -DSHEAF_NO_SYSTEM_HEADER_
    try "$1" "$2" "$3" -DCLASH '-DVERSION="1.0"' '-DSTR(x)=#x' -DKEY=1
    try "$1" "$2" "$3" -DCLASH '-DVERSION="1.0"' '-DSTR(x)=#x' -DKEY=1 -DSHEAF_NO_SYSTEM_HEADER_
}
for pair in gcc:g++ clang:clang++; do
    both "${pair%:*}" c c11
    both "${pair#*:}" c++ c++17
    both "${pair#*:}" c++ c++20
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
