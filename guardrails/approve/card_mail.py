"""What waits for a person, as a message to those who decide.

It holds the lines of the card that page, API, console and chat show. It decides nothing, and
neither does its link (`card_links`): who opens it logs in, looks at the card there and decides
there.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Warning
from django.utils.translation import gettext, gettext_noop

from guardrails.approve import card_links, card_text
from guardrails.approve.speaking import fill
from guardrails.contracts.cards import ApprovalCard, QuestionCard
from integrations.network import outgoing

MOST_CARDS = 10  # of one question in full; the page shows all of them
# Of what programs that show plain text make links: what looks like a scheme, a host or a share.
SCHEME = re.compile(r"(?<![^\W_])([a-z][a-z0-9+.-]*)[:：](?=\S)", re.IGNORECASE)  # noqa: RUF001
DOT = re.compile(r"(?<=\S)[.。．｡](?=[^\W_])")  # noqa: RUF001
CUT = gettext_noop("… The rest is on its page.")
TRIAL = gettext_noop("This is a trial. When an action waits for a person, its card comes here.")
SHARE = re.compile(r"(?<![^\s\"'(<=\[:])[/\\]{2,}")


def send(address: str, question: QuestionCard | None) -> None:
    """One mail through `EMAIL_URL`. Raises ProviderError. Without a question: one that asks
    nothing."""
    outgoing.send_mail(address, subject=subject(question), text=text(question))


def is_superseded(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """guardrails.W003 where APPROVAL_MAIL is set still: its addresses became rows."""
    if settings.APPROVAL_MAIL:
        said = "APPROVAL_MAIL is read no more: who hears of approvals are rows of the admin."
        return [Warning(said, id="guardrails.W003")]
    return []


def subject(question: QuestionCard | None) -> str:
    """Remit's own words alone: not even an address, which a stranger can choose."""
    if question is None:
        return gettext("Remit will ask here")
    titles = ", ".join(dict.fromkeys(card.title for card in question.cards))
    number = len(question.cards)
    if number > 1:
        return fill(
            "Remit asks a person: %(titles)s (%(number)s actions)", titles=titles, number=number
        )
    return fill("Remit asks a person: %(titles)s", titles=titles)


def text(question: QuestionCard | None) -> str:
    if question is None:
        return gettext(TRIAL)
    return "\n\n".join(_parts(question))


def _parts(question: QuestionCard) -> Iterator[str]:
    if len(question.cards) > 1:
        yield inert(question.heading)
    for card in question.cards[:MOST_CARDS]:
        yield inert(card_text.render(card))
        yield way(card)
    if rest := _rest(question):
        yield rest


def sections(question: QuestionCard | None) -> Iterator[tuple[str, str]]:
    """The same as `text` for channels that have buttons: each part, and where its button leads."""
    if question is None:
        yield gettext(TRIAL), ""
        return
    if len(question.cards) > 1:
        yield inert(question.heading), ""
    for card in question.cards[:MOST_CARDS]:
        link = _link(card)
        yield inert(card_text.render(card)) + ("" if link else f"\n\n{way(card)}"), link
    if rest := _rest(question):
        yield rest, ""


def cut(text: str, *, most: int) -> str:
    """What decides comes first; what does not fit is on the card's page."""
    rest = gettext(CUT)
    return text if len(text) <= most else text[: most - len(rest)] + rest


def _rest(question: QuestionCard) -> str:
    more = len(question.cards) - MOST_CARDS
    return fill("%(number)s more like these wait there.", number=more) if more > 0 else ""


def way(card: ApprovalCard) -> str:
    """To the card's page, where a person decides after logging in."""
    if not settings.PUBLIC_URL:
        return fill("Decide in the admin, under Inbox, Approvals. Its number: %(id)s", id=card.id)
    said = gettext("Log in and decide here (opening it decides nothing):")
    return f"{said}\n{_link(card)}"


def _link(card: ApprovalCard) -> str:
    return settings.PUBLIC_URL.rstrip("/") + card_links.path(card) if settings.PUBLIC_URL else ""


def inert(words: str) -> str:
    """The words with nothing that a mail program would make a link of: strangers wrote some of
    them. `https://a.b/c` becomes `https[:]//a[.]b/c`, also where somebody only means a name."""
    apart = DOT.sub("[.]", SCHEME.sub(r"\1[:]", words))
    return SHARE.sub(lambda found: "".join(f"[{slash}]" for slash in found[0]), apart)
