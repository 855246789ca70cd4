"""Requests, policies and facts as plain values, for tests of what is pure."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from guardrails.actions import registry
from guardrails.contracts import ActionRequest, Decision, Origin
from guardrails.decide import policy as deciding
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.snapshot import AllowedAction, ListedTarget, Mode, PolicySnapshot
from guardrails.facts import alerts
from guardrails.facts.classes import WRITTEN
from guardrails.facts.facts import Facts
from guardrails.facts.people import Directory, Person
from integrations.contracts import AccountRef, Authentication, Email, Mailbox
from integrations.contracts.people import Correspondence

ACCOUNT_ID = UUID("00000000-0000-4000-8000-000000000001")
ACTION_ID = UUID("01900000-0000-7000-8000-000000000001")
NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)  # a Monday
ME, ADA, STRANGER = "maya@company.com", "ada@client.com", "mallory@evil.example"
LABELS = {"label_fyi": "FYI", "label_to_reply": "To Reply"}
PROJECTS = {"PROJ": "Customer Portal"}

AGENT_TEXT = {"kind": "text", "written_by": "anyone"}


def account(**changes: Any) -> AccountRef:
    values: dict[str, Any] = {
        "id": ACCOUNT_ID,
        "organisation_id": UUID(int=7),
        "organisation_slug": "default",
        "external_user_id": "maya",
        "kind": "mail",
        "provider": "data_service",
        "source": "gmail",
        "address": ME,
        "display_name": "Maya",
        "time_zone": "UTC",
        "paused": False,
    }
    return AccountRef(**(values | changes))


def chat(user_words: str = "", **changes: Any) -> Origin:
    return Origin(trigger="chat", turn_id="turn-1", user_words=user_words, **changes)


def inbound(**changes: Any) -> Origin:
    values: dict[str, Any] = {
        "trigger": "webhook",
        "turn_id": "turn-1",
        "item_source_id": "mail-1",
        "thread_id": "thread-1",
    }
    return Origin(**(values | changes))


def request(action_type: str, arguments: Any, origin: Origin | None = None) -> ActionRequest:
    source = "jira" if action_type == "create_jira_task" else "gmail"
    return ActionRequest(
        action_id=ACTION_ID,
        account=account(source=source),
        action_type=action_type,
        arguments=arguments,
        origin=origin or chat(),
    )


def decide(*, request: ActionRequest, **given: Any) -> Decision:
    """A request decided as what it names."""
    action = registry.BY_NAME.get(request.action_type)
    return deciding.decide(request=request, action=action, **given)


def directory_of(*addresses: str, domains: tuple[str, ...] = ()) -> Directory:
    """A directory with these people, of whom only the address is known."""
    people = tuple(Person(address=one, key=one) for one in addresses)
    return Directory(people=people, domains=domains)


def writes(action_type: str) -> bool:
    """Whether the action takes text, a time or a number."""
    action = registry.BY_NAME.get(action_type)
    return action is not None and bool(WRITTEN & set(action.classes.values()))


def allow(
    action_type: str,
    mode: Mode = "auto",
    *raw: dict[str, Any],
    agent_text: bool = True,
    **changes: Any,
) -> AllowedAction:
    """One allowed action. Where it is automatic, text of the agent's own may go out too, so that a
    test about something else isn't asked about it."""
    lifted = [AGENT_TEXT] if agent_text and mode == "auto" and writes(action_type) else []
    values: dict[str, Any] = {
        "id": f"rule-{action_type}",
        "action_type": action_type,
        "resource_type": "",
        "enabled": True,
        "mode": mode,
        "conditions": conditions.read_all([*raw, *lifted]),
    }
    return AllowedAction(**(values | changes))


def list_target(action_type: str, kind: str, external_id: str, **changes: Any) -> ListedTarget:
    values: dict[str, Any] = {
        "id": f"option-{external_id}",
        "action_type": action_type,
        "resource_type": "",
        "source": "jira" if action_type == "create_jira_task" else "gmail",
        "kind": kind,
        "external_id": external_id,
        "name": (LABELS | PROJECTS).get(external_id, external_id),
    }
    return ListedTarget(**(values | changes))


def policy_of(*rows: AllowedAction | ListedTarget, paused: bool = False) -> PolicySnapshot:
    return PolicySnapshot(
        account_id=ACCOUNT_ID,
        paused=paused,
        allowed_actions=tuple(row for row in rows if isinstance(row, AllowedAction)),
        listed_targets=tuple(row for row in rows if isinstance(row, ListedTarget)),
    )


def email(**changes: Any) -> Email:
    values: dict[str, Any] = {
        "id": "mail-1",
        "thread_id": "thread-1",
        "from": ADA,
        "to": (ME,),
        "subject": "Lunch on Friday?",
        "date": NOW,
        "labels": ("INBOX", "UNREAD"),
        "authentication": Authentication(dmarc="pass"),
    }
    return Email.model_validate(values | changes)


def facts(mail: Email | None = None, **changes: Any) -> Facts:
    mail = mail or email()
    values: dict[str, Any] = {
        "email": mail,
        "thread": (mail,),
        "correspondence": Correspondence(address=mail.sender, received=1, sent=0),
        "strangers": (),
        "labels": LABELS,
        "projects": PROJECTS,
        "mailbox": Mailbox(address=ME, shared_with=()),
        "own_address": ME,
        "alert": alerts.describe(mail),
    }
    return Facts(**(values | changes))
