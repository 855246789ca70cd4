"""Webhooks that are signed and odd, through the whole office. `make bench NAME=fuzz` tries more."""

import json
import os
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import hypothesis
import pytest
from hypothesis import HealthCheck, strategies as st
from standardwebhooks.webhooks import Webhook

from integrations.models import Delivery
from integrations.ports.registry import BY_SOURCE
from tests.office import SECRET, Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0")) or 20
SOUND: dict[str, dict[str, Any]] = {
    "gmail": {
        "id": "odd",
        "thread_id": "odd",
        "message_id": "<odd@evil.example>",
        "from": "eve@evil.example",
        "to": ["maya@company.com"],
        "subject": "Odd",
        "date": "2026-11-20T10:00:00Z",
        "labels": ["INBOX"],
        "body_text": "Hello.",
        "headers": {},
        "attachments": [],
    },
    "gdrive": {"id": "odd", "name": "Odd", "content_text": "Hello.", "mime_type": "x"},
    "calendar": {
        "id": "odd",
        "title": "Odd",
        "start": "2026-11-20T10:00:00Z",
        "end": "2026-11-20T11:00:00Z",
        "recurrence": "RRULE:FREQ=DAILY",
        "attendees": [],
    },
    "jira": {"id": "odd", "key": "ODD-1", "project_key": "ODD", "created_at": "2026-11-20T10:00Z"},
}
NASTY: list[Any] = [
    *("", "\0", "a\0b", "\ud800", "a" * 5_000, "\u202e", "é" * 600, "<!--" * 200, "=?utf-8?b?"),
    *("1969-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59+14:00", "no time"),
    *(None, True, -1, 10**400, 1e308, [], {}, [[]], ["\0"], [{"\0": None}], {"a": ["\ud800"]}),
    *("RRULE:FREQ=SECONDLY", "RRULE:" + "BYDAY=MO," * 400, "@", "a@b@c", "\r\nBcc: x@y.z"),
    json.loads("[" * 90 + "]" * 90),
]


def test_whatever_a_signed_webhook_holds_is_refused_in_words_or_accounted_for(
    office: Office,
) -> None:
    answers: list[httpx.Response] = []

    @hypothesis.settings(
        max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @hypothesis.given(data=st.data())
    def send(data: st.DataObject) -> None:
        source = data.draw(st.sampled_from(sorted(SOUND)))
        kind = data.draw(st.sampled_from(["created", "updated", "deleted"]))
        names = st.sampled_from(sorted(SOUND[source]))
        odd = data.draw(st.dictionaries(names, st.sampled_from(NASTY), max_size=2))
        item = SOUND[source] | {"id": f"odd-{len(answers)}"} | odd
        body: dict[str, Any] = {
            "user_id": "maya",
            "source": source,
            "source_id": item["id"],
            "timestamp": data.draw(st.sampled_from(["2026-11-20T10:00:00Z", "1969-12-31T00:00Z"])),
        }
        if kind != "deleted":
            body["content_type"] = BY_SOURCE[source].content_type
            body["data" if kind == "created" else "full_data"] = item
        answers.append(send_webhook(office, kind, body))

    send()
    office.drain()

    taken = [one.json()["delivery_id"] for one in answers if one.status_code == 202]
    refused = [one for one in answers if one.status_code != 202]
    assert {one.status_code for one in refused} <= {400}
    assert all(one.json()["error"]["message"].endswith(".") for one in refused)
    ended = Delivery.objects.filter(id__in=taken).values_list("state", "reason")
    assert len(ended) == len(taken) > EXAMPLES / 4
    assert {state for state, _ in ended} <= {"processed", "skipped", "dead"}
    assert [one for one in ended if one == ("dead", "too_many_attempts")] == []
    assert all(reason for state, reason in ended if state != "processed")


def send_webhook(office: Office, kind: str, body: dict[str, Any]) -> httpx.Response:
    sent, id, at = json.dumps(body), f"msg_{uuid4().hex}", datetime.now(UTC)
    headers = {
        "webhook-id": id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(SECRET).sign(id, at, sent),
        "content-type": "application/json",
    }
    url = f"{office.origin}/webhooks/item-{kind}"
    return httpx.post(url, content=sent, headers=headers, timeout=30)
