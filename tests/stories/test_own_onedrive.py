"""Somebody's own files at Microsoft: what the agent does stands there and in the ledger, can be
taken back, reaches nobody whom nobody listed, and starts nothing. At a fake of Graph."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents.models import Turn
from audit.models import ExecutedAgentAction
from guardrails.approve.approvals import confirm
from guardrails.models import AllowedActionOption
from integrations.models import Account, Organisation
from tests.microsoft_files_world import ADDRESS, TOKEN, OneDrive, running_onedrive
from tests.office import Office
from tests.own_accounts import connected, tokens, trusted
from tests.stories.test_own_drive import TOM, do, permit, take_back
from tests.stories.test_own_files import look

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def onedrive(keys: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[OneDrive]:
    with running_onedrive() as running, trusted(running, monkeypatch):
        yield running


def connect(onedrive: OneDrive) -> Account:
    return connected(
        "microsoft_files",
        organisation=Organisation.objects.get(),
        user="nora",
        address=ADDRESS,
        servers=onedrive.servers,
        secret=tokens(TOKEN),
    )


def make(account: Account, folder: str, name: str = "Notes.txt") -> Any:
    words = f"Write One into {name} in {folder}."
    return do(account, "create_document", words=words, name=name, content="One", folder_id=folder)


def test_what_is_done_at_onedrive_is_done_once_is_taken_back_and_starts_nothing(
    office: Office, onedrive: OneDrive
) -> None:
    onedrive.make_folder("clients", "Clients")
    onedrive.put("plan-7", "Plan.txt", "The plan")
    account = connect(onedrive)
    look(office, account)
    permit(account, "create_document", kind="folder", target="clients", name="/Clients")
    permit(account, "move_document", kind="folder", target="clients", name="/Clients")
    permit(account, "share_document", kind="recipient", target=TOM)
    permit(account, "trash_document")
    share = "Share plan-7 with tom@elsewhere.test and eve@elsewhere.test."

    onedrive.lose = 1
    made = make(account, "clients")
    assert made.status == "succeeded", made.sentence
    assert onedrive.held() == {"Clients/Notes.txt": "One", "Plan.txt": "The plan"}

    for action_type, words, arguments in (
        ("share_document", share, {"email": TOM}),
        ("move_document", "Move plan-7 to Clients.", {"folder_id": "clients"}),
    ):
        before = onedrive.held(), onedrive.shared("plan-7")
        onedrive.lose = 1
        done = do(account, action_type, words=words, document_id="plan-7", **arguments)
        assert done.status == "succeeded", done.sentence
        assert (onedrive.held(), onedrive.shared("plan-7")) != before
        assert take_back(account, done) == "succeeded"
        assert (onedrive.held(), onedrive.shared("plan-7")) == before

    asked = do(account, "trash_document", words="Put plan-7 into the trash.", document_id="plan-7")
    assert (asked.status, len(onedrive.held())) == ("pending", 2)
    assert asked.approval_id
    onedrive.lose = 1
    gone = confirm(
        organisation_id=account.organisation_id,
        approval_id=asked.approval_id,
        decided_by="operator:olga",
    )
    assert (gone.status, len(onedrive.held())) == ("succeeded", 1), gone.sentence

    assert take_back(account, gone) == "succeeded"
    assert len(onedrive.held()) == 2

    written = len(onedrive.writes)
    assert written == 7  # each once
    eve = do(
        *(account, "share_document"), words=share, document_id="plan-7", email="eve@elsewhere.test"
    )
    assert (eve.status, len(onedrive.writes), onedrive.shared("plan-7")) == ("refused", written, {})

    look(office, account)
    assert (Turn.objects.count(), onedrive.told) == (0, [])
    rows = ExecutedAgentAction.objects.filter(
        account_id=account.id, phase__in=("outcome", "blocked")
    ).order_by("id")
    assert [(row.action_type, row.phase, row.status) for row in rows] == [
        ("create_document", "outcome", "succeeded"),
        ("share_document", "outcome", "succeeded"),
        ("unshare_document", "outcome", "succeeded"),
        ("move_document", "outcome", "succeeded"),
        ("move_document", "outcome", "succeeded"),
        ("trash_document", "outcome", "succeeded"),
        ("restore_document", "outcome", "succeeded"),
        ("share_document", "blocked", "blocked"),
    ]


@pytest.mark.parametrize(
    ("reader", "sentence"),
    [
        (TOM, ""),
        ("eve@elsewhere.test", "“eve@elsewhere.test” (folder readers)"),
        ("", "It is not known who would see this."),
    ],
)
def test_nothing_is_written_where_somebody_reads_whom_nobody_listed(
    office: Office, onedrive: OneDrive, reader: str, sentence: str
) -> None:
    onedrive.make_folder("team", "Team")
    onedrive.make_folder("below", "Below", above="team")
    if reader:
        onedrive.let_in("team", reader)
    else:
        link = {"id": "l", "roles": ["read"], "link": {"scope": "organization", "type": "view"}}
        onedrive.grants["team"] = [link]
    account = connect(onedrive)
    look(office, account)
    permit(account, "create_document", kind="folder", target="below", name="/Team/Below")
    AllowedActionOption.objects.create(
        account=account,
        action_type="create_document",
        source=account.source,
        kind="recipient",
        external_id=TOM,
        name=TOM,
    )

    made = make(account, "below")
    if reader == TOM:
        assert made.status == "succeeded", made.sentence
        assert onedrive.held() == {"Below/Notes.txt": "One"}
    else:
        assert (made.status, onedrive.writes, onedrive.held()) == ("refused", [], {})
        assert sentence in made.sentence
