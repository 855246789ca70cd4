"""Who belongs to an object of the user's own."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from guardrails.facts.belonging import belonging, how_let_in
from guardrails.facts.facts import Facts, ObjectKind
from integrations.contracts import Authentication, Document, Event
from tests.guardrails.values import ADA, ME, NOW, STRANGER, email, facts

BOB, OMAR = "bob@company.com", "omar@company.com"
COLLEAGUES = {ME, BOB, OMAR}
FAILED = Authentication(dmarc="fail")


def people(found: Facts, kind: ObjectKind) -> set[str]:
    return set(belonging(found, kind, is_inside=COLLEAGUES.__contains__))


def event(*guests: tuple[str, str], by: str = ME, agents: tuple[str, ...] | None = ()) -> Facts:
    """An event with guests and who added each of them."""
    values: dict[str, Any] = {"id": "event-1", "start": NOW, "end": NOW, "created_by": by}
    attendees = [{"email": one, "added_by": added_by} for one, added_by in guests]
    found = Event.model_validate(values | {"attendees": attendees})
    return Facts(event=found, own_address=ME, let_in_by_agent=agents)


def document(shared_by: dict[str, str], *, owner: str = ME, agents: tuple[str, ...] = ()) -> Facts:
    found = Document(
        id="doc-1",
        owner=owner,
        shared_with=tuple(shared_by),
        shared_by=shared_by,
        created_at=NOW,
        modified_at=NOW,
    )
    return Facts(document=found, own_address=ME, let_in_by_agent=agents)


def thread(*mails: dict[str, Any], **changes: Any) -> Facts:
    found = tuple(email(id=f"mail-{at}", **one) for at, one in enumerate(mails))
    return replace(facts(found[0]), thread=found, let_in_by_agent=(), **changes)


def test_whom_the_user_or_a_colleague_invited_belongs() -> None:
    assert people(event((ADA, ME), (BOB, OMAR)), "event") == {ADA, BOB}


@pytest.mark.parametrize("adder", [STRANGER, ADA, "", "maya@company.com.evil.example"])
def test_whom_a_stranger_or_nobody_knows_who_invited_does_not(adder: str) -> None:
    assert people(event((STRANGER, adder), (BOB, adder), (OMAR, ME)), "event") == {OMAR}


def test_nobody_belongs_to_an_invitation_from_outside() -> None:
    assert people(event((BOB, BOB), (ADA, ME), by=STRANGER), "event") == set()
    assert people(event((BOB, BOB), by=OMAR), "event") == set()  # a colleague's is not the user's


def test_whom_the_agent_let_in_does_not_belong_in_any_case_of_letters() -> None:
    guests = ((ADA, ME), ("Carol@company.com", ME), (BOB, ME))
    assert people(event(*guests, agents=(ADA, "carol@company.com")), "event") == {BOB}


def test_where_nobody_looked_whom_the_agent_let_in_nobody_belongs() -> None:
    assert people(event((BOB, ME), agents=None), "event") == set()


def test_readers_of_an_own_document_belong_by_who_shared_it() -> None:
    readers = {BOB: ME, ADA: OMAR, STRANGER: ADA, "x@client.com": ""}
    assert people(document(readers), "document") == {BOB, ADA}
    assert people(document(readers, agents=(BOB,)), "document") == {ADA}
    assert people(document(readers, owner=STRANGER), "document") == set()


def test_correspondents_belong_by_who_wrote_to_them() -> None:
    found = thread(
        {"from": BOB, "to": (ME, OMAR), "cc": (ADA,)},
        {"from": STRANGER, "to": (ME,), "cc": ("crook@evil.example",)},
        {"from": ME, "to": ("new@client.com",), "labels": ("SENT",)},
    )
    assert people(found, "email") == {BOB, ME, OMAR, ADA, "new@client.com"}


def test_a_mail_that_is_not_proved_lets_nobody_in() -> None:
    claims = {"from": BOB, "to": (ME,), "cc": (STRANGER,), "authentication": FAILED}
    as_user = {"from": ME, "to": (STRANGER,), "authentication": FAILED}
    assert people(thread(claims, as_user), "email") == set()


def test_a_thread_without_the_user_has_nobody_of_theirs() -> None:
    assert people(thread({"from": BOB, "to": (OMAR,)}), "email") == set()


def test_who_let_somebody_in_is_said_in_words() -> None:
    found = event((ADA, STRANGER), (BOB, ME), (OMAR, ""), agents=(BOB,))
    assert how_let_in(found, "event", ADA) == f"NEW: let in by {STRANGER}"
    assert how_let_in(found, "event", BOB) == "NEW: let in by the agent, unasked"
    assert how_let_in(found, "event", OMAR) == "NEW: nobody knows who let them in"
    assert how_let_in(event((ADA, ME)), "event", ADA) == "already there, let in by the user"
    assert how_let_in(found, "event", "dan@company.com") == ""
    assert how_let_in(event((ADA, ME), by=STRANGER), "event", ADA) == ""


def test_a_mailing_list_is_nobody() -> None:
    found = thread({"from": BOB, "to": (ME, "team@company.com")}, groups=("team@company.com",))
    assert people(found, "email") == {BOB, ME}


@given(
    guests=st.lists(
        st.tuples(
            st.sampled_from([ADA, BOB, OMAR, STRANGER, "ADA@client.com"]),
            st.sampled_from([ME, BOB, ADA, STRANGER, "", "Maya <maya@company.com>"]),
        )
    ),
    maker=st.sampled_from([ME, BOB, STRANGER, ""]),
    agents=st.lists(st.sampled_from([ADA, BOB]), unique=True).map(tuple),
)
def test_nobody_belongs_whom_none_of_the_organisation_let_in(
    guests: list[tuple[str, str]], maker: str, agents: tuple[str, ...]
) -> None:
    found = people(event(*guests, by=maker, agents=agents), "event")

    adders = {one: {by for guest, by in guests if guest == one} for one in found}
    assert all(COLLEAGUES & by for by in adders.values())
    assert not found or maker == ME
    assert not {one.lower() for one in found} & set(agents)
