# SPDX-License-Identifier: MIT
# alarms.py: breaks every rule of tidy.py once, in a small separate tree, and demands that it is named; the same tree
# without the break must be clean. Prints "ok - NAME" and "not ok - NAME" lines.
import sys

sys.dont_write_bytecode = True

import copy
import json
import os
import shutil
import subprocess
import tempfile

import tidy

HERE = os.path.dirname(os.path.abspath(__file__))
SPDX = "// SPDX-License-Identifier: MIT\n"
COMPILER = os.environ.get("CC", "gcc").split()


def body(name, lines, call="", static=False):
    """A function of that many lines, no two of which are alike."""
    middle = "".join(f"    {name}_{i}();\n" for i in range(lines - 4 - bool(call)))
    return f"{'static ' if static else ''}void {name}(void)\n{{\n{call}{middle}    return;\n}}\n"


def struct(name, fields, bools=0):
    return f"struct {name} {{\n" + "".join(f"    {'bool' if i < bools else 'int'} {name}_{i};\n" for i in range(fields)) + "};\n"


CLEAN = {
    "include/foliot/world.h": "// The world.\nvoid foliot_world_step(void);\n",
    "common/base/text.h": "void foliot__text(void);\n",
    "common/base/text.c": '#include "base/text.h"\n// Texts.\n' + body("foliot__text", 25),
    "common/sim/math/hash.h": "void foliot__hash(void);\n",
    "common/sim/math/hash.c": '#include "base/text.h"\n' + body("foliot__hash", 25, "    foliot__text();\n"),
    "common/sim/state/state.h": struct("foliot_world", 3),
    "common/sim/world/world.c": '#include "sim/math/hash.h"\n#include "sim/state/state.h"\n'
                                + body("foliot_world_step", 25, "    foliot__hash();\n"),
    "common/sim/world/create.c": '#include "sim/math/hash.h"\n#include "sim/state/state.h"\n' + body("foliot__create", 25),
    "server/lib/session.h": struct("foliot__session", 4, 1) + struct("foliot__peer", 4, 1),
    "server/lib/peer.c": '#include "server/lib/session.h"\n' + body("foliot__peer_send", 25),
    "server/lib/step.c": '#include "server/lib/session.h"\n' + body("foliot__step", 25, "    foliot__peer_send();\n"),
    "tests/unit/test_x.c": "int x;\n",
    "README.md": "# A page\n\nA page says something.\n",
}
CLEAN = {path: SPDX * path.endswith((".c", ".h")) + text for path, text in CLEAN.items()}
failed = False


def report(name, fine, text=""):
    global failed
    print(f"{'ok' if fine else 'not ok'} - {name}")
    if not fine:
        print(text)
        failed = True


class Tree:
    def __init__(self, root):
        self.root = root
        os.mkdir(os.path.join(root, "build"))
        subprocess.run([*COMPILER, "-x", "c", "-c", "-", "-o", os.path.join(root, "build/empty.o")], input="", text=True,
                       check=True)
        for path, text in CLEAN.items():
            self.write(path, text)
        self.record = {"circles": [], "numbers": {}}

    def write(self, path, text, compiled=True):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        if path.endswith(".c") and not path.startswith(("tests", "web")):
            self.compile(path, compiled)

    def compile(self, path, compiled=True):
        full = os.path.join(self.root, path)
        target = os.path.join(self.root, "build/obj", path[:-2] + ".o")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not compiled:
            if not os.path.exists(target):
                shutil.copyfile(os.path.join(self.root, "build/empty.o"), target)
            return  # one that is there stays
        # The includes of a file do not matter to its calls.
        with open(full, encoding="utf-8") as file:
            code = "".join(line if not line.startswith("#include") else "\n" for line in file)
        subprocess.run([*COMPILER, "-x", "c", "-std=gnu89", "-w", "-fno-builtin", "-Dbool=_Bool", "-c", "-", "-o", target],
                       input=code, text=True, check=True)

    def remove(self, path):
        os.unlink(os.path.join(self.root, path))
        if path.endswith(".c"):
            target = os.path.join(self.root, "build/obj", path[:-2] + ".o")
            if os.path.exists(target):
                os.unlink(target)

    def faults(self):
        house = tidy.House(self.root, "build")
        return tidy.faults_of(house, self.record)

    def with_files(self, files, compiled=False):
        """The faults of the tree with these files in addition; unless they are compiled, their objects are empty."""
        for path, text in files.items():
            self.write(path, SPDX * path.endswith((".c", ".h")) + text, compiled)
        found = self.faults()
        for path in files:
            if path in CLEAN:
                self.write(path, CLEAN[path], compiled)
            else:
                self.remove(path)
        return found

    def rings(self, name, expected, files, compiled=False):
        found = self.with_files(files, compiled)
        report(name, any(fault.startswith(expected) for fault in found), "\n".join(found))

    def silent(self, name, files, key="", compiled=False):
        """No rule is named; with KEY, only that number must not be."""
        found = [f for f in self.with_files(files, compiled) if (f.startswith(key + ":") if key else not f.split(":")[0] in tidy.KEYS)]
        report(name, not found, "\n".join(found))


