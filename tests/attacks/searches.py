"""Searches over HTTP that ask for too much, or for what makes no sense: refused with a sentence
before anything is looked up, and nothing of anybody else is ever found."""

import json
from collections.abc import Callable
from typing import Any

import httpx

from tests.attacks.case import Story
from tests.attacks.desk import Desk, neighbour
from tests.attacks.endpoints import SECRET_WORDS, stored

SEARCHES = "searches over HTTP"


def search(desk: Desk, **body: Any) -> httpx.Response:
    asked = {"user_id": desk.user_id, "query": SECRET_WORDS} | body
    # Half a surrogate goes out as an escape, which is plain ASCII.
    return raw(desk, json.dumps(asked).encode())


def raw(desk: Desk, body: bytes, **options: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {desk.token}", "Content-Type": "application/json"}
    method = options.pop("method", "POST")
    given: dict[str, Any] = {"content": body, "headers": headers | options.pop("headers", {})}
    return desk.request(method, "/api/v1/search", **given)


def found(desk: Desk) -> None:
    stored(desk)
    answer = search(desk)
    assert answer.status_code == 200, answer.text
    [item] = answer.json()["items"]
    assert item["title"] == SECRET_WORDS


def refused(
    ask: Callable[[Desk], httpx.Response], status: int = 400, code: str = "invalid"
) -> Callable[[Desk], None]:
    def attack(desk: Desk) -> None:
        with desk.obeyed():  # the model is not asked
            answer = ask(desk)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (status, code)
        assert error["message"].endswith((".", "”")), error
        assert "Traceback" not in answer.text

    return attack


def given(**body: Any) -> Callable[[Desk], httpx.Response]:
    return lambda desk: search(desk, **body)


def sent(body: bytes, **options: Any) -> Callable[[Desk], httpx.Response]:
    return lambda desk: raw(desk, body, **options)


def of_another(**body: Any) -> Callable[[Desk], None]:
    """Whatever is asked for, what another tenant has is not found: neither item nor person."""

    def attack(desk: Desk) -> None:
        other = neighbour(desk)
        id = stored(other)
        known = {"OTHER": other.user_id, "ITEM": id}
        asked = {name: known.get(value, value) for name, value in body.items()}
        answer = search(desk, **asked)
        assert answer.status_code == 200, answer.text
        assert answer.json() == {"items": [], "entities": []}

    return attack


CUSTOM = {"time_filter": "custom"}
BODIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("NUL in the words", {"query": "a\0b"}),
    ("half a surrogate in the words", {"query": "\ud800"}),
    ("NUL in the user", {"user_id": "maya\0"}),
    ("half a surrogate in the user", {"user_id": "\udfff"}),
    ("NUL in the person", {"entity": "ann\0"}),
    ("half a surrogate in the person", {"entity": "\ud800@x.com"}),
    ("words without end", {"query": "x" * 1_001}),
    ("a person without end", {"entity": "x" * 321}),
    ("a source that there is not", {"sources": ["gmail", "everything"]}),
    ("a source that is no text", {"sources": [["gmail"]]}),
    ("sources that are no list", {"sources": "gmail"}),
    ("too many sources", {"sources": ["gmail"] * 51}),
    ("a limit below nothing", {"limit": -1}),
    ("a limit of nothing", {"limit": 0}),
    ("a limit above the most", {"limit": 51}),
    ("a limit that no number holds", {"limit": 10**400}),
    ("a limit that is no number", {"limit": "10; DROP TABLE"}),
    ("a limit that is half a number", {"limit": 1.5}),
    ("a limit that is a list", {"limit": [10]}),
    ("words that are no text", {"query": {"$ne": ""}}),
    ("words that are a list", {"query": ["x"]}),
    ("no words", {"query": None}),
    ("a user that is no text", {"user_id": 7}),
    ("ids that are none", {"excluded_ids": ["' OR 1=1"]}),
    ("ids that are no list", {"excluded_ids": "all"}),
    ("too many ids", {"excluded_ids": ["00000000-0000-4000-8000-000000000001"] * 1_001}),
    ("a time that there is not", {"time_filter": "for ever"}),
    ("a span without an end or a beginning", CUSTOM),
    ("a span from no time", {**CUSTOM, "since": "yesterday"}),
    ("a span from before all time", {**CUSTOM, "since": "0001-01-01T00:00:00+14:00"}),
    ("a span to after all time", {**CUSTOM, "until": "9999-12-31T23:59:59-14:00"}),
    ("a field that nobody knows", {"account_ids": ["00000000-0000-4000-8000-000000000001"]}),
    ("an organisation of its own", {"organisation_id": "default"}),
)
REQUESTS: tuple[tuple[str, Callable[[Desk], httpx.Response], int, str], ...] = (
    ("no JSON", sent(b"{"), 400, "parse_error"),
    ("a list", sent(b"[]"), 400, "parse_error"),
    ("nothing", sent(b""), 400, "invalid"),
    ("bytes that are no text", sent(b"\xff\xfe"), 400, "parse_error"),
    ("a key twice", sent(b'{"query": "a", "query": "b"}'), 400, "parse_error"),
    ("no number", sent(b'{"query": "a", "limit": NaN}'), 400, "parse_error"),
    ("a number without end", sent(b'{"limit": ' + b"9" * 5_000 + b"}"), 400, "parse_error"),
    ("JSON without a bottom", sent(b'{"query": ' + b"[" * 200_000), 400, "parse_error"),
    ("a large body", given(query="x" * 3_000_000), 413, "too_large"),
    (
        "a form",
        sent(b"query=x", headers={"Content-Type": "application/x-www-form-urlencoded"}),
        415,
        "unsupported_media_type",
    ),
    ("a request to read", sent(b"", method="GET"), 405, "method_not_allowed"),
)
# Times at the edge of the calendar, and words that PostgreSQL would read as operators.
ODD: tuple[tuple[str, dict[str, Any]], ...] = (
    ("the first moment", {**CUSTOM, "since": "0001-01-01T00:00:00Z"}),
    ("the last moment", {**CUSTOM, "until": "9999-12-31T23:59:59Z"}),
    ("an end before the beginning", {**CUSTOM, "since": "2026-02-01", "until": "2026-01-01"}),
    ("operators", {"query": "a' | !b & (c:* <-> \\\\ ) '' %s %(x)s {} $1 -- ;"}),
    ("invisible words", {"query": "\u200b\u202e\ufeff"}),
    ("everybody", {"query": "", "entity": "%"}),
    ("an exact id", {"query": "ITEM"}),
    ("another's name", {"query": "", "entity": "OTHER"}),
    ("another's words", {}),
)

CASES: tuple[Story, ...] = (
    *(
        Story(name=name, row=SEARCHES, attack=refused(given(**body)), twin=found, passes=True)
        for name, body in BODIES
    ),
    *(
        Story(name=name, row=SEARCHES, attack=refused(ask, status, code), twin=found, passes=True)
        for name, ask, status, code in REQUESTS
    ),
    *(
        Story(
            name=f"across tenants: {name}",
            row=SEARCHES,
            attack=of_another(**body),
            twin=found,
            passes=True,
        )
        for name, body in ODD
    ),
)
