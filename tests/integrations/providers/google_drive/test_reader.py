"""Reads of files at Google Drive."""

from datetime import timedelta
from io import BytesIO

import pytest

from integrations.contracts import Document
from integrations.exceptions import NotFound, TooLarge
from tests.google_drive_world import ADDRESS, FOLDER, ME, NATIVE, ROOT
from tests.integrations.providers.google_drive.box import Box

pytestmark = pytest.mark.django_db
TOM = {"type": "user", "role": "reader", "emailAddress": "tom@elsewhere.test"}


def test_files_come_page_by_page_and_folders_are_none(box: Box) -> None:
    box.google.put("folder", "Clients", mimeType=FOLDER)
    for number in range(3):
        box.google.put(f"{number}", f"File {number}", "x")

    first = box.reader.items(since=None, cursor=None, limit=2)
    rest = box.reader.items(since=None, cursor=first.next_cursor, limit=2)
    found = [one for one in (*first.items, *rest.items) if isinstance(one, Document)]
    assert [one.name for one in found] == ["File 2", "File 1", "File 0"]
    assert rest.next_cursor is None
    later = box.google.now + timedelta(seconds=1)
    assert box.reader.items(since=later, cursor=None, limit=2).items == ()


def test_a_document_has_its_text_and_what_google_made_is_exported(box: Box) -> None:
    box.google.put("notes", "Notes.txt", "Grüße")
    box.google.put("doc", "Plan", "\ufeffThe plan", mimeType=NATIVE)
    box.google.put("long", "Long.txt", "x" * 1_000_001)
    box.google.put("novel", "Novel", "x" * 1_000_001, mimeType=NATIVE)
    box.google.put("bytes", "Bytes.txt", b"\xff\xfe\x00")

    texts = {id: box.reader.document(id).content_text for id in ("notes", "doc", "bytes")}
    assert texts == {"notes": "Grüße", "doc": "The plan", "bytes": ""}
    assert [box.reader.document(id).content_text for id in ("long", "novel")] == ["", ""]
    assert box.reader.document("doc").file_id is None  # it has no bytes of its own


def test_bytes_are_those_that_were_named(box: Box) -> None:
    box.google.put("notes", "Notes.txt", "One")
    named = str(box.reader.document("notes").file_id)
    into = BytesIO()
    box.reader.file(named, into=into, most_bytes=3)
    assert into.getvalue() == b"One"

    with pytest.raises(TooLarge):
        box.reader.file(named, into=BytesIO(), most_bytes=2)
    box.google.put("notes", "Notes.txt", "Two")
    with pytest.raises(NotFound):
        box.reader.file(named, into=BytesIO(), most_bytes=3)


def test_who_else_reads_is_named_or_unknown_and_never_nobody(box: Box) -> None:
    people = {
        "own": [ME],
        "tom": [ME, TOM],
        "all": [ME, {"type": "anyone", "role": "reader"}],
        "domain": [ME, {"type": "domain", "role": "reader", "domain": "office.test"}],
        "hidden": None,
    }
    for name, grants in people.items():
        box.google.put(name, name, "x", permissions=grants)
        box.google.put(f"in-{name}", f"In {name}", mimeType=FOLDER, permissions=grants)

    found = {name: box.reader.document(name) for name in people}
    assert {name: (one.owner, one.shared_with) for name, one in found.items()} == {
        "own": (ADDRESS, ()),
        "tom": (ADDRESS, ("tom@elsewhere.test",)),
        "all": (ADDRESS, ("everybody",)),
        "domain": ("", ()),
        "hidden": ("", ()),
    }
    folders = {one.name: one.shared_with for one in box.reader.folders()}
    assert folders == {
        "/": (),
        "/In own": (),
        "/In tom": ("tom@elsewhere.test",),
        "/In all": ("everybody",),
        "/In domain": None,
        "/In hidden": None,
    }


def test_a_folder_is_named_by_its_path(box: Box) -> None:
    box.google.put("a", "Clients / old", mimeType=FOLDER)
    box.google.put("b", "Acme", mimeType=FOLDER, parents=["a"])
    box.google.put("c", "Shared", mimeType=FOLDER, parents=["elsewhere"])

    found = {one.id: one.name for one in box.reader.folders()}
    assert found == {ROOT: "/", "a": "/Clients _ old", "b": "/Clients _ old/Acme", "c": "/Shared"}


def test_what_is_gone_or_a_folder_is_no_document_and_the_trash_is_read_by_name_alone(
    box: Box,
) -> None:
    box.google.put("trash", "Trash", "x", trashed=True)
    box.google.put("folder", "Folder", mimeType=FOLDER)
    for id in ("folder", "never", "../about"):
        with pytest.raises(NotFound):
            box.reader.document(id)
    assert (box.reader.document("trash").trashed, box.reader.document("trash").content_text) == (
        True,
        "x",
    )
    with pytest.raises(NotFound):
        box.reader.item("trash")
    assert box.reader.items(since=None, cursor=None, limit=10).items == ()
