#!/bin/sh
# Each file of mistakes/ compiles, and with -DMISTAKE it does not: the first error is the one that the
# file's second line asks for, and the message names what its third line says. With every compiler.
set -u
include=$1 folder=$2
passed=0 failed=0
said=$(mktemp)
trap 'rm -f "$said"' EXIT

try() { # compiler standard file
    how="-std=$2 -Wall -Wextra -Werror -I $include -c -o /dev/null"
    wanted=$(sed -n '2s/.*error: //; 2s| \*/$||; 2p' "$3")
    named=$(sed -n '3s/.*names: //; 3s| \*/$||; 3p' "$3")
    if ! "$1" $how "$3"; then
        echo "FAILED: $1 -std=$2 ${3##*/}: does not compile without the mistake"
    elif "$1" $how -DMISTAKE "$3" 2>"$said"; then
        echo "FAILED: $1 -std=$2 ${3##*/}: compiles with the mistake"
    elif ! grep -m 1 'error:' "$said" | grep -qE "$wanted" || ! grep -q "$named" "$said"; then
        echo "FAILED: $1 -std=$2 ${3##*/}: wanted '$wanted' in the first error, and '$named', of:"
        cat "$said"
    else
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
}

for pair in gcc:g++ clang:clang++; do
    command -v "${pair%:*}" >/dev/null || continue
    for file in "$folder"/*.c; do try "${pair%:*}" c11 "$file"; done
    for file in "$folder"/*.cpp; do
        try "${pair#*:}" c++17 "$file"
        try "${pair#*:}" c++20 "$file"
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