def rules(tree):
    for name, path, line, expected in [
        ("a look upwards", "common/sim/world/x.c", '#include "recording/recording.h"', "sim does not include recording"),
        ("a look sideways", "common/recording/x.c", '#include "scene/reader.h"', "recording does not include scene"),
        ("a search that writes recordings", "common/divergence/x.c", '#include "recording/recording.h"',
         "divergence does not include recording"),
        ("a simulation that compares runs", "common/simulation/x.c", '#include "divergence/rewind.h"',
         "simulation does not include divergence"),
        ("a folder of the simulation that includes a later one", "common/sim/state/x.c", '#include "sim/world/state_io.h"',
         "sim/state does not include sim/world"),
        ("a header that does so", "common/sim/scene/x.h", '#include "sim/integrator/scheme.h"',
         "sim/scene does not include sim/integrator"),
        ("a self-test that a world needs", "common/sim/world/x.c", '#include "sim/selftest/probe.h"',
         "sim/world does not include sim/selftest"),
        ("a new folder without a place", "common/sim/weather/x.c", '#include "sim/math/hash.h"',
         "sim/weather is no folder of the simulation"),
        ("an include of a file outside the folders", "common/sim/force/x.c", '#include "sim/force.h"',
         "sim/ is no folder of the simulation"),
        ("base that knows the world", "common/base/x.h", '#include "sim/state/state.h"', "base does not include sim"),
        ("base that knows a public type of the simulation", "common/base/x.h", '#include "foliot/body.h"',
         "base does not include foliot/body.h"),
        ("the simulation that knows what lies above", "common/sim/world/x.c", '#include "foliot/replay.h"',
         "sim does not include what lies above it"),
        ("a client library that draws", "client/lib/x.c", '#include "view/view.h"', "only programs include view/view.h"),
        ("a scene reader that draws", "common/scene/x.c", '#include "view/view.h"', "only programs include view/view.h"),
        ("a server that knows clients", "server/x.c", '#include "client/lib/clock.h"', "server does not include client"),
        ("a game that knows the inside", "games/x/x.c", '#include "sim/state/state.h"', "games does not include sim"),
        ("a page that knows the server", "web/x.c", '#include "server/lib/session.h"', "web does not include server"),
        ("a public header that shows the inside", "include/foliot/x.h", '#include "sim/state/state.h"',
         "include does not include sim"),
        ("an example that knows the inside", "examples/x.c", '#include "sim/state/state.h"', "examples does not include sim"),
        ("libuv in common", "common/net/x.c", "#include <uv.h>", "uv.h is not included here"),
        ("ENet outside of net", "server/x.c", "#include <enet/enet.h>", "enet/enet.h is not included here"),
        ("libsodium outside of crypto", "common/net/x.c", "#include <sodium.h>", "sodium.h is not included here"),
        ("msgpack outside of its packer", "common/scene/x.c", "#include <msgpack.h>", "msgpack.h is not included here"),
        ("a part of msgpack", "common/scene/x.c", "#include <msgpack/object.h>", "msgpack/object.h is not included here"),
        ("yaml outside of scene", "tools/lab/x.c", "#include <yaml.h>", "yaml.h is not included here"),
        ("cmocka outside of tests", "common/base/x.c", "#include <cmocka.h>", "cmocka.h is not included here"),
        ("libm's header", "common/sim/collide/x.c", "#include <math.h>", "common/sim does not include <math.h>"),
        ("a call of libm", "common/sim/world/x.c", "double f(double x) { return sin(x); }", "a call of libm"),
        ("a builtin of libm", "common/sim/world/x.c", "double f(double x) { return __builtin_fma(x, x, x); }", "a call of libm"),
        ("the heap", "common/sim/integrator/x.c", "void *f(void) { return malloc(3); }", "the heap in common/sim"),
        ("the heap next to the files that may use it", "common/sim/scene/scene.c", "void *f(void) { return malloc(3); }",
         "the heap in common/sim"),
        ("a clock", "common/sim/world/x.c", "long f(void) { return time(0); }", "a clock"),
        ("binary32", "common/sim/world/x.c", "static const float x = 1;", "binary32"),
        ("binary32 in an integrator", "common/sim/integrator/collide.c", "double f(double x) { return (float)x; }", "binary32"),
        ("long double", "common/sim/world/x.c", "static long double x;", "long double"),
    ]:
        tree.rings(f"{name} is named", f"{path}:3: {expected}", {path: "\n" + line + "\n"})
    tree.silent("comments and functions of the project are no calls of libm", {"common/sim/world/x.c":
        '// sin(x), malloc(1)\n/* and */ double foliot_sin(double x); /* exp(1)\n log(2) */\n'
        'const char *s = "free(x)";\ndouble f(double x)\n{\n    return foliot_sin(x);\n}\n'})
    tree.silent("programs may draw, base may know statuses, contacts have binary32", {
        "client/program/screen.c": '#include "view/view.h"\n', "tools/replay/play.c": '#include "view/view.h"\n',
        "common/base/status.c": '#include "foliot/status.h"\n#include "foliot/status.h"\n',
        "common/sim/collide/x.c": "static const float x = 1;\n", "common/sim/world/create.c": "void *f(void) { return malloc(3); }\n"})
    twin = "typedef struct foliot__twin {\n    int x;\n} foliot__twin;\n"
    tree.silent("a type that is declared in one file and defined in another", {
        "common/sim/state/twin.h": twin + "typedef struct foliot__once foliot__once;\n",
        "common/sim/state/once.c": "struct foliot__once {\n    int x;\n};\n"})
    tree.rings("a type name with two definitions is named", "foliot__twin: defined in common/sim/state/twin.h server/lib/twin.c",
               {"common/sim/state/twin.h": twin, "server/lib/twin.c": "typedef enum foliot__twin { TWIN } foliot__twin;\n"})
    tree.write("common/base/bare.c", "int x;\n")
    tree.write("tests/bare.sh", "true\n")
    found = tree.faults()
    for path in ("common/base/bare.c", "tests/bare.sh"):
        report(f"{path} without a licence is named", f"{path}: names no licence" in found, "\n".join(found))
        tree.remove(path)
    tree.rings("braces that do not match are named", "common/base/x.c: the braces", {"common/base/x.c": "void f(void)\n{\n"})
    tree.silent("braces of two branches match", {"common/base/x.c":
        "#ifdef X\nvoid foliot__f(void)\n{\n#else\nvoid foliot__g(void)\n{\n#endif\n}\n"})
    tree.rings("libm in an object is named", "common/sim/world/x.o: needs cbrtq",
               {"common/sim/world/x.c": "double cbrtq(double);\ndouble f(double x) { return cbrtq(x); }\n"}, compiled=True)
    tree.rings("data that changes is named", "common/sim/world/x.o: data that changes: counter",
               {"common/sim/world/x.c": "double counter;\nvoid f(double x) { counter += x; }\n"}, compiled=True)


