"""The pages of who hears of approvals: added, changed, removed, and never an address shown."""

import base64
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.test import Client
from django.urls import reverse
from django_q.models import OrmQ
from pytest_django.fixtures import Settings

from audit.models import ExecutedAgentAction
from config.local import secrets as local_secrets
from guardrails.approve.news import recipients
from guardrails.models import ApprovalRecipient
from integrations.models import Organisation
from tests.clients import log_in
from tests.commands import run_command
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NAME = "admin:guardrails_approvalrecipient"
SECRET = "https://hooks.slack.com/services/T0/B0/verysecret"


def key() -> str:
    made = X25519PrivateKey.generate()
    raw = made.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    return base64.b64encode(raw).decode()


@pytest.fixture(autouse=True)
def installation(settings: Settings) -> None:
    settings.CREDENTIALS_PRIVATE_KEY = key()
    settings.CREDENTIALS_PUBLIC_KEY = local_secrets.public_half(settings.CREDENTIALS_PRIVATE_KEY)
    settings.EMAIL_URL = "smtp://mail.company.com"


def save(client: Client, organisation: Organisation, pk: Any = None, **given: str) -> str:
    fields = {"name": "Desk", "kind": "slack", "new_address": SECRET, "after_minutes": "0"}
    sent = {"organisation": organisation.pk, "time_zone": "UTC", "language": "en"} | fields | given
    address = reverse(f"{NAME}_change", args=[pk]) if pk else reverse(f"{NAME}_add")
    return client.post(address, sent, follow=True).content.decode()


def test_an_address_is_sealed_and_stands_on_no_page(office: Office, client: Client) -> None:
    page = save(client, office.organisation, quiet_from="20:00", quiet_until="07:00")
    row = ApprovalRecipient.objects.get()
    shown = [page, client.get(reverse(f"{NAME}_changelist")).content.decode()]
    shown.append(client.get(reverse(f"{NAME}_change", args=[row.pk])).content.decode())

    assert "A trial message is on its way there." in page
    assert not any("verysecret" in one for one in shown)
    assert b"verysecret" not in bytes(row.sealed)
    assert (row.address, recipients.target(row)) == ("hooks.slack.com", SECRET)
    assert "at once, not from 20:00 to 07:00 UTC" in shown[1]
    [task] = OrmQ.objects.all()
    assert "verysecret" not in str(task.task)


def test_an_address_stays_where_none_is_typed_in_and_changes_are_recorded(
    office: Office, client: Client
) -> None:
    save(client, office.organisation)
    row = ApprovalRecipient.objects.get()
    save(client, office.organisation, row.pk, new_address="", name="Night desk")
    row.refresh_from_db()
    assert (row.name, recipients.target(row)) == ("Night desk", SECRET)
    client.post(reverse(f"{NAME}_delete", args=[row.pk]), {"post": "yes"})

    assert not ApprovalRecipient.objects.exists()
    rows = ExecutedAgentAction.objects.filter(
        action_type=recipients.CHANGE, tenant_id=office.organisation.id
    )
    assert list(rows.values_list("actor_id", flat=True)) == ["operator:olga"] * 3


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"new_address": ""}, "Type in the address."),
        ({"kind": "mail", "new_address": "nobody"}, "This is not a mail address."),
        ({"new_address": "http://hooks.slack.com/x"}, "begins with https://"),
        ({"new_address": "https://127.0.0.1/x"}, "This address is not public."),
        ({"quiet_from": "20:00"}, "Say both when it begins and when it ends."),
        ({"time_zone": "Mars/Base"}, "There is no such time zone."),
        ({"after_minutes": "99999"}, "less than or equal to 10080"),
    ],
)
def test_what_is_wrong_is_explained(
    office: Office, client: Client, given: dict[str, str], sentence: str
) -> None:
    assert sentence in save(client, office.organisation, **given)
    assert not ApprovalRecipient.objects.exists()


def test_without_a_key_nothing_is_stored(
    office: Office, client: Client, settings: Settings
) -> None:
    settings.CREDENTIALS_PUBLIC_KEY = settings.CREDENTIALS_PRIVATE_KEY = ""
    assert "Addresses cannot be sealed here" in save(client, office.organisation)
    assert not ApprovalRecipient.objects.exists()


def test_who_may_only_look_sends_no_trial(office: Office, client: Client) -> None:
    save(client, office.organisation)
    row = ApprovalRecipient.objects.get()
    OrmQ.objects.all().delete()
    viewer = log_in("vera", "view_approvalrecipient")
    trial = reverse(f"{NAME}_trial", args=[row.pk])

    assert viewer.post(trial).status_code == 403
    assert OrmQ.objects.count() == 0
    client.post(trial)
    assert OrmQ.objects.count() == 1


def test_an_address_is_sealed_anew_with_a_new_key(
    office: Office, client: Client, settings: Settings
) -> None:
    save(client, office.organisation)
    settings.CREDENTIALS_PRIVATE_KEY_BEFORE = settings.CREDENTIALS_PRIVATE_KEY
    settings.CREDENTIALS_PRIVATE_KEY = key()
    settings.CREDENTIALS_PUBLIC_KEY = local_secrets.public_half(settings.CREDENTIALS_PRIVATE_KEY)

    assert "Sealed anew: 1." in run_command("reseal_credentials")
    settings.CREDENTIALS_PRIVATE_KEY_BEFORE = ""
    assert recipients.target(ApprovalRecipient.objects.get()) == SECRET
