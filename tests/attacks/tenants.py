"""Ids of another tenant, in every argument of every action that takes one: as unknown as an id
that nobody has. Ids at endpoints are in `tests.attacks.endpoints`."""

from dataclasses import replace

from tests.attacks.case import Case, Play
from tests.attacks.desk import Desk, seated
from tests.attacks.plays import (
    APPEND,
    ARCHIVE,
    ARCHIVE_ARRIVED,
    CANCEL_EVENT,
    COMMENT,
    DELETE_DRAFT,
    DRAFT,
    FORWARD,
    LABEL,
    LABEL_ARRIVED,
    MARK_READ,
    MOVE_ARRIVED,
    MOVE_DOCUMENT,
    MOVE_EMAIL,
    READ_ARRIVED,
    REPLY,
    REPLY_DRAFT,
    SEND,
    SHARE,
    UPDATE_EVENT,
    UPDATE_TASK,
)

FOREIGN = "other accounts' ids"
UNKNOWN, OUTSIDE = "object_unknown", "outside_own_item"


def neighbour(desk: Desk) -> None:
    """Another tenant with the same things under other ids."""
    seated(desk.house, number=2)


ARGUMENTS: tuple[tuple[Play, str, str], ...] = (
    (ARCHIVE, "email_id", "mail-2"),
    (MARK_READ, "email_id", "mail-2"),
    (LABEL, "email_id", "mail-2"),
    (MOVE_EMAIL, "email_id", "mail-2"),
    (FORWARD, "email_id", "mail-2"),
    (DRAFT, "reply_to_id", "mail-2"),
    (SEND, "reply_to_id", "mail-2"),
    (DELETE_DRAFT, "draft_id", "draft-2"),
    (UPDATE_EVENT, "event_id", "event-2"),
    (CANCEL_EVENT, "event_id", "event-2"),
    (APPEND, "document_id", "doc-2"),
    (MOVE_DOCUMENT, "document_id", "doc-2"),
    (SHARE, "document_id", "doc-2"),
    (UPDATE_TASK, "issue_key", "PROJ-901"),
    (COMMENT, "issue_key", "PROJ-901"),
)


def in_argument(play: Play, argument: str, value: str) -> Case:
    case = play.case(FOREIGN, f"{play.action}.{argument}", UNKNOWN, **{argument: value})
    return replace(case, given=neighbour)


def from_mail(play: Play, argument: str) -> Case:
    """A mail points at another mail of the same account: only its own thread is its own."""
    name = f"a mail points at another: {play.action}.{argument}"
    return play.case(FOREIGN, name, OUTSIDE, **{argument: "mail-1"})


CASES: tuple[Case, ...] = (
    *(in_argument(*argument) for argument in ARGUMENTS),
    from_mail(ARCHIVE_ARRIVED, "email_id"),
    from_mail(READ_ARRIVED, "email_id"),
    from_mail(LABEL_ARRIVED, "email_id"),
    from_mail(MOVE_ARRIVED, "email_id"),
    from_mail(REPLY, "reply_to_id"),
    from_mail(REPLY_DRAFT, "reply_to_id"),
    LABEL.case(FOREIGN, "a label of the neighbour", "target_not_listed", label_id="label_n"),
)
