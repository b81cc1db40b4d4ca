#!/usr/bin/env python3
"""Checks that what comments and documents cite is there to be read.

    citations.py [ROOT]       check every source, script and document under ROOT (default: this repository)
    citations.py --self-test  check that planted citations of nothing are found, and nothing else

What stands in square brackets and is checked:

    [theory §3g]  [oracle §A.4]  [likelihood §2]  [bernstein §4.3]    a heading of docs/theory.md
    [theory §2, erratum 15; T27]                                      a row of its tables
    [paper, L388]  [paper, Alg. 1 line 8]                             a line that docs/theory.md explains
    [design decision 2]                                               a number of docs/design/decisions.md
    [docs/offline.md]  [docs/algorithms/likelihood.md, Lemma 2]       a file, and words in it
    [words](page.md#heading)                                          of documents: a file, and a heading in it
"""

import re
import sys
import tempfile
from pathlib import Path

PAGES = ("theory", "oracle", "likelihood", "bernstein")
SOURCES = {".hpp", ".cpp", ".py", ".sh", ".cmake", ".txt", ".md"}
FOLDERS = ("include", "src", "apps", "python", "tests", "examples", "experiments", "benchmarks", "adapters", "docs", "cmake")
CITATION = re.compile(r"\[((?:%s) §|paper, |design decision |docs/)([^\]]*)\]" % "|".join(PAGES))
LINK = re.compile(r"\]\(([^)\s:#]*)(?:#([^)\s]*))?\)")
PROPOSITION = re.compile(r"\bT(\d+)\b")
# A citation that breaks over a line, with the comment's marker at the new line's start.
CONTINUED = re.compile(r"\n[ \t]*(?:///?|#|\*)?[ \t]*")


class Library:
    """What there is to cite."""

    def __init__(self, root):
        self.root = root
        text = self.read("docs/theory.md")
        self.sections = {page: set() for page in PAGES}
        for name, section in re.findall(r"^#+ (?:(Oracle|Likelihood|Bernstein) )?§(\d+[a-z]?(?:\.\d+)?|[A-Z](?:\.\d+)?)\b", text, re.M):
            self.sections[name.lower() or "theory"].add(section)
        for name, section, part in re.findall(r"^#+ (Oracle|Likelihood|Bernstein) §(\S+) ([A-Z]) ", text, re.M):
            self.sections[name.lower()].add(f"{section} {part}")
        self.errata = set(re.findall(r"\d+", " ".join(re.findall(r"^\| (\d+(?:, \d+)*) \| L", text, re.M))))
        self.propositions = set(re.findall(r"^\| T(\d+) \|", text, re.M))
        preface = text.split("## §1", 1)[0]
        self.paper_lines = set(re.findall(r"\bL(\d+)\b", preface))
        self.decisions = set(re.findall(r"^(\d+)\. ", self.read("docs/design/decisions.md"), re.M))

    def read(self, path):
        file = self.root / path
        return file.read_text() if file.is_file() else ""


def missing_of_page(page, rest, library):
    """`rest` follows the page's first '§': '3a, §3g', '2, errata 8 and 9; T27', '§A.4, pitfall i'."""
    missing = []
    for section in re.findall(r"(?:^|§)((?:\d+[a-z]?|[A-Z])(?:\.\d+)?(?: [AB]\b)?)", rest):
        if section not in library.sections[page]:
            missing.append(f"{page} §{section}")
    for words in re.findall(r"errat(?:um|a) ((?:\d+(?:, | and )?)+)", rest):
        missing += [f"erratum {n}" for n in re.findall(r"\d+", words) if n not in library.errata]
    missing += [f"T{n}" for n in PROPOSITION.findall(rest) if n not in library.propositions]
    return missing


def missing_of_one(part, library):
    """What one citation, without its brackets, names that is not there."""
    for page in PAGES:
        if part.startswith(page + " §"):
            return missing_of_page(page, part[len(page) + 2 :], library)
    if part.startswith("design decision "):
        return [f"decision {n}" for n in re.findall(r"\d+", part) if n not in library.decisions]
    if part.startswith("paper, "):
        rest = part[len("paper, ") :]
        if re.fullmatch(r"Alg\. [1-4](?: lines? \d+(?:-\d+)?(?:, \d+(?:-\d+)?)*)?|App\. [A-E]|Thm\. \d|\.\.\.", rest):
            return []
        lines = re.findall(r"\bL(\d+)", rest)
        if not lines:
            return [f"'{part}': say which algorithm, or which line (L388)"]
        return [f"paper, L{n}" for n in lines if n not in library.paper_lines]
    if part.startswith("docs/"):
        name, _, words = part.partition(", ")
        text = library.read(name)
        if not text:
            return [name]
        return [] if not words or words in text else [f"'{words}' in {name}"]
    return [f"T{n}" for n in PROPOSITION.findall(part) if n not in library.propositions]


