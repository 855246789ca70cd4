"""Somebody's own mailbox at Microsoft: a mail that arrives starts a turn; what the agent does
stands there and in the ledger, can be taken back, and starts no other turn. At a fake of Graph,
with a scripted model."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from agents.models import Turn
from audit.ledger.ids import uuid7
from audit.models import ExecutedAgentAction
from guardrails.contracts import ActionRequest
from guardrails.execute.executor import execute
from guardrails.execute.undo import undo
from guardrails.models import AllowedAction, AllowedActionOption
from integrations.credentials import credentials, sealing
from integrations.credentials.oauth import Tokens
from integrations.models import Account, Delivery, Organisation
from integrations.network import http
from tests.guardrails.office import CHAT
from tests.guardrails.values import AGENT_TEXT
from tests.microsoft_world import ADDRESS, TOKEN, Outlook, running_outlook
from tests.office import Office
from tests.stories.steps import scripted
from tests.stories.test_own_mailbox import (
    INGEST,
    PRIVATE,
    READER,
    SUMMARY,
    allow_preset,
    archive,
    look,
)

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TOM = "tom@elsewhere.test"


@pytest.fixture
def outlook(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outlook]:
    settings.OUTGOING_TO_PRIVATE = True
    settings.CREDENTIALS_PRIVATE_KEY = PRIVATE
    public = sealing.private_key(PRIVATE).public_key()
    settings.CREDENTIALS_PUBLIC_KEY = sealing.to_text(public)
    with running_outlook() as running:
        monkeypatch.setenv("SSL_CERT_FILE", str(running.trusted))
        http.close_clients()
        yield running
        http.close_clients()  # before their server goes
        assert running.problems == []


def connected(outlook: Outlook) -> Account:
    row = Account.objects.create(
        organisation=Organisation.objects.get(),
        external_user_id=f"nora-{uuid4().hex[:6]}",
        source="microsoft_mail",
        address=ADDRESS,
    )
    until = timezone.now() + timedelta(hours=1)
    credentials.keep(
        account_id=row.id,
        user_name=ADDRESS,
        servers={"api": outlook.api, "ends_at": "", "folders": outlook.folders},
        sealed=credentials.seal(
            Tokens(access=TOKEN, refresh="r", expires_at=until).to_text(), account_id=row.id
        ),
    )
    return row


def test_a_mail_that_arrives_starts_one_turn_and_what_remit_does_starts_none(
    office: Office, outlook: Outlook
) -> None:
    account = connected(outlook)
    look(office, account)
    allow_preset(account)
    outlook.tick(2)

    outlook.receive("News of the week", "Nothing to do.")
    with scripted({INGEST: [SUMMARY], READER: archive}):
        look(office, account)

    turn = Turn.objects.get()
    assert (turn.state, turn.ending) == ("finished", "reply")
    rows = ExecutedAgentAction.objects.filter(run_id=str(turn.id)).order_by("id")
    assert [(row.action_type, row.phase, row.status) for row in rows] == [
        ("archive", "attempt", "pending"),
        ("archive", "outcome", "succeeded"),
    ]
    assert outlook.held() == {"News of the week": {"UNREAD"}}

    taken_back = undo(
        organisation_id=account.organisation_id, action_id=rows[0].action_id, by="operator:olga"
    )
    assert taken_back.status == "succeeded"
    assert outlook.held() == {"News of the week": {"INBOX", "UNREAD"}}

    outlook.before["POST send"] = lambda: setattr(outlook, "lose", 1)
    sent = execute(allowed_mail(account))
    assert (sent.status, len(outlook.out)) == ("succeeded", 1)
    with scripted({INGEST: [SUMMARY]}):
        look(office, account)
    assert Turn.objects.count() == 1
    reasons = Delivery.objects.filter(kind="created").values_list("reason", flat=True)
    assert sorted(reasons) == ["", "own_mail"]


def allowed_mail(account: Account) -> ActionRequest:
    """A mail that its user's agent may send unasked."""
    AllowedAction.objects.update_or_create(
        account=account,
        action_type="send_email",
        defaults={"approval_mode": "auto", "hold_seconds": 0, "conditions": [AGENT_TEXT]},
    )
    AllowedActionOption.objects.create(
        account=account,
        action_type="send_email",
        source=account.source,
        kind="recipient",
        external_id=TOM,
        name="Tom",
    )
    return ActionRequest(
        action_id=uuid7(),
        account=account.ref(),
        action_type="send_email",
        arguments={"to": [TOM], "subject": "Friday", "body": "See you on Friday."},
        origin=CHAT,
    )
