"""The chat console's own views; the browser tests see it at work."""

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.models import Suggestion, Turn
from integrations.models import Account, Membership
from tests.agents.pages import SCRIPT, delivery, mailbox, turn
from tests.clients import log_in
from tests.rows import Rows
from tests.sandbox_server import RunningSandbox

pytestmark = pytest.mark.django_db


def deliver(client: Client, body: object) -> Any:
    return client.post(
        reverse("console-deliver"),
        data=body if isinstance(body, bytes) else json.dumps(body).encode(),
        content_type="application/json",
    )


def test_who_is_not_logged_in_is_asked_to() -> None:
    answer = Client().get(reverse("console"))

    assert answer.status_code == 302
    assert answer["Location"] == f"{reverse('account_login')}?next={reverse('console')}"


@pytest.mark.parametrize("name", ["console", "console-deliver", "console-delivered"])
def test_staff_without_the_right_are_refused_in_words(name: str) -> None:
    client = log_in("clerk", "view_conversation", "change_approval")
    method = client.post if name == "console-deliver" else client.get

    answer = method(reverse(name))

    assert answer.status_code == 403
    assert "In the chat console one acts as any user" in answer.content.decode()


def test_the_page_has_a_strict_policy_and_keeps_to_it(operator: Client) -> None:
    mailbox()

    answer = operator.get(reverse("console"))

    policy = answer["Content-Security-Policy"]
    assert "script-src 'self';" in f"{policy};"
    assert "style-src 'self';" in f"{policy};"
    assert "unsafe" not in policy
    page = answer.content.decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", page) == []
    assert SCRIPT not in page


def test_users_are_those_of_the_chosen_organisation(operator: Client) -> None:
    mailbox("maya")
    mailbox("eve", slug="elsewhere")
    Account.objects.create(
        organisation=mailbox("maya").organisation, external_user_id="maya", source="jira"
    )

    here = operator.get(reverse("console"))
    there = operator.get(reverse("console"), {"organisation": "elsewhere"})

    assert [user for user, _ in here.context["users"]] == ["maya"]
    assert [user for user, _ in there.context["users"]] == ["eve"]


def test_a_user_meets_themself_alone_and_delivers_nothing() -> None:
    organisation = mailbox("maya").organisation
    mailbox("omar")
    client = log_in("maya.lindqvist", "use_own_console")
    assert client.get(reverse("console")).status_code == 403  # nobody has said who they are
    Membership.objects.update(external_user_id="maya")

    page = client.get(reverse("console"))
    body = {"organisation": organisation.slug, "user_id": "maya", "name": "question"}

    assert [user for user, _ in page.context["users"]] == ["maya"]
    assert page.context["is_sandbox"] is False
    text = page.content.decode()
    assert "You are" in text
    assert "omar" not in text
    assert reverse("admin:audit_executedagentaction_changelist") not in text
    assert deliver(client, body).status_code == 404


def test_a_user_has_a_word_on_what_is_suggested_to_them_alone_and_other_sites_have_none() -> None:
    row = Rows("here").of(Suggestion)
    Account.objects.filter(pk=row.account_id).update(external_user_id="omar")
    log_in("maya.lindqvist", "use_own_console")
    Membership.objects.update(external_user_id="maya")
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.get(username="maya.lindqvist"))
    mailbox("maya", slug="here")
    page = client.get(reverse("console")).content.decode()
    own = re.search(r'data-csrf="(\w+)"', page)
    assert own is not None
    assert f'data-suggestions="{reverse("suggestions")}"' in page

    def dismiss(user: str, **headers: str) -> Any:
        address = reverse("suggestion-dismiss", args=[row.id])
        json = "application/json"
        return client.post(address, {"user_id": user}, content_type=json, headers=headers)

    token = {"X-CSRFToken": own[1]}
    assert [dismiss(one, **token).status_code for one in ("omar", "maya")] == [404, 404]
    Account.objects.filter(pk=row.account_id).update(external_user_id="maya", source="calendar")
    assert dismiss("maya").status_code == 403
    row.refresh_from_db()
    assert row.state == Suggestion.State.OPEN
    assert dismiss("maya", **token).json()["decided_by"] == "user:maya"


def test_who_has_no_word_on_suggestions_is_shown_none() -> None:
    mailbox()
    page = log_in("ada", "use_console").get(reverse("console")).content.decode()
    assert 'data-suggestions=""' in page


def test_an_empty_installation_says_what_to_do(operator: Client) -> None:
    assert (
        "No user has a connected account yet." in operator.get(reverse("console")).content.decode()
    )


