"""One user's day: what the assistant did, asked, left alone and refused, and what waits for them.

The rows are those of the activity, so the day says what the first page of the admin says.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, tzinfo
from uuid import UUID

from django.db.models import F
from django.utils.translation import gettext

from agents.activity import figures, rows, selection
from agents.activity.outcomes import Outcome
from agents.activity.rows import Row
from agents.activity.selection import Wanted
from guardrails.approve.cards import list_cards
from guardrails.contracts.cards import ApprovalCard
from guardrails.models import Approval
from integrations.accounts.names import find_names

WAITING = 3  # of what waits: what is to be decided first
TITLES = {
    Outcome.DONE: "Done",
    Outcome.ANSWERED: "Answered in words",
    Outcome.ASKED: "Asked a person",
    Outcome.SUGGESTED: "Suggested to you",
    Outcome.REFUSED: "Refused by your organisation's rules",
    Outcome.FAILED: "Failed",
    Outcome.WORKING: "Still in work",
    Outcome.LEFT: "Left alone",
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """What came to one outcome: how much it was, and the newest of it in words."""

    outcome: str
    title: str
    number: int
    rows: tuple[Row, ...]

    @property
    def more(self) -> int:
        return self.number - len(self.rows)


@dataclass(frozen=True, kw_only=True)
class Day:
    """The user is asked `waits` questions now, like actions of one run together: `waiting` are the
    first action of each of the first ones."""

    person: str
    day: date
    parts: tuple[Part, ...]
    waiting: tuple[ApprovalCard, ...]
    waits: int

    @property
    def number(self) -> int:
        return sum(part.number for part in self.parts)

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing to tell: mail that was only left alone is nothing new."""
        said = {part.outcome for part in self.parts}
        return not self.waits and said <= {Outcome.LEFT.value, Outcome.WORKING.value}


def load_day(organisation_id: UUID, person: str, day: date, *, zone: tzinfo, examples: int) -> Day:
    """What an agent looked at on this day of the zone, and what waits now. Five queries for each
    outcome, and five. Words are in the language that is spoken."""
    wanted = Wanted(
        organisation_id=organisation_id,
        person=person,
        since=day,
        until=day,
        zone=zone,
        looked_at=True,
    )
    names = find_names(organisation_id, [person])
    counts = Counter[str]()
    for (_, outcome), number in figures.count(wanted).items():
        counts[outcome] += number
    waits = Approval.objects.filter(
        organisation_id=organisation_id, state=Approval.State.PENDING
    ).for_user(person)
    first = waits.order_by(F("expires_at").asc(nulls_last=True), "created_at", "id")
    questions = dict[UUID, UUID]()
    for key, question in first.values_list("id", "question"):
        questions.setdefault(question, key)
    ids = list(questions.values())[:WAITING]
    cards = list_cards(organisation_id=organisation_id, ids=ids) if ids else ()
    return Day(
        person=person,
        day=day,
        parts=tuple(
            _part(wanted, outcome, counts[outcome.value], examples, names)
            for outcome in TITLES
            if counts[outcome.value]
        ),
        waiting=tuple(sorted(cards, key=lambda card: ids.index(card.id))),
        waits=len(questions),
    )


def _part(
    wanted: Wanted, outcome: Outcome, number: int, examples: int, names: Mapping[str, str]
) -> Part:
    narrowed = Wanted(**{**vars(wanted), "outcome": outcome.value})
    found = selection.select(narrowed, limit=examples)
    page = rows.render(found, organisation_id=wanted.organisation_id, zone=wanted.zone)
    return Part(
        outcome=outcome.value,
        title=gettext(TITLES[outcome]),
        number=number,
        rows=tuple(rows.named(page, names)),
    )
