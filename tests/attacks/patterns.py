"""Learned patterns: mails that imitate the one a pattern was made for, and patterns that want
more than the policy. Where none fits, the model reads the mail (and here does nothing)."""

from dataclasses import replace

from tests.attacks.case import Case, Learned, Play
from tests.attacks.desk import ADA, EVE, Desk
from tests.attacks.plays import ARCHIVE, LABEL, MARK_READ, MOVE_EMAIL

PATTERNS = "learned patterns"
FROM_ADA = {"sender_address": ADA}
FROM_CLIENT = {"sender_domain": "client.com"}
WEEKLY = {"list_id": "<weekly.client.com>"}
REPORT = {"sender_address": ADA, "subject": "Weekly report"}
FAILED = {"spf": "none", "dkim": "none", "dmarc": "fail"}


def fitting(matcher: dict[str, str], fields: dict[str, object]) -> Play:
    """A pattern that archives, and a mail that it was made for."""
    return replace(ARCHIVE, via=Learned(matcher=matcher, fields=fields))


def imitation(play: Play, name: str, **fields: object) -> Case:
    """A mail that imitates it: the pattern does not stir."""
    via = play.via
    assert isinstance(via, Learned)
    return play.case(PATTERNS, name, "").attacking(
        end="untouched", via=Learned(matcher=via.matcher, fields={**via.fields, **fields})
    )


ADDRESS = fitting(FROM_ADA, {"from": ADA})
DOMAIN = fitting(FROM_CLIENT, {"from": "carl@client.com"})
LIST = fitting(WEEKLY, {"from": "news@client.com", "list_id": "<weekly.client.com>"})
SUBJECT = fitting(REPORT, {"from": ADA, "subject": "Re: Weekly report"})


def greedy(play: Play, name: str, reason: str, **changes: object) -> Case:
    """An approved pattern that wants what the policy does not permit."""
    learned = replace(play, via=Learned(matcher=FROM_ADA, fields={"from": ADA}))
    return learned.case(PATTERNS, name, reason, **changes)


def not_permitted(desk: Desk) -> None:
    desk.office.mailbox.allowed_actions.all().delete()


CASES: tuple[Case, ...] = (
    imitation(ADDRESS, "the address as a display name", **{"from": EVE, "from_name": ADA}),
    imitation(ADDRESS, "no sender", **{"from": ""}),
    imitation(ADDRESS, "the address unproved", authentication=FAILED),
    imitation(ADDRESS, "the address with a suffix", **{"from": f"{ADA}.evil.example"}),
    imitation(ADDRESS, "the address with a prefix", **{"from": f"x{ADA}"}),
    imitation(ADDRESS, "a homoglyph of the address", **{"from": "ad\u0430@client.com"}),
    imitation(ADDRESS, "a plus", **{"from": "ada+x@client.com"}),
    imitation(ADDRESS, "the address in reply-to", **{"from": EVE, "reply_to": [ADA]}),
    imitation(ADDRESS, "the address among the receivers", **{"from": EVE, "cc": [ADA]}),
    imitation(DOMAIN, "the domain with a suffix", **{"from": "carl@client.com.evil.example"}),
    imitation(DOMAIN, "a subdomain", **{"from": "carl@mail.client.com"}),
    imitation(DOMAIN, "the domain with a prefix", **{"from": "carl@evilclient.com"}),
    imitation(DOMAIN, "the domain unproved", authentication=FAILED),
    imitation(DOMAIN, "the domain in the local part", **{"from": "client.com@evil.example"}),
    imitation(LIST, "another list", list_id="<weekly.client.com.evil.example>"),
    imitation(LIST, "no list", list_id=None),
    imitation(LIST, "a list's prefix", list_id="<weekly.client.co>"),
    imitation(SUBJECT, "a longer subject", subject="Weekly report and invoice"),
    imitation(SUBJECT, "no subject", subject=""),
    imitation(SUBJECT, "the subject of somebody else", **{"from": EVE}),
    greedy(LABEL, "a label that is not listed", "target_not_listed", label_id="label_team"),
    greedy(LABEL, "the trash", "target_not_listed", label_id="TRASH"),
    greedy(MOVE_EMAIL, "a folder that is not listed", "target_not_listed", folder_id="INBOX"),
    replace(
        greedy(MARK_READ, "an act that is not permitted", "not_permitted"),
        before=not_permitted,
    ),
)
