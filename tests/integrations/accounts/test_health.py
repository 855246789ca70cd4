"""How an account of somebody's own is doing, in words."""

from datetime import timedelta

import pytest
from django.utils import timezone

from integrations.accounts import health
from integrations.credentials import credentials
from integrations.models import Account, Credential, Delivery
from tests.integrations.providers.imap.box import Box
from tests.mail_world import needs_dovecot

pytestmark = [needs_dovecot, pytest.mark.django_db]


def test_an_account_says_how_it_is(box: Box) -> None:
    account, now = Account.objects.get(id=box.account.id), timezone.now()

    def said() -> str:
        return health.in_words(account, now=now)

    assert said() == "Signed in. It has not been looked at yet."
    credentials.note_look(account.id, began_at=now - timedelta(seconds=40))
    assert said() == "Signed in. Looked at 40 seconds ago. Nothing has changed since then."
    delivery = Delivery.objects.create(
        organisation=account.organisation, account=account, webhook_id="1", kind="created", body={}
    )
    Delivery.objects.filter(id=delivery.id).update(received_at=now - timedelta(minutes=3))
    assert said() == "Signed in. Looked at 40 seconds ago. Last change 3 minutes ago."

    credentials.note_look(account.id, began_at=now, failure="unavailable")
    assert "The server does not answer." in said()
    credentials.note_look(account.id, began_at=now - timedelta(hours=3))
    assert said().startswith("Signed in. Looked at 3 hours ago.")
    assert "does `manage.py qcluster` run?" in said()

    credentials.ask_to_sign_in(account.id)
    assert said().startswith("Sign in again: the server refused the sign-in")
    Credential.objects.all().delete()
    assert said().startswith("Not connected.")


def test_trouble_of_calendars_is_said_as_theirs(box: Box) -> None:
    Account.objects.filter(id=box.account.id).update(source="caldav", provider="caldav")
    account, now = Account.objects.get(id=box.account.id), timezone.now()

    for code, sentence in (
        ("not_permitted", "The server refuses to show the calendars."),
        ("rejected", "The calendars are not where they were. Connect them again."),
        ("rate_limited", "The server asked Remit to wait."),
        ("unavailable", "The server does not answer."),
    ):
        credentials.note_look(account.id, began_at=now, failure=code)
        assert health.in_words(account, now=now) == (
            f"Signed in. {sentence} It has not been looked at yet."
        )
