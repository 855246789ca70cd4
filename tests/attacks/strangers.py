"""Mail of people to whom the user never wrote: it sets off no answer and no draft, however often
they write and whatever lets them in. The twin is the same act for somebody whom the user knows."""

from dataclasses import replace

from audit.ledger.ids import uuid7
from guardrails.models import AgentMail
from tests.attacks.case import Case, Grant, Mail, Play
from tests.attacks.desk import EVE, Desk
from tests.attacks.plays import REPLY_DRAFT

COLD = "cold mail"
THEIRS = Mail(fields={"from": EVE})
THREAD = Mail(fields={"from": EVE, "thread_id": "thread-eve"})
ANSWER = replace(
    REPLY_DRAFT,
    policy=(
        Grant(
            action="send_email",
            conditions=({"kind": "recipient", "relation": ["thread_participant"]},),
        ),
    ),
    action="send_email",
)


def wrote_before(desk: Desk) -> None:
    """Eve has written three times, once in the thread of her new mail."""
    for number in range(3):
        desk.office.receive(id=f"mail-eve-{number}", **{"from": EVE})
    desk.office.receive(id="mail-eve-thread", thread_id="thread-eve", **{"from": EVE})


def answered_by_the_agent(desk: Desk) -> None:
    """The provider has a mail to Eve, which the agent sent unasked."""
    desk.office.receive(to=[EVE], labels=["SENT"], **{"from": desk.office.mailbox.address})
    AgentMail.objects.create(account=desk.office.mailbox, action_id=uuid7(), address=EVE)


def written_to_by_others(desk: Desk) -> None:
    """The mailbox has a mail to Eve, which somebody else wrote."""
    desk.office.receive(to=[EVE], **{"from": "cleo@client.com"})


def cold(play: Play, name: str, via: Mail = THEIRS, address: str = EVE) -> Case:
    case = play.case(COLD, f"{play.action} {name}", "receiver_stranger", to=[address])
    return case.attacking(via=via)


CASES: tuple[Case, ...] = (
    *(cold(play, "to a stranger") for play in (REPLY_DRAFT, ANSWER)),
    *(
        replace(cold(play, "to who writes again", THREAD), before=wrote_before)
        for play in (REPLY_DRAFT, ANSWER)
    ),
    replace(cold(REPLY_DRAFT, "after an answer of the agent's"), before=answered_by_the_agent),
    replace(cold(REPLY_DRAFT, "to whom others wrote"), before=written_to_by_others),
    cold(
        REPLY_DRAFT,
        "to a stranger in capitals",
        Mail(fields={"from": "Eve@evil.example"}),
        "Eve@evil.example",
    ),
)
