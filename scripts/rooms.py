"""Draws the rooms of each app from the imports, and counts them.

python -m scripts.rooms                  print each app's floors and arrows
python -m scripts.rooms --write          draw them into docs/architecture.md too
python -m scripts.rooms --compare REV    count another revision beside this tree
"""

import argparse
import ast
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import asdict, astuple, fields
from pathlib import Path

from scripts.room_graph import PROJECT, Figures, Rooms, count, read_rooms

PAGE = PROJECT / "docs" / "architecture.md"
BEGIN, END = "<!-- drawn by `make rooms` -->\n", "<!-- end of what `make rooms` draws -->\n"


def find_charter(app: str, room: str) -> str:
    """What a room says of itself: the first paragraph of its docstring. Empty without one."""
    folder = PROJECT / app
    if room == "management":
        names = sorted(path.stem for path in (folder / room / "commands").glob("[!_]*.py"))
        return f"Commands of `manage.py`: {', '.join(f'`{name}`' for name in names)}."
    package = folder / room / "__init__.py"
    path = package if package.exists() else folder / f"{room}.py"
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split())


def find_app_charter(app: str) -> str:
    path = PROJECT / app / "apps.py"
    path = path if path.exists() else PROJECT / app / "__init__.py"
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split())


def draw(rooms: Rooms) -> str:
    """The rooms as a Mermaid picture; an arrow that follows from others is left out."""
    lines = ["```mermaid", "flowchart TD"]
    for room, others in rooms.drawn().items():
        lines += [f"    {room}_[{room}]"]
        lines += [f"    {room}_ --> {other}_" for other in others]
    return "\n".join([*lines, "```"])


def list_rooms(rooms: Rooms) -> str:
    """The rooms as a table, the highest floor first."""
    lines = ["| floor | room | what it is for |", "|---|---|---|"]
    floors = list(enumerate(rooms.floors(), start=1))
    for number, floor in reversed(floors):
        lines += [
            f"| {number} | `{room}` | {find_charter(rooms.app, room)} |".replace("  ", " ")
            for room in floor
        ]
    return "\n".join(lines)


def _describe_size(rooms: Rooms) -> str:
    size = [(len(rooms.below), "room"), (len(rooms.floors()), "floor"), (rooms.arrows, "arrow")]
    of_rooms, of_floors, of_arrows = (f"{n} {word}{'' if n == 1 else 's'}" for n, word in size)
    return f"{of_rooms} on {of_floors}, {of_arrows}."


def render() -> str:
    """What docs/architecture.md shows between its two marks."""
    house, *apps = read_rooms()
    parts = [draw(house)]
    for rooms in apps:
        parts += [
            f"### {rooms.app}",
            find_app_charter(rooms.app),
            _describe_size(rooms),
            # Where hardly anything is connected a picture says less than the table.
            draw(rooms) if rooms.arrows > len(rooms.below) else "",
            list_rooms(rooms),
        ]
    return "".join(f"\n{part}\n" for part in parts if part) + "\n"


def read_drawn() -> str:
    """What the page shows now. Raises ValueError if its marks are missing."""
    text = PAGE.read_text(encoding="utf-8")
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)]


def write_page() -> None:
    """Replace what the page shows between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text.replace(f"{BEGIN}{read_drawn()}{END}", f"{BEGIN}{render()}{END}"), "utf-8")


def count_revision(revision: str) -> dict[str, Figures]:
    """The figures of another revision. Raises CalledProcessError if git does not know it."""
    archive = subprocess.run(
        ["git", "archive", revision], cwd=PROJECT, capture_output=True, check=True
    )
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
        # A process of its own, because Python knows one package of a name.
        answer = subprocess.run(
            [sys.executable, "-m", "scripts.rooms", "--count", folder],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=True,
        )
    return {folder: Figures(**figures) for folder, figures in json.loads(answer.stdout).items()}


def compare(before: dict[str, Figures], after: dict[str, Figures]) -> str:
    """Both as one table, with a sum of each column but floors."""
    names = [field.name for field in fields(Figures)]
    lines = [
        f"| folder | {' | '.join(f'{name} before | after' for name in names)} |",
        "|---" * (1 + 2 * len(names)) + "|",
    ]
    sums = [0] * (2 * len(names))
    for folder in after:
        pairs = zip(astuple(before[folder]), astuple(after[folder]), strict=True)
        numbers = [number for pair in pairs for number in pair]
        sums = [total + number for total, number in zip(sums, numbers, strict=True)]
        lines.append(f"| {folder} | {' | '.join(str(number or '') for number in numbers)} |")
    totals = ["" if names[i // 2] == "floors" else str(total) for i, total in enumerate(sums)]
    return "\n".join([*lines, f"| all | {' | '.join(totals)} |"])


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.rooms")
    parser.add_argument("--write", action="store_true", help="draw into docs/architecture.md")
    parser.add_argument("--compare", metavar="REV", help="count another revision beside this tree")
    parser.add_argument("--count", metavar="FOLDER", type=Path, help="count a tree, as JSON")
    chosen = parser.parse_args(arguments)
    if chosen.count:
        sys.path.insert(0, str(chosen.count))
        print(json.dumps({name: asdict(found) for name, found in count(chosen.count).items()}))
        return 0
    if chosen.compare:
        print(compare(count_revision(chosen.compare), count()))
        return 0
    for rooms in read_rooms():
        print(f"\n{rooms.app or 'house'}: {len(rooms.below)} rooms, {rooms.arrows} arrows")
        for number, floor in reversed(list(enumerate(rooms.floors(), start=1))):
            print(f"  {number:2}  {'  '.join(floor)}")
    if chosen.write:
        write_page()
        print(f"\nDrawn into {PAGE.relative_to(PROJECT)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
