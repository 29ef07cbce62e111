# SPDX-License-Identifier: MIT
# pages.py: rules for pages of Markdown: no line beyond 120 columns, no sentence beyond 40 words, a first line that says
# what the page is for. Names, links and options of pages: tests/unit/docs_check.pl, which needs the programs.
import re

COLUMNS_MAX = 120
WORDS_MAX = 40
NO_PROSE = re.compile(r'    |\||#|```|!\[')
ITEM = re.compile(r'\s*(?:[*-]|\d+\.) ')
WORD = re.compile(r"[^\W\d_][\w'-]*")


def check_page(path, text):
    lines = text.split("\n")
    opening = next((line for line in lines[1:] if line.strip()), "")
    if not re.match(r'[A-Za-z*]', opening):
        yield f"{path}:1: does not say what it is for"
    for at, line in enumerate(lines, 1):
        written = path == "BENCHMARKS.md" and line.startswith("|")  # a row that a program wrote
        if len(line) > COLUMNS_MAX and not written:
            yield f"{path}:{at}: {len(line)} columns"
    for first, paragraph in paragraphs(lines):
        plain = re.sub(r'\([^()]*\)', "", re.sub(r'`[^`]*`', "code", paragraph))
        for sentence in re.split(r'(?<=[.!?:;])\s+', plain):
            count = len(WORD.findall(sentence))
            if count > WORDS_MAX:
                yield f"{path}:{first}: {count} words: {sentence[:60]}..."


def paragraphs(lines):
    """Paragraphs and items of lists, outside of code, tables and headings, each with its first line."""
    fenced, first, parts = False, 0, []
    for at, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
        prose = not fenced and line.strip() and not NO_PROSE.match(line)
        if parts and (not prose or ITEM.match(line)):
            yield first, " ".join(parts)
            parts = []
        if prose:
            first = first if parts else at
            parts.append(line)
    if parts:
        yield first, " ".join(parts)
