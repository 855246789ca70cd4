"""A person's life with their mailbox, as `benchmarks/mailbox.py` scripts it: mail comes, the agent
works on it, and the person corrects it, edits drafts and approves what was learnt."""

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.lived_worlds import World
from benchmarks.person import TOPICS, Person

TO_REPLY, AWAITING, FYI, ACTIONED = (
    "label_to_reply",
    "label_awaiting_reply",
    "label_fyi",
    "label_actioned",
)
STATUS = frozenset({TO_REPLY, AWAITING, FYI, ACTIONED, "label_follow_up"})
EDITED = "PS: I have changed this."


@dataclass(kw_only=True)
class Lived:
    """What happened, as far as the rules of the benchmark look at it."""

    mails: int = 0
    said: dict[str, list[str]] = field(default_factory=dict)  # a reader's statuses, by mail
    corrections: int = 0
    approved: int = 0
    touched: dict[str, str] = field(default_factory=dict)  # drafts as they are now, by their first
    turns: list[tuple[str, str]] = field(default_factory=list)  # mail, how its turn ended
    actions: Counter[str] = field(default_factory=Counter)


def live(
    world: World,
    mails: Sequence[dict[str, Any]],
    person: Person,
    *,
    learn_in: int,
    until: float = math.inf,
) -> Lived:
    """The mails come one after the other, and each has the id of its provider afterwards. None
    comes any more once the monotonic clock says `until`."""
    from agents.models import Turn

    lived = Lived()
    for number, mail in enumerate(mails, 1):
        if time.monotonic() >= until:
            break
        lived.mails = number
        mail["id"] = world.put(mail)
        if mail["from"] != person.address:
            turn = Turn.objects.filter(
                account_id=world.account_id, item_source_id=mail["id"], kind="inbound"
            ).first()
            actions = turn.actions if turn else ()
            lived.turns.append((mail["id"], turn.ending if turn else ""))
            lived.actions.update(
                f"{one['type']} {one['status']} {one['reason']}" for one in actions
            )
            said = [
                world.label(one["params"]["label_id"])
                for one in actions
                if one["type"] == "classify" and one["status"] in ("succeeded", "noop")
            ]
            lived.said[mail["id"]] = [one for one in said if one in STATUS]
            correct(world, mail, person, lived)
            touch_draft(world, lived)
        if number % learn_in == 0:
            learn(world, lived)
            print(f"{number} of {len(mails)} mails", flush=True)
    return lived


def correct(world: World, mail: dict[str, Any], person: Person, lived: Lived) -> None:
    """The person puts a mail where it belongs; one that lies there they read."""
    wanted = person.topic_of(mail)
    if wanted is None:
        return
    labels = world.labels(mail["id"])
    if wanted in labels and not set(TOPICS) - {wanted} & set(labels):
        if "UNREAD" in labels:
            world.change(mail["id"], [one for one in labels if one != "UNREAD"])
        return
    lived.corrections += 1
    kept = [one for one in labels if one not in (*TOPICS, "INBOX")]
    world.change(mail["id"], [*kept, wanted])


def touch_draft(world: World, lived: Lived) -> None:
    """Every second draft that is still as it was written is changed by hand."""
    from guardrails.models import AssistantDraft

    rows = AssistantDraft.objects.filter(state="pending").exclude(draft_id="").order_by("id")
    for place, row in enumerate(rows):
        if row.draft_id not in lived.touched and int(row.action_id) % 2 and place == len(rows) - 1:
            body = world.drafts().get(row.draft_id)
            if body is not None:
                lived.touched[row.draft_id] = world.edit(row.draft_id, f"{body}\n{EDITED}")


def learn(world: World, lived: Lived) -> None:
    """A day's learning, and the person's word."""
    from django.utils import timezone

    from agents import tasks
    from guardrails.learn import patterns
    from guardrails.models import LearnedPattern

    tasks.learn_account(str(world.account_id))
    for row in LearnedPattern.objects.filter(account_id=world.account_id, state="proposed"):
        lived.approved += patterns.approve(pattern_id=row.id, by="operator:o", now=timezone.now())
