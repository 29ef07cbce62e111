#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# prediction_plot.sh ROLLBACK: runs the bench with --keys and draws docs/images/prediction.svg: the time from a key
# to the own screen against the round trip, for three kinds of clients.
set -eu
"${1:?the bench program}" --keys | awk '
{
    match($0, /"case":"[^"]*"/); name = substr($0, RSTART + 8, RLENGTH - 9)
    match($0, /"value":[-0-9.e+]*/); value = substr($0, RSTART + 8, RLENGTH - 8) + 0
    kind = name; sub(/,.*/, "", kind)
    trip = name; sub(/.*round trip /, "", trip); sub(/ .*/, "", trip)
    if (!(kind in points)) { order[++kinds] = kind }
    points[kind]++; x[kind, points[kind]] = trip + 0; y[kind, points[kind]] = value
    if (trip + 0 > widest) widest = trip + 0
    if (value > highest) highest = value
}
END {
    left = 70; top = 60; width = 640; height = 300
    color["snapshots"] = "#888888"; color["lockstep"] = "#d8873b"; color["prediction"] = "#3b7dd8"
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"860\" height=\"420\" font-family=\"sans-serif\" font-size=\"13\">"
    print "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    print "<text x=\"20\" y=\"26\" font-size=\"16\" fill=\"#222\">From a key to the own screen, ms (cubes, two players, 5 % lost, frames of 1/60 s)</text>"
    for (v = 0; v <= highest * 1.05; v += 100) {
        at = top + height - height * v / (highest * 1.05)
        printf "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#555\">%d</text>\n", left, left + width, at, at, left - 8, at + 4, v
    }
    for (i = 1; i <= points[order[1]]; i++) {
        at = left + width * x[order[1], i] / widest
        printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#555\">%d</text>\n", at, top + height + 20, x[order[1], i]
    }
    printf "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#555\">round trip, ms</text>\n", left + width / 2, top + height + 42
    for (k = 1; k <= kinds; k++) {
        name = order[k]; line = ""
        for (i = 1; i <= points[name]; i++) {
            px = left + width * x[name, i] / widest; py = top + height - height * y[name, i] / (highest * 1.05)
            line = line sprintf("%.1f,%.1f ", px, py)
            printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", px, py, color[name]
        }
        printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", line, color[name]
        printf "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s</text>\n", px + 8, py + 4, color[name], name
    }
    print "</svg>"
}' > docs/images/prediction.svg
