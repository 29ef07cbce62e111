# SPDX-License-Identifier: MIT
# source.py: what tidy.py reads from one file in C: code, comments and strings apart, functions, structs, includes.
# It knows no macro: a file is read as clang-format sees it. It refuses a file whose braces do not match.
import re
from collections import Counter

PRODUCT = ("include", "common", "server", "client", "tools", "games", "web")
DUPLICATE_LINES = 6  # the shortest run of equal lines that counts

TOKEN = re.compile(r'//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]*)[>"]', re.M)
DIRECTIVE = re.compile(r'^[ \t]*#(?:\\\n|[^\n])*', re.M)
CONDITIONAL = re.compile(r'^[ \t]*#[ \t]*(if|else|elif|endif)')
IDENTIFIER = re.compile(r'[A-Za-z_]\w*')
CALL = re.compile(r'([A-Za-z_]\w*)\s*\(')
DECLARATION = re.compile(r'^static\b[^;{}=()]*\b([A-Za-z_]\w*)\s*\([^;{}]*\)[^;{}]*;', re.M)
PUBLIC = re.compile(r'^(?!typedef)[A-Za-z_][^;{}=()]*?\b(foliot_\w+)\([^;{}]*\)[^;{}]*;', re.M)
STRUCT = re.compile(r'\b(?:struct|union)(?:\s+([A-Za-z_]\w*))?\s*$')
NO_NAME = {"__attribute__", "__asm__", "_Alignas", "__declspec", "if", "while", "for", "switch", "sizeof"}
SPACES = re.compile(r'[^\n]')


def blank(text):
    return SPACES.sub(" ", text)


class Function:
    def __init__(self, name, static, first, last):
        self.name, self.static, self.first, self.last = name, static, first, last
        self.lines = last - first + 1


class Source:
    """One file. Lines are counted from 1."""

    def __init__(self, path, text):
        self.path = path
        self.lines = text.count("\n")
        self.comments, self.strings, self.text = [], [], text
        self.includes = [(m.group(1), m.group(2), text.count("\n", 0, m.start()) + 1) for m in INCLUDE.finditer(text)]
        self.code = TOKEN.sub(self._token, text)
        plain = DIRECTIVE.sub(lambda m: blank(m.group()), self.code)
        self.functions, self.structs, balanced = read_blocks(plain)
        if not balanced:
            plain = DIRECTIVE.sub(lambda m: blank(m.group()), without_alternatives(self.code))
            self.functions, self.structs, balanced = read_blocks(plain)
        self.balanced = balanced
        self.single_calls = single_calls(self.code, self.functions) if path.endswith(".c") else []
        self.runs = runs(self.code)

    @classmethod
    def of_comments(cls, path, text):
        """A file of which only comments and strings are wanted."""
        source = cls.__new__(cls)
        source.path, source.text, source.comments, source.strings = path, text, [], []
        source.code = TOKEN.sub(source._token, text)
        return source

    def _token(self, match):
        token = match.group()
        if token[0] == "/":
            self.comments.append((match.start(), token))
            return blank(token)
        if token[0] == '"':
            self.strings.append((match.start(), token[1:-1]))
            return '""' + blank(token[2:])
        return "' '" + blank(token[3:])

    def line_at(self, offset):
        return self.text.count("\n", 0, offset) + 1


def without_alternatives(code):
    """The code with every #else and #elif branch blanked: braces that open in each of two branches match then."""
    lines, taken = code.split("\n"), []
    for i, line in enumerate(lines):
        match = CONDITIONAL.match(line)
        if match and match.group(1) == "if":
            taken.append(True)
        elif match and match.group(1) == "endif" and taken:
            taken.pop()
        elif match and taken:
            taken[-1] = False
        elif not all(taken):
            lines[i] = ""
    return "\n".join(lines)


def read_blocks(code):
    """Functions and structs of code without comments, strings and directives; and whether the braces match."""
    functions, structs, stack, boundary, line, seen = [], [], [], 0, 1, 0
    for match in re.finditer(r'[{};]', code):
        at, mark = match.start(), match.group()
        if mark == ";":
            if not stack:
                boundary = at + 1
            continue
        if mark == "{":
            head = code[boundary:at] if not stack else ""
            kind = classify(head) if not stack else None
            if kind == "linkage":
                boundary = at + 1
                continue
            start = boundary + len(head) - len(head.lstrip())
            line += code.count("\n", seen, start) if start >= seen and not stack else 0
            seen = start if start >= seen and not stack else seen
            stack.append((at, kind, head, line))
            continue
        if not stack:
            if code.count('""', 0, at) and code[at + 1:].strip() == "":
                continue  # the end of extern "C"
            return functions, structs, False
        opened, kind, head, first = stack.pop()
        if stack:
            continue
        boundary = at + 1
        line += code.count("\n", seen, at)
        seen = at
        if kind and kind[0] == "function":
            functions.append(Function(kind[1], " static " in " " + " ".join(head.split()) + " ", first, line))
        elif kind and kind[0] == "struct":
            tail = re.match(r'\s*([A-Za-z_]\w*)', code[at + 1:at + 80])
            structs.append((kind[1] or (tail.group(1) if tail else ""), *fields(code[opened + 1:at])))
    return functions, structs, not stack


def classify(head):
    head = head.strip()
    if head.endswith('""') and "extern" in head:
        return "linkage"
    struct = STRUCT.search(head)
    if struct:
        return ("struct", struct.group(1))
    if head.endswith(")"):
        for call in CALL.finditer(head):
            if call.group(1) not in NO_NAME:
                return ("function", call.group(1))
    return ("other", None)


def fields(body):
    """How many fields, and how many of them are bool, a struct with this body has; those of unnamed members too."""
    body = re.sub(r'\([^()]*\)|\[[^\]]*\]', "", body)
    count = bools = 0
    for piece in re.split(r'[;{}]', body):
        piece = piece.strip()
        if not piece or re.match(r'(?:struct|union|enum)\b(?:\s+\w+)?$', piece):
            continue
        count += piece.count(",") + 1
        if re.match(r'(?:const\s+|volatile\s+|_Atomic\s+)*(?:bool|_Bool|atomic_bool)\b', piece):
            bools += piece.count(",") + 1
    return count, bools


def single_calls(code, functions):
    """The static functions that are used once in their file, by a call."""
    statics = {f.name for f in functions if f.static}
    if not statics:
        return []
    declared = Counter(m.group(1) for m in DECLARATION.finditer(code))
    uses = Counter(IDENTIFIER.findall(code))
    calls = Counter(CALL.findall(code))
    # The definition and every declaration are of the form of a call.
    return [name for name in sorted(statics)
            if uses[name] == calls[name] == declared[name] + 2]


def public_functions(header):
    """The functions of the library that a public header declares or defines."""
    plain = DIRECTIVE.sub("", header.code)
    return set(PUBLIC.findall(plain)) | {f.name for f in header.functions if f.name.startswith("foliot_")}


def runs(code):
    """Hashes of every run of lines of code that would count as a duplicate; spaces do not tell lines apart. Lines that are
    nothing but text do not count: their words are not compared."""
    lines = []
    for line in DIRECTIVE.sub("", code).split("\n"):
        line = "".join(line.split())
        if line and line != '""':
            lines.append(hash(line))
    return {hash(tuple(lines[i:i + DUPLICATE_LINES])) for i in range(len(lines) - DUPLICATE_LINES + 1)}
