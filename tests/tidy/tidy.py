#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# tidy.py: the order of the house in numbers. It reads the sources, pages and compiled objects, prints every number with
# its record and its goal, and fails when one is worse than its record in numbers.json, or when a rule of layers.py,
# objects.py or pages.py is broken. It changes no file but numbers.json, and that only when asked.
import sys

sys.dont_write_bytecode = True

import argparse
import json
import math
import os
import re
from collections import defaultdict

import layers
import objects
import pages
import words
from source import CALL, PRODUCT, Source, public_functions

FUNCTION_LINES_MAX = 100
FIELDS_MAX = 30
SHORT_HEADER_LINES = 30
OPERATORS = "common/sim/math/vec3.h"
INCLUDE_ROOTS = ("", "include", "common", "tools", "server", "web", "client/lib")
# The structs of a client, a session and a peer, and of the groups of their fields.
STATES = re.compile(r'foliot__?(client|session|peer)(_\w+)?$')
STATE_FOLDERS = ("client/lib/", "server/lib/")
TEST_SUFFIXES = (".c", ".h", ".cpp", ".sh", ".py", ".pl", ".awk", ".mjs")


class Row:
    """A number. FALL: it may only fall. RISE: it may only rise, until the goal, and never beyond the limit."""

    def __init__(self, key, title, goal, rise=False, limit=None, step=1, digits=0):
        self.key, self.title, self.goal, self.rise = key, title, goal, rise
        self.limit, self.step, self.digits = limit, step, digits

    def rounded(self, value):
        """What is recorded. Large numbers are rounded up, so that a new line moves no record."""
        return math.ceil(value / self.step) * self.step if self.step > 1 else round(value, self.digits)

    def fault(self, value, record):
        value = round(value, self.digits)
        if self.limit is not None and value > self.limit:
            return f"is {value:g}; the limit is {self.limit}"
        if record is None:
            return None if self.goal is None else f"is {value:g} and has no record: --update"
        if self.rise:
            return f"fell from {record:g} to {value:g}" if value < min(record, self.goal) else None
        return f"rose from {record:g} to {value:g}" if value > record else None

    def better(self, value, record):
        return record is None or (value > record if self.rise else value < record)


ROWS = [
    Row("product_lines", "lines of the product", 109000, step=1000),
    Row("product_c", "files .c of the product", 300, step=5),
    Row("product_h", "headers of the product", 160, step=5),
    Row("single_calls", "statics that one call uses, % of functions", 18, digits=1),
    Row("lines_p90", "lines of a function, 90th percentile", 28, rise=True, limit=45),
    Row("lines_p99", "lines of a function, 99th percentile", 60, rise=True, limit=100),
    Row("longest_functions", f"functions with more than {FUNCTION_LINES_MAX} lines", 0),
    Row("duplicates", "pairs of files with six equal lines", 40),
    Row("step_depth", "longest chain of calls from foliot_world_step", 14),
    Row("step_functions", "functions that it reaches", 450),
    Row("step_files", "files that it reaches", 40),
    Row("circles", "files in circles of calls", 0),
    Row("one_user_headers", "internal headers with one user", 20),
    Row("short_headers", f"internal headers with fewer than {SHORT_HEADER_LINES} lines", 15),
    Row("most_fields", "most fields of a struct", FIELDS_MAX),
    Row("large_structs", f"structs with more than {FIELDS_MAX} fields", 0),
    Row("state_bools", "bools of a client, a session and a peer", 15),
    Row("public_functions", "public functions", 340),
    Row("public_headers", "public headers", 17),
    Row("test_lines", "lines of tests", 75000, step=1000),
    Row("test_files", "files of tests", 450, step=10),
] + [Row("word_" + key, f'"{key.replace("_", " ")}"', 0) for key in words.WORDS]
KEYS = {row.key: row for row in ROWS}


