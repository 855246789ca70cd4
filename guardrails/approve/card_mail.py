"""What waits for a person, as a mail to those who decide.

It holds the lines of the card that page, API, console and chat show. It decides nothing, and
neither does its link: who opens it logs in, looks at the card there and decides there. The link
carries the card's digest, so the page can say that it is not what the mail showed.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.urls import reverse
from django.utils.translation import gettext

from guardrails.approve import card_text
from guardrails.contracts.cards import ApprovalCard, QuestionCard
from integrations.models import Organisation
from integrations.network import outgoing

MOST_CARDS = 10  # of one question in full; the page shows all of them
# Of what programs that show plain text make links: what looks like a scheme, a host or a share.
SCHEME = re.compile(r"(?<![^\W_])([a-z][a-z0-9+.-]*)[:：](?=\S)", re.IGNORECASE)  # noqa: RUF001
DOT = re.compile(r"(?<=\S)[.。．｡](?=[^\W_])")  # noqa: RUF001
SHARE = re.compile(r"(?<![^\s\"'(<=\[])[/\\]{2,}")


class CardMail:
    """The channel: a mail to the organisation's address in `APPROVAL_MAIL`, through `EMAIL_URL`."""

    def reaches(self, organisation: Organisation) -> bool:
        return bool(settings.EMAIL_URL and settings.APPROVAL_MAIL.get(organisation.slug))

    def tell(self, organisation: Organisation, question: QuestionCard) -> None:
        address = settings.APPROVAL_MAIL[organisation.slug]
        outgoing.send_mail(address, subject=subject(question), text=text(question))


def can_be_sent(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """guardrails.E002 where somebody is to hear of approvals by mail, and no mail can be sent."""
    if settings.APPROVAL_MAIL and not settings.EMAIL_URL:
        return [Error("APPROVAL_MAIL needs a mail server: set EMAIL_URL.", id="guardrails.E002")]
    return []


def subject(question: QuestionCard) -> str:
    """Remit's own words alone: not even an address, which a stranger can choose."""
    titles = ", ".join(dict.fromkeys(card.title for card in question.cards))
    number = len(question.cards)
    return f"Remit asks a person: {titles}" + (f" ({number} actions)" if number > 1 else "")


def text(question: QuestionCard) -> str:
    return "\n\n".join(_parts(question))


def _parts(question: QuestionCard) -> Iterator[str]:
    if len(question.cards) > 1:
        yield inert(question.heading)
    for card in question.cards[:MOST_CARDS]:
        yield inert(card_text.render(card))
        yield way(card)
    if len(question.cards) > MOST_CARDS:
        yield f"{len(question.cards) - MOST_CARDS} more like these wait there."


def way(card: ApprovalCard) -> str:
    """To the card's page, where a person decides after logging in."""
    if not settings.PUBLIC_URL:
        here = gettext("Decide in the admin, under Inbox, Approvals. Its number: %(id)s")
        return here % {"id": card.id}
    page = reverse("admin:guardrails_approval_change", args=[card.id])
    address = f"{settings.PUBLIC_URL.rstrip('/')}{page}?{urlencode({'digest': card.digest})}"
    return f"{gettext('Log in and decide here (opening it decides nothing):')}\n{address}"


def inert(words: str) -> str:
    """The words with nothing that a mail program would make a link of: strangers wrote some of
    them. `https://a.b/c` becomes `https[:]//a[.]b/c`, also where somebody only means a name."""
    apart = DOT.sub("[.]", SCHEME.sub(r"\1[:]", words))
    return SHARE.sub(lambda found: "".join(f"[{slash}]" for slash in found[0]), apart)
