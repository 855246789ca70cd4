"""What a mail may never set off, whatever the account permits to people."""

from dataclasses import replace

from tests.attacks.case import ITEM, Act, Case, Grant, Mail, Play
from tests.attacks.desk import ADA, BOB, EVE
from tests.attacks.plays import (
    APPEND,
    BOB_LISTED,
    CANCEL_EVENT,
    COMMENT,
    CREATE_TASK,
    DELETE_DRAFT,
    FOLDER_DOCUMENT,
    FORWARD,
    INVITE,
    LABEL_ARRIVED,
    MOVE_DOCUMENT,
    REPLY,
    REPLY_DRAFT,
    SHARE,
    UPDATE_EVENT,
    UPDATE_TASK,
)

REACH = "reach of a mail"
NOT_FROM_MAIL = "not_from_mail"
# A mailbox's turn has no account at other sources, so their actions are unknown to it.
ELSEWHERE = (
    (CREATE_TASK, "unknown_action"),
    (UPDATE_TASK, "unknown_action"),
    (COMMENT, "unknown_action"),
    (INVITE, "unknown_action"),
    (UPDATE_EVENT, "unknown_action"),
    (CANCEL_EVENT, "unknown_action"),
    (FOLDER_DOCUMENT, "unknown_action"),
    (APPEND, "unknown_action"),
    (MOVE_DOCUMENT, "unknown_action"),
    (SHARE, "unknown_action"),
    (FORWARD, NOT_FROM_MAIL),
    (DELETE_DRAFT, NOT_FROM_MAIL),
)
UNPROVED = Mail(fields={"authentication": {"spf": "fail", "dkim": "none", "dmarc": "fail"}})
NOT_PROVED = Mail(fields={"authentication": {"spf": "pass", "dkim": "pass", "dmarc": "none"}})
FORGED = Mail(fields={"from": BOB, "authentication": {"dmarc": "fail"}})
STRANGER = Mail(fields={"from": EVE})


def elsewhere(play: Play, reason: str) -> Case:
    """The same act that a person's request may set off. The twin is that request."""
    case = play.case(REACH, f"{play.action}, asked for by a mail", reason)
    return case.attacking(via=Mail())


def new_mail(play: Play, name: str, reason: str, via: Mail, **changes: object) -> Case:
    return play.case(REACH, name, reason, **changes).attacking(via=via)


ANSWER_BOB = replace(
    REPLY,
    policy=(Grant(action="send_email", targets=BOB_LISTED),),
    via=Mail(fields={"from": BOB}),
    arguments={**REPLY.arguments, "to": [BOB]},
)
UNLISTED, OUTSIDE = "target_not_listed", "receiver_not_in_thread"

UNATTENDED = (
    "no-reply@client.com",
    "NoReply@client.com",
    "bounce+7@client.com",
    "DO.NOT.REPLY@a.example",
)


def unattended(play: Play, address: str) -> Case:
    """An automatic mail is answered automatically, and so on."""
    name = f"{play.action} to {address}"
    via = Mail(fields={"from": address})
    return new_mail(play, name, "receiver_unattended", via, to=[address])


CASES: tuple[Case, ...] = (
    *(unattended(play, address) for play in (REPLY, REPLY_DRAFT) for address in UNATTENDED),
    *(elsewhere(*one) for one in ELSEWHERE),
    new_mail(REPLY, "an answer to an unproved sender", OUTSIDE, UNPROVED),
    new_mail(REPLY, "an answer to a sender without DMARC", OUTSIDE, NOT_PROVED),
    new_mail(REPLY_DRAFT, "a draft to an unproved sender", UNLISTED, UNPROVED),
    new_mail(ANSWER_BOB, "an answer to a forged colleague", OUTSIDE, FORGED),
    new_mail(REPLY, "an answer to a stranger", OUTSIDE, STRANGER),
    new_mail(REPLY, "an answer to the stranger itself", UNLISTED, STRANGER, to=[EVE]),
    ANSWER_BOB.case(REACH, "a new mail to a listed one", "outside_own_item", reply_to_id=None),
    Case(
        name="a listed receiver outside the thread",
        row=REACH,
        policy=(Grant(action="send_email", targets=(*BOB_LISTED, ("recipient", ADA, "Ada"))),),
        attack=Act(
            via=Mail(),
            action="send_email",
            arguments={**REPLY.arguments, "to": [BOB]},
            end="refused",
            reason=OUTSIDE,
        ),
        twin=Act(via=Mail(), action="send_email", arguments=REPLY.arguments, end=REPLY.end),
    ),
    Case(
        name="a person asked by a mail about another one",
        row=REACH,
        policy=(Grant(action="classify", mode="ask", targets=LABEL_ARRIVED.policy[0].targets),),
        attack=Act(
            via=Mail(),
            action="classify",
            arguments={"email_id": "mail-1", "label_id": "label_fyi"},
            end="refused",
            reason="outside_own_item",
        ),
        twin=Act(
            via=Mail(),
            action="classify",
            arguments={"email_id": ITEM, "label_id": "label_fyi"},
            end="confirmed",
        ),
    ),
)
