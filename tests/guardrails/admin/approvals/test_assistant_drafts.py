"""The page of the assistant's drafts says what became of each."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.test import Client

from guardrails.models import AssistantDraft
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
LIST = "/admin/guardrails/assistantdraft/"


def test_it_shows_what_became_of_each_draft_and_changes_nothing(
    office: Office, client: Client
) -> None:
    row = AssistantDraft.objects.create(
        account=office.mailbox,
        action_id=uuid4(),
        draft_id="draft-1",
        digest="0" * 64,
        thread_id="t-1",
        reply_to_id="mail-1",
        receivers=["tom@office.test", "eve\u202e@office.test"],
        of_own_accord=True,
        state=AssistantDraft.State.SENT,
        nearness=0.734,
        written_at=datetime(2026, 3, 2, tzinfo=UTC),
    )

    shown = client.get(LIST).content.decode()
    page = client.get(f"{LIST}{row.pk}/change/").content.decode()

    assert "Sent by the user" in shown
    assert "73%" in shown
    assert "tom@office.test, eve⟨U+202E⟩@office.test" in shown
    assert str(row.action_id) in page
    assert client.post(f"{LIST}{row.pk}/change/", {"state": "pending"}).status_code == 403
    assert client.get(f"{LIST}add/").status_code == 403
