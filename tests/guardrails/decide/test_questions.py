"""How many questions may wait, and which actions are one of them."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, strategies as st

from guardrails.actions import registry
from guardrails.contracts import Decision, Trigger
from guardrails.decide.questions import (
    Asked,
    Limits,
    Waiting,
    asked_of,
    find_like,
    why_no_room,
    why_too_often,
)
from guardrails.facts.facts import Facts
from tests.guardrails.values import chat, email, request

LIMITS = Limits(run=3, cause=2, account=6, reserved=2)
ASKED = Asked(
    likeness="a", run="run", causes=("email m", "person eve@evil.example"), is_spoken=False
)


def waiting(asked: Asked = ASKED, *, actions: int = 1, is_shown: bool = False) -> Waiting:
    return Waiting(asked=asked, actions=actions, is_shown=is_shown)


def others(number: int, *, is_spoken: bool = False) -> list[Waiting]:
    """Questions of as many runs, each with a cause of its own."""
    return [
        waiting(Asked(likeness="b", run=f"r{n}", causes=(f"email {n}",), is_spoken=is_spoken))
        for n in range(number)
    ]


def test_one_run_asks_only_so_often_also_where_the_user_wished_for_it() -> None:
    of_run = [replace(one, asked=replace(one.asked, run="run")) for one in others(3)]

    for is_spoken in (False, True):
        asked = replace(ASKED, is_spoken=is_spoken)
        assert why_no_room(asked, of_run, LIMITS) == "too_many_asks"
        assert why_no_room(asked, of_run[:2], LIMITS) is None


@pytest.mark.parametrize("cause", ASKED.causes)
def test_one_mail_or_sender_brings_up_only_so_much(cause: str) -> None:
    known = [replace(one, asked=replace(one.asked, causes=("x", cause))) for one in others(2)]

    assert why_no_room(ASKED, known, LIMITS) == "too_many_asks_about_it"
    assert why_no_room(ASKED, known[:1], LIMITS) is None
    assert why_no_room(replace(ASKED, is_spoken=True), known, LIMITS) is None


def test_what_the_user_said_has_room_that_nothing_else_can_fill() -> None:
    assert why_no_room(ASKED, others(4), LIMITS) == "too_many_asks_waiting"
    spoken = replace(ASKED, is_spoken=True)
    assert why_no_room(spoken, others(4), LIMITS) is None
    full = others(4) + others(2, is_spoken=True)
    assert why_no_room(spoken, full, LIMITS) == "too_many_asks_waiting"


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 8), st.integers(0, 10))
def test_however_they_arrive_the_reserved_room_is_free_for_the_user(
    arriving: list[bool], account: int, reserved: int
) -> None:
    limits = Limits(run=50, cause=50, account=account, reserved=reserved)
    open_ones: list[Waiting] = []
    for number, is_spoken in enumerate(arriving):
        asked = Asked(likeness=str(number), run=str(number), causes=(), is_spoken=is_spoken)
        if why_no_room(asked, open_ones, limits) is None:
            open_ones.append(waiting(asked))

    assert len(open_ones) <= account
    assert sum(not one.asked.is_spoken for one in open_ones) <= max(account - reserved, 0)
    assert sum(one.asked.is_spoken for one in open_ones) >= min(sum(arriving), account, reserved)


def test_like_actions_are_one_question_until_somebody_has_seen_it_or_it_is_long() -> None:
    first, second = UUID(int=1), UUID(int=2)

    assert find_like(ASKED, {first: others(1)[0], second: waiting()}) == second
    assert find_like(ASKED, {second: waiting(is_shown=True)}) is None
    assert find_like(ASKED, {second: waiting(actions=19)}) == second
    assert find_like(ASKED, {second: waiting(actions=20)}) is None


def forward(
    email_id: str, to: str, provenance: str, *, trigger: Trigger = "chat", turn: str = "turn-1"
) -> Asked:
    """What is remembered of a mail that is to go to somebody who comes from there."""
    action = registry.BY_NAME["forward_email"]
    wish = request(
        "forward_email",
        {"email_id": email_id, "to": [to]},
        replace(chat("Forward it"), trigger=trigger, turn_id=turn),
    )
    decision = Decision(
        verdict="ask",
        reason="needs_approval",
        sentence="",
        checks=(),
        policy_digest="",
        provenance={"email_id": "U", "to[0]": provenance},
    )
    arguments = action.parse(wish.arguments)
    return asked_of(wish, action, arguments, None, decision, run="run")


def test_what_a_person_said_rests_on_their_words_and_nothing_else_does() -> None:
    assert forward("m-1", "bob@company.com", "U").is_spoken
    assert not forward("m-1", "eve@evil.example", "X").is_spoken
    for trigger in ("webhook", "pattern", "schedule", "mcp"):
        assert not forward("m-1", "bob@company.com", "U", trigger=trigger).is_spoken


def test_whom_nobody_named_goes_under_among_no_others() -> None:
    bob, ann = "bob@company.com", "ann@company.com"

    assert forward("m-1", bob, "U").likeness == forward("m-2", ann, "N").likeness
    assert forward("m-1", bob, "X").likeness == forward("m-2", bob, "X").likeness
    assert forward("m-1", bob, "X").likeness != forward("m-2", ann, "X").likeness
    assert forward("m-1", bob, "U").likeness != forward("m-2", bob, "U", turn="turn-2").likeness


ARCHIVE = ("archive", {"email_id": "m-1"})
ANSWER = (
    "draft",
    {"reply_to_id": "m-1", "to": ["ada@client.com"], "subject": "Re", "body": "Yes."},
)


def asked_by(trigger: Trigger, turn: str, wanted: tuple[str, Any] = ARCHIVE, **mail: Any) -> Asked:
    """What is remembered of what such a mail set off."""
    action = registry.BY_NAME[wanted[0]]
    wish = request(*wanted, replace(chat(""), trigger=trigger, turn_id=turn))
    decision = Decision("ask", "needs_approval", "", (), "")
    found = Facts(email=email(**mail))
    return asked_of(wish, action, action.parse(wish.arguments), found, decision, run="run")


def set_off(trigger: Trigger, turn: str, wanted: tuple[str, Any] = ARCHIVE, **mail: Any) -> str:
    """The likeness of it."""
    return asked_by(trigger, turn, wanted, **mail).likeness


def test_what_mail_of_one_list_or_proved_sender_sets_off_is_one_question() -> None:
    fake: dict[str, Any] = {"authentication": {"dmarc": "fail"}}

    assert set_off("webhook", "t1") == set_off("pattern", "t2")
    assert set_off("webhook", "t1") != set_off("webhook", "t2", **fake)
    assert set_off("webhook", "t1", **fake) != set_off("webhook", "t2", **fake)
    listed = set_off("webhook", "t1", list_id="<a.example>", **fake)
    assert listed == set_off("webhook", "t2", list_id="<a.example>")
    assert set_off("chat", "t1") != set_off("chat", "t2")
    assert set_off("webhook", "t1", ANSWER) != set_off("webhook", "t2", ANSWER)


def test_a_sender_is_one_person_however_their_address_is_written() -> None:
    loud: dict[str, Any] = {"from": "ADA@Client.com"}
    assert asked_by("webhook", "t1", **loud).causes == ("email m-1", "person ada@client.com")


def test_mail_of_one_sender_asks_only_so_often_a_day() -> None:
    assert why_too_often({"person a@b.example": 19, "email m": 99}) is None
    assert why_too_often({"person a@b.example": 20}) == "too_many_asks_about_it"
