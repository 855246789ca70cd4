"""The page of held sends, without a browser."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from guardrails.contracts import Origin
from guardrails.execute.executor import execute
from guardrails.execute.releases import release_due
from guardrails.models import HeldSend
from tests.clients import log_in, log_in_superuser, read_page
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
BOB = "bob@company.com"


@pytest.fixture
def held_send(office: Office) -> HeldSend:
    office.permit("send_email", hold_seconds=300)
    office.list_target("send_email", "recipient_domain", "company.com", "Us")
    wish = {"to": [BOB], "subject": "<script>", "body": "Hel\u200blo."}
    execute(office.request("send_email", wish, origin=Origin(trigger="chat", user_words=BOB)))
    return HeldSend.objects.get()


def shown(client: Client, held_send: HeldSend) -> str:
    return read_page(client, reverse("admin:guardrails_heldsend_change", args=[held_send.pk]))


def recall(client: Client, held_send: HeldSend) -> Any:
    return client.post(
        reverse("admin:guardrails_heldsend_recall", args=[held_send.pk]), follow=True
    )


def test_the_page_shows_everything_that_would_be_sent(client: Client, held_send: HeldSend) -> None:
    text = shown(client, held_send)
    assert "Send to bob@company.com</h2>" in text
    assert "<bdi>“&lt;script&gt;”</bdi>" in text
    assert "Hel⟨U+200B⟩lo." in text
    assert f"It is carried out at {held_send.until:%Y-%m-%d %H:%M:%S} UTC" in text


def test_one_button_recalls(office: Office, client: Client, held_send: HeldSend) -> None:
    told = recall(client, held_send).content.decode()
    held_send.refresh_from_db()
    assert "Recalled: Send" in told
    assert (held_send.state, held_send.decided_by) == ("recalled", "operator:olga")
    assert "It was recalled before it was carried out." in shown(client, held_send)
    assert 'aria-label="Recall' not in shown(client, held_send)
    assert office.calls() == []


def test_too_late_is_said(office: Office, client: Client, held_send: HeldSend) -> None:
    HeldSend.objects.update(until=timezone.now())
    release_due(now=timezone.now())
    assert "Too late to recall." in recall(client, held_send).content.decode()
    assert len(office.calls()) == 1


def test_who_may_only_look_cannot_recall(client: Client, held_send: HeldSend) -> None:
    looking = log_in("vera", "view_heldsend")
    assert 'aria-label="Recall' not in shown(looking, held_send)
    assert recall(looking, held_send).status_code == 403
    assert (
        client.get(reverse("admin:guardrails_heldsend_recall", args=[held_send.pk])).status_code
        == 405
    )
    held_send.refresh_from_db()
    assert held_send.state == "held"


def test_the_list_shows_what_is_due_first(
    office: Office, client: Client, held_send: HeldSend
) -> None:
    response = client.get(reverse("admin:guardrails_heldsend_changelist"))
    text = response.content.decode()
    assert "Held sends" in text
    assert f"{held_send.until:%Y-%m-%d %H:%M:%S} UTC" in text


def test_what_is_held_is_found_by_its_words_and_by_whose_it_is(
    office: Office, held_send: HeldSend
) -> None:
    auditor = log_in("rita", "view_heldsend")

    def found(words: str) -> list[Any]:
        answer = auditor.get(reverse("admin:guardrails_heldsend_changelist"), {"q": words})
        return list(answer.context["cl"].result_list)

    for words in ("bob", "Send bob@company.com", str(held_send.action_id)):
        assert found(words) == [held_send], words
    assert found("bob carol") == found("nobody") == []
    name = held_send.external_user_id
    assert found(name) == [held_send]
    recall(log_in_superuser("olga"), held_send)
    assert (found("bob"), found(name)) == ([], [held_send]), "words are those of what is held"
