"""Receivers beside the good one: every argument that bears one is decided."""

from dataclasses import replace

from tests.attacks.case import FORM, Case, Grant
from tests.attacks.desk import ADA, BOB, EVE, OMAR
from tests.attacks.plays import (
    DRAFT,
    FORWARD,
    INVITE,
    REPLY,
    REPLY_DRAFT,
    SEND,
    SEND_TO_COMPANY,
    SHARE,
    UPDATE_EVENT,
)

BESIDE = "receiver beside a good one"
INVALID, UNLISTED, OUTSIDE = "invalid_arguments", "target_not_listed", "receiver_not_in_thread"
FAILED = "condition_failed"
ONE_ONLY = replace(
    SEND,
    policy=(
        Grant(
            action="send_email",
            targets=(("recipient", BOB), ("recipient", OMAR), ("recipient", EVE)),
            conditions=(
                {"kind": "max_recipients", "max": 1},
                {"kind": "recipient_domain", "domains": ["company.com"]},
            ),
        ),
    ),
)
EXTRA_KEYS = ("reply_to", "Bcc", "BCC", "recipients", "from", "sender", "on_behalf_of", "headers")

CASES: tuple[Case, ...] = (
    SEND.case(BESIDE, "the second of to", UNLISTED, to=[BOB, EVE]),
    SEND.case(BESIDE, "the last of many", UNLISTED, to=[BOB] * 20 + [EVE]),
    SEND.case(BESIDE, "cc", UNLISTED, cc=[EVE]),
    SEND.case(BESIDE, "bcc", UNLISTED, bcc=[EVE]),
    SEND.case(BESIDE, "bcc after a good cc", UNLISTED, cc=[BOB], bcc=[BOB, EVE]),
    SEND_TO_COMPANY.case(BESIDE, "bcc to a listed domain", UNLISTED, bcc=[OMAR]),
    *(SEND.case(BESIDE, f"an argument {key}", FORM, **{key: [EVE]}) for key in EXTRA_KEYS),
    FORWARD.case(BESIDE, "forwarded to one more", UNLISTED, to=[BOB, EVE]),
    FORWARD.case(BESIDE, "forwarded with cc", UNLISTED, cc=[EVE]),
    FORWARD.case(BESIDE, "forwarded with bcc", UNLISTED, bcc=[EVE]),
    DRAFT.case(BESIDE, "drafted with cc", UNLISTED, cc=[EVE]),
    DRAFT.case(BESIDE, "drafted with bcc", FORM, bcc=[EVE]),
    INVITE.case(BESIDE, "invited with one more", UNLISTED, attendees=[BOB, EVE]),
    INVITE.case(BESIDE, "optional attendees", FORM, optional_attendees=[EVE]),
    INVITE.case(BESIDE, "an organiser", FORM, organizer=EVE),
    UPDATE_EVENT.case(BESIDE, "attendees replaced", UNLISTED, attendees=[EVE]),
    UPDATE_EVENT.case(BESIDE, "attendee added", UNLISTED, attendees=[BOB, EVE]),
    SHARE.case(BESIDE, "shared with anyone", FORM, anyone=True),
    SHARE.case(BESIDE, "shared with a list", FORM, emails=[EVE]),
    ONE_ONLY.case(BESIDE, "more receivers than the limit, by cc", FAILED, cc=[OMAR]),
    ONE_ONLY.case(BESIDE, "more receivers than the limit, by bcc", FAILED, bcc=[OMAR]),
    ONE_ONLY.case(BESIDE, "a listed one outside the domains", FAILED, to=[EVE]),
    REPLY.case(BESIDE, "a mail asks for a reply with cc", OUTSIDE, cc=[EVE]),
    REPLY.case(BESIDE, "a mail asks for a reply with bcc", OUTSIDE, bcc=[EVE]),
    REPLY.case(BESIDE, "a mail asks for a reply to one more", OUTSIDE, to=[ADA, EVE]),
    REPLY_DRAFT.case(BESIDE, "a mail asks for a draft with cc", UNLISTED, cc=[EVE]),
)
