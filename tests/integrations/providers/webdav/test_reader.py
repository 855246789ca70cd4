"""Files on a real server as Remit reads them, and what happens to them in other programs."""

import io
import os

import pytest

from integrations.exceptions import NotFound, Rejected, TooLarge
from integrations.models import Credential
from integrations.providers.webdav import folders
from tests.file_world import needs_files
from tests.integrations.providers.webdav.box import Box

pytestmark = [needs_files, pytest.mark.django_db]


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_every_file_comes_once_however_small_the_pages(box: Box, limit: int) -> None:
    names = ["b.txt", "a/z.txt", "a/b/c & d.txt", "a b/ö%2F#?.txt", "a0/e.txt", "z/1.txt"]
    for name in names:
        box.server.put(name, "x")

    assert sorted(box.listed(limit=limit)) == sorted(names)


def test_a_document_is_what_the_server_holds(box: Box) -> None:
    box.server.put("Clients/Acme/Plan.md", "Grüße\n")

    found = box.document("Plan.md")

    assert (found.content_text, found.folder_id, found.folder_path) == (
        "Grüße\n",
        "folder:Clients/Acme",
        "/Clients/Acme",
    )
    assert (found.owner, found.size_bytes, found.trashed) == (box.account.address, 8, False)
    assert [(one.id, one.name, one.shared_with) for one in box.reader.folders()] == [
        ("folder:", "/", ()),
        ("folder:Clients", "/Clients", ()),
        ("folder:Clients/Acme", "/Clients/Acme", ()),
    ]


def test_bytes_are_handed_out_as_long_as_they_are_the_same(box: Box) -> None:
    box.server.put("scan.pdf", b"%PDF \xff")
    found, into = box.document("scan.pdf"), io.BytesIO()

    box.reader.file(found.file_id or "", into=into, most_bytes=100)

    assert (into.getvalue(), found.content_text) == (b"%PDF \xff", "")
    with pytest.raises(TooLarge):
        box.reader.file(found.file_id or "", into=into, most_bytes=3)
    box.server.put("scan.pdf", b"other bytes")
    with pytest.raises(NotFound):
        box.reader.file(found.file_id or "", into=into, most_bytes=100)


def test_who_reads_a_folder_is_unknown_unless_somebody_says_so(box: Box) -> None:
    box.server.put("a.txt", "x")
    row = Credential.objects.get(account_id=box.account.id)
    row.servers = {**row.servers, "readers": None}
    row.save()

    assert [one.shared_with for one in box.reader.folders()] == [None]
    assert box.document("a.txt").owner == ""


def test_more_folders_than_anybody_looks_through_are_refused(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "MAX_FOLDERS", 2)
    for name in ("a", "b"):
        box.server.put(f"{name}/x.txt", "x")

    with pytest.raises(Rejected, match="more than 2 folders"):
        box.reader.folders()


def test_what_somebody_does_elsewhere_comes_out_once(box: Box) -> None:
    box.server.put("old.txt", "Old")
    assert box.look(is_first=True) == []
    assert box.look() == []
    id = box.document("old.txt").id

    box.server.put("a/new.txt", "New")
    box.server.put("old.txt", "Old one")
    assert box.look() == [("updated", "old.txt"), ("created", "new.txt")]
    assert box.look() == []

    os.unlink(box.server.folder / "old.txt")
    assert box.look() == [("deleted", id)]
    assert box.look() == []


def test_a_file_that_remit_moves_keeps_its_id_and_is_no_news(box: Box) -> None:
    box.server.put("a.txt", "x")
    box.server.put("b/c.txt", "x")
    box.look(is_first=True)
    before = box.document("a.txt")

    box.writer.move_document(
        before.id, folder_id="folder:b", revision=before.revision, key="remit-1"
    )

    assert box.look() == []
    assert box.document("a.txt").id == before.id