def circle_alarms(tree):
    a = {"server/lib/peer.c": '#include "server/lib/session.h"\n' + body("foliot__peer_send", 25, "    foliot__step();\n")}
    tree.rings("a pair of files that call each other is named",
               "a circle of calls that is not known: server/lib/peer server/lib/step", a, compiled=True)
    tree.rings("and counts", "circles: ", a, compiled=True)
    three = {"common/base/text.c": body("foliot__text", 25, "    foliot_world_step();\n")}
    tree.rings("a circle of three across folders is named", "a circle of calls that is not known: common/base/text "
               "common/sim/math/hash common/sim/world/world", three, compiled=True)
    programs = {f"tools/{name}/{file}.c": text for name in ("one", "two") for file, text in (
        ("main", body("usage", 9, "    work();\n")), ("work", body("work", 9)))}
    tree.silent("programs that define the same names are no circle", programs, compiled=True)
    page = {"web/a.c": body("web_a", 9, "    web_b();\n"), "web/b.c": body("web_b", 9, "    web_a();\n")}
    tree.rings("a circle of the page's files, which have no objects, is named",
               "a circle of calls that is not known: web/a web/b", page)
    kept = copy.deepcopy(tree.record)
    tree.record["circles"] = [["server/lib/other", "server/lib/peer", "server/lib/step"]]
    tree.record["numbers"]["circles"] = 2
    report("a known circle may be there, and be smaller", not tree.with_files(a, compiled=True))
    tree.record["circles"] = [["server/lib/other", "server/lib/peer"]]
    tree.rings("a known circle must not grow", "a circle of calls that is not known: server/lib/peer", a, compiled=True)
    tree.record = kept
    tree.write("build/obj/common/base/gone.o", "no object")
    report("an object without a source does not count", not tree.faults())
    object_path = os.path.join(tree.root, "build/obj/server/lib/peer.o")
    os.unlink(object_path)
    report("a source without an object is named", any("peer.c: has no object" in f for f in tree.faults()))
    tree.compile("server/lib/peer.c")


