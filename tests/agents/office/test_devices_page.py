"""What the button for notifications asks for: by people who decide, for themselves alone."""

import base64
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from audit.contracts import LedgerError
from audit.ledger import events
from guardrails.models import ApprovalRecipient
from integrations.network import web_push
from tests.agents.pages import mailbox
from tests.clients import log_in
from tests.push_world import Browser

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
INBOX = "admin:guardrails_approval_changelist"
BROWSER = Browser("https://push.example.com/send/verysecret")


@pytest.fixture(autouse=True)
def installation(settings: Settings) -> None:
    """One with keys and a user, and so with an organisation."""
    settings.CREDENTIALS_PUBLIC_KEY = base64.b64encode(bytes(range(32))).decode()
    settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY = web_push.make_keys()
    mailbox()


def press(client: Client, name: str, **wish: Any) -> tuple[int, str]:
    answer = client.post(reverse(name), json.dumps(wish), content_type="application/json")
    return answer.status_code, answer.content.decode()


def switch_on(client: Client, **wish: Any) -> tuple[int, str]:
    return press(client, "device-on", subscription=json.loads(BROWSER.subscription), **wish)


def test_one_click_on_and_one_off() -> None:
    client = log_in("ann", "view_approval", "change_approval")
    assert switch_on(client, time_zone="Europe/Berlin") == (200, "{}")
    row = ApprovalRecipient.objects.get()
    page = client.get(reverse(INBOX)).content.decode()

    assert (row.kind, row.address, row.time_zone) == ("push", "push.example.com", "Europe/Berlin")
    assert f'data-known="{row.device}"' in page
    assert "verysecret" not in page
    assert press(client, "device-off", device=row.device) == (200, "{}")
    assert not ApprovalRecipient.objects.exists()


@pytest.mark.parametrize(
    ("given", "stored", "said"),
    [
        ("de", "de", "Nirgends wartet etwas auf deine Entscheidung."),
        ("en-gb", "en", "Nothing waits for your decision anywhere."),
        (None, "en", "Nothing waits for your decision anywhere."),
    ],
)
def test_it_speaks_the_language_of_the_page(given: str | None, stored: str, said: str) -> None:
    switch_on(log_in("ann", "change_approval"), language=given)

    assert ApprovalRecipient.objects.get().language == stored
    status, answer = switch_on(log_in("eve", "view_approval"), language=given)
    assert (status, json.loads(answer)["error"]["message"]) == (400, said)
    assert ApprovalRecipient.objects.get().person.username == "ann"  # type: ignore[union-attr]


def test_nobody_switches_off_what_is_another_persons() -> None:
    switch_on(log_in("ann", "change_approval"))
    device = ApprovalRecipient.objects.get().device

    press(log_in("bob", "change_approval"), "device-off", device=device)
    assert ApprovalRecipient.objects.get().person.username == "ann"  # type: ignore[union-attr]


@pytest.mark.parametrize("zone", [None, "Mars/Base", ["UTC"], 1])
def test_a_time_zone_that_there_is_not_is_none_of_ours(zone: Any) -> None:
    assert switch_on(log_in("ann", "change_approval"), time_zone=zone)[0] == 200
    assert ApprovalRecipient.objects.get().time_zone == "UTC"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[]", "it must be an object"),
        ("{", "not a valid JSON object"),
        ("{}", "not what a browser says"),
        ('{"subscription": {"endpoint": "file:///etc/passwd"}}', "not what a browser says"),
    ],
)
def test_what_no_browser_says_is_refused_in_words(body: str, said: str) -> None:
    client = log_in("ann", "change_approval")
    answer = client.post(reverse("device-on"), body, content_type="application/json")

    assert (answer.status_code, said in answer.content.decode()) == (400, True)
    assert not ApprovalRecipient.objects.exists()


def test_who_is_a_stranger_or_decides_nothing_switches_nothing_on() -> None:
    clerk = log_in("clerk", "view_approval")

    assert switch_on(Client())[0] == 302
    assert switch_on(clerk)[0] == 400
    assert Client(enforce_csrf_checks=True).post(reverse("device-on")).status_code in (302, 403)
    assert 'id="device"' not in clerk.get(reverse(INBOX)).content.decode()
    assert not ApprovalRecipient.objects.exists()


def test_without_a_key_no_button_is_there(settings: Settings) -> None:
    client = log_in("ann", "view_approval", "change_approval")
    assert 'id="device"' in client.get(reverse(INBOX)).content.decode()
    settings.VAPID_PUBLIC_KEY = ""
    assert 'id="device"' not in client.get(reverse(INBOX)).content.decode()


def test_what_cannot_be_recorded_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any, **named: Any) -> None:
        raise LedgerError("away")

    monkeypatch.setattr(events, "record", refuse)
    assert switch_on(log_in("ann", "change_approval"))[0] == 503
    assert not ApprovalRecipient.objects.exists()
