"""Finds the words that docs/glossary.md replaced: in names, labels, messages, addresses and docs.

    python -m scripts.words [FOLDER or FILE ...]

Names are looked at where they are defined, so Django's own are left alone. Text is whatever has
a space or a capital letter: a bare lower-case string may be a key that the ledger's rows are
hashed with, and those stay.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TEXTS = (".md", ".html", ".js", ".txt")


@dataclass(frozen=True)
class OldWord:
    """What is said no more. Both patterns are optional; `within` names folders, all without any.

    `name` is compared with whole words of a name, split at underscores and capitals.
    """

    new: str
    name: str = ""
    text: str = ""
    within: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Found:
    """One old word at one place."""

    path: str
    line: int
    word: str
    new: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: “{self.word}”: say {self.new}"


PRODUCT = (
    *("agents/", "audit/", "config/", "guardrails/", "integrations/", "knowledge/", "sandbox/"),
    "scripts/",
)
POLICY = ("guardrails/", "agents/", "templates/", "docs/", "README.md", "tests/guardrails/")
OLD_WORDS = (
    OldWord("allowed action, ceiling limit or condition", name="rules?", within=POLICY),
    OldWord(
        "allowed action, ceiling limit or condition",
        text="rules?",
        within=("guardrails/", "docs/guardrails.md", "templates/guardrails/"),
    ),
    OldWord("allowed action", name="permissions?", text=r"permissions?(?! denied)"),
    OldWord(
        "target",
        name="(?<!allowed_action_)options?",
        text=r"options?",
        within=("guardrails/", "docs/guardrails.md", "templates/guardrails/", "tests/guardrails/"),
    ),
    OldWord(
        "held send or legal hold",
        name="(?<!legal_)(?<!_legal_)holds?",
        text=r"(?:an?|the|this|each|every|under|of) holds?(?! (?:an?|the|what|that|it)\b)",
    ),
    OldWord(
        "time stamp or write count",
        name="(?<!time_)stamps?",
        text=r"(?<!time )(?<!time-)stamps?(?!\.py)",
    ),
    OldWord("slot", name="turns?", within=("integrations/", "knowledge/", "audit/")),
    OldWord("slot or lock", text=r"tak(?:e|es|ing) turns"),
    OldWord(
        "what it is, with a verb or a noun of the field",
        name="^(?:told|shown|made|kept|begun|asks|beforehand|around|crew|naming|whoever|standing)$",
        within=PRODUCT,
    ),
    OldWord("before, in advance", text="beforehand"),
    OldWord("who, anybody who", text="whoever"),
    OldWord("unavailable, cannot be reached", text="not to be had"),
    OldWord("made, created", text="br(?:ings?|ought) forth"),
    OldWord("learns, hears, gets", text="(?:is|are|was|were|be|being|been) told"),
)

NAMES = [(re.compile(rf"(?:^|(?<=_)){old.name}(?=_|$)"), old) for old in OLD_WORDS if old.name]
SENTENCES = [(re.compile(rf"\b{old.text}\b", re.IGNORECASE), old) for old in OLD_WORDS if old.text]
ANY = re.compile("|".join(pattern.pattern for pattern, _ in SENTENCES), re.IGNORECASE)

# (path, what is found there, why it may stay). One that nothing needs any more is reported.
EXCEPTIONS = (
    ("scripts/words.py", "*", "it names the old words"),
    ("tests/scripts/test_words.py", "*", "it tries the old words"),
    ("*", "has_*_permission", "Django's own name"),
    ("*", "has_permission", "Django REST framework's own name"),
    ("*/models/*", "permissions", "Django's own name"),
    ("*", "permission_classes", "Django REST framework's own name"),
    ("*", "_hold", "a verb"),
    ("*", "always_holds", "a verb: whether a condition holds"),
    ("*", "hold_ledger", "a verb: sets a legal hold"),
    ("*", "*holds_all", "a verb"),
    ("*", "_never_holds", "a verb: whether a condition can hold"),
    ("*", "hold_seconds", "a key of policies and of the ledger's rows"),
    ("*", "MAX_HOLD_SECONDS", "the most that key may be"),
    ("integrations/ports/provider.py", "starts_turns", "turns of an agent, not slots"),
    ("integrations/llm/json_protocol.py", "_in_turns", "turns of a chat, not slots"),
    ("guardrails/admin/schema_form.py", "options", "those of an HTML select"),
    ("tests/guardrails/admin/*", "option", "one of an HTML select"),
    ("guardrails/contracts/__init__.py", "rule_id", "a key of decisions in the ledger's rows"),
    ("guardrails/contracts/__init__.py", "option_ids", "a key of decisions in the ledger's rows"),
    ("guardrails/facts/alert_words.py", "rule", "what a mailbox's notice is about"),
    ("guardrails/facts/alert_words.py", "permission", "what a service's notice is about"),
    ("integrations/providers/github/issues.py", "permissions", "GitHub's own name"),
    ("integrations/providers/github/trial.py", "permission", "what GitHub's page calls it"),
    ("audit/*", "stamps", "a file of a bundle, which is a format"),
    ("tests/audit/bundle/test_stamps.py", "stamps", "it is named after that file"),
    ("*/management/commands/*.py", "options", "Django's own name for a command's arguments"),
)


def split_name(name: str) -> str:
    """`CeilingRule`, `ceiling-rule` and `CEILING_RULE` as `ceiling_rule`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


