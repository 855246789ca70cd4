"""Files on a real server, written to. What the server holds is what counts."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from integrations.exceptions import Changed, NotFound, ProviderError, Rejected
from integrations.models import FileWrite
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from integrations.providers import own_record
from tests.fault_proxy import Fault, running_proxy
from tests.file_world import needs_files
from tests.integrations.providers.webdav.box import Box

pytestmark = [needs_files, pytest.mark.django_db]
KEY = "0199aaaa-0000-7000-8000-000000000001"


def create(box: Box, name: str = "a.txt", content: str = "One") -> dict[str, Any]:
    return box.writer.create_document(name=name, content=content, folder_id="folder:", key=KEY)


def test_a_name_that_is_taken_covers_nothing(box: Box) -> None:
    box.server.put("a.txt", "Mine")
    box.server.put("b/a.txt", "Another")

    with pytest.raises(Rejected, match="already"):
        create(box)
    mine = box.document("a.txt").id
    with pytest.raises(Rejected, match="already"):
        box.writer.move_document(mine, folder_id="folder:b", revision=None, key="2")

    assert box.server.held() == {"a.txt": "Mine", "b/a.txt": "Another"}


@pytest.mark.parametrize("name", ["../a.txt", "a/b.txt", "..", ".", "a\n.txt"])
def test_what_no_name_can_be_writes_nothing(box: Box, name: str) -> None:
    with pytest.raises(Rejected):
        create(box, name)

    assert box.server.held() == {}
    assert not FileWrite.objects.exists()


@pytest.mark.parametrize("folder", ["folder:Nowhere", "folder:../..", "Clients", ""])
def test_a_folder_that_is_not_there_takes_nothing(box: Box, folder: str) -> None:
    box.server.put("a.txt", "Mine")
    id = box.document("a.txt").id

    with pytest.raises(NotFound):
        box.writer.create_document(name="b.txt", content="", folder_id=folder, key=KEY)
    with pytest.raises(NotFound):
        box.writer.move_document(id, folder_id=folder, revision=None, key="2")

    assert box.server.held() == {"a.txt": "Mine"}


def test_bytes_that_are_no_text_get_nothing_added(box: Box) -> None:
    box.server.put("scan.txt", b"\xff\xfe")
    id = box.document("scan.txt").id

    with pytest.raises(Rejected):
        box.writer.append_document(id, content="!", revision=None, key=KEY)

    assert (box.server.folder / "scan.txt").read_bytes() == b"\xff\xfe"


def test_a_file_that_has_changed_is_not_moved(box: Box) -> None:
    box.server.put("a.txt", "One")
    box.server.put("b/c.txt", "x")
    before = box.document("a.txt")
    box.server.put("a.txt", "Another text")

    with pytest.raises(Changed):
        box.writer.move_document(before.id, folder_id="folder:b", revision=before.revision, key=KEY)

    assert box.server.held() == {"a.txt": "Another text", "b/c.txt": "x"}


def test_what_somebody_wrote_first_is_left_to_a_person(box: Box) -> None:
    assert isinstance(box.reader.evidence(KEY), NotPerformed)
    create(box)
    FileWrite.objects.update(done=False)
    box.server.put("a.txt", "Of somebody else")

    assert box.reader.evidence(KEY) == CannotTell(ask_again_at=None)


def append(box: Box) -> None:
    found = box.document("a.txt")
    box.writer.append_document(found.id, content=" two", revision=found.revision, key=KEY)


def move(box: Box) -> None:
    found = box.document("a.txt")
    box.writer.move_document(found.id, folder_id="folder:b", revision=found.revision, key=KEY)


@pytest.mark.parametrize("way", ["up", "down"])
@pytest.mark.parametrize(
    ("write", "done"),
    [
        (lambda box: create(box, "n.txt", "New"), {"a.txt": "One", "b/c.txt": "x", "n.txt": "New"}),
        (append, {"a.txt": "One two", "b/c.txt": "x"}),
        (move, {"b/a.txt": "One", "b/c.txt": "x"}),
    ],
    ids=["create", "append", "move"],
)
def test_wherever_the_conversation_breaks_off_it_is_done_once_and_known(
    box: Box,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[Box], Any],
    done: dict[str, str],
    way: Any,
) -> None:
    monkeypatch.setattr(own_record, "LATE", own_record.LATE * 0)
    before = {"a.txt": "One", "b/c.txt": "x"}
    port = int(box.server.origin.rpartition(":")[2].strip("/"))
    faults: Iterator[Fault] = iter(())
    with running_proxy(port, draw=lambda: next(faults, None)) as proxy:
        box.point_to(proxy.port)
        for after in range(800, 5_800, 1000):
            box.server.clear()
            for name, text in before.items():
                box.server.put(name, text)
            FileWrite.objects.all().delete()
            box.listed()
            http_closed()
            faults = iter([Fault("cut", way, after)] * 4)
            said = tried(box, write)
            faults = iter(())
            http_closed()
            found = box.reader.evidence(KEY)
            assert box.server.held() in (before, done)
            assert isinstance(found, Performed) == (box.server.held() == done)
            assert said is None or isinstance(found, Performed)
            if not isinstance(found, Performed):
                assert isinstance(found, NotPerformed)
                write(box)
            assert box.server.held() == done


def tried(box: Box, write: Callable[[Box], Any]) -> bool | None:
    """None where it raised."""
    try:
        write(box)
    except ProviderError:
        return None
    return True


def http_closed() -> None:
    """The next request makes a connection of its own."""
    from integrations.network import http

    http.close_clients()
