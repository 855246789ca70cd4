"""Keeps which drafts Remit wrote, so that it can take back those that nobody has touched."""

from collections.abc import Mapping
from typing import Any

from django.db.models import F, Value
from django.db.models.functions import Coalesce, NullIf
from django.utils import timezone

from audit.contracts import Entry
from guardrails.actions.base import AnyAction, Arguments
from guardrails.actions.mail.draft import Draft, DraftArguments
from guardrails.contracts import ActionRequest
from guardrails.decide.checks.case import FROM_CONTENT
from guardrails.facts import draft_text
from guardrails.facts.exposure import Unasked
from guardrails.facts.facts import Facts
from guardrails.models import AssistantDraft


def note(
    request: ActionRequest,
    action: AnyAction,
    arguments: Arguments | None,
    facts: Facts | None,
    *,
    unasked: Unasked | None,
) -> None:
    """A draft is about to be written. Once, however often it is tried."""
    if not (isinstance(action, Draft) and isinstance(arguments, DraftArguments)):
        return
    mail = action.outgoing(arguments, unasked)
    AssistantDraft.objects.get_or_create(
        action_id=request.action_id,
        defaults={
            "account_id": request.account.id,
            "digest": draft_text.digest(
                to=mail.to, cc=mail.cc, bcc=mail.bcc, subject=mail.subject, body=mail.body
            ),
            "thread_id": facts.email.thread_id if facts and facts.email else "",
            "reply_to_id": arguments.reply_to_id or "",
            "receivers": sorted({one.lower() for one in (*mail.to, *mail.cc)}),
            "of_own_accord": request.origin.trigger in FROM_CONTENT,
            "written_at": timezone.now(),
        },
    )


def name(attempt: Entry, answer: Any) -> None:
    """The provider wrote it: this is what it is called there. A new mail is in the thread that
    its provider began for it: by that it is known again when the user has sent it."""
    if attempt.action_type == Draft.name and isinstance(answer, Mapping) and answer.get("id"):
        began = Value(str(answer.get("thread_id") or ""))
        AssistantDraft.objects.filter(action_id=attempt.action_id, draft_id="").update(
            draft_id=str(answer["id"]),
            thread_id=Coalesce(NullIf(F("thread_id"), Value("")), began),
            message_id=str(answer.get("message_id") or ""),
            revision=str(answer.get("revision") or ""),
        )


def drop(attempt: Entry) -> None:
    """Nothing was written."""
    if attempt.action_type == Draft.name:
        AssistantDraft.objects.filter(action_id=attempt.action_id, draft_id="").delete()