def number_alarms(tree):
    plain = body("foliot__x", 25)
    tree.rings("more lines of the product are named", "product_lines: ", {"common/base/x.c": "int x;\n" * 1100})
    tree.rings("another file is named", "product_c: ", {f"common/base/x{i}.c": "int x;\n" for i in range(5)})
    tree.rings("another header is named", "product_h: ", {f"common/base/x{i}.h": "int x;\n" for i in range(5)})
    single = body("once", 25, static=True) + body("foliot__x", 25, "    once();\n")
    tree.rings("a static with one call is named", "single_calls: ", {"common/base/x.c": single})
    tree.rings("so is one that is declared first", "single_calls: ", {"common/base/x.c": "static void once(void);\n" + single})
    tree.silent("a static with two calls is not", {"common/base/x.c": single + body("foliot__y", 25, "    once();\n")}, "single_calls")
    tree.silent("nor is one in a table", {"common/base/x.c": body("once", 25, static=True) + "void (*x)(void) = once;\n"},
                "single_calls")
    confetti = "".join(body(f"foliot__x{i}", 5) for i in range(100))
    tree.rings("functions that grow shorter are named", "lines_p90: ", {"common/base/x.c": confetti})
    tree.rings("at both ends", "lines_p99: ", {"common/base/x.c": "".join(body(f"foliot__x{i}", 5) for i in range(700))})
    tree.rings("functions that are too long are named", "lines_p90: ",
               {"common/base/x.c": "".join(body(f"foliot__x{i}", 60) for i in range(5))})
    tree.rings("one of more than 100 lines is named", "longest_functions: ", {"common/base/x.c": body("foliot__x", 101)})
    tree.silent("one of 100 is not", {"common/base/x.c": body("foliot__x", 100)}, "longest_functions")
    same = "    same_1();\n    same_2();\n\n    same_3(); // here\n    same_4();\n    same_5();\n"
    pair = {f"common/base/{n}.c": f"void foliot__{n}(void)\n{{\n    first_{n}();\n{same}    same_6{n}();\n}}\n" for n in "xy"}
    tree.silent("five equal lines are no duplicate", pair, "duplicates")
    pair = {path: text.replace("same_6x", "same_6").replace("same_6y", "same_6") for path, text in pair.items()}
    tree.rings("six equal lines in two files are named", "duplicates: ", pair)
    longer = {"common/sim/math/hash.c": body("foliot__hash", 25, "    foliot__more();\n")
              + body("foliot__more", 25, "    foliot__text();\n")}
    tree.rings("a longer chain below a step is named", "step_depth: ", longer)
    tree.rings("another function of a step is named", "step_functions: ", longer)
    tree.rings("another file of a step is named", "step_files: ", {
        "common/base/x.c": plain, "common/sim/math/hash.c": body("foliot__hash", 25, "    foliot__text(), foliot__x();\n")})
    tree.rings("a header with one user is named", "one_user_headers: ",
               {"common/base/x.h": "int x;\n" * 40, "common/base/y.c": '#include "base/x.h"\n' + plain})
    tree.rings("its own file is no user", "one_user_headers: ", {"common/base/x.h": "int x;\n" * 40,
               "common/base/x.c": '#include "x.h"\n', "common/base/y.c": '#include "x.h"\n' + plain})
    tree.silent("a header with two users is not", {"common/base/x.h": "int x;\n" * 40,
                "common/base/x.c": '#include "base/x.h"\n', "common/base/y.c": '#include "x.h"\n',
                "server/z.c": '#include "base/x.h"\n'}, "one_user_headers")
    tree.rings("a short header is named", "short_headers: ", {"common/base/x.h": "int x;\n" * 28})
    tree.silent("one of 30 lines is not", {"common/base/x.h": "int x;\n" * 29}, "short_headers")
    tree.rings("a struct with more fields is named", "most_fields: ", {"common/base/x.c": struct("x", 5)})
    unnamed = "typedef struct {\n    int a, b;\n    union {\n        int c, *d;\n        void (*e)(int, int);\n    };\n} x;\n"
    tree.rings("fields of unnamed members count", "most_fields: ", {"common/base/x.c": unnamed})
    tree.rings("a struct of more than 30 fields is named", "large_structs: ", {"common/base/x.c": struct("x", 31)})
    tree.silent("one of 30 is not", {"common/base/x.c": struct("x", 30)}, "large_structs")
    tree.rings("another bool of a peer is named", "state_bools: ", {"server/lib/session.h":
               struct("foliot__session", 4, 1) + struct("foliot__peer", 4, 2)})
    tree.rings("a bool of a group of a client's fields is named", "state_bools: ", {"client/lib/role.h":
               struct("foliot__client_role", 40, 1)})
    tree.silent("a bool of another struct is not", {"client/lib/role.h": struct("foliot__tracks", 3, 1)}, "state_bools")
    tree.rings("another public function is named", "public_functions: ", {"include/foliot/world.h":
               "void foliot_world_step(void);\nconst char *foliot_world_name(const struct x *world,\n    int y);\n"})
    tree.rings("another public header is named", "public_headers: ", {"include/foliot/x.h": "int x;\n"})
    tree.rings("more lines of tests are named", "test_lines: ", {"tests/unit/test_y.c": "int x;\n" * 1100})
    tree.rings("more files of tests are named", "test_files: ", {f"tests/unit/cases/{i}": "" for i in range(20)})


