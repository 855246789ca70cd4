"""What is asked of the data service for a list of each source."""

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from integrations.contracts import AccountRef, Source
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
