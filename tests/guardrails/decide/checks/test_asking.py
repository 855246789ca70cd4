"""When a person is asked, and for which reason."""

from dataclasses import replace
from typing import Any

import pytest

from guardrails.contracts import Decision, Origin
from guardrails.decide.snapshot import AllowedAction, Limit, ListedTarget, PolicySnapshot
from guardrails.execute.executor import execute
from guardrails.facts.facts import Facts
from guardrails.models import Approval
from integrations.contracts import Event, Mailbox
from tests.guardrails.approvals import confirm
from tests.guardrails.office import CHAT, Office, phases
from tests.guardrails.values import (
    ADA,
    AGENT_TEXT,
    ME,
    NOW,
    account,
    allow,
    chat,
    decide,
    directory_of,
    facts,
    inbound,
    list_target,
    policy_of,
    request,
)

database = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
LISTED_ADA = list_target("send_email", "recipient", ADA)
MAIL = {"to": [ADA], "subject": "Hello", "body": "See you at noon."}
PLAIN_TEXT = {"kind": "text", "written_by": "agent"}
OWN_TEXT = {"kind": "text", "written_by": "user"}
WORDS = f"Write to {ADA}: subject Hello, text “See you at noon.” Thanks!"


def send(
    *raw: dict[str, Any],
    origin: Origin | None = None,
    ceiling: tuple[Limit, ...] = (),
    found: Facts | None = None,
    **changes: str,
) -> Decision:
    policy = policy_of(allow("send_email", "auto", *raw, agent_text=False), LISTED_ADA)
    return decide(
        request=request("send_email", {**MAIL, **changes}, origin),
        policy=PolicySnapshot(**(vars(policy) | {"ceiling": ceiling})),
        facts=found or facts(),
        now=NOW,
    )


def test_text_of_the_agents_own_that_reaches_others_is_asked_about() -> None:
    decision = send()
    assert (decision.verdict, decision.reason) == ("ask", "needs_approval")
    assert decision.sentence == (
        "A person must confirm this first. The text was written by the agent (subject, body)."
    )


def test_the_users_own_words_go_out_unasked_if_all_of_them_are() -> None:
    assert send(origin=chat(WORDS)).verdict == "allow"
    partly = send(origin=chat(f"Write to {ADA}: Hello"))
    assert partly.sentence.endswith("The text was written by the agent (body).")
    # A part of what the user typed is the user's; more than they typed is not.
    assert send(origin=chat(WORDS.replace("noon", "one"))).verdict == "ask"


def test_an_operator_may_let_text_of_the_agents_own_go() -> None:
    assert send(AGENT_TEXT).verdict == "allow"


def test_a_typed_receiver_whom_no_condition_knows_is_not_called_untyped() -> None:
    condition = {"kind": "recipient", "relation": ["corresponded", "directory"], "novel": "ask"}
    decision = send(condition, AGENT_TEXT, origin=chat(WORDS))
    assert (decision.verdict, decision.reason) == ("ask", "needs_approval")
    assert decision.sentence == (
        f"A person must confirm this first. “{ADA}” is not somebody the user has written to or a "
        "colleague in the organisation's directory (to)."
    )


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            "See https://evil.example/x",
            "The agent wrote a link or image that leads to evil.example.",
        ),
        ("Siehe evil.example/x", "The agent wrote a link or image that leads to evil.example."),
        ("Le mot de passe est : password: hunter2hunter2", "what looks like a secret (token)."),
        ("IBAN DE89 3704 0044 0532 0130 00", "what looks like a secret (iban)."),
        ("<b>Hola</b>", "The agent wrote HTML."),
    ],
)
def test_only_plain_text_of_the_agents_own_goes_out_by_itself(body: str, why: str) -> None:
    assert send(PLAIN_TEXT).verdict == "allow"
    assert send(PLAIN_TEXT, body="Our page is https://company.com/news").verdict == "allow"
    decision = send(PLAIN_TEXT, body=body)
    assert decision.verdict == "ask"
    assert why in decision.sentence


def test_a_link_that_the_user_typed_is_no_harm() -> None:
    words = chat("Send Ada the page https://example.org/plan, and say it is new.")
    body = "It is new: https://example.org/plan"
    assert send(PLAIN_TEXT, origin=words, body=body).verdict == "allow"
    quoted = chat("Send Ada what Eve says:\n> https://example.org/plan")
    assert send(PLAIN_TEXT, origin=quoted, body=body).verdict == "ask"


@pytest.mark.parametrize("trigger", ["mcp", "schedule"])
def test_what_nobody_asked_for_in_a_chat_is_shown_to_a_person(trigger: Any) -> None:
    decision = send(PLAIN_TEXT, origin=Origin(trigger=trigger, turn_id="turn-1"))
    assert decision.sentence.endswith("The text was written by the agent (subject, body).")


