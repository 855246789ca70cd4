"""The rooms of each app, read from the imports, and what is counted of them.

A room is a name in an app's root: a package or a module. An arrow says that one room imports
another. A room stands on the floor above the highest room that it imports.
"""

from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

PROJECT = Path(__file__).resolve().parent.parent
APPS = ("config", "agents", "guardrails", "knowledge", "integrations", "audit", "sandbox")
FOLDERS = (*APPS, "tests", "benchmarks", "scripts")
# Django's own names: the one imports nothing of the app, the other is generated.
LEFT_OUT = ("apps", "migrations")


@dataclass(frozen=True)
class Rooms:
    """The rooms of one app, and which of them each imports."""

    app: str
    below: dict[str, frozenset[str]]

    @property
    def arrows(self) -> int:
        return sum(len(rooms) for rooms in self.below.values())

    def floors(self) -> list[list[str]]:
        """Rooms by floor, the lowest first. Raises CycleError if rooms import in a circle."""
        floor: dict[str, int] = {}
        for room in TopologicalSorter(self.below).static_order():
            floor[room] = max((floor[other] + 1 for other in self.below[room]), default=0)
        return [
            sorted(room for room in floor if floor[room] == level)
            for level in range(max(floor.values(), default=-1) + 1)
        ]

    def drawn(self) -> dict[str, list[str]]:
        """The arrows that do not follow from others: enough to draw."""
        reached: dict[str, set[str]] = {}
        for room in TopologicalSorter(self.below).static_order():
            reached[room] = set(self.below[room]).union(*(reached[o] for o in self.below[room]))
        return {
            room: sorted(
                other
                for other in others
                if not any(other in reached[between] for between in others)
            )
            for room, others in sorted(self.below.items())
        }


@dataclass(frozen=True)
class Figures:
    """What is counted of one folder; a folder that is no app has lines alone."""

    modules: int
    packages: int
    floors: int
    arrows: int
    lines: int


def read_rooms(project: Path = PROJECT) -> list[Rooms]:
    """First the apps as rooms of the house, then the rooms of each app of `project`.

    `project` must be where Python finds the apps.
    """
    apps = [app for app in APPS if (project / app / "__init__.py").exists()]
    graph = grimp.build_graph(apps[0], *apps[1:], cache_dir=None)

    def read(app: str, modules: list[str]) -> Rooms:
        return Rooms(
            app,
            {
                importer.rpartition(".")[2]: frozenset(
                    imported.rpartition(".")[2]
                    for imported in modules
                    if imported != importer
                    and graph.direct_import_exists(
                        importer=importer, imported=imported, as_packages=True
                    )
                )
                for importer in modules
            },
        )

    return [
        read("", apps),
        *(
            read(
                app,
                sorted(
                    module
                    for module in graph.find_children(app)
                    if module.rpartition(".")[2] not in LEFT_OUT
                ),
            )
            for app in apps
        ),
    ]


def count_lines(folder: Path) -> int:
    """Lines of Python in `folder`, migrations included."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py"))


def count(project: Path = PROJECT) -> dict[str, Figures]:
    """Figures by folder of `project`, which must be where Python finds the apps."""
    apps = {rooms.app: rooms for rooms in read_rooms(project)}
    figures = {}
    for folder in FOLDERS:
        rooms = apps.get(folder, Rooms(folder, {}))
        packages = sum((project / folder / room).is_dir() for room in rooms.below)
        figures[folder] = Figures(
            modules=len(rooms.below) - packages,
            packages=packages,
            floors=len(rooms.floors()),
            arrows=rooms.arrows,
            lines=count_lines(project / folder),
        )
    return figures
