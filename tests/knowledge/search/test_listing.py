"""Items by what their sources say of them."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from integrations.contracts import AccountRef
from knowledge.search import listing
from knowledge.search.listing import Listing, count_items, list_items
from tests.knowledge.office import account, document, email, issue, take
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db
MAYA, JOHN, ANN = "maya@company.com", "john@company.com", "ann@client.com"


def listed(*owners: AccountRef, **wanted: Any) -> list[str]:
    found = list_items(
        Listing(account_ids=tuple(one.id for one in owners), own=(MAYA,), **wanted), chars=40
    )
    assert found.total == len(found.items)
    return [item.source_id for item in found.items]


def counted(owner: AccountRef, by: Any, **wanted: Any) -> list[tuple[str, int]]:
    return list(count_items(Listing(account_ids=(owner.id,), **wanted), by=by).groups)


@pytest.fixture
def tracker(model: ScriptedModel) -> AccountRef:
    owner = account(source="jira")
    rows: tuple[dict[str, Any], ...]
    rows = (
        {"status": "Done", "assignee": MAYA, "due_date": "2026-03-01"},
        {"status": "In Progress", "assignee": MAYA, "due_date": "2026-03-12", "type": "bug"},
        {"status": "To Do", "assignee": JOHN, "priority": "high", "due_date": "2026-03-15"},
        {"status": "to do", "labels": ["portal"], "project_key": "WEB"},
    )
    for number, fields in enumerate(rows):
        take(owner, issue(id=f"i{number}", key=f"PROJ-{number}", **fields))
    return owner


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({}, ["i0", "i1", "i2", "i3"]),
        ({"status": "to do"}, ["i2", "i3"]),
        ({"open": True}, ["i1", "i2", "i3"]),
        ({"assignees": (MAYA,)}, ["i0", "i1"]),
        ({"assignees": ("john",)}, ["i2"]),
        ({"open": True, "assignees": (MAYA,)}, ["i1"]),
        ({"due_from": date(2026, 3, 12), "due_until": date(2026, 3, 15)}, ["i1"]),
        ({"due_until": date(2026, 3, 12)}, ["i0"]),
        ({"labels": ("portal",)}, ["i3"]),
        ({"place": "web"}, ["i3"]),
        ({"place": "Jira"}, ["i0", "i1", "i2", "i3"]),
        ({"place": "github"}, []),
        ({"issue_type": "Bug"}, ["i1"]),
        ({"priority": "HIGH"}, ["i2"]),
        ({"words": "monday fail"}, ["i0", "i1", "i2", "i3"]),
        ({"words": "onday"}, []),
        ({"content_types": ("email",)}, []),
        ({"senders": ("@client.com",)}, ["i0", "i1", "i2", "i3"]),
    ],
)
def test_issues_by_status_assignee_due_date_label_and_project(
    tracker: AccountRef, wanted: dict[str, Any], ids: list[str]
) -> None:
    assert sorted(listed(tracker, **wanted)) == ids


def test_what_is_due_first_comes_first_and_what_has_no_date_last(tracker: AccountRef) -> None:
    assert listed(tracker, order="due") == ["i0", "i1", "i2", "i3"]


def test_items_are_counted_by_a_fact(tracker: AccountRef) -> None:
    assert counted(tracker, "assignee") == [(MAYA, 2), (JOHN, 1), ("", 1)]
    assert counted(tracker, "project", open=True) == [("PROJ", 2), ("WEB", 1)]
    assert counted(tracker, "from") == [(ANN, 4)]
    assert counted(tracker, "issue_type") == [("task", 3), ("bug", 1)]
    assert counted(tracker, "source") == [("jira", 4)]


def test_what_is_in_no_group_that_is_shown_is_counted_all_the_same(
    tracker: AccountRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_GROUPS", 1)

    found = count_items(Listing(account_ids=(tracker.id,)), by="assignee")

    assert (found.groups, found.total) == (((MAYA, 2),), 4)


@pytest.fixture
def mailbox(model: ScriptedModel) -> AccountRef:
    owner = account()
    from_ann = {"from": ANN, "from_name": "Ann Berg"}
    from_maya = {"from": MAYA, "from_name": "Maya"}
    from_bo = {"from": "bo@client.com", "from_name": "Bo"}

    def mail(id: str, hour: int, thread: str, **fields: Any) -> None:
        date = f"2026-03-09T{hour:02}:00:00Z"
        take(owner, email(id=id, thread_id=thread, date=date, is_read=True, **fields))

    mail("asked", 8, "t1")
    mail("answered", 9, "t1", to=[JOHN], **from_maya)
    mail("waits", 10, "t2", **from_ann)
    mail("list", 11, "t3", list_id="<news.example>")
    mail("others", 12, "t4", to=[JOHN], **from_ann)
    mail("drafted", 13, "t2", to=[ANN], labels=["DRAFT"], **from_maya)
    mail("spam", 14, "t6", labels=["SPAM"], **from_bo)
    mail("alone", 7, "", **from_bo)
    mail("alone too", 15, "", **from_bo)
    take(
        owner,
        email(id="new", thread_id="t5", date="2026-03-10T09:00:00Z", cc=[ANN], labels=["INBOX"]),
    )
    return owner


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({"unread": True}, ["new"]),
        ({"unread": False, "senders": ("ann berg",)}, ["others", "waits"]),
        ({"senders": (ANN.upper(),)}, ["others", "waits"]),
        ({"senders": ("ann",)}, ["others", "waits"]),
        ({"senders": (MAYA,)}, ["drafted", "answered"]),
        ({"receivers": (JOHN,)}, ["others", "answered"]),
        ({"receivers": (ANN,)}, ["new", "drafted"]),
        ({"labels": ("INBOX",)}, ["new"]),
        ({"unanswered": True}, ["new", "alone too", "waits", "alone"]),
        ({"since": datetime(2026, 3, 10, tzinfo=UTC)}, ["new"]),
        ({"until": datetime(2026, 3, 9, 9, tzinfo=UTC)}, ["asked", "alone"]),
        ({"order": "oldest", "senders": ("john",)}, ["asked", "list", "new"]),
        ({"with_files": True}, []),
        ({"open": True, "senders": (ANN,)}, ["others", "waits"]),
    ],
)
def test_mails_by_people_state_and_time(
    mailbox: AccountRef, wanted: dict[str, Any], ids: list[str]
) -> None:
    assert listed(mailbox, **wanted) == ids


def test_only_the_accounts_that_are_named_are_looked_at(mailbox: AccountRef) -> None:
    other = account(user="omar")
    take(other, email(id="foreign"))

    assert listed(other) == ["foreign"]
    assert listed() == []
    assert "foreign" not in listed(mailbox)


def test_a_page_says_how_many_there_are_and_two_queries_tell(
    mailbox: AccountRef, django_assert_num_queries: Any
) -> None:
    wanted = Listing(account_ids=(mailbox.id,), limit=2, offset=2)
    with django_assert_num_queries(2):
        found = list_items(wanted, chars=5)

    assert [item.source_id for item in found.items] == ["spam", "drafted"]
    assert found.total == 10
    assert found.items[0].text == "Hi Ma"


def test_a_folder_is_a_place(model: ScriptedModel) -> None:
    owner = account(source="gdrive")
    take(owner, document(id="d1", folder_path="/Portal/Launch"))
    take(owner, document(id="d2", folder_path="/Private"))

    assert listed(owner, place="portal") == ["d1"]
    assert counted(owner, "place") == [("/Portal/Launch", 1), ("/Private", 1)]


def test_a_name_is_no_part_of_another(model: ScriptedModel) -> None:
    mailbox, tracker = account(), account(source="jira")
    take(mailbox, email(id="elin", **{"from": "elin@company.com", "from_name": "Elin Berg"}))
    take(mailbox, email(id="tz", **{"from": "tz@company.com", "from_name": "Tomasz Zielinski"}))
    take(tracker, issue(id="i1", assignee="t.zielinski@company.com"))

    assert listed(mailbox, senders=("elin",)) == ["elin"]
    assert listed(mailbox, senders=("zielin",)) == ["tz"]
    assert listed(tracker, assignees=("elin",)) == []
    assert listed(tracker, assignees=("zielinski",)) == ["i1"]
    assert listed(tracker, assignees=("t.*",)) == []
