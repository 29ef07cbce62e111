# SPDX-License-Identifier: MIT
# layers.py: rules that no file may break. Includes go down the strata and, inside common/sim, down its folders; foreign
# libraries stay where they belong; no type name has two definitions; nothing in common/sim can see a clock, libm or the
# heap; every source names its licence. Each finding is one line, FILE:LINE: RULE.
import os
import re
from collections import defaultdict

from source import INCLUDE, blank

# The folders of common/sim in order: each includes only itself and those before it.
SIM_FOLDERS = ("math state scene force constraint island integrator joint collide ccd solver world selftest").split()
# The strata that each stratum may include, itself aside.
EVERYTHING = "base command crypto sim simulation divergence history scene recording rules wire net foliot"
MAY_INCLUDE = {
    "base": "foliot", "command": "base foliot", "sim": "base command foliot", "crypto": "base foliot",
    "net": "base crypto sim foliot", "rules": "base command sim history foliot", "history": "base command sim foliot",
    "scene": "base command sim foliot", "wire": "base command sim foliot", "simulation": "base command sim foliot",
    "divergence": "base command sim simulation foliot", "recording": "base command crypto sim simulation divergence foliot",
    "server": EVERYTHING, "client": EVERYTHING, "tools": EVERYTHING, "examples": "foliot", "include": "foliot", "games": "foliot",
    "web": EVERYTHING + " client",
}
MAY_INCLUDE = {stratum: set(names.split()) for stratum, names in MAY_INCLUDE.items()}
# Where the headers of foreign libraries are included.
HOMES = {name: re.compile(home) for names, home in {
    "sodium.h": "common/crypto/", "uv.h": "(server|client|tools)/", "libwebsockets.h": "server/http/",
    "enet.h enet/enet.h": "common/net/", "msgpack.h": "common/(base/pack|wire/message)", "zstd.h": "common/recording/",
    "yaml.h": "common/scene/", "cmocka.h": "tests/", "lua.h lauxlib.h lualib.h": "common/rules/",
    "ncurses.h curses.h": "(client|tools)/",
}.items() for name in names.split()}
# base sees the public headers of every library; neither base nor sim sees the strata above.
BASE_SEES = {"foliot/status.h", "foliot/status.h"}
ABOVE_SIM = re.compile(r'foliot/(scene_reader|recording|replay|server|client|transport)\.h$')
DRAWS = re.compile(r'client/program/|server/program/|tools/')
SIM_HEADERS = re.compile(r'(math|time|fenv|stdio|pthread|sys/time|unistd|complex|tgmath)\.h$')
# The heap is for worlds and scenes that programs make, decode, check and destroy. A step does none of that.
HEAP_FILES = re.compile(r'common/sim/(world/create|scene/(scene_bytes|scene_check_bodies))\.c$')
# Binary32 is for contacts and joints, the fields of commands, the rows of theirs that are state, and the seed of an
# inverse root.
BINARY32_FILES = re.compile(
    r'common/sim/((collide|ccd|solver|joint)/|state/(state|solver_body)\.h$|force/force_newton_simd\.c$|math/simd\.h$'
    r'|(world/(state_(io|io_parts|restore)|command|command_session)|selftest/fingerprint)\.c$)')
ROOT_FILES = re.compile(r'(floating_point\.h|fingerprint\.c|_lanes\.h|_simd\.c)$')
ROOT = re.compile(r'__builtin_sqrtf?\s*\(')
SIM_WORDS = [
    ("a call of libm in common/sim", re.compile(
        r'(?<![\w.>])(?:__builtin_)?(?:sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|expm1|log|log2|log10|log1p'
        r'|pow|cbrt|hypot|fma|fmin|fmax|fmod|floor|ceil|round|rint|nearbyint|lrint|llrint|trunc|ldexp|frexp|scalbn|modf'
        r'|erf|sqrt)f?l?\s*\(')),
    ("the heap in common/sim", re.compile(
        r'(?<!\w)(?:malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup|alloca|free)\s*\(')),
    ("a clock, the environment or chance from outside in common/sim", re.compile(
        r'(?<!\w)(?:clock|clock_gettime|time|gettimeofday|nanosleep|rand|random|getenv)\s*\(')),
    ("long double in common/sim", re.compile(r'\blong\s+double\b')),
    ("binary32 in common/sim", re.compile(r'\bfloat\b')),
]