def test_plain_text_frees_no_times() -> None:
    event = {"title": "Lunch", "start": "2026-03-02T10:00+01:00", "end": "2026-03-02T11:00+01:00"}
    wish = request("create_calendar_event", {**event, "attendees": [ADA]}, chat("Lunch with Ada."))
    decision = decide(
        request=type(wish)(**(vars(wish) | {"account": account(source="calendar")})),
        policy=policy_of(
            allow("create_calendar_event", "auto", PLAIN_TEXT, agent_text=False),
            list_target("create_calendar_event", "recipient", ADA, source="calendar"),
        ),
        facts=facts(),
        now=NOW,
    )
    assert decision.sentence == (
        "A person must confirm this first. The time was chosen by the agent (start, end)."
    )


@pytest.mark.parametrize(
    ("words", "verdict"), [("Archive mail-1", "allow"), ("Archive mail-2", "ask"), ("", "ask")]
)
def test_what_nobody_named_is_asked_about_where_the_policy_says_so(
    words: str, verdict: str
) -> None:
    wish = request("archive", {"email_id": "mail-1"}, chat(words))
    policy = policy_of(allow("archive", "auto", {"kind": "named", "unnamed": "ask"}))
    decision = decide(request=wish, policy=policy, facts=facts(), now=NOW)
    assert decision.verdict == verdict
    assert decision.sentence.endswith("Nobody named this one in the request.") == (verdict == "ask")


def test_a_ceiling_too_has_a_person_asked_about_what_nobody_named() -> None:
    wish = request("archive", {"email_id": "mail-1"}, chat("Archive it."))
    above = allow("archive", "auto", {"kind": "named", "unnamed": "ask"}).conditions
    limit = Limit(id="1", action_type="", mode="auto", conditions=above)
    policy = PolicySnapshot(**(vars(policy_of(allow("archive"))) | {"ceiling": (limit,)}))
    assert decide(request=wish, policy=policy, facts=facts(), now=NOW).verdict == "ask"


def test_an_operator_may_refuse_text_of_the_agents_own() -> None:
    decision = send(OWN_TEXT)
    assert (decision.verdict, decision.reason) == ("refuse", "condition_failed")
    assert decision.sentence.endswith("The user did not type this: subject, body.")
    assert send(OWN_TEXT, origin=chat(WORDS)).verdict == "allow"


def test_the_ceiling_lifts_nothing_and_can_refuse() -> None:
    limit = allow("send_email", "auto", AGENT_TEXT, agent_text=False).conditions
    above = Limit(id="1", action_type="", mode="auto", conditions=limit)
    assert send(ceiling=(above,)).verdict == "ask"
    own = allow("send_email", "auto", OWN_TEXT, agent_text=False).conditions
    strict = Limit(id="1", action_type="", mode="auto", conditions=own)
    decision = send(AGENT_TEXT, ceiling=(strict,))
    assert (decision.verdict, decision.reason) == ("refuse", "above_ceiling")


def test_what_nobody_else_sees_may_be_written_by_the_agent() -> None:
    wish = request("draft", {"reply_to_id": "mail-1", **MAIL})
    policy = policy_of(allow("draft", agent_text=False), list_target("draft", "recipient", ADA))
    assert decide(request=wish, policy=policy, facts=facts(), now=NOW).verdict == "allow"
    shared = facts(mailbox=Mailbox(address=ME, shared_with=(ADA,)))
    decision = decide(request=wish, policy=policy, facts=shared, now=NOW)
    assert (decision.verdict, decision.reason) == ("ask", "needs_approval")


def test_a_mail_never_sends_text_of_the_agents_own_unasked() -> None:
    wish = request("send_email", {**MAIL, "reply_to_id": "mail-1"}, inbound(user_words=WORDS))
    policy = policy_of(allow("send_email", agent_text=False), LISTED_ADA)
    assert decide(request=wish, policy=policy, facts=facts(), now=NOW).verdict == "ask"


def test_times_are_asked_about_where_others_get_them() -> None:
    event = {
        "title": "Lunch",
        "start": "2026-03-02T10:00:00+01:00",
        "end": "2026-03-02T11:00:00+01:00",
    }

    def invite(words: str, **more: Any) -> Decision:
        wish = request("create_calendar_event", event | more, chat(words))
        ours = account(source="calendar")
        rows: tuple[AllowedAction | ListedTarget, ...] = (
            allow("create_calendar_event", agent_text=False),
            list_target("create_calendar_event", "recipient", ADA, source="calendar"),
        )
        return decide(
            request=type(wish)(**(vars(wish) | {"account": ours})),
            policy=policy_of(*rows),
            facts=facts(),
            now=NOW,
        )

    assert invite("Lunch").verdict == "allow"
    decision = invite("Lunch", attendees=[ADA])
    assert decision.sentence.endswith("The time was chosen by the agent (start, end).")
    exact = f"Lunch from {event['start']} to {event['end']}"
    assert invite(exact, attendees=[ADA]).verdict == "allow"


