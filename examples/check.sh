#!/bin/sh
# check.sh [--twice] EXPECTED PROGRAM [DIRECTORY]: what the program prints is what EXPECTED holds.
# With a directory, which is removed first, a second run finds what the first one stored.
set -eu
runs=1
[ "$1" != --twice ] || { runs=2; shift; }
expected=$1
shift
[ -z "${2-}" ] || rm -rf "$2"
while [ $runs -gt 0 ]; do
    said=$("$@") || { echo "$1 failed"; exit 1; }
    printf '%s\n' "$said" | diff -u "$expected" -
    runs=$((runs - 1))
done
