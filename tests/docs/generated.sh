#!/bin/sh
# Fails when a page is not what gen_docs writes now.
"$1" "$2" | diff -u "$3" - || { echo "$3 is out of date: run make docs"; exit 1; }