def word_alarms(tree):
    for key, text in {"told": "It is told so.", "heard": "Heard since.", "said": "as was said", "anew": "begins anew",
                      "so_many": "in so many ticks", "of_its_own": "a file of its own", "beside": "Beside that",
                      "sentence_who": "A peer. Who listens, hears.", "sentence_of": "Of a peer: its name.",
                      "sentence_what": "It ends. What came is lost.", "who_he": "a client who says that he left",
                      "old_terms": "a tape"}.items():
        tree.rings(f"{key} in a comment is named", f"word_{key}: ", {"common/base/text.h": f"void x(void); // {text}\n"})
    split = "// It is a sentence. What\n// came is lost.\n"
    tree.rings("a sentence over two lines is read", "word_sentence_what: ", {"common/base/text.h": split})
    tree.rings("a comment in a block is read", "word_told: ", {"common/base/text.h": "/* It is\n * told. */\n"})
    tree.rings("a text of a program is read", "word_told: ", {"common/base/text.h": '#define X "it is told"\n'})
    tree.rings("a comment of a test is read", "word_told: ", {"tests/unit/test_x.c": "// It is told.\nint x;\n"})
    tree.rings("a comment of a script is read", "word_told: ", {"scripts/x.sh": "echo x # it is told\n"})
    tree.rings("one over two lines is read", "word_sentence_what: ", {"web/x.js": "// It is. What\n// came is lost.\n"})
    tree.silent("code of a script is not", {"scripts/x.sh": "echo told\necho '#told'\n"}, "word_told")
    tree.rings("a page is read", "word_told: ", {"README.md": "# A page\n\nIt is told.\n"})
    tree.silent("code of a page is not", {"README.md": "# A page\n\n```\ntold\n```\n\n    told\n\nIt is `told`.\n"}, "word_told")
    tree.silent("a name is no word", {"common/base/text.h": "void x(int told); // as_told\n"}, "word_told")
    tree.silent("a question is no such sentence", {"common/base/text.h": "// What is it?\nvoid x(void);\n"}, "word_sentence_what")


