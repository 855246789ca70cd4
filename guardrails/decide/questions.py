"""Questions to a person: which actions are one question, what brought it up, and how many may
wait. Pure.

Remit asks about one action at a time, but people answer requests. Like actions of one run are one
question. A mail, a file or a sender can bring up a few questions and no more, and some of an
account's room is kept for what the user asked for in words of their own.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from guardrails.actions.base import AnyAction, Arguments
from guardrails.contracts import ActionRequest, Decision
from guardrails.decide.checks.case import FROM_CONTENT
from guardrails.facts.facts import Facts
from guardrails.facts.targets import address_or_none

# Where what the user said in this request says itself whom or what it is about.
SPOKEN = frozenset("UNOV")
# What nobody but the agent came up with.
UNSPOKEN = frozenset("RX")
PEOPLE = frozenset({"chat", "operator"})  # what sets a run off, if a person does
MOST_IN_ONE = 20  # actions of one question: nobody reads more at once
MOST_A_DAY = 20  # actions that mail of one sender makes a person be asked about
PERSON = "person "

NoRoom = Literal["too_many_asks", "too_many_asks_about_it", "too_many_asks_waiting"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is remembered of an action that a person is asked about, beside the action.

    `likeness` is equal for like actions, `causes` say what brought it up (a run, a mail, a file, a
    sender), and `is_spoken` that it rests on what the user said in this request.
    """

    likeness: str
    run: str
    causes: tuple[str, ...]
    is_spoken: bool


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """An open question: what is remembered of its actions, and how many these are."""

    asked: Asked
    actions: int
    is_shown: bool


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a person has before them: the open questions, oldest first, and, for what content sets
    off, how many actions they were asked about since a day ago, by cause and whatever they said."""

    waiting: Mapping[UUID, Waiting]
    asked_today: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How many open questions one run, one cause and one account may have. Of the account's,
    `reserved` are for what the user asked for in words of their own."""

    run: int
    cause: int
    account: int
    reserved: int


def asked_of(
    request: ActionRequest,
    action: AnyAction,
    arguments: Arguments,
    facts: Facts | None,
    decision: Decision,
    *,
    run: str,
) -> Asked:
    """What is remembered of this action when a person is asked about it."""
    is_spoken = _is_spoken(request, action, decision)
    return Asked(
        likeness=_likeness(request, action, arguments, facts, decision, is_spoken),
        run=run,
        causes=_causes(request, action, arguments, facts),
        is_spoken=is_spoken,
    )


def find_question(
    asked: Asked, known: Known, limits: Limits, *, in_place_of_another: bool = False
) -> UUID | NoRoom | None:
    """The open question that this action joins, None if it is one of its own, or why a person is
    not asked. What joins a question, or is asked in place of another one, takes no room."""
    question = None if in_place_of_another else find_like(asked, known.waiting)
    takes_room = question is None and not in_place_of_another
    full = why_no_room(asked, tuple(known.waiting.values()), limits) if takes_room else None
    return full or why_too_often(known.asked_today) or question


def find_like(asked: Asked, waiting: Mapping[UUID, Waiting]) -> UUID | None:
    """The open question that this action belongs to. None: it is one of its own. What
    somebody has seen does not grow."""
    for question, one in waiting.items():
        if one.asked.likeness == asked.likeness and not one.is_shown and one.actions < MOST_IN_ONE:
            return question
    return None


def why_no_room(asked: Asked, waiting: Sequence[Waiting], limits: Limits) -> NoRoom | None:
    """Why one more question may not wait for a person; None: it may."""
    if sum(one.asked.run == asked.run for one in waiting) >= limits.run:
        return "too_many_asks"
    others = [one for one in waiting if not one.asked.is_spoken]
    if not asked.is_spoken:
        for cause in asked.causes:
            if sum(cause in one.asked.causes for one in others) >= limits.cause:
                return "too_many_asks_about_it"
        if len(others) >= max(limits.account - limits.reserved, 0):
            return "too_many_asks_waiting"
    return "too_many_asks_waiting" if len(waiting) >= limits.account else None


def _is_spoken(request: ActionRequest, action: AnyAction, decision: Decision) -> bool:
    """Whether a person set it off, something in it is what they said, and what it is about and
    where it goes is nothing that only the agent came up with."""
    if request.origin.trigger not in PEOPLE:
        return False
    aims = [
        code
        for path, code in decision.provenance.items()
        if action.class_at(path) not in ("text", "time", "number", "choice", "flag")
    ]
    return not UNSPOKEN.intersection(aims) and bool(SPOKEN & {*decision.provenance.values()})


def _likeness(
    request: ActionRequest,
    action: AnyAction,
    arguments: Arguments,
    facts: Facts | None,
    decision: Decision,
    is_spoken: bool,
) -> str:
    """Equal for actions of one run, or for filing of mail of one list or proved sender, that do the
    same to others of their kind. A receiver that nobody named is like itself alone, and so is an
    object of which nobody said that it is meant: it does not go under among others."""
    targets = action.targets(arguments)
    if facts is not None:
        targets += action.implied(arguments, facts) or ()
    reached = {
        (one.kind, one.value if decision.provenance.get(one.path, "X") in UNSPOKEN else "")
        for one in targets
    }
    parts = [
        _kinship(request, action, facts),
        str(request.account.id),
        action.name,
        is_spoken,
        request.origin.revises,
        sorted(reached),
        sorted({effect.kind for effect in decision.effects}),
        sorted(one.id for one in decision.exposures if one.is_unspoken),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _kinship(request: ActionRequest, action: AnyAction, facts: Facts | None) -> str:
    """What an action must share with others to be one question with them. Of what only files mail
    it is enough that the mail is of one kind; a text is read for itself."""
    files = action.in_patterns and request.origin.trigger in FROM_CONTENT
    mail = facts.email if facts and files else None
    if mail is not None and mail.list_id:
        return f"list {mail.list_id}"
    if mail is not None and mail.authentication.dmarc == "pass" and address_or_none(mail.sender):
        return f"sender {mail.sender.casefold()}"
    return request.origin.turn_id or str(request.action_id)  # no turn, nothing that goes with it


def why_too_often(asked_today: Mapping[str, int]) -> NoRoom | None:
    """Why what somebody's mail sets off asks nobody any more today; None: it may. `asked_today`
    counts, by cause, what a person was asked about since a day ago, whatever they said."""
    most = max((n for cause, n in asked_today.items() if cause.startswith(PERSON)), default=0)
    return "too_many_asks_about_it" if most >= MOST_A_DAY else None


def _causes(
    request: ActionRequest, action: AnyAction, arguments: Arguments, facts: Facts | None
) -> tuple[str, ...]:
    """The mail, file or other object that it is about, and who sent that mail or owns that
    object, if it is somebody else."""
    origin, found = request.origin, []
    if origin.item_source_id:
        found.append(f"email {origin.item_source_id}")
    object_id = action.object_id(arguments)
    if object_id is not None:
        found.append(f"{action.object_kind} {object_id}")
    if facts is not None:
        maker = facts.email.sender if facts.email else facts.object_owner
        address = address_or_none(maker or "")
        if address is not None and not facts.is_own:
            found.append(f"{PERSON}{address.casefold()}")
    return tuple(dict.fromkeys(found))
