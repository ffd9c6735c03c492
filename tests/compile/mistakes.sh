#!/bin/sh
# Each file of mistakes/ compiles as C and as C++, and with -DMISTAKE it does not: the first error is
# the one that the file's second line asks for, and the message names what its third line says. With
# gcc, g++, clang and clang++, as far as they are installed.
set -u
include=$1 folder=$2
passed=0 failed=0 absent=
said=$(mktemp)
trap 'rm -f "$said"' EXIT
# A shape or a table of names that a file does not use is no mistake here.
warnings="-Wall -Wextra -Werror -Wno-unused-variable -Wno-unused-const-variable -Wno-unused-function"

try() { # compiler language standard file
    how="-x $2 -std=$3 $warnings -I $include -I $folder/.. -fsyntax-only"
    wanted=$(sed -n '2s/.*error: //; 2s| \*/$||; 2p' "$4")
    named=$(sed -n '3s/.*names: //; 3s| \*/$||; 3p' "$4")
    if ! "$1" $how "$4"; then
        echo "FAILED: $1 -std=$3 ${4##*/}: does not compile without the mistake"
    elif "$1" $how -DMISTAKE "$4" 2>"$said"; then
        echo "FAILED: $1 -std=$3 ${4##*/}: compiles with the mistake"
    elif ! grep -m 1 'error:' "$said" | grep -qE "$wanted" || ! grep -q "$named" "$said"; then
        echo "FAILED: $1 -std=$3 ${4##*/}: wanted '$wanted' in the first error, and '$named', of:"
        cat "$said"
    else
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
}

for pair in gcc:g++ clang:clang++; do
    for file in "$folder"/*.c; do
        if command -v "${pair%:*}" >/dev/null; then
            try "${pair%:*}" c c11 "$file"
        else
            absent="$absent ${pair%:*}"
        fi
        if command -v "${pair#*:}" >/dev/null; then
            try "${pair#*:}" c++ c++17 "$file"
            try "${pair#*:}" c++ c++20 "$file"
        else
            absent="$absent ${pair#*:}"
        fi
    done
done
[ -z "$absent" ] || echo "not installed, not tried:$(echo "$absent" | tr ' ' '\n' | sort -u | tr '\n' ' ')"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
