"""What is promised, and how a trial says what became of it. Pure.

A trial is a function. Its name names the guarantee, its docstring is the promise, and it returns
where the promise holds.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["PASS", "FAIL", "n/a"]


class Broken(Exception):
    """The promise does not hold. The message says what was found instead."""


class NotApplicable(Exception):
    """There is nothing here that the promise is about. The message says why."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a trial found. `found` says why where it did not pass."""

    name: str
    promise: str
    verdict: Verdict
    found: str = ""


def attempt(trial: Callable[..., None], *given: Any) -> Result:
    """Whatever else is raised breaks the promise too: nobody knows that it holds."""
    verdict: Verdict = "PASS"
    found = ""
    try:
        trial(*given)
    except NotApplicable as reason:
        verdict, found = "n/a", str(reason)
    except Broken as reason:
        verdict, found = "FAIL", str(reason)
    except Exception as error:  # noqa: BLE001  # it is what was found
        verdict, found = "FAIL", f"The trial broke off: {type(error).__name__}: {error}"
    return Result(name=trial.__name__, promise=promise(trial), verdict=verdict, found=found)


def promise(trial: Callable[..., None]) -> str:
    return " ".join(inspect.cleandoc(trial.__doc__ or "").split())


def expect(what: str, found: object, wanted: object) -> None:
    """Raises Broken where they differ."""
    if found != wanted:
        raise Broken(f"{what}: {found} instead of {wanted}.")
