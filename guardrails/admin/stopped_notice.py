"""What says on every page, of admin and console alike, that something is stopped."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from audit.ledger import people
from audit.ledger.timeline import moment
from guardrails.approve.cards import named
from guardrails.approve.speaking import fill
from guardrails.facts.text import visible
from guardrails.policies import stopped
from integrations.web import staff

LINES = 3


@dataclass(frozen=True, kw_only=True)
class Notice:
    """What is stopped, how much `more` is, and where it is let run: empty for who may not look."""

    lines: tuple[str, ...]
    more: int
    link: str


def notice(request: HttpRequest) -> dict[str, Any]:
    """A context processor; a page that does not show it asks nothing."""
    return {"stopped": SimpleLazyObject(lambda: _look(request))}


def _look(request: HttpRequest) -> Notice | None:
    user = getattr(request, "user", None)
    if user is None or not user.is_staff:
        return None
    bound = staff.organisation_ids(user) if staff.is_bound(user) else None
    rows = [] if bound == () else list(stopped.list_thrown(bound))
    if not rows:
        return None
    may_look = user.has_perm("guardrails.view_killswitch")
    return Notice(
        lines=_sentences(rows[:LINES]),
        more=max(0, len(rows) - LINES),
        link=reverse("admin:guardrails_killswitch_changelist") if may_look else "",
    )


def _sentences(rows: list[Any]) -> tuple[str, ...]:
    names = people.find((row.organisation_id, row.thrown_by) for row in rows)
    return tuple(
        _sentence(row, who=named(row.thrown_by, of=row.organisation_id, names=names))
        for row in rows
    )


def _sentence(row: Any, *, who: str) -> str:
    words = fill(
        "%(what)s has been stopped since %(time)s by %(who)s: “%(why)s”.",
        what=row,
        time=moment(row.thrown_at),
        who=who,
        why=row.why,
    )
    if row.arrived:
        words += " " + fill("Mails that were left alone meanwhile: %(number)s.", number=row.arrived)
    return visible(words, limit=600)
