"""A suggestion with its buttons, as pages show it."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext

from agents.journal import suggestions
from agents.journal.suggestions import State
from agents.models import Suggestion
from audit.ledger import timeline

BUTTONS = ("agents.view_suggestion", "agents.change_suggestion")  # the rights that they need


@dataclass(frozen=True, kw_only=True)
class Offered:
    """`state` is empty while it is open; `why` says why it came to nothing so far. `take_up` is
    empty where a person does it at the provider."""

    id: UUID
    says: str
    state: str
    why: str
    take_up: str
    dismiss: str


def offer(row: Suggestion) -> Offered:
    state = "" if row.state == State.OPEN else gettext(row.get_state_display())
    by = f" ({row.decided_by})" if row.state in (State.TAKEN_UP, State.DISMISSED) else ""
    return Offered(
        id=row.id,
        says=timeline.reveal(suggestions.say(row)),
        state=timeline.reveal(f"{state}{by}"),
        why=timeline.reveal(row.outcome) if row.state != State.DISMISSED else "",
        take_up=""
        if row.is_only_said
        else reverse("admin:agents_suggestion_take_up", args=[row.id]),
        dismiss=reverse("admin:agents_suggestion_dismiss", args=[row.id]),
    )


def offers(rows: Iterable[Suggestion]) -> tuple[Offered, ...]:
    return tuple(map(offer, rows))
