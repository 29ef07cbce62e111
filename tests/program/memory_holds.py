#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# memory_holds.py PID HEX...: says which of these bytes lie in memory of the process that a core dump would hold, and
# which in memory that it leaves out. Exit status 77: the system does not let us look.
import re
import sys


def parts(pid):
    head, part = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (....)"), None
    for line in open("/proc/%s/smaps" % pid):
        found = head.match(line)
        if found:
            part = (int(found[1], 16), int(found[2], 16), found[3])
        elif line.startswith("VmFlags:") and part[2][0] == "r" and part[2][1] == "w":
            yield part[0], part[1], " dd" in line


try:
    memory = open("/proc/%s/mem" % sys.argv[1], "rb", 0)
    held = {True: set(), False: set()}
    for start, end, left_out in parts(sys.argv[1]):
        memory.seek(start)
        found = memory.read(end - start)
        for secret in sys.argv[2:]:
            if bytes.fromhex(secret) in found:
                held[left_out].add(secret)
except OSError as wrong:
    print("skip: %s" % wrong)
    sys.exit(77)
print("dumped: %d, left out: %d" % (len(held[False]), len(held[True])))
