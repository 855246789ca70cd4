"""The history of policy: every change is a row of the ledger, whichever door it comes through.

A change and its row are one: if the row cannot be written, the change is rolled back. The
row is committed first, so a crash in between can leave a row of a change that was not kept,
never a change without its row.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

from django.db import models, transaction
from django.utils import timezone

from audit.contracts import ActorType, Entry
from audit.ledger import ledger
from audit.ledger.ids import uuid7
from guardrails.models import AllowedActionOption, LearnedPattern
from integrations.models import Organisation

Door = Literal["admin", "api", "command", "load_demo", "agent", "schedule"]
ACTION_TYPE = "policy.change"
RELATED = {"organisation", "account", "group"}
# What the machine counts, or makes of the rest, is no policy.
NOT_POLICY = frozenset(
    {
        "created_at",
        "updated_at",
        "hits",
        "last_hit_at",
        "corrections",
        "use_count",
        "last_used_at",
        "looked_at",
        "words",
        "tried_at",
        "done_at",
        "problem",
    }
)


@dataclass(frozen=True, kw_only=True)
class Author:
    """Who changes policy, and through which door."""

    name: str  # “operator:olga”, “token:…”, “command”, “agent:mail_reader”
    door: Door
    answers: UUID | None = None  # the change request that is approved by it


@dataclass(frozen=True, kw_only=True)
class Change:
    """One row of policy as it was and as it is; None where it did not or does not exist."""

    organisation_id: UUID | None  # None: it is about every organisation
    account_id: UUID | None
    kind: str
    object_id: str
    name: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@contextmanager
def recording(model: type[models.Model], ids: Iterable[UUID], *, author: Author) -> Iterator[None]:
    """Whatever the block makes of these rows of policy is in the ledger when it ends, and
    nothing at all happened when it raises. Raises audit.contracts.LedgerError."""
    wanted = list(ids)
    with transaction.atomic():
        before = _rows(model, wanted)
        yield
        after = _rows(model, wanted)
        for key in wanted:
            old, new = before.get(key), after.get(key)
            if old != new:
                record(_change(key, old, new), author=author)


def record_made(rows: Iterable[models.Model], *, author: Author) -> None:
    """Rows of policy that this very transaction has made. Raises audit.contracts.LedgerError."""
    for row in rows:
        record(_build(row), author=author)


def record(change: Change, *, author: Author) -> None:
    """One row of the ledger, or one for every organisation. Raises audit.contracts.LedgerError."""
    tenants = (
        [change.organisation_id]
        if change.organisation_id
        else Organisation.objects.values_list("id", flat=True)
    )
    for tenant_id in tenants:
        ledger.append(
            Entry(
                tenant_id=tenant_id,
                account_id=change.account_id,
                action_id=uuid7(),
                phase="control",
                status="recorded",
                action_type=ACTION_TYPE,
                actor_type=_actor_type(author),
                actor_id=author.name,
                parent_action_id=author.answers,
                trigger="operator" if author.door in ("admin", "api") else "system",
                occurred_at=timezone.now(),
                resource_type=change.kind,
                resource_id=change.object_id,
                payload={
                    "door": author.door,
                    "kind": change.kind,
                    "name": change.name,
                    "description": f"{change.name} was {name_change(change.before, change.after)}",
                    "before": change.before,
                    "after": change.after,
                },
            )
        )


def name_change(before: object, after: object) -> str:
    """What happened to a row of policy, from what it was and is: added, changed or removed."""
    return "changed" if before and after else "added" if after else "removed"


def _actor_type(author: Author) -> ActorType:
    if author.name.startswith("operator:"):
        return "admin"
    by_door: dict[Door, ActorType] = {"api": "user", "agent": "agent"}
    return by_door.get(author.door, "system")


def _rows(model: type[models.Model], ids: list[UUID]) -> dict[UUID, Change]:
    """The rows as they are, each as the change that would make it."""
    names = {field.name for field in model._meta.fields}
    rows = model._default_manager.filter(pk__in=ids)
    return {row.pk: _build(row) for row in rows.select_related(*RELATED & names)}


def _build(row: Any) -> Change:
    account = getattr(row, "account", None)
    return Change(
        organisation_id=account.organisation_id if account else row.organisation_id,
        account_id=account.id if account else None,
        kind=row._meta.model_name,
        object_id=str(row.pk),
        name=str(row),
        before=None,
        after=values(row),
    )


def _change(key: UUID, old: Change | None, new: Change | None) -> Change:
    known = new or old
    if known is None:
        raise ValueError(f"There is no row {key}.")
    return replace(known, before=old.after if old else None, after=new.after if new else None)


def values(row: models.Model) -> dict[str, Any]:
    """A row of policy as plain data: every field that somebody decided."""
    found = {
        field.attname: _plain(getattr(row, field.attname))
        for field in row._meta.concrete_fields
        if field.attname not in NOT_POLICY
    }
    if isinstance(row, AllowedActionOption):
        found["group"] = row.group.name if row.group else ""  # as it was called then
    if isinstance(row, LearnedPattern):
        found["actions"] = [
            [action.action_type, action.arguments] for action in row.actions.order_by("order")
        ]
    return found


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | bool | list | dict | None) else str(value)
