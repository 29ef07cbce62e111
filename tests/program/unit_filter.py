# SPDX-License-Identifier: MIT
# unit_filter.py UNIT: what systemd makes of the unit's RestrictAddressFamilies and SystemCallFilter: a line of numbers of
# families and one of names of calls. The standard input is what `systemd-analyze syscall-filter` prints.
import re
import socket
import sys

groups, group = {}, None
for line in sys.stdin:
    if line.startswith("@"):
        group = groups.setdefault(line.split()[0], [])
    elif group is not None and re.match(r" +[@a-z]", line):
        group.append(line.strip())


def calls_of(name):
    if not name.startswith("@"):
        return {name}
    return set().union(*[calls_of(member) for member in groups.get(name, [])])


families, allowed = set(), None
for line in open(sys.argv[1]):
    key, _, value = line.strip().partition("=")
    if key == "RestrictAddressFamilies":
        families = {str(int(getattr(socket, name))) for name in value.split()}
    if key == "SystemCallFilter":
        named = set().union(*[calls_of(name) for name in value.lstrip("~").split()])
        if value.startswith("~"):
            allowed -= named
        else:
            allowed = (allowed or calls_of("@default")) | named
print(",".join(sorted(families)))
print(",".join(sorted(allowed)))
