"""Writes to files at Microsoft: once, on the version that was looked at, and told to nobody. What
the drive holds is what counts."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from integrations.exceptions import Changed, NotFound, ProviderError, Rejected, Unavailable
from integrations.models import FileWrite
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from tests.integrations.providers.microsoft_files.box import Box
from tests.microsoft_files_world import ADDRESS, ROOT

pytestmark = pytest.mark.django_db
TOM, ANN = "tom@elsewhere.test", "ann@office.test"
KEY = "remit-0199aaaa-0000-7000-8000-000000000001"
Write = Callable[[Box], dict[str, Any]]


def older() -> None:
    """What was under way is so no longer."""
    FileWrite.objects.update(changed_at=timezone.now() - timedelta(minutes=5))


def fill(box: Box) -> None:
    box.onedrive.make_folder("clients", "Clients")
    box.onedrive.put("notes", "Notes.txt", "One")


def create(box: Box, name: str = "New", folder: str = "clients", key: str = KEY) -> Any:
    return box.writer.create_document(name=name, content="New", folder_id=folder, key=key)


def share(box: Box, role: str = "reader", key: str = KEY) -> dict[str, Any]:
    return box.writer.share_document("notes", email=TOM, role=role, revision=None, key=key)


WRITES: dict[str, Write] = {
    "create": create,
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
    "share": ({"Notes.txt": "One"}, {TOM: "read"}),
}


def held(box: Box) -> tuple[dict[str, str], dict[str, str]]:
    return box.onedrive.held(), box.onedrive.shared("notes")


@pytest.mark.parametrize("name", WRITES)
def test_a_lost_answer_is_found_and_nothing_is_done_twice(box: Box, name: str) -> None:
    fill(box)
    box.onedrive.lose = 1
    with pytest.raises(Unavailable):
        WRITES[name](box)

    found = box.reader.evidence(KEY)
    assert isinstance(found, Performed)
    again = WRITES[name](box)
    assert again == found.response
    assert again.get("revision", "") == box.onedrive.items.get(again["id"], {}).get("eTag", "")
    assert held(box) == DONE[name]
    # A new file is offered once more, and the drive takes it once.
    assert len(box.onedrive.writes) == 1
    assert box.onedrive.told == []


@pytest.mark.parametrize("name", WRITES)
def test_what_did_not_reach_microsoft_is_done_once_when_it_is_sent_again(
    box: Box, name: str
) -> None:
    fill(box)
    before = held(box)
    box.onedrive.refuse_write = 500
    with pytest.raises(Unavailable):
        WRITES[name](box)
    # A slow server may still do it.
    assert isinstance(box.reader.evidence(KEY), CannotTell)
    older()
    found = box.reader.evidence(KEY)
    assert held(box) == before
    # Sharing leaves no trace when somebody takes it back: a person is asked.
    assert isinstance(found, CannotTell if name == "share" else NotPerformed)

    WRITES[name](box)
    assert held(box) == DONE[name]


Change = Callable[[Box, str | None], dict[str, Any]]
CHANGES: dict[str, Change] = {
    "append": lambda box, at: box.writer.append_document(
        "notes", content="!", revision=at, key=KEY
    ),
    "move": lambda box, at: box.writer.move_document(
        "notes", folder_id="clients", revision=at, key=KEY
    ),
    "trash": lambda box, at: box.writer.trash_document("notes", revision=at, key=KEY),
    "share": lambda box, at: box.writer.share_document(
        "notes", email=TOM, role="reader", revision=at, key=KEY
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_has_changed_is_left_as_it_is(box: Box, name: str) -> None:
    fill(box)
    revision = box.reader.document("notes").revision
    box.onedrive.put("notes", "Notes.txt", "Another text")
    with pytest.raises(Changed):
        CHANGES[name](box, revision)

    assert box.onedrive.writes == []
    assert held(box) == ({"Notes.txt": "Another text"}, {})
    assert isinstance(box.reader.evidence(KEY), NotPerformed)


@pytest.mark.parametrize("name", ["append", "move", "trash"])
def test_microsoft_itself_takes_no_write_to_a_file_that_changes_just_then(
    box: Box, name: str
) -> None:
    fill(box)
    box.onedrive.before_write.append(lambda: box.onedrive.put("notes", "Notes.txt", "Mine"))
    with pytest.raises(Changed):
        CHANGES[name](box, None)

    assert box.onedrive.writes == []
    assert box.onedrive.held() == {"Notes.txt": "Mine"}


def test_what_others_did_since_is_not_taken_for_ours(box: Box) -> None:
    fill(box)
    box.onedrive.lose = 1
    with pytest.raises(Unavailable):
        WRITES["append"](box)
    box.onedrive.put("notes", "Notes.txt", "Mine alone")
    assert box.reader.evidence(KEY) == CannotTell(ask_again_at=None)

    box.onedrive.lose = 1
    with pytest.raises(Unavailable):
        create(box, key="remit-2")
    box.onedrive.put(box.onedrive.feed[-1][1], "New", "Of somebody else")
    assert box.reader.evidence("remit-2") == CannotTell(ask_again_at=None)


def test_a_move_that_a_person_took_back_is_left_to_a_person(box: Box) -> None:
    fill(box)
    box.onedrive.lose = 1
    with pytest.raises(Unavailable):
        WRITES["move"](box)
    box.onedrive.put("notes", "Notes.txt", "One", parentReference={"id": ROOT})

    assert box.reader.evidence(KEY) == CannotTell(ask_again_at=None)


def test_a_name_that_is_taken_covers_nothing(box: Box) -> None:
    fill(box)
    box.onedrive.put("mine", "new", "Mine", parentReference={"id": "clients"})
    for _ in range(2):
        with pytest.raises(Rejected, match="name already"):
            create(box)
    box.onedrive.put("other", "notes.txt", "Other", parentReference={"id": "clients"})
    with pytest.raises(Rejected, match="name already"):
        box.writer.move_document("notes", folder_id="clients", revision=None, key="remit-2")

    assert box.onedrive.writes == []
    assert box.onedrive.held()["Clients/new"] == "Mine"


@pytest.mark.parametrize("name", ["a/b", "a:b", "..", "", " a", "a.", "a\nb", "con|fig"])
def test_a_name_that_leads_elsewhere_is_refused(box: Box, name: str) -> None:
    fill(box)
    reads = box.onedrive.reads
    with pytest.raises(Rejected, match="this name"):
        create(box, name)

    assert (box.onedrive.writes, box.onedrive.reads) == ([], reads)


def test_any_other_name_is_a_name(box: Box) -> None:
    fill(box)
    for number, name in enumerate(("Größe 50 %.txt", "a#b&c?".replace("?", "!"), "x+y=z;.md")):
        made = create(box, name, key=f"remit-{number}")
        assert box.reader.document(made["id"]).name == name


@pytest.mark.parametrize("folder", ["never", "notes", "gone"])
def test_what_is_no_folder_takes_nothing(box: Box, folder: str) -> None:
    fill(box)
    box.onedrive.make_folder("gone", "Gone")
    box.onedrive.throw_away("gone")
    with pytest.raises(NotFound, match="folder is not there"):
        create(box, folder=folder)
    with pytest.raises(NotFound, match="folder is not there"):
        box.writer.move_document("notes", folder_id=folder, revision=None, key="remit-2")

    assert box.onedrive.writes == []


def test_a_full_drive_says_so(box: Box) -> None:
    fill(box)
    box.onedrive.refuse_write = 507
    with pytest.raises(Rejected, match="no room left"):
        create(box)


NO_TEXTS = [
    (b"\xff\xfe", "Notes.txt", "text/plain"),
    (b"%PDF", "Plan.pdf", "application/pdf"),
    (b"x" * 1_000_001, "Long.txt", "text/plain"),
]


@pytest.mark.parametrize(("text", "name", "kind"), NO_TEXTS)
def test_only_to_plain_text_is_something_added(box: Box, text: bytes, name: str, kind: str) -> None:
    box.onedrive.put("doc", name, text, mimeType=kind)
    with pytest.raises(Rejected, match="plain text"):
        box.writer.append_document("doc", content="!", revision=None, key=KEY)

    assert box.onedrive.writes == []


def test_a_role_is_changed_back_and_taken_away(box: Box) -> None:
    fill(box)
    share(box, "writer")
    share(box, "reader", key="remit-2")
    assert box.onedrive.shared("notes") == {TOM: "read"}
    assert box.reader.document("notes").roles == {TOM: "reader"}

    for key in ("remit-3", "remit-4"):
        box.writer.unshare_document("notes", email=TOM, revision=None, key=key)
    assert box.onedrive.shared("notes") == {}
    assert [one.method for one in box.onedrive.writes] == ["POST", "PATCH", "DELETE"]
    assert box.onedrive.told == []


def test_a_share_that_was_taken_back_is_found_out(box: Box) -> None:
    fill(box)
    share(box)
    box.onedrive.lose = 1
    with pytest.raises(Unavailable):
        box.writer.unshare_document("notes", email=TOM, revision=None, key="remit-2")

    assert isinstance(box.reader.evidence("remit-2"), Performed)
    assert box.onedrive.shared("notes") == {}


def test_there_is_no_role_for_comments(box: Box) -> None:
    fill(box)
    reads = box.onedrive.reads
    with pytest.raises(Rejected, match="comments"):
        share(box, "commenter")
    assert (box.onedrive.writes, box.onedrive.reads) == ([], reads)


@pytest.mark.parametrize("kind", ["personal", "business"])
def test_whom_a_folder_lets_in_is_not_put_out_here(box: Box, kind: str) -> None:
    box.onedrive.kind = kind
    fill(box)
    box.onedrive.put("notes", "Notes.txt", "One", parentReference={"id": "clients"})
    box.onedrive.let_in("clients", TOM)
    with pytest.raises((Rejected, NotFound)):
        box.writer.unshare_document("notes", email=TOM, revision=None, key=KEY)

    assert box.onedrive.grants["clients"] != []
    assert box.onedrive.writes == []


def test_a_grant_to_several_is_taken_from_none(box: Box) -> None:
    fill(box)
    people = [{"siteUser": {"loginName": f"i:0#.f|membership|{one}"}} for one in (TOM, ANN)]
    link = {
        "id": "l",
        "roles": ["read"],
        "link": {"scope": "users"},
        "grantedToIdentitiesV2": people,
    }
    box.onedrive.grants["notes"] = [link]
    with pytest.raises(Rejected, match="together with others"):
        box.writer.unshare_document("notes", email=TOM, revision=None, key=KEY)

    assert (box.onedrive.writes, box.onedrive.grants["notes"]) == ([], [link])


def test_a_file_in_the_recycle_bin_comes_back_and_lies_where_it_lay(box: Box) -> None:
    fill(box)
    box.onedrive.put("notes", "Notes.txt", "One", parentReference={"id": "clients"})
    box.onedrive.let_in("notes", TOM)
    with pytest.raises(NotFound):
        box.reader.document("never")
    box.onedrive.lose = 1
    with pytest.raises(Unavailable):
        WRITES["trash"](box)
    gone = box.reader.document("notes")
    assert (gone.name, gone.folder_id, gone.trashed) == ("Notes.txt", "clients", True)
    assert (gone.owner, gone.shared_with) == (ADDRESS, (TOM,))
    with pytest.raises(NotFound):
        box.reader.item("notes")

    box.onedrive.lose = 1
    with pytest.raises(Unavailable):
        box.writer.restore_document("notes", revision=None, key="remit-2")
    assert isinstance(box.reader.evidence("remit-2"), Performed)
    box.writer.restore_document("notes", revision=None, key="remit-2")
    assert box.onedrive.held() == {"Clients/Notes.txt": "One"}
    assert [one.method for one in box.onedrive.writes] == ["DELETE", "POST"]


def test_at_work_nothing_is_taken_out_of_the_recycle_bin(box: Box) -> None:
    box.onedrive.kind = "business"
    box.as_kept()
    fill(box)
    WRITES["trash"](box)
    with pytest.raises(Rejected, match="OneDrive's own page"):
        box.writer.restore_document("notes", revision=None, key="remit-2")

    assert [one.method for one in box.onedrive.writes] == ["DELETE"]


def test_what_is_gone_for_good_does_not_come_back(box: Box) -> None:
    fill(box)
    WRITES["trash"](box)
    box.onedrive.empty_bin()
    with pytest.raises(NotFound):
        box.writer.restore_document("notes", revision=None, key="remit-2")
    older()
    assert isinstance(box.reader.evidence("remit-2"), NotPerformed)


@pytest.mark.parametrize("status", [403, 423])
def test_what_microsoft_refuses_is_not_done(box: Box, status: int) -> None:
    fill(box)
    box.onedrive.refuse_write = status
    with pytest.raises(ProviderError) as refused:
        WRITES["append"](box)

    assert not refused.value.retryable
    assert box.onedrive.held() == {"Notes.txt": "One"}
