"""One card of each kind, on every surface that shows cards: what decides is the same on all."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from agents.turns.responses import describe_pending
from audit.ledger.ids import uuid7
from guardrails.api.approvals import describe_card
from guardrails.approve import card_mail
from guardrails.approve.cards import list_cards
from guardrails.approve.questions import group
from guardrails.contracts import ActionRequest, Origin
from guardrails.contracts.cards import ApprovalCard
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, AllowedActionOption
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
EVE = "eve@evil.example"
DOCUMENT = "doc_maya_001"
WISHES: dict[str, tuple[str, dict[str, Any]]] = {
    "send_email": ("gmail", {"to": [EVE], "subject": "Hi", "body": "One\nTwo  <b>"}),
    "forward_email": ("gmail", {"email_id": "mail_maya_004", "to": [EVE]}),
    "share_document": ("gdrive", {"document_id": DOCUMENT, "email": EVE}),
    "append_document": ("gdrive", {"document_id": DOCUMENT, "content": "More."}),
    "update_calendar_event": ("calendar", {"event_id": "event_maya_003", "title": "Late"}),
    "comment_jira_task": ("jira", {"issue_key": "PROJ-100", "body": "Done."}),
}
ANYBODY = {"kind": "recipient", "relation": ["typed"], "novel": "ask"}
AS_TEXT = """async ([action]) => {
    const cards = await import("/static/remit/cards.js");
    const card = cards.pending(action, () => {}, () => {});
    document.body.append(card);
    return card.innerText;
}"""


def asked(office: Office, action_type: str) -> ApprovalCard:
    """The card of one wish that nobody spoke of."""
    source, arguments = WISHES[action_type]
    account = office.account("maya", source)
    AllowedAction.objects.filter(account_id=account.id, action_type=action_type).delete()
    AllowedAction.objects.create(
        account_id=account.id,
        action_type=action_type,
        approval_mode="ask",
        conditions=[ANYBODY] if action_type != "comment_jira_task" else [],
    )
    if source == "jira":
        AllowedActionOption.objects.create(
            account_id=account.id,
            action_type=action_type,
            source=source,
            kind="project",
            external_id="PROJ",
            name="Customer Portal",
        )
    origin = Origin(trigger="chat", turn_id=f"turn-{action_type}", user_words="What is on today?")
    request = ActionRequest(
        action_id=uuid7(),
        account=account,
        action_type=action_type,
        arguments=arguments,
        origin=origin,
    )
    result = execute(request)
    assert result.status == "pending", f"{action_type}: {result.sentence}"
    assert result.approval_id is not None
    [card] = list_cards(organisation_id=account.organisation_id, ids=[result.approval_id])
    return card


def decisive(card: ApprovalCard) -> Iterator[str]:
    """All that a person judges by."""
    yield from (card.heading, card.reason, card.user_said)
    for value in card.values:
        yield from (value.text, value.provenance)
    for exposure in card.exposures:
        yield from exposure.lines
    for _, before, after in card.differences:
        yield from (before, after)
    yield from card.side_effects


def plain(text: str) -> str:
    return " ".join(text.split())


def test_what_decides_is_the_same_wherever_a_card_is_shown(
    office: Office, page: Page, problems: list[str]
) -> None:
    cards = {name: asked(office, name) for name in WISHES}
    missing = []
    for name, card in cards.items():
        page.goto("/console/")
        chat = describe_pending(card)
        page.goto(reverse("admin:guardrails_approval_change", args=[card.id]))
        shown = {
            "page": page.locator("main, #content, body").first.inner_text(),
            "api": describe_card(card)["text"],
            "chat": chat["text"],
            "mail": card_mail.text(group([card])[0]),
        }
        page.goto("/console/")
        shown["console"] = page.evaluate(AS_TEXT, [json.loads(json.dumps(chat))])
        for surface, text in shown.items():
            found = plain(text)
            written = card_mail.inert if surface == "mail" else str
            missing += [
                (name, surface, fact)
                for fact in decisive(card)
                if plain(written(fact)) not in found
            ]

    assert missing == []
    assert problems == []