class House:
    """Everything that is read of a tree: numbers by key, the places behind each, and broken rules."""

    def __init__(self, root, build):
        self.root, self.numbers, self.places, self.broken, self.found_circles = root, {}, defaultdict(list), [], []
        everything = self.read(PRODUCT + ("examples",))
        self.sources = [s for s in everything if not s.path.startswith("examples/")]
        self.broken += [f"{s.path}: the braces do not match" for s in everything if not s.balanced]
        self.broken += layers.check_sources(everything)
        self.broken += layers.check_types(everything)
        self.broken += layers.check_licences(root)
        self.count_files()
        self.count_functions()
        self.count_duplicates()
        self.count_headers()
        self.count_structs()
        self.count_public()
        self.follow_step()
        self.find_circles(build)
        self.count_tests()
        self.count_words(everything)

    def paths(self, folder, suffixes):
        for place, folders, files in os.walk(os.path.join(self.root, folder)):
            folders[:] = [name for name in folders if name not in (".git", "build", "node_modules", "__pycache__")]
            for name in files:
                if name.endswith(suffixes):
                    yield os.path.relpath(os.path.join(place, name), self.root)

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read()

    def read(self, folders):
        return [Source(path, self.text(path)) for folder in folders for path in sorted(self.paths(folder, (".c", ".h")))]

    def set_number(self, key, value, places=()):
        self.numbers[key] = value
        self.places[key] = list(places)

    def count_files(self):
        for key, suffix in (("product_c", ".c"), ("product_h", ".h")):
            paths = [s.path for s in self.sources if s.path.endswith(suffix)]
            self.set_number(key, len(paths), paths)
        self.set_number("product_lines", sum(s.lines for s in self.sources),
                        (f"{s.path}: {s.lines}" for s in sorted(self.sources, key=lambda s: -s.lines)))

    def count_functions(self):
        functions = sorted(((f, s) for s in self.sources for f in s.functions), key=lambda pair: pair[0].lines)
        singles = [f"{s.path}: {name}" for s in self.sources for name in s.single_calls]
        self.set_number("single_calls", 100 * len(singles) / max(len(functions), 1), singles)
        long = [f"{s.path}:{f.first}: {f.name}: {f.lines}" for f, s in reversed(functions)]
        for key, share in (("lines_p90", 0.90), ("lines_p99", 0.99)):
            at = int(len(functions) * share)
            self.set_number(key, functions[at][0].lines if functions else 0, long[:max(1, len(functions) - at)])
        count = sum(f.lines > FUNCTION_LINES_MAX for f, _ in functions)
        self.set_number("longest_functions", count, long[:count])

    def count_duplicates(self):
        files = defaultdict(set)
        for source in self.sources:
            for run in source.runs:
                files[run].add(source.path)
        pairs = {(a, b) for paths in files.values() if len(paths) > 1 for a in paths for b in paths if a < b}
        self.set_number("duplicates", len(pairs), (f"{a} {b}" for a, b in sorted(pairs)))

    def count_headers(self):
        known = {s.path for s in self.sources}
        users = defaultdict(set)
        for source in self.sources:
            for _, name, _ in source.includes:
                for folder in (os.path.dirname(source.path),) + INCLUDE_ROOTS:
                    path = os.path.normpath(os.path.join(folder, name))
                    if path in known:
                        if path[:-2] != source.path[:-2]:
                            users[path].add(source.path)
                        break
        headers = [s for s in self.sources if s.path.endswith(".h") and not s.path.startswith("include/")]
        lonely = [f"{h.path}: {h.lines} lines, {' '.join(users[h.path]) or 'its own file'}" for h in headers
                  if len(users[h.path]) <= 1]
        self.set_number("one_user_headers", len(lonely), lonely)
        short = [f"{h.path}: {h.lines}" for h in headers if h.lines < SHORT_HEADER_LINES]
        self.set_number("short_headers", len(short), short)

    def count_structs(self):
        structs = sorted(((count, bools, name, s.path) for s in self.sources for name, count, bools in s.structs),
                         reverse=True)
        places = [f"{path}: {name}: {count} fields, {bools} bools" for count, bools, name, path in structs]
        large = sum(count > FIELDS_MAX for count, *_ in structs)
        self.set_number("most_fields", structs[0][0] if structs else 0, places[:10])
        self.set_number("large_structs", large, places[:large])
        states = [(bools, name) for _, bools, name, path in structs
                  if bools and STATES.match(name) and path.startswith(STATE_FOLDERS)]
        self.set_number("state_bools", sum(bools for bools, _ in states), (f"{name}: {bools}" for bools, name in states))

    def count_public(self):
        headers = [s for s in self.sources if s.path.startswith("include/")]
        names = sorted(name for s in headers for name in public_functions(s))
        self.set_number("public_functions", len(names), names)
        self.set_number("public_headers", len(headers), (s.path for s in headers))

    def follow_step(self):
        """What foliot_world_step reaches by calls that name a function, in common/ and include/, operators of vectors
        apart: they stand for the arithmetic of a formula."""
        edges = self.call_graph()
        start = next((f for f in edges if f[1] == "foliot_world_step" and f[0].endswith(".c")), None)
        depth = longest_chains(edges, start) if start else {}
        self.set_number("step_depth", depth.get(start, 0), chain_below(edges, depth, start))
        self.set_number("step_functions", len(depth), sorted(f"{path}: {name}" for path, name in depth))
        files = sorted({path for path, _ in depth})
        self.set_number("step_files", len(files), files)

    def call_graph(self):
        inner = [s for s in self.sources if s.path.startswith(("include/", "common/")) and s.path != OPERATORS]
        local, shared = {}, {}
        for source in inner:
            for f in source.functions:
                if f.static and source.path.endswith(".c"):
                    local[source.path, f.name] = (source.path, f.name)
                else:
                    shared.setdefault(f.name, (source.path, f.name))
        edges = {}
        for source in inner:
            lines = source.code.split("\n")
            for f in source.functions:
                called = set(CALL.findall("\n".join(lines[f.first - 1:f.last]))) - {f.name}
                targets = (local.get((source.path, name)) or shared.get(name) for name in called)
                edges[source.path, f.name] = sorted(t for t in targets if t)
        return edges

    def find_circles(self, build):
        """By the objects; a file of the page, which is compiled for wasm, by its text."""
        compiled = objects.Objects(self.root, build, [s.path for s in self.sources])
        for source in self.sources:
            if source.path[:-2] in compiled.missing:
                if source.path.startswith("web/"):
                    compiled.add_text(source)
                elif source.path.endswith(".c"):
                    self.broken.append(f"{source.path}: has no object under {build}/obj; build first")
        self.broken += compiled.check_simulation()
        edges = compiled.calls()
        self.found_circles = objects.circles(edges)
        self.set_number("circles", sum(map(len, self.found_circles)))
        for circle in self.found_circles:
            self.places["circles"].append(f"a circle of {len(circle)} files: {' '.join(circle)}")
            self.places["circles"] += [f"    {a} -> {b}: {' '.join(sorted(edges[a][b]))}" for a in circle
                                       for b in sorted(edges[a]) if b in circle]

    def count_tests(self):
        paths = sorted(self.paths("tests", ""))
        self.set_number("test_files", len(paths), paths)
        code = [p for p in paths if p.endswith(TEST_SUFFIXES) and "/corpus/" not in p]
        self.set_number("test_lines", sum(self.text(p).count("\n") for p in code), code)

    def count_words(self, sources):
        found = []
        for source in sources:
            found += words.find(source.path, words.comment_texts(source) + words.string_texts(source))
        for path in sorted(self.paths("tests", (".c", ".h"))):
            found += words.find(path, words.comment_texts(Source.of_comments(path, self.text(path))))
        for path in sorted(p for p in self.paths(".", (".md", ".1")) if not p.startswith("tests/")):
            text = self.text(path)
            found += words.find(path, words.page_texts(text))
            if path.endswith(".md"):
                self.broken += pages.check_page(path, text)
        for path in sorted(self.paths(".", tuple(words.SCRIPTS))):
            if path not in ("tests/tidy/words.py", "tests/tidy/alarms.py"):  # they have the words
                mark = next(mark for ending, mark in words.SCRIPTS.items() if path.endswith(ending))
                found += words.find(path, words.script_texts(self.text(path), mark))
        for key in words.WORDS:
            self.set_number("word_" + key, 0)
        for key, place in found:
            self.numbers["word_" + key] += 1
            self.places["word_" + key].append(place)


