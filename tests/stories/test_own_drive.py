"""Somebody's own files at Google Drive: what the agent does stands there and in the ledger, can be
taken back, and starts nothing. At a fake of Google's."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from agents.models import Turn
from audit.ledger.ids import uuid7
from audit.models import ExecutedAgentAction
from guardrails.contracts import ActionRequest, ActionResult
from guardrails.execute.executor import execute
from guardrails.execute.undo import undo
from guardrails.models import AllowedAction, AllowedActionOption
from integrations.models import Account, Organisation
from tests.google_drive_world import ADDRESS, FOLDER, TOKEN, GoogleDrive, running_google_drive
from tests.guardrails.office import CHAT
from tests.guardrails.values import AGENT_TEXT
from tests.office import Office
from tests.own_accounts import connected, tokens, trusted
from tests.stories.test_own_files import look

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TOM = "tom@elsewhere.test"


@pytest.fixture
def google(keys: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[GoogleDrive]:
    with running_google_drive() as running, trusted(running, monkeypatch):
        yield running


def connect(google: GoogleDrive) -> Account:
    return connected(
        "google_drive",
        organisation=Organisation.objects.get(),
        user="nora",
        address=ADDRESS,
        servers=google.servers,
        secret=tokens(TOKEN),
    )


def permit(
    account: Account, action_type: str, *, kind: str = "", target: str = "", name: str = ""
) -> None:
    AllowedAction.objects.create(
        account=account,
        action_type=action_type,
        approval_mode="auto",
        conditions=[AGENT_TEXT] if action_type == "create_document" else [],
    )
    if target:
        AllowedActionOption.objects.create(
            account=account,
            action_type=action_type,
            source=account.source,
            kind=kind,
            external_id=target,
            name=name or target,
        )


def do(account: Account, action_type: str, *, words: str, **arguments: str) -> ActionResult:
    request = ActionRequest(
        action_id=uuid7(),
        account=account.ref(),
        action_type=action_type,
        arguments=arguments,
        origin=replace(CHAT, user_words=words),
    )
    return execute(request)


def take_back(account: Account, done: ActionResult) -> str:
    back = undo(
        organisation_id=account.organisation_id, action_id=done.action_id, by="operator:olga"
    )
    return back.status


def test_what_is_done_at_drive_is_done_once_is_taken_back_and_starts_nothing(
    office: Office, google: GoogleDrive
) -> None:
    google.put("clients", "Clients", mimeType=FOLDER)
    google.put("plan-7", "Plan.txt", "The plan")
    account = connect(google)
    look(office, account)
    permit(account, "create_document", kind="folder", target="clients", name="/Clients")
    permit(account, "move_document", kind="folder", target="clients", name="/Clients")
    permit(account, "share_document", kind="recipient", target=TOM)
    share = "Share plan-7 with tom@elsewhere.test and eve@elsewhere.test."

    google.lose = 1
    words = "Write One into Notes.txt in Clients."
    made = do(
        *(account, "create_document"),
        words=words,
        name="Notes.txt",
        content="One",
        folder_id="clients",
    )
    assert made.status == "succeeded", made.sentence
    assert google.held() == {"Clients/Notes.txt": "One", "Plan.txt": "The plan"}

    for action_type, words, arguments in (
        ("share_document", share, {"email": TOM}),
        ("move_document", "Move plan-7 to Clients.", {"folder_id": "clients"}),
    ):
        before = google.held(), google.shared("plan-7")
        google.lose = 1
        done = do(account, action_type, words=words, document_id="plan-7", **arguments)
        assert done.status == "succeeded", done.sentence
        assert (google.held(), google.shared("plan-7")) != before
        assert take_back(account, done) == "succeeded"
        assert (google.held(), google.shared("plan-7")) == before

    written = len(google.writes)
    assert written == 5  # each once
    eve = do(
        *(account, "share_document"), words=share, document_id="plan-7", email="eve@elsewhere.test"
    )
    assert (eve.status, len(google.writes), google.shared("plan-7")) == ("refused", written, {})

    look(office, account)
    assert (Turn.objects.count(), google.told) == (0, [])
    rows = ExecutedAgentAction.objects.filter(
        account_id=account.id, phase__in=("outcome", "blocked")
    ).order_by("id")
    assert [(row.action_type, row.phase, row.status) for row in rows] == [
        ("create_document", "outcome", "succeeded"),
        ("share_document", "outcome", "succeeded"),
        ("unshare_document", "outcome", "succeeded"),
        ("move_document", "outcome", "succeeded"),
        ("move_document", "outcome", "succeeded"),
        ("share_document", "blocked", "blocked"),
    ]
