"""Reads of files at Microsoft."""

from datetime import datetime, timedelta
from io import BytesIO

import pytest

from integrations.contracts import Document
from integrations.exceptions import CursorExpired, NotFound, NotPermitted, RateLimited, TooLarge
from tests.integrations.providers.microsoft_files.box import Box
from tests.microsoft_files_world import ADDRESS, ROOT
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db
TOM, ANN = "tom@elsewhere.test", "ann@office.test"


def names(box: Box, *, limit: int, since: datetime | None = None) -> list[str]:
    found, cursor = list[str](), None
    while True:
        page = box.reader.items(since=since, cursor=cursor, limit=limit)
        found += [one.name for one in page.items if isinstance(one, Document)]
        if (cursor := page.next_cursor) is None:
            return found


def test_files_come_page_by_page_and_what_is_none_does_not(box: Box) -> None:
    box.onedrive.make_folder("folder", "Clients")
    for number in range(5):
        box.onedrive.put(f"{number}", f"File {number}", "x")
    box.onedrive.make_folder("book", "Notebook", package={"type": "oneNote"})
    box.onedrive.items["book"].pop("folder")
    box.onedrive.put("link", "Tom's", "x", remoteItem={"id": "elsewhere"})
    box.onedrive.put("gone", "Gone", "x")
    box.onedrive.throw_away("gone")

    assert names(box, limit=2) == [f"File {number}" for number in range(5)]
    later = box.onedrive.now + timedelta(seconds=1)
    assert names(box, limit=2, since=later) == []
    for id in ("folder", "link", "book", "never", "../../drive"):
        with pytest.raises(NotFound):
            box.reader.document(id)


def test_a_cursor_that_graph_takes_no_more_begins_again(box: Box) -> None:
    box.onedrive.put("a", "A", "x")
    box.onedrive.refuse = [Refuse(410, {"error": {"code": "resyncRequired"}})]
    with pytest.raises(CursorExpired):
        box.reader.items(since=None, cursor="/me/drive/root/delta?token=1!all!0", limit=2)


def test_a_document_has_its_text_where_it_is_plain_text(box: Box) -> None:
    box.onedrive.put("notes", "Notes.txt", "Grüße")
    box.onedrive.put("mark", "Mark.md", "\ufeff# One", mimeType="application/octet-stream")
    box.onedrive.put("long", "Long.txt", "x" * 1_000_001)
    box.onedrive.put("bytes", "Bytes.txt", b"\xff\xfe\x00")
    box.onedrive.put("word", "Plan.docx", b"PK", mimeType="application/vnd.ms-word")

    texts = {id: box.reader.document(id).content_text for id in box.onedrive.contents}
    assert texts == {"notes": "Grüße", "mark": "# One", "long": "", "bytes": "", "word": ""}
    assert str(box.reader.document("word").file_id).startswith("word ")  # its bytes are read


def test_bytes_are_those_that_were_named_and_no_token_goes_where_they_are(box: Box) -> None:
    box.onedrive.put("notes", "Notes.txt", "One")
    named = str(box.reader.document("notes").file_id)
    into = BytesIO()
    box.reader.file(named, into=into, most_bytes=3)
    assert into.getvalue() == b"One"
    with pytest.raises(TooLarge):
        box.reader.file(named, into=BytesIO(), most_bytes=2)

    # Another name is another version, and has the same bytes.
    box.onedrive.put("notes", "Renamed.txt", "One")
    box.reader.file(named, into=BytesIO(), most_bytes=3)
    box.onedrive.put("notes", "Renamed.txt", "Two")
    into = BytesIO()
    with pytest.raises(NotFound):
        box.reader.file(named, into=into, most_bytes=3)
    assert into.getvalue() == b""


def test_what_remit_cannot_read_as_it_is_comes_as_a_pdf(box: Box) -> None:
    kind = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    box.onedrive.put("slides", "Plan.pptx", b"PK", mimeType=kind)
    found = box.reader.document("slides")
    assert (found.mime_type, found.file_type) == (kind, "application/pdf")
    into = BytesIO()
    box.reader.file(str(found.file_id), into=into, most_bytes=100)
    assert into.getvalue() == b"%PDF of PK"

    # Under another name it would have other bytes.
    box.onedrive.put("slides", "Plan.zip", b"PK")
    assert box.reader.document("slides").file_id != found.file_id


@pytest.mark.parametrize("place", ["http://elsewhere.test/x", "file:///etc/passwd", "/x", ""])
def test_bytes_are_fetched_over_tls_alone(box: Box, place: str) -> None:
    box.onedrive.put("notes", "Notes.txt", "One")
    box.onedrive.place = place
    with pytest.raises(NotPermitted):
        box.reader.document("notes")