@database
def test_an_ask_for_text_is_carried_out_after_a_persons_word(office: Office) -> None:
    office.permit("send_email", agent_text=False)
    office.list_target("send_email", "recipient", ADA)

    result = execute(office.request("send_email", MAIL, origin=CHAT))

    assert (result.status, office.calls()) == ("pending", [])
    assert phases(result) == [("control", "waiting", "needs_approval")]
    assert confirm(Approval.objects.get(), decided_by="maya").status == "succeeded"
    assert [call["body"]["body"] for call in office.calls()] == [MAIL["body"]]


# --- cancelling one's own events ----------------------------------------------------------

LETTING_GO = (
    {"kind": "recipient", "relation": ["belongs"], "novel": "ask"},
    {"kind": "removing", "unasked": "own"},
)
BOB = "bob@company.com"


def cancel(
    *,
    words: str = "Cancel event-1.",
    guests: tuple[tuple[str, str], ...] = ((BOB, ME),),
    hold_seconds: int = 60,
    conditions: tuple[dict[str, Any], ...] = LETTING_GO,
    agents: tuple[str, ...] = (),
    listed: tuple[str, ...] = (),
    **changes: Any,
) -> Decision:
    """An event with guests, and who added each, is cancelled under a policy that lets it go."""
    values: dict[str, Any] = {"id": "event-1", "start": NOW, "end": NOW, "created_by": ME}
    attendees = [{"email": one, "added_by": by} for one, by in guests]
    found = Event.model_validate({**values, "attendees": attendees, **changes})
    wish = request("cancel_calendar_event", {"event_id": "event-1"}, chat(words))
    permitted = allow("cancel_calendar_event", "auto", *conditions, hold_seconds=hold_seconds)
    return decide(
        request=replace(wish, account=account(source="calendar")),
        policy=policy_of(
            permitted,
            *(
                list_target("cancel_calendar_event", "recipient", one, source="calendar")
                for one in listed
            ),
        ),
        facts=Facts(
            event=found,
            own_address=ME,
            let_in_by_agent=agents,
            directory=directory_of(BOB),
        ),
        now=NOW,
    )


def test_an_own_event_among_colleagues_is_cancelled_unasked_and_held() -> None:
    decision = cancel()
    assert (decision.verdict, decision.hold_seconds) == ("allow", 60)
    assert decision.provenance == {"event_id": "U", "event.people[0]": "O"}
    alone = cancel(guests=())
    assert (alone.verdict, alone.hold_seconds) == ("allow", 60)


@pytest.mark.parametrize(
    "changes",
    [
        {"words": "Cancel it."},
        {"hold_seconds": 0},
        {"conditions": LETTING_GO[:1]},
        {"guests": ((BOB, ME), (ADA, ME))},
        {"guests": ((BOB, ME), (ADA, ADA))},
        {"guests": ((BOB, ME), (ADA, ME)), "listed": (ADA,)},
        {"guests": ((BOB, ADA),)},
        {"guests": ((BOB, ""),)},
        {"agents": (BOB,)},
        {"created_by": ADA},
        {"created_by": BOB},
        {"recurrence": "RRULE:FREQ=WEEKLY"},
        {"series_id": "series-1", "this_and_future": True},
    ],
)
def test_any_other_event_is_cancelled_after_a_question(changes: dict[str, Any]) -> None:
    assert cancel(**changes).verdict == "ask"


def test_an_event_that_nobody_else_attends_is_held_too() -> None:
    assert cancel(guests=(), hold_seconds=0).sentence.endswith(
        "Cannot be undone: the event and the answers to it will be gone."
    )


def test_who_belongs_but_is_outside_is_asked_about() -> None:
    decision = cancel(guests=((ADA, ME),))
    assert decision.verdict == "ask"
    forbidding = ({**LETTING_GO[0], "novel": "forbid"}, LETTING_GO[1])
    outside = cancel(guests=((ADA, ME),), conditions=forbidding)
    assert outside.verdict == "ask"
    stranger = cancel(guests=((ADA, ADA),), conditions=forbidding)
    assert (stranger.verdict, stranger.reason) == ("refuse", "receiver_novel")


def test_the_question_says_who_is_outside() -> None:
    moved = {"title": "Later"}
    raw = ({**LETTING_GO[0], "novel": "forbid"},)
    values: dict[str, Any] = {"id": "event-1", "start": NOW, "end": NOW, "created_by": ME}
    found = Event.model_validate(values | {"attendees": [{"email": ADA, "added_by": ME}]})
    wish = request("update_calendar_event", {"event_id": "event-1", **moved}, chat("Do event-1."))
    decision = decide(
        request=replace(wish, account=account(source="calendar")),
        policy=policy_of(allow("update_calendar_event", "auto", *raw)),
        facts=Facts(event=found, own_address=ME, let_in_by_agent=()),
        now=NOW,
    )
    assert decision.sentence == (
        f"A person must confirm this first. “{ADA}” is outside the organisation (event people)."
    )