@pytest.mark.parametrize("offline", [True, False])
def test_the_offline_stand_in_is_named(operator: Client, settings: Any, offline: bool) -> None:
    settings.MODEL_IS_OFFLINE = offline
    mailbox()

    page = operator.get(reverse("console")).content.decode()

    assert ("It is not a language model." in page) is offline


def test_a_scripted_mail_arrives(operator: Client, sandbox: RunningSandbox) -> None:
    mailbox()
    page = operator.get(reverse("console"))
    assert "poisoned" in [mail.name for mail in page.context["scripted"]]

    answer = deliver(operator, {"organisation": "default", "user_id": "maya", "name": "newsletter"})

    assert answer.status_code == 201
    assert answer.json()["subject"] == "Product Weekly: The first ten minutes"
    assert answer.json()["source_id"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "invalid_json"),
        (b"[]", 400, "invalid_json"),
        (b"\xff", 400, "invalid_json"),
        ({}, 404, "unknown_user"),
        ({"organisation": "default", "user_id": "eve", "name": "cold"}, 404, "unknown_user"),
        ({"organisation": "elsewhere", "user_id": "maya", "name": "cold"}, 404, "unknown_user"),
        ({"organisation": ["default"], "user_id": 1, "name": None}, 404, "unknown_user"),
        ({"organisation": "default", "user_id": "maya", "name": "no such"}, 404, "unknown_mail"),
        (
            {"organisation": "default", "user_id": "maya", "name": "../../reset"},
            404,
            "unknown_mail",
        ),
    ],
)
def test_a_mail_that_cannot_be_delivered_is_refused_in_a_sentence(
    operator: Client, sandbox: RunningSandbox, body: object, status: int, code: str
) -> None:
    mailbox()

    answer = deliver(operator, body)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"]["message"].endswith(".")


def test_without_a_sandbox_there_is_nothing_to_deliver(operator: Client, settings: Any) -> None:
    settings.DATA_SERVICES = {"default": "https://data.example/v1/data"}
    settings.DATA_SERVICE_KEYS = {"default": "key"}
    mailbox()

    page = operator.get(reverse("console"))
    answer = deliver(operator, {"organisation": "default", "user_id": "maya", "name": "cold"})

    assert page.context["is_sandbox"] is False
    assert "Deliver a mail" not in page.content.decode()
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_sandbox")


def test_a_sandbox_that_is_away_is_said(operator: Client, settings: Any) -> None:
    settings.SANDBOX_PORT = 9  # nobody listens there
    settings.DATA_SERVICES = {"default": "http://127.0.0.1:9/v1/data"}
    settings.DATA_SERVICE_KEYS = {"default": "key"}
    settings.DATA_SERVICE_ATTEMPTS = 1
    mailbox()

    page = operator.get(reverse("console")).content.decode()
    answer = deliver(operator, {"organisation": "default", "user_id": "maya", "name": "cold"})

    assert "The sandbox does not answer" in page
    assert answer.status_code == 502


def test_delivering_needs_the_pages_csrf_token() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create(username="root", is_superuser=True))

    assert deliver(client, {}).status_code == 403


def test_what_became_of_a_mail_has_links(operator: Client) -> None:
    account = mailbox()
    row = delivery(account, 7, state="skipped", reason="own_mail")
    worked = turn(account, delivery=row)
    Turn.objects.filter(id=worked.id).update(
        actions=[{"description": "Archive: “x”", "type": "archive", "status": "succeeded"}]
    )

    answer = operator.get(
        reverse("console-delivered"),
        {"organisation": "default", "user_id": "maya", "source_id": "mail-7"},
    ).json()

    assert (answer["state"], answer["finished"], answer["reason"]) == ("skipped", True, "own mail")
    assert [action["description"] for action in answer["actions"]] == ["Archive: “x”"]
    assert [link["url"] for link in answer["links"]] == [
        reverse("admin:integrations_delivery_change", args=[row.id]),
        reverse("admin:agents_turn_change", args=[worked.id]),
        f"{reverse('admin:audit_executedagentaction_changelist')}?run_id={worked.id}",
    ]


def test_a_mail_of_another_organisation_is_as_unknown_as_none(operator: Client) -> None:
    delivery(mailbox("maya", slug="elsewhere"), 7, state="processed")

    answer = operator.get(
        reverse("console-delivered"),
        {"organisation": "default", "user_id": "maya", "source_id": "mail-7"},
    )

    assert answer.json() == {"state": "on its way", "finished": False, "links": []}