def test_who_else_reads_is_asked_of_each_file_and_folder(box: Box) -> None:
    box.onedrive.make_folder("own", "Own")
    box.onedrive.make_folder("team", "Team")
    box.onedrive.make_folder("below", "Below", above="team")
    box.onedrive.make_folder("open", "Open")
    box.onedrive.let_in("team", ANN)
    link = {"id": "l", "roles": ["read"], "link": {"scope": "organization", "type": "view"}}
    box.onedrive.grants["open"] = [link]
    for folder in ("own", "team", "below", "open"):
        box.onedrive.put(f"in-{folder}", folder, "x", parentReference={"id": folder})
    box.onedrive.let_in("in-own", TOM, "write")

    wanted = {
        "in-own": (ADDRESS, (TOM,), {TOM: "writer"}),
        "in-team": (ADDRESS, (ANN,), {ANN: "reader"}),
        "in-below": (ADDRESS, (ANN,), {ANN: "reader"}),
        "in-open": ("", (), {}),
    }
    listed = box.reader.items(since=None, cursor=None, limit=50).items
    for found in (listed, [box.reader.document(id) for id in wanted]):
        known = [one for one in found if isinstance(one, Document)]
        assert {one.id: (one.owner, one.shared_with, one.roles) for one in known} == wanted
    assert {one.name: one.shared_with for one in box.reader.folders()} == {
        "/": (),
        "/Own": (),
        "/Team": (ANN,),
        "/Team/Below": (ANN,),
        "/Open": None,
    }


@pytest.mark.parametrize("status", [403, 404, 500])
def test_where_microsoft_does_not_say_who_reads_nobody_is_known(box: Box, status: int) -> None:
    box.onedrive.put("notes", "Notes.txt", "One")
    box.onedrive.part_status = status
    (found,) = box.reader.items(since=None, cursor=None, limit=5).items
    assert isinstance(found, Document)
    assert (found.owner, found.shared_with) == ("", ())
    assert [one.shared_with for one in box.reader.folders()] == [None]


def test_not_so_fast_for_one_of_many_is_so_for_all(box: Box) -> None:
    box.onedrive.put("notes", "Notes.txt", "One")
    box.onedrive.part_status = 429
    with pytest.raises(RateLimited) as waits:
        box.reader.items(since=None, cursor=None, limit=5)
    assert waits.value.retry_after == 90

    # Every process waits, whatever it asks.
    box.onedrive.part_status, reads = 200, box.onedrive.reads
    with pytest.raises(RateLimited):
        box.reader.document("notes")
    assert box.onedrive.reads == reads


def test_many_folders_are_asked_for_some_at_a_time(box: Box) -> None:
    for number in range(45):
        box.onedrive.make_folder(f"f{number}", f"Folder {number}")
    box.onedrive.let_in("f44", TOM)
    box.onedrive.page = 10
    box.onedrive.reads = 0

    found = {one.name: one.shared_with for one in box.reader.folders()}
    assert (len(found), found["/Folder 44"], found["/Folder 43"]) == (46, (TOM,), ())
    assert box.onedrive.reads == 5 + 3


def test_folders_that_lie_too_deep_have_readers_whom_nobody_knows(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("integrations.providers.microsoft_files.folders.MAX_FOLDERS", 2)
    box.onedrive.make_folder("a", "A / old")
    box.onedrive.make_folder("b", "B", above="a")

    found = {one.id: (one.name, one.shared_with) for one in box.reader.folders()}
    assert found == {ROOT: ("/", ()), "a": ("/A _ old", ()), "b": ("/A _ old/B", None)}


def test_folders_are_listed_once_and_then_what_has_changed_among_them(box: Box) -> None:
    box.onedrive.make_folder("a", "A")
    box.onedrive.make_folder("b", "B", above="a")
    for number in range(20):
        box.onedrive.put(f"{number}", f"File {number}", "x")
    box.onedrive.page = 10
    assert sorted(one.name for one in box.reader.folders()) == ["/", "/A", "/A/B"]

    box.onedrive.reads = 0
    box.onedrive.make_folder("c", "C", above="a")
    box.onedrive.throw_away("b")
    box.onedrive.make_folder("a", "Archive")
    box.onedrive.let_in("c", TOM)
    found = {one.name: one.shared_with for one in box.reader.folders()}
    assert found == {"/": (), "/Archive": (), "/Archive/C": (TOM,)}
    assert box.onedrive.reads == 2  # what has changed, and who reads them


def test_folders_are_listed_anew_where_graph_has_lost_the_link(box: Box) -> None:
    box.onedrive.make_folder("a", "A")
    box.onedrive.make_folder("b", "B")
    box.reader.folders()
    box.onedrive.throw_away("b")
    box.onedrive.forget_links()
    assert {one.name for one in box.reader.folders()} == {"/", "/A"}


def test_a_long_listing_goes_on_where_it_stopped(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("integrations.providers.microsoft_files.folders.MAX_PAGES", 2)
    for name in "abcde":
        box.onedrive.make_folder(name, name)
    box.onedrive.page = 2
    listed = [len(box.reader.folders()) for _ in range(3)]
    assert listed == [4, 6, 6]