def stratum(path):
    """The stratum that a file or a quoted include belongs to."""
    first = path.removeprefix("common/").split("/")
    if len(first) > 1 and first[0] in MAY_INCLUDE | {"foliot": 0}:
        return first[0]
    return ""


def sim_folder(path):
    words = path.removeprefix("common/").split("/")
    return words[1] if len(words) == 3 and words[0] == "sim" else ""


def check_includes(source):
    file, own, own_folder = source.path, stratum(source.path), sim_folder(source.path)
    for mark, path, line in source.includes:
        at = f"{file}:{line}: "
        if mark == "<":
            name = "msgpack.h" if path.startswith("msgpack/") else path if path in HOMES else os.path.basename(path)
            if name in HOMES and not HOMES[name].match(file):
                yield f"{at}{path} is not included here"
        else:
            # server/web, too, is a folder that includes itself as web/.
            target, folder = "" if path.startswith("web/") else stratum(path), sim_folder(path)
            if target and target != own and target not in MAY_INCLUDE.get(own, ()):
                yield f"{at}{own} does not include {target} ({path})"
            if own_folder and target == "sim":
                if own_folder not in SIM_FOLDERS or folder not in SIM_FOLDERS:
                    wrong = folder if own_folder in SIM_FOLDERS else own_folder
                    yield f"{at}sim/{wrong} is no folder of the simulation ({path})"
                elif SIM_FOLDERS.index(folder) > SIM_FOLDERS.index(own_folder):
                    yield f"{at}sim/{own_folder} does not include sim/{folder} ({path})"
            if own == "base" and target == "foliot" and path not in BASE_SEES:
                yield f"{at}base does not include {path}"
            if path.startswith("view/") and not DRAWS.match(file):
                yield f"{at}only programs include {path}"
            if own in ("base", "sim") and ABOVE_SIM.match(path):
                yield f"{at}{own} does not include what lies above it ({path})"
        if own == "sim" and SIM_HEADERS.match(path) and not (path == "stdio.h" and file.endswith("scene_rules.c")):
            yield f"{at}common/sim does not include <{path}>"


def check_sim_words(source):
    """What the code of the simulation must not name; comments and strings say nothing."""
    code = INCLUDE.sub(lambda m: blank(m.group()), source.code)
    for rule, pattern in SIM_WORDS:
        if rule.startswith("binary32") and BINARY32_FILES.match(source.path):
            continue
        if rule.startswith("the heap") and HEAP_FILES.match(source.path):
            continue
        for match in pattern.finditer(code):
            if rule.startswith("a call of libm") and ROOT.match(match.group()) and ROOT_FILES.search(source.path):
                continue
            yield f"{source.path}:{source.line_at(match.start())}: {rule}"


def check_sources(sources):
    for source in sources:
        yield from check_includes(source)
        if source.path.startswith("common/sim/"):
            yield from check_sim_words(source)


DEFINITIONS = re.compile(
    r'^(?:typedef )?(?:struct|union|enum) (foliot_[a-z0-9_]+) \{|^\}[^;\n]* (foliot_[a-z0-9_]+);'
    r'|^typedef (?!(?:struct|union|enum) [a-z0-9_]+ [a-z0-9_]+;)[^;{\n]*[ *](foliot_[a-z0-9_]+);', re.M)
LIBRARY = re.compile(r'(include|common|server/lib|client/lib)/')


def check_types(sources):
    """Type names of the library that two files define."""
    files = defaultdict(set)
    for source in sources:
        if LIBRARY.match(source.path):
            for match in DEFINITIONS.finditer(source.code):
                files[next(name for name in match.groups() if name)].add(source.path)
    for name in sorted(files):
        if len(files[name]) > 1:
            yield f"{name}: defined in {' '.join(sorted(files[name]))}"


LICENSED = re.compile(r'.*\.([ch]|cpp|sh|py|pl|awk|mjs)$|Makefile')
NOT_OURS = {".git", "build", "corpus", "node_modules", "__pycache__"}


def check_licences(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in NOT_OURS)
        for name in sorted(files):
            path = os.path.relpath(os.path.join(folder, name), root)
            if not (LICENSED.match(name) or path == ".ci/run" or re.search(r'(^|/)scenes/[^/]*\.yaml$', path)):
                continue
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                if "SPDX-License-Identifier: MIT" not in "".join(file.readline() for _ in range(3)):
                    yield f"{path}: names no licence"
