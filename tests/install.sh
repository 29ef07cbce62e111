#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install.sh: installs into an empty folder, builds programs of C11, C17 and C++17 against that with pkg-config and with
# CMake, shared and static, runs them, and uninstalls. Prints "ok - NAME" and "not ok - NAME" lines.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
unset MAKEFLAGS MAKELEVEL # (this make's variables are in the environment; its jobs are not to be had)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
passed=0 failed=0
# expect NAME COMMAND...: it ends well; otherwise its output is shown.
expect() {
    local name=$1
    shift
    if "$@" >"$root/said" 2>&1; then
        echo "ok - $name"
        passed=$((passed + 1))
    else
        echo "not ok - $name"
        cat "$root/said"
        failed=$((failed + 1))
    fi
}
install_to() { # MAKE-TARGET OPTION...
    make BUILD="$build" DESTDIR="$root" "$@"
}

expect "it installs" install_to install PREFIX=/usr
cat >"$root/user.c" <<'C'
#include <foliot/foliot.h>
#include <stdio.h>
int main(void)
{
    const char *part = "";
    foliot_status status = foliot_self_test(&part);
    printf("%s %s %s\n", foliot_get_version(), foliot_status_get_name(status), part ? part : "");
    return status != FOLIOT_STATUS_OK;
}
C
cp "$root/user.c" "$root/user.cpp"

# With pkg-config. PKG_CONFIG_LIBDIR hides the .pc files of foliot's dependencies: it works without them.
export PKG_CONFIG_LIBDIR=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
by_pkg_config() { # COMPILER-AND-STANDARD SOURCE shared|static
    if [ "$3" = shared ]; then
        # shellcheck disable=SC2046,SC2086 # one word an option
        $1 -o "$root/user" "$2" $(pkg-config --cflags --libs foliot) && LD_LIBRARY_PATH=$root/usr/lib "$root/user"
    else
        # shellcheck disable=SC2046,SC2086
        $1 -o "$root/user" "$2" $(pkg-config --cflags --libs foliot-static) && "$root/user" &&
            ! readelf -d "$root/user" | grep 'NEEDED.*libfoliot'
    fi
}
for kind in shared static; do
    expect "C11 with pkg-config, $kind" by_pkg_config "gcc -std=c11" "$root/user.c" $kind
    expect "C17 with pkg-config, $kind" by_pkg_config "gcc -std=c17" "$root/user.c" $kind
    expect "C++17 with pkg-config, $kind" by_pkg_config "g++ -std=c++17" "$root/user.cpp" $kind
done
has_no_loader_path() { ! readelf -d "$root/usr/bin/foliot-server" | grep -E 'RPATH|RUNPATH'; }
expect "programs look for libraries in no folder of the build" has_no_loader_path

