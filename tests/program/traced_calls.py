# SPDX-License-Identifier: MIT
# traced_calls.py SANDBOX TRACE...: which system calls of traces (strace -f, of a server without its sandbox) the list
# of SANDBOX (server/program/sandbox/) lacks, one a line with its arguments; the last line counts what was compared.
# Calls are looked at from the first line that the server prints on, which is when the sandbox has begun, and of its
# threads alone: the helper of --on-recording is a separate process.
import re
import sys

# Calls with separate conditions in SANDBOX.
CONDITIONAL = {"socket", "ioctl", "prctl", "tgkill", "clone", "clone3", "prlimit64", "mmap", "mmap2", "mprotect"}
CALL = re.compile(r"(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)")


def allowed_calls(source):
    text = open(source).read()
    body = text.split("allowed[] = {", 1)[1].split("};", 1)[0]
    return set(re.findall(r'"(\w+)"', body)) | CONDITIONAL


def calls_of(trace):
    threads, starting, serves = set(), set(), False
    for line in open(trace, errors="replace"):
        match = CALL.match(line)
        if not match:
            continue
        thread, resumed, name, rest = int(match[1]), match[2], match[3], match[4]
        threads = threads or {thread}
        if thread not in threads:
            continue
        made = re.search(r"= (\d+)$", line.strip())
        if (name in ("clone", "clone3") and "CLONE_THREAD" in rest) or (resumed and thread in starting):
            starting.discard(thread)
            if made:
                threads.add(int(made[1]))
            else:
                starting.add(thread)
        if serves and name:
            yield name, rest
        serves = serves or (name == "write" and '"listening on' in rest)


allowed, seen, lacking = allowed_calls(sys.argv[1]), set(), {}
for trace in sys.argv[2:]:
    for name, rest in calls_of(trace):
        seen.add(name)
        if name not in allowed:
            lacking.setdefault(name, rest)
for name, rest in lacking.items():
    print("lacks", name, rest[:100])
print(len(seen), "calls compared:", *sorted(seen))
