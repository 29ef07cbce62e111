#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# site.py FOLDER: builds the documentation site in FOLDER/html by mkdocs, and checks every link of it. Its pages are those
# of the tree, in the folders that they have there, so that their links hold; one page for each public header is made of
# the header. docs/README.md decides the order. Nothing outside FOLDER is written.
import html.parser
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r'(\]\()([^)\s#]+)(#[^)\s]*)?(\))')
NAME = re.compile(r'\b(?:foliot_[a-z0-9_]+|FOLIOT_[A-Z0-9_]+)\b')
API = "docs/reference/api"


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write_text(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def tracked_pages():
    pages = [name for name in os.listdir(ROOT) if name.endswith(".md")]
    for top in ("docs", "games"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            pages += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(pages)


# -- pages of the tree

def anchor(heading):
    """The place of a heading, as in the links of the pages."""
    heading = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).lower()
    return re.sub(r'[^\w\s-]', "", heading).replace(" ", "-")


def outside_fences(text, change):
    parts = re.split(r'(^```.*?^```[^\n]*$)', text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


def copy_page(page, source):
    """A page with places at its headings, and the files that it links to. A folder is linked by its page, if it has one."""
    def place(match):
        return f"{match[0]} {{#{anchor(match[2])}}}"

    def follow(match):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), match[2]))
        path = os.path.join(ROOT, target)
        if ":" in match[2] or target.endswith(".md"):
            return match[0]
        if os.path.isdir(path):
            return f"{match[1]}{match[2].rstrip('/')}/README.md{match[4]}"
        if os.path.isfile(path):
            os.makedirs(os.path.dirname(os.path.join(source, target)), exist_ok=True)
            shutil.copy(path, os.path.join(source, target))
        return match[0]

    def change(text):
        # A further paragraph of an item, which mkdocs wants four columns in.
        text = re.sub(r'(?<=\n\n)(?: {2,3}\S[^\n]*\n)+', lambda m: re.sub(r"^ +", "    ", m[0], flags=re.M) + "\n", text)
        return LINK.sub(follow, re.sub(r'^(#+) (.*)$', place, text, flags=re.M))

    write_text(os.path.join(source, page), outside_fences(read_text(os.path.join(ROOT, page)), change))


# -- pages of headers

def declarations(text):
    """(comment, declaration) of every part of a header; a comment that stands alone has an empty declaration."""
    lines, at, comment = text.split("\n"), 0, []
    while at < len(lines):
        line = lines[at]
        if line.startswith("//"):
            comment.append(line[2:].strip())
        elif not line.strip():
            if comment:
                yield comment, ""
            comment = []
        elif line.startswith("#define") and not line.startswith("#define FOLIOT_") or line.startswith(
                ("#include", "#if", "#endif", "#else", "extern", "}", "#undef")) or re.match(r'#define \w+_H$', line):
            if comment:
                yield comment, ""
            comment = []
        else:
            first, depth = at, 0
            while True:
                depth += lines[at].count("{") + lines[at].count("(") - lines[at].count("}") - lines[at].count(")")
                more = lines[at].endswith("\\") if line.startswith("#") else depth > 0 or not re.search(
                    r'(;\s*(//.*)?|^\})$', lines[at])
                if not more or at + 1 == len(lines):
                    break
                at += 1
            yield comment, "\n".join(lines[first:at + 1])
            comment = []
        at += 1


def name_of(declaration):
    """The name that a declaration introduces."""
    if declaration.startswith("#define"):
        return re.match(r'#define (\w+)', declaration)[1]
    end = re.search(r'\}\s*(\w+);', declaration) or re.search(r'\(\*(\w+)\)', declaration)
    if declaration.startswith("typedef") and end:
        return end[1]
    flat = re.sub(r'//.*', "", declaration)
    call = re.search(r'\b(foliot_\w+)\s*\(', flat)
    if call and not declaration.startswith("typedef"):
        return call[1]
    names = NAME.findall(flat)
    return names[-1] if names else ""


def as_markdown(words, homes, header):
    """Comment lines as Markdown, with a link at every public name."""
    def link(match):
        home = homes.get(match[0])
        if not home:
            return f"`{match[0]}`"
        return f"[`{match[0]}`]({'' if home == header else home + '.md'}#{match[0]})"
    out, code = [], False
    for line in words:
        if line.startswith("  ") or (code and not line):
            out.append("    " + line)
            continue
        parts = re.split(r'(`[^`]*`)', line)
        out.append("".join(part if part.startswith("`") else NAME.sub(link, re.sub(r'([*<&\[\]|])', r'\\\1', part))
                           for part in parts))
    return "\n".join(out)


