"""What goes out of its owner's sight: alerts one by one, all else by the dozen."""

from dataclasses import replace
from typing import Any

import pytest

from guardrails.contracts import Decision, Origin
from guardrails.facts.counts import Counts, Tally, hidden_question
from integrations.contracts import Authentication
from tests.guardrails.values import (
    ADA,
    NOW,
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

SUBJECT = "New sign-in to your account"
ALERT = email(subject=SUBJECT)
LABELLED = {"email_id": "mail-1", "label_id": "label_fyi"}
TOO_MANY = Counts(tallies=(Tally(question=hidden_question(None), own=1, count=11),))
MANY = (
    "A person must confirm this first. In this run the agent has put away 10 mails that nobody "
    "named; about more a person is asked."
)


def archived(origin: Origin, *, action_type: str = "archive", **changes: Any) -> Decision:
    arguments = LABELLED if action_type == "classify" else {"email_id": "mail-1"}
    return decide(
        request=request(action_type, arguments, origin),
        policy=policy_of(allow(action_type), list_target("classify", "label", "label_fyi")),
        facts=facts(**changes),
        now=NOW,
    )


@pytest.mark.parametrize("action_type", ["archive", "mark_read", "classify"])
@pytest.mark.parametrize(
    ("words", "namesakes", "verdict"),
    [
        ("Clean up my inbox.", None, "ask"),
        ("Archive mail-1.", None, "allow"),
        (f"Archive “{SUBJECT}”.", 1, "allow"),
        (f"Archive “{SUBJECT}”.", 2, "ask"),  # which of the two?
        (f"Archive “{SUBJECT}”.", None, "ask"),
        (f"> Archive “{SUBJECT}”.", 1, "ask"),
        (f"Archive all mail from {ADA}.", None, "ask"),  # and the alert that came meanwhile?
    ],
)
def test_an_alert_goes_only_where_the_user_named_it(
    words: str, namesakes: int | None, verdict: str, action_type: str
) -> None:
    decision = archived(chat(words), mail=ALERT, namesakes=namesakes, action_type=action_type)

    assert decision.verdict == verdict
    assert [effect.kind for effect in decision.effects] == ["concealing"]


def test_an_alert_goes_for_no_mail_whatever_words_came_with_it() -> None:
    words = replace(inbound(), user_words="Archive mail-1.")

    assert archived(words, mail=ALERT).reason == "harm_not_from_mail"


def test_what_nobody_looked_at_may_be_an_alert() -> None:
    decision = archived(chat(), alert=None)

    assert decision.verdict == "ask"
    assert decision.side_effects == ("Hides something: the mail may be an alert.",)


@pytest.mark.parametrize(
    ("words", "changes", "sentence"),
    [
        ("Clean up my inbox.", {}, MANY),
        ("Räum auf.", {}, MANY),
        ("Archive mail-1.", {}, "The policy permits this."),
        (f"Archive everything from {ADA}.", {}, "The policy permits this."),
        ("Archive everything from client.com.", {}, "The policy permits this."),
        ("Archive everything from evilclient.com.", {}, MANY),
        (f"> Archive everything from {ADA}.", {}, MANY),
        (f"Archive all of {ADA}.", {"authentication": Authentication()}, MANY),
        ("Archive all newsletters.", {}, MANY),
        ("Archive all newsletters.", {"list_id": "<w.client.com>"}, "The policy permits this."),
        ("Archiviere alle Newsletter.", {"list_id": "<w>"}, "The policy permits this."),
        ("Archive toutes les infolettres.", {"list_id": "<w>"}, "The policy permits this."),
        ("Archiva todos los boletines.", {"list_id": "<w>"}, "The policy permits this."),
        ("What is new?", {"list_id": "<w.client.com>"}, MANY),
        ("Archive all of w.client.com.", {"list_id": "<w.client.com>"}, "The policy permits this."),
    ],
)
def test_a_run_puts_a_share_of_the_inbox_away_and_no_more(
    words: str, changes: dict[str, Any], sentence: str
) -> None:
    decision = archived(chat(words), mail=email(**changes), counts=TOO_MANY)

    assert decision.sentence == sentence
    assert decision.is_meant is (sentence != MANY)


@pytest.mark.parametrize(
    ("inbox", "most"), [(None, 10), (0, 10), (39, 10), (40, 10), (44, 11), (400, 100)]
)
def test_a_share_is_a_quarter_and_at_least_ten(inbox: int | None, most: int) -> None:
    question = hidden_question(inbox)
    within = Counts(tallies=(Tally(question=question, own=1, count=most),))
    beyond = Counts(tallies=(Tally(question=question, own=1, count=most + 1),))

    assert question.max == most
    assert archived(chat(), counts=within).verdict == "allow"
    assert archived(chat(), counts=beyond).verdict == "ask"


def test_a_schedule_and_an_outside_agent_have_no_words() -> None:
    for trigger in ("schedule", "mcp"):
        words = replace(chat("Archive mail-1."), trigger=trigger)
        assert archived(words, counts=TOO_MANY).sentence == MANY
