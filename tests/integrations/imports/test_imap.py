from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from integrations.contracts import Email, Page
from integrations.exceptions import CursorExpired, NotFound, NotPermitted, Unavailable
from integrations.imports import imap as imap_module
from integrations.imports.imap import Folder, Login
from integrations.mail import mail
from tests.imap_server import PASSWORD, USER, MailServer, Stored, running_mail_server

OPENED: list[Folder] = []
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def raw(number: int, body: str = "Hello.") -> bytes:
    head = f"From: Ann <ann@client.com>\r\nTo: maya@company.com\r\nSubject: Mail {number}\r\n"
    date = "Date: Mon, 9 Mar 2026 09:00:00 +0000\r\n"
    return f"{head}{date}Message-ID: <m{number}@x>\r\n\r\n{body}\r\n".encode()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    with running_mail_server(tmp_path) as running:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        yield running
        while OPENED:
            OPENED.pop().close()


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imap_module, "PAGE", 2)


def folder(server: MailServer, name: str = "INBOX", **changes: Any) -> Folder:
    login = Login(
        host="127.0.0.1",
        port=server.port,
        user=changes.pop("user", USER),
        password=changes.pop("password", PASSWORD),
        starttls=server.starttls,
    )
    OPENED.append(Folder(login, folder=name, since=changes.pop("since", None), now=NOW))
    return OPENED[-1]


def subjects(page: Page[Email]) -> list[str]:
    return [one.subject for one in page.items]


def test_a_folder_is_read_page_by_page_and_never_changed(
    server: MailServer, small_pages: None
) -> None:
    server.put(*(raw(n) for n in range(1, 6)), flags="\\Seen")
    server.put(raw(6))
    box, pages, cursor = folder(server), [], None
    while True:
        pages.append(box.page(cursor))
        cursor = pages[-1].next_cursor
        if cursor is None:
            break
    box.close()

    assert [subjects(page) for page in pages] == [
        ["Mail 1", "Mail 2"],
        ["Mail 3", "Mail 4"],
        ["Mail 5", "Mail 6"],
    ]
    assert [page.remaining for page in pages] == [4, 2, 0]
    last = pages[-1].items
    assert [(one.is_read, one.labels) for one in last] == [
        (True, ("INBOX",)),
        (False, ("INBOX", "UNREAD")),
    ]
    names = {command.split(" ")[0] for command in server.commands}
    assert names == {"CAPABILITY", "AUTHENTICATE", "EXAMINE", "UID", "LOGOUT"}
    assert all("PEEK" in one for one in server.named("UID") if "BODY" in one)
    assert len(server.named("EXAMINE")) == 1


def test_what_arrived_meanwhile_is_read_from_where_the_last_one_ended(server: MailServer) -> None:
    server.put(raw(1), raw(2))
    end = folder(server).page(None).end
    assert subjects(folder(server).page(end)) == []
    server.put(raw(3))

    page = folder(server).page(end)

    assert subjects(page) == ["Mail 3"]
    assert page.end.endswith(" 7 3")
    assert end.startswith(f"{folder(server).place} ")


def test_new_numbers_of_the_server_make_a_place_worthless(server: MailServer) -> None:
    server.put(raw(1))
    end = folder(server).page(None).end
    server.validity = 8

    with pytest.raises(CursorExpired):
        folder(server).page(end)


def test_a_connection_that_breaks_is_made_again_and_nothing_is_missed(
    server: MailServer, small_pages: None
) -> None:
    server.put(*(raw(n) for n in range(1, 5)))
    box = folder(server)
    first = box.page(None)
    server.hang_up_after = 0

    with pytest.raises(Unavailable):
        box.page(first.next_cursor)

    assert subjects(box.page(first.next_cursor)) == ["Mail 3", "Mail 4"]


