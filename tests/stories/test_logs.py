"""What people write stays out of the logs, whatever happens to it, and so do keys."""

import io
import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from agents import tasks
from config.logs import LineFormatter
from integrations.models import Outage, ServiceToken
from knowledge.models import Item
from tests.database import failing_with
from tests.model_server import Failure
from tests.office import Office
from tests.stories.steps import scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
INGEST = "You summarise an item and list its entities."
MAILS = ("newsletter", "question", "poisoned")
SECRET = "the reorganisation of Halmstad is called Zebrafinch"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the product logs, at the level and in the form in which it does."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(LineFormatter())
    handler.setLevel(logging.INFO)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield written
    root.setLevel(level)
    root.removeHandler(handler)


def words(mail: dict[str, Any]) -> set[str]:
    """Runs of words and addresses of a mail, long enough to be nobody else's."""
    text = "\n".join(str(mail[part]) for part in ("subject", "from", "to", "body_text"))
    lines = {line.strip() for line in re.split(r"[\n,;<>'\"\[\]{}]", text)}
    return {line for line in lines if len(line) > 12}


def test_nothing_that_people_wrote_is_logged(office: Office, log: io.StringIO) -> None:
    office.sync(copied=False)
    mails = [office.deliver("fyi")]
    with scripted({INGEST: [Failure(503)]}):
        office.drain()
    Outage.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    mails += [office.deliver(name) for name in MAILS]
    tasks.sweep()
    office.drain()
    token = ServiceToken.issue(
        organisation=office.organisation, name="web", scopes=["chat", "approvals"]
    )[1]
    for user_id in ("maya", "nobody@home.example"):
        httpx.post(
            f"{office.origin}/api/v1/chat",
            json={"user_id": user_id, "message": f"Create a task in OPS: {SECRET}"},
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )

    logged = log.getvalue()
    assert "turn.finished" in logged
    told = {word for mail in mails for word in words(mail)} | {SECRET, "Zebrafinch"}
    told |= {title for title in Item.objects.values_list("title", flat=True) if len(title) > 12}
    assert len(told) > 100
    assert {word for word in told if word in logged} == set()
    keys = {token, office.sandbox.key, settings.WEBHOOK_SECRETS["default"]}
    assert {key for key in keys if key in logged} == set()


def test_nothing_that_people_wrote_is_logged_when_the_database_refuses_it(
    office: Office, log: io.StringIO
) -> None:
    token = ServiceToken.issue(organisation=office.organisation, name="web", scopes=["chat"])[1]
    mails = []
    for table in ("knowledge_item", "knowledge_chunk", "agents_turn"):
        mails.append(office.deliver("question"))
        with failing_with(table, "22000"), suppress(DatabaseError):
            office.drain()
    for table in ("agents_conversation", "agents_turn", "agents_message"):
        with failing_with(table, "22000"):
            httpx.post(
                f"{office.origin}/api/v1/chat",
                json={"user_id": "maya", "message": SECRET},
                headers={"Authorization": f"Bearer {token}"},
                timeout=60,
            )
    for headers in ({"Host": SECRET}, {"X-Forwarded-Host": SECRET}, {"Cookie": SECRET}):
        httpx.get(f"{office.origin}/api/v1/{SECRET}?{SECRET}", headers=headers)

    logged = log.getvalue()
    assert logged.count("psycopg.errors.DataException 22000") >= 3
    told = {word for mail in mails for word in words(mail)} | {SECRET, "Zebrafinch", token}
    assert {word for word in told if word in logged} == set()
