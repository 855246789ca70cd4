"""Connecting a mailbox from the command line."""

from typing import Any

import pytest
from django.core.management.base import CommandError

from integrations.credentials import credentials
from integrations.models import Account, Credential, Organisation
from tests.commands import run_command
from tests.integrations.providers.imap.box import Box
from tests.mail_world import PASSWORD, needs_dovecot

pytestmark = [needs_dovecot, pytest.mark.django_db]


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)


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
    copied = []
    for given in ({}, {"bcc_self": True}, {}, {"bcc_self": False}):
        run_command("connect_mailbox", box.address, user="maya", **where, **given)
        copied.append(Account.objects.get(id=account.id).bcc_self)
    assert copied == [False, True, True, False]
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


def test_the_other_command_forgets_the_password(box: Box) -> None:
    organisation = box.account.organisation_slug
    with pytest.raises(CommandError, match="no such mailbox"):
        run_command("disconnect_mailbox", box.address, user="maya", organisation=organisation)
    assert Credential.objects.filter(account_id=box.account.id).exists()

    run_command(
        "disconnect_mailbox",
        box.address,
        user=box.account.external_user_id,
        organisation=organisation,
    )

    assert not Credential.objects.filter(account_id=box.account.id).exists()