def test_what_is_too_large_is_not_fetched_and_what_is_empty_is_no_mail(server: MailServer) -> None:
    server.folders["INBOX"] = [
        Stored(uid=3, raw=b"", size=mail.MAX_MESSAGE_BYTES + 1),
        Stored(uid=5, raw=b"\r\n"),
        Stored(uid=9, raw=raw(9)),
    ]

    page = folder(server).page(None)

    assert subjects(page) == ["Mail 9"]
    assert [(one.source_id, one.reason) for one in page.rejected] == [
        ("INBOX UID 3", "too_large"),
        ("INBOX UID 5", "empty"),
    ]
    fetched = [one for one in server.named("UID") if "BODY" in one]
    assert [one.split(" ")[2] for one in fetched] == ["5,9"]


def test_only_what_arrived_since_a_day_is_read(server: MailServer) -> None:
    server.put(raw(1), arrived=" 1-Jan-2026 10:00:00 +0000")
    server.put(raw(2), arrived="09-Mar-2026 10:00:00 +0000")

    assert subjects(folder(server, since=date(2026, 2, 1)).page(None)) == ["Mail 2"]


def test_a_mail_without_a_date_has_that_of_its_arrival(server: MailServer) -> None:
    server.put(b"From: ann@client.com\r\nSubject: x\r\n\r\ny\r\n")

    assert folder(server).page(None).items[0].date == datetime(2026, 3, 9, 9, tzinfo=UTC)


def test_a_large_folder_is_searched_piece_by_piece(
    server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imap_module, "SEARCHED_AT_ONCE", 2)
    server.put(*(raw(n) for n in range(1, 6)))

    assert subjects(folder(server).page(None)) == [f"Mail {n}" for n in range(1, 6)]
    searches = [one.split(" ")[3] for one in server.named("UID") if "SEARCH" in one]
    assert searches == ["1:2", "3:4", "5:6"]


@pytest.mark.parametrize("name", ["Rechnungen & Büro/2026", "日本語", 'a "b" \\ c'])
def test_a_folder_may_have_any_name(server: MailServer, name: str) -> None:
    written = {
        "Rechnungen & Büro/2026": "Rechnungen &- B&APw-ro/2026",
        "日本語": "&ZeVnLIqe-",
    }.get(name, name)
    server.put(raw(1), folder=written)

    assert subjects(folder(server, name).page(None)) == ["Mail 1"]


def test_a_server_without_authenticate_is_logged_in_to(server: MailServer) -> None:
    server.auth_plain = False
    server.password = "plain words"
    server.put(raw(1))

    assert subjects(folder(server, password="plain words").page(None)) == ["Mail 1"]
    assert len(server.named("LOGIN")) == 1


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"password": "wrong"}, NotPermitted),
        ({"user": "eve\r\nA1 DELETE INBOX"}, NotPermitted),
        ({"name": "Nowhere"}, NotFound),
        ({"name": "INBOX\r\nA1 DELETE INBOX"}, NotFound),
    ],
)
@pytest.mark.parametrize("auth_plain", [True, False])
def test_what_the_server_refuses_is_said(
    server: MailServer, changes: dict[str, Any], error: type[Exception], auth_plain: bool
) -> None:
    server.auth_plain = auth_plain
    if not auth_plain:
        server.password = "ascii"
        changes = {"password": "ascii"} | changes

    with pytest.raises(error):
        folder(server, **changes).open()

    assert not any(command.startswith("DELETE") for command in server.commands)


def test_a_certificate_that_nobody_knows_is_refused_before_the_login(
    server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")

    with pytest.raises(NotPermitted, match="certificate"):
        folder(server).open()

    assert server.commands == []


def test_starttls_comes_before_the_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_mail_server(tmp_path, starttls=True) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        server.put(raw(1))

        box = folder(server)
        assert subjects(box.page(None)) == ["Mail 1"]
        box.close()

    names = [command.split(" ")[0] for command in server.commands]
    assert names.index("STARTTLS") < names.index("AUTHENTICATE")


def test_a_login_does_not_show_its_password() -> None:
    login = Login(host="h", port=993, user="u", password="secret")

    assert "secret" not in repr(login)
