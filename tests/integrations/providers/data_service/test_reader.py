"""What is asked of the data service for a list of each source."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from integrations.accounts import reads
from integrations.contracts import AccountRef, Event, Issue, Source
from integrations.network import http
from integrations.ports.registry import BY_SOURCE
from integrations.providers.data_service.reader import DataServiceReader

SINCE = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def account(source: Source) -> AccountRef:
    return AccountRef(
        id=uuid.uuid4(),
        organisation_id=uuid.uuid4(),
        organisation_slug="default",
        external_user_id="maya/../omar",
        source=source,
        kind=BY_SOURCE[source].kind,
        provider="data_service",
        address="maya@company.com",
        display_name="Maya",
        time_zone="UTC",
        paused=False,
    )


class Service:
    """What a data service is asked for, and pages that it answers with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, settings: Any, *pages: Any) -> None:
        settings.DATA_SERVICES = {"default": "http://127.0.0.1:9/v1/data"}
        settings.DATA_SERVICE_KEYS = {"default": "key"}
        self.asked: list[dict[str, Any]] = []
        self.items: list[dict[str, Any]] = []
        left = list(pages)

        def answer(upstream: http.Upstream, method: str, path: str, **sent: Any) -> dict[str, Any]:
            self.asked.append(sent["params"])
            following = left.pop(0) if left else None
            return {"items": self.items, "next_cursor": following, "remaining": 3}

        monkeypatch.setattr(http, "request", answer)


def test_a_first_sync_of_issues_ends_with_all_that_are_open_however_old(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    service = Service(monkeypatch, settings, "c1", None, "c2", None)
    reader, since = DataServiceReader(account("jira")), {"since": SINCE.isoformat()}
    issue = {"key": "PROJ-1", "project_key": "PROJ", "created_at": "2026-01-01T00:00:00Z"}
    service.items = [
        issue | {"id": "new", "updated_at": "2026-03-02T09:00:00Z"},
        issue | {"id": "old", "updated_at": "2026-01-02T09:00:00Z"},
    ]
    listed, cursors, remaining = [], [], []
    cursor = None
    while True:
        page = reader.items_in_window(since=SINCE, cursor=cursor, limit=9)
        listed.append([one.id for one in page.items])
        cursors.append(page.next_cursor)
        remaining.append(page.remaining)
        cursor = page.next_cursor
        if cursor is None:
            break

    still_open = {"status": ("To Do", "In Progress", "In Review"), "limit": 9}
    assert service.asked == [
        {"limit": 9} | since,
        {"limit": 9, "cursor": "c1"} | since,
        still_open,
        still_open | {"cursor": "c2"},
    ]
    assert listed == [["new", "old"], ["new", "old"], ["old"], ["old"]], "none comes twice"
    assert cursors == ["changed c1", "open ", "open c2", None]
    assert remaining == [3, None, 3, 0], "how many are open is not known before they are listed"


@pytest.mark.parametrize(
    ("source", "filters"),
    [
        ("jira", {"project_keys": ("PROJ", "OPS")}),
        ("gdrive", {"mime_types": ("application/pdf",)}),
        ("gmail", {}),
    ],
)
def test_a_sync_asks_only_for_what_its_account_lets_in_and_a_look_up_for_everything(
    monkeypatch: pytest.MonkeyPatch, settings: Any, source: Source, filters: dict[str, Any]
) -> None:
    service = Service(monkeypatch, settings)
    narrowed = replace(
        account(source), project_keys=("PROJ", "OPS"), mime_types=("application/pdf",)
    )

    reads.syncing_reader(narrowed).items(since=None, cursor=None, limit=7)
    reads.reader(narrowed).items(since=None, cursor=None, limit=7)

    assert service.asked == [{"limit": 7} | filters, {"limit": 7}]


def test_events_of_a_few_days_are_asked_for_by_their_days(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    service = Service(monkeypatch, settings)
    until = SINCE + timedelta(days=2)

    DataServiceReader(account("calendar")).items_in_window(
        since=SINCE, until=until, cursor=None, limit=7
    )

    assert service.asked == [{"limit": 7, "start_date": "2026-03-01", "end_date": "2026-03-03"}]


@pytest.mark.parametrize(
    ("source", "path", "window"),
    [
        ("gmail", "/emails", {"since": "2026-03-01T09:30:00+00:00"}),
        ("gdrive", "/documents", {"since": "2026-03-01T09:30:00+00:00"}),
        ("calendar", "/events", {"start_date": "2026-03-01"}),
        ("jira", "/jira/issues", {"since": "2026-03-01T09:30:00+00:00"}),
        ("outlook", "/sources/outlook/items", {"since": "2026-03-01T09:30:00+00:00"}),
    ],
)
def test_a_list_is_asked_for_from_when_and_where_on_and_how_much(
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    source: Source,
    path: str,
    window: dict[str, str],
) -> None:
    settings.DATA_SERVICES = {"default": "http://127.0.0.1:9/v1/data"}
    settings.DATA_SERVICE_KEYS = {"default": "key"}
    asked: list[tuple[str, str, dict[str, Any]]] = []

    def answer(upstream: http.Upstream, method: str, path: str, **sent: Any) -> dict[str, Any]:
        assert upstream.headers["Authorization"] == "Bearer key"
        asked.append((method, path, sent["params"]))
        return {"items": [], "next_cursor": None}

    monkeypatch.setattr(http, "request", answer)
    reader = DataServiceReader(account(source))

    reader.items_in_window(since=SINCE, cursor=None, limit=100)
    reader.items(since=SINCE, cursor="c1", limit=7)
    reader.items(since=None, cursor=None, limit=7)

    address = f"/users/maya%2F..%2Fomar{path}"
    assert asked == [
        ("GET", address, {"limit": 100} | window),
        ("GET", address, {"cursor": "c1", "limit": 7, "since": SINCE.isoformat()}),
        ("GET", address, {"limit": 7}),
    ]


def test_what_can_only_be_read_is_neither_sorted_nor_answered() -> None:
    now = datetime.now(UTC)
    issue = Issue(id="1", key="PROJ-1", project_key="PROJ", created_at=now)
    event = Event(id="1", start=now, end=now)

    assert set(DataServiceReader(account("jira")).settable(issue)) == {
        *("components", "labels", "priority", "duplicate_of")
    }
    assert DataServiceReader(account("github")).settable(issue) == {}
    assert DataServiceReader(account("calendar")).replies(event) == {"answer", "time"}
    assert DataServiceReader(account("gmail")).replies(event) == frozenset()
