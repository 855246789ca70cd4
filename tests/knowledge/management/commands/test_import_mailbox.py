"""A newcomer's own mail and calendar, from the command line to the answer."""

import mailbox
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from integrations.exceptions import Unavailable
from integrations.imports.imap import Folder
from integrations.imports.reading import ReadMail
from integrations.models import Account, Organisation
from integrations.network import retries
from knowledge import tasks
from knowledge.contracts import SearchRequest
from knowledge.files.contracts import MAX_BYTES, MAX_UNPACKED
from knowledge.models import Item, ItemFile, SyncFailure, SyncSource
from knowledge.search.retrieval import search
from knowledge.sync import accounting
from knowledge.sync.runs import cancel
from tests import office_files
from tests.imap_server import PASSWORD, USER, MailServer, running_mail_server
from tests.integrations.imports.test_imap import raw
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def slug(model: ScriptedModel) -> str:
    return Organisation.objects.create(slug=f"o-{uuid4()}", name="Test").slug


@pytest.fixture
def server(slug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    with running_mail_server(tmp_path) as running:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        monkeypatch.setenv("REMIT_IMAP_PASSWORD", PASSWORD)
        yield running


def run(slug: str, *arguments: object, command: str = "import_mailbox") -> list[str]:
    out = StringIO()
    try:
        call_command(command, *map(str, arguments), organisation=slug, stdout=out)
    finally:
        lines = out.getvalue().splitlines()
    return lines


def from_server(slug: str, server: MailServer, *more: object) -> list[str]:
    return run(slug, "--imap", f"127.0.0.1:{server.port}", "--login", USER, "--days", "0", *more)


def table(lines: list[str]) -> dict[str, str]:
    rows = (line.split() for line in lines)
    names = ("Received", "Stored", "Skipped", "Failed")
    return {row[0]: row[1] for row in rows if row and row[0] in names}


def balanced(slug: str) -> tuple[int, int]:
    """What the accounting page says was received, and what is missing."""
    organisation = Organisation.objects.get(slug=slug)
    lines = accounting.balance(
        organisation_id=organisation.pk, since=timezone.now() - timedelta(days=1)
    )
    return sum(line.received for line in lines), sum(line.missing for line in lines)


def mbox(path: Path, *subjects: str, broken: bool = False) -> Path:
    box = mailbox.mbox(path)
    for subject in subjects:
        mail = EmailMessage()
        mail["From"], mail["To"] = "ann@client.com", "maya@company.com"
        mail["Subject"], mail["Message-ID"] = subject, f"<{subject}@x>"
        mail["Date"] = "Mon, 09 Mar 2026 09:00:00 +0000"
        mail.set_content(f"About {subject}.")
        box.add(mail)
    box.close()
    if broken:
        with path.open("ab") as file:
            file.write(b"From ann@client.com Mon Mar  9 09:00:00 2026\nno headers here\n\n")
    return path


def found(slug: str, query: str) -> list[str]:
    accounts = Account.objects.filter(organisation__slug=slug).values_list("pk", flat=True)
    request = SearchRequest(account_ids=tuple(accounts), query=query)
    return [item.title for item in search(request, now=timezone.now()).items]


def test_an_mbox_is_read_in_found_and_accounted_for(slug: str, tmp_path: Path) -> None:
    path = mbox(tmp_path / "mail.mbox", "Boat", "Garden", "Roof", broken=True)

    lines = run(slug, path, "--user", "ann")

    assert table(lines) == {"Received": "4", "Stored": "3", "Skipped": "0", "Failed": "1"}
    assert any("no_headers" in line and "does not begin" in line for line in lines)
    assert lines[-1] == "Ask about it in the console as “ann”."
    assert found(slug, "roof") == ["Roof"]
    account = Account.objects.get(organisation__slug=slug)
    assert (account.external_user_id, account.source) == ("ann", "mailbox")
    assert SyncFailure.objects.get().source_id == "mail.mbox, message 4"
    assert balanced(slug) == (4, 0)


def test_the_same_again_asks_no_model(slug: str, tmp_path: Path, model: ScriptedModel) -> None:
    path = mbox(tmp_path / "mail.mbox", "Boat", "Garden")
    run(slug, path)
    asked = len(model.requests)

    lines = run(slug, path)

    assert table(lines) == {"Received": "2", "Stored": "0", "Skipped": "2", "Failed": "0"}
    assert len(model.requests) == asked


# Name, content, and what is read of it or why nothing is.
ATTACHED = (
    ("offer.docx", office_files.word("The kestrel costs 1200."), "The kestrel costs 1200."),
    ("plan.pdf", office_files.pdf("Launch of the heron"), "Launch of the heron"),
    ("broken.docx", b"PK no archive", "broken"),
    ("locked.pdf", office_files.locked_pdf("hidden"), "encrypted"),
    ("bomb.docx", office_files.bomb(MAX_UNPACKED), "too_large_unpacked"),
    ("photo.jpg", b"\xff\xd8\xff", "unknown_kind"),
)


def with_attachments(*files: tuple[str, bytes]) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "ann@client.com", "Papers"
    mail["Date"] = "Mon, 09 Mar 2026 09:00:00 +0000"
    mail.set_content("See the attachments.")
    for name, content in files:
        mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return mail.as_bytes()


def files() -> list[tuple[str, str]]:
    rows = ItemFile.objects.order_by("position")
    return [(row.name, row.text or row.reason) for row in rows]


def test_attachments_of_a_file_are_read_within_the_limits(slug: str, tmp_path: Path) -> None:
    path = tmp_path / "papers.eml"
    path.write_bytes(with_attachments(*((name, content) for name, content, _ in ATTACHED)))

    lines = run(slug, path)

    assert table(lines) == {"Received": "1", "Stored": "1", "Skipped": "0", "Failed": "0"}
    assert files() == [(name, read) for name, _, read in ATTACHED]
    assert found(slug, "kestrel") == found(slug, "heron") == ["Papers"]
    assert "Attachment offer.docx:\nThe kestrel" in Item.objects.get().text


def test_an_attachment_that_is_too_large_is_named_and_costs_nothing_else(
    slug: str, tmp_path: Path
) -> None:
    head = b"From: ann@client.com\nSubject: Papers\nContent-Type: multipart/mixed; boundary=b\n\n"
    own = b"--b\nContent-Type: text/plain\n\nSee the attachment.\n"
    large = b"--b\nContent-Type: text/plain; name=large.txt\nContent-Transfer-Encoding: 8bit\n\n"
    line = b"kestrel " * 12 + b"\n"
    path = tmp_path / "papers.eml"
    path.write_bytes(head + own + large + line * (MAX_BYTES // len(line) + 2) + b"--b--\n")

    run(slug, path)

    assert files() == [("large.txt", "too_large")]
    assert Item.objects.get().text == "See the attachment."


def test_attachments_of_a_server_are_read_and_known_the_next_time(
    slug: str, server: MailServer, model: ScriptedModel
) -> None:
    server.put(with_attachments(*((name, content) for name, content, _ in ATTACHED[:2])))

    from_server(slug, server)
    asked = len(model.requests)
    again = from_server(slug, server, "--again")

    assert files() == [(name, read) for name, _, read in ATTACHED[:2]]
    assert found(slug, "heron") == ["Papers"]
    assert table(again) == {"Received": "1", "Stored": "0", "Skipped": "1", "Failed": "0"}
    assert len(model.requests) == asked + 1  # the question


def test_mail_imported_before_attachments_were_read_is_read_again_by_word(
    slug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "papers.eml"
    path.write_bytes(with_attachments(ATTACHED[0][:2]))
    with monkeypatch.context() as patched:
        patched.setattr(ReadMail, "with_files", lambda read, _: read.email)
        run(slug, path)
    assert files() == [("offer.docx", "not_offered")]

    run(slug, path, "--again")

    assert files() == [("offer.docx", "The kestrel costs 1200.")]
    assert Item.objects.count() == 1


def test_a_maildir_is_read_in(slug: str, tmp_path: Path) -> None:
    box = mailbox.Maildir(tmp_path / "Maildir")
    box.add(raw(1))
    box.close()

    assert table(run(slug, tmp_path / "Maildir"))["Stored"] == "1"
    assert found(slug, "Mail 1") == ["Mail 1"]


def test_a_folder_of_a_server_is_read_in_and_the_next_time_only_what_is_new(
    slug: str, server: MailServer
) -> None:
    server.put(raw(1), raw(2))
    assert table(from_server(slug, server))["Stored"] == "2"
    server.put(raw(3))
    server.commands.clear()

    lines = from_server(slug, server)

    assert lines[0] == "Going on where the last import ended."
    assert table(lines) == {"Received": "1", "Stored": "1", "Skipped": "0", "Failed": "0"}
    assert [one.split(" ")[2] for one in server.named("UID") if "BODY" in one] == ["3"]
    assert table(from_server(slug, server, "--again"))["Skipped"] == "3"
    assert balanced(slug) == (6, 0)
    assert not any(word in PASSWORD for word in lines)


def test_new_numbers_of_the_server_cost_a_look_at_all_and_no_model(
    slug: str, server: MailServer, model: ScriptedModel
) -> None:
    server.put(raw(1), raw(2))
    from_server(slug, server)
    asked = len(model.requests)
    server.validity = 8

    assert table(from_server(slug, server))["Skipped"] == "2"
    assert len(model.requests) == asked


def test_an_import_that_was_killed_goes_on_behind_its_last_page(
    slug: str, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("integrations.imports.imap.PAGE", 2)
    server.put(*(raw(n) for n in range(1, 6)))
    read = Folder.page

    def killed(self: Folder, cursor: str | None) -> Any:
        if cursor and cursor.endswith(" 4"):
            raise SystemExit
        return read(self, cursor)

    monkeypatch.setattr(Folder, "page", killed)
    with pytest.raises(SystemExit):
        from_server(slug, server)
    monkeypatch.setattr(Folder, "page", read)
    with pytest.raises(CommandError, match="is running or waiting"):
        from_server(slug, server)
    SyncSource.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert tasks.requeue_abandoned_syncs(now=timezone.now()) == 0

    lines = from_server(slug, server)

    assert lines[0] == "Going on where the last import ended."
    assert Item.objects.count() == 5
    assert balanced(slug)[1] == 0


def test_an_import_that_was_stopped_goes_on_at_once(
    slug: str, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.put(raw(1))
    read = Folder.page

    def stopped(self: Folder, cursor: str | None) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Folder, "page", stopped)
    with pytest.raises(CommandError, match="Stopped"):
        from_server(slug, server)
    monkeypatch.setattr(Folder, "page", read)

    assert table(from_server(slug, server))["Stored"] == "1"


def test_a_server_that_goes_away_is_waited_for(
    slug: str, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_PAUSE", timedelta(seconds=0.05))
    server.put(raw(1))
    read, tries = Folder.page, []

    def away(self: Folder, cursor: str | None) -> Any:
        tries.append(cursor)
        if len(tries) == 1:
            raise Unavailable("gone")
        return read(self, cursor)

    monkeypatch.setattr(Folder, "page", away)

    lines = from_server(slug, server)

    assert any("The mail server or the file could not be read" in line for line in lines)
    assert table(lines)["Stored"] == "1"


def test_an_import_is_cancelled_in_the_admin_like_any_sync(
    slug: str, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.put(raw(1))
    read = Folder.page

    def cancelled(self: Folder, cursor: str | None) -> Any:
        cancel(SyncSource.objects.get().run_id, now=timezone.now())
        return read(self, cursor)

    monkeypatch.setattr(Folder, "page", cancelled)

    with pytest.raises(CommandError, match="cancelled"):
        from_server(slug, server)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Name either a file or a mail server"),
        (("--imap", "h"), "Give the user name with --login"),
        (("nothing.mbox",), "There is no file"),
        (("x.mbox", "--imap", "h"), "either a file or a mail server"),
        (("--imap", "127.0.0.1:1", "--login", "x"), "does not answer"),
    ],
)
def test_what_is_wrong_is_said(
    slug: str, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.setenv("REMIT_IMAP_PASSWORD", "x")

    with pytest.raises(CommandError, match=said):
        run(slug, *arguments)

    assert not Account.objects.filter(organisation__slug=slug).exists()


def test_a_wrong_password_is_said_and_there_is_no_option_for_one(
    slug: str, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIT_IMAP_PASSWORD", "wrong")
    with pytest.raises(CommandError, match="refused the login"):
        from_server(slug, server)

    monkeypatch.delenv("REMIT_IMAP_PASSWORD")
    monkeypatch.setattr(sys, "stdin", StringIO())
    with pytest.raises(CommandError, match="Set REMIT_IMAP_PASSWORD"):
        from_server(slug, server)
    with pytest.raises(TypeError):
        call_command("import_mailbox", "--imap", "h", password="x")


def test_a_sync_of_all_leaves_imported_accounts_alone(slug: str, tmp_path: Path) -> None:
    run(slug, mbox(tmp_path / "mail.mbox", "Boat"))
    account = Account.objects.get(organisation__slug=slug)

    started = tasks.start_sync(
        organisation_id=account.organisation_id, external_user_id=account.external_user_id
    )

    assert started is None
    later = timezone.now() + timedelta(days=30)
    assert tasks.start_due_syncs(now=later) == 0


def test_a_calendar_file_says_what_is_on_today(slug: str, tmp_path: Path) -> None:
    first = datetime.now(UTC) - timedelta(weeks=60)
    path = tmp_path / "home.ics"
    path.write_text(
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:choir\r\nSUMMARY:Choir\r\n"
        f"DTSTART:{first:%Y%m%d}T120000Z\r\nRRULE:FREQ=WEEKLY\r\nEND:VEVENT\r\n"
        "BEGIN:VEVENT\r\nUID:bad\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )

    lines = run(slug, path, command="import_calendar")

    assert table(lines) == {"Received": "2", "Stored": "1", "Skipped": "0", "Failed": "1"}
    account = Account.objects.get(organisation__slug=slug)
    today = SearchRequest(account_ids=(account.pk,), query="What is on today?", time_filter="today")
    assert [item.title for item in search(today, now=timezone.now()).items] == ["Choir"]
