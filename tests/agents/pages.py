"""Rows for tests of pages, with text that a stranger could have written."""

from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from agents.models import Conversation, Message, Step, ToolCall, Turn
from integrations.models import Account, Delivery, Organisation

SCRIPT = "<script>alert(1)</script>"
HIDDEN = "pay\u202eer"


def superuser() -> Client:
    """Logged in; no password is hashed, which would take long."""
    client = Client()
    client.force_login(User.objects.create(username="admin", is_staff=True, is_superuser=True))
    return client


def mailbox(user: str = "maya", *, slug: str = "default") -> Account:
    organisation, _ = Organisation.objects.get_or_create(slug=slug, defaults={"name": slug})
    found, _ = Account.objects.get_or_create(
        organisation=organisation,
        external_user_id=user,
        source="gmail",
        defaults={"address": f"{user}@company.com", "display_name": SCRIPT},
    )
    return found


def delivery(account: Account, number: int = 0, **fields: Any) -> Delivery:
    return Delivery.objects.create(
        **{
            "organisation": account.organisation,
            "account": account,
            "webhook_id": f"webhook-{number}",
            "kind": "created",
            "source": "gmail",
            "source_id": f"mail-{number}",
            "body": {"subject": SCRIPT, "text": HIDDEN},
            **fields,
        }
    )


def turn(account: Account, **fields: Any) -> Turn:
    """A finished chat turn with a delegated step and every kind of tool call."""
    conversation = Conversation.objects.create(
        organisation=account.organisation,
        external_user_id=account.external_user_id,
        title=SCRIPT,
    )
    made = Turn.objects.create(
        **{
            "organisation": account.organisation,
            "external_user_id": account.external_user_id,
            "kind": Turn.Kind.CHAT,
            "conversation": conversation,
            "state": Turn.State.FINISHED,
            "ending": Turn.Ending.REPLY,
            "context": [{"n": 1, "id": "x", "source": "gmail", "title": f"{SCRIPT}{HIDDEN}"}],
            **fields,
        }
    )
    for role, text in (("user", SCRIPT), ("assistant", "Hello")):
        Message.objects.create(conversation=conversation, turn=made, role=role, content=text)
    first = Step.objects.create(
        turn=made, agent="orchestrator", number=1, text=SCRIPT, model="m", prompt_tokens=7
    )
    delegated = call(first, 0, "delegate_to_specialist", {"success": True, "data": {}})
    call(first, 1, "ask_user", None)
    inner = Step.objects.create(turn=made, agent="task", number=1, parent_call=delegated)
    call(inner, 0, "extract_tasks", {"success": True, "data": {"text": SCRIPT}, "untrusted": True})
    failed = {"success": False, "error": {"code": "PERMISSION_DENIED", "message": HIDDEN}}
    call(inner, 1, SCRIPT, failed)
    return made


def call(step: Step, position: int, name: str, result: dict[str, Any] | None) -> ToolCall:
    return ToolCall.objects.create(
        turn=step.turn,
        step=step,
        position=position,
        name=name,
        arguments='{"broken": ' if result is None else '{"n": 1}',
        result=result,
        latency_ms=12,
    )
