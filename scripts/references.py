"""Keeps the paths, lines and links of the docs true.

    python -m scripts.references            fails on what is no longer true
    python -m scripts.references --write    brings lines up to date, follows what moved

A reference is a file with its line, and the name that is defined there: `audit/apps.py:9`
`AuditConfig`. Where the file no longer defines the name, and one other file of the product does,
the reference follows it there.

docs/conformance.md has exactly one line of each requirement, with its tests and where it is seen.
docs/threat-model.md has a test for each threat, or says why there is none. The guides of approvers
and users have a test for each claim, which begins in bold type. Pages for operators and
integrators, and that about guardrails, have one, or a command, for each section.
"""

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from scripts.room_graph import APPS, PROJECT

REFERENCE = re.compile(r"`(?P<path>[\w./-]+\.py):(?P<line>\d+)` `(?P<name>[\w.]+)`")
# What looks like a path of this repository: it begins with one of its folders.
PATH = re.compile(r"`(?P<path>(?:\.?[\w-]+/)+(?:[\w.-]+\.(?:py|md|html|js|toml|yml|json|txt))?)`")
LINK = re.compile(r"\]\((?P<path>[^)#:]*)(?:#(?P<heading>[\w-]+))?\)")
HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)
CONFORMANCE, THREATS = Path("docs/conformance.md"), Path("docs/threat-model.md")
THREAT = re.compile(
    r"^\| (?P<id>T-\d+) \| (?P<what>[^|]+) \| (?P<stops>[^|]+) \| (?P<tried>[^|]+) \|$",
    re.MULTILINE,
)
GUIDES = (Path("docs/approving.md"), Path("docs/using.md"))
PAGES = tuple(
    Path("docs", f"{name}.md") for name in ("api", "deployment", "guardrails", "operating", "staff")
)
SHOWN_BY = "\n## Shown by\n"
CLAIM = re.compile(r"^- \*\*(?P<what>[^*]+)\*\*", re.MULTILINE)
# Those about what was tried have their tests in them.
SECTION = re.compile(r"^## (?P<what>(?!What was tried).+)$", re.MULTILINE)
TRIED = re.compile(r"^\| (?P<what>[^|]+) \|.*`(?:test_|make bench |manage\.py )", re.MULTILINE)
# How many requirements there are of each family; their ids count from 1.
FAMILIES = {
    "INT": 7,
    "KNO": 8,
    "GRD": 15,
    "AUD": 10,
    "AGT": 21,
    "MAIL": 4,
    "API": 7,
    "PRV": 4,
    "ACC": 1,
    "EVA": 1,
    "UI": 2,
    "OPS": 2,
}
REQUIREMENT = re.compile(
    r"^\| (?P<id>[A-Z]+-\d+) \|(?P<what>[^|]*)\|(?P<proof>[^|]*)\|(?P<seen>[^|]*)\|$", re.MULTILINE
)


def list_pages() -> list[Path]:
    return [*sorted(PROJECT.glob("*.md")), *sorted((PROJECT / "docs").glob("*.md"))]


