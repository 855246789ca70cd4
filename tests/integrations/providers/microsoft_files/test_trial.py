"""A trial of files at Microsoft with what a consent gave."""

import pytest
from django.utils import timezone

from integrations.credentials.oauth import Tokens
from integrations.exceptions import Rejected
from integrations.providers.microsoft_files import trial
from tests.microsoft_files_world import ADDRESS, NORA, TOKEN, OneDrive

pytestmark = pytest.mark.django_db


def tokens(*scopes: str) -> Tokens:
    return Tokens(access=TOKEN, refresh="r", expires_at=timezone.now(), scopes=scopes)


@pytest.mark.parametrize("kind", ["personal", "business"])
def test_it_says_what_can_be_done_and_changes_nothing(onedrive: OneDrive, kind: str) -> None:
    onedrive.kind = kind
    onedrive.make_folder("folder", "Clients")
    onedrive.make_folder("below", "Below", above="folder")
    onedrive.put("notes", "Notes.txt", "One")
    tried = trial.try_account(tokens(*trial.SCOPES), address=ADDRESS, api=onedrive.api)

    assert tried.folders == ("Clients",)
    assert tried.servers == {"api": onedrive.api, "ends_at": "", "kind": kind, "owner": NORA}
    assert {one.what: one.grade for one in tried.abilities} == {
        "Read and search": "A",
        "Create documents": "A",
        "Add to documents": "B",
        "Move documents": "A",
        "Put documents into the trash": "B",
        "Share documents": "B",
    }
    trash = next(one.why for one in tried.abilities if "trash" in one.what)
    assert ("only the user can" in trash) == (kind == "business")
    assert [one.rpartition("/")[2] for one in trial.SCOPES] == [
        "Files.ReadWrite",
        "User.Read",
        "offline_access",
    ]
    assert onedrive.writes == []


def test_half_a_yes_and_another_user_are_said(onedrive: OneDrive) -> None:
    with pytest.raises(Rejected, match="read and change the files"):
        trial.try_account(tokens("Files.Read", "User.Read"), address=ADDRESS, api=onedrive.api)
    with pytest.raises(Rejected, match=f"signed in as {ADDRESS}"):
        trial.try_account(tokens(), address="tom@office.test", api=onedrive.api)
