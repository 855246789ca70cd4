"""Whatever an outside server says of its tools and answers to a call: kept in a stored form or
refused with a sentence, and a call that was made is accounted for. `make bench NAME=fuzz` tries
more."""

import json
import os
from typing import Any

import pytest
from django.urls import reverse
from hypothesis import HealthCheck, example, given, settings as tried, strategies as st

from guardrails.execute.executor import execute
from integrations.models import McpTool
from tests.clients import log_in_superuser
from tests.guardrails.actions.tools.test_call_mcp_tool import Desk, desk
from tests.guardrails.office import phases
from tests.mcp_server import CREATE, said, tool

__all__ = ["desk"]

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0")) or 12
# As they stand in the server's JSON, some of which is none.
NASTY = [
    *(r'"\u0000"', r'"a\u0000b"', r'"\ud800"', r'"\udfff\ud800"', r'"\u202e"', '""', '"a"'),
    *("NaN", "Infinity", "-Infinity", "1e999", "9" * 400, "9" * 5000, "-0.0", "1e-999"),
    *("[" * 100 + "]" * 100, "[" * 5000 + "]" * 5000, '{"a":' * 300 + "1" + "}" * 300),
    *(
        r'{"\u0000":1}',
        r'{"\ud800":[NaN]}',
        "null",
        "true",
        "[]",
        "{}",
        "",
        "{",
        '"' + "x" * 50_000 + '"',
    ),
]
MARK = "@nasty@"

OFFERED: dict[str, dict[str, Any]] = {
    "name": {"name": MARK},
    "title": {"title": MARK},
    "description": {"description": MARK},
    "hints": {"annotations": {"title": MARK, "readOnlyHint": True}},
    "hint": {"annotations": {"other": MARK}},
    "default": {"schema": CREATE | {"default": MARK}},
    "property": {"schema": {"type": "object", "properties": {"a": {"const": MARK}}}},
    "type": {"schema": {"type": MARK}},
    "output": {"output_schema": {"type": "object", "x": MARK}},
    "meta": {"_meta": {"x": MARK}},
}


def test_what_a_server_offers_is_kept_or_refused_in_words(desk: Desk) -> None:
    client = log_in_superuser("fuzz")
    client.raise_request_exception = False
    broken: list[Any] = []

    @tried(
        max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.sampled_from(sorted(OFFERED)), st.sampled_from(NASTY))
    def is_read(place: str, nasty: str) -> None:
        fields = {"name": "odd"} | OFFERED[place]
        desk.tracker.tools = [tool("create_issue", CREATE), tool(**fields)]
        desk.tracker.spoken = {f'"{MARK}"': nasty}
        pages = [client.post(reverse("admin:integrations_mcpserver_read", args=[desk.server.pk]))]
        pages.append(
            client.get(reverse("admin:integrations_mcpserver_change", args=[desk.server.pk]))
        )
        pages += [
            client.get(reverse("admin:integrations_mcptool_change", args=[row.pk]))
            for row in McpTool.objects.filter(server=desk.server)
        ]
        wrong = [one.status_code for one in pages if one.status_code >= 400]
        if wrong:
            broken.append((place, nasty[:40], wrong))

    is_read()

    assert broken == []
    assert desk.tracker.calls == []


ANSWERS: dict[str, dict[str, Any]] = {
    "text": {"text": MARK},
    "value": {"text": "done", "structured_content": {"a": [MARK]}},
    "structured": {"text": "done", "structured_content": {"a": {"b": MARK}}},
    "failed": {"text": MARK, "is_error": True},
    "meta": {"text": "done", "_meta": {"x": MARK}},
}


def test_a_call_is_accounted_for_whatever_is_answered(desk: Desk) -> None:
    broken: list[Any] = []

    @tried(
        max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @example("value", "1e999")
    @given(st.sampled_from(sorted(ANSWERS)), st.sampled_from(NASTY))
    def is_recorded(place: str, nasty: str) -> None:
        desk.tracker.calls.clear()
        desk.tracker.answer = lambda *_: said(**ANSWERS[place])
        desk.tracker.spoken = {f'"{MARK}"': nasty}
        result = execute(desk.request())
        ended = phases(result)[-1][:2]
        # An answer that nobody can read says nothing of what was done.
        whole = {("outcome", "succeeded"), ("outcome", "failed"), ("attempt", "pending")}
        if len(desk.tracker.calls) != 1 or ended not in whole:
            broken.append((place, nasty[:40], ended, result.status, desk.tracker.calls))
        assert (ended[1] == "pending") is (result.status == "unknown")
        json.dumps(result.result, allow_nan=False).encode()

    is_recorded()

    assert broken == []
