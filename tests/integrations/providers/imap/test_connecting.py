"""Connecting a mailbox: found, tried, said in words, and only then stored."""

from typing import Any

import pytest
from django.core.management.base import CommandError

from integrations.credentials import credentials
from integrations.exceptions import NotPermitted, Rejected, Unavailable
from integrations.models import Account, Credential, Organisation
from integrations.network.outgoing import Forbidden
from integrations.providers.imap import connecting
from integrations.providers.imap.servers import MailServers, Server
from tests.commands import run_command
from tests.integrations.providers.imap.box import Box
from tests.mail_world import PASSWORD, needs_dovecot

pytestmark = [needs_dovecot, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def on_loopback(settings: Any) -> None:
    settings.OUTGOING_TO_PRIVATE = True


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)


def servers(box: Box) -> MailServers:
    return MailServers.from_json(box.world.servers)


def test_what_can_be_done_is_said_with_its_grade(box: Box) -> None:
    box.deliver()

    found = connecting.try_servers([servers(box)], user_name=box.address, secret=PASSWORD)

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
        connecting.try_servers([servers(box)], user_name=box.address, secret="wrong")


def test_a_server_that_is_away_is_said_with_its_name(box: Box) -> None:
    nobody = MailServers(imap=Server(host="127.0.0.1", port=1))

    with pytest.raises(Unavailable, match=r"127\.0\.0\.1 does not answer at port 1"):
        connecting.try_servers([nobody], user_name=box.address, secret=PASSWORD)
    found = connecting.try_servers([nobody, servers(box)], user_name=box.address, secret=PASSWORD)
    assert found.servers.imap.port == box.world.imap


def test_without_a_server_to_send_with_the_rest_can_be_done(box: Box) -> None:
    reading = MailServers(imap=servers(box).imap)

    found = connecting.try_servers([reading], user_name=box.address, secret=PASSWORD)

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

    found = connecting.try_servers([unknown], user_name=box.address, secret=PASSWORD)

    assert found.servers.checks_as == "mail.office.test"


def test_a_name_that_only_some_mails_have_is_a_strangers(box: Box) -> None:
    """Where the server itself writes nothing down."""
    unknown = MailServers(imap=servers(box).imap)
    for number in range(14):
        forged = {"Authentication_Results": "evil.test; dmarc=pass"} if number < 10 else {}
        box.deliver(str(number), **forged)

    found = connecting.try_servers([unknown], user_name=box.address, secret=PASSWORD)

    assert found.servers.checks_as == ""


def test_two_names_that_check_senders_are_none(box: Box) -> None:
    unknown = MailServers(imap=servers(box).imap)
    for number in range(12):
        box.deliver(Authentication_Results=f"mail{number % 2}.office.test; dmarc=pass")

    found = connecting.try_servers([unknown], user_name=box.address, secret=PASSWORD)

    assert found.servers.checks_as == ""


def test_private_addresses_are_refused_where_they_are_not_allowed(box: Box, settings: Any) -> None:
    settings.OUTGOING_TO_PRIVATE = False

    with pytest.raises(Forbidden, match="not public"):
        connecting.try_servers([servers(box)], user_name=box.address, secret=PASSWORD)


@pytest.mark.parametrize("address", ["", "nonsense", "a@b@c.test", "ä@office.test"])
def test_what_is_no_address_finds_no_servers(address: str) -> None:
    with pytest.raises(Rejected, match="no mail address"):
        connecting.find_servers(address)


def test_known_providers_are_found_and_others_guessed() -> None:
    (found,) = connecting.find_servers("maya@GMAIL.com")
    assert (found.imap.host, found.smtp and found.smtp.host, found.files_sent) == (
        "imap.gmail.com",
        "smtp.gmail.com",
        True,
    )
    guessed = [one.imap.host for one in connecting.find_servers("maya@office.test")]
    assert guessed == ["imap.office.test", "mail.office.test"]
    with pytest.raises(Rejected, match="takes no passwords"):
        connecting.find_servers("maya@outlook.com")


def test_the_command_connects_and_allows_nothing(box: Box, mine: None) -> None:
    office = Organisation.objects.create(slug="connected", name="Office")
    where = {"imap": f"127.0.0.1:{box.world.imap}", "organisation": office.slug}

    said = run_command("connect_mailbox", box.address, user="maya", display_name="Maya", **where)

    assert "Signed in at 127.0.0.1: 0 mails in the inbox." in said
    assert "-  Send, answer and forward. No server to send with is named." in said
    assert "Nothing is allowed yet." in said
    account = Account.objects.get(organisation=office)
    assert (account.source, account.kind, account.address) == ("imap", "mail", box.address)
    assert account.allowed_actions.count() == 0
    assert credentials.open_sign_in(account.ref()).secret == PASSWORD

    credentials.ask_to_sign_in(account.id)
    run_command("connect_mailbox", box.address, user="maya", **where)
    assert Account.objects.filter(organisation=office).count() == 1
    assert Credential.objects.get(account=account).state == "good"


def test_the_command_stores_nothing_when_it_cannot_sign_in(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", "wrong")
    office = Organisation.objects.create(slug="connected", name="Office")

    with pytest.raises(CommandError, match="refused the sign-in"):
        run_command(
            "connect_mailbox",
            box.address,
            user="maya",
            imap=f"127.0.0.1:{box.world.imap}",
            organisation=office.slug,
        )

    assert not Account.objects.filter(organisation=office).exists()


def test_the_command_only_tries_where_that_is_wanted(box: Box, mine: None) -> None:
    office = Organisation.objects.create(slug="connected", name="Office")
    options = {"imap": f"127.0.0.1:{box.world.imap}", "organisation": office.slug}

    run_command("connect_mailbox", box.address, user="maya", try_only=True, **options)

    assert not Account.objects.filter(organisation=office).exists()


def test_without_a_key_to_seal_with_nothing_is_stored(box: Box, mine: None, settings: Any) -> None:
    settings.CREDENTIALS_PUBLIC_KEY = settings.CREDENTIALS_PRIVATE_KEY = ""
    office = Organisation.objects.create(slug="connected", name="Office")
    options = {"imap": f"127.0.0.1:{box.world.imap}", "organisation": office.slug}

    with pytest.raises(CommandError, match="make_credential_keys"):
        run_command("connect_mailbox", box.address, user="maya", **options)

    assert not Account.objects.filter(organisation=office).exists()
