#!/bin/sh
# Installs into an empty prefix, then builds and runs a C and a C++ program against it: by
# pkg-config (shared, and static) and by find_package. Nothing of the build tree is on the path.
set -eu
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >"$work/log" || { cat "$work/log"; exit 1; }

pc=$(find "$prefix" -name sheaf.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
libdir=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH
if grep -rn "$build" "$prefix/include" "$libdir/cmake" "$PKG_CONFIG_PATH"; then
    echo "the installed files name the build directory (above)"
    exit 1
fi
for private in rocksdb snappy stdc++; do
    pkg-config --static --libs sheaf | grep -q -e "-l:*\(lib\)*$private" || { echo "Libs.private lacks $private"; exit 1; }
done

passed=0
check() { # name, program: runs it and looks at what it says
    rm -rf "$work/data"
    said=$(LD_LIBRARY_PATH=$libdir "$2" "$work/data") || { echo "$1: failed: $said"; exit 1; }
    [ "$said" = "mem rocks A 1.5" ] || { echo "$1 said: $said"; exit 1; }
    passed=$((passed + 1))
}
needs() { # name, program, "yes" when it should need libsheaf.so
    if readelf -d "$2" | grep -q 'NEEDED.*libsheaf\.so\.0'; then is=yes; else is=no; fi
    [ "$is" = "$3" ] || { echo "$1: needs libsheaf.so.0: $is, wanted $3"; exit 1; }
}

for package in sheaf sheaf-static; do
    shared=yes
    [ $package = sheaf ] || shared=no
    gcc -std=c11 -Wall -Wextra -Werror "$source/use.c" -o "$work/c" $(pkg-config --cflags --libs $package)
    for standard in 17 20; do
        g++ -std=c++$standard -Wall -Wextra -Werror "$source/use.cpp" -o "$work/c++$standard" $(pkg-config --cflags --libs $package)
    done
    for language in c c++17 c++20; do
        check "$package by pkg-config, $language" "$work/$language"
        needs "$package by pkg-config, $language" "$work/$language" $shared
    done
done

cmake -G Ninja -S "$source" -B "$work/cm" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
    cmake --build "$work/cm" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
for program in c_shared c_static cpp_shared cpp_static; do
    check "find_package, $program" "$work/cm/$program"
    case $program in *_shared) needs $program "$work/cm/$program" yes ;; *) needs $program "$work/cm/$program" no ;; esac
done
echo "$passed passed, 0 failed"
