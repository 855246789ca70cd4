"""Accounts and provider objects for the tests of `knowledge`."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from integrations.contracts import AccountRef, AnyItem, Document, Email, Event, Issue
from integrations.models import Account, Organisation
from knowledge.contracts import IngestOutcome
from knowledge.ingest.ingest import ingest
from knowledge.ingest.new_items import Beside

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def account(
    *, user: str = "maya", source: str = "gmail", organisation: Organisation | None = None
) -> AccountRef:
    """A new account, in a new organisation unless one is given."""
    if organisation is None:
        organisation = Organisation.objects.create(slug=f"o-{uuid.uuid4()}", name="Test")
    row = Account.objects.create(
        organisation=organisation,
        external_user_id=user,
        source=source,
        address=f"{user}@company.com",
        time_zone="Europe/Stockholm",
    )
    return row.ref()


def email(**fields: Any) -> Email:
    return Email.model_validate(
        {
            "id": "m1",
            "from": "john@company.com",
            "from_name": "John Smith",
            "to": ["maya@company.com"],
            "subject": "Proposal: customer portal",
            "body_text": "Hi Maya,\n\nhere is the proposal for the portal.",
            "date": "2026-03-09T09:00:00Z",
            "updated_at": "2026-03-09T09:00:00Z",
            "version": 1,
            **fields,
        }
    )


def document(**fields: Any) -> Document:
    return Document.model_validate(
        {
            "id": "d1",
            "name": "Launch plan",
            "content_text": "The launch is in May.",
            "created_at": "2026-03-01T09:00:00Z",
            "modified_at": "2026-03-02T09:00:00Z",
            "updated_at": "2026-03-02T09:00:00Z",
            "owner": "maya@company.com",
            "version": 1,
            **fields,
        }
    )


def event(**fields: Any) -> Event:
    return Event.model_validate(
        {
            "id": "e1",
            "title": "Portal kick-off",
            "start": "2026-03-10T15:00:00Z",
            "end": "2026-03-10T16:00:00Z",
            "attendees": [{"email": "Ann@Client.com", "name": "Ann Berg", "status": "accepted"}],
            "created_by": "maya@company.com",
            "version": 1,
            **fields,
        }
    )


def issue(**fields: Any) -> Issue:
    return Issue.model_validate(
        {
            "id": "i1",
            "key": "PROJ-123",
            "project_key": "PROJ",
            "summary": "Login fails",
            "description": "Since Monday.",
            "created_at": "2026-03-01T09:00:00Z",
            "updated_at": "2026-03-02T09:00:00Z",
            "reporter": "ann@client.com",
            "version": 1,
            **fields,
        }
    )


def take(
    owner: AccountRef, item: AnyItem, *, beside: Callable[[], Beside | None] | None = None
) -> IngestOutcome:
    """Reads the item in."""
    return ingest(account=owner, source_id=item.id, item=item, now=NOW, beside=beside)
