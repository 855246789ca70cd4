"""Looking for what is new: what is noted of it."""

import pytest
from django.utils import timezone

from integrations.accounts import arrivals
from integrations.credentials import credentials
from integrations.exceptions import NotPermitted, ProviderError
from integrations.models import Credential
from integrations.providers.imap import connection
from tests.integrations.providers.imap.box import Box
from tests.mail_world import needs_dovecot
from tests.own_accounts import sign_in

pytestmark = [needs_dovecot, pytest.mark.django_db]


def look(box: Box) -> int:
    return arrivals.look(box.account.id, enqueue=lambda _: None)


def test_a_look_is_noted_and_so_is_why_it_failed(box: Box) -> None:
    began = timezone.now()
    look(box)
    box.deliver()
    assert look(box) == 1

    row = Credential.objects.get(account_id=box.account.id)
    assert row.seen_at is not None
    assert row.seen_at > began
    servers = {**row.servers, "imap": {**row.servers["imap"], "port": 1}}
    Credential.objects.update(servers=servers, user_name="other")
    connection.close_idle()
    with pytest.raises(ProviderError):
        look(box)
    assert Credential.objects.get().failure == "unavailable"


def test_who_has_to_sign_in_again_is_not_looked_at_until_then(box: Box) -> None:
    now = timezone.now()
    credentials.ask_to_sign_in(box.account.id)

    assert arrivals.claim_due(now=now) == []
    with pytest.raises(NotPermitted):
        look(box)

    sign_in(box.account.id, user_name=box.address, servers=box.world.servers, secret="open-sesame")
    assert arrivals.claim_due(now=now) == [box.account.id]
    assert look(box) == 0
