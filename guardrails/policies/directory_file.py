"""A directory of people as a file: CSV, as mail systems and spreadsheets write it. Pure.

All of a file is read or nothing: each line that is wrong is named with what is wrong about it.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from guardrails.facts import targets
from guardrails.facts.people import MOST_OTHER_NAMES, check_name
from guardrails.facts.text import visible

MOST_BYTES = 750_000
MOST_LINES = 10_000
MOST_CELL_CHARS = 1_000
MOST_PROBLEMS = 20  # named at once
DELIMITERS = (",", ";", "\t")
Column = Literal["address", "name", "first", "last", "other_names", "kind"]
# How mail systems and spreadsheets head a column: small letters and nothing else.
HEADINGS: Mapping[str, Column] = {
    "address": "address",
    "email": "address",
    "emailaddress": "address",
    "emailaddressrequired": "address",
    "mail": "address",
    "primaryemail": "address",
    "userprincipalname": "address",
    "name": "name",
    "displayname": "name",
    "fullname": "name",
    "firstname": "first",
    "firstnamerequired": "first",
    "givenname": "first",
    "vorname": "first",
    "lastname": "last",
    "lastnamerequired": "last",
    "surname": "last",
    "familyname": "last",
    "nachname": "last",
    "othernames": "other_names",
    "nickname": "other_names",
    "nicknames": "other_names",
    "kind": "kind",
    "type": "kind",
}
GROUPS = frozenset({"group", "list", "mailing list", "mailing-list", "distribution list"})
PEOPLE = frozenset({"person", "user", "member", ""})


class DirectoryFileError(Exception):
    """The file says nothing that could be taken over; `problems` are sentences, by line."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Somebody of a directory in the one spelling of Remit. None: the file does not say."""

    address: str
    name: str
    other_names: tuple[str, ...] | None = None
    is_group: bool | None = None


def build_entry(
    *,
    address: str,
    name: str,
    other_names: Sequence[str] | None = None,
    is_group: bool | None = None,
) -> Entry:
    """An entry in its one spelling. Raises ValueError with what is wrong, for people."""
    try:
        plain = targets.address(address.strip())
    except ValueError as error:
        raise ValueError(f"the address {error}") from error
    try:
        called = check_name(name)
        others = None if other_names is None else tuple(dict.fromkeys(map(check_name, other_names)))
    except ValueError as error:
        raise ValueError(f"a name {error}") from error
    if others is not None and len(others) > MOST_OTHER_NAMES:
        raise ValueError(f"has more than {MOST_OTHER_NAMES} other names")
    return Entry(address=plain, name=called, other_names=others, is_group=is_group)


def read(content: bytes) -> tuple[Entry, ...]:
    """Everybody in the file, by line. Raises DirectoryFileError."""
    return parse(decode(content))


def decode(content: bytes) -> str:
    """The file's text. UTF-8, or UTF-16 with its mark, as spreadsheets save it."""
    if len(content) > MOST_BYTES:
        raise DirectoryFileError([f"The file is longer than {MOST_BYTES} bytes."])
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DirectoryFileError(
            [f"Line {line}: the file is not UTF-8. Save it as “CSV UTF-8” and try again."]
        ) from error


def parse(text: str) -> tuple[Entry, ...]:
    """Everybody in the text of a file, by line. Raises DirectoryFileError."""
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise DirectoryFileError([f"Line {line}: the file holds a NUL: it is no text."])
    heading = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=heading.count)
    rows = _rows(text, delimiter)
    columns = _columns(next(rows, (1, []))[1])
    found: dict[str, tuple[int, Entry]] = {}
    problems: list[str] = []
    for line, cells in rows:
        if line > MOST_LINES:
            raise DirectoryFileError([f"The file has more than {MOST_LINES} lines."])
        try:
            entry = _entry(cells, columns)
            if entry.address in found:
                raise ValueError(f"this address stands on line {found[entry.address][0]} already")
            found[entry.address] = line, entry
        except ValueError as error:
            problems.append(f"Line {line}: {visible(str(error))}.")
    if problems:
        more = len(problems) - MOST_PROBLEMS
        others = [f"{more} more lines are wrong."] if more > 0 else []
        raise DirectoryFileError([*problems[:MOST_PROBLEMS], *others])
    if not found:
        raise DirectoryFileError(["The file names nobody."])
    return tuple(entry for _, entry in found.values())


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The lines that say something, each with the number of its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DirectoryFileError([f"Line {line}: no CSV: {error}."]) from error
        cells = [one.strip() for one in cells]
        if any(cells):
            yield line, cells


def _columns(heading: Sequence[str]) -> Mapping[int, Column]:
    found: dict[int, Column] = {}
    for at, text in enumerate(heading):
        column = HEADINGS.get("".join(filter(str.isalpha, text.casefold())))
        if column is None:
            continue
        if column in found.values():
            raise DirectoryFileError([f"Line 1: two columns hold the {column}. Keep one."])
        found[at] = column
    held = set(found.values())
    if "address" not in held or not held & {"name", "first", "last"}:
        raise DirectoryFileError(
            [
                "Line 1: name the columns there: address and name, or first name and last name; "
                "other names and kind if you like."
            ]
        )
    if "name" in held:  # the parts say the same again
        found = {at: one for at, one in found.items() if one not in ("first", "last")}
    return found


def _entry(cells: Sequence[str], columns: Mapping[int, Column]) -> Entry:
    """One line. Raises ValueError with what is wrong."""
    width = max(columns) + 1
    if len(cells) < width:
        raise ValueError(f"has {len(cells)} cells, and the columns need {width}")
    if any(len(cell) > MOST_CELL_CHARS for cell in cells):
        raise ValueError(f"has a cell of more than {MOST_CELL_CHARS} characters")
    value = {column: cells[at] for at, column in columns.items()}
    name = value.get("name") or f"{value.get('first', '')} {value.get('last', '')}".strip()
    others = value.get("other_names")
    return build_entry(
        address=value["address"],
        name=name,
        other_names=None
        if others is None
        else [one.strip() for one in others.replace(",", ";").split(";") if one.strip()],
        is_group=_is_group(value.get("kind")),
    )


def _is_group(kind: str | None) -> bool | None:
    if kind is None:
        return None
    plain = kind.casefold()
    if plain not in GROUPS | PEOPLE:
        raise ValueError(f"“{kind}” is no kind: write person or group")
    return plain in GROUPS
