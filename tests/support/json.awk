# SPDX-License-Identifier: MIT
# json.awk: exit 0 if every line of the input is one JSON value (RFC 8259), else 1 naming the line and the
# place. Here so that the tests need no other tool.
function fail() { if (!bad) { printf "line %d, column %d: not JSON\n", NR, at; bad = 1 } return 0 }
function blanks() { while (substr(text, at, 1) ~ /[ \t\r]/ && at <= size) at++ }
function literal(pattern) {
    if (match(substr(text, at), pattern) != 1) return fail()
    at += RLENGTH
    return 1
}
function string() {
    return literal("^\"([^\"\\\\\001-\037]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F])*\"")
}
function list(close_, pairs) {
    at++; blanks()
    if (substr(text, at, 1) == close_) { at++; return 1 }
    while (1) {
        blanks()
        if (pairs) { if (!string()) return 0; blanks(); if (!literal("^:")) return 0 }
        if (!value()) return 0
        blanks()
        if (substr(text, at, 1) == close_) { at++; return 1 }
        if (!literal("^,")) return 0
    }
}
function value(   c) {
    blanks(); c = substr(text, at, 1)
    if (c == "{") return list("}", 1)
    if (c == "[") return list("]", 0)
    if (c == "\"") return string()
    if (c ~ /[tfn]/) return literal("^(true|false|null)")
    return literal("^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?")
}
{ text = $0; at = 1; size = length(text); if (value()) { blanks(); if (at <= size) fail() } }
END { exit NR == 0 || bad }
