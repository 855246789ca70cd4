"""The closed vocabulary of conditions: one file each, one line each here.

A condition that is not understood is refused when it is saved, and never holds when it is
evaluated.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from guardrails.conditions.age import Age
from guardrails.conditions.asks_per_run import AsksPerRun
from guardrails.conditions.attachments import Attachments
from guardrails.conditions.audience import Audience
from guardrails.conditions.base import Condition, Context, RateCondition, Unreadable
from guardrails.conditions.bcc import BlindCopies
from guardrails.conditions.business_hours import BusinessHours
from guardrails.conditions.created_in_run import CreatedInRun
from guardrails.conditions.deletes_per_hour import DeletesPerHour
from guardrails.conditions.first_contact import FirstContact
from guardrails.conditions.group_address import GroupAddress
from guardrails.conditions.labels import Labels
from guardrails.conditions.links import Links
from guardrails.conditions.max_chars import MaxChars
from guardrails.conditions.max_recipients import MaxRecipients
from guardrails.conditions.named import Named
from guardrails.conditions.new_receivers_per_day import NewReceiversPerDay
from guardrails.conditions.notice import Notice
from guardrails.conditions.number import Number
from guardrails.conditions.opt_in import OptIn
from guardrails.conditions.owner import Owner
from guardrails.conditions.plain_text import PlainTextOnly
from guardrails.conditions.rate import Rate
from guardrails.conditions.receivers_per_run import ReceiversPerRun
from guardrails.conditions.recipient import Recipient
from guardrails.conditions.recipient_domain import RecipientDomain
from guardrails.conditions.secrets import Secrets
from guardrails.conditions.sender import Sender
from guardrails.conditions.sender_authenticated import SenderAuthenticated
from guardrails.conditions.sender_exists import SenderExists
from guardrails.conditions.sender_relation import SenderRelation
from guardrails.conditions.subject import Subject
from guardrails.conditions.sum_per_day import SumPerDay
from guardrails.conditions.thread import Thread
from guardrails.conditions.trigger import StartedBy
from guardrails.conditions.written_by import WrittenBy

__all__ = ["BY_KIND", "CONDITIONS", "Condition", "Context", "RateCondition", "Unreadable"]

CONDITIONS: tuple[type[Condition], ...] = (
    FirstContact,
    Thread,
    Sender,
    SenderAuthenticated,
    SenderExists,
    SenderRelation,
    Subject,
    Labels,
    Recipient,
    RecipientDomain,
    MaxRecipients,
    BlindCopies,
    WrittenBy,
    GroupAddress,
    Owner,
    Audience,
    Named,
    CreatedInRun,
    Age,
    Links,
    Attachments,
    Secrets,
    MaxChars,
    PlainTextOnly,
    Number,
    Notice,
    StartedBy,
    BusinessHours,
    Rate,
    NewReceiversPerDay,
    ReceiversPerRun,
    DeletesPerHour,
    AsksPerRun,
    SumPerDay,
    OptIn,
)
BY_KIND: Mapping[str, type[Condition]] = {
    condition.model_fields["kind"].annotation.__args__[0]: condition  # type: ignore[union-attr]
    for condition in CONDITIONS
}


def parse(raw: Any) -> Condition:
    """Raises ValueError with a sentence that says what is wrong and what is possible."""
    if not isinstance(raw, dict):
        raise ValueError('Each condition must be an object such as {"kind": "thread"}.')
    kind = raw.get("kind")
    if not isinstance(kind, str) or kind not in BY_KIND:
        raise ValueError(f"“{kind}” is no condition. Known are: {', '.join(BY_KIND)}.")
    try:
        return BY_KIND[kind].model_validate(raw)
    except ValidationError as error:
        details = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'the condition'}: {one['msg']}"
            for one in error.errors()
        )
        raise ValueError(f"Condition “{kind}”: {details}.") from error


def parse_all(raw: Any) -> tuple[Condition, ...]:
    """The conditions of one permission. Raises ValueError with a sentence."""
    if not isinstance(raw, list):
        raise ValueError('Conditions must be a JSON list, such as [{"kind": "thread"}].')
    return tuple(parse(one) for one in raw)


def read(raw: Any) -> Condition | Unreadable:
    """A stored condition. What cannot be read never holds."""
    try:
        return parse(raw)
    except ValueError:
        return Unreadable(raw=raw)


def read_all(raw: Any) -> tuple[Condition | Unreadable, ...]:
    """Stored conditions. Anything but a list is one condition that never holds."""
    return tuple(read(one) for one in raw) if isinstance(raw, list) else (Unreadable(raw=raw),)
