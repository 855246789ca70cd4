"""The closed vocabulary of conditions: one file each, one line each here.

A condition that is not understood is refused when it is saved, and never holds when it is
evaluated.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from guardrails.decide.conditions.base import Condition, Unreadable
from guardrails.decide.conditions.content.attachments import Attachments
from guardrails.decide.conditions.content.links import Links
from guardrails.decide.conditions.content.max_chars import MaxChars
from guardrails.decide.conditions.content.plain_text import PlainTextOnly
from guardrails.decide.conditions.content.secrets import Secrets
from guardrails.decide.conditions.content.subject import Subject
from guardrails.decide.conditions.content.written_by import WrittenBy
from guardrails.decide.conditions.objects.assignee import Assignee
from guardrails.decide.conditions.objects.created_in_run import CreatedInRun
from guardrails.decide.conditions.objects.labels import Labels
from guardrails.decide.conditions.objects.named import Named
from guardrails.decide.conditions.objects.number import Number
from guardrails.decide.conditions.objects.opt_in import OptIn
from guardrails.decide.conditions.objects.owner import Owner
from guardrails.decide.conditions.objects.place import Place
from guardrails.decide.conditions.objects.removing import Removing
from guardrails.decide.conditions.objects.trigger import StartedBy
from guardrails.decide.conditions.objects.two_people import TwoPeople
from guardrails.decide.conditions.rates.asks_per_run import AsksPerRun
from guardrails.decide.conditions.rates.deletes_per_hour import DeletesPerHour
from guardrails.decide.conditions.rates.rate import Rate
from guardrails.decide.conditions.rates.sum_per_day import SumPerDay
from guardrails.decide.conditions.receivers.audience import Audience
from guardrails.decide.conditions.receivers.bcc import BlindCopies
from guardrails.decide.conditions.receivers.first_contact import FirstContact
from guardrails.decide.conditions.receivers.group_address import GroupAddress
from guardrails.decide.conditions.receivers.mailing_list import MailingList
from guardrails.decide.conditions.receivers.max_recipients import MaxRecipients
from guardrails.decide.conditions.receivers.new_receivers_per_day import (
    NewReceiversPerDay,
)
from guardrails.decide.conditions.receivers.receivers_per_run import ReceiversPerRun
from guardrails.decide.conditions.receivers.recipient import Recipient
from guardrails.decide.conditions.receivers.recipient_domain import RecipientDomain
from guardrails.decide.conditions.receivers.thread import Thread
from guardrails.decide.conditions.receivers.unasked import UnaskedReceivers
from guardrails.decide.conditions.sender.not_sender import NotSender
from guardrails.decide.conditions.sender.sender import Sender
from guardrails.decide.conditions.sender.sender_authenticated import SenderAuthenticated
from guardrails.decide.conditions.sender.sender_exists import SenderExists
from guardrails.decide.conditions.sender.sender_relation import SenderRelation
from guardrails.decide.conditions.times.age import Age
from guardrails.decide.conditions.times.business_hours import BusinessHours
from guardrails.decide.conditions.times.notice import Notice

CONDITIONS: tuple[type[Condition], ...] = (
    FirstContact,
    Thread,
    UnaskedReceivers,
    Sender,
    NotSender,
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
    MailingList,
    Owner,
    Place,
    Assignee,
    Audience,
    Named,
    Removing,
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
    TwoPeople,
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
        raise ValueError(f"“{kind}” is not a condition. The conditions are: {', '.join(BY_KIND)}.")
    try:
        return BY_KIND[kind].model_validate(raw)
    except ValidationError as error:
        details = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'the condition'}: {one['msg']}"
            for one in error.errors()
        )
        raise ValueError(f"Condition “{kind}”: {details}.") from error


def parse_all(raw: Any) -> tuple[Condition, ...]:
    """The conditions of one allowed action. Raises ValueError with a sentence."""
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
