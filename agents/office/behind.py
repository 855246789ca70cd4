"""What an approval is about, beside its card: the mail that set it off, or the conversation as far
as it had come. As well the tags by which a page of cards asks for it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import template
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet
from django.db.models.functions import JSONArray, JSONObject, Left
from django.template.context import Context
from django.utils.translation import gettext, gettext_noop

from agents.models import Message, Turn
from agents.office.console_access import NO_SUBJECT
from guardrails.approve import cards
from guardrails.approve.delegation import CODENAME
from guardrails.approve.speaking import moment
from guardrails.facts.text import visible
from guardrails.models import Approval
from integrations.contracts.field_types import uuid_or_none
from integrations.web import staff
from knowledge.models import Item, ItemFile
from knowledge.text.parsing import KNOWN_BY, MAX_NAME, own_part

register = template.Library()
MAIL_CHARS = 5_000
BEGINNING = MAIL_CHARS + MAX_NAME + 2 * KNOWN_BY  # in which the first attachment is found
MESSAGES, MESSAGE_CHARS = 10, 1_500  # the newest of a conversation
MAIL, CONVERSATION = gettext_noop("The mail it is about"), gettext_noop("The conversation so far")
ITEM = gettext_noop("What it is about")
SAID = {
    Message.Role.USER: gettext_noop("User"),
    Message.Role.ASSISTANT: gettext_noop("Assistant"),
    Message.Role.PERSON: gettext_noop("A person"),
}

Key = tuple[UUID, str]  # of an item: its account, and the provider's id


@dataclass(frozen=True, kw_only=True)
class Said:
    """One message: who, in Remit's word, and what."""

    who: str
    text: str
    is_cut: bool


@dataclass(frozen=True, kw_only=True)
class Behind:
    """`heading` is Remit's own word; all else somebody's, as text with its hidden characters shown.
    Either a mail (or another item), or messages, the oldest first; `is_lost`: neither is there any
    more. `is_cut`: there is more of it."""

    heading: str
    subject: str = ""
    sender: str = ""
    at: str = ""
    text: str = ""
    said: tuple[Said, ...] = ()
    is_cut: bool = False
    is_lost: bool = False


def load_behind(met: "QuerySet[Approval]", ids: Collection[UUID]) -> dict[UUID, Behind]:
    """By approval, of those of `met` that wait: who may decide one may read what it is about, as
    long as it waits, and nothing else of that person's: no attachment, no other mail, no later
    message. Absent where nothing was there to begin with, such as a call of an outside agent.

    Five queries at most, and one for each further organisation.
    """
    rows = list(met.filter(id__in=ids, state=Approval.State.PENDING).select_related("account"))
    turns = _find_turns(rows)
    keys = {row.id: key for row in rows if (key := _key(row, turns.get(row.id)))}
    items = _find_items(rows, set(keys.values()))
    zones = cards.zones_of(rows) if items else {}
    said = _find_messages(
        turn for id, turn in turns.items() if id not in keys and turn.conversation_id
    )
    found: dict[UUID, Behind] = {}
    for row in rows:
        turn = turns.get(row.id)
        item = items.get(keys[row.id]) if row.id in keys else None
        if item is not None:
            found[row.id] = _item(item, zones[row.id])
        elif turn is not None and turn.id in said:
            found[row.id] = _conversation(said[turn.id])
        elif row.id in keys or row.turn_id:
            found[row.id] = Behind(heading=gettext(ITEM), is_lost=True)
    return found


@register.simple_tag(name="load_behind", takes_context=True)
def for_staff(context: Context, approvals: Iterable[Approval]) -> Mapping[UUID, Behind]:
    """For who may decide in the admin; nothing for everybody else."""
    user = context["request"].user
    if not user.has_perm(CODENAME):
        return {}
    met = staff.bind(Approval.objects.all(), user, "organisation")
    return load_behind(met, [row.id for row in approvals])


@register.filter
def of(found: Mapping[UUID, Behind], approval_id: UUID) -> Behind | None:
    return found.get(approval_id)


