"""Search by who has to do with an item and by what its source says of it (FINDINGS A16)."""

from typing import Any

import pytest

from integrations.contracts import AccountRef, AnyItem
from knowledge.contracts import SearchRequest
from knowledge.models import ChunkVector
from knowledge.search.retrieval import search
from tests.knowledge.office import NOW, account, document, email, event, issue, take
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db


def find(owner: AccountRef, query: str) -> list[str]:
    """What is found by words alone."""
    ChunkVector.objects.all().delete()
    request = SearchRequest(account_ids=(owner.id,), query=query)
    return [item.source_id for item in search(request, now=NOW).items]


def test_a_mail_is_found_by_its_senders_name(model: ScriptedModel) -> None:
    owner = account()
    take(owner, email(id="his", **{"from": "rb@client.com", "from_name": "Ruth Berglund"}))
    take(owner, email(id="other", body_text="Mails about nothing in particular."))

    assert find(owner, "How many mails did Ruth Berglund send?")[0] == "his"


def test_an_issue_is_found_by_its_assignee_status_and_priority(model: ScriptedModel) -> None:
    owner = account(source="jira")
    for id, facts in {
        "hers": {"assignee": "Abir Mukherjee", "status": "Reopened", "priority": "Blocker"},
        "his": {"assignee": "omar@company.com", "status": "Done", "priority": "Low"},
    }.items():
        take(owner, issue(id=id, key=f"PROJ-{len(id)}", **facts))

    for query, right in (
        ("reopened issues of Abir Mukherjee", "hers"),
        ("blocker", "hers"),
        ("what is assigned to omar", "his"),
    ):
        assert find(owner, query)[0] == right


def test_an_event_is_found_by_its_attendees_and_its_place(model: ScriptedModel) -> None:
    owner = account(source="calendar")
    guests = [{"email": "hannah@company.com", "name": "Hannah Weiss"}]
    take(owner, event(id="review", title="Review", attendees=guests, location="Room Oslo"))
    take(owner, event(id="lunch", title="Lunch", attendees=[], location="Canteen"))

    assert find(owner, "Hannah Weiss") == ["review"]
    assert find(owner, "Oslo") == ["review"]


def test_a_new_assignee_is_found_without_asking_a_model_again(model: ScriptedModel) -> None:
    owner = account(source="jira")
    take(owner, issue(assignee="Abir Mukherjee"))
    asked = len(model.requests)

    outcome = take(owner, issue(version=2, assignee="Omar Haddad"))

    assert outcome.state == "metadata"
    assert len(model.requests) == asked
    assert find(owner, "Haddad") == ["i1"]
    assert find(owner, "Mukherjee") == []


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Who wrote about Red Hat?", "It does not start under RedHat."),
        ("What crashes the log cat?", "LogCat ends."),
        ("Wann kommt der Bus Fahrer?", "Um neun, sagt ein Busfahrer."),
    ],
)
def test_two_words_find_them_written_as_one(model: ScriptedModel, query: str, text: str) -> None:
    owner = account()
    take(owner, email(id="other", subject="Lunch", body_text="Noodles."))
    take(owner, email(id="joined", subject="News", body_text=text))

    assert find(owner, query) == ["joined"]


def test_words_that_stand_side_by_side_as_asked_count_more(model: ScriptedModel) -> None:
    owner = account(source="gdrive")
    texts: dict[str, Any] = {
        "apart": "A series of talks. Plan C is to raise the money later, money, money.",
        "together": "We are growing, and our Series C from Sequoia lets us make big bets.",
    }
    for id, text in texts.items():
        item: AnyItem = document(id=id, name=id, content_text=text)
        take(owner, item)

    assert find(owner, "Sequoia money: when was the Series C?")[0] == "together"