def page_alarms(tree):
    head = "# A page\n\nA page says something.\n\n"
    long = "It " + "goes on and " * 20 + "on."
    for name, text, expected in [
        ("a long line", head + "    " + "x" * 117, "5: 121 columns"), ("a long sentence", head + long.replace("goes", "goes\n"),
         "5: 62 words: It goes"),
        ("one in a list", head + "* " + long.replace(" goes", "\n  goes"), "5: 62 words"),
        ("a page that opens with a table", "# A page\n\n| a |\n|---|\n", "1: does not say what it is for"),
    ]:
        tree.rings(f"{name} is named", f"docs/x.md:{expected}", {"docs/x.md": text})
    tree.silent("code, tables, items and links have no long sentences", {"docs/x.md": head + "```\n" + long.replace(" goes",
        "\ngoes") + "\n```\n\n    a\n" + "* It goes on\n" * 20 + "\n| " + "a a | " * 18 + "\n\nIt (" + "goes\n" * 50 + ") on.\n"})


def record_alarms(tree):
    numbers = os.path.join(tree.root, "numbers.json")
    command = [sys.executable, os.path.join(HERE, "tidy.py"), "--root", tree.root, "--build", "build", "--numbers", numbers]

    def run(*options):
        done = subprocess.run([*command, *options], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def recorded(key):
        with open(numbers, encoding="utf-8") as file:
            return json.load(file)["numbers"][key]

    code, text = run("--check")
    report("without a record it fails", code == 1 and "has no record" in text, text)
    code, text = run("--update")
    report("recorded, the tree is clean", code == 0 and " 0 faults" in text, text)
    before = recorded("most_fields")
    tree.write("common/base/x.c", SPDX + struct("x", 9))
    code, text = run("--check")
    report("a number that rose fails", code == 1 and "most_fields" in text, text)
    code, text = run("--update")
    report("an update raises nothing", code == 1 and recorded("most_fields") == before, text)
    tree.remove("common/base/x.c")
    tree.write("server/lib/peer.c", '#include "server/lib/session.h"\n' + SPDX + body("foliot__peer_send", 25, "    foliot__step();\n"))
    code, text = run("--update")
    report("nor does it record a circle", code == 1 and "circle of calls that is not known" in text, text)
    tree.write("server/lib/peer.c", CLEAN["server/lib/peer.c"])
    tree.write("common/base/x.c", SPDX + struct("x", 9))
    code, text = run("--raise", "most_fields")
    report("what is named is raised", code == 0 and recorded("most_fields") == 9, text)
    tree.remove("common/base/x.c")
    code, text = run("--check")
    report("a number that fell is no fault", code == 0, text)
    code, text = run("--update")
    report("an update lowers", code == 0 and recorded("most_fields") == before, text)
    code, text = run("--list", "public_headers")
    report("the places of a number are listed", code == 0 and text == "include/foliot/world.h\n", text)
    code, text = run()
    report("the table has every number", all(row.title in text for row in tidy.ROWS), text)


def main():
    root = tempfile.mkdtemp()
    try:
        tree = Tree(root)
        tidy.update(tidy.House(root, "build"), tree.record, ())
        report("the tree without a break is clean", not tree.faults(), "\n".join(tree.faults()))
        rules(tree)
        circle_alarms(tree)
        number_alarms(tree)
        word_alarms(tree)
        page_alarms(tree)
        record_alarms(tree)
        report("and so it is at the end", not tree.faults(), "\n".join(tree.faults()))
    finally:
        shutil.rmtree(root)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
