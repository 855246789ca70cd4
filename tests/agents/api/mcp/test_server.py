"""Whatever an outside agent sends: answered with a sentence, never with an error of ours."""

import json
import os
import re
from typing import Any
from uuid import uuid4

import httpx
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from guardrails.models import Approval
from integrations.models import Account
from knowledge.models import Item
from tests.agents.api.mcp.outside import Outside
from tests.rows import Rows

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0")) or 25
TOOLS = ("search", "approval_status", "archive", "classify", "nothing", "")
NASTY: list[Any] = [
    *("", "\0", "a\0b", "\ud800", "a" * 100_000, "01a1-", "../..", "%00", "\u202e", "9" * 400),
    *(None, True, -1, 0, 10**400, 1e308, [], {}, [[]], {"a": {"a": [None]}}, ["\0"], {"\0": 1}),
]
VALUES = st.sampled_from(NASTY) | st.text(max_size=5)
NAMES = st.sampled_from(
    ("email_id", "label_id", "query", "approval_id", "limit", "source", "since", "x", "\0")
)
CALLS = st.fixed_dictionaries(
    {"name": st.sampled_from(TOOLS), "arguments": st.dictionaries(NAMES, VALUES, max_size=3)},
    optional={"_meta": st.dictionaries(st.just("remit/idempotency-key"), VALUES)},
)


def test_every_call_is_answered_with_a_sentence(outside: Outside) -> None:
    outside.office.permit("archive")
    outside.office.permit("classify")
    broken: list[Any] = []

    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(CALLS | VALUES, st.sampled_from(("tools/call", "tools/list", "initialize", "x", "\0")))
    def answers(params: object, method: str) -> None:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = outside.headers(Accept="application/json, text/event-stream")
        headers |= {"Content-Type": "application/json"}
        answer = httpx.post(outside.url, content=json.dumps(body).encode(), headers=headers)
        if answer.status_code >= 500 or "Something broke" in answer.text or not answer.text:
            broken.append((body, answer.status_code, answer.text[:300]))

    answers()

    assert broken == []
    assert outside.office.calls() == []


def test_a_user_of_another_organisation_is_as_unknown_as_none(outside: Outside) -> None:
    other = Rows(f"other-{uuid4().hex[:6]}")
    theirs = other.of(Account).external_user_id

    answers = [outside.post(**{"X-User-ID": user}) for user in (theirs, "nobody-at-all")]

    assert [one.status_code for one in answers] == [404, 404]
    assert answers[0].content == answers[1].content


def test_what_another_organisation_has_is_as_unknown_as_none(outside: Outside) -> None:
    outside.office.permit("archive")
    other = Rows(f"other-{uuid4().hex[:6]}")
    asked: tuple[tuple[str, str, str, str], ...] = (
        ("approval_status", "approval_id", str(other.of(Approval).id), str(uuid4())),
        ("approval_status", "approval_id", str(other.of(Approval).action_id), str(uuid4())),
        ("archive", "email_id", other.of(Item).source_id, "nothing-like-it"),
        ("search", "query", other.of(Item).source_id, "nothing-like-it"),
        ("search", "query", other.of(Item).title, "nothing-like-it"),
    )
    for tool, name, theirs, nobodys in asked:
        answers = [
            json.dumps(outside.call(tool, {name: value})).replace(value, "THIS")
            for value in (theirs, nobodys)
        ]
        same = [re.sub(r"[0-9a-f]{8}-[-0-9a-f]{27}", "ID", answer) for answer in answers]

        assert same[0] == same[1]
        assert other.mark not in answers[0]
    assert outside.office.calls() == []
