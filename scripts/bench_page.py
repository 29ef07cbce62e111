#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# bench_page.py RESULTS BENCH...: adds the figures of the named benches, files NAME.jsonl and NAME.about in the folder
# RESULTS, to docs/benchmarks.json, prints them as a table with the goals of tests/bench/goals.txt, and writes
# BENCHMARKS.md from docs/benchmarks.json and tests/bench/page.md.in. It measures nothing.
#
# A line "@ WHAT | BENCH | CASE" of the template becomes a row of the page; @MACHINE@ becomes a sentence.
import fnmatch
import json
import os
import re
import sys
import textwrap

JSON = "docs/benchmarks.json"
NO_BENCHES = {"compiler": "", "benches": {}}


def read_text(path, otherwise=""):
    if not os.path.exists(path):
        return otherwise
    with open(path, encoding="utf-8") as file:
        return file.read()


def write_text(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def read_goals():
    """[bench, pattern of the case, "value" or "ratio" with <= or >=, bound], in the order of the file."""
    lines = read_text("tests/bench/goals.txt").splitlines()
    return [line.split("|") for line in lines if line and not line.startswith("#")]


def goal_of(goals, bench, row):
    """The first goal of a case, as a text, and whether the case misses it."""
    for name, pattern, what, bound in goals:
        if name == bench and fnmatch.fnmatchcase(row["case"], pattern.replace("[", "[[]")):
            figure = row.get(what[:-2])
            kept = figure is not None and (figure <= float(bound) if what.endswith("<=") else figure >= float(bound))
            return f"{what} {bound}", not kept
    return "", False


def goals_of_no_case(goals, name, rows):
    for goal in goals:
        if goal[0] == name and rows and not any(goal_of([goal], name, row)[0] for row in rows):
            yield "|".join(goal)


def about_bench(name):
    """The first sentence of the bench's source."""
    words = []
    for line in read_text(f"tests/bench/{name}.c").splitlines()[1:12]:
        if not line.startswith("//"):
            break
        words += line[2:].split()
    text = re.sub(r"^[a-z_]+\.c: ", "", " ".join(words))
    return text[:1].upper() + re.sub(r"([^.])\. .*", r"\1.", text[1:])


def read_result(folder, name):
    """A measured bench as docs/benchmarks.json has it, without what is null."""
    lines = re.sub(r":-?(nan|inf)\b", ":null", read_text(f"{folder}/{name}.jsonl")).splitlines()
    rows = [{key: value for key, value in json.loads(line).items() if value is not None and key != "bench"}
            for line in lines]
    return {"about": about_bench(name), **json.loads(read_text(f"{folder}/{name}.about", "{}")), "results": rows}


def number(row, key):
    return f"{row[key]:.6g}" if key in row else "-"


def to_json(all_benches):
    """One line a figure, so that a change of one is a line of a difference."""
    text = "{\n" + f' "compiler": {json.dumps(all_benches["compiler"])},\n "benches": {{\n'
    parts = []
    for name, bench in sorted(all_benches["benches"].items()):
        rows = ",\n".join("   " + json.dumps(row, ensure_ascii=False) for row in bench["results"])
        head = ", ".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
                         for key, value in bench.items() if key != "results")
        parts.append(f'  {json.dumps(name)}: {{{head}, "results": [\n{rows}\n  ]}}')
    return text + ",\n".join(parts) + "\n }\n}\n"


def print_table(goals, benches, names):
    form = "{:<14} {:<56} {:>12} {:<14} {:<30} {:>12} {:>8}  {}"
    print(form.format("bench", "case", "value", "unit", "opponent", "its value", "ratio", "goal"))
    for name in names:
        for row in benches[name]["results"]:
            goal, missed = goal_of(goals, name, row)
            print(form.format(name, row["case"], number(row, "value"), row["unit"], row.get("opponent", "-"),
                              number(row, "opponent_value"), number(row, "ratio"), goal + ("  missed" if missed else "")))


def digits(value):
    """Three digits, with commas and no exponent from a thousand to ten millions."""
    text = f"{value:#.3g}".rstrip(".")
    return f"{float(text):,.0f}" if 1000 <= abs(value) < 1e7 else text


def page_row(goals, benches, line):
    what, name, case = (part.strip() for part in line[2:].split("|"))
    row = next((row for row in benches.get(name, {}).get("results", []) if row["case"] == case), None)
    if row is None:
        return f"| {what} | | not measured | | |"
    goal, missed = goal_of(goals, name, row)
    what_bounds, _, bound = goal.partition(" ")
    promise = ""
    if goal:
        sign = "≤" if what_bounds.endswith("<=") else "≥"
        promise = f"{sign} {float(bound):,g} {row['unit']}" if what_bounds.startswith("value") else f"ratio {sign} {bound}"
        promise += ", *missed*" if missed else ""
    opponent = f'{row["opponent"]}: {digits(row["opponent_value"])}' if "opponent_value" in row else ""
    ratio = digits(row["ratio"]) if "ratio" in row else ""
    return f'| {what} | {promise} | {digits(row["value"])} {row["unit"]} | {opponent} | {ratio} |'.replace("  ", " ")


def machine_sentence(all_benches):
    benches = all_benches["benches"].values()
    machines = sorted({bench["machine"] for bench in benches if "machine" in bench})
    dates = sorted({bench["date"] for bench in benches if "date" in bench})
    if not dates:
        return "Nothing is measured yet."
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return "\n".join(textwrap.wrap(f"Measured on {' and '.join(machines)}, {when}, compiled by "
                                   f"{all_benches['compiler']}.", 119))


def write_page(goals, all_benches):
    lines = []
    for line in read_text("tests/bench/page.md.in").splitlines():
        if line == "@MACHINE@":
            line = machine_sentence(all_benches)
        elif line.startswith("@ "):
            line = page_row(goals, all_benches["benches"], line)
        lines.append(line)
    write_text("BENCHMARKS.md", "\n".join(lines) + "\n")


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    all_benches = json.loads(read_text(JSON)) if os.path.exists(JSON) else NO_BENCHES
    all_benches["compiler"] = os.environ.get("COMPILER") or all_benches["compiler"]
    for name in names:
        all_benches["benches"][name] = read_result(folder, name)
    goals = read_goals()
    if names:
        os.makedirs("docs", exist_ok=True)
        write_text(JSON, to_json(all_benches))
        print_table(goals, all_benches["benches"], names)
    write_page(goals, all_benches)
    for name in names:
        for goal in goals_of_no_case(goals, name, all_benches["benches"][name]["results"]):
            print(f"a goal of no case: {goal}", file=sys.stderr)


main()
