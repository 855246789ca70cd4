"""The rows of the activity: deliveries, turns of conversations and reminders, newest first."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from agents.activity import outcomes
from agents.models import Message, Turn
from integrations.models import Delivery
from integrations.ports.registry import BY_SOURCE
from integrations.web.cursors import Place
from knowledge.ingest.indexing import words_query
from knowledge.models import Item

CHAT, REMINDER = Turn.Kind.CHAT.value, Turn.Kind.REMINDER.value
ECHO = "own_action"  # word of what the agent did itself: nothing that came
KINDS = {
    "mail": "Mail",
    "files": "Document",
    "calendar": "Event",
    "issues": "Issue",
    "messages": "Message",
    "tools": "Tool",
    CHAT: "Request",
    REMINDER: "Reminder",
}
"""What came, by the kind of its source; a request is what a user said to the agent, and a reminder
is of mail that nobody has answered."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which rows of one organisation. What is empty chooses nothing out; days are those of
    the zone."""

    organisation_id: UUID
    id: UUID | None = None  # of a delivery or a turn
    words: str = ""
    person: str = ""
    kind: str = ""
    outcome: str = ""
    reason: str = ""
    since: date | None = None
    until: date | None = None
    before: Place | None = None
    zone: tzinfo = UTC
    looked_at: bool = False  # without what no agent looked at


def select(wanted: Wanted, *, limit: int) -> list[Delivery | Turn]:
    """Up to `limit` rows with their `outcome`, newest first. Three queries at most."""
    found: list[Delivery | Turn] = []
    if wanted.kind not in (CHAT, REMINDER):
        rows = deliveries(wanted).select_related("account", "turn")
        found += _newest(rows, wanted, by="received_at", limit=limit)
    if wanted.kind in ("", CHAT, REMINDER):
        # Of both in one statement PostgreSQL would read every message where words are looked for.
        apart = wanted.words and not wanted.kind
        for kind in (CHAT, REMINDER) if apart else (wanted.kind,):
            rows = requests(replace(wanted, kind=kind)).defer("context")
            found += _newest(rows, wanted, by="created_at", limit=limit)
    return sorted(found, key=lambda row: (moment_of(row), row.pk), reverse=True)[:limit]


def moment_of(row: Delivery | Turn) -> datetime:
    return row.received_at if isinstance(row, Delivery) else row.created_at


def deliveries(wanted: Wanted) -> Any:
    """Each with its `outcome`."""
    rows = Delivery.objects.filter(organisation_id=wanted.organisation_id)
    if wanted.id:
        of_turn = Turn.objects.filter(id=wanted.id, delivery__isnull=False)
        rows = rows.filter(id__in=[wanted.id, *of_turn.values_list("delivery_id", flat=True)])
    if wanted.kind:
        rows = rows.filter(source__in=[one for one in BY_SOURCE if kind_of(one) == wanted.kind])
    if wanted.person:
        rows = rows.filter(account__external_user_id=wanted.person)
    if wanted.words:
        rows = rows.filter(_is_about(wanted, source_id="source_id"))
    if wanted.looked_at:
        rows = rows.filter(Q(turn__isnull=False) | Q(state=Delivery.State.DEAD))
    if wanted.reason != ECHO and not wanted.id:
        rows = rows.exclude(reason=ECHO)
    if wanted.reason:
        refused = Q(turn__actions__contains=[{"reason": wanted.reason}])
        rows = rows.filter(refused | Q(reason=wanted.reason))
    since = _midnight(wanted.since, wanted.zone) if wanted.since else None
    return outcomes.of_deliveries(rows, only=wanted.outcome, since=since)


def requests(wanted: Wanted) -> Any:
    """What users said and what they were reminded of, each with its `outcome`. Words are looked
    for in those of one kind."""
    kinds = [wanted.kind] if wanted.kind else [CHAT, REMINDER]
    rows = Turn.objects.filter(organisation_id=wanted.organisation_id, kind__in=kinds)
    if wanted.id:
        rows = rows.filter(id=wanted.id)
    if wanted.person:
        rows = rows.filter(external_user_id=wanted.person)
    if wanted.words and wanted.kind == REMINDER:
        rows = rows.filter(_is_about(wanted, source_id="item_source_id"))
    elif wanted.words:
        for word in wanted.words.split():
            said = Message.objects.filter(
                turn=OuterRef("pk"), role=Message.Role.USER, content__icontains=word
            )
            rows = rows.filter(Exists(said))
    if wanted.reason:
        rows = rows.filter(actions__contains=[{"reason": wanted.reason}])
    return outcomes.of_turns(rows, only=wanted.outcome)


def _is_about(wanted: Wanted, *, source_id: str) -> Exists:
    """Whether the item of a row has the words."""
    return Exists(
        Item.objects.filter(
            Q(search=words_query(wanted.words)) | Q(source_id=wanted.words),
            account__organisation_id=wanted.organisation_id,
            account=OuterRef("account"),
            source_id=OuterRef(source_id),
            deleted_at=None,
        )
    )


def kind_of(source: str) -> str:
    known = BY_SOURCE.get(source)
    return known.kind if known else ""


def within(rows: Any, wanted: Wanted, *, by: str) -> Any:
    """Those of the wanted days."""
    if wanted.since:
        rows = rows.filter(**{f"{by}__gte": _midnight(wanted.since, wanted.zone)})
    if wanted.until:
        end = _midnight(wanted.until + timedelta(days=1), wanted.zone)
        rows = rows.filter(**{f"{by}__lt": end})
    return rows


def _newest(rows: Any, wanted: Wanted, *, by: str, limit: int) -> list[Any]:
    rows = within(rows, wanted, by=by)
    if last := wanted.before:
        rows = rows.filter(last.before(by, "pk"))
    return list(rows.order_by(f"-{by}", "-pk")[:limit])


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time.min, tzinfo=zone)
