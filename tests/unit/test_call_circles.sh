#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_call_circles.sh: no two files of a library part call each other, directly or through others.
# Method: nm says which object defines a symbol and which needs it; within a part, files that reach each
# other by such edges are a circle. Any circle fails the test, and so does a part that is not built. A small
# tree with a circle is built and must be named.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
PARTS="common/base common/sim server/lib client/lib common/scene common/recording common/net common/wire"

# Lines "USER DEFINER SYMBOL" between the objects under $1, as paths without .o. Objects whose source has
# gone ($2 is the root of the sources) are left over from an older tree.
edges() {
    (cd "$1" && find . -name '*.o' | sort) | while read -r object; do
        object=${object#./}
        [ ! -f "$2/${object%.o}.c" ] || echo "$1/$object"
    done | xargs -r nm -A --format=posix | awk '
        { object = $1; sub(/:$/, "", object); sub(/\.o$/, "", object); symbol = $2; kind = $3 }
        kind == "U" { needs[object " " symbol] = 1; next }
        kind ~ /^[A-TV-Z]$/ { definer[symbol] = object }
        END {
            for (pair in needs) {
                split(pair, word, " ")
                if (word[2] in definer && definer[word[2]] != word[1]) print word[1], definer[word[2]], word[2]
            }
        }' | sort
}

# Prints "PART: a circle of N files: ..." for every circle of calls among the objects under $1, with the
# calls that close it. A circle is a strongly connected component: files that reach each other.
check_circles() { # OBJECTS SOURCES NAME
    edges "$1" "$2" | awk -v base="$1/" -v part="$3" '
        function short(path) { return substr(path, length(base) + 1) }
        { users[$1] = users[$1] " " $2; file[$1] = file[$2] = 1; symbols[$1, $2] = symbols[$1, $2] " " $3 }
        # Which files a file reaches.
        function reach(from, start,   list, n, i) {
            n = split(users[start], list, " ")
            for (i = 1; i <= n; i++)
                if (!((from, list[i]) in reached)) { reached[from, list[i]] = 1; reach(from, list[i]) }
        }
        END {
            for (f in file) reach(f, f)
            for (f in file) {
                if (f in seen || !((f, f) in reached)) continue
                count = 0; names = ""
                for (g in file)
                    if ((f, g) in reached && (g, f) in reached) { seen[g] = f; count++; names = names " " short(g) }
                print part ": a circle of " count " files:" names
                for (a in file) for (b in file)
                    if (seen[a] == f && seen[b] == f && (a, b) in symbols)
                        print part ":   " short(a) " -> " short(b) ":" symbols[a, b]
            }
        }'
}

report() { # NAME STATUS
    if [ "$2" = 0 ]; then echo "ok - $1"; else echo "not ok - $1"; fi
}

for part in $PARTS; do
    if [ -z "$(find "$build/obj/$part" -name '*.o' 2>/dev/null | head -n 1)" ]; then
        found="$part: no objects under $build/obj; build first"
    else
        found=$(check_circles "$build/obj/$part" "$part" "$part")
    fi
    [ -z "$found" ] || echo "$found"
    [ -z "$found" ]
    report "no circle of calls in $part" $?
done

# -- the alarm rings ----------------------------------------------------------------------------------
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
compile() { # NAME CODE
    mkdir -p "$tree/$(dirname "$1")"
    echo "$2" >"$tree/$1.c"
    ${CC:-gcc} -w -c "$tree/$1.c" -o "$tree/$1.o"
}
compile low/a 'void a(void) {}'
compile mid/b 'void a(void); void b(void) { a(); }'
compile top/c 'void b(void); void c(void) { b(); }'
[ -z "$(check_circles "$tree" "$tree" x)" ]
report "calls that only go down are no circle" $?
compile low/a 'void c(void); void a(void) { c(); }'
found=$(check_circles "$tree" "$tree" x)
echo "$found" | grep -q '^x: a circle of 3 files:' && echo "$found" | grep -qF 'low/a -> top/c: c'
report "a circle of three files is named, with the calls that close it" $?
rm "$tree/top/c.c"
[ -z "$(check_circles "$tree" "$tree" x)" ]
report "an object without a source does not count" $?
