"""What changed in the sandbox, held against what should have changed. Pure.

Everything is compared: every object of every user, whatever the task is about. Only what follows
from something else (a version, a snippet) is left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from zoneinfo import ZoneInfo

from agents.evaluation.matching import UNORDERED, fits
from agents.evaluation.tasks import Change

Object = Mapping[str, Any]
# As the sandbox's control API gives it: objects by user and collection.
State = Mapping[str, Mapping[str, Sequence[Object]]]
DERIVED = frozenset(
    {"version", "updated_at", "snippet", "is_read", "is_starred", "size_bytes", "modified_at"}
)
# Whom a new object reaches, and what it commits people to: empty where a task does not say it.
MUST_BE_SAID: Mapping[str, tuple[str, ...]] = {
    "emails": ("to", "cc", "bcc", "reply_to", "attachments"),
    "drafts": ("to", "cc", "bcc"),
    "documents": ("shared_with",),
    "events": ("attendees", "recurrence"),
    "issues": ("assignee", "due_date"),
}
TELLING = ("title", "name", "summary", "subject", "to", "attendees", "start", "body", "body_text")
SHOWN_CHARS = 120


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One object that is not as it was. `before` and `after` hold what differs."""

    user: str
    collection: str
    id: str
    kind: Literal["created", "changed", "deleted"]
    before: Object
    after: Object

    def __str__(self) -> str:
        names = TELLING if self.kind == "created" else tuple(self.after)
        said = [f"{name}: {_short(self.after[name])}" for name in names if self.after.get(name)]
        of = f"{self.collection}/{self.id} of {self.user}"
        return f"{self.kind} {of}" + (f" ({', '.join(said)})" if said else "")


def find_differences(before: State, after: State) -> list[Difference]:
    """Every object that came, went or changed, by user, collection and id."""
    old, new = _by_place(before), _by_place(after)
    found = (_difference(place, old.get(place), new.get(place)) for place in {**old, **new})
    return sorted((one for one in found if one), key=lambda one: (one.user, one.collection, one.id))


def with_changes_of_others(base: State, before: State, after: State) -> State:
    """The base, as it would be had what others did between two states been so from the start."""
    objects = {place: dict(one) for place, one in _by_place(base).items()}
    for one in find_differences(before, after):
        place = (one.user, one.collection, one.id)
        if one.kind == "deleted":
            objects.pop(place, None)
        else:
            objects[place] = {**objects.get(place, {}), **one.after, "id": one.id}
    found: dict[str, dict[str, list[Object]]] = {}
    for (user, collection, _), one_object in objects.items():
        found.setdefault(user, {}).setdefault(collection, []).append(one_object)
    return found


def match(
    differences: Iterable[Difference], expected: Sequence[Change], *, user: str, zone: ZoneInfo
) -> tuple[list[Change], list[Difference]]:
    """What was expected and did not come about, and what came about and was not expected."""
    left, missing = list(differences), []
    for change in expected:
        fitting = next((one for one in left if _is_it(one, change, user, zone)), None)
        if fitting is None:
            missing.append(change)
        else:
            left.remove(fitting)
    return missing, left


def _by_place(state: State) -> dict[tuple[str, str, str], Object]:
    return {
        (user, collection, str(one["id"])): one
        for user, collections in state.items()
        for collection, objects in collections.items()
        for one in objects
    }


def _difference(
    place: tuple[str, str, str], old: Object | None, new: Object | None
) -> Difference | None:
    names = [name for name in {**(old or {}), **(new or {})} if name not in DERIVED]
    if old is not None and new is not None:
        names = [name for name in names if not _same(name, old.get(name), new.get(name))]
        if not names:
            return None
    user, collection, id = place
    return Difference(
        user=user,
        collection=collection,
        id=id,
        kind="created" if old is None else "deleted" if new is None else "changed",
        before={} if old is None else {name: old.get(name) for name in names},
        after={} if new is None else {name: new.get(name) for name in names},
    )


def _same(name: str, old: Any, new: Any) -> bool:
    if name in UNORDERED and isinstance(old, list) and isinstance(new, list):
        return sorted(old) == sorted(new)
    return bool(old == new)


def _is_it(one: Difference, change: Change, user: str, zone: ZoneInfo) -> bool:
    if one.user != (change.user or user):
        return False
    path = f"{one.collection}/{one.id}"
    if change.delete:
        return one.kind == "deleted" and path == change.delete
    if change.change:
        whole = one.kind == "changed" and path == change.change
        return whole and {*one.after} == {*change.fields} and _all_fit(one, change, zone)
    if one.kind != "created" or one.collection != change.create:
        return False
    silent = [name for name in MUST_BE_SAID[change.create] if name not in change.fields]
    return not any(one.after.get(name) for name in silent) and _all_fit(one, change, zone)


def _all_fit(one: Difference, change: Change, zone: ZoneInfo) -> bool:
    return all(
        fits(one.after.get(name), wanted, zone=zone, before=one.before.get(name), name=name)
        for name, wanted in change.fields.items()
    )


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"