def header_pages(source):
    folder = os.path.join(ROOT, "include/foliot")
    headers = sorted(name[:-2] for name in os.listdir(folder) if name.endswith(".h") and name != "foliot.h")
    parts = {header: list(declarations(read_text(os.path.join(folder, header + ".h")))) for header in headers}
    homes = {}
    for header, all_parts in parts.items():
        for _, declaration in all_parts:
            homes.setdefault(name_of(declaration), header)
            for value in re.findall(r'^    (FOLIOT_\w+)', declaration, flags=re.M):
                homes.setdefault(value, None)
    homes.pop("", None)
    for header, all_parts in parts.items():
        lines = [f"# foliot/{header}.h", ""]
        for comment, declaration in all_parts:
            comment = [line for line in comment if not line.startswith("SPDX")]
            if comment and comment[0].startswith(header + ".h: "):
                comment[0] = comment[0][len(header) + 4:].capitalize() if not NAME.match(comment[0]) else comment[0]
            name = name_of(declaration)
            if name:
                lines += [f"## {name} {{#{name}}}", ""]
            if comment:
                lines += [as_markdown(comment, homes, header), ""]
            if declaration:
                lines += ["```c", declaration, "```", ""]
        write_text(os.path.join(source, API, header + ".md"), "\n".join(lines))
    return headers


# -- the site

def complete_theme(source):
    """Debian's theme asks for two scripts that its package does not have."""
    os.makedirs(os.path.join(source, "js"))
    shutil.copy("/usr/share/javascript/jquery/jquery.min.js", os.path.join(source, "js/jquery-3.6.0.min.js"))
    write_text(os.path.join(source, "js/theme_extra.js"), "")


def title_of(source, page):
    found = re.search(r'^# (.*?)(?: \{#.*\})?$', read_text(os.path.join(source, page)), flags=re.M)
    return found[1].replace("`", "") if found else page


def navigation(source, headers):
    """The sections of docs/README.md, then the headers, then what stands at the root."""
    sections, listed = [], set()
    for line in read_text(os.path.join(ROOT, "docs/README.md")).split("\n"):
        start = re.match(r'\*\*(.*?)\.\*\*', line)
        if start:
            sections.append({start[1]: []})
        for match in LINK.finditer(line):
            page = posixpath.normpath(posixpath.join("docs", match[2]))
            if sections and page.endswith(".md") and page not in listed:
                listed.add(page)
                list(sections[-1].values())[0].append({title_of(source, page): page})
    games = [page for page in tracked_pages() if page.startswith("games/")]
    games.sort(key=lambda page: (page != "games/README.md", page))
    root = [page for page in ("CHANGELOG.md", "CONTRIBUTING.md") if page not in listed]
    return ([{"foliot": "README.md"}, {"All pages": "docs/README.md"}] + sections +
            [{"Public headers": [{f"foliot/{header}.h": f"{API}/{header}.md"} for header in headers]},
             {"Games": [{title_of(source, page): page} for page in games]},
             {"Project": [{title_of(source, page): page} for page in root]}])


def write_config(folder, source, headers):
    write_text(os.path.join(folder, "mkdocs.yml"), json.dumps({  # JSON is YAML
        "site_name": "foliot", "site_description": "a networked, deterministic physics server", "docs_dir": "source",
        "site_dir": "html", "theme": {"name": "readthedocs", "navigation_depth": 2, "highlightjs": False},
        "use_directory_urls": False, "plugins": ["search"], "markdown_extensions": ["attr_list", "sane_lists"],
        "nav": navigation(source, headers)}, indent=1))


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.places, self.targets = set(), []

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("id", "name") and value:
                self.places.add(value)
            if key in ("href", "src") and value and not re.match(r'[a-z]+:|//', value):
                self.targets.append(value)


def check_links(site):
    """What is wrong with the links of the built pages."""
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html") and name not in ("404.html", "search.html"):
                page = Links()
                path = os.path.join(folder, name)
                page.feed(read_text(path))
                pages[path] = page
    for path, page in pages.items():
        for target in page.targets:
            file, place = urllib.parse.unquote(target).partition("#")[::2]
            file = os.path.normpath(os.path.join(os.path.dirname(path), file.split("?")[0])) if file else path
            if os.path.isdir(file):
                file = os.path.join(file, "index.html")
            if not os.path.exists(file):
                yield f"{os.path.relpath(path, site)}: leads nowhere: {target}"
            elif place and file in pages and place not in pages[file].places:
                yield f"{os.path.relpath(path, site)}: no such place: {target}"


def main():
    folder = os.path.abspath(sys.argv[1])
    source = os.path.join(folder, "source")
    shutil.rmtree(source, ignore_errors=True)
    for page in tracked_pages():
        copy_page(page, source)
    headers = header_pages(source)
    complete_theme(source)
    write_config(folder, source, headers)
    subprocess.run(["mkdocs", "build", "--quiet", "--clean", "--config-file", os.path.join(folder, "mkdocs.yml")], check=True)
    problems = list(check_links(os.path.join(folder, "html")))
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{folder}/html/index.html")
    return 1 if problems else 0


sys.exit(main())