def longest_chains(edges, start):
    """The functions that START reaches, each with the calls of the longest chain below it. Circles count once."""
    depth, active, work = {}, {start}, [(start, iter(edges.get(start, ())))]
    below = defaultdict(int)
    while work:
        node, rest = work[-1]
        for target in rest:
            if target in depth:
                below[node] = max(below[node], depth[target])
            elif target not in active:
                active.add(target)
                work.append((target, iter(edges.get(target, ()))))
                break
        else:
            work.pop()
            active.discard(node)
            depth[node] = below[node] + 1
            if work:
                below[work[-1][0]] = max(below[work[-1][0]], depth[node])
    return depth


def chain_below(edges, depth, node):
    """The places of the longest chain of calls that begins with NODE."""
    places = []
    while node in depth:
        places.append(f"{node[0]}: {node[1]}")
        node = next((t for t in edges.get(node, ()) if depth.get(t) == depth[node] - 1), None)
    return places


def load_record(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"circles": [], "numbers": {}}


def faults_of(house, record):
    """Sentences, one for each number that is worse than its record, circle that is not known and broken rule."""
    faults = list(house.broken)
    for circle in house.found_circles:
        if not any(set(circle) <= set(known) for known in record["circles"]):
            faults.append(f"a circle of calls that is not known: {' '.join(circle)} (--list circles)")
    for row in ROWS:
        fault = row.fault(house.numbers[row.key], record["numbers"].get(row.key))
        if fault:
            faults.append(f"{row.key}: {row.title}: {fault} (--list {row.key})")
    return faults


