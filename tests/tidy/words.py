# SPDX-License-Identifier: MIT
# words.py: words that readers stumble over, in comments and texts of programs, comments of tests and scripts, and
# pages. Code and names are not read.
import re

SENTENCE = r'(?:^|[.!?:;]["\')]?\s+)'
WORDS = {  # key: what is counted, and what stands there instead
    "told": (r'\b[Tt]old\b', "reported, logged, sent"),
    "heard": (r'\b[Hh]eard\b', "received, acknowledged"),
    "said": (r'\b[Ss]aid\b', "stated, reported"),
    "anew": (r'\banew\b', "again, from the start"),
    "so_many": (r'\b[Ss]o (?:many|often)\b', "a number"),
    "of_its_own": (r'\bof (?:its|their|his) own\b', "its own X, a separate X"),
    "beside": (r'\b[Bb]eside\b', "next to, besides, along with"),
    "sentence_who": (SENTENCE + r'Who(?:se|m)?\b(?![^.!;:]*\?)', "the subject"),
    "sentence_of": (SENTENCE + r'Of\b(?! course)', "the subject"),
    "sentence_what": (SENTENCE + r'What\b(?![^.!;:]*\?)', "the subject"),
    "who_he": (r'\b[Ww]ho\b[^.;:!?]*\b(?:he|him|his)\b', "a client, a player, somebody"),
    "old_terms": (r'\b(?:truth|tapes?|trays?|crews?|blows?(?! up)|thinning|incarnations?|answerers?|yards?)\b',
                  "docs/GLOSSARY.md"),
}
PATTERNS = {key: re.compile(pattern) for key, (pattern, _) in WORDS.items()}
# A text without any of these has none of the words.
HINT = re.compile("|".join(f"(?:{pattern.replace(SENTENCE, '')})" for pattern, _ in WORDS.values()))


def comment_texts(source):
    """The comments of a file, each with its first line. Lines of // without code before them go on with the last text."""
    texts, last, line, seen = [], -1, 1, 0
    for at, comment in source.comments:
        line += source.text.count("\n", seen, at)
        seen = at
        if comment.startswith("//"):
            start = source.text.rfind("\n", 0, at) + 1
            if line == last + 1 and line > 2 and not source.text[start:at].strip():
                texts[-1][1].append(comment[2:].strip())
            else:
                texts.append((line, [comment[2:].strip()]))
            last = line
        else:
            texts.append((line, [part.strip(" *") for part in comment[2:-2].split("\n")]))
            last = -1
    return [(first, "\n".join(parts)) for first, parts in texts]


def string_texts(source):
    return [(source.line_at(at), text.replace("\\n", "\n")) for at, text in source.strings if " " in text]


SCRIPTS = {".js": "//", ".mjs": "//", ".lua": "--", ".sh": "#", ".py": "#", ".pl": "#", ".mk": "#", ".yaml": "#",
           ".yml": "#", ".service": "#", "Makefile": "#", "Makefile.tests": "#"}


def script_texts(text, mark):
    """The comments of a script, each with its first line. Lines of comments alone go on with the last text."""
    texts, last = [], -1
    for line, content in enumerate(text.split("\n"), 1):
        code, found, comment = content.partition(mark + " ")
        if not found or code and not code[-1].isspace():
            continue
        if not code.strip() and line == last + 1:
            texts[-1][1].append(comment)
        else:
            texts.append((line, [comment]))
        last = line if not code.strip() else -1
    return [(first, "\n".join(parts)) for first, parts in texts]


def page_texts(text):
    """The paragraphs of a page, without what stands in fences and between backquotes."""
    line = 1
    for part in re.split(r'(\n[ \t]*\n)', re.sub(r'^```.*?^```', lambda m: "\n" * m.group().count("\n"), text,
                                                 flags=re.M | re.S)):
        if part.strip() and not part.startswith("    "):
            yield line, re.sub(r'`[^`]*`', "``", re.sub(r'^[#*\- >]+', "", part))
        line += part.count("\n")


def find(path, texts):
    """KEY, PATH:LINE: TEXT of every such word."""
    for first, text in texts:
        if not HINT.search(text):
            continue
        for key, pattern in PATTERNS.items():
            for match in pattern.finditer(text):
                at = match.end()
                near = " ".join(text[max(0, at - 30):at + 30].split())
                yield key, f"{path}:{first + text.count(chr(10), 0, at)}: {near}"
