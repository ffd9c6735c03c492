#!/bin/sh
# libsheaf.so exports sheaf_* and nothing else, and every function that the public headers declare.
set -eu
names=$(nm -D --defined-only "$1" | awk '{ print $NF }')
n=$(printf '%s\n' "$names" | grep -c '^sheaf_') || { echo "$1 exports no sheaf_ name at all"; exit 1; }
foreign=$(printf '%s\n' "$names" | grep -v '^sheaf_') || true
if [ -n "$foreign" ]; then
    echo "names that should be hidden:"
    echo "$foreign"
    exit 1
fi
missing=
for name in $(cat "$2"/sheaf/*.h | tr '\n' ' ' | grep -oE 'SHEAF_API [^;(]*\(' | grep -oE 'sheaf_[a-z0-9_]+\($' | tr -d '('); do
    printf '%s\n' "$names" | grep -qx "$name" || missing="$missing $name"
done
if [ -n "$missing" ]; then
    echo "declared in a header, but not exported:$missing"
    exit 1
fi
echo "$n exported names, all of them sheaf_*"
