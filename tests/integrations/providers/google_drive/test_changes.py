"""What is new at Google Drive, whatever becomes of its tokens."""

import pytest

from integrations.exceptions import RateLimited
from integrations.models import MailState
from tests.google_drive_world import FOLDER
from tests.integrations.providers.google_drive.box import Box
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db
LONG_AGO = "2020-01-01T00:00:00.000Z"


def test_what_is_there_at_first_is_no_news_and_all_afterwards_is(box: Box) -> None:
    box.google.put("old", "Old", createdTime=LONG_AGO)
    assert box.look() == []

    box.google.put("new", "New")
    box.google.put("old", "Old, later")
    box.google.put("folder", "Folder", mimeType=FOLDER)
    assert box.look() == [("created", "New"), ("updated", "Old, later")]
    assert box.look() == []

    box.google.put("old", "Old, later", trashed=True)
    box.google.delete("new")
    assert box.look() == [("deleted", "old"), ("deleted", "new")]


def test_what_somebody_lets_the_user_read_is_new(box: Box) -> None:
    box.look()
    at = f"{box.google.tick():%Y-%m-%dT%H:%M:%S.000Z}"
    box.google.put("toms", "Tom's", createdTime=LONG_AGO, sharedWithMeTime=at)
    assert box.look() == [("created", "Tom's")]


def test_each_page_is_kept_and_none_comes_twice(box: Box) -> None:
    box.look()
    box.google.page = 2
    for number in range(5):
        box.google.put(f"{number}", f"File {number}")

    assert box.look() == [("created", f"File {number}") for number in range(5)]
    assert MailState.objects.get(account_id=box.account.id).state == str(box.google.number)


def test_a_lost_token_loses_no_change_since_the_last_look(box: Box) -> None:
    box.google.put("old", "Old", createdTime=LONG_AGO, modifiedTime=LONG_AGO)
    box.look()
    box.google.put("new", "New")
    box.google.put("other", "Other")
    box.google.forget_tokens()
    box.google.page = 1

    assert box.look() == [("created", "Other"), ("created", "New")]
    assert box.look() == []


def test_not_so_fast_is_no_lost_token(box: Box) -> None:
    box.look()
    error = {"code": 403, "errors": [{"reason": "userRateLimitExceeded"}]}
    box.google.refuse = [Refuse(403, {"error": error}, {"Retry-After": "90"})]
    reads = box.google.reads

    with pytest.raises(RateLimited):
        box.look()
    assert box.google.reads == reads
