"""Somebody's own mailbox at Microsoft: a mail that arrives starts a turn; what the agent does
stands there and in the ledger, can be taken back, and starts no other turn. At a fake of Graph,
with a scripted model."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from agents.models import Turn
from audit.ledger.ids import uuid7
from audit.models import ExecutedAgentAction
from guardrails.contracts import ActionRequest
from guardrails.execute.executor import execute
from guardrails.execute.undo import undo
from guardrails.models import AllowedAction, AllowedActionOption
from integrations.models import Account, Delivery, Organisation
from tests.guardrails.office import CHAT
from tests.guardrails.values import AGENT_TEXT
from tests.microsoft_world import ADDRESS, TOKEN, Outlook, running_outlook
from tests.office import Office
from tests.own_accounts import connected, tokens, trusted
from tests.stories.steps import scripted
from tests.stories.test_own_mailbox import (
    INGEST,
    READER,
    SUMMARY,
    allow_preset,
    archive,
    look,
)

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TOM = "tom@elsewhere.test"


@pytest.fixture
def outlook(keys: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outlook]:
    with running_outlook() as running, trusted(running, monkeypatch):
        yield running


def connect(outlook: Outlook) -> Account:
    return connected(
        "microsoft_mail",
        organisation=Organisation.objects.get(),
        user=f"nora-{uuid4().hex[:6]}",
        address=ADDRESS,
        servers={"api": outlook.api, "ends_at": "", "folders": outlook.folders},
        secret=tokens(TOKEN),
    )


def test_a_mail_that_arrives_starts_one_turn_and_what_remit_does_starts_none(
    office: Office, outlook: Outlook
) -> None:
    account = connect(outlook)
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
