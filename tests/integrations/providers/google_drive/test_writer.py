"""Writes to files at Google Drive: once, marked, and told to nobody. What Google holds is what
counts."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from integrations.exceptions import (
    Changed,
    NotFound,
    NotPermitted,
    ProviderError,
    Rejected,
    Unavailable,
)
from integrations.models import Credential, FileWrite
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from tests.google_drive_world import ADDRESS, FOLDER, ME, NATIVE, ROOT
from tests.integrations.providers.google_drive.box import Box

pytestmark = pytest.mark.django_db
TOM = "tom@elsewhere.test"
KEY = "remit-0199aaaa-0000-7000-8000-000000000001"
Write = Callable[[Box], dict[str, Any]]


def older() -> None:
    """What was under way is so no longer."""
    FileWrite.objects.update(changed_at=timezone.now() - timedelta(minutes=5))


def fill(box: Box) -> None:
    box.google.put("clients", "Clients", mimeType=FOLDER)
    box.google.put("notes", "Notes.txt", "One")


def share(box: Box, role: str = "reader", key: str = KEY) -> dict[str, Any]:
    return box.writer.share_document("notes", email=TOM, role=role, revision=None, key=key)


WRITES: dict[str, Write] = {
    "create": lambda box: box.writer.create_document(
        name="New", content="New", folder_id="clients", key=KEY
    ),
    "append": lambda box: box.writer.append_document(
        "notes", content=" two", revision=None, key=KEY
    ),
    "move": lambda box: box.writer.move_document(
        "notes", folder_id="clients", revision=None, key=KEY
    ),
    "trash": lambda box: box.writer.trash_document("notes", revision=None, key=KEY),
    "share": share,
}
DONE: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "create": ({"Notes.txt": "One", "Clients/New": "New"}, {}),
    "append": ({"Notes.txt": "One two"}, {}),
    "move": ({"Clients/Notes.txt": "One"}, {}),
    "trash": ({}, {}),
    "share": ({"Notes.txt": "One"}, {TOM: "reader"}),
}


def held(box: Box) -> tuple[dict[str, str], dict[str, str]]:
    return box.google.held(), box.google.shared("notes")


@pytest.mark.parametrize("name", WRITES)
def test_a_lost_answer_is_found_and_nothing_is_done_twice(box: Box, name: str) -> None:
    fill(box)
    box.google.lose = 1
    with pytest.raises(Unavailable):
        WRITES[name](box)

    found = box.reader.evidence(KEY)
    assert isinstance(found, Performed)
    again = WRITES[name](box)
    assert again == found.response
    assert again["revision"] == box.google.files[again["id"]]["version"]
    assert held(box) == DONE[name]
    assert len([one for one in box.google.writes if one.method != "GET"]) == 1
    assert box.google.told == []


@pytest.mark.parametrize("name", WRITES)
def test_what_did_not_reach_google_was_not_done_and_can_be_done_again(box: Box, name: str) -> None:
    fill(box)
    before = held(box)
    box.google.refuse_write = 500
    with pytest.raises(Unavailable):
        WRITES[name](box)
    # A slow server may still do it.
    assert isinstance(box.reader.evidence(KEY), CannotTell)
    older()
    assert isinstance(box.reader.evidence(KEY), NotPerformed)
    assert held(box) == before

    WRITES[name](box)
    assert held(box) == DONE[name]


@pytest.mark.parametrize("name", ["append", "move", "trash", "share"])
def test_a_file_that_has_changed_is_left_as_it_is(box: Box, name: str) -> None:
    fill(box)
    revision = box.reader.document("notes").revision
    box.google.put("notes", "Notes.txt", "Another text")
    writer = box.writer
    calls: dict[str, Callable[[], Any]] = {
        "append": lambda: writer.append_document("notes", content="!", revision=revision, key=KEY),
        "move": lambda: writer.move_document(
            "notes", folder_id="clients", revision=revision, key=KEY
        ),
        "trash": lambda: writer.trash_document("notes", revision=revision, key=KEY),
        "share": lambda: writer.share_document(
            "notes", email=TOM, role="reader", revision=revision, key=KEY
        ),
    }
    with pytest.raises(Changed):
        calls[name]()

    assert box.google.writes == []
    assert held(box) == ({"Notes.txt": "Another text"}, {})
    assert isinstance(box.reader.evidence(KEY), NotPerformed)


def test_what_others_did_since_hides_nothing_and_is_not_taken_for_ours(box: Box) -> None:
    fill(box)
    box.google.lose = 1
    with pytest.raises(Unavailable):
        WRITES["append"](box)
    box.google.put("notes", "Notes.txt", "One two, and mine")
    assert isinstance(box.reader.evidence(KEY), Performed)  # its mark stays

    box.google.refuse_write = 500
    with pytest.raises(Unavailable):
        box.writer.append_document("notes", content="!", revision=None, key="remit-2")
    box.google.put("notes", "Notes.txt", "Mine alone")
    FileWrite.objects.filter(key="remit-2").update(changed_at=timezone.now() + timedelta(hours=1))
    FileWrite.objects.filter(key=KEY).update(changed_at=timezone.now() - timedelta(hours=2))
    FileWrite.objects.filter(key="remit-2").update(changed_at=timezone.now() - timedelta(minutes=5))
    # The mark is that of the write before, and nobody but Remit sets one.
    assert isinstance(box.reader.evidence("remit-2"), NotPerformed)

    box.writer.append_document("notes", content="?", revision=None, key="remit-3")
    assert box.reader.evidence("remit-2") == CannotTell(ask_again_at=None)


def test_a_share_that_somebody_took_back_is_left_to_a_person(box: Box) -> None:
    fill(box)
    box.google.lose = 1
    with pytest.raises(Unavailable):
        share(box)
    box.google.put("notes", "Notes.txt", "One", permissions=[ME])

    assert box.reader.evidence(KEY) == CannotTell(ask_again_at=None)


def test_a_role_is_changed_back_and_taken_away(box: Box) -> None:
    fill(box)
    share(box, "writer")
    share(box, "commenter", key="remit-2")
    assert box.google.shared("notes") == {TOM: "commenter"}
    assert box.reader.document("notes").roles == {TOM: "commenter"}

    for key in ("remit-3", "remit-4"):
        box.writer.unshare_document("notes", email=TOM, revision=None, key=key)
    assert box.google.shared("notes") == {}
    assert [one.method for one in box.google.writes] == ["POST", "PATCH", "DELETE"]
    assert box.google.told == []


def test_google_writes_to_nobody_and_an_owner_stays_one(box: Box) -> None:
    fill(box)
    with pytest.raises(Rejected, match="account at Google"):
        box.writer.share_document(
            "notes", email="eve@nowhere.test", role="reader", revision=None, key=KEY
        )
    owner = {"id": "t", "type": "user", "role": "owner", "emailAddress": TOM}
    box.google.put("toms", "Toms.txt", "x", owners=[{"emailAddress": TOM}], permissions=[owner, ME])
    with pytest.raises(Rejected, match="more"):
        box.writer.share_document("toms", email=TOM, role="reader", revision=None, key="remit-2")

    assert (box.google.writes, box.google.told) == ([], [])


@pytest.mark.parametrize("folder", ["never", "notes", "gone"])
def test_what_is_no_folder_takes_nothing(box: Box, folder: str) -> None:
    fill(box)
    box.google.put("gone", "Gone", mimeType=FOLDER, trashed=True)
    with pytest.raises(NotFound):
        box.writer.create_document(name="New", content="", folder_id=folder, key=KEY)
    with pytest.raises(NotFound):
        box.writer.move_document("notes", folder_id=folder, revision=None, key="remit-2")

    assert (box.google.writes, box.google.given) == ([], [])


SHEET = "application/vnd.google-apps.spreadsheet"
NO_TEXTS = [("x", SHEET), (b"\xff\xfe", "text/plain"), (b"%PDF", "application/pdf")]


@pytest.mark.parametrize(("text", "kind"), NO_TEXTS)
def test_only_to_plain_text_is_something_added(box: Box, text: Any, kind: str) -> None:
    box.google.put("doc", "Plan", text, mimeType=kind)
    with pytest.raises(Rejected, match="plain text"):
        box.writer.append_document("doc", content="!", revision=None, key=KEY)

    assert box.google.writes == []


def write_plan(box: Box, text: str = " \U0001f600 two", **more: Any) -> dict[str, Any]:
    wanted: dict[str, Any] = {"content": text, "revision": None, "key": KEY, **more}
    return box.writer.append_document("doc", **wanted)


def test_to_a_document_of_googles_own_it_is_added_once_behind_every_sign(box: Box) -> None:
    box.google.put("doc", "Plan", "\ufeffOne \U0001f600", mimeType=NATIVE)
    box.google.lose = 1
    with pytest.raises(Unavailable):
        write_plan(box)
    found = box.reader.evidence(KEY)
    assert isinstance(found, Performed)
    assert write_plan(box) == found.response
    assert box.google.held() == {"Plan": "One \U0001f600 \U0001f600 two"}

    write_plan(box, "!", key="remit-2")
    FileWrite.objects.filter(key=KEY).update(done=False)
    assert isinstance(box.reader.evidence(KEY), Performed)  # each write has a mark of its own
    box.google.ranges["doc"].clear()
    box.google.put("doc", "Plan", "Mine", mimeType=NATIVE)
    older()
    assert box.reader.evidence(KEY) == CannotTell(ask_again_at=None)


def test_google_itself_takes_no_text_for_a_document_that_changes_just_then(box: Box) -> None:
    box.google.put("doc", "Plan", "One", mimeType=NATIVE)
    box.google.before_write.append(lambda: box.google.put("doc", "Plan", "Mine", mimeType=NATIVE))
    with pytest.raises(Changed):
        write_plan(box)
    assert (box.google.held(), box.google.writes) == ({"Plan": "Mine"}, [])


def test_a_document_that_may_be_read_alone_or_a_text_that_google_refuses_stays(box: Box) -> None:
    box.google.put("doc", "Plan", "One", mimeType=NATIVE)
    with pytest.raises(Rejected, match="400"):
        write_plan(box, "\0")
    box.google.files["doc"]["may_change"] = False
    with pytest.raises(Rejected, match="read the document"):
        write_plan(box, key="remit-2")
    assert box.google.writes == []
    older()
    assert isinstance(box.reader.evidence(KEY), NotPerformed)


def test_an_account_that_was_connected_for_less_signs_in_again(box: Box) -> None:
    box.google.put("doc", "Plan", "One", mimeType=NATIVE)
    Credential.objects.filter(account_id=box.account.id).update(
        servers={"api": box.google.api, "ends_at": ""}
    )
    with pytest.raises(NotPermitted, match="sign in again"):
        write_plan(box)
    assert box.google.writes == []


def test_a_file_in_the_trash_comes_back_and_lies_where_it_lay(box: Box) -> None:
    fill(box)
    box.google.put("notes", "Notes.txt", "One", parents=["clients"])
    WRITES["trash"](box)
    assert box.google.held() == {}
    box.writer.restore_document("notes", revision=None, key="remit-2")

    assert box.google.held() == {"Clients/Notes.txt": "One"}


def test_a_file_that_is_gone_for_good_tells_nobody(box: Box) -> None:
    fill(box)
    box.google.lose = 1
    with pytest.raises(Unavailable):
        WRITES["move"](box)
    box.google.delete("notes")

    assert box.reader.evidence(KEY) == CannotTell(ask_again_at=None)
    with pytest.raises(ProviderError):
        WRITES["move"](box)
    assert ROOT in box.google.files
    assert box.google.login == ADDRESS