def update(house, record, raised):
    """Records what became better, and what is named in RAISED. Of circles only what is left is kept."""
    fresh = not record["numbers"]
    for row in ROWS:
        value = row.rounded(house.numbers[row.key])
        if row.key in raised or row.better(value, record["numbers"].get(row.key)):
            record["numbers"][row.key] = value
    unknown = [c for c in house.found_circles if not any(set(c) <= set(known) for known in record["circles"])]
    if not unknown or fresh or "circles" in raised:
        record["circles"] = house.found_circles
    record["numbers"] = {row.key: record["numbers"][row.key] for row in ROWS}


def print_table(house, record):
    print(f"{'number':<46} {'now':>8} {'record':>8} {'goal':>8}")
    for row in ROWS:
        value = f"{house.numbers[row.key]:.{row.digits}f}"
        known = record["numbers"].get(row.key)
        print(f"{row.title:<46} {value:>8} {'-' if known is None else format(known, 'g' if row.digits else 'd'):>8} {row.goal:>8}")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description="Prints the numbers of the tree, and fails when one got worse.")
    parser.add_argument("--root", default=os.path.join(here, "..", ".."), help="the tree that is read")
    parser.add_argument("--build", default=os.environ.get("BUILD", "build"), help="where its objects are (build)")
    parser.add_argument("--numbers", help="the record (tests/tidy/numbers.json of the tree)")
    parser.add_argument("--check", action="store_true", help="print faults and one line alone")
    parser.add_argument("--list", metavar="NUMBER", choices=list(KEYS), help="print the places that a number counts")
    parser.add_argument("--update", action="store_true", help="record the numbers that became better")
    parser.add_argument("--raise", dest="raised", metavar="NUMBER", nargs="+", default=[], choices=list(KEYS),
                        help="record these numbers though they became worse; the commit says why")
    options = parser.parse_args()
    root = os.path.normpath(options.root)
    path = options.numbers or os.path.join(root, "tests", "tidy", "numbers.json")
    house = House(root, options.build)
    if options.list:
        print("\n".join(house.places[options.list]))
        return 0
    record = load_record(path)
    if options.update or options.raised:
        update(house, record, options.raised)
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(record, indent=1) + "\n")
    if not options.check:
        print_table(house, record)
    faults = faults_of(house, record)
    for fault in faults:
        print(f"tidy: {fault}")
    print(f"tidy: {len(ROWS)} numbers of {len(house.sources)} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
