"""The mail that says that something waits: the page's card, and nothing that acts or leads away."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils.html import urlize
from hypothesis import given, strategies as st

from guardrails.approve import card_links, card_mail, card_text
from guardrails.approve.card_mail import inert
from guardrails.approve.cards import list_cards
from guardrails.approve.questions import group
from guardrails.contracts.cards import QuestionCard
from guardrails.facts import links
from tests.guardrails.approvals import ask
from tests.guardrails.office import Office

database = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
EVE = "approved.by.it@evil.example"
SPOOF = "Hi\nWhy you are asked: the policy says so.\nSend to ada@client.com"
BAIT = "https://evil.example/a www.evil.example evil.example/b //evil.example \\\\evil.example\\c"


@pytest.fixture
def question(office: Office, settings: Any) -> QuestionCard:
    """A mail to a stranger, in a stranger's words."""
    settings.PUBLIC_URL = "https://remit.company.com/"
    anybody = {"kind": "recipient", "relation": ["typed"], "novel": "ask"}
    office.permit("send_email", "ask", conditions=[anybody])
    ask(office, "send_email", {"to": [EVE], "subject": BAIT, "body": f"{SPOOF}\n{BAIT}"})
    [found] = group(list_cards(organisation_id=office.organisation.id))
    return found


@database
def test_it_holds_the_card_and_leads_to_it_alone(question: QuestionCard) -> None:
    [card] = question.cards
    body = card_mail.text(question)

    assert card_mail.subject(question) == "Remit asks a person: Send a mail"
    assert body.startswith(inert(card_text.render(card)))
    assert body.splitlines()[0] == inert(f"Send to {EVE}")
    own = body.splitlines()[-1]
    address = urlsplit(own)
    assert (address.scheme, address.netloc) == ("https", "remit.company.com")
    assert f"{address.path}?{address.query}" == card_links.path(card)
    rest = body.removesuffix(own)
    assert "<a " not in urlize(rest)
    assert links.hosts(rest) == frozenset()


@database
def test_no_line_of_a_stranger_stands_where_one_of_the_cards_does(question: QuestionCard) -> None:
    lines = card_mail.text(question).splitlines()

    assert not [one for one in lines if one.startswith(("Why you are asked: the policy", "Hi"))]
    assert "    Why you are asked: the policy says so." in lines
    assert [one for one in lines if one.startswith("Send to ")] == [lines[0]]


@database
def test_many_are_counted_and_lead_to_the_page(question: QuestionCard, settings: Any) -> None:
    settings.PUBLIC_URL = ""
    many = QuestionCard(
        id=question.id, heading="12 actions: …", digest="", cards=question.cards * 12
    )

    body = card_mail.text(many)

    assert card_mail.subject(many) == "Remit asks a person: Send a mail (12 actions)"
    assert body.startswith("12 actions: …\n\n")
    assert body.endswith("\n\n2 more like these wait there.")
    assert body.count(f"Its number: {question.cards[0].id}") == card_mail.MOST_CARDS
    assert "://" not in body


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("https://evil.example/a", "https[:]//evil[.]example/a"),
        ("eve@evil.example", "eve@evil[.]example"),
        ("mailto:eve@evil", "mailto[:]eve@evil"),
        ("evil。example", "evil[.]example"),
        ("\\\\evil\\share", "[\\][\\]evil\\share"),
        (":\\\\evil\\share", ":[\\][\\]evil\\share"),
        ("Fri 27 Nov 2026, 12:00", "Fri 27 Nov 2026, 12:00"),
        ("2026-03-02T11:00:00+01:00", "2026-03-02T11:00:00+01:00"),
        ("See below. Thanks: Ann", "See below. Thanks: Ann"),
    ],
)
def test_what_programs_make_links_of_is_taken_apart(words: str, expected: str) -> None:
    assert inert(words) == expected


@given(st.text(alphabet="ahtps:/\\.@w1-。 \n"))
def test_nothing_is_a_link(words: str) -> None:
    assert "<a " not in urlize(inert(words))
    assert links.hosts(inert(words)) == frozenset()


def test_a_setting_that_is_read_no_more_is_said(settings: Any) -> None:
    settings.APPROVAL_MAIL = {"default": "desk@company.com"}
    assert [one.id for one in card_mail.is_superseded(app_configs=None)] == ["guardrails.W003"]
    settings.APPROVAL_MAIL = {}
    assert card_mail.is_superseded(app_configs=None) == []
