"""Every page of admin and console over rows in which strangers wrote what a page could take for its
own: HTML in every text of the data service, and in every column of every model."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from playwright.sync_api import Page, Request, expect

from audit.ledger import policies
from audit.ledger.selectors import recorded
from audit.models import ExecutedAgentAction, LedgerPolicy
from guardrails.models import Approval
from integrations.models import Account
from tests.audit.entries import append_action
from tests.office import Office
from tests.rows import Rows

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
# Ends an attribute, a text and a script, and is then an element that no page of ours has.
SHORT = "\"'><x-ss x-ss>"
HOSTILE = (
    f"{SHORT}</textarea></title></style><script>window.ran=1</script>"
    '<img src="https://evil.example.com/p.png" onerror="window.ran=2"><svg onload=window.ran=3>'
    "<base href=https://evil.example.com><form action=https://evil.example.com>{{7*7}}${7*7}"
)
LINK = "javascript:window.ran=4"
# What of the data service's objects strangers fill, and which of it should be an address.
TEXTS = {
    *("subject", "body_text", "body_html", "snippet", "from_name", "sender_name", "name", "title"),
    *("description", "location", "summary", "text", "body", "author", "content_text", "channel"),
    *("folder_path", "mime_type", "list_id", "priority", "status_text"),
}
LINKS = {"url", "meet_link"}
# Columns that hold what strangers wrote as it came.
JSON = {"metadata", "body", "input_schema", "hints"}
TOOK_EFFECT = """
[window.ran, document.querySelectorAll("x-ss, [x-ss], base, svg[onload]").length,
 [...document.querySelectorAll("[href], [src], [action]")].filter((one) => ["href", "src", "action"]
   .some((name) => /^\\s*(javascript|data:text|https?:\\/\\/evil)/i.test(one.getAttribute(name)))
 ).length]
"""


def spoil(value: Any) -> Any:
    """The object with HTML behind every text that a stranger could have written."""
    if isinstance(value, list):
        return [spoil(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: f"{one} {HOSTILE}"
        if key in TEXTS and isinstance(one, str)
        else LINK
        if key in LINKS and isinstance(one, str)
        else spoil(one)
        for key, one in value.items()
    }


def spoil_office(path: str) -> int:
    """All that the data service holds. How many objects."""
    with sqlite3.connect(path) as store:
        rows = store.execute("SELECT user_id, kind, id, data FROM objects").fetchall()
        for user, kind, id, data in rows:
            spoiled = json.dumps(spoil(json.loads(data)))
            where = (spoiled, user, kind, id)
            store.execute(
                "UPDATE objects SET data = ? WHERE user_id = ? AND kind = ? AND id = ?", where
            )
        for table in ("labels", "folders", "users"):
            store.execute(f"UPDATE {table} SET name = name || ?", (f" {HOSTILE}",))
    store.close()
    return len(rows)


def spoil_rows() -> Iterator[str]:
    """A row of every model, spoiled; the address of its page."""
    rows = Rows(SHORT)
    action = {
        "arguments": {HOSTILE: [HOSTILE], "body": HOSTILE, "url": LINK},
        "description": HOSTILE,
        "reasoning": HOSTILE,
    }
    done = append_action(
        tenant_id=rows.organisation.id,
        account_id=rows.of(Account).id,
        on_behalf_of=SHORT,
        payload=action,
    )
    yield reverse("admin:audit_executedagentaction_change", args=[recorded(done)[0].id])
    body = json.dumps({HOSTILE: HOSTILE})
    digest = hashlib.sha256(body.encode()).hexdigest()
    policies.store(tenant_id=rows.organisation.id, digest=digest, body=body)
    request = HttpRequest()
    request.user = User.objects.get(username="operator")
    for model, shown in admin.site._registry.items():
        if model in (ExecutedAgentAction, LedgerPolicy) or model._meta.app_label in (
            "auth",
            "django_q",
            "mfa",
        ):
            continue
        row = rows.of(model)
        texts = {
            field.name: f"{HOSTILE}"
            for field in model._meta.concrete_fields
            if field.get_internal_type() == "TextField" and not field.choices
        }
        jsons = {
            field.name: {"title": HOSTILE, "subject": HOSTILE, "body": HOSTILE, HOSTILE: LINK}
            if field.get_default() == {}
            else [HOSTILE]
            for field in model._meta.concrete_fields
            if field.get_internal_type() == "JSONField" and field.name in JSON
        }
        with transaction.atomic():
            type(row)._base_manager.filter(pk=row.pk).update(**texts, **jsons)
        if shown.has_view_permission(request):
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            yield reverse(f"{name}_change", args=[row.pk])


def addresses() -> Iterator[str]:
    """The list of every model, its form for a new row, and the page of its first row."""
    request = HttpRequest()
    request.user = User.objects.get(username="operator")
    for model, shown in admin.site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{name}_changelist")
        if shown.has_add_permission(request):
            yield reverse(f"{name}_add")
        if row := shown.get_queryset(request).first():
            yield reverse(f"{name}_change", args=[row.pk])
    mailbox = Account.objects.filter(external_user_id="maya", source="gmail").first()
    chosen = f"?account={mailbox.pk}" if mailbox else ""
    yield reverse("admin:guardrails_policy_history")
    yield reverse("admin:guardrails_person_import")
    yield reverse("admin:integrations_account_connect")
    yield reverse("admin:guardrails_ledger_reconciliation")
    yield reverse("admin:guardrails_ledger_health")
    yield reverse("admin:guardrails_policy_explain") + f"{chosen}&target=ada@client.com"
    yield reverse("admin:guardrails_policy_simulate") + f"{chosen}&action=send_email"
    if chosen:
        yield reverse("admin:guardrails_policy_import") + f"{chosen}&preset=careful-mailbox"
        yield reverse("admin:guardrails_policy_shadow") + chosen


def test_nothing_that_strangers_wrote_runs_or_asks_anybody(
    office: Office, page: Page, problems: list[str], settings: Any
) -> None:
    foreign: list[str] = []

    def look(request: Request) -> None:
        if not request.url.startswith((office.origin, "data:", "blob:")):
            foreign.append(request.url)

    page.on("request", look)
    spoil_office(str(settings.STATE_DIR / "sandbox.sqlite"))
    office.sync(copied=False)
    office.deliver("newsletter")
    office.deliver("poisoned")
    office.drain()
    with office.worker():
        page.goto("/console/")
        page.get_by_label("Message", exact=True).fill(
            "Create Jira tasks from John's proposal email"
        )
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("status")).to_have_text(
            "The agent asks a question.", timeout=30_000
        )
        page.get_by_role("button", name="John Smith").first.click()
        expect(page.get_by_role("status")).to_have_text(
            "1 question waits for your decision.", timeout=30_000
        )
    assert Approval.objects.filter(state=Approval.State.PENDING).count() == 3
    found = {"/console/ alive": [200, *page.evaluate(TOOK_EFFECT)]}
    for address in [*dict.fromkeys([*spoil_rows(), *addresses()]), "/admin/", "/console/"]:
        answer = page.goto(address, wait_until="domcontentloaded")
        found[address] = [answer and answer.status, *page.evaluate(TOOK_EFFECT)]

    assert {at: effects for at, effects in found.items() if effects != [200, None, 0, 0]} == {}
    assert len(found) > 100
    assert foreign == []
    assert problems == []
