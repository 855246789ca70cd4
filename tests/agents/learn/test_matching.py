import uuid
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from agents.contracts import InboundMail
from agents.learn import matching
from guardrails.contracts.learning import Pattern
from guardrails.facts.subjects import generalised
from integrations.contracts import AccountRef

ACCOUNT = AccountRef(
    id=uuid.uuid4(),
    organisation_id=uuid.uuid4(),
    organisation_slug="default",
    external_user_id="maya",
    kind="mail",
    provider="data_service",
    source="gmail",
    address="maya@company.com",
    display_name="Maya",
    time_zone="UTC",
    paused=False,
)
MAIL = InboundMail(
    account=ACCOUNT,
    email_id="m1",
    thread_id="t1",
    sender="News@Weekly.example",
    sender_name="boss@company.com",
    to=("maya@company.com",),
    cc=(),
    subject="Issue 42: hello",
    text="",
    list_id="weekly.example",
    first_contact=False,
    authenticated=True,
    date="2026-11-20T10:00:00Z",
    thread_messages=1,
)


def pattern(**changes: Any) -> Pattern:
    empty = Pattern(
        id=uuid.uuid4(),
        name="Weekly",
        sender_address="",
        sender_domain="",
        list_id="",
        subject="",
        content_type="email",
        actions=(("archive", {}), ("classify", {"label_id": "label_news"})),
    )
    return replace(empty, **changes)


def test_a_pattern_proposes_its_actions_for_this_mail() -> None:
    found = matching.match([pattern(list_id="weekly.example")], MAIL)

    assert found is not None
    assert found.actions == (
        ("archive", {"email_id": "m1"}),
        ("classify", {"label_id": "label_news", "email_id": "m1"}),
    )


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({"sender_address": "news@weekly.example"}, True),
        ({"sender_domain": "weekly.example"}, True),
        ({"sender_domain": "example"}, False),
        ({"sender_domain": "company.com"}, False),
        ({"sender_address": "boss@company.com"}, False),
        ({"sender_address": "news@weekly.example.evil.com"}, False),
        ({"list_id": "weekly"}, False),
        ({"list_id": "weekly.example", "subject": generalised("Issue 43: hello")}, True),
        ({"list_id": "weekly.example", "subject": generalised("Issue 43: bye")}, False),
        ({"list_id": "weekly.example", "sender_domain": "other.example"}, False),
        ({}, False),
        ({"subject": generalised("Issue 42: hello")}, False),
        ({"list_id": "weekly.example", "content_type": "document"}, False),
    ],
)
def test_whole_values_are_compared_and_all_must_fit(changes: dict[str, str], fits: bool) -> None:
    assert matching.fits(pattern(**changes), MAIL) is fits


@pytest.mark.parametrize("field", ["sender_address", "sender_domain"])
def test_an_unproved_sender_fits_no_pattern_that_names_one(field: str) -> None:
    value = {"sender_address": "news@weekly.example", "sender_domain": "weekly.example"}[field]

    assert not matching.fits(pattern(**{field: value}), replace(MAIL, authenticated=False))


@given(sender=st.sampled_from(["", "@", "x", "@weekly.example"]), list_id=st.just(""))
def test_an_empty_value_never_matches(sender: str, list_id: str) -> None:
    mail = replace(MAIL, sender=sender, list_id=list_id)

    assert not matching.fits(pattern(), mail)
    assert not matching.fits(pattern(list_id="weekly.example"), mail)
    assert not matching.fits(pattern(sender_address="news@weekly.example"), mail)


def test_the_most_specific_pattern_wins_in_any_order() -> None:
    by_domain = pattern(sender_domain="weekly.example")
    by_address = pattern(sender_address="news@weekly.example")

    for order in ([by_domain, by_address], [by_address, by_domain]):
        found = matching.match(order, MAIL)
        assert found is not None
        assert found.pattern_id == by_address.id