@cache
def read_definitions(path: Path) -> dict[str, int]:
    """The line of every class, function, method and constant that a module defines."""
    found: dict[str, int] = {}

    def look(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            match node:
                case ast.ClassDef():
                    found[prefix + node.name] = node.lineno
                    look(node.body, f"{prefix}{node.name}.")
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    found[prefix + node.name] = node.lineno
                case ast.Assign():
                    names = [one.id for one in node.targets if isinstance(one, ast.Name)]
                    found.update({prefix + name: node.lineno for name in names})
                case ast.AnnAssign(target=ast.Name(id=name)):
                    found[prefix + name] = node.lineno

    look(ast.parse(path.read_text(encoding="utf-8")).body, "")
    return found


def find(path: str, name: str) -> tuple[str, int] | None:
    """Where `name` is defined now: in `path`, or in the one module of the product that has it."""
    named = PROJECT / path
    if named.exists() and name in read_definitions(named):
        return path, read_definitions(named)[name]
    others = [
        (module.relative_to(PROJECT).as_posix(), read_definitions(module)[name])
        for app in APPS
        for module in sorted((PROJECT / app).rglob("*.py"))
        if "migrations" not in module.parts and name in read_definitions(module)
    ]
    return others[0] if len(others) == 1 else None


def list_headings(page: Path) -> set[str]:
    """The headings of a page as links name them: lower case, hyphens, nothing else."""
    headings = (match["text"].lower() for match in HEADING.finditer(page.read_text("utf-8")))
    return {re.sub(r"[^\w -]", "", text).replace(" ", "-") for text in headings}


def find_wrong(page: Path) -> Iterator[str]:
    """Sentences about what `page` names and is not so."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(PROJECT)
    for match in REFERENCE.finditer(text):
        found = find(match["path"], match["name"])
        if found is None:
            yield f"{name}: {match.group()}: nothing of this name is there. Name another."
        elif found != (match["path"], int(match["line"])):
            yield f"{name}: {match.group()}: is at {found[0]}:{found[1]}. Run `make references`."
    for match in PATH.finditer(text):
        path = match["path"]
        if (PROJECT / path.split("/")[0]).is_dir() and not (PROJECT / path).exists():
            yield f"{name}: `{path}` does not exist."
    for match in LINK.finditer(text):
        linked = page.parent / match["path"] if match["path"] else page
        if not linked.exists():
            yield f"{name}: the link to {match['path']} leads nowhere."
        elif match["heading"] and match["heading"] not in list_headings(linked):
            yield f"{name}: {linked.name} has no heading for #{match['heading']}."
    yield from BY_PAGE.get(name, no_more)(text)


def find_unshown(text: str, *, page: Path, claim: re.Pattern[str]) -> Iterator[str]:
    """A sentence where a page's table does not show each of its claims, in their order."""
    said, _, table = text.partition(SHOWN_BY)
    claims = [match["what"].rstrip(".,") for match in claim.finditer(said)]
    if claims != [match["what"] for match in TRIED.finditer(table)]:
        yield f"{page}: “Shown by” has no test or command for each of: {', '.join(claims)}."


def find_unproven(text: str) -> Iterator[str]:
    """Sentences about requirements that have no line in `text`, or not the one that they need."""
    lines = list(REQUIREMENT.finditer(text))
    counts = Counter(line["id"] for line in lines)
    ids = {f"{family}-{n}" for family, most in FAMILIES.items() for n in range(1, most + 1)}
    for id in sorted(ids | counts.keys()):
        if id not in ids:
            yield f"{CONFORMANCE}: {id} is no requirement."
        elif counts[id] != 1:
            yield f"{CONFORMANCE}: {id} has {counts[id]} lines instead of one."
    for line in lines:
        named = [(found["path"], found["name"]) for found in REFERENCE.finditer(line["proof"])]
        for path, name in named:
            if not (path.startswith("tests/") and name.startswith("test_")):
                yield f"{CONFORMANCE}: {line['id']}: {name} in {path} is no test."
        if line["proof"].count("`test_") != len(named):
            yield f"{CONFORMANCE}: {line['id']} names a test without its file and line."
        if not named and "not yet: " not in line["proof"]:
            yield f"{CONFORMANCE}: {line['id']} has no test. Name one, or say “not yet: …”."
        if not line["what"].strip() or not line["seen"].strip():
            yield f"{CONFORMANCE}: {line['id']} does not say what it is or where it is seen."


def find_untried(text: str) -> Iterator[str]:
    """Sentences about threats that no test tries although nothing says why, and about numbers."""
    lines = list(THREAT.finditer(text))
    ids = [line["id"] for line in lines]
    if ids != [f"T-{n}" for n in range(1, len(ids) + 1)] or text.count("\n| T-") != len(ids):
        yield f"{THREATS}: its rows are not numbered from T-1 on, one by one, in four columns."
    for line in lines:
        named = [(found["path"], found["name"]) for found in REFERENCE.finditer(line["tried"])]
        if not named and not line["tried"].startswith("not covered: "):
            yield f"{THREATS}: {line['id']} has no test. Name one, or say “not covered: …”."
        for path, name in named:
            if not (path.startswith("tests/") and name.startswith("test_")):
                yield f"{THREATS}: {line['id']}: {name} in {path} is no test."


def no_more(text: str) -> Iterator[str]:
    """Of a page that nothing else is wanted of."""
    yield from ()


BY_PAGE: dict[Path, Callable[[str], Iterator[str]]] = {
    CONFORMANCE: find_unproven,
    THREATS: find_untried,
    **{page: partial(find_unshown, page=page, claim=CLAIM) for page in GUIDES},
    **{page: partial(find_unshown, page=page, claim=SECTION) for page in PAGES},
}


def rewrite(page: Path) -> None:
    """Bring the references of `page` up to date; one that leads nowhere stays."""

    def replace(match: re.Match[str]) -> str:
        found = find(match["path"], match["name"])
        return f"`{found[0]}:{found[1]}` `{match['name']}`" if found else match.group()

    page.write_text(REFERENCE.sub(replace, page.read_text(encoding="utf-8")), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Returns the exit code: 1 if a page names what is not so."""
    parser = argparse.ArgumentParser(prog="python -m scripts.references")
    parser.add_argument("--write", action="store_true", help="bring lines up to date")
    if parser.parse_args(arguments).write:
        for page in list_pages():
            rewrite(page)
    wrong = [sentence for page in list_pages() for sentence in find_wrong(page)]
    print("\n".join(wrong) or "Every path, line and heading is where the docs say.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