def anchors(text):
    """The names that headings have as targets of links."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", text, re.M):
        words = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(words.replace(" ", "-"))
    return found


def broken_link(file, target, anchor):
    """Why a link of a document leads nowhere, or None."""
    path = (file.parent / target).resolve() if target else file
    if not path.exists():
        return f"no file {target}"
    if anchor and path.suffix == ".md" and anchor not in anchors(path.read_text()):
        return f"no heading #{anchor} in {target or 'this page'}"
    return None


def files(root):
    for file in sorted(root.glob("*.md")):
        yield file
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SOURCES and file.is_file() and not {"corpus", "node_modules"} & set(file.parts) and file.name != "citations.py":
                yield file


def violations(root):
    """All citations of nothing as (path, line number, what is missing)."""
    library = Library(root)
    found = []
    for file in files(root):
        text = file.read_text(errors="replace")
        marked = CONTINUED.sub("\0", text)  # one mark a line's end, so that lines can be counted
        flat = marked.replace("\0", " ")
        for match in CITATION.finditer(flat):
            if file.suffix == ".md" and flat[match.end() : match.end() + 1] == "(":
                continue  # a link's own words; the link is checked below
            line = marked.count("\0", 0, match.start()) + 1
            for part in (match.group(1) + match.group(2)).split("; "):
                found += [(file.relative_to(root), line, what) for what in missing_of_one(part.strip(), library)]
        if file.suffix == ".md":
            for match in LINK.finditer(text):
                why = broken_link(file, match.group(1), match.group(2))
                if why:
                    found.append((file.relative_to(root), text.count("\n", 0, match.start()) + 1, why))
    return found


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in {
            "docs/theory.md": "see L388\n## §1 A\n### §3a B\n## §2 E\n| 15 | L5 | x | y |\n| 44, 45 | L6 | x | y |\n| T9 | c | w |\n"
            "### Oracle §A.4 P\n### Likelihood §4 A C\n### Likelihood §8.4 D\n",
            "docs/design/decisions.md": "2. **When.** x\n",
            "docs/page.md": "# One heading, here\n[a](page.md#one-heading-here) [b](theory.md)\nLemma 2\n",
            "src/right.cpp": "// [theory §3a; T9] [theory §2, errata 15 and 44] [oracle §A.4, pitfall i] [likelihood §4 A] [paper, L388]\n"
            "// [design decision 2] [docs/page.md, Lemma 2] [paper, Alg. 1 lines 8-13; likelihood\n//   §8.4] x[theory]\n",
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        assert violations(root) == [], violations(root)
        for text, expected in {
            "// [theory §3b]": "theory §3b",
            "// [theory §3a, §9]": "theory §9",
            "// [theory §2, erratum 16]": "erratum 16",
            "// [theory §1; T8]": "T8",
            "// [likelihood §4 B]": "likelihood §4 B",
            "// [oracle\n//  §B]": "oracle §B",
            "// [paper, L389]": "paper, L389",
            "// [paper, lines 12-13]": "'paper, lines 12-13': say which algorithm, or which line (L388)",
            "// [design decision 3]": "decision 3",
            "// [docs/none.md]": "docs/none.md",
            "// [docs/page.md, Lemma 3]": "'Lemma 3' in docs/page.md",
        }.items():
            (root / "src/wrong.cpp").write_text(text + "\n")
            assert violations(root) == [(Path("src/wrong.cpp"), 1, expected)], (text, violations(root))
        (root / "src/wrong.cpp").unlink()
        for text, expected in {"[a](none.md)": "no file none.md", "[a](page.md#two)": "no heading #two in page.md"}.items():
            (root / "docs/wrong.md").write_text(text + "\n")
            assert violations(root) == [(Path("docs/wrong.md"), 1, expected)], (text, violations(root))


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    found = violations(Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent)
    for path, line, what in found:
        print(f"{path}:{line}: cites what is not there: {what}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
