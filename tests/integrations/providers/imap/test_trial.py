"""Trying a mailbox: what can be done there, and what went wrong, in words."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from imapclient.exceptions import IMAPClientAbortError  # type: ignore[import-untyped]

from integrations.contracts.servers import Server
from integrations.credentials.credentials import SignIn
from integrations.exceptions import NotPermitted, ProviderError, Unavailable
from integrations.network.outgoing import Forbidden
from integrations.providers.imap import clients, connection, submission, trial
from integrations.providers.imap.servers import MailServers
from tests import imap_server
from tests.imap_server import MailServer, running_mail_server
from tests.integrations.providers.imap.box import Box
from tests.mail_world import PASSWORD, needs_dovecot
from tests.rebinding import NAME, rebinding

pytestmark = [needs_dovecot, pytest.mark.django_db]


def servers(box: Box) -> MailServers:
    return MailServers.from_json(box.world.servers)


def test_what_can_be_done_is_said_with_its_grade(box: Box) -> None:
    box.deliver()

    found = trial.try_servers([servers(box)], user_name=box.address, secret=PASSWORD)

    assert found.mails == 1
    assert {one.what: one.grade for one in found.abilities} == {
        "Read and search": "A",
        "Mark as read": "B",
        "Label": "B",
        "Archive and move": "B",
        "Put into the trash": "B",
        "Write drafts and take them back": "B",
        "Send, answer and forward": "C",
        "Know who really sent a mail": "B",
    }
    assert box.held() == {"INBOX": [("Lunch", ())]}
    assert [one for one in box.world.sink.taken if one[0] == box.address] == []


def test_a_wrong_password_is_said_and_nothing_is_tried_on(box: Box) -> None:
    with pytest.raises(NotPermitted, match="refused the sign-in"):
        trial.try_servers([servers(box)], user_name=box.address, secret="wrong")


def test_a_server_that_is_away_is_said_with_its_name(box: Box) -> None:
    nobody = MailServers(imap=Server(host="127.0.0.1", port=1))

    with pytest.raises(Unavailable, match=r"127\.0\.0\.1 does not answer at port 1"):
        trial.try_servers([nobody], user_name=box.address, secret=PASSWORD)
    found = trial.try_servers([nobody, servers(box)], user_name=box.address, secret=PASSWORD)
    assert found.servers.imap.port == box.world.imap


def test_without_a_server_to_send_with_the_rest_can_be_done(box: Box) -> None:
    reading = MailServers(imap=servers(box).imap)

    found = trial.try_servers([reading], user_name=box.address, secret=PASSWORD)

    grades = {one.what: (one.grade, one.why) for one in found.abilities}
    assert grades["Send, answer and forward"] == ("", "No server to send with is named.")
    assert grades["Archive and move"][0] == "B"


def test_the_name_that_checks_senders_is_learnt_where_nearly_all_mails_agree(box: Box) -> None:
    unknown = MailServers(imap=servers(box).imap)
    for number in range(11):
        box.deliver(
            str(number),
            Authentication_Results="mail.office.test; dmarc=pass"
            if number
            else "evil.test; dmarc=pass",
        )

    found = trial.try_servers([unknown], user_name=box.address, secret=PASSWORD)

    assert found.servers.checks_as == "mail.office.test"


def test_a_name_that_only_some_mails_have_is_a_strangers(box: Box) -> None:
    """Where the server itself writes nothing down."""
    unknown = MailServers(imap=servers(box).imap)
    for number in range(14):
        forged = {"Authentication_Results": "evil.test; dmarc=pass"} if number < 10 else {}
        box.deliver(str(number), **forged)

    found = trial.try_servers([unknown], user_name=box.address, secret=PASSWORD)

    assert found.servers.checks_as == ""


def test_two_names_that_check_senders_are_none(box: Box) -> None:
    unknown = MailServers(imap=servers(box).imap)
    for number in range(12):
        box.deliver(Authentication_Results=f"mail{number % 2}.office.test; dmarc=pass")

    found = trial.try_servers([unknown], user_name=box.address, secret=PASSWORD)

    assert found.servers.checks_as == ""


def test_private_addresses_are_refused_where_they_are_not_allowed(box: Box, settings: Any) -> None:
    settings.OUTGOING_TO_PRIVATE = False

    with pytest.raises(Forbidden, match="not public"):
        trial.try_servers([servers(box)], user_name=box.address, secret=PASSWORD)


@contextmanager
def served(monkeypatch: pytest.MonkeyPatch, folder: Path, **about: Any) -> Iterator[MailServer]:
    """A small mail server whose certificate is trusted."""
    folder /= uuid4().hex  # what is trusted is read once from each place
    folder.mkdir()
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "ca.pem"))
    with running_mail_server(folder, **about) as running:
        yield running


def trying(server: MailServer, *, host: str = "127.0.0.1", security: Any = "tls") -> str:
    """What is said of it."""
    there = MailServers(imap=Server(host=host, port=server.port, security=security))
    with pytest.raises(ProviderError) as problem:
        trial.try_servers([there], user_name=imap_server.USER, secret=imap_server.PASSWORD)
    return str(problem.value)


def test_a_certificate_that_does_not_hold_is_said_before_the_password_leaves(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any
) -> None:
    settings.OUTGOING_TO_PRIVATE = True
    with served(monkeypatch, tmp_path, expired=True) as server:
        assert trying(server) == (
            "The certificate of 127.0.0.1 has expired. Nothing was sent to it, the password "
            "neither. Who runs it has to renew it."
        )
        assert server.commands == []
    with served(monkeypatch, tmp_path) as server:
        assert "is for another name" in trying(server, host="localhost")
        monkeypatch.delenv("SSL_CERT_FILE")
        assert "comes from nobody whom this machine trusts" in trying(server)
        assert server.commands == []


def test_half_a_protocol_is_said_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any
) -> None:
    settings.OUTGOING_TO_PRIVATE = True
    with served(monkeypatch, tmp_path, starttls=True) as server:
        assert "does not speak TLS at port" in trying(server)
        server.announced = "IMAP4rev1 AUTH=PLAIN"
        assert "offers no encryption" in trying(server, security="starttls")
        assert not any(imap_server.PASSWORD in one for one in server.commands)
    with served(monkeypatch, tmp_path) as server:
        assert "answers at port" in trying(server)  # it lists no folders
        server.hang_up_after = 2
        assert "ended the connection in the middle" in trying(server)


def test_a_server_that_says_a_little_now_and_then_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.OUTGOING_TO_PRIVATE = True
    monkeypatch.setattr(trial, "SECONDS", 0.3)
    over = threading.Event()

    def talk(listening: socket.socket) -> None:
        with suppress(OSError):
            made, _ = listening.accept()
            with made:
                while not over.wait(0.02):
                    made.sendall(b"*")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        speaker = threading.Thread(target=talk, args=(listening,))
        speaker.start()
        there = Server(host="127.0.0.1", port=listening.getsockname()[1], security="starttls")
        with pytest.raises(ProviderError):
            trial.try_servers([MailServers(imap=there)], user_name="maya", secret="word")
        over.set()
        speaker.join()


def test_an_answer_that_is_longer_than_a_mail_is_not_read(box: Box) -> None:
    with connection.connection(box.account) as own:
        read = own.client._imap.read
        with pytest.raises(IMAPClientAbortError, match="more than a mail"):
            read(clients.MOST_BYTES + 1)


def test_a_connection_goes_to_an_address_that_was_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also when it is connected already: the name may lead inside by now."""
    with rebinding(monkeypatch, tmp_path) as world:
        there = MailServers(
            imap=Server(host=NAME, port=world.port), smtp=Server(host=NAME, port=world.port)
        )
        sign_in = SignIn(user_name="m", servers=there.to_json(), secret="s", fingerprint="f")
        world.looked_up = 1
        with pytest.raises(Forbidden):
            connection.connect(sign_in)
        with pytest.raises(Forbidden):
            submission.try_sign_in(there.smtp or there.imap, sign_in)