@cache
def match_name(name: str) -> tuple[OldWord, ...]:
    """Old words in a name, wherever it stands. Names repeat, so each is looked at once."""
    words = split_name(name)
    return tuple(old for pattern, old in NAMES if pattern.search(words))


def find_in_name(name: str, path: str) -> Iterator[OldWord]:
    return (old for old in match_name(name) if path.startswith(old.within))


def strip_markup(text: str) -> str:
    """A template's text without tags; lines stay where they are."""
    return re.sub(
        r"<[^<>]*>|\{%.*?%\}|\{\{.*?\}\}", lambda match: "\n" * match.group().count("\n"), text
    )


def find_in_text(text: str, path: str) -> Iterator[tuple[int, str, OldWord]]:
    """The line in `text`, counted from 0, and what stands there."""
    if not ANY.search(text):
        return
    for pattern, old in SENTENCES:
        if path.startswith(old.within):
            for match in pattern.finditer(text):
                yield text.count("\n", 0, match.start()), match.group(), old


def read_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Every name that a module defines."""
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.alias(asname=str(name)):
                yield node.lineno, name


def read_texts(nodes: Iterable[ast.AST], source: str) -> Iterator[tuple[int, str]]:
    """Strings that people may read, and comments, where one may hold an old word: to take all
    modules apart for them takes seconds."""
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if " " in text or text[:1].isupper():
                yield node.lineno, text
    if not any("#" in line and ANY.search(line) for line in source.splitlines()):
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def find_in_python(source: str, path: str) -> Iterator[Found]:
    nodes = list(ast.walk(ast.parse(source)))
    names = [(1, Path(path).stem), *read_names(nodes)]
    if path == "config/urls.py":
        constants = (node for node in nodes if isinstance(node, ast.Constant))
        names += [(node.lineno, node.value) for node in constants if isinstance(node.value, str)]
    for line, name in names:
        if name.startswith("test_"):  # a sentence
            text = name.replace("_", " ")
            yield from (
                Found(path, line, word, old.new) for _, word, old in find_in_text(text, path)
            )
            continue
        yield from (Found(path, line, name, old.new) for old in find_in_name(name, path))
    for line, text in read_texts(nodes, source):
        for offset, word, old in find_in_text(text, path):
            yield Found(path, line + offset, word, old.new)


def find(path: str, text: str) -> list[Found]:
    """Every old word in one file, in the order of its lines."""
    if path.endswith(".py"):
        found = find_in_python(text, path)
    else:
        text = strip_markup(text) if path.endswith(".html") else text
        found = (
            Found(path, line + 1, word, old.new) for line, word, old in find_in_text(text, path)
        )
    return sorted(set(found), key=lambda one: (one.line, one.word))


def allow(found: Iterable[Found]) -> tuple[list[Found], list[str]]:
    """What no exception allows, and the exceptions that nothing needed."""
    left, needed = [], set()
    for one in found:
        allowing = [
            exception
            for exception in EXCEPTIONS
            if fnmatch(one.path, exception[0]) and fnmatch(one.word, exception[1])
        ]
        needed.update(allowing)
        if not allowing:
            left.append(one)
    return left, [
        f"{path}, {word}" for path, word, _ in EXCEPTIONS if (path, word, _) not in needed
    ]


def list_files(folders: Iterable[str]) -> list[str]:
    """The files of the project that git knows or would add, without migrations and data."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders]
    listed = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    return [
        path
        for path in listed.stdout.splitlines()
        if path.endswith((".py", *TEXTS))
        and "/migrations/" not in path
        and (PROJECT / path).exists()
    ]


def main(arguments: list[str]) -> int:
    """Returns the exit code: 1 if an old word is left."""
    found = [
        one
        for path in list_files(arguments)
        for one in find(path, (PROJECT / path).read_text(encoding="utf-8"))
    ]
    left, unneeded = allow(found)
    for one in left:
        print(one)
    if unneeded and not arguments:
        print(f"Exceptions that nothing needs any more: {'; '.join(unneeded)}.")
        return 1
    if left:
        print(f"{len(left)} old words are left. docs/glossary.md has the new ones.")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
