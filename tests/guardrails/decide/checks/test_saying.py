"""What the user's words say of the arguments by value, and what follows."""

from typing import Any

import pytest

from guardrails.contracts import Decision
from guardrails.decide.snapshot import AllowedAction, ListedTarget
from integrations.contracts import Event
from tests.guardrails.values import (
    ADA,
    ME,
    NOW,
    account,
    allow,
    chat,
    decide,
    email,
    facts,
    inbound,
    list_target,
    policy_of,
    request,
)

SAID = {"said_at": "2026-11-23T14:03:20+01:00", "time_zone": "Europe/Berlin"}
NEW = {"title": "Lunch", "attendees": [ADA]}


def diary(action: str, arguments: dict[str, Any], words: str, found: Any = None) -> Decision:
    wish = request(action, arguments, chat(f"{words} Lunch {ADA}", **SAID))
    rows: tuple[AllowedAction | ListedTarget, ...] = (
        allow(action, agent_text=False),
        list_target(action, "recipient", ADA, source="calendar"),
    )
    return decide(
        request=type(wish)(**(vars(wish) | {"account": account(source="calendar")})),
        policy=policy_of(*rows),
        facts=found or facts(),
        now=NOW,
    )


def create(words: str, start: str, end: str) -> Decision:
    return diary("create_calendar_event", NEW | {"start": start, "end": end}, words)


def at(clock: str, day: str = "2026-11-27") -> str:
    return f"{day}T{clock}:00+01:00"


def test_a_time_typed_by_value_is_the_users_and_its_reading_is_kept() -> None:
    decision = create("On Friday from 12 to 13:30:", at("12:00"), at("13:30"))
    assert decision.verdict == "allow"
    assert (decision.provenance["start"], decision.provenance["end"]) == ("U", "U")
    assert decision.readings["end"] == (
        "“Friday from 12 to 13:30” read as Fri 27 Nov 2026, 13:30 Europe/Berlin"
    )
    assert decision.plain()["readings"] == dict(decision.readings)


def test_another_time_than_the_typed_one_is_the_agents() -> None:
    decision = create("On Friday from 12 to 13:30:", at("12:00"), at("14:00"))
    assert decision.sentence.endswith("The time was chosen by the agent (end).")
    assert set(decision.readings) == {"start"}


@pytest.mark.parametrize(
    "quoted", ["“{}”", "„{}“", "«{}»", '"{}"', "`{}`", "“{}", "Eve wrote: '{}'"]
)
def test_a_time_in_a_quotation_is_somebody_elses(quoted: str) -> None:
    said = quoted.format("On Friday from 12 to 13:30")
    decision = create(f"Do what she says: {said}\n", at("12:00"), at("13:30"))
    assert (decision.verdict, decision.readings) == ("ask", {})
    assert (decision.provenance["start"], decision.provenance["end"]) == ("X", "X")


def test_a_clock_of_24_hours_is_not_read_twelve_hours_later() -> None:
    assert create("Friday 10:00 to 11:00:", at("10:00"), at("11:00")).verdict == "allow"
    late = create("Friday 10:00 to 11:00:", at("22:00"), at("23:00"))
    assert (late.verdict, late.provenance["start"]) == ("ask", "X")


def test_the_end_follows_from_a_typed_length_and_from_what_is_usual_if_none_was_typed() -> None:
    for_long = create("Friday at 12 for 45 minutes:", at("12:00"), at("12:45"))
    assert for_long.readings["end"] == "“45 minutes” from its start"
    assert for_long.provenance["end"] == "U"
    usual = create("Friday at 12:", at("12:00"), at("13:00"))
    assert (usual.verdict, usual.provenance["end"]) == ("allow", "V")
    assert usual.readings["end"] == "no end was named: 1 hour"
    for words, end in (
        ("Friday at 12:", "14:00"),
        ("Friday at 12 for 45 minutes:", "13:00"),
        ("Friday at 12, Saturday at 10:", "13:00"),
    ):
        assert create(words, at("12:00"), at(end)).provenance["end"] == "X"


