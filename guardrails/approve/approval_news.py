"""News of approvals: to the people who decide, that something waits for one of them.

Each way to hear of it is a channel: one file, and one line in `CHANNELS`. News decides nothing.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from django.utils import timezone

from guardrails.approve.card_mail import CardMail
from guardrails.approve.cards import list_cards
from guardrails.approve.questions import group
from guardrails.contracts.cards import QuestionCard
from guardrails.models import Approval
from integrations.exceptions import ProviderError
from integrations.models import Organisation

log = logging.getLogger(__name__)
ANNOUNCED_FOR = timedelta(days=1)  # nobody hears of what has waited longer
ANNOUNCED_AT_ONCE = 100


class Channel(Protocol):
    """A way in which an organisation's people hear that something waits."""

    def reaches(self, organisation: Organisation) -> bool:
        """Whether somebody there wants to hear of it this way. No query."""

    def tell(self, organisation: Organisation, question: QuestionCard) -> None:
        """Raises ProviderError."""


CHANNELS: tuple[Channel, ...] = (CardMail(),)


def announce(*, now: datetime) -> None:
    """Tell each organisation's people what waits that they have not heard of, like actions as one
    question. Runs every minute; what cannot be said now is tried again for a day."""
    for organisation in Organisation.objects.order_by("id"):
        channels = [one for one in CHANNELS if one.reaches(organisation)]
        if channels:
            _announce(organisation, channels, now=now)


def _announce(organisation: Organisation, channels: Sequence[Channel], *, now: datetime) -> None:
    rows = Approval.objects.filter(
        organisation_id=organisation.id,
        state=Approval.State.PENDING,
        announced_at=None,
        created_at__gte=now - ANNOUNCED_FOR,
    ).order_by("created_at", "id")
    ids = list(rows.values_list("id", flat=True)[:ANNOUNCED_AT_ONCE])
    cards = list_cards(organisation_id=organisation.id, ids=ids) if ids else ()
    for question in group(reversed(cards)):
        try:
            for channel in channels:
                channel.tell(organisation, question)
        except ProviderError as error:
            asked = {"question": str(question.id), "code": error.code}
            log.warning("approval.not_announced", extra=asked)
            if error.retryable:
                return  # the others would wait as long for the same server
        heard_of = Approval.objects.filter(id__in=[card.id for card in question.cards])
        heard_of.update(announced_at=timezone.now())
