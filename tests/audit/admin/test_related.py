"""What stands around an action on its page."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from audit.admin import related as around
from audit.keeping import erasure
from audit.keeping.erasure import Scope
from audit.ledger import ledger, selectors
from audit.ledger.ids import uuid7
from tests.audit.entries import append_action, entry
from tests.clients import read_page

pytestmark = [
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    pytest.mark.urls("tests.audit.urls"),
]


def page(client: Client, action_id: UUID) -> str:
    row = selectors.recorded(action_id)[0].id
    return read_page(client, f"/admin/audit/executedagentaction/{row}/change/")


def asked(tenant_id: UUID, *, reason: str = "", **payload: object) -> UUID:
    action_id, approval_id = uuid7(), str(uuid4())
    same = {
        "tenant_id": tenant_id,
        "action_id": action_id,
        "approval_id": approval_id,
        "phase": "control",
    }
    ledger.append(entry(**same, status="waiting", decision_reason="needs_approval"))
    if reason:
        ledger.append(
            entry(
                **same,
                status="recorded",
                decision_reason=reason,
                actor_type="admin",
                actor_id="operator:olga",
                payload=dict(payload),
            )
        )
    return action_id


def test_who_was_asked_who_answered_and_after_how_long(admin_client: Client) -> None:
    action_id = asked(uuid4(), reason="approved")
    (one,) = around.list_questions(selectors.recorded(action_id), {})
    assert (one["answer"], one["by"]) == ("approved", "operator olga")
    assert one["took"] in ("0 seconds", "1 second", "2 seconds")
    text = page(admin_client, action_id)
    assert "A person was asked at" in text
    assert "Approved by operator olga" in text


def test_a_decision_through_a_token_names_its_user(admin_client: Client) -> None:
    action_id = asked(uuid4(), reason="rejected", as_user="omar")
    (one,) = around.list_questions(selectors.recorded(action_id), {})
    assert one["by"] == "operator olga as omar"
    assert "Answered for" in page(admin_client, action_id)


def test_a_question_without_an_answer_says_so(admin_client: Client) -> None:
    assert "Nobody answered yet." in page(admin_client, asked(uuid4()))


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (119, "119 seconds"),
        (150, "2 minutes"),
        (7300, "2 hours"),
    ],
)
def test_how_long_it_took(seconds: int, told: str) -> None:
    now = timezone.now()
    assert around.took(now, now + timedelta(seconds=seconds)) == told
    assert around.took(now, now - timedelta(seconds=5)) == "0 seconds"


def test_what_a_person_edited_is_shown_field_by_field(admin_client: Client) -> None:
    action_id = append_action(
        tenant_id=uuid4(),
        payload={
            "arguments": {"to": ["a@b.example"], "body": "Kind <b>regards"},
            "proposed_by_agent": {"to": ["a@b.example"], "body": "Hi\u202e"},
            "edited_by": "token:web",
            "edited_as": "omar",
        },
    )
    found = around.find_edits(selectors.recorded(action_id), {})
    assert found == {
        "by": "a deleted token as omar",
        "fields": [{"name": "body", "before": "Hi⟨U+202E⟩", "after": "Kind <b>regards"}],
    }
    text = page(admin_client, action_id)
    assert "A deleted token as omar changed what the agent had proposed" in text
    assert "Kind &lt;b&gt;regards" in text


def test_erased_contents_say_when_by_whom_and_why(admin_client: Client) -> None:
    tenant_id = uuid4()
    action_id, other = append_action(tenant_id=tenant_id), append_action(tenant_id=tenant_id)
    assert around.list_erasures(selectors.recorded(action_id)) == []
    erasure.erase(
        Scope(tenant_id=tenant_id, action_id=action_id),
        reason="request 7 <b>",
        actor_id="operator:olga",
    )
    (one,) = around.list_erasures(selectors.recorded(action_id))
    assert one.rows == tuple(row.id for row in selectors.recorded(action_id))
    assert one.sentence.startswith("Contents were erased on ")
    assert one.sentence.endswith(" by operator olga, because: “request 7 <b>”.")
    assert "because: “request 7 &lt;b&gt;”." in page(admin_client, action_id)
    assert "were erased" not in page(admin_client, other)


def test_actions_are_linked_with_those_they_come_from_and_led_to(admin_client: Client) -> None:
    tenant_id = uuid4()
    first = append_action(tenant_id=tenant_id, action_type="archive")
    second = append_action(tenant_id=tenant_id, action_type="restore", parent_action_id=first)
    append_action(tenant_id=uuid4(), action_type="other", parent_action_id=first)

    led_to = around.list_relatives(selectors.recorded(first))
    comes_from = around.list_relatives(selectors.recorded(second))

    assert [(one["relation"], one["action"]) for one in led_to] == [("Led to", "restore")]
    assert [(one["relation"], one["action"]) for one in comes_from] == [("Comes from", "archive")]
    assert f"/{comes_from[0]['row']}/change/" in page(admin_client, second)
