# SPDX-License-Identifier: MIT
# objects.py: what the compiled objects say: which file calls which, and what the simulation needs from outside. nm reads
# them. An object whose source has gone is left over from an older tree and does not count.
import os
import re
import subprocess
from collections import defaultdict

from source import CALL


class Objects:
    """Symbols of the objects under build/obj. Files are paths of sources without their suffix."""

    def __init__(self, root, build, sources):
        files = [path[:-2] for path in sources if path.endswith(".c")]
        # Objects of the page's files are there after fuzzing alone, and old then.
        folder = os.path.join(root, build, "obj")
        objects = {file: [name for name in names_of_objects(file) if os.path.exists(os.path.join(folder, name + ".o"))]
                   for file in files if not file.startswith("web/")}
        present = [name for names in objects.values() for name in names]
        self.missing = sorted(file for file in files if not objects.get(file))
        self.defined = defaultdict(list)  # symbol: files
        self.needs = defaultdict(set)     # file: symbols
        self.data = defaultdict(list)     # file: symbols of data that can change
        for symbol, file, kind, section in read_symbols(folder, present):
            file = ISA.sub("_simd", file)
            if kind == "U":
                self.needs[file].add(symbol)
            elif kind.isupper():
                self.defined[symbol].append(file)
            if re.match(r'\.t?(data|bss)$', section) or section == "*COM*":
                self.data[file].append(symbol)

    def add_text(self, source):
        """A file without an object: what it defines and calls as its text has it."""
        file = source.path[:-2]
        for f in source.functions:
            if not f.static:
                self.defined[f.name].append(file)
        own = {f.name for f in source.functions}
        self.needs[file] |= set(CALL.findall(source.code)) - own

    def instrumented(self):
        """A sanitizer's or coverage's own symbols say nothing about ours."""
        return any(re.match(r'__(asan|tsan|ubsan|sanitizer|gcov)_', s) for needs in self.needs.values() for s in needs)

    def calls(self):
        """file: the files that it calls, each with the symbols."""
        edges = defaultdict(lambda: defaultdict(list))
        for file, needs in self.needs.items():
            for symbol in needs:
                definer = nearest(file, self.defined.get(symbol, ()))
                if definer and definer != file:
                    edges[file][definer].append(symbol)
        return edges

    def check_simulation(self):
        """What objects of common/sim need or define and must not."""
        if self.instrumented():
            return
        for file in sorted(f for f in set(self.needs) | set(self.data) if f.startswith("common/sim/")):
            for symbol in self.data[file]:
                yield f"{file}.o: data that changes: {symbol}"
            if not re.search(r'/(create|scene_bytes|scene_check_bodies|scene_rules)$', file):
                for symbol in sorted(self.needs[file]):
                    if not re.match(r'foliot_|mem(cpy|set|cmp|move)$|str[a-z]*$|__|_GLOBAL_OFFSET_TABLE_', symbol):
                        yield f"{file}.o: needs {symbol}"


ISA = re.compile(r'_simd_(base|avx2|avx512)$')


def names_of_objects(file):
    """The objects of a source: kernels have one for each instruction set."""
    return [f"{file}_{isa}" for isa in ("base", "avx2", "avx512")] if file.endswith("_simd") else [file]


def read_symbols(folder, files):
    """Symbol, file, kind and section of all symbols of these objects."""
    if not files:
        return
    done = subprocess.run(["nm", "-A", "--format=sysv"] + [f + ".o" for f in files], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise SystemExit("tidy: nm: " + done.stderr.strip())
    for line in done.stdout.split("\n"):
        parts = line.split("|")
        if len(parts) == 7:
            file, _, symbol = parts[0].rpartition(":")
            yield symbol.strip(), file[:-2], parts[2].strip(), parts[6].strip()


def nearest(file, definers):
    """The definer that a file is linked with: programs may define the same name."""
    folders = file.split("/")
    best, found = -1, None
    for definer in definers:
        common = len(os.path.commonprefix([folders, definer.split("/")]))
        if common > best:
            best, found = common, definer
    if best == 0 and not re.match(r'(common|server/lib|client/lib|server/rtc|tools/(view|module))/', found):
        return None  # another program's
    return found


def circles(edges):
    """The sets of files that reach each other by calls: strongly connected components, after Tarjan."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for start in sorted(edges):
        if start in index:
            continue
        work = [(start, iter(sorted(edges.get(start, ()))))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(edges.get(target, ())))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = set()
                    while node not in circle:
                        circle.add(stack.pop())
                    on_stack -= circle
                    if len(circle) > 1:
                        found.append(sorted(circle))
    return sorted(found, key=lambda c: (-len(c), c))