def _find_turns(rows: Iterable[Approval]) -> dict[UUID, Turn]:
    """By approval, the turn that proposed it: of the same organisation and user."""
    wanted = {row.id: id for row in rows if (id := uuid_or_none(row.turn_id))}
    if not wanted:
        return {}
    turns = Turn.objects.filter(
        id__in=set(wanted.values()), organisation_id__in={row.organisation_id for row in rows}
    ).select_related("account")
    known = {turn.id: turn for turn in turns.defer("actions", "decisions", "context")}
    return {
        row.id: turn
        for row in rows
        if (turn := known.get(wanted.get(row.id, row.id))) and _is_same_user(row, turn)
    }


def _key(row: Approval, turn: Turn | None) -> Key | None:
    """Of the item that set it off. Both ways to it are Remit's own, never the model's."""
    if turn is not None and turn.item_source_id:
        of = turn.account
        return (of.id, turn.item_source_id) if of and _is_same_user(row, of) else None
    source_id = str(row.origin.get("item_source_id") or "")
    return (row.account_id, source_id) if source_id and _is_same_user(row, row.account) else None


def _is_same_user(row: Approval, other: Any) -> bool:
    return (other.organisation_id, other.external_user_id) == (
        row.organisation_id,
        row.external_user_id,
    )


def _find_items(rows: Iterable[Approval], keys: set[Key]) -> dict[Key, Item]:
    """With the beginnings of their texts, and of those of their attachments."""
    if not keys:
        return {}
    attached = ItemFile.objects.filter(item=OuterRef("pk"), attached=True).order_by("position")
    items = Item.objects.filter(
        account__organisation_id__in={row.organisation_id for row in rows},
        account_id__in={account for account, _ in keys},
        source_id__in={id for _, id in keys},
        deleted_at=None,
    )
    wanted = items.annotate(
        beginning=Left("text", BEGINNING),
        attached=ArraySubquery(attached.values(one=JSONArray("name", Left("text", KNOWN_BY)))),
    )
    named = ("title", "sender_name", "sender_address", "occurred_at", "source_id", "account__kind")
    found = wanted.only(*named).select_related("account")
    return {(item.account_id, item.source_id): item for item in found}


def _find_messages(turns: Iterable[Turn]) -> dict[UUID, list[dict[str, str]]]:
    """By turn, the newest messages of its conversation up to its own, newest first, and one more
    where there is more."""
    ids = {turn.id for turn in turns}
    if not ids:
        return {}
    messages = (
        Message.objects.filter(
            conversation=OuterRef("conversation"), turn__created_at__lte=OuterRef("created_at")
        )
        .exclude(content="")
        .order_by("-created_at")
        .values(one=JSONObject(role="role", text=Left("content", MESSAGE_CHARS + 1)))
    )
    rows = Turn.objects.filter(id__in=ids).annotate(said=ArraySubquery(messages[: MESSAGES + 1]))
    return {id: said for id, said in rows.values_list("id", "said") if said}


def _item(item: Any, zone: str) -> Behind:
    text = own_part(item.beginning, item.attached)
    name, address = visible(item.sender_name), visible(item.sender_address)
    is_mail = item.account.kind == "mail"
    return Behind(
        heading=gettext(MAIL if is_mail else ITEM),
        subject=visible(item.title) or gettext(NO_SUBJECT if is_mail else "Untitled"),
        sender=f"{name} <{address}>" if name and address else name or address,
        at=moment(item.occurred_at, zone),
        text=visible(text[:MAIL_CHARS]),
        is_cut=len(text) > MAIL_CHARS,
    )


def _conversation(newest_first: list[dict[str, str]]) -> Behind:
    return Behind(
        heading=gettext(CONVERSATION),
        said=tuple(
            Said(
                who=gettext(SAID[Message.Role(one["role"])]),
                text=visible(one["text"][:MESSAGE_CHARS]),
                is_cut=len(one["text"]) > MESSAGE_CHARS,
            )
            for one in reversed(newest_first[:MESSAGES])
        ),
        is_cut=len(newest_first) > MESSAGES,
    )
