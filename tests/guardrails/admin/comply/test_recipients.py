"""The pages of checkpoint recipients, without a browser."""

from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django_q.models import OrmQ
from pytest_django.fixtures import Settings

from guardrails.comply import recipients, tasks
from guardrails.models import CheckpointRecipient
from tests.clients import log_in
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NAME = "admin:guardrails_checkpointrecipient"


@pytest.fixture(autouse=True)
def mail_server(settings: Settings) -> None:
    settings.EMAIL_URL = "smtp://localhost"


@pytest.fixture
def row(office: Office, client: Client) -> CheckpointRecipient:
    add(client, office, "mail", "auditor@example.com")
    return CheckpointRecipient.objects.get()


def add(client: Client, office: Office, kind: str, address: str) -> str:
    organisation = office.mailbox.organisation_id
    given = {"organisation": organisation, "kind": kind, "address": address}
    return client.post(reverse(f"{NAME}_add"), given, follow=True).content.decode()


def confirm(client: Client, row: CheckpointRecipient, **given: str) -> Any:
    return client.post(reverse(f"{NAME}_confirm", args=[row.pk]), given, follow=True)


def test_an_address_is_added_and_confirmed_with_the_code_that_arrived(
    client: Client, row: CheckpointRecipient
) -> None:
    assert (row.added_by, row.confirmed_at) == ("operator:olga", None)
    assert [task.func() for task in OrmQ.objects.all()] == ["guardrails.comply.tasks.send_code"]
    tasks.send_code(str(row.pk))
    code = str(mail.outbox[-1].body).partition("who asked you: ")[2][: recipients.CODE_LENGTH]
    assert "That is not the code" in confirm(client, row, code="WRONG").content.decode()
    told = confirm(client, row, code=code).content.decode()
    assert "auditor@example.com receives checkpoints from now on." in told
    assert "Has no checkpoint yet." in told


def test_another_code_is_sent_when_asked_for(client: Client, row: CheckpointRecipient) -> None:
    OrmQ.objects.all().delete()
    assert "Another code is on its way" in confirm(client, row, _again="1").content.decode()
    assert OrmQ.objects.count() == 1


@pytest.mark.parametrize(
    ("kind", "address", "sentence"),
    [
        ("mail", "nobody", "This is not a mail address."),
        ("webhook", "http://a.example", "begins with https://"),
        ("webhook", "https://a:b@a.example", "without user, password"),
    ],
)
def test_a_wrong_address_is_explained(
    office: Office, client: Client, kind: str, address: str, sentence: str
) -> None:
    assert sentence in add(client, office, kind, address)
    assert not CheckpointRecipient.objects.exists()


def test_an_address_is_not_changed_and_its_removal_is_recorded(
    client: Client, row: CheckpointRecipient
) -> None:
    changed = {"organisation": row.organisation_id, "kind": "mail", "address": "thief@example.com"}
    client.post(reverse(f"{NAME}_change", args=[row.pk]), changed)
    row.refresh_from_db()
    assert row.address == "auditor@example.com"
    client.post(reverse(f"{NAME}_delete", args=[row.pk]), {"post": "yes"})
    assert not CheckpointRecipient.objects.exists()


def test_who_may_only_look_neither_confirms_nor_sees_the_secret(
    office: Office, client: Client
) -> None:
    add(client, office, "webhook", "https://a.example/hook")
    row = CheckpointRecipient.objects.get()
    address = reverse(f"{NAME}_change", args=[row.pk])
    assert recipients.secret(row) in client.get(address).content.decode()
    looking = log_in("vera", "view_checkpointrecipient")
    assert recipients.secret(row) not in looking.get(address).content.decode()
    assert confirm(looking, row, code="A").status_code == 403
    assert client.get(reverse(f"{NAME}_confirm", args=[row.pk])).status_code == 405


def test_the_dashboard_tells_of_who_is_not_reached(
    client: Client, row: CheckpointRecipient
) -> None:
    page = client.get(reverse("admin:agents_dashboard"), {"organisation": row.organisation.slug})
    assert "auditor@example.com receives nothing until" in page.content.decode()
