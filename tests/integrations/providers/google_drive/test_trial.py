"""A trial of Google Drive with what a consent gave."""

import pytest
from django.utils import timezone

from integrations.credentials.oauth import Tokens
from integrations.exceptions import Rejected
from integrations.providers.google_drive import trial
from tests.google_drive_world import ADDRESS, FOLDER, TOKEN, GoogleDrive

pytestmark = pytest.mark.django_db


def tokens(*scopes: str) -> Tokens:
    return Tokens(access=TOKEN, refresh="r", expires_at=timezone.now(), scopes=scopes)


def test_it_says_what_can_be_done_and_changes_nothing(google: GoogleDrive) -> None:
    google.put("folder", "Clients", mimeType=FOLDER)
    tried = trial.try_account(tokens(*trial.SCOPES), address=ADDRESS, api=google.api)

    assert tried.folders == ("Clients",)
    assert {one.what: one.grade for one in tried.abilities} == {
        "Read and search": "A",
        "Create documents": "A",
        "Add to documents": "B",
        "Move documents": "B",
        "Put documents into the trash": "B",
        "Share documents": "B",
    }
    assert [one.rpartition("/")[2] for one in trial.SCOPES] == ["drive"]
    assert google.writes == []


def test_half_a_yes_and_another_user_are_said(google: GoogleDrive) -> None:
    with pytest.raises(Rejected, match="read and change the files"):
        trial.try_account(tokens(f"{trial.SCOPES[0]}.readonly"), address=ADDRESS, api=google.api)
    with pytest.raises(Rejected, match=f"signed in as {ADDRESS}"):
        trial.try_account(tokens(), address="tom@office.test", api=google.api)
