"""Lists and counts of all that fits (FINDINGS A1, A16)."""

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from agents.tools import list_items
from knowledge.search import listing
from knowledge.search.listing import Listed, Listing
from tests.agents.tools.bench import Bench
from tests.knowledge.office import account, email, issue, take
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
MAYA = "maya@company.com"


@pytest.fixture
def maya(summariser: ScriptedModel) -> Bench:
    """With three issues that are hers, one of them done, and one that is nobody's."""
    tracker = account(source="jira")
    given: list[dict[str, Any]] = [
        *({"status": "Done"}, {"status": "To Do"}, {"status": "In Progress"}),
        {"assignee": None},
    ]
    for number, fields in enumerate(given):
        known = {"id": f"i{number}", "key": f"PROJ-{number}", "assignee": MAYA}
        take(tracker, issue(**known | fields))
    return Bench(tracker)


def data(bench: Bench, **arguments: Any) -> dict[str, Any]:
    result = bench.call(list_items.TOOL, **arguments)
    assert result["success"], result
    assert result["untrusted"] is True
    return dict(result["data"])


def test_a_page_tells_how_many_there_are_and_which_comes_next(maya: Bench) -> None:
    first, second = data(maya, assignee="me", limit=2), data(maya, assignee="me", limit=2, page=2)

    assert (first["total"], first["next_page"], second["total"]) == (3, 2, 3)
    assert "next_page" not in second
    ids = [item["key"] for item in [*first["items"], *second["items"]]]
    assert sorted(ids) == ["PROJ-0", "PROJ-1", "PROJ-2"]
    assert sorted(item["n"] for item in [*first["items"], *second["items"]]) == [1, 2, 3]


def test_a_count_is_of_all_that_fits(maya: Bench) -> None:
    assert data(maya, count_by="assignee") == {
        "total": 4,
        "groups": [{"value": MAYA, "count": 3}, {"value": "(none)", "count": 1}],
    }
    assert data(maya, count_by="assignee", open_only=True)["total"] == 3


def test_every_filter_reaches_the_list(maya: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Listing] = []

    def look(wanted: Listing, *, chars: int) -> Listed:
        asked.append(wanted)
        return Listed(items=(), total=0)

    monkeypatch.setattr(listing, "list_items", look)
    given = {
        "types": ["email", "issue"],
        "from": "Elin",
        "to": "me",
        "since": "2026-07-01",
        "until": "2026-07-02T10:00",
        "words": "portal",
        "status": "To Do",
        "issue_type": "bug",
        "priority": "high",
        "open_only": True,
        "assignee": " ",
        "due_from": "2026-07-03",
        "due_until": "2026-07-04",
        "labels": ["portal"],
        "place": "WEB",
        "unread": False,
        "with_files": True,
        "unanswered": True,
        "order": "due",
        "limit": 10,
        "page": 3,
    }
    data(maya, **given)

    assert asked == [
        Listing(
            account_ids=(maya.accounts[0].id,),
            own=(MAYA,),
            content_types=("email", "issue"),
            senders=("Elin",),
            receivers=(MAYA,),
            since=datetime(2026, 6, 30, 22, tzinfo=UTC),  # Stockholm's day, and hour
            until=datetime(2026, 7, 2, 8, tzinfo=UTC),
            words="portal",
            status="To Do",
            issue_type="bug",
            priority="high",
            open=True,
            due_from=date(2026, 7, 3),
            due_until=date(2026, 7, 4),
            labels=("portal",),
            place="WEB",
            unread=False,
            with_files=True,
            unanswered=True,
            order="due",
            limit=10,
            offset=20,
        )
    ]


def test_without_an_address_of_the_user_nothing_is_guessed(summariser: ScriptedModel) -> None:
    nameless = account()
    take(nameless, email())
    bench = Bench(replace(nameless, address=""))

    result = bench.call(list_items.TOOL, to="Me")

    assert result["error"]["code"] == "INVALID_INPUT"
    assert data(bench)["total"] == 1
