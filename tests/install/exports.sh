#!/bin/sh
# libsheaf.so exports sheaf_* and nothing else.
set -eu
names=$(nm -D --defined-only "$1" | awk '{ print $NF }')
n=$(printf '%s\n' "$names" | grep -c '^sheaf_') || { echo "$1 exports no sheaf_ name at all"; exit 1; }
foreign=$(printf '%s\n' "$names" | grep -v '^sheaf_') || true
if [ -n "$foreign" ]; then
    echo "names that should be hidden:"
    echo "$foreign"
    exit 1
fi
echo "$n exported names, all of them sheaf_*"
