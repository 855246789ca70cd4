"""What a person took off like mail is not put on the next one unasked."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from guardrails.contracts import Decision, Origin
from guardrails.facts.corrections import Correction
from tests.guardrails.values import (
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

LABEL, OTHER = "label_fyi", "label_other"
ARGUMENTS = {"email_id": "mail-1", "label_id": LABEL}
POLICY = policy_of(
    allow("classify"),
    allow("archive"),
    list_target("classify", "label", LABEL, name="FYI"),
    list_target("classify", "label", OTHER, name="Other"),
)
YESTERDAY = NOW - timedelta(days=1)
TAKEN_OFF = (Correction(label_id=LABEL, at=YESTERDAY),)


def decided(origin: Origin, *, label: str = LABEL, **changes: Any) -> Decision:
    known = facts(email(), labels={LABEL: "FYI", OTHER: "Other"}, **changes)
    asked = request("classify", ARGUMENTS | {"label_id": label}, origin)
    return decide(request=asked, policy=POLICY, facts=known, now=NOW)


@pytest.mark.parametrize("trigger", ["webhook", "pattern"])
def test_it_is_refused_with_the_day_and_what_to_do(trigger: str) -> None:
    found = decided(inbound(trigger=trigger), corrections=TAKEN_OFF)
    assert (found.verdict, found.reason) == ("refuse", "label_corrected")
    assert found.sentence == (
        "A person took this label off mail of this sender. "
        f"It was “FYI”, on {YESTERDAY:%Y-%m-%d}. "
        "Label it so yourself again, and it counts as before."
    )
    assert [(one.name, one.passed) for one in found.checks][-1] == (
        "no correction label_id",
        False,
    )


@pytest.mark.parametrize(
    ("origin", "changes"),
    [
        (inbound(), {}),
        (chat("label it"), {"corrections": TAKEN_OFF}),
        (inbound(), {"corrections": TAKEN_OFF, "label": OTHER}),
        (
            inbound(),
            {"corrections": (Correction(label_id=LABEL, at=YESTERDAY, lifted_at=NOW),)},
        ),
        (
            inbound(trigger="pattern"),
            {"corrections": TAKEN_OFF, "pattern_approved_at": NOW},
        ),
    ],
    ids=["nothing said", "a chat", "another label", "put on again", "a pattern approved since"],
)
def test_it_is_allowed(origin: Origin, changes: dict[str, Any]) -> None:
    assert decided(origin, **changes).verdict == "allow"


def test_a_pattern_that_was_approved_before_is_refused() -> None:
    found = decided(
        inbound(trigger="pattern"), corrections=TAKEN_OFF, pattern_approved_at=YESTERDAY
    )
    assert found.reason == "label_corrected"


def test_what_a_person_chose_on_the_card_is_decided_as_before() -> None:
    origin = inbound(revises="01a2", edited_by="operator:o")
    found = decided(origin, corrections=TAKEN_OFF)
    assert found.reason == decided(origin).reason == "ask_not_from_mail"


@given(
    hours=st.lists(st.integers(min_value=0, max_value=4000), max_size=4),
    origin=st.sampled_from([chat(), inbound(), inbound(trigger="pattern")]),
)
def test_a_correction_only_ever_refuses(hours: list[int], origin: Origin) -> None:
    said = tuple(Correction(label_id=LABEL, at=NOW - timedelta(hours=one)) for one in hours)
    before, after = decided(origin), decided(origin, corrections=said)
    assert after.reason in (before.reason, "label_corrected")
    if after.reason == "label_corrected":
        assert origin.trigger != "chat"
        assert min(hours) < 2400
