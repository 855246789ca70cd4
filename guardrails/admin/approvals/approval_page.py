"""An approval as its admin page shows it: the card, its times in the user's zone, and the
form to change it."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.urls import reverse

from guardrails.actions import base
from guardrails.admin.approvals.like_ones import link_page, select
from guardrails.approve import approvals, cards
from guardrails.decide.provenance import values
from guardrails.facts.text import visible
from guardrails.models import Approval


def context(approval: Approval, zone: str = "") -> dict[str, Any]:
    """The page's values. A query where no zone is given, and one for names."""
    zone = zone or cards.zone_of(approval)
    card = cards.card(approval, zone=zone)
    changed = {name: old for name, old in card.proposed.items() if card.arguments.get(name) != old}
    return {
        "approval": approval,
        "card": card,
        "headline": card.heading,
        "whom": visible(approval.account.display_name or approval.external_user_id),
        "targets": [value for value in card.values if value.is_target],
        "rest": [value for value in card.values if not value.is_target],
        "side_effects": [visible(text) for text in card.side_effects],
        "why": visible(card.reason),
        "proposed": list(_in_words(changed)),
        "times": list(_times(approval, ZoneInfo(zone))),
        "person_said": visible(approval.decision_reason),
        "outcome": visible(str(approval.executed.get("sentence", ""))),
        "is_open": approval.state == Approval.State.PENDING,
    }


def like_ones(approval: Approval) -> dict[str, Any] | None:
    """Where the whole question is decided that this is a part of; None where it is all of it."""
    number = select(Approval.objects.all(), approval).count()
    return {"number": number, "link": link_page(approval)} if number > 1 else None


def batch_link(ids: Iterable[object]) -> str:
    """Where these are decided together."""
    query = urlencode({"ids": ",".join(map(str, ids))})
    return f"{reverse('admin:guardrails_approval_batch')}?{query}"


def _in_words(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Arguments for people, with the fields of a nested one each for itself."""
    for name, value in arguments.items():
        if isinstance(value, Mapping):
            yield from ((path, visible(text)) for path, text in values({name: value}))
        else:
            yield name.replace("_", " "), visible(base.in_words(value))


def note_shown(rows: Iterable[Approval]) -> None:
    """These are before a person who may decide."""
    approvals.note_shown([cards.card(row, zone="UTC", names=cards.NOBODY) for row in rows])


def _times(approval: Approval, zone: ZoneInfo) -> Iterator[tuple[str, str]]:
    moments: Mapping[str, datetime | None] = {
        "Asked": approval.created_at,
        "Expires": approval.expires_at,
        "Escalated": approval.escalated_at,
        "Decided": approval.decided_at,
    }
    for label, at in moments.items():
        if at is not None:
            yield label, f"{at.astimezone(zone):%Y-%m-%d %H:%M:%S} {zone.key}"
