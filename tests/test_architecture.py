"""The laws of the house that import-linter cannot see."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from django.apps import apps
from django.db.models import Field, Model

from config.local.state import PROJECT_DIR
from scripts import references, rooms
from scripts.room_graph import read_rooms

LAYERS = {"audit": 0, "integrations": 0, "knowledge": 1, "guardrails": 1, "agents": 2}
CODE = ("config", "sandbox", "scripts", *LAYERS)
MODULE_LINES = 500
LONGER = {"audit/bundle/verify.py": 860}  # one file by design: it travels in every bundle
# Whole stories through several rooms; every other test belongs to the module it names.
STORIES = ("attacks", "browser", "honest", "stories")
# Names that every app of this house may have: those that Django looks for, and contracts.
DJANGO_NAMES = {"admin", "api", "apps", "contracts", "management", "migrations", "models", "tasks"}
ROOT_NAMES = 13
QUEUEING = ("async_task", "async_iter", "async_chain")


def modules(*folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((PROJECT_DIR / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def named(path: Path) -> str:
    return path.relative_to(PROJECT_DIR).as_posix()


def relations() -> Iterator[tuple[type[Model], "Field[object, object]", type[Model]]]:
    for app in LAYERS:
        for model in apps.get_app_config(app).get_models(include_auto_created=True):
            for field in model._meta.get_fields():
                target = field.related_model
                if isinstance(field, Field) and isinstance(target, type):
                    yield model, field, target


def test_no_foreign_key_points_up_or_to_a_sibling() -> None:
    wrong = [
        f"{model._meta.label}.{field.name} -> {target._meta.label}"
        for model, field, target in relations()
        if (own := model._meta.app_label) != (other := target._meta.app_label)
        and other in LAYERS
        and LAYERS[own] <= LAYERS[other]
    ]

    assert wrong == []


def test_no_foreign_key_leaves_audit_or_enters_it() -> None:
    wrong = [
        f"{model._meta.label}.{field.name} -> {target._meta.label}"
        for model, field, target in relations()
        if (model._meta.app_label == "audit") != (target._meta.app_label == "audit")
    ]

    assert wrong == []


def test_no_module_is_longer_than_a_room_may_be() -> None:
    long = [
        f"{named(path)}: {count} lines"
        for path in modules(*CODE, "tests", "benchmarks")
        if (count := len(path.read_text(encoding="utf-8").splitlines()))
        > LONGER.get(named(path), MODULE_LINES)
    ]

    assert long == []


class Read(NamedTuple):
    """What the laws look at in one module: lines, and what is imported there."""

    imports: tuple[tuple[int, str], ...]
    relative: tuple[int, ...]
    named_tasks: tuple[int, ...]


@cache
def read(path: Path) -> Read:
    imports, relative, named_tasks = [], [], []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                imports += [(node.lineno, alias.name) for alias in node.names]
            case ast.ImportFrom():
                imports += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
                relative += [node.lineno] if node.level else []
            case ast.Call(
                func=ast.Name(id=name) | ast.Attribute(attr=name),
                args=[ast.Constant() | ast.JoinedStr(), *_],
            ) if name in QUEUEING:
                named_tasks.append(node.lineno)
    return Read(tuple(imports), tuple(relative), tuple(named_tasks))


def test_no_task_is_named_by_a_string() -> None:
    wrong = [f"{named(path)}:{line}" for path in modules(*CODE) for line in read(path).named_tasks]

    assert wrong == []


def test_nothing_happens_by_signal() -> None:
    wrong = [
        f"{named(path)}:{line} {name}"
        for path in modules(*CODE)
        for line, name in read(path).imports
        if ("signals" in name.split(".") or name.startswith("django.dispatch"))
        # As each handler of Django's: its own connections want to hear that a request begins.
        and (named(path), name) != ("config/door/handler.py", "django.core.signals")
    ]

    assert wrong == []


def test_no_relative_import() -> None:
    wrong = [
        f"{named(path)}:{line}"
        for path in modules(*CODE, "tests", "benchmarks")
        for line in read(path).relative
    ]

    assert wrong == []


def belongs_to_a_module(test: Path) -> bool:
    """Whether tests/a/test_b_whatever.py has an a/b.py or a/b/ to speak about."""
    folder = PROJECT_DIR / test.relative_to(PROJECT_DIR / "tests").parent
    words = test.stem.removeprefix("test_").split("_")
    names = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
    return any((folder / f"{name}.py").exists() or (folder / name).is_dir() for name in names)


def test_every_test_file_mirrors_a_module() -> None:
    wrong = [
        named(path)
        for path in modules("tests")
        if path.name.startswith("test_")
        and (path.parent != PROJECT_DIR / "tests")
        and path.relative_to(PROJECT_DIR / "tests").parts[0] not in STORIES
        and not belongs_to_a_module(path)
    ]

    assert wrong == []


@pytest.mark.parametrize("app", LAYERS)
def test_every_app_says_what_it_is_for(app: str) -> None:
    docstring = ast.get_docstring(
        ast.parse((PROJECT_DIR / app / "apps.py").read_text(encoding="utf-8"))
    )

    assert docstring, f"{app}/apps.py has no charter"


@pytest.mark.parametrize("app", [*LAYERS, "config"])
def test_no_root_is_a_hall(app: str) -> None:
    """What Django looks for has a fixed place; beside that a root holds about a dozen names."""
    names = {
        path.stem
        for path in (PROJECT_DIR / app).glob("[!_]*")
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }

    assert len(names - DJANGO_NAMES) <= ROOT_NAMES, sorted(names)


def test_every_room_says_what_it_is_for() -> None:
    _, *apps = read_rooms()
    wrong = [
        f"{app.app}/{room}"
        for app in apps
        for room in app.below
        if not rooms.find_charter(app.app, room)
    ]

    assert wrong == []


def test_the_architecture_page_shows_the_rooms_as_they_are() -> None:
    assert rooms.read_drawn() == rooms.render(), "Run `make rooms`."


@pytest.mark.parametrize("page", references.list_pages(), ids=lambda page: page.name)
def test_what_a_page_names_stands_where_it_says(page: Path) -> None:
    assert list(references.find_wrong(page)) == []


def module_file(name: str) -> Path | None:
    path = PROJECT_DIR.joinpath(*name.split("."))
    found = (path.with_suffix(".py"), path / "__init__.py")
    return next((one for one in found if one.exists()), None)


def read_with(module: str) -> set[str]:
    """What somebody who reads this module of guardrails must read too, packages included:
    modules of guardrails that it imports, and those that these import."""
    found: set[str] = set()
    todo = [module]
    while todo:
        path = module_file(todo.pop())
        for _, name in read(path).imports if path else ():
            parts = name.split(".")
            for end in range(2, len(parts) + 1):
                one = ".".join(parts[:end])
                if parts[0] == "guardrails" and one not in found and module_file(one):
                    found.add(one)
                    todo.append(one)
    return found


def rooms_of(names: set[str]) -> set[str]:
    return {name.split(".")[1] for name in names}


def is_charter(name: str) -> bool:
    """Whether it is a package that has nothing but its charter to read."""
    path = module_file(name)
    return (
        path is not None
        and path.name == "__init__.py"
        and len(ast.parse(path.read_text(encoding="utf-8")).body) <= 1
    )


@cache
def promised(what: str) -> int:
    """The most modules that docs/guardrails.md promises an auditor of one kind."""
    page = PROJECT_DIR.joinpath("docs/guardrails.md").read_text(encoding="utf-8")
    (number,) = re.findall(rf"at most (\d+) {what}", page)
    return int(number)


def test_what_decides_can_be_read_whole() -> None:
    found = read_with("guardrails.decide.policy")

    assert rooms_of(found) == {"actions", "contracts", "decide", "facts", "words"}
    assert found.isdisjoint(
        {"guardrails.actions.registry", "guardrails.decide.conditions.vocabulary"}
    )
    modules = [one for one in found if not is_charter(one)]
    words = [one for one in modules if one.startswith("guardrails.words.")]
    assert len(words) <= promised("of `words`")
    assert len(modules) - len(words) <= promised("modules of guardrails")


def test_what_executes_can_be_read_whole() -> None:
    found = read_with("guardrails.execute.executor")
    # One file each of a kind: an auditor reads those that a policy names.
    one_of_many = (
        "guardrails.actions.",
        "guardrails.decide.conditions.",
        "guardrails.models.",
        "guardrails.words.",
    )

    assert rooms_of(found) == {
        *("actions", "contracts", "decide", "execute", "facts", "gather", "models", "words")
    }
    modules = [one for one in found if not (is_charter(one) or one.startswith(one_of_many))]
    assert len(modules) <= promised("beside these")


def test_only_the_rooms_of_accounts_load_parts_of_providers_by_their_names() -> None:
    """What import-linter cannot see: a writer that is loaded by its name."""
    loading = {
        str(path.relative_to(PROJECT_DIR))
        for app in ("agents", "config", "guardrails", "integrations", "knowledge")
        for path in (PROJECT_DIR / app).rglob("*.py")
        if "import_module(" in path.read_text(encoding="utf-8")
    }

    assert loading == {
        "config/door/callers.py",
        "integrations/accounts/connectables.py",
        "integrations/accounts/reads.py",
        "integrations/accounts/writes.py",
    }
