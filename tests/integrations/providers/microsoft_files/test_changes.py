"""What is new at a drive of Microsoft's, whatever becomes of its links."""

import pytest

from integrations.exceptions import Malformed, RateLimited, Unavailable
from integrations.models import MailFolderLink
from integrations.providers.microsoft_files import changes
from tests.integrations.providers.microsoft_files.box import Box
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db
LONG_AGO = "2020-01-01T00:00:00Z"


def test_what_is_there_at_first_is_no_news_and_all_afterwards_is(box: Box) -> None:
    box.onedrive.put("old", "Old", createdDateTime=LONG_AGO)
    assert box.look() == []

    box.onedrive.put("new", "New")
    box.onedrive.put("old", "Old, later")
    box.onedrive.make_folder("folder", "Folder")
    assert box.look() == [("created", "New"), ("updated", "Old, later")]
    assert box.look() == []

    box.onedrive.throw_away("old")
    assert box.look() == [("deleted", "old")]


def test_a_file_that_changes_often_is_news_once_as_it_is_now(box: Box) -> None:
    box.look()
    for text in ("One", "Two", "Three"):
        box.onedrive.put("notes", "Notes.txt", text)
    assert box.look() == [("created", "Notes.txt")]


def test_what_goes_twice_goes_under_two_names(box: Box) -> None:
    box.onedrive.put("notes", "Notes.txt", "One", createdDateTime=LONG_AGO)
    box.look()
    found = []
    for _ in range(2):
        box.onedrive.throw_away("notes")
        # Seen before a fall and after it: the same name.
        once = [name for one in changes.look(box.account) for name, _ in one.events]
        looked = list(changes.look(box.account))
        assert [name for one in looked for name, _ in one.events] == once
        for one in looked:
            one.keep()
        box.onedrive.restore("notes")
        box.look()
        found += once
    assert len(set(found)) == 2


def test_pages_are_gone_through_and_the_link_is_kept_with_the_last(box: Box) -> None:
    box.look()
    before = MailFolderLink.objects.get(account_id=box.account.id).link
    box.onedrive.page = 2
    for number in range(5):
        box.onedrive.put(f"{number}", f"File {number}")

    looks = changes.look(box.account)
    next(looks).keep()
    assert MailFolderLink.objects.get(account_id=box.account.id).link == before
    assert box.look() == [("created", f"File {number}") for number in range(5)]
    assert MailFolderLink.objects.get(account_id=box.account.id).link != before


def test_a_lost_link_loses_no_change_since_the_last_look(box: Box) -> None:
    box.onedrive.put("old", "Old", createdDateTime=LONG_AGO)
    box.onedrive.items["old"]["lastModifiedDateTime"] = LONG_AGO
    box.look()
    box.onedrive.put("new", "New")
    box.onedrive.put("other", "Other")
    box.onedrive.forget_links()
    box.onedrive.page = 1

    assert box.look() == [("created", "New"), ("created", "Other")]
    assert box.look() == []


def test_what_comes_while_a_lost_link_is_made_good_is_seen_the_next_time(box: Box) -> None:
    box.look()
    box.onedrive.forget_links()
    box.onedrive.put("one", "One")
    looks = changes.look(box.account)
    first = next(looks)
    first.keep()
    box.onedrive.put("two", "Two")
    for looked in looks:
        looked.keep()
    assert ("created", "Two") in box.look()


def test_a_link_to_another_place_is_followed_nowhere(box: Box) -> None:
    box.look()
    MailFolderLink.objects.update(link="/me/drive/root/delta?token=latest")
    origin, box.onedrive.origin = box.onedrive.origin, "https://elsewhere.test"
    try:
        with pytest.raises(Malformed, match="another place"):
            list(changes.look(box.account))
    finally:
        box.onedrive.origin = origin


@pytest.mark.parametrize(("status", "error"), [(429, RateLimited), (503, Unavailable)])
def test_bad_luck_is_no_lost_link(box: Box, status: int, error: type[Exception]) -> None:
    box.look()
    box.onedrive.put("new", "New")
    headers = {"Retry-After": "90"} if status == 429 else {}
    box.onedrive.refuse = [Refuse(status, None, headers)] * 9
    with pytest.raises(error):
        box.look()
