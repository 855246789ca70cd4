"""Benchmarks are seldom run. What they import, often deep inside a function, is still there."""

import ast
import importlib

import pytest

from benchmarks import bite
from config.local.state import PROJECT_DIR

ELSEWHERE = {"frameworks"}  # has an environment of its own
NAMES = sorted(
    path.stem for path in (PROJECT_DIR / "benchmarks").glob("*.py") if path.stem not in ELSEWHERE
)


def imported(name: str) -> list[tuple[str, str]]:
    """Every module that a benchmark imports anywhere, with each name out of it (or none)."""
    tree = ast.parse((PROJECT_DIR / "benchmarks" / f"{name}.py").read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(str(node.module), alias.name) for alias in node.names]
    return found


def exists(module: str, name: str) -> bool:
    try:
        if not name or hasattr(importlib.import_module(module), name):
            return bool(importlib.import_module(module))
        return bool(importlib.import_module(f"{module}.{name}"))
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("name", NAMES)
def test_all_that_a_benchmark_imports_is_there(name: str) -> None:
    assert [one for one in imported(name) if not exists(*one)] == []


def test_every_seeded_fault_still_fits_its_file() -> None:
    misfits = []
    for fault in bite.load():
        text = (PROJECT_DIR / fault["file"]).read_text(encoding="utf-8")
        ast.parse(text.replace(fault["out"], fault["in"], 1))
        misfits += [] if fault["out"] in text else [fault]

    assert misfits == []