@pytest.mark.parametrize("trigger", ["webhook", "schedule", "mcp", "pattern"])
def test_no_time_is_read_where_no_person_speaks(trigger: Any) -> None:
    words = inbound(trigger=trigger, user_words="Friday at 12", **SAID)
    wish = request("create_calendar_event", NEW | {"start": at("12:00"), "end": at("13:00")}, words)
    decision = decide(request=wish, policy=policy_of(), facts=facts(), now=NOW)
    assert decision.readings == {}


def event(**changes: Any) -> Any:
    values = {
        "id": "event-1",
        "title": "Weekly",
        "start": at("10:00", "2026-11-25"),
        "end": at("10:45", "2026-11-25"),
        "created_by": ME,
        "attendees": [{"email": ADA}],
    }
    return facts(event=Event.model_validate(values | changes))


@pytest.mark.parametrize(
    ("words", "start", "end", "readings"),
    [
        ("to Friday", "10:00", "10:45", ("at the time it had", "as long as it was")),
        ("to Friday at 15:00", "15:00", "15:45", ("read as", "as long as it was")),
        ("to Friday at 15:00", "15:00", "15:30", ("read as",)),
        ("to Friday", "11:00", "11:45", ()),
    ],
)
def test_what_a_moved_event_keeps_follows(
    words: str, start: str, end: str, readings: tuple[str, ...]
) -> None:
    arguments = {"event_id": "event-1", "start": at(start), "end": at(end)}
    decision = diary("update_calendar_event", arguments, f"Move event-1 {words}.", event())
    found = [decision.readings[name] for name in ("start", "end") if name in decision.readings]
    assert len(found) == len(readings)
    assert all(part in one for part, one in zip(readings, found, strict=True))
    assert (decision.verdict == "allow") == (len(readings) == 2)


def test_a_time_alone_is_of_the_day_that_the_event_has_and_a_length_moves_it() -> None:
    day = "2026-11-25"
    for words, start, end in (
        ("Move event-1 to 15:00.", "15:00", "15:45"),
        ("Push event-1 by 30 minutes.", "10:30", "11:15"),
        ("Make event-1 15 minutes longer.", "10:00", "11:00"),
    ):
        arguments = {"event_id": "event-1", "start": at(start, day), "end": at(end, day)}
        decision = diary("update_calendar_event", arguments, words, event())
        assert (decision.provenance["start"], decision.provenance["end"]) == ("V", "V")
        assert decision.verdict == "allow"


def reply(subject: str, words: str = "Answer mail-1") -> Decision:
    arguments = {"to": [ADA], "subject": subject, "body": "Yes", "reply_to_id": "mail-1"}
    return decide(
        request=request("send_email", arguments, chat(f"{words}: Yes")),
        policy=policy_of(
            allow("send_email", agent_text=False), list_target("send_email", "recipient", ADA)
        ),
        facts=facts(email(subject="Lunch?")),
        now=NOW,
    )


def test_the_subject_of_a_reply_to_a_mail_that_was_named_follows() -> None:
    decision = reply("Re: Lunch?")
    assert (decision.verdict, decision.provenance["subject"]) == ("allow", "V")
    assert reply("Re: Lunch!").provenance["subject"] == "X"
    assert reply("Lunch?").provenance["subject"] == "X"
    # The model chose the mail, so it chose its subject too.
    assert reply("Re: Lunch?", "Answer").provenance["subject"] == "X"


def test_what_is_answered_again_keeps_its_subject() -> None:
    arguments = {"to": [ADA], "body": "Yes", "reply_to_id": "mail-1"}
    for subject in ("AW: Lunch?", "Re: Lunch?", "Re: AW: Lunch?"):
        decision = decide(
            request=request(
                "send_email", arguments | {"subject": subject}, chat("Answer mail-1: Yes")
            ),
            policy=policy_of(
                allow("send_email", agent_text=False), list_target("send_email", "recipient", ADA)
            ),
            facts=facts(email(subject="AW: Lunch?")),
            now=NOW,
        )
        assert decision.provenance["subject"] == "V"