# With CMake.
mkdir "$root/project"
cat >"$root/project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(user C CXX)
find_package(foliot @VERSION@ REQUIRED)
foreach(kind foliot static)
    foreach(standard 11 17)
        add_executable(c${standard}_${kind} ../user.c)
        set_target_properties(c${standard}_${kind} PROPERTIES C_STANDARD ${standard} C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
        target_link_libraries(c${standard}_${kind} foliot::${kind})
    endforeach()
    add_executable(cpp17_${kind} ../user.cpp)
    set_target_properties(cpp17_${kind} PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
    target_link_libraries(cpp17_${kind} foliot::${kind})
endforeach()
CMAKE
version=$(pkg-config --modversion foliot)
sed -i "s/@VERSION@/${version%.*}/" "$root/project/CMakeLists.txt"
by_cmake() { # PREFIX
    rm -rf "$root/cmake"
    cmake -S "$root/project" -B "$root/cmake" -DCMAKE_PREFIX_PATH="$1" && cmake --build "$root/cmake"
}
expect "CMake finds it and builds" by_cmake "$root/usr"
for kind in foliot static; do
    for program in c11 c17 cpp17; do
        expect "$program with CMake, foliot::$kind" "$root/cmake/${program}_$kind"
    done
done
other_version() {
    sed -i -E 's/find_package\(foliot [0-9.]+/find_package(foliot 99.1/' "$root/project/CMakeLists.txt"
    ! by_cmake "$root/usr"
}
expect "CMake refuses another version" other_version

# Every example against the installed copy; the one with a separate game plays a match.
example() {
    # shellcheck disable=SC2046
    gcc -std=gnu11 -ffp-contract=off -o "$root/$(basename "$1" .c)" "$1" $(pkg-config --cflags --libs foliot)
}
for file in "$root"/usr/share/doc/foliot/examples/*.c; do expect "$(basename "$file") builds" example "$file"; done
module() { # it calls nothing of the library; the installed programs load it
    # shellcheck disable=SC2046
    gcc -shared -fPIC -o "$root/ring.so" "$1" $(pkg-config --cflags foliot) &&
        "$root/usr/bin/foliot-lab" synctest --simulation "$root/ring.so" --ticks 60
}
expect "ring.c builds as a module and passes the harness" module "$root/usr/share/doc/foliot/examples/modules/ring.c"
match() { LD_LIBRARY_PATH=$root/usr/lib "$root/lockstep" "$root/match.foliot"; }
expect "the example of lockstep plays a match" match
# shellcheck disable=SC2016 # zsh expands it
completes_in_zsh() { # loaded as zsh does it, with functions in place of the widgets' builtins
    zsh -f -c 'fpath=($1 $fpath); autoload -Uz compinit; compinit -D -u
        [[ $_comps[$2] == _$2 ]] || { echo "compinit does not find it"; exit 1 }
        compadd() { while [[ $1 != -- ]]; do shift; done; shift; added+=($@) }
        _files() { added+=(FILES) }
        words=($2 --) CURRENT=2 PREFIX=-- added=(); _$2
        [[ -n ${(M)added:#--help} && -z ${(M)added:#FILES} ]] || { echo "options: $added"; exit 1 }
        words=($2 $3 "") CURRENT=3 PREFIX= added=(); _$2
        [[ -n ${(M)added:#FILES} ]] || { echo "files: $added"; exit 1 }' _ "$root/usr/share/zsh/site-functions" "$1" "$2"
}
for program in "$root"/usr/bin/foliot*; do
    name=$(basename "$program")
    expect "$name runs" "$program" --version
    completes() {
        bash -c '. "$1"; COMP_WORDS=("$2" --); COMP_CWORD=1; _${2//-/_}; for word in "${COMPREPLY[@]}"; do
                [ "$word" != --help ] || exit 0; done; echo "${COMPREPLY[@]}"; exit 1' _ \
            "$root/usr/share/bash-completion/completions/$1" "$1"
    }
    expect "$name has completion in bash" completes "$name"
    case $name in # what files come after
    foliot-server | foliot-lab) after=check ;;
    foliot-client) after=--trace ;;
    foliotctl) after=show ;;
    *) after=info ;;
    esac
    expect "$name has completion in zsh" completes_in_zsh "$name" $after
    expect "$name has a manual page" test -s "$root/usr/share/man/man1/$name.1"
done
for file in LICENSE README.md CHANGELOG.md; do expect "$file is installed" test -s "$root/usr/share/doc/foliot/$file"; done

for name in katamari sumo siege; do
    expect "the game $name is installed whole" "$root/usr/bin/foliot-server" check \
        "$root/usr/share/foliot/games/$name/$name.yaml"
    expect "$name has a page" test -s "$root/usr/share/foliot/games/$name/README.md"
done

leaves_nothing() { # nothing but folders
    local left
    left=$(find "$root/usr" ! -type d)
    echo "$left"
    [ -z "$left" ]
}
install_to uninstall PREFIX=/usr >/dev/null
expect "uninstall leaves no file" leaves_nothing

# Elsewhere, with libraries in a separate folder and without symbols.
rm -rf "$root/usr"
expect "it installs without symbols and with a LIBDIR" install_to install-strip PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu
is_stripped() { ! readelf -S "$root/usr/bin/foliot-server" | grep -F .symtab; }
expect "programs have no symbols" is_stripped
export PKG_CONFIG_LIBDIR=$root/usr/lib/x86_64-linux-gnu/pkgconfig
expect "pkg-config knows the folder" by_pkg_config "gcc -std=c11" "$root/user.c" static
sed -i -E 's/find_package\(foliot [0-9.]+/find_package(foliot/' "$root/project/CMakeLists.txt"
mv "$root/usr" "$root/moved" # as it lies below its prefix, it may be moved
moved() { by_cmake "$root/moved" && "$root/cmake/c11_foliot" && "$root/cmake/cpp17_static"; }
expect "CMake finds it where it was moved" moved
mv "$root/moved" "$root/usr"
install_to uninstall PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu >/dev/null
expect "uninstall leaves no file there" leaves_nothing

# As the manual says it: no environment, no DESTDIR, and the program runs.
recompiles_nothing() { # after whatever goal, such as objects with flags of their folder
    make BUILD="$build" "$build"/obj/games/*/*.o >/dev/null && make BUILD="$build" install PREFIX="$root/own" >"$root/log" 2>&1 &&
        ! grep -E -- ' -c [^ ]+\.c ' "$root/log"
}
expect "it installs into a folder of one's own, and compiles nothing again" recompiles_nothing
export PKG_CONFIG_LIBDIR=$root/own/lib/pkgconfig
unset PKG_CONFIG_SYSROOT_DIR
linked() { # ARGUMENT...: of the compiler, in place of pkg-config's package
    # shellcheck disable=SC2046,SC2068
    gcc -o "$root/user" "$root/user.c" $(pkg-config --cflags --libs $@) && env -i "$root/user"
}
takes_shared() { readelf -d "$root/user" | grep -qE 'NEEDED.*libfoliot'; }
expect "a program runs as it was linked" linked foliot
expect "and takes the shared library" takes_shared
expect "so with the static one" linked foliot-static
expect "and does not take the shared library" eval '! takes_shared'
has_no_rpath() { ! grep -F rpath "$root/usr/lib/pkgconfig/foliot.pc"; }
install_to install PREFIX=/usr >/dev/null
expect "below /usr there is no path for the loader" has_no_rpath
install_to uninstall PREFIX=/usr >/dev/null
make BUILD="$build" uninstall PREFIX="$root/own" >/dev/null

# A machine that lacks packages is left as it is.
installs_nothing() { ! make -n BUILD="$root/fresh" DEPS=no all | grep -F install-deps.sh; }
expect "DEPS=no calls no installer" installs_nothing

[ -z "${RESULTS:-}" ] || echo "$passed $failed" >>"$RESULTS"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
