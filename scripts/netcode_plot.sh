#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# netcode_plot.sh NETCODE: runs the bench and draws docs/images/netcode.svg: for each network the interpolation
# delay as a bar, and next to it the starved share, the p99 of both errors and the largest jump.
set -eu
"${1:?the bench program}" | awk '
function escape(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); return s }
{
    match($0, /"case":"[^"]*"/); name = substr($0, RSTART + 8, RLENGTH - 9)
    match($0, /"value":[-0-9.e+]*/); value = substr($0, RSTART + 8, RLENGTH - 8) + 0
    cut = 0
    for (i = length(name); i > 0 && !cut; i--) if (substr(name, i, 2) == ": ") cut = i
    network = substr(name, 1, cut - 1); measure = substr(name, cut + 2)
    if (network ~ /ten seeds/) next
    if (!(network in row)) { row[network] = ++rows; order[rows] = network }
    at[network, measure] = value
    if (measure == "delay" && value > widest) widest = value
}
END {
    left = 230; bar = 330; height = 70 + rows * 30
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"950\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n", height + 34
    print "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    print "<text x=\"20\" y=\"26\" font-size=\"16\" fill=\"#222\">What a client shows on ten networks</text>"
    printf "<text x=\"%d\" y=\"52\" fill=\"#555\">interpolation delay, ms</text>\n", left
    printf "<text x=\"620\" y=\"52\" fill=\"#555\">starved, %%</text><text x=\"700\" y=\"52\" fill=\"#555\">p99, mm</text><text x=\"770\" y=\"52\" fill=\"#555\">p99, degrees</text><text x=\"870\" y=\"52\" fill=\"#555\">jump, mm</text>\n"
    step = widest > 100 ? 50 : 20
    for (t = 0; t <= widest * 1.02; t += step) {
        x = left + bar * t / widest
        printf "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"60\" y2=\"%d\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#555\">%d</text>\n", x, x, height, x, height + 18, t
    }
    for (i = 1; i <= rows; i++) {
        n = order[i]; y = 66 + (i - 1) * 30; w = bar * at[n, "delay"] / widest
        printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#222\">%s</text>\n", left - 10, y + 15, escape(n)
        printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"20\" fill=\"#3b7dd8\"/>\n", left, y, w
        printf "<text x=\"%.1f\" y=\"%d\" fill=\"#222\">%.0f</text>\n", left + w + 5, y + 15, at[n, "delay"]
        printf "<text x=\"680\" y=\"%d\" text-anchor=\"end\" fill=\"#222\">%.2f</text>", y + 15, at[n, "starved"]
        printf "<text x=\"750\" y=\"%d\" text-anchor=\"end\" fill=\"#222\">%.2f</text>", y + 15, at[n, "error p99"]
        printf "<text x=\"843\" y=\"%d\" text-anchor=\"end\" fill=\"#222\">%.2f</text>", y + 15, at[n, "orientation error p99"]
        printf "<text x=\"925\" y=\"%d\" text-anchor=\"end\" fill=\"#222\">%.2f</text>\n", y + 15, at[n, "largest jump"]
    }
    print "</svg>"
}' > docs/images/netcode.svg
