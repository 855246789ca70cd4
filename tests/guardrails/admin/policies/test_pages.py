"""Explaining and trying a policy in the admin, without a browser."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from audit.ledger.selectors import recorded
from audit.models import ExecutedAgentAction
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction
from guardrails.policies import changes
from guardrails.policies.changes import Author
from tests.clients import log_in, read_page
from tests.guardrails.forms import allowed_action_form
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HOSTILE = "<script>alert(1)</script>"


def page(client: Client, name: str, **query: Any) -> str:
    return read_page(client, reverse(f"admin:guardrails_policy_{name}"), **query)


@pytest.mark.parametrize("name", ["history", "explain", "simulate"])
def test_pages_are_for_those_who_may_see_allowed_actions(office: Office, name: str) -> None:
    rita = log_in("rita")
    assert rita.get(reverse(f"admin:guardrails_policy_{name}")).status_code == 403


def test_a_change_in_the_ledger_leads_to_its_words(office: Office, client: Client) -> None:
    author = Author(name="operator:olga", door="admin")
    rows = [office.permit(name) for name in ("archive", "mark_read", "classify")]
    for row in rows:
        changes.record_made([row], author=author)
    kept = about(office)

    seen = client.get(f"/admin/audit/executedagentaction/{kept[1].id}/change/").content.decode()
    (link,) = re.findall(r'href="([^"]*/history/\?[^"]*)"', seen)
    assert link.endswith(f"?change={kept[1].action_id}")
    shown = [one.row for one, _ in client.get(link).context["changes"]]
    assert shown == [kept[1].id, kept[0].id]
    unknown = page(client, "history", change=uuid4())
    assert "Nothing has been changed yet." in unknown


def about(office: Office) -> list[ExecutedAgentAction]:
    rows = ExecutedAgentAction.objects.filter(
        tenant_id=office.organisation.id, action_type=changes.ACTION_TYPE
    )
    return list(rows.order_by("id"))


@pytest.mark.parametrize("name", ["explain", "simulate", "shadow"])
def test_pages_stand_without_an_account(client: Client, name: str) -> None:
    assert "Account" in page(client, name, account="x", target=HOSTILE)


def test_what_an_agent_may_do_is_put_in_words(office: Office, client: Client) -> None:
    office.permit("archive", conditions=[{"kind": "sender_authenticated"}])
    office.permit("send_email", "ask")
    office.list_target("send_email", "recipient_domain", "client.com", HOSTILE)

    text = page(client, "explain", account=office.mailbox.pk, target="ada@client.com")

    assert "Done without asking, only if the mail provably comes from its sender" in text
    assert "A person is asked each time." in text
    assert "No operator has permitted it." in text
    assert f"?account={office.mailbox.pk}&amp;action_type=archive" not in text
    assert f"?account={office.mailbox.pk}&amp;action_type=mark_read" in text
    assert "Send a mail (to)" in text
    assert "Refused. It is not listed." in text
    assert HOSTILE not in text


def test_nobody_is_reached_by_what_is_no_address(office: Office, client: Client) -> None:
    office.permit("archive")
    text = page(client, "explain", account=office.tracker.pk, target=HOSTILE)
    assert "It is not listed" in text or "No operator has permitted it" in text
    assert HOSTILE not in text


def test_an_action_is_tried_without_json_and_without_doing_it(
    office: Office, client: Client
) -> None:
    office.permit("send_email", "ask")
    office.list_target("send_email", "recipient", "ada@client.com")
    query = f"?account={office.mailbox.pk}&action=send_email"
    form = {
        "argument-to": "ada@client.com",
        "argument-subject": HOSTILE,
        "argument-body": "Hello",
        "user_words": "",
        "email_id": "",
    }
    fields = page(client, "simulate", account=office.mailbox.pk, action="send_email")

    answer = client.post(reverse("admin:guardrails_policy_simulate") + query, form)

    text = answer.content.decode()
    assert all(f'name="argument-{name}"' in fields for name in ("to", "cc", "bcc", "body"))
    assert "A person must confirm this first. The policy says so." in text
    assert "argument-to" in text
    assert "to: on the list of what is permitted" in text
    assert HOSTILE not in text
    assert office.calls() == []


def test_a_draft_is_tried_before_it_is_saved(office: Office, client: Client) -> None:
    allowed_action = office.permit("archive")
    execute(office.request("archive", {"email_id": office.receive()}))
    form = allowed_action_form(office, _try="1")
    address = reverse("admin:guardrails_allowedaction_change", args=[allowed_action.pk])

    text = client.post(address, form).content.decode()
    invalid = client.post(address, form | {"approval_mode": "x"}).content.decode()

    assert "0 newly allowed, 1 newly asked about, 0 newly refused" in text
    assert "Archive: “Lunch on Friday?”" in text
    assert "Select a valid choice" in invalid
    assert AllowedAction.objects.get().approval_mode == "auto"


def test_a_tried_draft_is_saved_or_taken_back_to_the_form(office: Office, client: Client) -> None:
    allowed_action = office.permit("archive")
    condition = {"conditions-0-kind": "thread", "conditions-0-min_messages": "4"}
    form = allowed_action_form(office, conditions="0", **condition)
    address = reverse("admin:guardrails_allowedaction_change", args=[allowed_action.pk])

    tried = client.post(address, form | {"_try": "1", "_last": "500"}).content.decode()
    back = client.post(address, form | {"_back": "1"}).content.decode()

    assert '<input type="hidden" name="conditions-0-min_messages" value="4">' in tried
    assert 'name="conditions-0-min_messages" value="4"' in back
    assert '<option value="ask" selected' in back
    allowed_action.refresh_from_db()
    assert allowed_action.approval_mode == "auto"
    client.post(address, form | {"_save": "1"})
    allowed_action.refresh_from_db()
    assert (allowed_action.approval_mode, allowed_action.conditions) == (
        "ask",
        [{"kind": "thread", "min_messages": 4}],
    )


def test_trying_needs_the_right_to_change(office: Office) -> None:
    allowed_action = office.permit("archive")
    rita = log_in("rita")
    address = reverse("admin:guardrails_allowedaction_change", args=[allowed_action.pk])
    assert rita.post(address, {"_try": "1"}).status_code == 403


def test_a_policy_is_found_by_the_digest_a_decision_names(office: Office, client: Client) -> None:
    office.permit("archive")
    result = execute(office.request("archive", {"email_id": office.receive()}))
    digest = recorded(result.action_id)[0].policy_digest
    found = client.get(reverse("admin:audit_ledgerpolicy_changelist"), {"q": digest})
    shown = client.get(reverse("admin:audit_ledgerpolicy_change", args=[digest]))
    assert digest in found.content.decode()
    assert "&quot;archive&quot;" in shown.content.decode()
