"""A trial of Google Drive with what a consent gave."""

import pytest
from django.utils import timezone

from integrations.accounts import writes
from integrations.credentials.oauth import Tokens
from integrations.exceptions import Rejected
from integrations.providers.google_drive import trial
from tests.google_drive_world import ADDRESS, FOLDER, TOKEN, GoogleDrive
from tests.integrations.providers.google_drive.box import Box

pytestmark = pytest.mark.django_db


def tokens(*scopes: str) -> Tokens:
    return Tokens(access=TOKEN, refresh="r", expires_at=timezone.now(), scopes=scopes)


def test_it_is_read_alone_and_google_is_asked_for_no_more(google: GoogleDrive) -> None:
    google.put("folder", "Clients", mimeType=FOLDER)
    tried = trial.try_account(tokens(*trial.SCOPES), address=ADDRESS, api=google.api)

    assert tried.folders == ("Clients",)
    assert {one.what: one.grade for one in tried.abilities if one.grade} == {"Read and search": "A"}
    assert [one.rpartition("/")[2] for one in trial.SCOPES] == ["drive.readonly"]


def test_half_a_yes_and_another_user_are_said(google: GoogleDrive) -> None:
    with pytest.raises(Rejected, match="read the files"):
        trial.try_account(tokens("openid"), address=ADDRESS, api=google.api)
    with pytest.raises(Rejected, match=f"signed in as {ADDRESS}"):
        trial.try_account(tokens(), address="tom@office.test", api=google.api)


def test_nothing_can_be_written_there(box: Box) -> None:
    with pytest.raises(Rejected):
        writes.writer(box.account)
    assert box.google.writes == []
